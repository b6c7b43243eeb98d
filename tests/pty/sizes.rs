//! Sizes: the screen follows the terminal, from tiny to large, while text streams and after.

use crate::support::server::{Reply, Server};
use crate::support::terminal::Start;

#[test]
fn the_screen_follows_every_size() {
    let server = Server::start([Reply::text("an answer that stays")]);
    let mut terminal = Start::against(&server).run();
    terminal.send("go\r");
    terminal.wait_for("an answer that stays");
    terminal.type_text("draft");
    for (columns, rows) in [(80, 24), (40, 12), (20, 5), (300, 100), (120, 36)] {
        let from = terminal.written();
        terminal.resize(columns, rows);
        // A whole frame of this size: its message and its last row are there, and nothing of another size.
        terminal.wait_written(from, b"\x1b[");
        terminal.wait_screen(&format!("a frame of {columns} by {rows}"), |screen| {
            let text = screen.contents();
            let message = text.lines().filter(|line| line.contains("› draft")).count();
            let (row, column) = screen.cursor_position();
            message == 1
                && screen.contents_between(row, 0, row, column).ends_with("› draft")
                && (rows < 12 || text.contains("an answer that stays"))
                && text.lines().count() == usize::from(rows)
        });
    }
    // Nothing fits in these, and nothing breaks.
    for (columns, rows) in [(5, 2), (1, 1)] {
        terminal.resize(columns, rows);
    }
    terminal.resize(120, 36);
    let screen = terminal.wait_until("the last size", |screen| {
        screen.contains("an answer that stays") && screen.contains("› draft") && screen.lines().count() == 36
    });
    assert_eq!(screen.matches("› draft").count(), 1, "{screen}");
}

#[test]
fn it_can_be_used_in_twenty_by_five() {
    let server = Server::start([Reply::text("yes")]);
    let mut terminal = Start::against(&server).size(20, 5).run();
    terminal.type_text("hello");
    terminal.send("\r");
    terminal.wait_for("yes");
    assert_eq!(server.chats()[0].texts("user"), ["hello"]);
    // The message is empty again, and takes the next text.
    terminal.send("more");
    terminal.wait_typed("› more");
}

#[test]
fn hostile_text_is_shown_and_never_obeyed() {
    let hostile = "before \x1b[2J\x1b]0;owned\x07\x1b[?1049l \u{202E}evil\u{202C} \u{9b}31m after";
    let server = Server::start([Reply::text(hostile)]);
    let mut terminal = Start::against(&server).run();
    terminal.send("go\r");
    terminal.wait_for("after");
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert!(!raw.contains("\x1b]0;owned"), "no title is set by the model");
    assert!(!raw.contains('\u{202E}') && !raw.contains('\u{9b}'), "no direction and no C1 character passes");
    assert!(terminal.look(vt100::Screen::alternate_screen));
}
