//! Stories of one agent: how it is built, one turn from the user's words to the answer, and the events on the way.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use steersman_agent::{Agent, AgentContext, think};
use steersman_base::error::RunError;
use steersman_base::event::{Envelope, Event};
use steersman_core::control::{Cancellable, StepLimit};
use steersman_core::listener::Listener;
use steersman_core::provider::{
    Answering, ApiKey, ChatProvider, ChatRequest, ChatTransport, Effort, FixedProvider, Played, ProviderError, Reply,
    Sink,
};

use crate::support::doubles::{
    FnExtension, Gate, Log, PROMPT, Pause, PlayedExt, Rig, Spy, assert_sendable, calls, echo, gated, run, texts_of,
    tool,
};

// D16
#[tokio::test]
async fn a_blank_message_changes_nothing_at_all() {
    let rig = Rig::new([calls(&[("c1", "look"), ("c2", "look")])]);
    rig.model.route("Evidence gathered", [Played::text("Synthesized.")]);
    let agent = rig.limited(1, [tool("look", "seen")]).await;
    let mut agent = run(agent, "Look twice.").answered().await;
    rig.cancellable.cancel();
    let (events, messages) = (rig.events().len(), agent.history().messages().len());

    for blank in ["", " \n\t", "\u{200B}", "\u{3164}\u{A0}\u{FEFF}"] {
        assert!(matches!(agent.run_loop(blank).await, Err(RunError::Blank)), "{blank:?}");
    }
    assert_eq!(rig.events().len(), events);
    assert_eq!(agent.history().messages().len(), messages);
    assert_eq!(agent.step_limit().unwrap().step(), 2);
    assert!(rig.cancellable.is_cancelled());
    assert_eq!(agent.last_assistant_content(), Some("Synthesized."));
}

#[tokio::test]
async fn a_turn_clears_then_appends_then_says_so_then_dispatches_then_asks() {
    let rig = Rig::new([Played::text("Hello.")]);
    let log = Log::new();
    let (seen, flag) = (log.clone(), rig.cancellable.clone());
    let spy: Arc<dyn Listener> = Arc::new(Spy(move |envelope: &Envelope| match &envelope.event {
        Event::TurnStarted { .. } => seen.say(format!("started, cancelled={}", flag.is_cancelled())),
        Event::UserTurn { .. } => seen.say("user turn"),
        Event::RoundStarted { .. } => seen.say("round"),
        Event::Tokens(_) => seen.say("reply"),
        _ => {}
    }));
    let (dispatched, model) = (log.clone(), Arc::clone(&rig.model));
    let extension = FnExtension::new().on_user_message(move |_, _| {
        dispatched.say(format!("dispatch, requests={}", model.requests().len()));
        Ok(None)
    });
    let builder = rig.builder().step_limit(StepLimit::new(5).unwrap());
    let agent = rig
        .try_build(builder, |c| {
            c.add_listener(spy);
            c.add_extension(Arc::new(extension))
        })
        .await
        .unwrap();
    agent.step_limit().unwrap().tick().unwrap();
    rig.cancellable.cancel();

    let agent = run(agent, "Hi.").answered().await;
    assert_eq!(log.all(), ["started, cancelled=false", "user turn", "dispatch, requests=0", "round", "reply"]);
    assert_eq!(agent.step_limit().unwrap().step(), 0);
}

#[tokio::test]
async fn words_of_extensions_follow_the_user_message_as_system_messages_in_order() {
    let rig = Rig::new([Played::text("Hello.")]);
    let says = |words: Option<&'static str>| {
        Arc::new(FnExtension::new().on_user_message(move |_, _| Ok(words.map(str::to_owned))))
    };
    let agent = rig
        .try_build(rig.builder(), |c| {
            c.add_extension(says(Some("memory one")))?;
            c.add_extension(says(None))?;
            c.add_extension(says(Some("memory two")))
        })
        .await
        .unwrap();
    run(agent, "Hi.").answered().await;
    assert_eq!(
        rig.last_request().lines(),
        [&format!("system: {PROMPT}"), "user: Hi.", "system: memory one", "system: memory two"]
    );
}

#[tokio::test]
async fn an_extension_sees_who_asks_and_can_emit_events_of_its_own() {
    let rig = Rig::new([Played::text("Hello.")]);
    let extension = FnExtension::new().on_user_message(|context: &AgentContext<'_>, words| {
        context.emit(serde_json::json!({"id": context.id(), "cap": context.context_window_cap(), "words": words}));
        Ok(None)
    });
    let builder = rig.builder().id("helper").context_window(10);
    let agent = rig.try_build(builder, |c| c.add_extension(Arc::new(extension))).await.unwrap();
    run(agent, "Hi.").answered().await;
    assert_eq!(rig.event_lines_of("helper")[2], r#"extension double: {"id":"helper","cap":10,"words":"Hi."}"#);
}

// D13
#[tokio::test]
async fn a_failing_extension_fails_the_turn_and_the_next_one_works() {
    let rig = Rig::new([Played::text("Hello.")]);
    let extension = FnExtension::new().on_user_message(|_, words| match words {
        "bad" => Err("no memory today".into()),
        _ => Ok(None),
    });
    let agent = rig.try_build(rig.builder(), |c| c.add_extension(Arc::new(extension))).await.unwrap();
    let (agent, sentence) = run(agent, "bad").failed().await;
    assert_eq!(sentence, "an extension failed: no memory today");
    run(agent, "good").answered().await;
    assert_eq!(
        rig.event_lines(),
        [
            "turn 1",
            "user start: bad",
            "ended 1 failed: an extension failed: no memory today",
            "turn 2",
            "user start: good",
            "assistant: Hello.",
            "tokens",
            "ended 2 completed"
        ]
    );
}

// D13: whatever breaks, no turn is left open.
#[tokio::test]
async fn a_panicking_extension_fails_the_turn_and_leaves_none_open() {
    let rig = Rig::new([Played::text("Hello.")]);
    let extension = FnExtension::new().on_user_message(|_, words| {
        assert_ne!(words, "bad", "a bug of the extension");
        Ok(None)
    });
    let agent = rig.try_build(rig.builder(), |c| c.add_extension(Arc::new(extension))).await.unwrap();
    let (agent, sentence) = run(agent, "bad").failed().await;
    assert!(sentence.contains("double"), "{sentence}");
    run(agent, "good").answered().await;
}

// D13
#[tokio::test]
async fn a_turn_with_one_tool_tells_its_story_in_order() {
    let rig = Rig::new([
        Played::calls(&[("c1", "echo", r#"{"text":"one"}"#)]),
        Played::text("It said one.").with_thinking("Done now."),
    ]);
    let agent = rig.agent([echo()]).await;
    let agent = run(agent, "Say one.").answered().await;
    assert_eq!(
        rig.event_lines(),
        [
            "turn 1",
            "user start: Say one.",
            "tokens",
            "call c1 echo",
            "result c1: one",
            "thinking: Done now.",
            "assistant: It said one.",
            "tokens",
            "ended 1 completed"
        ]
    );
    assert_eq!(agent.last_assistant_content(), Some("It said one."));
    assert_eq!(agent.history().messages().len(), 5);
}

// D13
#[tokio::test]
async fn rounds_surround_each_request_with_its_batch_and_are_counted_per_turn() {
    let rig = Rig::new([calls(&[("c1", "look")]), Played::text("Once."), Played::text("Twice.")]);
    let agent = rig.agent([tool("look", "seen")]).await;
    let agent = run(agent, "Look.").answered().await;
    run(agent, "Again.").answered().await;
    let marks: Vec<String> = rig
        .events()
        .iter()
        .filter_map(|event| match event {
            Event::TurnStarted { turn } => Some(format!("turn {turn}")),
            Event::RoundStarted { turn, round } => Some(format!("{turn}.{round} started")),
            Event::RoundEnded { turn, round } => Some(format!("{turn}.{round} ended")),
            Event::Tokens(_) => Some("reply".to_owned()),
            Event::ToolResult { .. } => Some("result".to_owned()),
            Event::TurnEnded { turn, .. } => Some(format!("turn {turn} ended")),
            _ => None,
        })
        .collect();
    assert_eq!(
        marks,
        [
            "turn 1",
            "1.1 started",
            "reply",
            "result",
            "1.1 ended",
            "1.2 started",
            "reply",
            "1.2 ended",
            "turn 1 ended",
            "turn 2",
            "2.1 started",
            "reply",
            "2.1 ended",
            "turn 2 ended"
        ]
    );
}

#[tokio::test]
async fn think_asks_once_without_tools_prompt_or_listeners() {
    let rig = Rig::new([Played::text("Four."), Played::text("")]);
    *rig.model.fallback.lock().unwrap() = Some("default-model".to_owned());
    let connector = rig.connector();
    let transport = ChatTransport::default();
    let answer = think(&*connector, &transport, "Two and two?", Some(&rig.cancellable)).await.unwrap();
    assert_eq!(answer, "Four.");
    assert_eq!(think(&*connector, &transport, "Anything?", None).await.unwrap(), "");
    let request = &rig.requests()[0];
    assert_eq!((request.lines(), request.tools.len()), (vec!["user: Two and two?".to_owned()], 0));
    assert_eq!(request.model, "default-model");
    assert_eq!(rig.events(), []);
    let blank = think(&*connector, &transport, " \u{200B}", None).await;
    assert!(matches!(blank, Err(RunError::Blank)));
}

#[tokio::test]
async fn think_asks_with_the_effort_the_temperature_and_the_token_limit_of_its_transport() {
    let rig = Rig::new([Played::text("Four.")]);
    let answering = Answering { effort: Some(Effort::High), temperature: Some(0.5), max_tokens: Some(64) };
    let transport = ChatTransport { answering, ..Rig::transport() };
    think(&*rig.connector(), &transport, "Two and two?", None).await.unwrap();
    assert_eq!(rig.last_request().answering, answering);
}

/// A model during whose reply the run is stopped.
struct Sets(Cancellable);
impl ChatProvider for Sets {
    fn complete<'a>(&'a self, _: ChatRequest<'a>, _: &'a mut Sink<'a>) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        Box::pin(async {
            self.0.cancel();
            Ok(Reply::default())
        })
    }
}

// D9
#[tokio::test(start_paused = true)]
async fn think_sees_the_cancel_before_while_and_after_it_asks_and_never_resets_it() {
    let pause = Pause::new();
    let rig = Rig::new([Played::text("Too late.").paused(&pause)]);
    let (connector, transport) = (rig.connector(), Rig::transport());
    let cancelled = |result| matches!(result, Err(RunError::Cancelled(_)));

    rig.cancellable.cancel();
    assert!(cancelled(think(&*connector, &transport, "Hm?", Some(&rig.cancellable)).await));
    assert!(rig.cancellable.is_cancelled());
    assert_eq!(rig.requests().len(), 0, "no request is made");

    rig.cancellable.reset();
    let flag = rig.cancellable.clone();
    let (result, ()) = tokio::join!(think(&*connector, &transport, "Hm?", Some(&flag)), async {
        pause.reached().await;
        rig.cancellable.cancel();
    });
    assert!(cancelled(result));

    // The flag is set in the very step in which the reply comes.
    let flag = Cancellable::new();
    let connector = FixedProvider::new(Arc::new(Sets(flag.clone())));
    assert!(cancelled(think(&connector, &transport, "Hm?", Some(&flag)).await));
}

#[tokio::test]
async fn think_passes_the_providers_error_on() {
    let rig = Rig::new([Played::error(ProviderError::Stalled(3))]);
    let error = think(&*rig.connector(), &Rig::transport(), "Hm?", None).await.unwrap_err();
    assert!(matches!(error, RunError::Provider(ProviderError::Stalled(3))));
}

// D17
#[tokio::test]
async fn a_panicking_listener_breaks_neither_the_turn_nor_the_other_listeners() {
    let rig = Rig::new([calls(&[("c1", "look")]), Played::text("Done.")]);
    let log = Log::new();
    let seen = log.clone();
    let broken: Arc<dyn Listener> = Arc::new(Spy(|_: &Envelope| panic!("a bug of the listener")));
    let behind: Arc<dyn Listener> = Arc::new(Spy(move |envelope: &Envelope| {
        seen.say(envelope.seq.to_string());
    }));
    let agent = rig
        .try_build(rig.builder(), |c| {
            c.add_listeners([broken, behind]);
            c.add_tool(tool("look", "seen"))
        })
        .await
        .unwrap();
    run(agent, "Look.").answered().await;
    let recorded: Vec<String> = rig.recorder.envelopes().iter().map(|envelope| envelope.seq.to_string()).collect();
    assert_eq!(log.all(), recorded);
    assert_eq!(rig.event_lines().last().unwrap(), "ended 1 completed");
}

// D18
#[tokio::test]
async fn a_reset_goes_back_to_the_system_prompt_and_keeps_tools_and_listeners() {
    let rig = Rig::new([calls(&[("c1", "look")]), calls(&[("c2", "look")]), Played::text("Fresh.")]);
    rig.model.route("Evidence gathered", [Played::text("Synthesized.")]);
    let agent = rig.limited(1, [tool("look", "seen")]).await;
    let mut agent = run(agent, "Look.").answered().await;
    rig.cancellable.cancel();
    rig.inject("still pending");
    agent.reset();
    assert_eq!(agent.history().messages().len(), 1);
    assert_eq!(agent.last_assistant_content(), None);
    assert_eq!(agent.step_limit().unwrap().step(), 0);
    assert!(!rig.cancellable.is_cancelled());
    assert_eq!(texts_of(&rig.interloper), ["still pending"]);
    assert_eq!(rig.event_lines().last().unwrap(), "reset");

    let agent = run(agent, "Hi.").answered().await;
    assert_eq!(rig.last_request().lines(), [&format!("system: {PROMPT}"), "user: Hi."]);
    assert_eq!(rig.last_request().tool_names(), ["look"]);
    assert_eq!(agent.last_assistant_content(), Some("Fresh."));
}

// D22
#[tokio::test]
async fn the_key_of_the_transport_shows_nowhere() {
    let transport = ChatTransport { api_key: Some(ApiKey::new("sk-canary")), ..Rig::transport() };
    let rig = Rig::new([Played::error(ProviderError::Server("no".to_owned()))]);
    let agent = rig.build(Agent::builder(transport.clone(), PROMPT, rig.connector()), []).await;
    let (agent, sentence) = run(agent, "Hi.").failed().await;
    let shown = format!("{transport:?} {agent:?} {agent} {sentence} {:?}", rig.recorder.envelopes());
    assert!(!shown.contains("canary"), "{shown}");
    assert_sendable(&agent);
}

// D7
#[tokio::test(start_paused = true)]
async fn a_turn_that_is_dropped_in_a_tool_leaves_a_conversation_that_can_go_on() {
    let gate = Gate::new();
    let rig = Rig::new([calls(&[("c1", "wait"), ("c2", "wait")]), Played::text("Here.")]);
    // Without the recorder: nobody is left to end a turn whose future is gone.
    let mut agent = Agent::builder(Rig::transport(), PROMPT, rig.connector())
        .build(|c| c.add_tool(gated("wait", &gate)))
        .await
        .unwrap();
    tokio::select! {
        _ = agent.run_loop("Wait.") => unreachable!("the gate is shut"),
        () = gate.reached() => {}
    }
    run(agent, "Are you there?").answered().await;
    assert_eq!(rig.last_request().lines().last().unwrap(), "user: Are you there?");
}
