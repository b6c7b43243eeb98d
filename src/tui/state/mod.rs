//! What the screen shows, as values folded from events; no I/O, no clock, no knowledge of the view.
//!
//! # Where things are
//!
//! - a message of the status line goes with its cause: `cause.rs`; stories: `commands.rs`, `approval_popups.rs`
//! - gauge, compaction, budget and notes on the screen: `budget.rs`, `src/tui/update/budget.rs`; stories:
//!   `long_conversations.rs`
//! - search in a transcript: what is typed, what is found, piece by piece: `search.rs`,
//!   `src/tui/update/search.rs`, `src/tui/view/finds.rs`, `src/tui/view/needle.rs`, `src/tui/view/sift.rs`;
//!   stories: `reading.rs`, `tests/pty/reading.rs`
//! - the transcript: cells, folding, scrolling: `transcript.rs`, `src/tui/view/transcript.rs`; stories:
//!   `transcript.rs`, `scrolling.rs`
//! - receipts: pending, delivered, seen: `receipts.rs`, `told.rs`, `src/tui/view/receipt.rs`; stories:
//!   `receipt_marks.rs`, `receipt_lives.rs`, `tests/pty/receipts.rs`
//! - the ledger: every text that was sent, what it has cost: `ledger.rs`, `src/tui/update/ledger.rs`,
//!   `src/tui/view/ledger.rs`; stories: `ledger.rs`
//! - hold and step: the call that would run next, its arguments, skipping it: `hold.rs`,
//!   `src/tui/update/hold.rs`, `src/tui/view/gate.rs`; stories: `hold.rs`, `tests/pty/hold.rs`
//! - the pending list: keys, edits, answers: `pending.rs`, `src/tui/update/pending.rs`,
//!   `src/tui/update/editing.rs`, `src/tui/view/pending.rs`; stories: `pending_list.rs`, `pending_lives.rs`,
//!   `tests/pty/pending.rs`
//! - what Esc does next: `escape.rs`, `src/tui/update/escape.rs`; stories: `escape.rs`
//! - the status line: `status.rs`, `src/tui/view/status.rs`; stories: `tui_shell.rs`
//! - questions, and when a key may answer one: `question.rs`, `src/tui/update/question.rs`,
//!   `src/tui/view/question.rs`; stories: `questions.rs`, `tests/pty/questions.rs`
//! - approvals: what a question shows, when a yes counts, a no with words: `approval.rs`,
//!   `src/tui/update/approval.rs`, `src/tui/view/exact.rs`, `src/session/permissions.rs`; stories:
//!   `approval_popups.rs`, `tests/pty/approvals.rs`
//! - undo on the screen: `undo.rs`, `src/tui/update/undo.rs`; stories: `undo.rs`
//! - the approval mode and the sandbox in the status line: `guards.rs`, `src/tui/view/guards.rs`; stories:
//!   `modes.rs`
//! - the mouse: what lies where, clicks, wheel, drags: `regions.rs`, `src/tui/update/mouse.rs`; stories:
//!   `mouse.rs`

pub mod alerts;
pub mod approval;
pub mod attention;
pub mod budget;
pub mod cause;
pub mod cell;
pub mod clock;
pub mod colours;
mod draft;
pub mod escape;
pub mod focus;
pub mod guards;
pub mod hold;
pub mod ledger;
pub mod lines;
mod live;
mod offers;
pub mod pending;
pub mod pointer;
pub mod question;
pub mod receipts;
pub mod regions;
pub mod result;
pub mod scroll;
pub mod search;
pub mod selection;
pub mod sight;
mod source;
pub mod status;
pub mod target;
pub mod told;
pub mod transcript;
pub mod tree;
pub mod undo;

use std::borrow::Cow;
use std::collections::HashMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::layout::Size;
use unicode_width::UnicodeWidthStr as _;

use crate::id::AgentId;
use crate::protocol::BudgetStatus;
use crate::tui::help::Help;
use crate::tui::keymap::Keymap;
use crate::tui::message::Message;
use crate::tui::sessions::Choices;
use crate::tui::theme::{Theme, Themes};
use alerts::Alerts;
use attention::{Attention, MouseMode};
use cell::{CellId, Level};
use colours::Colours;
use focus::{Focus, Pane};
use guards::Guards;
use hold::Holds;
use lines::Medium;
use pending::PendingList;
use pointer::Pointer;
use question::Questions;
use receipts::{Receipt, Receipts};
use regions::Regions;
use scroll::Scroll;
use search::Search;
use selection::{Ask, Selection};
use sight::{Settled, Sight};
use status::Status;
use transcript::Transcript;
use tree::{Details, Tree};

/// Columns from which there is room for more than one pane.
pub const MEDIUM: u16 = 60;
/// Columns from which tree, transcript and details stand beside each other.
pub const BROAD: u16 = 140;
/// Columns of the longest reply that the status line shows.
const REPLY_COLUMNS: usize = 72;
/// Columns left of the composer's text.
pub const PROMPT_COLUMNS: u16 = 2;

/// Everything that a frame is drawn from.
#[derive(Debug)]
pub struct App {
    /// The size of the screen.
    pub size: Size,
    /// The moment of the last message that carried one.
    pub now: Timestamp,
    /// The styles.
    pub theme: Theme,
    /// The themes, and which of them the styles are.
    pub themes: Themes,
    /// Where all this is told.
    pub medium: Medium,
    /// Where the keys go.
    pub focus: Focus,
    /// Help, as it was opened last.
    pub help: Help,
    /// Every text that the user writes.
    pub message: Message,
    /// The agents.
    pub tree: Tree,
    /// The texts that wait for delivery.
    pub pending: PendingList,
    /// What became of every text that was sent.
    pub receipts: Receipts,
    /// Which agents are held, and where each waits.
    pub holds: Holds,
    /// What the user is asked.
    pub questions: Questions,
    /// What keeps tools within bounds.
    pub guards: Guards,
    /// What the session may spend and has spent.
    pub budget: BudgetStatus,
    /// The status line.
    pub status: Status,
    /// How far the tree and the details are scrolled, and how wide they are.
    pub sight: Sight,
    /// What was searched for in this session, the newest last.
    pub searches: Vec<String>,
    /// Whether the times of the blocks are shown.
    pub times: Times,
    /// The zone that times are shown in.
    pub zone: TimeZone,
    /// What was copied, in words, until it is known how.
    pub copied: Option<String>,
    /// What lies where on the screen, as it was drawn last.
    pub regions: Regions,
    /// What the pointer holds.
    pub pointer: Pointer,
    /// Whether the terminal has the focus; `None` as long as it has not said so.
    pub attention: Option<Attention>,
    /// The colours of code that are known.
    pub colours: Colours,
    /// What the user is told who does not look.
    pub alerts: Alerts,
    /// Whom the mouse belongs to.
    pub mouse: MouseMode,
    /// The list of sessions or messages, as it was opened last.
    pub choices: Choices,
    /// The session that was asked for by its name, until the list is known.
    pub wanted_session: Option<String>,
    /// The keys in force.
    pub keymap: Keymap,
    /// The name of the directory that is worked in (untrusted).
    pub place: String,
    /// The name that the session is saved by, if it is.
    pub session: Option<String>,
    /// The branch of its repository, if it lies in one (untrusted).
    pub branch: String,
    /// True once a new conversation was asked for, until it begins.
    new_at_reset: bool,
    readers: HashMap<AgentId, Reader>,
}

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

impl App {
    /// Makes an empty screen.
    pub fn new(size: Size, now: Timestamp, status: Status, themes: Themes) -> Self {
        let main = AgentId::main();
        let mut app = Self {
            size,
            now,
            theme: themes.worn(),
            themes,
            medium: Medium::default(),
            focus: Focus::default(),
            help: Help::default(),
            message: Message::default(),
            new_at_reset: false,
            tree: Tree::default(),
            pending: PendingList::default(),
            receipts: Receipts::default(),
            holds: Holds::default(),
            questions: Questions::default(),
            guards: Guards::default(),
            budget: BudgetStatus::default(),
            status,
            sight: Sight::default(),
            searches: Vec::new(),
            times: Times::default(),
            zone: TimeZone::UTC,
            copied: None,
            regions: Regions::default(),
            pointer: Pointer::default(),
            attention: None,
            colours: Colours::default(),
            alerts: Alerts::default(),
            mouse: MouseMode::default(),
            choices: Choices::default(),
            wanted_session: None,
            keymap: Keymap::default(),
            place: String::new(),
            session: None,
            branch: String::new(),
            readers: HashMap::from([(main.clone(), Reader::new(main))]),
        };
        app.fit_composer();
        app
    }

    /// Puts the keys in force into a text that names the usual ones.
    pub fn spell<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.keymap.spell(self.focus.context(), text)
    }

    /// Returns the transcript of the selected agent; `None` when it has not done anything yet.
    pub fn reader(&self) -> Option<&Reader> {
        self.readers.get(self.tree.selected())
    }

    /// Returns the transcript of an agent; `None` when it has not done anything yet.
    pub fn reader_of(&self, agent: &AgentId) -> Option<&Reader> {
        self.readers.get(agent)
    }

    /// Returns the transcript of an agent to change it; makes an empty one for a new agent.
    pub fn reader_mut(&mut self, agent: &AgentId) -> &mut Reader {
        self.readers.entry(agent.clone()).or_insert_with(|| Reader::new(agent.clone()))
    }

    /// Empties the screen as soon as the main agent's conversation is back at its system prompt.
    pub fn empty_at_reset(&mut self) {
        self.new_at_reset = true;
    }

    /// Takes the beginning of a conversation: what was shown goes when the user wanted a new one.
    pub fn begin_again(&mut self) {
        if !std::mem::take(&mut self.new_at_reset) {
            return;
        }
        let main = AgentId::main();
        self.readers = HashMap::from([(main.clone(), Reader::new(main))]);
        self.receipts.begin_again();
        self.tree.begin_again();
    }

    /// Tells whether a message is being written: the composer has the focus, and it holds the draft.
    pub fn is_drafting(&self) -> bool {
        self.focus.is_on(Pane::Composer) && self.message.is_draft()
    }

    /// Tells whether an agent waits, or will where it next comes by; one that has ended and a rescue have no gate.
    pub fn is_held(&self, agent: &AgentId) -> bool {
        let has_gate = |node: &tree::Node| node.ended.is_none() && target::can_be_told(node);
        self.holds.is_held(agent) && (agent.is_main() || self.tree.get(agent).is_none_or(has_gate))
    }

    /// Shows a reply to the user: one short sentence in the status line, anything longer as a note at the end of the
    /// transcript, where it is not cut and does not go.
    pub fn reply(&mut self, text: &str) {
        let room = usize::from(self.size.width.saturating_sub(12)).min(REPLY_COLUMNS);
        let is_short = text.width() <= room && !text.contains([';', '·']) && !text.contains(". ");
        if self.medium == Medium::Lines || is_short {
            self.status.say(text, self.now);
            return;
        }
        self.status.quiet();
        let agent = self.tree.selected().clone();
        let reader = self.reader_mut(&agent);
        reader.transcript.tell(Level::Info, text);
        let is_in_view =
            reader.scroll.is_following() && matches!(self.focus.pane.whole(), Pane::Composer | Pane::Transcript);
        if !is_in_view {
            self.status.say("the reply is at the end of the transcript", self.now);
        }
    }

    /// Gives the tree and the details the room that they want now, unless somebody reads further up: then the text there
    /// stays where it is.
    pub fn settle_panes(&mut self) {
        let follows = self.reader().is_none_or(|reader| reader.scroll.is_following());
        if !follows && self.focus.pane.whole() != Pane::Tree {
            return;
        }
        let is_of_use =
            |reader: &Reader| !reader.transcript.changed().is_empty() || reader.transcript.last_printed().is_some();
        let details = !self.tree.selected().is_main() || self.reader().is_some_and(is_of_use);
        self.sight.settled = Settled { agents: self.tree.rows().len(), details };
    }

    /// Tells whether the details of the shown agent are open; on a broad screen they are once they are of use.
    pub fn shows_details(&self) -> bool {
        match self.tree.details {
            Details::Usual => self.size.width >= BROAD && self.sight.settled.details,
            Details::Open => true,
            Details::Folded => false,
        }
    }

    /// Tells whether the screen is too narrow for more than one pane.
    pub fn is_narrow(&self) -> bool {
        self.size.width < MEDIUM
    }

    /// Lays the composer's text out for the width of the screen.
    pub fn fit_composer(&mut self) {
        self.message.fit(self.size.width.saturating_sub(PROMPT_COLUMNS));
    }

    /// Tells whether a turn runs or is about to: then what is sent waits for it.
    pub fn busy(&self) -> bool {
        self.tree.main().running() || (!self.pending.is_empty() && !self.pending.paused)
    }

    /// Tells whether nothing is under way: no turn runs or is about to, and no text that was accepted is between its queue
    /// and the conversation, where the list of pending texts may never have seen it.
    pub fn at_rest(&self) -> bool {
        let is_leaving = |receipt: &Receipt| receipt.state == receipts::State::Leaving;
        // One that waits for a word of the user starts no turn.
        let goes_on = |entry: &pending::Entry| {
            entry.stage == pending::Stage::Delivering || !(entry.message.held || entry.message.stale)
        };
        let is_due = !self.pending.paused && self.pending.entries().iter().any(goes_on);
        !self.tree.main().running() && !is_due && !self.receipts.list().iter().any(is_leaving)
    }

    /// Returns when the picture next changes by itself: the next second of a running turn, an agent's row that
    /// folds away, the end of a message, or a question whose keys begin to count.
    pub fn changes_at(&self) -> Option<Timestamp> {
        let armed = self.questions.arms_at().filter(|at| *at > self.now);
        let changes = [self.tree.changes_at(self.now), self.status.message_ends(self.now), armed, self.alerts.due_at()];
        changes.into_iter().flatten().min()
    }
}

impl Reader {
    fn new(agent: AgentId) -> Self {
        Self { transcript: Transcript::new(agent), ..Self::default() }
    }
}
