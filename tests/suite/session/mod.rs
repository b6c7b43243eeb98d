//! Stories of what is kept of a session, and how it comes back.

mod branch;
mod client;
mod command;
mod compare;
mod equality;
mod export;
pub mod journal;
mod killed;
mod opening;
mod outside;
mod read_only;
mod replay;
mod resume;
pub mod saved;
mod screen;
mod search;
mod timeline;
