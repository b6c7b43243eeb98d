//! What several panes share: which there are, what lies where on the screen, the pointer, the causes of messages, what is
//! written as lines. No I/O, no clock, no knowledge of the view.
//!
//! # Where things are
//!
//! - gauge, compaction, budget and notes on the screen: `src/tui/conversation.rs`; tests: `long_conversations.rs`
//! - receipts in the transcript: `src/tui/update/apply_update.rs`, `src/tui/view/receipt.rs`; tests: `receipt_marks.rs`,
//!   `tests/session/receipt_lives.rs`, `tests/pty/receipts.rs`
//! - the mouse: what lies where, clicks, wheel, drags: `src/tui/update/mouse.rs`; tests:
//!   `mouse.rs`

use jiff::{SignedDuration, Timestamp};
use ratatui::layout::{Position, Rect};
use serde::{Deserialize, Serialize};

use steersman_base::id::{AgentId, MessageId};
use steersman_base::limits;

pub use crate::app::App;

/// Columns from which there is room for more than one pane.
pub const MEDIUM: u16 = 60;
/// Columns from which tree, transcript and details stand beside each other.
pub const BROAD: u16 = 140;
/// Columns left of the composer's text.
pub const PROMPT_COLUMNS: u16 = 2;

/// The number of one question of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct QuestionId(u64);

impl QuestionId {
    /// Makes the id of the question with this number, from 1.
    pub fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number by which an answer can name it.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// The cause of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    Question(QuestionId),
    /// The end of this question was not on the screen yet.
    Unread(QuestionId),
    /// No answer of this question is selected.
    Unselected(QuestionId),
    /// The message holds exactly this text.
    Message(String),
    /// The message holds something else than a draft.
    NoDraft,
    /// An Esc that did nothing else.
    Escape,
    /// An Esc that stops what runs when it comes again.
    Stop,
    Turn,
    NoTurn,
    NothingPending,
}

/// What the state is shown on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Medium {
    /// Frames are drawn.
    #[default]
    Screen,
    /// Lines are written, one after the other; the message being written is the line being typed.
    Lines,
}

/// One thing that the user wants written as lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    Help,
    /// The page of the manual on this topic, else what these words find in all pages.
    Manual(String),
    /// What is going on, in a few lines.
    Status,
    Cost,
    /// The agents, those that run before the others.
    Agents,
    Pending,
    /// What became of every text that was sent.
    Ledger,
    /// The entry of the transcript with this number, whole; the list of entries for none.
    Entry(Option<usize>),
    /// The entries of the transcript that hold these words.
    Find(String),
    /// The rest of a question.
    More,
    /// The arguments of the call before which the read agent waits.
    Arguments,
}

/// The pane that has the focus.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pane {
    /// The message being written.
    #[default]
    Composer,
    /// The search of what was sent before.
    History,
    Tree,
    Filter,
    Transcript,
    /// The search in it, while it is typed.
    Search,
    /// The panel of a paused agent.
    Pause,
    Pending,
    Details,
}

impl Pane {
    /// Returns the pane that it is a part of.
    #[must_use]
    pub fn whole(self) -> Self {
        match self {
            Self::Filter => Self::Tree,
            Self::Search => Self::Transcript,
            Self::History => Self::Composer,
            Self::Composer | Self::Tree | Self::Transcript | Self::Pause | Self::Pending | Self::Details => self,
        }
    }
}

/// The button that is down, and the last press.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pointer {
    pub grip: Option<Grip>,
    /// Whom the mouse belongs to.
    pub mode: MouseMode,
    last: Option<(Position, Timestamp, Presses)>,
}

/// What the pointer holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grip {
    /// Text of a transcript: from the press to where the pointer was last.
    Text {
        agent: AgentId,
        /// Where the button went down.
        from: Point,
        /// Where the pointer was last.
        to: Point,
    },
    /// A line between panes.
    Divider(Divider),
}

/// How often the button went down at one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presses {
    /// Once.
    One,
    /// A second time, shortly after the first.
    Two,
    /// A third time, shortly after the second.
    Three,
}

impl Pointer {
    /// Notes that the button went down; a fourth press at a place is a first one again.
    pub fn press(&mut self, place: Position, at: Timestamp) -> Presses {
        self.grip = None;
        let within = SignedDuration::try_from(limits::DOUBLE_CLICK).unwrap_or(SignedDuration::MAX);
        let before = self.last.filter(|(known, since, _)| *known == place && at.duration_since(*since) <= within);
        let presses = match before.map(|(_, _, presses)| presses) {
            None | Some(Presses::Three) => Presses::One,
            Some(Presses::One) => Presses::Two,
            Some(Presses::Two) => Presses::Three,
        };
        self.last = Some((place, at, presses));
        presses
    }
}

/// Whom the mouse belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MouseMode {
    #[default]
    On,
    /// The terminal, which selects text with it.
    Off,
}

/// What a pointer can point at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Region {
    /// A pane with its title, where nothing more exact lies on it.
    Pane(Pane),
    /// A visible line of the shown transcript.
    Line(ShownLine),
    Agent(AgentId),
    /// The row that counts the ended children of this agent.
    Ended(AgentId),
    /// A text that waits for delivery.
    Entry(MessageId),
    Text,
    /// A line between panes that can be drawn elsewhere.
    Divider(Divider),
    Tab(Pane),
    /// What could stand behind what is being typed, by its place in the list.
    Offer(usize),
    Question,
    /// Everything behind an overlay.
    Behind,
    /// An overlay, where nothing more exact lies on it.
    Overlay,
    OverlayRow(usize),
}

/// A line between panes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Divider {
    /// Between the tree and the transcript beside it.
    TreeColumn,
    /// Between the tree and the transcript beneath it.
    TreeRow,
    /// Between the transcript and the details beside it.
    DetailsColumn,
    /// Between the details and the transcript beneath them.
    DetailsRow,
}

/// One cell of a transcript; ids rise with the position and are never used again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CellId(usize);

impl CellId {
    pub(crate) fn new(index: usize) -> Self {
        Self(index)
    }

    /// Returns the position in the transcript, from 0.
    pub fn index(self) -> usize {
        self.0
    }
}

/// A line of the transcript, as a frame showed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownLine {
    pub cell: CellId,
    /// The line within it, from 0, a blank one above its head included.
    pub line: usize,
    /// Columns of the mark left of its text.
    pub indent: u16,
    /// What it is within its cell.
    pub part: Part,
}

/// Which part of a cell a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The blank line above it.
    Gap,
    /// Its first line.
    Head,
    /// Any other.
    Body,
}

/// A place in the text of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    pub cell: CellId,
    /// The line within it, as in [`ShownLine::line`].
    pub line: usize,
    /// The column within the line's text, from 0; may lie behind its end.
    pub column: u16,
}

/// What lies where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Regions {
    spots: Vec<(Rect, Region)>,
}

impl Regions {
    /// Puts a region on top of what is there; an empty area is left out.
    pub fn add(&mut self, area: Rect, region: Region) {
        if !area.is_empty() {
            self.spots.push((area, region));
        }
    }

    /// Returns what lies on top at a place, and where it lies.
    pub fn at(&self, place: Position) -> Option<(Rect, &Region)> {
        self.spots.iter().rev().find(|(area, _)| area.contains(place)).map(|(area, region)| (*area, region))
    }

    pub fn any(&self, is_such: impl Fn(&Region) -> bool) -> bool {
        self.spots.iter().any(|(_, region)| is_such(region))
    }

    pub fn area_of(&self, wanted: &Region) -> Option<Rect> {
        self.spots.iter().rev().find(|(_, region)| region == wanted).map(|(area, _)| *area)
    }

    /// Returns the point of the transcript's text that is nearest to a place: for a drag that may lead out of the pane.
    pub fn nearest_point(&self, place: Position) -> Option<Point> {
        let lines = self
            .spots
            .iter()
            .filter_map(|(area, region)| if let Region::Line(line) = region { Some((area, line)) } else { None });
        let (area, line) = lines.min_by_key(|(area, _)| area.y.abs_diff(place.y))?;
        let column = place.x.saturating_sub(area.x.saturating_add(line.indent)).min(area.width);
        Some(Point { cell: line.cell, line: line.line, column })
    }
}
