//! Stories of Truffle's surface: functions per event, a limit on rounds, a reset (D18).

use std::sync::{Arc, Mutex};

use steersman_agent::subagent::SubAgents;
use steersman_agent::{Agent, EventKind, EventPayload, EventSource};
use steersman_base::error::RunError;
use steersman_base::event::{Event, Outcome};
use steersman_core::control::StepLimit;
use steersman_core::provider::{Played, ProviderError};
use steersman_core::tool::{Concurrency, FnTool, Parameters};

use crate::support::doubles::{FnExtension, Gate, Log, PlayedExt, Rig, calls, gated_beside, lines, run, tool};
use crate::support::subagents::{child, persona, spawns};

fn hears(agent: &mut Agent, log: &Log, kind: EventKind, name: &'static str) {
    let log = log.clone();
    agent.on(kind, move |_| log.say(name));
}

// D13, D18
#[tokio::test]
async fn a_run_is_heard_as_truffles_events_in_order() {
    let rig = Rig::new([calls(&[("c1", "look"), ("c2", "look")]), Played::text("Done.")]);
    let mut agent = rig.agent([tool("look", "seen")]).await;
    let log = Log::new();
    let heard = log.clone();
    agent.on_any(move |kind, said| {
        let detail = match &said.envelope.event {
            Event::TurnStarted { turn } => turn.to_string(),
            Event::RoundStarted { round, .. } | Event::RoundEnded { round, .. } => round.to_string(),
            Event::Assistant { text, .. } => text.clone(),
            Event::Tokens(_) => "usage".to_owned(),
            Event::ToolCall { id, .. } => id.to_string(),
            Event::ToolResult { id, content, .. } => format!("{id} {content}"),
            Event::TurnEnded { outcome, .. } => format!("{outcome:?}"),
            other => panic!("{other:?} has no kind"),
        };
        heard.say(format!("{kind} {detail}"));
    });
    run(agent, "Look.").answered().await;
    assert_eq!(
        log.all(),
        [
            "agent_start 1",
            "turn_start 1",
            "message usage",
            "tool_call c1",
            "tool_result c1 seen",
            "tool_call c2",
            "tool_result c2 seen",
            "turn_end 1",
            "turn_start 2",
            "message Done.",
            "message usage",
            "turn_end 2",
            "agent_end Completed"
        ]
    );
}

// D27
#[tokio::test]
async fn functions_hear_the_input_the_tool_results_and_the_output() {
    let rig = Rig::new([
        calls(&[("c1", "slow"), ("c2", "quick")]),
        Played::text("Done."),
        Played::error(ProviderError::CutOff),
    ]);
    let slow = Gate::new();
    let quick = {
        let slow = slow.clone();
        let answer = move |_, _| {
            let slow = slow.clone();
            async move {
                slow.open();
                Ok("at once".to_owned())
            }
        };
        FnTool::new("quick", "Answers.", Parameters::default(), answer).concurrency(Concurrency::Parallel)
    };
    let mut agent = rig.agent([gated_beside("slow", &slow), Arc::new(quick)]).await;
    let log = payloads(&mut agent);
    rig.inject("Look.");
    rig.inject("Twice.");
    agent.run_queue().await.unwrap();
    agent.run_loop("Again.").await.unwrap_err();
    assert_eq!(
        log.all(),
        [
            "agent_start Look.\n\nTwice.",
            "turn_end [tool#c1: slow done, tool#c2: at once]",
            "turn_end []",
            "agent_end Some(\"Done.\")",
            "agent_start Again.",
            "turn_end []",
            "agent_end None",
        ]
    );
}

// D27
#[tokio::test]
async fn functions_hear_the_rescue_marked_as_such_and_no_child() {
    let rig = Rig::new([spawns(&[("c1", "miner", "Dig.")]), spawns(&[("c2", "miner", "Dig.")])]);
    rig.model.route(&child("miner"), [Played::text("Gold.")]);
    rig.model.route("Evidence gathered", [Played::text("Much gold.")]);
    let log = Arc::new(Mutex::new(None));
    // Before the tool that spawns is there, which takes the listeners over.
    let early = Arc::clone(&log);
    let subscribes = FnExtension::new().bind(move |agent| {
        *early.lock().unwrap() = Some(payloads(agent));
        Ok(())
    });
    let builder = rig.builder().step_limit(StepLimit::new(1).unwrap());
    let mut agent = rig
        .try_build(builder, |c| {
            c.add_extension(Arc::new(subscribes))?;
            c.add_extension(Arc::new(SubAgents::new(vec![persona("miner", &[])])?))
        })
        .await
        .unwrap();
    agent.run_loop("Go.").await.unwrap();
    let heard = log.lock().unwrap().take().unwrap().all();
    assert_eq!(heard[..3], ["agent_start Go.", "turn_end [tool#c1: Gold.]", "turn_end []"]);
    assert!(heard[3].starts_with("rescue: agent_start Question: Go."), "{heard:?}");
    assert_eq!(
        heard[4..],
        ["rescue: turn_end []", "rescue: agent_end Some(\"Much gold.\")", "agent_end Some(\"Much gold.\")"]
    );
}

/// Writes down every payload that is heard.
fn payloads(agent: &mut Agent) -> Log {
    let log = Log::new();
    let heard = log.clone();
    agent.on_any(move |kind, said| {
        let payload = match &said.payload {
            EventPayload::Input(input) => input.clone(),
            EventPayload::ToolResults(results) => format!("[{}]", lines(results).join(", ")),
            EventPayload::Output(output) => format!("{output:?}"),
            EventPayload::Nothing => return,
        };
        let mark = match said.source {
            EventSource::Agent => "",
            EventSource::Rescue => "rescue: ",
        };
        heard.say(format!("{mark}{kind} {payload}"));
    });
    log
}

// D18
#[tokio::test]
async fn functions_of_a_kind_run_before_those_for_any_kind_each_in_order() {
    let rig = Rig::new([Played::text("Done.")]);
    let mut agent = rig.agent([]).await;
    let log = Log::new();
    let (any, first) = (log.clone(), log.clone());
    agent.on_any(move |kind, _| {
        if kind == EventKind::AgentEnd {
            any.say("any");
        }
    });
    // Calls can be chained.
    let last = log.clone();
    agent.on(EventKind::AgentEnd, move |_| first.say("first")).on(EventKind::AgentEnd, |_| {}).on_any(
        move |kind, _| {
            if kind == EventKind::AgentEnd {
                last.say("any again");
            }
        },
    );
    hears(&mut agent, &log, EventKind::AgentEnd, "second");
    hears(&mut agent, &log, EventKind::ToolCall, "never");
    run(agent, "Hi.").answered().await;
    assert_eq!(log.all(), ["first", "second", "any", "any again"]);
}

#[test]
fn kinds_are_read_from_truffles_names_and_an_unknown_one_lists_the_set() {
    for kind in EventKind::ALL {
        assert_eq!(kind.name().parse::<EventKind>().unwrap(), kind);
    }
    let error = "agent_middle".parse::<EventKind>().unwrap_err().to_string();
    assert_eq!(
        error,
        "unknown event 'agent_middle', expected one of agent_start, turn_start, message, tool_call, tool_result, \
         turn_end, agent_end"
    );
}

// D17
#[tokio::test]
async fn a_panicking_function_breaks_no_turn_and_no_later_event() {
    let rig = Rig::new([Played::text("Done.")]);
    let mut agent = rig.agent([]).await;
    let log = Log::new();
    agent.on(EventKind::TurnStart, |_| panic!("a bug of the function"));
    hears(&mut agent, &log, EventKind::AgentEnd, "end");
    run(agent, "Hi.").answered().await;
    assert_eq!(log.all(), ["end"]);
}

// D13, D18
#[tokio::test]
async fn exceeding_max_turns_fails_the_turn_and_closes_its_events() {
    let rig = Rig::new([calls(&[("c1", "look")]), calls(&[("c2", "look")]), Played::text("Next.")]);
    let mut agent = rig.build(rig.builder().max_turns(2), [tool("look", "seen")]).await;
    let ends = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&ends);
    agent.on(EventKind::AgentEnd, move |said| heard.lock().unwrap().push(said.envelope.event.clone()));
    let (agent, result) = run(agent, "Look.").end().await;
    let error = result.unwrap_err();
    assert!(matches!(error, RunError::MaxTurns { max_turns: 2 }));
    let sentence = "exceeded max_turns (2) without a final answer";
    assert_eq!(error.to_string(), sentence);
    assert_eq!(
        *ends.lock().unwrap(),
        [Event::TurnEnded { turn: 1, outcome: Outcome::Failed, message: Some(sentence.to_owned()) }]
    );
    assert_eq!(rig.requests().len(), 2, "the limit stops before the third request");
    run(agent, "And?").answered().await;
    assert_eq!(rig.last_request().lines()[6..], ["user: And?"]);
}

// D18: rounds and steps are limited separately.
#[tokio::test]
async fn an_answer_in_the_last_allowed_round_is_fine() {
    let rig = Rig::new([calls(&[("c1", "look"), ("c2", "look"), ("c3", "look")]), Played::text("Done.").piece("", "")]);
    let agent = rig.build(rig.builder().max_turns(2), [tool("look", "seen")]).await;
    run(agent, "Look.").answered().await;
}
