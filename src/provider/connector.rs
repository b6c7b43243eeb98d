//! `HttpConnector`: the connector of the program; it knows the providers by name and shares one set of clients.

use std::sync::Arc;

use crate::provider::dialect::Dialects;
use crate::provider::{ChatProvider, ChatTransport, Connector, Http, OpenAi, ProviderError};

/// The names that a transport can have, besides none.
const KNOWN: [&str; 1] = ["openai"];

/// Makes providers that speak HTTP.
#[derive(Debug, Clone, Default)]
pub struct HttpConnector {
    http: Http,
    dialects: Dialects,
    default_model: Option<String>,
}

impl HttpConnector {
    /// Makes a connector over shared clients.
    pub fn new(http: Http) -> Self {
        Self { http, ..Self::default() }
    }

    /// Sets the model that is used when a transport names none.
    #[must_use]
    pub fn with_default_model(mut self, model: impl Into<String>) -> Self {
        self.default_model = Some(model.into());
        self
    }
}

impl Connector for HttpConnector {
    fn connect(&self, transport: &ChatTransport) -> Result<Arc<dyn ChatProvider>, ProviderError> {
        match transport.provider.as_deref() {
            None | Some("openai") => {
                let provider = OpenAi::new(self.http.clone(), transport)?;
                Ok(Arc::new(provider.with_dialects(self.dialects.clone())))
            }
            Some(other) => {
                let known = KNOWN.join(", ");
                Err(ProviderError::Configuration(format!("there is no provider {other:?}; known: {known}")))
            }
        }
    }

    fn default_model(&self) -> Option<String> {
        self.default_model.clone()
    }

    fn http(&self) -> Http {
        self.http.clone()
    }
}
