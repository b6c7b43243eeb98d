//! `HttpConnector`: the connector of the program, which makes HTTP providers over one set of clients.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::quirks::QuirkBook;
use crate::{ContextWindowDetector, Http, HttpProvider, list_models};
use steersman_core::provider::{ApiKey, ChatProvider, ChatTransport, Connector, ProviderError, Registry};

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

    fn find_context_window<'a>(
        &'a self,
        transport: &'a ChatTransport,
        set: Option<u64>,
        probe: Option<(String, Option<ApiKey>)>,
    ) -> BoxFuture<'a, Option<u64>> {
        let (set, known) = (set.or(transport.context_window), self.window_of(transport));
        let mut detector =
            ContextWindowDetector::new(self.http.clone()).with_override(set).with_registry(move |_| known);
        if let Some((url, key)) = probe {
            detector = detector.with_probe(url, key);
        }
        Box::pin(async move { detector.detect(transport.model_name()).await })
    }

    fn is_listed<'a>(&'a self, transport: &'a ChatTransport) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let listed = list_models(&self.http, transport).await;
            listed.is_ok_and(|models| models.iter().any(|listed| listed == transport.model_name()))
        })
    }
}
