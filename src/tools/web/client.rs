//! The only HTTP client of the web tools: resolves a name once, checks and pins every address, and follows
//! redirects hop by hop.
//!
//! Each request has an HTTP client of its own that knows one name and its checked addresses, so that neither a later
//! answer of a name server nor a connection of another request can interfere.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Method, Response, StatusCode, Url};
use tokio::time::{Instant, timeout_at};

use crate::web::body::{self, Body, ContentType};
use crate::web::target::TargetHost;
use crate::web::{AllowedHosts, RequestLimits, Resolve, Target, WebError, WebOptions, resolve};
use steersman_base::error::request_causes;
use steersman_base::limits;
use steersman_base::text::{clip, visible_line};
use steersman_provider::tls;

/// A client for public addresses. Clones share only their settings.
#[derive(Clone)]
pub struct Client {
    allowed: AllowedHosts,
    bounds: RequestLimits,
    resolver: Arc<dyn Resolve>,
}

/// An answer whose body was not read yet.
#[derive(Debug)]
pub struct WebResponse {
    response: Response,
    url: Url,
    content_type: ContentType,
    length: Option<u64>,
    bounds: RequestLimits,
    deadline: Instant,
}

impl Client {
    /// Makes a client.
    ///
    /// # Errors
    /// One sentence when an allowed host cannot be read.
    pub fn new(settings: &WebOptions) -> Result<Self, String> {
        Ok(Self {
            allowed: AllowedHosts::parse(&settings.allowed_hosts)?,
            bounds: settings.bounds,
            resolver: Arc::clone(&settings.resolver),
        })
    }

    /// Parses and checks an address without looking anything up.
    ///
    /// # Errors
    /// [`WebError::Refused`].
    pub fn target(&self, url: &str) -> Result<Target, WebError> {
        Target::parse(url, &self.allowed)
    }

    /// Resolves a target and checks every address, for callers that connect by other means, to one of these
    /// addresses only.
    ///
    /// # Errors
    /// [`WebError`].
    pub async fn pin(&self, target: &Target) -> Result<Vec<SocketAddr>, WebError> {
        let found = tokio::time::timeout(self.bounds.time, resolve::pin(self.resolver.as_ref(), target)).await;
        found.map_err(|_| late(target, self.bounds.time))?
    }

    /// Gets an address. Follows at most five redirects within its site, and none from https to http.
    ///
    /// # Errors
    /// [`WebError`].
    pub async fn get(&self, target: &Target) -> Result<WebResponse, WebError> {
        let deadline = Instant::now() + self.bounds.time;
        let mut target = target.clone();
        for _ in 0..=limits::WEB_REDIRECTS {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("*/*"))]);
            let reply = self.ask(&target, Method::GET, headers, None, deadline).await?;
            match reply.leads_to() {
                None => return Ok(reply),
                Some(place) => target = self.next(&target, &place)?,
            }
        }
        let host = target.host_and_port();
        Err(WebError::Failed(format!("{host} redirects more than {} times", limits::WEB_REDIRECTS)))
    }

    /// Makes one request, without following redirects.
    pub(super) async fn ask(
        &self,
        target: &Target,
        method: Method,
        mut headers: HeaderMap,
        body: Option<String>,
        deadline: Instant,
    ) -> Result<WebResponse, WebError> {
        let late = || late(target, self.bounds.time);
        let pins = timeout_at(deadline, resolve::pin(self.resolver.as_ref(), target)).await.map_err(|_| late())??;
        let client = build(self.bounds, target, &pins)?;
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        let mut request = client.request(method, target.url().clone()).headers(headers);
        if let Some(body) = body {
            request = request.body(body);
        }
        let sent = timeout_at(deadline, request.send()).await.map_err(|_| late())?;
        let response = sent.map_err(|error| failure(target, error))?;
        if let Some(peer) = response.remote_addr()
            && !pins.contains(&peer)
        {
            return Err(WebError::refused(format!("{} was answered by {peer}, which was not asked", target.url())));
        }
        let header = |name| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let content_type = ContentType::parse(header(CONTENT_TYPE).unwrap_or_default());
        let length = header(CONTENT_LENGTH).and_then(|length| length.parse().ok());
        let url = target.url().clone();
        Ok(WebResponse { content_type, length, url, response, bounds: self.bounds, deadline })
    }

    /// Checks the target of a redirect.
    fn next(&self, from: &Target, place: &str) -> Result<Target, WebError> {
        let here = from.url();
        let shown = visible_line(place);
        let shown = clip(&shown, limits::ERROR_CHARS);
        let url = here
            .join(place)
            .map_err(|_| WebError::Failed(format!("{here} redirects to something that is not an address: {shown}")))?;
        let target = Target::check(url, &self.allowed).map_err(|refusal| {
            WebError::refused(format!("{here} redirects to an address that is refused: {refusal}"))
        })?;
        if here.scheme() == "https" && target.url().scheme() == "http" {
            return Err(WebError::refused(format!(
                "{here} redirects from https to http, which is not followed: {}",
                target.url()
            )));
        }
        if !from.same_site(&target) {
            return Err(WebError::Elsewhere { from: here.to_string(), to: target.url().to_string() });
        }
        Ok(target)
    }

    /// Adds the host of an address that the user set to the allowed hosts.
    pub(super) fn allowing(mut self, url: &Url) -> Self {
        self.allowed.add(url);
        self
    }

    /// Returns the same client with less time for each request.
    pub(super) fn within(mut self, time: Duration) -> Self {
        self.bounds.time = self.bounds.time.min(time);
        self
    }

    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + self.bounds.time
    }
}

impl WebResponse {
    /// Returns the address that answered, after all redirects.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the status.
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// Returns the type of the body.
    pub fn content_type(&self) -> &ContentType {
        &self.content_type
    }

    /// Returns the encoded length of the body, where the server sends it.
    pub fn length(&self) -> Option<u64> {
        self.length
    }

    /// Returns a header's text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// Reads the body, decoded, up to the cap.
    ///
    /// # Errors
    /// [`WebError::Failed`] when it comes too slowly, breaks off or is encoded in an unknown way.
    pub async fn read_body(self) -> Result<Body, WebError> {
        body::read_body(self.response, &self.url, self.bounds, self.deadline).await
    }

    fn leads_to(&self) -> Option<String> {
        match self.status().as_u16() {
            301 | 302 | 303 | 307 | 308 => {
                // Some servers do not escape the bytes of a path.
                let location = self.response.headers().get(LOCATION)?;
                Some(String::from_utf8_lossy(location.as_bytes()).into_owned())
            }
            _ => None,
        }
    }
}

fn late(target: &Target, time: Duration) -> WebError {
    WebError::Failed(format!("{} took longer than {} s", target.host_and_port(), time.as_secs_f32()))
}

/// Makes a client that knows one name and its checked addresses.
fn build(bounds: RequestLimits, target: &Target, pins: &[SocketAddr]) -> Result<reqwest::Client, WebError> {
    let failed = |reason: String| WebError::Failed(format!("HTTP cannot be set up: {reason}"));
    let tls = if target.url().scheme() == "http" { tls::trusting_nobody() } else { tls::trusting(&[]) };
    let builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls.map_err(|error| failed(error.to_string()))?)
        .user_agent(concat!("steersman/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .referer(false)
        .no_proxy()
        .retry(reqwest::retry::never())
        .connect_timeout(bounds.connect)
        .read_timeout(bounds.silence)
        .pool_max_idle_per_host(0)
        .http1_max_headers(limits::WEB_HEADERS)
        .http2_max_header_list_size(limits::WEB_HEADER_BYTES);
    let builder = match target.host() {
        TargetHost::Name(name) => builder.resolve_to_addrs(name, pins),
        TargetHost::Address(_) => builder,
    };
    builder.build().map_err(|error| failed(request_causes(&error)))
}

fn failure(target: &Target, error: reqwest::Error) -> WebError {
    let host = target.host_and_port();
    let connecting = error.is_connect();
    let reason = request_causes(&error.without_url());
    if connecting {
        WebError::Unreachable { host, reason }
    } else {
        WebError::Failed(format!("no answer of {host}: {reason}"))
    }
}
