//! What an agent is made of, as interfaces and as what its user holds: the queue, the cancel flag and the other controls;
//! listeners; model servers; tools; approvals.
//!
//! Knows `base` alone. The loop (`agent`), the servers over HTTP (`provider`) and the tools (`tools`) stand on it, and not
//! on each other.

pub mod approval;
pub mod control;
pub mod listener;
pub mod provider;
pub mod sync;
pub mod temporary;
pub mod tool;
