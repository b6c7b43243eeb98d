//! The program: its command line, its configuration, and the model that is built into it.

// As in the screen: most fields and variants are what they are called.
#![allow(missing_docs)]

pub mod cli;
pub mod config;
pub mod demo;
