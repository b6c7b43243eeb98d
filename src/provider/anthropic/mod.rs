//! Messages: the dialect of Anthropic's servers, and of those that speak it too.
//!
//! The body is written by `body`, the conversation in it by `turns`; replies are built by `assemble`, block by block
//! (`blocks`). Signed thinking goes back to the server unchanged.
//!
//! # Where things are
//!
//! - Anthropic's Messages: turns and cache marks, replies, signed thinking: `turns.rs`, `blocks.rs`,
//!   `thinking.rs`; stories: `anthropic/mod.rs`

mod assemble;
mod blocks;
mod body;
mod chunk;
mod thinking;
mod turns;

use reqwest::Url;

use crate::provider::endpoint::Endpoint;
use crate::provider::wire::{Assemble, Outgoing, Wire};
use crate::provider::{ChatRequest, ProviderError, Reply};

/// The Messages dialect.
#[derive(Debug, Clone, Copy)]
pub(super) struct Messages;

impl Wire for Messages {
    fn url(&self, endpoint: &Endpoint, _: &ChatRequest<'_>) -> Url {
        endpoint.url("/messages")
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
