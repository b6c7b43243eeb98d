//! The server of the embedded model: one listener on 127.0.0.1, one task, hyper's HTTP/1 on each connection.
//!
//! Nothing is answered without the random key of this start. Dropping [`DemoServer`] ends the listener, every connection
//! and every generation; a client that goes away ends its own.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, Limited, StreamBody};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinSet};

use crate::program::demo::pace::Pace;
use crate::program::demo::plan::plan;
use crate::program::demo::wire::{self, ChatBody};
use crate::program::demo::{MODEL, stream};
use steersman_base::limits;
use steersman_base::text::hex;
use steersman_core::provider::ApiKey;

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// The running server; it stops when this is dropped.
#[derive(Debug)]
pub struct DemoServer {
    address: SocketAddr,
    key: ApiKey,
    places: Arc<Semaphore>,
    task: AbortHandle,
}

/// Starts the embedded model on a free port of 127.0.0.1. Must be called within a tokio runtime.
///
/// # Errors
/// No port, or no random bytes from the system.
pub async fn start(pace: Pace) -> io::Result<DemoServer> {
    let key = random_key()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let places = Arc::new(Semaphore::new(limits::DEMO_CONNECTIONS as usize));
    let service = Arc::new(Service { key: key.clone(), pace });
    let task = tokio::spawn(accept(listener, service, Arc::clone(&places))).abort_handle();
    Ok(DemoServer { address, key, places, task })
}

impl DemoServer {
    /// Returns the base URL for a chat transport, with `/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns the key of this start, the only one that is accepted.
    pub fn api_key(&self) -> ApiKey {
        self.key.clone()
    }

    /// Waits until no client is connected, and so no reply is being written.
    pub async fn idle(&self) {
        // The semaphore is never closed; all places free means that no connection is open.
        let _ = self.places.acquire_many(limits::DEMO_CONNECTIONS).await;
    }
}

impl Drop for DemoServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn random_key() -> io::Result<ApiKey> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|fault| io::Error::other(format!("no random key: {fault}")))?;
    Ok(ApiKey::new(hex(&bytes)))
}

/// Accepts connections until it is aborted; the connections end with it, for their set is dropped.
async fn accept(listener: TcpListener, service: Arc<Service>, places: Arc<Semaphore>) {
    let mut connections = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let service = Arc::clone(&service);
                let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
                connections.spawn(async move {
                    serve(stream, service).await;
                    drop(place);
                });
            }
            // The process is out of file handles, or the client is gone already: let others go first.
            Err(_) => tokio::time::sleep(limits::DEMO_ACCEPT_PAUSE).await,
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(stream: TcpStream, service: Arc<Service>) {
    // Small events must leave at once; where the option is refused they are merely late.
    let _ = stream.set_nodelay(true);
    let answer = service_fn(move |request| {
        let service = Arc::clone(&service);
        async move { Ok::<_, Infallible>(service.answer(request).await) }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits::DEMO_HEADER_TIMEOUT);
    // A broken connection concerns the client alone, who sees it too.
    let _ = http.serve_connection(TokioIo::new(stream), answer).await;
}

struct Service {
    key: ApiKey,
    pace: Pace,
}

impl Service {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        if !self.admits(&request) {
            let error = wire::error("Incorrect API key provided.", "invalid_request_error", Some("invalid_api_key"));
            return respond(StatusCode::UNAUTHORIZED, &error);
        }
        match (request.method(), request.uri().path()) {
            (&Method::POST, "/v1/chat/completions") => self.chat(request).await,
            (&Method::GET, "/v1/models") => {
                let model = json!({"id": MODEL, "object": "model", "created": 0, "owned_by": "steersman"});
                respond(StatusCode::OK, &json!({"object": "list", "data": [model]}))
            }
            (&Method::GET, "/props") => {
                let settings = json!({"n_ctx": limits::DEMO_CONTEXT});
                respond(
                    StatusCode::OK,
                    &json!({"default_generation_settings": settings, "model_alias": MODEL, "modalities": {"vision": false}}),
                )
            }
            (method, path) => {
                let message = format!("there is no {method} {path} here");
                respond(StatusCode::NOT_FOUND, &wire::error(&message, "invalid_request_error", Some("not_found")))
            }
        }
    }

    fn admits(&self, request: &Request<Incoming>) -> bool {
        let given = request.headers().get(AUTHORIZATION).map_or(&b""[..], hyper::header::HeaderValue::as_bytes);
        let Some((scheme, key)) = given.split_at_checked(7) else { return false };
        scheme.eq_ignore_ascii_case(b"bearer ") && same(key, self.key.expose().as_bytes())
    }

    async fn chat(&self, request: Request<Incoming>) -> Response<Body> {
        let bytes = match Limited::new(request.into_body(), limits::DEMO_BODY_BYTES).collect().await {
            Ok(collected) => collected.to_bytes(),
            Err(fault) => return refuse(&format!("the body cannot be read: {fault}")),
        };
        let body = match ChatBody::parse(&bytes) {
            Ok(body) => body,
            Err(fault) => return refuse(&fault),
        };
        let reply = plan(&body);
        if body.stream != Some(true) {
            return respond(StatusCode::OK, &wire::completion(&body, &reply));
        }
        let events = stream::events(&body, &reply);
        let mut response = Response::new(StreamBody::new(stream::paced(events, self.pace)).boxed_unsync());
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static("text/event-stream"));
        headers.insert(CACHE_CONTROL, hyper::header::HeaderValue::from_static("no-cache"));
        response
    }
}

/// Compares a given key with the right one in a time that does not depend on where they differ.
fn same(given: &[u8], right: &[u8]) -> bool {
    let differences = given.iter().zip(right).fold(0_u8, |seen, (a, b)| seen | (a ^ b));
    std::hint::black_box(differences) == 0 && given.len() == right.len()
}

fn refuse(message: &str) -> Response<Body> {
    respond(StatusCode::BAD_REQUEST, &wire::error(message, "invalid_request_error", None))
}

fn respond(status: StatusCode, body: &Value) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())).boxed_unsync());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
    response
}
