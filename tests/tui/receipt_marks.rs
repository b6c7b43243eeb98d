//! The receipt beneath each text of the user: it says what is true, and nothing before it is.

use steersman_base::event::{Event, Outcome, Pending};
use steersman_session::model::ReceiptState;

use crate::support::stage::Stage;

/// A running turn; its first text was not seen yet.
fn running(width: u16, height: u16) -> (Stage, Vec<Pending>) {
    let mut stage = Stage::new(width, height);
    stage.keys("go<enter>");
    let taken = stage.take_turn();
    stage.turn("").deliver(&taken, false);
    (stage, taken)
}

/// A turn with a text that came in behind the third call.
fn steered(width: u16, height: u16) -> (Stage, Vec<Pending>) {
    let (mut stage, first) = running(width, height);
    stage.seen("", &first, 0);
    for call in ["c1", "c2", "c3"] {
        stage.call("", call, "grep").result("", call, "found");
    }
    stage.keys("look at the tests too<enter>").wait(12_000);
    let taken = stage.drain();
    stage.deliver_after("", &taken, 3, "grep");
    (stage, taken)
}

fn rows_below(screen: &str, text: &str) -> String {
    let mut rows = screen.lines().skip_while(|row| !row.contains(text)).skip(1);
    rows.next().unwrap_or_else(|| panic!("nothing is below {text:?}:\n{screen}")).trim().to_owned()
}

#[test]
fn a_text_is_delivered_and_then_seen_with_the_steps_and_the_tool() {
    let (mut stage, taken) = steered(120, 40);
    assert_eq!(rows_below(&stage.screen(), "tests too"), "✓ delivered after grep at step 3 · waited 0:12");
    stage.says("", "Yes.");
    assert!(!stage.screen().contains("✓✓ seen at"), "words of the model alone prove nothing");
    stage.seen("", &taken, 3);
    assert_eq!(rows_below(&stage.screen(), "tests too"), "✓✓ seen at step 3 · delivered after grep · waited 0:12");
}

#[test]
fn a_text_that_starts_a_turn_says_which() {
    let (mut stage, taken) = running(120, 40);
    assert_eq!(rows_below(&stage.screen(), "› go"), "✓ delivered, started turn 1");
    stage.seen("", &taken, 0);
    assert_eq!(rows_below(&stage.screen(), "› go"), "✓✓ seen · started turn 1");
}

#[test]
fn a_text_that_came_before_the_first_call_of_a_whole_reply_did_not_cut_the_answer() {
    let (mut stage, first) = running(120, 40);
    stage.seen("", &first, 0).tokens("", 100, 10).keys("look at the tests<enter>stop<f5>");
    let taken = stage.drain();
    assert_eq!(taken.len(), 2);
    for entry in &taken {
        let (content, injection) = (entry.text.clone(), Some(entry.id.clone()));
        stage.event(
            "",
            Event::UserTurn {
                content,
                mid_loop: true,
                injection,
                step: 0,
                after: None,
                sender: None,
                kind: steersman_base::steering::TextKind::Add,
                met: None,
                images: Vec::new(),
            },
        );
    }
    let screen = stage.screen();
    assert_eq!(rows_below(&screen, "look at the tests"), "✓ delivered before the first call");
    assert_eq!(rows_below(&screen, "while it worked: stop"), "✓ delivered before the first call");
    stage.event("", Event::RoundStarted { turn: 1, round: 2 }).says("", "Well, ").keys("no<f5>");
    let taken = stage.drain();
    let (content, injection) = (taken[0].text.clone(), Some(taken[0].id.clone()));
    stage.event(
        "",
        Event::UserTurn {
            content,
            mid_loop: true,
            injection,
            step: 0,
            after: None,
            sender: None,
            kind: steersman_base::steering::TextKind::Add,
            met: None,
            images: Vec::new(),
        },
    );
    assert_eq!(rows_below(&stage.screen(), "while it worked: no"), "✓ delivered, cut the answer");
}

#[test]
fn a_text_that_the_model_never_got_is_not_called_seen_and_a_later_reply_makes_it_so() {
    let (mut stage, taken) = steered(120, 40);
    stage.wait(600_000);
    assert!(!stage.screen().contains("seen at"));
    stage.event("", Event::Cancelled {}).turn_ended("", Outcome::Cancelled, None);
    let below = "✓ delivered, not seen: the turn was cancelled · after grep · waited 0:12";
    assert_eq!(rows_below(&stage.screen(), "tests too"), below);
    stage.event("", Event::TurnStarted { turn: 2 }).event("", Event::RoundStarted { turn: 2, round: 1 });
    assert_eq!(rows_below(&stage.screen(), "tests too"), below);
    stage.seen("", &taken, 0);
    assert_eq!(rows_below(&stage.screen(), "tests too"), "✓✓ seen in turn 2 · delivered after grep · waited 0:12");
}

#[test]
fn each_end_of_a_turn_has_its_own_reason() {
    for (outcome, reason) in [
        (Outcome::Cancelled, "the turn was cancelled"),
        (Outcome::Failed, "the turn failed"),
        (Outcome::Synthesized, "the turn ended"),
    ] {
        let (mut stage, _) = steered(80, 24);
        stage.turn_ended("", outcome, None);
        assert!(stage.screen().contains(&format!("✓ delivered, not seen: {reason}")));
    }
}

#[test]
fn what_was_seen_stays_seen_when_the_turn_is_cancelled() {
    let (mut stage, taken) = steered(80, 24);
    stage.seen("", &taken, 3).turn_ended("", Outcome::Cancelled, None);
    assert!(stage.screen().contains("✓✓ seen at step 3"));
    assert!(!stage.screen().contains("not seen"));
}

#[test]
fn a_cleared_conversation_takes_the_hope_of_being_seen() {
    let (mut stage, taken) = steered(80, 24);
    stage.turn_ended("", Outcome::Cancelled, None).event("", Event::Reset {});
    assert!(stage.screen().contains("not seen: the conversation was cleared"));
    assert_eq!(stage.app.ui.run.receipts.get(&taken[0].id).unwrap().arrival().unwrap().step, 3);
}

#[test]
fn a_text_to_a_child_has_its_receipt_in_the_transcript_of_the_child() {
    let (mut stage, first) = running(120, 40);
    stage.seen("", &first, 0).call("", "c1", "agent").spawn("", "file_miner 0").turn("file_miner 0");
    let text = Pending::new("m9".into(), "only the newest", first[0].at);
    stage.call("file_miner 0", "x1", "read").result("file_miner 0", "x1", "text");
    stage.deliver_after("file_miner 0", std::slice::from_ref(&text), 1, "read");
    assert!(!stage.screen().contains("only the newest"));
    stage.keys("<f3><down>");
    assert!(rows_below(&stage.screen(), "only the newest").contains("✓ delivered after read at step 1"));
    // The turn above is stopped, and nobody told how the child ended.
    stage.turn_ended("", Outcome::Cancelled, None);
    assert!(rows_below(&stage.screen(), "only the newest").contains("not seen: the turn was cancelled"));
}

#[test]
fn a_task_that_came_from_another_agent_has_no_receipt() {
    let (mut stage, _) = running(120, 40);
    stage.call("", "c1", "agent").spawn("", "file_miner 0").turn("file_miner 0");
    let task = Event::UserTurn {
        content: "Look at the sources.".to_owned(),
        mid_loop: false,
        injection: None,
        step: 0,
        after: None,
        sender: None,
        kind: steersman_base::steering::TextKind::Add,
        met: None,
        images: Vec::new(),
    };
    stage.event("file_miner 0", task).keys("<f3><down>");
    assert!(!stage.screen().contains("delivered"));
}

#[test]
fn what_left_the_queue_without_delivery_is_known_for_what_it_is() {
    let (mut stage, _) = running(80, 24);
    stage.keys("one<enter>two<enter>");
    let standing = |stage: &Stage, place: usize| stage.app.ui.run.receipts.list()[place].state.clone();
    assert_eq!([standing(&stage, 1), standing(&stage, 2)], [ReceiptState::Pending, ReceiptState::Pending]);
    stage.keys("<a-up>");
    assert_eq!([standing(&stage, 1), standing(&stage, 2)], [ReceiptState::Pending, ReceiptState::Withdrawn]);
    stage.keys("<esc>");
    assert_eq!([standing(&stage, 1), standing(&stage, 2)], [ReceiptState::Returned, ReceiptState::Withdrawn]);
    assert!(!stage.screen().contains("✓ delivered, started turn 2"));
}

#[test]
fn a_drained_text_is_on_its_way_until_the_agent_says_that_it_has_it() {
    let (mut stage, _) = running(80, 24);
    stage.keys("one<enter>");
    let taken = stage.drain();
    assert_eq!(stage.app.ui.run.receipts.get(&taken[0].id).unwrap().state, ReceiptState::Leaving);
    stage.deliver_after("", &taken, 1, "grep");
    assert!(matches!(stage.app.ui.run.receipts.get(&taken[0].id).unwrap().state, ReceiptState::Delivered(_)));
}

#[test]
fn a_name_of_a_tool_cannot_write_onto_the_screen() {
    let (mut stage, _) = running(120, 40);
    stage.keys("one<enter>");
    let taken = stage.drain();
    stage.deliver_after("", &taken, 1, "grep\u{1b}[2J\u{202e}\n✓✓ seen at step 9");
    let screen = stage.screen();
    assert!(screen.contains("after grep␛[2J<U+202E>"), "{screen}");
    assert!(rows_below(&screen, "while it worked: one").starts_with("✓ delivered after grep"), "{screen}");
}

#[test]
fn marks_at_four_sizes() {
    for (width, height) in [(120, 40), (80, 24), (56, 20), (34, 10)] {
        let (mut stage, _) = steered(width, height);
        stage.turn_ended("", Outcome::Cancelled, None);
        insta::assert_snapshot!(format!("marks_{width}x{height}"), stage.above_the_rule());
    }
}
