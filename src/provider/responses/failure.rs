//! What a Responses server says within a reply when it fails, as the error that it is.
//!
//! A code stands where other dialects have a status; a wait, if any, stands in the words.

use serde_json::Value;

use crate::provider::ProviderError;
use crate::provider::error_body::ErrorBody;

/// Codes that mean what a status means.
const STATUSES: [(&str, u16); 8] = [
    ("rate_limit_exceeded", 429),
    ("too_many_requests", 429),
    ("server_error", 500),
    ("internal_server_error", 500),
    ("server_is_overloaded", 503),
    ("overloaded_error", 503),
    ("slow_down", 503),
    ("vector_store_timeout", 504),
];
/// Codes of an account that has nothing left.
const SPENT: [&str; 4] =
    ["insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "usage_limit_reached"];

/// Makes the error out of what holds it: an `error` event, a failed response, or its `error` alone.
pub(super) fn reported(json: &str) -> ProviderError {
    let value: Value = serde_json::from_str(json).unwrap_or_default();
    let code = code(&value).unwrap_or_default();
    // The `type` of the event itself is no word of the error.
    let body = match value.get("error").filter(|error| !error.is_null()) {
        Some(error) => ErrorBody::of(error),
        None => ErrorBody::read(json),
    };
    let message = if body.words.is_empty() { code.to_owned() } else { body.words };
    if SPENT.contains(&code) {
        return ProviderError::Spent(message);
    }
    if code == "context_length_exceeded" {
        return ProviderError::Overflow { message, tokens: None, window: None };
    }
    let status = STATUSES.iter().find(|(name, _)| *name == code).map(|(_, status)| *status).or(body.status);
    match status {
        Some(status) if !body.hopeless => {
            let retry_after_ms = wait_ms(&message);
            ProviderError::Status { status, message, retry_after_ms }
        }
        _ => ProviderError::Server(message),
    }
}

fn code(value: &Value) -> Option<&str> {
    let error = value.get("error").filter(|error| error.is_object()).unwrap_or(value);
    ["code", "type"].into_iter().find_map(|name| error.get(name)?.as_str())
}

/// Reads the wait in "Please try again in 1m2.5s".
fn wait_ms(message: &str) -> Option<u64> {
    const UNITS: [(&str, f64); 4] = [("ms", 1.0), ("s", 1_000.0), ("m", 60_000.0), ("h", 3_600_000.0)];
    let (_, behind) = message.split_once("try again in ")?;
    let mut rest = behind.split_whitespace().next()?.trim_end_matches(['.', ',']);
    let mut wait = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, unit) = rest.split_at(end);
        let (unit, factor) = UNITS.into_iter().find(|(name, _)| unit.starts_with(name))?;
        wait += number.parse::<f64>().ok()? * factor;
        rest = rest.get(end + unit.len()..)?;
    }
    let wait = std::time::Duration::try_from_secs_f64(wait / 1_000.0).ok()?;
    u64::try_from(wait.as_millis()).ok()
}
