//! Chat completions: the dialect of `OpenAI` that nearly every server speaks, each with small differences.
//!
//! The differences are data (`quirks`, applied by `body`, `effort` and `ids`) or tolerated (`chunk`, `calls`,
//! `details`, `reasoning`); replies are built by `assemble`.
//!
//! # Where things are
//!
//! - chat completions: `mod.rs`, `body.rs`; tests: `wire.rs`
//! - fragments of tool calls become calls, however a server fills index, id and name: `calls.rs`
//! - the wire form of chat completions, read as leniently as real servers need: `chunk.rs`
//! - `reasoning_details`: `details.rs`
//! - the thinking effort, in the members that each kind of server reads: `effort.rs`
//! - ids of calls for servers that accept nine letters and digits only: `ids.rs`

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
