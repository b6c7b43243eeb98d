//! The seam between the course of a request, which all dialects share, and what one dialect puts on the wire.
//!
//! A [`Wire`] writes the body and names the address; an [`Assemble`] reads the frames of a stream. Both are pure: no
//! connection, no clock. `course` carries them out.

use std::fmt;

use reqwest::Url;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::dialect::Dialect;
use crate::message::{Arguments, AssistantMessage, Part};
use crate::provider::endpoint::Endpoint;
use crate::provider::quirks::Quirks;
use crate::provider::registry::Card;
use crate::provider::sse::Frame;
use crate::provider::{ChatRequest, Piece, ProviderError, Reply};

/// Writes requests and reads replies of one dialect.
pub(super) trait Wire: Send + Sync + fmt::Debug {
    /// Returns the address that a request goes to.
    fn url(&self, endpoint: &Endpoint, request: &ChatRequest<'_>) -> Url;

    /// Writes the body of a request.
    fn encode(&self, outgoing: &Outgoing<'_>) -> Result<Vec<u8>, ProviderError>;

    /// Starts reading a stream.
    fn assembler(&self) -> Box<dyn Assemble>;

    /// Reads a reply that came in one body.
    fn whole(&self, body: &str) -> Result<Reply, ProviderError>;
}

/// Is one request with all that its body depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outgoing<'a> {
    /// The dialect that it is written in.
    pub dialect: Dialect,
    /// The name of the server that it goes to.
    pub server: &'a str,
    /// The conversation and how to answer.
    pub request: &'a ChatRequest<'a>,
    /// What this server and model want differently.
    pub quirks: Quirks,
    /// What is known about the model.
    pub card: Option<&'a Card>,
}

impl<'a> Outgoing<'a> {
    /// Returns the parts of an earlier reply when they may go back as they came: to the same dialect, server and model.
    /// To any other they would mean nothing; the reply is then translated from its text and calls.
    pub fn parts(&self, reply: &'a AssistantMessage) -> Option<&'a [Part]> {
        let original = reply.original.as_ref()?;
        let same =
            original.dialect == self.dialect && original.server == self.server && original.model == self.request.model;
        same.then_some(original.parts.as_slice())
    }
}

/// What a call is made with, as every server parses it: an object, also where the model wrote none.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum WireArguments<'a> {
    /// The object.
    Object(&'a Map<String, Value>),
    /// What the model wrote instead: cut by a limit, or wrong.
    Malformed {
        /// The text.
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
    /// Writes it as the text that the dialects of `OpenAI` want.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned())
    }
}

/// Builds one reply out of the frames of a stream. A reply exists only when the stream said that it is whole: whatever
/// was cut or broken returns an error and no calls (D15).
pub trait Assemble: Send {
    /// Takes the next frame. Returns the piece of each chunk, also when it brought no text; nothing for what carries none.
    ///
    /// # Errors
    /// [`ProviderError::Server`], [`ProviderError::Status`] or another error that the server reported within the stream,
    /// [`ProviderError::Malformed`] for what is no chunk or too long.
    fn take(&mut self, frame: Frame<'_>) -> Result<Option<Piece>, ProviderError>;

    /// Tells whether nothing of the reply can come any more: the rest of the body need not be waited for.
    fn is_done(&self) -> bool;

    /// Tells whether the stream said that the reply is whole.
    fn is_whole(&self) -> bool;

    /// Ends the stream.
    ///
    /// # Errors
    /// [`ProviderError::CutOff`] when nothing said that the reply is whole, [`ProviderError::Server`] when the stream's
    /// last words say that it failed.
    fn finish(self: Box<Self>) -> Result<Reply, ProviderError>;
}
