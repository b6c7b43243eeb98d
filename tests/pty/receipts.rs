//! Receipts on the real program, against the server's own record: "seen" is never shown for what the model never got.

use serde_json::json;

use crate::support::server::{Gate, Reply, Server};
use crate::support::terminal::{Start, Terminal, keys};

/// Returns the row beneath a text.
fn below(terminal: &Terminal, text: &str) -> String {
    let screen = terminal.screen();
    let mut rows = screen.lines().skip_while(|row| !row.contains(text)).skip(1);
    rows.next().unwrap_or_default().trim().to_owned()
}

/// Tells whether any request carried this text.
fn carried(server: &Server, text: &str) -> bool {
    server.chats().iter().any(|chat| chat.texts("user").iter().any(|user| user == text))
}

#[test]
fn a_text_is_seen_when_the_reply_to_its_request_begins_and_not_before() {
    let (tool, answer) = (Gate::new(), Gate::new());
    let server = Server::start([]);
    server.reply(Reply::calls(&[("c1", "calculator", r#"{"expression":"1+1"}"#)]).gated(&tool));
    server.reply(Reply::text("the answer").gated(&answer));
    let mut terminal = Start::against(&server).run();
    terminal.send("start\r");
    tool.wait_reached();
    terminal.send("and this\r");
    terminal.wait_for("⋯ m2 and this");
    assert!(!carried(&server, "and this"));
    tool.open();
    // The request with the text is at the server, which says nothing.
    answer.wait_reached();
    assert!(carried(&server, "and this"));
    terminal.wait_for("✓ delivered after calculator at step 1");
    assert!(!below(&terminal, "while it worked: and this").contains("seen"), "{}", terminal.screen());
    answer.open();
    terminal.wait_for("✓✓ seen at step 1 · delivered after calculator");
    terminal.wait_for("the answer");
}

#[test]
fn a_cancelled_text_is_not_seen_until_a_later_reply_carries_it() {
    let (never, second) = (Gate::new(), Gate::new());
    let server = Server::start([]);
    server.reply(Reply::text("never said").gated(&never));
    server.reply(Reply::text("the second answer").gated(&second));
    let mut terminal = Start::against(&server).run();
    terminal.send("first\r");
    never.wait_reached();
    terminal.wait_for("✓ delivered, started turn 1");
    assert!(!terminal.screen().contains("✓✓"));
    terminal.send(keys::ESC);
    terminal.wait_for("✓ delivered, not seen: the turn was cancelled");
    assert!(!terminal.screen().contains("✓✓"));
    terminal.send("again\r");
    second.wait_reached();
    assert_eq!(server.chats()[1].texts("user"), ["first", "again"]);
    terminal.wait_for("✓ delivered, started turn 2");
    assert!(below(&terminal, "› first").contains("not seen"), "{}", terminal.screen());
    second.open();
    terminal.wait_for("the second answer");
    terminal.wait_for("✓✓ seen in turn 2 · started turn 1");
    terminal.wait_for("✓✓ seen · started turn 2");
}

#[test]
fn a_text_of_a_failed_turn_is_not_seen() {
    let server = Server::start([Reply::json(400, json!({"error": {"message": "no such thing"}}))]);
    let mut terminal = Start::against(&server).run();
    terminal.send("first\r");
    terminal.wait_for("✓ delivered, not seen: the turn failed");
    assert!(carried(&server, "first") && !terminal.screen().contains("✓✓"));
}

#[test]
fn the_ledger_tells_the_same_and_goes_into_a_file() {
    let server = Server::start([Reply::text("the answer")]);
    let mut terminal = Start::against(&server).run();
    terminal.send("first, of all\r");
    terminal.wait_for("✓✓ seen");
    terminal.send("\x1bOS");
    terminal.wait_for("Ledger of 1 text");
    let screen = terminal.wait_for("start of turn 1");
    assert!(screen.lines().any(|row| row.contains("✓✓ first, of all")), "{screen}");
    terminal.send(keys::ESC);
    terminal.wait_gone("Ledger of 1 text");
}
