//! The recorder: keeps every event of a tree in memory.
//!
//! One instance is shared by the parent, its children and the rescue, so the events form one ordered list.

use std::sync::Mutex;

use crate::listener::Listener;
use steersman_base::event::{Envelope, Event};
use steersman_base::sync::lock;

/// A listener that appends every event to a list in memory.
///
/// Example: "Events in memory" in the documentation of `steersman::prelude`.
#[derive(Debug, Default)]
pub struct InMemoryEventList {
    envelopes: Mutex<Vec<Envelope>>,
}

impl InMemoryEventList {
    /// Makes an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a copy of everything recorded so far.
    pub fn envelopes(&self) -> Vec<Envelope> {
        lock(&self.envelopes).clone()
    }

    /// Returns a copy of the events alone.
    pub fn events(&self) -> Vec<Event> {
        self.envelopes().into_iter().map(|envelope| envelope.event).collect()
    }
}

impl Listener for InMemoryEventList {
    fn on_event(&self, envelope: &Envelope) {
        lock(&self.envelopes).push(envelope.clone());
    }

    fn label(&self) -> String {
        "InMemoryEventList".to_owned()
    }
}
