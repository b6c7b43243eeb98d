//! The message: the only owner of what the user types, from the first letter until a queue, a command or a call has it.
//!
//! A stack: the draft at the bottom, above it what is written first. Keys change the text on top. Always holds: a text that
//! was typed is on the stack, among the drafts of other agents, among the removed texts, or it was sent; nobody outside
//! this folder sees a text area.
//!
//! # Where things are
//!
//! - text, cursor, undo, chips: `composer/mod.rs`, `composer/chips.rs`, `typing.rs`, `src/tui/view/composer.rs`; tests:
//!   `composer.rs`, `tests/pty/composer.rs`
//! - the keys of vim: `vim/mod.rs`, `composer/parts.rs`; tests: `vim.rs`
//! - what a text is for: an edit, arguments, a reason, the words of a no: `purpose.rs`, `stack.rs`, `entry.rs`; tests:
//!   `pending_list.rs`, `pause.rs`, `approval_popups/composer.rs`
//! - what Enter, Tab and F5 do with it: `send.rs`; tests: `tui_shell.rs`, `tests/agent/deliver_now.rs`
//! - to whom it goes: `address.rs`, `src/base/target.rs`; tests: `targets.rs`
//! - what it reads of the rest of the screen: `mod.rs`; how it is drawn: `view.rs`, `src/tui/view/composer.rs`
//! - texts that come back, what a key removed: `give_back.rs`, `removed.rs`, `bring_back.rs`; tests:
//!   `bring_back.rs`, `returned.rs`, `pending_lives.rs`
//! - what was sent before, Up, Ctrl+R, the file: `history.rs`, `recall.rs`, `history_search.rs`,
//!   `src/tui/history_file.rs`; tests: `recall.rs`
//! - what is kept of it in the session's journal, and put back: `drafts.rs`; tests: `session_screen.rs`
//! - a draft for each agent: `drafts.rs`; tests: `composer.rs`, `pending_lives.rs`
//! - images: `attach.rs`, `src/tui/run/images.rs`; tests: `attachments.rs`
//! - paths behind `@`: `paths.rs`, `src/tui/run/path_walk.rs`, `src/tui/fuzzy.rs`; tests: `paths_offered.rs`
//! - the external editor: `give_back.rs`; tests: `composer.rs`,
//!   `tests/pty/composer.rs`
//! - lines of a pipe, texts of several lines: `line.rs`, `src/tui/update/line.rs`; tests: `lines.rs`, `lines_lives.rs`
//! - drafts that were sent and that no queue has answered yet: `on_its_way.rs`

mod address;
mod attach;
pub mod bring_back;
pub mod composer;
mod drafts;
pub mod entry;
mod give_back;
pub mod history;
pub mod history_search;
pub mod line;
mod on_its_way;
pub mod paths;
pub mod purpose;
mod recall;
pub mod removed;
pub mod send;
mod stack;
mod typing;
pub mod view;
pub mod vim;

pub use address::{Address, Unaddressed};
pub use composer::{Expanded, Pasted};
pub use give_back::TakenOver;
pub use recall::Before;
pub use stack::LeaveOutcome;
pub use vim::COMMAND as VIM;

use attach::Attachments;
use composer::Composer;
use drafts::Drafts;
use history::History;
use history_search::HistorySearch;
use line::Lines;
use on_its_way::{Filling, OnItsWay};
use paths::{PathList, Paths, Token};
use purpose::Purpose;
use removed::RemovedTexts;
use vim::Vim;

use crate::effect::{Effect, PaneEffect};
use crate::focus::Focus;
use crate::fuzzy::{FuzzyMatches, FuzzyQuery};
use crate::state::{Medium, Pane};
use crate::status::HostState;
use crate::ui_context::UiContext;
use steersman_base::id::{AgentId, MessageId};
use steersman_session::model::RunState;

/// Every text that the user writes or has written and nobody has taken yet.
#[derive(Debug, Default)]
pub struct Message {
    draft: Composer,
    /// What is written first, the text that the keys change on top.
    above: Vec<(Purpose, Composer)>,
    /// Whom the draft is for, once it was begun.
    bound: Option<AgentId>,
    drafts: Drafts,
    removed: RemovedTexts,
    images: Attachments,
    lines: Lines,
    /// What the external editor was given, while that is open.
    opened: Option<String>,
    /// The draft that was sent last, until the next one: its queues may still answer.
    outgoing: Option<String>,
    on_its_way: OnItsWay,
    /// The drafts among them that the session fills in first.
    filling: Vec<Filling>,
    /// Whether the first character of the text on top was typed, and was a `#`.
    begins_rule: bool,
    /// The text with an unknown command that Enter did not send the first time.
    refused: Option<String>,
    /// The draft as an earlier process of the session left it.
    restored: Option<String>,
    /// The keys of vim, where they are wanted.
    vim: Option<Vim>,
    /// The number of the newest search in a list.
    search_number: u64,
    /// What was sent before.
    pub history: History,
    /// The history search, while it is open.
    pub search: Option<HistorySearch>,
    /// The paths behind `@`.
    pub paths: Paths,
}

impl Message {
    /// Returns the agent that the draft was begun for.
    pub fn bound(&self) -> Option<&AgentId> {
        self.bound.as_ref()
    }

    /// Says whom the draft is for; `None` once there is no draft.
    pub fn bind(&mut self, to: Option<AgentId>) {
        self.bound = to;
    }

    /// Returns the draft that was sent last, for the answers of its queues.
    pub fn outgoing(&self) -> Option<&str> {
        self.outgoing.as_deref()
    }

    /// Returns what the history is to be searched for now; `None` while no search is open.
    pub fn history_query(&mut self) -> Option<FuzzyQuery> {
        let number = self.next_search();
        self.search.as_mut().map(|search| search.search(number))
    }

    /// Returns what the paths are to be searched for now; `None` when none is typed or known.
    pub fn path_query(&mut self) -> Option<FuzzyQuery> {
        let number = self.next_search();
        self.paths.search(number)
    }

    /// Notes which path is being typed; returns what has to be found out for it.
    pub fn type_path(&mut self, known: &MessageContext<'_>) -> Vec<PaneEffect> {
        let (row, before) = self.before_cursor();
        let is_drafting = known.on_composer() && self.is_draft() && !self.takes_commands();
        let token = if is_drafting { Token::find(row, before) } else { None };
        let is_new = self.paths.token() != token.as_ref();
        let mut effects = Vec::new();
        if token.is_none() && is_drafting {
            let began = self.paths.token().cloned();
            effects.extend(self.finish_path(began.as_ref(), known));
        }
        if self.paths.type_token(token, known.ui.now) {
            effects.push(PaneEffect::Outside(Effect::ListPaths));
        }
        if is_new {
            effects.extend(self.search_paths());
        }
        effects
    }

    /// Takes a list of paths; returns what is to be searched in it.
    pub fn take_paths(&mut self, list: PathList, known: &MessageContext<'_>) -> Vec<PaneEffect> {
        self.paths.take_list(list, known.ui.now);
        self.search_paths()
    }

    /// Takes what a search in a list has found, whichever list that was.
    pub fn take_hits(&mut self, found: FuzzyMatches) {
        if let Some(search) = &mut self.search {
            search.set_matches(found.clone());
        }
        self.paths.set_matches(found);
    }

    fn search_paths(&mut self) -> Vec<PaneEffect> {
        self.path_query().map(|query| PaneEffect::Outside(Effect::Match(query))).into_iter().collect()
    }

    fn next_search(&mut self) -> u64 {
        self.search_number += 1;
        self.search_number
    }
}

/// What the message reads and does not change.
#[derive(Debug, Clone, Copy)]
pub struct MessageContext<'a> {
    /// The size, the time, the keys, the medium.
    pub ui: &'a UiContext,
    pub focus: &'a Focus,
    pub shown: &'a AgentId,
    /// What every client knows of the run: what is pending, what became of every text.
    pub run: &'a RunState,
    /// How far the run is.
    pub host: &'a HostState,
    /// Whether the user types just now.
    pub is_typing: bool,
}

impl MessageContext<'_> {
    /// Tells whether lines are written, and no frames drawn.
    pub fn in_lines(&self) -> bool {
        self.ui.medium == Medium::Lines
    }

    pub fn on_composer(&self) -> bool {
        self.focus.is_on(Pane::Composer)
    }

    /// Returns the agent that a text was sent to.
    pub fn agent_of(&self, id: &MessageId) -> AgentId {
        self.run.receipts.get(id).map_or_else(AgentId::main, |receipt| receipt.agent.clone())
    }

    /// Tells whether a turn runs or is about to: then what is sent waits for it.
    pub fn busy(&self) -> bool {
        self.run.is_busy()
    }
}

// What other panes ask of the message, as deferred calls on the root.

/// Asks for the edit of a pending text in the message.
pub fn edit_entry(agent: AgentId, id: MessageId) -> PaneEffect {
    PaneEffect::call(move |app| app.message.ask_edit(agent.clone(), id.clone()))
}

/// Asks for a sentence that names what is written first and has to be ended.
pub fn end_first() -> PaneEffect {
    PaneEffect::call(|app| app.message.blocked().into_iter().collect())
}

/// Asks for a text in place of so many characters before the cursor, or of the whole text.
pub fn complete(replaces: Option<usize>, text: impl Into<String>) -> PaneEffect {
    let text = text.into();
    PaneEffect::change(move |app| match replaces {
        Some(chars) => app.message.complete(chars, &text),
        None => app.message.load(&text),
    })
}
