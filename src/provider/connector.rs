//! `HttpConnector`: the connector of the program, which makes HTTP providers over one set of clients.

use std::sync::Arc;

use crate::quirks::QuirkBook;
use crate::{ChatProvider, ChatTransport, Connector, Http, HttpProvider, ProviderError, Registry};

/// A connector whose providers speak HTTP.
#[derive(Debug, Clone, Default)]
pub struct HttpConnector {
    http: Http,
    quirks: QuirkBook,
    registry: Arc<Registry>,
    default_model: Option<String>,
}

impl HttpConnector {
    /// Makes a connector over shared clients.
    pub fn new(http: Http) -> Self {
        Self { http, ..Self::default() }
    }

    /// Sets what is known about models.
    #[must_use]
    pub fn with_registry(mut self, registry: Arc<Registry>) -> Self {
        self.registry = registry;
        self
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
        let provider = HttpProvider::new(self.http.clone(), transport)?;
        Ok(Arc::new(provider.with_quirks(self.quirks.clone()).with_registry(Arc::clone(&self.registry))))
    }

    fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry)
    }

    fn default_model(&self) -> Option<String> {
        self.default_model.clone()
    }

    fn http(&self) -> Http {
        self.http.clone()
    }
}
