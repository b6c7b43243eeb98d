//! What the updates of a replay have made of the screen at some of its positions, so that going back does not apply
//! everything from the beginning.
//!
//! Always holds: going on from a checkpoint shows the same as going on from the beginning. Copies share what did not
//! change between them, and together they take no more memory than [`MOST_BYTES`], whatever the length of the session:
//! where they would, every second one goes.

use std::mem;

use jiff::Timestamp;

use super::App;
use crate::approval::Questions;
use crate::pause::PausePane;
use crate::pending::PendingPane;
use crate::status::Status;
use crate::transcript::{Reader, TranscriptPane};
use steersman_session::model::RunState;
use steersman_session::model::agents::AgentNode;

/// Most checkpoints of a replay.
const MOST: usize = 96;
/// What all of them together may take, bytes, and how many are kept whatever they take.
const MOST_BYTES: usize = 48 << 20;
const FEWEST: usize = 8;
/// Fewest steps between two: so many are applied without a noticeable wait.
const STEPS: usize = 1_024;
/// Checkpoints that are kept shortly before the position, whatever is between the others: going back goes on there.
const NEAR: usize = 2;
/// About what the copy of an agent takes beside the sizes of its values, and that of a receipt; bytes.
const AGENT: usize = 1_024;
const RECEIPT: usize = 512;

/// The checkpoints of a replay, in order.
#[derive(Debug)]
pub struct Checkpoints {
    /// Steps between two.
    every: usize,
    list: Vec<Checkpoint>,
    near: Vec<Checkpoint>,
    /// About what those of the list take.
    bytes: usize,
}

/// What updates had made of the screen at a position.
#[derive(Debug)]
#[allow(missing_docs)] // The names are those of the screen.
pub struct Checkpoint {
    pub position: usize,
    bytes: usize,
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
        Self { every: (steps / MOST).max(STEPS), list: Vec::new(), near: Vec::new(), bytes: 0 }
    }

    /// Tells whether the screen is to be kept at a position on the way to another one.
    pub fn is_due(&self, position: usize, target: usize) -> bool {
        self.is_stage(position) || self.is_near(position, target)
    }

    fn is_stage(&self, position: usize) -> bool {
        position.is_multiple_of(self.every) && self.list.last().is_none_or(|last| last.position < position)
    }

    fn is_near(&self, position: usize, target: usize) -> bool {
        position + STEPS == target && self.before(position).is_none_or(|kept| kept.position + STEPS < position)
    }

    /// Keeps the screen at a position where that is due; its transcripts are settled before.
    pub fn keep(&mut self, position: usize, app: &App) {
        if self.is_stage(position) {
            self.list.push(Checkpoint::new(position, app));
            self.bytes += self.list.last().map_or(0, |kept| kept.bytes);
            while self.bytes > MOST_BYTES && self.list.len() > FEWEST {
                self.thin();
            }
        } else {
            if self.near.len() >= NEAR {
                self.near.remove(0);
            }
            self.near.push(Checkpoint::new(position, app));
        }
    }

    /// Forgets every second one.
    fn thin(&mut self) {
        self.every *= 2;
        let every = self.every;
        self.list.retain(|kept| kept.position.is_multiple_of(every));
        self.bytes = self.list.iter().map(|kept| kept.bytes).sum();
    }

    /// Returns the last one on the way to a position.
    pub fn before(&self, position: usize) -> Option<&Checkpoint> {
        let all = self.list.iter().chain(&self.near);
        all.filter(|kept| kept.position <= position).max_by_key(|kept| kept.position)
    }
}

impl Checkpoint {
    fn new(position: usize, app: &App) -> Self {
        let agents = app.ui.run.agents.nodes().len();
        let of_an_agent = mem::size_of::<AgentNode>() + mem::size_of::<Reader>() + AGENT;
        let receipts = app.ui.run.receipts.list().len();
        Self {
            position,
            bytes: agents.max(app.transcripts.agents()) * of_an_agent + receipts * RECEIPT,
            now: app.ui.now,
            run: app.ui.run.clone(),
            transcripts: app.transcripts.unread(),
            pending: app.pending.clone(),
            pause: app.pause.clone(),
            questions: app.questions.clone(),
            status: app.status.clone(),
        }
    }
}
