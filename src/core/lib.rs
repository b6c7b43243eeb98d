//! What an agent is made of, as interfaces and as what its user holds: the queue, the cancel flag and the other controls;
//! listeners; model servers; tools; approvals.
//!
//! Uses `base` alone. The loop (`agent`) and the servers over HTTP (`provider`) stand on it and not on each other; so do the tools
//! (`tools`), but for the trusted certificates, which they share with `provider`.
//!
//! # Where things are
//!
//! - what threads and tasks share: the mutex around the queue, and the wait for a change: `sync.rs`
//! - temporary directories of this process: `temporary.rs`

pub mod approval;
pub mod control;
pub mod listener;
pub mod provider;
pub mod sync;
pub mod temporary;
pub mod tool;
pub mod wrapper;
