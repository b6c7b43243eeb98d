//! Writing on the real program: long pastes, texts in quick succession, input methods, the history of two sessions, paths.

use std::fs;

use crate::support::server::{Gate, Reply, Server};
use crate::support::terminal::{Start, Terminal, keys};

const PASTE: (&str, &str) = ("\x1b[200~", "\x1b[201~");

fn paste(terminal: &mut Terminal, text: &str) {
    terminal.send(&format!("{}{text}{}", PASTE.0, PASTE.1));
}

fn megabyte() -> String {
    (0..16 * 1024).map(|n| format!("line {n:05} {}\n", "x".repeat(51))).collect()
}

#[test]
fn a_megabyte_is_pasted_as_a_chip_keys_go_on_at_once_and_the_whole_of_it_is_sent() {
    let server = Server::start([Reply::text("read it all")]);
    let mut terminal = Start::against(&server).run();
    let text = megabyte();
    terminal.send("see ");
    paste(&mut terminal, &text.replace('\n', "\r"));
    terminal.send(" now");
    let screen = terminal.wait_for("see [pasted 16384 lines, 1.0 MB] now");
    assert!(!screen.contains("line 00001"), "{screen}");
    assert!(server.chats().is_empty(), "a paste never sends itself");
    terminal.send("\x7f\x7f\x7f\x7f");
    terminal.wait_gone("now");
    terminal.send(keys::ENTER);
    terminal.wait_for("read it all");
    assert_eq!(server.chats()[0].texts("user"), [format!("see {text}")]);
    // It can be called back, and is a chip again.
    terminal.send(keys::UP);
    terminal.wait_for("lines, 1.0 MB]");
}

#[test]
fn a_megabyte_without_bracketed_paste_does_not_send_itself_either() {
    let server = Server::start([Reply::text("read it all")]);
    let mut terminal = Start::against(&server).run();
    let text = megabyte();
    terminal.send(&text.replace('\n', "\r"));
    terminal.wait_for("[pasted ");
    // A key that is no text is read behind the last part of it.
    terminal.send(keys::F1);
    terminal.wait_for("Help: ");
    terminal.send(keys::ESC);
    terminal.wait_gone("Help: ");
    // Typed by hand, one by one: more at once could still be a part of it.
    for (key, typed) in [("e", "]e"), ("n", "]en"), ("d", "]end")] {
        terminal.send(key);
        terminal.wait_typed(typed);
    }
    assert!(server.chats().is_empty(), "a paste never sends itself");
    terminal.send(keys::ENTER);
    terminal.wait_for("read it all");
    assert_eq!(server.chats()[0].texts("user").concat(), format!("{text}end"));
}

#[test]
fn texts_in_quick_succession_are_so_many_texts_and_no_enter_is_swallowed() {
    let gate = Gate::new();
    let server = Server::start([Reply::text("never").gated(&gate)]);
    let mut terminal = Start::against(&server).run();
    terminal.send("start the work\r");
    gate.wait_reached();
    let texts: Vec<String> = (0..20).map(|n| format!("steer number {n}")).collect();
    for (number, text) in (1..).zip(&texts) {
        // Text and Enter in one write, the next as soon as this one waits: more at once would be a paste.
        terminal.send(&format!("{text}\r"));
        terminal.wait_for(&format!(" {number} pending come"));
    }
    terminal.wait_for("Type a message");
    server.reply_text("done");
    gate.open();
    terminal.wait_until("every text to be delivered", |_| {
        server.chats().last().is_some_and(|chat| chat.texts("user").len() == texts.len() + 1)
    });
    assert_eq!(server.chats().last().unwrap().texts("user")[1..], texts);
}

#[test]
fn composed_characters_arrive_whole_and_the_cursor_stands_behind_them() {
    let server = Server::start([Reply::text("はい")]);
    let mut terminal = Start::against(&server).run();
    terminal.wait_for("Type a message");
    // An input method commits a word at once, and a slow line brings it in pieces.
    terminal.send("日本語");
    terminal.wait_for("› 日本語");
    let bytes = "変換".as_bytes();
    for byte in bytes {
        terminal.send_bytes(&[*byte]);
    }
    terminal.wait_for("› 日本語変換");
    let cursor = terminal.look(vt100::Screen::cursor_position);
    let row = terminal.screen().lines().position(|line| line.starts_with("› 日本語変換")).unwrap();
    assert_eq!((usize::from(cursor.0), cursor.1), (row, 2 + 10));
    terminal.send(&format!("\x7f{}", keys::ENTER));
    terminal.wait_for("はい");
    assert_eq!(server.chats()[0].texts("user"), ["日本語変"]);
}

#[test]
fn what_one_session_sent_the_next_one_recalls_and_finds() {
    let home = tempfile::tempdir().unwrap();
    let start = |server: &Server| Start::against(server).env("HOME", home.path().to_str().unwrap()).run();
    let server = Server::start([Reply::text("first"), Reply::text("second"), Reply::text("third")]);
    {
        let mut terminal = start(&server);
        terminal.send("look at the parser\r");
        terminal.wait_for("first");
        terminal.send(" a secret behind a blank\r");
        terminal.wait_for("second");
        terminal.send("run the tests\r");
        terminal.wait_for("third");
        terminal.wait_for("· idle");
        terminal.send(keys::CTRL_D);
        terminal.wait_exit(std::time::Duration::from_secs(30));
    }
    let file = fs::read_to_string(home.path().join(".local/state/steersman/history.jsonl")).unwrap();
    assert_eq!(file.lines().count(), 2, "{file}");
    assert!(!file.contains("secret"));
    let mut terminal = start(&server);
    terminal.send("draft");
    terminal.wait_for("› draft");
    terminal.send(keys::UP);
    terminal.wait_for("› run the tests");
    terminal.send(keys::UP);
    terminal.wait_for("› look at the parser");
    terminal.send(&keys::DOWN.repeat(2));
    terminal.wait_for("› draft");
    terminal.send("\x12prsr");
    terminal.wait_for("▸ look at the parser");
    terminal.send(keys::ENTER);
    terminal.wait_for("› look at the parser");
    server.reply_text("fourth");
    terminal.send(keys::ENTER);
    terminal.wait_for("fourth");
    assert_eq!(server.chats().last().unwrap().texts("user"), ["look at the parser"]);
    terminal.wait_for("› draft");
}

#[test]
fn a_path_of_the_working_directory_is_offered_and_taken() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("src")).unwrap();
    fs::write(dir.path().join("src/navigation.rs"), "").unwrap();
    fs::write(dir.path().join("ignored.log"), "").unwrap();
    fs::write(dir.path().join(".gitignore"), "*.log\n").unwrap();
    let server = Server::start([Reply::text("it steers the ship")]);
    let mut terminal = Start::against(&server).cwd(dir.path()).run();
    terminal.send("explain @nav");
    let screen = terminal.wait_for("▸ src/navigation.rs");
    assert!(!screen.contains("ignored.log"), "{screen}");
    terminal.send("\tplease\r");
    terminal.wait_for("it steers the ship");
    assert_eq!(server.chats()[0].texts("user"), ["explain @src/navigation.rs please"]);
}

#[test]
fn a_history_file_that_cannot_be_written_for_a_while_holds_up_no_key() {
    let home = tempfile::tempdir().unwrap();
    let state = home.path().join(".local/state/steersman");
    fs::create_dir_all(&state).unwrap();
    let file = fs::File::create(state.join("history.jsonl")).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let server = Server::start([]);
    let mut terminal = Start::against(&server).env("HOME", home.path().to_str().unwrap()).run();
    for answer in ["the first answer", "the second answer"] {
        server.reply_text(answer);
        terminal.send("look\r");
        terminal.wait_for(answer);
        terminal.wait_for("· idle");
    }
    terminal.type_text("typed meanwhile");
}
