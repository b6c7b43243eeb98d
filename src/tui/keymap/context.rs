//! Where a key has its meaning: one context for each pane and overlay, and one for everywhere.

use super::{Binding, table};

/// Where a binding holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// Everywhere, unless the context has its own binding.
    Global,
    Composer,
    /// What was sent before is searched.
    History,
    /// The agent tree has the focus.
    Tree,
    /// The filter of the agent tree is typed.
    Filter,
    Transcript,
    /// The search in the transcript is typed.
    Search,
    /// The pending list has the focus.
    Pending,
    Help,
    /// The panel of a paused agent has the focus.
    Paused,
    Ledger,
    /// The details of the shown agent have the focus.
    Details,
    /// A list of sessions or messages is open.
    Choices,
    /// The list of changed files is open.
    Changes,
    /// The plan of an agent is open.
    Plan,
    /// The list of what fills a context window is open.
    Window,
    /// The list of jobs is open.
    Jobs,
    /// A recorded session is replayed.
    Replay,
}

impl Context {
    /// Holds every context, in the order in which help shows them.
    pub const ALL: [Self; 18] = [
        Self::Composer,
        Self::History,
        Self::Global,
        Self::Pending,
        Self::Tree,
        Self::Filter,
        Self::Transcript,
        Self::Search,
        Self::Details,
        Self::Paused,
        Self::Ledger,
        Self::Changes,
        Self::Plan,
        Self::Window,
        Self::Jobs,
        Self::Help,
        Self::Choices,
        Self::Replay,
    ];

    /// Returns its place in [`Context::ALL`].
    pub(super) fn index(self) -> usize {
        Self::ALL.iter().position(|context| *context == self).unwrap_or_default()
    }

    /// Tells whether plain characters are text there, or may be: what holds everywhere holds where text is typed too.
    pub fn takes_text(self) -> bool {
        matches!(
            self,
            Self::Global | Self::Composer | Self::History | Self::Filter | Self::Search | Self::Help | Self::Choices
        )
    }

    /// Returns its usual keys.
    pub fn rows(self) -> &'static [Binding] {
        match self {
            Self::Composer => table::message::ROWS,
            Self::Global => table::everywhere::ROWS,
            Self::Pending => table::lists::PENDING,
            Self::History => table::reading::HISTORY,
            Self::Tree => table::agent::LIST,
            Self::Filter => table::agent::FILTER,
            Self::Transcript => table::reading::TRANSCRIPT,
            Self::Search => table::reading::SEARCH,
            Self::Paused => table::agent::PAUSED,
            Self::Ledger => table::lists::LEDGER,
            Self::Changes => table::lists::CHANGES,
            Self::Plan => table::lists::PLAN,
            Self::Window => table::lists::WINDOW,
            Self::Jobs => table::lists::JOBS,
            Self::Help => table::lists::HELP,
            Self::Details => table::agent::DETAILS,
            Self::Choices => table::lists::CHOICES,
            Self::Replay => table::reading::REPLAY,
        }
    }

    /// Returns the name of its section in a file of keys.
    pub fn id(self) -> &'static str {
        match self {
            Self::Composer => "message",
            Self::Global => "everywhere",
            Self::Pending => "pending",
            Self::History => "history",
            Self::Tree => "agents",
            Self::Filter => "filter",
            Self::Transcript => "transcript",
            Self::Search => "search",
            Self::Paused => "paused",
            Self::Ledger => "ledger",
            Self::Changes => "changes",
            Self::Plan => "plan",
            Self::Window => "window",
            Self::Jobs => "jobs",
            Self::Help => "help",
            Self::Details => "details",
            Self::Choices => "choices",
            Self::Replay => "replay",
        }
    }

    /// Returns the heading of its keys in help.
    pub fn title(self) -> &'static str {
        match self {
            Self::Global => "Everywhere",
            Self::Composer => "Message",
            Self::History => "Search of what was sent",
            Self::Tree => "Agents",
            Self::Filter => "Filter of the agents",
            Self::Transcript => "Transcript",
            Self::Search => "Search in the transcript",
            Self::Pending => "Pending",
            Self::Help => "Help",
            Self::Paused => "Paused agent",
            Self::Ledger => "Ledger",
            Self::Changes => "Changed files",
            Self::Plan => "Plan of an agent",
            Self::Window => "Context window",
            Self::Jobs => "Jobs",
            Self::Details => "Details of an agent",
            Self::Choices => "List of sessions or messages",
            Self::Replay => "Replay",
        }
    }
}
