//! What the tests share: doubles, servers, drivers.

#![allow(dead_code, unused_imports)] // Each test binary uses its own part.

pub mod authorization;
pub mod bench;
pub mod contents;
pub mod cpu_time;
pub mod doubles;
pub mod family;
pub mod figures;
pub mod files;
pub mod gguf;
pub mod http2;
pub mod items;
pub mod json_client;
pub mod long_session;
pub mod mcp;
pub mod mcp_http;
pub mod messages;
pub mod paced;
pub mod picture;
pub mod processes;
pub mod program;
pub mod prose;
pub mod proxy;
mod reply;
pub mod server;
pub mod signals;
pub mod site;
pub mod skip;
pub mod snapshot;
pub mod stage;
pub mod stream_schema;
pub mod terminal;
pub mod tls;
