//! The interface between the HTTP provider, which all dialects share, and the wire form of one dialect.
//!
//! A [`Wire`] writes the body and names the address; an [`Assemble`] reads the frames of a stream. Both are pure: no
//! connection, no clock. `http_provider` uses them.

use std::borrow::Cow;

use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::endpoint::Endpoint;
use crate::error_body;
use crate::quirks::{Quirks, Want};
use crate::sse::Frame;
use steersman_base::dialect::Dialect;
use steersman_base::image::Image;
use steersman_base::limits;
use steersman_base::message::{Arguments, AssistantMessage, Part};
pub(crate) use steersman_core::provider::registry::{Card, Thinking};
use steersman_core::provider::{ChatRequest, Piece, ProviderError, Reply};

/// Stands for images that a model does not take.
const LEFT_OUT: &str = "[The images of this message are left out: this model takes none.]";

/// The wire form of one dialect: writes requests and reads replies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wire {
    /// Returns the address that a request goes to.
    pub url: fn(&Endpoint, &ChatRequest<'_>) -> Url,
    /// Writes the body of a request.
    pub encode: fn(&Outgoing<'_>) -> Result<Vec<u8>, ProviderError>,
    /// Starts reading a stream.
    pub assembler: fn() -> Box<dyn Assemble>,
    /// Reads a reply that came in one body.
    pub whole: fn(&str) -> Result<Reply, ProviderError>,
}

/// A request with everything that its body depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outgoing<'a> {
    pub dialect: Dialect,
    pub server: &'a str,
    /// The conversation and how to answer.
    pub request: &'a ChatRequest<'a>,
    /// The quirks of this server and model.
    pub quirks: Quirks,
    /// The facts about the model.
    pub card: Option<&'a Card>,
}

impl<'a> Outgoing<'a> {
    /// Returns how the model is told to think, as far as it is known.
    pub(crate) fn thinking(&self) -> Thinking {
        self.card.map(|card| card.thinking).unwrap_or_default()
    }

    /// Returns the parts of an earlier reply when they may go back unchanged: to the same dialect, server and
    /// model. For any other the reply is written from its text and calls.
    pub(crate) fn parts(&self, reply: &'a AssistantMessage) -> Option<&'a [Part]> {
        let original = reply.original.as_ref()?;
        let same =
            original.dialect == self.dialect && original.server == self.server && original.model == self.request.model;
        same.then_some(original.parts.as_slice())
    }

    /// Returns the images of a message that are sent, and the words in the place of those that the model does not take:
    /// another one did, earlier in the conversation.
    pub(crate) fn images(&self, images: &'a [Image]) -> (&'a [Image], Option<&'static str>) {
        let is_known = self.card.and_then(|card| card.images) == Some(false);
        let refuses = is_known || self.quirks.wants(Want::NoImages);
        if refuses && !images.is_empty() { (&[], Some(LEFT_OUT)) } else { (images, None) }
    }
}

/// The arguments of a call as every server parses them: an object, also where the model wrote none.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum WireArguments<'a> {
    Object(&'a Map<String, Value>),
    /// The model's text instead of an object: cut by a limit, or invalid.
    Malformed {
        malformed: &'a str,
    },
}

impl<'a> From<&'a Arguments> for WireArguments<'a> {
    fn from(arguments: &'a Arguments) -> Self {
        match arguments {
            Arguments::Object(object) => Self::Object(object),
            Arguments::Raw(malformed) => Self::Malformed { malformed },
        }
    }
}

impl WireArguments<'_> {
    /// Writes the arguments as text, for the dialects of `OpenAI`.
    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned())
    }
}

/// Replaces the characters that a name must not have, and cuts it: a model may have called a tool that does not exist, by
/// any name. An empty one becomes `empty`.
pub(super) fn legal_name<'a>(name: &'a str, longest: usize, empty: &'a str) -> Cow<'a, str> {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    match name {
        "" => Cow::Borrowed(empty),
        _ if name.len() <= longest && name.chars().all(is_legal) => Cow::Borrowed(name),
        _ => Cow::Owned(name.chars().take(longest).map(|c| if is_legal(c) { c } else { '_' }).collect()),
    }
}

/// Reads an object of a stream, or the one that a body is.
///
/// # Errors
/// [`ProviderError::Malformed`] for anything else.
pub(super) fn parse<'a, T: Deserialize<'a>>(data: &'a str) -> Result<T, ProviderError> {
    // Serde would also read a list as an object, member by member.
    let object = if data.starts_with('{') { serde_json::from_str(data).ok() } else { None };
    object.ok_or_else(|| ProviderError::Malformed(error_body::plain(data)))
}

/// Checks how many calls a reply makes.
///
/// # Errors
/// [`ProviderError::Malformed`] above the limit.
pub(super) fn check_calls(calls: usize) -> Result<(), ProviderError> {
    if calls > limits::CALLS_PER_REPLY {
        return Err(ProviderError::Malformed(format!("more than {} tool calls", limits::CALLS_PER_REPLY)));
    }
    Ok(())
}

/// Checks how long a reply is.
///
/// # Errors
/// [`ProviderError::Malformed`] above the limit.
pub(super) fn check_bytes(bytes: usize) -> Result<(), ProviderError> {
    if bytes > limits::REPLY_BYTES {
        return Err(ProviderError::Malformed(format!("a reply longer than {} bytes", limits::REPLY_BYTES)));
    }
    Ok(())
}

/// An assembler of one reply from the frames of a stream. A reply exists only when the stream said that it is whole: a
/// cut or broken stream returns an error and no calls (D15).
pub trait Assemble: Send {
    /// Takes the next frame. Returns the piece of each chunk, also one without text; `None` for frames without a chunk.
    ///
    /// # Errors
    /// [`ProviderError::Server`], [`ProviderError::Status`] or another error that the server reported within the
    /// stream, [`ProviderError::Malformed`] for a frame that is no chunk or too long.
    fn take_frame(&mut self, frame: Frame<'_>) -> Result<Option<Piece>, ProviderError>;

    /// Returns whether nothing more of the reply can come: the rest of the body need not be read.
    fn is_done(&self) -> bool;

    /// Returns whether the stream said that the reply is whole.
    fn is_whole(&self) -> bool;

    /// Ends the stream.
    ///
    /// # Errors
    /// [`ProviderError::CutOff`] when nothing said that the reply is whole, [`ProviderError::Server`] when the end of
    /// the stream says that it failed.
    fn finish(self: Box<Self>) -> Result<Reply, ProviderError>;
}
