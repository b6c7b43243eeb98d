//! Markdown on the real program: it streams without a flicker, code gets its colours, and no script shifts a column.

use std::num::NonZeroU16;
use std::time::Duration;

use serde_json::json;

use crate::support::server::{Reply, Server, Step};
use crate::support::terminal::{Start, keys};

/// Ends a frame.
const END: &[u8] = b"\x1b[?2026l";

const DOCUMENT: &str = "\
# A heading

A paragraph with *emphasis*, **strong words that are long enough to be wrapped on a screen of this width, and more** and \
a [link](https://example.org/docs).

- one
- two
  - nested **words**
- [x] done

> a quote
> of two lines

```rust
fn main() {
    println!(\"hi\");
}
```

| name | note |
|---|---|
| a | short |
| b | a longer cell |

1. first
2. second

The very end.
";

/// Streams a text in small pieces, with time between them for a frame now and then.
fn streamed(text: &str) -> Reply {
    let letters: Vec<char> = text.chars().collect();
    let mut steps = Vec::new();
    for piece in letters.chunks(9) {
        steps.push(Step::delta(json!({"content": piece.iter().collect::<String>()})));
        steps.push(Step::Pause(Duration::from_millis(15)));
    }
    steps.extend([Step::finish("stop"), Step::done()]);
    Reply::stream(steps)
}

/// Returns the screens that a terminal showed, one for each synchronized update.
fn frames(raw: &[u8], columns: u16, rows: u16) -> Vec<Vec<String>> {
    let size = |count| NonZeroU16::new(count).unwrap();
    let mut parser = vt100::Parser::new(size(rows), size(columns), 0);
    let mut frames = Vec::new();
    let mut rest = raw;
    while let Some(at) = rest.windows(END.len()).position(|window| window == END) {
        let (frame, more) = rest.split_at(at + END.len());
        parser.process(frame);
        rest = more;
        let screen = parser.screen();
        frames.push(screen.rows(0, columns).map(|row| row.trim_end().to_owned()).collect());
    }
    frames
}

#[test]
fn no_frame_blanks_or_moves_a_row_that_was_finished() {
    let (columns, rows) = (90, 70);
    let server = Server::start([streamed(DOCUMENT)]);
    let mut terminal = Start::against(&server).size(columns, rows).run();
    let begun = terminal.written();
    terminal.send("go\r");
    terminal.wait_for("The very end.");
    let frames = frames(&terminal.raw(), columns, rows);
    let streaming: Vec<_> = frames.iter().filter(|frame| frame.iter().any(|row| row.contains("A heading"))).collect();
    assert!(streaming.len() > 10, "{} frames", streaming.len());
    // What stands between the question and the composer is the answer.
    let body = |frame: &[String]| -> Vec<String> {
        let rule = frame.iter().rposition(|row| row.starts_with("──")).unwrap();
        let end = frame[..rule].iter().rposition(|row| !row.is_empty()).unwrap();
        let start = frame.iter().position(|row| row.contains("A heading")).unwrap();
        frame[start..=end].to_vec()
    };
    let is_table = |row: &str| row.contains(['│', '|', '┼']);
    for pair in streaming.windows(2) {
        let (before, after) = (body(pair[0]), body(pair[1]));
        let finished = before.len().saturating_sub(2);
        for (old, new) in before.iter().zip(&after).take(finished) {
            assert!(old == new || is_table(old), "{old:?} became {new:?}\n{}", pair[1].join("\n"));
        }
        for (at, old) in before.iter().enumerate().filter(|(_, old)| !old.is_empty()) {
            assert!(after.get(at).is_some_and(|new| !new.is_empty()), "{old:?} was blank for a moment");
        }
    }
    let raw = terminal.raw();
    assert!(!raw[begun..].windows(4).any(|bytes| bytes == b"\x1b[2J"), "the screen is never cleared");
}

#[test]
fn code_is_shown_at_once_and_gets_its_colours_from_a_thread() {
    let server = Server::start([Reply::text("Look:\n\n```rust\nfn zebra() {}\n```\n\nThat is all.")]);
    let mut terminal = Start::against(&server).run();
    terminal.send("go\r");
    terminal.wait_for("That is all.");
    terminal.wait_for("fn zebra() {}");
    let place = |screen: &vt100::Screen| {
        let (row, line) = screen.rows(0, 120).enumerate().find(|(_, line)| line.contains("fn zebra")).unwrap();
        let column = line[..line.find("fn zebra").unwrap()].chars().count();
        screen.cell(u16::try_from(row).unwrap(), u16::try_from(column).unwrap()).unwrap().fgcolor()
    };
    loop {
        let from = terminal.written();
        if terminal.look(place) != vt100::Color::Default {
            break;
        }
        terminal.wait_written(from, END);
    }
}

#[test]
fn right_to_left_text_shifts_neither_its_table_nor_the_divider() {
    let table = "| שם | value |\n|--|--|\n| עברית עברית | one |\n| العربية | two |\n| abc | three |\n\nשלום עולם — مرحبا\n\nThe end.";
    let server = Server::start([Reply::text(table)]);
    let mut terminal = Start::against(&server).run();
    terminal.send("go\r");
    terminal.wait_for("The end.");
    terminal.send(keys::F3);
    terminal.wait_until("the tree beside the text", |screen| screen.lines().any(|line| line.matches('│').count() > 1));
    let screen = terminal.look(|screen| screen.rows(0, 120).collect::<Vec<_>>());
    let borders = |row: usize| {
        terminal.look(|screen| {
            let is_border = |x: &u16| {
                let cell = screen.cell(u16::try_from(row).unwrap(), *x);
                cell.is_some_and(|cell| matches!(cell.contents(), "│" | "┼"))
            };
            (0..120).filter(is_border).collect::<Vec<u16>>()
        })
    };
    let row_of = |text: &str| screen.iter().position(|row| row.contains(text)).unwrap_or_else(|| panic!("{screen:#?}"));
    let plain = borders(row_of("│ three"));
    assert_eq!(plain.len(), 2, "the divider and the table's border: {screen:#?}");
    for text in ["│ one", "│ two", "│ value"] {
        assert_eq!(borders(row_of(text)), plain, "{text}: {screen:#?}");
    }
    let divider = if borders(row_of("The end."))[0] == plain[0] { plain[0] } else { plain[1] };
    assert!(borders(row_of("עולם")).contains(&divider), "{screen:#?}");
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert!(!raw.contains(|c| ('\u{202a}'..='\u{202e}').contains(&c) || ('\u{2066}'..='\u{2069}').contains(&c)));
}
