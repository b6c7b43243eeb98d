//! Responses: the newer dialect of `OpenAI`, also spoken by vLLM, Ollama, LM Studio, llama.cpp and `OpenRouter`.
//!
//! A conversation is a list of items. Nothing is stored at the server: parts that it must see again (encrypted
//! reasoning) are requested and sent back byte for byte. The body is written by `body`, replies are built by
//! `assemble` out of `items`.
//!
//! # Where things are
//!
//! - Responses: items, encrypted thinking that is sent back: `body.rs`, `assemble.rs`, `items.rs`; tests:
//!   `responses/requests.rs`, `responses/replies.rs`, `responses/endings.rs`, `responses/random_streams.rs`,
//!   `responses/wire.rs`
//! - the wire form of Responses, read as leniently as real servers need: `event.rs`

mod assemble;
mod body;
mod event;
mod items;

use crate::wire::Wire;

/// The Responses dialect.
pub(super) const WIRE: Wire = Wire {
    url: |endpoint, _| endpoint.url("/responses"),
    encode: body::encode,
    assembler: || Box::new(assemble::Assembler::default()),
    whole: assemble::Assembler::whole,
};
