//! What the pointer holds between a press and its release.
//!
//! Changed by `update::mouse` alone. A text that is dragged over stays known after the release, until the next press.

use jiff::{SignedDuration, Timestamp};
use ratatui::layout::Position;

use super::regions::{Divider, Point};
use crate::id::AgentId;
use crate::limits;

/// The button that is down, and the last press.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pointer {
    /// What is held.
    pub grip: Option<Grip>,
    /// Whom the mouse belongs to.
    pub mode: MouseMode,
    last: Option<(Position, Timestamp, Presses)>,
}

/// What the pointer holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grip {
    /// Text of a transcript: from the press to where the pointer was last.
    Text {
        /// Whose transcript.
        agent: AgentId,
        /// Where the button went down.
        from: Point,
        /// Where the pointer was last.
        to: Point,
    },
    /// A line between panes.
    Divider(Divider),
}

/// How often the button went down at one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presses {
    /// Once.
    One,
    /// A second time, shortly after the first.
    Two,
    /// A third time, shortly after the second.
    Three,
}

impl Pointer {
    /// Notes that the button went down; a fourth press at a place is a first one again.
    pub fn press(&mut self, place: Position, at: Timestamp) -> Presses {
        self.grip = None;
        let within = SignedDuration::try_from(limits::DOUBLE_CLICK).unwrap_or(SignedDuration::MAX);
        let before = self.last.filter(|(known, since, _)| *known == place && at.duration_since(*since) <= within);
        let presses = match before.map(|(_, _, presses)| presses) {
            None | Some(Presses::Three) => Presses::One,
            Some(Presses::One) => Presses::Two,
            Some(Presses::Two) => Presses::Three,
        };
        self.last = Some((place, at, presses));
        presses
    }
}

/// Whom the mouse belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MouseMode {
    /// The screen.
    #[default]
    On,
    /// The terminal, which selects text with it.
    Off,
}
