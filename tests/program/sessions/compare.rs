//! Stories of `steersman diff`: where two sessions part, and what each did from there.

use serde_json::Value;
use steersman_base::details::{Details, FileDiff};
use steersman_base::event::{Event, Outcome};
use steersman_session::compare::{Comparison, compare};
use steersman_session::journal::SessionFile;

use steersman_tui::msg::{Effect, Msg};
use steersman_tui::run::sessions::compared as screen_table;

use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::saved::{Play, Saved};
use crate::support::stage::Stage;

/// What both sessions begin with.
fn shared(play: &mut Play) {
    play.event("", Event::TurnStarted { turn: 1 });
    play.user("m1", "find the parser", None);
    play.call("", "c1", "read", r#"{"path":"src/parse.rs"}"#);
    play.result("", "c1", "fn parse() {}");
    play.answer("", "It is in src/parse.rs.");
    play.event("", Event::TurnEnded { turn: 1, outcome: Outcome::Completed, message: None });
}

fn goes_on(play: &mut Play, text: &str, path: &str, answer: &str) {
    shared(play);
    play.event("", Event::TurnStarted { turn: 2 });
    play.user("m2", text, None);
    play.call("", "c2", "write", &format!(r#"{{"path":"{path}"}}"#));
    let diff = FileDiff { path: path.to_owned(), created: true, added: 2, removed: 0, hunks: String::new() };
    play.event("", Event::ToolDetails { id: "c2".into(), details: Details::Diff(diff) });
    play.result("", "c2", "written");
    play.tokens("", 1_000, 200);
    play.answer("", answer);
    play.event("", Event::TurnEnded { turn: 2, outcome: Outcome::Completed, message: None });
}

fn two(saved: &Saved) -> [SessionFile; 2] {
    let first = saved.session(|play| goes_on(play, "now the lexer", "src/lex.rs", "The lexer is written."));
    let second =
        saved.session(|play| goes_on(play, "now the tests", "tests/all.rs", "The tests are\u{1b}[2J written."));
    [first, second]
}

fn compared(files: &[SessionFile; 2]) -> Comparison {
    let [first, second] = files.each_ref().map(|file| file.read().unwrap().records);
    compare(&first, &second)
}

#[test]
fn they_part_where_something_else_was_said_and_only_what_follows_counts() {
    let saved = Saved::new();
    let comparison = compared(&two(&saved));
    assert_eq!((comparison.shared_messages, comparison.shared_calls), (1, 1));
    assert_eq!(comparison.last_shared.as_deref(), Some("find the parser"));
    let [first, second] = &comparison.sides;
    assert_eq!((first.first_message.as_deref(), first.messages), (Some("now the lexer"), 1));
    assert_eq!((second.calls.len(), second.files[0].path.as_str(), second.tokens), (1, "tests/all.rs", 1_210));
    assert_eq!((first.outcome, first.answer.as_deref()), (Some(Outcome::Completed), Some("The lexer is written.")));
}

#[test]
fn a_session_and_its_copy_part_at_their_end_and_strangers_at_their_beginning() {
    let saved = Saved::new();
    let [first, second] = two(&saved);
    let same = compared(&[first.clone(), first.clone()]);
    assert_eq!((same.shared_messages, same.sides[0].messages, same.sides[1].calls.len()), (2, 0, 0));
    let other = saved.usual();
    let none = compared(&[second, other]);
    assert_eq!((none.shared_messages, none.last_shared), (0, None));
    assert_eq!(none.sides[0].messages, 2);
}

#[test]
fn both_stand_side_by_side_as_text_and_as_json() {
    let saved = Saved::new();
    let [first, second] = two(&saved).map(|file| file.path.to_str().unwrap().to_owned());
    let output = Program::new().args(["diff", &first, &second]).output();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    for words in
        ["share 1 message and 1 call. The last shared message: find the parser", "now the lexer", "src/lex.rs +2 −0"]
    {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert!(
        text.lines().any(|line| line.contains("The lexer is written.") && line.contains("The tests are")),
        "{text}"
    );
    assert!(text.contains("write src/lex.rs"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    let output = Program::new().args(["diff", &first, &second, "--json"]).output();
    let json: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json["sides"][1]["first_message"], "now the tests");
    let output = Program::new().args(["diff", &first, "missing"]).output();
    assert_eq!(exit_code(&output), 1);
}

#[test]
fn on_the_screen_both_stand_side_by_side_and_one_under_the_other_where_there_is_no_room() {
    let saved = Saved::new();
    let [first, second] = two(&saved).map(|file| file.session.to_string());
    let state = saved.home.path().join(".local/state/steersman");
    let mut stage = Stage::new(120, 36);
    stage.keys("/compare one<enter>");
    assert!(stage.screen().contains("this session is not saved: name two others"), "{}", stage.screen());
    stage.app.ui.session = Some(first.clone());
    stage.keys(&format!("/compare {second}<enter>"));
    assert_eq!(stage.effects.last(), Some(&Effect::Compare([first.clone(), second.clone()])));
    let mut table = screen_table(Some(&state), &[first, second]).unwrap();
    // Names differ from run to run.
    table.rows[0].sides = [vec!["0198c9a2-6e1b".to_owned()], vec!["0198c9b7-1111".to_owned()]];
    for (width, height) in [(120, 36), (80, 24), (40, 12), (12, 4)] {
        let mut stage = Stage::new(width, height);
        stage.tell(Msg::Compared(Ok(table.clone())));
        insta::assert_snapshot!(format!("compared_{width}x{height}"), stage.picture());
        if width == 40 {
            stage.keys("<end>");
            let screen = stage.screen();
            assert!(screen.contains("The tests are") && !screen.contains("messages"), "{screen}");
            stage.keys("<home>");
            assert!(stage.screen().contains("0198c9a2-6e1b"), "{}", stage.screen());
            stage.keys("<esc>");
            assert!(stage.app.focus.overlays.is_empty());
        }
    }
    let mut lines = Stage::in_lines();
    lines.tell(Msg::Compared(Ok(table)));
    let told = lines.written();
    assert!(told.contains("share 1 message") && told.contains("message: now the lexer; now the tests"), "{told}");
    let missing = screen_table(Some(&state), &["none".to_owned(), "none".to_owned()]);
    stage.tell(Msg::Compared(missing));
    assert!(stage.screen().contains("there is no session"), "{}", stage.screen());
}
