//! Stories of the stop: at every point of a turn it acts at once, leaves a conversation that can be sent, and the next
//! turn works.

use std::sync::Arc;

use steersman_agent::Agent;
use steersman_base::event::{Envelope, Event};
use steersman_core::control::Cancellable;
use steersman_core::listener::Listener;
use steersman_core::provider::{
    ChatProvider, ChatRequest, FixedProvider, Piece, Played, ProviderError, Reply, Sink, Streaming,
};
use tokio::sync::Notify;

use crate::support::doubles::{
    FnExtension, Gate, Log, PROMPT, Pause, PlayedExt, Rig, Spy, calls, gated, gated_beside, run, run_queue, tool,
};

fn spy(f: impl Fn(&Event) + Send + Sync + 'static) -> Arc<dyn Listener> {
    Arc::new(Spy(move |envelope: &Envelope| f(&envelope.event)))
}

/// Runs one more turn and looks at its request.
async fn the_next_turn_works(rig: &Rig, agent: Agent) {
    rig.model.push(Played::text("Next."));
    let agent = run(agent, "And now?").answered().await;
    assert_eq!(rig.last_request().lines().last().unwrap(), "user: And now?");
    assert_eq!(agent.last_assistant_content(), Some("Next."));
}

// D6: before the first request.
#[tokio::test(start_paused = true)]
async fn a_cancel_before_the_first_request_makes_none() {
    let rig = Rig::new([]);
    let flag = rig.cancellable.clone();
    let stopping = spy(move |event| {
        if matches!(event, Event::UserTurn { content, .. } if content == "Hi.") {
            flag.cancel();
        }
    });
    let agent = rig
        .try_build(rig.builder(), |c| {
            c.add_listener(stopping);
            Ok(())
        })
        .await
        .unwrap();
    let agent = run(agent, "Hi.").cancelled().await;
    assert_eq!(rig.requests().len(), 0);
    assert_eq!(rig.event_lines(), ["turn 1", "user start: Hi.", "cancelled", "ended 1 cancelled"]);
    the_next_turn_works(&rig, agent).await;
}

// D13: an extension that notices the stop ends the turn as cancelled, not as failed.
#[tokio::test(start_paused = true)]
async fn an_extension_that_is_cancelled_cancels_the_turn() {
    let rig = Rig::new([]);
    let extension = FnExtension::new().on_user_message(|_, words| match words {
        "Hi." => Err(steersman_base::error::Cancelled.into()),
        _ => Ok(None),
    });
    let agent = rig.try_build(rig.builder(), |c| c.add_extension(Arc::new(extension))).await.unwrap();
    let agent = run(agent, "Hi.").cancelled().await;
    the_next_turn_works(&rig, agent).await;
}

// D8
#[tokio::test(start_paused = true)]
async fn after_a_cancel_mid_stream_no_delta_comes_and_the_partial_answer_is_kept() {
    let reply =
        Played::default().piece("Hm.", "one ").piece("", "two ").piece("", "three").with_calls(&[("c1", "x", "{}")]);
    let rig = Rig::new([reply]);
    let flag = rig.cancellable.clone();
    let stopping = spy(move |event| {
        if matches!(event, Event::AssistantDelta { text } if text == "two ") {
            flag.cancel();
        }
    });
    let agent = rig
        .try_build(rig.builder().streaming(Streaming::On), |c| {
            c.add_listener(stopping);
            Ok(())
        })
        .await
        .unwrap();
    let agent = run(agent, "Count.").cancelled().await;
    assert_eq!(
        rig.event_lines()[2..],
        [
            "~thinking: Hm.",
            "~assistant: one ",
            "~assistant: two ",
            "interrupted: one two ",
            "cancelled",
            "ended 1 cancelled"
        ]
    );
    assert_eq!(agent.last_assistant_content(), Some("one two "));
    the_next_turn_works(&rig, agent).await;
    assert_eq!(
        rig.last_request().lines()[1..3],
        ["user: Count.", "assistant: one two  (interrupted)"],
        "half calls and thinking are dropped"
    );
}

// D8: nothing visible came, so nothing enters.
#[tokio::test(start_paused = true)]
async fn a_cancel_while_the_model_only_thinks_leaves_no_reply() {
    let pause = Pause::new();
    let rig = Rig::new([Played::default().piece("Hm.", "").piece("", " \n").paused(&pause)]);
    let agent = rig.streaming([]).await;
    let running = run(agent, "Think.");
    pause.reached().await;
    rig.cancellable.cancel();
    let agent = running.cancelled().await;
    assert!(!rig.event_lines().iter().any(|line| line.starts_with("interrupted")), "{:?}", rig.event_lines());
    assert_eq!(agent.history().messages().len(), 2);
    the_next_turn_works(&rig, agent).await;
}

// D6: a stalled stream.
#[tokio::test(start_paused = true)]
async fn a_cancel_cuts_a_stalled_stream_at_once() {
    let pause = Pause::new();
    let rig = Rig::new([Played::text("Half").paused(&pause)]);
    let agent = rig.streaming([]).await;
    let running = run(agent, "Hi.");
    pause.reached().await;
    rig.cancellable.cancel();
    let agent = running.cancelled().await;
    assert_eq!(rig.event_lines()[2..], ["~assistant: Half", "interrupted: Half", "cancelled", "ended 1 cancelled"]);
    the_next_turn_works(&rig, agent).await;
}

// D6: the gap of the original is closed.
#[tokio::test(start_paused = true)]
async fn a_cancel_cuts_the_wait_for_an_answer_that_does_not_stream() {
    let pause = Pause::new();
    let rig = Rig::new([Played::text("Never seen.").paused(&pause)]);
    let agent = rig.agent([]).await;
    let running = run(agent, "Hi.");
    pause.reached().await;
    rig.cancellable.cancel();
    let agent = running.cancelled().await;
    assert_eq!(rig.event_lines()[2..], ["cancelled", "ended 1 cancelled"]);
    assert_eq!(agent.history().messages().len(), 2);
    the_next_turn_works(&rig, agent).await;
}

/// A model that never answers and says when its request is dropped.
struct Silent(Arc<Notify>, Log);

impl ChatProvider for Silent {
    fn complete<'a>(
        &'a self,
        _: ChatRequest<'a>,
        _: &'a mut Sink<'a>,
    ) -> futures_util::future::BoxFuture<'a, Result<Reply, ProviderError>> {
        Box::pin(async {
            let _guard = Dropped(self.1.clone());
            self.0.notify_one();
            std::future::pending().await
        })
    }
}

struct Dropped(Log);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.say("dropped");
    }
}

// D6
#[tokio::test(start_paused = true)]
async fn a_cancel_drops_the_request() {
    let rig = Rig::new([]);
    let (asked, log) = (Arc::new(Notify::new()), Log::new());
    let connector = FixedProvider::new(Arc::new(Silent(Arc::clone(&asked), log.clone())));
    let builder = Agent::builder(Rig::transport(), PROMPT, Arc::new(connector)).cancellable(rig.cancellable.clone());
    let agent = rig.build(builder, []).await;
    let running = run(agent, "Hi.");
    asked.notified().await;
    assert_eq!(log.all(), [""; 0]);
    rig.cancellable.cancel();
    running.cancelled().await;
    assert_eq!(log.all(), ["dropped"]);
}

/// A model during whose stream of tool arguments the run is stopped.
struct Fragments(Cancellable);

impl ChatProvider for Fragments {
    fn complete<'a>(
        &'a self,
        _: ChatRequest<'a>,
        sink: &'a mut Sink<'a>,
    ) -> futures_util::future::BoxFuture<'a, Result<Reply, ProviderError>> {
        Box::pin(async {
            let fragment = || Piece::Chunk { thinking: String::new(), text: String::new() };
            sink(fragment())?;
            self.0.cancel();
            sink(fragment())?;
            unreachable!("the stream went on after the stop")
        })
    }
}

// A long stream of tool arguments has no other cancel point.
#[tokio::test]
async fn a_chunk_without_text_is_a_cancel_point_too() {
    let rig = Rig::new([]);
    let connector = FixedProvider::new(Arc::new(Fragments(rig.cancellable.clone())));
    let builder = Agent::builder(Rig::transport(), PROMPT, Arc::new(connector))
        .cancellable(rig.cancellable.clone())
        .streaming(Streaming::On);
    let agent = rig.build(builder, []).await;
    run(agent, "Look.").cancelled().await;
    assert_eq!(rig.event_lines()[2..], ["cancelled", "ended 1 cancelled"]);
}

// D6, D7
#[tokio::test(start_paused = true)]
async fn a_cancel_during_one_tool_drops_it_and_closes_the_rest_of_the_batch() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "look"), ("c2", "wait"), ("c3", "look")])]);
    let agent = rig.agent([gated("wait", &gate), tool("look", "seen")]).await;
    let running = run(agent, "Go.");
    gate.reached().await;
    rig.cancellable.cancel();
    let agent = running.cancelled().await;
    assert_eq!(
        rig.event_lines()[3..],
        ["call c1 look", "result c1: seen", "call c2 wait", "cancelled", "ended 1 cancelled"],
        "no result event for what did not run to its end"
    );
    the_next_turn_works(&rig, agent).await;
    assert_eq!(
        rig.last_request().lines()[3..6],
        ["tool#c1: seen", "tool#c2: Error: cancelled while it ran", "tool#c3: Error: cancelled before it ran"]
    );
}

// D6, D7
#[tokio::test(start_paused = true)]
async fn a_cancel_during_three_parallel_tools_ends_all_of_them() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "wait"), ("c2", "wait"), ("c3", "wait"), ("c4", "look")])]);
    let agent = rig.agent([gated_beside("wait", &gate), tool("look", "seen")]).await;
    let running = run(agent, "Go.");
    for _ in 0..3 {
        gate.reached().await;
    }
    rig.cancellable.cancel();
    let agent = running.cancelled().await;
    the_next_turn_works(&rig, agent).await;
    let lines = rig.last_request().lines();
    assert!(lines[3..6].iter().all(|line| line.ends_with("Error: cancelled while it ran")), "{lines:?}");
    assert_eq!(lines[6], "tool#c4: Error: cancelled before it ran");
}

// D10
#[tokio::test(start_paused = true)]
async fn a_cancel_during_the_rescue_says_so_for_both_and_ends_the_turn() {
    let pause = Pause::new();
    let rig = Rig::new([calls(&[("c1", "look"), ("c2", "look")])]);
    rig.model.route("Evidence gathered", [Played::text("Half").paused(&pause)]);
    let agent = rig
        .build(
            rig.builder().streaming(Streaming::On).step_limit(steersman_core::control::StepLimit::new(1).unwrap()),
            [tool("look", "seen")],
        )
        .await;
    let running = run(agent, "Look.");
    pause.reached().await;
    rig.cancellable.cancel();
    let agent = running.cancelled().await;
    let lines = rig.event_lines();
    assert_eq!(
        lines[lines.len() - 4..],
        ["spawned synthesizer", "finished synthesizer Cancelled", "cancelled", "ended 1 cancelled"]
    );
    let rescue = rig.event_lines_of("synthesizer");
    assert_eq!(rescue[2..], ["~assistant: Half", "interrupted: Half", "cancelled", "ended 1 cancelled"]);
    the_next_turn_works(&rig, agent).await;
}

// D9
#[tokio::test(start_paused = true)]
async fn a_cancel_pressed_while_nothing_runs_does_not_poison_the_next_turn() {
    let rig = Rig::new([Played::text("One."), Played::text("Two.")]);
    let agent = rig.agent([]).await;
    rig.cancellable.cancel();
    let mut agent = run(agent, "Hi.").answered().await;
    rig.interloper.stop(&rig.cancellable);
    rig.inject("Again.");
    assert_eq!(agent.run_queue().await.unwrap(), 1);
    assert!(!rig.cancellable.is_cancelled());
}

// D9: only the turn's start clears the flag; a cancel that comes later holds.
#[tokio::test(start_paused = true)]
async fn a_cancel_right_after_the_queue_was_taken_holds() {
    let rig = Rig::new([]);
    let flag = rig.cancellable.clone();
    rig.inject("Go.");
    // The watcher is called the moment the queue was taken.
    let queue = Arc::clone(&rig.interloper);
    rig.interloper.watch(Arc::new(move || {
        if !queue.pending() {
            flag.cancel();
        }
    }));
    let agent = rig.agent([]).await;
    run_queue(agent).cancelled().await;
    assert_eq!(rig.requests().len(), 0);
}

// D9
#[tokio::test(start_paused = true)]
async fn an_agent_that_shares_the_flag_of_another_never_clears_it() {
    let rig = Rig::new([]);
    let builder = Agent::builder(Rig::transport(), PROMPT, rig.connector()).shared_cancellable(rig.cancellable.clone());
    let agent = rig.build(builder, []).await;
    rig.cancellable.cancel();
    let mut agent = run(agent, "Hi.").cancelled().await;
    agent.reset();
    assert!(rig.cancellable.is_cancelled());
    assert_eq!(rig.requests().len(), 0);
}

// D5: the stop gives back everything, in order; none of it is delivered.
#[tokio::test(start_paused = true)]
async fn a_stop_gives_every_pending_text_back_and_delivers_none() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "wait")]), Played::text("Next.")]);
    let agent = rig.agent([gated("wait", &gate)]).await;
    rig.inject("Go.");
    let running = run_queue(agent);
    gate.reached().await;
    rig.inject("a");
    rig.interloper.inject_user_message(("b", steersman_base::event::Delivery::FollowUp)).unwrap();
    rig.inject("c");
    let back: Vec<String> = rig.interloper.stop(&rig.cancellable).into_iter().map(|entry| entry.message.text).collect();
    assert_eq!(back, ["a", "c", "b"], "in the order of the list, which is that of delivery");
    let mut agent = running.cancelled().await;
    assert_eq!(agent.run_queue().await.unwrap(), 0);
    run(agent, "Else.").answered().await;
    let users: Vec<String> = rig.last_request().lines().into_iter().filter(|line| line.starts_with("user")).collect();
    assert_eq!(users, ["user: Go.", "user: Else."]);
}

// Again and again.
#[tokio::test(start_paused = true)]
async fn an_agent_survives_a_cancel_at_every_point_in_turn() {
    let (gate, pause) = (Gate::new(), Pause::new());
    let rig = Rig::new([]);
    let mut agent = rig.streaming([gated_beside("wait", &gate)]).await;
    for round in 0..3 {
        rig.model.push(Played::text(format!("partial {round}")).paused(&pause));
        let running = run(agent, "Talk.");
        pause.reached().await;
        rig.cancellable.cancel();
        agent = running.cancelled().await;

        let (a, b) = (format!("a{round}"), format!("b{round}"));
        rig.model.push(calls(&[(&a, "wait"), (&b, "wait")]));
        let running = run(agent, "Work.");
        gate.reached().await;
        gate.reached().await;
        rig.cancellable.cancel();
        agent = running.cancelled().await;
    }
    the_next_turn_works(&rig, agent).await;
}
