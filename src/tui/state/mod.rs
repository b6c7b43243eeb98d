//! What the screen shows, as values folded from events; no I/O, no clock, no knowledge of the view.
//!
//! # Where things are
//!
//! - a message of the status line goes with its cause: `cause.rs`; stories: `commands.rs`, `approval_popups.rs`
//! - gauge, compaction, budget and notes on the screen: `src/tui/update/budget.rs`; stories: `long_conversations.rs`
//! - receipts in the transcript: `src/tui/update/receipts.rs`, `src/tui/view/receipt.rs`; stories: `receipt_marks.rs`,
//!   `receipt_lives.rs`, `tests/pty/receipts.rs`
//! - the ledger: every text that was sent, what it has cost: `src/tui/update/ledger.rs`, `src/tui/view/ledger.rs`; stories:
//!   `ledger.rs`
//! - what Esc does next: `escape.rs`, `src/tui/update/escape.rs`; stories: `escape.rs`
//! - the status line: `status.rs`, `src/tui/view/status.rs`; stories: `tui_shell.rs`
//! - questions, and when a key may answer one: `question.rs`, `src/tui/update/question.rs`,
//!   `src/tui/view/question.rs`; stories: `questions.rs`, `tests/pty/questions.rs`
//! - approvals: what a question shows, when a yes counts, a no with words:
//!   `src/tui/update/approval.rs`, `src/tui/widgets/exact.rs`, `src/session/permissions.rs`; stories:
//!   `approval_popups.rs`, `tests/pty/approvals.rs`
//! - undo on the screen: `undo.rs`, `src/tui/update/undo.rs`; stories: `undo.rs`
//! - the approval mode and the sandbox in the status line: `src/tui/view/guards.rs`; stories:
//!   `modes.rs`
//! - the mouse: what lies where, clicks, wheel, drags: `regions.rs`, `src/tui/update/mouse.rs`; stories:
//!   `mouse.rs`

pub mod alerts;
pub mod attention;
pub mod cause;
pub mod clock;
mod draft;
pub mod escape;
pub mod focus;
pub mod lines;
mod offers;
pub mod pointer;
pub mod question;
pub mod regions;
pub mod sight;
pub mod status;
pub mod target;
pub mod tree;
pub mod undo;

pub use crate::tui::app::App;

use crate::id::AgentId;
use crate::tui::transcript::cell::CellId;
use crate::tui::transcript::fold::Transcript;
use crate::tui::transcript::scroll::Scroll;
use crate::tui::transcript::search::Search;
use crate::tui::transcript::selection::{Ask, Selection};

/// Columns from which there is room for more than one pane.
pub const MEDIUM: u16 = 60;
/// Columns from which tree, transcript and details stand beside each other.
pub const BROAD: u16 = 140;
/// Columns left of the composer's text.
pub const PROMPT_COLUMNS: u16 = 2;

/// The transcript of one agent with the place of its reader.
#[derive(Debug, Clone, Default)]
pub struct Reader {
    /// The cells.
    pub transcript: Transcript,
    /// Where the reader is.
    pub scroll: Scroll,
    /// The cell that Enter folds.
    pub selected: Option<CellId>,
    /// What is searched for, and where that is.
    pub search: Option<Search>,
    /// What is selected to be copied.
    pub selection: Option<Selection>,
    /// What the layout shall say about the selection.
    pub asks: Vec<Ask>,
    /// What the layout shall copy.
    pub copying: Copying,
}

/// What the layout shall copy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Copying {
    /// Nothing.
    #[default]
    Nothing,
    /// What is selected.
    Selection,
}

/// Whether the times of the blocks are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Times {
    /// They are not.
    #[default]
    Hidden,
    /// They are.
    Shown,
}

impl Times {
    /// Returns the other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Hidden => Self::Shown,
            Self::Shown => Self::Hidden,
        }
    }
}

impl Reader {
    /// Makes the empty transcript of an agent.
    pub fn new(agent: AgentId) -> Self {
        Self { transcript: Transcript::new(agent), ..Self::default() }
    }
}
