//! Loom's mutex under the name by which the queue asks for it.

pub use loom::sync::{Mutex, MutexGuard};
