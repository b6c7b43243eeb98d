//! Stories of what a reply says: events per round, empty and cut replies, bad arguments, deltas.

use steersman_base::event::{Event, Usage};
use steersman_base::message::{Message, Original, Part};
use steersman_core::provider::{Finish, Played, ProviderError, Streaming};

use crate::support::doubles::{Log, PROMPT, PlayedExt, Rig, acting, calls, echo, run, tool};

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

// An answer that is asked for again has cost its tokens, too.
#[tokio::test]
async fn an_empty_answer_is_asked_for_once_more_and_counted() {
    let rig = Rig::new([Played::text("").with_thinking("Hm."), Played::text("Now.")]);
    let agent = rig.streaming([]).await;
    let agent = run(agent, "Well?").answered().await;
    assert_eq!(
        rig.event_lines(),
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

// D14
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
        rig.event_lines()[..7],
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
        rig.event_lines()[2..],
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
    assert!(!rig.event_lines().iter().any(|line| line.starts_with('~')), "{:?}", rig.event_lines());
}

fn notices(rig: &Rig) -> Vec<String> {
    let text = |event: Event| match event {
        Event::Notice { text } => Some(text),
        _ => None,
    };
    rig.events().into_iter().filter_map(text).collect()
}

// P13
#[tokio::test]
async fn an_answer_that_is_not_whole_says_so_in_a_sentence_and_stays() {
    for (finish, sentence) in [
        (Finish::Length, "the reply was cut at the token limit"),
        (Finish::ContentFilter, "the reply was cut by the content filter of the server"),
        (
            Finish::Unknown("weird".to_owned()),
            "the reply may be cut: it ended with \"weird\", which is no known reason",
        ),
    ] {
        let rig = Rig::new([Played::text("Half an").with_finish(finish), Played::text("Next.")]);
        let mut agent = run(rig.agent([]).await, "Well?").answered().await;
        assert_eq!(notices(&rig), [sentence]);
        assert_eq!(agent.last_assistant_content(), Some("Half an"));
        agent.run_loop("Go on.").await.unwrap();
        assert_eq!(rig.last_request().lines()[1..], ["user: Well?", "assistant: Half an", "user: Go on."]);
        assert_eq!(notices(&rig).len(), 1);
    }
}

// P14
#[tokio::test]
async fn a_reply_that_was_cut_before_it_said_anything_names_the_cause() {
    let cut = || Played::text("").with_finish(Finish::Length);
    let rig = Rig::new([cut(), cut()]);
    let (_, sentence) = run(rig.agent([]).await, "Well?").failed().await;
    assert!(sentence.contains("cut at the token limit before they said anything"), "{sentence}");
    let rig = Rig::new([Played::text("").with_finish(Finish::ContentFilter)]);
    let (_, sentence) = run(rig.agent([]).await, "Well?").failed().await;
    assert!(sentence.contains("content filter"), "{sentence}");
    assert_eq!(rig.requests().len(), 1, "asking again brings the same filter");
}

#[tokio::test]
async fn a_paused_reply_goes_back_as_it_is_and_the_model_goes_on() {
    let original = Original { parts: vec![Part::Opaque("{\"searched\":1}".to_owned())], ..Original::default() };
    let paused = Played::text("").with_original(original.clone()).with_finish(Finish::Paused);
    let rig = Rig::new([paused, Played::text("Found.")]);
    let agent = run(rig.agent([]).await, "Look.").answered().await;
    let request = rig.last_request();
    let [.., Message::Assistant(reply)] = request.messages.as_slice() else { panic!("{request:?}") };
    assert_eq!(reply.original, Some(original));
    assert_eq!(agent.last_assistant_content(), Some("Found."));
    assert_eq!(notices(&rig), [] as [&str; 0]);
}

#[tokio::test]
async fn a_server_that_pauses_for_ever_is_not_asked_for_ever() {
    let rig = Rig::new((0..50).map(|_| Played::text("And ").with_finish(Finish::Paused)));
    run(rig.agent([]).await, "Look.").answered().await;
    assert_eq!(rig.requests().len(), 11);
    assert_eq!(notices(&rig), ["the server paused its reply 11 times and was not asked again"]);
}
