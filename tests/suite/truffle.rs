//! Stories of Truffle's surface: functions per event, a limit on rounds, a reset (D18).

use std::sync::{Arc, Mutex};

use steersman::agent::{Agent, EventKind};
use steersman::error::RunError;
use steersman::event::{Event, Outcome};
use steersman::provider::Played;

use crate::support::doubles::{Log, PlayedExt, Rig, calls, run, tool};

fn hears(agent: &mut Agent, log: &Log, kind: EventKind, name: &'static str) {
    let log = log.clone();
    agent.on(kind, move |_| log.say(name));
}

// Row 53, D13, D18
#[tokio::test]
async fn a_run_is_heard_as_truffles_events_in_order() {
    let rig = Rig::new([calls(&[("c1", "look"), ("c2", "look")]), Played::text("Done.")]);
    let mut agent = rig.agent([tool("look", "seen")]).await;
    let log = Log::new();
    let heard = log.clone();
    agent.on_any(move |kind, envelope| {
        let detail = match &envelope.event {
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

// Row 53, D18
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

// Row 53
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

// Row 53, D13, D18, Trap 33
#[tokio::test]
async fn exceeding_max_turns_fails_the_turn_and_closes_its_events() {
    let rig = Rig::new([calls(&[("c1", "look")]), calls(&[("c2", "look")]), Played::text("Next.")]);
    let mut agent = rig.build(rig.builder().max_turns(2), [tool("look", "seen")]).await;
    let ends = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&ends);
    agent.on(EventKind::AgentEnd, move |envelope| heard.lock().unwrap().push(envelope.event.clone()));
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
