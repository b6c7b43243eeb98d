//! The agents on the screen: the list with its filter, and the details of the selected one.
//!
//! A pane in its own folder: its state, its keys and its drawing stand here, and read the context besides their own state, never
//! the whole `App`. What is known of the agents is not the pane's: `src/session/model/agents/mod.rs`.
//!
//! # Where things are
//!
//! - what is selected, collapsed, filtered: `state.rs`; which rows that makes: `rows.rs`; tests:
//!   `tree_fold.rs`, `tree_filter.rs`, `tree_model.rs`
//! - what the keys and the mouse do, cancelling among it: `update.rs`; tests: `tree.rs`
//! - scrolling, sizes, lines between panes: `viewport.rs`, `look.rs`; tests: `looks.rs`, `mouse.rs`
//! - the list as a column, as rows, as one line: `view/mod.rs`, `view/row.rs`, `view/cells.rs`; tests: `tree_rows.rs`
//! - the details: `view/details.rs`; tests: `looks.rs`
//! - a list of 1,000 agents, 16 of them streaming, tests: `tests/bench/crew.rs`, `tests/bench/screen.rs`

mod look;
mod rows;
mod state;
mod update;
pub mod view;
mod viewport;

pub use look::{drag_divider, focus_details, look_key};
pub use rows::{Filter, Row, RowKind, Rows};
pub use state::{AgentsPane, AgentsPlace, Details, Expansion};
pub use update::{cancel_all, clear_filter, press_past, press_row, travel, tree_key, type_filter};
pub use viewport::{AgentsDrawn, PaneRoom, Sizes};

use super::focus::Focus;
use super::state::Regions;
use super::ui_context::UiContext;
use steersman_session::model::agents::Agents;

/// What the pane reads beside its own state.
#[derive(Debug, Clone, Copy)]
pub struct AgentsContext<'a> {
    /// Size, time, keys and theme.
    pub ui: &'a UiContext,
    pub agents: &'a Agents,
    pub focus: &'a Focus,
    /// What lies where on the screen, as it was drawn last.
    pub regions: &'a Regions,
}
