//! Model servers over HTTP: how one request becomes one reply, in four dialects.
//!
//! The interface is `src/core/provider/mod.rs`. A provider knows nothing of the loop; the loop knows nothing of HTTP.
//!
//! # Where things are
//!
//! - one request over HTTP, from sending to the whole reply: `http_provider.rs`, `wire.rs`; tests: `wire.rs`
//! - server-sent events, and one reply out of many chunks: `sse.rs`, `chat/assemble.rs`; tests: `sse.rs`,
//!   `assemble.rs`, `assemble_calls.rs`
//! - the same stream in every encoding and chunking: `sse.rs`, `wire.rs`; tests: `equivalence/mod.rs`,
//!   `equivalence/streams.rs`, `tests/fuzz/src/lib.rs`
//! - retries, Retry-After; a wait that is asked about: `retry.rs`, `src/agent/long_wait.rs`; tests: `retry.rs`,
//!   `tests/agent/long_wait.rs`
//! - every way a server fails, over every dialect: `http_provider.rs`, `incoming.rs`; tests: `tests/agent/faults/mod.rs`,
//!   `tests/agent/faults/http2.rs`, `tests/agent/faults/real_servers.rs`
//! - why no server is reached; TLS, proxies, authorities: `unreachable.rs`, `http.rs`, `src/provider/tls.rs`; tests: `tests/agent/faults/tls.rs`,
//!   `tests/agent/faults/unreachable.rs`, `proxies.rs`
//! - too long a conversation and spent accounts, in servers' words: `refusals.rs`; tests: `tests/agent/faults/refusals.rs`,
//!   `retry.rs`
//! - promises of everything that reads a server's bytes, under mutation and fuzzing: `wire.rs`, `reasoning.rs`;
//!   tests: `mutations.rs`, `tests/fuzz/src/lib.rs`
//! - quirks of single servers and models: `quirks/mod.rs`, `quirks/known.rs`, `quirks/refusals.rs`; tests:
//!   `quirks.rs`, `quirks_known.rs`
//! - images of the user, and which models take them: `src/base/image.rs`, `image_support.rs`; tests: `tests/agent/images.rs`,
//!   `tests/program/headless/attached.rs`
//! - an answer that must match a schema: `format.rs`; tests: `answer_format.rs`
//! - thinking within the visible text (`<think>`): `reasoning.rs`; tests: `tests/agent/reasoning.rs`
//! - error bodies of servers: `error_body.rs`; tests: `wire.rs`
//! - the context window: override, registry, `/props`, router: `context_window.rs`; tests: `context_window.rs`
//! - the model, when none is named: `models.rs`, `src/program/cli/setup.rs`; tests: `wire.rs`, `tests/program/exec/startup.rs`
//! - the registry of models: `assets/models.toml`, `src/core/provider/registry.rs`; tests: `tests/program/registry.rs`
//! - lists of models, `steersman models`, the servers to switch to: `models.rs`, `sources.rs`,
//!   `src/program/cli/sources.rs`, `src/program/cli/models.rs`; tests: `tests/program/models.rs`, `tests/session/model_switch.rs`, `tests/session/dialect_switch.rs`
//! - keys that are never shown: `src/core/provider/transport.rs`, `endpoint.rs`; tests: `tests/program/secrets.rs`
//! - ids of calls, made unique within one reply: `call_ids.rs`
//! - `HttpConnector`: the connector of the program: `connector.rs`
//! - replies of every dialect in which halves of characters come in different pieces: `joined.rs`
//! - connections that have answered before: `kept_connections.rs`
//! - the proxies that the environment names: which one an address uses, and faults of its variable: `proxy.rs`
//! - token counts of the `OpenAI` dialects, converted to parts that do not overlap: `usage.rs`

mod anthropic;
mod call_ids;
pub mod chat;
mod connector;
mod context_window;
mod endpoint;
mod error_body;
mod format;
mod gemini;
mod http;
mod http_provider;
mod image_support;
mod incoming;
mod joined;
mod kept_connections;
mod models;
mod proxy;
mod quirks;
pub mod reasoning;
mod refusals;
mod responses;
pub mod retry;
mod sources;
pub mod sse;
pub mod tls;
mod unreachable;
mod usage;
mod wire;

pub use connector::HttpConnector;
pub use context_window::ContextWindowDetector;
pub use http::Http;
pub use http_provider::HttpProvider;
pub use image_support::takes_images;
pub use models::{OfferedModel, list_models, offered_models, read_models};
pub use sources::{KeyLoader, ModelServer, RequestedModel, Sources};
pub use wire::Assemble;
