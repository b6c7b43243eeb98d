//! A pending text that is being edited in the composer, with the draft that was there before.
//!
//! The entry is held in its queue the whole time, so that it cannot be delivered half changed.

use super::composer::Composer;
use crate::event::Pending;
use crate::id::AgentId;

/// Is an edit that has begun.
#[derive(Debug)]
pub struct Editing {
    /// The agent whose queue holds the entry.
    pub agent: AgentId,
    /// The entry as it was when the edit began.
    pub entry: Pending,
    /// The composer as it was, with its undo history.
    pub draft: Composer,
}
