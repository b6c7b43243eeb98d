//! The plan of an agent, over everything else on the screen: its steps, what the user does to them, and what waits to be sent
//! to the model.
//!
//! The pane changes nothing by itself: each key is a request to the run, and what the run says is shown. The selection
//! follows its step by its id, wherever the agent or another client moves it.
//!
//! # Where things are
//!
//! - the pane: `mod.rs`; the argument of `/plan`: `command.rs`; the text of a step in the message: `update.rs`;
//!   tests: `plan.rs`, `tests/pty/plan.rs`
//! - the plans of the run: `src/session/model/plans.rs`; what the agent is told: `src/agent/plan.rs`; tests: `tests/agent/plan/told.rs`

mod command;
mod update;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::overlay::list::draw_empty;
use super::overlay::registry::{PaneEntry, PaneKey, list_keys, page_keys};
use super::overlay::{ListPosition, Overlay, OverlayDrawn};
use crate::commands::{CommandEntry, Takes};
use crate::effect::Outcome;
use crate::keymap::table::{also, key, row};
use crate::keymap::{Action, Context};
use crate::state::{Region, Regions};
use crate::ui_context::UiContext;
use crate::widgets::fit::{self, put, select};
use crate::widgets::steps::step_lines;
use crate::widgets::wrap::Line;
use steersman_base::id::{AgentId, StepId};
use steersman_base::plan::{PlanEdit, PlanStep, StepState, summary};
use steersman_base::protocol::{Request, Shift};
use steersman_base::target::name_of;
use steersman_base::text::visible_line;

pub use command::{PlanCommand, parse};
pub use update::{answered, commit, leave};

/// How it registers itself.
pub const PANE: PaneEntry = PaneEntry {
    id: "plan",
    title: "Plan of an agent",
    travel: &[&list_keys("select a step", "first or last step"), &page_keys("scroll")],
    keys: &[
        key("a", Action::InPane(ADD), "add a step behind the selected one"),
        key("Enter  e", Action::InPane(EDIT), "change its words, in the message"),
        key("Space", Action::InPane(CHECK), "check it as done, or take that back"),
        key("x", Action::InPane(STRIKE_OUT), "strike it out, or take that back"),
        row("K  Alt+Up  Shift+Up", Action::InPane(MOVE_UP), "K/J  Alt+Up/Down", "move it up or down"),
        also("J  Alt+Down  Shift+Down", Action::InPane(MOVE_DOWN)),
        key("Tab", Action::InPane(NEXT_AGENT), "the plan of the next agent that has one"),
        key("?", Action::Help, "help"),
    ],
    opened_by: "Ctrl+T  Alt+X",
    brief: "plan",
    command: CommandEntry::new(
        "/plan [add TEXT]",
        Takes::Any,
        "Ctrl+T",
        "the plan of the shown agent: read it, change it",
        update::command,
    ),
};

/// Adds a step behind the selected one.
const ADD: PaneKey = PaneKey("add-step");
/// Changes the words of the selected step.
const EDIT: PaneKey = PaneKey("edit-step");
/// Checks the selected step as done, or takes that back.
const CHECK: PaneKey = PaneKey("check-step");
/// Strikes the selected step out, or takes that back.
const STRIKE_OUT: PaneKey = PaneKey("strike-out-step");
/// Lets it change places with the step before it.
const MOVE_UP: PaneKey = PaneKey("move-step-up");
/// Lets it change places with the step behind it.
const MOVE_DOWN: PaneKey = PaneKey("move-step-down");
/// Shows the plan of the next agent that has one.
const NEXT_AGENT: PaneKey = PaneKey("next-plan");

/// What is written about a step of a plan in the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepText {
    /// A new step, behind this one; at the end without one.
    New(Option<StepId>),
    Words(StepId),
}

impl StepText {
    /// Returns the change of the plan that these words are.
    pub fn edit(self, text: String) -> PlanEdit {
        match self {
            Self::New(after) => PlanEdit::Add { text, after },
            Self::Words(step) => PlanEdit::Reword { step, text },
        }
    }
}

/// The plan of one agent, from its opening to its end.
#[derive(Debug, Default)]
pub struct PlanPane {
    agent: AgentId,
    /// The selected step; `None` selects by the row.
    step: Option<StepId>,
    position: ListPosition,
}

impl PlanPane {
    /// Shows the plan of an agent, with this step selected.
    pub fn new(agent: AgentId, step: Option<StepId>) -> Self {
        Self { agent, step, ..Self::default() }
    }

    fn steps<'a>(&self, ui: &'a UiContext) -> &'a [PlanStep] {
        ui.run.plans.get(&self.agent).map(|shared| shared.plan.steps.as_slice()).unwrap_or_default()
    }
}

impl Overlay for PlanPane {
    fn context(&self) -> Context {
        PANE.context()
    }

    fn closing_hint(&self) -> &'static str {
        "Esc closes the plan"
    }

    fn escape_hints(&self) -> &'static [&'static str] {
        &["Esc: closes the plan", "Esc: closes"]
    }

    fn titles(&self, ui: &UiContext) -> Vec<String> {
        let owner = name_of(&self.agent);
        let owner = visible_line(&owner);
        let shared = ui.run.plans.get(&self.agent);
        let progress = shared.map(|shared| format!(": {}", shared.plan.progress_text())).unwrap_or_default();
        vec![format!(" Plan of {owner}{progress} "), format!(" Plan of {owner} "), " Plan ".to_owned()]
    }

    fn hints(&self, _: &UiContext) -> &'static [&'static str] {
        &[
            " a add · Enter edits · Space checks · x strikes out · J/K move · Tab agent · Esc closes ",
            " a add · Enter edits · Space checks · x strikes · Esc closes ",
            " a add · Enter edits · Esc closes ",
            " Esc closes ",
        ]
    }

    fn count(&self, ui: &UiContext) -> usize {
        self.steps(ui).len()
    }

    fn position(&mut self) -> &mut ListPosition {
        &mut self.position
    }

    fn selected(&self, ui: &UiContext) -> usize {
        let steps = self.steps(ui);
        let by_id = self.step.as_ref().and_then(|id| steps.iter().position(|step| step.id == *id));
        by_id.unwrap_or(self.position.selected).min(steps.len().saturating_sub(1))
    }

    fn select(&mut self, row: usize, ui: &UiContext) {
        let steps = self.steps(ui);
        self.position.selected = row.min(steps.len().saturating_sub(1));
        self.step = steps.get(self.position.selected).map(|step| step.id.clone());
    }

    fn act(&mut self, action: Action, ui: &UiContext) -> Outcome {
        let Action::InPane(key) = action else { return Outcome::Ignored };
        // What is asked for is about the step that is selected now, also when another one comes to its row.
        self.select(self.selected(ui), ui);
        let steps = self.steps(ui);
        let step = steps.get(self.selected(ui));
        let write = |what| Outcome::one(update::write_step(self.agent.clone(), what));
        let edit = |edit| Outcome::request(Request::EditPlan { agent: self.agent.clone(), edit });
        let mark = |step: &PlanStep, state| edit(PlanEdit::Mark { step: step.id.clone(), state });
        match (key, step) {
            (ADD, step) => write(StepText::New(step.map(|step| step.id.clone()))),
            (NEXT_AGENT, _) => {
                let agents: Vec<&AgentId> = ui.run.plans.agents().collect();
                let place = agents.iter().position(|agent| **agent == self.agent).map_or(0, |place| place + 1);
                match agents.get(place % agents.len().max(1)) {
                    Some(next) if **next != self.agent => *self = Self::new((*next).clone(), None),
                    Some(_) | None => return Outcome::say("no other agent has a plan"),
                }
                Outcome::DONE
            }
            (_, None) => Outcome::say("the plan has no steps; a adds one"),
            (EDIT, Some(step)) => write(StepText::Words(step.id.clone())),
            (CHECK, Some(step)) => match step.state {
                StepState::Done => mark(step, StepState::Pending),
                StepState::Pending | StepState::Running | StepState::StruckOut => mark(step, StepState::Done),
            },
            (STRIKE_OUT, Some(step)) => match step.state {
                StepState::StruckOut => mark(step, StepState::Pending),
                StepState::Pending | StepState::Running | StepState::Done => mark(step, StepState::StruckOut),
            },
            (MOVE_UP, Some(step)) => edit(PlanEdit::Move { step: step.id.clone(), shift: Shift::Earlier }),
            (MOVE_DOWN, Some(step)) => edit(PlanEdit::Move { step: step.id.clone(), shift: Shift::Later }),
            (_, Some(_)) => Outcome::Ignored,
        }
    }

    fn wheel(&mut self, lines: isize, ui: &UiContext) {
        self.select(self.selected(ui).saturating_add_signed(lines.signum()), ui);
    }

    fn draw_inside(&self, ui: &UiContext, mut inner: Rect, regions: &mut Regions, buffer: &mut Buffer) -> OverlayDrawn {
        let theme = &ui.theme;
        let Some(shared) = ui.run.plans.get(&self.agent) else {
            let words = ["No steps yet.", "The agent writes them down, and so may you: a adds one."];
            return draw_empty(&words, inner, theme, buffer);
        };
        let waiting = summary(&shared.unsent());
        if !waiting.is_empty() && inner.height > 2 {
            let last = fit::row(inner, inner.height - 1);
            put(buffer, last, &format!("⋯ not sent yet: {waiting}"), theme.pending);
            inner.height -= 1;
        }
        let steps = &shared.plan.steps;
        let selected = self.selected(ui);
        let mut lines: Vec<(usize, Line)> = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            let mut rows = Vec::new();
            let lead = if index == selected { "› " } else { "  " };
            step_lines(step, lead, inner.width, theme, &mut rows);
            lines.extend(rows.into_iter().map(|line| (index, line)));
        }
        let height = usize::from(inner.height);
        let first = lines.iter().position(|(index, _)| *index == selected).unwrap_or(0);
        let last = lines.iter().rposition(|(index, _)| *index == selected).unwrap_or(0);
        let most = lines.len().saturating_sub(height);
        let top = self.position.top.max((last + 1).saturating_sub(height)).min(first).min(most);
        for ((index, line), y) in lines.iter().skip(top).zip(inner.y..inner.bottom()) {
            let area = Rect { y, height: 1, ..inner };
            regions.add(area, Region::OverlayRow(*index));
            line.draw(buffer, area.x, y, area.width);
            if *index == selected {
                select(buffer, area, theme.selected);
            }
        }
        OverlayDrawn::list(selected, top)
    }
}
