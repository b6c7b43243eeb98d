//! The program: its command line, its configuration, and the model that is built into it.

// Used by the program and its tests alone, as the screen is.
#![allow(missing_docs)]

pub mod cli;
pub mod config;
pub mod demo;
