//! The mutex around the queue. `tests/loom` compiles the queue's sources with a `sync` module of its own, whose
//! mutex explores every order of two threads; so the queue takes its mutex from here and nowhere else.

pub(crate) use std::sync::{Mutex, MutexGuard};
