//! Stories of a host for any agent: its events, its queue, its stop, its end.

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use steersman_agent::subagent::{Persona, SubAgents, TempWorkspace};
use steersman_agent::{Agent, HookAnswer, HookPoint, LoopHooks};
use steersman_base::error::{BuildError, Refused};
use steersman_base::event::{Delivery, Event};
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::message::Message;
use steersman_core::control::{AgentControls, Controls};
use steersman_core::provider::{Played, ScriptedProvider};
use steersman_session::host::{self, LastRun, RunningAgent};

use crate::support::doubles::{Gate, brief, calls, gated_fn};

async fn start(model: &Arc<ScriptedProvider>, gate: &Gate) -> RunningAgent {
    let controls = Controls::default();
    let agent = Agent::with_provider(model.clone(), "Be brief.")
        .tool(gated_fn("slow", gate))
        .controls(controls.clone())
        .await
        .unwrap();
    host::run(agent, controls).unwrap()
}

fn scripted(script: impl IntoIterator<Item = Played>) -> Arc<ScriptedProvider> {
    Arc::new(ScriptedProvider::new(script))
}

fn texts(running: &RunningAgent) -> Vec<String> {
    running.pending().into_iter().flat_map(|(_, entries)| entries).map(|entry| entry.message.text).collect()
}

/// Hooks that count the points that matter here.
#[derive(Default)]
struct Waits(std::sync::Mutex<Vec<&'static str>>);

impl Waits {
    fn heard(&self) -> Vec<&'static str> {
        self.0.lock().unwrap().clone()
    }
}

impl LoopHooks for Waits {
    fn at<'a>(
        &'a self,
        _: &'a AgentId,
        point: HookPoint<'a>,
        _: &'a (dyn Fn(Event) + Send + Sync),
    ) -> BoxFuture<'a, HookAnswer> {
        let heard = match point {
            HookPoint::Idle => Some("idle"),
            HookPoint::Prompt(_) => Some("prompt"),
            _ => None,
        };
        self.0.lock().unwrap().extend(heard);
        Box::pin(async { HookAnswer::default() })
    }
}

#[tokio::test(start_paused = true)]
async fn hooks_hear_once_after_each_turn_that_the_agent_waits_for_the_user() {
    let (hooks, controls) = (Arc::new(Waits::default()), Controls::default());
    let model = scripted([Played::text("One."), Played::text("Two.")]);
    let agent = Agent::with_provider(model, "Be brief.").hooks(Some(hooks.clone())).controls(controls.clone());
    let mut running = host::run(agent.await.unwrap(), controls).unwrap();
    // Nobody waits for an answer to what was never sent.
    tokio::time::sleep(limits::HOOK_IDLE_TIME * 3).await;
    assert_eq!(hooks.heard(), [""; 0]);
    running.send("Go.").unwrap();
    running.settled().await.unwrap();
    tokio::time::sleep(limits::HOOK_IDLE_TIME / 2).await;
    assert_eq!(hooks.heard(), ["prompt"]);
    tokio::time::sleep(limits::HOOK_IDLE_TIME * 3).await;
    assert_eq!(hooks.heard(), ["prompt", "idle"]);
    running.send("Go on.").unwrap();
    running.settled().await.unwrap();
    tokio::time::sleep(limits::HOOK_IDLE_TIME * 2).await;
    assert_eq!(hooks.heard(), ["prompt", "idle", "prompt", "idle"]);
}

#[tokio::test]
async fn what_is_sent_starts_a_turn_or_enters_the_one_that_runs() {
    let (gate, model) =
        (Gate::new(), scripted([calls(&[("c1", "slow")]), Played::text("Done."), Played::text("Bye.")]));
    let mut running = start(&model, &gate).await;
    assert_eq!(running.settled().await, Ok(LastRun::None));
    running.send("Go.").unwrap();
    gate.reached().await;
    running.send("And this.").unwrap();
    running.send(("Later.", Delivery::FollowUp)).unwrap();
    assert_eq!(texts(&running), ["And this.", "Later."]);
    gate.open();
    assert_eq!(running.settled().await, Ok(LastRun::Answered));
    assert_eq!(running.pending(), []);

    let mut lines = Vec::new();
    while let Some(envelope) = running.next_event().await {
        let is_last = matches!(envelope.event, Event::TurnEnded { turn: 2, .. });
        lines.extend(brief(&envelope.event).filter(|_| !matches!(envelope.event, Event::Pending { .. })));
        if is_last {
            break;
        }
    }
    let words: Vec<&str> = lines.iter().map(String::as_str).filter(|line| *line != "tokens").collect();
    assert_eq!(
        words,
        [
            "turn 1",
            "user start m1: Go.",
            "call c1 slow",
            "result c1: slow done",
            "user mid m2: And this.",
            "assistant: Done.",
            "ended 1 completed",
            "turn 2",
            "user start m3: Later.",
            "assistant: Bye.",
            "ended 2 completed",
        ]
    );
}

#[tokio::test]
async fn the_context_window_that_was_found_is_among_the_events() {
    let mut running = start(&scripted([]), &Gate::new()).await;
    let first = running.next_event().await.unwrap().event;
    assert!(matches!(first, Event::ContextCap { .. }), "{first:?}");
}

#[tokio::test]
async fn a_stop_gives_back_what_was_pending_and_the_next_text_starts_a_turn() {
    let (gate, model) = (Gate::new(), scripted([calls(&[("c1", "slow")]), Played::text("Here.")]));
    let mut running = start(&model, &gate).await;
    running.send("Go.").unwrap();
    gate.reached().await;
    running.send("And this.").unwrap();
    let back: Vec<String> = running.stop().into_iter().map(|entry| entry.message.text).collect();
    assert_eq!(back, ["And this."]);
    assert_eq!(running.settled().await, Ok(LastRun::Cancelled));
    running.send("Still there?").unwrap();
    assert_eq!(running.settled().await, Ok(LastRun::Answered));
    let agent = running.close().await.unwrap();
    assert_eq!(agent.last_assistant_content(), Some("Here."));
}

#[tokio::test]
async fn the_end_stops_a_turn_returns_the_agent_and_ends_the_events() {
    let (gate, model) = (Gate::new(), scripted([calls(&[("c1", "slow")])]));
    let running = start(&model, &gate).await;
    let crew = Arc::clone(running.agent_controls());
    running.send("Go.").unwrap();
    gate.reached().await;
    let agent = running.close().await.unwrap();
    assert!(
        matches!(agent.history().messages().last(), Some(Message::Tool { content, .. }) if content.contains("cancelled"))
    );
    drop(agent);
    assert!(crew.peek().is_empty());
}

#[tokio::test]
async fn what_is_dropped_stops_its_agent() {
    let (gate, model) = (Gate::new(), scripted([calls(&[("c1", "slow")])]));
    let controls = Controls::default();
    let closed = Arc::new(tokio::sync::Notify::new());
    let tell = Arc::clone(&closed);
    let builder = Agent::with_provider(model, "Be brief.").tool(gated_fn("slow", &gate)).controls(controls.clone());
    let agent = builder.await.unwrap();
    agent.on_close(move || tell.notify_one());
    let running = host::run(agent, controls).unwrap();
    running.send("Go.").unwrap();
    gate.reached().await;
    drop(running);
    closed.notified().await;
}

#[tokio::test]
async fn an_agent_that_breaks_down_ends_the_stream() {
    let model = scripted([]);
    let mut running = start(&model, &Gate::new()).await;
    running.send("Go.").unwrap();
    assert!(matches!(running.settled().await, Ok(LastRun::Failed(words)) if words.contains("no further reply")));
    let mut events: Vec<Event> = Vec::new();
    while let Some(envelope) = running.next().await {
        events.push(envelope.event);
        if matches!(events.last(), Some(Event::TurnEnded { .. })) {
            break;
        }
    }
    assert!(events.contains(&Event::TurnStarted { turn: 1 }));
}

#[tokio::test]
async fn an_agent_with_other_controls_is_not_run() {
    let built = Agent::with_provider(scripted([]), "x").controls(Controls::default()).await.unwrap();
    assert!(matches!(host::run(built, Controls::default()), Err(BuildError::Argument(_))));
    let built = Agent::with_provider(scripted([]), "x").await.unwrap();
    assert!(matches!(host::run(built, Controls::default()), Err(BuildError::Argument(_))));
}

#[tokio::test]
async fn an_agent_that_is_started_keeps_the_controls_that_it_was_given() {
    let (controls, model) = (Controls::default(), scripted([Played::text("Yes.")]));
    controls.send("There?").unwrap();
    let builder = Agent::with_provider(model.clone(), "Be brief.").controls(controls.clone());
    let mut running = RunningAgent::start(builder).await.unwrap();
    assert!(Arc::ptr_eq(&running.agent_controls().main().interloper, &controls.interloper));
    assert_eq!(running.settled().await, Ok(LastRun::Answered));
    assert_eq!(model.requests()[0].messages[1].content(), "There?");
}

#[tokio::test]
async fn an_agent_that_is_started_brings_a_crew_for_its_sub_agents() {
    let (gate, crew) = (Gate::new(), Arc::new(AgentControls::default()));
    for given in [None, Some(&crew)] {
        let spawn = r#"{"name": "scout", "task": "Look around."}"#;
        let script = [
            Played::call("agent", spawn),
            Played::call("slow", "{}"),
            Played::text("Hills."),
            Played::text("There are hills."),
        ];
        let model = ScriptedProvider::new(script);
        let scout = Persona::new("scout", "Looks around.", "You look around.").tools(["slow"]);
        let builder = Agent::with_provider(model.clone(), "You lead.")
            .tool(gated_fn("slow", &gate))
            .extension(SubAgents::new([scout]).unwrap());
        let builder = given.into_iter().fold(builder, |builder, crew| builder.agent_controls(Arc::clone(crew)));
        let mut running = RunningAgent::start(builder).await.unwrap();
        assert_eq!(given.is_some_and(|given| Arc::ptr_eq(given, running.agent_controls())), given.is_some());
        running.send("Explore.").unwrap();
        gate.reached().await;
        running.agent_controls().send_to(&AgentId::new("scout 0"), "Look north.").unwrap();
        gate.open();
        assert_eq!(running.settled().await, Ok(LastRun::Answered));
        assert_eq!(model.requests()[2].messages.last().map(Message::content), Some("Look north."));
    }
}

#[tokio::test]
async fn one_sub_agent_is_steered_by_its_name() {
    let gate = Gate::new();
    let spawn = r#"{"name": "scout", "task": "Look around."}"#;
    let model = scripted([
        Played::calls(&[("c1", "agent", spawn)]),
        calls(&[("c2", "slow")]),
        Played::text("Hills."),
        Played::text("There are hills."),
    ]);
    let crew = Arc::new(AgentControls::new(Controls::default()));
    let scout = Persona {
        name: "scout".to_owned(),
        description: "Looks around.".to_owned(),
        tool_names: vec!["slow".to_owned()],
        system_prompt: "You look around.".to_owned(),
        max_steps: 5,
        temp_workspace: TempWorkspace::No,
        model: None,
        temperature: None,
    };
    let agent = Agent::with_provider(model.clone(), "You lead.")
        .tool(gated_fn("slow", &gate))
        .extension(SubAgents::new(vec![scout]).unwrap().agent_controls(Arc::clone(&crew)))
        .controls(crew.main())
        .await
        .unwrap();
    let mut running = host::run(agent, crew).unwrap();
    running.send("Explore.").unwrap();
    gate.reached().await;
    let scout = AgentId::new("scout 0");
    running.send_to(&scout, "Look north.").unwrap();
    gate.open();
    assert_eq!(running.settled().await, Ok(LastRun::Answered));
    assert_eq!(running.send_to(&scout, "Too late."), Err(Refused::Ended));
    let child = &model.requests()[2].messages;
    assert!(matches!(child.last(), Some(Message::User { content, .. }) if content == "Look north."), "{child:?}");
    let mut agents = Vec::new();
    while let Some(envelope) = running.next_event().await {
        agents.push(envelope.agent.to_string());
        if matches!(envelope.event, Event::TurnEnded { .. }) && envelope.agent.is_main() {
            break;
        }
    }
    assert!(agents.contains(&"scout 0".to_owned()), "the events of sub-agents come too: {agents:?}");
}
