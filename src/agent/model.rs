//! A switch of the model in the middle of a conversation, between two requests.

use crate::Agent;
use steersman_base::event::Event;
use steersman_core::provider::ProviderError;

impl Agent {
    /// Switches to the model that was chosen meanwhile and emits that; does nothing without a new choice. Called before
    /// each request; a host also calls it while no turn runs.
    ///
    /// The context window comes from the transport or the connector's registry, otherwise from what was found out about
    /// the chosen model; until then it is unknown.
    ///
    /// # Errors
    /// The connector's error when it cannot reach that model; the agent keeps its model, and the choice is dropped.
    pub fn adopt_model(&mut self) -> Result<(), ProviderError> {
        let Some(choice) = &self.handles.model_choice else { return Ok(()) };
        let Some(chosen) = choice.chosen() else { return Ok(()) };
        let another = self.tree.transport != chosen.transport;
        let tokens = chosen.known_window(self.tree.connector.as_ref());
        if another {
            self.provider =
                self.tree.connector.connect(&chosen.transport).inspect_err(|_| choice.forget(&chosen.transport))?;
            self.context_size.forget();
            let from = std::mem::replace(&mut self.tree.transport, chosen.transport);
            let provider =
                (from.provider != self.tree.transport.provider).then(|| self.tree.transport.provider.clone()).flatten();
            self.listeners.emit(Event::ModelSwitched {
                from: from.model,
                to: self.tree.transport.model.clone(),
                provider,
            });
        }
        if (another || chosen.window.is_some()) && tokens != self.context_window_cap {
            self.context_window_cap = tokens;
            self.listeners.emit(Event::ContextCap { tokens });
        }
        Ok(())
    }
}
