//! Stories of servers that use the ids of tool calls again.

use steersman_base::event::Event;
use steersman_base::message::{Message, Original, Part};
use steersman_core::provider::Played;

use crate::support::doubles::{Rig, calls, run, tool};

fn ids(events: &[Event]) -> Vec<String> {
    let id = |event: &Event| match event {
        Event::ToolCall { id, .. } => Some(id.to_string()),
        _ => None,
    };
    events.iter().filter_map(id).collect()
}

// P11
#[tokio::test(start_paused = true)]
async fn an_id_that_comes_again_is_made_unique_in_events_and_requests_and_the_call_runs_once() {
    let again = || calls(&[("call_0", "one")]);
    let rig = Rig::new([again(), again(), Played::text("Done."), again(), Played::text("Done again.")]);
    let mut agent = run(rig.agent([tool("one", "one done")]).await, "Go.").answered().await;
    agent.run_loop("Again.").await.unwrap();
    assert_eq!(ids(&rig.events()), ["call_0", "call_0_2", "call_0_3"]);
    assert_eq!(
        rig.last_request().lines()[1..],
        [
            "user: Go.",
            "assistant:  +one#call_0",
            "tool#call_0: one done",
            "assistant:  +one#call_0_2",
            "tool#call_0_2: one done",
            "assistant: Done.",
            "user: Again.",
            "assistant:  +one#call_0_3",
            "tool#call_0_3: one done",
        ]
    );
}

// P11: within one reply, and without any id.
#[tokio::test(start_paused = true)]
async fn doubled_and_missing_ids_of_one_reply_are_told_apart() {
    let rig = Rig::new([calls(&[("a", "one"), ("a", "one"), ("", "one")]), Played::text("Done.")]);
    run(rig.agent([tool("one", "one done")]).await, "Go.").answered().await;
    assert_eq!(ids(&rig.events()), ["a", "a_2", "call_1"]);
}

#[tokio::test(start_paused = true)]
async fn a_session_is_never_blocked_by_the_ids_that_it_remembers() {
    let mut script: Vec<Played> = (0..200).map(|_| calls(&[("0", "one"), ("1", "one")])).collect();
    script.push(Played::text("Done."));
    let rig = Rig::new(script);
    run(rig.agent([tool("one", "one done")]).await, "Go.").answered().await;
    let mut seen = ids(&rig.events());
    assert_eq!(seen.len(), 400);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 400);
}

// A reset forgets the conversation, not what the screen still shows.
#[tokio::test(start_paused = true)]
async fn ids_stay_unique_over_a_reset() {
    let script = || [calls(&[("c", "one")]), Played::text("Done.")];
    let rig = Rig::new(script().into_iter().chain(script()));
    let mut agent = run(rig.agent([tool("one", "one done")]).await, "Go.").answered().await;
    agent.reset();
    agent.run_loop("Again.").await.unwrap();
    assert_eq!(ids(&rig.events()), ["c", "c_2"]);
}

#[tokio::test(start_paused = true)]
async fn the_parts_that_go_back_as_they_came_name_calls_by_place_and_so_stay_right() {
    let original = Original {
        parts: vec![Part::Opaque("{}".to_owned()), Part::Call { index: 0, mark: Some("m".to_owned()) }],
        ..Original::default()
    };
    let marked = || calls(&[("c", "one")]).with_original(original.clone());
    let rig = Rig::new([marked(), marked(), Played::text("Done.")]);
    run(rig.agent([tool("one", "one done")]).await, "Go.").answered().await;
    let replies: Vec<_> = rig
        .last_request()
        .messages
        .into_iter()
        .filter_map(|message| match message {
            Message::Assistant(reply) => Some((reply.tool_calls[0].id.to_string(), reply.original)),
            _ => None,
        })
        .collect();
    assert_eq!(replies, [("c".to_owned(), Some(original.clone())), ("c_2".to_owned(), Some(original))]);
}
