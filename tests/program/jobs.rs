//! Commands in the background of `exec`.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::processes::{alive, unique};
use crate::support::program::{Program, stdout};
use crate::support::server::{Reply, Server};

/// Longest time for anything here, on a machine that is overloaded.
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn the_spawner_of_a_sub_agent_reads_which_of_its_jobs_were_ended() {
    let mark = unique();
    let command = json!({"command": format!("M={mark} sleep 300"), "background": true}).to_string();
    let server = Server::start([
        Reply::calls(&[("c1", "agent", r#"{"name":"worker","task":"Serve."}"#)]),
        Reply::calls(&[("c2", "bash", &command)]),
        Reply::text("The server runs."),
        Reply::text("Done."),
    ]);
    let program = Program::new().args(["exec", "--yes", "--base-url", &server.url(), "--model", "m", "serve"]);
    let output = program.output();
    let chats = server.chats();
    let answer = chats[3].texts("tool").join("\n");
    let ended =
        format!("The server runs.\n\n[ended with the agent, as it ran in the background: j1 (M={mark} sleep 300)]");
    assert!(answer.contains(&ended), "{answer} {}", stdout(&output));
}

#[test]
fn exec_tells_of_jobs_in_its_lines_and_ends_them_before_its_last_one() {
    let mark = unique();
    let command = format!("echo made > made.txt; echo up; M={mark} sleep 300");
    let arguments = json!({"command": command, "background": true}).to_string();
    let server = Server::start([
        Reply::calls(&[("c1", "bash", &arguments)]),
        Reply::calls(&[("c2", "job_output", r#"{"job":"j1","wait_for":"up"}"#)]),
        Reply::text("It runs."),
    ]);
    let program =
        Program::new().args(["exec", "--json", "--yes", "--base-url", &server.url(), "--model", "m", "serve"]);
    let output = program.output();
    let lines: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().map(|line| line["event"]["type"].as_str().unwrap()).collect();
    let place =
        |kind: &str| kinds.iter().position(|known| *known == kind).unwrap_or_else(|| panic!("{kind}: {kinds:?}"));
    let started = &lines[place("job_started")]["event"];
    assert_eq!((&started["id"], &started["owner"], &started["call"]), (&json!("j1"), &json!("agent"), &json!("c1")));
    let ended = &lines[place("job_ended")]["event"];
    assert_eq!((&ended["ending"], &ended["output"]), (&json!("interrupted"), &json!("up\n")));
    assert_eq!(ended["end"]["touched"]["partial"], json!(true), "nobody looks for files when the session ends");
    assert_eq!(kinds.last(), Some(&"session_ended"));
    assert!(place("turn_ended") < place("job_ended"), "it goes on behind the turn");
    let began = Instant::now();
    while !alive(&mark).is_empty() {
        assert!(began.elapsed() < PATIENCE, "{:?}", alive(&mark));
        std::thread::yield_now();
    }
}
