//! What differs between two plans: as data that can be applied to a third one, and in words.
//!
//! Pure. With it the user's changes stay when a model rewrites its plan at the same time: what differs between the plan that
//! the model knew and the plan as it was is applied to what the model wrote.

use std::collections::HashSet;

use super::{Plan, PlanStep, StepState};
use crate::id::StepId;
use crate::limits;

/// One difference between a plan and an earlier one. Each has the step as it is in the later plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanChange {
    /// It is new.
    Added {
        /// The step.
        step: PlanStep,
        /// The step that it stands behind; `None` is the front.
        after: Option<StepId>,
    },
    /// It is gone.
    Removed {
        /// The step as it was.
        step: PlanStep,
    },
    /// It has other words.
    Reworded {
        /// The step.
        step: PlanStep,
    },
    /// It is in another state.
    Marked {
        /// The step.
        step: PlanStep,
        /// The state before.
        was: StepState,
    },
    /// It stands at another place.
    Moved {
        /// The step.
        step: PlanStep,
        /// The step that it stands behind; `None` is the front.
        after: Option<StepId>,
    },
}

/// Returns what differs in `now` from `before`, in the order of the steps.
pub fn changes_between(before: &Plan, now: &Plan) -> Vec<PlanChange> {
    let mut changes: Vec<PlanChange> = Vec::new();
    let gone = before.steps.iter().filter(|step| now.get(&step.id).is_none());
    changes.extend(gone.map(|step| PlanChange::Removed { step: step.clone() }));
    let moved = moved(before, now);
    let mut after: Option<StepId> = None;
    for step in &now.steps {
        let behind = after.replace(step.id.clone());
        let Some(old) = before.get(&step.id) else {
            changes.push(PlanChange::Added { step: step.clone(), after: behind });
            continue;
        };
        if old.text != step.text {
            changes.push(PlanChange::Reworded { step: step.clone() });
        }
        if old.state != step.state {
            changes.push(PlanChange::Marked { step: step.clone(), was: old.state });
        }
        if moved.contains(&step.id) {
            changes.push(PlanChange::Moved { step: step.clone(), after: behind });
        }
    }
    changes
}

/// Returns the fewest steps of both plans whose moves explain the other order.
fn moved(before: &Plan, now: &Plan) -> HashSet<StepId> {
    let old: Vec<&StepId> = before.steps.iter().map(|step| &step.id).filter(|id| now.get(id).is_some()).collect();
    let new: Vec<&StepId> = now.steps.iter().map(|step| &step.id).filter(|id| before.get(id).is_some()).collect();
    let place = |id: &StepId| old.iter().position(|other| *other == id).unwrap_or_default();
    let places: Vec<usize> = new.iter().map(|id| place(id)).collect();
    // The longest part that stands in the same order stays; for each place, how long and behind which one.
    let mut best: Vec<(usize, Option<usize>)> = Vec::with_capacity(places.len());
    for (index, here) in places.iter().enumerate() {
        let earlier = places.iter().zip(&best).enumerate().take(index);
        let (length, behind) = earlier
            .filter(|(_, (other, _))| *other < here)
            .map(|(other, (_, (length, _)))| (*length, Some(other)))
            .fold((0, None), |longest, candidate| if candidate.0 > longest.0 { candidate } else { longest });
        best.push((length + 1, behind));
    }
    let mut stays = HashSet::new();
    let longest = best.iter().map(|(length, _)| *length).max().unwrap_or(0);
    let mut next = best.iter().position(|(length, _)| *length == longest);
    while let Some(index) = next {
        stays.insert(index);
        next = best.get(index).and_then(|(_, behind)| *behind);
    }
    new.into_iter().enumerate().filter(|(index, _)| !stays.contains(index)).map(|(_, id)| id.clone()).collect()
}

/// Applies changes to another plan. A changed step that is missing there comes back, unless it was only moved, or was struck
/// out.
#[must_use]
pub fn reapply(changes: &[PlanChange], onto: Plan) -> Plan {
    let mut plan = onto;
    for change in changes {
        match change {
            PlanChange::Added { step, .. } if plan.get(&step.id).is_some() => {}
            PlanChange::Added { step, after } => insert(&mut plan, step.clone(), after.as_ref()),
            PlanChange::Removed { step } => plan.steps.retain(|other| other.id != step.id),
            PlanChange::Reworded { step } => match find(&mut plan, &step.id) {
                Some(found) => found.text.clone_from(&step.text),
                None => plan.steps.push(step.clone()),
            },
            PlanChange::Marked { step, .. } => match find(&mut plan, &step.id) {
                Some(found) => found.state = step.state,
                None if step.state == StepState::StruckOut => {}
                None => plan.steps.push(step.clone()),
            },
            PlanChange::Moved { step, after } => {
                if let Some(place) = plan.steps.iter().position(|other| other.id == step.id) {
                    let step = plan.steps.remove(place);
                    insert(&mut plan, step, after.as_ref());
                }
            }
        }
    }
    plan.steps.truncate(limits::PLAN_STEPS * 2);
    plan
}

fn find<'a>(plan: &'a mut Plan, id: &StepId) -> Option<&'a mut PlanStep> {
    plan.steps.iter_mut().find(|step| step.id == *id)
}

/// Puts a step behind another one; at the end where that one is missing.
fn insert(plan: &mut Plan, step: PlanStep, after: Option<&StepId>) {
    let place = match after {
        None => 0,
        Some(after) => {
            plan.steps.iter().position(|other| other.id == *after).map_or(plan.steps.len(), |place| place + 1)
        }
    };
    plan.steps.insert(place, step);
}

/// Says what changed in a few words: `2 steps added, 1 struck out`; empty without changes.
pub fn summary(changes: &[PlanChange]) -> String {
    const WORDS: [&str; 8] =
        ["added", "removed", "reworded", "struck out", "done", "running", "to be done again", "moved"];
    let mut counts = [0_usize; WORDS.len()];
    for change in changes {
        let place = match change {
            // A model may add a step that it has begun, or that is done.
            PlanChange::Added { .. } => 0,
            PlanChange::Removed { .. } => 1,
            PlanChange::Reworded { .. } => 2,
            PlanChange::Marked { step, .. } => match step.state {
                StepState::StruckOut => 3,
                StepState::Done => 4,
                StepState::Running => 5,
                StepState::Pending => 6,
            },
            PlanChange::Moved { .. } => 7,
        };
        if let Some(count) = counts.get_mut(place) {
            *count += 1;
        }
    }
    let mut parts = Vec::new();
    for (count, words) in counts.into_iter().zip(WORDS).filter(|(count, _)| *count > 0) {
        let steps = match (parts.is_empty(), count) {
            (false, _) => "",
            (true, 1) => "step ",
            (true, _) => "steps ",
        };
        parts.push(format!("{count} {steps}{words}"));
    }
    parts.join(", ")
}

impl PlanChange {
    /// Says what the user changed, in one line for a model.
    pub fn line(&self) -> String {
        let behind = |after: &Option<StepId>| match after {
            Some(after) => format!("behind {after}"),
            None => "at the front".to_owned(),
        };
        match self {
            Self::Added { step, after } => format!("{} is new, {}: {}", step.id, behind(after), step.text),
            Self::Removed { step } => format!("{} is gone: {}", step.id, step.text),
            Self::Reworded { step } => format!("{} reads now: {}", step.id, step.text),
            Self::Marked { step, was } => match (step.state, was) {
                (StepState::StruckOut, _) => format!("{} is struck out, do not do it: {}", step.id, step.text),
                (StepState::Done, _) => format!("{} is done: {}", step.id, step.text),
                (StepState::Running, _) => format!("{} is running: {}", step.id, step.text),
                (StepState::Pending, StepState::StruckOut) => {
                    format!("{} is to be done after all: {}", step.id, step.text)
                }
                (StepState::Pending, StepState::Pending | StepState::Running | StepState::Done) => {
                    format!("{} is to be done again: {}", step.id, step.text)
                }
            },
            Self::Moved { step, after } => format!("{} stands {} now", step.id, behind(after)),
        }
    }
}
