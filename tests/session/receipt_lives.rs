//! Random lives of one text: whatever comes in whatever order, its receipt never goes back from delivered, and never from
//! seen.

use jiff::Timestamp;
use proptest::prelude::*;
use steersman_base::event::{Envelope, Event, Outcome, Pending, TakenBack};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::steering::TextKind;
use steersman_session::journal::{Record, restore};
use steersman_session::model::{ReceiptState, Receipts};

/// One thing that happens around the text.
#[derive(Debug, Clone, Copy)]
enum Happening {
    /// A snapshot of the queues, with the text in it or without. It may be older than what the agents have told.
    Snapshot {
        holds_it: bool,
    },
    Sent,
    Returned,
    Withdrawn,
    Merged,
    Delivered,
    Seen,
    TurnStarted,
    TurnEnded(Outcome),
    Reset,
}

fn happening() -> impl Strategy<Value = Happening> {
    use Happening::{Delivered, Merged, Reset, Returned, Seen, Sent, Snapshot, TurnEnded, TurnStarted, Withdrawn};
    prop_oneof![
        any::<bool>().prop_map(|holds_it| Snapshot { holds_it }),
        prop::sample::select(vec![Sent, Returned, Withdrawn, Merged, Delivered, Seen, TurnStarted, Reset]),
        prop::sample::select(vec![Outcome::Completed, Outcome::Cancelled, Outcome::Failed]).prop_map(TurnEnded),
    ]
}

fn text() -> Pending {
    Pending::new("m1".into(), "the text", Timestamp::UNIX_EPOCH)
}

fn tell(receipts: &mut Receipts, event: Event) {
    let at = Timestamp::UNIX_EPOCH;
    receipts.apply(&Envelope { seq: 1, at, agent: AgentId::main(), parent: None, event });
}

fn happen(receipts: &mut Receipts, happening: Happening) {
    let id: MessageId = "m1".into();
    match happening {
        Happening::Snapshot { holds_it } => {
            receipts.snapshot(&[(AgentId::main(), if holds_it { vec![text()] } else { Vec::new() })]);
        }
        Happening::Sent => receipts.sent(&id, &AgentId::main(), "the text", Timestamp::UNIX_EPOCH),
        Happening::Returned => receipts.returned(&[text()]),
        Happening::Withdrawn => receipts.withdrawn(&id),
        Happening::Merged => receipts.merged(&id, &"m2".into()),
        Happening::Delivered => {
            // A text enters the conversation once.
            if receipts.get(&id).and_then(|receipt| receipt.arrival()).is_none() {
                let content = "the text".to_owned();
                let turn = Event::UserTurn {
                    content,
                    mid_loop: false,
                    injection: Some(id),
                    step: 0,
                    after: None,
                    sender: None,
                    kind: steersman_base::steering::TextKind::Add,
                    met: None,
                    images: Vec::new(),
                };
                tell(receipts, turn);
            }
        }
        Happening::Seen => tell(receipts, Event::Seen { injections: vec![id], step: 1 }),
        Happening::TurnStarted => tell(receipts, Event::TurnStarted { turn: 2 }),
        Happening::TurnEnded(outcome) => {
            tell(receipts, Event::TurnEnded { turn: 1, outcome, message: None });
        }
        Happening::Reset => tell(receipts, Event::Reset {}),
    }
}

proptest! {
    #[test]
    fn a_receipt_never_goes_back_from_delivered_nor_from_seen(
        happenings in prop::collection::vec(happening(), 1..30),
    ) {
        let mut receipts = Receipts::default();
        for happening in happenings {
            let before = receipts.get(&"m1".into()).cloned();
            happen(&mut receipts, happening);
            let Some(before) = before else { continue };
            let after = receipts.get(&"m1".into()).unwrap();
            if before.arrival().is_some() {
                prop_assert_eq!(after.arrival(), before.arrival(), "after {:?}", happening);
            }
            if matches!(before.state, ReceiptState::Seen(..)) {
                prop_assert_eq!(&after.state, &before.state, "after {:?}", happening);
            }
        }
    }
}

#[test]
fn a_client_that_reads_the_events_alone_knows_how_long_a_text_waited() {
    let mut receipts = Receipts::default();
    let sent = Timestamp::UNIX_EPOCH - jiff::SignedDuration::from_secs(12);
    tell(&mut receipts, Event::Pending { entries: vec![Pending { at: sent, ..text() }] });
    assert!(receipts.list().is_empty(), "what became of it is not said yet");
    happen(&mut receipts, Happening::Delivered);
    assert_eq!(receipts.get(&"m1".into()).unwrap().waited(), Some(12));
}

#[test]
fn after_a_resume_the_texts_that_were_never_delivered_are_known_and_when_each_was_sent() {
    let at = Timestamp::UNIX_EPOCH;
    let entry = |id: &str| Pending::new(id.into(), format!("the text {id}"), at);
    let accepted = |id: &str| Record::Accepted { to: AgentId::main(), entry: entry(id) };
    let taken = |id: &str, why| Record::TakenBack { texts: vec![id.into()], why, at };
    let event = |event| Record::Event(Envelope { seq: 1, at, agent: AgentId::main(), parent: None, event });
    let delivered = Event::UserTurn {
        content: "the text m3".to_owned(),
        mid_loop: false,
        injection: Some("m3".into()),
        step: 0,
        after: None,
        sender: None,
        kind: TextKind::Add,
        met: None,
        images: Vec::new(),
    };
    let left = restore(vec![
        accepted("m1"),
        taken("m1", TakenBack::Removed),
        accepted("m2"),
        taken("m2", TakenBack::ToMessage),
        accepted("m3"),
        event(delivered),
        accepted("m4"),
        accepted("m5"),
        taken("m5", TakenBack::Merged("m4".into())),
        accepted("m6"),
        taken("m6", TakenBack::Removed),
        Record::Restored { to: AgentId::main(), entry: entry("m6") },
    ]);
    let mut receipts = Receipts::default();
    for envelope in &left.envelopes {
        receipts.apply(envelope);
    }
    receipts.take_over(&left.unfinished);
    receipts.snapshot(&[(AgentId::main(), vec![entry("m4"), entry("m6")])]);
    let known: Vec<(&str, &ReceiptState, Option<Timestamp>)> =
        receipts.list().iter().map(|receipt| (receipt.id.as_str(), &receipt.state, receipt.sent)).collect();
    let delivered = &receipts.get(&"m3".into()).unwrap().state;
    assert_eq!(
        known,
        [
            ("m1", &ReceiptState::Withdrawn, Some(at)),
            // It comes back to the user, and so is one that waits.
            ("m3", delivered, Some(at)),
            ("m5", &ReceiptState::Merged("m4".into()), Some(at)),
            ("m4", &ReceiptState::Pending, Some(at)),
            ("m6", &ReceiptState::Pending, Some(at)),
        ]
    );
    assert!(receipts.get(&"m3".into()).unwrap().arrival().is_some());
    let waits = left.unfinished.pending.iter().map(|entry| entry.id.as_str());
    assert_eq!(waits.collect::<Vec<_>>(), ["m3", "m4", "m6", "m2"], "no message of m3 was written");
}
