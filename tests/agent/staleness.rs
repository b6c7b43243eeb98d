//! Stories of texts that waited too long: they are held where they would have entered, until the user says what holds.

use std::sync::Arc;
use std::time::Duration;

use steersman_agent::Agent;
use steersman_base::event::{Delivery, Pending};
use steersman_base::id::MessageId;
use steersman_core::control::{Interloper, Modes, QueueMode, Staleness};
use steersman_core::provider::{Played, ProviderError};

use crate::support::doubles::{Gate, Rig, calls, gated, run, run_queue, tool};

/// Everything that waited at all is too old.
const AT_ONCE: Staleness = Staleness { age: Some(Duration::ZERO), steps: None };

fn after_steps(steps: u32) -> Staleness {
    Staleness { age: None, steps: Some(steps) }
}

fn texts(entries: &[Pending]) -> Vec<&str> {
    entries.iter().map(|entry| entry.text.as_str()).collect()
}

fn stale(queue: &Interloper) -> Vec<String> {
    queue.peek().into_iter().filter(|entry| entry.stale).map(|entry| entry.message.text).collect()
}

/// A queue whose texts are old by the time that they are asked for.
fn old(list: &[&str]) -> (Interloper, Vec<MessageId>) {
    let queue = Interloper::new();
    queue.set_staleness(after_steps(0));
    let ids = list.iter().map(|text| queue.inject_user_message(*text).unwrap().id).collect();
    queue.count_step();
    (queue, ids)
}

#[test]
fn by_default_no_text_is_too_old() {
    let queue = Interloper::new();
    queue.inject_user_message("a").unwrap();
    for _ in 0..1_000 {
        queue.count_step();
    }
    assert_eq!(texts(&queue.drain()), ["a"]);
}

#[test]
fn an_age_of_nothing_holds_every_text_at_its_boundary_and_starts_no_turn() {
    let queue = Interloper::new();
    queue.set_staleness(AT_ONCE);
    queue.inject_user_message("a").unwrap();
    queue.inject_user_message(("b", Delivery::FollowUp)).unwrap();
    assert!(queue.deliverable(), "nobody has asked for them yet");
    std::thread::sleep(Duration::from_micros(1));
    assert_eq!(queue.take_turn(None), []);
    assert_eq!(stale(&queue), ["a", "b"]);
    assert!(queue.peek().iter().all(|entry| entry.held));
    assert!(!queue.deliverable(), "the worker may rest");
    assert_eq!(queue.drain(), []);
}

#[test]
fn the_limit_in_steps_is_how_many_calls_a_text_may_wait_for() {
    let queue = Interloper::new();
    queue.set_staleness(after_steps(2));
    queue.count_step();
    queue.inject_user_message("a").unwrap();
    for _ in 0..2 {
        queue.count_step();
    }
    queue.inject_user_message("b").unwrap();
    queue.count_step();
    assert_eq!(texts(&queue.drain()), ["b"], "steps before it was sent do not count");
    assert_eq!(stale(&queue), ["a"]);
}

#[test]
fn a_young_text_passes_an_old_one_that_waits_to_be_asked_about() {
    let (queue, _) = old(&["old"]);
    queue.inject_user_message("young").unwrap();
    queue.set_modes(Modes { steer: QueueMode::OneAtATime, ..Modes::default() });
    assert_eq!(texts(&queue.take_turn(None)), ["young"]);
    assert_eq!(stale(&queue), ["old"]);
}

#[test]
fn watchers_hear_that_a_text_was_held_back_and_hear_it_once() {
    let (queue, _) = old(&["a"]);
    let heard = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = Arc::clone(&heard);
    queue.watch(Arc::new(move || {
        count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }));
    queue.drain();
    queue.drain();
    assert_eq!(heard.load(std::sync::atomic::Ordering::SeqCst), 1);
}

#[test]
fn a_text_that_still_holds_is_delivered_and_may_grow_old_again() {
    let (queue, ids) = old(&["a"]);
    queue.drain();
    assert!(queue.confirm(&ids[0]));
    assert!(queue.deliverable());
    queue.count_step();
    assert_eq!(queue.drain(), [], "it waited once more");
    assert!(queue.confirm(&ids[0]));
    assert_eq!(texts(&queue.drain()), ["a"]);
    assert!(!queue.confirm(&ids[0]), "it has left");
}

#[test]
fn an_edited_text_holds_again() {
    let (queue, ids) = old(&["a"]);
    queue.drain();
    assert!(queue.hold(&ids[0]));
    assert_eq!(queue.commit(&ids[0], "b"), Ok(true));
    assert_eq!(stale(&queue), Vec::<String>::new());
    assert_eq!(texts(&queue.drain()), ["b"]);
}

#[test]
fn an_edit_that_is_left_leaves_an_old_text_held() {
    let (queue, ids) = old(&["a"]);
    queue.drain();
    assert!(queue.hold(&ids[0]));
    assert!(queue.release(&ids[0]));
    assert!(queue.peek()[0].held);
    assert_eq!(queue.drain(), []);
}

#[test]
fn a_text_that_grew_old_during_its_edit_is_asked_about_only_afterwards() {
    let (queue, ids) = old(&["a"]);
    assert!(queue.hold(&ids[0]));
    assert_eq!(queue.drain(), []);
    assert_eq!(stale(&queue), Vec::<String>::new(), "one question at a time: it is being edited");
    assert!(queue.release(&ids[0]));
    assert_eq!(queue.drain(), []);
    assert_eq!(stale(&queue), ["a"]);
}

#[test]
fn whoever_wants_it_now_means_it() {
    let (queue, ids) = old(&["a", "b"]);
    queue.drain();
    assert!(queue.set_delivery(&ids[1], Delivery::Now));
    assert_eq!(texts(&queue.take_now(None)), ["b"]);

    // Nor does a text that is to go now grow old itself.
    queue.inject_user_message(("c", Delivery::Now)).unwrap();
    queue.count_step();
    assert_eq!(texts(&queue.drain()), ["c"]);
    assert_eq!(stale(&queue), ["a"]);
}

#[test]
fn another_delivery_does_not_answer_the_question() {
    let (queue, ids) = old(&["a"]);
    queue.drain();
    assert!(queue.set_delivery(&ids[0], Delivery::FollowUp));
    assert_eq!(stale(&queue), ["a"]);
    assert_eq!(queue.take_turn(None), []);
}

#[test]
fn whoever_resumes_a_paused_queue_means_all_of_it() {
    let (queue, _) = old(&["a", "b"]);
    queue.drain();
    queue.pause();
    assert_eq!(queue.take_turn(None), []);
    queue.resume();
    assert_eq!(texts(&queue.take_turn(None)), ["a", "b"]);
}

#[test]
fn an_old_text_can_be_taken_back_and_put_back_as_a_fresh_one() {
    let (queue, ids) = old(&["a", "b"]);
    queue.drain();
    let entry = queue.withdraw(&ids[0]).unwrap();
    assert!(entry.stale);
    assert!(queue.restore(entry, 0));
    assert_eq!(stale(&queue), ["b"]);
    assert_eq!(texts(&queue.drain()), ["a"]);
    assert_eq!(texts(&queue.stop(&steersman_core::control::Cancellable::new())), ["b"]);
}

#[test]
fn a_limit_lifted_lets_the_texts_that_were_not_asked_about_pass() {
    let (queue, ids) = old(&["a"]);
    queue.drain();
    queue.inject_user_message("b").unwrap();
    queue.count_step();
    queue.set_staleness(Staleness::default());
    assert_eq!(texts(&queue.drain()), ["b"]);
    assert_eq!(stale(&queue), ["a"], "the question about this one stands");
    assert!(queue.confirm(&ids[0]));
    assert_eq!(texts(&queue.drain()), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn the_calls_of_a_turn_make_a_text_old_at_its_boundary() {
    let gate = Gate::new();
    let script = [
        calls(&[("c1", "wait"), ("c2", "look"), ("c3", "look")]),
        calls(&[("c4", "look")]),
        Played::text("Done."),
        Played::text("More."),
    ];
    let rig = Rig::new(script);
    rig.interloper.set_staleness(after_steps(1));
    let agent = rig.agent([gated("wait", &gate), tool("look", "seen")]).await;
    let running = run(agent, "Go.");
    gate.reached().await;
    rig.inject("look at one thing only");
    gate.open();
    let mut agent = running.answered().await;
    assert_eq!(stale(&rig.interloper), ["look at one thing only"], "two calls went by");
    assert!(!rig.requests()[2].lines().join("\n").contains("one thing"));
    assert_eq!(agent.run_queue().await.unwrap(), 0);

    assert!(rig.interloper.confirm(&rig.interloper.peek()[0].id));
    assert_eq!(agent.run_queue().await.unwrap(), 1);
    assert_eq!(rig.last_request().lines().last().unwrap(), "user: look at one thing only");
}

#[tokio::test(start_paused = true)]
async fn an_answer_given_in_time_lets_it_enter_the_running_turn() {
    let gate = Gate::new();
    let script = [calls(&[("c1", "wait"), ("c2", "wait")]), calls(&[("c3", "wait")]), Played::text("Done.")];
    let rig = Rig::new(script);
    rig.interloper.set_staleness(after_steps(0));
    let agent = rig.agent([gated("wait", &gate)]).await;
    let running = run(agent, "Go.");
    gate.reached().await;
    rig.inject("hold on");
    gate.open();
    gate.open();
    gate.reached().await;
    gate.reached().await;
    assert_eq!(stale(&rig.interloper), ["hold on"]);
    assert!(rig.interloper.confirm(&rig.interloper.peek()[0].id));
    gate.open();
    running.answered().await;
    assert_eq!(rig.last_request().lines().last().unwrap(), "user: hold on");
}

async fn failed_turn(rig: &Rig) -> Agent {
    rig.interloper.set_staleness(after_steps(0));
    let agent = rig.agent([tool("look", "seen")]).await;
    rig.inject("Go.");
    rig.interloper.inject_user_message(("afterwards", Delivery::FollowUp)).unwrap();
    run_queue(agent).failed().await.0
}

#[tokio::test(start_paused = true)]
async fn an_old_text_behind_a_failed_turn_is_asked_about_when_the_next_text_is_sent() {
    let script = [calls(&[("c1", "look")]), Played::error(ProviderError::Stalled(300)), Played::text("Fine.")];
    let rig = Rig::new(script);
    let mut agent = failed_turn(&rig).await;
    rig.inject("again");
    assert_eq!(agent.run_queue().await.unwrap(), 1);
    assert_eq!(stale(&rig.interloper), ["afterwards"]);
    assert_eq!(rig.last_request().lines().last().unwrap(), "user: again");
}

#[tokio::test(start_paused = true)]
async fn a_failed_turn_resumed_asks_about_nothing() {
    let script = [calls(&[("c1", "look")]), Played::error(ProviderError::Stalled(300)), Played::text("Fine.")];
    let rig = Rig::new(script);
    let mut agent = failed_turn(&rig).await;
    rig.interloper.resume();
    assert_eq!(agent.run_queue().await.unwrap(), 1);
    assert_eq!(rig.last_request().lines().last().unwrap(), "user: afterwards");
}
