//! Stories of changes on the screen: which words differ, code in its colours, and opened calls that stay cheap.

use std::time::Duration;

use ratatui::style::{Color, Modifier, Style};
use steersman_base::details::{Details, FileDiff};
use steersman_base::event::Event;
use steersman_base::message::Arguments;
use steersman_tui::highlight::Engine;
use steersman_tui::msg::{Effect, Msg};
use steersman_tui::theme::{Depth, Theme};

use crate::support::stage::Stage;

const HUNKS: &str = "@@ -9,6 +9,7 @@\n fn main() {\n-    let total = count(files, 2);\n+    let total = count(paths, 3);\n+    \
                     let extra = \"words\";\n \treturn total; // done\n }\n-alpha beta gamma\n+entirely other text here\n";

fn changed(stage: &mut Stage, path: &str, hunks: &str) {
    stage.turn("");
    let arguments = Arguments::parse(&format!(r#"{{"path":"{path}","old_string":"a","new_string":"b"}}"#));
    stage.event("", Event::ToolCall { id: "c1".into(), name: "edit".to_owned(), arguments });
    let diff = FileDiff { path: path.to_owned(), created: false, added: 3, removed: 2, hunks: hunks.to_owned() };
    stage.event("", Event::ToolDetails { id: "c1".into(), details: Details::Diff(diff) });
    stage.result("", "c1", "edited");
}

/// Answers what is asked for until nothing more is.
fn colour(stage: &mut Stage, engine: &mut Engine) {
    loop {
        stage.draw();
        let wanted = stage.effects.drain(..).find_map(|effect| match effect {
            Effect::Colour(jobs) => Some(jobs),
            _ => None,
        });
        let Some(jobs) = wanted else { return };
        let found = jobs.iter().map(|job| engine.run(job, Duration::from_mins(1))).collect();
        stage.tell(Msg::Coloured(found));
    }
}

/// Returns the styles of the first place where a text stands, letter by letter.
fn styles_of(stage: &mut Stage, text: &str) -> Vec<Style> {
    let buffer = stage.draw();
    for row in buffer.content.chunks(usize::from(buffer.area.width)) {
        let line: String = row.iter().map(ratatui::buffer::Cell::symbol).collect();
        if let Some(at) = line.find(text) {
            let start = line[..at].chars().count();
            return row[start..start + text.chars().count()].iter().map(ratatui::buffer::Cell::style).collect();
        }
    }
    panic!("{text} is not on the screen:\n{}", stage.screen());
}

#[test]
fn the_words_that_differ_are_underlined_and_no_others() {
    for open in ["", "<a-o>"] {
        for name in ["dark", "light", "high-contrast", "plain"] {
            let theme = Theme::built_in(name, Depth::Sixteen);
            let mut stage = Stage::new(100, 30);
            changed(&mut stage, "src/a.rs", HUNKS);
            stage.app.ui.theme = theme.clone();
            stage.keys(open);
            let is_marked = |stage: &mut Stage, text: &str| -> Vec<bool> {
                let plain = styles_of(stage, "let total")[0].add_modifier;
                styles_of(stage, text).iter().map(|style| style.add_modifier != plain).collect()
            };
            let word = theme.added_word.add_modifier;
            assert!(!word.is_empty(), "{name}: not by colour alone");
            if !theme.removed.add_modifier.contains(Modifier::UNDERLINED) {
                assert_eq!(is_marked(&mut stage, "(files"), [false, true, true, true, true, true], "{name}");
            }
            let styles = styles_of(&mut stage, "(paths, 3)");
            let marked: Vec<bool> = styles.iter().map(|style| style.add_modifier.contains(word)).collect();
            let expected = [false, true, true, true, true, true, false, false, true, false];
            assert_eq!(marked, expected, "{name}");
            // Lines that share little are not compared.
            assert!(styles_of(&mut stage, "alpha beta").windows(2).all(|pair| pair[0] == pair[1]));
        }
    }
}

#[test]
fn unchanged_lines_have_the_colours_of_code_and_changed_ones_keep_theirs() {
    let mut engine = Engine::load();
    let mut stage = Stage::new(100, 30);
    changed(&mut stage, "src/a.rs", HUNKS);
    stage.keys("<a-o>");
    let before = stage.screen();
    colour(&mut stage, &mut engine);
    assert_eq!(stage.screen(), before, "nothing moves");
    let theme = stage.app.ui.theme.clone();
    assert_eq!(styles_of(&mut stage, "fn main")[0].fg, theme.syntax.keyword.fg);
    assert_eq!(styles_of(&mut stage, "return total")[0].fg, theme.syntax.keyword.fg);
    assert_eq!(styles_of(&mut stage, "// done")[0].add_modifier, theme.syntax.comment.add_modifier);
    assert_eq!(styles_of(&mut stage, "let extra")[0].fg, theme.added.fg, "what came is told by its colour");
    // Where a background tells it, the words have the colours of code.
    stage.app.ui.theme.added = Style::new().bg(Color::Indexed(22));
    let style = styles_of(&mut stage, "let extra")[0];
    assert_eq!((style.fg, style.bg), (theme.syntax.keyword.fg, Some(Color::Indexed(22))));
}

#[test]
fn what_a_file_holds_has_its_colours_behind_the_numbers() {
    let mut engine = Engine::load();
    let mut stage = Stage::new(100, 30);
    stage.turn("");
    let arguments = Arguments::parse(r#"{"path":"a.py"}"#);
    stage.event("", Event::ToolCall { id: "c1".into(), name: "read".to_owned(), arguments });
    stage.result("", "c1", "     1\tdef f(x):\n     2\t\treturn 'a'\n[lines 1 to 2 of a file of 4096 bytes; go on]\n");
    assert!(stage.screen().contains("read a.py · 1.2 s, 2 lines of 4.0 KiB"), "{}", stage.screen());
    stage.keys("<a-o>");
    colour(&mut stage, &mut engine);
    let syntax = stage.app.ui.theme.syntax.clone();
    assert_eq!(styles_of(&mut stage, "def f")[0].fg, syntax.keyword.fg);
    assert_eq!(styles_of(&mut stage, "'a'")[0].fg, syntax.string.fg);
}

#[test]
fn a_very_long_output_is_cut_in_the_middle_and_says_so() {
    let mut stage = Stage::new(100, 30);
    stage.turn("");
    let arguments = Arguments::parse(r#"{"path":"a"}"#);
    stage.event("", Event::ToolCall { id: "c1".into(), name: "other".to_owned(), arguments });
    let output: String = (1..=50_000).map(|line| format!("row {line}.\n")).collect();
    stage.result("", "c1", &output);
    stage.keys("<a-o>");
    assert!(stage.screen().contains("│ row 50000."), "{}", stage.screen());
    stage.keys("<tab>");
    for _ in 0..18 {
        stage.keys("<pgup>").draw();
    }
    let mut screens = String::new();
    for _ in 0..4 {
        screens.push_str(&stage.keys("<pgup>").screen());
    }
    assert!(screens.contains("┆ 49000 more lines"), "{screens}");
    assert!(screens.contains("│ row 500.") && screens.contains("│ row 49501."), "{screens}");
    // One endless line is cut too.
    stage.result("", "c1", &"x".repeat(3_000_000));
    stage.keys("<end>");
    assert!(stage.screen().contains("… 2.9 MiB more"), "{}", stage.screen());
}

#[test]
fn changes_in_their_colours_at_four_sizes() {
    let mut engine = Engine::load();
    for (width, height) in [(120, 40), (80, 24), (56, 20), (34, 10)] {
        let mut stage = Stage::new(width, height);
        changed(&mut stage, "src/a.rs", HUNKS);
        stage.keys("<a-o>");
        colour(&mut stage, &mut engine);
        insta::assert_snapshot!(format!("change_{width}x{height}"), stage.picture());
    }
}
