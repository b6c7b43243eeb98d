//! The distance between two requests to one service, and its rest after a complaint.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// Gives requests to one service their turns.
#[derive(Debug, Default)]
pub(super) struct Pace(Mutex<Times>);

#[derive(Debug, Default)]
struct Times {
    next: Option<Instant>,
    rests_until: Option<Instant>,
}

impl Pace {
    /// Waits for the next turn. Dropping the wait gives the turn up, not the distance.
    ///
    /// # Errors
    /// A sentence when the service rests.
    pub(super) async fn turn(&self, distance: Duration) -> Result<(), String> {
        let turn = {
            let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let now = Instant::now();
            if let Some(end) = times.rests_until.filter(|end| *end > now) {
                let left = (end - now).as_secs() + 1;
                return Err(format!("was asked too often and is left alone for another {left} s"));
            }
            let turn = times.next.map_or(now, |next| next.max(now));
            times.next = Some(turn + distance);
            turn
        };
        sleep_until(turn).await;
        Ok(())
    }

    /// Leaves the service alone for a while.
    pub(super) fn rest(&self, time: Duration) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).rests_until = Some(Instant::now() + time);
    }
}
