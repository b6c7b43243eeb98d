//! The plan of an agent: its steps, and what its model and the user do to them.
//!
//! Pure data, shared by the tool, the host, the journal and every client. Always holds: an id names one step for as long as
//! the plan lives; the text of a step is one line and never blank; a step that was struck out stays so until the user takes
//! that back.
//!
//! # Where things are
//!
//! - steps, edits of the user, the list that a model writes: `mod.rs`; tests: `tests/core/plan_steps.rs`
//! - what differs between two plans, in data and in words: `changes.rs`; tests: `tests/core/plan_steps.rs`
//! - the plans of a whole tree, and what each model knows of its own: `src/core/control/plans.rs`
//! - the tool: `src/tools/plan.rs`; what a model is told: `src/agent/plan.rs`; tests: `tests/agent/plan/told.rs`, `tests/session/plan_mode.rs`
//! - what a client knows: `src/session/model/plans.rs`; the pane: `src/tui/plan/mod.rs`; tests: `tests/tui/plan.rs`

mod changes;

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::id::{ClientId, StepId};
use crate::limits;
use crate::protocol::Shift;
use crate::text::is_blank;

pub use changes::{PlanChange, changes_between, reapply, summary};

/// The steps of an agent's work, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// The steps.
    pub steps: Vec<PlanStep>,
    /// The number of steps that were ever made, so that no id is given twice.
    #[serde(default)]
    pub made: u32,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanStep {
    /// Its id.
    pub id: StepId,
    /// What is to be done, one line (untrusted).
    pub text: String,
    /// How far it is.
    pub state: StepState,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// It is still to be done.
    #[default]
    Pending,
    /// It is being done.
    Running,
    /// It is done.
    Done,
    /// It is not to be done.
    StruckOut,
}

/// One change of a plan by the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PlanEdit {
    /// Add a step.
    Add {
        /// What is to be done.
        text: String,
        /// The step that it comes behind; without one it comes to the end.
        #[serde(default)]
        after: Option<StepId>,
    },
    /// Give a step other words.
    Reword {
        /// The step.
        step: StepId,
        /// What is to be done.
        text: String,
    },
    /// Say how far a step is.
    Mark {
        /// The step.
        step: StepId,
        /// How far it is.
        state: StepState,
    },
    /// Let a step change places with its neighbour.
    Move {
        /// The step.
        step: StepId,
        /// Which neighbour.
        shift: Shift,
    },
}

/// A step as a model writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenStep {
    /// The step that it means; `None` for one that is known by its text, or new.
    pub id: Option<StepId>,
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub state: StepState,
}

/// Who changed a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PlanAuthor {
    /// The agent whose plan it is.
    Agent,
    /// The user.
    User,
}

/// A change of an agent's plan: the whole plan as it is behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanChanged {
    /// Rises with each change; of two, the later one holds.
    pub version: u64,
    /// Who changed it.
    pub by: PlanAuthor,
    /// The client of the user; absent for the one that the run was started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<ClientId>,
    /// What changed, in a few words: `2 steps added, 1 struck out`.
    pub summary: String,
    /// The plan.
    pub plan: Plan,
    /// The plan as the agent's model knows it; absent where it knows all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<Plan>,
}

/// What an agent told its model of its plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanNotified {
    /// What it is about.
    pub news: PlanNews,
    /// The version of the plan that the model knows from here on.
    pub version: u64,
    /// What it is told, in a few words.
    pub summary: String,
}

/// What a model is told beside its own calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PlanNews {
    /// What the user changed of the plan.
    Changed,
    /// The user wants to accept a plan before anything is changed.
    ModeOn,
    /// The mode is another one again.
    ModeOff,
}

/// The reason why a plan was not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum PlanRefused {
    /// Nothing but blanks.
    #[error("a step needs a text")]
    Blank,
    /// One step is too long.
    #[error("a step has at most {} characters", limits::PLAN_STEP_CHARS)]
    TooLong,
    /// There are too many.
    #[error("a plan has at most {} steps", limits::PLAN_STEPS)]
    TooMany,
    /// It is not in the plan (any more).
    #[error("the plan no longer has this step")]
    NoStep,
    /// The step stands at that end already.
    #[error("the step cannot be moved further")]
    AtEnd,
    /// The agent does not run (any more).
    #[error("the agent has ended")]
    Ended,
    /// The agent is not built (yet), or runs elsewhere.
    #[error("the agent is not ready yet")]
    NotReady,
}

impl PlanChanged {
    /// Says it in one line (untrusted where it names a client).
    pub fn sentence(&self) -> String {
        let (done, all) = self.plan.progress();
        match (self.by, &self.sender) {
            (PlanAuthor::Agent, _) => format!("plan: {}; {done} of {all} done", self.summary),
            (PlanAuthor::User, None) => format!("you changed the plan: {}", self.summary),
            (PlanAuthor::User, Some(sender)) => format!("you ({sender}) changed the plan: {}", self.summary),
        }
    }
}

impl PlanNotified {
    /// Says it in one line.
    pub fn sentence(&self) -> String {
        match self.news {
            PlanNews::Changed => format!("the agent is told of the plan: {}", self.summary),
            PlanNews::ModeOn | PlanNews::ModeOff => format!("the agent is told: {}", self.summary),
        }
    }
}

impl StepState {
    /// Returns its name on the wire and for a model.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Done => "done",
            Self::StruckOut => "struck_out",
        }
    }

    /// Returns the state of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Returns its mark, which depends on no colour.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Pending => "[ ]",
            Self::Running => "[>]",
            Self::Done => "[x]",
            Self::StruckOut => "[-]",
        }
    }

    /// Every state.
    pub const ALL: [Self; 4] = [Self::Pending, Self::Running, Self::Done, Self::StruckOut];
}

impl Plan {
    /// Tells whether there are no steps.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns the step of this id.
    pub fn get(&self, id: &StepId) -> Option<&PlanStep> {
        self.steps.iter().find(|step| step.id == *id)
    }

    /// Returns the number of steps in a state.
    pub fn count(&self, state: StepState) -> usize {
        self.steps.iter().filter(|step| step.state == state).count()
    }

    /// Returns the steps that were done, and all that count: those struck out do not.
    pub fn progress(&self) -> (usize, usize) {
        (self.count(StepState::Done), self.steps.len() - self.count(StepState::StruckOut))
    }

    /// Says how far it is: `2 of 5 done, 1 struck out`.
    pub fn progress_text(&self) -> String {
        let (done, all) = self.progress();
        let struck_out = match self.count(StepState::StruckOut) {
            0 => String::new(),
            count => format!(", {count} struck out"),
        };
        format!("{done} of {all} done{struck_out}")
    }

    /// Carries out a change of the user.
    ///
    /// # Errors
    /// [`PlanRefused`]; the plan is as it was.
    pub fn edit(&mut self, edit: &PlanEdit) -> Result<(), PlanRefused> {
        match edit {
            PlanEdit::Add { text, after } => {
                let text = checked(text)?;
                if self.steps.len() >= limits::PLAN_STEPS {
                    return Err(PlanRefused::TooMany);
                }
                let place = match after {
                    Some(after) => self.place(after)? + 1,
                    None => self.steps.len(),
                };
                let id = self.next_id();
                self.steps.insert(place, PlanStep { id, text, state: StepState::Pending });
            }
            PlanEdit::Reword { step, text } => self.step_mut(step)?.text = checked(text)?,
            PlanEdit::Mark { step, state } => self.step_mut(step)?.state = *state,
            PlanEdit::Move { step, shift } => {
                let place = self.place(step)?;
                let other = match shift {
                    Shift::Earlier => place.checked_sub(1),
                    Shift::Later => Some(place + 1).filter(|other| *other < self.steps.len()),
                };
                self.steps.swap(place, other.ok_or(PlanRefused::AtEnd)?);
            }
        }
        Ok(())
    }

    /// Returns the plan that a model writes in place of this one: steps that it names, or whose text it repeats, keep their
    /// ids; what was struck out stays so.
    ///
    /// # Errors
    /// [`PlanRefused`].
    pub fn rewritten(&self, written: Vec<WrittenStep>) -> Result<Self, PlanRefused> {
        if written.len() > limits::PLAN_STEPS {
            return Err(PlanRefused::TooMany);
        }
        let mut left: Vec<&PlanStep> = self.steps.iter().collect();
        let mut take = |is_it: &dyn Fn(&PlanStep) -> bool| {
            let place = left.iter().position(|step| is_it(step))?;
            Some(left.remove(place))
        };
        let mut known: Vec<Option<&PlanStep>> =
            written.iter().map(|step| take(&|old| step.id.as_ref() == Some(&old.id))).collect();
        let mut texts = Vec::with_capacity(written.len());
        for (step, known) in written.iter().zip(&mut known) {
            let text = checked(&step.text)?;
            if known.is_none() {
                *known = take(&|old| old.text == text);
            }
            texts.push(text);
        }
        let mut plan = Self { steps: Vec::with_capacity(written.len()), made: self.made };
        for ((step, known), text) in written.into_iter().zip(known).zip(texts) {
            let id = known.map_or_else(|| plan.next_id(), |old| old.id.clone());
            let is_struck_out = known.is_some_and(|old| old.state == StepState::StruckOut);
            let state = if is_struck_out { StepState::StruckOut } else { step.state };
            plan.steps.push(PlanStep { id, text, state });
        }
        Ok(plan)
    }

    /// Writes the steps as a list, one a line, each with its id and its mark.
    pub fn checklist(&self) -> String {
        let mut list = String::new();
        for step in &self.steps {
            // Writing to a string cannot fail.
            let _ = writeln!(list, "{} {} {}", step.state.mark(), step.id, step.text);
        }
        list.truncate(list.trim_end().len());
        list
    }

    fn next_id(&mut self) -> StepId {
        self.made = self.made.saturating_add(1);
        StepId::new(format!("s{}", self.made))
    }

    fn place(&self, id: &StepId) -> Result<usize, PlanRefused> {
        self.steps.iter().position(|step| step.id == *id).ok_or(PlanRefused::NoStep)
    }

    fn step_mut(&mut self, id: &StepId) -> Result<&mut PlanStep, PlanRefused> {
        self.steps.iter_mut().find(|step| step.id == *id).ok_or(PlanRefused::NoStep)
    }
}

/// Returns the text of a step as one line.
fn checked(text: &str) -> Result<String, PlanRefused> {
    if is_blank(text) {
        return Err(PlanRefused::Blank);
    }
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() > limits::PLAN_STEP_CHARS {
        return Err(PlanRefused::TooLong);
    }
    Ok(line)
}
