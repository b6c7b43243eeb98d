//! A question never takes keys that were meant for something else: what is typed ahead, or while it comes up, goes into
//! the message and answers nothing. (A program that takes them runs an `rm` that nobody allowed.)

use crate::support::server::{Gate, Reply, Server};
use crate::support::terminal::{Start, Terminal, keys};

/// The program's own word that a key would answer now: nothing was typed for a moment.
const ARMED: &str = "● ready";
const UNARMED: &str = "○ wait";

/// Every character that a plain key types.
fn printable() -> String {
    (' '..='~').collect()
}

fn after_one_answer(server: &Server) -> Terminal {
    server.reply_text("the first answer");
    let mut terminal = Start::against(server).run();
    terminal.send("remember the first\r");
    terminal.wait_for("the first answer");
    terminal.wait_for("idle");
    terminal
}

#[test]
fn keys_of_the_burst_in_which_a_question_comes_up_answer_nothing_and_reach_the_composer() {
    let server = Server::start([]);
    let mut terminal = after_one_answer(&server);
    let typed = printable();
    // One write: typed ahead, the key that makes the program ask, and everything behind it.
    let answers = "\x1by\x1bs\x1bn\x1bw";
    terminal.send(&format!("draft{}{typed}{answers}{typed}{answers} y", keys::F10));
    terminal.wait_for("Reset the conversation?");
    terminal.wait_for("the question was not answered");
    // A frame may show a part of the burst; the whole of it is there in the end.
    terminal.wait_for("~ y");

    // Enter is no answer either: it sends what is in the composer, exactly that.
    server.reply_text("the second answer");
    terminal.send(keys::ENTER);
    terminal.wait_for("the second answer");
    let users = server.chats().last().unwrap().texts("user");
    assert_eq!(users, ["remember the first".to_owned(), format!("draft{typed}{typed} y")]);
    assert!(terminal.screen().contains("Reset the conversation?"), "the question is still open");
}

#[test]
fn behind_a_quiet_moment_alt_y_answers_and_a_plain_y_never_does() {
    let server = Server::start([]);
    let mut terminal = after_one_answer(&server);
    terminal.send(keys::F10);
    terminal.wait_for(ARMED);
    terminal.send("y");
    terminal.wait_for(UNARMED);
    terminal.wait_for(ARMED);
    terminal.send("\x1by");
    terminal.wait_gone("Reset the conversation?");
    terminal.wait_for("the model starts afresh");
    server.reply_text("the second answer");
    terminal.send(keys::ENTER);
    terminal.wait_for("the second answer");
    assert_eq!(server.chats().last().unwrap().texts("user"), ["y"]);
}

#[test]
fn a_held_key_answers_one_question_and_not_the_next() {
    let server = Server::start([]);
    let mut terminal = after_one_answer(&server);
    terminal.send(&format!("{}{}", keys::F10, keys::F9));
    terminal.wait_for("1 of 2");
    terminal.wait_for(ARMED);
    terminal.send(&"\x1bn".repeat(20));
    terminal.wait_for("Start a new conversation?");
    terminal.wait_for(ARMED);
    terminal.send(keys::ESC);
    terminal.wait_gone("Start a new conversation?");
    server.reply_text("the second answer");
    terminal.send("go on\r");
    terminal.wait_for("the second answer");
    assert_eq!(server.chats().last().unwrap().texts("user"), ["remember the first", "go on"]);
}

#[test]
fn an_old_text_that_is_asked_about_while_keys_are_typed_is_sent_by_none_of_them() {
    let gate = Gate::new();
    let server = Server::start([]);
    let look = |id| (id, "glob", r#"{"pattern":"*"}"#);
    server.reply(Reply::calls(&[look("c1"), look("c2"), look("c3")]).gated(&gate));
    server.reply_text("the first answer");
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("config.toml");
    std::fs::write(&config, "still_true_steps = 1\n").unwrap();
    let mut terminal = Start::against(&server).arg("--config").arg(config.to_str().unwrap()).run();
    terminal.send("start\r");
    gate.wait_reached();
    terminal.wait_for("Tab after the turn");
    terminal.send("afterwards\t");
    terminal.wait_for("afterwards");
    terminal.wait_for("Type a message");
    gate.open();
    let mut typed = String::new();
    for _ in 0..100 {
        terminal.send("y n ");
        typed.push_str("y n ");
    }
    terminal.wait_for("Send this now?");
    terminal.send("y\x1by\x1bs\x1bn\x1bw");
    typed.push('y');
    terminal.wait_for("the question was not answered");
    assert_eq!(server.chats().len(), 2, "nothing was sent");

    terminal.wait_for(ARMED);
    server.reply_text("the second answer");
    terminal.send("\x1by");
    terminal.wait_for("the second answer");
    assert_eq!(server.chats().last().unwrap().texts("user"), ["start", "afterwards"]);
    server.reply_text("the third answer");
    terminal.send(keys::ENTER);
    terminal.wait_for("the third answer");
    assert_eq!(server.chats().last().unwrap().texts("user"), ["start".to_owned(), "afterwards".to_owned(), typed]);
}
