//! The tables, one for each context, in the order in which help shows their rows.

pub(super) mod agents;
pub(super) mod changes;
pub(super) mod choices;
pub(super) mod details;
pub(super) mod everywhere;
pub(super) mod filter;
pub(super) mod help;
pub(super) mod history;
pub(super) mod jobs;
pub(super) mod ledger;
pub(super) mod message;
pub(super) mod paused;
pub(super) mod pending;
pub(super) mod plan;
pub(super) mod replay;
pub(super) mod search;
pub(super) mod transcript;
pub(super) mod window;
