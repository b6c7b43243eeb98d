//! What a Responses server says within a reply when it fails, as the error that it is.
//!
//! A code stands where other dialects have a status; a wait, if any, stands in the words.

use serde_json::Value;

use crate::provider::ProviderError;
use crate::provider::error_body::ErrorBody;

/// Makes the error out of what holds it: an `error` event, a failed response, or its `error` alone.
pub(super) fn reported(json: &str) -> ProviderError {
    let value: Value = serde_json::from_str(json).unwrap_or_default();
    // The `type` of the event itself is no word of the error.
    let body = match value.get("error").filter(|error| !error.is_null()) {
        Some(error) => ErrorBody::of(error),
        None => ErrorBody::read(json),
    };
    body.reported()
}
