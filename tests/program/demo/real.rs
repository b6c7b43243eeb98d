//! The embedded model under the real loop: real server, real provider, real tools, real sub-agents, real steering.

use std::sync::Arc;

use steersman::program::demo::{DemoServer, MODEL, Pace, start};
use steersman_agent::Agent;
use steersman_agent::subagent::{Persona, SubAgents};
use steersman_base::assets;
use steersman_base::event::{Envelope, Event};
use steersman_base::id::AgentId;
use steersman_base::message::Message;
use steersman_core::control::{Cancellable, Interloper, StepLimit};
use steersman_core::listener::{InMemoryEventList, Listener, ListenerList};
use steersman_core::provider::{ChatTransport, Streaming};
use steersman_provider::HttpConnector;
use steersman_tools::file_tools;
use steersman_tools::workspace::Workspace;

use super::project::FILES;

/// Injects a text when the main agent makes its first call of a tool.
struct InjectAt {
    tool: &'static str,
    text: &'static str,
    queue: Arc<Interloper>,
    done: std::sync::atomic::AtomicBool,
}

impl Listener for InjectAt {
    fn on_event(&self, envelope: &Envelope) {
        let Event::ToolCall { name, .. } = &envelope.event else { return };
        let first = envelope.agent.is_main() && name == self.tool;
        if first && !self.done.swap(true, std::sync::atomic::Ordering::SeqCst) {
            self.queue.inject_user_message(self.text).unwrap();
        }
    }

    fn label(&self) -> String {
        "InjectAt".to_owned()
    }
}

struct Rig {
    _server: DemoServer,
    _directory: tempfile::TempDir,
    events: Arc<InMemoryEventList>,
    agent: Agent,
}

async fn rig(steps: u32, inject: Option<(&'static str, &'static str)>) -> Rig {
    let server = start(Pace::Instant).await.unwrap();
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in FILES {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let transport = ChatTransport {
        model: Some(MODEL.to_owned()),
        api_base: Some(server.base_url()),
        api_key: Some(server.api_key()),
        ..ChatTransport::default()
    };
    let queue = Arc::new(Interloper::new());
    let events = Arc::new(InMemoryEventList::new());
    let mut listeners: Vec<Arc<dyn Listener>> = vec![events.clone()];
    if let Some((tool, text)) = inject {
        listeners.push(Arc::new(InjectAt { tool, text, queue: queue.clone(), done: false.into() }));
    }
    let workspace = Arc::new(Workspace::new(directory.path()).unwrap());
    let mut personas = Persona::bundled().unwrap();
    personas.retain(|persona| persona.name == "file_miner");
    let agent = Agent::builder(transport, assets::MAIN_PROMPT, Arc::new(HttpConnector::default()))
        .streaming(Streaming::On)
        .step_limit(StepLimit::new(steps).unwrap())
        .cancellable(Cancellable::new())
        .interloper(queue)
        .listeners(ListenerList::new(&listeners))
        .build(|configurator| {
            configurator.add_tools(file_tools(&workspace))?;
            configurator.add_extension(Arc::new(SubAgents::new(personas)?))
        })
        .await
        .unwrap();
    Rig { _server: server, _directory: directory, events, agent }
}

#[tokio::test]
async fn a_request_leads_to_a_report_by_sub_agents_that_run_at_the_same_time() {
    let mut rig = rig(60, None).await;
    rig.agent.run_loop("Please have a look at this project.").await.unwrap();
    let report = rig.agent.last_assistant_content().unwrap();
    for part in [
        "**7 files**",
        "by 3 agents",
        "| Rust | 4 |",
        "- `src/heater.rs:2` — `pub struct Heater;`",
        "FIXME: overshoots",
        "```toml\n[package]",
    ] {
        assert!(report.contains(part), "{part} is missing in:\n{report}");
    }
    let envelopes = rig.events.envelopes();
    let at = |wanted: &dyn Fn(&Event) -> bool| envelopes.iter().rposition(|envelope| wanted(&envelope.event)).unwrap();
    let last_spawn = at(&|event| matches!(event, Event::AgentSpawned { .. }));
    let first_end = envelopes.iter().position(|e| matches!(e.event, Event::AgentFinished { .. })).unwrap();
    assert!(last_spawn < first_end, "they run at the same time");
    let failed = |event: &Event| matches!(event, Event::ToolResult { is_error: true, .. });
    assert!(!envelopes.iter().any(|envelope| failed(&envelope.event)), "no call fails");
    let miner = AgentId::new("file_miner 0");
    let thoughts = envelopes.iter().any(|e| e.agent == miner && matches!(e.event, Event::ThinkingDelta { .. }));
    assert!(thoughts, "a sub-agent thinks aloud");
    assert_eq!(rig.agent.context_window_cap(), None, "nobody asked for it");
}

#[tokio::test]
async fn text_typed_while_a_tool_runs_is_acted_upon_in_the_next_reply() {
    for tool in ["glob", "agent", "read"] {
        let mut rig = rig(60, Some((tool, "count TODO"))).await;
        rig.agent.run_loop("look around").await.unwrap();
        let messages = rig.agent.history().messages();
        let is_it = |message: &Message| matches!(message, Message::User { content, .. } if content == "count TODO");
        let at = messages.iter().position(is_it).unwrap();
        let Some(Message::Assistant(reply)) = messages.get(at + 1) else { panic!("a reply follows") };
        assert!(reply.content.starts_with("> count TODO\n"), "{}", reply.content);
        let report = rig.agent.last_assistant_content().unwrap();
        assert!(report.contains("“count TODO”: `TODO` matches 2 lines of 2 files"), "{tool}: {report}");
    }
}

#[tokio::test]
async fn a_used_up_budget_ends_in_an_answer_from_the_evidence() {
    let mut rig = rig(3, None).await;
    rig.agent.run_loop("look around").await.unwrap();
    let answer = rig.agent.last_assistant_content().unwrap();
    assert!(answer.contains("“look around”") && answer.contains("- `src/"), "{answer}");
    assert!(answer.contains("Missing:"));
}

#[tokio::test]
async fn the_next_turn_builds_on_the_first() {
    let mut rig = rig(60, None).await;
    rig.agent.run_loop("look around").await.unwrap();
    rig.agent.run_loop("What about the error handling?").await.unwrap();
    let answer = rig.agent.last_assistant_content().unwrap();
    assert!(answer.contains("Earlier in this conversation") && answer.contains("`src/heater.rs:1`"), "{answer}");
}
