//! The models that a server offers, requested in its dialect: names, context windows and prices.
//!
//! Used when the user named no model, for `/model`, and for `steersman models`.

use reqwest::Method;
use serde_json::Value;

use crate::Http;
use crate::endpoint::Endpoint;
use crate::error_body::{self, ErrorBody};
use crate::incoming::IncomingBody;
use crate::unreachable::unreachable;
use steersman_base::dialect::Dialect;
use steersman_base::limits;
use steersman_base::price::Price;
use steersman_base::text::halves::without_halves;
use steersman_core::provider::{ChatTransport, ProviderError, Registry};

/// A model of a server's list, with the facts in the list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OfferedModel {
    /// The name to request it by.
    pub name: String,
    /// Its context window in tokens.
    pub context_window: Option<u64>,
    /// The price of its tokens.
    pub price: Option<Price>,
    /// Its maker or host, as the server names it.
    pub owner: Option<String>,
    /// Whether it takes images, when the server says so.
    pub images: Option<bool>,
}

impl OfferedModel {
    /// Returns it with the gaps filled from the configuration and the registry; a local server reports its own facts.
    #[must_use]
    pub fn with_known(self, registry: &Registry, transport: &ChatTransport) -> Self {
        let card = if transport.is_loopback() { None } else { registry.card(&self.name) };
        let configured = transport.context_window.filter(|_| transport.model_name() == self.name);
        let price = self.price.or_else(|| card.and_then(|_| registry.price(&self.name)));
        let context_window = configured.or(self.context_window).or_else(|| card?.context_window);
        Self { context_window, price, ..self }
    }
}

/// Lists the names of a server's models, in the server's order; the first is the one to take.
///
/// # Errors
/// As [`offered_models`].
pub async fn list_models(http: &Http, transport: &ChatTransport) -> Result<Vec<String>, ProviderError> {
    Ok(offered_models(http, transport).await?.into_iter().map(|offered| offered.name).collect())
}

/// Lists the models of a transport's server, in the server's order.
///
/// # Errors
/// [`ProviderError`] when the server cannot be reached within a few seconds, refuses, or sends something else.
pub async fn offered_models(http: &Http, transport: &ChatTransport) -> Result<Vec<OfferedModel>, ProviderError> {
    let dialect = transport.dialect()?;
    let endpoint = Endpoint::from_transport(transport)?;
    ask(http, dialect, &endpoint).await.map_err(|error| endpoint.masked(error))
}

/// Requests page after page. Anthropic and Gemini send short ones by default.
async fn ask(http: &Http, dialect: Dialect, endpoint: &Endpoint) -> Result<Vec<OfferedModel>, ProviderError> {
    let (size, behind) = match dialect {
        Dialect::OpenAi | Dialect::OpenAiResponses => (None, "after_id"),
        Dialect::Anthropic => (Some("limit"), "after_id"),
        Dialect::Gemini => (Some("pageSize"), "pageToken"),
    };
    let mut models: Vec<OfferedModel> = Vec::new();
    let mut last = None;
    for _ in 0..limits::MODEL_PAGES {
        let mut url = endpoint.url("/models");
        for (name, value) in [(size, Some("1000")), (Some(behind), last.as_deref())] {
            if let (Some(name), Some(value)) = (name, value) {
                url.query_pairs_mut().append_pair(name, value);
            }
        }
        let (status, body) = get(http, endpoint, url).await?;
        if !(200..300).contains(&status) {
            return Err(ErrorBody::parse(&body).refused(status, None));
        }
        let page = page(&body)?;
        let before = models.len();
        for model in page.models {
            if models.iter().all(|earlier| earlier.name != model.name) {
                models.push(model);
            }
        }
        last = page.next.filter(|_| models.len() > before);
        if last.is_none() {
            break;
        }
    }
    Ok(models)
}

/// A page of a list.
struct ModelPage {
    models: Vec<OfferedModel>,
    /// The token of the next page, when there is one.
    next: Option<String>,
}

/// Reads a list of models out of the body of an answer.
///
/// # Errors
/// [`ProviderError::Malformed`] when it is no list of models.
pub fn read_models(body: &str) -> Result<Vec<OfferedModel>, ProviderError> {
    Ok(page(body)?.models)
}

fn page(body: &str) -> Result<ModelPage, ProviderError> {
    let value: Value =
        serde_json::from_str(&without_halves(body)).map_err(|_| ProviderError::Malformed(error_body::plain(body)))?;
    let listed = ["data", "models"].into_iter().find_map(|name| value.get(name)).unwrap_or(&value);
    let Some(listed) = listed.as_array() else {
        return Err(ProviderError::Malformed("a list of models without models".to_owned()));
    };
    let more = value.get("has_more").and_then(Value::as_bool).unwrap_or(false);
    let last = value.get("last_id").and_then(Value::as_str).filter(|_| more);
    let following = last.or_else(|| value.get("nextPageToken")?.as_str()).filter(|token| !token.is_empty());
    let models = listed.iter().filter(|model| writes_text(model)).filter_map(offered).collect();
    Ok(ModelPage { models, next: following.map(str::to_owned) })
}

/// Returns whether a model answers with text; one that does not say counts as one that does.
fn writes_text(model: &Value) -> bool {
    let methods = model.get("supportedGenerationMethods").and_then(Value::as_array);
    methods.is_none_or(|methods| methods.iter().any(|method| method == "generateContent"))
}

fn offered(model: &Value) -> Option<OfferedModel> {
    let text = |key: &str| model.get(key)?.as_str().map(str::to_owned);
    let name = ["id", "name", "model"].into_iter().find_map(text)?;
    let name = name.strip_prefix("models/").map_or(name.clone(), str::to_owned);
    let tokens = |value: Option<&Value>| value.and_then(Value::as_u64).filter(|tokens| *tokens > 0);
    let meta = model.get("meta");
    // llama.cpp, vLLM, OpenRouter and Together, Groq, Mistral, Gemini, Anthropic.
    let windows = [
        tokens(meta.and_then(|meta| meta.get("n_ctx"))),
        tokens(model.get("max_model_len")),
        tokens(model.get("context_length")),
        tokens(model.get("context_window")),
        tokens(model.get("max_context_length")),
        tokens(model.get("inputTokenLimit")),
        tokens(model.get("max_input_tokens")),
    ];
    let price = model.get("pricing").and_then(price);
    Some(OfferedModel {
        name,
        context_window: windows.into_iter().flatten().next(),
        price,
        owner: text("owned_by"),
        images: images(model),
    })
}

/// Returns whether a model takes images, as `OpenRouter` and llama.cpp say it, and Mistral.
fn images(model: &Value) -> Option<bool> {
    let listed = model.pointer("/architecture/input_modalities").and_then(Value::as_array);
    let named = listed.map(|kinds| kinds.iter().any(|kind| kind == "image"));
    named.or_else(|| model.pointer("/capabilities/vision")?.as_bool())
}

/// Reads a price as `OpenRouter` writes it: US dollars per token, as texts.
fn price(pricing: &Value) -> Option<Price> {
    let dollars = |key: &str| {
        let per_token: f64 = pricing.get(key)?.as_str()?.parse().ok()?;
        Some(per_token * 1e6)
    };
    Price::new(dollars("prompt")?, dollars("input_cache_read"), dollars("completion")?)
}

/// Requests a small text within the time limit of a probe; returns status and body.
pub(super) async fn get(http: &Http, endpoint: &Endpoint, url: reqwest::Url) -> Result<(u16, String), ProviderError> {
    let asking = async {
        let sent = http.send(endpoint.request(http, Method::GET, url.clone())?).await;
        let response = sent.map_err(|error| unreachable(http, &url, error).error)?;
        let status = response.status().as_u16();
        let mut incoming = IncomingBody::new(response)?;
        let mut body = Vec::new();
        while let Some(bytes) = incoming.next().await? {
            body.extend_from_slice(&bytes);
            if body.len() > limits::PROBE_BYTES {
                return Err(ProviderError::Malformed(format!("an answer longer than {} bytes", limits::PROBE_BYTES)));
            }
        }
        Ok((status, String::from_utf8_lossy(&body).into_owned()))
    };
    let asked = tokio::time::timeout(limits::PROBE_TIMEOUT, asking).await;
    asked.unwrap_or(Err(ProviderError::Stalled(limits::PROBE_TIMEOUT.as_secs())))
}
