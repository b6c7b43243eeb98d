//! The web, as tools reach it: public addresses only, checked and pinned on every hop, with caps on all that comes.
//!
//! No proxy is used, also when the environment names one: a proxy would look the name up by itself, and what was
//! checked would not be what is asked. No cookie, no referrer, no key goes along; nothing but a GET, and the search
//! services' own requests. Nothing that a page links or shows is ever loaded.
//!
//! # Where things are
//!
//! - which addresses are asked: public ones, checked and pinned on every hop: `address.rs`, `target.rs`,
//!   `resolve.rs`, `client.rs`; stories: `addresses.rs`

mod address;
mod body;
mod charset;
mod client;
mod parse;
mod readable;
mod resolve;
pub mod search;
mod target;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;

use crate::limits;

pub use address::special;
pub use body::{Body, ContentType};
pub use charset::decode;
pub use client::{Client, Reply};
pub use readable::{Readable, readable};
pub use resolve::{Resolve, SystemResolver};
pub use target::{AllowedHosts, Target};

/// Holds what the host decides about the web.
#[derive(Clone)]
pub struct Settings {
    /// Hosts that are asked whatever their address is: `host` for every port of it, or `host:port`. They are asked over
    /// `http` where the address says so.
    pub allowed_hosts: Vec<String>,
    /// The base URL of a `SearXNG` server; its host needs not be allowed.
    pub searxng_url: Option<String>,
    /// The key for Brave's search.
    pub brave_key: Option<SecretString>,
    /// The key for Exa's search.
    pub exa_key: Option<SecretString>,
    /// The user's cache directory for this program; without one nothing is kept.
    pub cache_dir: Option<PathBuf>,
    /// How much is waited for and taken.
    pub bounds: Bounds,
    /// Where the search services are.
    pub places: search::Places,
    /// Looks names up.
    pub resolver: Arc<dyn Resolve>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            allowed_hosts: Vec::new(),
            searxng_url: None,
            brave_key: None,
            exa_key: None,
            cache_dir: None,
            bounds: Bounds::default(),
            places: search::Places::default(),
            resolver: Arc::new(SystemResolver),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("allowed_hosts", &self.allowed_hosts)
            .field("searxng_url", &self.searxng_url)
            .field("brave_key", &self.brave_key)
            .field("exa_key", &self.exa_key)
            .field("cache_dir", &self.cache_dir)
            .field("bounds", &self.bounds)
            .finish_non_exhaustive()
    }
}

/// Says how much of one request is waited for and taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Time to open a connection, TLS included.
    pub connect: Duration,
    /// Longest silence of the server.
    pub silence: Duration,
    /// Time for everything: names, redirects, the whole body.
    pub time: Duration,
    /// Bytes of a body, decoded; what is beyond is not read.
    pub bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connect: limits::CONNECT_TIMEOUT,
            silence: limits::WEB_SILENCE,
            time: limits::WEB_TIME,
            bytes: limits::WEB_BYTES,
        }
    }
}

/// Says why there is no reply, in one sentence for the model. A server's own words in it are not yet sanitised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebError {
    /// The address is one that is never asked.
    #[error("{0}")]
    Refused(String),
    /// Nobody answers there: no connection, or no TLS.
    #[error("{host} cannot be reached: {reason}")]
    Unreachable {
        /// Host and port.
        host: String,
        /// What failed.
        reason: String,
    },
    /// The server leads to another site, which must be asked for by itself.
    #[error("{from} redirects to another site: {to} (not followed; call again with that address if it is wanted)")]
    Elsewhere {
        /// The address that was asked.
        from: String,
        /// Where it leads.
        to: String,
    },
    /// The reply did not come, or not whole.
    #[error("{0}")]
    Failed(String),
}

impl WebError {
    pub(crate) fn refused(sentence: impl Into<String>) -> Self {
        Self::Refused(sentence.into())
    }
}
