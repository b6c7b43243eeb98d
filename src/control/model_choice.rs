//! The model that the user has chosen for the rest of the session, shared by the host with the agent.
//!
//! A host writes; the agent reads it before each of its requests, and so does whatever spawns its children. Choosing
//! never waits and never disturbs a request that runs.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Holds the choice; empty until the first.
#[derive(Debug, Default)]
pub struct ModelChoice {
    chosen: Mutex<Option<Chosen>>,
}

/// Is the chosen model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// Its name.
    pub model: String,
    /// Its context window in tokens, once somebody has found it out.
    pub window: Option<u64>,
}

impl ModelChoice {
    /// Makes a choice that is still open: the agent keeps its model.
    pub fn new() -> Self {
        Self::default()
    }

    /// Chooses a model for every request that comes.
    pub fn choose(&self, model: impl Into<String>) {
        *self.lock() = Some(Chosen { model: model.into(), window: None });
    }

    /// Adds the context window of a model, in tokens; nothing happens when another was chosen meanwhile.
    pub fn found(&self, model: &str, window: u64) {
        if let Some(chosen) = self.lock().as_mut().filter(|chosen| chosen.model == model) {
            chosen.window = Some(window);
        }
    }

    /// Takes the choice of a model back that cannot be used, unless another was chosen meanwhile.
    pub fn forget(&self, model: &str) {
        self.lock().take_if(|chosen| chosen.model == model);
    }

    /// Returns the choice; `None` when there was none.
    pub fn chosen(&self) -> Option<Chosen> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Chosen>> {
        self.chosen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
