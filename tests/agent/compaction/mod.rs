//! Stories of conversations that fill the window: what is taken out of them, what never is, and what a summary that fails
//! leaves.

mod random_histories;
mod requested;
mod triggers;

use std::sync::Arc;

use steersman_agent::{Agent, KEPT_HEAD, SUMMARY_HEAD};
use steersman_base::event::{Delivery, Event, Usage};
use steersman_base::message::Message;
use steersman_core::provider::{Finish, Piece, Played, ProviderError, Step};
use steersman_core::tool::Tool;

use crate::support::doubles::{
    Gate, Pause, PlayedExt, Rig, assert_sendable, calls, fault, gated_beside, lines, run, run_queue, tool,
};
use crate::support::subagents::{child, parent_of, persona, spawns};

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
    let lines = rig.event_lines_of("digger 0");
    assert!(lines.iter().any(|line| line.contains("What was dug.")), "{lines:?}");
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
