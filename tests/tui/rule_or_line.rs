//! A text behind `#`: it asks whether that is a rule, or a line of `AGENTS.md` besides.

use steersman_base::protocol::{Reply, Request, Update};
use steersman_base::steering::TextKind;
use steersman_tui::msg::Effect;
use steersman_tui::msg::Msg;

use crate::support::stage::Stage;

/// Types a text and Enter, and lets the question be seen for long enough.
fn asked(text: &str) -> Stage {
    let mut stage = Stage::new(100, 30);
    stage.turn("").keys(text);
    assert!(stage.screen().contains("→ asks: a rule, or a line for AGENTS.md"), "{}", stage.screen());
    stage.keys("<enter>").screen();
    stage.wait(400);
    stage
}

fn added(stage: &Stage) -> Vec<&str> {
    let lines = stage.effects.iter().filter_map(|effect| match effect {
        Effect::Request(Request::AddInstruction { line }) => Some(line.as_str()),
        _ => None,
    });
    lines.collect()
}

/// The rules that were sent.
fn rules(stage: &Stage) -> Vec<&str> {
    let sent = stage.effects.iter().filter_map(|effect| match effect {
        Effect::Request(Request::Inject { message, .. }) if message.kind == TextKind::Rule => {
            Some(message.text.as_str())
        }
        _ => None,
    });
    sent.collect()
}

#[test]
fn it_shows_the_line_and_the_file_before_anything_is_written() {
    let mut stage = asked("# always use tabs");
    let screen = stage.screen();
    for words in
        ["A rule, or a line for AGENTS.md?", "- always use tabs", "a rule of this session", "a line of AGENTS.md"]
    {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    insta::assert_snapshot!("a_rule_or_a_line_100x30", stage.picture());
    assert!(added(&stage).is_empty() && rules(&stage).is_empty());
}

#[test]
fn as_a_rule_it_writes_no_file() {
    let mut stage = asked("#always use tabs");
    stage.keys("1<enter>");
    assert_eq!((rules(&stage), added(&stage)), (vec!["always use tabs"], vec![]));
    assert!(stage.app.message.is_empty());
}

#[test]
fn as_a_line_it_is_a_rule_too_and_the_transcript_says_what_became_of_it() {
    let mut stage = asked("# always use tabs");
    stage.keys("2<enter>");
    assert_eq!((rules(&stage), added(&stage)), (vec!["always use tabs"], vec!["- always use tabs"]));
    let line = "- always use tabs".to_owned();
    stage.tell(Msg::Update(Update::Reply(Reply::InstructionAdded { line, outcome: Ok(()) })));
    stage.wait(60_000);
    assert!(stage.screen().contains("AGENTS.md has a new line: - always use tabs"), "{}", stage.screen());
    let line = "- always use tabs".to_owned();
    stage.tell(Msg::Update(Update::Reply(Reply::InstructionAdded { line, outcome: Err("it is a link".to_owned()) })));
    assert!(stage.screen().contains("it is a link"), "{}", stage.screen());
}

#[test]
fn esc_brings_the_text_back_and_then_it_is_sent_as_it_stands() {
    let mut stage = asked("# always use tabs");
    stage.keys("<esc>");
    assert_eq!(stage.app.message.text(), "# always use tabs");
    stage.keys("<enter>");
    assert!(stage.app.questions.is_empty() && rules(&stage).is_empty() && added(&stage).is_empty());
    let sent = |effect: &Effect| matches!(effect, Effect::Request(Request::Inject { message, .. }) if message.text == "# always use tabs");
    assert!(stage.effects.iter().any(sent), "{:?}", stage.effects);
}

#[test]
fn a_paste_a_second_level_heading_and_more_than_one_line_are_texts() {
    let mut stage = Stage::new(100, 30);
    stage.turn("");
    for text in ["## Heading", "# Title<c-j>text", "#", "a<bs>#<bs>x"] {
        stage.keys(text).keys("<enter>");
        assert!(stage.app.questions.is_empty(), "{text}");
    }
    stage.keys("<c-u>#<bs>").paste("# always use tabs").keys("<enter>");
    assert!(stage.app.questions.is_empty());
}

#[test]
fn what_comes_at_once_without_the_marks_of_a_paste_was_typed() {
    for text in ["# always use tabs", "#always use tabs"] {
        let mut stage = Stage::new(100, 30);
        stage.tell(Msg::Typed(text.to_owned(), stage.app.ui.now)).keys("<enter>");
        assert_eq!(stage.app.questions.len(), 1, "{text}");
        assert!(stage.sent().is_empty());
    }
    let mut stage = Stage::new(100, 30);
    stage.tell(Msg::Typed("# Title\ntext".to_owned(), stage.app.ui.now)).keys("<enter>");
    assert!(stage.app.questions.is_empty());
}

#[test]
fn the_words_of_a_question_are_broken_at_blanks_at_every_width() {
    for width in [40, 60, 80] {
        let mut stage = Stage::new(width, 30);
        let screen = stage.keys("# always use tabs<enter>").screen();
        for word in ["session.", "project,", "AGENTS.md", "sessions"] {
            assert!(screen.contains(word), "{width}: {word}\n{screen}");
        }
    }
}
