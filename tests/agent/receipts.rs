//! Stories of what becomes of a message: where it entered, and when a reply showed that the model has it.

use std::sync::Arc;

use steersman_base::event::{Delivery, Envelope, Event};
use steersman_core::listener::Listener;
use steersman_core::provider::{Piece, Played, ProviderError, Step, Streaming};

use crate::support::doubles::{Gate, Pause, PlayedExt, Rig, Spy, calls, gated, run, run_queue, tool};

/// The receipts among the events, in order: `m1 delivered step 0 after -`, `m1 m2 seen step 1`, and what the model said.
fn receipts(rig: &Rig) -> Vec<String> {
    let line = |event: Event| match event {
        Event::UserTurn { injection: Some(id), step, after, .. } => {
            Some(format!("{id} delivered step {step} after {}", after.as_deref().unwrap_or("-")))
        }
        Event::Seen { injections, step } => {
            let ids: Vec<_> = injections.iter().map(ToString::to_string).collect();
            Some(format!("{} seen step {step}", ids.join(" ")))
        }
        Event::ThinkingDelta { text } => Some(format!("thinks {text}")),
        Event::AssistantDelta { text } => Some(format!("says {text}")),
        Event::Assistant { text, interrupted: false } => Some(format!("said {text}")),
        _ => None,
    };
    rig.events().into_iter().filter_map(line).collect()
}

#[tokio::test(start_paused = true)]
async fn a_message_is_seen_at_the_first_token_of_the_reply_that_had_it() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "look"), ("c2", "wait")]), Played::text("Done.").with_thinking("Hm.")]);
    let agent = rig.streaming([tool("look", "seen"), gated("wait", &gate)]).await;
    rig.inject("Go.");
    let running = run_queue(agent);
    gate.reached().await;
    rig.inject("and this");
    rig.inject("and that");
    gate.open();
    running.answered().await;
    assert_eq!(
        receipts(&rig),
        [
            "m1 delivered step 0 after -",
            "m1 seen step 0",
            "m2 delivered step 2 after wait",
            "m3 delivered step 2 after wait",
            "m2 m3 seen step 2",
            "thinks Hm.",
            "says Done.",
            "said Done."
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_comes_whole_shows_it_before_it_is_shown() {
    let rig = Rig::new([Played::text("Fine.")]);
    let mut agent = rig.agent([]).await;
    rig.inject("Go.");
    agent.run_queue().await.unwrap();
    assert_eq!(receipts(&rig), ["m1 delivered step 0 after -", "m1 seen step 0", "said Fine."]);
}

#[tokio::test(start_paused = true)]
async fn an_empty_piece_and_an_empty_answer_show_nothing() {
    let rig = Rig::new([Played::default().piece("", ""), Played::text("Fine.")]);
    let mut agent = rig.streaming([]).await;
    rig.inject("Go.");
    agent.run_queue().await.unwrap();
    let events = rig.recorder.events();
    let seen = events.iter().position(|event| matches!(event, Event::Seen { .. })).unwrap();
    let first_reply = events.iter().position(|event| matches!(event, Event::Tokens(_))).unwrap();
    assert!(seen > first_reply, "only the second answer said something");
    assert_eq!(receipts(&rig)[1..3], ["m1 seen step 0", "says Fine."]);
}

#[tokio::test(start_paused = true)]
async fn an_empty_answer_behind_thoughts_shows_that_it_was_read() {
    for streaming in [Streaming::On, Streaming::Off] {
        let rig = Rig::new([Played::default().with_thinking("Hm."), Played::text("Fine.")]);
        let mut agent = rig.build(rig.builder().streaming(streaming), []).await;
        rig.inject("Go.");
        agent.run_queue().await.unwrap();
        let events = rig.recorder.events();
        let seen = events.iter().position(|event| matches!(event, Event::Seen { .. })).unwrap();
        let first_reply = events.iter().position(|event| matches!(event, Event::Tokens(_))).unwrap();
        assert!(seen < first_reply);
        assert_eq!(receipts(&rig).iter().filter(|line| line.contains("seen")).count(), 1, "and once only");
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_cut_a_wait_is_seen_together_with_what_waited_before_it() {
    let pause = Pause::new();
    let rig = Rig::new([Played::default().paused(&pause), Played::text("Both.")]);
    let agent = rig.streaming([]).await;
    rig.inject("Go.");
    let running = run_queue(agent);
    pause.reached().await;
    rig.interloper.inject_user_message(("quick", Delivery::Now)).unwrap();
    running.answered().await;
    let expected = ["m1 delivered step 0 after -", "m2 delivered step 0 after -", "m1 m2 seen step 0"];
    assert_eq!(receipts(&rig)[..3], expected);
}

#[tokio::test(start_paused = true)]
async fn a_message_is_seen_once_also_when_the_reply_that_had_it_is_cut() {
    let pause = Pause::new();
    let rig = Rig::new([Played::default().piece("", "Well").paused(&pause), Played::text("Fine.")]);
    let agent = rig.streaming([]).await;
    rig.inject("Go.");
    let running = run_queue(agent);
    pause.reached().await;
    rig.interloper.inject_user_message(("quick", Delivery::Now)).unwrap();
    running.answered().await;
    assert_eq!(
        receipts(&rig)[..5],
        ["m1 delivered step 0 after -", "m1 seen step 0", "says Well", "m2 delivered step 0 after -", "m2 seen step 0"]
    );
}

#[tokio::test(start_paused = true)]
async fn another_attempt_is_not_a_reply() {
    let pause = Pause::new();
    let retrying = Piece::Retrying { attempt: 2, after_ms: 1, reason: "the server is busy".to_owned() };
    let reply = Played::default().then(Step::Piece(retrying)).paused(&pause).piece("", "Fine.");
    let rig = Rig::new([reply]);
    let agent = rig.streaming([]).await;
    rig.inject("Go.");
    let running = run_queue(agent);
    pause.reached().await;
    assert_eq!(receipts(&rig), ["m1 delivered step 0 after -"]);
    pause.open();
    let (_, result) = running.end().await;
    // The scripted reply has no content of its own, so it counts as empty; what it showed was shown.
    assert!(result.is_err());
    assert_eq!(receipts(&rig)[1], "m1 seen step 0");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_ends_too_early_leaves_it_unseen_until_the_next_reply() {
    let pause = Pause::new();
    let failing = Played::error(ProviderError::Stalled(300));
    let rig = Rig::new([failing, Played::default().paused(&pause), Played::text("Fine.")]);
    let mut agent = rig.streaming([]).await;
    rig.inject("first");
    agent.run_queue().await.unwrap_err();
    rig.inject("second");
    let running = run_queue(agent);
    pause.reached().await;
    rig.interloper.stop(&rig.cancellable);
    let agent = running.cancelled().await;
    assert!(!receipts(&rig).iter().any(|line| line.contains("seen")), "{:?}", receipts(&rig));
    run(agent, "third").answered().await;
    assert_eq!(receipts(&rig)[2..4], ["m1 m2 seen step 0", "says Fine."]);
}

#[tokio::test(start_paused = true)]
async fn a_rescue_does_not_make_it_seen_but_the_next_turn_does() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "wait"), ("c2", "wait")]), Played::text("More.")]);
    rig.model.route("Evidence gathered", [Played::text("So far.")]);
    let agent = rig.limited(1, [gated("wait", &gate)]).await;
    rig.inject("Go.");
    let running = run_queue(agent);
    gate.reached().await;
    rig.inject("waits");
    gate.open();
    running.answered().await;
    assert_eq!(
        receipts(&rig),
        [
            "m1 delivered step 0 after -",
            "m1 seen step 0",
            "said So far.",
            "m2 delivered step 0 after -",
            "m2 seen step 0",
            "said More."
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_forgotten_conversation_is_never_seen() {
    let rig = Rig::new([Played::error(ProviderError::Stalled(300)), Played::text("Fine.")]);
    let mut agent = rig.agent([]).await;
    rig.inject("lost");
    agent.run_queue().await.unwrap_err();
    agent.reset();
    run(agent, "Anew.").answered().await;
    assert_eq!(receipts(&rig), ["m1 delivered step 0 after -", "said Fine."]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_without_injections_has_no_receipts() {
    let rig = Rig::new([calls(&[("c1", "look")]), Played::text("Fine.")]);
    run(rig.streaming([tool("look", "seen")]).await, "Go.").answered().await;
    assert!(!rig.events().iter().any(|event| matches!(event, Event::Seen { .. })));
}

#[tokio::test(start_paused = true)]
async fn steps_are_counted_in_each_turn_anew_and_over_all_its_batches() {
    let gate = Gate::new();
    let batch = || calls(&[("c1", "look"), ("c2", "wait")]);
    let rig = Rig::new([batch(), batch(), Played::text("1"), batch(), Played::text("2")]);
    let agent = rig.agent([tool("look", "seen"), gated("wait", &gate)]).await;
    rig.inject("Go.");
    let running = run_queue(agent);
    for text in ["a", "b"] {
        gate.reached().await;
        rig.inject(text);
        gate.open();
    }
    // The first turn is over when the next text starts its own.
    rig.interloper.inject_user_message(("c", Delivery::FollowUp)).unwrap();
    gate.reached().await;
    rig.inject("d");
    gate.open();
    running.answered().await;
    let delivered: Vec<_> = receipts(&rig).into_iter().filter(|line| line.contains("delivered")).collect();
    assert_eq!(
        delivered[1..],
        [
            "m2 delivered step 2 after wait",
            "m3 delivered step 4 after wait",
            "m4 delivered step 0 after -",
            "m5 delivered step 2 after wait"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn no_piece_after_a_stop_makes_it_seen() {
    let rig = Rig::new([Played::default().piece("", "late")]);
    let flag = rig.cancellable.clone();
    let stopping: Arc<dyn Listener> = Arc::new(Spy(move |envelope: &Envelope| {
        if matches!(envelope.event, Event::UserTurn { .. }) {
            flag.cancel();
        }
    }));
    let mut agent = rig
        .try_build(rig.builder().streaming(Streaming::On), |c| {
            c.add_listener(stopping);
            Ok(())
        })
        .await
        .unwrap();
    rig.inject("Go.");
    agent.run_queue().await.unwrap_err();
    assert_eq!(receipts(&rig), ["m1 delivered step 0 after -"]);
}
