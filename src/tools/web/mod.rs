//! Web access for tools: public addresses only, checked and pinned on every hop, with limits on all that is received.
//!
//! No proxy is used, even when the environment names one: a proxy would resolve the name itself, so that the
//! checked address would not be the one that is used. No cookies, referrers or keys are sent; only GET requests and
//! those of the search services are made. Nothing that a page links or embeds is loaded.
//!
//! # Where things are
//!
//! - the allowed addresses: public ones, checked and pinned on every hop: `address.rs`, `target.rs`,
//!   `resolve.rs`, `client.rs`; tests: `addresses/mod.rs`, `addresses/resolution.rs`, `addresses/validation.rs`
//! - decodes bytes to text: `charset.rs`

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

use steersman_base::limits;

pub use address::special;
pub use body::{Body, ContentType};
pub use charset::decode;
pub use client::{Client, WebResponse};
pub use readable::{Readable, readable};
pub use resolve::{Resolve, SystemResolver};
pub use target::{AllowedHosts, Target};

/// The web settings of a host.
#[derive(Clone)]
pub struct WebOptions {
    /// Hosts that are allowed whatever their address is: `host` for all its ports, or `host:port`. `http` is used where
    /// the address has it.
    pub allowed_hosts: Vec<String>,
    /// The base URL of a `SearXNG` server; its host is allowed.
    pub searxng_url: Option<String>,
    /// The key for Brave's search.
    pub brave_key: Option<SecretString>,
    /// The key for Exa's search.
    pub exa_key: Option<SecretString>,
    /// The user's cache directory for this program; without one nothing is cached.
    pub cache_dir: Option<PathBuf>,
    /// The limits of one request.
    pub bounds: RequestLimits,
    /// The addresses of the search services.
    pub service_urls: search::ServiceUrls,
    /// Resolves names.
    pub resolver: Arc<dyn Resolve>,
}

impl Default for WebOptions {
    fn default() -> Self {
        Self {
            allowed_hosts: Vec::new(),
            searxng_url: None,
            brave_key: None,
            exa_key: None,
            cache_dir: None,
            bounds: RequestLimits::default(),
            service_urls: search::ServiceUrls::default(),
            resolver: Arc::new(SystemResolver),
        }
    }
}

impl fmt::Debug for WebOptions {
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

/// The limits of one request: times and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestLimits {
    /// The time to open a connection, TLS included.
    pub connect: Duration,
    /// The longest silence of the server.
    pub silence: Duration,
    /// The time for everything: names, redirects, the whole body.
    pub time: Duration,
    /// The bytes of a body, decoded; the rest is not read.
    pub bytes: usize,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            connect: limits::CONNECT_TIMEOUT,
            silence: limits::WEB_SILENCE,
            time: limits::WEB_TIME,
            bytes: limits::WEB_BYTES,
        }
    }
}

/// The reason why there is no reply, in one sentence for the model. Text of a server in it is not yet sanitised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebError {
    /// The address is not allowed.
    #[error("{0}")]
    Refused(String),
    /// The server is not reachable: no connection, or no TLS.
    #[error("{host} cannot be reached: {reason}")]
    Unreachable {
        /// Host and port.
        host: String,
        /// What failed.
        reason: String,
    },
    /// The server redirects to another site, which the model must request itself.
    #[error("{from} redirects to another site: {to} (not followed; call again with that address if it is wanted)")]
    Elsewhere {
        /// The requested address.
        from: String,
        /// The target of the redirect.
        to: String,
    },
    /// The reply did not come, or is incomplete.
    #[error("{0}")]
    Failed(String),
}

impl WebError {
    pub(crate) fn refused(sentence: impl Into<String>) -> Self {
        Self::Refused(sentence.into())
    }
}
