//! The interval between requests to one service, and the pause after it reported too many.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use steersman_base::sync::lock;

/// The pace of requests to one service.
#[derive(Debug, Default)]
pub(super) struct RequestPace(Mutex<PaceTimes>);

#[derive(Debug, Default)]
struct PaceTimes {
    next: Option<Instant>,
    rests_until: Option<Instant>,
}

impl RequestPace {
    /// Waits for the next turn. Dropping the wait gives up the turn, not the interval.
    ///
    /// # Errors
    /// A sentence while the service is paused.
    pub(super) async fn turn(&self, interval: Duration) -> Result<(), String> {
        let turn = {
            let mut times = lock(&self.0);
            let now = Instant::now();
            if let Some(end) = times.rests_until.filter(|end| *end > now) {
                let left = (end - now).as_secs() + 1;
                return Err(format!("got too many requests and is not asked for another {left} s"));
            }
            let turn = times.next.map_or(now, |next| next.max(now));
            times.next = Some(turn + interval);
            turn
        };
        sleep_until(turn).await;
        Ok(())
    }

    /// Pauses requests to the service.
    pub(super) fn rest(&self, time: Duration) {
        lock(&self.0).rests_until = Some(Instant::now() + time);
    }
}
