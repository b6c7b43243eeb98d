//! Stories of pause and step: where a paused agent waits, what each decision does, and what ends the wait.

use std::sync::Arc;
use std::time::Duration;

use steersman_agent::Agent;
use steersman_base::event::{Decided, Delivery, Envelope, Event};
use steersman_base::id::CallId;
use steersman_base::message::{Arguments, Message};
use steersman_core::control::{Decision, PauseGate, PausePlace, StepLimit};
use steersman_core::provider::{Played, Streaming};
use steersman_core::tool::Tool;

use crate::support::doubles::{
    Gate, Rig, Running, Spy, acting, calls, echo, gated_beside, run, settle, texts_of, tool,
};

/// A rig whose agent can be paused.
struct PausedRig {
    rig: Rig,
    gate: Arc<PauseGate>,
}

impl PausedRig {
    /// Holds the agent from the start.
    fn new(script: impl IntoIterator<Item = Played>) -> Self {
        let gate = Arc::new(PauseGate::new());
        gate.pause();
        Self { rig: Rig::new(script), gate }
    }

    async fn agent(&self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Agent {
        self.rig.build(self.rig.builder().gate(Arc::clone(&self.gate)), tools).await
    }

    async fn run(&self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Running {
        run(self.agent(tools).await, "Go.")
    }

    /// Waits until the agent waits before this call (`""`: at a boundary).
    async fn waits_at(&self, call: &str) {
        settle().await;
        match self.gate.paused_at() {
            Some(PausePlace::Call(next)) => assert_eq!(next.id.as_str(), call),
            Some(PausePlace::Boundary) => assert_eq!(call, "", "it waits at a boundary"),
            None => panic!("it does not wait at {call:?}: {:?}", self.rig.event_lines()),
        }
    }

    fn decide(&self, call: &str, decision: Decision) {
        let id = CallId::new(call);
        assert!(self.gate.decide((!call.is_empty()).then_some(&id), decision));
    }

    async fn step(&self, call: &str) {
        self.waits_at(call).await;
        self.decide(call, Decision::Run);
    }

    /// What was said at the gate: `c1`, `boundary`, and how it went on.
    fn waits(&self) -> Vec<String> {
        let said = |event: Event| match event {
            Event::Paused { call } => Some(call.map_or("boundary".to_owned(), |call| call.id.to_string())),
            Event::Resumed { decision } => Some(format!("{decision:?}")),
            _ => None,
        };
        self.rig.events().into_iter().filter_map(said).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_paused_agent_waits_before_each_call_and_at_the_boundary() {
    let paused = PausedRig::new([calls(&[("c1", "look"), ("c2", "look")]), Played::text("Done.")]);
    let running = paused.run([tool("look", "seen")]).await;
    paused.waits_at("c1").await;
    assert_eq!(
        paused.rig.event_lines().last().unwrap().split(' ').next(),
        Some("Paused"),
        "the call is not announced yet"
    );
    paused.step("c1").await;
    paused.step("c2").await;
    paused.step("").await;
    running.answered().await;
    assert_eq!(paused.waits(), ["c1", "Run", "c2", "Run", "boundary", "Run"]);
    assert_eq!(paused.gate.paused_at(), None);
    assert_eq!(paused.rig.last_request().lines()[3..], ["tool#c1: seen", "tool#c2: seen"]);
}

#[tokio::test(start_paused = true)]
async fn nothing_waits_at_an_open_gate_nor_behind_a_final_answer() {
    let paused = PausedRig::new([calls(&[("c1", "look")]), Played::text("Done.")]);
    paused.gate.resume();
    let gate = Arc::clone(&paused.gate);
    let look = acting("look", move |_| {
        gate.resume();
        "seen".to_owned()
    });
    paused.run([look]).await.answered().await;
    assert_eq!(paused.waits(), Vec::<String>::new());

    let paused = PausedRig::new([Played::text("Done.")]);
    paused.run([]).await.answered().await;
    assert_eq!(paused.waits(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn nothing_times_out_while_an_agent_is_paused() {
    let paused = PausedRig::new([calls(&[("c1", "look")]), Played::text("Done.")]);
    let running = paused.run([tool("look", "seen")]).await;
    paused.waits_at("c1").await;
    tokio::time::sleep(Duration::from_hours(1_000)).await;
    paused.step("c1").await;
    paused.gate.resume();
    running.answered().await;
    assert_eq!(paused.rig.requests().len(), 2, "nothing was asked meanwhile");
}

#[tokio::test(start_paused = true)]
async fn a_call_runs_with_the_arguments_that_the_user_gave_it_and_the_model_is_told() {
    let script = [Played::calls(&[("c1", "echo", r#"{"text":"a"}"#)]), Played::text("Done.")];
    let paused = PausedRig::new(script);
    let running = paused.run([echo()]).await;
    paused.waits_at("c1").await;
    paused.decide("c1", Decision::Edited(Arguments::parse(r#"{"text": "b\nc"}"#)));
    paused.step("").await;
    running.answered().await;
    let told = "Note: the user changed the arguments of this call to {\"text\":\"b\\nc\"}\nb\nc";
    assert_eq!(paused.rig.last_request().lines()[3], format!("tool#c1: {told}"));
    let announced = paused.rig.events().into_iter().find_map(|event| match event {
        Event::ToolCall { arguments, .. } => Some(arguments.to_string()),
        _ => None,
    });
    assert_eq!(announced.unwrap(), r#"{"text":"b\nc"}"#);
    assert_eq!(paused.waits()[..2], ["c1", "Edited"]);
}

#[tokio::test(start_paused = true)]
async fn changed_arguments_that_do_not_fit_are_an_error_behind_the_note() {
    let script = [Played::calls(&[("c1", "echo", r#"{"text":"a"}"#)]), Played::text("Done.")];
    let paused = PausedRig::new(script);
    let running = paused.run([echo()]).await;
    paused.waits_at("c1").await;
    paused.decide("c1", Decision::Edited(Arguments::Raw("not\njson".to_owned())));
    paused.gate.resume();
    running.answered().await;
    let line = paused.rig.last_request().lines()[3].clone();
    let start = "tool#c1: Note: the user changed the arguments of this call to \"not\\njson\"\nError: ";
    assert!(line.starts_with(start), "{line}");
    let failed = |event: &Event| matches!(event, Event::ToolResult { is_error: true, .. });
    assert!(paused.rig.events().iter().any(failed), "it counts as a failure although the note comes first");
}

#[tokio::test(start_paused = true)]
async fn arguments_that_were_left_as_they_are_need_no_note() {
    let script = [Played::calls(&[("c1", "echo", r#"{"text":"a"}"#)]), Played::text("Done.")];
    let paused = PausedRig::new(script);
    let running = paused.run([echo()]).await;
    paused.waits_at("c1").await;
    paused.decide("c1", Decision::Edited(Arguments::parse(r#"{ "text": "a" }"#)));
    paused.gate.resume();
    running.answered().await;
    assert_eq!(paused.rig.last_request().lines()[3], "tool#c1: a");
    assert_eq!(paused.waits()[..2], ["c1", "Run"]);
}

#[tokio::test(start_paused = true)]
async fn a_skipped_call_does_not_run_counts_as_a_step_and_gives_the_reason() {
    let paused = PausedRig::new([calls(&[("c1", "no"), ("c2", "no")]), Played::text("Done.")]);
    let limit = StepLimit::new(5).unwrap();
    let never = acting("no", |_| panic!("it ran"));
    let builder = paused.rig.builder().gate(Arc::clone(&paused.gate)).step_limit(limit);
    let running = run(paused.rig.build(builder, [never]).await, "Go.");
    paused.waits_at("c1").await;
    paused.decide("c1", Decision::Skip("use the other file".to_owned()));
    paused.waits_at("c2").await;
    paused.decide("c2", Decision::Skip(" \n".to_owned()));
    paused.step("").await;
    let agent = running.answered().await;
    assert_eq!(
        paused.rig.last_request().lines()[3..],
        ["tool#c1: Error: skipped by the user: use the other file", "tool#c2: Error: skipped by the user"]
    );
    assert_eq!(agent.step_limit().unwrap().step(), 2);
    assert_eq!(paused.waits()[..4], ["c1", "Skipped", "c2", "Skipped"]);
    assert!(paused.rig.event_lines().contains(&"result c2: Error: skipped by the user".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn what_is_typed_while_it_waits_at_a_boundary_enters_there() {
    let paused = PausedRig::new([calls(&[("c1", "look")]), Played::text("Done.")]);
    let running = paused.run([tool("look", "seen")]).await;
    paused.step("c1").await;
    paused.waits_at("").await;
    paused.rig.inject("one more thing");
    settle().await;
    assert_eq!(texts_of(&paused.rig.interloper), ["one more thing"], "a steer does not end the wait");
    paused.decide("", Decision::Skip("means to go on".to_owned()));
    running.answered().await;
    assert_eq!(paused.rig.last_request().lines()[3..], ["tool#c1: seen", "user: one more thing"]);
}

#[tokio::test(start_paused = true)]
async fn a_message_for_now_takes_the_place_of_the_call_that_waits() {
    let paused = PausedRig::new([calls(&[("c1", "no"), ("c2", "no")]), Played::text("Done.")]);
    let running = paused.run([acting("no", |_| panic!("it ran"))]).await;
    paused.waits_at("c1").await;
    paused.rig.inject("and then this");
    paused.rig.interloper.inject_user_message(("do something else", Delivery::Now)).unwrap();
    running.answered().await;
    assert_eq!(
        paused.rig.last_request().lines()[3..],
        [
            "tool#c1: Error: not run, the user sent a message",
            "tool#c2: Error: not run, the user sent a message",
            "user: do something else",
            "user: and then this"
        ]
    );
    assert_eq!(paused.waits(), ["c1", "Message"], "nor does it wait at that boundary");
}

#[tokio::test(start_paused = true)]
async fn a_message_for_now_ends_the_wait_at_a_boundary() {
    let paused = PausedRig::new([calls(&[("c1", "look")]), Played::text("Done.")]);
    let running = paused.run([tool("look", "seen")]).await;
    paused.step("c1").await;
    paused.waits_at("").await;
    paused.rig.interloper.inject_user_message(("go on", Delivery::Now)).unwrap();
    running.answered().await;
    assert_eq!(paused.waits()[2..], ["boundary", "Message"]);
    assert_eq!(paused.rig.last_request().lines()[3..], ["tool#c1: seen", "user: go on"]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_wait_and_the_call_never_runs() {
    for at_boundary in [false, true] {
        let paused = PausedRig::new([calls(&[("c1", "look"), ("c2", "look")])]);
        let running = paused.run([tool("look", "seen")]).await;
        if at_boundary {
            paused.step("c1").await;
            paused.step("c2").await;
            paused.waits_at("").await;
        } else {
            paused.waits_at("c1").await;
        }
        paused.rig.inject("typed while it waits");
        let back = paused.rig.interloper.stop(&paused.rig.cancellable);
        assert_eq!(back.len(), 1);
        let agent = running.cancelled().await;
        assert_eq!(paused.waits().last().unwrap(), "Cancelled");
        assert_eq!(paused.gate.paused_at(), None);
        let last = agent.history().messages().last().unwrap().clone();
        let expected = if at_boundary { "seen" } else { "Error: cancelled before it ran" };
        assert!(matches!(&last, Message::Tool { content, .. } if content == expected), "{last:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_gate_closed_while_a_group_runs_holds_the_next_call() {
    let gate = Gate::new();
    let script =
        [calls(&[("c1", "beside"), ("c2", "beside"), ("c3", "alone"), ("c4", "beside")]), Played::text("Done.")];
    let paused = PausedRig::new(script);
    paused.gate.resume();
    let running = paused.run([gated_beside("beside", &gate), tool("alone", "done")]).await;
    gate.reached().await;
    gate.reached().await;
    paused.gate.pause();
    gate.open();
    gate.open();
    paused.waits_at("c3").await;
    paused.step("c3").await;
    paused.waits_at("c4").await;
    paused.gate.resume();
    gate.reached().await;
    gate.open();
    running.answered().await;
    assert_eq!(paused.waits(), ["c3", "Run", "c4", "Run"]);
}

#[tokio::test(start_paused = true)]
async fn neighbours_of_a_paused_agent_run_one_by_one_and_beside_each_other_once_it_goes_on() {
    let gate = Gate::new();
    let script = [calls(&[("c1", "t"), ("c2", "t"), ("c3", "t")]), Played::text("Done.")];
    let paused = PausedRig::new(script);
    let running = paused.run([gated_beside("t", &gate)]).await;
    paused.step("c1").await;
    gate.reached().await;
    settle().await;
    assert_eq!(gate.waiting(), 0, "only the call that was decided runs");
    paused.gate.resume();
    gate.open();
    gate.reached().await;
    gate.reached().await;
    gate.open();
    gate.open();
    running.answered().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_the_budget_refuses_is_not_offered() {
    let paused = PausedRig::new([calls(&[("c1", "look"), ("c2", "look")])]);
    paused.rig.model.route("Evidence gathered", [Played::text("So far.")]);
    let limit = StepLimit::new(1).unwrap();
    let builder = paused.rig.builder().gate(Arc::clone(&paused.gate)).step_limit(limit);
    let running = run(paused.rig.build(builder, [tool("look", "seen")]).await, "Go.");
    paused.step("c1").await;
    running.answered().await;
    assert_eq!(paused.waits(), ["c1", "Run"]);
}

#[tokio::test(start_paused = true)]
async fn only_the_first_decision_for_the_call_that_waits_counts() {
    let paused = PausedRig::new([calls(&[("c1", "look"), ("c2", "look")]), Played::text("Done.")]);
    assert!(!paused.gate.decide(None, Decision::Run), "nobody waits yet");
    let running = paused.run([tool("look", "seen")]).await;
    paused.waits_at("c1").await;
    assert!(!paused.gate.decide(Some(&CallId::new("c2")), Decision::Run), "it does not wait there");
    assert!(!paused.gate.decide(None, Decision::Run));
    paused.decide("c1", Decision::Run);
    assert!(!paused.gate.decide(Some(&CallId::new("c1")), Decision::Skip(String::new())));
    paused.waits_at("c2").await;
    paused.gate.resume();
    running.answered().await;
    assert_eq!(paused.rig.last_request().lines()[3..], ["tool#c1: seen", "tool#c2: seen"]);
}

#[tokio::test(start_paused = true)]
async fn a_decision_that_comes_with_the_news_counts() {
    let paused = PausedRig::new([calls(&[("c1", "look")]), Played::text("Done.")]);
    let gate = Arc::clone(&paused.gate);
    let deciding = Arc::new(Spy(move |envelope: &Envelope| {
        if let Event::Paused { call } = &envelope.event {
            assert!(gate.decide(call.as_ref().map(|call| &call.id), Decision::Run));
        }
    }));
    let builder = paused.rig.builder().gate(Arc::clone(&paused.gate)).streaming(Streaming::On);
    let agent = paused
        .rig
        .try_build(builder, |c| {
            c.add_listener(deciding);
            c.add_tool(tool("look", "seen"))
        })
        .await
        .unwrap();
    run(agent, "Go.").answered().await;
    assert_eq!(paused.waits(), ["c1", "Run", "boundary", "Run"]);
    let said = paused.rig.events().into_iter().filter(|event| matches!(event, Event::Resumed { .. }));
    assert!(said.eq([Event::Resumed { decision: Decided::Run }, Event::Resumed { decision: Decided::Run }]));
}

#[tokio::test(start_paused = true)]
async fn an_agent_whose_turn_is_dropped_no_longer_waits_at_the_gate() {
    let paused = PausedRig::new([calls(&[("c1", "look")])]);
    let mut agent = paused.agent([tool("look", "seen")]).await;
    paused.rig.inject("Go.");
    tokio::select! {
        _ = agent.run_queue() => panic!("it did not wait"),
        () = paused.waits_at("c1") => {}
    }
    assert_eq!(paused.gate.paused_at(), None);
    std::mem::forget(paused); // The turn is open for ever; the rig would say so.
}
