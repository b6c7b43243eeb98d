//! Random lives of the queue against a model so simple that it is plainly right.
//!
//! Checked after every step: the same answers, the same list. Checked at the end: each id was delivered once or
//! returned once or joined to another or still waits, never two of these; no held text was delivered; within a
//! delivery kind the order of delivery is the order of the list; what asks for no work starts no turn.

use std::collections::HashMap;

use futures_util::FutureExt;
use proptest::prelude::*;
use steersman_base::error::Refused;
use steersman_base::event::{Delivery, Pending, UserText};
use steersman_base::id::MessageId;
use steersman_base::steering::{RuleScope, TextKind};
use steersman_core::control::{Cancellable, Interloper, Modes, QueueMode, Staleness};

/// One thing that somebody does. An entry is named by the number of its acceptance.
#[derive(Debug, Clone)]
enum Step {
    Inject(&'static str, Delivery, TextKind),
    Withdraw(usize),
    WithdrawNewest,
    Replace(usize, &'static str),
    MoveTo(usize, usize),
    SetDelivery(usize, Delivery),
    SetKind(usize, TextKind),
    Hold(usize),
    Release(usize),
    Commit(usize, &'static str),
    Confirm(usize),
    Merge(usize),
    Restore(usize, usize),
    SetModes(Modes),
    SetStaleness(Option<u32>),
    Count,
    Drain,
    DrainUnless,
    TakeNow,
    CutIn,
    TakeTurn,
    BeginTurn,
    Cancel,
    EndCancelled,
    Stop,
    Pause,
    Resume,
    Close,
}

fn delivery() -> impl Strategy<Value = Delivery> {
    prop_oneof![4 => Just(Delivery::Steer), 2 => Just(Delivery::FollowUp), 1 => Just(Delivery::Now)]
}

fn kind() -> impl Strategy<Value = TextKind> {
    prop_oneof![
        4 => Just(TextKind::Add), 1 => Just(TextKind::Instead), 2 => Just(TextKind::Note), 2 => Just(TextKind::Rule)
    ]
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
        12 => (text(), delivery(), kind()).prop_map(|(text, delivery, kind)| Step::Inject(text, delivery, kind)),
        2 => entry().prop_map(Step::Withdraw),
        1 => Just(Step::WithdrawNewest),
        2 => (entry(), text()).prop_map(|(entry, text)| Step::Replace(entry, text)),
        2 => (entry(), 0..6_usize).prop_map(|(entry, index)| Step::MoveTo(entry, index)),
        2 => (entry(), delivery()).prop_map(|(entry, delivery)| Step::SetDelivery(entry, delivery)),
        2 => (entry(), kind()).prop_map(|(entry, kind)| Step::SetKind(entry, kind)),
        3 => entry().prop_map(Step::Hold),
        2 => entry().prop_map(Step::Release),
        2 => (entry(), text()).prop_map(|(entry, text)| Step::Commit(entry, text)),
        1 => entry().prop_map(Step::Confirm),
        2 => entry().prop_map(Step::Merge),
        2 => (0..14_usize, 0..6_usize).prop_map(|(returned, index)| Step::Restore(returned, index)),
        1 => prop::option::of(0..3_u32).prop_map(Step::SetStaleness),
        3 => Just(Step::Count),
        2 => Just(Step::TakeNow),
        2 => Just(Step::CutIn),
        1 => Just(Step::BeginTurn),
        1 => Just(Step::Cancel),
        1 => Just(Step::EndCancelled),
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
    kind: TextKind,
    edited: bool,
    stale: bool,
    /// Tool calls that the agent had made when the user last meant this text.
    fresh: u32,
}

impl Entry {
    fn held(&self) -> bool {
        self.edited || self.stale
    }

    fn starts_turn(&self) -> bool {
        matches!(self.kind, TextKind::Add | TextKind::Instead) || self.delivery == Delivery::Now
    }
}

/// The queue in the plainest words: a list, and what became of everything that was in it.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // They are what the queue is in, one by one.
struct Model {
    list: Vec<Entry>,
    accepted: usize,
    modes: Modes,
    patience: Option<u32>,
    steps: u32,
    paused: bool,
    stopped: bool,
    cancelled: bool,
    closed: bool,
    fates: HashMap<usize, &'static str>,
    /// What the user took back one by one and may put back.
    returned: Vec<Pending>,
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

    /// What goes now stands before the steers, and these before the follow-ups.
    fn arrange(&mut self) {
        let of = |delivery| self.list.iter().filter(move |entry| entry.delivery == delivery);
        self.list = [Delivery::Now, Delivery::Steer, Delivery::FollowUp].into_iter().flat_map(of).cloned().collect();
    }

    fn newest(&self) -> Option<usize> {
        self.list.iter().map(|entry| entry.number).max()
    }

    fn remove_those(&mut self, are_meant: impl Fn(&Entry) -> bool) -> Vec<Entry> {
        let numbers: Vec<usize> = self.list.iter().filter(|entry| are_meant(entry)).map(|entry| entry.number).collect();
        numbers.into_iter().map(|number| self.remove(number, "returned")).collect()
    }

    fn deliver(&mut self, kind: Delivery) -> Vec<Entry> {
        let mode = match kind {
            Delivery::Now => QueueMode::All,
            Delivery::Steer => self.modes.steer,
            Delivery::FollowUp => self.modes.follow_up,
        };
        self.deliver_most(kind, if mode == QueueMode::All { usize::MAX } else { 1 })
    }

    /// Takes the entries up to that many tasks; without any, those before the first task that could go.
    fn deliver_most(&mut self, kind: Delivery, most: usize) -> Vec<Entry> {
        let (mut fit, mut tasks) = (Vec::new(), 0);
        let (steps, patience) = (self.steps, self.patience);
        for entry in &mut self.list {
            if entry.delivery != kind || entry.held() || tasks == most.max(1) {
                continue;
            }
            let is_task = matches!(entry.kind, TextKind::Add | TextKind::Instead);
            if kind != Delivery::Now && patience.is_some_and(|patience| steps - entry.fresh > patience) {
                entry.stale = true;
            } else {
                tasks += usize::from(is_task);
                if !is_task || most > 0 {
                    fit.push(entry.number);
                }
            }
        }
        fit.into_iter().map(|number| self.remove(number, "delivered")).collect()
    }

    fn drain(&mut self) -> Vec<Entry> {
        let mut taken = self.deliver(Delivery::Now);
        taken.extend(self.deliver(Delivery::Steer));
        taken
    }

    fn take_turn(&mut self) -> Vec<Entry> {
        let (steps, patience) = (self.steps, self.patience);
        let is_old = |entry: &Entry| patience.is_some_and(|patience| steps - entry.fresh > patience);
        let mut starting: Vec<&mut Entry> =
            self.list.iter_mut().filter(|entry| !entry.held() && entry.starts_turn()).collect();
        if self.paused || starting.is_empty() {
            return Vec::new();
        }
        if starting.iter().all(|entry| entry.delivery != Delivery::Now && is_old(entry)) {
            for entry in &mut starting {
                entry.stale = true;
            }
            return Vec::new();
        }
        let mut taken = Vec::new();
        for kind in [Delivery::Now, Delivery::Steer, Delivery::FollowUp] {
            taken.extend(self.deliver(kind));
            if taken.iter().any(Entry::starts_turn) {
                if kind != Delivery::FollowUp {
                    taken.extend(self.deliver_most(Delivery::FollowUp, 0));
                }
                break;
            }
        }
        self.begin();
        taken
    }

    fn begin(&mut self) {
        self.cancelled = false;
        self.stopped = false;
    }

    fn mean(&mut self, number: usize) -> bool {
        let steps = self.steps;
        self.find(number).map(|entry| (entry.stale, entry.fresh) = (false, steps)).is_some()
    }
}

fn id(number: usize) -> MessageId {
    MessageId::new(format!("m{number}"))
}

fn blank(text: &str) -> bool {
    text.starts_with(' ')
}

/// What can be seen of an entry.
type Shown = (usize, String, Delivery, TextKind, bool, bool);

fn seen(entries: &[Pending]) -> Vec<Shown> {
    let number = |entry: &Pending| entry.id.as_str().trim_start_matches('m').parse().unwrap();
    entries.iter().map(|e| (number(e), e.text.clone(), e.delivery, e.kind, e.held, e.stale)).collect()
}

fn shown<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<Shown> {
    entries.into_iter().map(|e| (e.number, e.text.clone(), e.delivery, e.kind, e.held(), e.stale)).collect()
}

/// Does one step on both and compares the answers.
fn apply(step: &Step, queue: &Interloper, cancel: &Cancellable, model: &mut Model) {
    match *step {
        Step::Inject(text, delivery, kind) => inject(text, delivery, kind, queue, model),
        Step::Withdraw(_) | Step::WithdrawNewest | Step::Restore(..) | Step::Merge(_) => arrange(step, queue, model),
        Step::Replace(..) | Step::Commit(..) | Step::Confirm(_) | Step::Hold(_) | Step::Release(_) => {
            edit(step, queue, model);
        }
        Step::MoveTo(number, index) => {
            let from = model.list.iter().position(|entry| entry.number == number);
            if let Some(from) = from {
                let entry = model.list.remove(from);
                model.list.insert(index.min(model.list.len()), entry);
                model.arrange();
            }
            model.arrange();
            assert_eq!(queue.move_to(&id(number), index), from.is_some());
        }
        Step::SetDelivery(number, delivery) => {
            let found = model.find(number).map(|entry| entry.delivery = delivery).is_some();
            if found && delivery == Delivery::Now {
                model.mean(number);
                model.paused = false;
            }
            model.arrange();
            assert_eq!(queue.set_delivery(&id(number), delivery), found);
        }
        Step::SetKind(number, kind) => {
            let found = model.find(number).map(|entry| entry.kind = kind).is_some();
            assert_eq!(queue.set_kind(&id(number), kind, RuleScope::default()), found);
        }
        Step::SetModes(both) => {
            model.modes = both;
            queue.set_modes(both);
        }
        Step::SetStaleness(steps) => {
            model.patience = steps;
            queue.set_staleness(Staleness { age: None, steps });
        }
        Step::Count => {
            model.steps += 1;
            queue.count_step();
        }
        Step::Drain | Step::DrainUnless | Step::TakeNow | Step::CutIn | Step::TakeTurn => {
            take(step, queue, cancel, model);
        }
        Step::BeginTurn => {
            model.begin();
            queue.begin_turn(Some(cancel));
        }
        Step::Cancel => {
            model.cancelled = true;
            cancel.cancel();
        }
        Step::EndCancelled => {
            model.paused |= !model.stopped;
            queue.end_cancelled();
        }
        Step::Stop => {
            (model.cancelled, model.paused, model.stopped) = (true, true, true);
            assert_eq!(seen(&queue.stop(cancel)), shown(&model.remove_those(Entry::starts_turn)));
        }
        Step::Pause => {
            model.paused = true;
            queue.pause();
        }
        Step::Resume => {
            model.paused = false;
            let steps = model.steps;
            model.list.iter_mut().for_each(|entry| (entry.stale, entry.fresh) = (false, steps));
            queue.resume();
        }
        Step::Close => {
            model.closed = true;
            assert_eq!(seen(&queue.close()), shown(&model.remove_those(|_| true)));
        }
    }
}

fn inject(text: &str, delivery: Delivery, kind: TextKind, queue: &Interloper, model: &mut Model) {
    let answer = queue.inject_user_message(UserText { kind, ..UserText::from((text, delivery)) });
    if blank(text) {
        assert_eq!(answer, Err(Refused::Blank));
    } else if model.closed {
        assert_eq!(answer, Err(Refused::Ended));
    } else {
        model.accepted += 1;
        let (number, fresh) = (model.accepted, model.steps);
        let entry = Entry { number, text: text.to_owned(), delivery, kind, edited: false, stale: false, fresh };
        model.paused &= !entry.starts_turn();
        model.list.push(entry);
        model.arrange();
        assert_eq!(answer.map(|pending| pending.id), Ok(id(number)));
    }
}

/// What takes an entry out of the list, or puts it back.
fn arrange(step: &Step, queue: &Interloper, model: &mut Model) {
    match *step {
        Step::Withdraw(_) | Step::WithdrawNewest => {
            let (number, taken) = match *step {
                Step::Withdraw(number) => (Some(number), queue.withdraw(&id(number))),
                _ => (model.newest(), queue.withdraw_newest()),
            };
            let number = number.filter(|number| model.find(*number).is_some());
            let expected = number.map(|number| model.remove(number, "returned"));
            assert_eq!(seen(taken.as_slice()), shown(expected.as_ref()));
            model.returned.extend(taken);
        }
        Step::Restore(which, index) => {
            let Some(entry) = model.returned.get(which).cloned() else { return };
            assert_eq!(queue.restore(entry.clone(), index), !model.closed);
            if !model.closed {
                let number = seen(std::slice::from_ref(&entry))[0].0;
                assert_eq!(model.fates.remove(&number), Some("returned"));
                model.returned.remove(which);
                let (text, delivery, kind, fresh) = (entry.text.clone(), entry.delivery, entry.kind, model.steps);
                let entry = Entry { number, text, delivery, kind, edited: false, stale: false, fresh };
                model.list.insert(index.min(model.list.len()), entry);
                model.arrange();
            }
        }
        Step::Merge(number) => {
            let at = model.list.iter().position(|entry| entry.number == number);
            let pair = at.and_then(|at| Some((model.list.get(at)?.clone(), model.list.get(at + 1)?.clone())));
            let pair = pair.filter(|(first, second)| !first.edited && !second.edited);
            let before = queue.merge(&id(number)).unwrap();
            assert_eq!(
                before.map(|(first, second)| seen(&[first, second])),
                pair.clone().map(|(first, second)| shown(&[first, second]))
            );
            if let Some((first, second)) = pair {
                model.remove(second.number, "joined");
                model.find(number).unwrap().text = format!("{}\n\n{}", first.text, second.text);
            }
        }
        _ => unreachable!(),
    }
}

/// What changes an entry in its place.
fn edit(step: &Step, queue: &Interloper, model: &mut Model) {
    match *step {
        Step::Replace(number, text) => {
            let answer = queue.replace(&id(number), text);
            let found = |model: &mut Model| model.find(number).map(|entry| text.clone_into(&mut entry.text)).is_some();
            assert_eq!(answer, if blank(text) { Err(Refused::Blank) } else { Ok(found(model)) });
        }
        Step::Commit(number, text) => {
            let answer = queue.commit(&id(number), text);
            if blank(text) {
                assert_eq!(answer, Err(Refused::Blank));
                return;
            }
            let found = model.mean(number);
            if let Some(entry) = model.find(number) {
                text.clone_into(&mut entry.text);
                entry.edited = false;
            }
            assert_eq!(answer, Ok(found));
        }
        Step::Confirm(number) => assert_eq!(queue.confirm(&id(number)), model.mean(number)),
        Step::Hold(number) => {
            let found = model.find(number).map(|entry| entry.edited = true).is_some();
            assert_eq!(queue.hold(&id(number)), found);
        }
        Step::Release(number) => {
            let found = model.find(number).map(|entry| entry.edited = false).is_some();
            assert_eq!(queue.release(&id(number)), found);
        }
        _ => unreachable!(),
    }
}

/// What the agent takes.
fn take(step: &Step, queue: &Interloper, cancel: &Cancellable, model: &mut Model) {
    let urgent = model.list.iter().any(|entry| entry.delivery == Delivery::Now && !entry.held());
    assert_eq!(queue.urgent(), urgent);
    assert_eq!(queue.urged().now_or_never().is_some(), urgent);
    let (taken, expected) = match step {
        Step::Drain => (queue.drain(), model.drain()),
        Step::DrainUnless => (queue.drain_unless(cancel), if model.cancelled { Vec::new() } else { model.drain() }),
        Step::TakeNow | Step::CutIn => {
            let expected = if model.cancelled { Vec::new() } else { model.deliver(Delivery::Now) };
            let taken = match step {
                Step::TakeNow => queue.take_now(Some(cancel)),
                // One that waits is dropped, which must lose nothing.
                _ => queue.interruption(Some(cancel)).now_or_never().unwrap_or_default(),
            };
            (taken, expected)
        }
        Step::TakeTurn => {
            let deliverable = queue.deliverable();
            assert_eq!(
                deliverable,
                !model.paused && model.list.iter().any(|entry| !entry.held() && entry.starts_turn())
            );
            let expected = model.take_turn();
            let taken = queue.take_turn(Some(cancel));
            let held_back = deliverable && expected.is_empty();
            assert!(!held_back || !queue.deliverable(), "what cannot start a turn must let the worker rest");
            (taken, expected)
        }
        _ => unreachable!(),
    };
    assert_eq!(seen(&taken), shown(&expected));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_queue_does_what_a_plain_list_would_do(steps in prop::collection::vec(step(), 1..60), closes in any::<bool>()) {
        let (queue, cancel) = (Interloper::new(), Cancellable::new());
        let mut model = Model::default();
        let end = closes.then_some([Step::Close, Step::TakeTurn, Step::Inject("late", Delivery::Now, TextKind::Note), Step::Restore(0, 0)]);
        for step in steps.into_iter().chain(end.into_iter().flatten()) {
            apply(&step, &queue, &cancel, &mut model);
            prop_assert_eq!(seen(&queue.peek()), shown(&model.list));
            prop_assert_eq!(queue.paused(), model.paused);
            prop_assert_eq!(cancel.is_cancelled(), model.cancelled);
        }
        prop_assert_eq!(model.fates.len() + model.list.len(), model.accepted, "a text is in exactly one place");
    }
}
