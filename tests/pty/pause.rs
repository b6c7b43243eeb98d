//! Hold and step on the real program: the call is shown before it runs; what the user decides is in the next request.

use crate::support::server::{Gate, Reply, Server};
use crate::support::terminal::{Start, Terminal, keys};

const ALT_H: &str = "\x1bh";
const F11: &str = "\x1b[23~";

/// Starts a turn whose first reply asks for two calls, and holds the agent before the first.
fn held() -> (Server, Terminal) {
    let gate = Gate::new();
    let server = Server::start([]);
    let calls = [("c1", "calculator", r#"{"expression":"1+1"}"#), ("c2", "calculator", r#"{"expression":"2+2"}"#)];
    server.reply(Reply::calls(&calls).gated(&gate));
    server.reply_text("the answer");
    let mut terminal = Start::against(&server).run();
    terminal.send("start\r");
    gate.wait_reached();
    terminal.send(ALT_H);
    terminal.wait_for("main is paused");
    gate.open();
    terminal.wait_for("main waits before calculator");
    terminal.wait_for("expression: 1+1");
    (server, terminal)
}

fn observations(server: &Server) -> Vec<String> {
    server.chats().last().unwrap().texts("tool")
}

#[test]
fn a_held_agent_steps_call_by_call_and_then_goes_on() {
    let (server, mut terminal) = held();
    terminal.send(keys::ENTER);
    terminal.wait_for("expression: 2+2");
    terminal.send(keys::ENTER);
    terminal.wait_for("main waits before the next request");
    assert_eq!(server.chats().len(), 1, "nothing was asked while it waits");
    terminal.send(ALT_H);
    terminal.wait_for("the answer");
    assert_eq!(observations(&server), ["2", "4"]);
    terminal.wait_gone("main waits");
}

#[test]
fn a_call_runs_with_the_arguments_that_the_user_wrote() {
    let (server, mut terminal) = held();
    terminal.send(F11);
    terminal.send("e");
    terminal.wait_for("\"expression\": \"1+1\"");
    // All of the text goes, line by line, and another comes.
    terminal.send("\x15\x7f\x15\x7f\x15");
    terminal.send("{\"expression\": \"20+1\"}\r");
    terminal.wait_for("expression: 2+2");
    terminal.send(ALT_H);
    terminal.wait_for("the answer");
    let results = observations(&server);
    assert!(results[0].ends_with("21") && results[0].contains("{\"expression\":\"20+1\"}"), "{results:?}");
    assert_eq!(results[1], "4");
}

#[test]
fn a_skipped_call_is_told_to_the_model_with_the_reason_of_the_user() {
    let (server, mut terminal) = held();
    terminal.send(F11);
    terminal.send("s");
    terminal.wait_for("why calculator is skipped");
    terminal.send("I know it already\r");
    terminal.wait_for("expression: 2+2");
    terminal.send(ALT_H);
    terminal.wait_for("the answer");
    assert_eq!(observations(&server), ["Error: skipped by the user: I know it already", "4"]);
    assert_eq!(server.chats().last().unwrap().texts("user"), ["start"], "the reason is no message");
}

#[test]
fn what_is_typed_while_the_agent_waits_enters_when_it_goes_on() {
    let (server, mut terminal) = held();
    terminal.send("and mind the sum\r");
    terminal.wait_for("⋯ m2 and mind the sum");
    assert_eq!(server.chats().len(), 1);
    terminal.send(ALT_H);
    terminal.wait_for("the answer");
    assert_eq!(server.chats()[1].texts("user"), ["start", "and mind the sum"]);
    assert_eq!(server.chats()[1].roles().last().unwrap(), "user", "behind all results");
}

#[test]
fn many_keys_at_once_are_text_even_where_letters_decide() {
    let (server, mut terminal) = held();
    terminal.send(F11);
    terminal.wait_for("r runs it");
    terminal.send("run none\rskip none\r");
    terminal.wait_for("skip none");
    assert_eq!(server.chats().len(), 1);
    terminal.wait_for("expression: 1+1");
    terminal.send("\r");
    terminal.wait_for("⋯ m2 run none");
    terminal.send(ALT_H);
    terminal.wait_for("the answer");
    assert_eq!(server.chats()[1].texts("user"), ["start", "run none\nskip none\n"]);
    assert_eq!(observations(&server), ["2", "4"]);
}
