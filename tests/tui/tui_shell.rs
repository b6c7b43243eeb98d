//! The screen around the transcript: what each key does, what each pane shows, at any size.

use proptest::prelude::*;
use steersman_base::error::StartError;
use steersman_base::event::{Delivery, Event, Outcome, Usage};
use steersman_base::protocol::{Notice, Request};
use steersman_session::model::PendingStage as Where;
use steersman_tui::msg::{Effect, Msg};
use steersman_tui::state::Pane;
use steersman_tui::status::ModelSource;

use crate::support::stage::Stage;

/// A turn with two sub-agents, a pending text and a follow-up.
pub fn scene(width: u16, height: u16) -> Stage {
    let mut stage = Stage::new(width, height);
    stage.event(
        "",
        Event::SessionStarted {
            schema: 1,
            program: "steersman 0.1.0".to_owned(),
            cwd: "/work".to_owned(),
            provider: "openai".to_owned(),
            model: Some("qwen3-35b".to_owned()),
            max_steps: Some(60),
            tools: vec!["read".to_owned()],
        },
    );
    stage.event("", Event::ContextCap { tokens: Some(32_000) });
    stage.keys("Look at this project<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false);
    stage.wait(2_000).says("", "I will delegate this to two file miners.");
    stage.tokens("", 2_100, 180).call("", "c1", "agent").call("", "c2", "agent");
    stage.spawn("", "file_miner 0").spawn("", "file_miner 1");
    stage.turn("file_miner 0").turn("file_miner 1").wait(1_000);
    stage.call("file_miner 0", "x1", "grep").tokens("file_miner 0", 900, 50);
    stage.says("file_miner 1", "The sources are in src.").wait(3_000);
    stage.keys("focus on the tests<enter>").keys("then write a summary<tab>").keys("and a draft");
    stage
}

fn texts(stage: &Stage) -> Vec<(String, Where)> {
    stage.app.ui.run.pending.entries().iter().map(|entry| (entry.message.text.clone(), entry.stage)).collect()
}

fn steer(text: &str) -> (String, Delivery) {
    (text.to_owned(), Delivery::Steer)
}

#[test]
fn two_lines_in_one_read_are_two_messages() {
    let mut stage = Stage::new(80, 24);
    stage.keys("text<enter>text<enter>");
    assert_eq!(stage.sent(), [steer("text"), steer("text")]);
    assert_eq!(texts(&stage), [("text".to_owned(), Where::Waiting), ("text".to_owned(), Where::Waiting)]);
    assert!(stage.app.message.is_empty());
}

#[test]
fn a_paste_never_sends_and_its_line_ends_are_lines() {
    let mut stage = Stage::new(80, 24);
    stage.paste("one\rtwo\r\nthree\n");
    assert_eq!(stage.sent(), []);
    assert_eq!(stage.app.message.text(), "one\ntwo\nthree\n");
    stage.keys("<enter>");
    assert_eq!(stage.sent(), [steer("one\ntwo\nthree\n")]);
}

#[test]
fn many_characters_at_once_are_typed_where_keys_would_go() {
    let mut stage = scene(120, 36);
    let now = stage.app.ui.now;
    stage.tell(Msg::Typed(" with more".to_owned(), now));
    assert_eq!(stage.app.message.text(), "and a draft with more");
    stage.keys("<f3>").tell(Msg::Typed("z, then".to_owned(), now));
    assert_eq!(stage.app.message.text(), "and a draft with morez, then");
    assert_eq!(stage.app.focus.pane, Pane::Composer);
}

#[test]
fn the_three_newline_keys_insert_one() {
    let mut stage = Stage::new(80, 24);
    stage.keys("a<c-j>b<a-enter>c<s-enter>d");
    assert_eq!(stage.app.message.text(), "a\nb\nc\nd");
    assert_eq!(stage.sent(), []);
}

#[test]
fn tab_sends_a_follow_up_while_a_turn_runs_and_nothing_otherwise() {
    let mut stage = Stage::new(80, 24);
    stage.keys("<tab>");
    assert_eq!(stage.effects, []);
    stage.keys("one<tab>");
    assert_eq!(stage.app.message.text(), "one", "half typed, and nothing runs that it could follow");
    stage.keys("<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false).keys("two<tab>");
    assert_eq!(stage.sent(), [steer("one"), ("two".to_owned(), Delivery::FollowUp)]);
    assert!(stage.screen().contains("→ after this turn"));
}

#[test]
fn a_refused_message_stays_and_the_reason_is_shown() {
    let mut stage = Stage::new(80, 24);
    stage.keys("   <enter>");
    assert_eq!(stage.app.message.text(), "   ");
    assert!(stage.screen().contains("not sent: the message is blank"));
    stage.wait(10_000);
    assert!(!stage.screen().contains("not sent"));
}

#[test]
fn escape_closes_help_then_leaves_the_pane_then_stops() {
    let mut stage = scene(120, 36);
    stage.keys("<f3><f1>");
    assert!(stage.screen().contains("Help: type to filter"));
    stage.keys("<esc>");
    assert!(!stage.screen().contains("Help: type to filter"));
    assert_eq!(stage.app.focus.pane, Pane::Tree);
    stage.keys("<esc>");
    assert_eq!(stage.app.focus.pane, Pane::Composer);
    assert!(!stage.effects.contains(&Effect::Request(Request::Stop)));
    // With sub-agents at work the first says what the next stops.
    stage.wait(350).keys("<esc><esc>");
    assert_eq!(stage.effects.last(), Some(&Effect::Request(Request::Stop)));
    assert!(stage.handle.cancellable().is_cancelled());
}

#[test]
fn escape_brings_pending_texts_back_in_order_before_the_draft() {
    let mut stage = scene(120, 36);
    stage.keys("<esc><esc>");
    assert_eq!(stage.app.message.text(), "focus on the tests\n\nthen write a summary\n\nand a draft");
    assert!(stage.app.ui.run.pending.is_empty());
    assert!(stage.screen().contains("stopping"));
    stage.event("", Event::Cancelled {}).turn_ended("", Outcome::Cancelled, None);
    let screen = stage.screen();
    assert!(screen.contains("idle, last turn cancelled"), "{screen}");
    assert!(!screen.contains("running agent"), "{screen}");
    assert_eq!(stage.app.ui.run.agents.running(), 0);
}

#[test]
fn escape_with_nothing_running_does_nothing() {
    let mut stage = Stage::new(80, 24);
    stage.keys("draft<esc>");
    assert_eq!(stage.effects, []);
    assert_eq!(stage.app.message.text(), "draft");
}

#[test]
fn escape_right_after_enter_takes_the_text_back() {
    let mut stage = Stage::new(80, 24);
    stage.keys("too early<enter><esc>");
    assert_eq!(stage.app.message.text(), "too early");
    assert!(stage.app.ui.run.pending.is_empty());
}

#[test]
fn an_escape_and_a_letter_that_were_read_together_are_an_alt_key_and_stop_nothing() {
    let mut stage = scene(120, 36);
    stage.keys("<a-x>");
    assert!(!stage.effects.contains(&Effect::Request(Request::Stop)));
    assert!(stage.app.message.text().ends_with("and a draft"));
}

#[test]
fn control_c_clears_and_undo_brings_it_back() {
    let mut stage = scene(120, 36);
    stage.keys("<c-c>");
    assert!(stage.app.message.is_empty());
    assert!(!stage.effects.contains(&Effect::Request(Request::Stop)));
    assert!(!stage.handle.cancellable().is_cancelled());
    stage.keys("<c-_>");
    assert_eq!(stage.app.message.text(), "and a draft");
}

#[test]
fn control_c_twice_within_a_second_quits() {
    let mut stage = Stage::new(80, 24);
    stage.keys("<c-c>").wait(1_500).keys("<c-c>");
    assert_eq!(stage.effects, []);
    assert!(stage.screen().contains("Ctrl+C again quits"));
    stage.wait(900).keys("<c-c>");
    assert_eq!(stage.effects, [Effect::Quit]);
}

#[test]
fn control_d_quits_on_an_empty_composer_only() {
    let mut stage = Stage::new(80, 24);
    stage.keys("ab<left><c-d>");
    assert_eq!((stage.app.message.text().as_str(), stage.effects.len()), ("a", 0));
    stage.keys("<bs><c-d>");
    assert_eq!(stage.effects, [Effect::Quit]);
}

#[test]
fn alt_up_takes_the_newest_text_back_before_the_draft() {
    let mut stage = scene(120, 36);
    stage.keys("<a-up>");
    assert_eq!(stage.app.message.text(), "then write a summary\n\nand a draft");
    assert_eq!(texts(&stage).len(), 1);
    stage.keys("<a-up>");
    assert_eq!(stage.app.message.text(), "focus on the tests\n\nthen write a summary\n\nand a draft");
    stage.keys("<a-up>");
    assert!(stage.screen().contains("nothing is pending"));
}

#[test]
fn a_text_shows_as_being_delivered_from_the_drain_to_its_event() {
    let mut stage = scene(120, 36);
    let taken = stage.drain();
    assert_eq!(
        texts(&stage),
        [("focus on the tests".to_owned(), Where::Delivering), ("then write a summary".to_owned(), Where::Waiting)]
    );
    assert!(stage.screen().contains("→ being delivered"));
    stage.deliver(&taken, true);
    assert_eq!(texts(&stage), [("then write a summary".to_owned(), Where::Waiting)]);
}

#[test]
fn each_pending_text_says_when_it_will_be_delivered() {
    let mut stage = Stage::new(120, 36);
    stage.keys("start<enter>");
    assert!(stage.screen().contains("→ starts a turn"));
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false).keys("more<enter>");
    assert!(stage.screen().contains("→ at the next tool boundary"));
    stage.says("", "Let me see.");
    assert!(stage.screen().contains("→ after this answer, sooner if it calls a tool"));
    stage.call("", "c1", "agent").call("", "c2", "grep").wait(3_000);
    assert!(stage.screen().contains("→ after agent (running 0:03) and 1 more"));
    stage.event("", Event::FallbackNotice { reason: "agent exhausted 3 steps".to_owned() });
    assert!(stage.screen().contains("→ next turn (final answer is being written)"));
}

#[test]
fn before_the_agent_is_built_texts_wait_for_it() {
    let mut stage = Stage::new(120, 36);
    stage.app.status.host = steersman_tui::status::HostState::Starting;
    stage.keys("hello<enter>");
    let screen = stage.screen();
    assert!(screen.contains("→ as soon as the agent is ready") && screen.contains("○ starting"), "{screen}");
    stage.tell(Msg::from(Notice::BuildFailed(StartError::Failed("the key file is missing".to_owned()))));
    assert!(stage.screen().contains("✗ cannot run: the key file is missing"));
}

// D5
#[test]
fn without_an_agent_what_was_sent_comes_back_and_enter_is_refused_with_the_reason() {
    let mut stage = Stage::new(120, 36);
    stage.keys("hello<enter>");
    let returned = stage.handle.interloper().close();
    assert_eq!(returned.len(), 1);
    stage
        .tell(Msg::from(Notice::Returned(returned)))
        .tell(Msg::from(Notice::BuildFailed(StartError::Failed("the key file is missing".to_owned()))));
    assert_eq!(stage.app.message.text(), "hello");
    stage.keys(" again<enter>");
    assert_eq!(stage.app.message.text(), "hello again", "it stays with the user");
    assert!(stage.app.ui.run.pending.is_empty());
    assert!(stage.screen().contains("not sent: the key file is missing"), "{}", stage.screen());
}

#[test]
fn after_a_failed_turn_enter_in_the_empty_composer_sends_what_waits() {
    let mut stage = Stage::new(120, 36);
    stage.keys("start<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false).keys("more<enter>");
    stage.pause().turn_ended("", Outcome::Failed, Some("HTTP 500 from the server"));
    let screen = stage.screen();
    assert!(screen.contains("✗ last turn: HTTP 500 from the server"), "{screen}");
    assert!(screen.contains("→ waits: the last turn failed; Enter sends"), "{screen}");
    stage.keys("<enter>");
    assert_eq!(stage.effects.last(), Some(&Effect::Request(Request::Resume)));
    assert!(stage.handle.interloper().deliverable());
}

#[test]
fn readline_keys_edit_the_message() {
    let mut stage = Stage::new(80, 24);
    stage.keys("one two three<c-w>");
    assert_eq!(stage.app.message.text(), "one two ");
    stage.keys("<c-a><a-d>");
    assert_eq!(stage.app.message.text(), " two ");
    stage.keys("<end>x<c-u>");
    assert_eq!(stage.app.message.text(), "");
    stage.keys("a b<home><c-k>");
    assert_eq!(stage.app.message.text(), "");
    stage.keys("<c-y>");
    assert_eq!(stage.app.message.text(), "a b");
    stage.keys("<a-b>c");
    assert_eq!(stage.app.message.text(), "a cb");
}

#[test]
fn a_letter_typed_in_another_pane_goes_to_the_message() {
    let mut stage = scene(120, 36);
    stage.keys("<f3>y");
    assert_eq!(stage.app.focus.pane, Pane::Composer);
    assert_eq!(stage.app.message.text(), "and a drafty");
    stage.keys("<c-o>").paste(" and more");
    assert_eq!(stage.app.message.text(), "and a drafty and more");
    stage.keys("<f4>y");
    assert_eq!(stage.app.message.text(), "and a drafty and morey");
    assert!(stage.app.focus.overlays.is_empty());
}

#[test]
fn a_question_mark_is_help_outside_the_composer_and_text_inside() {
    let mut stage = Stage::new(120, 36);
    stage.keys("why?");
    assert_eq!(stage.app.message.text(), "why?");
    stage.keys("<f3>?");
    assert!(stage.screen().contains("Help: type to filter"));
    stage.keys("<f1>");
    assert!(!stage.screen().contains("Help: type to filter"));
}

#[test]
fn the_composer_grows_to_a_third_of_the_screen() {
    let mut stage = Stage::new(80, 24);
    stage.keys(&"line<c-j>".repeat(30));
    let screen = stage.screen();
    assert_eq!(screen.lines().filter(|row| row.trim_start_matches("› ").trim() == "line").count(), 7, "{screen}");
}

#[test]
fn a_model_of_the_users_own_is_named_and_the_embedded_one_says_how_to_replace_it() {
    let mut stage = Stage::new(120, 36);
    stage.app.status.source = ModelSource::Embedded;
    stage.app.status.label = "embedded model".to_owned();
    for (width, height) in [(120, 36), (80, 24), (56, 20), (48, 12), (40, 12)] {
        let screen = stage.resize(width, height).screen();
        let text = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("The embedded model answers; F1 says how to connect a real one."), "{screen}");
        assert!(screen.lines().last().unwrap().contains("embedded model"), "{screen}");
    }
    assert!(stage.keys("<f1>connect").screen().contains("base-url"), "{}", stage.screen());
}

#[test]
fn the_clock_ticks_only_while_something_runs() {
    let mut stage = Stage::new(80, 24);
    assert_eq!(stage.app.changes_at(), None);
    stage.turn("");
    assert!(stage.app.changes_at().is_some());
    stage.turn_ended("", Outcome::Completed, None);
    assert_eq!(stage.app.changes_at(), None);
}

#[test]
fn hostile_names_and_reasons_are_shown_not_obeyed() {
    let mut stage = Stage::new(120, 36);
    stage.turn("").call("", "c1", "gr\u{1b}[2Jep\u{202e}\r\n");
    stage.spawn("", "mi\u{1b}]0;title\u{7}ner");
    stage.keys("a<enter>");
    let screen = stage.screen();
    assert!(screen.contains("gr␛[2Jep<U+202E>"), "{screen}");
    stage.turn_ended("", Outcome::Failed, Some("bad\u{9b}31m\u{1b}[31m thing"));
    stage.tell(Msg::from(Notice::Info("note\u{1b}c".to_owned())));
    let screen = stage.screen();
    assert!(!screen.chars().any(|c| c.is_control() && c != '\n'), "{screen:?}");
    assert!(screen.contains("note␛c"), "{screen}");
}

#[test]
fn the_answer_of_a_rescue_is_shown_to_the_one_who_asked() {
    let mut stage = Stage::new(120, 36);
    stage.turn("").event("", Event::FallbackNotice { reason: "agent exhausted 3 steps".to_owned() });
    stage.spawn("", "synthesizer").turn("synthesizer").says("synthesizer", "From the evidence: 42.");
    let answer = Event::Assistant { text: "From the evidence: 42.".to_owned(), interrupted: false };
    stage.event("synthesizer", answer);
    let screen = stage.screen();
    assert_eq!(screen.matches("From the evidence: 42.").count(), 1, "{screen}");
    assert!(screen.contains("synthesizer"), "{screen}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_size_and_no_key_breaks_the_screen(
        sizes in prop::collection::vec((0u16..300, 0u16..120), 1..6),
        keys in prop::collection::vec(prop::sample::select(vec![
            "<f3>", "<c-o>", "<f1>", "<up>", "<down>", "<pgup>", "<pgdn>", "<esc>", "<enter>", "<tab>", "x", "日", "<c-j>",
            "<a-o>", "<home>", "<end>", "<c-w>", "<bs>", "<a-up>", "<c-_>", " ", "<c-home>",
        ]), 0..20),
    ) {
        let mut stage = scene(80, 24);
        for (width, height) in sizes {
            stage.resize(width, height);
            stage.screen();
            for key in &keys {
                stage.keys(key);
            }
            stage.screen();
        }
    }
}

#[test]
fn the_oddest_sizes_do_not_break_it() {
    for (width, height) in [(0, 0), (1, 1), (2, 1), (1, 200), (u16::MAX, 1), (1, u16::MAX), (3, 3), (20, 2)] {
        scene(width, height).screen();
    }
}

#[test]
fn the_whole_screen_at_four_sizes() {
    for (width, height) in [(120, 36), (80, 24), (40, 12), (20, 5)] {
        insta::assert_snapshot!(format!("scene_{width}x{height}"), scene(width, height).picture());
    }
    let mut tree = scene(40, 12);
    insta::assert_snapshot!("tree_focus_40x12", tree.keys("<f3><down>").picture());
}

fn session(model: Option<&str>) -> Event {
    Event::SessionStarted {
        schema: 1,
        program: "steersman".to_owned(),
        cwd: "/work".to_owned(),
        provider: "openai".to_owned(),
        model: model.map(str::to_owned),
        max_steps: Some(60),
        tools: Vec::new(),
    }
}

#[test]
fn the_model_has_one_name_at_the_bottom_and_in_lines() {
    // Configured as a server only.
    let mut stage = Stage::new(100, 20);
    stage.event("", session(Some("qwen3")));
    let screen = stage.screen();
    let last = screen.lines().last().unwrap().trim();
    assert!(last.starts_with("qwen3 ") && !last.contains("openai"), "{screen}");
    // Configured as a model, of which the server knows the exact one.
    let mut stage = Stage::new(100, 20);
    stage.app.status.label = "gpt-5".to_owned();
    stage.event("", session(Some("gpt-5-2026-01-01")));
    let screen = stage.screen();
    let last = screen.lines().last().unwrap().trim();
    assert!(last.starts_with("gpt-5 ") && !last.contains("2026"), "{screen}");
    // The server answers with another one than was chosen: both are said, the chosen one first.
    let mut stage = Stage::new(100, 20);
    stage.app.status.label = "auto".to_owned();
    stage.event("", session(Some("auto")));
    stage.event("", Event::Tokens(Usage { model: Some("llama-3".to_owned()), ..Usage::default() }));
    let screen = stage.screen();
    assert!(screen.lines().last().unwrap().trim().starts_with("auto, answered by llama-3"), "{screen}");
    let mut stage = Stage::in_lines();
    stage.written();
    stage.event("", session(Some("qwen3")));
    assert_eq!(stage.written(), "model: qwen3");
    stage.turn("");
    assert_eq!(stage.written(), "");
}

#[test]
fn a_session_that_is_over_is_not_ready_again() {
    let mut stage = Stage::new(80, 24);
    stage.tell(Msg::from(Notice::Over("the session has ended".to_owned()))).tell(Msg::from(Notice::Ready));
    assert!(stage.screen().contains("cannot run: the session has ended"), "{}", stage.screen());
}
