//! What the posts of a replay have made of the screen at some of its positions, so that going back does not fold
//! everything from the beginning.
//!
//! Always holds: going on from a checkpoint shows the same as going on from the beginning. Copies share what did not
//! change between them.

use jiff::Timestamp;

use super::App;
use crate::approval::Questions;
use crate::pause::PausePane;
use crate::pending::PendingPane;
use crate::status::Status;
use crate::transcript::TranscriptPane;
use steersman_session::fold::RunState;

/// Most checkpoints of a replay.
const MOST: usize = 96;
/// Fewest steps between two: so many are folded without a noticeable wait.
const STEPS: usize = 1_024;

/// The checkpoints of a replay, in order.
#[derive(Debug)]
pub struct Checkpoints {
    /// Steps between two.
    every: usize,
    list: Vec<Checkpoint>,
}

/// What posts had made of the screen at a position.
#[derive(Debug)]
#[allow(missing_docs)] // The names are those of the screen.
pub struct Checkpoint {
    pub position: usize,
    pub now: Timestamp,
    pub run: RunState,
    pub transcripts: TranscriptPane,
    pub pending: PendingPane,
    pub pause: PausePane,
    pub questions: Questions,
    pub status: Status,
}

impl Checkpoints {
    /// Makes the checkpoints of a replay of so many steps; there are none yet.
    pub fn new(steps: usize) -> Self {
        Self { every: (steps / MOST).max(STEPS), list: Vec::new() }
    }

    /// Returns whether the screen is to be kept at a position.
    pub fn is_due(&self, position: usize) -> bool {
        position.is_multiple_of(self.every) && self.list.last().is_none_or(|last| last.position < position)
    }

    pub fn keep(&mut self, position: usize, app: &App) {
        self.list.push(Checkpoint {
            position,
            now: app.facts.now,
            run: app.facts.run.clone(),
            transcripts: app.transcripts.unread(),
            pending: app.pending.clone(),
            pause: app.pause.clone(),
            questions: app.questions.clone(),
            status: app.status.clone(),
        });
    }

    /// Returns the last one on the way to a position.
    pub fn before(&self, position: usize) -> Option<&Checkpoint> {
        self.list.iter().rev().find(|kept| kept.position <= position)
    }
}
