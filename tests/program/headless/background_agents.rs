//! Sub-agents in the background of a run without a screen: it ends when they have, or stops them.

use serde_json::json;

use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Gate, Reply, Request, Server};

/// What the main agent says behind its spawn, and behind the answer.
const WAITS: &str = "I wait for the count.";
const COUNTED: &str = "There are seven.";

/// Starts a server whose main agent spawns one agent in the background, which answers when the gate opens.
fn server(gate: &Gate) -> Server {
    let gate = gate.clone();
    Server::routed(move |request: &Request| {
        let said = request.texts("user").join("\n");
        if said.starts_with("Count birds.") {
            return Reply::text("Seven birds.").gated(&gate);
        }
        match (request.texts("tool").len(), said.contains("Seven birds.")) {
            (0, _) => {
                let task = json!({"name": "file_miner", "task": "Count birds.", "background": true}).to_string();
                Reply::calls(&[("c1", "agent", task.as_str())])
            }
            (_, false) => Reply::text(WAITS),
            (_, true) => Reply::text(COUNTED),
        }
    })
}

fn exec(server: &Server) -> Program {
    Program::new().args(["exec", "--base-url", &server.url(), "--model", "m"])
}

#[test]
fn a_run_ends_when_its_agents_have_and_its_answer_is_that_of_the_last_turn() {
    let gate = Gate::new();
    let server = server(&gate);
    let opener = std::thread::spawn({
        let gate = gate.clone();
        move || {
            gate.wait_reached();
            gate.open();
        }
    });
    let output = exec(&server).arg("How many birds?").output();
    opener.join().unwrap();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    assert_eq!(stdout(&output), format!("{COUNTED}\n"));
    let last = server.chats().pop().unwrap();
    let told = last.texts("user").pop().unwrap();
    assert!(told.starts_with("<agent-file_miner0 from=\"the program, not the user\""), "{told}");
    assert!(told.contains("\nSeven birds.\n"), "{told}");
}

#[test]
fn without_waiting_the_run_ends_with_the_turn_and_names_the_agents_that_it_stops() {
    let server = server(&Gate::new());
    let output = exec(&server).args(["--no-wait", "How many birds?"]).output();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    assert_eq!(stdout(&output), format!("{WAITS}\n"));
    assert!(stderr(&output).contains("stopped, because of --no-wait: file_miner 0"), "{}", stderr(&output));
}
