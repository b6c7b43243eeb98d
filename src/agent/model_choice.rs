//! The model that the user has chosen for the rest of the session, shared by the host with the agent.
//!
//! A host writes; the agent reads it before each request, and so does the tool that spawns children. Choosing never
//! waits and never affects a request that runs.

use std::sync::Mutex;

use steersman_base::sync::lock;
use steersman_core::provider::{ChatTransport, Connector};

/// The user's choice of a model; empty until the first one.
///
/// Example: "Another model between two turns" in the documentation of `steersman::prelude`.
#[derive(Debug, Default)]
pub struct ModelChoice {
    chosen: Mutex<Option<ChosenModel>>,
}

/// The chosen model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ChosenModel {
    /// The model and its server, possibly another server in another dialect.
    pub transport: ChatTransport,
    /// Its context window in tokens, once it was found out.
    pub window: Option<u64>,
}

impl ChosenModel {
    /// Returns the context window in tokens: the configured one, else the registered one, else the one found out.
    pub fn known_window(&self, connector: &dyn Connector) -> Option<u64> {
        self.transport.context_window.or_else(|| connector.window_of(&self.transport)).or(self.window)
    }
}

impl ModelChoice {
    /// Makes an empty choice: the agent keeps its model.
    pub fn new() -> Self {
        Self::default()
    }

    /// Chooses the model of all later requests.
    pub fn choose(&self, transport: ChatTransport) {
        *lock(&self.chosen) = Some(ChosenModel { transport, window: None });
    }

    /// Adds the context window of a model, in tokens; nothing happens when another was chosen meanwhile.
    pub fn found(&self, transport: &ChatTransport, window: u64) {
        if let Some(chosen) = lock(&self.chosen).as_mut().filter(|chosen| chosen.transport == *transport) {
            chosen.window = Some(window);
        }
    }

    /// Drops the choice of a model that cannot be used, unless another was chosen meanwhile.
    pub fn forget(&self, transport: &ChatTransport) {
        lock(&self.chosen).take_if(|chosen| chosen.transport == *transport);
    }

    /// Returns the choice; `None` without one.
    pub fn chosen(&self) -> Option<ChosenModel> {
        lock(&self.chosen).clone()
    }
}
