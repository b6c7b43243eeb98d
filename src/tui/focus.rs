//! Where the keys go: the pane that has the focus, and what lies over it.

use crossterm::event::KeyEvent;

use crate::commands::{CommandEntry, Takes};
use crate::effect::PaneEffect;
use crate::keymap::{Chord, Context};
use crate::overlay::Overlays;
use crate::state::Pane;

pub const ZOOM: CommandEntry = CommandEntry::new(
    "/zoom",
    Takes::Nothing,
    "Alt+L",
    "the transcript alone above the message; again: back",
    |_, _| vec![PaneEffect::change(|app| app.focus.toggle_zoom())],
)
.only_drawing();

/// The focus and the overlays.
#[derive(Debug, Default)]
pub struct Focus {
    /// The pane beneath any overlay.
    pub pane: Pane,
    /// What lies over the panes and takes the keys.
    pub overlays: Overlays,
    /// The pane that has all the room above the composer.
    pub zoom: Option<Pane>,
    /// True while a click has led to the pane and no key of it was pressed since: letters still belong to the message.
    pub by_click: bool,
    /// True when Ctrl+X was pressed and the next key says what for.
    pub is_prefixed: bool,
}

impl Focus {
    /// Returns where keys are looked up.
    pub fn context(&self) -> Context {
        match (self.overlays.top(), self.pane) {
            (Some(overlay), _) => overlay.context(),
            (None, Pane::Composer) => Context::Composer,
            (None, Pane::History) => Context::History,
            (None, Pane::Tree) => Context::Tree,
            (None, Pane::Filter) => Context::Filter,
            (None, Pane::Transcript) => Context::Transcript,
            (None, Pane::Search) => Context::Search,
            (None, Pane::Pending) => Context::Pending,
            (None, Pane::Pause) => Context::Paused,
            (None, Pane::Details) => Context::Details,
        }
    }

    /// Returns the chord that a key makes with what was pressed before it.
    pub fn chord(&self, key: &KeyEvent) -> Chord {
        let chord = Chord::from_event(key);
        if self.is_prefixed { chord.prefixed() } else { chord }
    }

    /// Returns the chord that a key makes; the next key begins another one.
    pub fn take_chord(&mut self, key: &KeyEvent) -> Chord {
        let chord = self.chord(key);
        self.is_prefixed = false;
        chord
    }

    /// Tells whether this pane has the focus and nothing lies over it.
    pub fn is_on(&self, pane: Pane) -> bool {
        self.overlays.is_empty() && self.pane == pane
    }

    /// Tells whether many characters at once are one text with its line ends: where Enter would decide or change
    /// something.
    pub fn takes_lines(&self) -> bool {
        self.is_on(Pane::Pause) || self.is_on(Pane::Pending)
    }

    /// Goes to a pane; overlays are closed. A zoom ends where it would hide the pane.
    pub fn go(&mut self, pane: Pane) {
        let zoom = self.zoom.filter(|zoomed| pane.whole() == Pane::Composer || *zoomed == pane.whole());
        *self = Self { pane, overlays: Overlays::default(), zoom, by_click: false, is_prefixed: self.is_prefixed };
    }

    /// Gives the pane that has the focus all the room, or ends the zoom; from the composer it is the transcript's.
    pub fn toggle_zoom(&mut self) {
        self.zoom = match (self.zoom, self.pane) {
            (Some(_), _) => None,
            (None, Pane::Composer) => Some(Pane::Transcript),
            (None, pane) => Some(pane.whole()),
        };
        self.overlays.clear();
    }
}
