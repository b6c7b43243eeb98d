//! The entries that wait for a condition: when it is met they are texts like any other.
//!
//! Always holds: a text that is sent once keeps its id; one that is sent each time stays, and each sending is an entry of
//! its own, never two at a time. What the user has not confirmed yet after a resume hears of nothing.

use jiff::Timestamp;

use super::{Entry, Queue, TakenTexts};
use steersman_base::event::{Delivery, Pending, UserText};
use steersman_base::id::MessageId;
use steersman_base::limits;
use steersman_base::message::Arguments;
use steersman_base::steering::{CallMoment, Condition, Happening, Recurrence, Trigger};

/// Makes the id of a new text.
pub(crate) type NewId<'a> = &'a mut dyn FnMut() -> MessageId;

/// How far the condition of an entry has come.
#[derive(Debug)]
pub(super) struct Progress {
    /// The agent's tool calls up to when it began to wait.
    steps: u64,
    /// The amount at which it is met the next time; `None` before the first amount is known.
    next: Option<u64>,
    /// Whether it was not met since the last time, of a condition that stays met for a while.
    is_armed: bool,
}

impl From<u64> for Progress {
    fn from(steps: u64) -> Self {
        Self { steps, next: None, is_armed: true }
    }
}

impl Progress {
    /// Returns whether a happening meets a condition, this time where that is asked each time.
    fn is_met(&mut self, trigger: &Trigger, happening: &Happening<'_>) -> bool {
        let is_met = trigger.condition.is_met_by(happening);
        if trigger.recurrence == Recurrence::Once {
            return is_met;
        }
        match (&*trigger.condition, *happening) {
            (Condition::ContextAbove(_), Happening::Context { .. }) => {
                let was_armed = std::mem::replace(&mut self.is_armed, !is_met);
                is_met && was_armed
            }
            // The call that the model decides on with the text at hand runs.
            (Condition::Call { moment: CallMoment::Before, .. }, _) => {
                self.is_armed ^= is_met;
                is_met && !self.is_armed
            }
            (Condition::CostAbove(limit), Happening::Spent { nanos, .. }) => self.reaches(nanos, limit.nanos()),
            (Condition::TokensAbove(limit), Happening::Spent { tokens, .. }) => self.reaches(tokens, *limit),
            (
                Condition::Agent { .. }
                | Condition::Call { .. }
                | Condition::ContextAbove(_)
                | Condition::CostAbove(_)
                | Condition::TokensAbove(_)
                | Condition::Steps(_)
                | Condition::Minutes(_)
                | Condition::Changed(_),
                _,
            ) => is_met,
        }
    }

    /// Returns whether an amount is above the next multiple of a step.
    fn reaches(&mut self, amount: u64, step: u64) -> bool {
        let above = |amount: u64| (amount / step.max(1)).saturating_add(1).saturating_mul(step);
        let is_reached = self.next.is_some_and(|next| amount > next);
        if is_reached || self.next.is_none() {
            self.next = Some(above(amount));
        }
        is_reached
    }
}

impl Queue {
    /// Lets the texts go whose condition this meets; tells whether there was one.
    pub(crate) fn happened(&mut self, happening: &Happening<'_>, now: Timestamp, new_id: NewId<'_>) -> bool {
        !self.release(now, new_id, |entry, trigger| entry.progress.is_met(trigger, happening)).is_empty()
    }

    /// Lets the texts go whose steps or minutes are over; tells whether there was one.
    pub(crate) fn elapsed(&mut self, now: Timestamp, new_id: NewId<'_>) -> bool {
        let steps = self.steps;
        let is_over = |entry: &mut Entry, trigger: &Trigger| match *trigger.condition {
            Condition::Steps(count) => steps.saturating_sub(entry.progress.steps) >= u64::from(count),
            Condition::Minutes(_) => entry.pending.due().is_some_and(|due| due <= now),
            Condition::Agent { .. }
            | Condition::Call { .. }
            | Condition::ContextAbove(_)
            | Condition::CostAbove(_)
            | Condition::TokensAbove(_)
            | Condition::Changed(_) => false,
        };
        !self.release(now, new_id, is_over).is_empty()
    }

    /// Returns the next moment at which [`Queue::elapsed`] would let a text go.
    pub(crate) fn due(&self) -> Option<Timestamp> {
        self.entries().filter(|entry| !entry.stale).filter_map(Pending::due).min()
    }

    /// Returns whether a text waits for this call to be about to run.
    pub(crate) fn waits_before(&self, tool: &str, arguments: &Arguments) -> bool {
        let happening = Happening::Call { tool, arguments, moment: CallMoment::Before };
        let waits = |entry: &Pending| {
            !entry.stale && entry.trigger.as_ref().is_some_and(|trigger| trigger.condition.is_met_by(&happening))
        };
        self.entries().any(waits)
    }

    /// Takes what is to be delivered before this call runs: the texts that waited for it, and what is to go now.
    pub(crate) fn take_before(
        &mut self,
        tool: &str,
        arguments: &Arguments,
        now: Timestamp,
        new_id: NewId<'_>,
    ) -> TakenTexts {
        let happening = Happening::Call { tool, arguments, moment: CallMoment::Before };
        let released = self.release(now, new_id, |entry, trigger| entry.progress.is_met(trigger, &happening));
        let mut taken = self.take_now(now);
        let goes = |entry: &mut Entry| {
            let pending = &entry.pending;
            !pending.held && pending.delivery != Delivery::FollowUp && released.contains(&pending.id)
        };
        taken.entries.extend(self.entries.extract_if(.., goes).map(|entry| entry.pending));
        taken.held_back |= !released.is_empty();
        taken
    }

    /// Changes what an entry waits for; false when it is no longer pending.
    pub(crate) fn set_trigger(&mut self, id: &MessageId, trigger: Option<Trigger>, now: Timestamp) -> bool {
        let steps = self.steps;
        self.entry(id, |entry| {
            entry.pending.waits_since = trigger.as_ref().map(|_| now);
            entry.pending.trigger = trigger;
            entry.progress = Progress::from(steps);
            entry.fresh = (now, steps);
        })
    }

    /// Lets the texts go for which this holds; returns the ids of what can be delivered from now on.
    fn release(
        &mut self,
        now: Timestamp,
        new_id: NewId<'_>,
        mut is_met: impl FnMut(&mut Entry, &Trigger) -> bool,
    ) -> Vec<MessageId> {
        let (steps, during) = (self.steps, self.during());
        let mut released = Vec::new();
        let mut place = 0;
        while place < self.entries.len() {
            let room = self.entries.len() < limits::PENDING_ENTRIES;
            let waiting: Vec<&MessageId> = self.entries.iter().filter_map(|entry| entry.source.as_ref()).collect();
            let is_out = |id: &MessageId| waiting.contains(&id);
            let is_last_out = self.entries.get(place).is_some_and(|entry| is_out(&entry.pending.id));
            let Some(entry) = self.entries.get_mut(place) else { break };
            place += 1;
            let Some(trigger) = entry.pending.trigger.clone().filter(|_| !entry.pending.stale) else { continue };
            if !is_met(entry, &trigger) {
                continue;
            }
            match trigger.recurrence {
                Recurrence::Once => {
                    entry.pending.trigger = None;
                    entry.pending.waits_since = None;
                    entry.pending.met = Some(trigger);
                    entry.fresh = (now, steps);
                    released.push(entry.pending.id.clone());
                }
                Recurrence::Every => {
                    entry.pending.waits_since = Some(now);
                    entry.progress.steps = steps;
                    // As long as its last text waits, one is enough.
                    if is_last_out || !room {
                        continue;
                    }
                    let source = entry.pending.id.clone();
                    let id = new_id();
                    released.push(id.clone());
                    let message = UserText { trigger: None, ..entry.pending.message.clone() };
                    let pending =
                        Pending { during: during.clone(), met: Some(trigger), ..Pending::new(id, message, now) };
                    let mut sent = Entry::new(pending, now, steps);
                    sent.source = Some(source);
                    self.entries.insert(place - 1, sent);
                    place += 1;
                }
            }
        }
        released
    }
}
