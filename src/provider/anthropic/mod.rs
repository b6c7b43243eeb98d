//! Messages: the dialect of Anthropic's servers, and of those that speak it too.
//!
//! The body is written by `body`, the conversation in it by `turns`; replies are built by `assemble`, block by block
//! (`blocks`). Signed thinking goes back to the server unchanged.
//!
//! # Where things are
//!
//! - Anthropic's Messages: turns and cache marks, replies, signed thinking: `turns.rs`, `blocks.rs`,
//!   `thinking.rs`; tests: `anthropic/mod.rs`
//! - events of a message stream become pieces for the screen and one reply: `assemble.rs`
//! - the body of a Messages request: `body.rs`
//! - the wire form of Messages: the events of a stream, and a whole message: `chunk.rs`

mod assemble;
mod blocks;
mod body;
mod chunk;
mod thinking;
mod turns;

use crate::wire::Wire;

/// The Messages dialect.
pub(super) const WIRE: Wire = Wire {
    url: |endpoint, _| endpoint.url("/messages"),
    encode: body::encode,
    assembler: || Box::new(assemble::Assembler::default()),
    whole: assemble::Assembler::whole,
};
