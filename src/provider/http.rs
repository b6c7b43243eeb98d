//! The HTTP clients of the program: made once, on first use, shared by every provider and probe.
//!
//! No redirect is followed (a key must not travel on), nothing is compressed (a proxy would hold a stream back),
//! and loopback addresses are reached without a proxy.

use std::error::Error as _;
use std::sync::{Arc, Once, OnceLock};
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, ClientBuilder, Url};

use crate::limits;
use crate::provider::ProviderError;

/// Shares the HTTP clients. Clones are the same clients.
#[derive(Debug, Clone, Default)]
pub struct Http(Arc<Clients>);

#[derive(Debug, Default)]
struct Clients {
    loopback: OnceLock<Result<Client, String>>,
    world: OnceLock<Result<Client, String>>,
}

impl Http {
    /// Returns the client for an address.
    ///
    /// # Errors
    /// [`ProviderError::Configuration`] when TLS or the proxy settings cannot be used.
    pub fn client(&self, url: &Url) -> Result<&Client, ProviderError> {
        let client = if is_loopback(url) {
            self.0.loopback.get_or_init(|| build(ClientBuilder::no_proxy))
        } else {
            self.0.world.get_or_init(|| build(std::convert::identity))
        };
        client.as_ref().map_err(|reason| ProviderError::Configuration(format!("HTTP cannot be set up: {reason}")))
    }
}

fn build(adjust: impl Fn(ClientBuilder) -> ClientBuilder) -> Result<Client, String> {
    static CRYPTO: Once = Once::new();
    // An error means that somebody has installed one before, which serves as well.
    CRYPTO.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    let common = || {
        let builder = Client::builder()
            .user_agent(concat!("steersman/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .connect_timeout(limits::CONNECT_TIMEOUT)
            .pool_idle_timeout(Duration::from_secs(30))
            .no_gzip();
        adjust(builder)
    };
    common().build().or_else(|error| {
        // A machine without certificates cannot build a client at all, not even for plain http.
        tracing::warn!(error = chain(&error), "no certificates of the system, using the built-in ones");
        let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter();
        let roots = roots.filter_map(|der| Certificate::from_der(der).ok());
        common().tls_certs_only(roots).build().map_err(|error| chain(&error))
    })
}

/// Tells whether an address is on this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let address = host.parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// Names a server as `host` or `host:port`, without a user or a path.
pub(super) fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or("?");
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Makes the error for a request that got no answer.
pub(super) fn unreachable(url: &Url, error: reqwest::Error) -> ProviderError {
    let step = if error.is_connect() { "" } else { "the connection broke before an answer: " };
    let reason = format!("{step}{}", chain(&error.without_url()));
    ProviderError::Unreachable { host: host(url), reason }
}

/// Says what lies behind an error: its causes, the outermost wrappers left out.
fn chain(error: &reqwest::Error) -> String {
    let mut causes: Vec<String> = Vec::new();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        let wrapper = text.starts_with("client error") || causes.iter().any(|said| said.contains(&text));
        if !wrapper {
            causes.push(text);
        }
        cause = error.source();
    }
    if causes.is_empty() { error.to_string() } else { causes.join(": ") }
}
