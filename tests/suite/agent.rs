//! Stories of one agent: how it is built, one turn from the user's words to the answer, and the events on the way.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use steersman::agent::{Agent, AgentContext, think};
use steersman::control::{Cancellable, StepLimit};
use steersman::error::{BuildError, RunError};
use steersman::event::{Envelope, Event, Usage};
use steersman::listener::Listener;
use steersman::provider::{
    ApiKey, ChatProvider, ChatRequest, ChatTransport, Finish, FixedProvider, Played, ProviderError, Reply, Sink,
    Streaming,
};
use steersman::tool::Tool;

use crate::support::doubles::{
    FnExtension, Gate, Log, PROMPT, Pause, PlayedExt, RawEcho, Rig, Spy, acting, assert_sendable, calls, echo, gated,
    run, tool,
};

// Row 1, Trap 26
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

// Row 3, Trap 18
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

// Row 3
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

// Row 4
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

// Row 5
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

// Row 6
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
    assert!(rig.story()[4].starts_with("result c1: Error: unknown tool 'fetch'"), "{:?}", rig.story());
}

// Row 6
#[tokio::test]
async fn a_name_is_taken_once_over_both_pools() {
    let rig = Rig::new([]);
    let twice = rig.try_build(rig.builder(), |c| {
        c.add_sub_agent_tool(tool("fetch", ""))?;
        c.add_tool(tool("fetch", ""))
    });
    assert!(matches!(twice.await, Err(BuildError::Argument(message)) if message.contains("fetch")));
}

// Row 7, Trap 12, Trap 11, D16
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

// Row 8
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

// Row 9, Trap 19
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

// Row 9
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
    assert_eq!(rig.story_of("helper")[2], r#"extension double: {"id":"helper","cap":10,"words":"Hi."}"#);
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
        rig.story(),
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

// Row 10, D13
#[tokio::test]
async fn a_turn_with_one_tool_tells_its_story_in_order() {
    let rig = Rig::new([
        Played::calls(&[("c1", "echo", r#"{"text":"one"}"#)]),
        Played::text("It said one.").with_thinking("Done now."),
    ]);
    let agent = rig.agent([echo()]).await;
    let agent = run(agent, "Say one.").answered().await;
    assert_eq!(
        rig.story(),
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

// Row 11, Row 12, Trap 8
#[tokio::test]
async fn tokens_come_once_per_round_and_empty_texts_say_nothing() {
    let usage = Usage { input: Some(11), output: Some(3), model: Some("m".to_owned()), ..Usage::default() };
    let rig = Rig::new([
        calls(&[("c1", "look"), ("c2", "look")]).with_usage(usage.clone()),
        calls(&[("c3", "look")]),
        Played::text("Done."),
    ]);
    let agent = rig.agent([tool("look", "")]).await;
    run(agent, "Look.").answered().await;
    let events = rig.events();
    let tokens: Vec<_> = events.iter().filter(|event| matches!(event, Event::Tokens(_))).collect();
    assert_eq!(tokens.len(), 3);
    assert_eq!(*tokens[0], Event::Tokens(usage));
    assert_eq!(events.iter().filter(|event| matches!(event, Event::Assistant { .. })).count(), 1);
    assert!(!events.iter().any(|event| matches!(event, Event::Thinking { .. })));
}

// Row 11: an answer that is asked for again has cost its tokens, too.
#[tokio::test]
async fn an_empty_answer_is_asked_for_once_more_and_counted() {
    let rig = Rig::new([Played::text("").with_thinking("Hm."), Played::text("Now.")]);
    let agent = rig.streaming([]).await;
    let agent = run(agent, "Well?").answered().await;
    assert_eq!(
        rig.story(),
        [
            "turn 1",
            "user start: Well?",
            "~thinking: Hm.",
            "thinking: Hm.",
            "tokens",
            "~assistant: Now.",
            "assistant: Now.",
            "tokens",
            "ended 1 completed"
        ]
    );
    assert_eq!(rig.last_request().lines(), [&format!("system: {PROMPT}"), "user: Well?"]);
    assert_eq!(agent.last_assistant_content(), Some("Now."));
}

#[tokio::test]
async fn two_empty_answers_fail_the_turn_and_leave_no_blank_reply() {
    let rig = Rig::new([Played::text(""), Played::text(" \n")]);
    let agent = rig.agent([]).await;
    let (agent, sentence) = run(agent, "Well?").failed().await;
    assert!(sentence.contains("empty answer"), "{sentence}");
    assert_eq!(agent.history().messages().len(), 2);
    assert_eq!(rig.requests().len(), 2);
}

// Row 13, D14
#[tokio::test]
async fn invalid_arguments_are_shown_as_written_and_answered_with_every_problem_and_the_schema() {
    let rig = Rig::new([
        Played::calls(&[("c1", "echo", r#"{"text":5,"more":true}"#), ("c2", "echo", "{not json")]),
        Played::text("I see."),
    ]);
    let agent = rig.agent([echo()]).await;
    run(agent, "Say five.").answered().await;
    let events = rig.events();
    let arguments: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            Event::ToolCall { arguments, .. } => Some(arguments.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(arguments, [r#"{"text":5,"more":true}"#, "{not json"]);
    let results: Vec<(&String, bool)> = events
        .iter()
        .filter_map(|event| match event {
            Event::ToolResult { content, is_error, .. } => Some((content, *is_error)),
            _ => None,
        })
        .collect();
    assert!(results.iter().all(|(content, is_error)| content.starts_with("Error: invalid arguments") && *is_error));
    assert!(results[0].0.contains("\"text\"") && results[0].0.contains("\"more\"") && results[0].0.contains("schema"));
}

// D15
#[tokio::test]
async fn calls_of_a_reply_that_was_cut_do_not_run() {
    for (finish, reason) in [(Finish::Length, "token limit"), (Finish::ContentFilter, "content filter")] {
        let rig = Rig::new([calls(&[("c1", "look"), ("c2", "look")]).with_finish(finish), Played::text("Shorter.")]);
        let log = Log::new();
        let said = log.clone();
        let look = acting("look", move |_| {
            said.say("ran");
            String::new()
        });
        let agent = rig.agent([look]).await;
        run(agent, "Look.").answered().await;
        assert_eq!(log.all(), [""; 0]);
        let request = rig.last_request().lines();
        for (line, id) in request[3..].iter().zip(["c1", "c2"]) {
            assert!(line.starts_with(&format!("tool#{id}: Error: not run")) && line.contains(reason), "{line}");
        }
    }
}

// D15, D8
#[tokio::test]
async fn a_cut_stream_runs_nothing_and_keeps_the_text() {
    let cut = calls(&[("c1", "look")]).piece("Hm.", "I will ").piece("", "look").failing(ProviderError::CutOff);
    let rig = Rig::new([cut, Played::text("Sorry.")]);
    let agent = rig.streaming([acting("look", |_| unreachable!("a call of a cut stream ran"))]).await;
    let (agent, sentence) = run(agent, "Look.").failed().await;
    assert_eq!(sentence, "the reply was cut off before its end");
    run(agent, "And?").answered().await;
    assert_eq!(
        rig.story()[..7],
        [
            "turn 1",
            "user start: Look.",
            "~thinking: Hm.",
            "~assistant: I will ",
            "~assistant: look",
            "interrupted: I will look",
            "ended 1 failed: the reply was cut off before its end"
        ]
    );
    assert_eq!(rig.last_request().lines()[1..], ["user: Look.", "assistant: I will look (interrupted)", "user: And?"]);
}

// Trap 34
#[tokio::test]
async fn after_a_provider_failure_the_message_is_in_the_history_once() {
    let error = ProviderError::Status { status: 500, message: "busy".to_owned(), retry_after_ms: None };
    let rig = Rig::new([Played::error(error.clone()), Played::text("Now it works.")]);
    let agent = rig.agent([]).await;
    let (agent, sentence) = run(agent, "Hi.").failed().await;
    assert_eq!(sentence, error.to_string());
    assert_eq!(agent.last_assistant_content(), None);
    run(agent, "Go on.").answered().await;
    assert_eq!(rig.last_request().lines()[1..], ["user: Hi.", "user: Go on."]);
}

// Row 25, Trap 9, Trap 10
#[tokio::test]
async fn a_chunk_says_nothing_or_thinking_or_text_or_thinking_then_text() {
    let reply = Played::default()
        .piece("", "")
        .piece("t1", "")
        .piece("", "a1")
        .piece("t2", "a2")
        .piece("", "")
        .with_calls(&[("c1", "look", "{}")]);
    let rig = Rig::new([reply, Played::text("final").piece("", "not the same")]);
    let agent = rig.streaming([tool("look", "seen")]).await;
    let agent = run(agent, "Look.").answered().await;
    assert_eq!(
        rig.story()[2..],
        [
            "~thinking: t1",
            "~assistant: a1",
            "~thinking: t2",
            "~assistant: a2",
            "tokens",
            "call c1 look",
            "result c1: seen",
            "~assistant: final",
            "~assistant: not the same",
            "assistant: final",
            "tokens",
            "ended 1 completed"
        ]
    );
    assert_eq!(agent.last_assistant_content(), Some("final"), "deltas are previews");
}

#[tokio::test]
async fn without_streaming_there_are_no_deltas() {
    let rig = Rig::new([Played::text("Hello.").with_thinking("Hm.")]);
    let agent = rig.agent([]).await;
    run(agent, "Hi.").answered().await;
    assert_eq!(rig.requests()[0].streaming, Streaming::Off);
    assert!(!rig.story().iter().any(|line| line.starts_with('~')), "{:?}", rig.story());
}

// Row 36
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

/// Is a model in whose very reply the run is stopped.
struct Sets(Cancellable);
impl ChatProvider for Sets {
    fn complete<'a>(&'a self, _: ChatRequest<'a>, _: &'a mut Sink<'a>) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        Box::pin(async {
            self.0.cancel();
            Ok(Reply::default())
        })
    }
}

// Row 36, D9
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

// Row 36
#[tokio::test]
async fn think_passes_the_providers_error_on() {
    let rig = Rig::new([Played::error(ProviderError::Stalled(3))]);
    let error = think(&*rig.connector(), &Rig::transport(), "Hm?", None).await.unwrap_err();
    assert!(matches!(error, RunError::Provider(ProviderError::Stalled(3))));
}

// Row 37, Trap 20
#[tokio::test]
async fn an_internal_tool_is_on_offer_but_not_among_the_tools() {
    let rig = Rig::new([Played::calls(&[("c1", "inner", r#"{"any":[1]}"#)]), Played::text("Done.")]);
    let mut agent = rig.agent([echo()]).await;
    agent.internal_add_tool(Arc::new(RawEcho("inner"))).unwrap();
    let taken = agent.internal_add_tool(Arc::new(RawEcho("echo")));
    assert!(matches!(taken, Err(BuildError::Argument(_))));
    let agent = run(agent, "Use it.").answered().await;
    assert_eq!(rig.last_request().tool_names(), ["echo", "inner"]);
    assert_eq!(rig.story()[4], r#"result c1: raw {"any":[1]}"#, "raw tools take arguments unchecked");
    assert_eq!(agent.tools().len(), 1);
    assert_eq!(agent.to_string(), "Agent(id=, model=test-model, tools=1, listeners=[InMemoryEventList])");
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
    assert_eq!(rig.story().last().unwrap(), "ended 1 completed");
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
    assert_eq!(rig.interloper.peek(), ["still pending"]);
    assert_eq!(rig.story().last().unwrap(), "reset");

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
