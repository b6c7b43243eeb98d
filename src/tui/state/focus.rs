//! Which pane the keys go to, and whether an overlay lies over it.

use crate::tui::keymap::Context;

/// The pane that has the focus.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pane {
    /// The message being written.
    #[default]
    Composer,
    /// The search of what was sent before.
    History,
    /// The agent tree.
    Tree,
    /// The filter of the agent tree.
    Filter,
    /// The transcript of the selected agent.
    Transcript,
    /// The search in it, while it is typed.
    Search,
    /// The panel of a paused agent.
    Gate,
    /// The texts that wait for delivery.
    Pending,
    /// The details of the shown agent.
    Details,
}

impl Pane {
    /// Returns the pane that it is a part of.
    #[must_use]
    pub fn whole(self) -> Self {
        match self {
            Self::Filter => Self::Tree,
            Self::Search => Self::Transcript,
            Self::History => Self::Composer,
            Self::Composer | Self::Tree | Self::Transcript | Self::Gate | Self::Pending | Self::Details => self,
        }
    }
}

/// What lies over the panes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlay {
    /// The commands, the keys and the manual.
    Help,
    /// A list of sessions or messages.
    Choices,
    /// What became of every text that was sent.
    Ledger,
}

/// The focus and the overlay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Focus {
    /// The pane beneath any overlay.
    pub pane: Pane,
    /// What lies over the panes and takes the keys.
    pub overlay: Option<Overlay>,
    /// The pane that has all the room above the composer.
    pub zoom: Option<Pane>,
    /// True while a click has led to the pane and no key of it was pressed since: letters still belong to the message.
    pub by_click: bool,
}

impl Focus {
    /// Returns where keys are looked up.
    pub fn context(&self) -> Context {
        match (self.overlay, self.pane) {
            (Some(Overlay::Help), _) => Context::Help,
            (Some(Overlay::Choices), _) => Context::Choices,
            (Some(Overlay::Ledger), _) => Context::Ledger,
            (None, Pane::Composer) => Context::Composer,
            (None, Pane::History) => Context::History,
            (None, Pane::Tree) => Context::Tree,
            (None, Pane::Filter) => Context::Filter,
            (None, Pane::Transcript) => Context::Transcript,
            (None, Pane::Search) => Context::Search,
            (None, Pane::Pending) => Context::Pending,
            (None, Pane::Gate) => Context::Gate,
            (None, Pane::Details) => Context::Details,
        }
    }

    /// Tells whether this pane has the focus and nothing lies over it.
    pub fn is_on(&self, pane: Pane) -> bool {
        self.overlay.is_none() && self.pane == pane
    }

    /// Tells whether many characters at once are one text with its line ends: where Enter would decide or change
    /// something.
    pub fn takes_lines(&self) -> bool {
        self.is_on(Pane::Gate) || self.is_on(Pane::Pending)
    }

    /// Goes to a pane; an overlay is closed. A zoom ends where it would hide the pane.
    pub fn go(&mut self, pane: Pane) {
        let zoom = self.zoom.filter(|zoomed| pane.whole() == Pane::Composer || *zoomed == pane.whole());
        *self = Self { pane, overlay: None, zoom, by_click: false };
    }

    /// Gives the pane that has the focus all the room, or ends the zoom; from the composer it is the transcript's.
    pub fn toggle_zoom(&mut self) {
        self.zoom = match (self.zoom, self.pane) {
            (Some(_), _) => None,
            (None, Pane::Composer) => Some(Pane::Transcript),
            (None, pane) => Some(pane.whole()),
        };
        self.overlay = None;
    }
}
