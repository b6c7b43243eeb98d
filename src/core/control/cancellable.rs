//! The cancel flag: set from any thread, checked by the loop, awaited by every wait.
//!
//! Setting it is one atomic store and a wake. Signals arrive as tasks of the runtime, no handler code of ours runs, so
//! the wake needs no signal-safe path. Only the root turn clears it (D9); children share it by reference.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

use crate::sync::until;
use steersman_base::error::Cancelled;

/// Stops a run. Clones share one flag.
///
/// ```
/// use steersman_core::control::Cancellable;
///
/// let (run, other) = (Cancellable::new(), Cancellable::new());
/// let part = run.child();
/// let elsewhere = run.clone();
/// std::thread::spawn(move || elsewhere.cancel()).join().unwrap();
/// assert!(run.is_cancelled() && part.check().is_err(), "whoever was spawned is stopped too");
/// assert!(!other.is_cancelled());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cancellable {
    shared: Arc<Shared>,
    /// Whoever stops this one too.
    parent: Option<Arc<Cancellable>>,
}

#[derive(Debug, Default)]
struct Shared {
    flag: AtomicBool,
    wake: Notify,
}

impl Cancellable {
    /// Makes a flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a flag for a part of this run: set by itself without this one, and always by this one.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { shared: Arc::default(), parent: Some(Arc::new(self.clone())) }
    }

    /// Asks the run to stop. Idempotent; from any thread.
    pub fn cancel(&self) {
        self.shared.flag.store(true, Ordering::SeqCst);
        self.shared.wake.notify_waiters();
    }

    /// Tells whether a stop was asked for.
    pub fn is_cancelled(&self) -> bool {
        self.shared.flag.load(Ordering::SeqCst) || self.parent.as_ref().is_some_and(|parent| parent.is_cancelled())
    }

    /// Passes unless a stop was asked for.
    ///
    /// # Errors
    /// [`Cancelled`] when the flag is set.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// Clears the flag. For the owner of the root turn only (D9).
    pub fn reset(&self) {
        self.shared.flag.store(false, Ordering::SeqCst);
    }

    /// Waits until a stop is asked for; returns at once when it already was.
    pub async fn cancelled(&self) {
        match &self.parent {
            None => self.set().await,
            Some(parent) => tokio::select! {
                () = self.set() => {}
                () = Box::pin(parent.cancelled()) => {}
            },
        }
    }

    /// Does this work, unless a stop is asked for before it is done: then it is dropped.
    ///
    /// # Errors
    /// [`Cancelled`] when that is asked for.
    pub async fn unless_cancelled<T>(&self, work: impl Future<Output = T>) -> Result<T, Cancelled> {
        tokio::select! {
            biased;
            () = self.cancelled() => Err(Cancelled),
            done = work => Ok(done),
        }
    }

    /// Waits for this flag alone.
    async fn set(&self) {
        until(&self.shared.wake, || self.shared.flag.load(Ordering::SeqCst).then_some(())).await;
    }
}
