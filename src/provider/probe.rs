//! What is asked about a model before its first request: whether it is known, and how much it can hold.
//!
//! Called when an agent is built. Without the feature `http` no server can be asked, and what is known already counts.

use crate::provider::{ApiKey, ChatTransport, Connector};

/// Returns the context window of a transport's model, tokens: the one that the user set, that of the registry, or what the
/// server says at `probe_url` or at its own address.
#[cfg_attr(not(feature = "http"), allow(clippy::unused_async))] // There it has nobody to ask.
pub async fn context_window(
    connector: &dyn Connector,
    transport: &ChatTransport,
    set: Option<u64>,
    probe: Option<(String, Option<ApiKey>)>,
) -> Option<u64> {
    let set = set.or(transport.context_window);
    let known = connector.window_of(transport);
    #[cfg(feature = "http")]
    {
        let mut detector = crate::provider::ContextWindowDetector::new(connector.http())
            .with_override(set)
            .with_registry(move |_| known);
        if let Some((url, key)) = probe {
            detector = detector.with_probe(url, key);
        }
        detector.detect(transport.model_name()).await
    }
    #[cfg(not(feature = "http"))]
    {
        let _ = probe;
        set.or(known)
    }
}

/// Returns whether the transport's server lists its model.
#[cfg_attr(not(feature = "http"), allow(clippy::unused_async))] // There it has nobody to ask.
pub async fn is_listed(connector: &dyn Connector, transport: &ChatTransport) -> bool {
    #[cfg(feature = "http")]
    {
        let listed = crate::provider::list_models(&connector.http(), transport).await;
        listed.is_ok_and(|models| models.iter().any(|listed| listed == transport.model_name()))
    }
    #[cfg(not(feature = "http"))]
    {
        let _ = (connector, transport);
        false
    }
}
