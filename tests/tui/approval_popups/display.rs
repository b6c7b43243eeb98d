//! How a question is displayed: nothing hides in its text, what is unusual is told, and it stands beside a pause, the
//! transcript, other popups and on a screen without room.

use std::time::Duration;

use steersman_core::approval::{CommandOperation, FetchOperation, WriteOperation};

use super::{Call, QUIET, arm, command, stage, write};

#[test]
fn what_would_hide_is_marked() {
    for (hidden, shown) in [
        ("ls\u{202e}gnp", "ls<U+202E>gnp"),
        ("ls \u{200b}-l", "ls <U+200B>-l"),
        ("ls\u{a0}-l", "ls<U+00A0>-l"),
        ("ls\rrm -r .", "ls␍rm -r ."),
        ("ls\u{8}\u{8}rm", "ls␈␈rm"),
        ("ls\u{1b}[2Krm", "ls␛[2Krm"),
        ("ls\trm", "ls→ rm"),
        ("ls   ", "ls···"),
        ("ls\r\n", "ls␍"),
        ("ls\u{e0041}", "ls<U+E0041>"),
        ("l\u{ad}s", "l<U+00AD>s"),
        ("ls; # \u{430}", "not ASCII: 1: \u{430} (U+0430)"),
        ("ls     ; rm", "ls·····; rm"),
    ] {
        let mut stage = stage(100, 30);
        let _call = Call::asks(&mut stage, "", command(hidden));
        let screen = stage.screen();
        assert!(screen.contains(shown), "{hidden:?}: {screen}");
    }
}

#[test]
fn what_is_unusual_about_a_command_or_a_file_is_told() {
    let mut stage = stage(100, 30);
    let slow = CommandOperation { timeout: Duration::from_mins(10), ..command("make all") };
    let _slow = Call::asks(&mut stage, "", slow);
    assert!(stage.screen().contains("at most: 10:00"), "{}", stage.screen());
    for (text, size) in
        [("a\nb\nc\nd".to_owned(), "4 lines, 7 characters"), ("x".repeat(201), "1 line, 201 characters")]
    {
        let mut stage = self::stage(100, 30);
        let _call = Call::asks(&mut stage, "", command(&text));
        assert!(stage.screen().contains(size), "{size}\n{}", stage.screen());
    }
    let mut stage = self::stage(100, 30);
    let large = WriteOperation { after: vec![b'x'; 100_000].into(), ..write("@@ -1 +1 @@\n-old\n+new!\n") };
    let _large = Call::asks(&mut stage, "", large);
    assert!(stage.screen().contains("size: 4 → 100000 bytes"), "{}", stage.screen());
}

#[test]
fn five_hundred_blanks_hide_no_second_command() {
    let text = format!("ls{};rm -rf .", " ".repeat(500));
    let mut stage = stage(80, 24);
    let _call = Call::asks(&mut stage, "", command(&text));
    let screen = stage.screen();
    assert!(screen.contains("1 line, 511 characters"), "{screen}");
    assert!(screen.contains("│↪····") && screen.contains("·;rm -rf ."), "{screen}");
}

#[test]
fn a_fake_box_stays_behind_the_gutter() {
    let fake = "true\n╭ main asks ─────╮\n│ Run: ls │\n● Alt+Y yes";
    let mut stage = stage(80, 24);
    let _call = Call::asks(&mut stage, "", command(fake));
    let screen = stage.screen();
    for line in fake.lines() {
        assert!(screen.contains(&format!("│ │ {line}")), "{line}: {screen}");
    }
}

#[test]
fn a_screen_without_room_takes_no_answer_and_says_so() {
    let mut stage = stage(24, 4);
    let mut call = Call::asks(&mut stage, "", command("make"));
    stage.screen();
    stage.wait(QUIET).keys("<a-y>");
    assert!(call.poll().is_none());
    let url = FetchOperation { tool: "fetch".into(), url: "http://example.com/".to_owned() };
    let mut other = Call::asks(&mut stage, "", url);
    stage.resize(80, 24);
    arm(&mut stage);
    stage.keys("<a-y>");
    call.ran();
    arm(&mut stage);
    assert!(stage.screen().contains("│ http://example.com/"));
    stage.keys("<a-n>");
    other.refused();
}

#[test]
fn the_transcript_stays_readable_above_a_question_and_scrolls() {
    let mut stage = stage(80, 24);
    let text: String = (1..=30).map(|line| format!("Reason {line}.\n\n")).collect();
    stage.says("", &text);
    let mut call = Call::asks(&mut stage, "", command("cargo test"));
    arm(&mut stage);
    let screen = stage.screen();
    assert!(screen.contains("Reason 30.") && screen.contains("cargo test"), "{screen}");
    stage.keys("<c-o><home>");
    let screen = stage.screen();
    assert!(screen.contains("Reason 1.") && screen.contains("cargo test"), "{screen}");
    stage.wait(QUIET).keys("<esc>");
    assert!(call.poll().is_none(), "Esc from another pane only returns to the message");
    stage.wait(QUIET).keys("<esc>");
    assert_eq!(call.refused(), "the user declined this");
}

#[test]
fn a_pause_while_a_question_is_open_is_shown_at_once() {
    for (width, height, lines) in [(120, 36, 1), (80, 24, 1), (40, 12, 1), (80, 24, 40), (40, 12, 40)] {
        let mut stage = stage(width, height);
        let mut call = Call::asks(&mut stage, "", command(&"make\n".repeat(lines)));
        arm(&mut stage);
        stage.keys("<a-h>");
        let screen = stage.screen();
        assert!(
            screen.contains("Run this command?") && screen.contains("main is paused"),
            "{width}x{height}:\n{screen}"
        );
        stage.keys("<a-h>");
        assert!(!stage.screen().contains("paused"), "{width}x{height}:\n{}", stage.screen());
        arm(&mut stage);
        stage.keys("<a-n>");
        call.refused();
    }
}

#[test]
fn a_question_under_something_else_says_what_to_close() {
    for (height, keys, words, close) in [
        (24, "<f1>", "a question waits: F1 closes help", "<f1>"),
        (24, "<f1><end><enter>", "a question waits: F1 closes help", "<f1>"),
        (24, "<f4>", "a question waits: F4 closes the ledger", "<f4>"),
        (12, "<c-r>", "a question waits: Esc closes the list", "<esc>"),
    ] {
        let mut stage = stage(80, height);
        let _call = Call::asks(&mut stage, "", command("make"));
        let screen = stage.keys(keys).screen();
        assert!(screen.contains(words) && !screen.contains("make the terminal larger"), "{keys}:\n{screen}");
        let screen = stage.keys(close).screen();
        assert!(screen.contains("Run this command?"), "{keys}:\n{screen}");
    }
}

#[test]
fn on_a_low_screen_the_pane_that_was_gone_to_is_not_covered_and_the_way_back_is_said() {
    for (keys, words) in [("<f3>", "miner 0"), ("<c-o>", "I look"), ("<f2>", "later"), ("<a-i>", "main")] {
        let mut stage = stage(40, 12);
        stage.says("", "I look.").spawn("", "miner 0").turn("miner 0");
        stage.keys("later<tab>");
        let mut call = Call::asks(&mut stage, "", command(&"make\n".repeat(9)));
        arm(&mut stage);
        assert!(stage.screen().contains("Run this command?"), "{}", stage.screen());
        let screen = stage.keys(keys).screen();
        assert!(screen.contains(words) && screen.contains("a question waits"), "{keys}:\n{screen}");
        stage.wait(QUIET).keys("<esc>").wait(QUIET);
        assert!(call.poll().is_none(), "{keys}: Esc only leads back");
        assert!(stage.screen().contains("Run this command?"), "{keys}:\n{}", stage.screen());
    }
}
