//! The root of the screen: the panes, and the context that all of them go by.
//!
//! Only the root (`update`, `view/mod.rs`) changes more than one of them at a time; a pane gets its own state and reads the
//! context.
//!
//! # Where things are
//!
//! - the fields, and what is asked of several panes at once: `mod.rs`; tests: `tui_shell.rs`, `tests/program/layers.rs`
//! - a replay's way back: `checkpoints.rs`; tests: `session_timeline.rs`
//! - what Esc does next: `escape.rs`, `src/tui/update/escape.rs`; tests: `escape.rs`
//! - letters that were keys of a list and become text: `letters.rs`; tests: `tree.rs`
//! - a message of the status line goes with its cause: `mod.rs`, `src/tui/state.rs`; tests: `commands.rs`,
//!   `approval_popups/mod.rs`

mod checkpoints;
pub mod escape;
pub mod letters;

use std::borrow::Cow;

use jiff::Timestamp;
use ratatui::layout::Size;
use unicode_width::UnicodeWidthStr as _;

use crate::agents::{AgentsPane, PaneRoom};
use crate::alerts::Alerts;
use crate::approval::Questions;
use crate::focus::Focus;
use crate::message::composer::{NOTHING_IS_SENT, PLACEHOLDERS};
use crate::message::view::prompt_columns;
use crate::message::{Message, MessageContext};
use crate::palette::Palette;
use crate::pause::PausePane;
use crate::pending::PendingPane;
use crate::state::{Cause, Medium, Pane, Pointer, QuestionId, Regions};
use crate::status::{HostState, Status};
use crate::theme::Themes;
use crate::timeline::Timeline;
use crate::transcript::cell::Level;
use crate::transcript::{Reader, TranscriptPane};
use crate::ui_context::UiContext;
use steersman_base::event::Envelope;
use steersman_base::id::AgentId;
use steersman_base::protocol::DraftText;
use steersman_base::steering::AgentsGiveWay;
use steersman_session::model::agents::AgentNode;
use steersman_session::model::{PendingStage, PendingText, Receipt, ReceiptState};

pub use checkpoints::{Checkpoint, Checkpoints};

/// Columns of the longest reply that the status line shows.
const REPLY_COLUMNS: usize = 72;

/// Everything that a frame is drawn from.
#[derive(Debug)]
pub struct App {
    /// What every pane may read and only the root changes.
    pub ui: UiContext,
    pub focus: Focus,
    /// Every text that the user writes.
    pub message: Message,
    /// What could stand behind what is typed.
    pub palette: Palette,
    /// The list of the agents, and the details of the selected one.
    pub tree: AgentsPane,
    pub pending: PendingPane,
    /// The panel of a paused agent.
    pub pause: PausePane,
    pub questions: Questions,
    pub status: Status,
    /// What happened, agent by agent.
    pub transcripts: TranscriptPane,
    /// What lies where on the screen, as it was drawn last.
    pub regions: Regions,
    pub pointer: Pointer,
    /// Notifications for a user who does not look.
    pub alerts: Alerts,
    /// Which texts end the wait for sub-agents.
    pub agents_give_way: AgentsGiveWay,
    /// The recorded session that is shown instead of the run.
    pub replay: Option<Replay>,
    /// What was typed just now and were keys of a pane.
    pub letters: Option<letters::LetterRun>,
    /// True once a new conversation was asked for, until it begins.
    new_at_reset: bool,
}

/// A replay: the screen shows a recorded session as far as the timeline stands.
#[derive(Debug)]
pub struct Replay {
    pub timeline: Timeline,
    /// The screen as it was at some positions.
    pub checkpoints: Checkpoints,
    /// The screen of the run that goes on behind it; `None` where there is none.
    pub live: Option<Box<App>>,
}

impl App {
    /// Makes an empty screen.
    pub fn new(size: Size, now: Timestamp, status: Status, themes: Themes) -> Self {
        let mut app = Self {
            ui: UiContext::new(size, now, themes),
            focus: Focus::default(),
            message: Message::default(),
            palette: Palette::default(),
            letters: None,
            new_at_reset: false,
            tree: AgentsPane::default(),
            pending: PendingPane::default(),
            pause: PausePane::default(),
            questions: Questions::default(),
            status,
            transcripts: TranscriptPane::default(),
            regions: Regions::default(),
            pointer: Pointer::default(),
            alerts: Alerts::default(),
            agents_give_way: AgentsGiveWay::default(),
            replay: None,
        };
        app.fit_composer();
        app
    }

    /// Returns what the user has written and not sent, also behind a replay.
    pub fn unsent(&self) -> Vec<DraftText> {
        let live = self.replay.as_ref().and_then(|replay| replay.live.as_ref());
        live.map_or_else(|| self.message.unsent(), |live| live.message.unsent())
    }

    /// Shows the last events of a session while the whole of it is being read; none show nothing of it yet.
    pub fn begin_opening(&mut self, end: &[Envelope]) {
        self.transcripts.show_end(end);
        self.ui.begin_past();
    }

    /// Shows the whole session: all of it is read.
    pub fn end_opening(&mut self) {
        self.transcripts.end_arriving();
        self.ui.end_past();
    }

    /// Returns why a screen on a session elsewhere can neither see nor steer it any more; `None` while it can.
    pub fn disconnected(&self) -> Option<&str> {
        match &self.status.host {
            HostState::Failed(reason) if self.ui.client.is_some() => Some(reason),
            HostState::Failed(_) | HostState::ReadOnly(_) | HostState::Starting | HostState::Ready => None,
        }
    }

    /// Brings back the screen of the run behind a replay; returns false when there is none.
    pub fn end_replay(&mut self) -> bool {
        match self.replay.take().and_then(|replay| replay.live) {
            Some(live) => {
                *self = *live;
                true
            }
            None => false,
        }
    }

    /// Puts the keys in force into a text that names the usual ones.
    pub fn spell<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.ui.keymap.spell(self.focus.context(), text)
    }

    /// Returns the transcript of the selected agent; `None` when it has not done anything yet.
    pub fn reader(&self) -> Option<&Reader> {
        self.transcripts.reader(self.tree.selected())
    }

    /// Returns the transcript of an agent; `None` when it has not done anything yet.
    pub fn reader_of(&self, agent: &AgentId) -> Option<&Reader> {
        self.transcripts.reader(agent)
    }

    /// Returns the transcript of an agent to change it; makes an empty one for a new agent.
    pub fn reader_mut(&mut self, agent: &AgentId) -> &mut Reader {
        self.transcripts.reader_mut(agent)
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
        self.transcripts.begin_again();
        self.ui.run.receipts.begin_again();
        self.ui.run.agents.begin_again();
        self.tree.begin_again();
    }

    /// Returns the message, and what it reads of the rest.
    pub fn for_message(&mut self) -> (&mut Message, MessageContext<'_>) {
        let Self { message, ui, focus, tree, status, questions, .. } = self;
        let is_typing = !questions.is_quiet(ui.now);
        let (shown, host) = (tree.selected(), &status.host);
        (message, MessageContext { ui, focus, shown, run: &ui.run, host, is_typing })
    }

    /// Returns what the message reads of the rest.
    pub fn message_context(&self) -> MessageContext<'_> {
        let Self { ui, focus, tree, status, questions, .. } = self;
        let is_typing = !questions.is_quiet(ui.now);
        MessageContext { ui, focus, shown: tree.selected(), run: &ui.run, host: &status.host, is_typing }
    }

    /// Tells whether a message is being written: the composer has the focus, and it holds the draft.
    pub fn is_drafting(&self) -> bool {
        self.focus.is_on(Pane::Composer) && self.message.is_draft()
    }

    /// Shows a reply to the user: one short sentence in the status line, anything longer as a note at the end of the
    /// transcript, where it is not cut and does not go.
    pub fn reply(&mut self, text: &str) {
        let room = usize::from(self.ui.size.width.saturating_sub(12)).min(REPLY_COLUMNS);
        let is_short = text.width() <= room && !text.contains([';', '·']) && !text.contains(". ");
        if self.ui.medium == Medium::Lines || is_short {
            self.status.say(text, self.ui.now);
            return;
        }
        self.status.quiet();
        let agent = self.tree.selected().clone();
        self.transcripts.add_notice(&agent, Level::Info, text);
        let is_in_view = self.reader_mut(&agent).scroll.is_following()
            && matches!(self.focus.pane.whole(), Pane::Composer | Pane::Transcript);
        if !is_in_view {
            self.status.say("the reply is at the end of the transcript", self.ui.now);
        }
    }

    /// Gives the tree and the details the room that they want now, unless somebody reads further up: then the text there
    /// stays where it is. How many rows the tree has is found when they are drawn, not for each event.
    pub fn settle_panes(&mut self) {
        let follows = self.reader().is_none_or(|reader| reader.scroll.is_following());
        if !follows && self.focus.pane.whole() != Pane::Tree {
            self.tree.viewport.room.agents = Some(self.tree_rows());
            return;
        }
        let shown = self.tree.selected();
        let has_output = self.reader().is_some_and(|reader| reader.transcript.last_printed().is_some());
        let details = !shown.is_main()
            || has_output
            || self.ui.run.changes.agents().contains(&shown)
            || self.ui.run.plans.get(shown).is_some();
        self.tree.viewport.room = PaneRoom { agents: None, details };
    }

    /// Returns how many rows of the tree get room.
    pub fn tree_rows(&self) -> usize {
        self.tree.viewport.room.agents.unwrap_or_else(|| self.tree.rows(&self.ui.run.agents).len())
    }

    /// Tells whether the details of the shown agent are open; on a broad screen they are once they are of use.
    pub fn shows_details(&self) -> bool {
        self.tree.shows_details(self.ui.size.width)
    }

    pub fn selected_agent(&self) -> &AgentNode {
        self.ui.run.agents.get_or_main(self.tree.selected())
    }

    /// Lays the composer's text out for the width of the screen.
    pub fn fit_composer(&mut self) {
        let width = self.ui.size.width;
        let placeholders = match self.status.host {
            HostState::ReadOnly(_) => &NOTHING_IS_SENT,
            HostState::Starting | HostState::Ready | HostState::Failed(_) => &PLACEHOLDERS,
        };
        let columns = prompt_columns(self.message.vim_mode(), width);
        self.message.fit(width.saturating_sub(columns), placeholders);
    }

    /// Tells whether nothing is under way: no turn runs or is about to, and no text that was accepted is between its queue
    /// and the conversation, where the list of pending texts may never have seen it.
    pub fn at_rest(&self) -> bool {
        let is_leaving = |receipt: &Receipt| receipt.state == ReceiptState::Leaving;
        // One that waits for a word of the user starts no turn.
        let goes_on = |entry: &PendingText| {
            entry.stage == PendingStage::Delivering || !(entry.message.held || entry.message.stale)
        };
        let is_due = !self.ui.run.pending.paused && self.ui.run.pending.entries().iter().any(goes_on);
        !self.ui.run.runs() && !is_due && !self.ui.run.receipts.list().iter().any(is_leaving)
    }

    /// Returns when the picture next changes by itself: the next second of a running turn, an agent's row that
    /// folds away, the end of a message, or a question or a stop whose keys begin to count.
    pub fn changes_at(&self) -> Option<Timestamp> {
        if let Some(replay) = &self.replay {
            let behind = replay.live.as_ref().and_then(|live| live.changes_at());
            return [behind, replay.timeline.next_due()].into_iter().flatten().min();
        }
        let armed = self.questions.arms_at().filter(|at| *at > self.ui.now);
        let escape = self.escape_counts_at().filter(|at| *at > self.ui.now);
        let changes = [
            self.ui.run.agents.changes_at(self.ui.now),
            self.status.message_ends(self.ui.now),
            armed,
            escape,
            self.alerts.due_at(),
        ];
        changes.into_iter().flatten().min()
    }
}

impl App {
    /// Returns the cause of a message about the question that is asked now; `None` when there is none.
    pub fn about_question(&self, cause: fn(QuestionId) -> Cause) -> Option<Cause> {
        self.questions.current_id().map(cause)
    }

    /// Takes the message of the status line back whose cause is gone. What is written in lines stays written.
    pub fn settle_message(&mut self) {
        let is_over = self.status.cause().is_some_and(|cause| !self.lasts(cause));
        if is_over && self.ui.medium == Medium::Screen {
            self.status.quiet();
        }
    }

    fn lasts(&self, cause: &Cause) -> bool {
        let asked = self.questions.current_id();
        match cause {
            Cause::Question(id) => asked == Some(*id),
            Cause::Unread(id) => asked == Some(*id) && !self.questions.is_read(),
            Cause::Unselected(id) => asked == Some(*id) && self.questions.selected().is_none(),
            Cause::Message(text) => self.message.text() == *text,
            Cause::NoDraft => !self.message.is_draft(),
            Cause::Escape => self.message.is_empty(),
            Cause::Stop => self.ui.run.stopped_by_all().is_some() || self.ui.run.jobs.shell_line().is_some(),
            Cause::Turn => self.ui.run.is_under_way(),
            Cause::NoTurn => !self.ui.run.is_under_way(),
            Cause::NothingPending => self.ui.run.pending.is_empty(),
        }
    }
}
