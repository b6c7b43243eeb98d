//! The list of the files that tools changed: `/diff`.

use steersman_base::details::{Details, FileDiff};
use steersman_base::event::{Event, Outcome};
use steersman_base::protocol::{Reply, Request, Undo, UndoScope, UndoneFile, Update};
use steersman_tui::changes::ChangesPane;
use steersman_tui::msg::{EditorSubject, Effect, Msg};

use crate::support::stage::Stage;

fn changed(stage: &mut Stage, agent: &str, path: &str, hunks: &str, created: bool) {
    let count = |sign| u32::try_from(hunks.lines().filter(|line| line.starts_with(sign)).count()).unwrap();
    let diff =
        FileDiff { path: path.to_owned(), created, added: count('+'), removed: count('-'), hunks: hunks.to_owned() };
    stage.event(agent, Event::ToolDetails { id: "c1".into(), details: Details::Diff(diff) });
}

/// Two turns: main changes a file twice, a sub-agent makes one.
fn two_turns(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.turn("");
    changed(&mut stage, "", "src/a.rs", "@@ -1 +1 @@\n-let a = 1;\n+let a = 2;\n", false);
    stage.spawn("", "worker 0");
    changed(&mut stage, "worker 0", "notes.md", "@@ -0,0 +1,2 @@\n+one\n+two\n", true);
    stage.turn_ended("", Outcome::Completed, None);
    stage.event("", Event::TurnStarted { turn: 2 });
    changed(&mut stage, "", "src/a.rs", "@@ -1 +1,2 @@\n let a = 2;\n+let b = 3;\n", false);
    stage.event("", Event::TurnEnded { turn: 2, outcome: Outcome::Completed, message: None });
    stage
}

fn whole() -> FileDiff {
    let hunks = "@@ -1 +1,2 @@\n-let a = 1;\n+let a = 2;\n+let b = 3;\n".to_owned();
    FileDiff { path: "src/a.rs".to_owned(), created: false, added: 2, removed: 1, hunks }
}

#[test]
fn every_changed_file_stands_there_with_its_whole_change_since_the_start() {
    for (width, height) in [(120, 36), (80, 24), (40, 14)] {
        let mut stage = two_turns(width, height);
        stage.keys("/diff<enter>");
        assert_eq!(stage.effects.last(), Some(&Effect::Request(Request::ListChanges)));
        assert!(stage.screen().contains("let b = 3;"), "change by change until the run has said more");
        stage.tell(Msg::Update(Update::Reply(Reply::Changes(vec![whole()]))));
        insta::assert_snapshot!(format!("changes_{width}x{height}"), stage.picture());
    }
}

#[test]
fn the_changes_of_one_turn_or_of_one_agent_are_shown_alone() {
    let mut stage = two_turns(100, 30);
    stage.keys("<a-g>").keys("<left>");
    let screen = stage.screen();
    assert!(screen.contains("1 file changed: turn 2") && !screen.contains("notes.md"), "{screen}");
    let screen = stage.keys("<left>").screen();
    assert!(screen.contains("2 files changed: turn 1"), "{screen}");
    let screen = stage.keys("<left>").screen();
    assert!(screen.contains("turn 1"), "there is no earlier one");
    let screen = stage.keys("<right><right>").screen();
    assert!(screen.contains("2 files changed: this session"), "{screen}");
    let screen = stage.keys("aa").screen();
    assert!(screen.contains("1 file changed: this session, by worker 0") && screen.contains("+one"), "{screen}");
    let screen = stage.keys("a").screen();
    assert!(screen.contains("2 files changed: this session "), "{screen}");
}

#[test]
fn a_file_or_a_turn_is_taken_back_after_a_question_and_leaves_the_list() {
    let mut stage = two_turns(100, 30);
    stage.keys("<a-g>u");
    let scope = UndoScope::File("src/a.rs".to_owned());
    assert_eq!(stage.effects.last(), Some(&Effect::Request(Request::PreviewUndo { scope: scope.clone() })));
    let files = vec![UndoneFile { path: "src/a.rs".to_owned(), undo: Undo::Restored { bytes: 11 } }];
    stage.tell(Msg::Update(Update::Reply(Reply::UndoPreview { scope: scope.clone(), files: files.clone() })));
    assert!(stage.screen().contains("Take back all changes of src/a.rs?"), "{}", stage.screen());
    stage.wait(350).keys("<a-y>");
    assert_eq!(stage.effects.last(), Some(&Effect::Request(Request::Undo { scope })));
    stage.event("", Event::ChangesUndone { turn: None, files });
    let screen = stage.keys("<a-g>").screen();
    assert!(screen.contains("1 file changed") && screen.contains("notes.md"), "{screen}");
    assert!(!screen.contains("let a = 2;"), "{screen}");
    stage.keys("U");
    assert!(stage.screen().contains("choose a turn first"), "{}", stage.screen());
    stage.keys("<left>U");
    let scope = UndoScope::Turn(1);
    assert_eq!(stage.effects.last(), Some(&Effect::Request(Request::PreviewUndo { scope })));
}

#[test]
fn nothing_is_taken_back_while_a_turn_runs() {
    let mut stage = two_turns(100, 30);
    stage.turn("").keys("<a-g>u");
    assert!(stage.screen().contains("not undone: a turn runs"), "{}", stage.screen());
    assert!(!stage.effects.iter().any(|effect| matches!(effect, Effect::Request(Request::PreviewUndo { .. }))));
}

#[test]
fn a_change_opens_in_the_editor_and_a_long_one_scrolls() {
    let mut stage = Stage::new(80, 24);
    stage.turn("");
    let lines: String = (0..100).map(|line| format!("+line {line}\n")).collect();
    changed(&mut stage, "", "long.txt", &format!("@@ -0,0 +1,100 @@\n{lines}"), true);
    stage.turn_ended("", Outcome::Completed, None).keys("<a-g>");
    assert!(stage.screen().contains("line 0") && !stage.screen().contains("line 99"));
    stage.keys("<pgdn><pgdn>");
    assert!(!stage.screen().contains("line 0 ") && stage.screen().contains("line 20"), "{}", stage.screen());
    stage.keys("<enter>");
    let Some(Effect::Edit { subject: EditorSubject::Entry, text }) = stage.effects.last() else {
        panic!("{:?}", stage.effects.last())
    };
    assert!(text.starts_with("long.txt\n") && text.contains("+line 99"), "{text}");
}

#[test]
fn without_a_change_it_says_what_it_is_for_and_in_lines_every_file_is_told() {
    let mut stage = Stage::new(80, 24);
    stage.keys("/diff<enter>");
    assert!(stage.screen().contains("Tools have changed no file."), "{}", stage.screen());
    stage.keys("u<esc>");
    assert!(!stage.app.focus.overlays.is_on::<ChangesPane>());
    let mut stage = Stage::in_lines();
    changed(&mut stage, "", "a.rs", "@@ -1 +1 @@\n-a\n+b\n", false);
    stage.line("/diff");
    assert!(stage.written().contains("changed: a.rs: +1 −1, by main"));
}

#[test]
fn an_undone_change_leaves_the_details_too() {
    let mut stage = Stage::new(160, 40);
    stage.turn("");
    changed(&mut stage, "", "b<U+202E>.rs", "@@ -1 +1 @@\n-a\n+b\n", false);
    stage.turn_ended("", Outcome::Completed, None);
    assert!(stage.screen().contains("b<U+202E>.rs +1 −1"), "{}", stage.screen());
    let files = vec![UndoneFile { path: "b<U+202E>.rs".to_owned(), undo: Undo::Restored { bytes: 2 } }];
    stage.event("", Event::ChangesUndone { turn: Some(1), files });
    assert!(!stage.screen().contains("b<U+202E>.rs +1 −1"), "{}", stage.screen());
    assert!(stage.keys("/diff<enter>").screen().contains("Tools have changed no file."), "{}", stage.screen());
}
