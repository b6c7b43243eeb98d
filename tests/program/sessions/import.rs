//! Tests of `steersman import`: what can be done here with sessions of other programs.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Reply, Server};

const ROLLOUT: &str = include_str!("../../exchange/foreign/rollout.jsonl");
const OLD_ROLLOUT: &str = include_str!("../../exchange/foreign/rollout-old.jsonl");
const PROJECT: &str = include_str!("../../exchange/foreign/project.jsonl");
const AGENT: &str = include_str!("../../exchange/foreign/agent-ab12.jsonl");
/// The first, as `zstd -3` writes it.
const COMPRESSED: &[u8] = include_bytes!("../../exchange/foreign/rollout.jsonl.zst");

/// A home in which both programs were used.
fn home() -> TempDir {
    let home = TempDir::new().unwrap();
    let write = |path: &str, text: &str| {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(".codex/sessions/2026/09/03/rollout-2026-09-03T10-00-00-01990e6c.jsonl", ROLLOUT);
    write(".codex/sessions/2026/05/01/rollout-2026-05-01T09-00-00-01980000.jsonl", &format!("{OLD_ROLLOUT}{{\n"));
    write(".claude/projects/-work-bees/project.jsonl", PROJECT);
    write(".claude/projects/-work-bees/agent-ab12.jsonl", AGENT);
    write(".claude/projects/-work-bees/empty.jsonl", "{\"type\":\"summary\",\"summary\":\"Nothing\"}\n");
    home
}

fn run(home: TempDir, args: &[&str]) -> (i32, String, String, TempDir) {
    let (output, home) = Program::within(home).args(args.iter().copied()).output_with_home();
    (exit_code(&output), stdout(&output), stderr(&output), home)
}

fn sessions(home: TempDir) -> (Vec<Value>, TempDir) {
    let (_, text, _, home) = run(home, &["sessions", "--json"]);
    (serde_json::from_str(&text).unwrap(), home)
}

#[test]
fn what_was_imported_is_listed_searched_replayed_exported_and_read_once() {
    let (code, text, err, home) = run(home(), &["import"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(text.ends_with("\n3 sessions imported, 1 file without a session\n"), "{text}");
    assert!(text.contains("  codex 0.94.0  ") && text.contains("01980000.jsonl, 1 line skipped\n"), "{text}");
    let (list, home) = sessions(home);
    let told: Vec<_> = list
        .iter()
        .map(|row| (row["title"].as_str().unwrap(), row["directory"].as_str().unwrap(), row["state"].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            ("Count the pear trees\n[image]", "/work/orchard", "cancelled"),
            ("How many hives are there", "/work/bees", "answered"),
            ("What is two and two", "", "answered"),
        ]
    );
    assert_eq!((&list[0]["imported"]["program"], &list[1]["agents"]), (&"codex 0.94.0".into(), &1.into()));
    assert_eq!(list[2]["damage"], "the journal is not whole: 1 line of the imported file skipped");
    assert_eq!(list[0]["last"], "2026-09-03T10:01:02Z", "the import is no part of it");
    let (bees, id) = (list[1]["id"].as_str().unwrap(), list[0]["id"].as_str().unwrap());
    let (code, text, _, home) = run(home, &["search", "apple", "trees"]);
    assert!(code == 0 && text.contains(id) && text.contains("and the apple trees"), "{text}");
    let (_, text, _, home) = run(home, &["replay", bees, "--print"]);
    assert!(!text.contains("not seen"), "{text}");
    assert!(text.contains("Green they are.") && text.contains("Explore 0") && text.contains("claude-test-5"), "{text}");
    for format in ["md", "html", "json", "csv", "cast", "atif", "otlp"] {
        let (code, text, err, back) = run(home_of(&home), &["export", bees, "--format", format]);
        assert!(code == 0 && !text.is_empty(), "{format}: {err}");
        assert!(matches!(format, "csv" | "otlp" | "cast") || text.contains("Green they are."), "{format}: {text}");
        drop(back);
    }
    let (_, text, _, home) = run(home, &["sessions"]);
    assert!(text.contains("imported from codex 0.94.0"), "{text}");
    let (_, text, _, home) = run(home, &["import"]);
    assert_eq!(text, "0 sessions imported, 3 sessions already there, 1 file without a session\n");
    // The session went on there: its journal is written anew.
    let path = home.path().join(".claude/projects/-work-bees/project.jsonl");
    let more =
        PROJECT.lines().last().unwrap().replace("Green they are.", "And blue they are.").replace("\"a7\"", "\"a8\"");
    fs::write(&path, format!("{PROJECT}{more}\n")).unwrap();
    let (_, text, _, home) = run(home, &["import", path.to_str().unwrap()]);
    assert!(text.ends_with("1 session imported\n"), "{text}");
    let (list, home) = sessions(home);
    assert_eq!((list.len(), list[1]["id"].as_str().unwrap().len()), (3, 36));
    let (_, text, _, home) = run(home, &["search", "blue", "they", "are"]);
    assert!(text.contains("And blue they are."), "{text}");
    let left: Vec<PathBuf> = fs::read_dir(home.path().join(".local/state/steersman/sessions"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_none_or(|extension| extension != "jsonl"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    let (code, _, err, _home) = run(home, &["import", "/nowhere/at/all"]);
    assert!(code == 1 && err.contains("/nowhere/at/all"), "{err}");
}

/// Lends a home to one more run.
fn home_of(home: &TempDir) -> TempDir {
    let copy = TempDir::new().unwrap();
    let sessions = home.path().join(".local/state/steersman/sessions");
    let to = copy.path().join(".local/state/steersman/sessions");
    fs::create_dir_all(&to).unwrap();
    for entry in fs::read_dir(sessions).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    copy
}

#[test]
fn an_import_is_only_read_and_a_branch_goes_on_with_its_conversation() {
    let (_, _, _, home) = run(home(), &["import"]);
    let (list, home) = sessions(home);
    let id = list[0]["id"].as_str().unwrap().to_owned();
    let before = fs::read(list[0]["file"].as_str().unwrap()).unwrap();
    let server = Server::start([Reply::text("Planted.")]);
    let url = server.url();
    let exec = |home: TempDir, args: &[&str]| {
        let program = Program::within(home).args(["exec", "--base-url", &url, "--model", "m"]);
        let (output, home) = program.args(args.iter().copied()).output_with_home();
        (exit_code(&output), stdout(&output), stderr(&output), home)
    };
    let (code, _, err, home) = exec(home, &["--resume", &id, "go on"]);
    assert!(
        code == 2 && err.contains("was imported from codex 0.94.0") && err.contains(&format!("--fork {id}")),
        "{err}"
    );
    let (code, out, err, home) = exec(home, &["--fork", &id, "now plant it"]);
    assert_eq!((code, out.trim()), (0, "Planted."), "{err}");
    let request = &server.chats()[0];
    assert_eq!(
        request.roles(),
        ["system", "user", "assistant", "tool", "tool", "user", "assistant", "user", "assistant", "tool", "user"]
    );
    assert_eq!(request.texts("user")[1], "and the apple trees");
    let (list, _home) = sessions(home);
    assert_eq!((list.len(), &list[0]["parent"], &list[0]["imported"]), (4, &id.as_str().into(), &Value::Null));
    assert_eq!(fs::read(list[1]["file"].as_str().unwrap()).unwrap(), before, "what was imported stays as it is");
    assert_eq!(list[0]["state"], "answered");
}

#[test]
fn the_import_takes_compressed_sessions_and_says_which_file_it_could_not_read() {
    let program = Program::new();
    let archive = program.home().join(".codex/archived_sessions");
    fs::create_dir_all(&archive).unwrap();
    fs::write(archive.join("rollout-2026-09-03T10-00-00-01990e6c.jsonl.zst"), COMPRESSED).unwrap();
    fs::write(archive.join("rollout-damaged.jsonl.zst"), "no frame").unwrap();
    let (output, home) = program.args(["import"]).output_with_home();
    let (said, err) = (stdout(&output), stderr(&output));
    assert!(said.contains("codex 0.94.0") && said.ends_with("1 session imported\n"), "{said}");
    assert!(err.contains("rollout-damaged.jsonl.zst: ") && exit_code(&output) == 1, "{err}");
    let (output, _home) = Program::within(home).args(["import"]).output_with_home();
    assert!(stdout(&output).ends_with("0 sessions imported, 1 session already there\n"), "{}", stdout(&output));
}
