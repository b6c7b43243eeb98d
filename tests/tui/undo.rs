//! `/undo` on the screen: look, ask, do, tell; the files themselves are in `changes`.

use steersman_base::event::Event;
use steersman_base::protocol::{Reply, Request, Undo, UndoScope, UndoneFile, Update};
use steersman_tui::msg::{Effect, Msg};

use crate::support::stage::Stage;

fn change(path: &str, undo: Undo) -> UndoneFile {
    UndoneFile { path: path.to_owned(), undo }
}

fn found() -> Vec<UndoneFile> {
    vec![
        change("src/a.rs", Undo::Restored { bytes: 120 }),
        change("src/new.rs", Undo::Removed),
        change("b\u{202e}.rs", Undo::ChangedSince),
    ]
}

#[test]
fn the_list_is_shown_and_nothing_happens_without_a_yes() {
    let mut stage = Stage::new(80, 24);
    stage.tell(Msg::Update(Update::Reply(Reply::UndoPreview { scope: UndoScope::LastTurn, files: found() })));
    let screen = stage.screen();
    for words in [
        "Steersman asks",
        "Take back what the last turn changed?",
        "2 files, to be as before the turn:",
        "│ src/a.rs: back to its 120 bytes",
        "│ src/new.rs: removed, it was new",
        "1 file, to stay as now:",
        "│ b<U+202E>.rs: left alone",
        "Changes made by shell commands are not tracked",
    ] {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
    stage.wait(350).keys("<a-n>");
    assert!(!stage.effects.contains(&Effect::Request(Request::Undo { scope: UndoScope::LastTurn })));
    stage.tell(Msg::Update(Update::Reply(Reply::UndoPreview { scope: UndoScope::LastTurn, files: found() }))).screen();
    stage.wait(350).keys("<a-y>");
    assert_eq!(stage.effects.last(), Some(&Effect::Request(Request::Undo { scope: UndoScope::LastTurn })));
}

#[test]
fn what_was_done_is_in_the_transcript_and_in_the_status_line() {
    let mut stage = Stage::new(120, 24);
    stage.event("", Event::ChangesUndone { turn: Some(1), files: found() });
    stage.tell(Msg::Update(Update::Reply(Reply::Undone { scope: UndoScope::LastTurn, files: found() })));
    let screen = stage.screen();
    assert!(screen.contains("- undo: src/a.rs: back to its 120 bytes"), "{screen}");
    assert!(screen.contains("! undo: b<U+202E>.rs: left alone"), "{screen}");
    assert!(screen.contains("undone: 2 files as before, 1 left alone"), "{screen}");
}

#[test]
fn nothing_is_undone_while_a_turn_runs_nor_when_nothing_was_changed() {
    let mut stage = Stage::new(120, 24);
    stage.keys("/undo<enter>");
    assert!(stage.effects.contains(&Effect::Request(Request::PreviewUndo { scope: UndoScope::LastTurn })));
    assert!(stage.screen().contains("nothing to undo"), "{}", stage.screen());
    stage.tell(Msg::Update(Update::Reply(Reply::UndoPreview { scope: UndoScope::LastTurn, files: found() }))).screen();
    stage.effects.clear();
    stage.turn("").wait(350).keys("<a-y>");
    assert!(stage.screen().contains("not undone: a turn runs"), "{}", stage.screen());
    stage.keys("<a-z>");
    assert_eq!(stage.effects, []);
}

#[test]
fn a_list_longer_than_the_screen_must_be_read_to_its_end() {
    let many = (0..60).map(|file| change(&format!("src/{file}.rs"), Undo::Removed));
    let mut stage = Stage::new(80, 24);
    stage
        .tell(Msg::Update(Update::Reply(Reply::UndoPreview { scope: UndoScope::LastTurn, files: many.collect() })))
        .screen();
    stage.wait(350).keys("<a-y>");
    assert!(stage.screen().contains("read to the end first: PgDn, "));
    // What is typed is no text of the conversation.
    let top = stage.screen();
    stage.keys("xG").wait(350);
    assert!(!stage.screen().contains("› xG") && stage.screen().contains("End goes there"), "{}", stage.screen());
    stage.keys(" ");
    let below = stage.screen();
    assert!(top.contains("src/0.rs") && !below.contains("src/0.rs"), "{below}");
    stage.keys("<end>");
    assert!(stage.screen().contains("src/59.rs"), "{}", stage.screen());
    stage.keys("<home>");
    assert!(stage.screen().contains("src/0.rs"), "{}", stage.screen());
    stage.keys("<end>").screen();
    stage.wait(350).keys("<a-y>");
    assert_eq!(stage.effects.last(), Some(&Effect::Request(Request::Undo { scope: UndoScope::LastTurn })));
}
