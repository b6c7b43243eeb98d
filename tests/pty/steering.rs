//! Typing while a turn runs: the text waits on the screen and is in the very next request, behind all results.

use crate::support::server::{Gate, Reply, Request, Server};
use crate::support::terminal::{Start, Terminal, keys};

/// Answers sub-agents from behind a gate, and the main agent with one `agent` call, then a text.
pub fn one_child_behind(gate: &Gate) -> Server {
    let gate = gate.clone();
    Server::routed(move |request| match (is_child(request), request.roles().last().map(String::as_str)) {
        (true, _) => Reply::text("the child is done").gated(&gate),
        (false, Some("tool")) => Reply::text("the main agent is done"),
        (false, _) if request.texts("tool").is_empty() => {
            Reply::calls(&[("c1", "agent", r#"{"name":"file_miner","task":"look"}"#)])
        }
        (false, _) => Reply::text("the main agent is done"),
    })
}

/// Waits until the composer is empty: what was typed is accepted.
fn wait_sent(terminal: &Terminal) {
    terminal.wait_for("Type a message");
}

/// A child has no `agent` tool on offer.
pub fn is_child(request: &Request) -> bool {
    !request.tools().iter().any(|tool| tool == "agent")
}

/// The main agent's chat requests, in order.
pub fn main_chats(server: &Server) -> Vec<Request> {
    server.chats().into_iter().filter(|request| !is_child(request)).collect()
}

#[test]
fn text_typed_while_a_tool_runs_is_pending_and_then_in_the_very_next_request() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("start\r");
    gate.wait_reached();
    terminal.send("look at the tests too\r");
    terminal.wait_for("look at the tests too");
    wait_sent(&terminal);
    assert!(!server.chats().iter().any(|chat| chat.texts("user").iter().any(|text| text.contains("tests too"))));
    gate.open();
    terminal.wait_for("the main agent is done");

    let chats = main_chats(&server);
    let next = &chats[1];
    let end: Vec<String> = next.roles().into_iter().rev().take(3).collect();
    assert_eq!(end, ["user", "tool", "assistant"], "the text stands behind the result of its batch");
    assert_eq!(next.texts("user").last().unwrap(), "look at the tests too");
    let screen = terminal.wait_for("while it worked");
    assert!(screen.contains("look at the tests too"));
}

#[test]
fn a_text_with_a_condition_says_on_the_screen_what_it_waits_for_and_comes_when_that_happens() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("start\r");
    gate.wait_reached();
    terminal.send("/when agent file_miner ends: read it first\r");
    terminal.wait_for("→ when agent file_miner ends");
    wait_sent(&terminal);
    gate.open();
    terminal.wait_for("the main agent is done");
    let next = &main_chats(&server)[1];
    assert_eq!(next.texts("user").last().unwrap(), "read it first");
    assert!(next.contents("user").last().unwrap().contains("due=\"agent file_miner ends\""));
}

#[test]
fn text_typed_into_the_last_answer_starts_the_next_turn() {
    let gate = Gate::new();
    let server = Server::start([]);
    server.reply(Reply::text("first answer").gated(&gate));
    server.reply_text("second answer");
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("one\r");
    gate.wait_reached();
    terminal.send("two\r");
    terminal.wait_for("two");
    wait_sent(&terminal);
    gate.open();
    terminal.wait_for("second answer");
    assert_eq!(server.chats()[1].texts("user"), ["one", "two"]);
}

#[test]
fn two_lines_in_one_read_are_two_messages() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("start\r");
    gate.wait_reached();
    terminal.send("first text\rsecond text\r");
    terminal.wait_until("both to be pending", |screen| screen.contains("first text") && screen.contains("second text"));
    wait_sent(&terminal);
    gate.open();
    terminal.wait_for("the main agent is done");
    let users = main_chats(&server)[1].texts("user");
    assert_eq!(users, ["start", "first text", "second text"]);
}

#[test]
fn a_follow_up_waits_for_the_end_of_the_turn() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("start\r");
    gate.wait_reached();
    // Without a turn Tab does nothing, and the screen may learn of it after the server.
    terminal.wait_for("Tab after the turn");
    terminal.send("afterwards\t");
    terminal.send("at once\r");
    terminal.wait_for("at once");
    wait_sent(&terminal);
    gate.open();
    server.wait_requested(4);
    let chats = main_chats(&server);
    assert_eq!(chats[1].texts("user"), ["start", "at once"]);
    assert_eq!(chats[2].texts("user"), ["start", "at once", "afterwards"]);
}

#[test]
fn alt_up_takes_the_newest_pending_text_back_before_the_draft() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("start\r");
    gate.wait_reached();
    terminal.send("older\rnewer\r");
    terminal.wait_for("m3 ");
    terminal.send("draft");
    terminal.wait_for("draft");
    terminal.send(keys::ALT_UP);
    terminal.send(keys::ENTER);
    wait_sent(&terminal);
    gate.open();
    terminal.wait_for("the main agent is done");
    assert_eq!(main_chats(&server)[1].texts("user"), ["start", "older", "newer\n\ndraft"]);
}

#[test]
fn after_a_failed_turn_pending_texts_wait_until_enter() {
    let gate = Gate::new();
    let server = Server::start([]);
    server.reply(Reply::json(400, serde_json::json!({"error": {"message": "no such thing"}})).gated(&gate));
    server.reply_text("now it works");
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("one\r");
    gate.wait_reached();
    terminal.send("two\r");
    terminal.wait_for("two");
    wait_sent(&terminal);
    gate.open();
    terminal.wait_for("no such thing");
    terminal.wait_for("two");
    assert_eq!(server.chats().len(), 1);
    terminal.send(keys::ENTER);
    terminal.wait_for("now it works");
    assert_eq!(server.chats()[1].texts("user"), ["one", "two"]);
}

#[test]
fn a_paste_is_never_sent_by_itself() {
    let server = Server::start([Reply::text("thanks")]);
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("\x1b[200~pasted one\rpasted two\r\x1b[201~");
    terminal.wait_for("pasted two");
    assert!(server.chats().is_empty());
    terminal.send(keys::ENTER);
    terminal.wait_for("thanks");
    assert_eq!(server.chats()[0].texts("user"), ["pasted one\npasted two\n"]);
}

#[test]
fn a_key_makes_a_rule_of_what_is_written_it_stands_above_the_message_and_is_withdrawn_in_words() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("start\r");
    gate.wait_reached();
    terminal.send("look at the tests\u{1b}v\u{1b}v\u{1b}v");
    terminal.wait_for("→ main, rule");
    terminal.send("\r");
    terminal.wait_for("rule: look at the tests");
    wait_sent(&terminal);
    gate.open();
    terminal.wait_for("the main agent is done");
    let sent = main_chats(&server)[1].contents("user").pop().unwrap();
    assert!(sent.starts_with("<steer-m2 kind=\"rule\"") && sent.contains("\nlook at the tests\n"), "{sent}");
    terminal.wait_for("§ ");
    terminal.send("/rules withdraw m2\r");
    terminal.wait_gone("§ ");
    terminal.send("go on\r");
    let both = |screen: &str| screen.matches("the main agent is done").count() == 2;
    terminal.wait_until("the second answer", both);
    let news = main_chats(&server)[2].contents("user");
    assert!(news.iter().any(|text| text.contains("withdrawn")), "{news:?}");
}
