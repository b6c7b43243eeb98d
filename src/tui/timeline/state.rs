//! Where a replay stands: the steps of the session, the positions to jump to, and the clock that plays them.

use jiff::{SignedDuration, Timestamp};

use crate::event::{Event, Outcome};
use crate::protocol::Post;

/// The fastest that a replay plays.
const FASTEST: u32 = 64;

/// One thing that the run said.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The number of the event, or of the one before.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// What.
    pub post: Post,
}

/// What is marked on the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A message of the user.
    Message,
    /// A call or a turn that failed.
    Error,
    /// An agent that began.
    Agent,
}

impl Mark {
    /// Returns its sign.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Message => "›",
            Self::Error => "!",
            Self::Agent => "+",
        }
    }
}

/// Where a key goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jump {
    /// To the event before or after.
    Event(Direction),
    /// To the beginning of a round of the main agent.
    Round(Direction),
    /// To the beginning of a turn.
    Turn(Direction),
    /// To a message, a failure or a new agent.
    Mark(Direction),
    /// To the beginning.
    First,
    /// To the end.
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
    steps: Vec<Step>,
    /// How many steps the screen has taken.
    position: usize,
    rounds: Vec<usize>,
    turns: Vec<usize>,
    marks: Vec<(usize, Mark)>,
    /// How many times as fast as it was.
    speed: u32,
    /// While it plays: a moment, and the time of the session then.
    playing: Option<(Timestamp, Timestamp)>,
    /// A time that is typed.
    typed: Option<String>,
}

impl Timeline {
    /// Makes the timeline of a session that is recorded, at its beginning.
    pub fn new(steps: Vec<Step>) -> Self {
        let (mut rounds, mut turns, mut marks) = (Vec::new(), Vec::new(), Vec::new());
        for (index, step) in steps.iter().enumerate() {
            let Post::Envelope(envelope) = &step.post else { continue };
            let position = index + 1;
            let is_main = envelope.agent.is_main();
            match &envelope.event {
                Event::TurnStarted { .. } if is_main => turns.push(position),
                Event::RoundStarted { .. } if is_main => rounds.push(position),
                Event::UserTurn { .. } => marks.push((position, Mark::Message)),
                Event::ToolResult { is_error: true, .. } | Event::TurnEnded { outcome: Outcome::Failed, .. } => {
                    marks.push((position, Mark::Error));
                }
                Event::AgentSpawned { .. } => marks.push((position, Mark::Agent)),
                _ => {}
            }
        }
        Self { steps, position: 0, rounds, turns, marks, speed: 1, playing: None, typed: None }
    }

    /// Returns how many steps the screen has taken, and how many there are.
    pub fn position(&self) -> (usize, usize) {
        (self.position, self.steps.len())
    }

    /// Notes that the screen has taken so many steps.
    pub fn set_position(&mut self, position: usize) {
        self.position = position.min(self.steps.len());
    }

    /// Returns the steps from one position to another.
    pub fn between(&self, from: usize, to: usize) -> Vec<Step> {
        self.steps.get(from..to.min(self.steps.len())).unwrap_or_default().to_vec()
    }

    /// Returns the marks with their positions.
    pub fn marks(&self) -> &[(usize, Mark)] {
        &self.marks
    }

    /// Returns the time of the session at the position; the beginning of the session before the first step.
    pub fn time(&self) -> Timestamp {
        self.step().or(self.steps.first()).map(|step| step.at).unwrap_or_default()
    }

    /// Returns how long the session had gone on at the position, and how long it went on.
    pub fn elapsed(&self) -> (SignedDuration, SignedDuration) {
        let Some((first, last)) = self.steps.first().zip(self.steps.last()) else { return Default::default() };
        (self.time().duration_since(first.at), last.at.duration_since(first.at))
    }

    /// Returns the number of the event at the position, and of the last one.
    pub fn events(&self) -> (u64, u64) {
        (self.step().map_or(0, |step| step.seq), self.steps.last().map_or(0, |step| step.seq))
    }

    fn step(&self) -> Option<&Step> {
        self.steps.get(self.position.checked_sub(1)?)
    }

    /// Returns the position that a jump leads to; the present one where there is none further.
    pub fn target(&self, jump: Jump) -> usize {
        match jump {
            Jump::First => 0,
            Jump::Last => self.steps.len(),
            Jump::Event(Direction::Forward) => self.whole(self.position + 1),
            Jump::Event(Direction::Back) => {
                let here = self.step().map(|step| step.seq);
                let seq_of =
                    |position: &usize| position.checked_sub(1).and_then(|at| self.steps.get(at)).map(|step| step.seq);
                (0..self.position).rev().find(|position| seq_of(position) != here).unwrap_or(0)
            }
            Jump::Round(direction) => self.next(self.rounds.iter().copied(), direction),
            Jump::Turn(direction) => self.next(self.turns.iter().copied(), direction),
            Jump::Mark(direction) => self.next(self.marks.iter().map(|(position, _)| *position), direction),
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
        let Some(step) = position.checked_sub(1).and_then(|at| self.steps.get(at)) else {
            return position.min(self.steps.len());
        };
        let same = self.steps.iter().skip(position).take_while(|next| next.seq == step.seq).count();
        position + same
    }

    /// Returns the position at a time since the beginning.
    pub fn at(&self, elapsed: SignedDuration) -> usize {
        let Some(first) = self.steps.first() else { return 0 };
        self.steps.partition_point(|step| step.at.duration_since(first.at) <= elapsed)
    }

    /// Plays from the position on, or pauses.
    pub fn toggle(&mut self, now: Timestamp) {
        self.playing = match self.playing {
            Some(_) => None,
            None => (self.position < self.steps.len()).then(|| (now, self.time())),
        };
    }

    /// Pauses.
    pub fn pause(&mut self) {
        self.playing = None;
    }

    /// Tells whether it plays.
    pub fn is_playing(&self) -> bool {
        self.playing.is_some()
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
        let due =
            self.steps.get(self.position..).unwrap_or_default().iter().take_while(|step| step.at <= clock).count();
        let position = self.position + if self.playing.is_some() { due } else { 0 };
        if position == self.steps.len() {
            self.playing = None;
        }
        position
    }

    /// Returns when the next step is due; none while it is paused.
    pub fn next_due(&self) -> Option<Timestamp> {
        let (since, from) = self.playing?;
        let wait = self.steps.get(self.position)?.at.duration_since(from);
        since.checked_add(wait / i32::try_from(self.speed).unwrap_or(1)).ok()
    }

    /// Returns the time that is typed.
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
