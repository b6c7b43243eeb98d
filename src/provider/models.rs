//! The models that a server offers: `GET /v1/models`, asked when the user named none.

use reqwest::Method;
use serde_json::Value;

use crate::dialect::Dialect;
use crate::limits;
use crate::provider::endpoint::Endpoint;
use crate::provider::error_body::{self, ErrorBody};
use crate::provider::{ChatTransport, Http, ProviderError, http};

/// Lists the models of a transport's server, in the server's order; the first is the one to take.
///
/// # Errors
/// [`ProviderError`] when the server cannot be reached within a few seconds, refuses or answers something else.
pub async fn list_models(http: &Http, transport: &ChatTransport) -> Result<Vec<String>, ProviderError> {
    let endpoint = Endpoint::of(transport)?;
    ask(http, &endpoint, transport.dialect()?).await.map_err(|error| endpoint.masked(error))
}

async fn ask(http: &Http, endpoint: &Endpoint, dialect: Dialect) -> Result<Vec<String>, ProviderError> {
    let paging = paging(dialect);
    let mut url = endpoint.url("/models");
    if let Some(Paging { size, .. }) = paging {
        url.query_pairs_mut().append_pair(size, PAGE);
    }
    let mut names: Vec<String> = Vec::new();
    for _ in 0..limits::MODEL_PAGES {
        let page = page(http, endpoint, url.clone()).await?;
        let before = names.len();
        for name in page.names {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let (Some(next), Some(Paging { size, from })) = (page.next.filter(|_| names.len() > before), paging) else {
            break;
        };
        url.set_query(endpoint.url("/models").query());
        url.query_pairs_mut().append_pair(size, PAGE).append_pair(from, &next);
    }
    Ok(names)
}

/// Models that are asked for at once.
const PAGE: &str = "1000";

/// Names what asks for a page in a dialect whose lists have pages.
#[derive(Debug, Clone, Copy)]
struct Paging {
    size: &'static str,
    from: &'static str,
}

fn paging(dialect: Dialect) -> Option<Paging> {
    match dialect {
        Dialect::OpenAi | Dialect::OpenAiResponses => None,
        Dialect::Anthropic => Some(Paging { size: "limit", from: "after_id" }),
        Dialect::Gemini => Some(Paging { size: "pageSize", from: "pageToken" }),
    }
}

/// Is one page of a list.
struct Page {
    names: Vec<String>,
    /// What names the page that follows, when one does: the last id of this one, or a token.
    next: Option<String>,
}

async fn page(http: &Http, endpoint: &Endpoint, url: reqwest::Url) -> Result<Page, ProviderError> {
    let (status, body) = get(http, endpoint, url).await?;
    if !(200..300).contains(&status) {
        let message = ErrorBody::read(&body).words;
        return Err(ProviderError::Status { status, message, retry_after_ms: None });
    }
    let value: Value = serde_json::from_str(&body).map_err(|_| ProviderError::Malformed(error_body::plain(&body)))?;
    let list = ["data", "models"].into_iter().find_map(|name| value.get(name)).unwrap_or(&value);
    let name = |model: &Value| {
        let name = ["id", "name", "model"].into_iter().find_map(|key| model.get(key)?.as_str())?;
        // Gemini: the name is a path, and some models only embed.
        Some(name.strip_prefix("models/").unwrap_or(name).to_owned()).filter(|_| answers(model))
    };
    let more = value.get("has_more").and_then(Value::as_bool).unwrap_or(false);
    let last = value.get("last_id").and_then(Value::as_str).filter(|_| more);
    let token = value.get("nextPageToken").and_then(Value::as_str).filter(|token| !token.is_empty());
    let next = last.or(token).map(str::to_owned);
    match list.as_array() {
        Some(models) => Ok(Page { names: models.iter().filter_map(name).collect(), next }),
        None => Err(ProviderError::Malformed("a list of models without models".to_owned())),
    }
}

/// Tells whether a model can be asked at all, where its server says what it can.
fn answers(model: &Value) -> bool {
    let methods = model.get("supportedGenerationMethods").and_then(Value::as_array);
    methods.is_none_or(|methods| methods.iter().any(|method| method == "generateContent"))
}

/// Gets a small text within the time of a probe: status and body.
pub(super) async fn get(http: &Http, endpoint: &Endpoint, url: reqwest::Url) -> Result<(u16, String), ProviderError> {
    let asking = async {
        let sent = endpoint.request(http, Method::GET, url.clone())?.send().await;
        let mut response = sent.map_err(|error| http::unreachable(&url, error))?;
        let mut body = Vec::new();
        while let Some(bytes) = response.chunk().await.map_err(|_| ProviderError::CutOff)? {
            body.extend_from_slice(&bytes);
            if body.len() > limits::PROBE_BYTES {
                return Err(ProviderError::Malformed(format!("an answer longer than {} bytes", limits::PROBE_BYTES)));
            }
        }
        Ok((response.status().as_u16(), String::from_utf8_lossy(&body).into_owned()))
    };
    let asked = tokio::time::timeout(limits::PROBE_TIMEOUT, asking).await;
    asked.unwrap_or(Err(ProviderError::Stalled(limits::PROBE_TIMEOUT.as_secs())))
}
