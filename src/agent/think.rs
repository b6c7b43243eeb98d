//! One question, one answer: no tools, no listeners, no budget, no history.

use steersman_base::error::RunError;
use steersman_base::message::Message;
use steersman_base::text::is_blank;
use steersman_core::control::Cancellable;
use steersman_core::provider::{ChatRequest, ChatTransport, Connector, ProviderError, Streaming};

/// Sends one prompt to the model and returns its answer, which may be empty. Never resets the cancel flag.
///
/// # Errors
/// [`RunError::Blank`] for a blank prompt; [`RunError::Cancelled`] when the flag is set before, during or after the
/// request; the provider's own error unchanged.
pub async fn think(
    connector: &dyn Connector,
    transport: &ChatTransport,
    prompt: &str,
    cancellable: Option<&Cancellable>,
) -> Result<String, RunError> {
    if is_blank(prompt) {
        return Err(RunError::Blank);
    }
    let check = || cancellable.map_or(Ok(()), Cancellable::check);
    check()?;
    let transport = match (&transport.model, connector.default_model()) {
        (None, Some(model)) => transport.with_model(model),
        _ => transport.clone(),
    };
    let provider = connector.connect(&transport)?;
    let messages = [Message::user(prompt)];
    let request = ChatRequest::new(transport.model_name(), &messages, &[], Streaming::Off)?;
    let request = request.answering(transport.answering);
    let mut sink = |_piece| check();
    let reply = provider.complete(request, &mut sink);
    let reply = match cancellable {
        Some(cancellable) => cancellable.unless_cancelled(reply).await?,
        None => reply.await,
    };
    let reply = reply.map_err(|error| match error {
        ProviderError::Cancelled(cancelled) => RunError::Cancelled(cancelled),
        other => other.into(),
    })?;
    check()?;
    Ok(reply.content)
}
