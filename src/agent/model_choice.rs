//! The model that the user has chosen for the rest of the session, shared by the host with the agent.
//!
//! A host writes; the agent reads it before each of its requests, and so does whatever spawns its children. Choosing
//! never waits and never disturbs a request that runs.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::provider::{ChatTransport, Connector};

/// Holds the choice; empty until the first.
#[derive(Debug, Default)]
pub struct ModelChoice {
    chosen: Mutex<Option<Chosen>>,
}

/// Is the chosen model.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// Which model, and how it is reached: it may be another server's, in another dialect.
    pub transport: ChatTransport,
    /// Its context window in tokens, once somebody has found it out.
    pub window: Option<u64>,
}

impl Chosen {
    /// Returns the context window in tokens: what the user said, else what is registered, else what was found out.
    pub fn known_window(&self, connector: &dyn Connector) -> Option<u64> {
        self.transport.context_window.or_else(|| connector.window_of(&self.transport)).or(self.window)
    }
}

impl ModelChoice {
    /// Makes a choice that is still open: the agent keeps its model.
    pub fn new() -> Self {
        Self::default()
    }

    /// Chooses a model for every request that comes.
    pub fn choose(&self, transport: ChatTransport) {
        *self.lock() = Some(Chosen { transport, window: None });
    }

    /// Adds the context window of a model, in tokens; nothing happens when another was chosen meanwhile.
    pub fn found(&self, transport: &ChatTransport, window: u64) {
        if let Some(chosen) = self.lock().as_mut().filter(|chosen| chosen.transport == *transport) {
            chosen.window = Some(window);
        }
    }

    /// Takes the choice of a model back that cannot be used, unless another was chosen meanwhile.
    pub fn forget(&self, transport: &ChatTransport) {
        self.lock().take_if(|chosen| chosen.transport == *transport);
    }

    /// Returns the choice; `None` when there was none.
    pub fn chosen(&self) -> Option<Chosen> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Chosen>> {
        self.chosen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
