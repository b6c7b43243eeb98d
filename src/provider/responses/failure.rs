//! Errors that a Responses server reports within a reply.
//!
//! A code takes the place of the status of other dialects; a wait, if any, is in the message.

use serde_json::Value;

use crate::provider::ProviderError;
use crate::provider::error_body::ErrorBody;

/// Makes the error from an `error` event, a failed response, or its `error` member alone.
pub(super) fn reported(json: &str) -> ProviderError {
    let value: Value = serde_json::from_str(json).unwrap_or_default();
    // The `type` of the event itself is not part of the error.
    let body = match value.get("error").filter(|error| !error.is_null()) {
        Some(error) => ErrorBody::of(error),
        None => ErrorBody::read(json),
    };
    body.reported()
}
