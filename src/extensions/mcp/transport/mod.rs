//! The ways to a server: a process of this machine, or an address.
//!
//! A transport takes messages without waiting, and puts whatever comes of them into the inbox that it was made with.
//! It ends when it is closed or dropped, with everything that belongs to it.
//!
//! # Where things are
//!
//! - lines of a stream of bytes, each within a cap: `lines.rs`

pub(super) mod http;
mod lines;
mod sse;
mod stdio;

use std::fmt;

use serde_json::Value;
use tokio::sync::mpsc;

use crate::mcp::message::{Incoming, RpcError};

pub use http::HttpTransport;
pub use stdio::{ErrorOutput, ServerJob, StdioTransport};

/// A way to a server.
pub trait Transport: fmt::Debug + Send + Sync {
    /// Takes a message to be sent.
    fn send(&self, message: Outgoing);

    /// Takes the version of the protocol that was agreed on.
    fn agreed(&self, version: &str) {
        let _ = version;
    }

    /// Ends it.
    fn close(&self);
}

/// A message to be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// The whole of it.
    pub message: Value,
    /// The number of the request, when it is one.
    pub request: Option<u64>,
}

/// What comes of a transport.
#[derive(Debug)]
pub enum Arrival {
    /// A message.
    Message(Incoming),
    /// A request was not delivered, or will not be answered.
    Failed(u64, SendError),
    /// The server wrote what is no message: it logs; a sentence says what.
    Noise(String),
    /// The server wrote a message that cannot be read, perhaps an answer that somebody waits for; a sentence says what.
    Broken(String),
    /// Nothing comes any more; a sentence says why.
    Lost(String),
}

/// Why a request was not answered.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SendError {
    /// The server is not there: nothing happened.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// The server did not take it: nothing happened.
    #[error("{0}")]
    Refused(String),
    /// What became of it is unknown.
    #[error("{0}")]
    Broken(String),
    /// The server answered with an error of the protocol.
    #[error("{0}")]
    Answered(RpcError),
    /// The server has ended the session, and did not take it.
    #[error("the server has ended the session")]
    SessionGone,
    /// The server wants a login; it did not take it.
    #[error("it wants a login")]
    LoginWanted,
}

/// Where what comes of a transport goes.
pub type Inbox = mpsc::Sender<Arrival>;
