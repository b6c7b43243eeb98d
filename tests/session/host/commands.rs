//! Stories of what is asked of the worker itself: a reset, another model, the list of models.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use steersman_base::event::{Delivery, Envelope, Event};
use steersman_base::id::AgentId;
use steersman_base::protocol::ContextKind;
use steersman_core::listener::Listener;
use steersman_core::provider::{ChatProvider, ChatTransport, Connector, Played, ProviderError};
use steersman_session::host::{self, Command, Handle, LastRun, Notice, Setup, Update, WorkerState};
use tempfile::TempDir;

use super::{Ship, launch, setup};
use crate::support::doubles::{Pause, PlayedExt, Rig, Spy, settle, within};
use crate::support::server::{Reply, Server};

/// Returns the conversation of the last request without its system prompt.
fn conversation(ship: &Ship) -> Vec<String> {
    ship.rig.last_request().lines().split_off(1)
}

#[tokio::test(start_paused = true)]
async fn a_reset_goes_back_to_the_system_prompt_and_the_session_goes_on() {
    let mut ship = launch([Played::text("One."), Played::text("Two.")]);
    ship.send("a");
    ship.settled().await;
    assert_eq!(ship.host.handle().request(Command::Reset), []);
    settle().await;
    assert_eq!(ship.event_lines().last().unwrap(), "reset");
    assert_eq!(ship.host.state(), WorkerState::Idle(LastRun::None));
    ship.send("b");
    assert_eq!(ship.settled().await, LastRun::Answered);
    assert_eq!(conversation(&ship), ["user: b"]);
    assert_eq!(ship.event_lines().last().unwrap(), "ended 2 completed");
}

// D5, D6
#[tokio::test(start_paused = true)]
async fn a_reset_stops_the_turn_gives_its_texts_back_and_what_is_sent_next_starts_the_new_conversation() {
    let pause = Pause::new();
    let mut ship = launch([Played::text("Never.").paused(&pause), Played::text("New.")]);
    ship.send("a");
    pause.reached().await;
    ship.send("b");
    let back: Vec<String> =
        ship.host.handle().request(Command::Reset).into_iter().map(|entry| entry.message.text).collect();
    assert_eq!(back, ["b"]);
    ship.send("c");
    assert_eq!(ship.settled().await, LastRun::Answered);
    assert_eq!(conversation(&ship), ["user: c"]);
    let lines = ship.event_lines();
    let reset = lines.iter().position(|line| line == "reset").unwrap();
    assert_eq!(lines[reset - 1..reset + 3], ["ended 1 cancelled", "reset", "turn 2", "user start m3: c"]);
}

// D5
#[tokio::test(start_paused = true)]
async fn a_reset_gives_back_what_was_pending_for_a_child_too() {
    let pause = Pause::new();
    let task = r#"{"name":"file_miner","task":"Dig."}"#;
    let mut ship = launch([Played::calls(&[("c1", "agent", task)])]);
    ship.rig.model.route("Dig.", [Played::text("Never.").paused(&pause)]);
    ship.send("a");
    pause.reached().await;
    ship.host.handle().inject_user_message(&AgentId::new("file_miner 0"), ("for the child", Delivery::Steer)).unwrap();
    ship.send("for main");
    let back: Vec<String> =
        ship.host.handle().request(Command::Reset).into_iter().map(|entry| entry.message.text).collect();
    assert_eq!(back, ["for main", "for the child"]);
    assert_eq!(ship.settled().await, LastRun::None);
    assert_eq!(ship.event_lines().last().unwrap(), "reset");
}

// The turn's end and the reset race: the text that is sent behind the reset must not enter the old conversation.
#[tokio::test(start_paused = true)]
async fn no_turn_starts_between_the_asking_for_a_reset_and_the_reset() {
    let (rig, dir) = (Rig::new([Played::text("One."), Played::text("New.")]), TempDir::new().unwrap());
    let slot: Arc<std::sync::OnceLock<Handle>> = Arc::default();
    let seen = Arc::clone(&slot);
    // On the worker's own task, between the last answer and the look for what is next.
    let spy: Arc<dyn Listener> = Arc::new(Spy(move |envelope: &Envelope| {
        if let (Event::TurnEnded { turn: 1, .. }, Some(handle)) = (&envelope.event, seen.get()) {
            for text in ["b", "c"] {
                assert_eq!(handle.request(Command::Reset).len(), usize::from(text == "c"));
                handle.inject_user_message(&AgentId::main(), (text, Delivery::Steer)).unwrap();
            }
        }
    }));
    let setup = Setup { listeners: vec![rig.recorder.clone(), spy], ..setup(&rig, &dir) };
    let host = host::start(&tokio::runtime::Handle::current(), setup);
    assert!(slot.set(host.handle().clone()).is_ok());
    let mut ship = Ship { rig, host, dir };
    ship.send("a");
    assert_eq!(ship.settled().await, LastRun::Answered);
    assert_eq!(conversation(&ship), ["user: c"]);
    assert_eq!(ship.rig.requests().len(), 2);
}

/// Returns what the events say of models and windows.
fn models(rig: &Rig) -> Vec<String> {
    let told = rig.recorder.envelopes().into_iter().filter_map(|envelope| match envelope.event {
        Event::ModelSwitched { from, to, .. } => Some(format!("{} → {}", from.unwrap(), to.unwrap())),
        Event::ContextCap { tokens } => Some(format!("window {tokens:?}")),
        _ => None,
    });
    told.collect()
}

#[tokio::test(start_paused = true)]
async fn another_model_answers_from_the_next_request_on_also_while_nothing_runs() {
    let mut ship = launch([Played::text("One."), Played::text("Two.")]);
    ship.rig.model.windows.lock().unwrap().extend([("test-model".to_owned(), 100), ("other".to_owned(), 200)]);
    ship.send("a");
    ship.settled().await;
    ship.host.handle().request(Command::SwitchModel("other".to_owned()));
    settle().await;
    assert_eq!(models(&ship.rig), ["window Some(100)", "test-model → other", "window Some(200)"], "it is told at once");
    ship.host.handle().request(Command::SwitchModel("other".to_owned()));
    ship.send("b");
    ship.settled().await;
    let asked: Vec<String> = ship.rig.requests().into_iter().map(|request| request.model).collect();
    assert_eq!(asked, ["test-model", "other"]);
    assert_eq!(models(&ship.rig).len(), 3, "the same model again is no switch");
    assert_eq!(ship.rig.last_request().lines()[1..], ["user: a", "assistant: One.", "user: b"]);
}

#[tokio::test(start_paused = true)]
async fn another_model_takes_over_in_the_middle_of_a_turn_and_children_spawned_later_have_it() {
    let (first, second) = (Pause::new(), Pause::new());
    let task = r#"{"name":"file_miner","task":"Dig."}"#;
    let mut ship = launch([
        Played::calls(&[("c1", "glob", r#"{"pattern":"*"}"#)]).paused(&first),
        Played::calls(&[("c2", "agent", task)]).paused(&second),
        Played::text("Done."),
    ]);
    ship.rig.model.route("Dig.", [Played::text("Gold.")]);
    ship.send("a");
    first.reached().await;
    ship.host.handle().request(Command::SwitchModel("other".to_owned()));
    settle().await;
    assert_eq!(models(&ship.rig).len(), 1, "the request that runs is not disturbed");
    first.open();
    second.reached().await;
    // Chosen while the parent's request runs: its child is spawned before the parent asks again.
    ship.host.handle().request(Command::SwitchModel("third".to_owned()));
    settle().await;
    second.open();
    ship.settled().await;
    let asked: Vec<String> = ship.rig.requests().into_iter().map(|request| request.model).collect();
    assert_eq!(asked, ["test-model", "other", "third", "third"]);
    let spawned = ship.rig.events().into_iter().find_map(|event| match event {
        Event::AgentSpawned { model, .. } => model,
        _ => None,
    });
    assert_eq!(spawned.as_deref(), Some("third"));
}

#[tokio::test]
async fn the_window_of_another_model_is_asked_of_the_server_beside_the_turns() {
    let server = Server::start([]);
    server.on("/props?model=other", Reply::json(200, json!({"default_generation_settings": {"n_ctx": 4096}})));
    server.on("/props", Reply::json(200, json!({"role": "router", "default_generation_settings": {"n_ctx": 0}})));
    let (rig, dir) = (Rig::new([]), TempDir::new().unwrap());
    let told = Arc::new(tokio::sync::Notify::new());
    let tell = Arc::clone(&told);
    let spy: Arc<dyn Listener> = Arc::new(Spy(move |envelope: &Envelope| {
        if envelope.event == (Event::ContextCap { tokens: Some(4096) }) {
            tell.notify_one();
        }
    }));
    let transport = ChatTransport { api_base: Some(server.url()), ..Rig::transport() };
    let setup = Setup { transport, listeners: vec![rig.recorder.clone(), spy], ..setup(&rig, &dir) };
    let host = host::start(&tokio::runtime::Handle::current(), setup);
    host.handle().request(Command::SwitchModel("other".to_owned()));
    within(Duration::from_secs(10), "the window is told", told.notified()).await;
    assert_eq!(models(&rig)[..2], ["window None", "test-model → other"]);
}

/// Knows one model only.
struct OneModel(Arc<dyn Connector>);

impl Connector for OneModel {
    fn connect(&self, transport: &ChatTransport) -> Result<Arc<dyn ChatProvider>, ProviderError> {
        match transport.model_name() {
            "test-model" => self.0.connect(transport),
            other => Err(ProviderError::Configuration(format!("there is no model {other}"))),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_cannot_be_had_is_said_and_the_old_one_goes_on() {
    let (rig, dir) = (Rig::new([Played::text("One.")]), TempDir::new().unwrap());
    let setup = Setup { connector: Arc::new(OneModel(rig.connector())), ..setup(&rig, &dir) };
    let host = host::start(&tokio::runtime::Handle::current(), setup);
    let mut ship = Ship { rig, host, dir };
    ship.settled().await;
    ship.host.handle().mailbox().take_updates();
    ship.host.handle().request(Command::SwitchModel("gpt-9".to_owned()));
    settle().await;
    let said = Update::Notice(Notice::ModelSwitch {
        name: "gpt-9".to_owned(),
        outcome: Err("there is no model gpt-9".to_owned()),
    });
    assert_eq!(ship.host.handle().mailbox().take_updates(), [said]);
    ship.send("a");
    assert_eq!(ship.settled().await, LastRun::Answered);
    assert_eq!(ship.rig.last_request().model, "test-model");
}

#[tokio::test]
async fn the_models_of_the_server_are_listed_while_a_turn_runs() {
    let server = Server::start([]);
    server.on("/v1/models", Reply::json(200, json!({"data": [{"id": "first"}, {"id": "second"}]})));
    let pause = Pause::new();
    let (rig, dir) = (Rig::new([Played::text("One.").paused(&pause)]), TempDir::new().unwrap());
    let transport = ChatTransport { api_base: Some(server.url()), ..Rig::transport() };
    let mut host = host::start(&tokio::runtime::Handle::current(), Setup { transport, ..setup(&rig, &dir) });
    host.handle().inject_user_message(&AgentId::main(), ("a", Delivery::Steer)).unwrap();
    pause.reached().await;
    let came = Arc::new(tokio::sync::Notify::new());
    host.handle().mailbox().take_updates();
    let wake = Arc::clone(&came);
    host.handle().mailbox().on_wake(Arc::new(move || wake.notify_one()));
    host.handle().request(Command::ListModels);
    within(Duration::from_secs(10), "the list comes", came.notified()).await;
    let list = Notice::Models(Ok(vec!["first".into(), "second".into()]));
    assert_eq!(host.handle().mailbox().take_updates(), [Update::Notice(list)]);
    pause.open();
    host.settled().await.unwrap();
}

fn compactions(ship: &Ship) -> usize {
    ship.rig.events().iter().filter(|event| matches!(event, Event::Compacted { .. })).count()
}

const SUMMARY: &str = "the earlier part of a conversation";

#[tokio::test(start_paused = true)]
async fn a_compaction_is_made_at_once_while_nothing_runs_and_what_is_typed_meanwhile_follows_it() {
    let pause = Pause::new();
    let words = "word ".repeat(2_000);
    let mut ship =
        launch([Played::text(&*words), Played::text(&*words), Played::text("Three."), Played::text("Four.")]);
    ship.rig.model.route(SUMMARY, [Played::text("What was said.").paused(&pause)]);
    for text in ["a", "b", "c"] {
        ship.send(text);
        ship.settled().await;
    }
    ship.host.handle().request(Command::Compact(Some("the port".to_owned())));
    pause.reached().await;
    assert_eq!(ship.host.state(), WorkerState::Running);
    ship.send("d");
    pause.open();
    assert_eq!(ship.settled().await, LastRun::Answered);
    assert_eq!(compactions(&ship), 1);
    let conversation = conversation(&ship);
    assert!(conversation[0].contains(">\na\n<") && conversation[1].ends_with("What was said."), "{conversation:?}");
    assert_eq!(conversation.last().unwrap(), "user: d");
}

// D6
#[tokio::test(start_paused = true)]
async fn a_compaction_is_stopped_like_a_turn_and_the_next_text_starts_one() {
    let pause = Pause::new();
    let words = "word ".repeat(2_000);
    let mut ship =
        launch([Played::text(&*words), Played::text(&*words), Played::text("Three."), Played::text("Four.")]);
    ship.rig.model.route(SUMMARY, [Played::text("Never.").paused(&pause)]);
    for text in ["a", "b", "c"] {
        ship.send(text);
        ship.settled().await;
    }
    ship.host.handle().request(Command::Compact(None));
    pause.reached().await;
    ship.host.handle().stop();
    settle().await;
    assert_eq!((ship.host.state(), compactions(&ship)), (WorkerState::Idle(LastRun::Answered), 0));
    ship.send("d");
    assert_eq!(ship.settled().await, LastRun::Answered);
    assert_eq!(conversation(&ship).len(), 7, "nothing was taken out");
}

#[tokio::test(start_paused = true)]
async fn what_is_left_out_is_counted_at_the_start_and_named_beside_what_fills_the_window() {
    let (rig, dir) = (Rig::new([Played::text("One.")]), TempDir::new().unwrap());
    let left_out = vec!["a.md is left out: it has no name".to_owned()];
    let setup = Setup { left_out, says_left_out: false, ..setup(&rig, &dir) };
    let host = host::start(&tokio::runtime::Handle::current(), setup);
    let mut ship = Ship { rig, host, dir };
    ship.send("a");
    assert_eq!(ship.settled().await, LastRun::Answered);
    let reports = ship.host.handle().context().reports();
    let parts = reports.iter().flat_map(|report| &report.parts);
    let names: Vec<&str> =
        parts.filter(|part| part.kind == ContextKind::LeftOut).map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["a.md is left out: it has no name"]);
}
