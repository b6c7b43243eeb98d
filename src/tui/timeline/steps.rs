//! What a recorded session sent to its screen, step by step: packed, with the times, and the places that keys jump to.

use jiff::Timestamp;

use crate::switch::EventPlace;
use steersman_base::event::{Event, Outcome};
use steersman_base::protocol::Update;
use steersman_session::packed::Packed;

/// Steps that are packed together.
const PAGE: usize = 256;

/// One thing that the run said.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The number of the event, or of the one before.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// What.
    pub update: Update,
}

/// What is marked on the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Message,
    /// A call or a turn that failed.
    Error,
    Agent,
}

impl Mark {
    pub fn sign(self) -> &'static str {
        match self {
            Self::Message => "›",
            Self::Error => "!",
            Self::Agent => "+",
        }
    }
}

/// The steps of a session, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Steps {
    /// The number and the time of each.
    places: Vec<(u64, Timestamp)>,
    /// What the steps say; the last ones are not packed.
    pages: Vec<Page>,
    recent: Vec<Update>,
    /// The positions behind the beginnings of rounds and turns of the main agent, and behind what is marked.
    pub(super) rounds: Vec<usize>,
    pub(super) turns: Vec<usize>,
    pub(super) marks: Vec<(usize, Mark)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Page {
    Packed(Packed),
    /// One without a written form.
    Open(Vec<Update>),
}

impl Steps {
    pub fn push(&mut self, step: Step) {
        let Step { seq, at, update } = step;
        self.places.push((seq, at));
        self.note(&update);
        self.recent.push(update);
        if self.recent.len() >= PAGE {
            let updates = std::mem::take(&mut self.recent);
            self.pages.push(Packed::pack(&updates).map_or_else(|| Page::Open(updates), Page::Packed));
        }
    }

    fn note(&mut self, update: &Update) {
        let Update::Envelope(envelope) = update else { return };
        let position = self.places.len();
        let is_main = envelope.agent.is_main();
        match &envelope.event {
            Event::TurnStarted { .. } if is_main => self.turns.push(position),
            Event::RoundStarted { .. } if is_main => self.rounds.push(position),
            Event::UserTurn { .. } => self.marks.push((position, Mark::Message)),
            Event::ToolResult { is_error: true, .. } | Event::TurnEnded { outcome: Outcome::Failed, .. } => {
                self.marks.push((position, Mark::Error));
            }
            Event::AgentSpawned { .. } => self.marks.push((position, Mark::Agent)),
            _ => {}
        }
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub fn seq(&self, index: usize) -> Option<u64> {
        self.places.get(index).map(|(seq, _)| *seq)
    }

    pub fn at(&self, index: usize) -> Option<Timestamp> {
        self.places.get(index).map(|(_, at)| *at)
    }

    /// Returns the positions before and behind an event and all that belongs to it.
    pub fn of_event(&self, seq: u64) -> (usize, usize) {
        let before = self.places.partition_point(|(step, _)| *step < seq);
        (before, self.places.partition_point(|(step, _)| *step <= seq))
    }

    /// Returns the first step that is later than a time.
    pub fn behind(&self, at: Timestamp) -> usize {
        self.places.partition_point(|(_, step)| *step <= at)
    }

    /// Returns steps from one index to another, as far as they are packed together: at least one, where there is one.
    pub fn part(&self, from: usize, to: usize) -> Vec<Step> {
        let first = from / PAGE * PAGE;
        let unpacked;
        let updates: &[Update] = match self.pages.get(from / PAGE) {
            Some(Page::Packed(packed)) => {
                unpacked = packed.values().unwrap_or_default();
                &unpacked
            }
            Some(Page::Open(updates)) => updates,
            None => &self.recent,
        };
        let wanted = updates.get(from - first..).unwrap_or_default().iter().take(to.saturating_sub(from));
        let places = self.places.get(from..).unwrap_or_default().iter();
        wanted.zip(places).map(|(update, (seq, at))| Step { seq: *seq, at: *at, update: update.clone() }).collect()
    }
}

/// A recorded session to be shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recorded {
    /// What it sent to its screen.
    pub steps: Steps,
    pub source: RecordedSource,
    pub place: EventPlace,
}

/// Which session a replay is of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum RecordedSource {
    /// The one that runs, which goes on behind it.
    #[default]
    Own,
    /// Another one; a run goes on behind it.
    Other(RecordedContext),
    /// One without a run behind it.
    Alone(RecordedContext),
}

/// What a screen shows of a recorded session beside its events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedContext {
    /// The name of its directory (untrusted).
    pub place: String,
    /// The branch that was checked out (untrusted); empty without one.
    pub branch: String,
    /// The model, as far as it was known.
    pub model: String,
}

impl From<Vec<Step>> for Recorded {
    fn from(steps: Vec<Step>) -> Self {
        Self { steps: steps.into(), ..Self::default() }
    }
}

impl FromIterator<Step> for Steps {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        let mut all = Self::default();
        steps.into_iter().for_each(|step| all.push(step));
        all
    }
}

impl From<Vec<Step>> for Steps {
    fn from(steps: Vec<Step>) -> Self {
        steps.into_iter().collect()
    }
}
