//! Whether every state that a client shows begins and ends: as it is told live, to a client that comes later, by a replay of
//! the journal, and by `steersman status`.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::journal::Record;
use crate::model::{ReceiptMark, RunState, receipt_text};
use crate::past::Past;
use crate::replay::moments;
use crate::status::StatusReducer;
use steersman_base::details::CommandEnd;
use steersman_base::event::{Envelope, Event, Pending, TakenBack};
use steersman_base::id::AgentId;
use steersman_base::protocol::{BudgetStatus, Notice, PauseState, ServerStatus, SessionActivity, Update};

const CHILD: &str = "file_miner 0";

/// A state, what begins it, and each thing that ends it.
struct Row {
    /// The words of [`shown`].
    state: &'static str,
    begins: Vec<Value>,
    ends: Vec<Vec<Value>>,
}

fn row(state: &'static str, begins: Vec<Value>, ends: Vec<Vec<Value>>) -> Row {
    Row { state, begins, ends }
}

fn turn() -> Value {
    json!({"type": "turn_started", "turn": 1})
}

fn round() -> Value {
    json!({"type": "round_started", "turn": 1, "round": 1})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_call", "id": id, "name": id, "arguments": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "id": id, "name": id, "content": "done", "is_error": false, "elapsed_ms": 1})
}

fn end(outcome: &str) -> Value {
    json!({"type": "turn_ended", "turn": 1, "outcome": outcome, "message": null})
}

/// Everything that ends a turn.
fn all_ends() -> Vec<Vec<Value>> {
    ["completed", "synthesized", "cancelled", "failed"].map(|outcome| vec![end(outcome)]).into()
}

fn or_end(ends: &[Value]) -> Vec<Vec<Value>> {
    ends.iter().map(|end| vec![end.clone()]).chain(all_ends()).collect()
}

fn of_child(event: &Value) -> Value {
    json!({"of": CHILD, "event": event})
}

fn rows() -> Vec<Row> {
    let delta = |kind: &str| json!({"type": kind, "text": "a"});
    let compacting = || json!({"type": "compacting", "messages": 3});
    let compacted = json!({"type": "compacted", "before": 9, "after": 1, "messages": 3, "summary": "s"});
    let notice = || json!({"type": "notice", "text": "no summary"});
    let question = json!({"type": "question", "id": "1", "question": "?", "detail": null, "call": "bash"});
    let answer = json!({"type": "answer", "id": "1", "answer": "withdrawn", "words": null});
    let spawned = json!({"type": "agent_spawned", "child": CHILD, "persona": "file_miner", "task": "t", "call": "agent",
        "model": null, "max_steps": null, "tools": []});
    let finished =
        |outcome: &str| json!({"type": "agent_finished", "child": CHILD, "outcome": outcome, "message": null});
    let job = json!({"type": "job_started", "id": "b1", "command": "make", "owner": "agent", "call": "bash"});
    let job_ended = |ending: &str| {
        let end = json!(CommandEnd::default());
        json!({"type": "job_ended", "id": "b1", "ending": ending, "message": null, "end": end, "elapsed_ms": 1})
    };
    let paused = |call: Value| json!({"type": "parked", "call": call});
    let resumed = json!({"type": "unparked", "decision": "run"});
    let retrying = json!({"type": "retrying", "attempt": 2, "after_ms": 9, "reason": "503"});
    vec![
        row("main: model …", vec![turn(), round()], or_end(&[delta("assistant_delta"), call("bash")])),
        row("main: thinking", vec![turn(), round(), delta("thinking_delta")], or_end(&[call("bash")])),
        row("main: writing", vec![turn(), round(), delta("assistant_delta")], or_end(&[call("bash"), round()])),
        row("main: in tool bash", vec![turn(), round(), call("bash")], or_end(&[result("bash")])),
        row("main: in tool grep", vec![turn(), round(), call("bash"), call("grep")], or_end(&[result("grep")])),
        row("main: retrying", vec![turn(), round(), retrying], or_end(&[delta("assistant_delta"), call("bash")])),
        row("main: compacting", vec![compacting()], or_end(&[compacted.clone(), notice()])),
        row("main: compacting", vec![turn(), end("completed"), compacting()], or_end(&[compacted.clone(), notice()])),
        row("main: compacting", vec![turn(), round(), compacting()], or_end(&[compacted, notice()])),
        row("main: stopping", vec![compacting(), json!({"type": "cancelled"})], or_end(&[notice()])),
        row("main: paused", vec![turn(), round(), paused(Value::Null)], or_end(std::slice::from_ref(&resumed))),
        row("waits: main", vec![turn(), round(), paused(Value::Null)], or_end(std::slice::from_ref(&resumed))),
        row("main: asking", vec![turn(), call("bash"), question], or_end(&[answer])),
        row("main: out of steps", vec![turn(), json!({"type": "fallback_notice", "reason": "r"})], all_ends()),
        row("main: stopping", vec![turn(), round(), json!({"type": "cancelled"})], all_ends()),
        row(
            "file_miner 0: in tool read",
            vec![turn(), call("agent"), spawned.clone(), of_child(&turn()), of_child(&call("read"))],
            or_end(&[of_child(&result("read")), of_child(&end("failed")), finished("cancelled")]),
        ),
        row(
            "waits: file_miner 0",
            vec![turn(), call("agent"), spawned, of_child(&turn()), of_child(&paused(Value::Null))],
            vec![vec![of_child(&resumed)], vec![of_child(&end("cancelled"))], vec![finished("cancelled")]],
        ),
        row(
            "job b1",
            vec![job],
            ["itself", "stopped", "timed_out", "failed", "interrupted"].map(|ending| vec![job_ended(ending)]).into(),
        ),
    ]
}

fn envelopes(events: &[Value]) -> Vec<Envelope> {
    let envelope = |(seq, value): (u64, &Value)| {
        let (agent, parent, event) = match value.get("of") {
            Some(child) => (AgentId::new(child.as_str().unwrap_or_default()), Some(AgentId::main()), &value["event"]),
            None => (AgentId::main(), None, value),
        };
        let event: Event = serde_json::from_value(event.clone()).unwrap_or(Event::Unknown);
        assert_ne!(event, Event::Unknown, "{value}");
        Envelope { seq, at: Timestamp::UNIX_EPOCH, agent, parent, event }
    };
    (1..).zip(events).map(envelope).collect()
}

/// How a client comes to know of events.
const WAYS: [&str; 3] = ["live", "later", "replayed"];

fn state_after(way: &str, events: &[Value]) -> RunState {
    let envelopes = envelopes(events);
    let updates: Vec<Update> = match way {
        "live" => envelopes.into_iter().map(Update::Envelope).collect(),
        "later" => {
            let mut past = Past::default();
            envelopes.into_iter().map(Update::Envelope).for_each(|update| _ = past.push(&update));
            past.all()
        }
        _ => moments(envelopes.into_iter().map(Record::Event)).map(|moment| moment.update).collect(),
    };
    let mut run = RunState::default();
    for update in &updates {
        apply(&mut run, update);
    }
    run
}

fn apply(run: &mut RunState, update: &Update) {
    run.apply_update(update, Timestamp::UNIX_EPOCH);
    if let Update::Envelope(envelope) = update {
        run.apply(envelope);
    }
}

/// Returns every state that a client shows and that is to end.
fn shown(run: &RunState) -> Vec<String> {
    let mut states = Vec::new();
    for node in run.agents.nodes() {
        let name = if node.id.is_main() { "main" } else { node.id.as_str() };
        if node.running() {
            let tool = node.open.last().map_or_else(String::new, |call| format!(" {}", call.name));
            let tool = if node.status().word() == "in tool" { tool } else { String::new() };
            states.push(format!("{name}: {}{tool}", node.status().word()));
        }
        states.extend(run.pauses.place(&node.id).map(|_| format!("waits: {name}")));
        states.extend(node.totals().asking.gt(&0).then(|| format!("asks: {name}")));
    }
    states.extend(run.jobs.all().filter(|job| job.end.is_none()).map(|job| format!("job {}", job.id)));
    states
}

#[test]
fn every_state_begins_and_ends_however_a_client_is_told() {
    for Row { state, begins, ends } in rows() {
        for way in WAYS {
            let begun = shown(&state_after(way, &begins));
            assert!(begun.iter().any(|shown| shown == state), "{way}: {state} does not begin: {begun:?}");
            for end in &ends {
                let ended = shown(&state_after(way, &[begins.clone(), end.clone()].concat()));
                assert!(!ended.iter().any(|shown| shown == state), "{way}: {state} is not ended by {end:?}");
            }
        }
    }
}

#[test]
fn nothing_is_shown_behind_the_end_of_a_turn_whatever_still_trickles_in() {
    let late = [result("bash"), json!({"type": "cancelled"}), json!({"type": "unparked", "decision": "run"})];
    for Row { state, begins, .. } in rows().into_iter().filter(|row| !row.state.starts_with("job")) {
        let events: Vec<Value> = begins.iter().cloned().chain([end("cancelled")]).chain(late.clone()).collect();
        for way in WAYS {
            assert_eq!(shown(&state_after(way, &events)), Vec::<String>::new(), "{way}: {state}");
        }
        let mut reducer = StatusReducer::default();
        reducer.apply(&Update::Notice(Notice::Ready));
        let finished = json!({"type": "agent_finished", "child": CHILD, "outcome": "cancelled", "message": null});
        for envelope in envelopes(&[events, vec![finished]].concat()) {
            reducer.apply(&Update::Envelope(envelope));
        }
        let status = reducer.status(Vec::new(), false, &[], BudgetStatus::default(), Vec::new());
        assert_eq!(status.state, SessionActivity::Idle, "{state}: {:?}", status.agents);
        assert!(status.agents.iter().all(|agent| agent.doing.is_empty()), "{state}: {:?}", status.agents);
    }
}

#[test]
fn the_status_names_the_call_that_runs_and_no_other() {
    let doing = |events: &[Value]| {
        let mut reducer = StatusReducer::default();
        for envelope in envelopes(events) {
            reducer.apply(&Update::Envelope(envelope));
        }
        let status = reducer.status(Vec::new(), false, &[], BudgetStatus::default(), Vec::new());
        status.agents[0].doing.clone()
    };
    let both = [turn(), round(), call("bash"), call("grep")];
    assert_eq!(doing(&both), "grep");
    assert_eq!(doing(&[&both[..], &[result("grep")]].concat()), "bash");
    assert_eq!(doing(&[&both[..], &[result("bash"), result("grep")]].concat()), "waits for its model");
}

#[test]
fn a_pause_that_another_client_ends_is_over_for_each() {
    let pause = |agent: Option<&str>, state| Update::Notice(Notice::Pause { agent: agent.map(AgentId::new), state });
    let main = AgentId::main();
    let mut run = RunState::default();
    apply(&mut run, &pause(None, PauseState::Paused));
    assert!(run.pauses.are_all_paused() && run.is_paused(&main));
    apply(&mut run, &pause(None, PauseState::Running));
    assert!(!run.pauses.are_all_paused() && !run.is_paused(&main));
    apply(&mut run, &pause(Some(CHILD), PauseState::Paused));
    assert!(run.is_paused(&AgentId::new(CHILD)) && !run.is_paused(&main));
    apply(&mut run, &pause(Some(CHILD), PauseState::Running));
    assert!(!run.is_paused(&AgentId::new(CHILD)));
}

/// A text for an agent, as its queue lists it.
fn text(id: &str) -> Pending {
    Pending::new(id.into(), format!("the text {id}"), Timestamp::UNIX_EPOCH)
}

/// What a journal holds of texts, for the agent of each.
enum Line {
    Accepted(&'static str),
    Listed(&'static [&'static str]),
    Back(TakenBack),
    Event(Value),
}

fn records(to: &AgentId, lines: &[Line]) -> Vec<Record> {
    let event = |value: Value| {
        let value = if to.is_main() || value.get("of").is_some() { value } else { of_child(&value) };
        Record::Event(envelopes(&[value]).remove(0))
    };
    let record = |line: &Line| match line {
        Line::Accepted(id) => Record::Accepted { to: to.clone(), entry: text(id) },
        Line::Listed(ids) => {
            let entries: Vec<Pending> = ids.iter().copied().map(text).collect();
            event(json!({"type": "pending", "entries": entries}))
        }
        Line::Back(why) => Record::TakenBack { texts: vec!["m1".into()], why: why.clone(), at: Timestamp::UNIX_EPOCH },
        Line::Event(value) => event(value.clone()),
    };
    lines.iter().map(record).collect()
}

/// Returns what is shown of texts on their way.
fn texts(run: &RunState) -> Vec<String> {
    let pending = run.pending.entries().iter().map(|entry| format!("{}: {:?}", entry.message.id, entry.stage));
    let receipts = run.receipts.list().iter().map(|receipt| (receipt.id.clone(), receipt_text(receipt)));
    let waiting = receipts.filter(|(_, words)| words.mark == ReceiptMark::Waiting);
    pending.chain(waiting.map(|(id, words)| format!("{id}: {}", words.line()))).collect()
}

/// Tells a client of a journal; returns what it ever showed of texts, and what it shows at last.
fn texts_after(way: &str, records: Vec<Record>) -> (Vec<String>, Vec<String>) {
    let updates: Vec<Update> = moments(records).map(|moment| moment.update).collect();
    let mut past = Past::default();
    for update in &updates {
        past.push(update);
    }
    let (mut run, mut ever) = (RunState::default(), Vec::new());
    for update in if way == "later" { past.all() } else { updates } {
        apply(&mut run, &update);
        ever.extend(texts(&run));
    }
    (ever, texts(&run))
}

#[test]
fn every_state_of_a_text_ends_also_where_an_earlier_version_did_not_say_how() {
    use Line::{Accepted, Back, Event as Told, Listed};
    let user_turn =
        || json!({"type": "user_turn", "content": "the text m1", "mid_loop": true, "injection": "m1", "step": 1});
    let returned = || json!({"type": "returned", "entries": [text("m1")]});
    let merged = || TakenBack::Merged("m2".into());
    let ends: Vec<(&str, Vec<Line>)> = vec![
        ("delivered", vec![Listed(&[]), Told(user_turn())]),
        ("delivered before the list", vec![Told(user_turn()), Listed(&[])]),
        ("removed", vec![Back(TakenBack::Removed), Listed(&[])]),
        ("taken into the message", vec![Listed(&[]), Back(TakenBack::ToMessage)]),
        ("stopped", vec![Listed(&[]), Told(end("cancelled")), Back(TakenBack::Stopped)]),
        ("returned", vec![Listed(&[]), Told(returned())]),
        (
            "merged",
            vec![
                Accepted("m2"),
                Listed(&["m1", "m2"]),
                Back(merged()),
                Listed(&["m2"]),
                Listed(&[]),
                Told(end("failed")),
            ],
        ),
        // The journals of earlier versions do not say what has become of it.
        ("an old stop", vec![Listed(&[]), Told(end("cancelled"))]),
        ("an old return in a turn", vec![Listed(&[]), Told(round())]),
        ("an old failure and the next turn", vec![Listed(&[]), Told(end("failed")), Told(turn()), Told(round())]),
        ("an old journal that ends there", vec![Listed(&[])]),
    ];
    for to in [AgentId::main(), AgentId::new(CHILD)] {
        for way in ["replayed", "later"] {
            for (what, lines) in &ends {
                let begins = [Told(turn()), Accepted("m1"), Listed(&["m1"])];
                let all: Vec<Record> = records(&to, &begins).into_iter().chain(records(&to, lines)).collect();
                let (ever, last) = texts_after(way, all);
                assert!(ever.iter().any(|shown| shown == "m1: Waiting"), "{way}: {what}: {ever:?}");
                assert_eq!(last, Vec::<String>::new(), "{way}: {what}, to {to:?}");
            }
        }
    }
}

#[test]
fn a_text_of_a_sub_agent_is_not_on_its_way_when_that_has_ended() {
    let child = AgentId::new(CHILD);
    let lines = [Line::Accepted("m1"), Line::Listed(&["m1"]), Line::Listed(&[])];
    let finished = json!({"type": "agent_finished", "child": CHILD, "outcome": "cancelled", "message": null});
    let parent = records(&AgentId::main(), &[Line::Event(finished), Line::Event(round())]);
    let all: Vec<Record> = records(&child, &lines).into_iter().chain(parent).collect();
    assert_eq!(texts_after("replayed", all).1, Vec::<String>::new());
}

#[test]
fn how_servers_stand_is_what_was_told_last_also_to_a_client_that_comes_later() {
    let told = |states: &[&str]| {
        let servers = states.iter().enumerate().map(|(number, state)| {
            json!({"name": format!("s{number}"), "source": "", "reached": "", "variables": [], "state": state,
                "about": "", "tools": [], "resources": [], "prompts": [], "calls": 0, "error": null, "errors": "",
                "notes": []})
        });
        let servers: Vec<ServerStatus> = serde_json::from_value(servers.collect()).unwrap_or_default();
        Update::Notice(Notice::Servers(servers))
    };
    let steps =
        [&["configured", "known"][..], &["started", "used"], &["failed", "used"], &["used", "known"], &["known"], &[]];
    let (mut past, mut live) = (Past::default(), RunState::default());
    for states in steps {
        let update = told(states);
        past.push(&update);
        apply(&mut live, &update);
        let mut late = RunState::default();
        for update in &past.all() {
            apply(&mut late, update);
        }
        for run in [&live, &late] {
            let shown: Vec<&str> = run.servers.iter().map(|server| server.state.name()).collect();
            assert_eq!(shown, states);
        }
    }
}
