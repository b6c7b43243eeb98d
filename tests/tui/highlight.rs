//! Stories of the colours of code: plain first, then coloured, never moved; asked for only where they are in view.

use std::time::Duration;

use ratatui::style::{Color, Style};
use steersman_base::event::Event;
use steersman_tui::highlight::worker::Worker;
use steersman_tui::highlight::{Chain, Class, Coloured, Engine, Job, Language};
use steersman_tui::msg::{Effect, Msg};
use steersman_tui::theme::{Depth, Theme};

use crate::support::stage::Stage;

const SAMPLE: &str = "Look:\n\n```rust\nfn main() {\n    // says hello\n    let x = \"hi\";\n}\n```\n";

/// Draws until nothing more is asked for, and answers what is; returns the number of answers.
fn colour(stage: &mut Stage, engine: &mut Engine) -> usize {
    let mut answers = 0;
    loop {
        let asked = stage.effects.len();
        stage.draw();
        let wanted = stage.effects.split_off(asked).into_iter().find_map(|effect| match effect {
            Effect::Colour(jobs) => Some(jobs),
            _ => None,
        });
        let Some(jobs) = wanted else { return answers };
        let found = jobs.iter().map(|job| engine.run(job, Duration::from_mins(1))).collect();
        stage.tell(Msg::Coloured(found));
        answers += 1;
        assert!(answers < 1_000, "an answer leads to the same question");
    }
}

/// Returns the style of the first place where a text stands.
fn style_of(stage: &mut Stage, text: &str) -> Style {
    let buffer = stage.draw();
    let columns = usize::from(buffer.area.width);
    for row in buffer.content.chunks(columns) {
        let line: String = row.iter().map(ratatui::buffer::Cell::symbol).collect();
        if let Some(at) = line.find(text) {
            return row[line[..at].chars().count()].style();
        }
    }
    panic!("{text} is not on the screen");
}

fn said(text: &str, width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.turn("");
    stage.event("", Event::Assistant { text: text.to_owned(), interrupted: false });
    stage
}

#[test]
fn code_is_plain_at_first_and_its_colours_move_nothing() {
    let mut stage = said(SAMPLE, 80, 24);
    let plain = stage.screen();
    let fg = |style: Style| style.fg.filter(|color| *color != Color::Reset);
    assert_eq!(fg(style_of(&mut stage, "fn main")), None);
    stage.effects.clear();
    // The first frames have asked; the answer was not given yet.
    let mut engine = Engine::load();
    let mut stage = said(SAMPLE, 80, 24);
    assert_eq!(colour(&mut stage, &mut engine), 1);
    assert_eq!(stage.screen(), plain);
    let syntax = stage.app.ui.theme.syntax.clone();
    assert_eq!(fg(style_of(&mut stage, "fn main")), syntax.keyword.fg);
    assert_eq!(fg(style_of(&mut stage, "main()")), syntax.function.fg);
    assert_eq!(fg(style_of(&mut stage, "\"hi\"")), syntax.string.fg);
    assert_eq!(style_of(&mut stage, "// says").add_modifier, syntax.comment.add_modifier);
}

#[test]
fn another_theme_or_width_needs_no_new_reading() {
    let mut engine = Engine::load();
    let mut stage = said(SAMPLE, 80, 24);
    colour(&mut stage, &mut engine);
    for name in ["dark", "light", "high-contrast", "plain"] {
        stage.app.ui.theme = Theme::built_in(name, Depth::Sixteen);
        stage.app.ui.theme.syntax.keyword = Style::new().fg(Color::Yellow);
        assert_eq!(style_of(&mut stage, "fn main").fg, Some(Color::Yellow), "{name}");
    }
    stage.resize(30, 12);
    assert_eq!(colour(&mut stage, &mut engine), 0, "the colours are known");
    assert_eq!(style_of(&mut stage, "fn main").fg, Some(Color::Yellow));
}

#[test]
fn code_that_streams_is_read_once_line_by_line() {
    let mut engine = Engine::load();
    let mut stage = Stage::new(80, 60);
    stage.turn("").says("", "```rust\n");
    let mut read = 0;
    for line in 0..40 {
        for piece in ["let a", &format!("{line} = \"te"), "xt\";", "\n"] {
            stage.says("", piece);
            let asked = stage.effects.len();
            stage.draw();
            for effect in stage.effects.split_off(asked) {
                let Effect::Colour(jobs) = effect else { continue };
                read += jobs.iter().map(|job| job.lines.len()).sum::<usize>();
                let found = jobs.iter().map(|job| engine.run(job, Duration::from_mins(1))).collect();
                stage.tell(Msg::Coloured(found));
            }
        }
    }
    assert_eq!(read, 40, "each line once");
    let keyword = stage.app.ui.theme.syntax.keyword.fg;
    assert_eq!(style_of(&mut stage, "let a39").fg, keyword);
    // A text in quotes that goes over lines is one: the state is kept.
    stage.says("", "let b = \"begins\nlet c goes on\n\";\n");
    colour(&mut stage, &mut engine);
    assert_eq!(style_of(&mut stage, "let c goes").fg, stage.app.ui.theme.syntax.string.fg);
}

#[test]
fn only_what_is_in_view_is_asked_for_and_never_twice_at_once() {
    let code: String = (0..1_500).map(|line| format!("let line_{line} = {line};\n")).collect();
    let mut stage = said(&format!("```rust\n{code}```\n"), 80, 24);
    stage.keys("<c-home>").draw();
    let jobs = |stage: &Stage| stage.effects.iter().filter(|effect| matches!(effect, Effect::Colour(_))).count();
    stage.draw();
    stage.draw();
    assert_eq!(jobs(&stage), 1, "one question is open at a time");
    let mut engine = Engine::load();
    let mut stage = said(&format!("```rust\n{code}```\n"), 80, 24);
    stage.keys("<tab><c-home>");
    let asked = stage.effects.len();
    stage.draw();
    for effect in stage.effects.split_off(asked) {
        let Effect::Colour(jobs) = effect else { continue };
        let lines: usize = jobs.iter().map(|job| job.lines.len()).sum();
        assert!(lines < 24 + 110, "{lines} lines for a screen of 24 rows");
        let found = jobs.iter().map(|job| engine.run(job, Duration::from_mins(1))).collect();
        stage.tell(Msg::Coloured(found));
    }
    assert_eq!(colour(&mut stage, &mut engine), 0);
}

#[test]
fn what_is_too_long_or_of_no_language_stays_plain_and_asks_for_nothing_more() {
    let mut engine = Engine::load();
    let long: String = (0..2_100).map(|line| format!("x = {line}\n")).collect();
    let mut stage = said(&format!("```python\n{long}```\n"), 80, 24);
    assert_eq!(colour(&mut stage, &mut engine), 0, "the end is behind the bound");
    let mut stage = said("```klingon\nlet x = 1;\n```\n\n```\nlet x = 1;\n```\n", 80, 24);
    assert_eq!(colour(&mut stage, &mut engine), 1);
    stage.says("", "```klingon\nlet y = 2;\n");
    assert_eq!(colour(&mut stage, &mut engine), 0, "there is no such grammar");
    let mut stage = said(&format!("```json\n[{}]\n```\n", "1,".repeat(1_500)), 80, 60);
    assert_eq!(colour(&mut stage, &mut engine), 1);
    assert_eq!(style_of(&mut stage, "1,1,1").fg, Some(Color::Reset), "a line of data");
}

#[test]
fn code_in_quotes_and_lists_has_its_colours_too() {
    let mut engine = Engine::load();
    let mut stage = said("> ```sh\n> echo \"a\"\n> ```\n\n- item\n  ```py\n  def f(): pass\n  ```\n", 60, 24);
    colour(&mut stage, &mut engine);
    let syntax = stage.app.ui.theme.syntax.clone();
    assert_eq!(style_of(&mut stage, "\"a\"").fg, syntax.string.fg);
    assert_eq!(style_of(&mut stage, "def f").fg, syntax.keyword.fg);
}

/// Returns the classes of a text's words.
fn classes(engine: &mut Engine, label: &str, line: &str) -> Vec<(String, Class)> {
    let language = Language::of_label(label).unwrap();
    assert!(engine.knows(&language), "{label} has no grammar");
    let mut chain = Chain::new(language.clone());
    let lines = vec![(chain.push(line).unwrap(), line.to_owned())];
    let found = engine.run(&Job { language, resume: None, lines }, Duration::from_mins(1));
    let spans = &found.lines[0].1;
    spans.iter().map(|span| (line[span.start as usize..span.end as usize].to_owned(), span.class)).collect()
}

#[test]
fn the_languages_people_write_have_colours() {
    let mut engine = Engine::load();
    for (label, line, word, class) in [
        ("rust", "let x: u32 = 5;", "let", Class::Keyword),
        ("rs", "fn go() {}", "go", Class::Function),
        ("py", "def f(x): return 'a'", "'a'", Class::String),
        ("js", "const a = 12;", "12", Class::Number),
        ("json", "{\"a\": true}", "true", Class::Constant),
        ("jsonc", "{\"a\": \"b\"} // c", "// c", Class::Comment),
        ("yaml", "key: 12", "key", Class::Attribute),
        ("toml", "[table]", "table", Class::Type),
        ("console", "echo 'a' # b", "# b", Class::Comment),
        ("go", "func main() {}", "main", Class::Function),
        ("sql", "select 1", "select", Class::Keyword),
        ("diff", "+added", "+added", Class::Added),
        ("diff", "-gone", "-gone", Class::Removed),
    ] {
        let found = classes(&mut engine, label, line);
        assert!(found.iter().any(|(text, is)| text == word && *is == class), "{label}: {line}: {found:?}");
    }
}

#[test]
fn the_thread_answers_in_parts_and_ends_with_its_work() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let worker = Worker::new(move |found| sender.send(found).unwrap());
    let language = Language::of_label("rust").unwrap();
    let mut chain = Chain::new(language.clone());
    let mut lines: Vec<_> = (0..600)
        .map(|line| format!("let a{line} = foo(\"{line}\", {line});"))
        .map(|line| (chain.push(&line).unwrap(), line))
        .collect();
    let (all, mut resume, mut parts) = (lines.len(), None, 0);
    let mut known = 0;
    while !lines.is_empty() {
        worker.ask(vec![Job { language: language.clone(), resume, lines: lines.clone() }]);
        let found: Vec<Coloured> = receiver.recv_timeout(Duration::from_mins(1)).unwrap();
        known += found[0].lines.len();
        lines.drain(..found[0].lines.len());
        resume = found[0].resume.clone();
        parts += 1;
    }
    assert_eq!(known, all);
    assert!(parts > 1, "a long block is answered in parts");
}
