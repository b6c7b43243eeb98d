//! Responses: the newer dialect of `OpenAI`, also spoken by vLLM, Ollama, LM Studio, llama.cpp and `OpenRouter`.
//!
//! A conversation is a list of items. Nothing is stored at the server: parts that it must see again (encrypted
//! reasoning) are requested and sent back byte for byte. The body is written by `body`, replies are built by
//! `assemble` out of `items`.
//!
//! # Where things are
//!
//! - Responses: items, encrypted thinking that is sent back: `body.rs`, `assemble.rs`, `items.rs`; stories:
//!   `responses/requests.rs`, `responses/replies.rs`, `responses/wire.rs`

mod assemble;
mod body;
mod event;
mod failure;
mod items;

use reqwest::Url;

use crate::provider::endpoint::Endpoint;
use crate::provider::wire::{Assemble, Outgoing, Wire};
use crate::provider::{ChatRequest, ProviderError, Reply};

/// The Responses dialect.
#[derive(Debug, Clone, Copy)]
pub(super) struct Responses;

impl Wire for Responses {
    fn url(&self, endpoint: &Endpoint, _: &ChatRequest<'_>) -> Url {
        endpoint.url("/responses")
    }

    fn encode(&self, outgoing: &Outgoing<'_>) -> Result<Vec<u8>, ProviderError> {
        body::encode(outgoing)
    }

    fn assembler(&self) -> Box<dyn Assemble> {
        Box::new(assemble::Assembler::default())
    }

    fn whole(&self, body: &str) -> Result<Reply, ProviderError> {
        assemble::Assembler::whole(body)
    }
}
