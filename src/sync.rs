//! The mutex that the queue uses: the standard one, or loom's when the model test is built (`--cfg steersman_loom`).

#[cfg(steersman_loom)]
pub(crate) use loom::sync::{Mutex, MutexGuard};
#[cfg(not(steersman_loom))]
pub(crate) use std::sync::{Mutex, MutexGuard};
