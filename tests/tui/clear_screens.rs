//! What must not be on a screen: words cut beside an overlay, a patchwork in a selected row, a wide tree of agents that have
//! ended, folds that save nothing or hide the reason, raw Markdown of a sub-agent, names without their underscores.

use ratatui::style::Modifier;
use steersman_base::details::{CommandEnd, Details};
use steersman_base::event::{Event, Outcome};
use steersman_base::message::Arguments;

use super::tree_rows::crew;
use crate::support::stage::Stage;

/// A screen full of words.
fn wordy(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.turn("").says("", &"every row of this answer is filled with words ".repeat(200));
    stage.turn_ended("", Outcome::Completed, None);
    stage
}

#[test]
fn nothing_stands_beside_an_overlay() {
    for (width, height) in [(200, 50), (160, 40), (142, 30)] {
        for keys in ["<f1>", "<f4>", "<a-g>", "<a-j>", "<a-x>", "/context<enter>", "/mcp<enter>", "/hooks<enter>"] {
            let mut stage = wordy(width, height);
            let screen = stage.keys(keys).screen();
            let rows: Vec<&str> = screen.lines().skip_while(|row| !row.trim_start().starts_with('┌')).collect();
            assert!(rows.len() > 8, "{keys} opens nothing: {screen}");
            for row in rows.iter().take_while(|row| row.trim_start().starts_with(['┌', '│'])) {
                let ends = [row.trim_start().chars().next(), row.trim_end().chars().next_back()];
                assert!(ends.iter().flatten().all(|end| "┌│┐".contains(*end)), "{keys} at {width}x{height}: {row}");
            }
        }
    }
}

#[test]
fn a_selected_row_has_one_background() {
    for theme in ["dark", "light", "high-contrast", "plain"] {
        for keys in ["<f1><down>", "<f4>", "<f3><down>", "/branch<enter>", "<f3><esc><tab>"] {
            let mut stage = crew(120, 36);
            stage.keys(&format!("/theme {theme}<enter>first<enter>second<enter>{keys}"));
            let buffer = stage.draw();
            for y in 0..36 {
                let cells = (0..120).filter_map(|x| buffer.cell((x, y)));
                let reversed = cells.filter(|cell| cell.modifier.contains(Modifier::REVERSED));
                let mut backgrounds: Vec<_> = reversed.map(|cell| (cell.fg, cell.bg)).collect();
                backgrounds.dedup();
                assert!(backgrounds.len() <= 1, "{theme}, {keys}, row {y}: {backgrounds:?}");
            }
        }
    }
}

/// Returns the column of the line between the tree and the transcript.
fn divider(stage: &mut Stage) -> usize {
    let screen = stage.screen();
    let row = screen.lines().nth(3).unwrap_or_default();
    row.chars().position(|c| c == '│').unwrap_or_else(|| panic!("no divider: {screen}"))
}

#[test]
fn a_tree_of_agents_that_have_ended_gives_its_columns_back() {
    for width in [96, 120, 160, 200] {
        let mut stage = Stage::new(width, 36);
        stage.turn("").call("", "a", "agent");
        stage.spawn("", "researcher 0").turn("researcher 0").spawn("", "researcher 1").turn("researcher 1");
        let working = divider(&mut stage);
        stage.finished("", "researcher 0", Outcome::Completed);
        assert_eq!(divider(&mut stage), working, "one still works");
        stage.finished("", "researcher 1", Outcome::Failed);
        let ended = divider(&mut stage);
        assert!(working >= 36 && ended <= 32, "{width}: {working}, then {ended}");
        assert!(stage.screen().contains("researcher 1"), "{}", stage.screen());
        stage.keys("<f3>");
        assert_eq!(divider(&mut stage), working, "who looks at the tree sees all of it");
    }
}

fn output(lines: usize) -> String {
    (1..=lines).map(|line| format!("line {line} of it\n")).collect()
}

/// Runs a command that ends with this code.
fn command(stage: &mut Stage, code: i32, text: &str) {
    let arguments = Arguments::parse(r#"{"command":"make"}"#);
    stage.turn("").event("", Event::ToolCall { id: "c1".into(), name: "bash".to_owned(), arguments });
    let end = CommandEnd { code: Some(code), bytes: 10, ..CommandEnd::default() };
    stage.event("", Event::ToolDetails { id: "c1".into(), details: Details::Command(end) });
    stage.result("", "c1", text);
}

#[test]
fn a_fold_hides_more_than_a_few_lines() {
    for lines in 1..=12 {
        let mut stage = Stage::new(80, 36);
        command(&mut stage, 0, &output(lines));
        let screen = stage.screen();
        let hidden = lines.saturating_sub(5);
        if hidden <= 3 {
            assert!(!screen.contains('┆') && screen.contains(&format!("line {lines} of it")), "{lines}: {screen}");
            assert!((1..=lines).all(|line| screen.contains(&format!("line {line} of it"))), "{lines}: {screen}");
        } else {
            assert!(screen.contains(&format!("┆ {hidden} more lines")), "{lines}: {screen}");
        }
    }
}

#[test]
fn a_failed_call_shows_the_line_that_says_why() {
    for reason in [
        "error[E0308]: mismatched types",
        "FAILED tests/test_a.py::test_b - AssertionError: 1 != 2",
        "thread 'main' panicked at src/main.rs:3:5:",
        "fatal: not a git repository",
        "bash: cargo: command not found",
        "cat: notes.txt: No such file or directory",
        "rm: cannot remove 'x': Permission denied",
        "ValueError: invalid literal for int()",
        "npm ERR! code ERESOLVE, Error: conflict",
    ] {
        let text = format!("{}{reason}\n{}", output(12), output(12));
        let mut stage = Stage::new(100, 36);
        command(&mut stage, 1, &text);
        let screen = stage.screen();
        assert!(screen.contains(reason), "{reason}: {screen}");
        assert_eq!(screen.matches("┆ ").count(), 2, "before and behind it: {screen}");
        let mut stage = Stage::new(100, 36);
        command(&mut stage, 0, &text);
        assert!(!stage.screen().contains(reason), "a command that went well is folded as ever");
    }
    let mut stage = Stage::new(100, 36);
    command(&mut stage, 1, &format!("{}test result: 0 failed, 0 errors\n{}", output(12), output(12)));
    assert_eq!(stage.screen().matches("┆ ").count(), 1, "a sum names no reason");
    // Of a call without a command too, whose first line alone may say nothing.
    let mut stage = Stage::new(100, 36);
    stage.turn("").call("", "c1", "edit");
    stage.result("", "c1", "Error: not edited\nold_string is not in a.rs: the nearest is line 3\n");
    assert!(stage.screen().contains("old_string is not in a.rs"), "{}", stage.screen());
}

const ANSWER: &str = "## Findings\n\nThe **parser** reads `tests/__init__.py` and everything that belongs to configuration, \
                      initialisation and serialisation before it begins.\n\n- one *point*\n- another point\n";

#[test]
fn the_answer_of_a_sub_agent_is_shown_as_every_answer() {
    for width in [120, 80, 56, 40] {
        let mut stage = Stage::new(width, 40);
        stage.turn("").call("", "c1", "agent").spawn("", "researcher 0").turn("researcher 0");
        stage.finished("", "researcher 0", Outcome::Completed).result("", "c1", ANSWER);
        stage.turn_ended("", Outcome::Completed, None).keys("<a-o>");
        let screen = stage.screen();
        assert!(!screen.contains("**") && !screen.contains("*point*") && screen.contains("• one point"), "{screen}");
        for word in ["configuration", "initialisation", "serialisation", "everything"] {
            assert!(screen.contains(word), "{word} is cut at {width}: {screen}");
        }
        insta::assert_snapshot!(format!("the_answer_of_a_sub_agent_{width}"), screen);
    }
}

#[test]
fn names_are_shown_as_they_are_written() {
    for name in [
        "tests/__init__.py",
        "__init__.py",
        "__main__.py",
        "src/pkg/__main__.py:12",
        "python -m pkg.__main__",
        "self.__dict__",
        "2*3*4",
        "width*height*depth",
        "2*(n+1)*k",
        "__init__",
        "__init__()",
        "obj.__class__.__name__",
        "a/_private_/b",
        "_generated_.rs",
        "src/*.rs and tests/*.rs",
        "__DEV__ and __FILE__",
        "__VA_ARGS__",
        "obj.__proto__ or __defineGetter__",
        "~/.emacs~ and ~/a~",
        "HEAD~1..HEAD~3",
        "src/*/mod.rs and tests/*/mod.rs",
    ] {
        let mut stage = Stage::new(100, 24);
        stage.turn("").says("", &format!("See {name} for it."));
        stage.turn_ended("", Outcome::Completed, None);
        let screen = stage.screen();
        assert!(screen.contains(&format!("See {name} for it.")), "{name}: {screen}");
    }
    for (text, shown) in [
        ("a **strong** word", "a strong word"),
        ("an *emphasised* word", "an emphasised word"),
        ("or *focus on app/* now", "or focus on app/ now"),
        ("an _emphasised_ word.", "an emphasised word."),
        ("**Yes**/**No**", "Yes/No"),
        ("Done.**Then** more", "Done.Then more"),
        ("__Strong words__ here", "Strong words here"),
        ("an __Important__ word", "an Important word"),
        ("a ~~struck~~ word", "a struck word"),
    ] {
        let mut stage = Stage::new(100, 24);
        stage.turn("").says("", text).turn_ended("", Outcome::Completed, None);
        assert!(stage.screen().contains(shown), "{text}: {}", stage.screen());
    }
}
