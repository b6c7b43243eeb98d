//! One block of a transcript: what it is and how far it has come.
//!
//! Every text in a cell has passed the sanitiser; arguments of calls pass it when they are drawn. A cell never changes
//! its kind, and its revision rises with every visible change.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use crate::state::CellId;
use crate::transcript::cells::{CellGroup, CellOutline};
use crate::transcript::result::Shown;
use steersman_base::event::{JobOwner, Outcome};
use steersman_base::id::{AgentId, CallId};
use steersman_base::image::ImageDigest;
use steersman_base::message::Arguments;
use steersman_base::steering::TextKind;
use steersman_base::text::{Coloured, CommandOutput, CommandOutputReader};
use steersman_session::model::ReceiptText;

/// Whether a cell that can be collapsed shows its head only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Expansion {
    /// The head only.
    #[default]
    Collapsed,
    Expanded,
}

/// How far a text of the model has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// Deltas still come.
    Live,
    /// This is the whole text.
    Done,
    /// A cancel or a broken stream cut it.
    Interrupted,
}

/// How far a tool call has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallState {
    /// It runs; the output so far, its older part cut at a limit.
    #[serde(skip)]
    Running {
        progress: Box<CommandOutputReader>,
        /// Lines that were cut off before it.
        cut: usize,
    },
    Ended {
        /// The observation that the model gets.
        content: CommandOutput,
        /// True when the observation is an error.
        is_error: bool,
        /// How long it took, milliseconds; what it waited for the user included.
        elapsed_ms: u64,
    },
    /// The turn ended before it did; what it had printed is kept.
    Interrupted { progress: CommandOutput },
}

/// How a call stands, whatever there is to see of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallStatus {
    Running,
    /// It did what it was asked for.
    Succeeded,
    /// The tool failed, or the command that it ran.
    Failed,
    /// The turn ended before it did.
    Interrupted,
}

/// How a sub-agent stands, as its spawner sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChildState {
    Running,
    Ended {
        outcome: Outcome,
        message: Option<String>,
    },
    /// The spawner's turn ended first.
    Interrupted,
}

impl ChildState {
    pub fn label(&self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Ended { outcome: Outcome::Completed, .. } => "completed",
            Self::Ended { outcome: Outcome::Synthesized, .. } => "completed by its synthesizer",
            Self::Ended { outcome: Outcome::Cancelled, .. } => "cancelled",
            Self::Ended { outcome: Outcome::Failed, .. } => "failed",
        }
    }
}

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Level {
    /// Good to know.
    Info,
    /// Something unusual that was dealt with.
    Warning,
    /// Something broke.
    Error,
}

/// A tool call with all that is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallCell {
    /// Who makes it: the user's own are shell lines.
    pub owner: JobOwner,
    /// The call's id, not sanitised: compared, never shown.
    pub id: CallId,
    pub name: String,
    /// As the model wrote them, not sanitised.
    pub arguments: Arguments,
    /// What it is asked for, in a few words.
    pub summary: String,
    pub started: Timestamp,
    /// The sub-agent that it started.
    pub child: Option<ChildCell>,
    /// What the user was asked before it went on, in order.
    pub asked: Vec<CallQuestion>,
    /// How long it waited for the user's answers, milliseconds.
    pub waited_ms: u64,
    /// What there is to see beyond its observation.
    pub shown: Option<Shown>,
    /// True while as many calls before it run as can run together.
    pub waits: bool,
    /// How far it has come.
    pub state: CallState,
}

/// A question that a call waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallQuestion {
    /// The question's id, not sanitised: compared, never shown.
    pub id: String,
    pub at: Option<Timestamp>,
    /// What an answer for the session would cover, not sanitised.
    pub offer: Option<String>,
    /// What was answered; `None` while it is open.
    pub answer: Option<Answered>,
}

/// The answer to a question, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    pub went_on: WentOn,
    pub words: String,
}

/// Whether a call went on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WentOn {
    Yes,
    /// It was declined, or nobody answered.
    No,
}

impl CallCell {
    pub fn new(id: CallId, name: String, arguments: Arguments, summary: String, started: Timestamp) -> Self {
        let state = CallState::Running { progress: Box::default(), cut: 0 };
        let (asked, waited_ms) = (Vec::new(), 0);
        let owner = JobOwner::Agent;
        let (child, shown, waits) = (None, None, false);
        Self { owner, id, name, arguments, summary, started, child, asked, waited_ms, shown, waits, state }
    }

    /// Returns what the tool has printed so far, or its result.
    pub fn output(&self) -> &str {
        &self.printed().text
    }

    pub fn colours(&self) -> &[Coloured] {
        &self.printed().colours
    }

    fn printed(&self) -> &CommandOutput {
        match &self.state {
            CallState::Running { progress, .. } => progress.shown(),
            CallState::Interrupted { progress } => progress,
            CallState::Ended { content, .. } => content,
        }
    }

    /// Says how it stands: a command that failed is a failure, also where the tool has nothing to complain about.
    pub fn status(&self) -> CallStatus {
        match (&self.state, &self.shown) {
            (CallState::Running { .. }, _) => CallStatus::Running,
            (CallState::Interrupted { .. }, _) => CallStatus::Interrupted,
            (CallState::Ended { is_error: true, .. }, _)
            | (CallState::Ended { .. }, Some(Shown::Command { failed: true, .. })) => CallStatus::Failed,
            (CallState::Ended { is_error: false, .. }, _) => CallStatus::Succeeded,
        }
    }

    /// Returns how many lines it printed, those included that nobody was given.
    pub fn lines(&self) -> usize {
        let given = self.output().lines().count();
        match (&self.state, &self.shown) {
            (CallState::Running { cut, .. }, _) => given + cut,
            (CallState::Ended { .. }, Some(Shown::Command { lines: Some(lines), .. })) => {
                usize::try_from(*lines).unwrap_or(usize::MAX)
            }
            (CallState::Ended { .. } | CallState::Interrupted { .. }, _) => given,
        }
    }

    /// Returns how many lines of a command's output the model did not get.
    pub fn left_out(&self) -> usize {
        match &self.shown {
            Some(Shown::Command { left_out, .. }) => usize::try_from(*left_out).unwrap_or(usize::MAX),
            Some(Shown::Diff(_) | Shown::Page(_) | Shown::Images { .. }) | None => 0,
        }
    }

    /// Returns how long it took, milliseconds, without the time that it waited for the user; none before its end.
    pub fn took(&self) -> Option<u64> {
        match self.state {
            CallState::Ended { elapsed_ms, .. } => Some(elapsed_ms.saturating_sub(self.waited_ms)),
            CallState::Running { .. } | CallState::Interrupted { .. } => None,
        }
    }

    /// Returns in words why it did not run: what the user answered, or the rules; none when nobody refused it.
    pub fn refusal(&self) -> Option<&str> {
        let answers = self.asked.iter().filter_map(|asked| asked.answer.as_ref());
        answers.filter(|answer| answer.went_on == WentOn::No).map(|answer| answer.words.as_str()).next_back()
    }

    /// Tells whether a question about it is open.
    pub fn is_asking(&self) -> bool {
        self.asked.iter().any(|asked| asked.answer.is_none())
    }
}

/// One sub-agent, seen from its spawner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildCell {
    /// The sub-agent's id, not sanitised: compared, never shown.
    pub id: AgentId,
    /// The sub-agent's name.
    pub name: String,
    pub task: String,
    pub state: ChildState,
    /// Whether it goes on when the turn of its spawner ends.
    #[serde(default)]
    pub goes_on: bool,
}

/// The content of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Body {
    User {
        text: String,
        kind: TextKind,
        /// True when they entered a running turn.
        mid_loop: bool,
        /// Where they are; none for words that did not come through a queue.
        receipt: Option<ReceiptText>,
        /// The images that they have.
        images: Vec<ImageDigest>,
    },
    Thinking {
        text: String,
        stage: Stage,
    },
    /// The model's answer, Markdown.
    Assistant {
        text: String,
        stage: Stage,
    },
    Call(Box<CallCell>),
    Child(ChildCell),
    /// Older rounds that a summary stands for, or long results that were shortened.
    Compaction {
        /// What was done, in a sentence.
        head: String,
        /// The summary; empty where results were shortened only.
        summary: String,
    },
    Notice {
        level: Level,
        text: String,
    },
}

impl Body {
    /// Returns what stands before the user's words: their kind, where that is not the usual one, and that a turn ran.
    pub fn label(&self) -> String {
        let Self::User { kind, mid_loop, .. } = self else { return String::new() };
        let kind = (*kind != TextKind::Add).then(|| kind.name());
        let when = mid_loop.then_some("while it worked");
        kind.into_iter().chain(when).collect::<Vec<_>>().join(", ")
    }

    /// Returns what it has in common with what it stands beside without a blank row.
    pub fn group(&self) -> CellGroup {
        match self {
            Self::Call(_) | Self::Child(_) => CellGroup::Work,
            Self::Notice { .. } => CellGroup::Notice,
            Self::User { .. } | Self::Thinking { .. } | Self::Assistant { .. } | Self::Compaction { .. } => {
                CellGroup::Text
            }
        }
    }

    pub fn call(&self) -> Option<&CallCell> {
        if let Self::Call(call) = self { Some(call) } else { None }
    }

    pub(crate) fn call_mut(&mut self) -> Option<&mut CallCell> {
        if let Self::Call(call) = self { Some(call) } else { None }
    }

    /// Returns the sub-agent that it shows, alone or beside the call that started it.
    pub fn child(&self) -> Option<&ChildCell> {
        if let Self::Child(child) = self { Some(child) } else { self.call()?.child.as_ref() }
    }

    /// Returns the sub-agent that it shows to change it.
    pub(crate) fn child_mut(&mut self) -> Option<&mut ChildCell> {
        if let Self::Child(child) = self { Some(child) } else { self.call_mut()?.child.as_mut() }
    }
}

/// One block of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    id: CellId,
    revision: u32,
    rewrites: u32,
    /// When it came, milliseconds since 1970; 0 when that is not known.
    at: i64,
    /// How long its text took, milliseconds; 0 when that is not known.
    took: u32,
    #[serde(skip)]
    expansion: Expansion,
    body: Body,
}

impl Cell {
    pub(crate) fn new(id: CellId, body: Body, at: Option<Timestamp>) -> Self {
        let at = at.map_or(0, Timestamp::as_millisecond);
        Self { id, revision: 0, rewrites: 0, at, took: 0, expansion: Expansion::Collapsed, body }
    }

    pub fn at(&self) -> Option<Timestamp> {
        (self.at != 0).then(|| Timestamp::from_millisecond(self.at).ok()).flatten()
    }

    /// Returns how long it took, milliseconds: a call, or a text that was seen from its beginning.
    pub fn took(&self) -> Option<u64> {
        match self.body.call() {
            Some(call) => call.took(),
            None => (self.took > 0).then_some(self.took.into()),
        }
    }

    /// Notes that its text or its agent is at the end.
    pub(crate) fn ended(&mut self, at: Option<Timestamp>) {
        if let Some(at) = at.filter(|_| self.at != 0) {
            self.took = u32::try_from(at.as_millisecond() - self.at).unwrap_or(0);
        }
    }

    pub fn id(&self) -> CellId {
        self.id
    }

    /// Returns a number that rises with every visible change.
    pub fn revision(&self) -> u64 {
        self.revision.into()
    }

    /// Returns a number that rises when the text changed otherwise than by growing at its end.
    pub fn rewrites(&self) -> u64 {
        self.rewrites.into()
    }

    pub fn body(&self) -> &Body {
        &self.body
    }

    /// Gives the content to change it; counts as a visible change.
    pub(crate) fn change(&mut self) -> &mut Body {
        self.revision += 1;
        &mut self.body
    }

    /// Ends a text of the model: takes over what differs from the deltas, and how far it came.
    pub(crate) fn end_text(&mut self, whole: &str, end: Stage) {
        let (Body::Thinking { text, stage } | Body::Assistant { text, stage }) = &mut self.body else { return };
        self.revision += 1;
        *stage = end;
        if let Some(more) = whole.strip_prefix(text.as_str()) {
            text.push_str(more);
        } else {
            whole.clone_into(text);
            self.rewrites += 1;
        }
        text.shrink_to_fit();
    }

    /// Tells whether the cell has more to show than its head.
    pub fn can_collapse(&self) -> bool {
        match &self.body {
            Body::Thinking { stage, .. } => *stage != Stage::Live,
            Body::Compaction { summary, .. } => !summary.is_empty(),
            Body::Call(_) => true,
            Body::User { .. } | Body::Assistant { .. } | Body::Child(_) | Body::Notice { .. } => false,
        }
    }

    /// Returns what is shown: the head only, or everything.
    pub fn expansion(&self) -> Expansion {
        if self.can_collapse() { self.expansion } else { Expansion::Expanded }
    }

    pub(crate) fn set_expansion(&mut self, expansion: Expansion) {
        if self.can_collapse() && self.expansion != expansion {
            self.expansion = expansion;
            self.revision += 1;
        }
    }

    /// Collapses it as it was before it was put away.
    pub(super) fn restore_expansion(&mut self, expansion: Expansion) {
        if self.can_collapse() {
            self.expansion = expansion;
        }
    }

    /// Returns the images that it shows as it is collapsed.
    pub fn images(&self) -> &[ImageDigest] {
        match &self.body {
            Body::User { images, .. } => images,
            Body::Call(call) if self.expansion == Expansion::Expanded => call.shown.as_ref().map_or(&[], Shown::images),
            Body::Call(_)
            | Body::Thinking { .. }
            | Body::Assistant { .. }
            | Body::Child(_)
            | Body::Compaction { .. }
            | Body::Notice { .. } => &[],
        }
    }

    /// Tells whether nothing more is expected of it.
    pub fn is_settled(&self) -> bool {
        match &self.body {
            Body::Thinking { stage, .. } | Body::Assistant { stage, .. } => *stage != Stage::Live,
            Body::Call(call) => !matches!(call.state, CallState::Running { .. }),
            Body::User { .. } | Body::Compaction { .. } | Body::Child(_) | Body::Notice { .. } => true,
        }
    }

    /// Returns what a layout has to know of it.
    pub fn outline(&self) -> CellOutline {
        let bytes = if let Body::Compaction { head, summary } = &self.body {
            head.len() + summary.len()
        } else {
            self.source().len()
        };
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        CellOutline { expansion: self.expansion(), group: self.body.group(), can_collapse: self.can_collapse(), bytes }
    }
}
