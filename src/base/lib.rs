//! What every part of Steersman speaks of: ids, messages, events, errors, the protocol between a session and its clients;
//! and what all need: text, limits, files that are read within bounds.
//!
//! Uses no other crate of the project.

pub mod assets;
pub mod clock;
pub mod details;
pub mod dialect;
pub mod error;
pub mod event;
pub mod fault;
pub mod front_matter;
pub mod id;
pub mod image;
pub mod limits;
pub mod manual;
pub mod message;
pub mod mode;
#[cfg(unix)]
pub mod names_lock;
pub mod paths;
pub mod plan;
pub mod price;
pub mod protected;
pub mod protocol;
pub mod regular_file;
pub mod steering;
pub mod summary;
pub mod sync;
pub mod target;
pub mod text;
