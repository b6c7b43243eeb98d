//! The status line of the user's own: what its command gets, and what of its output is shown.

use steersman_base::event::Event;
use steersman_tui::msg::Msg;
use steersman_tui::run::status_line::{description, first_line};

use crate::support::stage::Stage;

/// Returns the lowest row.
fn row(stage: &mut Stage) -> String {
    stage.screen().lines().last().unwrap_or_default().to_owned()
}

#[test]
fn its_first_line_stands_in_place_of_the_figures_and_the_mode_stays() {
    let mut stage = Stage::new(80, 24);
    let before = row(&mut stage);
    stage.tell(Msg::StatusLine("main ✓ 12 %".to_owned()));
    let shown = row(&mut stage);
    assert!(
        shown.starts_with(" main ✓ 12 %") && shown.ends_with(before.trim_start().rsplit("  ").next().unwrap()),
        "{shown}"
    );
    stage.tell(Msg::StatusLine("x".repeat(400)));
    assert!(row(&mut stage).contains("ask"), "the mode keeps its room: {}", row(&mut stage));
    stage.tell(Msg::StatusLine(String::new()));
    assert_eq!(row(&mut stage), before);
}

#[test]
fn colours_go_and_everything_else_is_shown_and_not_obeyed() {
    assert_eq!(first_line("\u{1b}[32mgreen\u{1b}[0m\nsecond"), "green");
    assert_eq!(first_line("\n\n  first \n"), "first");
    assert_eq!(first_line(""), "");
    let mut stage = Stage::new(80, 24);
    for hostile in ["\u{1b}[2Jgone", "\u{1b}]0;title\u{7}", "a\u{202e}b", "\u{9b}2J"] {
        stage.tell(Msg::StatusLine(first_line(hostile)));
        let shown = row(&mut stage);
        assert!(!shown.chars().any(|c| c.is_control() || c == '\u{202e}'), "{hostile:?}: {shown:?}");
    }
}

#[test]
fn the_command_gets_what_that_of_claude_code_gets() {
    let mut stage = Stage::new(80, 24);
    stage.event(
        "",
        Event::SessionStarted {
            schema: 1,
            program: "steersman".to_owned(),
            cwd: "/w".to_owned(),
            provider: "openai".to_owned(),
            model: Some("qwen".to_owned()),
            max_steps: None,
            tools: Vec::new(),
        },
    );
    let given = description(&stage.app, "/w");
    assert_eq!((&given["hook_event_name"], &given["cwd"]), (&"Status".into(), &"/w".into()));
    assert_eq!(given["workspace"]["current_dir"], "/w");
    assert!(given["model"]["id"].is_string() && given["model"]["display_name"].is_string(), "{given}");
    assert!(given["cost"]["total_cost_usd"].is_number() && given["version"].is_string(), "{given}");
    assert_eq!(given["permission_mode"], "ask");
    assert_eq!(description(&stage.app, "/w"), given, "nothing of it changes with time alone");
}
