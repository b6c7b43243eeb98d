//! The texts that wait for a condition: what the queue is told of the run, and what it gives out because of that.
//!
//! Whoever runs the agent tells; each step is one under the lock, as the user's own operations are.

use std::time::Duration;

use jiff::Timestamp;

use super::Interloper;
use crate::control::Cancellable;
use crate::control::queue::TakenTexts;
use steersman_base::clock;
use steersman_base::event::Pending;
use steersman_base::message::Arguments;
use steersman_base::steering::Happening;

impl Interloper {
    /// Lets the texts go whose condition this meets: they are delivered at the next boundary. A call that is about to run
    /// is told by [`Interloper::take_before`] alone.
    pub fn happened(&self, happening: &Happening<'_>) {
        self.edit(|queue| queue.happened(happening, clock::now(), &mut || self.new_id()));
    }

    /// Lets the texts go whose steps or minutes are over by now.
    pub fn elapsed(&self, now: Timestamp) {
        self.edit(|queue| queue.elapsed(now, &mut || self.new_id()));
    }

    /// Returns the next moment at which [`Interloper::elapsed`] lets a text go that waits for minutes.
    pub fn due(&self) -> Option<Timestamp> {
        self.lock().due()
    }

    /// Lets texts go at the moment at which their minutes are over. Never ends.
    pub async fn keep_time(&self) {
        loop {
            let mut wake = std::pin::pin!(self.urgent.notified());
            wake.as_mut().enable();
            match self.due() {
                None => wake.await,
                Some(due) => {
                    let wait = Duration::try_from(due.duration_since(clock::now())).unwrap_or(Duration::ZERO);
                    tokio::select! {
                        () = wake => {}
                        () = tokio::time::sleep(wait) => self.elapsed(clock::now()),
                    }
                }
            }
        }
    }

    /// Tells whether a text waits for this call to be about to run.
    pub fn waits_before(&self, tool: &str, arguments: &Arguments) -> bool {
        self.lock().waits_before(tool, arguments)
    }

    /// Takes what is to be delivered before this call runs: the texts that waited for it, and what is to go now; nothing
    /// once `cancellable` is set. What is returned must be delivered, and the call must give way to it. For the agent.
    pub fn take_before(&self, tool: &str, arguments: &Arguments, cancellable: Option<&Cancellable>) -> Vec<Pending> {
        self.take_with(|queue| match cancellable {
            Some(cancellable) if cancellable.is_cancelled() => TakenTexts::default(),
            Some(_) | None => queue.take_before(tool, arguments, clock::now(), &mut || self.new_id()),
        })
    }
}
