//! `ContextWindowDetector`: how many tokens a model's window holds (seed of the same name).
//!
//! Sources in order: what the user said, what a registry of models knows, what llama.cpp's `/props` says, what another
//! server's list of models says. A probe that fails means "not known" and never an error.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::dialect::Dialect;
use crate::provider::endpoint::Endpoint;
use crate::provider::models::{get, read_models};
use crate::provider::{ApiKey, ChatTransport, Http};

/// Looks a model's window up, tokens.
type Registry = dyn Fn(&str) -> Option<u64> + Send + Sync;

/// Finds the context window of a model.
#[derive(Clone, Default)]
pub struct ContextWindowDetector {
    http: Http,
    given: Option<u64>,
    registry: Option<Arc<Registry>>,
    probe: Option<String>,
    key: Option<ApiKey>,
}

impl fmt::Debug for ContextWindowDetector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let registry = self.registry.is_some();
        let Self { given, probe, .. } = self;
        f.debug_struct("ContextWindowDetector")
            .field("given", given)
            .field("registry", &registry)
            .field("probe", probe)
            .finish_non_exhaustive()
    }
}

impl ContextWindowDetector {
    /// Makes a detector that knows nothing yet.
    pub fn new(http: Http) -> Self {
        Self { http, ..Self::default() }
    }

    /// Makes a detector for a transport: its own window first, its server's `/props` last. Without a
    /// base URL no server is asked.
    pub fn for_transport(http: Http, transport: &ChatTransport) -> Self {
        Self {
            given: transport.context_window,
            probe: transport.api_base.clone(),
            key: transport.api_key.clone(),
            ..Self::new(http)
        }
    }

    /// Sets the window that wins over every other source; 0 counts as not set.
    #[must_use]
    pub fn with_override(mut self, tokens: Option<u64>) -> Self {
        self.given = tokens;
        self
    }

    /// Sets the registry that is asked before the server.
    #[must_use]
    pub fn with_registry(mut self, registry: impl Fn(&str) -> Option<u64> + Send + Sync + 'static) -> Self {
        self.registry = Some(Arc::new(registry));
        self
    }

    /// Sets the llama.cpp server to ask, with or without `/v1`, and the key it may want.
    #[must_use]
    pub fn with_probe(mut self, url: impl Into<String>, key: Option<ApiKey>) -> Self {
        self.probe = Some(url.into());
        self.key = key;
        self
    }

    /// Returns the window of a model in tokens, or `None` when no source knows it. Takes a few seconds at most.
    pub async fn detect(&self, model: &str) -> Option<u64> {
        let positive = |tokens: &u64| *tokens > 0;
        if let Some(tokens) = self.given.filter(positive) {
            return Some(tokens);
        }
        if let Some(tokens) = self.registry.as_ref().and_then(|registry| registry(model)).filter(positive) {
            return Some(tokens);
        }
        self.ask_server(model).await
    }

    async fn ask_server(&self, model: &str) -> Option<u64> {
        let endpoint = Endpoint::new(Dialect::OpenAi, Some(self.probe.as_deref()?), self.key.as_ref());
        let endpoint = endpoint.inspect_err(|error| tracing::debug!(%error, "no context window probe")).ok()?;
        let props = match self.props(&endpoint, None).await? {
            Props::Told(props) => props,
            Props::None => return self.listed(&endpoint, model).await,
        };
        let tokens = window(&props);
        let is_router = props.get("role").and_then(Value::as_str) == Some("router");
        if tokens.is_none() && is_router && !model.is_empty() {
            return match self.props(&endpoint, Some(model)).await? {
                Props::Told(props) => window(&props),
                Props::None => None,
            };
        }
        tokens
    }

    /// Returns the window that the server's list of models tells (`vLLM`, `OpenRouter`).
    async fn listed(&self, endpoint: &Endpoint, model: &str) -> Option<u64> {
        let (status, body) = get(&self.http, endpoint, endpoint.url("/models")).await.ok()?;
        let models = if status == 200 { read_models(&body).ok()? } else { return None };
        models.into_iter().find(|offered| offered.name == model)?.context_window
    }

    /// Asks for the properties; `None` when nobody answers.
    async fn props(&self, endpoint: &Endpoint, model: Option<&str>) -> Option<Props> {
        let mut url = endpoint.beside("/props");
        if let Some(model) = model {
            url.query_pairs_mut().append_pair("model", model);
        }
        let (status, body) = get(&self.http, endpoint, url)
            .await
            .inspect_err(|error| tracing::debug!(%error, "the context window probe failed"))
            .ok()?;
        if status != 200 {
            tracing::debug!(status, "the context window probe was refused");
            return Some(Props::None);
        }
        serde_json::from_str(&body).ok().map(Props::Told)
    }
}

/// Is the answer to the question for properties.
enum Props {
    /// What llama.cpp tells.
    Told(Value),
    /// It is another server.
    None,
}

fn window(props: &Value) -> Option<u64> {
    props.get("default_generation_settings")?.get("n_ctx")?.as_u64().filter(|tokens| *tokens > 0)
}
