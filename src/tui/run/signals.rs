//! What wakes the loop besides input: the signals that end the program or concern the terminal, and the bell that other
//! threads ring.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

use crate::host::Handle;
use crate::tui::terminal::watchdog;

/// The exit code after SIGINT.
pub(super) const INTERRUPTED: u8 = 130;
/// The exit code after SIGQUIT.
pub(super) const QUIT: u8 = 131;

/// Is rung from other threads; however often, one wake-up answers all.
#[derive(Default)]
pub(super) struct Bell {
    pub notify: Notify,
    pub mail: AtomicBool,
    pub queue: AtomicBool,
    pub approvals: AtomicBool,
    pub written: AtomicBool,
    pub lost: AtomicBool,
}

impl Bell {
    pub fn ring(&self, what: &AtomicBool) {
        what.store(true, Ordering::SeqCst);
        self.notify.notify_one();
    }

    /// Rings at mail, at changes of a queue, and at changes of what waits for leave.
    pub fn listen(self: &Arc<Self>, handle: &Handle) {
        let bell = Arc::clone(self);
        handle.mailbox().on_wake(Arc::new(move || bell.ring(&bell.mail)));
        let bell = Arc::clone(self);
        handle.watch(move || bell.ring(&bell.queue));
        let bell = Arc::clone(self);
        handle.approvals().watch(Arc::new(move || bell.ring(&bell.approvals)));
    }
}

/// Is what a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// To end, with this exit code.
    End(u8),
    /// To look at the size again.
    Measure,
    /// To take the terminal again after a stop.
    Resume,
}

pub(super) struct Signals {
    ends: [(Signal, u8); 4],
    resized: Signal,
    resumed: Signal,
}

impl Signals {
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            ends: [
                (signal(SignalKind::terminate())?, 143),
                (signal(SignalKind::hangup())?, watchdog::HANG_UP),
                (signal(SignalKind::interrupt())?, INTERRUPTED),
                (signal(SignalKind::quit())?, QUIT),
            ],
            resized: signal(SignalKind::window_change())?,
            resumed: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
        })
    }

    /// Waits for the first of them.
    pub async fn next(&mut self) -> Asked {
        let [one, two, three, four] = &mut self.ends;
        tokio::select! {
            biased;
            _ = one.0.recv() => Asked::End(one.1),
            _ = two.0.recv() => Asked::End(two.1),
            _ = three.0.recv() => Asked::End(three.1),
            _ = four.0.recv() => Asked::End(four.1),
            _ = self.resumed.recv() => Asked::Resume,
            _ = self.resized.recv() => Asked::Measure,
        }
    }

    /// Waits until the program goes on after a stop.
    pub async fn resumed(&mut self) {
        let _ = self.resumed.recv().await;
    }
}
