//! The bodies of error answers, in all known shapes: the server's message and its meaning.
//!
//! Used by all dialects and by the HTTP provider. The message is cut to one line of bounded length; it is not sanitised
//! yet.

use serde_json::Value;

use crate::refusals::{self, RefusalMeaning};
use crate::sse::{Decoder, Frame, TooLong};
use steersman_base::limits;
use steersman_base::text::halves::without_halves;
use steersman_core::provider::ProviderError;

/// The message for a server that sends none.
pub(super) const NO_MESSAGE: &str = "no further message";

/// The statuses behind the words, in small letters, that servers send instead of a number within a stream.
const STATUSES: [(&str, u16); 26] = [
    ("invalid_request_error", 400),
    ("invalid_argument", 400),
    ("authentication_error", 401),
    ("unauthenticated", 401),
    ("billing_error", 402),
    ("permission_error", 403),
    ("permission_denied", 403),
    ("not_found_error", 404),
    ("request_too_large", 413),
    ("rate_limit_error", 429),
    ("rate_limit_exceeded", 429),
    ("too_many_requests", 429),
    ("resource_exhausted", 429),
    ("api_error", 500),
    ("server_error", 500),
    ("internal_server_error", 500),
    ("internal", 500),
    ("unavailable", 503),
    ("unavailable_error", 503),
    ("service_unavailable", 503),
    ("server_is_overloaded", 503),
    ("slow_down", 503),
    ("timeout_error", 504),
    ("vector_store_timeout", 504),
    ("deadline_exceeded", 504),
    ("overloaded_error", 529),
];

/// A server's report of a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ErrorBody {
    /// The message, one line.
    pub words: String,
    /// The status in the body itself (an error within a stream of status 200).
    pub status: Option<u16>,
    /// The wait that the body asks for, milliseconds.
    pub wait_ms: Option<u64>,
    /// The meaning beyond the status.
    pub meaning: Option<RefusalMeaning>,
}

impl ErrorBody {
    /// Reads the body of an error answer.
    pub(crate) fn parse(body: &str) -> Self {
        let body = &*without_halves(body);
        if let Some(value) = serde_json::from_str::<Value>(body).ok().or_else(|| in_stream(body)) {
            return Self::from_value(&value);
        }
        let meaning = refusals::meaning(&body.to_lowercase());
        Self { words: plain(body), status: None, wait_ms: None, meaning }
    }

    /// Reads an error object, or an object that holds one.
    pub(crate) fn from_value(value: &Value) -> Self {
        let inner = match value {
            Value::Array(items) => items.first().unwrap_or(value),
            _ => value,
        };
        let inner = inner.get("error").filter(|error| error.is_object()).unwrap_or(inner);
        let holders = [inner, value];
        let named = |names: &'static [&'static str]| {
            let members = holders.into_iter().flat_map(move |holder| names.iter().map(move |name| holder.get(*name)));
            members.flatten()
        };
        let status =
            named(&["code", "status"]).find_map(number).or_else(|| named(&["type", "status", "code"]).find_map(word));
        let words = one_line(&message_in(value).unwrap_or_else(|| value.to_string()));
        let mut meaning = refusals::meaning(&value.to_string().to_lowercase());
        // llama.cpp puts the numbers beside its message.
        if let Some(RefusalMeaning::Overflow { tokens, window }) = &mut meaning {
            *tokens = tokens.or_else(|| inner.get("n_prompt_tokens")?.as_u64());
            *window = window.or_else(|| inner.get("n_ctx")?.as_u64());
        }
        Self { wait_ms: wait_ms(inner, &words), words, status, meaning }
    }

    pub(crate) fn refused(self, status: u16, retry_after_ms: Option<u64>) -> ProviderError {
        match self.meaning {
            Some(RefusalMeaning::Spent) => ProviderError::Spent(self.words),
            Some(RefusalMeaning::Overflow { tokens, window }) => {
                ProviderError::Overflow { message: self.words, tokens, window }
            }
            None if status == 402 => ProviderError::Spent(self.words),
            None if status == 413 => ProviderError::Overflow { message: self.words, tokens: None, window: None },
            None => {
                let retry_after_ms = retry_after_ms.or(self.wait_ms);
                ProviderError::Status { status, message: self.words, retry_after_ms }
            }
        }
    }

    /// Makes the error that the server reported within a reply. One with a status is treated as an answer of that
    /// status.
    pub(crate) fn reported(self) -> ProviderError {
        match (self.status, self.meaning) {
            (Some(status), _) => self.refused(status, None),
            // Any status will do: the meaning decides.
            (None, Some(_)) => self.refused(400, None),
            (None, None) => ProviderError::Server(self.words),
        }
    }
}

/// Reads a status written as a number.
fn number(code: &Value) -> Option<u16> {
    let number = code.as_u64().or_else(|| code.as_str()?.parse().ok())?;
    u16::try_from(number).ok().filter(|status| (400..600).contains(status))
}

/// Reads a status written as a word.
fn word(code: &Value) -> Option<u16> {
    let code = code.as_str()?;
    STATUSES.iter().find(|(word, _)| code.eq_ignore_ascii_case(word)).map(|(_, status)| *status)
}

/// Reads the wait that a body asks for: Gemini's `retryDelay`, or "try again in 1m30.5s" (`OpenAI`, Groq).
fn wait_ms(error: &Value, words: &str) -> Option<u64> {
    let mut details = error.get("details").and_then(Value::as_array).into_iter().flatten();
    let delay = details.find_map(|detail| detail.get("retryDelay")?.as_str());
    let delay = delay.or_else(|| words.split_once("try again in ").map(|(_, behind)| behind))?;
    let mut millis = 0.0;
    let mut rest = delay.trim_start();
    while let Some(end) = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).filter(|end| *end > 0) {
        let (number, behind) = rest.split_at(end);
        // The full stop of the sentence.
        let Ok(number) = number.parse::<f64>() else { break };
        let unit_end = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(unit_end);
        millis += number
            * match unit {
                "ms" => 1.0,
                "s" => 1_000.0,
                "m" => 60_000.0,
                "h" => 3_600_000.0,
                _ => return None,
            };
        rest = behind;
    }
    let wait = std::time::Duration::try_from_secs_f64(millis / 1_000.0).ok()?;
    u64::try_from(wait.as_millis()).ok().filter(|wait| *wait > 0)
}

/// Finds the message in an error object: `{"error":{"message"}}`, `{"error":"…"}`, `{"message"}`, `{"detail"}`,
/// lists of these.
fn message_in(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Array(items) => {
            let each: Vec<String> = items.iter().filter_map(message_in).collect();
            (!each.is_empty()).then(|| each.join("; "))
        }
        Value::Object(object) => {
            let found = ["error", "message", "msg", "detail", "errors", "error_description", "title", "type"]
                .into_iter()
                .find_map(|name| message_in(object.get(name)?))?;
            let found = match object.get("loc").and_then(Value::as_array).map(|path| place(path)) {
                Some(place) if !place.is_empty() => format!("{place}: {found}"),
                _ => found,
            };
            // OpenRouter: "Provider returned error", with the provider's own message beside it.
            match object.get("metadata").and_then(|metadata| metadata.get("raw")).and_then(Value::as_str) {
                Some(raw) => Some(format!("{found}: {}", ErrorBody::parse(raw).words)),
                None => Some(found),
            }
        }
        _ => None,
    }
}

/// Returns the path of the faulty member of the request, which `FastAPI` sends beside its message: `tools.0.name`.
fn place(path: &[Value]) -> String {
    let name = |step: &Value| step.as_str().map_or_else(|| step.to_string(), str::to_owned);
    path.iter().map(name).skip_while(|step| step == "body").collect::<Vec<_>>().join(".")
}

/// Finds the error in a body that is a stream of events.
fn in_stream(body: &str) -> Option<Value> {
    let mut found = None;
    let mut take = |frame: Frame<'_>| -> Result<(), TooLong> {
        if let Frame::Event { data, .. } | Frame::Field { name: "error", value: data } = frame {
            found = found.take().or_else(|| serde_json::from_str(data).ok().filter(Value::is_object));
        }
        Ok(())
    };
    let mut decoder = Decoder::default();
    decoder.push(body.as_bytes(), &mut take).ok()?;
    decoder.finish(&mut take).ok()?;
    found
}

/// Describes a body that is not JSON, in one line.
pub(super) fn plain(body: &str) -> String {
    let trimmed = body.trim_start_matches('\u{FEFF}').trim();
    if trimmed.is_empty() {
        return NO_MESSAGE.to_owned();
    }
    if !trimmed.starts_with('<') {
        return one_line(trimmed);
    }
    let lower = trimmed.to_ascii_lowercase();
    let title = lower.find("<title>").and_then(|start| {
        let start = start + "<title>".len();
        let length = lower.get(start..)?.find("</title>")?;
        trimmed.get(start..start + length)
    });
    match title.map(one_line).filter(|title| !title.is_empty()) {
        Some(title) => format!("a web page, \"{title}\""),
        None => "a web page".to_owned(),
    }
}

/// Makes one line of bounded length.
pub(super) fn one_line(text: &str) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((cut, _)) = line.char_indices().nth(limits::ERROR_CHARS) {
        line.truncate(cut);
        line.push('…');
    }
    line
}
