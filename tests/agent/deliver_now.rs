//! Stories of a message that is to be delivered now: what it cuts, what it leaves alone, and that it enters once.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use steersman_agent::Agent;
use steersman_base::error::RunError;
use steersman_base::event::{Delivery, Envelope, Event};
use steersman_base::id::MessageId;
use steersman_core::listener::Listener;
use steersman_core::provider::{ChatTransport, Piece, Played, ProviderError, Step, Streaming};
use steersman_core::tool::Tool;
use steersman_provider::{Http, HttpConnector};
use tokio::sync::Notify;

use crate::support::doubles::{
    Gate, Pause, PlayedExt, Rig, Spy, calls, gated, gated_beside, run, run_queue, settle, texts_of, tool, within,
};
use crate::support::server::{Gate as WireGate, Reply, Server, Step as WireStep};

fn now(rig: &Rig, text: &str) -> MessageId {
    rig.interloper.inject_user_message((text, Delivery::Now)).unwrap().id
}

/// Where the messages with an id entered: id, step, tool.
fn places(rig: &Rig) -> Vec<(String, u32, Option<String>)> {
    let place = |event: Event| match event {
        Event::UserTurn { injection: Some(id), step, after, .. } => Some((id.to_string(), step, after)),
        _ => None,
    };
    rig.events().into_iter().filter_map(place).collect()
}

fn spy(f: impl Fn(&Event) + Send + Sync + 'static) -> Arc<dyn Listener> {
    Arc::new(Spy(move |envelope: &Envelope| f(&envelope.event)))
}

#[tokio::test(start_paused = true)]
async fn an_answer_being_written_gives_way_and_its_beginning_is_kept() {
    let pause = Pause::new();
    let reply = Played::default().piece("Hm.", "The answer ").paused(&pause).piece("", "is long.");
    let rig = Rig::new([reply, Played::text("Short.")]);
    let agent = rig.streaming([]).await;
    let running = run(agent, "Tell me.");
    pause.reached().await;
    now(&rig, "Be brief.");
    running.answered().await;
    assert_eq!(
        rig.event_lines(),
        [
            "turn 1",
            "user start: Tell me.",
            "~thinking: Hm.",
            "~assistant: The answer ",
            "interrupted: The answer ",
            "user mid m1: Be brief.",
            "~assistant: Short.",
            "assistant: Short.",
            "tokens",
            "ended 1 completed"
        ]
    );
    assert_eq!(
        rig.last_request().lines()[1..],
        ["user: Tell me.", "assistant: The answer  (interrupted)", "user: Be brief."]
    );
    assert_eq!(places(&rig), [("m1".to_owned(), 0, None)]);
    assert!(!rig.interloper.pending());
}

#[tokio::test(start_paused = true)]
async fn only_what_is_to_go_now_enters_where_an_answer_is_cut() {
    let pause = Pause::new();
    let rig = Rig::new([
        Played::default().piece("", "Well").paused(&pause),
        calls(&[("c1", "look")]),
        Played::text("Done."),
        Played::text("After."),
    ]);
    let agent = rig.streaming([tool("look", "seen")]).await;
    rig.inject("Go.");
    let running = run_queue(agent);
    pause.reached().await;
    rig.inject("at the boundary");
    rig.interloper.inject_user_message(("afterwards", Delivery::FollowUp)).unwrap();
    now(&rig, "at once");
    running.answered().await;
    assert_eq!(rig.requests()[1].lines()[2..], ["assistant: Well (interrupted)", "user: at once"]);
    assert_eq!(rig.requests()[2].lines()[5..], ["tool#c1: seen", "user: at the boundary"]);
    assert_eq!(rig.requests()[3].lines().last().unwrap(), "user: afterwards");
}

#[tokio::test(start_paused = true)]
async fn a_request_without_a_first_token_gives_way() {
    for streaming in [Streaming::On, Streaming::Off] {
        let pause = Pause::new();
        let rig = Rig::new([Played::default().paused(&pause), Played::text("Fine.")]);
        let agent = rig.build(rig.builder().streaming(streaming), []).await;
        let running = run(agent, "Hi.");
        pause.reached().await;
        now(&rig, "Quick.");
        running.answered().await;
        assert_eq!(rig.last_request().lines()[1..], ["user: Hi.", "user: Quick."], "nothing was said, nothing is kept");
        assert!(!rig.event_lines().iter().any(|line| line.starts_with("interrupted")));
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_before_another_attempt_gives_way() {
    let never = Arc::new(Notify::new());
    let retrying = Piece::Retrying { attempt: 2, after_ms: 60_000, reason: "the server is busy".to_owned() };
    let reached = Arc::new(Notify::new());
    let reply =
        Played::default().then(Step::Piece(retrying)).then(Step::Reached(Arc::clone(&reached))).then(Step::Wait(never));
    let rig = Rig::new([reply, Played::text("Fine.")]);
    let agent = rig.streaming([]).await;
    let running = run(agent, "Hi.");
    reached.notified().await;
    now(&rig, "Still there?");
    running.answered().await;
    assert_eq!(rig.last_request().lines()[1..], ["user: Hi.", "user: Still there?"]);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_waits_before_the_request_is_in_it() {
    let rig = Rig::new([Played::text("Fine.")]);
    let queue = Arc::clone(&rig.interloper);
    let typing = spy(move |event| {
        if matches!(event, Event::RoundStarted { round: 1, .. }) {
            queue.inject_user_message(("and this", Delivery::Now)).unwrap();
        }
    });
    let agent = rig
        .try_build(rig.builder(), |c| {
            c.add_listener(typing);
            Ok(())
        })
        .await
        .unwrap();
    run(agent, "Hi.").answered().await;
    assert_eq!(rig.requests().len(), 1, "no request was made only to be cut");
    assert_eq!(rig.last_request().lines()[1..], ["user: Hi.", "user: and this"]);
}

#[tokio::test(start_paused = true)]
async fn a_message_withdrawn_in_time_cuts_nothing() {
    let pause = Pause::new();
    let rig = Rig::new([Played::text("All of it.").paused(&pause)]);
    let agent = rig.streaming([]).await;
    let running = run(agent, "Tell me.");
    pause.reached().await;
    // Both before the agent runs again.
    let id = now(&rig, "Be brief.");
    assert!(rig.interloper.withdraw(&id).is_some());
    settle().await;
    pause.open();
    running.answered().await;
    assert_eq!(rig.requests().len(), 1);
    assert_eq!(rig.event_lines()[3..], ["assistant: All of it.", "tokens", "ended 1 completed"]);
}

#[tokio::test(start_paused = true)]
async fn a_held_message_cuts_nothing_until_its_edit_is_done() {
    let pause = Pause::new();
    let rig = Rig::new([Played::text("All of it.").paused(&pause), Played::text("Short.")]);
    let agent = rig.streaming([]).await;
    let running = run(agent, "Tell me.");
    pause.reached().await;
    let id = rig.interloper.inject_user_message("Be brif.").unwrap().id;
    assert!(rig.interloper.hold(&id));
    assert!(rig.interloper.set_delivery(&id, Delivery::Now));
    settle().await;
    assert_eq!(rig.requests().len(), 1);
    assert_eq!(rig.interloper.commit(&id, "Be brief."), Ok(true));
    running.answered().await;
    assert_eq!(rig.last_request().lines().last().unwrap(), "user: Be brief.");
}

#[tokio::test(start_paused = true)]
async fn a_waiting_steer_made_urgent_cuts_the_answer() {
    let pause = Pause::new();
    let rig = Rig::new([Played::text("All of it.").paused(&pause), Played::text("Short.")]);
    let agent = rig.streaming([]).await;
    let running = run(agent, "Tell me.");
    pause.reached().await;
    rig.inject("first");
    let id = rig.interloper.inject_user_message("second").unwrap().id;
    settle().await;
    assert!(rig.interloper.set_delivery(&id, Delivery::Now));
    running.answered().await;
    assert_eq!(rig.last_request().lines().last().unwrap(), "user: second");
    assert_eq!(texts_of(&rig.interloper), ["first"], "only the one that was asked for");
}

#[tokio::test(start_paused = true)]
async fn calls_that_did_not_start_give_way_and_those_that_run_go_on() {
    let gate = Gate::new();
    let script = [calls(&[("c1", "wait"), ("c2", "look"), ("c3", "look")]), Played::text("Done.")];
    let rig = Rig::new(script);
    let agent = rig.agent([gated("wait", &gate), tool("look", "seen")]).await;
    let running = run(agent, "Go.");
    gate.reached().await;
    rig.inject("and later this");
    now(&rig, "stop looking");
    settle().await;
    assert_eq!(rig.requests().len(), 1, "the running call goes on to its end");
    gate.open();
    running.answered().await;
    assert_eq!(
        rig.last_request().lines()[3..],
        [
            "tool#c1: wait done",
            "tool#c2: Error: not run, the user sent a message",
            "tool#c3: Error: not run, the user sent a message",
            "user: stop looking",
            "user: and later this"
        ]
    );
    assert_eq!(
        rig.event_lines()[3..7],
        ["call c1 wait", "result c1: wait done", "user mid m2: stop looking", "user mid m1: and later this"],
        "a call that never started is not announced"
    );
    let behind = Some("wait".to_owned());
    assert_eq!(places(&rig), [("m2".to_owned(), 1, behind.clone()), ("m1".to_owned(), 1, behind)]);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_comes_with_the_reply_lets_none_of_its_calls_start() {
    let rig = Rig::new([calls(&[("c1", "look")]), Played::text("Done.")]);
    let queue = Arc::clone(&rig.interloper);
    let typing = spy(move |event| {
        if matches!(event, Event::Tokens(_)) && queue.peek().is_empty() {
            let _ = queue.inject_user_message(("do not", Delivery::Now));
        }
    });
    let agent = rig
        .try_build(rig.builder().max_turns(2), |c| {
            c.add_listener(typing);
            c.add_tool(tool("look", "seen"))
        })
        .await
        .unwrap();
    run(agent, "Go.").answered().await;
    let lines = rig.requests()[1].lines();
    assert_eq!(lines[3..], ["tool#c1: Error: not run, the user sent a message", "user: do not"]);
    assert_eq!(places(&rig)[0], ("m1".to_owned(), 0, None));
}

#[tokio::test(start_paused = true)]
async fn of_a_large_group_the_calls_without_a_place_give_way() {
    let gates: Vec<Gate> = (0..10).map(|_| Gate::new()).collect();
    let names: Vec<String> = (0..10).map(|i| format!("t{i}")).collect();
    let ids: Vec<String> = (0..10).map(|i| format!("c{i}")).collect();
    let wanted: Vec<(&str, &str)> = ids.iter().map(String::as_str).zip(names.iter().map(String::as_str)).collect();
    let rig = Rig::new([calls(&wanted), Played::text("Done.")]);
    let tools: Vec<Arc<dyn Tool>> = names.iter().zip(&gates).map(|(name, gate)| gated_beside(name, gate)).collect();
    let agent = rig.agent(tools).await;
    let running = run(agent, "Go.");
    for gate in &gates[..8] {
        gate.reached().await;
    }
    now(&rig, "enough");
    for gate in &gates[..8] {
        gate.open();
    }
    running.answered().await;
    let lines = rig.last_request().lines();
    assert_eq!(
        lines[10..],
        [
            "tool#c7: t7 done",
            "tool#c8: Error: not run, the user sent a message",
            "tool#c9: Error: not run, the user sent a message",
            "user: enough"
        ]
    );
    // They were announced with their group, so the screen is told of their end.
    assert!(rig.event_lines().contains(&"result c9: Error: not run, the user sent a message".to_owned()));
    assert_eq!(places(&rig), [("m1".to_owned(), 10, Some("t7".to_owned()))]);
}

#[tokio::test(start_paused = true)]
async fn a_message_withdrawn_while_a_call_runs_lets_the_others_start() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "wait"), ("c2", "look")]), Played::text("Done.")]);
    let agent = rig.agent([gated("wait", &gate), tool("look", "seen")]).await;
    let running = run(agent, "Go.");
    gate.reached().await;
    let id = now(&rig, "stop looking");
    assert!(rig.interloper.withdraw(&id).is_some());
    gate.open();
    running.answered().await;
    assert_eq!(rig.last_request().lines()[3..], ["tool#c1: wait done", "tool#c2: seen"]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_wins_over_a_message_that_was_not_taken_yet() {
    let pause = Pause::new();
    let rig = Rig::new([Played::default().piece("", "Well").paused(&pause)]);
    let agent = rig.streaming([]).await;
    let running = run(agent, "Tell me.");
    pause.reached().await;
    now(&rig, "Be brief.");
    let back = rig.interloper.stop(&rig.cancellable);
    let agent = running.cancelled().await;
    assert_eq!(back.len(), 1);
    assert_eq!(agent.history().messages().len(), 3, "prompt, question, beginning of the answer");
}

#[tokio::test(start_paused = true)]
async fn a_stop_that_comes_after_the_cut_finds_the_message_in_the_conversation() {
    let pause = Pause::new();
    let rig = Rig::new([Played::default().piece("", "Well").paused(&pause), Played::text("Next.")]);
    let (queue, flag) = (Arc::clone(&rig.interloper), rig.cancellable.clone());
    let stopping = spy(move |event| {
        if matches!(event, Event::Assistant { interrupted: true, .. }) {
            // Taken out of the queue, not in the history yet.
            assert_eq!(queue.stop(&flag), []);
        }
    });
    let agent = rig
        .try_build(rig.builder().streaming(Streaming::On), |c| {
            c.add_listener(stopping);
            Ok(())
        })
        .await
        .unwrap();
    let running = run(agent, "Tell me.");
    pause.reached().await;
    now(&rig, "Be brief.");
    let agent = running.cancelled().await;
    assert_eq!(rig.requests().len(), 1);
    run(agent, "And now?").answered().await;
    assert_eq!(rig.last_request().lines()[2..], ["assistant: Well (interrupted)", "user: Be brief.", "user: And now?"]);
}

#[tokio::test(start_paused = true)]
async fn with_no_turn_running_it_starts_one_before_everything_else() {
    let rig = Rig::new([Played::text("One."), Played::text("Two.")]);
    let mut agent = rig.agent([]).await;
    rig.inject("later");
    now(&rig, "first");
    assert_eq!(agent.run_queue().await.unwrap(), 2);
    assert_eq!(rig.requests()[0].lines()[1..], ["user: first"]);
    assert_eq!(rig.requests()[1].lines()[2..], ["assistant: One.", "user: later"]);
}

#[tokio::test(start_paused = true)]
async fn a_rescue_is_not_cut_and_the_message_starts_the_next_turn() {
    let pause = Pause::new();
    let rig = Rig::new([calls(&[("c1", "look"), ("c2", "look")]), Played::text("More.")]);
    rig.model.route("Evidence gathered", [Played::text("So far.").paused(&pause)]);
    let agent = rig.limited(1, [tool("look", "seen")]).await;
    rig.inject("Look.");
    let running = run_queue(agent);
    pause.reached().await;
    now(&rig, "go on");
    settle().await;
    pause.open();
    running.answered().await;
    let lines = rig.last_request().lines();
    assert_eq!(lines[lines.len() - 2..], ["assistant: So far.", "user: go on"]);
}

#[tokio::test(start_paused = true)]
async fn it_refreshes_no_budget() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "wait"), ("c2", "wait")]), calls(&[("c3", "wait")])]);
    rig.model.route("Evidence gathered", [Played::text("So far.")]);
    let agent = rig.limited(1, [gated("wait", &gate)]).await;
    let running = run(agent, "Go.");
    gate.reached().await;
    now(&rig, "hurry");
    gate.open();
    let agent = running.answered().await;
    assert!(agent.synthesized(), "the second call is over the budget of one");
    let evidence = rig.last_request().lines().pop().unwrap();
    assert!(!evidence.contains("not run"), "a call that never ran is no evidence: {evidence}");
}

#[tokio::test(start_paused = true)]
async fn a_cut_request_does_not_count_as_a_round_of_the_turns_limit() {
    let pause = Pause::new();
    let cut = || Played::default().piece("", "Well").paused(&pause);
    let rig = Rig::new([cut(), cut(), Played::text("Fine.")]);
    let agent = rig.build(rig.builder().streaming(Streaming::On).max_turns(1), []).await;
    let running = run(agent, "Go.");
    for text in ["a", "b"] {
        pause.reached().await;
        now(&rig, text);
    }
    running.answered().await;
    let rounds: Vec<u32> = rig
        .events()
        .iter()
        .filter_map(|event| match event {
            Event::RoundStarted { round, .. } => Some(*round),
            _ => None,
        })
        .collect();
    assert_eq!(rounds, [1, 2, 3], "each has its number");
}

#[tokio::test(start_paused = true)]
async fn an_empty_answer_is_asked_for_again_also_behind_a_cut() {
    let pause = Pause::new();
    let rig = Rig::new([
        Played::default(),
        Played::default().piece("", "Well").paused(&pause),
        Played::default(),
        Played::text("Fine."),
    ]);
    let agent = rig.streaming([]).await;
    let running = run(agent, "Go.");
    pause.reached().await;
    now(&rig, "a");
    running.answered().await;
    assert_eq!(rig.requests().len(), 4);

    let rig = Rig::new([Played::default(), Played::default()]);
    let agent = rig.streaming([]).await;
    let (_, why) = run(agent, "Go.").failed().await;
    assert!(why.contains("empty answer twice"), "{why}");
}

#[tokio::test(start_paused = true)]
async fn after_a_failed_turn_it_lets_the_queue_go_on() {
    let rig = Rig::new([Played::error(ProviderError::Stalled(300)), Played::text("Fine."), Played::text("Too.")]);
    let mut agent = rig.agent([]).await;
    rig.inject("Go.");
    assert!(matches!(agent.run_queue().await, Err(RunError::Provider(_))));
    rig.interloper.inject_user_message(("later", Delivery::FollowUp)).unwrap();
    rig.interloper.pause();
    let id = rig.interloper.peek()[0].id.clone();
    assert!(!rig.interloper.deliverable());
    assert!(rig.interloper.set_delivery(&id, Delivery::Now));
    let turns = tokio::time::timeout(Duration::from_secs(1), agent.run_queue()).await.unwrap().unwrap();
    assert_eq!(turns, 1);
}

// --- on the wire

/// What a turn over HTTP is doing when the message comes.
async fn cut_on_the_wire(first: Reply, is_there: fn(&Event) -> bool) -> (Server, Vec<Event>) {
    let server = Server::start([first, Reply::text("Short.")]);
    let rig = Rig::new([]);
    let there = Arc::new(Notify::new());
    let noticed = Arc::clone(&there);
    let noticing = spy(move |event| {
        if is_there(event) {
            noticed.notify_one();
        }
    });
    let transport = ChatTransport { api_base: Some(server.url()), ..Rig::transport() };
    let builder = Agent::builder(transport, "You are brief.", Arc::new(HttpConnector::new(Http::default())))
        .interloper(Arc::clone(&rig.interloper))
        .streaming(Streaming::On);
    let agent = rig
        .try_build(builder, |c| {
            c.add_listener(noticing);
            Ok(())
        })
        .await
        .unwrap();
    let running = run(agent, "Tell me.");
    within(Duration::from_secs(5), "the turn gets there", there.notified()).await;
    server.requested(1).await;
    now(&rig, "Be brief.");
    running.answered().await;
    assert_eq!(server.chats()[1].texts("user"), ["Tell me.", "Be brief."]);
    assert_eq!(server.violations(), Vec::<String>::new());
    let events = rig.events();
    (server, events)
}

#[tokio::test]
async fn the_connection_of_an_answer_that_gave_way_is_closed() {
    let never = WireGate::new();
    let first = Reply::stream([WireStep::delta(json!({"content": "The answer "})), WireStep::Wait(never)]);
    let (server, _) = cut_on_the_wire(first, |event| matches!(event, Event::AssistantDelta { .. })).await;
    server.hung_up(1).await;
    assert_eq!(server.chats()[1].texts("assistant"), ["The answer "]);
}

#[tokio::test]
async fn a_request_whose_server_is_silent_gives_way_and_is_closed() {
    let first = Reply::text("Never said.").gated(&WireGate::new());
    let (server, _) = cut_on_the_wire(first, |event| matches!(event, Event::RoundStarted { .. })).await;
    server.hung_up(1).await;
    assert_eq!(server.chats().len(), 2);
}

#[tokio::test]
async fn the_wait_before_another_attempt_is_not_waited_out() {
    let busy = Reply::json(503, json!({"error": "busy"})).header("retry-after", "55");
    let (server, events) = cut_on_the_wire(busy, |event| matches!(event, Event::Retrying { .. })).await;
    assert_eq!(server.chats().len(), 2);
    assert!(!events.iter().any(|event| matches!(event, Event::Assistant { interrupted: true, .. })));
}
