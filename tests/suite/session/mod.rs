//! Stories of what is kept of a session, and how it comes back.

mod client;
mod command;
pub mod journal;
mod outside;
mod resume;
