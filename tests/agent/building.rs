//! Stories of how an agent is built: defaults, extensions, the prompt, the pools of tools.

use std::sync::Arc;

use serde_json::json;
use steersman_agent::Agent;
use steersman_base::error::{BuildError, ProviderError};
use steersman_base::event::Event;
use steersman_core::control::StepLimit;
use steersman_core::provider::{Card, ChatTransport, Played, Registry, Streaming};
use steersman_core::tool::Tool;
use steersman_provider::{Http, HttpConnector};

use crate::support::doubles::{FnExtension, Log, PROMPT, RawEcho, Rig, acting, calls, echo, run, tool};
use crate::support::server::{Reply, Server};

#[tokio::test]
async fn a_transport_without_a_model_gets_the_default_and_the_callers_value_stays() {
    let rig = Rig::new([calls(&[("c1", "look")]), calls(&[("c2", "look")])]);
    rig.model.route("Evidence gathered", [Played::text("From the evidence.")]);
    *rig.model.fallback.lock().unwrap() = Some("default-model".to_owned());
    let given = ChatTransport { api_base: Some("http://localhost:1".to_owned()), ..ChatTransport::default() };
    let builder = Agent::builder(given.clone(), PROMPT, rig.connector()).step_limit(StepLimit::new(1).unwrap());
    let agent = rig.build(builder, [tool("look", "seen")]).await;
    assert_eq!(agent.model(), Some("default-model"));
    assert_eq!(given.model, None);

    let agent = run(agent, "Look twice.").answered().await;
    let transport = agent.transport().clone();
    assert_eq!(transport, given.with_model("default-model"));
    assert_eq!(rig.model.transports(), [transport.clone(), transport], "the rescue got the whole value too");
    assert!(rig.requests().iter().all(|request| request.model == "default-model"));
}

#[tokio::test]
async fn a_model_that_nobody_knows_is_refused_unless_it_is_assumed_to_exist() {
    let server = Server::start([]);
    server.on("/v1/models", Reply::json(200, json!({ "data": [{ "id": "listed" }] })));
    let registry: Registry = [("known".to_owned(), Card::default())].into_iter().collect();
    let connector = Arc::new(HttpConnector::new(Http::default()).with_registry(Arc::new(registry)));
    let build = async |model: &str, assume_model_exists: bool| {
        let api_base = Some(server.url());
        let transport = ChatTransport { assume_model_exists, api_base, ..ChatTransport::default().with_model(model) };
        let built = Agent::builder(transport, PROMPT, Arc::clone(&connector) as _).build(|_| Ok(())).await;
        built.map(|agent| agent.model().map(str::to_owned))
    };
    let refused = build("typo", false).await.unwrap_err();
    assert_eq!(refused.to_string(), "typo is not known, and its server does not list it");
    assert!(matches!(refused, BuildError::Provider(ProviderError::Configuration(_))));
    for (model, assumed) in [("typo", true), ("listed", false), ("known", false)] {
        assert_eq!(build(model, assumed).await.unwrap().as_deref(), Some(model));
    }
}

#[tokio::test]
async fn a_tool_whose_name_no_server_takes_is_refused() {
    for name in ["read file", "läs", "read/file", "a\nb", &"x".repeat(129)] {
        let rig = Rig::new([]);
        let refused = rig.try_build(rig.builder(), |c| c.add_tool(tool(name, "seen"))).await.unwrap_err();
        assert!(refused.to_string().contains("no model server accepts a tool named"), "{refused}");
    }
    for name in ["read_file-2", "files.read", &"x".repeat(64)] {
        let rig = Rig::new([]);
        rig.try_build(rig.builder(), |c| c.add_tool(tool(name, "seen"))).await.unwrap();
    }
}

#[tokio::test]
async fn a_blank_system_prompt_is_no_message_also_after_a_reset_and_a_resume() {
    for prompt in ["", " \n"] {
        let rig = Rig::new([Played::text("One."), Played::text("Two.")]);
        let agent = Agent::builder(Rig::transport(), prompt, rig.connector());
        let mut agent = run(rig.build(agent, []).await, "first").answered().await;
        assert_eq!(rig.last_request().lines(), ["user: first"]);
        agent.reset();
        let agent = run(agent, "second").answered().await;
        assert_eq!(rig.last_request().lines(), ["user: second"]);
        let messages = agent.history().messages().to_vec();
        let rig = Rig::new([Played::text("Three.")]);
        let builder = Agent::builder(Rig::transport(), prompt, rig.connector()).history(messages);
        run(rig.build(builder, []).await, "third").answered().await;
        assert_eq!(rig.last_request().lines(), ["user: second", "assistant: Two.", "user: third"]);
    }
}

#[tokio::test]
async fn configure_runs_inside_add_extension() {
    let rig = Rig::new([]);
    let log = Log::new();
    let said = log.clone();
    let extension = FnExtension::new().configure(move |_| {
        said.say("configure");
        Ok(())
    });
    rig.try_build(rig.builder(), |c| {
        log.say("before");
        c.add_extension(Arc::new(extension))?;
        log.say("after");
        Ok(())
    })
    .await
    .unwrap();
    assert_eq!(log.all(), ["before", "configure", "after"]);
}

#[tokio::test]
async fn configure_sees_the_inputs_and_what_was_added_so_far() {
    let rig = Rig::new([]);
    let log = Log::new();
    let said = log.clone();
    let extension = FnExtension::new().configure(move |c| {
        let names = |tools: &[Arc<dyn Tool>]| tools.iter().map(|tool| tool.name().to_owned()).collect::<Vec<_>>();
        said.say(format!("{:?} {:?}", names(c.tools()), names(c.sub_agent_tools())));
        said.say(format!("{} {:?} {:?}", c.base_system_prompt(), c.id(), c.streaming()));
        said.say(format!("{} {}", c.transport().model_name(), c.listeners().len()));
        said.say(format!("{} {}", c.step_limit().unwrap().max(), c.cancellable().unwrap().is_cancelled()));
        said.say(format!("{}", c.interloper().unwrap()));
        c.add_tool(echo())
    });
    let builder = rig.builder().id("x 1").streaming(Streaming::On).step_limit(StepLimit::new(7).unwrap());
    let agent = rig
        .try_build(builder, |c| {
            c.add_tool(tool("a", ""))?;
            c.add_sub_agent_tool(tool("b", ""))?;
            c.append_system_prompt("More.");
            c.add_extension(Arc::new(extension))?;
            c.add_tool(tool("late", ""))
        })
        .await
        .unwrap();
    let expected = [
        r#"["a"] ["b"]"#.to_owned(),
        format!(r#"{PROMPT} "x 1" On"#),
        "test-model 1".to_owned(),
        "7 false".to_owned(),
        "Interloper".to_owned(),
    ];
    assert_eq!(log.all(), expected);
    assert_eq!(agent.tools().iter().map(|tool| tool.name()).collect::<Vec<_>>(), ["a", "echo", "late"]);
}

#[tokio::test]
async fn bind_runs_once_at_the_end_in_order_and_sees_cap_and_tools() {
    let rig = Rig::new([]);
    let log = Log::new();
    let binder = |name: &'static str| {
        let (log, recorder) = (log.clone(), Arc::clone(&rig.recorder));
        Arc::new(FnExtension::new().bind(move |agent| {
            let capped = recorder.events().contains(&Event::ContextCap { tokens: Some(4096) });
            let (cap, tools) = (agent.context_window_cap(), agent.tools().len());
            log.say(format!("{name} cap={cap:?} tools={tools} emitted={capped}"));
            Ok(())
        }))
    };
    let agent = rig
        .try_build(rig.builder().context_window(4096), |c| {
            c.add_extension(binder("first"))?;
            c.add_extension(binder("second"))?;
            c.add_tool(echo())
        })
        .await
        .unwrap();
    assert_eq!(log.all(), ["first cap=Some(4096) tools=1 emitted=true", "second cap=Some(4096) tools=1 emitted=true"]);
    assert_eq!(agent.extensions().len(), 2);
    let caps = rig.events().into_iter().filter(|event| matches!(event, Event::ContextCap { .. })).count();
    assert_eq!(caps, 1);
}

#[tokio::test]
async fn the_system_prompt_is_the_base_and_the_snippets_and_opens_the_request() {
    let rig = Rig::new([Played::text("Hello.")]);
    let agent = rig
        .try_build(rig.builder(), |c| {
            c.append_system_prompt("One.");
            c.append_system_prompt("Two.");
            Ok(())
        })
        .await
        .unwrap();
    let agent = run(agent, "Hi.").answered().await;
    assert_eq!(agent.system_prompt(), format!("{PROMPT}\n\nOne.\n\nTwo."));
    assert_eq!(rig.last_request().system_prompt(), agent.system_prompt());
}

#[tokio::test]
async fn tools_for_sub_agents_are_not_on_offer_to_the_parent() {
    let rig = Rig::new([calls(&[("c1", "fetch")]), Played::text("No such tool.")]);
    let agent = rig
        .try_build(rig.builder(), |c| {
            c.add_sub_agent_tool(tool("fetch", "body"))?;
            c.add_tool(echo())
        })
        .await
        .unwrap();
    assert_eq!(agent.sub_agent_tools().len(), 1);
    run(agent, "Fetch it.").answered().await;
    assert_eq!(rig.last_request().tool_names(), ["echo"]);
    assert!(rig.event_lines()[4].starts_with("result c1: Error: unknown tool 'fetch'"), "{:?}", rig.event_lines());
}

#[tokio::test]
async fn a_name_is_taken_once_over_both_pools() {
    let rig = Rig::new([]);
    let twice = rig.try_build(rig.builder(), |c| {
        c.add_sub_agent_tool(tool("fetch", ""))?;
        c.add_tool(tool("fetch", ""))
    });
    assert!(matches!(twice.await, Err(BuildError::Argument(message)) if message.contains("fetch")));
}

#[tokio::test]
async fn an_internal_tool_is_on_offer_but_not_among_the_tools() {
    let rig = Rig::new([Played::calls(&[("c1", "inner", r#"{"any":[1]}"#)]), Played::text("Done.")]);
    let mut agent = rig.agent([echo()]).await;
    agent.internal_add_tool(Arc::new(RawEcho("inner"))).unwrap();
    let taken = agent.internal_add_tool(Arc::new(RawEcho("echo")));
    assert!(matches!(taken, Err(BuildError::Argument(_))));
    let agent = run(agent, "Use it.").answered().await;
    assert_eq!(rig.last_request().tool_names(), ["echo", "inner"]);
    assert_eq!(rig.event_lines()[4], r#"result c1: raw {"any":[1]}"#, "raw tools take arguments unchecked");
    assert_eq!(agent.tools().len(), 1);
    assert_eq!(agent.to_string(), "Agent(id=, model=test-model, tools=1, listeners=[InMemoryEventList])");
}

// D25
#[tokio::test]
async fn a_tool_that_connects_adds_tools_for_the_rest_of_its_turn() {
    let rig = Rig::new([
        calls(&[("c1", "connect"), ("c2", "remote")]),
        calls(&[("c3", "remote")]),
        calls(&[("c4", "connect")]),
        Played::text("Done."),
    ]);
    let connect = acting("connect", |context| match context.additions.add(Arc::new(RawEcho("remote"))) {
        Ok(()) => "connected".to_owned(),
        Err(error) => error.to_string(),
    });
    let agent = run(rig.agent([connect]).await, "Connect.").answered().await;
    let offered: Vec<_> = rig.requests().iter().map(|request| request.tool_names().join(" ")).collect();
    assert_eq!(offered, ["connect", "connect remote", "connect remote", "connect remote"]);
    let results: Vec<_> = rig.event_lines().into_iter().filter(|line| line.starts_with("result")).collect();
    assert_eq!(results[0], "result c1: connected");
    assert!(results[1].starts_with("result c2: Error: unknown tool 'remote'"), "not before the next request");
    assert_eq!(results[2..], ["result c3: raw {}", "result c4: there are two tools named \"remote\""]);
    assert_eq!(agent.tools().len(), 1, "no sub-agent gets it");
}
