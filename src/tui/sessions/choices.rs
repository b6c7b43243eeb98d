//! A list to choose from, with a filter and a preview: the saved sessions, the user's own messages, or the MCP servers.
//!
//! Its own state and keys; what a choice leads to is decided by whoever opened it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::view;
use crate::tui::effect::{Outcome, PaneEffect};
use crate::tui::facts::Facts;
use crate::tui::keymap::{Action, Chord, Context};
use crate::tui::overlay::{FilterText, Overlay, OverlayDrawn, OverlayPosition};
use crate::tui::state::pointer::Presses;
use crate::tui::state::regions::Regions;
use crate::tui::switch::{ChoiceSubject, ListChoice};

/// The list, from its opening to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choices {
    subject: ChoiceSubject,
    /// `None` until they are known.
    rows: Option<Result<Vec<ListChoice>, String>>,
    filter: FilterText,
    selected: usize,
}

impl Choices {
    /// Opens a list that is not known yet.
    pub fn awaited(subject: ChoiceSubject) -> Self {
        Self { subject, ..Self::default() }
    }

    /// Opens a list with its last row selected.
    pub fn of(subject: ChoiceSubject, rows: Vec<ListChoice>) -> Self {
        Self { subject, selected: rows.len().saturating_sub(1), rows: Some(Ok(rows)), ..Self::default() }
    }

    /// Takes the rows that were waited for, or why there are none.
    pub fn take(&mut self, rows: Result<Vec<ListChoice>, String>) {
        self.rows = Some(rows);
    }

    /// Returns what is chosen.
    pub fn subject(&self) -> ChoiceSubject {
        self.subject
    }

    /// Returns what the list is filtered by.
    pub fn filter(&self) -> &str {
        self.filter.text()
    }

    /// Returns the rows, or why there are none; `None` until they are known.
    pub fn rows(&self) -> Option<Result<&[ListChoice], &str>> {
        self.rows.as_ref().map(|rows| rows.as_deref().map_err(String::as_str))
    }

    /// Returns the rows that the filter leaves, and the place of the selected one among them.
    pub fn found(&self) -> (Vec<&ListChoice>, usize) {
        let words = self.filter.words();
        let holds = |row: &&ListChoice| {
            let all = format!("{} {} {} {}", row.id, row.title, row.facts, row.preview).to_lowercase();
            words.iter().all(|word| all.contains(word))
        };
        let found: Vec<&ListChoice> =
            self.rows().and_then(Result::ok).unwrap_or_default().iter().filter(holds).collect();
        let selected = self.selected.min(found.len().saturating_sub(1));
        (found, selected)
    }
}

impl Overlay for Choices {
    fn context(&self) -> Context {
        Context::Choices
    }

    fn closing_words(&self) -> &'static str {
        "Esc closes the list"
    }

    fn escape_words(&self) -> &'static [&'static str] {
        &["Esc: closes the list", "Esc: closes"]
    }

    fn key(&mut self, key: Chord, facts: &Facts) -> Outcome {
        let page = usize::from(facts.size.height / 2).max(1);
        let (found, selected) = self.found();
        let last = found.len().saturating_sub(1);
        match (facts.keymap.lookup(Context::Choices, key), key.typed()) {
            (Some(Action::Travel(travel)), _) => {
                self.selected = travel.from(selected, page).min(last);
                return Outcome::DONE;
            }
            (Some(Action::Jump), _) => {
                let chosen = found.get(selected).map(|row| PaneEffect::Chosen(self.subject, (*row).clone()));
                return Outcome::Consumed(chosen.into_iter().collect());
            }
            (Some(Action::Write(key)), _) => _ = self.filter.delete(key),
            (None, Some(c)) => self.filter.type_text(c.encode_utf8(&mut [0; 4])),
            (Some(_), _) | (None, None) => return Outcome::Ignored,
        }
        self.selected = 0;
        Outcome::DONE
    }

    fn press(&mut self, row: usize, _: Presses, _: &Facts) {
        self.selected = row;
    }

    fn wheel(&mut self, lines: isize) {
        let (found, selected) = self.found();
        self.selected = selected.saturating_add_signed(lines).min(found.len().saturating_sub(1));
    }

    fn draw(&self, facts: &Facts, screen: Rect, regions: &mut Regions, buffer: &mut Buffer) -> OverlayDrawn {
        OverlayDrawn { cursor: Some(view::draw(self, facts, screen, regions, buffer)), position: OverlayPosition::None }
    }

    fn drawn(&mut self, _: OverlayPosition) {}
}
