//! What lies over the panes: one stack; the uppermost takes the keys, or leaves one to what it means elsewhere.
//!
//! An overlay is a type with its own state, keys and drawing in its own folder. It takes facts besides that, and says what
//! it wants of the rest ([`Outcome`]). What is opened over another one gives the keys back when it closes.
//!
//! # Where things are
//!
//! - what an overlay is, and the stack: `mod.rs`; its area and border: `frame.rs`; the text of a filter: `filter.rs`; stories: `tui_shell.rs`, `escape.rs`
//! - the overlays: `src/tui/help`, `src/tui/ledger`, `src/tui/sessions`, `src/tui/changes`,
//!   `src/tui/context`, `src/tui/compared`

mod filter;
pub mod frame;

use std::any::Any;
use std::fmt::Debug;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::tui::effect::Outcome;
use crate::tui::facts::Facts;
use crate::tui::keymap::{Chord, Context};
use crate::tui::state::pointer::Presses;
use crate::tui::state::regions::Regions;

pub use filter::FilterText;

/// One thing that lies over the panes.
pub trait Overlay: Any + Debug {
    /// Returns where its keys are looked up.
    fn context(&self) -> Context;

    /// Returns the key that closes it, in words for the status line.
    fn closing_words(&self) -> &'static str;

    /// Returns what Esc does in words, the longest first; each begins with the key.
    fn escape_words(&self) -> &'static [&'static str];

    /// Takes one step back within it; returns false when there is none, and Esc closes it.
    fn back(&mut self) -> bool {
        false
    }

    /// Carries out a key.
    fn key(&mut self, key: Chord, facts: &Facts) -> Outcome;

    /// Takes a click on one of its rows: it selects, and decides nothing.
    fn press(&mut self, row: usize, presses: Presses, facts: &Facts);

    /// Scrolls by so many lines.
    fn wheel(&mut self, lines: isize);

    /// Draws it.
    fn draw(&self, facts: &Facts, screen: Rect, regions: &mut Regions, buffer: &mut Buffer) -> OverlayDrawn;

    /// Takes the position that a frame has shown.
    fn drawn(&mut self, position: OverlayPosition);
}

/// What a frame shows of an overlay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OverlayDrawn {
    /// Where the cursor stands, if something can be typed.
    pub cursor: Option<Position>,
    /// The position, within its bounds.
    pub position: OverlayPosition,
}

/// The selection and the scroll position of an overlay, as a frame has shown them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OverlayPosition {
    /// Nothing is to be remembered.
    #[default]
    None,
    /// A list.
    List {
        /// The selected row.
        selected: usize,
        /// The first line that is shown.
        top: usize,
    },
    /// A text.
    Page {
        /// The first row that is shown.
        top: usize,
    },
}

/// What lies over the panes, the uppermost last.
#[derive(Debug, Default)]
pub struct Overlays(Vec<Box<dyn Overlay>>);

impl Overlays {
    /// Tells whether nothing lies over the panes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the uppermost.
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

    /// Closes all.
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
