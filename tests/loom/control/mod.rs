//! The queue's own sources, and a stand-in for the cancel flag: the real one wakes waiting tasks through tokio, which
//! loom does not know. The queue only sets, clears and reads it.

#![allow(dead_code)] // The tests call a part of the queue's methods.

#[path = "../../../src/core/control/interloper/mod.rs"]
mod interloper;
#[path = "../../../src/core/control/queue/mod.rs"]
mod queue;

use std::sync::Arc;

use loom::sync::atomic::{AtomicBool, Ordering};

pub use interloper::{Interloper, Modes, Staleness};

/// A flag that loom watches.
#[derive(Debug, Clone)]
pub struct Cancellable {
    flag: Arc<AtomicBool>,
}

impl Cancellable {
    pub fn new() -> Self {
        Self { flag: Arc::new(AtomicBool::new(false)) }
    }

    pub fn cancel(&self) {
        self.flag.store(true, Ordering::SeqCst);
    }

    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::SeqCst)
    }

    pub fn reset(&self) {
        self.flag.store(false, Ordering::SeqCst);
    }
}
