//! What the tests share: doubles, servers, drivers.

#![allow(dead_code)] // Each test binary uses its own part.

pub mod server;
pub mod paced;
pub mod terminal;
