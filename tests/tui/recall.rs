//! What was sent before: Up and Down, the search, and the file that outlives the session.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use steersman_base::limits;
use steersman_tui::history_file::{HistoryFile, Record};
use steersman_tui::message::history::Sent;
use steersman_tui::msg::Msg;
use steersman_tui::state::Pane;

use super::pending_list::{crew, said};
use crate::support::stage::Stage;

/// Lets these texts have been sent by earlier sessions, the oldest first.
pub fn remember(stage: &mut Stage, texts: &[&str]) {
    stage.tell(Msg::History(Ok(texts.iter().map(|text| Sent::new(text)).collect())));
}

fn text(stage: &Stage) -> String {
    stage.app.message.text()
}

fn with(texts: &[&str]) -> Stage {
    let mut stage = Stage::new(80, 24);
    remember(&mut stage, texts);
    stage
}

// --- up and down

#[test]
fn up_goes_to_older_texts_and_down_back_to_the_draft() {
    let mut stage = with(&["one", "two", "three"]);
    stage.keys("draft<left><up>");
    assert_eq!(text(&stage), "three");
    stage.keys("<up><up>");
    assert_eq!(text(&stage), "one");
    stage.keys("<up>");
    assert_eq!(text(&stage), "one", "there is nothing older");
    stage.keys("<down><down>");
    assert_eq!(text(&stage), "three");
    stage.keys("<down>x");
    assert_eq!(text(&stage), "drafxt", "the cursor is where it was");
    stage.keys("<down>");
    assert_eq!(text(&stage), "drafxt");
}

#[test]
fn an_up_before_the_file_was_read_counts_when_it_is_unless_more_was_typed() {
    let mut stage = Stage::new(80, 24);
    stage.keys("<up>");
    remember(&mut stage, &["one"]);
    assert_eq!(text(&stage), "one");
    let mut stage = Stage::new(80, 24);
    stage.keys("<up>x");
    remember(&mut stage, &["one"]);
    assert_eq!(text(&stage), "x");
}

#[test]
fn within_a_text_of_several_rows_up_and_down_move_the_cursor_first() {
    let mut stage = with(&["old"]);
    stage.keys("one<c-j>two").screen();
    stage.keys("<up>");
    assert_eq!(text(&stage), "one\ntwo");
    stage.keys("<up>");
    assert_eq!(text(&stage), "old");
    stage.keys("<down>");
    assert_eq!(text(&stage), "one\ntwo");
    // A line that wraps has two rows, too.
    let mut stage = with(&["old"]);
    stage.keys(&"word ".repeat(20)).screen();
    stage.keys("<up>");
    assert_ne!(text(&stage), "old");
    stage.keys("<up>");
    assert_eq!(text(&stage), "old");
}

#[test]
fn a_changed_text_does_not_change_the_history_and_is_not_lost() {
    let mut stage = with(&["one", "two"]);
    stage.keys("draft<up>!<up>");
    assert_eq!(text(&stage), "one");
    stage.keys("<down>");
    assert_eq!(text(&stage), "two!", "it is as it was left");
    stage.keys("<enter>");
    assert_eq!(stage.sent()[0].0, "two!");
    assert_eq!(text(&stage), "draft", "the draft comes back");
    stage.drain();
    stage.keys("<c-c>").wait(2_000).keys("<up><up>");
    assert_eq!(text(&stage), "two");
}

#[test]
fn what_is_sent_is_remembered_once_and_commands_too_but_nothing_behind_a_blank() {
    let mut stage = with(&[]);
    stage.keys("same<enter>other<enter>same<enter>/theme plain<enter> my secret<enter>");
    assert_eq!(stage.remembered, ["same", "other", "same", "/theme plain"]);
    stage.drain();
    stage.refresh().keys("<up>");
    assert_eq!(text(&stage), "/theme plain");
    stage.keys("<up><up><up>");
    assert_eq!(text(&stage), "other", "each text is there once");
}

#[test]
fn a_text_for_all_agents_is_remembered_once_with_the_name() {
    let mut stage = crew(80, 24);
    stage.paste("@all stop").keys("<enter>");
    assert_eq!(stage.remembered, ["start", "@all stop"]);
}

#[test]
fn a_draft_is_not_lost_when_something_comes_into_the_message_meanwhile() {
    let mut stage = crew(80, 24);
    stage.keys("pending<enter>draft<up>");
    assert_eq!(text(&stage), "start", "what still waits is not copied");
    stage.keys("<a-up>");
    assert_eq!(text(&stage), "pending\n\ndraft");
    // A text that was changed stays, and the draft can be brought back.
    stage.keys("<c-c>").wait(2_000).keys("second<enter>draft<up>!<a-up>");
    assert_eq!(text(&stage), "second\n\npending!");
    stage.keys("<c-_><c-_>");
    assert!(text(&stage).contains("draft"), "{}", text(&stage));
}

#[test]
fn clearing_a_recalled_text_brings_the_draft_back() {
    let mut stage = with(&["one"]);
    stage.keys("draft<up><c-c>");
    assert_eq!(text(&stage), "draft");
    stage.wait(2_000).keys("<up>!<c-c>");
    assert_eq!(text(&stage), "draft");
    stage.keys("<c-_>");
    assert_eq!(text(&stage), "one!\n\ndraft");
}

// --- the search

#[test]
fn the_search_takes_a_text_into_the_message_and_sends_nothing() {
    let mut stage = with(&["fix the parser", "run the tests", "fix the tests"]);
    stage.keys("draft<c-r>fx tests");
    let screen = stage.screen();
    assert!(screen.contains("▸ fix the tests") && !screen.contains("fix the parser"), "{screen}");
    assert!(screen.contains("search: fx tests") && screen.contains("1 of 3"), "{screen}");
    assert_eq!(text(&stage), "draft");
    stage.keys("<enter>");
    assert_eq!((text(&stage).as_str(), stage.app.focus.pane), ("fix the tests", Pane::Composer));
    assert_eq!(stage.sent(), []);
    stage.keys("<down>");
    assert_eq!(text(&stage), "draft", "the draft is where Down leads");
}

#[test]
fn esc_leaves_the_search_with_the_message_as_it_was_and_stops_nothing() {
    let mut stage = crew(80, 24);
    stage.keys("draft<c-r>st");
    assert!(stage.screen().contains("Esc: the message as it was"), "{}", stage.screen());
    stage.keys("<esc>");
    assert_eq!((text(&stage).as_str(), stage.app.message.search.is_none()), ("draft", true));
    assert!(!stage.handle.cancellable().is_cancelled());
    stage.keys("!");
    assert_eq!(text(&stage), "draft!");
}

#[test]
fn ctrl_r_and_the_arrows_choose_and_rubbing_out_widens() {
    let mut stage = with(&["alpha one", "alpha two", "alpha three", "beta"]);
    stage.keys("<c-r>alpha<c-r><c-r><up>");
    assert!(stage.screen().contains("▸ alpha two"), "{}", stage.screen());
    stage.keys("<c-w>b");
    assert!(stage.screen().contains("▸ beta"), "{}", stage.screen());
    stage.keys("<bs>");
    assert!(stage.screen().contains("4 of 4"));
    stage.keys("zzz");
    assert!(stage.screen().contains("nothing that was sent matches"));
    stage.keys("<enter>");
    assert_eq!(text(&stage), "");
}

#[test]
fn a_late_answer_to_an_older_question_is_passed_over() {
    let mut stage = with(&["alpha", "beta"]);
    stage.keys("<c-r>a");
    let old = stage.app.message.search.as_ref().unwrap().found().clone();
    stage.keys("l");
    assert_eq!(stage.app.message.search.as_ref().unwrap().found().hits.len(), 1);
    stage.tell(Msg::Matched(old));
    assert_eq!(stage.app.message.search.as_ref().unwrap().found().hits.len(), 1);
}

#[test]
fn before_the_answer_comes_the_list_shows_nothing_that_does_not_match() {
    let mut stage = with(&["alpha", "beta"]);
    stage.keys("<c-r>a");
    // The answer to this key is still on its way.
    let key = crate::support::stage::key_events("l").remove(0);
    let now = stage.app.ui.now;
    steersman_tui::update::update(&mut stage.app, Msg::Key(key, now));
    let hits = &stage.app.message.search.as_ref().unwrap().found().hits;
    assert_eq!(hits.iter().map(|hit| &*hit.text).collect::<Vec<_>>(), ["alpha"]);
}

#[test]
fn texts_from_the_file_cannot_paint_on_the_screen() {
    let mut stage = with(&["evil \u{1b}[31m red \u{202e}"]);
    stage.keys("<c-r>evil");
    assert!(!stage.screen().contains('\u{1b}') && stage.screen().contains("␛[31m"), "{}", stage.screen());
    stage.keys("<enter>");
    assert_eq!(text(&stage), "evil [31m red ");
}

// --- the file

fn record(text: &str) -> Record {
    Record { at: "2026-11-21T09:30:00Z".parse().unwrap(), cwd: "/work".to_owned(), text: text.to_owned() }
}

fn path(state: &Path) -> std::path::PathBuf {
    state.join("history.jsonl")
}

#[test]
fn what_one_session_appends_the_next_one_reads() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("deep/steersman");
    let file = HistoryFile::within(&state);
    assert_eq!(file.load().unwrap(), Vec::<String>::new());
    for text in ["one", "two\nlines \"quoted\"", "one", "日本語"] {
        file.append(&record(text)).unwrap();
    }
    assert_eq!(file.load().unwrap(), ["two\nlines \"quoted\"", "one", "日本語"]);
    assert_eq!(fs::metadata(path(&state)).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn torn_and_foreign_lines_are_passed_over_and_never_spoil_a_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let file = HistoryFile::within(dir.path());
    file.append(&record("one")).unwrap();
    let mut bytes = fs::read(path(dir.path())).unwrap();
    bytes.extend(b"not json\n\xff\xfe\n{\"text\": 5}\n{\"at\":\"2026-11-21T09:30:00Z\",\"cwd\":\"/\",\"te");
    fs::write(path(dir.path()), bytes).unwrap();
    file.append(&record("two")).unwrap();
    assert_eq!(file.load().unwrap(), ["one", "two"]);
}

#[test]
fn many_programs_at_once_tear_no_line() {
    let dir = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let file = HistoryFile::within(dir.path());
            scope.spawn(move || {
                for n in 0..50 {
                    file.append(&record(&format!("text {n} of {writer} {}", "x".repeat(5_000)))).unwrap();
                }
            });
        }
    });
    assert_eq!(HistoryFile::within(dir.path()).load().unwrap().len(), 400);
}

#[test]
fn a_file_that_has_grown_too_large_keeps_its_newer_half() {
    let dir = tempfile::tempdir().unwrap();
    let file = HistoryFile::within(dir.path());
    let line = serde_json::to_string(&record(&"x".repeat(1_000))).unwrap() + "\n";
    let count = usize::try_from(limits::HISTORY_BYTES).unwrap() / line.len() + 10;
    fs::write(path(dir.path()), line.repeat(count)).unwrap();
    file.append(&record("the newest")).unwrap();
    assert_eq!(file.load().unwrap().last().unwrap(), "the newest");
    let size = fs::metadata(path(dir.path())).unwrap().len();
    assert!(size <= limits::HISTORY_BYTES / 2 && size > limits::HISTORY_BYTES / 3, "{size}");
    assert_eq!(fs::metadata(path(dir.path())).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(file.load().unwrap().last().unwrap(), "the newest");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn a_very_long_text_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let file = HistoryFile::within(dir.path());
    file.append(&record(&"x".repeat(limits::HISTORY_TEXT_BYTES + 1))).unwrap();
    assert_eq!(file.load().unwrap(), Vec::<String>::new());
}

#[test]
fn that_nothing_can_be_written_is_said_once() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("steersman"), "a file where the directory should be").unwrap();
    let error = HistoryFile::within(&dir.path().join("steersman")).append(&record("one")).unwrap_err();
    let mut stage = with(&[]);
    stage.tell(Msg::NotRemembered(error.to_string()));
    assert!(said(&stage).starts_with("cannot save the message history: "), "{}", said(&stage));
    stage.wait(10_000).tell(Msg::NotRemembered(error.to_string()));
    assert_eq!(said(&stage), "");
}

#[test]
fn ten_thousand_texts_are_all_that_is_kept() {
    let mut stage = with(&[]);
    let texts: Vec<String> = (0..limits::HISTORY_ENTRIES + 10).map(|n| format!("text {n}")).collect();
    for text in &texts {
        stage.app.message.history.add(Sent::new(text));
    }
    assert_eq!(stage.app.message.history.newest_first().len(), limits::HISTORY_ENTRIES);
    stage.keys("<c-r>text 10005");
    assert!(stage.screen().contains("▸ text 10005"), "{}", stage.screen());
}

#[test]
fn up_in_the_empty_message_takes_the_newest_pending_text_back_and_never_a_copy() {
    let queued = |stage: &Stage| super::pending_list::queue(stage);
    let mut stage = super::pending_list::waiting(&["one", "two"]);
    stage.keys("<up>");
    assert_eq!((text(&stage).as_str(), queued(&stage).len()), ("two", 1));
    stage.keys("<c-c>").keys("<up>");
    assert_eq!((text(&stage).as_str(), queued(&stage).len()), ("one", 0));
    // Where something is written Up goes to what was sent before, but for what still waits.
    let mut stage = super::pending_list::waiting(&["one", "two"]);
    stage.keys("draft<up>");
    assert_eq!((text(&stage).as_str(), queued(&stage).len()), ("start", 2));
    stage.keys("<down>");
    assert_eq!(text(&stage), "draft");
}
