//! When a conversation is compacted, and when it is not: the share of the window, requests that are too long for the model,
//! whether the server says so or its count of tokens does, and absurd counts.

use steersman_base::event::Event;
use steersman_core::provider::{Played, ProviderError};

use super::{SUMMARY, WINDOW, agent, compactions, filled, notices, overflow, rounds, script, summary, task, wordy};
use crate::support::doubles::{run, tool};

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
