//! What an agent holds: private data, untrusted content, or both (fault S10).
//!
//! The desk keeps it per agent; tools say what their results bring. An agent that holds both can be made to send the one
//! by the other, so whatever sends is asked about then.

/// What an agent has seen so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Taint {
    /// Files of the user, or what commands said about them.
    pub private: bool,
    /// Text that strangers wrote.
    pub untrusted: bool,
}

impl Taint {
    /// Holds nothing.
    pub const NONE: Self = Self { private: false, untrusted: false };

    /// Returns both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { private: self.private || other.private, untrusted: self.untrusted || other.untrusted }
    }

    /// Tells whether private data could be sent on behalf of a stranger.
    pub fn is_both(self) -> bool {
        self.private && self.untrusted
    }
}
