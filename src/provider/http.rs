//! The HTTP clients of the program: made once, on first use, shared by every provider and probe.
//!
//! No redirect is followed (a key must not reach another server), no compression is requested (a proxy would delay
//! a stream), loopback addresses are reached without a proxy, and no request is sent twice silently, except where a
//! server closes a kept connection.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, RequestBuilder, Response, Url};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::kept_connections::KeptConnections;
use crate::proxy;
use crate::tls;
use steersman_base::error::request_causes;
use steersman_base::limits;
use steersman_base::regular_file::read_own;
use steersman_core::provider::ProviderError;
use steersman_core::provider::transport::is_loopback;

/// The shared HTTP clients. Clones are the same clients.
#[derive(Debug, Clone, Default)]
pub struct Http(Arc<Clients>);

#[derive(Debug, Default)]
struct Clients {
    ca_file: Option<PathBuf>,
    loopback: OnceLock<Result<Client, String>>,
    external: OnceLock<Result<Client, String>>,
    proxies: OnceLock<Matcher>,
    kept: KeptConnections,
}

impl Http {
    /// Returns clients that trust the authorities of a PEM file as well as those of the system. The file is read
    /// when the first request is made.
    #[must_use]
    pub fn with_ca_file(self, path: impl Into<PathBuf>) -> Self {
        Self(Arc::new(Clients { ca_file: Some(path.into()), ..Clients::default() }))
    }

    /// Returns the client for an address.
    ///
    /// # Errors
    /// [`ProviderError::Configuration`] when TLS, the file of authorities or the proxy settings cannot be used.
    pub fn client(&self, url: &Url) -> Result<&Client, ProviderError> {
        let ca_file = self.0.ca_file.as_deref();
        let client = if is_loopback(url) {
            self.0.loopback.get_or_init(|| build(ca_file, ClientBuilder::no_proxy))
        } else {
            if let Some(fault) = proxy::proxy_error(url, |name| std::env::var_os(name)) {
                return Err(ProviderError::Configuration(fault));
            }
            self.0.external.get_or_init(|| build(ca_file, std::convert::identity))
        };
        client.as_ref().map_err(|reason| ProviderError::Configuration(format!("HTTP cannot be set up: {reason}")))
    }

    /// Sends a request. Where the server has closed a kept connection, the request is sent again at once on another
    /// one; closed connections are dropped, so a new one ends the loop.
    pub(super) async fn send(&self, mut request: RequestBuilder) -> Result<Response, reqwest::Error> {
        loop {
            let again = request.try_clone();
            match (request.send().await, again) {
                (Ok(response), _) => {
                    self.0.kept.add(&response);
                    return Ok(response);
                }
                (Err(error), Some(again)) if self.0.kept.was_closed(&error) => request = again,
                (Err(error), _) => return Err(error),
            }
        }
    }

    /// Returns the name of the proxy for an address, without its user.
    pub fn proxy(&self, url: &Url) -> Option<String> {
        if is_loopback(url) { None } else { proxy::before(url, self.0.proxies.get_or_init(Matcher::from_system)) }
    }
}

fn build(ca_file: Option<&Path>, adjust: impl Fn(ClientBuilder) -> ClientBuilder) -> Result<Client, String> {
    let authorities = ca_file.map(authorities).transpose()?.unwrap_or_default();
    let tls = tls::trusting(&authorities).map_err(|error| error.to_string())?;
    let builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(concat!("steersman/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(limits::CONNECT_TIMEOUT)
        .pool_idle_timeout(Duration::from_secs(30))
        .no_gzip();
    adjust(builder).build().map_err(|error| request_causes(&error))
}

/// Reads the authorities of a PEM file.
fn authorities(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let shown = path.display();
    let pem = read_own(path, limits::OWN_FILE_BYTES)
        .map_err(|error| format!("the file of authorities {shown} cannot be read: {error}"))?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let authorities = read.map_err(|_| format!("the file of authorities {shown} is not a PEM file of certificates"))?;
    if authorities.is_empty() {
        return Err(format!("the file of authorities {shown} holds no certificate"));
    }
    Ok(authorities)
}

/// Returns a server as `host` or `host:port`, without a user or a path.
pub(super) fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or("?");
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}
