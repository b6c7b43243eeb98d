//! What the pointer holds between a press and its release.
//!
//! Changed by `update::mouse` alone. A text that is dragged over stays known after the release, until the next press.

use jiff::{SignedDuration, Timestamp};
use ratatui::layout::Position;

use super::regions::{Divider, Point};
use crate::id::AgentId;
use crate::limits;

/// Holds the button that is down, and the last press.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pointer {
    /// What is held.
    pub grip: Option<Grip>,
    last: Option<(Position, Timestamp)>,
}

/// Is what the pointer holds.
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

/// Says how often the button went down at one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presses {
    /// Once.
    One,
    /// A second time, shortly after the first.
    Two,
}

impl Pointer {
    /// Notes that the button went down; a third press at a place is a first one again.
    pub fn press(&mut self, place: Position, at: Timestamp) -> Presses {
        self.grip = None;
        let within = SignedDuration::try_from(limits::DOUBLE_CLICK).unwrap_or(SignedDuration::MAX);
        let again = self.last.is_some_and(|(known, since)| known == place && at.duration_since(since) <= within);
        self.last = if again { None } else { Some((place, at)) };
        if again { Presses::Two } else { Presses::One }
    }
}
