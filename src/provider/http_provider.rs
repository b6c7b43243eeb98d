//! The provider that speaks HTTP: the steps of one request, the same for every dialect.
//!
//! Send, check the status, read, assemble, and retry while nothing has been shown. The dialect decides what goes
//! over the wire. Dropping the future closes the connection.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Method, Response, StatusCode, Url};

use crate::endpoint::Endpoint;
use crate::error_body::{self, ErrorBody};
use crate::http::Http;
use crate::incoming::IncomingBody;
use crate::joined::Joined;
use crate::quirks::{QuirkBook, Quirks};
use crate::retry::{self, Advice, Failure, Retries};
use crate::sse::{Decoder, Frame, TooLong};
use crate::unreachable::unreachable;
use crate::wire::{Assemble, Outgoing, Wire};
use crate::{anthropic, chat, gemini, responses};
use steersman_base::dialect::Dialect;
use steersman_base::limits;
use steersman_core::provider::registry::Registry;
use steersman_core::provider::{
    ChatProvider, ChatRequest, ChatTransport, Piece, ProviderError, Reply, Sink, Streaming,
};

/// The provider of one server, over HTTP and in the server's dialect.
#[derive(Debug, Clone)]
pub struct HttpProvider {
    http: Http,
    endpoint: Endpoint,
    dialect: Dialect,
    wire: Wire,
    quirks: QuirkBook,
    registry: Arc<Registry>,
    silence: Duration,
    keep_alive: Duration,
}

impl HttpProvider {
    /// Makes the provider of a transport.
    ///
    /// # Errors
    /// [`ProviderError::Configuration`] when the provider's name, the base URL or the key cannot be used.
    pub fn new(http: Http, transport: &ChatTransport) -> Result<Self, ProviderError> {
        let dialect = transport.dialect()?;
        let endpoint = Endpoint::from_transport(transport)?;
        let (silence, keep_alive) = (limits::READ_TIMEOUT, limits::KEEP_ALIVE_TIME);
        let (wire, quirks) = (wire(dialect), QuirkBook::default());
        Ok(Self { http, endpoint, dialect, wire, quirks, registry: Arc::default(), silence, keep_alive })
    }

    /// Sets how long the server may be silent during a reply.
    #[must_use]
    pub fn with_read_timeout(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    /// Sets how long the server may send nothing but keep-alives.
    #[must_use]
    pub fn with_keep_alive_time(mut self, time: Duration) -> Self {
        self.keep_alive = time;
        self
    }

    /// Sets what is known about models.
    #[must_use]
    pub fn with_registry(mut self, registry: Arc<Registry>) -> Self {
        self.registry = registry;
        self
    }

    /// Sets the quirks that were learned about servers, shared with other providers.
    #[must_use]
    pub(super) fn with_quirks(mut self, quirks: QuirkBook) -> Self {
        self.quirks = quirks;
        self
    }

    /// Returns the body that a request would have. Nothing is sent.
    ///
    /// # Errors
    /// [`ProviderError::InvalidHistory`] when it cannot be written.
    pub fn body(&self, request: &ChatRequest<'_>) -> Result<Vec<u8>, ProviderError> {
        let server = self.endpoint.name();
        let quirks = self.quirks.for_model(self.endpoint.host_name(), &server, request.model);
        self.encode(request, &server, quirks)
    }

    /// Starts reading a stream of a dialect.
    ///
    /// # Errors
    /// [`ProviderError::Configuration`] when this version does not speak the dialect; it speaks all of them.
    pub fn assembler(dialect: Dialect) -> Result<Box<dyn Assemble>, ProviderError> {
        Ok(Joined::boxed(wire(dialect)))
    }

    /// Reads a reply of a dialect that came in one body.
    ///
    /// # Errors
    /// As [`Assemble::take_frame`] and [`Assemble::finish`]; [`ProviderError::Malformed`] for a body that is no reply.
    pub fn whole(dialect: Dialect, body: &str) -> Result<Reply, ProviderError> {
        Joined::whole(wire(dialect), body)
    }

    fn encode(&self, request: &ChatRequest<'_>, server: &str, quirks: Quirks) -> Result<Vec<u8>, ProviderError> {
        let card = self.registry.card(request.model);
        (self.wire.encode)(&Outgoing { dialect: self.dialect, server, request, quirks, card })
    }

    async fn run(&self, request: ChatRequest<'_>, sink: &mut Sink<'_>) -> Result<Reply, ProviderError> {
        let mut retries = Retries::default();
        let server = self.endpoint.name();
        loop {
            let quirks = self.quirks.for_model(self.endpoint.host_name(), &server, request.model);
            let mut shown = false;
            let mut watched = |piece: Piece| {
                shown |= matches!(&piece, Piece::Chunk { thinking, text } if !(thinking.is_empty() && text.is_empty()));
                sink(piece)
            };
            let attempt = self.attempt(&request, &server, quirks, &mut watched).await;
            match attempt.map_err(|Failure { error, advice }| Failure { error: self.endpoint.masked(error), advice }) {
                Ok(mut reply) => {
                    self.price(&mut reply, request.model);
                    if let Some(original) = &mut reply.original {
                        original.server = server;
                        request.model.clone_into(&mut original.model);
                    }
                    return Ok(reply);
                }
                Err(failure) if shown => return Err(failure.error),
                Err(failure) if self.quirks.learn(&server, request.model, quirks, &failure.error) => {}
                Err(failure) => retries.pause(failure, sink).await?,
            }
        }
    }

    /// Adds the cost of a reply, where its server does not report it and the model has a price. A local server
    /// costs nothing.
    fn price(&self, reply: &mut Reply, model: &str) {
        if reply.usage.cost_nanos.is_none() && !self.endpoint.is_loopback() {
            reply.usage.cost_nanos = self.registry.price(model).and_then(|price| price.nanos(&reply.usage));
        }
    }

    async fn attempt(
        &self,
        request: &ChatRequest<'_>,
        server: &str,
        quirks: Quirks,
        sink: &mut Sink<'_>,
    ) -> Result<Reply, Failure> {
        let url = (self.wire.url)(&self.endpoint, request);
        let body = self.encode(request, server, quirks)?;
        let sending = self.endpoint.request(&self.http, Method::POST, url.clone())?;
        let sending = self.http.send(sending.header(CONTENT_TYPE, "application/json").body(body));
        let response = self.within(sending).await?.map_err(|error| unreachable(&self.http, &url, error))?;
        let status = response.status();
        if status.is_redirection()
            && let Some(target) = target(&url, response.headers())
        {
            return Err(ProviderError::Redirect(target).into());
        }
        if !status.is_success() {
            return Err(self.refused(response).await);
        }
        if status == StatusCode::NO_CONTENT {
            return Err(ProviderError::Malformed("an answer without content (status 204)".to_owned()).into());
        }
        self.read_reply(IncomingBody::new(response)?, request.streaming, sink).await
    }

    /// Reads the reply, a stream or one body. Its first bytes decide, as content types are often wrong or missing.
    async fn read_reply(
        &self,
        mut incoming: IncomingBody,
        streaming: Streaming,
        sink: &mut Sink<'_>,
    ) -> Result<Reply, Failure> {
        let mut assembler = Joined::boxed(self.wire);
        let mut decoder = Decoder::default();
        let mut head = Vec::new();
        while let Some(first) = self.within(incoming.next()).await?? {
            head.extend_from_slice(&first);
            if BOM.starts_with(&head) {
                continue;
            }
            match head.strip_prefix(BOM).unwrap_or(&head).trim_ascii_start().first() {
                None if head.len() < limits::SSE_LINE_BYTES => {}
                Some(b'{' | b'[' | b'<') => return Ok(self.read_whole(incoming, head, streaming, sink).await?),
                _ => break,
            }
        }
        let mut last_piece = Instant::now();
        let mut take = |frame: Frame<'_>, assembler: &mut dyn Assemble| -> Result<(), Failure> {
            let piece = assembler.take_frame(frame).map_err(broken)?;
            if piece.is_some() {
                last_piece = Instant::now();
            } else if last_piece.elapsed() > self.keep_alive {
                let minutes = self.keep_alive.as_secs() / 60;
                return Err(ProviderError::Malformed(format!("nothing but keep-alives for {minutes} min")).into());
            }
            match (piece, streaming) {
                (Some(piece), Streaming::On) => Ok(sink(piece).map_err(ProviderError::from)?),
                (_, Streaming::On | Streaming::Off) => Ok(()),
            }
        };
        decoder.push(&head, |frame| take(frame, assembler.as_mut()))?;
        let mut whole = None;
        while !assembler.is_done() {
            // After the end of a reply at most its usage follows, so the wait for it is short.
            let end = assembler.is_whole().then(|| *whole.get_or_insert_with(|| Instant::now() + limits::TAIL_TIME));
            let next = match end {
                Some(end) => tokio::time::timeout_at(end.into(), incoming.next()).await.unwrap_or(Ok(None)),
                None => self.within(incoming.next()).await?,
            };
            match next {
                Ok(Some(bytes)) => decoder.push(&bytes, |frame| take(frame, assembler.as_mut()))?,
                Err(error) if !assembler.is_whole() => return Err(error.into()),
                Ok(None) if !is_stream(&head) => {
                    return Err(ProviderError::Malformed(error_body::plain(&String::from_utf8_lossy(&head))).into());
                }
                // A partial line at the end means that the server died while it wrote, not that it is malformed.
                Ok(None) | Err(_) => {
                    return match decoder.finish(|frame| take(frame, assembler.as_mut())) {
                        Ok(()) => Ok(assembler.finish()?),
                        Err(Failure { error: ProviderError::Malformed(_), .. }) if assembler.is_whole() => {
                            Ok(assembler.finish()?)
                        }
                        Err(Failure { error: ProviderError::Malformed(_), .. }) => Err(ProviderError::CutOff.into()),
                        Err(failure) => Err(failure),
                    };
                }
            }
        }
        drain(incoming).await;
        Ok(assembler.finish()?)
    }

    async fn read_whole(
        &self,
        mut incoming: IncomingBody,
        mut body: Vec<u8>,
        streaming: Streaming,
        sink: &mut Sink<'_>,
    ) -> Result<Reply, ProviderError> {
        while let Some(bytes) = self.within(incoming.next()).await?? {
            body.extend_from_slice(&bytes);
            if body.len() > limits::BODY_BYTES {
                let cap = limits::BODY_BYTES;
                return Err(ProviderError::Malformed(format!("an answer longer than {cap} bytes")));
            }
        }
        let reply = Joined::whole(self.wire, &String::from_utf8_lossy(&body))?;
        if streaming == Streaming::On {
            sink(Piece::Chunk { thinking: reply.thinking.clone(), text: reply.content.clone() })?;
        }
        Ok(reply)
    }

    /// Makes the failure for an error status from the server's message.
    async fn refused(&self, response: Response) -> Failure {
        let status = response.status();
        let retry_after_ms = retry::retry_after_ms(response.headers(), Timestamp::now());
        let advice = retry::advice(response.headers());
        let mut body = Vec::new();
        if let Ok(mut incoming) = IncomingBody::new(response) {
            while let Ok(Ok(Some(bytes))) = self.within(incoming.next()).await {
                body.extend_from_slice(&bytes);
                if body.len() > limits::ERROR_BODY_BYTES {
                    break;
                }
            }
        }
        let mut body = ErrorBody::parse(&String::from_utf8_lossy(&body));
        if body.words == error_body::NO_MESSAGE {
            status.canonical_reason().unwrap_or(error_body::NO_MESSAGE).clone_into(&mut body.words);
        }
        if status == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
            let proxy = self.http.proxy(self.endpoint.base()).unwrap_or_else(|| "a proxy".to_owned());
            body.words = format!("{proxy} needs a user and a password: {}", body.words);
        }
        Failure { error: body.refused(status.as_u16(), retry_after_ms), advice }
    }

    async fn within<T>(&self, wait: impl Future<Output = T>) -> Result<T, ProviderError> {
        let waited = tokio::time::timeout(self.silence, wait).await;
        waited.map_err(|_| ProviderError::Stalled(self.silence.as_secs()))
    }
}

impl ChatProvider for HttpProvider {
    fn complete<'a>(
        &'a self,
        request: ChatRequest<'a>,
        sink: &'a mut Sink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        self.run(request, sink).boxed()
    }
}

fn wire(dialect: Dialect) -> Wire {
    match dialect {
        Dialect::OpenAi => chat::WIRE,
        Dialect::OpenAiResponses => responses::WIRE,
        Dialect::Anthropic => anthropic::WIRE,
        Dialect::Gemini => gemini::WIRE,
    }
}

/// The byte order mark at the beginning of some texts.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Returns whether a body begins as a stream of events, or could.
fn is_stream(head: &[u8]) -> bool {
    let head = head.strip_prefix(BOM).unwrap_or(head).trim_ascii_start();
    let field = |name: &&str| head.starts_with(name.as_bytes()) || name.as_bytes().starts_with(head);
    [":", "data", "event", "id", "retry", "error"].iter().any(field)
}

/// Makes the failure of a stream; one that cannot be read is worth a retry.
fn broken(error: ProviderError) -> Failure {
    let advice = if matches!(error, ProviderError::Malformed(_)) { Advice::Retry } else { Advice::Judge };
    Failure { error, advice }
}

impl From<TooLong> for Failure {
    fn from(error: TooLong) -> Self {
        ProviderError::from(error).into()
    }
}

/// Reads the end of a body after `[DONE]`, so that the connection can be used again, unless the server keeps the body
/// open too long.
async fn drain(mut incoming: IncomingBody) {
    let end = async { while let Ok(Some(_)) = incoming.next().await {} };
    let _ = tokio::time::timeout(limits::DRAIN_TIMEOUT, end).await;
}

fn target(url: &Url, headers: &HeaderMap) -> Option<String> {
    let location = headers.get(LOCATION)?.to_str().ok()?;
    let Ok(mut target) = url.join(location) else { return Some(location.to_owned()) };
    // Neither can fail for an address with a host. A relative location inherits the user of the base URL.
    let _ = target.set_username("");
    let _ = target.set_password(None);
    Some(target.to_string())
}
