//! The provider that speaks HTTP: the course of one request, the same for every dialect.
//!
//! Send, judge the status, read, assemble, and try again while nothing has been shown. What goes over the wire is the
//! dialect's. Dropping the future closes the connection.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Method, Response, Url};

use crate::dialect::Dialect;
use crate::limits;
use crate::provider::endpoint::Endpoint;
use crate::provider::error_body::{self, ErrorBody};
use crate::provider::http::{self, Http};
use crate::provider::quirks::{QuirkBook, Quirks};
use crate::provider::registry::Registry;
use crate::provider::retry::{self, Advice, Failure, Retries};
use crate::provider::sse::{Decoder, Frame};
use crate::provider::wire::{Assemble, Outgoing, Wire};
use crate::provider::{
    ChatProvider, ChatRequest, ChatTransport, Piece, ProviderError, Reply, Sink, Streaming, anthropic, chat, gemini,
    responses,
};

/// Asks one server over HTTP, in the dialect that it speaks.
#[derive(Debug, Clone)]
pub struct HttpProvider {
    http: Http,
    endpoint: Endpoint,
    dialect: Dialect,
    wire: Arc<dyn Wire>,
    quirks: QuirkBook,
    registry: Arc<Registry>,
    silence: Duration,
}

impl HttpProvider {
    /// Makes the provider of a transport.
    ///
    /// # Errors
    /// [`ProviderError::Configuration`] when the provider's name, the base URL or the key cannot be used.
    pub fn new(http: Http, transport: &ChatTransport) -> Result<Self, ProviderError> {
        let dialect = transport.dialect()?;
        let endpoint = Endpoint::of(transport)?;
        let silence = limits::READ_TIMEOUT;
        let wire = wire(dialect);
        Ok(Self { http, endpoint, dialect, wire, quirks: QuirkBook::default(), registry: Arc::default(), silence })
    }

    /// Sets how long the server may be silent within a reply.
    #[must_use]
    pub fn with_read_timeout(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    /// Sets what is known about models.
    #[must_use]
    pub fn with_registry(mut self, registry: Arc<Registry>) -> Self {
        self.registry = registry;
        self
    }

    /// Shares what was learned about servers with other providers.
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
        let quirks = self.quirks.of(self.endpoint.host_name(), &server, request.model);
        self.encode(request, &server, quirks)
    }

    /// Starts reading a stream of a dialect.
    ///
    /// # Errors
    /// [`ProviderError::Configuration`] when this version does not speak the dialect; it speaks all of them.
    pub fn assembler(dialect: Dialect) -> Result<Box<dyn Assemble>, ProviderError> {
        Ok(wire(dialect).assembler())
    }

    /// Reads a reply of a dialect that came in one body.
    ///
    /// # Errors
    /// As [`Assemble::take`] and [`Assemble::finish`]; [`ProviderError::Malformed`] for a body that is no reply.
    pub fn whole(dialect: Dialect, body: &str) -> Result<Reply, ProviderError> {
        wire(dialect).whole(body)
    }

    fn encode(&self, request: &ChatRequest<'_>, server: &str, quirks: Quirks) -> Result<Vec<u8>, ProviderError> {
        let card = self.registry.card(request.model);
        self.wire.encode(&Outgoing { dialect: self.dialect, server, request, quirks, card })
    }

    async fn run(&self, request: ChatRequest<'_>, sink: &mut Sink<'_>) -> Result<Reply, ProviderError> {
        let mut retries = Retries::default();
        let server = self.endpoint.name();
        loop {
            let quirks = self.quirks.of(self.endpoint.host_name(), &server, request.model);
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

    /// Adds what a reply cost, where its server does not say it and the model has a price. One's own server costs nothing.
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
        let url = self.wire.url(&self.endpoint, request);
        let body = self.encode(request, server, quirks)?;
        let sending = self.endpoint.request(&self.http, Method::POST, url.clone())?;
        let sending = sending.header(CONTENT_TYPE, "application/json").body(body).send();
        let response = self.within(sending).await?.map_err(|error| http::unreachable(&url, error))?;
        let status = response.status();
        if status.is_redirection()
            && let Some(target) = target(&url, response.headers())
        {
            return Err(ProviderError::Redirect(target).into());
        }
        if !status.is_success() {
            return Err(self.refused(response).await);
        }
        if status == reqwest::StatusCode::NO_CONTENT {
            return Err(ProviderError::Malformed("an answer without content (status 204)".to_owned()).into());
        }
        Ok(self.read(response, request.streaming, sink).await?)
    }

    /// Reads the reply, a stream or one body: what it begins with tells, as labels are often wrong or missing.
    async fn read(
        &self,
        mut response: Response,
        streaming: Streaming,
        sink: &mut Sink<'_>,
    ) -> Result<Reply, ProviderError> {
        let mut assembler = self.wire.assembler();
        let mut decoder = Decoder::default();
        let mut head = Vec::new();
        while let Some(first) = self.within(response.chunk()).await?.map_err(|_| ProviderError::CutOff)? {
            head.extend_from_slice(&first);
            match head.trim_ascii_start().first() {
                None if head.len() < limits::SSE_LINE_BYTES => {}
                Some(b'{' | b'[' | b'<') => return self.read_whole(response, head, streaming, sink).await,
                _ => break,
            }
        }
        let mut take = |frame: Frame<'_>, assembler: &mut dyn Assemble| -> Result<(), ProviderError> {
            match (assembler.take(frame)?, streaming) {
                (Some(piece), Streaming::On) => Ok(sink(piece)?),
                (_, Streaming::On | Streaming::Off) => Ok(()),
            }
        };
        decoder.push(&head, |frame| take(frame, assembler.as_mut()))?;
        while !assembler.is_done() {
            match self.within(response.chunk()).await? {
                Ok(Some(bytes)) => decoder.push(&bytes, |frame| take(frame, assembler.as_mut()))?,
                Err(_) if !assembler.is_whole() => return Err(ProviderError::CutOff),
                // A half line at the end is no fault of form: the server died while it wrote.
                Ok(None) | Err(_) => {
                    return match decoder.finish(|frame| take(frame, assembler.as_mut())) {
                        Ok(()) => assembler.finish(),
                        Err(ProviderError::Malformed(_)) => Err(ProviderError::CutOff),
                        Err(error) => Err(error),
                    };
                }
            }
        }
        drain(response).await;
        assembler.finish()
    }

    async fn read_whole(
        &self,
        mut response: Response,
        mut body: Vec<u8>,
        streaming: Streaming,
        sink: &mut Sink<'_>,
    ) -> Result<Reply, ProviderError> {
        while let Some(bytes) = self.within(response.chunk()).await?.map_err(|_| ProviderError::CutOff)? {
            body.extend_from_slice(&bytes);
            if body.len() > limits::BODY_BYTES {
                let cap = limits::BODY_BYTES;
                return Err(ProviderError::Malformed(format!("an answer longer than {cap} bytes")));
            }
        }
        let reply = self.wire.whole(&String::from_utf8_lossy(&body))?;
        if streaming == Streaming::On {
            sink(Piece::Chunk { thinking: reply.thinking.clone(), text: reply.content.clone() })?;
        }
        Ok(reply)
    }

    /// Makes the failure of an error status out of the server's own words.
    async fn refused(&self, mut response: Response) -> Failure {
        let status = response.status();
        let retry_after_ms = retry::retry_after_ms(response.headers(), Timestamp::now());
        let advice = retry::advice(response.headers());
        let mut body = Vec::new();
        while let Ok(Ok(Some(bytes))) = self.within(response.chunk()).await {
            body.extend_from_slice(&bytes);
            if body.len() > limits::ERROR_BODY_BYTES {
                break;
            }
        }
        let body = ErrorBody::read(&String::from_utf8_lossy(&body));
        let message = if body.words == error_body::SILENT {
            status.canonical_reason().unwrap_or(error_body::SILENT).to_owned()
        } else {
            body.words
        };
        let error = ProviderError::Status { status: status.as_u16(), message, retry_after_ms };
        Failure { error, advice: if body.hopeless { Advice::GiveUp } else { advice } }
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

/// Returns what a dialect puts on the wire.
fn wire(dialect: Dialect) -> Arc<dyn Wire> {
    match dialect {
        Dialect::OpenAi => Arc::new(chat::Chat),
        Dialect::OpenAiResponses => Arc::new(responses::Responses),
        Dialect::Anthropic => Arc::new(anthropic::Messages),
        Dialect::Gemini => Arc::new(gemini::Gemini),
    }
}

/// Reads the end of a body behind `[DONE]`, so that the connection can be used again. A server that keeps it open
/// longer loses it.
async fn drain(mut response: Response) {
    let end = async { while let Ok(Some(_)) = response.chunk().await {} };
    let _ = tokio::time::timeout(limits::DRAIN_TIMEOUT, end).await;
}

fn target(url: &Url, headers: &HeaderMap) -> Option<String> {
    let location = headers.get(LOCATION)?.to_str().ok()?;
    let Ok(mut target) = url.join(location) else { return Some(location.to_owned()) };
    // Neither can fail for an address with a host. A relative location inherits what the base URL holds of these.
    let _ = target.set_username("");
    let _ = target.set_password(None);
    Some(target.to_string())
}
