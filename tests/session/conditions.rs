//! Stories of texts that wait for a condition: each kind of condition, once and each time, and what a stop, an edit and a
//! resume do to them.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use steersman_base::details::{CommandEnd, Details, FileDiff, TouchedFiles};
use steersman_base::event::{Delivery, Event, Pending, Usage, UserText};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::steering::{TextKind, Trigger};
use steersman_core::control::{Cancellable, Interloper};
use steersman_core::listener::Listener as _;
use steersman_core::provider::Played;
use steersman_core::tool::ToolError;
use steersman_session::host::Keeper as _;
use steersman_session::journal::{read_records, restore};

use crate::support::doubles::{Gate, Rig, acting, calls, gated, lines, run, run_queue, tool};
use crate::support::framed::{framed, user_texts};
use crate::support::journals::{Disk, event, journal};
use crate::support::subagents::{child, parent_of, persona, spawns};

fn once(condition: &str) -> Trigger {
    Trigger::once(condition.parse().unwrap())
}

fn every(condition: &str) -> Trigger {
    Trigger::every(condition.parse().unwrap())
}

fn send(queue: &Interloper, trigger: Trigger, text: &str) -> MessageId {
    queue.inject_user_message(UserText { trigger: Some(trigger), ..UserText::from(text) }).unwrap().id
}

/// Plays a call with arguments.
fn call(id: &str, tool: &str, arguments: &str) -> Played {
    Played::calls(&[(id, tool, arguments)])
}

/// Makes a tool that takes any arguments and fails with some.
fn shell() -> Arc<dyn steersman_core::tool::Tool> {
    let parameters = steersman_core::tool::Parameters::build(|p| {
        p.required_string("command", "The command.");
    });
    Arc::new(steersman_core::tool::FnTool::new("bash", "Runs.", parameters, |args, _| async move {
        match args.str("command") {
            "fail" => Err(ToolError::failed("it broke")),
            command => Ok(format!("ran {command}")),
        }
    }))
}

/// Returns the requests in which a text stands as the newest message, by number.
fn arrivals(rig: &Rig, text: &str) -> Vec<usize> {
    let requests = rig.requests();
    let has = |number: usize| {
        let lines = requests[number].lines();
        let before = if number == 0 { 0 } else { requests[number - 1].messages.len() };
        lines[before.min(lines.len())..].iter().any(|line| line == &format!("user: {text}"))
    };
    (0..requests.len()).filter(|number| has(*number)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_call_gives_way_before_it_runs_and_is_decided_again() {
    let script = [
        Played::calls(&[("c1", "bash", r#"{"command":"ls"}"#), ("c2", "bash", r#"{"command":"git push --force"}"#)]),
        call("c3", "bash", r#"{"command":"git push origin"}"#),
        Played::text("Done."),
    ];
    let rig = Rig::new(script);
    send(&rig.interloper, once("before bash git push*"), "not to main");
    let agent = run(rig.agent([shell()]).await, "Go.").answered().await;
    let told = lines(agent.history().messages());
    assert_eq!(
        told[1..],
        [
            "user: Go.",
            "assistant:  +bash#c1 +bash#c2",
            "tool#c1: ran ls",
            "tool#c2: Error: not run, the user sent a message",
            "user: not to main",
            "assistant:  +bash#c3",
            "tool#c3: ran git push origin",
            "assistant: Done.",
        ],
        "the call before it ran, the call itself did not, and the one that was decided on after the text did"
    );
    assert_eq!(arrivals(&rig, "not to main"), [1]);
}

#[tokio::test(start_paused = true)]
async fn neighbours_before_the_call_run_beside_each_other_and_a_follow_up_keeps_nothing_waiting() {
    let gates = [Gate::new(), Gate::new()];
    let beside = |name: &str, gate| crate::support::doubles::gated_beside(name, gate);
    let rig = Rig::new([calls(&[("c1", "one"), ("c2", "two"), ("c3", "three")]), Played::text("Done.")]);
    send(&rig.interloper, once("before three"), "wait");
    let late =
        UserText { trigger: Some(once("before one")), delivery: Delivery::FollowUp, ..UserText::from("much later") };
    rig.interloper.inject_user_message(late).unwrap();
    let tools = [beside("one", &gates[0]), beside("two", &gates[1]), tool("three", "3")];
    let running = run(rig.agent(tools).await, "Go.");
    for gate in &gates {
        gate.reached().await;
    }
    gates.iter().for_each(Gate::open);
    let agent = running.answered().await;
    let told = lines(agent.history().messages());
    assert_eq!(told[3..5], ["tool#c1: one done", "tool#c2: two done"]);
    assert!(told[5].starts_with("tool#c3: Error: not run"), "{told:?}");
    assert_eq!(told[6..], ["user: wait", "assistant: Done."]);
    assert_eq!(rig.interloper.peek()[0].text, "much later", "it is for after the turn");
    assert_eq!(rig.interloper.peek()[0].trigger, None);
}

#[tokio::test(start_paused = true)]
async fn what_has_run_and_what_has_failed_let_texts_go() {
    let script = [
        call("c1", "bash", r#"{"command":"cargo build"}"#),
        call("c2", "bash", r#"{"command":"fail"}"#),
        call("c3", "bash", r#"{"command":"cargo test -q"}"#),
        Played::text("Done."),
    ];
    let rig = Rig::new(script);
    send(&rig.interloper, once("bash fails"), "look at the first error");
    send(&rig.interloper, once("after bash cargo test*"), "now commit");
    send(&rig.interloper, once("after bash git*"), "never");
    run(rig.agent([shell()]).await, "Go.").answered().await;
    assert_eq!(arrivals(&rig, "look at the first error"), [2]);
    assert_eq!(arrivals(&rig, "now commit"), [3]);
    assert_eq!(rig.interloper.peek().len(), 1, "what never happened is still waited for");
    assert!(!rig.interloper.deliverable(), "and starts no turn");
}

#[tokio::test(start_paused = true)]
async fn a_command_that_ends_with_another_code_has_failed_and_the_files_that_it_changed_are_told() {
    let end = |code, path: &str| {
        let touched = TouchedFiles { paths: vec![path.to_owned()], partial: false };
        Details::Command(CommandEnd { code: Some(code), touched, ..CommandEnd::default() })
    };
    let build = acting("build", move |context| {
        context.details(end(2, "target/log.txt"));
        "exit code 2".to_owned()
    });
    let write = acting("write", |context| {
        let path = "db/7.sql".to_owned();
        context.details(Details::Diff(FileDiff { path, created: true, added: 1, removed: 0, hunks: String::new() }));
        "written".to_owned()
    });
    let script = [calls(&[("c1", "build")]), calls(&[("c2", "write")]), Played::text("Done.")];
    let rig = Rig::new(script);
    send(&rig.interloper, once("build fails"), "read the log");
    send(&rig.interloper, once("target/*.txt changes"), "a log came");
    send(&rig.interloper, once("*.sql changes"), "regenerate the types");
    run(rig.agent([build, write]).await, "Go.").answered().await;
    assert_eq!(arrivals(&rig, "read the log"), [1]);
    assert_eq!(arrivals(&rig, "a log came"), [1]);
    assert_eq!(arrivals(&rig, "regenerate the types"), [2]);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_sub_agent_lets_texts_of_its_parent_go() {
    let rig =
        Rig::new([spawns(&[("s1", "digger", "Dig.")]), spawns(&[("s2", "digger", "Dig.")]), Played::text("Done.")]);
    let error = steersman_core::provider::ProviderError::Server("it broke".to_owned());
    rig.model.route(&child("digger"), [Played::text("Gold."), Played::error(error)]);
    send(&rig.interloper, once("agent fails"), "try it yourself");
    send(&rig.interloper, once("agent digger 0 ends"), "read it");
    send(&rig.interloper, once("agent digger 7 ends"), "never");
    let parent = parent_of(&rig, rig.builder(), [tool("one", "1")], vec![persona("digger", &["one"])]).await;
    run(parent, "Go.").answered().await;
    let told = lines(&rig.last_request().messages);
    let place = |text: &str| told.iter().position(|line| line.starts_with(text)).unwrap();
    assert_eq!(place("user: read it"), place("tool#s1") + 1);
    assert_eq!(place("user: try it yourself"), place("tool#s2") + 1);
    assert_eq!(rig.interloper.peek().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn size_tokens_and_cost_let_texts_go_once_they_are_above() {
    let usage = |input: u64, nanos: u64| Usage {
        input: Some(input),
        output: Some(0),
        cost_nanos: Some(nanos),
        ..Usage::default()
    };
    let rounds = [(400, 300_000_000), (600, 300_000_000), (700, 300_000_000), (100, 300_000_000)];
    let script = rounds
        .iter()
        .enumerate()
        .map(|(round, (input, nanos))| calls(&[(&format!("c{round}"), "one")]).with_usage(usage(*input, *nanos)));
    let rig = Rig::new(script.chain([Played::text("Done.")]));
    send(&rig.interloper, once("context above 50%"), "half is full");
    send(&rig.interloper, once("tokens above 1500"), "be brief");
    send(&rig.interloper, once("cost above $1"), "a dollar is gone");
    let builder = rig.builder().context_window(1_000).compact_at(0);
    run(rig.build(builder, [tool("one", "1")]).await, "Go.").answered().await;
    assert_eq!(arrivals(&rig, "half is full"), [2]);
    assert_eq!(arrivals(&rig, "be brief"), [3]);
    assert_eq!(arrivals(&rig, "a dollar is gone"), [4]);
}

#[tokio::test(start_paused = true)]
async fn steps_are_calls_of_the_agent_and_each_time_is_a_text_of_its_own() {
    let rounds = (0..5).map(|round| calls(&[(&format!("c{round}"), "one")]));
    let rig = Rig::new(rounds.chain([Played::text("Done.")]));
    send(&rig.interloper, once("3 steps"), "once");
    let every = send(&rig.interloper, every("2 steps"), "again");
    let agent = framed(&rig, [tool("one", "1")]).await;
    run(agent, "Go.").answered().await;
    let texts = user_texts(&rig);
    let found: Vec<&str> =
        texts.iter().filter_map(|text| text.split_once('\n')?.1.split_once('\n')).map(|it| it.0).collect();
    assert_eq!(found, ["again", "once", "again"]);
    assert!(texts[1].starts_with("<steer-m3 kind=\"add\"") && texts[1].contains("due=\"every 2 steps\""), "{texts:?}");
    assert!(texts[2].starts_with("<steer-m1 kind=\"add\"") && texts[2].contains("due=\"3 steps\""), "{texts:?}");
    assert_eq!(rig.interloper.peek()[0].id, every, "it stays until it is withdrawn");
    let met = rig.events().into_iter().filter_map(|event| match event {
        Event::UserTurn { met, .. } => met.map(|met| met.to_string()),
        _ => None,
    });
    assert_eq!(met.collect::<Vec<_>>(), ["every 2 steps", "3 steps", "every 2 steps"]);
}

#[test]
fn minutes_are_over_at_their_moment_and_nothing_else_starts_a_turn_before() {
    let queue = Interloper::new();
    send(&queue, once("5 minutes"), "stand up");
    let since = queue.peek()[0].waits_since.unwrap();
    assert_eq!(queue.due(), Some(since + SignedDuration::from_mins(5)));
    queue.elapsed(since + SignedDuration::from_secs(299));
    assert!(!queue.deliverable());
    assert!(queue.take_turn(None).is_empty());
    queue.elapsed(since + SignedDuration::from_mins(5));
    assert!(queue.deliverable());
    assert_eq!(queue.due(), None);
    assert_eq!(queue.take_turn(None)[0].met, Some(once("5 minutes")));
}

#[tokio::test]
async fn whoever_keeps_time_lets_a_text_go_whose_minutes_are_over_already() {
    let queue = Interloper::new();
    let past = steersman_base::clock::now() - SignedDuration::from_mins(2);
    let mut entry = Pending::new("m1".into(), "stand up", past);
    entry.trigger = Some(once("1 minute"));
    entry.waits_since = Some(past);
    assert!(queue.restore(entry, 0));
    tokio::select! {
        () = queue.keep_time() => unreachable!(),
        () = async {
            while !queue.deliverable() {
                tokio::task::yield_now().await;
            }
        } => {}
    }
    assert_eq!(queue.peek()[0].trigger, None);
}

#[test]
fn as_long_as_its_last_text_waits_one_that_repeats_sends_no_other() {
    let queue = Interloper::new();
    let source = send(&queue, every("1 step"), "check");
    for _ in 0..3 {
        queue.count_step();
    }
    let list = queue.peek();
    assert_eq!(list.iter().map(|entry| entry.trigger.is_some()).collect::<Vec<_>>(), [false, true]);
    assert_eq!(queue.drain().len(), 1);
    queue.count_step();
    let [sent, waits] = queue.peek().try_into().unwrap();
    assert_eq!((waits.id, sent.met), (source, Some(every("1 step"))));
}

#[test]
fn a_stop_leaves_what_waits_for_a_condition_and_a_reset_gives_it_back() {
    let (queue, cancellable) = (Interloper::new(), Cancellable::new());
    send(&queue, once("bash fails"), "later");
    queue.inject_user_message("now").unwrap();
    let back: Vec<String> = queue.stop(&cancellable).into_iter().map(|entry| entry.message.text).collect();
    assert_eq!(back, ["now"]);
    assert_eq!(queue.peek().len(), 1);
    let back = queue.block(&cancellable);
    assert_eq!(back[0].trigger, Some(once("bash fails")));
}

#[test]
fn a_condition_is_changed_cleared_and_passed_over_by_deliver_now() {
    let queue = Interloper::new();
    let id = send(&queue, once("bash fails"), "look");
    assert!(queue.set_trigger(&id, Some(every("2 steps"))));
    assert_eq!(queue.peek()[0].trigger, Some(every("2 steps")));
    assert!(queue.set_trigger(&id, None));
    assert!(queue.deliverable());
    assert!(queue.set_trigger(&id, Some(once("bash fails"))));
    assert!(!queue.deliverable() && queue.drain().is_empty());
    assert!(queue.set_delivery(&id, Delivery::Now));
    assert!(queue.urgent());
    assert_eq!(queue.drain().len(), 1);
    assert!(!queue.set_trigger(&id, None), "it is delivered");
}

#[test]
fn it_is_not_joined_with_another_and_while_it_is_edited_it_is_not_delivered() {
    let queue = Interloper::new();
    let first = queue.inject_user_message("one").unwrap().id;
    let second = send(&queue, once("1 step"), "two");
    assert_eq!(queue.merge(&first).unwrap(), None);
    assert!(queue.hold(&second));
    queue.count_step();
    assert_eq!(queue.drain().len(), 1, "the other one");
    assert!(queue.commit(&second, "two, in other words").unwrap());
    assert_eq!(queue.drain()[0].text, "two, in other words");
}

#[tokio::test(start_paused = true)]
async fn a_text_whose_condition_is_met_while_no_turn_runs_starts_one() {
    let rig = Rig::new([Played::text("Done.")]);
    send(&rig.interloper, once("1 step"), "go on");
    rig.interloper.count_step();
    run_queue(rig.agent([]).await).answered().await;
    assert_eq!(arrivals(&rig, "go on"), [0]);
}

#[tokio::test(start_paused = true)]
async fn a_repeated_text_before_a_call_lets_the_call_run_that_is_decided_on_with_it() {
    let push = |id: &str| call(id, "bash", r#"{"command":"git push"}"#);
    let rig = Rig::new([push("c1"), push("c2"), push("c3"), push("c4"), Played::text("Done.")]);
    send(&rig.interloper, every("before bash git push"), "sure?");
    let agent = run(rig.agent([shell()]).await, "Go.").answered().await;
    let ran = lines(agent.history().messages()).iter().filter(|line| line.contains("ran git push")).count();
    assert_eq!((ran, arrivals(&rig, "sure?").len()), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_waits_holds_from_its_delivery_on() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "one")]), calls(&[("c2", "one")]), Played::text("Done.")]);
    let rule = UserText { trigger: Some(once("after one")), kind: TextKind::Rule, ..UserText::from("no new files") };
    rig.interloper.inject_user_message(rule).unwrap();
    let agent = framed(&rig, [gated("one", &gate)]).await;
    let rules = Arc::clone(agent.rules());
    let running = run(agent, "Go.");
    gate.reached().await;
    assert!(rules.list().is_empty());
    gate.open();
    gate.reached().await;
    assert_eq!(rules.list()[0].text, "no new files");
    gate.open();
    running.answered().await;
}

#[test]
fn a_condition_is_saved_with_its_text_and_waits_again_once_the_user_has_confirmed_it() {
    let disk = Disk::default();
    let journal = journal(&disk);
    let at: Timestamp = "2026-11-22T20:35:08Z".parse().unwrap();
    let mut entry = Pending::new("m1".into(), "look", at);
    entry.trigger = Some(every("bash cargo test* fails"));
    entry.waits_since = Some(at);
    journal.accepted(&AgentId::main(), entry.clone());
    journal.on_event(&event(1, Event::TurnStarted { turn: 1 }));
    journal.close();
    let waits = restore(read_records(disk.bytes().as_slice()).unwrap().records).unfinished.pending;
    assert_eq!(waits, [entry]);

    let queue = Interloper::new();
    queue.take_over(waits, 1);
    let happened = || {
        let arguments = steersman_base::message::Arguments::parse(r#"{"command":"cargo test"}"#);
        queue.happened(&steersman_base::steering::Happening::Call {
            tool: "bash",
            arguments: &arguments,
            moment: steersman_base::steering::CallMoment::Failed,
        });
        queue.peek().len()
    };
    assert_eq!(happened(), 1, "it is not sent before the user has said that it still holds");
    assert!(queue.confirm(&"m1".into()));
    assert_eq!(happened(), 2);
    assert_eq!(queue.drain()[0].id.as_str(), "m2", "the numbers go on");
}
