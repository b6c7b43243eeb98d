//! Stories of sub-agents: what a child gets, what it does not get, and how it ends.

mod events;
mod personas;

use crate::support::subagents::{child, parent, parent_of, persona, spawns};
use std::sync::Arc;

use serde_json::json;
use steersman_agent::subagent::SubAgents;
use steersman_agent::{Agent, ModelChoice};
use steersman_base::event::{Envelope, Event, Outcome};
use steersman_core::listener::Listener;
use steersman_core::provider::{ChatTransport, Played, ProviderError, Streaming};

use crate::support::doubles::{Gate, PROMPT, Pause, PlayedExt, RawEcho, Rig, Spy, calls, gated, run, tool};
use crate::support::server::{Reply, Server};

#[tokio::test]
async fn a_child_gets_its_prompt_its_task_and_its_tools_in_the_parents_order_and_nothing_else() {
    let rig = Rig::new([spawns(&[("c1", "miner", "Dig.")]), Played::text("Thanks.")]);
    rig.model.route(&child("miner"), [calls(&[("k1", "agent")]), Played::text("Gold.")]);
    let mut agent = rig
        .try_build(rig.builder(), |c| {
            c.add_tools([tool("read", "r"), tool("write", "w"), tool("grep", "g")])?;
            c.add_sub_agent_tool(tool("fetch", "f"))?;
            c.append_system_prompt("Only for the parent.");
            c.add_extension(Arc::new(SubAgents::new(vec![persona("miner", &["fetch", "grep", "read"])])?))
        })
        .await
        .unwrap();
    agent.internal_add_tool(Arc::new(RawEcho("inner"))).unwrap();
    run(agent, "Go.").answered().await;

    let request = &rig.model.requests_of(&child("miner"))[0];
    assert_eq!(request.lines(), ["system: You are the miner child.", "user: Dig."]);
    assert_eq!(request.tool_names(), ["read", "grep", "fetch"]);
    assert_eq!(rig.requests()[0].tool_names(), ["read", "write", "grep", "agent", "inner"]);
    assert!(rig.event_lines_of("miner 0")[4].starts_with("result k1: Error: unknown tool 'agent'"), "no recursion");
    assert_eq!(rig.last_request().lines()[3], "tool#c1: Gold.");
}

// D20
#[tokio::test]
async fn each_persona_counts_its_children_over_batches_and_failures() {
    let rig = Rig::new([
        spawns(&[("c1", "r", "1"), ("c2", "f", "2"), ("c3", "r", "3")]),
        spawns(&[("c4", "f", "4"), ("c5", "r", "5")]),
        Played::text("Done."),
    ]);
    rig.model.route(&child("r"), [Played::error(ProviderError::CutOff), Played::text("b"), Played::text("c")]);
    rig.model.route(&child("f"), [Played::text("d"), Played::error(ProviderError::CutOff)]);
    let agent = parent(&rig, [], vec![persona("r", &[]), persona("f", &[])]).await;
    run(agent, "Go.").answered().await;
    let spawned: Vec<(String, String)> = rig
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::AgentSpawned { child, call, .. } => Some((child.to_string(), call.unwrap().to_string())),
            _ => None,
        })
        .collect();
    let expected = [("r 0", "c1"), ("f 0", "c2"), ("r 1", "c3"), ("f 1", "c4"), ("r 2", "c5")];
    assert_eq!(spawned, expected.map(|(child, call)| (child.to_owned(), call.to_owned())));
    let lines = rig.last_request().lines();
    assert_eq!(lines[3], "tool#c1: Error: the agent 'r 0' failed: the reply was cut off before its end");
    assert_eq!(lines[4..6], ["tool#c2: d", "tool#c3: b"]);
}

// D11: children run at the same time.
#[tokio::test(start_paused = true)]
async fn three_children_of_one_batch_run_at_once_and_answer_in_call_order() {
    let gate = Gate::new();
    let rig = Rig::new([spawns(&[("c1", "a", "1"), ("c2", "b", "2"), ("c3", "c", "3")]), Played::text("Done.")]);
    for name in ["a", "b", "c"] {
        rig.model.route(&child(name), [calls(&[("k", "wait")]), Played::text(format!("from {name}"))]);
    }
    let personas = ["a", "b", "c"].map(|name| persona(name, &["wait"]));
    let agent = parent(&rig, [gated("wait", &gate)], personas.into()).await;
    let running = run(agent, "Go.");
    for _ in 0..3 {
        gate.reached().await;
    }
    for _ in 0..3 {
        gate.open();
    }
    running.answered().await;
    assert_eq!(rig.last_request().lines()[3..], ["tool#c1: from a", "tool#c2: from b", "tool#c3: from c"]);
}

// D21
#[tokio::test(start_paused = true)]
async fn a_text_injected_while_a_child_runs_goes_to_the_parent_after_the_childs_answer() {
    let gate = Gate::new();
    let rig = Rig::new([spawns(&[("c1", "miner", "Dig.")]), Played::text("Thanks.")]);
    rig.model.route(&child("miner"), [calls(&[("k1", "wait")]), Played::text("Gold.")]);
    let agent = parent(&rig, [gated("wait", &gate)], vec![persona("miner", &["wait"])]).await;
    let running = run(agent, "Go.");
    gate.reached().await;
    rig.inject("for the parent");
    gate.open();
    running.answered().await;
    let seen = rig.model.requests_of(&child("miner"));
    assert_eq!(seen.len(), 2);
    assert!(!seen.iter().any(|request| request.lines().join("").contains("for the parent")));
    assert_eq!(rig.last_request().lines()[3..], ["tool#c1: Gold.", "user: for the parent"]);
}

// D10
#[tokio::test]
async fn a_child_out_of_steps_is_rescued_and_costs_the_parent_one_step() {
    let rig = Rig::new([spawns(&[("c1", "miner", "Dig.")]), Played::text("Thanks.")]);
    rig.model.route(&child("miner"), [calls(&[("k1", "read")]), calls(&[("k2", "read")])]);
    rig.model.route("Evidence gathered", [Played::text("Some gold.")]);
    let mut miner = persona("miner", &["read"]);
    miner.max_steps = 1;
    let builder = rig.builder().step_limit(steersman_core::control::StepLimit::new(9).unwrap());
    let agent = parent_of(&rig, builder, [tool("read", "r")], vec![miner]).await;
    let agent = run(agent, "Go.").answered().await;
    assert_eq!(agent.step_limit().unwrap().step(), 1);
    assert_eq!(rig.last_request().lines()[3], "tool#c1: Some gold.");
    assert_eq!(rig.event_lines_of("miner 0").last().unwrap(), "ended 1 synthesized");
    assert_eq!(rig.event_lines_of("miner 0_synthesizer").last().unwrap(), "ended 1 completed");
    assert!(rig.event_lines().contains(&"finished miner 0 Synthesized".to_owned()), "{:?}", rig.event_lines());
    assert_eq!(rig.event_lines().last().unwrap(), "ended 1 completed");
}

// D6
#[tokio::test(start_paused = true)]
async fn a_cancel_ends_three_children_and_the_parent_and_the_next_turn_works() {
    let (gate, pause) = (Gate::new(), Pause::new());
    let rig = Rig::new([spawns(&[("c1", "a", "1"), ("c2", "a", "2"), ("c3", "b", "3")]), Played::text("Next.")]);
    rig.model.route(&child("a"), [calls(&[("k", "wait")]), calls(&[("k", "wait")])]);
    rig.model.route(&child("b"), [Played::text("streams").paused(&pause)]);
    let personas = ["a", "b"].map(|name| persona(name, &["wait"]));
    let agent = parent(&rig, [gated("wait", &gate)], personas.into()).await;
    let running = run(agent, "Go.");
    gate.reached().await;
    gate.reached().await;
    pause.reached().await;
    rig.cancellable.cancel();
    let agent = running.cancelled().await;
    for id in ["a 0", "a 1", "b 0", ""] {
        let lines = rig.event_lines_of(id);
        assert_eq!(lines[lines.len() - 2..], ["cancelled", "ended 1 cancelled"], "agent {id:?}");
    }
    assert!(!rig.event_lines().iter().any(|line| line.starts_with("result")), "no Error: text was made of it");
    let finished = |event: &Event| matches!(event, Event::AgentFinished { outcome: Outcome::Cancelled, .. });
    assert_eq!(rig.events().iter().filter(|event| finished(event)).count(), 3);
    run(agent, "Else.").answered().await;
    assert_eq!(rig.last_request().lines()[3], "tool#c1: Error: cancelled while it ran");
}

// D9
#[tokio::test(start_paused = true)]
async fn a_cancel_between_the_spawn_and_the_childs_first_step_is_not_erased() {
    let rig = Rig::new([spawns(&[("c1", "miner", "Dig.")])]);
    let flag = rig.cancellable.clone();
    let agent = {
        let spy: Arc<dyn Listener> = Arc::new(Spy(move |envelope: &Envelope| {
            if let Event::AgentSpawned { .. } = envelope.event {
                flag.cancel();
            }
        }));
        rig.try_build(rig.builder(), |c| {
            c.add_listener(spy);
            c.add_extension(Arc::new(SubAgents::new(vec![persona("miner", &[])])?))
        })
        .await
        .unwrap()
    };
    run(agent, "Go.").cancelled().await;
    assert_eq!(rig.model.requests_of(&child("miner")).len(), 0);
}

// D14
#[tokio::test]
async fn a_call_that_cannot_spawn_is_an_observation_and_takes_no_number() {
    let rig = Rig::new([
        Played::calls(&[
            ("c1", "agent", r#"{"name":"nobody","task":"x"}"#),
            ("c2", "agent", r#"{"name":"miner"}"#),
            ("c3", "agent", "not json"),
            ("c4", "agent", r#"{"name":"miner","task":"Dig."}"#),
        ]),
        Played::text("I see."),
    ]);
    rig.model.route(&child("miner"), [Played::text("Gold.")]);
    let agent = parent(&rig, [], vec![persona("miner", &[])]).await;
    run(agent, "Go.").answered().await;
    let lines = rig.last_request().lines();
    assert!(lines[3..6].iter().all(|line| line.contains("Error: invalid arguments")), "{lines:?}");
    assert!(lines[3].contains("\"miner\""), "it says which there are: {}", lines[3]);
    assert_eq!(lines[6], "tool#c4: Gold.");
    assert_eq!(rig.event_lines_of("miner 0").last().unwrap(), "ended 1 completed");
}

// D14
#[tokio::test]
async fn a_blank_task_is_an_observation() {
    let rig = Rig::new([spawns(&[("c1", "miner", " ")]), Played::text("I see.")]);
    let agent = parent(&rig, [], vec![persona("miner", &[])]).await;
    run(agent, "Go.").answered().await;
    assert!(rig.last_request().lines()[3].starts_with("tool#c1: Error: "), "{:?}", rig.last_request().lines());
}

// What is shared.
#[tokio::test]
async fn a_child_shares_transport_streaming_and_window() {
    let rig = Rig::new([spawns(&[("c1", "miner", "Dig.")]), Played::text("Thanks.")]);
    rig.model.route(&child("miner"), [Played::text("Gold.")]);
    let transport = ChatTransport { api_base: Some("http://localhost:1".to_owned()), ..Rig::transport() };
    let builder =
        Agent::builder(transport.clone(), PROMPT, rig.connector()).streaming(Streaming::On).context_window(4096);
    let agent = parent_of(&rig, builder, [], vec![persona("miner", &[])]).await;
    run(agent, "Go.").answered().await;
    assert_eq!(rig.model.transports(), [transport.clone(), transport]);
    assert_eq!(rig.model.requests_of(&child("miner"))[0].streaming, Streaming::On);
    assert!(rig.event_lines_of("miner 0").contains(&"~assistant: Gold.".to_owned()));
    let caps: Vec<String> = rig
        .recorder
        .envelopes()
        .into_iter()
        .filter(|envelope| envelope.event == Event::ContextCap { tokens: Some(4096) })
        .map(|envelope| envelope.agent.to_string())
        .collect();
    assert_eq!(caps, ["", "miner 0"]);
}

#[tokio::test]
async fn only_the_parent_probes_the_server_for_its_window_whatever_it_learns() {
    let known = json!({"default_generation_settings": {"n_ctx": 4096}});
    // Where there is no `/props`, the list of models is asked too.
    for (status, body, window, probes) in [(200, known, Some(4096), 1), (500, json!({}), None, 2)] {
        let server = Server::start([]);
        server.on("/props", Reply::json(status, body));
        let rig = Rig::new([spawns(&[("c1", "miner", "Dig."), ("c2", "miner", "Deeper.")]), Played::text("Thanks.")]);
        rig.model.route(&child("miner"), [Played::text("Gold."), Played::text("Coal.")]);
        let builder = rig.builder().llama_probe_url(server.url());
        let agent = parent_of(&rig, builder, [], vec![persona("miner", &[])]).await;
        assert_eq!((agent.context_window_cap(), server.requests().len()), (window, probes));
        run(agent, "Go.").answered().await;
        assert_eq!(server.requests().len(), probes, "a child has probed");
        let caps = rig.events().into_iter().filter(|event| *event == Event::ContextCap { tokens: window });
        assert_eq!(caps.count(), 3, "each child knows what its parent knows");
    }
}

#[tokio::test]
async fn a_child_spawned_after_a_switch_to_a_server_of_this_machine_has_the_window_that_was_found_there() {
    let rig = Rig::new([spawns(&[("c1", "miner", "Dig.")]), Played::text("Thanks.")]);
    rig.model.route(&child("miner"), [Played::text("Gold.")]);
    rig.model.windows.lock().unwrap().insert("big".to_owned(), 100_000);
    let choice = Arc::new(ModelChoice::new());
    let builder = rig.builder().model_choice(Arc::clone(&choice));
    let agent = parent_of(&rig, builder, [], vec![persona("miner", &[])]).await;
    let here =
        ChatTransport { api_base: Some("http://127.0.0.1:9/v1".to_owned()), ..Rig::transport().with_model("big") };
    choice.choose(here.clone());
    choice.found(&here, 4_096);
    run(agent, "Go.").answered().await;
    let caps = |agent: &str| {
        let own = rig.recorder.envelopes().into_iter().filter(|envelope| envelope.agent.as_str() == agent);
        let caps = own.filter_map(|envelope| match envelope.event {
            Event::ContextCap { tokens } => Some(tokens),
            _ => None,
        });
        caps.collect::<Vec<_>>()
    };
    assert_eq!((caps("").last(), caps("miner 0")), (Some(&Some(4_096)), vec![Some(4_096)]));
}
