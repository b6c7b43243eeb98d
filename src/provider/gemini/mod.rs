//! Gemini: Google's `generateContent`, whole or as a stream.
//!
//! User and model take turns; each turn is a list of parts. Signatures of thinking come with parts and go back with the
//! same parts. The body is written by `body`, replies are built by `assemble`.
//!
//! # Where things are
//!
//! - Gemini: turns, signatures, schemas, thinking: `body.rs`, `schema.rs`, `thinking.rs`, `assemble.rs`; tests:
//!   `gemini/requests.rs`, `gemini/schemas.rs`, `gemini/replies.rs`, `gemini/wire.rs`
//! - the wire form of Gemini, read as leniently as real servers need: `chunk.rs`
//! - arguments that come in pieces, each with the path of its value (Vertex): `partial.rs`

mod assemble;
mod body;
mod chunk;
mod partial;
mod schema;
mod thinking;

use reqwest::Url;

use crate::endpoint::Endpoint;
use crate::wire::Wire;
use steersman_core::provider::{ChatRequest, Streaming};

/// The Gemini dialect.
pub(super) const WIRE: Wire = Wire {
    url,
    encode: body::encode,
    assembler: || Box::new(assemble::Assembler::default()),
    whole: assemble::Assembler::whole,
};

fn url(endpoint: &Endpoint, request: &ChatRequest<'_>) -> Url {
    let (method, stream) = match request.streaming {
        Streaming::On => ("streamGenerateContent", true),
        Streaming::Off => ("generateContent", false),
    };
    let (kind, name) = match request.model.split_once('/') {
        Some((kind, name)) => (kind, name),
        None => ("models", request.model),
    };
    let mut url = endpoint.url("");
    // Cannot fail for an address with a host. A slash in a name is escaped.
    if let Ok(mut path) = url.path_segments_mut() {
        path.push(kind).push(&format!("{name}:{method}"));
    }
    if stream {
        url.query_pairs_mut().append_pair("alt", "sse");
    }
    url
}
