//! Stories of an agent in a few lines: its parts on the builder, `ask`, an earlier conversation, hooks that wait.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use steersman_agent::{Agent, AgentContext, BoundaryNote, Extension, ExtensionError, FnExtension};
use steersman_base::error::{BuildError, RunError};
use steersman_base::event::Event;
use steersman_base::message::Message;
use steersman_core::control::Controls;
use steersman_core::listener::InMemoryEventList;
use steersman_core::provider::{Played, ScriptedProvider};
use steersman_core::tool::{FnTool, Parameters};
use tokio::sync::Notify;

use crate::support::doubles::{Gate, Rig, calls, gated_fn, run, tool};

fn scripted(script: impl IntoIterator<Item = Played>) -> Arc<ScriptedProvider> {
    Arc::new(ScriptedProvider::new(script))
}

fn contents(messages: &[Message]) -> Vec<String> {
    messages.iter().map(|message| message.content().to_owned()).collect()
}

#[tokio::test]
async fn an_agent_is_its_builder_awaited_and_answers_what_it_is_asked() {
    let model = scripted([calls(&[("c1", "look")]), Played::text("Blue."), Played::text("")]);
    model.push(Played::text("Nothing more."));
    let events = Arc::new(InMemoryEventList::new());
    let look = FnTool::new("look", "Looks.", Parameters::default(), |_, _| async { Ok("a blue sky".to_owned()) });
    let mut agent = Agent::with_provider(model.clone(), "Be brief.").tool(look).listener(events.clone()).await.unwrap();
    assert_eq!(agent.ask("Which colour?").await.unwrap(), "Blue.");
    assert_eq!(contents(&model.requests()[1].messages), ["Be brief.", "Which colour?", "", "a blue sky"]);
    assert!(events.events().iter().any(|event| matches!(event, Event::ToolCall { name, .. } if name == "look")));
    assert_eq!(agent.ask("More?").await.unwrap(), "Nothing more.", "an empty reply is asked for again");
    assert!(matches!(agent.ask(" ").await, Err(RunError::Blank)));
}

#[tokio::test]
async fn a_name_that_is_taken_fails_the_building_as_in_a_block() {
    let two = [tool("look", ""), tool("look", "")];
    let built = Agent::with_provider(scripted([]), "x").tools(two).await;
    assert!(matches!(built, Err(BuildError::Argument(words)) if words.contains("look")));
}

#[tokio::test]
async fn a_conversation_goes_on_with_its_open_calls_closed() {
    let model = scripted([calls(&[("c1", "look")])]);
    let mut agent = Agent::with_provider(model.clone(), "Be brief.").tools([tool("look", "seen")]).await.unwrap();
    let _ = agent.ask("Look.").await.unwrap_err();
    let mut recorded = agent.history().messages().to_vec();
    recorded.retain(|message| !matches!(message, Message::Tool { .. }));

    let model = scripted([Played::text("As before.")]);
    let events = Arc::new(InMemoryEventList::new());
    let builder = Agent::with_provider(model.clone(), "Be brief.").history(recorded).listener(events.clone());
    let mut agent = builder.tools([tool("look", "seen")]).await.unwrap();
    assert_eq!(agent.ask("And now?").await.unwrap(), "As before.");
    let sent = contents(&model.requests()[0].messages);
    assert_eq!(sent, ["Be brief.", "Look.", "", "Error: cancelled while it ran", "And now?"]);
    assert!(events.events().contains(&Event::TurnStarted { turn: 2 }), "the turns are counted on");
}

#[tokio::test]
async fn controls_are_one_value_and_steer_the_agent_from_anywhere() {
    let gate = Gate::new();
    let model = scripted([calls(&[("c1", "slow")]), Played::text("Both.")]);
    let controls = Controls::default();
    let mut agent = Agent::with_provider(model.clone(), "Be brief.")
        .tool(gated_fn("slow", &gate))
        .controls(controls.clone())
        .await
        .unwrap();
    let (answer, ()) = tokio::join!(agent.ask("Go."), async {
        gate.reached().await;
        controls.interloper.inject_user_message("And this.").unwrap();
        gate.open();
    });
    assert_eq!(answer.unwrap(), "Both.");
    assert_eq!(contents(&model.requests()[1].messages)[3..], ["slow done", "And this."]);
}

#[tokio::test(start_paused = true)]
async fn an_ask_that_is_dropped_leaves_an_agent_that_answers_the_next() {
    let gate = Gate::new();
    let model = scripted([calls(&[("c1", "slow")]), Played::text("Here.")]);
    let mut agent = Agent::with_provider(model.clone(), "Be brief.").tool(gated_fn("slow", &gate)).await.unwrap();
    assert!(tokio::time::timeout(Duration::from_secs(9), agent.ask("Go.")).await.is_err());
    assert_eq!(agent.ask("Are you there?").await.unwrap(), "Here.");
    assert_eq!(contents(&model.requests()[1].messages)[3], "Error: cancelled while it ran");
}

/// An extension whose hooks wait until they are let go.
struct Waiting {
    reached: Arc<Notify>,
    open: Arc<Notify>,
}

impl Extension for Waiting {
    fn name(&self) -> &'static str {
        "waiting"
    }

    fn bind<'a>(&'a self, agent: &'a mut Agent) -> BoxFuture<'a, Result<(), BuildError>> {
        async move {
            tokio::task::yield_now().await;
            agent.on_close(|| {});
            Ok(())
        }
        .boxed()
    }

    fn on_user_message<'a>(
        &'a self,
        _: &'a AgentContext<'_>,
        content: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, ExtensionError>> {
        async move {
            self.reached.notify_one();
            self.open.notified().await;
            Ok(Some(format!("about {content}")))
        }
        .boxed()
    }

    fn at_boundary<'a>(&'a self, _: &'a AgentContext<'_>) -> BoxFuture<'a, Option<BoundaryNote>> {
        async move {
            self.reached.notify_one();
            self.open.notified().await;
            Some(BoundaryNote { text: "mind the gap".to_owned(), notice: "noted".to_owned() })
        }
        .boxed()
    }
}

#[tokio::test]
async fn hooks_of_an_extension_may_wait_and_their_texts_enter_in_place() {
    let rig = Rig::new([calls(&[("c1", "look")]), Played::text("Done.")]);
    let (reached, open) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let waiting = Waiting { reached: Arc::clone(&reached), open: Arc::clone(&open) };
    let agent = rig.build(rig.builder().extension(waiting), [tool("look", "seen")]).await;
    let running = run(agent, "Look.");
    reached.notified().await;
    assert_eq!(rig.requests().len(), 0, "nothing is sent before the hook has ended");
    open.notify_one();
    reached.notified().await;
    assert_eq!(rig.requests().len(), 1, "the boundary waits for its hook");
    open.notify_one();
    running.answered().await;
    assert_eq!(contents(&rig.last_request().messages)[1..], ["Look.", "about Look.", "", "seen", "mind the gap"]);
}

#[tokio::test]
async fn an_extension_of_closures_adds_to_the_prompt_brings_tools_and_notes_and_may_wait() {
    let model = ScriptedProvider::new([Played::call("look", "{}"), Played::text("Done.")]);
    let look = FnTool::new("look", "Looks.", Parameters::default(), |_, _| async { Ok("seen") });
    let note = || BoundaryNote { text: "mind the gap".to_owned(), notice: "noted".to_owned() };
    let extension = FnExtension::new("watch")
        .system_prompt("You watch.")
        .tool(look)
        .on_user_message(|content| async move {
            tokio::task::yield_now().await;
            Ok(Some(format!("about {content}")))
        })
        .at_boundary(move || async move { Some(note()) });
    let mut agent = Agent::with_provider(model.clone(), "Be brief.").extension(extension).await.unwrap();
    agent.ask("Look.").await.unwrap();
    let sent = contents(&model.requests()[1].messages);
    assert_eq!(sent, ["Be brief.\n\nYou watch.", "Look.", "about Look.", "", "seen", "mind the gap"]);
}

#[tokio::test]
async fn an_extension_of_closures_that_fails_ends_the_turn_with_its_words() {
    let extension = FnExtension::new("watch").on_user_message(|_| async { Err("the watch is broken".into()) });
    let mut agent = Agent::with_provider(scripted([]), "Be brief.").extension(extension).await.unwrap();
    let error = agent.ask("Look.").await.unwrap_err();
    assert_eq!(error.to_string(), "an extension failed: the watch is broken");
    let empty = FnExtension::new("nothing");
    let mut agent = Agent::with_provider(scripted([Played::text("Yes.")]), "x").extension(empty).await.unwrap();
    assert_eq!(agent.ask("Still there?").await.unwrap(), "Yes.");
}

#[tokio::test]
async fn a_listener_is_taken_by_value_or_shared_and_keeps_all_that_it_does() {
    let events = Arc::new(InMemoryEventList::new());
    let shared: Arc<dyn steersman_core::listener::Listener> = events.clone();
    let model = scripted([Played::text("Yes.")]);
    let mut agent = Agent::with_provider(model, "x").listener(shared).listener(events.clone()).await.unwrap();
    agent.ask("There?").await.unwrap();
    let said = events.events().into_iter().filter(|event| matches!(event, Event::Assistant { .. }));
    assert_eq!(said.count(), 2, "each heard it");
    assert_eq!(agent.listeners().to_string(), "[InMemoryEventList, InMemoryEventList]");
}

#[tokio::test]
async fn played_calls_without_ids_get_an_id_each() {
    let model = scripted([Played::call("look", "{}").and_call("look", "{}"), Played::text("Twice.")]);
    let mut agent = Agent::with_provider(model.clone(), "x").tools([tool("look", "seen")]).await.unwrap();
    assert_eq!(agent.ask("Look.").await.unwrap(), "Twice.");
    let Message::Assistant(reply) = &model.requests()[1].messages[2] else { panic!("no reply") };
    assert_eq!(reply.tool_calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["call_1", "call_2"]);
}

#[tokio::test]
async fn a_stop_drops_a_hook_that_waits() {
    for boundary in [false, true] {
        let rig = Rig::new([calls(&[("c1", "look")]), Played::text("Not reached.")]);
        let (reached, open) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let waiting = Waiting { reached: Arc::clone(&reached), open: Arc::clone(&open) };
        let agent = rig.build(rig.builder().extension(waiting), [tool("look", "seen")]).await;
        let running = run(agent, "Look.");
        reached.notified().await;
        if boundary {
            open.notify_one();
            reached.notified().await;
        }
        rig.cancellable.cancel();
        running.cancelled().await;
        assert_eq!(rig.requests().len(), usize::from(boundary));
    }
}
