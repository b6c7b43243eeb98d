//! Tests of `steersman diff` and `/compare`: two sessions side by side, as text, as JSON and on the screen.

use serde_json::Value;
use steersman_tui::msg::{Effect, Msg};
use steersman_tui::run::sessions::compared as screen_table;

use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::saved::Saved;
use crate::support::stage::Stage;

#[test]
fn both_stand_side_by_side_as_text_and_as_json() {
    let saved = Saved::new();
    let [first, second] = saved.two_that_part().map(|file| file.path.to_str().unwrap().to_owned());
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
    let [first, second] = saved.two_that_part().map(|file| file.session.to_string());
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
