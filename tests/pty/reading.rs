//! Reading on the real program: search while it runs, copies, everything that was said, and a view that stays put.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::support::server::{Gate, Reply, Server};
use crate::support::terminal::{Start, Terminal, keys};

/// A long answer of numbered lines; one of them has the needle.
fn long(name: &str) -> String {
    let line = |number: usize| match number {
        20 => format!("{name} has the needle here\n\n"),
        number => format!("{name} line {number}\n\n"),
    };
    (0..60).map(line).collect()
}

/// The first row of the transcript: the one below the line under the agents.
fn first_row(screen: &str) -> String {
    let mut rows = screen.lines().skip_while(|row| !row.starts_with("──")).skip(1);
    rows.next().unwrap_or_default().trim_end().to_owned()
}

#[test]
fn a_running_transcript_is_searched_and_the_answer_goes_on() {
    let gate = Gate::new();
    let server = Server::start([]);
    server.reply(Reply::text(&long("alpha")));
    server.reply(Reply::text(&long("beta")).gated(&gate));
    let mut terminal = Start::against(&server).size(100, 30).run();
    terminal.send("first\r");
    terminal.wait_for("alpha line 59");
    terminal.send("second\r");
    gate.wait_reached();
    terminal.send(keys::CTRL_O);
    terminal.send("/NEEDLE");
    terminal.wait_for("not found");
    terminal.send("\x15needle");
    terminal.wait_for("1 of 1");
    terminal.wait_for("alpha has the needle here");
    terminal.send(keys::ENTER);
    terminal.wait_for("/needle · 1 of 1");
    let there = first_row(&terminal.screen());
    gate.open();
    terminal.wait_for("/needle · 1 of 2");
    assert_eq!(first_row(&terminal.screen()), there, "the place stays while the answer comes");
    terminal.send("n");
    terminal.wait_for("beta has the needle here");
    terminal.send("n");
    terminal.wait_for("past the end, on from the top: 1 of 2");
    terminal.send("/beta line 7");
    terminal.wait_for("beta line 7");
    terminal.send(keys::ESC);
    terminal.wait_for("alpha has the needle here");
}

#[test]
fn what_was_said_is_copied_as_it_was_said() {
    let answer =
        "Run **this**:\n\n```sh\nmake all && make install # with a comment that is longer than the row is wide\n```\n";
    let server = Server::start([Reply::text(answer)]);
    let mut terminal = Start::against(&server).size(50, 24).run();
    terminal.send("how\r");
    terminal.wait_for("Run this:");
    let copied = |terminal: &mut Terminal, keys: &str, text: &str| {
        let from = terminal.written();
        terminal.send(keys);
        terminal.wait_written(from, format!("\x1b]52;c;{}", STANDARD.encode(text)).as_bytes());
        terminal.wait_for("copied");
    };
    terminal.wait_for("· idle");
    terminal.send(keys::CTRL_O);
    terminal.wait_for("Enter opens");
    copied(&mut terminal, "y", answer.trim_end());
    terminal.send("v");
    terminal.wait_for("y copies");
    let from = terminal.written();
    terminal.send("\x1b[Fy");
    let code = "make all && make install # with a comment that is longer than the row is wide";
    terminal.wait_written(from, b"\x1b]52;c;");
    terminal.wait_for("copied");
    let raw = terminal.raw();
    let start = raw.windows(7).rposition(|part| part == b"\x1b]52;c;").unwrap() + 7;
    let end = start + raw[start..].iter().position(|byte| *byte == 0x1b).unwrap();
    let text = String::from_utf8(STANDARD.decode(&raw[start..end]).unwrap()).unwrap();
    assert!(text.starts_with("Run this:\n") && text.ends_with(code), "{text:?}");
}

#[test]
fn nothing_that_was_said_is_lost_above_the_screen() {
    let server = Server::start([]);
    server.reply(Reply::text(&long("alpha")));
    server.reply(Reply::text(&long("beta")));
    let mut terminal = Start::against(&server).size(80, 24).run();
    terminal.send("one\r");
    terminal.wait_for("alpha line 59");
    terminal.send("two\r");
    terminal.wait_for("beta line 59");
    terminal.wait_for("· idle");
    terminal.send("\x1b[1;5H");
    let mut screen = terminal.wait_for("› one");
    let mut seen = screen.clone();
    for page in 0..30 {
        if seen.contains("beta line 59") {
            break;
        }
        // Below the row that names the agent; every second row is blank.
        let top = |screen: &str| screen.lines().skip(1).take(6).collect::<String>();
        let before = top(&screen);
        terminal.send("\x1b[6~");
        screen = terminal.wait_until(&format!("page {page}"), |screen| top(screen) != before);
        seen.push_str(&screen);
    }
    for name in ["alpha", "beta"] {
        for line in (0..60).filter(|line| *line != 20) {
            assert!(seen.contains(&format!("{name} line {line}")), "{name} {line} is lost");
        }
    }
}

#[test]
fn the_view_stays_put_while_text_comes_and_at_every_width() {
    let gate = Gate::new();
    let server = Server::start([]);
    server.reply(Reply::text(&long("alpha")));
    server.reply(Reply::text(&long("beta")).gated(&gate));
    let mut terminal = Start::against(&server).size(90, 26).run();
    terminal.send("one\r");
    terminal.wait_for("alpha line 59");
    terminal.send("two\r");
    gate.wait_reached();
    terminal.send(keys::PAGE_UP);
    terminal.send(keys::PAGE_UP);
    terminal.send(keys::PAGE_UP);
    terminal.wait_until("three pages up", |screen| screen.contains("alpha line 23") && screen.contains("below"));
    let top = first_row(&terminal.screen());
    gate.open();
    terminal.wait_for("new below");
    assert_eq!(first_row(&terminal.screen()), top);
    for (columns, rows) in [(50, 20), (34, 12), (130, 40), (90, 26)] {
        terminal.resize(columns, rows);
        terminal.wait_until("the first row to stay", |screen| {
            screen.lines().count() >= usize::from(rows) - 2 && screen.lines().any(|line| line.trim() == top.trim())
        });
    }
    terminal.wait_until("the same view", |screen| first_row(screen) == top);
}
