//! What an agent is made of, as interfaces and as what its user holds: the queue, the cancel flag and the other controls;
//! listeners; model servers; tools; approvals.
//!
//! Uses `base` alone. The loop (`agent`) and the servers over HTTP (`provider`) stand on it and not on each other; so do the tools
//! (`tools`), but for the trusted certificates, which they share with `provider`.

pub mod approval;
pub mod control;
pub mod listener;
pub mod provider;
pub mod sync;
pub mod temporary;
pub mod tool;
pub mod wrapper;
