//! Chat completions: the dialect of `OpenAI` that nearly every server speaks, each with small differences.
//!
//! The differences are data (`quirks`, applied by `body`, `effort` and `ids`) or tolerated (`chunk`, `calls`,
//! `details`, `reasoning`); replies are built by `assemble`.
//!
//! # Where things are
//!
//! - chat completions: `mod.rs`, `body.rs`; tests: `wire.rs`

mod assemble;
mod body;
mod calls;
mod chunk;
mod details;
mod effort;
mod ids;

use crate::wire::Wire;

pub use assemble::Assembler;
pub(super) use chunk::{Dollars, Number, Text};

/// The chat-completions dialect.
pub(super) const WIRE: Wire = Wire {
    url: |endpoint, _| endpoint.url("/chat/completions"),
    encode: body::encode,
    assembler: || Box::new(Assembler::default()),
    whole: Assembler::whole,
};
