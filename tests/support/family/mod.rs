//! The families of wire formats that the scripted server speaks: each plays the same moves in its own frames.
//!
//! [`Family::of`] tells them apart by the path of a request, so that a [`super::server::Reply`] that is a text or calls
//! is played in the dialect that asked. [`Family::violation`] is the validator of each.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde_json::{Value, json};

use super::reply::Step;
use super::server::Request;
use super::{contents, items, messages};

/// One wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    Chat,
    Anthropic,
    Responses,
    Gemini,
}

/// One thing that a model does in a reply.
#[derive(Debug, Clone)]
pub enum Move {
    /// Thinks.
    Thinking(String),
    /// Says something.
    Text(String),
    /// Calls a tool: id, name, arguments as JSON.
    Call(String, String, String),
    /// Begins a call whose arguments are never whole.
    HalfCall(String, String, String),
    /// Ends its reply.
    End(End),
    /// Something happens to the stream.
    Wire(Step),
}

/// Says how a reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The model is done.
    Done,
    /// It wants its tools.
    Calls,
    /// The token limit.
    Length,
    /// A filter.
    Filter,
}

/// Counts tokens of a reply: prompt and completion.
#[derive(Debug, Clone, Copy)]
pub struct Counts(pub u64, pub u64);

impl Default for Counts {
    fn default() -> Self {
        Self(100, 20)
    }
}

impl Family {
    pub const ALL: [Self; 4] = [Self::Chat, Self::Anthropic, Self::Responses, Self::Gemini];

    /// Returns the family of a request for a reply; `None` for any other.
    pub fn of(method: &str, path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        if method != "POST" {
            return None;
        }
        Some(match path {
            _ if path.ends_with("/chat/completions") => Self::Chat,
            _ if path.ends_with("/messages") => Self::Anthropic,
            _ if path.ends_with("/responses") => Self::Responses,
            _ if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") => Self::Gemini,
            _ => return None,
        })
    }

    /// Returns the name of its dialect.
    pub fn dialect(self) -> &'static str {
        match self {
            Self::Chat => "openai",
            Self::Anthropic => "anthropic",
            Self::Responses => "openai-responses",
            Self::Gemini => "gemini",
        }
    }

    /// Writes moves as a stream.
    pub fn stream(self, moves: &[Move], counts: Counts) -> Vec<Step> {
        match self {
            Self::Chat => chat::stream(moves, counts),
            Self::Anthropic => anthropic::stream(moves, counts),
            Self::Responses => responses::stream(moves, counts),
            Self::Gemini => gemini::stream(moves, counts),
        }
    }

    /// Writes moves as one body.
    pub fn whole(self, moves: &[Move], counts: Counts) -> Value {
        match self {
            Self::Chat => chat::whole(moves, counts),
            Self::Anthropic => anthropic::whole(moves, counts),
            Self::Responses => responses::whole(moves, counts),
            Self::Gemini => gemini::whole(moves, counts),
        }
    }

    /// Writes the body of a refusal as the family's own servers do; `kind` is a word such as `overloaded_error`.
    pub fn refusal(self, status: u16, kind: &str, message: &str) -> Value {
        match self {
            Self::Chat | Self::Responses => {
                json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
            }
            Self::Anthropic => {
                json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"})
            }
            Self::Gemini => json!({"error": {"code": status, "message": message, "status": kind.to_uppercase()}}),
        }
    }

    /// Writes an error within a stream.
    pub fn error_event(self, status: u16, kind: &str, message: &str) -> Step {
        match self {
            Self::Chat | Self::Gemini => Step::data(self.refusal(status, kind, message)),
            Self::Anthropic => named("error", &self.refusal(status, kind, message)),
            Self::Responses => {
                let error = json!({"type": "error", "code": kind, "message": message, "param": null});
                named("error", &error)
            }
        }
    }

    /// Returns the first fault of a request.
    pub fn violation(self, request: &Request) -> Option<String> {
        match self {
            Self::Chat => chat::violation(request),
            Self::Anthropic => messages::violation(&request.body),
            Self::Responses => items::violation(&request.body),
            Self::Gemini => contents::violation(&request.body),
        }
    }

    /// Tells whether a request wants its reply in pieces.
    pub fn streams(self, request: &Request) -> bool {
        match self {
            Self::Chat | Self::Anthropic | Self::Responses => request.body["stream"] == true,
            Self::Gemini => request.path.contains(":streamGenerateContent"),
        }
    }
}

/// Writes an event with a name.
fn named(name: &str, data: &Value) -> Step {
    Step::Bytes(format!("event: {name}\ndata: {data}\n\n").into_bytes())
}

/// Cuts a text in two near its middle.
fn halves(text: &str) -> (&str, &str) {
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.split_at(middle)
}
