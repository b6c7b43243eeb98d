//! A compaction that the user requests: when it is made, what it keeps in mind, and how it is stopped.

use std::sync::Arc;

use steersman_agent::Agent;
use steersman_agent::CompactionRequest;
use steersman_base::error::RunError;
use steersman_base::event::Event;
use steersman_core::provider::Played;

use super::{SUMMARY, compactions, notices, rounds, script, starts, wordy};
use crate::support::doubles::{Gate, Pause, PlayedExt, Rig, calls, lines, run};

fn asked(rig: &Rig, wish: &Arc<CompactionRequest>) -> steersman_agent::AgentBuilder {
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
async fn without_a_system_prompt_the_first_text_stays_the_first_message() {
    let rig = script(rounds(4, 100), [Played::text("Done.")]);
    let wish = Arc::new(CompactionRequest::default());
    let builder = Agent::builder(Rig::transport(), "", rig.connector()).compaction_request(Arc::clone(&wish));
    let mut agent = run(rig.build(builder, [wordy("one")]).await, "Go.").answered().await;
    wish.ask(None);
    agent.compact().await.unwrap();
    let kept = starts(agent.history().messages());
    assert!(kept[0].starts_with("user: [Older messages") && kept[1].starts_with("user: [Summary"), "{kept:?}");
}
