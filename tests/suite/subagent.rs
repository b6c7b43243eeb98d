//! Stories of sub-agents: what a child gets, what it does not get, and how it ends.

use std::sync::Arc;

use serde_json::json;
use steersman::agent::{Agent, AgentBuilder, EventKind, ModelChoice};
use steersman::error::BuildError;
use steersman::event::{Envelope, Event, Outcome};
use steersman::id::AgentId;
use steersman::listener::{Listener, ListenerList};
use steersman::provider::{ChatTransport, Played, ProviderError, Streaming};
use steersman::subagent::{Persona, SubAgentTool, SubAgents, TempWorkspace};
use steersman::tool::Tool;

use crate::support::doubles::{Gate, Log, PROMPT, Pause, PlayedExt, RawEcho, Rig, Spy, calls, echo, gated, run, tool};
use crate::support::server::{Reply, Server};

pub fn persona(name: &str, tools: &[&str]) -> Persona {
    Persona {
        name: name.to_owned(),
        description: format!("Good at {name}."),
        tool_names: tools.iter().map(|tool| (*tool).to_owned()).collect(),
        system_prompt: format!("You are the {name} child."),
        max_steps: 5,
        temp_workspace: TempWorkspace::No,
    }
}

/// Returns what the scripts of this persona's children are routed by.
pub fn child(name: &str) -> String {
    format!("You are the {name} child.")
}

/// Plays `agent` calls: `("c1", "miner", "task")`.
pub fn spawns(list: &[(&str, &str, &str)]) -> Played {
    let arguments: Vec<String> =
        list.iter().map(|(_, name, task)| serde_json::json!({"name": name, "task": task}).to_string()).collect();
    let calls: Vec<_> = list.iter().zip(&arguments).map(|((id, _, _), args)| (*id, "agent", args.as_str())).collect();
    Played::calls(&calls)
}

pub async fn parent(rig: &Rig, tools: impl IntoIterator<Item = Arc<dyn Tool>>, personas: Vec<Persona>) -> Agent {
    parent_of(rig, rig.builder(), tools, personas).await
}

pub async fn parent_of(
    rig: &Rig,
    builder: AgentBuilder,
    tools: impl IntoIterator<Item = Arc<dyn Tool>>,
    personas: Vec<Persona>,
) -> Agent {
    rig.try_build(builder, |c| {
        c.add_tools(tools)?;
        c.add_extension(Arc::new(SubAgents::new(personas)?))
    })
    .await
    .unwrap()
}

// Row 44, Row 6, Trap 20
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
    assert!(rig.story_of("miner 0")[4].starts_with("result k1: Error: unknown tool 'agent'"), "no recursion");
    assert_eq!(rig.last_request().lines()[3], "tool#c1: Gold.");
}

// Row 48, 2.12
#[tokio::test]
async fn the_parent_is_told_which_agents_there_are_and_the_child_is_not() {
    let rig = Rig::new([spawns(&[("c1", "miner", "Dig.")]), Played::text("Thanks.")]);
    rig.model.route(&child("miner"), [Played::text("Gold.")]);
    let agent = parent(&rig, [], vec![persona("miner", &[]), persona("cook", &[])]).await;
    assert_eq!(agent.tools().len(), 0, "the agent tool is not among the tools");
    let agent = run(agent, "Go.").answered().await;
    let prompt = agent.system_prompt();
    assert!(prompt.starts_with(&format!("{PROMPT}\n\n<available_agents>")), "{prompt}");
    assert!(prompt.contains("- `miner` — Good at miner.\n- `cook` — Good at cook.\n</available_agents>"), "{prompt}");
    let schema = &rig.requests()[0].tools[0].parameters;
    assert_eq!(schema["properties"]["name"]["enum"], serde_json::json!(["miner", "cook"]));
    assert!(!rig.model.requests_of(&child("miner"))[0].lines().join("").contains("Good at"));
}

// Row 48, Row 37, D20
#[tokio::test]
async fn personas_are_checked_when_the_parent_is_built() {
    let rig = Rig::new([]);
    let twice = SubAgents::new(vec![persona("miner", &[]), persona("miner", &[])]);
    assert!(matches!(twice, Err(BuildError::Argument(message)) if message.contains("miner")));
    for missing in ["fetch", "agent"] {
        let error = rig
            .try_build(rig.builder(), |c| {
                c.add_tool(echo())?;
                c.add_extension(Arc::new(SubAgents::new(vec![persona("miner", &["echo", missing])])?))?;
                // Too late: what counts is what is there when the extension is added.
                c.add_tool(tool("fetch", ""))
            })
            .await
            .unwrap_err();
        assert!(error.to_string().contains(missing), "{error}");
    }
    let agent = parent(&rig, [], Vec::new()).await;
    assert_eq!(agent.system_prompt(), PROMPT, "without personas nothing is said");
}

#[tokio::test]
async fn a_persona_made_in_code_is_checked_as_one_of_a_file_is() {
    let rig = Rig::new([]);
    let agent = rig.agent([]).await;
    let good = persona("miner", &[]);
    for (wrong, what) in [
        (Persona { max_steps: 0, ..good.clone() }, "max_steps"),
        (Persona { name: "main".to_owned(), ..good.clone() }, "'main'"),
        (Persona { name: "all".to_owned(), ..good.clone() }, "'all'"),
        (Persona { name: "two words".to_owned(), ..good.clone() }, "'two words'"),
        (Persona { name: String::new(), ..good.clone() }, "needs a name"),
        (Persona { description: " ".to_owned(), ..good.clone() }, "needs a description"),
        (Persona { system_prompt: "\u{200B}".to_owned(), ..good.clone() }, "needs a prompt"),
    ] {
        let personas = vec![good.clone(), wrong];
        let by_extension = SubAgents::new(personas.clone()).err().expect(what).to_string();
        let by_tool = SubAgentTool::new(&agent, personas).err().expect(what).to_string();
        assert!(by_extension.contains(what), "{by_extension}");
        assert_eq!(by_tool, by_extension);
    }
}

// Row 48
#[tokio::test]
async fn without_personas_there_is_no_agent_tool() {
    let rig = Rig::new([Played::text("Hello.")]);
    let agent = parent(&rig, [], Vec::new()).await;
    run(agent, "Hi.").answered().await;
    assert_eq!(rig.last_request().tools, []);
}

// Row 43, D20, Trap 23
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

// Row 32, D21
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

// D12
#[tokio::test]
async fn envelopes_name_the_agent_and_its_spawner_and_one_seq_counts_the_whole_tree() {
    let rig = Rig::new([spawns(&[("c1", "miner", "Dig.")]), Played::text("Thanks.")]);
    rig.model.route(&child("miner"), [calls(&[("k1", "read")]), calls(&[("k2", "read")])]);
    rig.model.route("Evidence gathered", [Played::text("Some gold.")]);
    let mut miner = persona("miner", &["read"]);
    miner.max_steps = 1;
    let agent = parent(&rig, [tool("read", "r")], vec![miner]).await;
    run(agent, "Go.").answered().await;
    let envelopes = rig.recorder.envelopes();
    for (index, envelope) in envelopes.iter().enumerate() {
        assert_eq!(envelope.seq, index as u64 + 1);
        let parent = match envelope.agent.as_str() {
            "" => None,
            "miner 0" => Some(AgentId::main()),
            "miner 0_synthesizer" => Some(AgentId::new("miner 0")),
            other => panic!("who is {other:?}?"),
        };
        assert_eq!(envelope.parent, parent);
        match &envelope.event {
            Event::AgentSpawned { child, .. } | Event::AgentFinished { child, .. } => {
                let spawner = if child.as_str() == "miner 0" { "" } else { "miner 0" };
                assert_eq!(envelope.agent.as_str(), spawner);
            }
            _ => {}
        }
    }
    let spawned = envelopes.iter().find_map(|envelope| match &envelope.event {
        Event::AgentSpawned { persona, task, call, model, max_steps, tools, .. } => {
            Some((persona.clone(), task.clone(), call.clone(), model.clone(), *max_steps, tools.clone()))
        }
        _ => None,
    });
    let (persona, task, call, model, max_steps, tools) = spawned.unwrap();
    assert_eq!((persona.as_str(), task.as_str(), call.unwrap().as_str()), ("miner", "Dig.", "c1"));
    assert_eq!((model.as_deref(), max_steps, tools), (Some("test-model"), Some(1), vec!["read".to_owned()]));
}

// Row 46, Row 18, D10
#[tokio::test]
async fn a_child_out_of_steps_is_rescued_and_costs_the_parent_one_step() {
    let rig = Rig::new([spawns(&[("c1", "miner", "Dig.")]), Played::text("Thanks.")]);
    rig.model.route(&child("miner"), [calls(&[("k1", "read")]), calls(&[("k2", "read")])]);
    rig.model.route("Evidence gathered", [Played::text("Some gold.")]);
    let mut miner = persona("miner", &["read"]);
    miner.max_steps = 1;
    let builder = rig.builder().step_limit(steersman::control::StepLimit::new(9).unwrap());
    let agent = parent_of(&rig, builder, [tool("read", "r")], vec![miner]).await;
    let agent = run(agent, "Go.").answered().await;
    assert_eq!(agent.step_limit().unwrap().step(), 1);
    assert_eq!(rig.last_request().lines()[3], "tool#c1: Some gold.");
    assert_eq!(rig.story_of("miner 0").last().unwrap(), "ended 1 synthesized");
    assert_eq!(rig.story_of("miner 0_synthesizer").last().unwrap(), "ended 1 completed");
    assert!(rig.story().contains(&"finished miner 0 Synthesized".to_owned()), "{:?}", rig.story());
    assert_eq!(rig.story().last().unwrap(), "ended 1 completed");
}

// Row 47, Trap 5, D6
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
        let story = rig.story_of(id);
        assert_eq!(story[story.len() - 2..], ["cancelled", "ended 1 cancelled"], "agent {id:?}");
    }
    assert!(!rig.story().iter().any(|line| line.starts_with("result")), "no Error: text was made of it");
    let finished = |event: &Event| matches!(event, Event::AgentFinished { outcome: Outcome::Cancelled, .. });
    assert_eq!(rig.events().iter().filter(|event| finished(event)).count(), 3);
    run(agent, "Else.").answered().await;
    assert_eq!(rig.last_request().lines()[3], "tool#c1: Error: cancelled while it ran");
}

// Trap 3, D9
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
    assert_eq!(rig.story_of("miner 0").last().unwrap(), "ended 1 completed");
}

// D14
#[tokio::test]
async fn a_blank_task_is_an_observation() {
    let rig = Rig::new([spawns(&[("c1", "miner", " ")]), Played::text("I see.")]);
    let agent = parent(&rig, [], vec![persona("miner", &[])]).await;
    run(agent, "Go.").answered().await;
    assert!(rig.last_request().lines()[3].starts_with("tool#c1: Error: "), "{:?}", rig.last_request().lines());
}

// Row 44, Trap 26: what is shared.
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
    assert!(rig.story_of("miner 0").contains(&"~assistant: Gold.".to_owned()));
    let caps: Vec<String> = rig
        .recorder
        .envelopes()
        .into_iter()
        .filter(|envelope| envelope.event == Event::ContextCap { tokens: Some(4096) })
        .map(|envelope| envelope.agent.to_string())
        .collect();
    assert_eq!(caps, ["", "miner 0"]);
}

// Trap 27
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

/// A listener with an instance per agent.
struct Labelled(String, Log);

impl Listener for Labelled {
    fn on_event(&self, envelope: &Envelope) {
        if let Event::TurnStarted { .. } = envelope.event {
            self.1.say(format!("{:?} hears {:?}", self.0, envelope.agent.as_str()));
        }
    }

    fn for_sub_agent(&self, id: &AgentId) -> Option<Arc<dyn Listener>> {
        Some(Arc::new(Self(id.to_string(), self.1.clone())))
    }

    fn label(&self) -> String {
        format!("Labelled({})", self.0)
    }
}

// Row 42, Trap 21, Trap 22
#[tokio::test]
async fn a_child_hears_through_listeners_derived_for_it_and_the_parents_list_stays() {
    let log = Log::new();
    let rig = Rig::new([spawns(&[("c1", "miner", "Dig.")]), Played::text("Thanks.")]);
    rig.model.route(&child("miner"), [Played::text("Gold.")]);
    let labelled: Arc<dyn Listener> = Arc::new(Labelled(String::new(), log.clone()));
    let agent = rig
        .try_build(rig.builder(), |c| {
            c.add_listener(labelled);
            c.add_extension(Arc::new(SubAgents::new(vec![persona("miner", &[])])?))
        })
        .await
        .unwrap();
    let agent = run(agent, "Go.").answered().await;
    assert_eq!(log.all(), [r#""" hears """#, r#""miner 0" hears "miner 0""#]);
    assert_eq!(agent.listeners().to_string(), "[InMemoryEventList, Labelled()]");
}

// Row 42
#[test]
fn a_derived_list_is_new_and_keeps_listeners_that_do_not_derive() {
    let log = Log::new();
    let recorder: Arc<dyn Listener> = Arc::new(steersman::listener::InMemoryEventList::new());
    let labelled: Arc<dyn Listener> = Arc::new(Labelled("parent".to_owned(), log));
    let list = ListenerList::new(&[Arc::clone(&recorder), Arc::clone(&labelled)]);
    let derived = list.for_sub_agent(&AgentId::new("miner 0"));
    assert!(Arc::ptr_eq(&derived.listeners()[0], &recorder));
    assert!(!Arc::ptr_eq(&derived.listeners()[1], &labelled));
    assert_eq!(derived.to_string(), "[InMemoryEventList, Labelled(miner 0)]");
    assert_eq!(list.to_string(), "[InMemoryEventList, Labelled(parent)]");
    assert_eq!((list.agent().as_str(), derived.agent().as_str()), ("", "miner 0"));
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

// D18: events of children do not reach the functions of the parent.
#[tokio::test]
async fn functions_subscribed_to_the_parent_hear_the_parent_only() {
    let rig = Rig::new([spawns(&[("c1", "miner", "Dig.")]), Played::text("Thanks.")]);
    rig.model.route(&child("miner"), [Played::text("Gold.")]);
    let log = Log::new();
    let mut agent = parent(&rig, [], vec![persona("miner", &[])]).await;
    let heard = log.clone();
    agent.on(EventKind::AgentEnd, move |said| heard.say(format!("{:?}", said.envelope.agent.as_str())));
    run(agent, "Go.").answered().await;
    assert_eq!(log.all(), [r#""""#]);
}

// 2.12
#[test]
fn the_bundled_personas_are_what_the_specification_says() {
    let personas = Persona::bundled().unwrap();
    let miner = personas.iter().find(|persona| persona.name == "file_miner").unwrap();
    assert_eq!((miner.tool_names.join(" "), miner.max_steps), ("read grep glob".to_owned(), 30));
    let researcher = personas.iter().find(|persona| persona.name == "researcher").unwrap();
    assert_eq!((researcher.tool_names.join(" "), researcher.max_steps), ("web_search web_scrape fetch".to_owned(), 20));
    assert_eq!(researcher.missing_tools(&["fetch", "read"]), ["web_search", "web_scrape"]);
}

#[test]
fn a_persona_file_that_is_wrong_says_what_is_wrong() {
    let file = |header: &str, prompt: &str| format!("+++\n{header}\n+++\n{prompt}\n");
    let header = "name = \"a\"\ndescription = \"b\"\ntools = []\nmax_steps = 1";
    assert_eq!(Persona::parse(&file(header, "Be.")).unwrap().system_prompt, "Be.");
    assert_eq!(Persona::parse(&file(header, "Be.").replace('\n', "\r\n")).unwrap().system_prompt, "Be.");
    for (text, what) in [
        ("no header".to_owned(), "TOML header"),
        (file(header, " "), "needs a prompt"),
        (file(&header.replace("\"a\"", "\"\""), "Be."), "needs a name"),
        (file(&header.replace("= 1", "= 0"), "Be."), "max_steps"),
        (file(&format!("{header}\nmore = 1"), "Be."), "invalid header"),
    ] {
        let error = Persona::parse(&text).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}
