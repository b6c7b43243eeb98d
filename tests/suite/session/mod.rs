//! Stories of what is kept of a session, and how it comes back.

mod client;
mod command;
pub mod journal;
mod read_only;
mod resume;
mod screen;
