//! JSON-RPC 2.0 as MCP uses it: what goes over a transport in both directions.
//!
//! Pure: text in, values out. Nothing of a message is trusted. A text that is no message is what the server logs, whatever it
//! looks like; only one that has begun as a message and cannot be read is a broken one.

use serde_json::{Map, Value, json};

use steersman_base::text::halves::without_halves;
use steersman_base::text::{clip, visible_line};

/// Most characters of a wrong text that a sentence quotes.
const QUOTED: usize = 120;

/// A message that came.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// The answer to a request of this program.
    Response {
        /// The number of the request.
        id: u64,
        /// The result, or the server's error.
        outcome: Result<Value, RpcError>,
    },
    /// Something that the server asks for.
    Request {
        /// Its id, as it goes back.
        id: Value,
        /// What it asks for.
        method: String,
        /// The details.
        params: Value,
    },
    /// An error about something that the server could not even read: nobody knows which request that was.
    Unreadable(RpcError),
    /// Something that the server tells.
    Notification {
        /// What it tells.
        method: String,
        /// The details.
        params: Value,
    },
}

/// An error that a server answers with.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}", .message)]
pub struct RpcError {
    /// The number of its kind.
    pub code: i64,
    /// The sentence of the server (untrusted).
    pub message: String,
    /// The details.
    pub data: Value,
}

/// The number of "there is no such method".
pub const METHOD_NOT_FOUND: i64 = -32601;

/// Why a text is no message: one sentence, safe to show.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// It is not even meant to be one: the server logs.
    #[error("it sent something that is not a message: {0}")]
    NoJson(String),
    /// It is meant to be one and is broken.
    #[error("it sent a broken message ({0})")]
    Broken(String),
}

/// Reads the messages of one text: one, several in a list, or several one behind the other. What is none among them is passed
/// over.
///
/// # Errors
/// [`MessageError`], when there is none.
pub fn parse(text: &[u8]) -> Result<Vec<Incoming>, MessageError> {
    let lossy = String::from_utf8_lossy(text);
    let json = lossy.trim_start_matches(['\u{FEFF}', ' ', '\t']);
    let mut messages = Vec::new();
    let mut error = None;
    for value in serde_json::Deserializer::from_str(&without_halves(json)).into_iter() {
        match value {
            // Some servers of 2025-03-26 answer with lists.
            Ok(Value::Array(list)) => messages.extend(list.into_iter().filter_map(one)),
            Ok(value) => messages.extend(one(value)),
            Err(wrong) => error = Some(wrong),
        }
    }
    match error {
        _ if !messages.is_empty() => Ok(messages),
        Some(error) if json.starts_with('{') && json.contains("\"jsonrpc\"") => {
            Err(MessageError::Broken(format!("no JSON: {error}; {}", quoted(text))))
        }
        Some(_) | None => Err(MessageError::NoJson(quoted(text))),
    }
}

/// Returns the number of the request that a message answers of which only the beginning is there; `None` where it is no
/// answer.
pub fn answered_in(beginning: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(beginning);
    let text = text.trim_start_matches('\u{FEFF}').trim_start();
    // What stands behind that is what it says, and may name anything.
    let head = text.split_once("\"result\"").map_or(text, |(head, _)| head);
    if !head.starts_with('{') || !head.contains("\"jsonrpc\"") || head.contains("\"method\"") {
        return None;
    }
    let (_, id) = head.split_once("\"id\"")?;
    let id = id.trim_start().strip_prefix(':')?.trim_start();
    let digits = id.trim_start_matches('"');
    digits.get(..digits.find(|c: char| !c.is_ascii_digit())?)?.parse().ok()
}

/// Reads one message; `None` where it is none.
fn one(value: Value) -> Option<Incoming> {
    let Value::Object(mut map) = value else { return None };
    let is_marked = map.contains_key("jsonrpc");
    let id = map.remove("id").filter(|id| !id.is_null());
    let params = map.remove("params").unwrap_or(Value::Null);
    let method = map.remove("method");
    // A few servers leave the mark out. What has members of its own besides is a line of a log.
    let is_plain = is_marked || map.keys().all(|name| method.is_none() && matches!(name.as_str(), "result" | "error"));
    let is_answer = is_marked || map.contains_key("result") || map.get("error").is_some_and(Value::is_object);
    match (method, id) {
        _ if !is_plain => None,
        (Some(Value::String(method)), None) => Some(Incoming::Notification { method, params }),
        (Some(Value::String(method)), Some(id)) if id.is_string() || id.is_number() => {
            Some(Incoming::Request { id, method, params })
        }
        (None, Some(id)) if is_answer => Some(Incoming::Response { id: number(&id)?, outcome: outcome(&mut map) }),
        (None, None) if is_marked && map.get("error").is_some_and(Value::is_object) => {
            outcome(&mut map).err().map(Incoming::Unreadable)
        }
        _ => None,
    }
}

/// Reads an id of this program's; some servers give numbers back as text, or as what they take all numbers for.
fn number(id: &Value) -> Option<u64> {
    id.as_u64().or_else(|| id.as_f64().and_then(whole)).or_else(|| id.as_str()?.parse().ok())
}

/// Returns the number of a request that a float is.
fn whole(id: f64) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole and small enough")]
    (id.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&id)).then_some(id as u64)
}

fn outcome(map: &mut Map<String, Value>) -> Result<Value, RpcError> {
    match (map.remove("error"), map.remove("result")) {
        (Some(Value::Object(mut error)), _) => Err(RpcError {
            code: error.get("code").and_then(Value::as_i64).unwrap_or(0),
            message: match error.remove("message") {
                Some(Value::String(message)) => message,
                _ => "an error without words".to_owned(),
            },
            data: error.remove("data").unwrap_or(Value::Null),
        }),
        (None | Some(Value::Null), Some(result)) => Ok(result),
        (Some(error), _) => Err(broken_answer(&error.to_string())),
        (None, None) => Err(broken_answer("neither a result nor an error")),
    }
}

fn broken_answer(what: &str) -> RpcError {
    RpcError { code: 0, message: format!("its answer is broken ({})", quoted(what.as_bytes())), data: Value::Null }
}

/// Returns the beginning of a text, safe to show.
fn quoted(text: &[u8]) -> String {
    // Whatever is behind is not shown; a message may have many megabytes.
    let text = String::from_utf8_lossy(text.get(..text.len().min(4 * QUOTED)).unwrap_or_default());
    clip(&visible_line(&text), QUOTED).into_owned()
}

/// Writes a request.
pub fn request(id: u64, method: &str, params: &Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
    put_params(&mut message, params);
    message
}

/// Writes a notification.
pub fn notification(method: &str, params: &Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    put_params(&mut message, params);
    message
}

/// Writes the answer to a request of the server.
pub fn response(id: &Value, outcome: Result<Value, RpcError>) -> Value {
    match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(RpcError { code, message, .. }) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
        }
    }
}

fn put_params(message: &mut Value, params: &Value) {
    if let (Some(message), false) = (message.as_object_mut(), params.is_null()) {
        message.insert("params".to_owned(), params.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_message_is_read() {
        let read = |text: &str| parse(text.as_bytes()).unwrap().remove(0);
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#),
            Incoming::Response { id: 7, outcome: Ok(json!({"a": 1})) }
        );
        assert!(matches!(
            read(r#"{"id":"7","error":{"code":-1,"message":"no"}}"#),
            Incoming::Response { id: 7, outcome: Err(RpcError { code: -1, .. }) }
        ));
        assert!(matches!(read(r#"{"id":"x","method":"ping"}"#), Incoming::Request { .. }));
        assert!(matches!(read(r#"{"method":"n","params":[]}"#), Incoming::Notification { .. }));
        // Neither result nor error: its request ends, and does not wait for another answer.
        assert!(matches!(read(r#"{"jsonrpc":"2.0","id":7}"#), Incoming::Response { id: 7, outcome: Err(_) }));
        assert!(matches!(
            read(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}"#),
            Incoming::Unreadable(RpcError { code: -32700, .. })
        ));
    }

    #[test]
    fn what_is_no_message_is_what_the_server_logs_whatever_it_looks_like() {
        assert!(
            matches!(parse(b"Server listening \x1b[31mred"), Err(MessageError::NoJson(text)) if !text.contains('\x1b'))
        );
        for log in [
            "42",
            "{}",
            "[]",
            "[db] Connected",
            "[2026-11-27] INFO ready",
            "{debug: true}",
            "{\"level\": \"info\", \"id\": 7}",
            "{\"id\": {}}",
            "{\"method\": 5}",
            "{\"error\": \"cache is cold\"}",
            "[debug] -> {\"jsonrpc\": \"2.0\", \"id\": 7}",
            "[{}, 5]",
            "{\"id\": 7, \"error\": \"the cache is cold\"}",
            "{\"level\": \"info\", \"id\": 7, \"result\": \"cached\"}",
            "{\"method\": \"GET\", \"url\": \"/\", \"id\": 7, \"status\": 200}",
            "{\"method\": \"GET\", \"status\": 200}",
            "[1, 2, 3]",
            "\"started\"",
            "null",
            "\u{FEFF}INFO ready",
            "{\"jsonrpc\": \"2.0\"}",
            "{} {\"debug\": true} done",
        ] {
            assert!(matches!(parse(log.as_bytes()), Err(MessageError::NoJson(_))), "{log}");
        }
        assert!(matches!(parse("[".repeat(10_000).as_bytes()), Err(MessageError::NoJson(_))));
        assert!(matches!(parse(b"[{\"method\":\"n\"}, {}]"), Ok(list) if list.len() == 1));
        assert!(matches!(parse(b"{\"jsonrpc\": \"2.0\", \"id\": 7, "), Err(MessageError::Broken(_))));
    }

    #[test]
    fn a_message_is_read_whatever_stands_around_it() {
        for text in [
            "\u{FEFF}{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":1}",
            "  {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":1}\r",
            "{\"jsonrpc\":\"2.0\",\"id\":7.0,\"result\":1}",
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":1} [info] done",
            "{\"debug\":true}{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":1}",
        ] {
            let messages = parse(text.as_bytes()).unwrap();
            assert_eq!(messages, [Incoming::Response { id: 7, outcome: Ok(json!(1)) }], "{text}");
        }
        let two = "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":1}{\"jsonrpc\":\"2.0\",\"method\":\"n\"}";
        assert_eq!(parse(two.as_bytes()).unwrap().len(), 2, "two that a server wrote at once");
    }

    #[test]
    fn half_a_character_or_a_wrong_byte_breaks_no_message() {
        let text = |bytes: &[u8]| match parse(bytes).unwrap().remove(0) {
            Incoming::Response { outcome: Ok(Value::String(text)), .. } => text,
            other => panic!("{other:?}"),
        };
        assert_eq!(text(br#"{"id":7,"result":"a\ud83d"}"#), "a\u{FFFD}");
        assert_eq!(text(br#"{"id":7,"result":"\ude00 \ud83d\ude00"}"#), "\u{FFFD} \u{1F600}");
        assert_eq!(text(b"{\"id\":7,\"result\":\"a\xffb\"}"), "a\u{FFFD}b");
    }
}
