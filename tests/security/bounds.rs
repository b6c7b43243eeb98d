//! Sources of bytes that have no end, or a very far one: each is bounded, and what goes beyond is refused in a sentence.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use steersman_base::event::Envelope;
use steersman_base::limits;
use steersman_base::text::is_invisible;
use steersman_session::journal::SessionFiles;
use steersman_session::model::agents::Agents;
use steersman_tools::workspace::Workspace;
use tempfile::TempDir;

use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Reply, Server};

/// When what should have ended counts as endless, on a crowded machine.
const PATIENCE: Duration = Duration::from_mins(4);
/// What a terminal would obey or hide: of C1, bidi, a tag, a line separator.
const HOSTILE: &str = "a\u{9b}31m\u{202e}\u{e0041}\u{2028}\u{7f}z";

fn run(home: TempDir, arguments: &[&str]) -> (i32, String, String, TempDir) {
    let program = Program::within(home).args(arguments.iter().copied());
    let (output, home) = program.output_with_home_within(PATIENCE);
    (exit_code(&output), stdout(&output), stderr(&output), home)
}

fn directory_of_sessions(home: &Path) -> PathBuf {
    home.join(".local/state/steersman/sessions")
}

// --- sessions

#[test]
fn a_sparse_file_among_the_sessions_keeps_nothing_from_ending() {
    let (code, _, said, home) = run(TempDir::new().unwrap(), &["exec", "--provider", "demo", "find the needle"]);
    assert_eq!(code, 0, "{said}");
    let name = "01a21e88-eb49-7c8c-bc39-7d279b4414f8";
    let sparse = directory_of_sessions(home.path()).join(format!("2026-11-27T19-43-39-{name}.jsonl"));
    File::create(&sparse).unwrap().set_len(1 << 40).unwrap();

    let (code, found, said, home) = run(home, &["search", "needle"]);
    assert!(found.contains("find the needle"), "{found}");
    assert!(said.contains("larger than any journal"), "{code}: {said}");
    let (_, listed, _, home) = run(home, &["sessions"]);
    assert!(listed.contains("find the needle"), "{listed}");
    let (code, _, said, home) = run(home, &["status"]);
    assert_eq!(code, 0, "{said}");
    let (code, _, said, mut home) = run(home, &["exec", "--provider", "demo", "--continue", "go on"]);
    assert_eq!(code, 0, "the session before it goes on: {said}");
    for arguments in
        [&["replay", name, "--print"][..], &["export", name], &["exec", "--provider", "demo", "--resume", name, "hi"]]
    {
        let (code, _, said, back) = run(home, arguments);
        home = back;
        assert!(code != 0 && said.contains("larger than any journal"), "{arguments:?}: {said}");
    }

    // It takes no room on the disk, so that no other session goes for it.
    let files = SessionFiles::within(&home.path().join(".local/state/steersman"));
    assert_eq!(files.prune_above(64 << 20).unwrap(), 0);
    assert!(files.list().unwrap().len() >= 2);
}

#[test]
fn a_session_of_another_program_without_an_end_is_named_and_the_others_are_imported() {
    let home = TempDir::new().unwrap();
    let sessions = home.path().join(".codex/sessions/2026/09/03");
    fs::create_dir_all(&sessions).unwrap();
    File::create(sessions.join("rollout-2026-09-03T10-00-00-0199.jsonl")).unwrap().set_len(1 << 40).unwrap();
    let lines = [
        json!({"timestamp": "2026-09-03T10:00:00Z", "type": "session_meta", "payload": {"id": "0198", "cwd": "/work"}}),
        json!({"timestamp": "2026-09-03T10:00:01Z", "type": "response_item",
               "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "find the needle"}]}}),
    ];
    let text = lines.map(|line| line.to_string() + "\n").concat();
    fs::write(sessions.join("rollout-2026-09-03T11-00-00-0198.jsonl"), text).unwrap();
    let (_, listed, said, _home) = run(home, &["import"]);
    assert!(said.contains("it is larger than 1 GB") && listed.contains("1 session imported"), "{listed}{said}");
}

/// Writes a journal in which so many agents were spawned, each by the one before it.
fn nested(path: &Path, agents: usize) {
    let mut lines = Vec::new();
    let mut record = |mut value: Value| {
        value["record"] = (lines.len() + 1).into();
        lines.push(value.to_string());
    };
    record(json!({
        "kind": "session", "schema": 1, "program": "steersman 0.1.0", "session": "01a21e88-eb49-7c8c-bc39-7d279b4414f8",
        "started": "2026-11-27T19:43:39Z", "directory": "/work", "branch": null, "model": null,
    }));
    let started = json!({
        "type": "session_started", "schema": 2, "program": "steersman 0.1.0", "cwd": "/work", "provider": "demo",
        "model": "m", "max_steps": 300, "tools": ["read"],
    });
    let turn = json!({"type": "user_turn", "content": "begin", "mid_loop": false, "injection": null, "step": 0});
    for (seq, event) in [started, json!({"type": "turn_started", "turn": 1}), turn].into_iter().enumerate() {
        let at = "2026-11-27T19:43:40Z";
        record(json!({"kind": "event", "seq": seq + 1, "at": at, "agent": "", "parent": null, "event": event}));
    }
    let name = |number: Option<usize>| number.map_or_else(String::new, |number| format!("worker {number}"));
    for number in 0..agents {
        let (parent, above) = (number.checked_sub(1), number.checked_sub(2));
        // An event in each second: what only time brings is looked for in each.
        let (minute, second) = (number / 60 % 60, number % 60);
        let at = format!("2026-11-{:02}T{:02}:{minute:02}:{second:02}Z", 28 + number / 86_400, number / 3_600 % 24);
        let above = if parent.is_some() { json!(name(above)) } else { Value::Null };
        let event = json!({
            "type": "agent_spawned", "child": name(Some(number)), "persona": "worker", "task": "t", "call": null,
            "model": null, "max_steps": 5, "tools": [],
        });
        record(
            json!({"kind": "event", "seq": number + 4, "at": at, "agent": name(parent), "parent": above, "event": event}),
        );
    }
    fs::write(path, lines.join("\n") + "\n").unwrap();
}

#[test]
fn a_journal_of_sixty_thousand_agents_in_a_chain_is_exported_and_replayed() {
    let home = TempDir::new().unwrap();
    let path = home.path().join("nested.jsonl");
    nested(&path, 60_000);
    let path = path.to_str().unwrap().to_owned();
    let mut home = home;
    for format in ["md", "html", "otlp"] {
        let (code, text, said, back) = run(home, &["export", &path, "--format", format]);
        home = back;
        assert_eq!(code, 0, "{format}: {said}");
        assert!(format == "otlp" || text.contains("worker 59999"), "{format}");
    }
    let (code, screen, said, _) = run(home, &["replay", &path, "--print"]);
    assert_eq!(code, 0, "{said}");
    assert!(screen.contains("begin"), "{screen}");
}

/// Returns how many sums are changed while so many agents are taken in that were each spawned by the one before it.
fn work_of_nested(agents: usize) -> usize {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("nested.jsonl");
    nested(&path, agents);
    let mut known = Agents::default();
    let (mut work, mut moment) = (0, None);
    for line in fs::read_to_string(&path).unwrap().lines().skip(1) {
        let mut envelope: Envelope = serde_json::from_str(line).unwrap();
        // What time brings is bounded by itself.
        envelope.at = *moment.get_or_insert(envelope.at);
        known.apply(&envelope);
        // An event changes the sums of its agent and of those above it.
        work += known.path(known.place(&envelope.agent).unwrap()).len();
    }
    assert_eq!(known.nodes().len(), agents + 1);
    work
}

#[test]
fn twice_as_many_nested_agents_are_twice_the_work() {
    let (few, many) = (work_of_nested(10_000), work_of_nested(20_000));
    assert!(many <= few * 2 + few / 50, "{few} for 10,000, {many} for 20,000");
    assert!(many <= 20_010 * (limits::AGENT_DEPTH + 2), "{many}");
}

// --- what is written for people

#[test]
fn no_json_for_people_holds_a_character_that_a_terminal_obeys_or_hides() {
    let is_clean = |what: &str, text: &str| {
        let raw: Vec<char> = text.chars().filter(|c| *c != '\n' && is_invisible(*c)).collect();
        assert!(raw.is_empty() && !text.contains('\u{2028}'), "{what}: {raw:?} in {text}");
        if what.contains("otlp") {
            // Traces hold no texts.
            return;
        }
        assert!(text.contains("\\u202e") && text.contains("\\udb40\\udc41"), "{what}: {text}");
        assert!(text.contains("\\u009b") && text.contains("\\u007f"), "{what}: {text}");
    };
    let mut home = TempDir::new().unwrap();
    for output in ["json", "result"] {
        let server = Server::start([Reply::text(HOSTILE)]);
        let url = server.url();
        let (code, text, said, back) =
            run(home, &["exec", "--base-url", &url, "--model", "m", "--output", output, HOSTILE]);
        home = back;
        assert_eq!(code, 0, "{said}");
        is_clean(output, &text);
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert!(last.is_object());
    }
    let name = SessionFiles::within(&home.path().join(".local/state/steersman")).list().unwrap().remove(0).session;
    for arguments in [
        &["export", name.as_str(), "--format", "json"][..],
        &["export", name.as_str(), "--format", "atif"],
        &["export", name.as_str(), "--format", "otlp"],
        &["sessions", "--json"],
        &["search", "--json", "31m"],
    ] {
        let (code, text, said, back) = run(home, arguments);
        home = back;
        assert_eq!(code, 0, "{said}");
        is_clean(&format!("{arguments:?}"), &text);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert!(arguments.contains(&"otlp") || value.to_string().contains('\u{202e}'));
    }

    let server = Server::start([Reply::text("done")]);
    let mut running = Program::within(home).args(["--base-url", &server.url(), "--model", "m", "serve", HOSTILE]).run();
    running.wait_for_line(|line| line.contains("runs"));
    server.wait_requested(1);
    let status = Program::beside(&running).args(["status", "--json"]).output();
    is_clean("status", &stdout(&status));
    running.signal(rustix::process::Signal::TERM);
    running.end();
}

#[test]
fn no_comparison_list_or_recording_holds_a_character_that_a_terminal_obeys_or_hides() {
    let raw = |text: &str| -> Vec<char> {
        text.chars().filter(|c| *c != '\n' && (is_invisible(*c) || *c == '\u{2028}')).collect()
    };
    let mut home = TempDir::new().unwrap();
    for answer in [HOSTILE.to_owned(), format!("{HOSTILE} other")] {
        let server = Server::start([Reply::text(&answer)]);
        let url = server.url();
        let (code, _, said, back) = run(home, &["exec", "--base-url", &url, "--model", "m", HOSTILE]);
        home = back;
        assert_eq!(code, 0, "{said}");
    }
    let files = SessionFiles::within(&home.path().join(".local/state/steersman")).list().unwrap();
    let names: Vec<String> = files.iter().map(|file| file.session.to_string()).collect();
    let section = format!(
        "[mcp.one]\ncommand = \"no-such-{HOSTILE}\"\nargs = [\"{HOSTILE}\"]\n",
        HOSTILE = HOSTILE.replace('\u{7f}', "\\u007f")
    );
    let config = home.path().join(".config/steersman/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, section).unwrap();
    for arguments in [
        &["diff", &names[0], &names[1]][..],
        &["diff", "--json", &names[0], &names[1]],
        &["mcp", "list"],
        &["mcp", "list", "--json"],
        &["mcp", "doctor"],
        &["replay", &names[0], "--print"],
        &["export", &names[0], "--format", "cast"],
        &["search", "31m"],
        &["sessions"],
        &["export", &names[0], "--format", "html"],
        &["export", &names[0], "--format", "md"],
        &["export", &names[0], "--format", "csv"],
    ] {
        let (code, text, said, back) = run(home, arguments);
        home = back;
        assert!(code <= 1, "{arguments:?}: {code}: {said}");
        // Lines of a table for spreadsheets end so.
        let text = text.replace("\r\n", "\n");
        assert_eq!((raw(&text), raw(&said)), (vec![], vec![]), "{arguments:?}: {text}{said}");
    }
}

// --- paths

#[test]
fn a_path_of_thousands_of_directories_is_refused_before_any_is_made() {
    let directory = TempDir::new().unwrap();
    let workspace = Workspace::new(directory.path()).unwrap();
    let deep = |parts: usize| format!("{}f.txt", "d/".repeat(parts));
    for path in [deep(2_000), format!("./{}", deep(limits::PATH_PARTS))] {
        for resolved in [workspace.resolve_write(&path), workspace.resolve_read(&path)] {
            assert_eq!(resolved, Err(format!("the path has more than {} parts", limits::PATH_PARTS)));
        }
    }
    let long = workspace.resolve_write(&deep(1 << 20));
    assert_eq!(long, Err(format!("the path is longer than {} bytes", limits::WALK_PATH_BYTES)));
    assert!(workspace.resolve_write(&deep(100)).is_ok());

    let write = json!({"path": deep(2_000), "content": "x"}).to_string();
    let server = Server::start([Reply::calls(&[("c1", "write", &write)]), Reply::text("done")]);
    let program = Program::new().args(["--base-url", &server.url(), "--model", "m", "--yes", "exec", "go"]);
    let work = program.work();
    let (output, _home) = program.output_with_home_within(PATIENCE);
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let result = server.chats()[1].contents("tool").concat();
    assert!(result.contains("more than 256 parts"), "{result}");
    assert!(!work.join("d").exists());
}

// --- configuration

#[test]
fn too_many_profiles_are_refused_and_as_many_as_there_may_be_are_used() {
    let profiles = |count: usize| {
        let one = |number| format!("[profile.p{number}]\nbase_url = \"http://127.0.0.1:9/{number}\"\nmodel = \"m\"\n");
        (0..count).map(one).collect::<String>()
    };
    let output = Program::new().config(&profiles(4_000)).args(["personas"]).output_within(PATIENCE);
    assert_ne!(exit_code(&output), 0);
    let said = stderr(&output);
    assert!(said.contains("the configuration has 4000 profiles, more than 1000"), "{said}");
    let output = Program::new().config(&profiles(limits::PROFILES)).args(["personas"]).output_within(PATIENCE);
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let unknown = Program::new().config(&profiles(limits::PROFILES)).args(["--profile", "none", "personas"]);
    let said = stderr(&unknown.output_within(PATIENCE));
    assert!(said.contains("and 980 more") && said.len() < 1_000, "{said}");
}

#[test]
fn of_too_many_personas_the_first_are_used_and_it_is_said() {
    let mut program = Program::new();
    for number in 0..2_000 {
        let text = format!("---\nname: p{number}\ndescription: d\ntools: read\nmax_steps: 3\n---\nDo it.\n");
        program = program.file(&format!(".config/steersman/personas/p{number:05}.md"), &text);
    }
    let output = program.args(["personas"]).output_within(PATIENCE);
    assert_eq!(exit_code(&output), 0);
    assert!(stderr(&output).contains("more than 1000 files; the others are ignored"), "{}", stderr(&output));
    assert!(stdout(&output).contains("p999") && !stdout(&output).contains("p1000"));
}
