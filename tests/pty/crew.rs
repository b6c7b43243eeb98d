//! Steering an agent of the tree by itself, and cutting in: each on the real program.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::steering::{is_child, main_chats};
use crate::support::server::{Gate, Reply, Server, Step};
use crate::support::terminal::{Start, keys};

/// Two sub-agents whose first replies wait for a gate each; the main agent answers behind them.
fn two_children(gates: &[Gate; 2]) -> Server {
    let [first, second] = gates.clone();
    Server::routed(move |request| match (is_child(request), request.texts("tool").is_empty()) {
        (true, true) => {
            let gate = if request.texts("user")[0] == "first" { &first } else { &second };
            Reply::calls(&[("k", "glob", r#"{"pattern":"*"}"#)]).gated(gate)
        }
        (true, false) => Reply::text("the child is done"),
        (false, true) => Reply::calls(&[
            ("a", "agent", r#"{"name":"file_miner","task":"first"}"#),
            ("b", "agent", r#"{"name":"file_miner","task":"second"}"#),
        ]),
        (false, false) => Reply::text("the main agent is done"),
    })
}

#[test]
fn x_cancels_one_sub_agent_and_its_parent_goes_on() {
    let gates = [Gate::new(), Gate::new()];
    let server = two_children(&gates);
    let mut terminal = Start::against(&server).run();
    terminal.send("start\r");
    gates.iter().for_each(Gate::wait_reached);
    terminal.wait_for("file_miner 1");
    terminal.send(&format!("{}{}", keys::F3, keys::DOWN));
    terminal.wait_for("x cancel");
    terminal.send("x");
    server.wait_hung_up(1);
    gates[1].open();
    terminal.wait_for("done");
    server.wait_requested(5);
    let last = main_chats(&server).pop().unwrap();
    assert_eq!(last.texts("tool"), ["Error: cancelled by the user", "the child is done"]);
}

#[test]
fn a_text_for_all_reaches_each_agent_once_at_its_own_boundary() {
    let gates = [Gate::new(), Gate::new()];
    let server = two_children(&gates);
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("start\r");
    gates.iter().for_each(Gate::wait_reached);
    terminal.wait_for("file_miner 1");
    terminal.send("@all be brief\r");
    // The empty message says so before the text is typed, too.
    terminal.wait_until("the text to be pending", |s| s.contains("be brief") && s.contains("Type a message"));
    gates.iter().for_each(Gate::open);
    terminal.wait_for("the main agent is done");
    let children: Vec<_> = server.chats().into_iter().filter(is_child).collect();
    for task in ["first", "second"] {
        let last = children.iter().rfind(|chat| chat.texts("user")[0] == task).unwrap();
        assert_eq!(last.texts("user"), [task, "be brief"]);
        assert_eq!(last.roles().last().unwrap(), "user", "behind the child's own tool result");
    }
    assert_eq!(main_chats(&server).last().unwrap().texts("user"), ["start", "be brief"]);
    assert!(!terminal.screen().contains("› be brief"), "no copy is left over in the message");
}

#[test]
fn a_finished_sub_agent_goes_on_with_a_text_and_the_main_agent_hears_of_it() {
    let server = Server::routed(|request| match (is_child(request), request.texts("user").len()) {
        (true, 1) => Reply::text("gold"),
        (true, _) => Reply::text("silver too"),
        (false, 1) if request.texts("tool").is_empty() => {
            Reply::calls(&[("a", "agent", r#"{"name":"file_miner","task":"dig"}"#)])
        }
        (false, 1) => Reply::text("the main agent is done"),
        (false, _) => Reply::text("the main agent has heard"),
    });
    let mut terminal = Start::against(&server).run();
    terminal.send("start\r");
    terminal.wait_for("the main agent is done");
    terminal.send("@file_miner 0 and silver");
    terminal.wait_for("continues file_miner 0");
    terminal.send("\r");
    server.wait_requested(4);
    let child = server.chats().into_iter().rfind(is_child).unwrap();
    assert_eq!(child.texts("user"), ["dig", "and silver"]);
    assert_eq!(child.texts("assistant"), ["gold"]);
    terminal.send(&format!("{}{}", keys::F3, keys::DOWN));
    terminal.wait_for("silver too");
    terminal.send("\x1b[A\r");
    terminal.send("@main what now\r");
    terminal.wait_for("the main agent has heard");
    let heard = main_chats(&server).pop().unwrap().texts("user");
    assert!(heard[1].starts_with("<agent-file_miner0 ") && heard[1].contains("silver too"), "{heard:?}");
}

#[test]
fn after_a_resume_a_sub_agent_goes_on_with_its_history_and_esc_stops_it() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::routed(move |request| match (is_child(request), request.texts("user").len()) {
        (true, 1) => Reply::text("gold"),
        (true, _) => Reply::text("silver too").gated(&held),
        (false, _) if request.texts("tool").is_empty() => {
            Reply::calls(&[("a", "agent", r#"{"name":"file_miner","task":"dig"}"#)])
        }
        (false, _) => Reply::text("the main agent is done"),
    });
    let mut first = Start::against(&server).run();
    first.send("start\r");
    first.wait_for("the main agent is done");
    first.wait_for("· idle");
    first.signal(Signal::TERM);
    assert_eq!(first.wait_exit(Duration::from_secs(30)).exit_code(), 143);
    let home = first.home().to_str().unwrap().to_owned();
    let beside = Start::against(&server).env("HOME", &home).cwd(&first.home().join("work"));
    let mut second = beside.arg("--continue").run();
    second.wait_for("the main agent is done");
    second.send("@file_miner 0 and silver");
    second.wait_for("continues file_miner 0");
    second.send("\r");
    gate.wait_reached();
    let child = server.chats().into_iter().rfind(is_child).unwrap();
    assert_eq!(
        (child.texts("user"), child.texts("assistant")),
        (vec!["dig".into(), "and silver".into()], vec!["gold".into()])
    );
    second.wait_for("Esc: stops file_miner 0");
    second.wait_for("waiting for the model");
    second.send("\x1b");
    server.wait_hung_up(1);
    second.wait_for("· idle");
}

#[test]
fn f5_cuts_the_answer_and_the_turn_goes_on_with_the_text() {
    let delta = Step::delta(json!({"content": "it begins here and "}));
    let server = Server::start([Reply::stream([delta, Step::Wait(Gate::new())]), Reply::text("gladly")]);
    let mut terminal = Start::against(&server).run();
    terminal.send("go\r");
    terminal.wait_for("it begins here");
    terminal.send(&format!("in French{}", keys::F5));
    terminal.wait_for("gladly");
    server.wait_hung_up(1);
    let last = server.chats().pop().unwrap();
    assert_eq!(last.roles(), ["system", "user", "assistant", "user"]);
    assert_eq!(last.texts("assistant"), ["it begins here and "]);
    assert_eq!(last.texts("user"), ["go", "in French"]);
    terminal.wait_for("seen");
}
