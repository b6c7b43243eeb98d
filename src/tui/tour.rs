//! The tour: a few lines above the message that let a newcomer steer, pause, go to a sub-agent and answer a question once.
//!
//! It begins by itself at the very first start with the embedded model (`src/program/cli/screen.rs`), and with `/tour`. It is collapsed
//! from the events of the run and only looks on: a step is over when the user has done it, in any order, whatever else
//! happens meanwhile. Drawn by `src/tui/view/tour.rs`.

use crate::commands::{CommandEntry, Takes};
use crate::effect::PaneEffect;
use crate::state::Pane;
use steersman_base::event::{Envelope, Event};
use steersman_base::id::AgentId;
use steersman_session::model::RunState;

/// Fewest rows of a screen that has some for the tour.
pub const TOUR_ROWS: u16 = 16;

pub const COMMAND: CommandEntry = CommandEntry::new(
    "/tour",
    Takes::Nothing,
    "",
    "a tour of a minute: steer, pause, go to a sub-agent, answer; again ends it",
    |_, _| vec![toggle()],
)
.only_drawing();

/// Begins the tour or ends it; says so where the screen has no room for it.
fn toggle() -> PaneEffect {
    PaneEffect::call(|app| {
        app.ui.tour.toggle();
        let is_hidden = app.ui.tour.step().is_some() && app.ui.size.height < TOUR_ROWS;
        let sentence = || PaneEffect::SayWhile(None, format!("the tour needs a screen of {TOUR_ROWS} rows"));
        is_hidden.then(sentence).into_iter().collect()
    })
}

/// Whether the tour begins by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TourStart {
    AtOnce,
    /// Only when the user asks for it.
    #[default]
    OnRequest,
}

/// A thing that the user does once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TourStep {
    /// To start a turn.
    Ask,
    /// To send a text while a turn runs.
    Steer,
    /// To pause an agent and let it go on.
    Pause,
    /// To send a text to a sub-agent.
    Address,
    /// To answer what an agent asks.
    Answer,
    Over,
}

impl TourStep {
    /// Holds what there is to do, in order.
    pub const TO_DO: [Self; 5] = [Self::Ask, Self::Steer, Self::Pause, Self::Address, Self::Answer];

    /// Says what to do now, while this agent is shown, this pane has the keys and so many questions are open: doing just
    /// that is enough.
    pub fn instruction(self, run: &RunState, shown: &AgentId, pane: Pane, questions: usize) -> &'static str {
        if questions > 0 && self != Self::Over {
            return "First answer the question: its number, then Enter.";
        }
        let runs = run.agents.main().running();
        let has_sub_agents = run.agents.running() > usize::from(runs);
        let awaits = run.run_alone().any(|node| node.is_in_background);
        let takes_text = !shown.is_main() && run.takes_messages(shown);
        let has_ended_ones = run.agents.nodes().iter().any(|node| run.continues(&node.id));
        match self {
            Self::Over => "That was the tour. F1 shows all keys and commands; /tour begins it again.",
            Self::Address if takes_text && pane != Pane::Composer => {
                "Enter leads to the message: what you type then is for this sub-agent alone."
            }
            Self::Address if takes_text && run.continues(shown) => {
                "This sub-agent has ended, and goes on with what you type. Type and press Enter, such as: look at the \
                 tests first"
            }
            Self::Address if takes_text => {
                "What you type now is for this sub-agent alone. Type and press Enter, such as: look at the tests first"
            }
            // What is typed would go to the sub-agent.
            Self::Ask | Self::Steer | Self::Pause | Self::Address | Self::Answer if !shown.is_main() => {
                "F3, Home and Enter lead back to the main agent."
            }
            Self::Ask => "Type a task and press Enter, such as: look at this project",
            Self::Steer if runs => {
                "While it works, type more and press Enter, such as: skip the tests. It enters at the next boundary; the \
                 line above the message says which."
            }
            Self::Pause if runs && run.pauses.place(shown).is_some() => "The agent is paused. Alt+H lets it go on.",
            Self::Pause if runs && run.is_paused(shown) => "The agent pauses before its next call: wait for that.",
            Self::Pause if runs && run.pending.is_empty() => "Alt+H pauses the agent before its next call.",
            Self::Pause if runs => {
                "Your text waits above until the running tool has ended. Alt+H pauses the agent before its next call."
            }
            Self::Address if (runs || awaits) && has_sub_agents => "F3, Down and Enter go to a sub-agent.",
            Self::Address if has_ended_ones => {
                "F3, Down and Enter go to a sub-agent. It has ended, and goes on with what you type."
            }
            Self::Address if runs => "Wait until sub-agents run: then you can type to one alone.",
            Self::Steer | Self::Pause if awaits => {
                "The agent waits for its sub-agents; its next turn begins with an answer of theirs."
            }
            Self::Steer | Self::Pause | Self::Address => {
                "The turn is over. Start another, such as: look at this project"
            }
            Self::Answer => {
                "Ask for a command: run `date`. Before it runs you are asked; answer with a number and Enter."
            }
        }
    }
}

/// The tour, while there is one.
#[derive(Debug, Clone, Default)]
pub struct Tour {
    is_shown: bool,
    done: Vec<TourStep>,
}

impl Tour {
    /// Returns the step that is shown: the first that the user has not done.
    pub fn step(&self) -> Option<TourStep> {
        let next = TourStep::TO_DO.into_iter().find(|step| !self.done.contains(step));
        self.is_shown.then(|| next.unwrap_or(TourStep::Over))
    }

    /// Begins it, or ends it where it is shown.
    pub fn toggle(&mut self) {
        *self = Self { is_shown: !self.is_shown, done: Vec::new() };
    }

    /// Notes what the user has done; `run` is the run with the event.
    pub fn apply(&mut self, envelope: &Envelope, run: &RunState) {
        let Some(step) = self.step() else { return };
        let is_main = envelope.agent.is_main();
        let done = match &envelope.event {
            Event::TurnStarted { .. } if is_main && step == TourStep::Over => {
                self.is_shown = false;
                return;
            }
            Event::TurnStarted { .. } if is_main => TourStep::Ask,
            Event::Pending { entries } if is_main && !entries.is_empty() && run.agents.main().running() => {
                TourStep::Steer
            }
            Event::Pending { entries } if !is_main && !entries.is_empty() => TourStep::Address,
            // One that has ended reads the text at once.
            Event::UserTurn { injection: Some(_), .. } if !is_main => TourStep::Address,
            Event::Resumed { .. } => TourStep::Pause,
            // Where a turn needs no sub-agents, as in an empty directory, there is none to type to.
            Event::TurnEnded { .. } if is_main && step == TourStep::Address && run.agents.nodes().len() == 1 => {
                TourStep::Address
            }
            Event::Answer { answer, .. } if answer != "withdrawn" => TourStep::Answer,
            _ => return,
        };
        if !self.done.contains(&done) {
            self.done.push(done);
        }
    }
}
