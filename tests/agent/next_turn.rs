//! Stories of what waits when a turn ends: leftovers, follow-ups, and what a failure keeps.

use steersman_base::event::Delivery;
use steersman_core::control::{Modes, QueueMode};
use steersman_core::provider::{Played, ProviderError};

use crate::support::doubles::{Gate, Pause, PlayedExt, Rig, calls, gated, run, run_queue, texts_of, tool};

// D2
#[tokio::test(start_paused = true)]
async fn text_typed_into_the_final_answer_stays_pending_when_run_loop_returns() {
    let pause = Pause::new();
    let rig = Rig::new([Played::text("The end.").paused(&pause), Played::text("And more.")]);
    let agent = rig.agent([]).await;
    let running = run(agent, "Tell me.");
    pause.reached().await;
    rig.inject("wait");
    pause.open();
    let mut agent = running.answered().await;
    assert_eq!(texts_of(&rig.interloper), ["wait"]);
    assert_eq!(rig.requests().len(), 1);

    assert_eq!(agent.run_queue().await.unwrap(), 1);
    assert_eq!(rig.last_request().lines()[1..], ["user: Tell me.", "assistant: The end.", "user: wait"]);
}

// D2
#[tokio::test(start_paused = true)]
async fn text_typed_into_the_final_answer_starts_the_next_turn_at_once() {
    let pause = Pause::new();
    let rig = Rig::new([Played::text("The end.").paused(&pause), Played::text("And more.")]);
    let agent = rig.agent([]).await;
    rig.inject("Tell me.");
    let running = run_queue(agent);
    pause.reached().await;
    rig.inject("wait");
    pause.open();
    running.answered().await;
    assert_eq!(
        rig.event_lines(),
        [
            "turn 1",
            "user start m1: Tell me.",
            "assistant: The end.",
            "tokens",
            "ended 1 completed",
            "turn 2",
            "user start m2: wait",
            "assistant: And more.",
            "tokens",
            "ended 2 completed"
        ]
    );
}

// D2: also a synthesized turn goes on (G6).
#[tokio::test(start_paused = true)]
async fn after_a_rescue_what_waits_starts_the_next_turn() {
    let pause = Pause::new();
    let rig = Rig::new([calls(&[("c1", "look"), ("c2", "look")]), Played::text("More.")]);
    rig.model.route("Evidence gathered", [Played::text("So far.").paused(&pause)]);
    let agent = rig.limited(1, [tool("look", "seen")]).await;
    rig.inject("Look.");
    let running = run_queue(agent);
    pause.reached().await;
    rig.inject("go on");
    pause.open();
    let agent = running.answered().await;
    assert_eq!((agent.last_assistant_content(), agent.synthesized()), (Some("More."), false), "of the last turn");
    assert_eq!(rig.requests().len(), 3);
    let lines = rig.last_request().lines();
    assert_eq!(lines[lines.len() - 2..], ["assistant: So far.", "user: go on"]);
    assert!(!rig.requests()[1].lines().join("\n").contains("go on"), "not lost in the rescue's conversation");
}

// D3
#[tokio::test]
async fn steers_left_at_the_end_start_one_turn_and_follow_ups_one_each() {
    let rig = Rig::new([Played::text("One."), Played::text("Two."), Played::text("Three.")]);
    let mut agent = rig.agent([]).await;
    rig.interloper.inject_user_message(("later a", Delivery::FollowUp)).unwrap();
    rig.inject("now a");
    rig.interloper.inject_user_message(("later b", Delivery::FollowUp)).unwrap();
    rig.inject("now b");
    assert_eq!(agent.run_queue().await.unwrap(), 3);
    assert_eq!(
        rig.event_lines(),
        [
            "turn 1",
            "user start m2: now a",
            "user start m4: now b",
            "assistant: One.",
            "tokens",
            "ended 1 completed",
            "turn 2",
            "user start m1: later a",
            "assistant: Two.",
            "tokens",
            "ended 2 completed",
            "turn 3",
            "user start m3: later b",
            "assistant: Three.",
            "tokens",
            "ended 3 completed"
        ]
    );
    assert_eq!(rig.requests()[0].lines()[1..], ["user: now a", "user: now b"]);
}

// D3
#[tokio::test(start_paused = true)]
async fn a_follow_up_is_not_delivered_at_a_boundary() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "wait")]), Played::text("Done."), Played::text("Done too.")]);
    let agent = rig.agent([gated("wait", &gate)]).await;
    rig.inject("Go.");
    let running = run_queue(agent);
    gate.reached().await;
    rig.interloper.inject_user_message(("afterwards", Delivery::FollowUp)).unwrap();
    rig.inject("at the boundary");
    gate.open();
    running.answered().await;
    assert_eq!(rig.requests()[1].lines()[3..], ["tool#c1: wait done", "user: at the boundary"]);
    assert_eq!(rig.requests()[2].lines()[5..], ["assistant: Done.", "user: afterwards"]);
}

// D3: a steer that comes late goes before the follow-ups.
#[tokio::test(start_paused = true)]
async fn a_late_steer_is_a_turn_before_the_waiting_follow_ups() {
    let pause = Pause::new();
    let rig = Rig::new([Played::text("1").paused(&pause), Played::text("2"), Played::text("3")]);
    let agent = rig.agent([]).await;
    rig.inject("Go.");
    rig.interloper.inject_user_message(("afterwards", Delivery::FollowUp)).unwrap();
    let running = run_queue(agent);
    pause.reached().await;
    rig.inject("first this");
    pause.open();
    running.answered().await;
    let order: Vec<_> = rig.event_lines().into_iter().filter(|line| line.starts_with("user")).collect();
    assert_eq!(order, ["user start m1: Go.", "user start m3: first this", "user start m2: afterwards"]);
}

// D2, D5
#[tokio::test(start_paused = true)]
async fn a_failed_turn_keeps_what_waits_until_the_next_text_is_sent() {
    let pause = Pause::new();
    let failing = Played::default().paused(&pause).failing(ProviderError::Stalled(300));
    let rig = Rig::new([failing, Played::text("Fine.")]);
    let agent = rig.agent([]).await;
    rig.inject("Go.");
    let running = run_queue(agent);
    pause.reached().await;
    rig.inject("waits");
    pause.open();
    let (mut agent, _) = running.failed().await;
    assert_eq!(texts_of(&rig.interloper), ["waits"]);
    assert_eq!(agent.run_queue().await.unwrap(), 0, "the queue is held back");
    assert!(!rig.interloper.deliverable());

    rig.inject("again");
    assert_eq!(agent.run_queue().await.unwrap(), 1);
    assert_eq!(rig.last_request().lines()[1..], ["user: Go.", "user: waits", "user: again"]);
}

// D2
#[tokio::test(start_paused = true)]
async fn a_failed_turn_keeps_what_waits_until_it_is_resumed() {
    let pause = Pause::new();
    let failing = Played::default().paused(&pause).failing(ProviderError::CutOff);
    let rig = Rig::new([failing, Played::text("Fine.")]);
    let agent = rig.agent([]).await;
    rig.inject("Go.");
    let running = run_queue(agent);
    pause.reached().await;
    rig.inject("waits");
    pause.open();
    let (mut agent, _) = running.failed().await;
    rig.interloper.resume();
    assert_eq!(agent.run_queue().await.unwrap(), 1);
    assert_eq!(rig.event_lines().last().unwrap(), "ended 2 completed");
}

// D19
#[tokio::test]
async fn follow_ups_can_be_set_to_start_one_turn_together() {
    let rig = Rig::new([Played::text("Both.")]);
    rig.interloper.set_modes(Modes { follow_up: QueueMode::All, ..Modes::default() });
    let mut agent = rig.agent([]).await;
    rig.interloper.inject_user_message(("a", Delivery::FollowUp)).unwrap();
    rig.interloper.inject_user_message(("b", Delivery::FollowUp)).unwrap();
    assert_eq!(agent.run_queue().await.unwrap(), 1);
    assert_eq!(rig.last_request().lines()[1..], ["user: a", "user: b"]);
}

// D2, D5: whoever sets only the flag has taken nothing back; that must not start a turn behind the user's back.
#[tokio::test(start_paused = true)]
async fn a_cancel_without_taking_texts_back_keeps_them_waiting() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "wait")]), Played::text("Fine.")]);
    let agent = rig.agent([gated("wait", &gate)]).await;
    rig.inject("Go.");
    let running = run_queue(agent);
    gate.reached().await;
    rig.inject("waits");
    rig.cancellable.cancel();
    let mut agent = running.cancelled().await;
    assert_eq!(texts_of(&rig.interloper), ["waits"]);
    assert!(rig.interloper.paused());
    assert_eq!(agent.run_queue().await.unwrap(), 0);

    rig.inject("again");
    assert_eq!(agent.run_queue().await.unwrap(), 1);
    let lines = rig.last_request().lines();
    assert_eq!(lines[lines.len() - 2..], ["user: waits", "user: again"]);
}

// D2: a stop took everything back, so what comes after it means to run, also while the turn still ends.
#[tokio::test(start_paused = true)]
async fn a_text_sent_between_the_stop_and_the_end_of_its_turn_starts_the_next() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "wait")]), Played::text("Fine."), calls(&[("c2", "wait")])]);
    let agent = rig.agent([gated("wait", &gate)]).await;
    rig.inject("Go.");
    let running = run_queue(agent);
    gate.reached().await;
    assert_eq!(rig.interloper.stop(&rig.cancellable), []);
    rig.inject("rather this");
    let mut agent = running.cancelled().await;
    assert!(!rig.interloper.paused());
    assert_eq!(agent.run_queue().await.unwrap(), 1);

    // The next turn is another one: its bare cancel pauses again.
    rig.inject("Once more.");
    let running = run_queue(agent);
    gate.reached().await;
    rig.inject("waits");
    rig.cancellable.cancel();
    running.cancelled().await;
    assert!(rig.interloper.paused());
}

// D2: the same for a turn that `run_loop` started after a stop that had nothing to stop.
#[tokio::test(start_paused = true)]
async fn a_stop_before_a_turn_does_not_speak_for_its_cancel() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "wait")])]);
    let agent = rig.agent([gated("wait", &gate)]).await;
    rig.interloper.stop(&rig.cancellable);
    let running = run(agent, "Go.");
    gate.reached().await;
    rig.inject("waits");
    assert!(!rig.interloper.paused());
    rig.cancellable.cancel();
    running.cancelled().await;
    assert!(rig.interloper.paused());
}

// D3: each turn has the whole limit.
#[tokio::test(start_paused = true)]
async fn the_step_limit_begins_anew_with_each_turn_of_the_queue() {
    let two = |first: &'static str, second: &'static str| calls(&[(first, "look"), (second, "look")]);
    let rig = Rig::new([two("c1", "c2"), Played::text("One."), two("c3", "c4"), Played::text("Two.")]);
    let mut agent = rig.limited(3, [tool("look", "seen")]).await;
    rig.interloper.inject_user_message(("first", Delivery::FollowUp)).unwrap();
    rig.interloper.inject_user_message(("second", Delivery::FollowUp)).unwrap();
    assert_eq!(agent.run_queue().await.unwrap(), 2);
    let ends: Vec<String> = rig.event_lines().into_iter().filter(|line| line.starts_with("ended")).collect();
    assert_eq!(ends, ["ended 1 completed", "ended 2 completed"]);
    // And with each turn of the caller's own.
    rig.model.push(two("c5", "c6"));
    rig.model.push(Played::text("Three."));
    agent.run_loop("third").await.unwrap();
    assert!(rig.event_lines().contains(&"ended 3 completed".to_owned()), "{:?}", rig.event_lines());
}
