//! Stories of kinds in the queue: what asks for no work starts no turn, and a kind can be changed while its text waits.

use jiff::Timestamp;
use steersman_base::event::{Delivery, Pending, UserText};
use steersman_base::steering::{RuleScope, TextKind};
use steersman_core::control::{Cancellable, Interloper, Modes, QueueMode, Staleness};

fn texts(entries: &[Pending]) -> Vec<&str> {
    entries.iter().map(|entry| entry.text.as_str()).collect()
}

fn of(text: &str, kind: TextKind, delivery: Delivery) -> UserText {
    UserText { kind, delivery, ..UserText::from(text) }
}

#[test]
fn a_note_and_a_rule_start_no_turn_and_go_with_the_text_that_does() {
    let queue = Interloper::new();
    queue.inject_user_message(("note", TextKind::Note)).unwrap();
    queue.inject_user_message(("rule", TextKind::Rule)).unwrap();
    assert!(!queue.deliverable());
    assert!(queue.take_turn(None).is_empty());
    assert_eq!(texts(&queue.peek()), ["note", "rule"]);
    queue.inject_user_message("work").unwrap();
    assert!(queue.deliverable());
    assert_eq!(texts(&queue.take_turn(None)), ["note", "rule", "work"]);
}

#[test]
fn they_enter_a_turn_that_runs_like_any_text() {
    let queue = Interloper::new();
    queue.inject_user_message(("note", TextKind::Note)).unwrap();
    queue.inject_user_message("work").unwrap();
    queue.inject_user_message(("rule", TextKind::Rule)).unwrap();
    assert_eq!(texts(&queue.drain()), ["note", "work", "rule"]);
}

#[test]
fn to_be_delivered_now_a_note_starts_a_turn() {
    let queue = Interloper::new();
    let id = queue.inject_user_message(("note", TextKind::Note)).unwrap().id;
    assert!(queue.set_delivery(&id, Delivery::Now));
    assert!(queue.deliverable());
    assert_eq!(texts(&queue.take_turn(None)), ["note"]);
}

#[test]
fn one_text_at_a_time_means_one_that_asks_for_work() {
    let queue = Interloper::new();
    queue.set_modes(Modes { steer: QueueMode::OneAtATime, follow_up: QueueMode::OneAtATime });
    for (text, kind) in
        [("n1", TextKind::Note), ("w1", TextKind::Add), ("n2", TextKind::Note), ("w2", TextKind::Instead)]
    {
        queue.inject_user_message((text, kind)).unwrap();
    }
    assert_eq!(texts(&queue.drain()), ["n1", "w1"]);
    assert_eq!(texts(&queue.take_turn(None)), ["n2", "w2"]);
}

#[test]
fn a_note_goes_with_the_follow_up_that_starts_the_next_turn() {
    let queue = Interloper::new();
    queue.inject_user_message(of("note", TextKind::Note, Delivery::Steer)).unwrap();
    queue.inject_user_message(of("first", TextKind::Add, Delivery::FollowUp)).unwrap();
    queue.inject_user_message(of("second", TextKind::Add, Delivery::FollowUp)).unwrap();
    assert_eq!(texts(&queue.take_turn(None)), ["note", "first"]);
    assert_eq!(texts(&queue.take_turn(None)), ["second"]);
}

#[test]
fn notes_and_rules_for_the_next_turn_go_with_whatever_starts_it() {
    let queue = Interloper::new();
    queue.inject_user_message(of("note", TextKind::Note, Delivery::FollowUp)).unwrap();
    queue.inject_user_message(of("rule", TextKind::Rule, Delivery::FollowUp)).unwrap();
    queue.inject_user_message(of("first", TextKind::Add, Delivery::FollowUp)).unwrap();
    queue.inject_user_message(of("later", TextKind::Note, Delivery::FollowUp)).unwrap();
    assert_eq!(texts(&queue.drain()), [""; 0], "not within the turn that runs");
    queue.inject_user_message("work").unwrap();
    assert_eq!(texts(&queue.take_turn(None)), ["work", "note", "rule"]);
    assert_eq!(texts(&queue.take_turn(None)), ["first"]);
    queue.inject_user_message(of("more", TextKind::Add, Delivery::Now)).unwrap();
    assert_eq!(texts(&queue.take_turn(None)), ["more", "later"]);
}

#[test]
fn a_note_lets_a_paused_queue_be() {
    let queue = Interloper::new();
    queue.inject_user_message("work").unwrap();
    queue.pause();
    queue.inject_user_message(("note", TextKind::Note)).unwrap();
    assert!(queue.paused() && !queue.deliverable());
    queue.inject_user_message("more").unwrap();
    assert_eq!(texts(&queue.take_turn(None)), ["work", "note", "more"]);
}

#[test]
fn a_stop_leaves_what_starts_no_turn_and_it_goes_with_the_next_text() {
    let (queue, cancel) = (Interloper::new(), Cancellable::new());
    for (text, kind) in [("note", TextKind::Note), ("work", TextKind::Add), ("rule", TextKind::Rule)] {
        queue.inject_user_message((text, kind)).unwrap();
    }
    assert_eq!(texts(&queue.stop(&cancel)), ["work"]);
    assert_eq!(texts(&queue.peek()), ["note", "rule"]);
    assert!(!queue.deliverable());
    queue.inject_user_message("go on").unwrap();
    assert_eq!(texts(&queue.take_turn(Some(&cancel))), ["note", "rule", "go on"]);

    queue.inject_user_message(("note", TextKind::Note)).unwrap();
    assert_eq!(texts(&queue.block(&cancel)), ["note"], "who changes the conversation takes all");
}

#[test]
fn a_note_stays_when_what_would_start_the_turn_is_held_for_its_age() {
    let queue = Interloper::new();
    queue.set_staleness(Staleness { age: None, steps: Some(0) });
    queue.inject_user_message(("note", TextKind::Note)).unwrap();
    let old = queue.inject_user_message("work").unwrap().id;
    queue.count_step();
    assert!(queue.take_turn(None).is_empty());
    let held: Vec<bool> = queue.peek().iter().map(|entry| entry.stale).collect();
    assert_eq!(held, [false, true]);
    assert!(queue.confirm(&old));
    // The note is old by now as well, and held by itself.
    assert_eq!(texts(&queue.take_turn(None)), ["work"]);
}

#[test]
fn a_kind_can_be_changed_while_the_text_waits_and_not_any_more() {
    let queue = Interloper::new();
    let id = queue.inject_user_message("text").unwrap().id;
    assert!(queue.set_kind(&id, TextKind::Rule, RuleScope::Agent));
    assert!(!queue.deliverable());
    let entry = queue.peek().remove(0);
    assert_eq!((entry.kind, entry.scope), (TextKind::Rule, RuleScope::Agent));
    assert!(queue.set_kind(&id, TextKind::Instead, RuleScope::Tree));
    assert_eq!(queue.take_turn(None)[0].kind, TextKind::Instead);
    assert!(!queue.set_kind(&id, TextKind::Note, RuleScope::Tree));
}

#[test]
fn a_text_knows_what_its_agent_did_when_it_was_sent() {
    let queue = Interloper::new();
    queue.inject_user_message("before").unwrap();
    queue.count_step();
    queue.began_call("bash");
    queue.inject_user_message("during a call").unwrap();
    queue.began_request();
    queue.inject_user_message("during a reply").unwrap();
    queue.ended_turn();
    queue.inject_user_message("after").unwrap();
    let during: Vec<Option<(u64, Option<String>)>> =
        queue.peek().into_iter().map(|entry| entry.during.map(|during| (during.calls, during.tool))).collect();
    assert_eq!(during, [None, Some((1, Some("bash".to_owned()))), Some((1, None)), None]);
    let sent = queue.peek()[1].during.clone().unwrap();
    queue.count_step();
    queue.count_step();
    assert_eq!(queue.calls_since(&sent), 2);
}

#[test]
fn an_entry_without_a_kind_as_older_programs_wrote_it_adds_to_the_task() {
    let old = r#"{"id":"m1","text":"t","delivery":"steer","held":false,"at":"2026-01-01T00:00:00Z"}"#;
    let entry: Pending = serde_json::from_str(old).unwrap();
    assert_eq!(entry, Pending::new("m1".into(), "t", "2026-01-01T00:00:00Z".parse::<Timestamp>().unwrap()));
    let turn = r#"{"type":"user_turn","content":"t","mid_loop":true,"injection":"m1"}"#;
    let event: steersman_base::event::Event = serde_json::from_str(turn).unwrap();
    assert!(matches!(event, steersman_base::event::Event::UserTurn { kind: TextKind::Add, .. }));
    let message = r#"{"role":"user","content":"t"}"#;
    let message: steersman_base::message::Message = serde_json::from_str(message).unwrap();
    assert_eq!(message, steersman_base::message::Message::user("t"));
}
