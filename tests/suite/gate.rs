//! Stories of hold and step: where a held agent waits, what each decision does, and what ends the wait.

use std::sync::Arc;
use std::time::Duration;

use steersman::agent::Agent;
use steersman::control::{Decision, Gate as Hold, Parked, StepLimit};
use steersman::event::{Decided, Delivery, Envelope, Event};
use steersman::id::CallId;
use steersman::message::{Arguments, Message};
use steersman::provider::{Played, Streaming};
use steersman::tool::Tool;

use crate::support::doubles::{
    Gate, Rig, Running, Spy, acting, calls, echo, gated_beside, run, settle, texts_of, tool,
};

/// A rig whose agent can be held.
struct Held {
    rig: Rig,
    hold: Arc<Hold>,
}

impl Held {
    /// Holds the agent from the start.
    fn new(script: impl IntoIterator<Item = Played>) -> Self {
        let hold = Arc::new(Hold::new());
        hold.hold();
        Self { rig: Rig::new(script), hold }
    }

    async fn agent(&self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Agent {
        self.rig.build(self.rig.builder().gate(Arc::clone(&self.hold)), tools).await
    }

    async fn run(&self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Running {
        run(self.agent(tools).await, "Go.")
    }

    /// Waits until the agent waits before this call (`""`: at a boundary).
    async fn parked(&self, call: &str) {
        settle().await;
        match self.hold.parked() {
            Some(Parked::Call(parked)) => assert_eq!(parked.id.as_str(), call),
            Some(Parked::Boundary) => assert_eq!(call, "", "it waits at a boundary"),
            None => panic!("it does not wait at {call:?}: {:?}", self.rig.story()),
        }
    }

    fn decide(&self, call: &str, decision: Decision) {
        let id = CallId::new(call);
        assert!(self.hold.decide((!call.is_empty()).then_some(&id), decision));
    }

    async fn step(&self, call: &str) {
        self.parked(call).await;
        self.decide(call, Decision::Run);
    }

    /// What was said at the gate: `c1`, `boundary`, and how it went on.
    fn waits(&self) -> Vec<String> {
        let said = |event: Event| match event {
            Event::Parked { call } => Some(call.map_or("boundary".to_owned(), |call| call.id.to_string())),
            Event::Unparked { decision } => Some(format!("{decision:?}")),
            _ => None,
        };
        self.rig.events().into_iter().filter_map(said).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_held_agent_waits_before_each_call_and_at_the_boundary() {
    let held = Held::new([calls(&[("c1", "look"), ("c2", "look")]), Played::text("Done.")]);
    let running = held.run([tool("look", "seen")]).await;
    held.parked("c1").await;
    assert_eq!(held.rig.story().last().unwrap().split(' ').next(), Some("Parked"), "the call is not announced yet");
    held.step("c1").await;
    held.step("c2").await;
    held.step("").await;
    running.answered().await;
    assert_eq!(held.waits(), ["c1", "Run", "c2", "Run", "boundary", "Run"]);
    assert_eq!(held.hold.parked(), None);
    assert_eq!(held.rig.last_request().lines()[3..], ["tool#c1: seen", "tool#c2: seen"]);
}

#[tokio::test(start_paused = true)]
async fn nothing_waits_at_an_open_gate_nor_behind_a_final_answer() {
    let held = Held::new([calls(&[("c1", "look")]), Played::text("Done.")]);
    held.hold.open();
    let gate = Arc::clone(&held.hold);
    let look = acting("look", move |_| {
        gate.open();
        "seen".to_owned()
    });
    held.run([look]).await.answered().await;
    assert_eq!(held.waits(), Vec::<String>::new());

    let held = Held::new([Played::text("Done.")]);
    held.run([]).await.answered().await;
    assert_eq!(held.waits(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn nothing_times_out_while_an_agent_is_held() {
    let held = Held::new([calls(&[("c1", "look")]), Played::text("Done.")]);
    let running = held.run([tool("look", "seen")]).await;
    held.parked("c1").await;
    tokio::time::sleep(Duration::from_hours(1_000)).await;
    held.step("c1").await;
    held.hold.open();
    running.answered().await;
    assert_eq!(held.rig.requests().len(), 2, "nothing was asked meanwhile");
}

#[tokio::test(start_paused = true)]
async fn a_call_runs_with_the_arguments_that_the_user_gave_it_and_the_model_is_told() {
    let script = [Played::calls(&[("c1", "echo", r#"{"text":"a"}"#)]), Played::text("Done.")];
    let held = Held::new(script);
    let running = held.run([echo()]).await;
    held.parked("c1").await;
    held.decide("c1", Decision::Edited(Arguments::parse(r#"{"text": "b\nc"}"#)));
    held.step("").await;
    running.answered().await;
    let told = "Note: the user changed the arguments of this call to {\"text\":\"b\\nc\"}\nb\nc";
    assert_eq!(held.rig.last_request().lines()[3], format!("tool#c1: {told}"));
    let announced = held.rig.events().into_iter().find_map(|event| match event {
        Event::ToolCall { arguments, .. } => Some(arguments.to_string()),
        _ => None,
    });
    assert_eq!(announced.unwrap(), r#"{"text":"b\nc"}"#);
    assert_eq!(held.waits()[..2], ["c1", "Edited"]);
}

#[tokio::test(start_paused = true)]
async fn changed_arguments_that_do_not_fit_are_an_error_behind_the_note() {
    let script = [Played::calls(&[("c1", "echo", r#"{"text":"a"}"#)]), Played::text("Done.")];
    let held = Held::new(script);
    let running = held.run([echo()]).await;
    held.parked("c1").await;
    held.decide("c1", Decision::Edited(Arguments::Raw("not\njson".to_owned())));
    held.hold.open();
    running.answered().await;
    let line = held.rig.last_request().lines()[3].clone();
    let start = "tool#c1: Note: the user changed the arguments of this call to \"not\\njson\"\nError: ";
    assert!(line.starts_with(start), "{line}");
    let failed = |event: &Event| matches!(event, Event::ToolResult { is_error: true, .. });
    assert!(held.rig.events().iter().any(failed), "it counts as a failure although the note comes first");
}

#[tokio::test(start_paused = true)]
async fn arguments_that_were_left_as_they_are_need_no_note() {
    let script = [Played::calls(&[("c1", "echo", r#"{"text":"a"}"#)]), Played::text("Done.")];
    let held = Held::new(script);
    let running = held.run([echo()]).await;
    held.parked("c1").await;
    held.decide("c1", Decision::Edited(Arguments::parse(r#"{ "text": "a" }"#)));
    held.hold.open();
    running.answered().await;
    assert_eq!(held.rig.last_request().lines()[3], "tool#c1: a");
    assert_eq!(held.waits()[..2], ["c1", "Run"]);
}

#[tokio::test(start_paused = true)]
async fn a_skipped_call_does_not_run_counts_as_a_step_and_gives_the_reason() {
    let held = Held::new([calls(&[("c1", "no"), ("c2", "no")]), Played::text("Done.")]);
    let limit = StepLimit::new(5).unwrap();
    let never = acting("no", |_| panic!("it ran"));
    let builder = held.rig.builder().gate(Arc::clone(&held.hold)).step_limit(limit);
    let running = run(held.rig.build(builder, [never]).await, "Go.");
    held.parked("c1").await;
    held.decide("c1", Decision::Skip("use the other file".to_owned()));
    held.parked("c2").await;
    held.decide("c2", Decision::Skip(" \n".to_owned()));
    held.step("").await;
    let agent = running.answered().await;
    assert_eq!(
        held.rig.last_request().lines()[3..],
        ["tool#c1: Error: skipped by the user: use the other file", "tool#c2: Error: skipped by the user"]
    );
    assert_eq!(agent.step_limit().unwrap().step(), 2);
    assert_eq!(held.waits()[..4], ["c1", "Skipped", "c2", "Skipped"]);
    assert!(held.rig.story().contains(&"result c2: Error: skipped by the user".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn what_is_typed_while_it_waits_at_a_boundary_enters_there() {
    let held = Held::new([calls(&[("c1", "look")]), Played::text("Done.")]);
    let running = held.run([tool("look", "seen")]).await;
    held.step("c1").await;
    held.parked("").await;
    held.rig.inject("one more thing");
    settle().await;
    assert_eq!(texts_of(&held.rig.interloper), ["one more thing"], "a steer does not end the wait");
    held.decide("", Decision::Skip("means to go on".to_owned()));
    running.answered().await;
    assert_eq!(held.rig.last_request().lines()[3..], ["tool#c1: seen", "user: one more thing"]);
}

#[tokio::test(start_paused = true)]
async fn a_message_for_now_takes_the_place_of_the_call_that_waits() {
    let held = Held::new([calls(&[("c1", "no"), ("c2", "no")]), Played::text("Done.")]);
    let running = held.run([acting("no", |_| panic!("it ran"))]).await;
    held.parked("c1").await;
    held.rig.inject("and then this");
    held.rig.interloper.inject_user_message(("do something else", Delivery::Now)).unwrap();
    running.answered().await;
    assert_eq!(
        held.rig.last_request().lines()[3..],
        [
            "tool#c1: Error: not run, the user sent a message",
            "tool#c2: Error: not run, the user sent a message",
            "user: do something else",
            "user: and then this"
        ]
    );
    assert_eq!(held.waits(), ["c1", "Message"], "nor does it wait at that boundary");
}

#[tokio::test(start_paused = true)]
async fn a_message_for_now_ends_the_wait_at_a_boundary() {
    let held = Held::new([calls(&[("c1", "look")]), Played::text("Done.")]);
    let running = held.run([tool("look", "seen")]).await;
    held.step("c1").await;
    held.parked("").await;
    held.rig.interloper.inject_user_message(("go on", Delivery::Now)).unwrap();
    running.answered().await;
    assert_eq!(held.waits()[2..], ["boundary", "Message"]);
    assert_eq!(held.rig.last_request().lines()[3..], ["tool#c1: seen", "user: go on"]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_wait_and_the_call_never_runs() {
    for at_boundary in [false, true] {
        let held = Held::new([calls(&[("c1", "look"), ("c2", "look")])]);
        let running = held.run([tool("look", "seen")]).await;
        if at_boundary {
            held.step("c1").await;
            held.step("c2").await;
            held.parked("").await;
        } else {
            held.parked("c1").await;
        }
        held.rig.inject("typed while it waits");
        let back = held.rig.interloper.stop(&held.rig.cancellable);
        assert_eq!(back.len(), 1);
        let agent = running.cancelled().await;
        assert_eq!(held.waits().last().unwrap(), "Cancelled");
        assert_eq!(held.hold.parked(), None);
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
    let held = Held::new(script);
    held.hold.open();
    let running = held.run([gated_beside("beside", &gate), tool("alone", "done")]).await;
    gate.reached().await;
    gate.reached().await;
    held.hold.hold();
    gate.open();
    gate.open();
    held.parked("c3").await;
    held.step("c3").await;
    held.parked("c4").await;
    held.hold.open();
    gate.reached().await;
    gate.open();
    running.answered().await;
    assert_eq!(held.waits(), ["c3", "Run", "c4", "Run"]);
}

#[tokio::test(start_paused = true)]
async fn neighbours_of_a_held_agent_run_one_by_one_and_beside_each_other_once_it_goes_on() {
    let gate = Gate::new();
    let script = [calls(&[("c1", "t"), ("c2", "t"), ("c3", "t")]), Played::text("Done.")];
    let held = Held::new(script);
    let running = held.run([gated_beside("t", &gate)]).await;
    held.step("c1").await;
    gate.reached().await;
    settle().await;
    assert_eq!(gate.waiting(), 0, "only the call that was decided runs");
    held.hold.open();
    gate.open();
    gate.reached().await;
    gate.reached().await;
    gate.open();
    gate.open();
    running.answered().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_the_budget_refuses_is_not_offered() {
    let held = Held::new([calls(&[("c1", "look"), ("c2", "look")])]);
    held.rig.model.route("Evidence gathered", [Played::text("So far.")]);
    let limit = StepLimit::new(1).unwrap();
    let builder = held.rig.builder().gate(Arc::clone(&held.hold)).step_limit(limit);
    let running = run(held.rig.build(builder, [tool("look", "seen")]).await, "Go.");
    held.step("c1").await;
    running.answered().await;
    assert_eq!(held.waits(), ["c1", "Run"]);
}

#[tokio::test(start_paused = true)]
async fn only_the_first_decision_for_the_call_that_waits_counts() {
    let held = Held::new([calls(&[("c1", "look"), ("c2", "look")]), Played::text("Done.")]);
    assert!(!held.hold.decide(None, Decision::Run), "nobody waits yet");
    let running = held.run([tool("look", "seen")]).await;
    held.parked("c1").await;
    assert!(!held.hold.decide(Some(&CallId::new("c2")), Decision::Run), "it does not wait there");
    assert!(!held.hold.decide(None, Decision::Run));
    held.decide("c1", Decision::Run);
    assert!(!held.hold.decide(Some(&CallId::new("c1")), Decision::Skip(String::new())));
    held.parked("c2").await;
    held.hold.open();
    running.answered().await;
    assert_eq!(held.rig.last_request().lines()[3..], ["tool#c1: seen", "tool#c2: seen"]);
}

#[tokio::test(start_paused = true)]
async fn a_decision_that_comes_with_the_news_counts() {
    let held = Held::new([calls(&[("c1", "look")]), Played::text("Done.")]);
    let gate = Arc::clone(&held.hold);
    let deciding = Arc::new(Spy(move |envelope: &Envelope| {
        if let Event::Parked { call } = &envelope.event {
            assert!(gate.decide(call.as_ref().map(|call| &call.id), Decision::Run));
        }
    }));
    let builder = held.rig.builder().gate(Arc::clone(&held.hold)).streaming(Streaming::On);
    let agent = held
        .rig
        .try_build(builder, |c| {
            c.add_listener(deciding);
            c.add_tool(tool("look", "seen"))
        })
        .await
        .unwrap();
    run(agent, "Go.").answered().await;
    assert_eq!(held.waits(), ["c1", "Run", "boundary", "Run"]);
    let said = held.rig.events().into_iter().filter(|event| matches!(event, Event::Unparked { .. }));
    assert!(said.eq([Event::Unparked { decision: Decided::Run }, Event::Unparked { decision: Decided::Run }]));
}

#[tokio::test(start_paused = true)]
async fn an_agent_whose_turn_is_dropped_no_longer_waits_at_the_gate() {
    let held = Held::new([calls(&[("c1", "look")])]);
    let mut agent = held.agent([tool("look", "seen")]).await;
    held.rig.inject("Go.");
    tokio::select! {
        _ = agent.run_queue() => panic!("it did not wait"),
        () = held.parked("c1") => {}
    }
    assert_eq!(held.hold.parked(), None);
    std::mem::forget(held); // The turn is open for ever; the rig would say so.
}
