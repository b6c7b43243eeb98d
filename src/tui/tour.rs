//! The tour: a few lines above the message that let a newcomer steer, pause, go to a sub-agent and answer a question once.
//!
//! It begins by itself at the very first start with the embedded model (`src/cli/screen.rs`), and with `/tour`. It is folded
//! from the events of the run and only looks on: a step is over when the user has done it, in any order, whatever else
//! happens meanwhile. Drawn by `src/tui/view/tour.rs`.

use crate::event::{Envelope, Event};
use crate::session::fold::RunState;

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

    pub fn words(self, run: &RunState) -> &'static str {
        let runs = run.agents.main().running();
        let has_sub_agents = run.agents.running() > 1;
        match (self, runs) {
            (Self::Ask, _) => "Type a task and press Enter, such as: look at this project",
            (Self::Steer, true) => {
                "While it works, type more and press Enter, such as: skip the tests. It waits here and enters after the \
                 running tool."
            }
            (Self::Pause, true) => {
                "Your text waits above until the running tool has ended. Alt+H pauses the agent before its next call; Alt+H \
                 again lets it go on."
            }
            (Self::Address, true) if has_sub_agents => {
                "F3, Down and Enter go to a sub-agent. What you type now is for it alone. Esc leads back."
            }
            (Self::Address, true) => "Wait until sub-agents run: then you can type to one alone.",
            (Self::Steer | Self::Pause | Self::Address, false) => {
                "The turn is over. Start another, such as: look at this project"
            }
            (Self::Answer, _) => {
                "Ask for a command: run `date`. Before it runs you are asked; answer with a number and Enter."
            }
            (Self::Over, _) => "That was the tour. F1 shows all keys and commands; /tour begins it again.",
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
            Event::Pending { entries } if !entries.is_empty() && run.agents.main().running() => {
                if is_main {
                    TourStep::Steer
                } else {
                    TourStep::Address
                }
            }
            Event::Resumed { .. } => TourStep::Pause,
            Event::Answer { answer, .. } if answer != "withdrawn" => TourStep::Answer,
            _ => return,
        };
        if !self.done.contains(&done) {
            self.done.push(done);
        }
    }
}
