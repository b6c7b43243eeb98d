//! The schema of the lines, and the examples of the manual. The schema is made in `src/session/stream/schema.rs`.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::exec;
use crate::support::built_program;
use crate::support::program::{Program, stderr, stdout};
use crate::support::server::{Reply, Server};
use crate::support::skip::{Need, skip};
use crate::support::stream_schema::{faults, schema};

fn asset(path: &str) -> PathBuf {
    crate::support::root().join("assets").join(path)
}

/// Returns the blocks of code in a language of the manual's page: of `python` the use of the client and the fold, of `sh` first the
/// program that decides about permissions.
pub fn blocks(language: &str) -> Vec<String> {
    let page = fs::read_to_string(asset("manual/exec-json.md")).unwrap();
    let begin = format!("```{language}\n");
    page.split(&begin).skip(1).map(|part| part.split_once("\n```").unwrap().0.to_owned()).collect()
}

#[test]
fn the_schema_that_is_printed_is_the_one_that_is_kept() {
    let printed = stdout(&Program::new().args(["exec", "--schema"]).output());
    assert_eq!(printed, fs::read_to_string(asset("schema/exec.json")).unwrap());
}

#[test]
fn every_event_of_the_schema_stands_in_the_manual_with_its_members() {
    let page = fs::read_to_string(asset("manual/exec-json.md")).unwrap();
    let schema = schema();
    let events = schema["$defs"]["Event"]["oneOf"].as_array().unwrap();
    assert!(events.len() > 35, "{}", events.len());
    for event in events {
        let name = event["properties"]["type"]["const"].as_str().unwrap();
        let row =
            page.lines().find(|line| line.split('|').nth(1).is_some_and(|cell| cell.contains(&format!("`{name}`"))));
        let row = row.unwrap_or_else(|| panic!("{name} is not described"));
        let is_whole = ["session_ended", "tokens"].contains(&name);
        for member in event["properties"].as_object().unwrap().keys().filter(|_| !is_whole) {
            let is_general = ["type", "cut", "cut_bytes"].contains(&member.as_str());
            assert!(is_general || row.contains(&format!("`{member}`")), "{name}: {member} is not described");
        }
    }
}

#[test]
fn the_checker_finds_what_does_not_fit() {
    let schema = schema();
    let faults = |part: &str, value: Value| faults(schema, &schema["properties"][part], &value, "");
    assert_eq!(faults("input", json!({"id": 1, "type": "send", "text": "x"})), Vec::<String>::new());
    for wrong in [json!({"type": "send"}), json!({"type": "sing"}), json!({"type": "send", "text": 1}), json!([])] {
        assert!(!faults("input", wrong.clone()).is_empty(), "{wrong}");
    }
    assert!(!faults("output", json!({"seq": 1, "event": {"type": "notice", "text": "x"}})).is_empty());
}

#[test]
fn the_client_of_the_manual_sends_answers_and_ends() {
    let client = blocks("python").remove(0);
    let removal = Reply::calls(&[("c1", "bash", r#"{"command":"rm kept"}"#)]);
    let server = Server::start([removal, Reply::text("I leave it.")]);
    let home = tempfile::TempDir::new().unwrap();
    let child = Command::new("python3")
        .args(["-c", &client, built_program().to_str().unwrap(), "--base-url", &server.url(), "--model", "m"])
        .args(["--sandbox", "off"])
        .env("PYTHONPATH", asset("clients"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("HOME", home.path())
        .env("STEERSMAN_LOCAL_PORTS", "none")
        .current_dir(home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else { return skip(Need::Program("python3"), "the client of the manual") };
    child.stdin.take().unwrap().write_all(b"remove it\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((stdout(&output).as_str(), output.status.code()), ("I leave it.\n", Some(0)));
    assert!(server.chats()[1].texts("tool")[0].contains("not from a script"));
}

#[test]
fn the_program_of_the_manual_that_decides_allows_what_it_says() {
    let allowed = r#"{"command":"cat some/file"}"#;
    let calls = [("c1", "bash", allowed), ("c2", "bash", r#"{"command":"cat a; rm a"}"#)];
    let server = Server::start([Reply::calls(&calls), Reply::text("Done.")]);
    let program = exec(&server).file("work/some/file", "read me").file("decide", &blocks("sh")[0]);
    let decide = format!("/bin/sh {}", program.home().join("decide").display());
    // Where only read, a command needs no question; here each is asked about.
    let output = program.args(["--ask", "bash: *", "--permission-command", &decide, "hello"]).output();
    let results = server.chats()[1].texts("tool");
    if stderr(&output).contains("jq: not found") {
        return skip(Need::Program("jq"), "the program of the manual that decides");
    }
    assert!(results[0].contains("read me"), "{results:?} {}", stderr(&output));
    assert!(results[1].contains("only cat, ls and wc"), "{results:?}");
}

#[test]
fn the_filters_of_the_manual_find_what_they_say() {
    let write = Reply::calls(&[("c1", "write", r#"{"path":"new.txt","content":"x"}"#), ("c2", "read", "{}")]);
    let server = Server::start([write, Reply::text("Done.")]);
    let lines = stdout(&exec(&server).args(["--json", "hello"]).output());
    let page = fs::read_to_string(asset("manual/exec-json.md")).unwrap();
    let (_, section) = page.split_once("## With jq").unwrap();
    let filters: Vec<&str> = section.lines().filter(|line| line.starts_with("jq ")).collect();
    let found: Vec<String> = filters
        .iter()
        .filter_map(|filter| {
            let mut jq =
                Command::new("sh").args(["-c", filter]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            // A filter may end before it has read everything.
            let _ = jq.stdin.take().unwrap().write_all(lines.as_bytes());
            let output = jq.wait_with_output().unwrap();
            (output.status.code() != Some(127)).then(|| stdout(&output))
        })
        .collect();
    if found.is_empty() {
        return skip(Need::Program("jq"), "the filters of the manual");
    }
    assert_eq!([found[0].as_str(), &found[1], &found[3]], ["Done.\n", "read: invalid\n", "new.txt\n"]);
    assert!(found[2].trim().parse::<u64>().unwrap() > 0, "{}", found[2]);
}
