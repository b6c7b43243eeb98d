//! What lies over the panes: one stack; the uppermost takes the keys, or leaves one to what it means elsewhere.
//!
//! An overlay is a type with its own state, keys and drawing in its own folder. It takes the context besides that, and says what
//! it wants of the rest ([`Outcome`]). What is opened over another one gives the keys back when it closes.
//!
//! # Where things are
//!
//! - what an overlay is, and the stack: `mod.rs`; its area and border: `frame.rs`; rows, rules and texts in it: `list.rs`;
//!   the text of a filter: `filter.rs`; how they register themselves: `registry.rs`; tests: `tui_shell.rs`, `escape.rs`
//! - the overlays: `src/tui/help`, `src/tui/ledger.rs`, `src/tui/sessions.rs`, `src/tui/changes.rs`, `src/tui/context.rs`,
//!   `src/tui/compared.rs`, `src/tui/jobs`, `src/tui/command_runs.rs`, `src/tui/plan`

mod filter;
pub mod frame;
pub mod list;
pub mod registry;

use std::any::Any;
use std::fmt::Debug;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::effect::Outcome;
use crate::keymap::{Action, Chord, Context, Travel};
use crate::state::{Presses, Regions};
use crate::ui_context::UiContext;

pub use filter::FilterText;

/// One thing that lies over the panes: a list, unless it says otherwise, with one row selected.
pub trait Overlay: Any + Debug {
    /// Returns where its keys are looked up.
    fn context(&self) -> Context;

    /// Returns the key that closes it, in words for the status line.
    fn closing_hint(&self) -> &'static str {
        "Esc closes the list"
    }

    /// Returns what Esc does in words, the longest first; each begins with the key.
    fn escape_hints(&self) -> &'static [&'static str] {
        &["Esc: closes the list", "Esc: closes"]
    }

    /// Returns its titles, the longest first.
    fn titles(&self, ui: &UiContext) -> Vec<String>;

    /// Returns what its keys do, for the lower border, the longest first; usual keys stand for those in force.
    fn hints(&self, ui: &UiContext) -> &'static [&'static str];

    /// Returns how many rows there are to select.
    fn count(&self, ui: &UiContext) -> usize;

    fn position(&mut self) -> &mut ListPosition;

    /// Returns the selected row, within its bounds.
    fn selected(&self, ui: &UiContext) -> usize;

    /// Selects a row; behind the last is as good as the last.
    fn select(&mut self, row: usize, ui: &UiContext) {
        self.position().selected = row.min(self.count(ui).saturating_sub(1));
    }

    /// Takes one step back within it; returns false when there is none, and Esc closes it.
    fn back(&mut self) -> bool {
        false
    }

    /// Carries out a key that moves.
    fn travel(&mut self, travel: Travel, ui: &UiContext) {
        self.select(travel.from(self.selected(ui), ui.half_page()), ui);
    }

    /// Carries out one of its own keys.
    fn act(&mut self, action: Action, ui: &UiContext) -> Outcome;

    /// Takes a character that is no key of its own.
    fn type_char(&mut self, _: char) -> Outcome {
        Outcome::Ignored
    }

    /// Carries out a key.
    fn key(&mut self, key: Chord, ui: &UiContext) -> Outcome {
        match (ui.keymap.lookup(self.context(), key), key.typed()) {
            (Some(Action::Travel(travel)), _) => self.travel(travel, ui),
            (Some(action), _) => return self.act(action, ui),
            (None, Some(c)) => return self.type_char(c),
            (None, None) => return Outcome::Ignored,
        }
        Outcome::DONE
    }

    /// Takes a click on one of its rows: it selects, and decides nothing.
    fn press(&mut self, row: usize, _: Presses, ui: &UiContext) {
        self.select(row, ui);
    }

    /// Scrolls by so many lines.
    fn wheel(&mut self, lines: isize, ui: &UiContext) {
        self.select(self.selected(ui).saturating_add_signed(lines), ui);
    }

    /// Draws what stands in its frame.
    fn draw_inside(&self, ui: &UiContext, inner: Rect, regions: &mut Regions, buffer: &mut Buffer) -> OverlayDrawn;

    fn draw(&self, ui: &UiContext, screen: Rect, regions: &mut Regions, buffer: &mut Buffer) -> OverlayDrawn {
        let inner = frame::open(&ui.theme, &self.titles(ui), screen, regions, buffer);
        let hints: Vec<_> = self.hints(ui).iter().map(|hint| ui.spell(self.context(), hint)).collect();
        frame::foot(&ui.theme, &hints, screen, buffer);
        self.draw_inside(ui, inner, regions, buffer)
    }

    /// Takes the position that a frame has shown.
    fn drawn(&mut self, position: OverlayPosition) {
        if let OverlayPosition::List(position) = position {
            *self.position() = position;
        }
    }
}

/// What a frame shows of an overlay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OverlayDrawn {
    /// Where the cursor stands, if something can be typed.
    pub cursor: Option<Position>,
    /// The position, within its bounds.
    pub position: OverlayPosition,
}

impl OverlayDrawn {
    /// Makes what a frame shows of a list.
    pub fn list(selected: usize, top: usize) -> Self {
        Self { cursor: None, position: OverlayPosition::List(ListPosition { selected, top }) }
    }
}

/// The selection and the scroll position of an overlay, as a frame has shown them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OverlayPosition {
    /// Nothing is to be remembered.
    #[default]
    None,
    List(ListPosition),
    /// The first row that is shown of a page that covers the list.
    Page(usize),
}

/// The selected row of a list, and how far it, or the text beside it, is scrolled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ListPosition {
    pub selected: usize,
    /// The first line that is shown.
    pub top: usize,
}

/// What lies over the panes, the uppermost last.
#[derive(Debug, Default)]
pub struct Overlays(Vec<Box<dyn Overlay>>);

impl Overlays {
    /// Tells whether nothing lies over the panes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn top(&self) -> Option<&dyn Overlay> {
        self.0.last().map(AsRef::as_ref)
    }

    /// Returns the uppermost, to be changed.
    pub fn top_mut(&mut self) -> Option<&mut dyn Overlay> {
        match self.0.last_mut() {
            Some(top) => Some(top.as_mut()),
            None => None,
        }
    }

    /// Returns the overlay of this type, wherever it lies.
    pub fn find_mut<T: Overlay>(&mut self) -> Option<&mut T> {
        self.0.iter_mut().find_map(|overlay| (overlay.as_mut() as &mut dyn Any).downcast_mut())
    }

    /// Tells whether the uppermost is of this type.
    pub fn is_on<T: Overlay>(&self) -> bool {
        self.top().is_some_and(|top| (top as &dyn Any).is::<T>())
    }

    /// Lays an overlay over everything; one of its type goes.
    pub fn open<T: Overlay>(&mut self, overlay: T) {
        self.0.retain(|open| !(open.as_ref() as &dyn Any).is::<T>());
        self.0.push(Box::new(overlay));
    }

    /// Closes the uppermost if it is of this type, else opens one.
    pub fn toggle<T: Overlay>(&mut self, make: impl FnOnce() -> T) {
        if self.is_on::<T>() {
            self.close();
        } else {
            self.open(make());
        }
    }

    /// Closes the uppermost.
    pub fn close(&mut self) {
        self.0.pop();
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Carries out an Esc: a step back within the uppermost, else its end.
    pub fn back(&mut self) {
        if self.top_mut().is_some_and(|top| !top.back()) {
            self.close();
        }
    }
}
