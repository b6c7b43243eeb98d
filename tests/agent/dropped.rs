//! Stories of a turn whose future is dropped (a time-out, a `select!`): what it leaves can be sent, and is closed (D24).
//!
//! That every turn, round and child that began has ended is checked at the end of each test by its rig.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use steersman_agent::Agent;
use steersman_base::event::Event;
use steersman_core::approval::{Answerer, Approvals, CommandOperation, Mode, Policy};
use steersman_core::control::{PauseGate, StepLimit};
use steersman_core::provider::{Played, Streaming};
use steersman_core::tool::{FnTool, Parameters, ToolContext};

use crate::support::doubles::{
    Gate, Pause, PlayedExt, Rig, assert_sendable, calls, gated, gated_beside, gated_stubborn, lines, run, tool,
};
use crate::support::subagents::{child, parent, persona, spawns};

/// Runs a turn until `there`, and drops it.
async fn dropped(agent: &mut Agent, text: &str, there: impl Future<Output = ()>) {
    tokio::select! {
        result = agent.run_loop(text) => panic!("the turn ended: {result:?}"),
        () = there => {}
    }
    assert_sendable(agent);
}

/// Lets the turn beside it go on until something is so.
async fn until(so: impl Fn() -> bool) {
    while !so() {
        tokio::task::yield_now().await;
    }
}

fn history(agent: &Agent) -> Vec<String> {
    lines(agent.history().messages()).split_off(1)
}

#[tokio::test]
async fn the_call_that_ran_is_interrupted_and_the_one_behind_it_is_not_run() {
    for stubborn in [false, true] {
        let rig = Rig::new([calls(&[("c1", "slow"), ("c2", "look")]), Played::text("Sorry.")]);
        let gate = Gate::new();
        let slow = if stubborn { gated_stubborn("slow", &gate) } else { gated("slow", &gate) };
        let mut agent = rig.agent([slow, tool("look", "seen")]).await;
        dropped(&mut agent, "Go.", gate.reached()).await;
        assert_eq!(
            history(&agent),
            [
                "user: Go.",
                "assistant:  +slow#c1 +look#c2",
                "tool#c1: Error: cancelled while it ran",
                "tool#c2: Error: cancelled before it ran",
            ]
        );
        assert_eq!(
            rig.event_lines(),
            ["turn 1", "user start: Go.", "tokens", "call c1 slow", "cancelled", "ended 1 cancelled"]
        );
        run(agent, "And?").answered().await;
        assert_eq!(
            rig.event_lines()[6..],
            ["turn 2", "user start: And?", "assistant: Sorry.", "tokens", "ended 2 completed"]
        );
    }
}

#[tokio::test]
async fn a_call_that_had_ended_beside_the_one_that_ran_keeps_its_result() {
    let rig = Rig::new([calls(&[("c1", "slow"), ("c2", "quick")])]);
    let (slow, quick) = (Gate::new(), Gate::new());
    let mut agent = rig.agent([gated_beside("slow", &slow), gated_beside("quick", &quick)]).await;
    let there = async {
        slow.reached().await;
        quick.open();
        until(|| rig.event_lines().iter().any(|line| line == "result c2: quick done")).await;
    };
    dropped(&mut agent, "Go.", there).await;
    assert_eq!(history(&agent)[2..], ["tool#c1: Error: cancelled while it ran", "tool#c2: quick done"]);
}

// D8
#[tokio::test]
async fn the_text_that_had_come_stays_and_is_marked() {
    let pause = Pause::new();
    let rig = Rig::new([Played::text("one ").paused(&pause).piece("", "two")]);
    let mut agent = rig.build(rig.builder().streaming(Streaming::On), []).await;
    dropped(&mut agent, "Go.", pause.reached()).await;
    assert_eq!(history(&agent), ["user: Go.", "assistant: one  (interrupted)"]);
    assert_eq!(rig.event_lines()[2..], ["~assistant: one ", "interrupted: one ", "cancelled", "ended 1 cancelled"]);
}

// D5
#[tokio::test]
async fn what_was_pending_stays_pending_and_waits_for_the_next_text() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "slow")]), Played::text("Both.")]);
    let mut agent = rig.agent([gated("slow", &gate)]).await;
    rig.inject("Go.");
    tokio::select! {
        result = agent.run_queue() => panic!("the queue was run: {result:?}"),
        () = async {
            gate.reached().await;
            rig.inject("and this");
        } => {}
    }
    assert_sendable(&agent);
    assert_eq!(agent.run_queue().await.unwrap(), 0, "it does not start a turn by itself");
    rig.inject("and that");
    assert_eq!(agent.run_queue().await.unwrap(), 1);
    assert_eq!(history(&agent)[3..], ["user: and this", "user: and that", "assistant: Both."]);
}

#[tokio::test]
async fn a_rescue_ends_with_the_turn_that_it_belongs_to() {
    let pause = Pause::new();
    let rig = Rig::new([calls(&[("c1", "look"), ("c2", "look")])]);
    rig.model.route("Evidence gathered", [Played::text("Half").paused(&pause)]);
    let builder = rig.builder().streaming(Streaming::On).step_limit(StepLimit::new(1).unwrap());
    let mut agent = rig.build(builder, [tool("look", "seen")]).await;
    dropped(&mut agent, "Look.", pause.reached()).await;
    let lines = rig.event_lines();
    let end = ["spawned synthesizer", "finished synthesizer Cancelled", "cancelled", "ended 1 cancelled"];
    assert_eq!(lines[lines.len() - 4..], end);
    let rescue = rig.event_lines_of("synthesizer");
    assert_eq!(rescue[2..], ["~assistant: Half", "interrupted: Half", "cancelled", "ended 1 cancelled"]);
}

#[tokio::test]
async fn a_child_ends_with_the_turn_that_it_belongs_to() {
    let gate = Gate::new();
    let rig = Rig::new([spawns(&[("c1", "miner", "Dig.")])]);
    rig.model.route(&child("miner"), [calls(&[("d1", "slow")])]);
    let mut agent = parent(&rig, [gated("slow", &gate)], vec![persona("miner", &["slow"])]).await;
    dropped(&mut agent, "Go.", gate.reached()).await;
    assert_eq!(rig.event_lines_of("miner 0")[3..], ["call d1 slow", "cancelled", "ended 1 cancelled"]);
    assert_eq!(
        rig.event_lines()[3..],
        ["call c1 agent", "spawned miner 0", "finished miner 0 Cancelled", "cancelled", "ended 1 cancelled"]
    );
    assert_eq!(history(&agent)[2..], ["tool#c1: Error: cancelled while it ran"]);
}

#[tokio::test]
async fn a_question_is_taken_away_with_its_call() {
    let approvals = Arc::new(Approvals::new(Policy { answerer: Answerer::User, ..Policy::default() }, Mode::Ask));
    let asks = FnTool::new("asks", "Asks.", Parameters::default(), |_, context: ToolContext| async move {
        let operation = CommandOperation {
            command: "cargo test".to_owned(),
            cwd: "/work".into(),
            timeout: Duration::ZERO,
            outside: false,
        };
        context.approve(operation).await.map(|_| String::new())
    });
    let rig = Rig::new([calls(&[("c1", "asks")])]);
    let mut agent = rig.build(rig.builder().approvals(Arc::clone(&approvals)), [Arc::new(asks) as _]).await;
    dropped(&mut agent, "Go.", until(|| !approvals.open().is_empty())).await;
    assert!(approvals.open().is_empty());
    let answers: Vec<_> = rig
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Answer { answer, .. } => Some(answer),
            _ => None,
        })
        .collect();
    assert_eq!(answers, ["withdrawn"]);
}

#[tokio::test]
async fn an_agent_that_waited_at_its_gate_says_that_it_does_so_no_more() {
    let gate = Arc::new(PauseGate::new());
    gate.pause();
    let rig = Rig::new([calls(&[("c1", "look")])]);
    let mut agent = rig.build(rig.builder().gate(Arc::clone(&gate)), [tool("look", "seen")]).await;
    dropped(&mut agent, "Go.", until(|| gate.paused_at().is_some())).await;
    assert_eq!(gate.paused_at(), None);
    let end = ["Resumed { decision: Cancelled }", "cancelled", "ended 1 cancelled"];
    assert_eq!(rig.event_lines()[4..], end);
    assert_eq!(history(&agent)[2..], ["tool#c1: Error: cancelled before it ran"]);
}
