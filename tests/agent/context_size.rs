//! How large a conversation is: counted, guessed, corrected, and not believed.

use steersman_agent::context_size::{ContextSize, ConversationSize, guess};
use steersman_base::event::{Event, Usage};
use steersman_base::message::Message;
use steersman_core::provider::Played;

use crate::support::doubles::{Rig, calls, run, tool};

const MODEL: &str = "test-model";

fn counted(input: u64, output: u64) -> Usage {
    Usage { input: Some(input), output: Some(output), ..Usage::default() }
}

fn talk(bytes: usize) -> Vec<Message> {
    vec![Message::system("p".repeat(bytes)), Message::user("q".repeat(bytes))]
}

#[test]
fn without_a_count_a_token_is_four_characters_of_ascii_and_fewer_of_other_letters() {
    let sizes = ContextSize::default();
    let ConversationSize { tokens, estimated } = sizes.measure(MODEL, &talk(4_000), &[]);
    assert!(estimated);
    assert!((2_000..2_020).contains(&tokens), "{tokens}");
    let [latin, chinese] = ["aaaa", "漢漢漢漢"].map(|text| guess(&[Message::user(text.repeat(100))], &[]));
    assert!(chinese > 2 * latin, "{chinese} {latin}");
    assert_eq!(sizes.measure(MODEL, &[], &[]).tokens, 0);
}

#[test]
fn a_count_holds_until_something_is_added_and_corrects_what_is() {
    let mut sizes = ContextSize::default();
    let mut messages = talk(4_000);
    messages.push(Message::assistant("a".repeat(400)));
    // The model makes half as many tokens of it as was guessed.
    assert!(sizes.record_usage(MODEL, (&messages[..2], 1), &[], &counted(1_000, 50), None));
    assert_eq!(sizes.measure(MODEL, &messages, &[]), ConversationSize { tokens: 1_050, estimated: false });
    messages.push(Message::user("b".repeat(8_000)));
    let after = sizes.measure(MODEL, &messages, &[]);
    assert!(after.estimated && (2_040..2_070).contains(&after.tokens), "{after:?}");
    // What was learned stays when the conversation becomes another, but not for another model.
    sizes.forget();
    let whole = sizes.measure(MODEL, &messages, &[]);
    assert!(whole.estimated && (2_040..2_080).contains(&whole.tokens), "{whole:?}");
    assert!((4_100..4_150).contains(&sizes.measure("another", &messages, &[]).tokens));
    assert!((1_990..2_010).contains(&sizes.room(MODEL, 1_000)), "{}", sizes.room(MODEL, 1_000));
}

// P18
#[test]
fn an_absurd_count_is_not_believed() {
    let messages = talk(40_000);
    for (usage, window) in [
        (Usage::default(), None),
        (counted(0, 50), None),
        (counted(3, 50), None),
        (counted(900_000_000, 1), Some(8_000)),
        (counted(u64::MAX, u64::MAX), None),
        (counted(10_000, u64::MAX), Some(8_000)),
        (counted(3, 1), Some(0)),
    ] {
        let mut sizes = ContextSize::default();
        let before = sizes.measure(MODEL, &messages, &[]);
        assert!(!sizes.record_usage(MODEL, (&messages, 0), &[], &usage, window), "{usage:?}");
        assert_eq!(sizes.measure(MODEL, &messages, &[]), before);
    }
    // One that is only far off is believed, but corrects no more than fourfold.
    let mut sizes = ContextSize::default();
    assert!(sizes.record_usage(MODEL, (&messages, 0), &[], &counted(500_000, 0), None));
    sizes.forget();
    assert!(sizes.measure(MODEL, &messages, &[]).tokens <= 4 * guess(&messages, &[]) + 4);
}

fn sizes_of(rig: &Rig) -> Vec<(u64, bool)> {
    let size = |event: Event| match event {
        Event::ContextSize { tokens, estimated } => Some((tokens, estimated)),
        _ => None,
    };
    rig.events().into_iter().filter_map(size).collect()
}

#[tokio::test(start_paused = true)]
async fn the_size_is_told_before_each_request_and_after_each_reply() {
    let rig = Rig::new([
        calls(&[("c", "one")]).with_usage(counted(100, 20)),
        Played::text("Done.").with_usage(counted(150, 5)),
    ]);
    run(rig.agent([tool("one", "one done")]).await, "Go.").answered().await;
    let sizes = sizes_of(&rig);
    assert_eq!(sizes.len(), 4, "{sizes:?}");
    assert!(sizes[0].1);
    assert_eq!(sizes[1], (120, false));
    assert!(sizes[2].1 && sizes[2].0 > 120, "{sizes:?}");
    assert_eq!(sizes[3], (155, false));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_counts_leaves_a_guess_that_grows() {
    let rig = Rig::new([calls(&[("c", "one")]), Played::text("Done.")]);
    run(rig.agent([tool("one", &"x".repeat(4_000))]).await, "Go.").answered().await;
    let sizes = sizes_of(&rig);
    assert!(sizes.iter().all(|(_, estimated)| *estimated));
    assert!(sizes[2].0 >= sizes[0].0 + 1_000, "{sizes:?}");
}
