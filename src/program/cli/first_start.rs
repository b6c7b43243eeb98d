//! The first start: without a configuration, looks for model servers on the usual ports of this machine.
//!
//! Loopback only, all ports at once, within a sixth of a second, while the embedded model starts. A server that is
//! no model server, or has no model, is not offered.

use std::time::Duration;

use futures_util::future::{join, join_all};
use reqwest::Url;
use serde_json::Value;

use steersman_base::limits;
use steersman_provider::{Http, OfferedModel, read_models};

/// A model server that answers on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundServer {
    /// The name of its program, for display.
    pub what: &'static str,
    /// Its name in lists of servers.
    pub name: &'static str,
    /// Its address, with `/v1`.
    pub base_url: String,
    /// The models that it offers, never empty; the first is the default.
    pub models: Vec<String>,
}

/// Checks ports of this machine at the same time; returns the model servers that answered in time, in port order.
pub async fn look(http: &Http, ports: &[u16]) -> Vec<FoundServer> {
    look_for(http, ports, limits::LOOK_TIME).await
}

/// Checks ports like [`look`], with a time limit.
pub async fn look_for(http: &Http, ports: &[u16], time: Duration) -> Vec<FoundServer> {
    if let Ok(url) = Url::parse("http://127.0.0.1/") {
        // Made before the time starts: the first client takes a while.
        let _ = http.client(&url);
    }
    let look = |port: u16| async move { tokio::time::timeout(time, at(http, port)).await.ok().flatten() };
    join_all(ports.iter().copied().map(look)).await.into_iter().flatten().collect()
}

async fn at(http: &Http, port: u16) -> Option<FoundServer> {
    let origin = format!("http://127.0.0.1:{port}");
    let list = get(http, &format!("{origin}/v1/models")).await?;
    let offered = read_models(&list).ok()?;
    let (what, name) = kind(http, &origin, &list, &offered).await?;
    let models: Vec<String> =
        offered.into_iter().map(|model| model.name).filter(|name| !name.to_lowercase().contains("embed")).collect();
    (!models.is_empty()).then(|| FoundServer { what, name, base_url: format!("{origin}/v1"), models })
}

/// Returns the display name and the name of a server; `None` for one that is no model server.
async fn kind(http: &Http, origin: &str, list: &str, offered: &[OfferedModel]) -> Option<(&'static str, &'static str)> {
    match offered.first()?.owner.as_deref() {
        Some("llamacpp") => return Some(("llama.cpp", "llama.cpp")),
        Some("vllm") => return Some(("vLLM", "vllm")),
        Some("organization_owner") => return Some(("LM Studio", "lmstudio")),
        Some(_) | None => {}
    }
    let (version, props) =
        join(get(http, &format!("{origin}/api/version")), get(http, &format!("{origin}/props"))).await;
    let has = |body: Option<String>, key: &str| {
        let value = body.and_then(|body| serde_json::from_str::<Value>(&body).ok());
        value.is_some_and(|value| value.get(key).is_some())
    };
    if has(version, "version") {
        return Some(("Ollama", "ollama"));
    }
    if has(props, "default_generation_settings") {
        return Some(("llama.cpp", "llama.cpp"));
    }
    // Any other server with a list of models in the common form.
    let list: Value = serde_json::from_str(list).ok()?;
    let models = list.get("data")?.as_array()?;
    let is_list =
        list.get("object")? == "list" && models.iter().all(|model| model.get("object").is_some_and(|o| o == "model"));
    is_list.then_some(("a model server", "local"))
}

/// Requests a small text; `None` for any other status than 200.
async fn get(http: &Http, url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let mut response = http.client(&url).ok()?.get(url).send().await.ok()?;
    if response.status() != reqwest::StatusCode::OK {
        return None;
    }
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.ok()? {
        body.extend_from_slice(&bytes);
        if body.len() > limits::PROBE_BYTES {
            return None;
        }
    }
    String::from_utf8(body).ok()
}
