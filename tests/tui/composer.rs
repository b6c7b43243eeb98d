//! The message being written: rows and cursor, chips, undo and redo, one draft for each agent.

use steersman_base::event::{Event, Outcome};
use steersman_base::limits;
use steersman_base::protocol::{Reply, Update};
use steersman_tui::keymap::Edit;
use steersman_tui::message::removed::Removed;
use steersman_tui::msg::{EditorSubject, Effect, Msg};

use super::pending_list::{crew, said};
use super::{paths_offered as paths, recall};
use crate::support::doubles::texts_of;
use crate::support::stage::Stage;

fn lines(count: usize) -> String {
    (1..=count).map(|n| format!("line {n} of a long text")).collect::<Vec<_>>().join("\n") + "\n"
}

fn text(stage: &Stage) -> String {
    stage.app.message.text()
}

// --- rows and cursor

#[test]
fn a_row_that_is_exactly_full_leaves_the_cursor_a_place() {
    let mut stage = Stage::new(34, 12);
    for count in 28..36 {
        stage.keys("<c-c>").wait(2_000).keys(&"x".repeat(count));
        let (column, row) = stage.cursor();
        let screen = stage.screen();
        assert!(column < 34 && (9..12).contains(&row), "{count}: {column},{row}\n{screen}");
        assert_eq!(screen.matches('x').count(), count, "{screen}");
    }
}

#[test]
fn the_cursor_stands_where_the_terminal_counts_it_behind_wide_and_joined_characters() {
    let mut stage = Stage::new(80, 24);
    let prompt = stage.keys("").cursor().0;
    for (typed, columns) in [("日本語", 6), ("👨‍👩‍👧‍👦", 2), ("e\u{301}", 1), ("a👩🏽‍🚀日", 5), ("🇩🇪x", 3)]
    {
        stage.paste(typed);
        assert_eq!(stage.cursor().0, prompt + columns, "{typed}");
        stage.keys("<c-u>");
    }
    stage.paste("日本👨‍👩‍👧‍👦語").keys("<left>");
    assert_eq!(stage.cursor().0, prompt + 6);
    stage.keys("<left>");
    assert_eq!(stage.cursor().0, prompt + 4);
    stage.keys("<del>");
    assert_eq!(text(&stage), "日本語");
}

#[test]
fn in_the_search_of_the_history_the_cursor_stands_behind_what_is_typed() {
    let mut stage = Stage::new(80, 24);
    stage.keys("<c-r>");
    let before = stage.cursor();
    stage.keys("日本");
    assert_eq!(stage.cursor(), (before.0 + 4, before.1));
}

#[test]
fn it_grows_to_a_third_of_the_screen_and_scrolls_within() {
    let mut stage = Stage::new(60, 30);
    for n in 1..=9 {
        stage.keys(&format!("row {n}<c-j>"));
        assert!(stage.screen().contains("row 1\n"), "{n}: {}", stage.screen());
    }
    stage.keys("row 10<c-j>row 11<c-j>row 12");
    let screen = stage.screen();
    assert!(!screen.contains("row 2\n") && screen.contains("row 3\n") && screen.contains("row 12"), "{screen}");
    stage.keys(&"<up>".repeat(11));
    assert!(stage.screen().contains("row 1\n"));
    // Rows that go leave none empty behind.
    stage.keys(&"<down>".repeat(11)).screen();
    for _ in 0..8 {
        stage.keys("<c-u><bs>").screen();
    }
    let screen = stage.screen();
    assert!(screen.contains("row 1\n") && screen.contains("row 4"), "{screen}");
    // Nor does a screen that grows.
    stage.keys(&"<c-j>more".repeat(10)).screen();
    stage.resize(60, 60);
    assert!(stage.screen().contains("row 1\n"), "{}", stage.screen());
}

#[test]
fn words_and_graphemes_are_single_steps_of_undo_and_redo_leads_back() {
    let mut stage = Stage::new(80, 24);
    stage.keys("one two three");
    stage.keys("<c-_>");
    assert_eq!(text(&stage), "one two ");
    stage.keys("<c-_><c-_>");
    assert_eq!(text(&stage), "");
    stage.keys("<a-r><a-r>");
    assert_eq!(text(&stage), "one two ");
    stage.keys("<a-r><a-r>");
    assert_eq!((text(&stage).as_str(), said(&stage).as_str()), ("one two three", "nothing to redo"));
}

// --- chips

#[test]
fn a_long_paste_is_a_chip_and_the_whole_of_it_is_sent_in_its_place() {
    let mut stage = Stage::new(80, 24);
    let long = lines(812);
    stage.keys("before ").paste(&long).keys(" after");
    let screen = stage.screen();
    assert!(screen.contains("before [pasted 812 lines, 20 KB] after"), "{screen}");
    assert_eq!(text(&stage), format!("before {long} after"));
    stage.keys("<enter>");
    assert_eq!(stage.sent()[0].0, format!("before {long} after"));
    assert!(stage.app.message.is_empty());
    assert_eq!(texts_of(stage.handle.interloper()), [format!("before {long} after")]);
}

#[test]
fn ten_lines_are_text_and_eleven_are_a_chip_and_so_are_many_characters() {
    let mut stage = Stage::new(80, 24);
    stage.paste(&lines(10));
    assert_eq!(stage.app.message.shown(), lines(10));
    stage.keys("<c-c>").wait(2_000).paste(&lines(11));
    assert!(!stage.app.message.shown().contains("line 1"));
    stage.keys("<c-c>").wait(2_000).paste(&"x".repeat(1_000));
    assert_eq!(stage.app.message.shown().len(), 1_000);
    stage.keys("<c-c>").wait(2_000).paste(&"x".repeat(1_001));
    assert!(stage.screen().contains("[pasted 1 line, 2 KB]"), "{}", stage.screen());
}

#[test]
fn a_chip_is_one_step_for_the_cursor_and_goes_whole() {
    let mut stage = Stage::new(80, 24);
    let long = lines(30);
    stage.keys("a").paste(&long).keys("b<left><left>x");
    assert_eq!(text(&stage), format!("ax{long}b"));
    stage.keys("<right><bs>");
    assert_eq!(text(&stage), "axb");
    stage.keys("<c-_>");
    assert_eq!(text(&stage), format!("ax{long}b"));
    stage.keys("<left><del>");
    assert_eq!(text(&stage), "axb");
    stage.keys("<c-_><end><c-w><c-w>");
    assert_eq!(text(&stage), "ax");
    stage.keys("<c-y>");
    assert_eq!(text(&stage), format!("ax{long}"));
}

#[test]
fn two_pastes_of_one_size_stay_two_texts() {
    let mut stage = Stage::new(100, 24);
    let (one, two) = ("a\n".repeat(20), "b\n".repeat(20));
    stage.paste(&one).keys(" ").paste(&two).keys(" ").paste(&one);
    let screen = stage.screen();
    assert!(screen.contains("[pasted 20 lines, 40 B] [pasted 20 lines, 40 B #2] [pasted 20 lines, 40 B]"), "{screen}");
    assert_eq!(text(&stage), format!("{one} {two} {one}"));
    stage.keys("<bs><bs><bs>");
    assert_eq!(text(&stage), format!("{one} "));
}

#[test]
fn a_chip_expands_as_one_step_unless_it_is_too_long_for_here() {
    let mut stage = Stage::new(80, 24);
    let long = lines(30);
    stage.keys("see ").paste(&long).keys("<a-e>");
    assert_eq!((stage.app.message.shown(), text(&stage)), (format!("see {long}"), format!("see {long}")));
    stage.keys("<c-_>");
    assert_ne!(stage.app.message.shown(), text(&stage), "it is a chip again");
    assert_eq!(text(&stage), format!("see {long}"));
    stage.keys("<a-r>");
    assert_eq!(stage.app.message.shown(), format!("see {long}"));
    stage.keys("<c-c>").wait(2_000).keys("none here<a-e>");
    assert_eq!(said(&stage), "there is no folded paste at the cursor");
    stage.paste(&"y".repeat(limits::LAID_OUT_BYTES)).keys("<a-e>");
    assert!(said(&stage).starts_with("too long to be shown here"));
}

#[test]
fn a_megabyte_is_never_laid_out_never_sent_by_itself_and_leaves_keys_cheap() {
    let mut stage = Stage::new(80, 24);
    let huge = "0123456789abcde\n".repeat(64 * 1024);
    assert_eq!(huge.len(), 1024 * 1024);
    stage.paste(&huge);
    // What is laid out for each key is the label.
    assert!(stage.app.message.shown().len() < 60);
    assert!(stage.screen().contains("[pasted 65536 lines, 1.0 MB]"), "{}", stage.screen());
    assert_eq!(stage.sent(), []);
    stage.keys("!<enter>");
    assert_eq!(stage.sent()[0].0.len(), huge.len() + 1);
    // It comes back as a chip, too.
    stage.keys("<a-up>");
    assert_eq!(text(&stage), format!("{huge}!"));
    assert!(stage.app.message.shown().len() < 60);
    stage.keys("x<c-_><c-_>");
    assert_eq!(texts_of(stage.handle.interloper()), [format!("{huge}!")]);
}

#[test]
fn a_paste_that_no_message_can_hold_leaves_the_draft_as_it_was() {
    let mut stage = Stage::new(80, 24);
    stage.keys("draft").paste(&"x".repeat(limits::MESSAGE_BYTES));
    assert_eq!(text(&stage), "draft");
    assert_eq!(said(&stage), "not pasted: a message has at most 2 MiB");
    stage.paste(&"x".repeat(limits::MESSAGE_BYTES / 2)).paste(&"y".repeat(limits::MESSAGE_BYTES / 2));
    assert_eq!(text(&stage).len(), "draft".len() + limits::MESSAGE_BYTES / 2);
    stage.keys("<enter>");
    assert_eq!(stage.sent().len(), 1);
}

#[test]
fn a_pasted_command_or_name_is_text() {
    let mut stage = crew(80, 24);
    for beginning in ["/quit", "@all hello"] {
        let long = format!("{beginning}\n{}", lines(20));
        stage.paste(&long).keys("<enter>");
        assert_eq!(stage.sent().last().unwrap().0, long);
    }
    assert!(!stage.effects.contains(&Effect::Quit));
}

#[test]
fn signs_that_mark_chips_cannot_be_pasted() {
    let mut stage = Stage::new(80, 24);
    stage.paste(&lines(20)).paste("\u{FDD0}pasted 20 lines, 1 KB\u{FDD1}");
    assert_eq!(text(&stage), format!("{}pasted 20 lines, 1 KB", lines(20)));
}

// --- an editor of one's own

fn edited(stage: &mut Stage, text: &str) {
    stage.tell(Msg::Edited { subject: EditorSubject::Draft, outcome: Ok(text.to_owned()) });
}

#[test]
fn the_editor_gets_the_whole_text_and_what_comes_back_is_one_step_and_is_not_sent() {
    let mut stage = Stage::new(80, 24);
    stage.keys("see ").paste(&lines(20)).keys("<c-g>");
    let whole = format!("see {}", lines(20));
    let lent = Effect::Edit { subject: EditorSubject::Draft, text: whole.clone() };
    assert_eq!(stage.effects.last(), Some(&lent));
    edited(&mut stage, "shorter");
    assert_eq!((text(&stage).as_str(), stage.sent().len()), ("shorter", 0));
    stage.keys("<c-_>");
    assert_eq!(text(&stage), whole);
    assert_ne!(stage.app.message.shown(), whole, "with its chip");
    stage.keys("<a-r>");
    assert_eq!(text(&stage), "shorter");
}

#[test]
fn texts_that_come_back_while_the_editor_is_open_stay_before_what_it_returns() {
    let mut stage = crew(80, 24);
    stage.keys("pending<enter>draft<c-g>");
    let entries = stage.handle.stop();
    stage.tell(Msg::Update(Update::Reply(Reply::Stopped(entries))));
    assert_eq!(text(&stage), "pending\n\ndraft");
    edited(&mut stage, "a better draft");
    assert_eq!(text(&stage), "pending\n\na better draft");
}

#[test]
fn an_editor_that_fails_leaves_the_message_as_it_was() {
    let mut stage = Stage::new(80, 24);
    stage.keys("draft<c-g>");
    stage.tell(Msg::Edited { subject: EditorSubject::Draft, outcome: Err("it said no".to_owned()) });
    assert_eq!((text(&stage).as_str(), said(&stage).as_str()), ("draft", "the message did not change: it said no"));
}

// --- a draft for each agent

#[test]
fn each_agent_brings_its_own_draft_with_cursor_undo_and_chips() {
    let mut stage = crew(80, 24);
    let long = lines(20);
    stage.keys("for main").paste(&long).keys("<left><left>");
    stage.keys("<f3><down><enter>");
    assert!(stage.app.message.is_empty());
    stage.keys("for the child");
    stage.keys("<f3><up><enter>X");
    assert_eq!(text(&stage), format!("for maiXn{long}"));
    stage.keys("<c-_><c-_>");
    assert_eq!(text(&stage), "for main");
    stage.keys("<f3><down><enter>");
    assert_eq!(text(&stage), "for the child");
}

#[test]
fn the_draft_for_an_agent_that_ends_can_be_brought_back() {
    let mut stage = crew(80, 24);
    stage.keys("<f3><down><enter>for the child<f3><up><enter>for main");
    stage.handle.agent_controls().dismiss(&"file_miner 0".into());
    stage.event("file_miner 0", Event::Returned { entries: Vec::new() });
    stage.finished("", "file_miner 0", Outcome::Completed);
    assert_eq!(said(&stage), "file_miner 0 has ended: Ctrl+_ brings your draft for it into the message");
    assert_eq!(text(&stage), "for main");
    stage.keys("<c-_>");
    assert_eq!(text(&stage), "for the child\n\nfor main");
}

#[test]
fn a_pending_text_that_is_edited_never_mixes_with_a_draft() {
    let mut stage = crew(80, 24);
    stage.keys("pending<enter>draft<f2><enter>");
    assert_eq!(text(&stage), "pending");
    stage.keys("<f3><down><enter>");
    assert_eq!(text(&stage), "pending", "the edit goes on");
    stage.keys("!<enter>");
    assert!(stage.app.message.is_empty(), "nothing was written for the child: {}", text(&stage));
    stage.keys("<f3><up><enter>");
    assert_eq!(text(&stage), "draft");
    assert!(stage.app.message.removed().entries().all(|removed| !matches!(removed, Removed::Draft(_))));
}

#[test]
fn edits_say_whether_they_changed_anything() {
    let mut stage = Stage::new(20, 12);
    stage.paste("aaaa bbbb cccc dddd eeee").screen();
    let composer = &mut stage.app.message;
    assert!(composer.edit(Edit::Up), "a row of the same line is a row");
    assert!(!composer.edit(Edit::Up) && !composer.edit(Edit::Up));
    assert!(composer.edit(Edit::Down) && !composer.edit(Edit::Down));
    assert!(!composer.edit(Edit::DeleteNextWord));
}

#[test]
fn chips_searches_and_paths_at_four_sizes() {
    for (width, height) in [(120, 40), (80, 24), (56, 20), (34, 10)] {
        let mut stage = Stage::new(width, height);
        stage.keys("compare ").paste(&lines(812)).keys(" with this");
        insta::assert_snapshot!(format!("chip_{width}x{height}"), stage.picture());
        stage.keys("<c-c>").wait(2_000);
        recall::remember(&mut stage, &["fix the parser", "run the tests\nand look", "日本語のテスト", "find the test"]);
        stage.keys("draft<c-r>te<c-r>");
        insta::assert_snapshot!(format!("search_{width}x{height}"), stage.picture());
        stage.keys("<esc> and @mai");
        paths::list(&mut stage, &["src/", "src/main.rs", "tests/my mail.txt", "Makefile"]);
        stage.keys("<down>");
        insta::assert_snapshot!(format!("paths_{width}x{height}"), stage.picture());
    }
}
