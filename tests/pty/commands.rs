//! Slash commands on the real program, while a turn runs; and texts that only look like commands.

use serde_json::json;

use super::steering::{is_child, main_chats, one_child_behind};
use crate::support::server::{Gate, Reply, Server};
use crate::support::terminal::{Start, keys};

#[test]
fn cancel_stops_the_running_turn_and_brings_pending_texts_back() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("start\r");
    gate.wait_reached();
    terminal.send("wait for me\r");
    terminal.wait_for("wait for me");
    terminal.send("/can\t\r");
    terminal.wait_for("last turn cancelled");
    terminal.wait_for("› wait for me");
    gate.open();
}

#[test]
fn help_opens_a_page_of_the_manual_while_a_turn_runs_and_esc_leads_back_to_the_message() {
    let gate = Gate::new();
    let server = Server::start([]);
    server.reply(Reply::text("an answer").gated(&gate));
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("go\r");
    gate.wait_reached();
    terminal.send("/help sandbox\r");
    terminal.wait_for("Help: Sandbox");
    terminal.send(keys::ESC);
    terminal.wait_for("Help: type to filter");
    terminal.send("landlock");
    terminal.wait_for("/landlock");
    terminal.wait_for("Lines of the manual");
    terminal.send("\r");
    terminal.wait_gone("Lines of the manual");
    terminal.send(keys::F1);
    terminal.wait_gone("Help: ");
    gate.open();
    terminal.wait_for("an answer");
}

#[test]
fn new_during_a_turn_stops_it_and_begins_with_an_empty_conversation_and_screen() {
    let gate = Gate::new();
    let server = Server::start([]);
    server.reply(Reply::text("never read").gated(&gate));
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("the old talk\r");
    gate.wait_reached();
    terminal.send("/new\r");
    terminal.wait_for("Start a new conversation?");
    terminal.wait_for("● ready");
    terminal.send("1\r");
    terminal.wait_gone("the old talk");
    gate.open();
    server.reply_text("a fresh answer");
    terminal.send("the new talk\r");
    terminal.wait_for("a fresh answer");
    assert_eq!(server.chats().last().unwrap().texts("user"), ["the new talk"]);
}

#[test]
fn a_new_conversation_does_not_set_the_budget_back() {
    let server = Server::start([]);
    server.reply(Reply::text("the answer").usage(600, 20));
    let mut terminal = Start::against(&server).waits_for_agents().arg("--max-tokens-total").arg("100000").run();
    terminal.send("go\r");
    terminal.wait_for("620 of 100k tokens used");
    terminal.send("/new\r");
    terminal.wait_for("● ready");
    terminal.send("1\r");
    terminal.wait_gone("the answer");
    terminal.send("/budget\r");
    let screen = terminal.wait_for("no limit · 620 of 100k tokens used");
    assert!(screen.contains("620 of 100k tokens used"), "{screen}");
}

#[test]
fn a_model_that_the_server_does_not_list_is_used_after_a_yes_only() {
    let server = Server::start([]);
    server.on("/v1/models", Reply::json(200, json!({ "data": [{ "id": "scripted" }] })));
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("/model other\r");
    let screen = terminal.wait_for("● ready");
    assert!(screen.contains("\"other\" is not in the server's list: use it anyway?"), "{screen}");
    terminal.send("2\r");
    terminal.wait_for("the model is scripted as before");
    terminal.send("/model other\r");
    terminal.wait_for("● ready");
    terminal.send("1\r");
    terminal.wait_for("model: scripted -> other");
    server.reply_text("the answer");
    terminal.send("go\r");
    terminal.wait_for("the answer");
    assert_eq!(server.chats().last().unwrap().body["model"], "other");
}

#[test]
fn texts_that_look_like_commands_reach_the_model_letter_by_letter() {
    let gate = Gate::new();
    let server = one_child_behind(&gate);
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("start\r");
    gate.wait_reached();
    terminal.send("/etc/hosts is short\r");
    terminal.wait_for("⋯ m2 /etc/hosts is short");
    terminal.send("//help me\r");
    terminal.wait_for("⋯ m3 /help me");
    terminal.send("/foo");
    terminal.wait_for("unknown command /foo");
    terminal.send(keys::ENTER);
    terminal.wait_for("Enter again sends it as text");
    terminal.send(keys::ENTER);
    terminal.wait_for("Type a message");
    gate.open();
    terminal.wait_for("the main agent is done");
    let users = main_chats(&server)[1].texts("user");
    assert_eq!(users, ["start", "/etc/hosts is short", "/help me", "/foo"]);
}

#[test]
fn a_name_at_the_start_reaches_that_agent_at_its_own_boundary() {
    let gate = Gate::new();
    let at_gate = gate.clone();
    let server = Server::routed(move |request| match (is_child(request), request.texts("tool").is_empty()) {
        (true, true) => Reply::calls(&[("k1", "glob", r#"{"pattern":"*"}"#)]).gated(&at_gate),
        (true, false) => Reply::text("the child is done"),
        (false, true) => Reply::calls(&[("c1", "agent", r#"{"name":"file_miner","task":"look"}"#)]),
        (false, false) => Reply::text("the main agent is done"),
    });
    let mut terminal = Start::against(&server).waits_for_agents().run();
    terminal.send("start\r");
    gate.wait_reached();
    // Known to the screen: before, nobody could have named it.
    terminal.wait_for("file_miner 0");
    terminal.send("@file_miner 0 and the tests\r");
    terminal.wait_for("and the tests");
    terminal.wait_for("Type a message");
    gate.open();
    terminal.wait_for("the main agent is done");
    let last_of_child = server.chats().into_iter().rfind(is_child).unwrap();
    assert_eq!(last_of_child.roles().last().unwrap(), "user");
    assert_eq!(last_of_child.texts("user").last().unwrap(), "and the tests");
    for chat in main_chats(&server) {
        assert_eq!(chat.texts("user"), ["start"], "it was not for the main agent");
    }
}
