//! Sessions seen and steered from outside: each that runs listens on a Unix socket, and talks JSON-RPC lines there.
//!
//! The server has a thread of its own; whatever a client sends or does not read, the run goes on. Only processes of the
//! same user are answered that have the key of the session, and none that the session itself started.
//!
//! # Where things are
//!
//! - where the sockets lie, and which sessions run: `place.rs`; tests: `outside/place.rs`
//! - the form of the lines: `wire.rs`; tests: `outside/lines.rs`
//! - who may connect, and how many: `peer.rs`, `key.rs`, `server.rs`; tests: `outside/hostile.rs`,
//!   `tests/program/sessions/outside_callers.rs`
//! - one connection: `connection.rs`; tests: `outside/clients.rs`
//! - the other end, for commands and for a second screen: `caller.rs`, `remote.rs`; tests:
//!   `tests/program/sessions/outside_commands.rs`, `outside/remote.rs`

mod caller;
mod connection;
mod key;
mod peer;
mod place;
mod remote;
mod server;
mod wire;

pub use caller::{CallFailed, Caller};
pub use place::{Sockets, name_of};
pub use remote::RemoteClient;
pub use server::{About, SocketServer, listen};
pub use wire::{CallError, Hello, Method, Replied, Updates, Welcome};
