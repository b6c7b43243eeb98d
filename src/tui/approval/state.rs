//! Questions to the user: a queue of which one is shown at a time, and the rule that says when a key may answer it.
//!
//! A key answers only what was on the screen, with [`limits::QUESTION_QUIET`] free of keys before it: the question is
//! *armed* then. So nothing that was typed before it came up, or while it came up, can answer it. A number selects an
//! answer of an armed question, and Enter gives it; any other key makes a text of both.

use std::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};

use crate::effect::{Effect, PaneEffect};
use crate::keymap::{Answer, Travel};
use crate::state::QuestionId;
use crate::switch::Switch;
use crate::{conversation, undo};
use steersman_base::id::{AgentId, JobId, MessageId};
use steersman_base::limits;
use steersman_base::protocol::{AnswerOption, ApprovalId, Request, UndoScope};
use steersman_session::model::DetailPart;

/// One question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The agent that asks, or that it is about; none when the program itself asks.
    pub agent: Option<AgentId>,
    /// What an answer decides.
    pub subject: QuestionSubject,
    /// The question, in one line.
    pub title: String,
    /// What exactly is asked about; scrolled when it is long.
    pub detail: Vec<DetailPart>,
    /// What an answer for the session covers, where the detail does not say it.
    pub session: String,
    /// The pattern of the rule that an answer for good keeps (untrusted).
    pub rule: Option<String>,
    /// The answers that an agent offers (untrusted); they come before the others.
    pub options: Vec<AnswerOption>,
}

impl Question {
    /// Returns a question of the program itself, which no answer settles for the session or for good.
    pub fn new(subject: QuestionSubject, title: impl Into<String>, detail: Vec<DetailPart>) -> Self {
        Self {
            agent: None,
            subject,
            title: title.into(),
            detail,
            session: String::new(),
            rule: None,
            options: Vec::new(),
        }
    }

    /// Returns the answers that have a number, in its order.
    pub fn numbered(&self) -> Vec<(NumberedAnswer, &str)> {
        let options = self.options.iter().enumerate();
        let options = options.map(|(index, option)| (NumberedAnswer::Option(index), option.label.as_str()));
        let others = self.subject.answers().iter().filter(|(answer, _)| *answer != Answer::Leave);
        options.chain(others.map(|(answer, words)| (NumberedAnswer::Answer(*answer), *words))).collect()
    }

    /// Returns the numbers of its answers: `1 to 4`, `1 or 2`.
    pub fn numbers(&self) -> String {
        match self.numbered().len() {
            0 | 1 => "1".to_owned(),
            2 => "1 or 2".to_owned(),
            last => format!("1 to {last}"),
        }
    }

    pub fn takes(&self, answer: NumberedAnswer) -> bool {
        match answer {
            NumberedAnswer::Option(index) => index < self.options.len(),
            NumberedAnswer::Answer(answer) => self.subject.answers().iter().any(|(known, _)| *known == answer),
        }
    }

    /// Tells whether several of its options may be chosen.
    pub fn takes_several(&self) -> bool {
        matches!(self.subject, QuestionSubject::Approval(_, AnswerChoices::Agent { several: true }))
    }
}

/// One answer of a question that has a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberedAnswer {
    /// What an agent offers, by its place.
    Option(usize),
    /// What the program offers.
    Answer(Answer),
}

impl NumberedAnswer {
    /// Tells whether it counts only once the question was read to its end.
    pub fn is_yes(self) -> bool {
        match self {
            Self::Option(_) => true,
            Self::Answer(answer) => answer.is_yes(),
        }
    }
}

impl From<Answer> for NumberedAnswer {
    fn from(answer: Answer) -> Self {
        Self::Answer(answer)
    }
}

/// What an answer decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionSubject {
    /// Whether a pending text that has grown old still holds.
    StillTrue(MessageId),
    /// What becomes of the texts that an earlier process of the session left.
    Unfinished(Vec<MessageId>),
    /// Whether a new conversation starts, on an empty screen.
    New,
    /// Whether the conversation goes back to its system prompt.
    Reset,
    /// Whether the program ends although a turn runs.
    Quit,
    /// Whether the files that the last turn changed are taken back.
    Undo(UndoScope),
    /// Whether a command in the background ends.
    StopJob(JobId),
    /// Whether this text becomes a rule, or a line of `AGENTS.md` besides.
    Rule(String),
    /// Whether the screen closes for another session or a branch, and whether files go back with that.
    Switch(Switch, Rewind),
    /// Whether a tool may do what it wants to do.
    Approval(ApprovalId, AnswerChoices),
}

/// Whether there are files that a branch can take back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewind {
    /// There are.
    Offered,
    /// None is on record, or it is no branch.
    Nothing,
}

/// Which answers there are besides yes and no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerChoices {
    /// One for the session and one for good; the question says for what. And words for the model.
    Always,
    /// One for the session; the question says for what. And words for the model.
    Session,
    /// Words for the model; it is asked each time.
    Words,
    /// None: the program itself asks.
    Nothing,
    /// None: a server asks, and yes begins the answer.
    Form,
    /// One more yes: both accept a plan, each with another mode to go on with. And words for the model.
    Plan,
    /// None: without a yes the turn answers from what was found.
    MoreCalls,
    /// Those that an agent offers, and the user's own words.
    Agent {
        /// Whether several may be chosen.
        several: bool,
    },
}

/// What a frame shows of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownQuestion {
    pub id: QuestionId,
    /// The first line of the detail that is shown.
    pub top: usize,
    pub shown: u16,
    /// How many come behind them.
    pub below: usize,
}

impl QuestionSubject {
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
            Self::Unfinished(_) => &[
                (Answer::Once, "continue: send them"),
                (Answer::Words, "edit"),
                (Answer::No, "discard"),
                (Answer::Leave, "not now"),
            ],
            Self::New | Self::Reset => {
                &[(Answer::Once, "yes"), (Answer::Session, "always yes"), (Answer::No, "no"), (Answer::Leave, "no")]
            }
            Self::Approval(_, AnswerChoices::Always) => &[
                (Answer::Once, "yes"),
                (Answer::Session, "yes, for this session"),
                (Answer::Always, "yes, always"),
                (Answer::Everywhere, "yes, in every project"),
                (Answer::No, "no"),
                (Answer::Words, "no, and say why"),
                (Answer::Leave, "no"),
            ],
            Self::Approval(_, AnswerChoices::Session) => &[
                (Answer::Once, "yes"),
                (Answer::Session, "yes, for this session"),
                (Answer::No, "no"),
                (Answer::Words, "no, and say why"),
                (Answer::Leave, "no"),
            ],
            Self::Approval(_, AnswerChoices::Words) => {
                &[(Answer::Once, "yes"), (Answer::No, "no"), (Answer::Words, "no, and say why"), (Answer::Leave, "no")]
            }
            Self::Approval(_, AnswerChoices::Form) => {
                &[(Answer::Once, "fill it in"), (Answer::No, "no"), (Answer::Leave, "no")]
            }
            Self::Approval(_, AnswerChoices::Plan) => &[
                (Answer::Once, "accept, and ask before changes"),
                (Answer::Session, "accept, and edit without asking"),
                (Answer::No, "keep planning"),
                (Answer::Words, "keep planning, and say why"),
                (Answer::Leave, "keep planning"),
            ],
            Self::Approval(_, AnswerChoices::MoreCalls) => &[
                (Answer::Once, "go on"),
                (Answer::No, "answer from what was found"),
                (Answer::Leave, "answer from what was found"),
            ],
            Self::Approval(_, AnswerChoices::Agent { several: true }) => &[
                (Answer::Once, "send the marked answers"),
                (Answer::Words, "answer in your own words"),
                (Answer::No, "no answer: it decides itself"),
                (Answer::Leave, "later"),
            ],
            Self::Approval(_, AnswerChoices::Agent { several: false }) => &[
                (Answer::Words, "answer in your own words"),
                (Answer::No, "no answer: it decides itself"),
                (Answer::Leave, "later"),
            ],
            Self::Switch(_, Rewind::Offered) => &[
                (Answer::Once, "conversation only"),
                (Answer::Session, "conversation and files"),
                (Answer::No, "no"),
                (Answer::Leave, "no"),
            ],
            Self::Rule(_) => &[
                (Answer::Once, "a rule of this session"),
                (Answer::Always, "that, and a line of AGENTS.md"),
                (Answer::No, "neither: send it as it stands"),
                (Answer::Leave, "back to the message"),
            ],
            Self::Quit | Self::StopJob(_) | Self::Undo(_) | Self::Switch(_, Rewind::Nothing) => {
                &[(Answer::Once, "yes"), (Answer::No, "no"), (Answer::Leave, "no")]
            }
            Self::Approval(_, AnswerChoices::Nothing) => {
                &[(Answer::Once, "yes"), (Answer::No, "no"), (Answer::Leave, "not now")]
            }
        }
    }

    /// Returns what a yes to the program's own question is for; `None` where another answer is needed to know.
    pub fn decided(&self) -> Option<PaneEffect> {
        match self {
            Self::New => Some(conversation::begin_anew()),
            Self::Reset => Some(conversation::reset()),
            Self::Quit => Some(PaneEffect::Outside(Effect::Quit)),
            Self::Undo(scope) => Some(undo::confirmed(scope.clone())),
            Self::StopJob(job) => Some(Request::StopJob { job: job.clone() }.into()),
            Self::StillTrue(_) | Self::Unfinished(_) | Self::Rule(_) | Self::Switch(..) | Self::Approval(..) => None,
        }
    }

    /// Tells whether a key or a command of the user has led to it just now: it comes before what others ask.
    fn is_asked_by_user(&self) -> bool {
        match self {
            Self::New
            | Self::Reset
            | Self::Quit
            | Self::Undo(_)
            | Self::StopJob(_)
            | Self::Rule(_)
            | Self::Switch(..) => true,
            Self::StillTrue(_) | Self::Unfinished(_) | Self::Approval(..) => false,
        }
    }

    /// Tells whether a yes counts only once the end of the detail was on the screen.
    pub fn must_be_read(&self) -> bool {
        match self {
            Self::Approval(..) | Self::Undo(_) | Self::Rule(_) | Self::Switch(_, Rewind::Offered) => true,
            Self::StillTrue(_)
            | Self::Unfinished(_)
            | Self::New
            | Self::Reset
            | Self::Quit
            | Self::StopJob(_)
            | Self::Switch(_, Rewind::Nothing) => false,
        }
    }
}

/// Why a key did not answer.
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

/// The selected answer of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Selected {
    id: QuestionId,
    /// Its place among the numbered answers.
    row: usize,
    /// The digit that selected it; `None` when an arrow did.
    digit: Option<char>,
}

/// What is asked, the oldest first, and what arming needs.
#[derive(Debug, Clone, Default)]
pub struct Questions {
    queue: VecDeque<(QuestionId, Question)>,
    /// What the user wants to answer later, the oldest first.
    put_off: Vec<(QuestionId, Question)>,
    /// The options of the shown question that are marked, where several may be chosen.
    marked: Vec<usize>,
    count: u64,
    /// What was left unanswered and is not asked again while it lasts.
    left: Vec<QuestionSubject>,
    /// What needs no question any more in this session.
    waived: Vec<QuestionSubject>,
    /// The question that the terminal shows, and since when.
    shown: Option<(QuestionId, Timestamp)>,
    last_key: Option<Timestamp>,
    gone: Option<Timestamp>,
    /// The question whose detail was on the screen up to its end.
    read: Option<QuestionId>,
    /// The question that a line or a command answers which is being typed.
    for_line: Option<QuestionId>,
    selected: Option<Selected>,
    /// The last frame's part of the detail.
    seen: Option<ShownQuestion>,
    /// The first line of the detail that is shown.
    pub top: usize,
}

impl Questions {
    /// Puts a question at the end of the queue, or before the others where the user has asked for it, unless its subject is asked about already or was left unanswered.
    pub fn ask_once(&mut self, question: Question) {
        let is_known = self.all().any(|(_, known)| known.subject == question.subject);
        if !is_known && !self.left.contains(&question.subject) {
            self.count += 1;
            let question = (QuestionId::new(self.count), question);
            if question.1.subject.is_asked_by_user() {
                // Behind what the user has asked for before.
                let is_of_user = |(_, known): &&(QuestionId, Question)| known.subject.is_asked_by_user();
                let place = self.queue.iter().take_while(is_of_user).count();
                self.queue.insert(place, question);
                if place == 0 {
                    self.top = 0;
                    self.marked.clear();
                }
            } else {
                self.queue.push_back(question);
            }
        }
    }

    /// Returns all questions, those that were put off behind the others.
    pub fn all(&self) -> impl Iterator<Item = &(QuestionId, Question)> {
        self.queue.iter().chain(&self.put_off)
    }

    /// Returns how many questions were put off.
    pub fn put_off_count(&self) -> usize {
        self.put_off.len()
    }

    /// Puts the shown question off.
    pub fn put_off(&mut self, now: Timestamp) {
        if let Some(question) = self.queue.pop_front() {
            self.put_off.push(question);
            self.moved_on(now);
        }
    }

    /// Shows the question with this number before the others; false when there is none.
    pub fn show(&mut self, number: u64, now: Timestamp) -> bool {
        let is_it = |(id, _): &(QuestionId, Question)| id.number() == number;
        let found = match self.put_off.iter().position(is_it) {
            Some(place) => Some(self.put_off.remove(place)),
            None => self.queue.iter().position(is_it).and_then(|place| self.queue.remove(place)),
        };
        let Some(question) = found else { return false };
        let was_current = self.current_id();
        self.queue.push_front(question);
        if self.current_id() != was_current {
            self.moved_on(now);
        }
        true
    }

    /// Tells whether an option of the shown question is marked.
    pub fn is_marked(&self, index: usize) -> bool {
        self.marked.contains(&index)
    }

    /// Marks an option of the shown question, or no longer.
    pub fn toggle(&mut self, index: usize) {
        match self.marked.iter().position(|marked| *marked == index) {
            Some(place) => {
                self.marked.remove(place);
            }
            None => self.marked.push(index),
        }
        self.marked.sort_unstable();
    }

    /// Returns the marked options of the shown question.
    pub fn marked(&self) -> Vec<String> {
        let options = self.current().map(|question| question.options.as_slice()).unwrap_or_default();
        self.marked.iter().filter_map(|index| Some(options.get(*index)?.label.clone())).collect()
    }

    pub fn current(&self) -> Option<&Question> {
        self.queue.front().map(|(_, question)| question)
    }

    pub fn current_id(&self) -> Option<QuestionId> {
        self.queue.front().map(|(id, _)| *id)
    }

    pub fn len(&self) -> usize {
        self.queue.len()
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Takes away what is no longer to be asked; it may be asked about again.
    pub fn retain(&mut self, now: Timestamp, keep: impl Fn(&QuestionSubject) -> bool) {
        let current = self.current_id();
        self.left.retain(&keep);
        self.queue.retain(|(_, question)| keep(&question.subject));
        self.put_off.retain(|(_, question)| keep(&question.subject));
        if self.current_id() != current {
            self.moved_on(now);
        }
    }

    /// Takes the shown question: it is answered.
    pub fn take_question(&mut self, now: Timestamp) -> Option<Question> {
        let (_, question) = self.queue.pop_front()?;
        self.moved_on(now);
        Some(question)
    }

    /// Does not ask about this again while it lasts.
    pub fn leave(&mut self, subject: QuestionSubject) {
        self.left.push(subject);
    }

    /// Asks about this no more in this session.
    pub fn waive(&mut self, subject: QuestionSubject) {
        self.waived.push(subject);
    }

    /// Tells whether this needs no question any more.
    pub fn is_waived(&self, subject: &QuestionSubject) -> bool {
        self.waived.contains(subject)
    }

    /// Notes that a key or a paste was read at this moment.
    pub fn note_input(&mut self, at: Timestamp) {
        // Not the later of the two: a clock that was set back would keep every question from being armed.
        self.last_key = Some(at);
        self.shown = self.shown.map(|(id, since)| (id, since.min(at)));
    }

    /// Tells whether nothing was typed for so long that nobody types blindly any more.
    pub fn is_quiet(&self, now: Timestamp) -> bool {
        let quiet = |key: Timestamp| key.checked_add(limits::QUESTION_QUIET).unwrap_or(Timestamp::MAX) <= now;
        self.last_key.is_none_or(quiet)
    }

    /// Returns the place of the selected answer among the numbered ones.
    pub fn selected(&self) -> Option<usize> {
        self.selected.filter(|selected| Some(selected.id) == self.current_id()).map(|selected| selected.row)
    }

    pub fn selected_answer(&self) -> Option<NumberedAnswer> {
        let row = self.selected()?;
        self.current()?.numbered().get(row).map(|(answer, _)| *answer)
    }

    /// Selects the answer with this number; false when there is none, or the question is not armed at this moment.
    pub fn select_digit(&mut self, digit: char, at: Timestamp) -> bool {
        let row = usual_width(digit).to_digit(10).and_then(|number| usize::try_from(number).ok()?.checked_sub(1));
        // Who has selected an answer answers this question: what comes next is for it too.
        let is_used = self.selected().is_some();
        let (Some(id), Some(row)) = (self.current_id().filter(|_| is_used || self.armed(at)), row) else {
            return false;
        };
        let is_there = self.current().is_some_and(|question| row < question.numbered().len());
        if is_there {
            self.selected = Some(Selected { id, row, digit: Some(digit) });
        }
        is_there
    }

    /// Tells whether a digit has selected the answer: with another one it is a text.
    pub fn is_digit_typed(&self) -> bool {
        self.selected().is_some() && self.selected.is_some_and(|selected| selected.digit.is_some())
    }

    /// Selects this answer, for which nothing stands in the message.
    pub fn select_answer(&mut self, answer: NumberedAnswer) {
        let row =
            self.current().and_then(|question| question.numbered().iter().position(|(known, _)| *known == answer));
        self.selected = self.current_id().zip(row).map(|(id, row)| Selected { id, row, digit: None });
    }

    /// Selects the answer before or after the selected one; false when the question is not armed at this moment.
    pub fn select_next(&mut self, is_down: bool, at: Timestamp) -> bool {
        let Some(id) = self.current_id().filter(|_| self.selected().is_some() || self.armed(at)) else { return false };
        let last = self.current().map_or(0, |question| question.numbered().len().saturating_sub(1));
        let row = match (self.selected(), is_down) {
            (None, true) => 0,
            (None, false) => last,
            (Some(row), true) => (row + 1).min(last),
            (Some(row), false) => row.saturating_sub(1),
        };
        self.selected = Some(Selected { id, row, digit: None });
        true
    }

    /// Selects nothing any more; returns the digit that had selected an answer: it is text now.
    pub fn unselect(&mut self) -> Option<char> {
        self.selected.take().and_then(|selected| selected.digit)
    }

    /// Selects nothing any more; tells whether an answer was selected.
    pub fn unselect_answer(&mut self) -> bool {
        let was_selected = self.selected().is_some();
        self.selected = None;
        was_selected
    }

    /// Notes that a line is begun at this moment: it can answer what a key could.
    pub fn line_begins(&mut self, at: Timestamp) {
        self.for_line = if self.armed(at) { self.current_id() } else { None };
    }

    /// Says why the line that was typed would not answer; `None` when it would. One that names the question answers what
    /// was shown, whenever it was begun: nobody can have known the number before.
    pub fn unarmed_line(&self, named: Option<u64>, at: Timestamp) -> Option<Unarmed> {
        let Some(current) = self.current_id() else { return self.unarmed(at) };
        match (named, self.is_shown()) {
            (_, false) => Some(Unarmed::Hidden),
            (Some(number), true) if number == current.number() => None,
            (Some(_), true) => Some(Unarmed::Gone),
            (None, true) if self.for_line == Some(current) => None,
            (None, true) => Some(Unarmed::Typing),
        }
    }

    /// Notes which question a frame that was just drawn holds; another one, or none, disarms at once.
    pub fn drawn(&mut self, question: Option<ShownQuestion>) {
        self.shown = self.shown.filter(|(shown, _)| question.is_some_and(|seen| seen.id == *shown));
        self.selected = self.selected.filter(|selected| question.is_some_and(|seen| seen.id == selected.id));
        self.seen = question;
        if let Some(seen) = question {
            self.top = seen.top;
        }
    }

    /// Notes that the terminal has taken the frame: what it shows can be read from now on.
    pub fn shown(&mut self, question: Option<ShownQuestion>, at: Timestamp) {
        let id = question.map(|seen| seen.id);
        let since = self.shown.filter(|(shown, _)| Some(*shown) == id).map_or(at, |(_, since)| since);
        self.shown = id.map(|id| (id, since));
        if let Some(ShownQuestion { id, below: 0, .. }) = question {
            self.read = Some(id);
        }
    }

    /// Tells whether a yes counts: the detail was on the screen up to its end, or need not be.
    pub fn is_read(&self) -> bool {
        let may_be_skipped = self.current().is_none_or(|question| !question.subject.must_be_read());
        may_be_skipped || self.read.is_some() && self.read == self.current_id()
    }

    /// Returns the lines of the detail below the part that the last frame has shown.
    pub fn below(&self) -> usize {
        self.seen.map_or(0, |seen| seen.below)
    }

    /// Tells whether the terminal shows the current question.
    pub fn is_shown(&self) -> bool {
        self.current_id().is_some_and(|current| self.shown.is_some_and(|(id, _)| id == current))
    }

    /// Tells whether some of the detail is not on the screen.
    pub fn is_longer(&self) -> bool {
        self.top > 0 || self.below() > 0
    }

    /// Scrolls the detail by what is shown of it, one line excepted, or to its start or end; the next frame keeps it
    /// within its bounds.
    pub fn page(&mut self, to: Travel) {
        let page = usize::from(self.seen.map_or(1, |seen| seen.shown.saturating_sub(1).max(1)));
        self.top = to.from(self.top, page);
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
        self.selected = None;
        self.marked.clear();
        self.shown = None;
        self.seen = None;
        self.top = 0;
        self.gone = Some(now);
    }
}

/// Returns the usual form of a wide letter, digit or sign, as keyboards for Chinese and Japanese write them.
pub(super) fn usual_width(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        _ => c,
    }
}
