//! Whether a model takes images: from the registry of models, else from what its server says.
//!
//! Asked before images are sent. Where nobody knows, they are sent, and the server's own words say why not.

use serde_json::Value;

use crate::Http;
use crate::context_window::{Properties, listed, properties};
use crate::endpoint::Endpoint;
use steersman_base::dialect::Dialect;
use steersman_core::provider::{ChatTransport, Registry};

/// Returns whether the model of a transport takes images; `None` when nobody knows. Takes a few seconds at most.
///
/// A server of this machine is asked although the table knows the model: it may run without the part that sees.
pub async fn takes_images(http: &Http, transport: &ChatTransport, registry: &Registry) -> Option<bool> {
    let known = registry.card(transport.model_name()).and_then(|card| card.images);
    match known {
        Some(false) => known,
        Some(true) if !transport.is_loopback() => known,
        Some(true) | None => ask_server(http, transport).await.or(known),
    }
}

async fn ask_server(http: &Http, transport: &ChatTransport) -> Option<bool> {
    let endpoint = Endpoint::new(Dialect::OpenAi, Some(transport.api_base.as_deref()?), transport.api_key.as_ref());
    let endpoint = endpoint.inspect_err(|error| tracing::debug!(%error, "no request for properties")).ok()?;
    let own = match properties(http, &endpoint, transport.model_name()).await? {
        Properties::Found(props) => props.pointer("/modalities/vision").and_then(Value::as_bool),
        Properties::None => None,
    };
    if own.is_some() { own } else { listed(http, &endpoint, transport.model_name()).await?.images }
}
