//! Stories of what is kept of a session, and how it comes back.

mod branch;
mod client;
mod command;
mod equality;
pub mod journal;
mod killed;
mod read_only;
mod resume;
mod screen;
