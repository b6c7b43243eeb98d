//! `/undo` on the screen: look, ask, do, tell; the files themselves are in `changes`.

use steersman::tui::msg::{Effect, Msg};
use steersman::tui::state::undo::{Change, Fate};

use crate::support::stage::Stage;

fn change(path: &str, fate: Fate, words: &str) -> Change {
    Change { path: path.to_owned(), fate, words: words.to_owned() }
}

fn found() -> Vec<Change> {
    vec![
        change("src/a.rs", Fate::TakenBack, "back to its 120 bytes"),
        change("src/new.rs", Fate::TakenBack, "removed, it was new"),
        change("b\u{202e}.rs", Fate::Stays, "left alone, another program changed it since"),
    ]
}

#[test]
fn the_list_is_shown_and_nothing_happens_without_a_yes() {
    let mut stage = Stage::new(80, 24);
    stage.tell(Msg::Changes(found()));
    let screen = stage.screen();
    for words in [
        "Steersman asks",
        "Take back what the last turn changed?",
        "2 files, to be as before the turn:",
        "│ src/a.rs: back to its 120 bytes",
        "│ src/new.rs: removed, it was new",
        "1 file, to stay as now:",
        "│ b<U+202E>.rs: left alone",
        "What commands changed is not on record",
    ] {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
    stage.wait(350).keys("<a-n>");
    assert!(!stage.effects.contains(&Effect::UndoChanges));
    stage.tell(Msg::Changes(found())).screen();
    stage.wait(350).keys("<a-y>");
    assert_eq!(stage.effects.last(), Some(&Effect::UndoChanges));
}

#[test]
fn what_was_done_is_in_the_transcript_and_in_the_status_line() {
    let mut stage = Stage::new(120, 24);
    stage.tell(Msg::Undone(found()));
    let screen = stage.screen();
    assert!(screen.contains("- undo: src/a.rs: back to its 120 bytes"), "{screen}");
    assert!(screen.contains("! undo: b<U+202E>.rs: left alone"), "{screen}");
    assert!(screen.contains("undone: 2 files as before the turn, 1 left alone"), "{screen}");
}

#[test]
fn nothing_is_undone_while_a_turn_runs_nor_when_nothing_was_changed() {
    let mut stage = Stage::new(120, 24);
    stage.keys("/undo<enter>");
    assert!(stage.effects.contains(&Effect::LookAtChanges));
    assert!(stage.screen().contains("nothing to undo"), "{}", stage.screen());
    stage.tell(Msg::Changes(found())).screen();
    stage.effects.clear();
    stage.turn("").wait(350).keys("<a-y>");
    assert!(stage.screen().contains("not undone: a turn runs"), "{}", stage.screen());
    stage.keys("<a-z>");
    assert_eq!(stage.effects, []);
}

#[test]
fn a_list_longer_than_the_screen_must_be_read_to_its_end() {
    let many = (0..60).map(|file| change(&format!("src/{file}.rs"), Fate::TakenBack, "removed, it was new"));
    let mut stage = Stage::new(80, 24);
    stage.tell(Msg::Changes(many.collect())).screen();
    stage.wait(350).keys("<a-y>");
    assert!(stage.screen().contains("read to the end first"));
    stage.keys("<c-end>").screen();
    stage.wait(350).keys("<a-y>");
    assert_eq!(stage.effects.last(), Some(&Effect::UndoChanges));
}
