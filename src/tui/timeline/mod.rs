//! The timeline of a replay: where in a recorded session the screen stands, its marks, and how it plays.
//!
//! A pane in its own folder: its state and its drawing stand here; what it moves is done by `src/tui/update/replay.rs`,
//! since a replay is the whole screen with another source of updates.
//!
//! # Where things are
//!
//! - the steps and the marks: `steps.rs`; the jumps, the clock: `mod.rs`; how it is drawn: `view.rs`; tests: `session_timeline.rs`
//! - what its keys do: `src/tui/update/replay.rs`; tests: `session_timeline.rs`, `tests/pty/sessions.rs`

mod steps;
mod view;

pub use steps::{Mark, Recorded, RecordedContext, RecordedSource, Step, Steps};
pub use view::{draw, hints};

use jiff::{SignedDuration, Timestamp};

use steersman_base::id::AgentId;
use steersman_base::protocol::Update;

/// The fastest that a replay plays.
const FASTEST: u32 = 64;

/// Where a key goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jump {
    /// To the event before or after.
    Event(Direction),
    /// To the beginning of a round of the main agent.
    Round(Direction),
    Turn(Direction),
    /// To a message, a failure or a new agent.
    Mark(Direction),
    First,
    Last,
}

/// The direction of a jump, or of a change of the speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Towards the beginning.
    Back,
    /// Towards the end.
    Forward,
}

/// The steps of a session, and the position among them.
#[derive(Debug)]
pub struct Timeline {
    steps: Steps,
    /// How many steps the screen has taken.
    position: usize,
    /// How many times as fast as it was.
    speed: u32,
    /// While it plays: a moment, and the time of the session then.
    playing: Option<(Timestamp, Timestamp)>,
    typed: Option<String>,
}

impl Timeline {
    /// Makes the timeline of a session that is recorded, at its beginning.
    pub fn new(steps: impl Into<Steps>) -> Self {
        Self { steps: steps.into(), position: 0, speed: 1, playing: None, typed: None }
    }

    /// Returns how many steps the screen has taken, and how many there are.
    pub fn position(&self) -> (usize, usize) {
        (self.position, self.steps.len())
    }

    /// Notes that the screen has taken so many steps.
    pub fn set_position(&mut self, position: usize) {
        self.position = position.min(self.steps.len());
    }

    /// Returns the next steps from one position on the way to another.
    pub fn next_steps(&self, from: usize, to: usize) -> Vec<Step> {
        self.steps.part(from, to)
    }

    pub fn marks(&self) -> &[(usize, Mark)] {
        &self.steps.marks
    }

    /// Returns the time of the session at the position; the beginning of the session before the first step.
    pub fn time(&self) -> Timestamp {
        self.steps.at(self.position.saturating_sub(1)).unwrap_or_default()
    }

    /// Returns how long the session had gone on at the position, and how long it went on.
    pub fn elapsed(&self) -> (SignedDuration, SignedDuration) {
        let (first, last) = (self.steps.at(0), self.steps.at(self.steps.len().saturating_sub(1)));
        let Some((first, last)) = first.zip(last) else { return Default::default() };
        (self.time().duration_since(first), last.duration_since(first))
    }

    /// Returns the number of the event at the position, and of the last one.
    pub fn events(&self) -> (u64, u64) {
        let before = |position: usize| position.checked_sub(1).and_then(|index| self.steps.seq(index)).unwrap_or(0);
        (before(self.position), before(self.steps.len()))
    }

    /// Returns the position that a jump leads to; the present one where there is none further.
    pub fn target(&self, jump: Jump) -> usize {
        match jump {
            Jump::First => 0,
            Jump::Last => self.steps.len(),
            Jump::Event(Direction::Forward) => self.whole(self.position + 1),
            Jump::Event(Direction::Back) => {
                let seq_of = |position: usize| position.checked_sub(1).and_then(|index| self.steps.seq(index));
                let here = seq_of(self.position);
                (0..self.position).rev().find(|position| seq_of(*position) != here).unwrap_or(0)
            }
            Jump::Round(direction) => self.next(self.steps.rounds.iter().copied(), direction),
            Jump::Turn(direction) => self.next(self.steps.turns.iter().copied(), direction),
            Jump::Mark(direction) => self.next(self.steps.marks.iter().map(|(position, _)| *position), direction),
        }
    }

    fn next(&self, mut positions: impl DoubleEndedIterator<Item = usize>, direction: Direction) -> usize {
        let (back, end) = (self.position, self.steps.len());
        match direction {
            Direction::Back => {
                positions.rev().find(|position| self.whole(*position) < back).map_or(0, |position| self.whole(position))
            }
            Direction::Forward => {
                positions.find(|position| *position > back).map_or(end, |position| self.whole(position))
            }
        }
    }

    /// Returns a position behind everything that belongs to its event.
    fn whole(&self, position: usize) -> usize {
        let Some(seq) = position.checked_sub(1).and_then(|index| self.steps.seq(index)) else {
            return position.min(self.steps.len());
        };
        (position..self.steps.len()).find(|index| self.steps.seq(*index) != Some(seq)).unwrap_or(self.steps.len())
    }

    /// Returns the position behind an event and all that belongs to it, and the agent that it is of.
    pub fn behind_event(&self, seq: u64) -> (usize, Option<AgentId>) {
        let (from, to) = self.steps.of_event(seq);
        let agent = |step: Step| if let Update::Envelope(envelope) = step.update { Some(envelope.agent) } else { None };
        (to, self.steps.part(from, to).into_iter().find_map(agent))
    }

    /// Returns the position at a time since the beginning.
    pub fn at(&self, elapsed: SignedDuration) -> usize {
        let at = self.steps.at(0).and_then(|first| first.checked_add(elapsed).ok());
        at.map_or(self.steps.len(), |at| self.steps.behind(at))
    }

    /// Plays from the position on, or pauses.
    pub fn toggle(&mut self, now: Timestamp) {
        self.playing = match self.playing {
            Some(_) => None,
            None => (self.position < self.steps.len()).then(|| (now, self.time())),
        };
    }

    pub fn pause(&mut self) {
        self.playing = None;
    }

    /// Returns how many times as fast as it was it plays.
    pub fn speed(&self) -> u32 {
        self.speed
    }

    /// Plays twice as fast, or half as fast.
    pub fn hurry(&mut self, direction: Direction, now: Timestamp) {
        let here = self.clock(now);
        self.speed = match direction {
            Direction::Forward => (self.speed * 2).min(FASTEST),
            Direction::Back => (self.speed / 2).max(1),
        };
        if self.playing.is_some() {
            self.playing = Some((now, here));
        }
    }

    /// Returns the time of the session at this moment.
    pub fn clock(&self, now: Timestamp) -> Timestamp {
        let Some((since, from)) = self.playing else { return self.time() };
        let elapsed = now.duration_since(since).saturating_mul(i32::try_from(self.speed).unwrap_or(1));
        from.checked_add(elapsed).unwrap_or(from)
    }

    /// Returns the position that playing has come to at this moment; pauses at the end.
    pub fn due(&mut self, now: Timestamp) -> usize {
        let clock = self.clock(now);
        let is_due = |index: &usize| self.steps.at(*index).is_some_and(|at| at <= clock);
        let due = (self.position..self.steps.len()).take_while(is_due).count();
        let position = self.position + if self.playing.is_some() { due } else { 0 };
        if position == self.steps.len() {
            self.playing = None;
        }
        position
    }

    /// Returns when the next step is due; none while it is paused.
    pub fn next_due(&self) -> Option<Timestamp> {
        let (since, from) = self.playing?;
        let wait = self.steps.at(self.position)?.duration_since(from);
        since.checked_add(wait / i32::try_from(self.speed).unwrap_or(1)).ok()
    }

    pub fn typed(&self) -> Option<&str> {
        self.typed.as_deref()
    }

    /// Begins or changes the time that is typed; none ends that.
    pub fn set_typed(&mut self, typed: Option<String>) {
        self.typed = typed;
    }

    /// Reads the time that is typed: seconds, minutes and seconds, or hours too.
    pub fn typed_time(&self) -> Option<SignedDuration> {
        let parts: Result<Vec<i64>, _> = self.typed.as_deref()?.split(':').map(str::parse).collect();
        let seconds = match parts.ok()?.as_slice() {
            [seconds] => *seconds,
            [minutes, seconds] => minutes.checked_mul(60)?.checked_add(*seconds)?,
            [hours, minutes, seconds] => {
                hours.checked_mul(60)?.checked_add(*minutes)?.checked_mul(60)?.checked_add(*seconds)?
            }
            _ => return None,
        };
        Some(SignedDuration::from_secs(seconds))
    }
}
