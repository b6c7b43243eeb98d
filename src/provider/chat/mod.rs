//! Chat completions: the dialect of `OpenAI` that nearly every server speaks, each with small differences.
//!
//! The differences are data (`quirks`, applied by `body`, `effort` and `ids`) or tolerated (`chunk`, `calls`,
//! `details`, `reasoning`); replies are built by `assemble`.
//!
//! # Where things are
//!
//! - chat completions: `mod.rs`, `body.rs`; stories: `wire.rs`

mod assemble;
mod body;
mod calls;
mod chunk;
mod details;
mod effort;
mod ids;

use reqwest::Url;

use crate::provider::endpoint::Endpoint;
use crate::provider::wire::{Assemble, Outgoing, Wire};
use crate::provider::{ChatRequest, ProviderError, Reply};

pub use assemble::Assembler;
pub(super) use chunk::{Dollars, Number, Text};

/// The chat-completions dialect.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chat;

impl Wire for Chat {
    fn url(&self, endpoint: &Endpoint, _: &ChatRequest<'_>) -> Url {
        endpoint.url("/chat/completions")
    }

    fn encode(&self, outgoing: &Outgoing<'_>) -> Result<Vec<u8>, ProviderError> {
        body::encode(outgoing)
    }

    fn assembler(&self) -> Box<dyn Assemble> {
        Box::new(Assembler::default())
    }

    fn whole(&self, body: &str) -> Result<Reply, ProviderError> {
        Assembler::whole(body)
    }
}
