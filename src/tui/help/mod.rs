//! Help: the commands, the keys and the pages of the manual, over everything else on the screen.
//!
//! A pane in its own folder: its state, its keys and its drawing stand here, and take the context besides their own state, never
//! the whole `App`. It is an overlay (`src/tui/overlay`).
//!
//! # Where things are
//!
//! - what it holds, and where its reader is: `mod.rs`; what its keys do: `update.rs`; tests: `help.rs`
//! - what it lists, what a filter leaves of that, where each entry leads: `list.rs`
//! - the list and a page on the screen: `view.rs`; tests: `help.rs`, `tests/pty/commands.rs`
//! - the most used keys on one screen, after `?`: `sheet.rs`; tests: `habits.rs`

mod list;
mod sheet;
mod update;
mod view;

pub use sheet::CheatSheet;

use crate::keymap::WriteKey;
use crate::overlay::{FilterText, ListPosition};
use steersman_base::manual::{ManualMatch, ManualPage, manual_page, search_manual};

/// Characters below which the pages are not searched: fewer stand in nearly every line.
const SEARCHED: usize = 2;

/// Help, from its opening to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Help {
    pub(super) filter: FilterText,
    /// The lines of the manual that hold the words of the filter.
    found: Vec<ManualMatch>,
    pub(super) list: ListPosition,
    /// Which of the two in it moves the other.
    pub(super) leader: Leader,
    pub(super) page: Option<OpenPage>,
}

/// What the next frame keeps: the selected entry in view, or the first line where it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Leader {
    /// The selected entry; the lines move.
    #[default]
    Selected,
    /// The first line; an entry that leaves the view is not selected any more.
    Top,
}

/// A page of the manual that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenPage {
    pub page: &'static ManualPage,
    /// The first row that is shown.
    pub top: usize,
    /// The line of its text that shall be in view; `None` once it was.
    pub sought: Option<usize>,
}

impl Help {
    /// Returns help on a topic: its page; on other words the list with what they find; on none the whole list.
    pub fn about(words: &str) -> Self {
        let mut help = Self::default();
        match manual_page(words) {
            Some(page) => help.open(page, None),
            None => help.type_text(words),
        }
        help
    }

    /// Tells whether a page lies over the list.
    pub fn is_on_page(&self) -> bool {
        self.page.is_some()
    }

    /// Returns the words of the filter, in lower case.
    pub(super) fn search_words(&self) -> Vec<String> {
        self.filter.words_lowercase()
    }

    pub(super) fn found(&self) -> &[ManualMatch] {
        &self.found
    }

    pub(super) fn open(&mut self, page: &'static ManualPage, line: Option<usize>) {
        self.page = Some(OpenPage { page, top: 0, sought: line });
    }

    /// Types into the filter.
    pub(super) fn type_text(&mut self, text: &str) {
        self.filter.type_text(text);
        self.search();
    }

    /// Deletes at the end of the filter.
    pub(super) fn delete(&mut self, key: WriteKey) {
        if self.filter.delete(key) {
            self.search();
        }
    }

    fn search(&mut self) {
        (self.list, self.leader) = Default::default();
        let is_searched = self.filter.text().trim().chars().count() >= SEARCHED;
        self.found = if is_searched { search_manual(&self.search_words()) } else { Vec::new() };
        // The list has the titles of the pages and these rows already.
        let is_row = |found: &ManualMatch| found.text.starts_with('|');
        let is_listed =
            |found: &ManualMatch| found.line == 0 || (is_row(found) && ["keys", "commands"].contains(&found.topic));
        self.found.retain(|found| !is_listed(found));
    }
}
