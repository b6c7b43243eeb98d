//! Stories of what is kept of a session, and how it comes back.

mod client;
mod command;
mod export;
pub mod journal;
mod outside;
mod replay;
mod resume;
mod saved;
mod search;
