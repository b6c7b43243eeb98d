//! Clean-up at the exit: a process-wide list, run once.
//!
//! An agent registers before anything of its construction can fail, and is removed when it closes. Entries are
//! weak, so the list keeps nothing alive. `main` calls [`run`] on every way out; there is no hidden exit hook.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use steersman_base::sync::lock;
use steersman_core::temporary;

type CloseHandler = Box<dyn FnOnce() + Send>;

enum ExitEntry {
    Closer(Weak<Closer>),
    Closure(CloseHandler),
}

static ENTRIES: Mutex<Vec<ExitEntry>> = Mutex::new(Vec::new());

/// Registers a closure for the exit.
pub fn register(closure: impl FnOnce() + Send + 'static) {
    entries().push(ExitEntry::Closure(Box::new(closure)));
}

/// Runs every entry, newest first, and empties the list, then removes the temporary directories that are left; a second run
/// does nothing. A panicking entry is logged. A program that ends with [`std::process::exit`] calls this first: nothing is
/// dropped then, and what stays is removed only by a later process.
///
/// ```
/// steersman_agent::finalizers::register(|| println!("closed"));
/// // Before `std::process::exit`.
/// steersman_agent::finalizers::run();
/// ```
pub fn run() {
    // One entry at a time, without the lock while it runs: an entry may register or close others.
    while let Some(entry) = next_entry() {
        match entry {
            ExitEntry::Closer(closer) => {
                if let Some(closer) = closer.upgrade() {
                    closer.close();
                }
            }
            ExitEntry::Closure(closure) => contained("finalizer", closure),
        }
    }
    temporary::remove_all();
}

fn next_entry() -> Option<ExitEntry> {
    entries().pop()
}

/// Returns how many entries would run.
pub fn registered() -> usize {
    entries().iter().filter(|entry| !matches!(entry, ExitEntry::Closer(closer) if closer.strong_count() == 0)).count()
}

fn entries() -> MutexGuard<'static, Vec<ExitEntry>> {
    lock(&ENTRIES)
}

fn contained(what: &str, closure: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(closure)).is_err() {
        tracing::warn!("a {what} panicked; the others still run");
    }
}

/// The clean-up of one agent: handlers, run newest first, once. An agent that is forgotten, or never finished,
/// cleans up too; the order across agents is what `close` and [`run`] are for.
#[derive(Default)]
pub(crate) struct Closer {
    closed: AtomicBool,
    handlers: Mutex<Vec<CloseHandler>>,
}

impl Closer {
    /// Makes a closer and adds it to the exit list.
    pub(crate) fn registered() -> Arc<Self> {
        let closer = Arc::new(Self::default());
        entries().push(ExitEntry::Closer(Arc::downgrade(&closer)));
        closer
    }

    /// Adds a handler. After the close it runs at once, so that nothing leaks.
    pub(crate) fn on_close(&self, handler: impl FnOnce() + Send + 'static) {
        if self.is_closed() {
            contained("close handler", handler);
        } else {
            lock(&self.handlers).push(Box::new(handler));
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Removes itself from the exit list and runs the handlers, newest first. A second or re-entrant call does nothing.
    pub(crate) fn close(&self) {
        if self.closed.swap(true, Ordering::SeqCst) {
            return;
        }
        let me = std::ptr::from_ref(self);
        entries().retain(|entry| !matches!(entry, ExitEntry::Closer(closer) if closer.as_ptr() == me));
        loop {
            let Some(handler) = lock(&self.handlers).pop() else { return };
            contained("close handler", handler);
        }
    }
}

impl Drop for Closer {
    fn drop(&mut self) {
        self.close();
    }
}
