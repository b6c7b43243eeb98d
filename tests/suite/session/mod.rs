//! Stories of what is kept of a session, and how it comes back.

mod branch;
mod browser;
mod client;
mod command;
mod compare;
mod compressed;
mod continued;
mod equality;
mod export;
mod import;
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
mod uses;
