//! The two vocabularies of the screen: what it is told ([`Msg`]) and what it asks for ([`Effect`]).
//!
//! `update` folds the first into the state and answers with the second; `run` is the only one that carries effects out.

use crossterm::event::KeyEvent;
use jiff::Timestamp;
use ratatui::layout::Size;

use crate::error::Refused;
use crate::event::{Delivery, Envelope, Pending};
use crate::id::{AgentId, MessageId};
use crate::tui::state::focus::Overlay;
use crate::tui::state::question::QuestionId;
use crate::tui::state::scroll::Position;

/// Is one thing that the screen is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Msg {
    /// A key was pressed; read from the terminal at this moment.
    Key(KeyEvent, Timestamp),
    /// Many plain characters came at once, as a terminal without bracketed paste sends them.
    Typed(String, Timestamp),
    /// The terminal delivered a bracketed paste.
    Paste(String, Timestamp),
    /// The terminal has this size now.
    Resize(Size),
    /// Time passed; sent while something with a clock is shown.
    Tick(Timestamp),
    /// The agent tree did something.
    Envelope(Envelope),
    /// The agent is built and takes turns.
    Ready,
    /// The agent could not be built.
    BuildFailed(String),
    /// A sentence for the status line.
    Info(String),
    /// There will be no agent for these texts; they are the user's again.
    GivenBack(Vec<Pending>),
    /// The models that the server offers, or why there is no list.
    Models(Result<Vec<String>, String>),
    /// All pending queues after a change, and whether the main agent's waits for the user.
    Queue {
        /// What is pending for whom, each in delivery order; agents without anything are left out.
        queues: Vec<(AgentId, Vec<Pending>)>,
        /// True when a failed or stopped turn holds it back.
        paused: bool,
    },
    /// Answers [`Effect::Send`].
    Sent {
        /// The agent that it was for.
        to: AgentId,
        /// The text that was offered.
        text: String,
        /// Its id, or why the queue did not take it.
        outcome: Result<MessageId, Refused>,
    },
    /// Answers [`Effect::Stop`] with what was pending, in order.
    Stopped(Vec<Pending>),
    /// Answers [`Effect::TakeBack`]; `None` when nothing was pending any more.
    TakenBack(Option<Pending>),
    /// A frame was drawn; only it knows the heights that scrolling needs.
    Drawn(Drawn),
    /// The terminal has taken a frame, with this question on it.
    Shown(Option<QuestionId>, Timestamp),
}

/// Is what a frame found out, to be remembered until the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// The agent whose transcript was shown.
    pub agent: AgentId,
    /// The place that was shown.
    pub position: Position,
    /// The number of cells that the transcript had.
    pub cells: usize,
    /// The overlay as it was shown, its place within its bounds.
    pub overlay: Option<Overlay>,
    /// The question that it shows, and the first line of its detail.
    pub question: Option<(QuestionId, u16)>,
}

/// Is one thing that the screen wants done outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Put a text into the queue.
    Send {
        /// The agent that it is for.
        to: AgentId,
        /// Exactly what the user typed.
        text: String,
        /// Where it shall enter.
        delivery: Delivery,
    },
    /// Stop the turn and take every pending text back.
    Stop,
    /// Take the newest pending text back.
    TakeBack,
    /// Let a text that was held for its age go.
    Confirm {
        /// The agent that it is for.
        agent: AgentId,
        /// The text.
        id: MessageId,
    },
    /// Let every text that was held for its age go, and hold none for it any more.
    NeverAskIfTrue,
    /// Take one pending text back.
    Withdraw {
        /// The agent that it is for.
        agent: AgentId,
        /// The text.
        id: MessageId,
    },
    /// Let what a failed turn holds back start a turn.
    Resume,
    /// Write the whole screen again.
    Redraw,
    /// End the program.
    Quit,
}
