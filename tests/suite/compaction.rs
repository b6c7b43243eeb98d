//! Stories of conversations that fill the window: what is taken out of them, what never is, and what a failure leaves.

use std::sync::Arc;

use proptest::prelude::*;
use steersman::agent::{
    Agent, CompactionRequest, History, KEPT_HEAD, Keep, NotRunReason, Pins, SUMMARY_HEAD, TextFate, UserTexts,
};
use steersman::error::RunError;
use steersman::event::{Delivery, Event, Usage};
use steersman::message::{Arguments, AssistantMessage, Message, ToolCall};
use steersman::plan::Plan;
use steersman::provider::{Finish, Piece, Played, ProviderError, Step};
use steersman::tool::Tool;

use crate::subagent::{child, parent_of, persona, spawns};
use crate::support::doubles::{
    Gate, Pause, PlayedExt, Rig, assert_sendable, calls, fault, gated_beside, lines, run, run_queue, tool,
};

/// What the requests for a summary are routed by.
const SUMMARY: &str = "the earlier part of a conversation";
const WINDOW: u64 = 4_000;

fn filled(tokens: u64) -> Usage {
    Usage { input: Some(tokens), output: Some(0), ..Usage::default() }
}

fn overflow() -> ProviderError {
    ProviderError::Overflow { message: "too long".to_owned(), tokens: None, window: None }
}

/// A tool whose result is some 400 tokens.
fn wordy(name: &str) -> Arc<dyn Tool> {
    tool(name, &format!("{name} {}", "word ".repeat(320)))
}

/// Plays rounds `c0`, `c1`, …; behind the last one the window is filled to `tokens`.
fn rounds(count: usize, tokens: u64) -> Vec<Played> {
    let fill = |round| if round + 1 == count { tokens } else { 100 };
    (0..count).map(|round| calls(&[(&format!("c{round}"), "one")]).with_usage(filled(fill(round)))).collect()
}

fn script(rounds: Vec<Played>, then: impl IntoIterator<Item = Played>) -> Rig {
    let rig = Rig::new(rounds.into_iter().chain(then));
    rig.model.route(SUMMARY, [Played::text("What was done.").with_usage(filled(50))]);
    rig
}

async fn agent(rig: &Rig) -> Agent {
    rig.build(rig.builder().context_window(WINDOW), [wordy("one")]).await
}

fn summary(text: &str) -> String {
    format!("user: {SUMMARY_HEAD}{text}")
}

/// The message with the only text of the user, which is the task.
fn task(text: &str) -> String {
    format!("user: {KEPT_HEAD}\n\nThe task at this point:\n\n<task-n1>\n{text}\n</task-n1>")
}

/// Returns before, after, messages and summary of each compaction.
fn compactions(rig: &Rig) -> Vec<(u64, u64, usize, String)> {
    let told = |event| match event {
        Event::Compacted { before, after, messages, summary } => Some((before?, after?, messages, summary)),
        _ => None,
    };
    rig.events().into_iter().filter_map(told).collect()
}

fn notices(rig: &Rig) -> Vec<String> {
    let text = |event| match event {
        Event::Notice { text } => Some(text),
        _ => None,
    };
    rig.events().into_iter().filter_map(text).collect()
}

/// Returns the beginning of each message.
fn starts(messages: &[Message]) -> Vec<String> {
    lines(messages).into_iter().map(|line| line.chars().take(24).collect()).collect()
}

#[tokio::test(start_paused = true)]
async fn at_the_share_older_rounds_become_one_summary_before_the_next_request_and_the_last_ones_stay() {
    let rig = script(rounds(4, 3_450), [Played::text("Done.")]);
    let agent = run(agent(&rig).await, "Go.").answered().await;
    let asked = &rig.model.requests_of(SUMMARY);
    assert_eq!((asked.len(), asked[0].tools.len()), (1, 0));
    let text = &lines(&asked[0].messages)[1];
    assert!(text.contains("Assistant calls one with {}") && text.contains("Result of one: one word"), "{text}");
    assert_eq!(
        starts(&rig.last_request().messages),
        [
            "system: You are the main ",
            "user: [Older messages were",
            "user: [Summary of the ea",
            "assistant:  +one#c2",
            "tool#c2: one word word w",
            "assistant:  +one#c3",
            "tool#c3: one word word w",
        ]
        .map(|line| line.chars().take(24).collect::<String>())
    );
    assert_eq!(rig.last_request().lines()[1..3], [task("Go."), summary("What was done.")]);
    let (before, after, messages, text) = compactions(&rig).remove(0);
    assert!(before >= 3_450 && after < before * 2 / 3, "{before} {after}");
    assert_eq!((messages, text.as_str()), (5, "What was done."));
    assert_sendable(&agent);
    let begun = rig.events().iter().position(|event| *event == Event::Compacting { messages: 5 });
    let ended = rig.events().iter().position(|event| matches!(event, Event::Compacted { .. }));
    assert!(begun.is_some() && begun < ended);
}

#[tokio::test(start_paused = true)]
async fn below_the_share_without_a_window_and_at_zero_nothing_is_taken_out_and_prefixes_are_stable() {
    for (window, share, tokens) in [(Some(WINDOW), 85, 3_300), (None, 85, 1_000_000), (Some(WINDOW), 0, 3_999)] {
        let rig = script(rounds(4, tokens), [Played::text("Done."), Played::text("Again.")]);
        let mut builder = rig.builder().compact_at(share);
        if let Some(window) = window {
            builder = builder.context_window(window);
        }
        // Short, so that what is added behind the count does not reach the share by itself.
        let agent = rig.build(builder, [tool("one", "one done")]).await;
        let mut agent = run(agent, "Go.").answered().await;
        agent.run_loop("Again.").await.unwrap();
        let requests = rig.requests();
        assert_eq!(requests.len(), 6);
        for pair in requests.windows(2) {
            assert!(pair[1].messages.starts_with(&pair[0].messages), "a request begins with the one before");
        }
        assert_eq!(compactions(&rig), []);
    }
}

#[tokio::test(start_paused = true)]
async fn long_results_of_older_rounds_are_shortened_first_and_no_model_is_asked_when_that_is_enough() {
    let long = format!("begin {} end", "x".repeat(12_000));
    let rig = script(rounds(4, 3_500), [Played::text("Done.")]);
    // Only the first result is long.
    let gate = std::sync::atomic::AtomicU32::new(0);
    let one = crate::support::doubles::acting("one", move |_| {
        if gate.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0 { long.clone() } else { "short".to_owned() }
    });
    run(rig.build(rig.builder().context_window(WINDOW), [one]).await, "Go.").answered().await;
    assert_eq!(rig.model.requests_of(SUMMARY).len(), 0);
    let request = rig.last_request().lines();
    let result = request.iter().find(|line| line.starts_with("tool#c0: ")).unwrap();
    assert!(result.starts_with("tool#c0: begin xxx") && result.ends_with("xxx end"), "{result}");
    assert!(result.contains("\n… 10058 characters left out …\n"), "{result}");
    assert_eq!(request.len(), 10, "no message is gone");
    let (_, _, messages, text) = compactions(&rig).remove(0);
    assert_eq!((messages, text.as_str()), (0, ""));
}

// Q11
#[tokio::test(start_paused = true)]
async fn pending_texts_survive_a_compaction_verbatim_in_each_kind_of_delivery() {
    let rig = Rig::new(
        rounds(4, 3_450)
            .into_iter()
            .chain([Played::text("Seen now.").with_usage(filled(500)), Played::text("Seen later.")]),
    );
    let pause = Pause::new();
    rig.model.route(SUMMARY, [Played::text("What was done.").paused(&pause)]);
    let agent = agent(&rig).await;
    rig.inject("Go.");
    let running = run_queue(agent);
    pause.reached().await;
    let odd = "  kept: \u{a0}as – it\n\nis ";
    rig.interloper.inject_user_message((odd, Delivery::Now)).unwrap();
    rig.interloper.inject_user_message(("behind the turn", Delivery::FollowUp)).unwrap();
    pause.open();
    running.answered().await;
    let all: Vec<String> = rig.last_request().lines();
    assert_eq!(all.iter().filter(|line| **line == format!("user: {odd}")).count(), 1, "{all:?}");
    assert_eq!(all.last().unwrap(), "user: behind the turn");
    assert_eq!(compactions(&rig).len(), 1);
    assert!(rig.model.requests_of(SUMMARY).iter().all(|request| !format!("{request:?}").contains("kept:")));
}

#[tokio::test(start_paused = true)]
async fn a_text_typed_while_a_summary_is_made_is_in_the_request_behind_it() {
    let (by_share, by_overflow) = (rounds(4, 3_450), rounds(4, 100).into_iter().chain([Played::error(overflow())]));
    for played in [by_share, by_overflow.collect()] {
        let rig = Rig::new(played.into_iter().chain([Played::text("Done.")]));
        let pause = Pause::new();
        rig.model.route(SUMMARY, [Played::text("What was done.").paused(&pause)]);
        let running = run(agent(&rig).await, "Go.");
        pause.reached().await;
        rig.inject("meanwhile");
        pause.open();
        let agent = running.answered().await;
        assert_eq!(rig.last_request().lines().last().unwrap(), "user: meanwhile");
        assert_eq!((agent.last_assistant_content(), compactions(&rig).len()), (Some("Done."), 1));
        assert_sendable(&agent);
    }
}

#[tokio::test(start_paused = true)]
async fn a_boundary_with_parallel_calls_keeps_every_result_with_its_call() {
    let pair = |round: usize, tokens| {
        let [a, b] = [format!("a{round}"), format!("b{round}")];
        calls(&[(&a, "one"), (&b, "two")]).with_usage(filled(tokens))
    };
    let last = 9;
    let rig = Rig::new((0..=last).map(|round| pair(round, if round == last { 3_600 } else { 100 })));
    rig.model.push(Played::text("Done."));
    rig.model.route(SUMMARY, [Played::text("What was done.")]);
    let (one, two) = (Gate::new(), Gate::new());
    let tools = [gated_beside("one", &one), gated_beside("two", &two)];
    let running = run(rig.build(rig.builder().context_window(WINDOW), tools).await, &"Go. ".repeat(2_000));
    for round in 0..=last {
        one.reached().await;
        two.reached().await;
        if round == last {
            rig.inject("in the middle");
        }
        two.open();
        one.open();
    }
    running.answered().await;
    let request = rig.last_request();
    assert_eq!(fault(&request.messages), None);
    assert_eq!(request.lines()[1], task(&"Go. ".repeat(2_000)), "the task stays whole");
    assert_eq!(
        request.lines()[3..],
        [
            "assistant:  +one#a8 +two#b8",
            "tool#a8: one done",
            "tool#b8: two done",
            "assistant:  +one#a9 +two#b9",
            "tool#a9: one done",
            "tool#b9: two done",
            "user: in the middle",
        ]
    );
    assert_eq!(compactions(&rig)[0].2, 1 + 8 * 3);
}

#[tokio::test(start_paused = true)]
async fn an_overflow_compacts_once_and_asks_again() {
    let rig = script(rounds(4, 100), [Played::error(overflow()), Played::text("Done.")]);
    let agent = run(agent(&rig).await, "Go.").answered().await;
    assert_eq!(compactions(&rig).len(), 1);
    assert_eq!(agent.last_assistant_content(), Some("Done."));
    assert_eq!(rig.last_request().lines()[1..3], [task("Go."), summary("What was done.")]);
    let rounds = rig.events().iter().filter(|event| matches!(event, Event::RoundStarted { .. })).count();
    assert_eq!(rounds, 5, "the same round");
}

#[tokio::test(start_paused = true)]
async fn a_share_of_0_compacts_never_beforehand_but_what_did_not_fit() {
    let silent = Played::text("Half deaf.").with_usage(filled(WINDOW + 1));
    for too_much in [Played::error(overflow()), silent] {
        let rig = script(rounds(4, WINDOW - 1), [too_much, Played::text("Done.")]);
        let agent = rig.build(rig.builder().context_window(WINDOW).compact_at(0), [wordy("one")]).await;
        let agent = run(agent, "Go.").answered().await;
        let requests = rig.requests();
        for pair in requests[..5].windows(2) {
            assert!(pair[1].messages.starts_with(&pair[0].messages), "nothing is taken out before it is too much");
        }
        assert_eq!((rig.model.requests_of(SUMMARY).len(), compactions(&rig).len()), (1, 1));
        assert_eq!(agent.last_assistant_content(), Some("Done."));
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_overflow_is_shown_and_the_next_turn_works() {
    let failing = [Played::error(overflow()), Played::error(overflow()), Played::text("Better.")];
    let rig = script(rounds(4, 100), failing);
    let (mut agent, sentence) = run(agent(&rig).await, "Go.").failed().await;
    assert_eq!(sentence, "the conversation is too long for the model: too long");
    assert_eq!(rig.model.requests_of(SUMMARY).len(), 1);
    agent.run_loop("Once more.").await.unwrap();
    assert_eq!(agent.last_assistant_content(), Some("Better."));
}

#[tokio::test(start_paused = true)]
async fn an_overflow_with_nothing_older_is_shown_at_once() {
    let rig = script(Vec::new(), [Played::error(overflow())]);
    let (agent, sentence) = run(agent(&rig).await, "Go.").failed().await;
    assert_eq!(sentence, "the conversation is too long for the model: too long");
    assert_eq!(rig.requests().len(), 1);
    assert_eq!(agent.history().messages().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_window_that_an_overflow_tells_is_known_from_then_on() {
    let error = ProviderError::Overflow { message: "too long".to_owned(), tokens: Some(9_000), window: Some(2_048) };
    let rig = script(rounds(4, 100), [Played::error(error), Played::text("Done.")]);
    let agent = rig.build(rig.builder(), [wordy("one")]).await;
    let agent = run(agent, "Go.").answered().await;
    assert_eq!(agent.context_window_cap(), Some(2_048));
    assert!(rig.events().contains(&Event::ContextCap { tokens: Some(2_048) }));
    assert_eq!(compactions(&rig)[0].0, 9_000, "the server's own count");
}

// P16: llama.cpp and others cut what does not fit and say so by their count alone.
#[tokio::test(start_paused = true)]
async fn a_reply_to_more_than_the_window_holds_is_given_up_and_asked_for_anew() {
    let silent = Played::text("Half deaf.").with_usage(filled(WINDOW + 1));
    let rig = script(rounds(3, 100), [silent, Played::text("Done.")]);
    let agent = run(agent(&rig).await, "Go.").answered().await;
    assert_eq!(agent.last_assistant_content(), Some("Done."));
    assert!(!format!("{:?}", agent.history().messages()).contains("Half deaf."));
    assert_eq!(
        notices(&rig),
        [format!("the server counts {} tokens, more than the window of {WINDOW}: it has not read all", WINDOW + 1)]
    );
}

// P18: more than a hundred windows is nonsense, not an overflow.
#[tokio::test(start_paused = true)]
async fn an_absurd_count_compacts_nothing() {
    let rig = script(rounds(4, WINDOW * 101), [Played::text("Done.").with_usage(filled(u64::MAX))]);
    run(agent(&rig).await, "Go.").answered().await;
    assert_eq!(rig.requests().len(), 5);
    assert_eq!(compactions(&rig), []);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_during_the_summary_leaves_the_history_as_it_was() {
    let rig = Rig::new(rounds(4, 3_450));
    let pause = Pause::new();
    rig.model.route(SUMMARY, [Played::text("Never.").paused(&pause), Played::text("Later.")]);
    let running = run(agent(&rig).await, "Go.");
    pause.reached().await;
    rig.cancellable.cancel();
    let mut agent = running.cancelled().await;
    assert_eq!(compactions(&rig), []);
    assert_eq!(agent.history().messages().len(), 2 + 8);
    rig.model.push(Played::text("Done."));
    agent.run_loop("Go on.").await.unwrap();
    assert_eq!(compactions(&rig).len(), 1, "the next turn compacts as it begins");
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_fails_is_told_and_the_history_stays_and_it_is_not_asked_for_at_each_request() {
    for (bad, why) in [
        (Played::error(ProviderError::CutOff), "the reply was cut off before its end"),
        (Played::text(" \n"), "the server reported an error: the model wrote an empty summary"),
        (calls(&[("x", "one")]), "the server reported an error: the model wrote an empty summary"),
        (
            Played::text("Half").with_finish(Finish::ContentFilter),
            "the server reported an error: the content filter cut the summary",
        ),
        (Played::text("much ".repeat(40_000)), "the summary was not shorter than the messages it was to replace"),
    ] {
        let more = (4..7).map(|round| calls(&[(&format!("c{round}"), "one")]).with_usage(filled(3_500)));
        let rig = Rig::new(rounds(4, 3_450).into_iter().chain(more).chain([Played::text("Done.")]));
        rig.model.route(SUMMARY, [bad]);
        let agent = run(agent(&rig).await, "Go.").answered().await;
        assert_eq!(rig.model.requests_of(SUMMARY).len(), 1, "{why}");
        assert_eq!(notices(&rig), [format!("the conversation could not be compacted and stays as it was: {why}")]);
        assert_eq!(agent.history().messages().len(), 2 + 2 * 7 + 1);
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_failed_summary_it_is_tried_again_once_the_conversation_has_grown() {
    let more = (4..12).map(|round| calls(&[(&format!("c{round}"), "one")]).with_usage(filled(3_500)));
    let rig = Rig::new(rounds(4, 3_450).into_iter().chain(more).chain([Played::text("Done.")]));
    let retried = Piece::Retrying { attempt: 2, after_ms: 10, reason: "busy".to_owned() };
    rig.model
        .route(SUMMARY, [Played::error(ProviderError::CutOff), Played::text("In the end.").then(Step::Piece(retried))]);
    run(agent(&rig).await, "Go.").answered().await;
    assert_eq!(compactions(&rig).len(), 1);
    assert!(rig.events().iter().any(|event| matches!(event, Event::Retrying { attempt: 2, .. })), "waits are told");
}

fn asked(rig: &Rig, wish: &Arc<CompactionRequest>) -> steersman::agent::AgentBuilder {
    rig.builder().compaction_request(Arc::clone(wish))
}

#[tokio::test(start_paused = true)]
async fn by_hand_it_compacts_at_once_with_what_is_to_be_kept_in_mind() {
    let rig = script(rounds(4, 100), [Played::text("Done.")]);
    let wish = Arc::new(CompactionRequest::default());
    let agent = rig.build(asked(&rig, &wish), [wordy("one")]).await;
    let mut agent = run(agent, "Go.").answered().await;
    agent.compact().await.unwrap();
    assert_eq!(rig.model.requests_of(SUMMARY).len(), 0, "nobody has asked");
    wish.ask(Some("the port is 8080".to_owned()));
    agent.compact().await.unwrap();
    assert!(
        lines(&rig.model.requests_of(SUMMARY)[0].messages)[1].ends_with("keep in mind above all: the port is 8080")
    );
    assert_eq!(
        starts(agent.history().messages())[1..4],
        ["user: [Older messages wer", "user: [Summary of the ea", "assistant:  +one#c3"]
            .map(|line| line.chars().take(24).collect::<String>())
    );
    // At once again there is nothing: the summary alone is not summarised.
    wish.ask(None);
    agent.compact().await.unwrap();
    assert_eq!(notices(&rig), ["there is nothing to compact yet: the last rounds always stay"]);
    assert_eq!(rig.model.requests_of(SUMMARY).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn by_hand_in_a_turn_it_waits_for_the_boundary() {
    let gate = Gate::new();
    let last = 15;
    let rig =
        script((0..=last).map(|round| calls(&[(&format!("c{round}"), "slow")])).collect(), [Played::text("Done.")]);
    let wish = Arc::new(CompactionRequest::default());
    let slow = crate::support::doubles::gated("slow", &gate);
    let running = run(rig.build(asked(&rig, &wish), [slow]).await, "Go.");
    for round in 0..=last {
        gate.reached().await;
        if round == last {
            rig.inject("mind the gap");
            wish.ask(None);
            assert_eq!(rig.model.requests_of(SUMMARY).len(), 0);
        }
        gate.open();
    }
    running.answered().await;
    assert_eq!(compactions(&rig).len(), 1);
    assert_eq!(rig.last_request().lines().last().unwrap(), "user: mind the gap");
}

// D24
#[tokio::test(start_paused = true)]
async fn a_compaction_by_hand_that_is_dropped_says_so_and_leaves_all_as_it_was() {
    let rig = Rig::new(rounds(4, 100).into_iter().chain([Played::text("Done.")]));
    let pause = Pause::new();
    rig.model.route(SUMMARY, [Played::text("Never.").paused(&pause)]);
    let wish = Arc::new(CompactionRequest::default());
    let agent = rig.build(asked(&rig, &wish), [wordy("one")]).await;
    let mut agent = run(agent, "Go.").answered().await;
    let before = agent.history().messages().to_vec();
    wish.ask(None);
    tokio::select! {
        result = agent.compact() => panic!("it ended: {result:?}"),
        () = pause.reached() => {}
    }
    assert_eq!(notices(&rig), ["the compaction was stopped; the conversation is as it was"]);
    assert_eq!(agent.history().messages(), before);
}

#[tokio::test(start_paused = true)]
async fn a_compaction_by_hand_can_be_stopped_and_leaves_all_as_it_was() {
    let rig = Rig::new(rounds(4, 100).into_iter().chain([Played::text("Done.")]));
    let pause = Pause::new();
    rig.model.route(SUMMARY, [Played::text("Never.").paused(&pause)]);
    let wish = Arc::new(CompactionRequest::default());
    let agent = rig.build(asked(&rig, &wish), [wordy("one")]).await;
    let mut agent = run(agent, "Go.").answered().await;
    // A stop from before does not count.
    rig.cancellable.cancel();
    wish.ask(None);
    let working = tokio::spawn(async move {
        let result = agent.compact().await;
        (agent, result)
    });
    pause.reached().await;
    rig.cancellable.cancel();
    let (agent, result) = working.await.unwrap();
    assert!(matches!(result, Err(RunError::Cancelled(_))), "{result:?}");
    assert_eq!(notices(&rig), ["the compaction was stopped; the conversation is as it was"]);
    assert_eq!(agent.history().messages().len(), 2 + 8 + 1);
    assert_eq!(rig.events().last().map(|event| matches!(event, Event::Notice { .. })), Some(true));
}

#[tokio::test(start_paused = true)]
async fn a_sub_agent_compacts_its_own_conversation() {
    let rig = Rig::new([spawns(&[("s", "digger", "Dig.")]), Played::text("Done.")]);
    let mut script = rounds(4, 3_450);
    script.push(Played::text("Gold."));
    rig.model.route(&child("digger"), script);
    rig.model.route(SUMMARY, [Played::text("What was dug.")]);
    let builder = rig.builder().context_window(WINDOW);
    let parent = parent_of(&rig, builder, [wordy("one")], vec![persona("digger", &["one"])]).await;
    run(parent, "Go.").answered().await;
    let story = rig.story_of("digger 0");
    assert!(story.iter().any(|line| line.contains("What was dug.")), "{story:?}");
    let last = rig.model.requests_of(&child("digger")).pop().unwrap();
    assert_eq!(last.lines()[1..3], [task("Dig."), summary("What was dug.")]);
}

// What is summarised again begins with the summary before.
#[tokio::test(start_paused = true)]
async fn a_second_compaction_takes_the_first_summary_in() {
    let more = (4..8)
        .map(|round| calls(&[(&format!("c{round}"), "one")]).with_usage(filled(if round == 7 { 3_500 } else { 100 })));
    let rig = Rig::new(rounds(4, 3_450).into_iter().chain(more).chain([Played::text("Done.")]));
    rig.model.route(SUMMARY, [Played::text("First part."), Played::text("Both parts.")]);
    run(agent(&rig).await, "Go.").answered().await;
    let second = &lines(&rig.model.requests_of(SUMMARY)[1].messages)[1];
    assert!(second.contains("Summary of what came before:\nFirst part."), "{second}");
    let lines = rig.last_request().lines();
    assert_eq!(lines[1..3], [task("Go."), summary("Both parts.")]);
    assert!(!lines.iter().any(|line| line.contains("First part.")));
}

#[derive(Debug, Clone)]
enum Act {
    User(String),
    System,
    Reply { calls: usize, close: bool, long: bool },
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        "[a-z]{1,8}".prop_map(Act::User),
        Just(Act::System),
        (0_usize..4, any::<bool>(), any::<bool>()).prop_map(|(calls, close, long)| Act::Reply { calls, close, long }),
    ];
    prop::collection::vec(act, 0..40)
}

fn history(acts: &[Act]) -> History {
    let mut history = History::new("Prompt.");
    for (number, act) in acts.iter().enumerate() {
        match act {
            Act::User(text) => history.push_user(text.clone()),
            Act::System => history.push_system("note"),
            Act::Reply { calls, close, long } => {
                let call = |at: usize| ToolCall {
                    id: format!("c{number}-{at}").into(),
                    name: "t".to_owned(),
                    arguments: Arguments::parse("{}"),
                };
                let tool_calls: Vec<ToolCall> = (0..*calls).map(call).collect();
                history.push_assistant(AssistantMessage { tool_calls, ..AssistantMessage::default() });
                for _ in 0..*calls {
                    history.push_result(if *long { "é".repeat(5_000) } else { "short".to_owned() });
                }
                if *close {
                    history.close_open(NotRunReason::Cancelled);
                }
            }
        }
    }
    history
}

proptest! {
    #[test]
    fn any_history_compacts_to_one_that_can_be_sent_and_keeps_its_last_rounds_and_every_text_of_the_user(acts in acts()) {
        let history = history(&acts);
        let messages = history.messages();
        let replies: Vec<usize> =
            (0..messages.len()).filter(|at| matches!(messages[*at], Message::Assistant(_))).collect();
        let last = replies.len().checked_sub(2).map(|at| &messages[replies[at]..]);
        let older = history.older().len();
        let agent = steersman::id::AgentId::main();
        let keep = Keep { agent: &agent, rules: &[], plan: &Plan::default(), room: usize::MAX };
        match history.compacted("Sum.", &keep, &Pins::default()) {
            None => prop_assert_eq!(older, 0),
            Some(compacted) => {
                let after = compacted.messages();
                prop_assert_eq!(fault(after), None);
                prop_assert_eq!(&after[0], &messages[0]);
                let summary = Message::user(format!("{SUMMARY_HEAD}Sum."));
                prop_assert!(after[..3].contains(&summary));
                prop_assert!(after.ends_with(last.unwrap()), "the last rounds stay");
                let (before, now) = (UserTexts::of(messages), UserTexts::of(after));
                let words = |texts: &UserTexts| -> Vec<_> {
                    texts.all().iter().map(|placed| placed.text.words.clone()).collect()
                };
                prop_assert_eq!(words(&now), words(&before), "every text of the user, once and in order");
                prop_assert_eq!(now.task_words(), before.task_words());
                for (index, placed) in before.all().iter().enumerate() {
                    if before.fate(index) != TextFate::Unanswered {
                        prop_assert_eq!(before.fate(index), now.fate(index), "{:?}", placed);
                    }
                }
                prop_assert!(compacted.older().is_empty(), "a summary alone is not summarised");
            }
        }
        if let Some(shorter) = history.shortened(&Pins::default()) {
            prop_assert_eq!(fault(shorter.messages()), None);
            prop_assert_eq!(shorter.messages().len(), messages.len());
            prop_assert!(last.is_none_or(|last| shorter.messages().ends_with(last)));
            prop_assert!(shorter.shortened(&Pins::default()).is_none(), "once is enough");
        }
    }
}
