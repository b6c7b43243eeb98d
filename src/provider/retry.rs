//! When a failed request is retried, and after which wait: one policy for all providers.
//!
//! Only a request whose reply has shown nothing yet is retried, and only when the server has ended it: by an
//! answer, or by closing it. A silent server may still work on it, and two generations at a time cost twice. Waits
//! use tokio's clock, which tests can pause; each wait is announced before it begins.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::HeaderMap;

use steersman_base::limits;
use steersman_core::provider::{Piece, ProviderError, Sink};

/// A failed request, with the server's advice about a retry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What went wrong.
    pub error: ProviderError,
    /// The server's advice.
    pub advice: Advice,
}

/// The server's advice about a retry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Advice {
    /// None; the kind of error decides.
    #[default]
    Judge,
    /// A retry is worth it.
    Retry,
    /// No retry will succeed.
    GiveUp,
    /// The server has provably not processed the request: retry without a wait, once.
    AtOnce,
}

impl From<ProviderError> for Failure {
    fn from(error: ProviderError) -> Self {
        Self { error, advice: Advice::Judge }
    }
}

/// The attempts of one request.
#[derive(Debug)]
pub struct Retries {
    attempt: u32,
    replayed: bool,
}

impl Default for Retries {
    fn default() -> Self {
        Self { attempt: 1, replayed: false }
    }
}

impl Retries {
    /// Waits before the next attempt, after announcing it.
    ///
    /// # Errors
    /// The failure itself, when it is not retried; `Cancelled` when the sink says so.
    pub async fn pause(&mut self, failure: Failure, sink: &mut Sink<'_>) -> Result<(), ProviderError> {
        if !is_transient(&failure) {
            return Err(failure.error);
        }
        if self.attempt >= limits::ATTEMPTS {
            return Err(with_reason(failure.error, &format!("tried {} times", self.attempt)));
        }
        let (asked, message) = if let ProviderError::Status { retry_after_ms, message, .. } = &failure.error {
            (retry_after_ms.map(Duration::from_millis), message.as_str())
        } else {
            (None, "")
        };
        if let Some(asked) = asked.filter(|asked| *asked > limits::RETRY_CAP) {
            return Err(ProviderError::AsksToWait {
                wait_ms: u64::try_from(asked.as_millis()).unwrap_or(u64::MAX),
                message: message.to_owned(),
            });
        }
        let wait = match (asked, failure.advice) {
            (Some(asked), _) if !asked.is_zero() => asked,
            (_, Advice::AtOnce) if !std::mem::replace(&mut self.replayed, true) => Duration::ZERO,
            // Also for a wait of zero: a server in trouble does not get four requests at once.
            (_, Advice::Judge | Advice::Retry | Advice::GiveUp | Advice::AtOnce) => {
                backoff(self.attempt, random_share())
            }
        };
        self.attempt += 1;
        let after_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        sink(Piece::Retrying { attempt: self.attempt, after_ms, reason: failure.error.to_string() })?;
        tokio::time::sleep(wait).await;
        Ok(())
    }
}

/// Returns whether the same request may succeed later.
fn is_transient(failure: &Failure) -> bool {
    let by_kind = matches!(
        failure.error,
        ProviderError::Status { status: 408 | 409 | 425 | 429 | 500..=599, .. }
            | ProviderError::Unreachable { .. }
            | ProviderError::CutOff
    );
    match failure.advice {
        Advice::Judge => by_kind,
        Advice::Retry => by_kind || matches!(failure.error, ProviderError::Status { .. } | ProviderError::Malformed(_)),
        Advice::GiveUp => false,
        Advice::AtOnce => true,
    }
}

fn with_reason(error: ProviderError, words: &str) -> ProviderError {
    match error {
        ProviderError::Status { status, message, retry_after_ms } => {
            ProviderError::Status { status, message: format!("{message} ({words})"), retry_after_ms }
        }
        ProviderError::Unreachable { host, reason } => {
            ProviderError::Unreachable { host, reason: format!("{reason} ({words})") }
        }
        ProviderError::Malformed(what) => ProviderError::Malformed(format!("{what} ({words})")),
        other => other,
    }
}

/// Returns the wait before attempt `attempt + 1`: doubled each time, capped, and randomised between half and all of it.
fn backoff(attempt: u32, share: f64) -> Duration {
    let doubled = limits::RETRY_BASE.saturating_mul(2u32.saturating_pow(attempt.saturating_sub(1)));
    doubled.min(limits::RETRY_CAP).mul_f64(0.5 + share.clamp(0.0, 1.0) / 2.0)
}

/// Returns a random number from 0 to 1, so that many clients do not retry at the same moment.
fn random_share() -> f64 {
    getrandom::u32().map_or(1.0, |random| f64::from(random) / f64::from(u32::MAX))
}

/// Reads the wait that a server asks for, milliseconds; `None` for a value that makes no sense.
pub fn retry_after_ms(headers: &HeaderMap, now: Timestamp) -> Option<u64> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    if let Some(ms) = text("retry-after-ms").and_then(number) {
        return u64::try_from(Duration::try_from_secs_f64(ms / 1_000.0).ok()?.as_millis()).ok();
    }
    let text = text("retry-after")?;
    if let Some(seconds) = number(text) {
        return u64::try_from(Duration::try_from_secs_f64(seconds).ok()?.as_millis()).ok();
    }
    let date = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    Some(u64::try_from(date.duration_since(now).as_millis()).unwrap_or(0))
}

/// Reads the server's advice about a retry.
pub fn advice(headers: &HeaderMap) -> Advice {
    match headers.get("x-should-retry").map(reqwest::header::HeaderValue::as_bytes) {
        Some(b"true") => Advice::Retry,
        Some(b"false") => Advice::GiveUp,
        _ => Advice::Judge,
    }
}
