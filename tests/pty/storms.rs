//! Storms: sizes that change by the thousand, and a terminal that does not read. The last frame is right, nothing grows.

use crate::support::paced::Paced;
use crate::support::terminal::{Start, Terminal, keys};

/// What terminals send for Ctrl+L.
const CTRL_L: &str = "\x0c";
/// Growth that is the allocator's, not ours, KiB.
const SLACK: u64 = 24 * 1024;

fn streaming(server: &Paced) -> Terminal {
    let mut terminal = Start::new(["--base-url", server.url(), "--model", "paced"]).size(120, 36).run();
    terminal.send("stream 400 words at 200 words/s\r");
    terminal.wait_for("part 1");
    terminal
}

/// Blanks at a row's end are written or erased, which looks the same.
fn rows(screen: &str) -> Vec<String> {
    screen.lines().map(|row| row.trim_end().to_owned()).collect()
}

/// Checks that what stands on the screen is what is written when all of it is written anew. Where the last row has changed
/// meanwhile, as the size of the context does behind a turn, both are looked at again.
fn is_right(terminal: &mut Terminal) {
    for _ in 0..5 {
        let before = rows(&terminal.screen());
        let from = terminal.written();
        terminal.send(CTRL_L);
        terminal.wait_written(from, b"\x1b[2J");
        // The last row is written last.
        let is_whole =
            |after: &[String]| after.len() == before.len() && after.last().is_some_and(|row| !row.is_empty());
        let after = rows(&terminal.wait_until("the screen to be written anew", |screen| is_whole(&rows(screen))));
        if after.last() == before.last() {
            let wrong: Vec<_> = before.iter().zip(&after).filter(|(before, after)| before != after).collect();
            assert!(wrong.is_empty(), "rows that were wrong, and as they are: {wrong:#?}");
            return;
        }
    }
    panic!("the last row does not come to rest:\n{}", terminal.screen());
}

#[test]
fn ten_thousand_sizes_while_text_streams_leave_the_right_frame() {
    let server = Paced::start();
    let mut terminal = streaming(&server);
    let memory = terminal.memory_kib();
    // A generator of its own, so that every run has the same sizes: xorshift.
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = |most: u16| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        u16::try_from(seed % u64::from(most)).unwrap() + 1
    };
    for _ in 0..10_000 {
        terminal.resize(random(200), random(70));
    }
    terminal.resize(100, 30);
    terminal.send("still here");
    terminal.wait_until("the end of the answer and the draft", |screen| {
        screen.contains("END")
            && screen.contains("› still here")
            && screen.contains("idle")
            && screen.lines().count() == 30
    });
    is_right(&mut terminal);
    let grown = terminal.memory_kib().saturating_sub(memory);
    assert!(grown < SLACK, "it grew by {grown} KiB");
}

#[test]
fn a_terminal_that_does_not_read_costs_nothing_and_shows_the_last_frame_at_last() {
    let server = Paced::start();
    let mut terminal = streaming(&server);
    terminal.wait_for("END");
    let memory = terminal.memory_kib();
    terminal.stop_reading();
    // More frames than the kernel keeps for a terminal, and none of them can be read.
    for turn in 2..=12 {
        terminal.send("stream 2000 words at 20000 words/s\r");
        server.wait_asked(turn);
    }
    // A turn whose beginning and end are in view together, so that the last frame can be told from those before.
    terminal.send("one line\r");
    server.wait_asked(13);
    terminal.send("typed into the dark");
    terminal.read_on();
    terminal.wait_until("the draft and the end of the last turn", |screen| {
        screen.contains("› typed into the dark") && screen.contains("started turn 13") && screen.contains("idle")
    });
    is_right(&mut terminal);
    let grown = terminal.memory_kib().saturating_sub(memory);
    assert!(grown < SLACK, "it grew by {grown} KiB");
    terminal.send(keys::CTRL_C);
    terminal.wait_gone("typed into the dark");
}

#[test]
fn a_flood_of_emoji_and_stacked_marks_is_cut_while_keys_work() {
    let server = Paced::start();
    let mut terminal = Start::new(["--base-url", server.url(), "--model", "paced"]).size(100, 30).run();
    terminal.send("flood 32 MiB\r");
    terminal.wait_for("flood");
    terminal.send("still HERE");
    terminal.wait_for("still HERE");
    terminal.wait_for("the reply was cut at 1.0 MiB");
    server.wait_cut();
    let memory = terminal.memory_kib();
    assert!(memory < 256 * 1024, "{memory} KiB");
}

#[test]
fn esc_ends_a_flood() {
    let server = Paced::start();
    let mut terminal = Start::new(["--base-url", server.url(), "--model", "paced"]).size(100, 30).run();
    terminal.send("flood 32 MiB\r");
    server.wait_asked(1);
    terminal.send(keys::ESC);
    server.wait_cut();
    // The blank comes first: an Esc that was not read yet makes an Alt key of it.
    terminal.send(" still HERE");
    terminal.wait_for("still HERE");
}
