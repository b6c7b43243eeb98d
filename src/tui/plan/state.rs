//! Which plan is shown and which step is selected, and what the keys do. Esc is not among them: one rule says what that does
//! everywhere.
//!
//! Always holds: the selection follows its step by its id, wherever the agent or another client moves it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::view;
use crate::id::{AgentId, StepId};
use crate::plan::{PlanEdit, PlanStep, StepState};
use crate::protocol::{Request, Shift};
use crate::target::name_of;
use crate::tui::effect::{Outcome, PaneEffect, StepText};
use crate::tui::facts::Facts;
use crate::tui::keymap::{Action, Chord, Context, PlanKey};
use crate::tui::overlay::{Overlay, OverlayDrawn, OverlayPosition};
use crate::tui::state::pointer::Presses;
use crate::tui::state::regions::Regions;

/// The plan of one agent, from its opening to its end.
#[derive(Debug, Default)]
pub struct PlanPane {
    pub(super) agent: AgentId,
    /// The selected step; `None` selects by the row.
    step: Option<StepId>,
    row: usize,
    /// The first line that was shown.
    pub(super) top: usize,
}

impl PlanPane {
    /// Shows the plan of an agent, with this step selected.
    pub fn of(agent: AgentId, step: Option<StepId>) -> Self {
        Self { agent, step, ..Self::default() }
    }

    /// Returns the steps of the plan.
    pub(super) fn steps<'a>(&self, facts: &'a Facts) -> &'a [PlanStep] {
        facts.run.plans.of(&self.agent).map(|shared| shared.plan.steps.as_slice()).unwrap_or_default()
    }

    /// Returns the row of the selected step.
    pub(super) fn selected(&self, steps: &[PlanStep]) -> usize {
        let by_id = self.step.as_ref().and_then(|id| steps.iter().position(|step| step.id == *id));
        by_id.unwrap_or(self.row).min(steps.len().saturating_sub(1))
    }

    fn select(&mut self, row: usize, steps: &[PlanStep]) {
        self.row = row.min(steps.len().saturating_sub(1));
        self.step = steps.get(self.row).map(|step| step.id.clone());
    }

    fn act(&mut self, key: PlanKey, facts: &Facts) -> Outcome {
        let steps = self.steps(facts);
        let step = steps.get(self.selected(steps));
        let write = |what| Outcome::one(PaneEffect::WriteStep(self.agent.clone(), what));
        let edit = |edit| Outcome::request(Request::EditPlan { agent: self.agent.clone(), edit });
        let mark = |step: &PlanStep, state| edit(PlanEdit::Mark { step: step.id.clone(), state });
        match (key, step) {
            (PlanKey::Add, step) => write(StepText::New(step.map(|step| step.id.clone()))),
            (PlanKey::NextAgent, _) => {
                let agents: Vec<&AgentId> = facts.run.plans.agents().collect();
                let place = agents.iter().position(|agent| **agent == self.agent).map_or(0, |place| place + 1);
                match agents.get(place % agents.len().max(1)) {
                    Some(next) if **next != self.agent => *self = Self::of((*next).clone(), None),
                    Some(_) | None => return say("no other agent has a plan"),
                }
                Outcome::DONE
            }
            (_, None) => say("the plan has no steps; a adds one"),
            (PlanKey::Edit, Some(step)) => write(StepText::Words(step.id.clone())),
            (PlanKey::Check, Some(step)) => match step.state {
                StepState::Done => mark(step, StepState::Pending),
                StepState::Pending | StepState::Running | StepState::StruckOut => mark(step, StepState::Done),
            },
            (PlanKey::StrikeOut, Some(step)) => match step.state {
                StepState::StruckOut => mark(step, StepState::Pending),
                StepState::Pending | StepState::Running | StepState::Done => mark(step, StepState::StruckOut),
            },
            (PlanKey::MoveUp, Some(step)) => edit(PlanEdit::Move { step: step.id.clone(), shift: Shift::Earlier }),
            (PlanKey::MoveDown, Some(step)) => edit(PlanEdit::Move { step: step.id.clone(), shift: Shift::Later }),
        }
    }

    /// Returns whose plan it is.
    pub(super) fn owner(&self) -> String {
        name_of(&self.agent)
    }
}

fn say(sentence: &str) -> Outcome {
    Outcome::one(PaneEffect::Say(sentence.to_owned()))
}

impl Overlay for PlanPane {
    fn context(&self) -> Context {
        Context::Plan
    }

    fn closing_words(&self) -> &'static str {
        "Esc closes the plan"
    }

    fn escape_words(&self) -> &'static [&'static str] {
        &["Esc: closes the plan", "Esc: closes"]
    }

    fn key(&mut self, key: Chord, facts: &Facts) -> Outcome {
        let steps = self.steps(facts);
        let page = usize::from(facts.size.height / 2).max(1);
        match facts.keymap.lookup(Context::Plan, key) {
            Some(Action::Travel(travel)) => self.select(travel.from(self.selected(steps), page), steps),
            Some(Action::InPlan(key)) => {
                // What is asked for is about the step that is selected now, also when another one comes to its row.
                self.select(self.selected(steps), steps);
                return self.act(key, facts);
            }
            Some(_) | None => return Outcome::Ignored,
        }
        Outcome::DONE
    }

    fn press(&mut self, row: usize, _: Presses, facts: &Facts) {
        self.select(row, self.steps(facts));
    }

    fn wheel(&mut self, lines: isize) {
        self.row = self.row.saturating_add_signed(lines.signum());
        self.step = None;
    }

    fn draw(&self, facts: &Facts, screen: Rect, regions: &mut Regions, buffer: &mut Buffer) -> OverlayDrawn {
        OverlayDrawn { cursor: None, position: view::draw(self, facts, screen, regions, buffer) }
    }

    fn drawn(&mut self, position: OverlayPosition) {
        if let OverlayPosition::List { selected, top } = position {
            (self.row, self.top) = (selected, top);
        }
    }
}
