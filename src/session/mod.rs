//! A run as its clients see it: requests are carried out on the host, and everything that happens comes back as posts.
//!
//! # Where things are
//!
//! - what a client knows of a run without a screen: `fold/mod.rs`, with its stories
//! - the journal of a session: `journal/mod.rs`; stories: `session/journal/mod.rs`
//! - what every client holds: `client.rs`; stories: `session/client.rs`
//! - a client in the same process: `local.rs`; stories: `session/client.rs`
//! - a session that another program writes, to be read: `recorded.rs`; stories: `session/read_only.rs`
//! - what each request does to the run: `requests.rs`, and to approvals and files: `permissions.rs`; stories: `hold.rs`,
//!   `pending_list.rs`, `approval_popups.rs`

mod client;
pub mod fold;
pub mod journal;
mod local;
mod permissions;
mod recorded;
mod requests;

pub use crate::workspace::{Bounds, EntryKind, Walk};
pub use client::{Client, Waiting, Wake};
pub use local::LocalClient;
pub use recorded::RecordedClient;
pub use requests::Requests;
