//! The recorder: keeps every event of a tree in memory.
//!
//! One instance is shared by the parent, its children and the rescue, so the events form one ordered list.

use std::sync::Mutex;

use crate::event::{Envelope, Event};
use crate::listener::Listener;
use crate::sync::lock;

/// A listener that appends every event to a list in memory.
///
/// ```
/// use std::sync::Arc;
///
/// use steersman::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let events = Arc::new(InMemoryEventList::new());
/// let model = ScriptedProvider::new([Played::text("Hello.")]);
/// let mut agent = Agent::with_provider(model, "You are helpful.").listener(events.clone()).await?;
/// agent.ask("Hi.").await?;
/// assert!(events.events().iter().any(|event| matches!(event, Event::Assistant { text, .. } if text == "Hello.")));
/// # Ok(())
/// # }
/// ```
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
