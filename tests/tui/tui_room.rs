//! What the screen says where there is much room and where there is little, and what it leaves out first.

use steersman_base::error::StartError;
use steersman_base::event::{Event, Outcome};
use steersman_base::protocol::Notice;
use steersman_tui::msg::Msg;
use steersman_tui::status::ModelSource;

use crate::support::stage::Stage;

/// A running turn with so many sub-agents.
fn crew(width: u16, height: u16, children: usize) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.keys("go<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false);
    for number in 0..children {
        stage.call("", &format!("c{}", number + 1), "agent").spawn("", &format!("file_miner {number}"));
    }
    stage
}

fn row_of(screen: &str, part: &str) -> String {
    let row = screen.lines().find(|row| row.contains(part));
    row.unwrap_or_else(|| panic!("no row has {part:?}:\n{screen}")).to_owned()
}

#[test]
fn one_agent_alone_takes_one_row_and_a_crew_a_column() {
    let mut stage = crew(120, 36, 0);
    let screen = stage.screen();
    assert!(screen.starts_with("main · turn 0:00\n› go"), "what it does stands in the status line: {screen}");
    assert!(row_of(&screen, "› go").starts_with("› go"), "{screen}");
    stage.call("", "c1", "agent").spawn("", "file_miner 0");
    assert!(stage.screen().contains("  Agents"));
}

#[test]
fn one_agent_alone_has_a_column_while_the_user_is_in_the_tree() {
    let mut stage = crew(120, 36, 0);
    stage.keys("<f3>");
    assert!(stage.screen().contains("▸ Agents"));
}

#[test]
fn agents_without_a_row_are_counted() {
    let mut stage = crew(80, 24, 6);
    stage.turn("file_miner 5").turn_ended("file_miner 5", Outcome::Completed, None);
    let screen = stage.screen();
    assert!(screen.contains("… 3 more rows, 2 running"), "{screen}");
    stage.keys("<f3><end>");
    let screen = stage.screen();
    assert!(screen.contains("file_miner 5"), "the selected agent is always in view\n{screen}");
}

#[test]
fn the_context_share_is_in_words_and_never_zero_for_something() {
    let mut stage = crew(120, 36, 0);
    stage.event("", Event::ContextCap { tokens: Some(131_072) });
    assert!(stage.screen().contains("context window 131k"));
    stage.tokens("", 900, 100);
    assert!(stage.screen().contains("context 1.0k of 131k, <1 %"));
    stage.tokens("", 30_000, 0);
    assert!(stage.screen().contains("context 30.0k of 131k, 22 %"));
}

#[test]
fn a_step_beyond_the_budget_is_not_counted() {
    let mut stage = crew(120, 36, 1);
    for step in 0..31 {
        stage.call("file_miner 0", &format!("x{step}"), ["grep", "read"][step % 2]);
    }
    assert!(stage.screen().contains("! 30/30 steps"));
}

#[test]
fn a_narrow_screen_keeps_the_keys_that_matter() {
    let mut stage = Stage::new(40, 12);
    assert!(stage.screen().contains("── → starts a turn ────────── F1 help ──"), "{}", stage.screen());
    assert!(stage.screen().contains("› Type a message. Enter sends it"));
    assert!(stage.resize(20, 5).screen().contains("› Type a message"));
    assert!(!stage.screen().contains("Type a message."), "no sentence is cut");
    let mut stage = crew(40, 12, 0);
    assert!(stage.screen().contains("── → main, next boundary ─ Esc: stops ──"));
}

#[test]
fn a_forecast_that_does_not_fit_becomes_a_short_one() {
    let mut stage = crew(40, 12, 1);
    stage.keys("a first text of some length<enter>then a second<tab>");
    let screen = stage.screen();
    assert!(
        row_of(&screen, "⋯ m2 a first").ends_with("→ now: the sub-agent goes on")
            || row_of(&screen, "⋯ m2 a first").ends_with("→ now"),
        "{screen}"
    );
    assert!(row_of(&screen, "↳ m3 then").ends_with("→ after this turn"), "{screen}");
    let screen = stage.resize(20, 5).screen();
    assert!(screen.contains("+ 2 pending"), "{screen}");
    assert!(!screen.contains("pending → after this"), "{screen}");
}

#[test]
fn what_is_below_is_told_once() {
    let mut stage = crew(120, 36, 0);
    stage.says("", &"line\n\n".repeat(60)).screen();
    stage.keys("<pgup>");
    let screen = stage.screen();
    assert_eq!(screen.matches('↓').count(), 1, "{screen}");
    stage.resize(20, 5).screen();
    stage.keys("<pgup>");
    let screen = stage.screen();
    assert_eq!(screen.matches('↓').count(), 1, "{screen}");
}

#[test]
fn why_nothing_can_run_is_told_in_full() {
    let reason = "cannot reach 127.0.0.1:1: tcp connect error: Connection refused; name a model with --model NAME";
    let mut stage = Stage::new(80, 24);
    stage.tell(Msg::from(Notice::BuildFailed(StartError::Failed(reason.to_owned()))));
    let screen = stage.screen();
    assert!(screen.contains("✗ cannot run: cannot reach") && screen.contains("with --model NAME"), "{screen}");
    assert!(screen.contains("Ctrl+D quits"), "{screen}");
    assert!(!screen.contains("Enter sends ·"), "nothing can be sent\n{screen}");
}

#[test]
fn a_reason_is_not_cut_to_make_room_for_figures() {
    let reason = "cannot reach 127.0.0.1:18431: Connection refused (tried 4 times)";
    let mut stage = crew(80, 24, 0);
    stage.event("", Event::ContextCap { tokens: Some(131_072) }).tokens("", 20_000, 400);
    stage.turn_ended("", Outcome::Failed, Some(reason));
    let screen = stage.screen();
    assert!(screen.lines().rev().nth(1).is_some_and(|row| row.contains(reason)), "{screen}");
}

#[test]
fn an_empty_transcript_says_what_to_do_here() {
    for (width, height) in [(120, 36), (80, 24), (40, 12)] {
        let mut stage = Stage::new(width, height);
        stage.app.status.source = ModelSource::Embedded;
        assert!(stage.screen().contains("Ask for work on the files of this"), "{width}x{height}");
    }
    Stage::new(20, 5).screen();
}

#[test]
fn what_the_program_says_at_the_start_leaves_the_words_of_an_empty_transcript() {
    let mut stage = Stage::new(120, 36);
    stage.event("", Event::Notice { text: "in the system prompt: AGENTS.md".to_owned() });
    let screen = stage.screen();
    let at = |words: &str| screen.find(words).unwrap_or_else(|| panic!("{words} in\n{screen}"));
    assert!(at("in the system prompt") < at("Ask for work on the files of this"));
    stage.keys("hello<enter>");
    let taken = stage.take_turn();
    assert!(!stage.turn("").deliver(&taken, false).screen().contains("Ask for work on the files of this"));
}

#[test]
fn a_message_of_the_status_line_goes_when_a_text_is_sent() {
    let mut stage = Stage::new(80, 24);
    stage.paste(&"x".repeat(3_000_000)).keys("hello");
    assert!(stage.screen().contains("not pasted: a message has at most"));
    stage.keys("<enter>");
    assert!(!stage.screen().contains("not pasted: a message has at most"));
}

#[test]
fn the_whole_screen_before_the_first_turn() {
    for (width, height) in [(120, 36), (40, 12)] {
        let mut stage = Stage::new(width, height);
        stage.app.status.source = ModelSource::Embedded;
        insta::assert_snapshot!(format!("empty_{width}x{height}"), stage.screen());
    }
}

#[test]
fn list_panel_question_and_completion_together_leave_the_message_in_view() {
    for (width, height) in [(34, 10), (20, 5), (12, 3), (1, 1)] {
        let mut stage = crew(80, 24, 1);
        stage.keys("one<enter>two<enter><a-h><f9>");
        let call = steersman_base::message::Arguments::parse(r#"{"command": "rm -r target", "why": "space"}"#);
        let call = steersman_base::message::ToolCall { id: "c9".into(), name: "bash".to_owned(), arguments: call };
        stage.event("", Event::Paused { call: Some(call) });
        for keys in ["", "/", "<esc><f2>", "<esc><f3>", "/x", "<esc><esc><f11>", "e", "<esc><f4>", "<esc><f1>"] {
            stage.keys(keys).resize(width, height);
            let screen = stage.screen();
            let is_covered = !stage.app.focus.overlays.is_empty();
            assert!(width < 12 || is_covered || screen.contains('›'), "{width}x{height} after {keys:?}:\n{screen}");
        }
    }
}

#[test]
fn a_question_without_room_is_announced() {
    let mut stage = crew(20, 5, 0);
    stage.keys("<f9>");
    assert!(stage.screen().contains("? asks: enlarge"), "{}", stage.screen());
    assert!(stage.resize(24, 5).screen().contains("? enlarge to answer"), "{}", stage.screen());
    assert!(!stage.resize(80, 24).screen().contains("a question waits"));
    // More room is of no use there.
    stage.keys("<f1>");
    assert!(stage.screen().contains("? a question waits: F1 closes help"), "{}", stage.screen());
    assert!(!stage.keys("<esc>").screen().contains("a question waits"));
}

#[test]
fn a_tree_of_one_row_shows_one_text_there() {
    let mut stage = crew(20, 3, 2);
    stage.keys("one<enter><f3>");
    let screen = stage.screen();
    assert_eq!(screen.lines().next(), Some("›● main agent ×2"), "{screen}");
}

#[test]
fn the_idle_screen_says_what_can_be_done_and_each_fact_once() {
    for (width, height) in [(160, 40), (120, 36), (80, 24)] {
        let mut stage = Stage::new(width, height);
        stage.app.status.source = ModelSource::Embedded;
        stage.app.status.label = "embedded model".to_owned();
        (stage.app.ui.place, stage.app.ui.branch) = ("project".to_owned(), "topic/one".to_owned());
        let sandbox =
            Event::Guards { mode: "ask".to_owned(), sandbox: Some("landlock".to_owned()), context_files: Vec::new() };
        stage.event("", sandbox).event("", Event::ContextCap { tokens: Some(32_000) });
        let screen = stage.screen();
        for words in
            ["/ commands · @ files · Shift+Tab mode", "F1 help", concat!("Steersman ", env!("CARGO_PKG_VERSION"))]
        {
            assert_eq!(screen.matches(words).count(), 1, "{words}\n{screen}");
        }
        let last = screen.lines().last().unwrap();
        assert!(last.starts_with(" project · topic/one · embedded model"), "{last}");
        assert!(last.ends_with("asks before changes · sandboxed"), "{last}");
        for words in ["nothing to stop", "steps", "landlock", "Details"] {
            assert!(!screen.contains(words), "{words}\n{screen}");
        }
        assert_eq!(screen.matches("idle").count(), 1, "{screen}");
    }
}

#[test]
fn the_bottom_row_gives_up_the_branch_and_the_directory_before_model_and_context() {
    let mut stage = crew(120, 36, 0);
    (stage.app.ui.place, stage.app.ui.branch) = ("project".to_owned(), "topic/one".to_owned());
    stage.event("", Event::ContextCap { tokens: Some(131_072) }).tokens("", 40_000, 2_000);
    let last = |stage: &mut Stage| stage.screen().lines().last().unwrap().to_owned();
    assert!(
        last(&mut stage).starts_with(" project · topic/one · openai · context 42.0k of 131k, 32 %"),
        "{}",
        last(&mut stage)
    );
    stage.resize(76, 24);
    assert!(last(&mut stage).starts_with(" project · topic/one · openai · context 32 %"), "{}", last(&mut stage));
    stage.resize(64, 24);
    assert!(last(&mut stage).starts_with(" project · openai · context 32 %"), "{}", last(&mut stage));
}

#[test]
fn a_branch_is_shown_as_one_safe_line() {
    let mut stage = crew(120, 36, 0);
    stage.tell(Msg::Branch("ma\u{1b}[2Jin\u{202e}\nx".to_owned()));
    let screen = stage.screen();
    assert!(screen.contains("ma␛[2Jin<U+202E> x") && !screen.contains('\u{1b}'), "{screen}");
}

#[test]
fn a_sentence_without_room_beside_the_mode_is_told_whole_over_both_rows() {
    let sentence = "nothing was sent to the agent: the model takes no images; remove the image, or choose another";
    for width in [60, 80] {
        let mut stage = Stage::new(width, 24);
        stage.app.status.say(sentence, stage.app.ui.now);
        let screen = stage.screen();
        for word in sentence.split(' ').filter(|_| width == 80) {
            assert!(screen.contains(word), "{width}: {word}\n{screen}");
        }
        assert!(screen.contains("nothing was sent to the agent:"), "{screen}");
        stage.wait(60_000);
        assert!(stage.screen().contains("· idle"), "{}", stage.screen());
    }
}
