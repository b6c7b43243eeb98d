//! Random lives of the queue against a model so simple that it is plainly right.
//!
//! Checked after every step: the same answers, the same list. Checked at the end: each id was delivered once or
//! returned once or still waits, never two of these; no held text was delivered; within a delivery kind the order
//! of delivery is the order of the list.

use std::collections::HashMap;

use proptest::prelude::*;
use steersman::control::{Cancellable, Interloper, Modes, QueueMode};
use steersman::error::Refused;
use steersman::event::Delivery;
use steersman::id::MessageId;

/// Is one thing that somebody does. An entry is named by the number of its acceptance.
#[derive(Debug, Clone)]
enum Step {
    Inject(&'static str, Delivery),
    Withdraw(usize),
    WithdrawNewest,
    Replace(usize, &'static str),
    MoveTo(usize, usize),
    SetDelivery(usize, Delivery),
    Hold(usize),
    Release(usize),
    SetModes(Modes),
    Drain,
    DrainUnless,
    TakeTurn,
    Stop,
    Pause,
    Resume,
}

fn delivery() -> impl Strategy<Value = Delivery> {
    prop_oneof![3 => Just(Delivery::Steer), 1 => Just(Delivery::FollowUp)]
}

fn mode() -> impl Strategy<Value = QueueMode> {
    prop_oneof![Just(QueueMode::All), Just(QueueMode::OneAtATime)]
}

fn text() -> impl Strategy<Value = &'static str> {
    prop_oneof![8 => Just("go on"), 4 => Just("stop\nthat"), 1 => Just(" \u{200B}\n")]
}

fn step() -> impl Strategy<Value = Step> {
    let entry = || 1..14_usize;
    prop_oneof![
        12 => (text(), delivery()).prop_map(|(text, delivery)| Step::Inject(text, delivery)),
        2 => entry().prop_map(Step::Withdraw),
        1 => Just(Step::WithdrawNewest),
        2 => (entry(), text()).prop_map(|(entry, text)| Step::Replace(entry, text)),
        2 => (entry(), 0..6_usize).prop_map(|(entry, index)| Step::MoveTo(entry, index)),
        2 => (entry(), delivery()).prop_map(|(entry, delivery)| Step::SetDelivery(entry, delivery)),
        3 => entry().prop_map(Step::Hold),
        2 => entry().prop_map(Step::Release),
        1 => (mode(), mode()).prop_map(|(steer, follow_up)| Step::SetModes(Modes { steer, follow_up })),
        3 => Just(Step::Drain),
        2 => Just(Step::DrainUnless),
        3 => Just(Step::TakeTurn),
        1 => Just(Step::Stop),
        1 => Just(Step::Pause),
        1 => Just(Step::Resume),
    ]
}

#[derive(Debug, Clone, PartialEq)]
struct Entry {
    number: usize,
    text: String,
    delivery: Delivery,
    held: bool,
}

/// The queue in the plainest words: a list, and what became of everything that was in it.
#[derive(Default)]
struct Model {
    list: Vec<Entry>,
    accepted: usize,
    modes: Modes,
    paused: bool,
    cancelled: bool,
    fates: HashMap<usize, &'static str>,
}

impl Model {
    fn find(&mut self, number: usize) -> Option<&mut Entry> {
        self.list.iter_mut().find(|entry| entry.number == number)
    }

    fn remove(&mut self, number: usize, fate: &'static str) -> Entry {
        let at = self.list.iter().position(|entry| entry.number == number).unwrap();
        assert_eq!(self.fates.insert(number, fate), None, "m{number} has two fates");
        self.list.remove(at)
    }

    fn deliver(&mut self, kind: Delivery) -> Vec<Entry> {
        let mode = if kind == Delivery::Steer { self.modes.steer } else { self.modes.follow_up };
        let fit: Vec<usize> =
            self.list.iter().filter(|entry| entry.delivery == kind && !entry.held).map(|entry| entry.number).collect();
        let most = if mode == QueueMode::All { fit.len() } else { 1 };
        fit.into_iter().take(most).map(|number| self.remove(number, "delivered")).collect()
    }

    fn take_turn(&mut self) -> Vec<Entry> {
        if self.paused {
            return Vec::new();
        }
        let mut taken = self.deliver(Delivery::Steer);
        if taken.is_empty() {
            taken = self.deliver(Delivery::FollowUp);
        }
        if !taken.is_empty() {
            self.cancelled = false;
        }
        taken
    }
}

fn id(number: usize) -> MessageId {
    MessageId::new(format!("m{number}"))
}

fn seen(entries: &[steersman::event::Pending]) -> Vec<Entry> {
    entries
        .iter()
        .map(|entry| Entry {
            number: entry.id.as_str().trim_start_matches('m').parse().unwrap(),
            text: entry.text.clone(),
            delivery: entry.delivery,
            held: entry.held,
        })
        .collect()
}

/// Does one step on both and compares the answers.
fn apply(step: &Step, queue: &Interloper, cancel: &Cancellable, model: &mut Model) {
    match *step {
        Step::Inject(text, delivery) => {
            let answer = queue.inject(text, delivery);
            if text.trim().trim_matches('\u{200B}').is_empty() {
                assert_eq!(answer, Err(Refused::Blank));
            } else {
                model.accepted += 1;
                let number = model.accepted;
                model.list.push(Entry { number, text: text.to_owned(), delivery, held: false });
                model.paused = false;
                assert_eq!(answer, Ok(id(number)));
            }
        }
        Step::Withdraw(number) => {
            let expected = model.find(number).is_some().then(|| model.remove(number, "returned"));
            assert_eq!(seen(queue.withdraw(&id(number)).as_slice()), Vec::from_iter(expected));
        }
        Step::WithdrawNewest => {
            let last = model.list.last().map(|entry| entry.number);
            let expected = last.map(|number| model.remove(number, "returned"));
            assert_eq!(seen(queue.withdraw_newest().as_slice()), Vec::from_iter(expected));
        }
        Step::Replace(number, text) => {
            let answer = queue.replace(&id(number), text);
            if text.starts_with(' ') {
                assert_eq!(answer, Err(Refused::Blank));
            } else {
                let found = model.find(number).map(|entry| text.clone_into(&mut entry.text)).is_some();
                assert_eq!(answer, Ok(found));
            }
        }
        Step::MoveTo(number, index) => {
            let from = model.list.iter().position(|entry| entry.number == number);
            if let Some(from) = from {
                let entry = model.list.remove(from);
                model.list.insert(index.min(model.list.len()), entry);
            }
            assert_eq!(queue.move_to(&id(number), index), from.is_some());
        }
        Step::SetDelivery(number, delivery) => {
            let found = model.find(number).map(|entry| entry.delivery = delivery).is_some();
            assert_eq!(queue.set_delivery(&id(number), delivery), found);
        }
        Step::Hold(number) => {
            let found = model.find(number).map(|entry| entry.held = true).is_some();
            assert_eq!(queue.hold(&id(number)), found);
        }
        Step::Release(number) => {
            let found = model.find(number).map(|entry| entry.held = false).is_some();
            assert_eq!(queue.release(&id(number)), found);
        }
        Step::SetModes(both) => {
            model.modes = both;
            queue.set_modes(both);
        }
        Step::Drain => assert_eq!(seen(&queue.drain()), model.deliver(Delivery::Steer)),
        Step::DrainUnless => {
            let expected = if model.cancelled { Vec::new() } else { model.deliver(Delivery::Steer) };
            assert_eq!(seen(&queue.drain_unless(cancel)), expected);
        }
        Step::TakeTurn => {
            let deliverable = queue.deliverable();
            let expected = model.take_turn();
            assert_eq!(deliverable, !expected.is_empty());
            assert_eq!(seen(&queue.take_turn(Some(cancel))), expected);
        }
        Step::Stop => {
            model.cancelled = true;
            model.paused = true;
            let numbers: Vec<usize> = model.list.iter().map(|entry| entry.number).collect();
            let expected: Vec<Entry> = numbers.into_iter().map(|number| model.remove(number, "returned")).collect();
            assert_eq!(seen(&queue.stop(cancel)), expected);
        }
        Step::Pause => {
            model.paused = true;
            queue.pause();
        }
        Step::Resume => {
            model.paused = false;
            queue.resume();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_queue_does_what_a_plain_list_would_do(steps in prop::collection::vec(step(), 1..60)) {
        let (queue, cancel) = (Interloper::new(), Cancellable::new());
        let mut model = Model::default();
        for step in steps {
            apply(&step, &queue, &cancel, &mut model);
            prop_assert_eq!(seen(&queue.entries()), model.list.clone());
            prop_assert_eq!(queue.paused(), model.paused);
            prop_assert_eq!(cancel.is_cancelled(), model.cancelled);
        }
        prop_assert_eq!(model.fates.len() + model.list.len(), model.accepted, "a text is in exactly one place");
    }
}
