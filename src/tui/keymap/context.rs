//! Where a key has its meaning: one context for each pane and overlay, and one for everywhere.

use std::sync::LazyLock;

use super::table::{self, TableRow, bindings};
use super::{Action, Binding};
use crate::overlay::registry::PaneId;

/// Makes the enum from one table: the context, its section in a file of keys, the heading of its keys in help, its keys.
macro_rules! contexts {
    ($($(#[$doc:meta])* $context:ident = $id:literal, $title:literal, $rows:expr;)*) => {
        /// Where a binding holds.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Context {
            $($(#[$doc])* $context,)*
            /// A pane of the registry is open.
            Pane(PaneId),
        }

        impl Context {
            /// Those that are no panes of the registry.
            const FIXED: &[Self] = &[$(Self::$context),*];

            /// Returns the name of its section in a file of keys.
            pub fn id(self) -> &'static str {
                match self {
                    $(Self::$context => $id,)*
                    Self::Pane(pane) => pane.entry().id,
                }
            }

            /// Returns the heading of its keys in help.
            pub fn title(self) -> &'static str {
                match self {
                    $(Self::$context => $title,)*
                    Self::Pane(pane) => pane.entry().title,
                }
            }

            /// Returns the rows of its own table.
            fn own_table(self) -> Vec<TableRow> {
                match self {
                    $(Self::$context => $rows.to_vec(),)*
                    Self::Pane(pane) => pane.entry().table().collect(),
                }
            }
        }
    };
}

contexts! {
    Composer = "message", "Message", table::MESSAGE;
    /// What was sent before is searched.
    History = "history", "Search of what was sent", table::HISTORY;
    /// Everywhere, unless the context has its own binding.
    Global = "everywhere", "Everywhere", table::EVERYWHERE;
    /// The pending list has the focus.
    Pending = "pending", "Pending", table::PENDING;
    /// The agent tree has the focus.
    Tree = "agents", "Agents", table::AGENTS;
    /// The filter of the agent tree is typed.
    Filter = "filter", "Filter of the agents", table::AGENT_FILTER;
    Transcript = "transcript", "Transcript", table::TRANSCRIPT;
    /// The search in the transcript is typed.
    Search = "search", "Search in the transcript", table::SEARCH;
    /// The details of the shown agent have the focus.
    Details = "details", "Details of an agent", table::AGENT_DETAILS;
    /// The panel of a paused agent has the focus.
    Paused = "paused", "Paused agent", table::PAUSED_AGENT;
    Help = "help", "Help", table::HELP;
    /// A list of sessions or messages is open.
    Choices = "choices", "List of sessions or messages", table::CHOICES;
    /// A recorded session is replayed.
    Replay = "replay", "Replay", table::REPLAY;
}

/// The action before whose key those of the panes of the registry stand.
const BEHIND_PANES: Action = Action::ChooseModel;

impl Context {
    /// Returns every context, in the order in which help shows them.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::FIXED.iter().copied().chain(PaneId::all().map(Self::Pane))
    }

    /// Returns its place in [`Context::all`].
    pub(super) fn index(self) -> usize {
        match self {
            Self::Pane(pane) => Self::FIXED.len() + pane.index(),
            fixed => Self::FIXED.iter().position(|context| *context == fixed).unwrap_or_default(),
        }
    }

    /// Returns the rows of its table; everywhere the keys that open panes are among them.
    pub(super) fn table(self) -> Vec<TableRow> {
        let mut rows = self.own_table();
        if self == Self::Global {
            let at = rows.iter().position(|row| row.action == BEHIND_PANES).unwrap_or(rows.len());
            rows.splice(at..at, PaneId::all().filter_map(PaneId::opening_row));
        }
        rows
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
        static ROWS: LazyLock<Vec<Vec<Binding>>> =
            LazyLock::new(|| Context::all().map(|context| bindings(&context.table())).collect());
        ROWS.get(self.index()).map(Vec::as_slice).unwrap_or_default()
    }
}
