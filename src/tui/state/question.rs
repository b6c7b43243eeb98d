//! Questions to the user: a queue of which one is shown at a time, and the rule that says when a key may answer it.
//!
//! A key answers only what was on the screen, with [`limits::QUESTION_QUIET`] free of keys before it: the question is
//! *armed* then. So nothing that was typed before it came up, or while it came up, can answer it.

use std::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};

use crate::id::{AgentId, MessageId};
use crate::limits;
use crate::tui::keymap::{Action, Answer};

/// Lines of the detail that one key scrolls.
const PAGE: u16 = 4;

/// Names one question of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct QuestionId(u64);

/// Is one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The agent that asks, or that it is about.
    pub agent: AgentId,
    /// What an answer decides.
    pub subject: Subject,
    /// The question, in one line.
    pub title: String,
    /// What exactly is asked about (untrusted); scrolled when it is long.
    pub detail: String,
    /// What Alt+S would cover.
    pub session: String,
}

/// Says what an answer decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// Whether a pending text that has grown old still holds.
    StillTrue(MessageId),
    /// Whether a new conversation starts, on an empty screen.
    New,
    /// Whether the conversation goes back to its system prompt.
    Reset,
}

impl Subject {
    /// Returns the answers that it takes, with their words, in the order in which they are shown.
    pub fn answers(&self) -> &'static [(Answer, &'static str)] {
        match self {
            Self::StillTrue(_) => &[
                (Answer::Once, "send"),
                (Answer::Session, "always send"),
                (Answer::Words, "edit"),
                (Answer::No, "drop"),
                (Answer::Leave, "not now"),
            ],
            Self::New | Self::Reset => {
                &[(Answer::Once, "yes"), (Answer::Session, "always yes"), (Answer::No, "no"), (Answer::Leave, "no")]
            }
        }
    }

    /// Tells whether it takes this answer.
    pub fn takes(&self, answer: Answer) -> bool {
        self.answers().iter().any(|(known, _)| *known == answer)
    }
}

/// Says why a key did not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unarmed {
    /// There is no question, and there was none a moment ago.
    Nothing,
    /// The question went away just before the key.
    Gone,
    /// The question was not on the screen.
    Hidden,
    /// It came up, or a key came, too short a time before.
    Typing,
}

/// Holds what is asked, the oldest first, and what arming needs.
#[derive(Debug, Default)]
pub struct Questions {
    queue: VecDeque<(QuestionId, Question)>,
    count: u64,
    /// What was left unanswered and is not asked again while it lasts.
    left: Vec<Subject>,
    /// What needs no question any more in this session.
    waived: Vec<Subject>,
    /// The question that the terminal shows, and since when.
    shown: Option<(QuestionId, Timestamp)>,
    last_key: Option<Timestamp>,
    gone: Option<Timestamp>,
    /// The first line of the detail that is shown.
    pub top: u16,
}

impl Questions {
    /// Puts a question at the end of the queue, unless its subject is asked about already or was left unanswered.
    pub fn ask_once(&mut self, question: Question) {
        let is_known = self.queue.iter().any(|(_, known)| known.subject == question.subject);
        if !is_known && !self.left.contains(&question.subject) {
            self.count += 1;
            self.queue.push_back((QuestionId(self.count), question));
        }
    }

    /// Returns the question that is to be shown.
    pub fn current(&self) -> Option<&Question> {
        self.queue.front().map(|(_, question)| question)
    }

    /// Returns the id of the question that is to be shown.
    pub fn current_id(&self) -> Option<QuestionId> {
        self.queue.front().map(|(id, _)| *id)
    }

    /// Returns the number of questions.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Tells whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Takes away what is no longer to be asked; it may be asked about again.
    pub fn retain(&mut self, now: Timestamp, keep: impl Fn(&Subject) -> bool) {
        let current = self.current_id();
        self.left.retain(&keep);
        self.queue.retain(|(_, question)| keep(&question.subject));
        if self.current_id() != current {
            self.moved_on(now);
        }
    }

    /// Takes the shown question: it is answered.
    pub fn take(&mut self, now: Timestamp) -> Option<Question> {
        let (_, question) = self.queue.pop_front()?;
        self.moved_on(now);
        Some(question)
    }

    /// Does not ask about this again while it lasts.
    pub fn leave(&mut self, subject: Subject) {
        self.left.push(subject);
    }

    /// Asks about this no more in this session.
    pub fn waive(&mut self, subject: Subject) {
        self.waived.push(subject);
    }

    /// Tells whether this needs no question any more.
    pub fn is_waived(&self, subject: &Subject) -> bool {
        self.waived.contains(subject)
    }

    /// Notes that a key or a paste was read at this moment.
    pub fn heard(&mut self, at: Timestamp) {
        // Not the later of the two: a clock that was set back would keep every question from being armed.
        self.last_key = Some(at);
        self.shown = self.shown.map(|(id, since)| (id, since.min(at)));
    }

    /// Tells whether nothing was typed for so long that nobody types blindly any more.
    pub fn is_quiet(&self, now: Timestamp) -> bool {
        let quiet = |key: Timestamp| key.checked_add(limits::QUESTION_QUIET).unwrap_or(Timestamp::MAX) <= now;
        self.last_key.is_none_or(quiet)
    }

    /// Notes which question a frame that was just drawn holds; another one, or none, disarms at once.
    pub fn drawn(&mut self, question: Option<(QuestionId, u16)>) {
        self.shown = self.shown.filter(|(shown, _)| question.is_some_and(|(id, _)| id == *shown));
        if let Some((_, top)) = question {
            self.top = top;
        }
    }

    /// Notes that the terminal has taken the frame: what it shows can be read from now on.
    pub fn shown(&mut self, question: Option<QuestionId>, at: Timestamp) {
        let since = self.shown.filter(|(id, _)| Some(*id) == question).map_or(at, |(_, since)| since);
        self.shown = question.map(|id| (id, since));
    }

    /// Tells whether the terminal shows the current question.
    pub fn is_shown(&self) -> bool {
        self.current_id().is_some_and(|current| self.shown.is_some_and(|(id, _)| id == current))
    }

    /// Scrolls the detail; the next frame keeps it within its bounds.
    pub fn page(&mut self, action: Action) {
        self.top = match action {
            Action::PageUp => self.top.saturating_sub(PAGE),
            _ => self.top.saturating_add(PAGE),
        };
    }

    /// Returns when the shown question becomes armed, if no key comes before.
    pub fn arms_at(&self) -> Option<Timestamp> {
        let current = self.current_id()?;
        let (_, since) = self.shown.filter(|(id, _)| *id == current)?;
        let quiet_since = self.last_key.map_or(since, |key| key.max(since));
        Some(quiet_since.checked_add(limits::QUESTION_QUIET).unwrap_or(Timestamp::MAX))
    }

    /// Tells whether a key that is read at this moment answers the shown question.
    pub fn armed(&self, at: Timestamp) -> bool {
        self.arms_at().is_some_and(|arms| arms <= at)
    }

    /// Says why a key that is read at this moment would not answer; `None` when it would.
    pub fn unarmed(&self, at: Timestamp) -> Option<Unarmed> {
        match (self.current(), self.arms_at()) {
            (Some(_), Some(arms)) if arms <= at => None,
            (Some(_), Some(_)) => Some(Unarmed::Typing),
            (Some(_), None) => Some(Unarmed::Hidden),
            (None, _) => {
                let grace = SignedDuration::try_from(limits::QUESTION_GONE).unwrap_or(SignedDuration::MAX);
                let just_now = self.gone.is_some_and(|gone| at.duration_since(gone) <= grace);
                Some(if just_now { Unarmed::Gone } else { Unarmed::Nothing })
            }
        }
    }

    fn moved_on(&mut self, now: Timestamp) {
        self.shown = None;
        self.top = 0;
        self.gone = Some(now);
    }
}
