//! What is asked of the worker itself: it answers during a turn too, but never changes a conversation under one.

use std::sync::Mutex;

use tokio::sync::Notify;

use steersman_base::sync::lock;

/// One thing that the worker is asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Go back to the system prompt. A running turn is stopped first; nothing runs before it is done.
    Reset,
    /// Use this model from the next request on, also of the turn that runs, and for children spawned later.
    SwitchModel(String),
    /// Summarise older rounds: at once when no turn runs, else before the next request. The words are what the summary is
    /// to keep in mind.
    Compact(Option<String>),
    /// Send the request again that failed.
    Retry,
    /// Close the task that has no answer; of a turn that runs when that has ended.
    CloseTask,
    /// Ask the server for its models; the answer is [`crate::host::Notice::Models`].
    ListModels,
    /// Find out whether the model takes images; the answer is [`crate::host::Notice::Images`].
    CheckImages,
}

/// What the worker has not looked at yet.
#[derive(Debug, Default)]
pub(super) struct Commands {
    waiting: Mutex<Vec<Command>>,
    wake: Notify,
}

impl Commands {
    pub(super) fn push(&self, command: Command) {
        lock(&self.waiting).push(command);
        self.wake();
    }

    /// Lets the worker look around although nothing was asked.
    pub(super) fn wake(&self) {
        self.wake.notify_one();
    }

    /// Takes everything, in order.
    pub(super) fn take_commands(&self) -> Vec<Command> {
        std::mem::take(&mut *lock(&self.waiting))
    }

    /// Waits for a wake since the last one.
    pub(super) async fn woken(&self) {
        self.wake.notified().await;
    }
}
