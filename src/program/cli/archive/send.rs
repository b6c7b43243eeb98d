//! Sends an exported trace to an endpoint that takes OTLP over HTTP, such as a collector.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Response, Url};
use serde_json::Value;

use steersman_base::text::visible_line;
use steersman_provider::Http;

/// How long the endpoint may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Most bytes of an answer that are read.
const ANSWER: usize = 16 << 10;
/// The variable with what the endpoint wants to know of its sender, as OpenTelemetry names it.
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";

/// Reads the address of an endpoint; without a path it gets the usual one.
pub(super) fn endpoint(text: &str) -> Result<Url, String> {
    let mut url = Url::parse(text).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("it must be an address of HTTP, such as http://localhost:4318".to_owned());
    }
    if url.path() == "/" {
        url.set_path("/v1/traces");
    }
    Ok(url)
}

/// Sends a trace; returns a sentence about what the endpoint left out, if anything.
///
/// # Errors
/// One sentence, when the endpoint cannot be reached or does not take it.
pub(super) fn send(url: &Url, trace: &Value) -> Result<Option<String>, String> {
    let body = serde_json::to_vec(trace).map_err(|error| error.to_string())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("nothing can be sent: {error}"))?;
    let sent = runtime.block_on(async { tokio::time::timeout(PATIENCE, post(url, body)).await });
    sent.unwrap_or_else(|_| Err(format!("no answer within {} s", PATIENCE.as_secs())))
        .map_err(|why| format!("{} did not take the trace: {why}", place(url)))
}

async fn post(url: &Url, body: Vec<u8>) -> Result<Option<String>, String> {
    let http = Http::default();
    let client = http.client(url).map_err(|error| error.to_string())?;
    let headers = std::env::var(HEADERS).map(|headers| parse_headers(&headers)).unwrap_or_default();
    let request = client.post(url.clone()).headers(headers).header(CONTENT_TYPE, "application/json").body(body);
    let answer = request.send().await.map_err(|error| failure(&error))?;
    let status = answer.status();
    let text = text(answer).await;
    if !status.is_success() {
        return Err(format!("it answered {status} {}", visible_line(text.trim())).trim_end().to_owned());
    }
    let answer: Value = serde_json::from_str(&text).unwrap_or_default();
    // A number of 64 bits may be a text in JSON.
    let rejected = answer.pointer("/partialSuccess/rejectedSpans");
    let rejected = rejected.and_then(|count| count.as_u64().or_else(|| count.as_str()?.parse().ok())).unwrap_or(0);
    let why = answer.pointer("/partialSuccess/errorMessage").and_then(Value::as_str).unwrap_or_default();
    Ok((rejected > 0).then(|| format!("the server refused {rejected} spans: {}", visible_line(why))))
}

/// Returns the innermost reason, without the address, which may hold a key.
fn failure(error: &reqwest::Error) -> String {
    let mut source: &dyn std::error::Error = error;
    while let Some(inner) = source.source() {
        source = inner;
    }
    source.to_string()
}

async fn text(mut answer: Response) -> String {
    let mut bytes = Vec::new();
    while bytes.len() < ANSWER
        && let Ok(Some(chunk)) = answer.chunk().await
    {
        bytes.extend_from_slice(&chunk);
    }
    bytes.truncate(ANSWER);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads `name=value,name=value`; values are written as in an address. What is none is left out.
fn parse_headers(headers: &str) -> HeaderMap {
    let header = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        let name = HeaderName::from_bytes(name.trim().as_bytes()).ok()?;
        let mut value = HeaderValue::from_bytes(&decoded(value.trim())).ok()?;
        value.set_sensitive(true);
        Some((name, value))
    };
    headers.split(',').filter_map(header).collect()
}

/// Returns a text in which `%20` stands for its byte.
fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        let byte = behind.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(byte.unwrap_or(b'%'));
        rest = behind.get(if byte.is_some() { 2 } else { 0 }..).unwrap_or_default();
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

/// Returns the address without user and query.
pub(super) fn place(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
}
