//! What is asked about a model before its first request: whether it is known, and how much it can hold.
//!
//! Called when an agent is built.

use crate::{ApiKey, ChatTransport, Connector};

/// Returns the context window of a transport's model, tokens: the one that the user set, that of the registry, or what the
/// server says at `probe_url` or at its own address.
pub async fn context_window(
    connector: &dyn Connector,
    transport: &ChatTransport,
    set: Option<u64>,
    probe: Option<(String, Option<ApiKey>)>,
) -> Option<u64> {
    let set = set.or(transport.context_window);
    let known = connector.window_of(transport);
    let mut detector =
        crate::ContextWindowDetector::new(connector.http()).with_override(set).with_registry(move |_| known);
    if let Some((url, key)) = probe {
        detector = detector.with_probe(url, key);
    }
    detector.detect(transport.model_name()).await
}

/// Returns whether the transport's server lists its model.
pub async fn is_listed(connector: &dyn Connector, transport: &ChatTransport) -> bool {
    let listed = crate::list_models(&connector.http(), transport).await;
    listed.is_ok_and(|models| models.iter().any(|listed| listed == transport.model_name()))
}
