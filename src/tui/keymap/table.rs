//! The tables, each context in the order in which help shows its rows.

pub(super) mod agent;
pub(super) mod everywhere;
pub(super) mod lists;
pub(super) mod message;
pub(super) mod reading;
