//! The messages of a conversation, as the history keeps them and a provider translates them.
//!
//! Plain values: no dialect of any server is known here. The order rules live in `agent::history`.
//!
//! # Where things are
//!
//! - what the program knows of a message of the user beyond the text that is sent: `about.rs`

mod about;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::dialect::Dialect;
use crate::id::CallId;
use crate::image::Image;
use crate::text::halves::without_halves;

pub use about::{AgentReport, DeliveredText, JobReport, KeptTexts, PlanNotice, RuleNotice, UserAbout};

/// An entry of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// Instructions, or a text that an extension appended to a user message.
    System {
        /// The text.
        content: String,
    },
    /// A message of the user (or, for a sub-agent, its task).
    User {
        /// The text as it is sent: the user's words, in a frame where one was made.
        content: String,
        /// What the user sent beside the text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
        /// What the program knows of it; `None` where that is nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        about: Option<Box<UserAbout>>,
    },
    /// A reply of the model.
    Assistant(AssistantMessage),
    /// The result of one tool call.
    Tool {
        /// The call that this answers.
        call_id: CallId,
        /// The name of the tool that was called.
        name: String,
        /// The observation; a recoverable failure starts with `Error: `.
        content: String,
    },
}

impl Message {
    /// Makes a system message.
    pub fn system(content: impl Into<String>) -> Self {
        Self::System { content: content.into() }
    }

    /// Makes a user message.
    pub fn user(content: impl Into<String>) -> Self {
        Self::User { content: content.into(), images: Vec::new(), about: None }
    }

    /// Makes a user message of which something is known.
    pub fn user_about(content: impl Into<String>, images: Vec<Image>, about: UserAbout) -> Self {
        Self::User { content: content.into(), images, about: Some(Box::new(about)) }
    }

    /// Makes an assistant message of text only.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::Assistant(AssistantMessage { content: content.into(), ..AssistantMessage::default() })
    }

    /// Makes the result of a call.
    pub fn tool(call: &ToolCall, content: impl Into<String>) -> Self {
        Self::Tool { call_id: call.id.clone(), name: call.name.clone(), content: content.into() }
    }

    /// Returns who says it, as in requests: `system`, `user`, `assistant` or `tool`.
    pub fn role(&self) -> &'static str {
        match self {
            Self::System { .. } => "system",
            Self::User { .. } => "user",
            Self::Assistant(_) => "assistant",
            Self::Tool { .. } => "tool",
        }
    }

    /// Returns its visible text; empty for a reply of calls only.
    ///
    /// ```
    /// use steersman_base::message::Message;
    ///
    /// let message = Message::user("What is there?");
    /// assert_eq!((message.role(), message.content()), ("user", "What is there?"));
    /// ```
    pub fn content(&self) -> &str {
        match self {
            Self::System { content } | Self::User { content, .. } | Self::Tool { content, .. } => content,
            Self::Assistant(reply) => &reply.content,
        }
    }
}

/// A reply of the model: text, thinking and the tool calls it asks for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// The visible text, Markdown; empty when the reply is tool calls only.
    pub content: String,
    /// The reasoning text that came with it; empty when there was none.
    #[serde(default)]
    pub thinking: String,
    /// The calls, in the order in which the model wrote them.
    #[serde(default)]
    pub tool_calls: Vec<ToolCall>,
    /// Whether the reply was cut by a cancel or a broken stream.
    #[serde(default)]
    pub interrupted: bool,
    /// The parts as its provider wrote them, when some of them must go back unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<Original>,
}

/// The parts of a reply as its provider wrote them. They go back only to the same model of the same server; any
/// other gets the reply's text and calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Original {
    /// The dialect that the parts are written in.
    pub dialect: Dialect,
    /// The name of the server.
    pub server: String,
    /// The requested model.
    pub model: String,
    /// The parts, in order.
    pub parts: Vec<Part>,
}

/// A part of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A part that only its provider understands (signed thinking, an encrypted item): its JSON, byte for byte.
    Opaque(String),
    /// A part of the visible text.
    Text {
        /// The text.
        text: String,
        /// What its provider wrote beside it (a signature), as it is to come back.
        mark: Option<String>,
    },
    /// One of the reply's calls.
    Call {
        /// Its index among the calls.
        index: usize,
        /// What its provider wrote beside it (a signature), as it is to come back.
        mark: Option<String>,
    },
}

/// A tool call that a reply asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolCall {
    /// The server's id of the call, unique within the conversation on the wire.
    pub id: CallId,
    /// The name of the tool.
    pub name: String,
    /// The arguments, not validated.
    pub arguments: Arguments,
}

/// The arguments of a call as the model wrote them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Arguments {
    /// A JSON object.
    Object(Map<String, Value>),
    /// The raw text, when it was not a JSON object.
    Raw(String),
}

impl Arguments {
    /// Reads the text that a server sent: an object, also one within a text of JSON, or the raw text if it is none.
    ///
    /// An empty text means no arguments and becomes `{}`, as several servers send it.
    pub fn parse(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::Object(Map::new());
        }
        match serde_json::from_str::<Value>(&without_halves(text)) {
            Ok(Value::Object(map)) => Self::Object(map),
            // Some servers write the object as a text that holds it.
            Ok(Value::String(inner)) => match serde_json::from_str::<Value>(&without_halves(&inner)) {
                Ok(Value::Object(map)) => Self::Object(map),
                _ => Self::Raw(text.to_owned()),
            },
            _ => Self::Raw(text.to_owned()),
        }
    }
}

impl fmt::Display for Arguments {
    /// Writes compact JSON, or the raw text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object(map) => match serde_json::to_string(map) {
                Ok(text) => f.write_str(&text),
                Err(_) => Err(fmt::Error),
            },
            Self::Raw(text) => f.write_str(text),
        }
    }
}
