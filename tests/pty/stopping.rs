//! Esc: everything of the turn is gone at once, the texts are back, and the next turn works.

use std::time::{Duration, Instant};

use crate::steering::{is_child, main_chats, one_child_behind};
use crate::support::server::{Gate, Reply, Server, Step};
use crate::support::terminal::{Start, Terminal, keys};

/// Long before a server that sends nothing more would be given up.
const GONE_WITHIN: Duration = Duration::from_mins(1);

fn stop_and_go_on(terminal: &mut Terminal, server: &Server, requests_cut: usize) {
    if requests_cut > 1 {
        // With sub-agents at work the first says what the next stops.
        terminal.send(keys::ESC);
        terminal.wait_for("Esc again stops main");
    }
    let pressed = Instant::now();
    terminal.send(keys::ESC);
    server.wait_hung_up(requests_cut);
    assert!(pressed.elapsed() < GONE_WITHIN, "it took {:?}", pressed.elapsed());
    terminal.wait_for("cancelled");
    terminal.send("and now\r");
    terminal.wait_for("the next turn works");
    let last = main_chats(server).pop().unwrap();
    assert_eq!(last.texts("user").last().unwrap(), "and now");
}

fn streaming_then_hanging() -> Reply {
    let delta = Step::delta(serde_json::json!({"content": "it begins here and "}));
    Reply::stream([delta, Step::Wait(Gate::new())])
}

#[test]
fn esc_cuts_an_answer_that_streams_and_keeps_what_came() {
    let server = Server::start([streaming_then_hanging(), Reply::text("the next turn works")]);
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("go\r");
    terminal.wait_for("it begins here");
    stop_and_go_on(&mut terminal, &server, 1);
    let kept = server.chats()[1].texts("assistant");
    assert_eq!(kept, ["it begins here and "]);
}

#[test]
fn esc_cuts_a_request_that_stalls_before_its_first_word() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("never").gated(&gate), Reply::text("the next turn works")]);
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("go\r");
    gate.wait_reached();
    stop_and_go_on(&mut terminal, &server, 1);
}

#[test]
fn esc_stops_three_running_sub_agents() {
    let server = Server::routed(|request| {
        let last = request.texts("user").pop().unwrap_or_default();
        match is_child(request) {
            true => streaming_then_hanging(),
            false if last == "and now" => Reply::text("the next turn works"),
            false => Reply::calls(&[
                ("a", "agent", r#"{"name":"file_miner","task":"first"}"#),
                ("b", "agent", r#"{"name":"file_miner","task":"second"}"#),
                ("c", "agent", r#"{"name":"file_miner","task":"third"}"#),
            ]),
        }
    });
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("go\r");
    server.wait_requested(4);
    terminal.wait_for("file_miner 2");
    stop_and_go_on(&mut terminal, &server, 3);
    assert_eq!(server.chats().iter().filter(|chat| is_child(chat)).count(), 3, "no child asked again");
}

#[test]
fn esc_brings_pending_texts_back_in_order_before_the_draft() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("start\r");
    gate.wait_reached();
    terminal.send("one\rtwo\r");
    terminal.wait_for("m3 ");
    terminal.send("draft");
    terminal.wait_for("draft");
    terminal.send(keys::ESC);
    terminal.wait_for("Esc again stops main");
    terminal.send(keys::ESC);
    terminal.wait_for("cancelled");
    gate.open();
    terminal.send(keys::ENTER);
    terminal.wait_for("the main agent is done");
    assert_eq!(main_chats(&server).last().unwrap().texts("user"), ["start", "one\n\ntwo\n\ndraft"]);
}
