//! A list to choose from that lies over the screen, with a filter and a preview. The list has the upper half where there is
//! room for a preview.
//!
//! What is listed, and what a choice leads to, is a [`ListKind`] of its own file: `sessions.rs` (the saved sessions, and what
//! was found in them), `branch.rs` (the user's own messages), `servers.rs`, `hooks.rs`. Tests: `session_screen.rs`,
//! `session_branch.rs`, `mcp_servers.rs`, `hooks_list.rs`.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::overlay::list::{ListRows, below_rule, draw_empty, put_details};
use super::overlay::{FilterText, ListPosition, Overlay, OverlayDrawn, Overlays};
use crate::effect::{Outcome, PaneEffect};
use crate::keymap::{Action, Context};
use crate::state::Regions;
use crate::switch::EventPlace;
use crate::theme::Theme;
use crate::ui_context::UiContext;
use crate::widgets::fit::{one_line, put};
use crate::widgets::wrap::{Break, Line, draw_text, wrapped};
use steersman_base::text::visible;

/// Rows from which there is room for a preview.
const TALL: u16 = 12;
/// Columns that are left to a title at least.
const TITLE: u16 = 24;

/// What is listed. Two lists are of one kind when they come from the same value.
#[derive(Debug)]
pub struct ListKind {
    /// The titles, the longest first.
    pub titles: [&'static str; 2],
    /// What stands there until the rows are known.
    pub awaited: &'static str,
    /// What stands there when there are none.
    pub empty: &'static str,
    /// What a choice leads to; `None` where the rows are only read.
    pub choose: Option<fn(&ListChoice, &UiContext) -> Vec<PaneEffect>>,
}

/// One thing that can be chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListChoice {
    /// The name of the session or of the server, or the id of the message.
    pub id: String,
    pub directory: String,
    /// What it is about (untrusted).
    pub title: String,
    /// When, where and how much (untrusted).
    pub details: String,
    /// The beginning of what it holds (untrusted).
    pub preview: String,
    /// The place in a session that it is about.
    pub place: EventPlace,
}

/// The list, from its opening to its end.
#[derive(Debug)]
pub struct Choices {
    kind: &'static ListKind,
    /// `None` until they are known.
    rows: Option<Result<Vec<ListChoice>, String>>,
    filter: FilterText,
    /// The places of the rows that the filter leaves.
    found: Vec<usize>,
    position: ListPosition,
}

impl Choices {
    /// Opens a list that is not known yet.
    pub fn awaited(kind: &'static ListKind) -> Self {
        let (filter, position) = (FilterText::default(), ListPosition::default());
        Self { kind, rows: None, filter, found: Vec::new(), position }
    }

    /// Opens a list with its last row selected.
    pub fn new(kind: &'static ListKind, rows: Vec<ListChoice>) -> Self {
        let mut list = Self::awaited(kind);
        list.position.selected = rows.len().saturating_sub(1);
        list.set_rows(Ok(rows));
        list
    }

    /// Takes the rows that were waited for, or why there are none.
    pub fn set_rows(&mut self, rows: Result<Vec<ListChoice>, String>) {
        self.rows = Some(rows);
        self.filter_rows();
    }

    /// Gives rows to the list of this kind, when it is open.
    pub fn refresh(
        overlays: &mut Overlays,
        kind: &'static ListKind,
        rows: impl FnOnce() -> Result<Vec<ListChoice>, String>,
    ) {
        if let Some(list) = overlays.find_mut::<Self>().filter(|list| std::ptr::eq(list.kind, kind)) {
            list.set_rows(rows());
        }
    }

    /// Returns the rows, or why there are none; `None` until they are known.
    fn rows(&self) -> Option<Result<&[ListChoice], &str>> {
        self.rows.as_ref().map(|rows| rows.as_deref().map_err(String::as_str))
    }

    /// Finds the rows that the filter leaves: once for each change, as there may be thousands.
    fn filter_rows(&mut self) {
        let words = self.filter.words_lowercase();
        let holds = |row: &ListChoice| {
            if words.is_empty() {
                return true;
            }
            let all = format!("{} {} {} {}", row.id, row.title, row.details, row.preview).to_lowercase();
            words.iter().all(|word| all.contains(word))
        };
        let rows = self.rows().and_then(Result::ok).unwrap_or_default();
        self.found = (0..).zip(rows).filter(|(_, row)| holds(row)).map(|(place, _)| place).collect();
    }

    /// Returns the row at a place among those that the filter leaves.
    fn row(&self, place: usize) -> Option<&ListChoice> {
        self.rows()?.ok()?.get(*self.found.get(place)?)
    }

    fn selected_row(&self) -> usize {
        self.position.selected.min(self.found.len().saturating_sub(1))
    }
}

impl Overlay for Choices {
    fn context(&self) -> Context {
        Context::Choices
    }

    fn titles(&self, _: &UiContext) -> Vec<String> {
        self.kind.titles.map(str::to_owned).to_vec()
    }

    fn hints(&self, _: &UiContext) -> &'static [&'static str] {
        if self.kind.choose.is_none() {
            return &[" type to filter · Up/Down select · Esc closes ", " Esc closes "];
        }
        &[" type to filter · Up/Down select · Enter chooses · Esc closes ", " Enter chooses · Esc closes "]
    }

    fn count(&self, _: &UiContext) -> usize {
        self.found.len()
    }

    fn position(&mut self) -> &mut ListPosition {
        &mut self.position
    }

    fn selected(&self, _: &UiContext) -> usize {
        self.selected_row()
    }

    fn act(&mut self, action: Action, ui: &UiContext) -> Outcome {
        match action {
            Action::Jump => {
                let chosen = self.row(self.selected_row()).zip(self.kind.choose);
                return Outcome::Consumed(chosen.map(|(row, choose)| choose(row, ui)).unwrap_or_default());
            }
            Action::Write(key) => _ = self.filter.delete(key),
            _ => return Outcome::Ignored,
        }
        self.filter_rows();
        self.position.selected = 0;
        Outcome::DONE
    }

    fn type_char(&mut self, c: char) -> Outcome {
        self.filter.type_text(c.encode_utf8(&mut [0; 4]));
        self.filter_rows();
        self.position.selected = 0;
        Outcome::DONE
    }

    fn draw_inside(&self, ui: &UiContext, inner: Rect, regions: &mut Regions, buffer: &mut Buffer) -> OverlayDrawn {
        let theme = &ui.theme;
        let (cursor, below) = self.filter.draw(inner, theme, buffer);
        let selected = self.selected_row();
        let nothing = match self.rows() {
            None => self.kind.awaited,
            Some(Err(reason)) => reason,
            Some(Ok([])) => self.kind.empty,
            Some(Ok(_)) => "nothing fits the filter",
        };
        let Some(chosen) = self.row(selected) else {
            draw_empty(&[&one_line(nothing)], below, theme, buffer);
            return OverlayDrawn { cursor: Some(cursor), ..OverlayDrawn::default() };
        };
        let area = if below.height >= TALL { Rect { height: below.height / 2, ..below } } else { below };
        let rows = ListRows { area, rows: &self.found, selected, top: 0, height: 1 };
        rows.draw(theme, regions, buffer, |place, room, buffer| {
            let Some(choice) = self.rows().and_then(Result::ok).and_then(|rows| rows.get(*place)) else { return };
            let left = put_details(buffer, room, &choice.details, TITLE, theme.dim);
            put(buffer, left, &one_line(&choice.title), theme.text);
        });
        let preview = Rect { y: area.bottom(), height: below.height - area.height, ..below };
        if preview.height > 1 {
            draw_preview(chosen, theme, below_rule(preview, theme, buffer), buffer);
        }
        OverlayDrawn { cursor: Some(cursor), ..OverlayDrawn::default() }
    }
}

fn draw_preview(choice: &ListChoice, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let details = [choice.id.as_str(), &choice.details].into_iter().filter(|fact| !fact.is_empty());
    let details = Line::new(&details.collect::<Vec<_>>().join(" · "), theme.dim);
    let preview = visible(&choice.preview);
    let texts = preview.lines().map(|line| Line::new(line, theme.text));
    draw_text(&wrapped(std::iter::once(details).chain(texts), area.width.into(), Break::Words), 0, area, buffer);
}
