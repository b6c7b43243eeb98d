//! Stories of what is kept of a session, and how it comes back.

mod command;
mod compare;
mod continued;
mod equality;
mod export;
mod import;
mod killed;
mod outside_callers;
mod outside_commands;
mod replay;
mod resume;
mod search;
mod uses;
