//! The pending list on the real program: what other programs get wrong cannot happen here.
//!
//! There only the last text or all at once can be taken back, the first Esc deletes the whole queue, and an index can meet
//! another text than the one that was meant.

use std::sync::Barrier;

use crate::steering::{is_child, main_chats, one_child_behind};
use crate::support::server::{Gate, Reply, Server};
use crate::support::terminal::{Start, Terminal, keys};

/// Starts a turn that waits for its sub-agent, with three texts pending: m2, m3 and m4.
fn three_pending(server: &Server, gate: &Gate) -> Terminal {
    let mut terminal = Start::against(server).waits_for_agents().run();
    terminal.send("start\r");
    gate.wait_reached();
    // One by one: more at once would be a paste.
    for (text, row) in [("one\r", "⋯ m2 one"), ("two\r", "⋯ m3 two"), ("three\r", "⋯ m4 three")] {
        terminal.send(text);
        terminal.wait_for(row);
    }
    terminal
}

/// Goes to the list and selects the middle one.
fn select_middle(terminal: &mut Terminal) {
    terminal.send(keys::F2);
    terminal.wait_for("▸ ⋯ m4 three");
    terminal.send("k");
    terminal.wait_for("▸ ⋯ m3 two");
}

#[test]
fn exactly_the_middle_one_of_three_is_taken_back() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = three_pending(&server, &gate);
    select_middle(&mut terminal);
    terminal.send("d");
    terminal.wait_for("m3 is deleted");
    gate.open();
    terminal.wait_for("the main agent is done");
    assert_eq!(main_chats(&server)[1].texts("user"), ["start", "one", "three"]);
}

#[test]
fn what_was_deleted_is_delivered_in_its_old_place_once_it_is_brought_back() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = three_pending(&server, &gate);
    select_middle(&mut terminal);
    terminal.send("d");
    terminal.wait_for("m3 is deleted");
    terminal.send(keys::CTRL_UNDERSCORE);
    terminal.wait_for("m3 is back in its place");
    gate.open();
    terminal.wait_for("the main agent is done");
    assert_eq!(main_chats(&server)[1].texts("user"), ["start", "one", "two", "three"]);
}

#[test]
fn esc_returns_every_pending_text_to_the_message() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = three_pending(&server, &gate);
    terminal.send("draft");
    terminal.wait_for("› draft");
    terminal.wait_for("Esc twice: stops main and 1 agent");
    terminal.send(keys::ESC);
    terminal.wait_for("Esc again stops main");
    terminal.send(keys::ESC);
    terminal.wait_for("cancelled; 3 pending texts are back in the message");
    terminal.wait_for("→ adds to the open task");
    terminal.send(keys::ENTER);
    terminal.wait_for("the main agent is done");
    let users = main_chats(&server).last().unwrap().texts("user");
    assert_eq!(users, ["start", "one\n\ntwo\n\nthree\n\ndraft"]);
}

#[test]
fn a_text_that_was_edited_is_delivered_in_its_old_place() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = three_pending(&server, &gate);
    select_middle(&mut terminal);
    terminal.send(keys::ENTER);
    terminal.wait_for("editing m3 for main");
    terminal.send(", but better\r");
    terminal.wait_for("m3 is back in its place");
    gate.open();
    terminal.wait_for("the main agent is done");
    assert_eq!(main_chats(&server)[1].texts("user"), ["start", "one", "two, but better", "three"]);
}

#[test]
fn a_text_that_is_being_edited_lets_its_boundary_pass() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = three_pending(&server, &gate);
    select_middle(&mut terminal);
    terminal.send("e");
    terminal.wait_for("editing m3 for main");
    gate.open();
    terminal.wait_for("the main agent is done");
    assert_eq!(main_chats(&server)[1].texts("user"), ["start", "one", "three"]);
    terminal.send(", but better\r");
    server.wait_requested(4);
    assert_eq!(main_chats(&server)[2].texts("user"), ["start", "one", "three", "two, but better"]);
}

#[test]
fn a_deletion_at_the_very_boundary_deletes_that_text_or_none_and_the_screen_says_which() {
    const TURNS: usize = 12;
    let gates: Vec<Gate> = (0..TURNS).map(|_| Gate::new()).collect();
    let server = turns_behind(&gates);
    let mut terminal = Start::against(&server).waits_for_agents().run();
    let mut said = Vec::new();
    for (turn, gate) in gates.iter().enumerate() {
        let id = format!("m{}", turn * 3 + 2);
        terminal.send(&format!("start {turn};\r"));
        gate.wait_reached();
        terminal.send(&format!("drop {turn};\rkeep {turn};\r"));
        terminal.wait_for(&format!("keep {turn};"));
        terminal.send(keys::F2);
        terminal.wait_for(&format!("▸ ⋯ m{}", turn * 3 + 3));
        terminal.send("k");
        terminal.wait_for(&format!("▸ ⋯ {id} drop"));
        let both = Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                both.wait();
                gate.open();
            });
            both.wait();
            terminal.send("d");
        });
        let told = [" is deleted", " was delivered before", " is being delivered", " is delivered"];
        let which = |screen: &str| told.iter().position(|words| screen.contains(&format!("{id}{words}")));
        let screen = terminal.wait_until("the screen to say what happened", |screen| which(screen).is_some());
        said.push(which(&screen) == Some(0));
        terminal.wait_for(&format!("done {turn}."));
        terminal.send(keys::ESC);
        terminal.wait_for("→ starts a turn");
    }
    let users = main_chats(&server).last().unwrap().texts("user");
    for (turn, deleted) in said.iter().enumerate() {
        let count = |text: String| users.iter().filter(|user| **user == text).count();
        assert_eq!(count(format!("keep {turn};")), 1, "the neighbour is never met: {users:?}");
        assert_eq!(count(format!("drop {turn};")), usize::from(!deleted), "turn {turn}, deleted: {deleted}; {users:?}");
    }
}

/// Answers `start N;` with a sub-agent that waits behind the gate of that number, then says `done N.`.
fn turns_behind(gates: &[Gate]) -> Server {
    let gates = gates.to_vec();
    Server::routed(move |request| {
        let users = request.texts("user");
        let number = |prefix: &str| {
            let last = users.iter().rev().find_map(|text| text.trim().strip_prefix(prefix))?;
            last.trim_end_matches(';').parse::<usize>().ok()
        };
        if is_child(request) {
            let turn =
                users.iter().find_map(|text| text.split("number ").nth(1)?.trim().parse::<usize>().ok()).unwrap();
            return Reply::text("looked").gated(&gates[turn]);
        }
        let turn = number("start ").unwrap();
        if users.last().is_some_and(|text| text.starts_with("start ")) && request.roles().last().unwrap() == "user" {
            let arguments = format!(r#"{{"name":"file_miner","task":"look at number {turn}"}}"#);
            return Reply::calls(&[(&format!("c{turn}"), "agent", &arguments)]);
        }
        Reply::text(&format!("done {turn}."))
    })
}
