//! `ContextWindowDetector`: finds the size of a model's context window in tokens.
//!
//! Sources in order: the user's setting, the registry of models, llama.cpp's `/props`, the model list of another
//! server. A probe that fails means "not known", never an error.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::endpoint::Endpoint;
use crate::models::{get, read_models};
use crate::{Http, OfferedModel};
use steersman_base::dialect::Dialect;
use steersman_core::provider::{ApiKey, ChatTransport};

/// A function that looks up the window of a model, tokens.
type WindowLookup = dyn Fn(&str) -> Option<u64> + Send + Sync;

/// The sources in which the context window of a model is looked up.
#[derive(Clone, Default)]
pub struct ContextWindowDetector {
    http: Http,
    given: Option<u64>,
    registry: Option<Arc<WindowLookup>>,
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
    /// Makes a detector without sources.
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

    /// Sets the llama.cpp server to ask, with or without `/v1`, and the key it may need.
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
        let own = match properties(&self.http, &endpoint, model).await? {
            Properties::Found(props) => window(&props),
            Properties::None => None,
        };
        if own.is_some() || model.is_empty() {
            return own;
        }
        listed(&self.http, &endpoint, model).await?.context_window
    }
}

/// The answer to a request for properties.
pub(super) enum Properties {
    /// The properties of a llama.cpp server.
    Found(Value),
    /// Another kind of server answered.
    None,
}

/// Requests the properties of a server, and those of the model where the server has several; `None` when no server answers.
pub(super) async fn properties(http: &Http, endpoint: &Endpoint, model: &str) -> Option<Properties> {
    let found = props(http, endpoint, None).await?;
    match &found {
        Properties::Found(props) if window(props).is_none() && is_router(props) && !model.is_empty() => {}
        Properties::Found(_) | Properties::None => return Some(found),
    }
    props(http, endpoint, Some(model)).await
}

fn is_router(props: &Value) -> bool {
    props.get("role").and_then(Value::as_str) == Some("router")
}

async fn props(http: &Http, endpoint: &Endpoint, model: Option<&str>) -> Option<Properties> {
    let mut url = endpoint.sibling("/props");
    if let Some(model) = model {
        url.query_pairs_mut().append_pair("model", model);
    }
    let (status, body) = get(http, endpoint, url)
        .await
        .inspect_err(|error| tracing::debug!(%error, "the request for properties failed"))
        .ok()?;
    if status != 200 {
        tracing::debug!(status, "the request for properties was refused");
        return Some(Properties::None);
    }
    // Some servers answer every address with a page of their own.
    Some(serde_json::from_str(&body).map_or(Properties::None, Properties::Found))
}

/// Returns a model of the server's list of models (`vLLM`, `OpenRouter`).
pub(super) async fn listed(http: &Http, endpoint: &Endpoint, model: &str) -> Option<OfferedModel> {
    let (status, body) = get(http, endpoint, endpoint.url("/models")).await.ok()?;
    let models = if status == 200 { read_models(&body).ok()? } else { return None };
    models.into_iter().find(|offered| offered.name == model)
}

fn window(props: &Value) -> Option<u64> {
    props.get("default_generation_settings")?.get("n_ctx")?.as_u64().filter(|tokens| *tokens > 0)
}
