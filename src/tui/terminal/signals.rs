//! The signals of the program, taken by a thread of their own: no runtime has to turn for them.
//!
//! Whoever runs the program awaits them here. A signal that should end the program and is not even taken within
//! [`steersman_base::limits::EXIT_GRACE`] ends it all the same, with the terminal restored. Left as they are: the faults of the program
//! itself (SIGSEGV and the like), which end it where they happen, what only the kernel decides, and a SIGHUP that is ignored.

use std::sync::Arc;
use std::{io, thread};

use rustix::process::Signal;
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::{Origin, WithOrigin};
use signal_hook::low_level::siginfo::Cause;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::watchdog;
use crate::handover::Handover;

/// The exit code after SIGINT.
pub const INTERRUPTED: u8 = 130;

/// The named signals that end a program which does not handle them.
const ENDS: [Signal; 14] = [
    Signal::HUP,
    Signal::INT,
    Signal::QUIT,
    Signal::TERM,
    Signal::TRAP,
    Signal::ABORT,
    Signal::SYS,
    Signal::USR1,
    Signal::USR2,
    Signal::ALARM,
    Signal::VTALARM,
    Signal::PROF,
    Signal::XCPU,
    Signal::IO,
];

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalAction {
    /// To end, with this exit code.
    End(u8),
    /// To end, with this exit code, by a key: Ctrl+C or Ctrl+\ while the terminal makes signals of them.
    EndByKey(u8),
    /// To look at the size again.
    Measure,
    /// To stop, until somebody lets the program go on.
    Stop,
    /// To take the terminal again after a stop.
    Resume,
}

/// Waits for signals. From its making on they no longer kill the process.
#[derive(Debug)]
pub struct Signals {
    asked: UnboundedReceiver<SignalAction>,
    handover: Arc<Handover>,
}

impl Signals {
    /// Takes the signals over.
    ///
    /// # Errors
    /// What the system says when it refuses a handler or a thread.
    pub fn new() -> io::Result<Self> {
        // A file that may not grow is an error where it is written, and no reason to end.
        let others = [Signal::XFSZ, Signal::WINCH, Signal::TSTP, Signal::CONT].map(Signal::as_raw);
        // Whoever started the program with `nohup` wants it to go on.
        let is_kept = |signal: &i32| *signal != Signal::HUP.as_raw() || !is_ignored(Signal::HUP);
        let ends = ENDS.map(Signal::as_raw).into_iter().chain(more_ends()).filter(is_kept);
        let mut source = SignalsInfo::<WithOrigin>::new(ends.chain(others))?;
        let (sender, asked) = unbounded_channel();
        let handover = Arc::new(Handover::default());
        let given = Arc::clone(&handover);
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for asked in source.forever().filter_map(|origin| meaning(&origin)) {
                let number = given.give();
                let has_listener = sender.send(asked).is_ok();
                match asked {
                    SignalAction::End(code) | SignalAction::EndByKey(code) if has_listener => {
                        given.insist(number, move || watchdog::end_now(code));
                    }
                    // The end is under way, and too slow for the user.
                    SignalAction::End(code) | SignalAction::EndByKey(code) => watchdog::end_now(code),
                    SignalAction::Measure | SignalAction::Stop | SignalAction::Resume => {}
                }
            }
        })?;
        Ok(Self { asked, handover })
    }

    /// Waits for the first of them.
    pub async fn next(&mut self) -> SignalAction {
        match self.asked.recv().await {
            Some(asked) => {
                self.handover.count_taken();
                asked
            }
            // The thread ends with the process.
            None => std::future::pending().await,
        }
    }

    /// Waits for a signal that ends the program; returns the exit code.
    pub async fn end(&mut self) -> u8 {
        loop {
            match self.next().await {
                SignalAction::End(code) | SignalAction::EndByKey(code) => return code,
                // There is no terminal to give back.
                SignalAction::Stop => {
                    let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::STOP);
                }
                SignalAction::Measure | SignalAction::Resume => {}
            }
        }
    }

    /// Waits until the program goes on after a stop.
    pub async fn resumed(&mut self) {
        while self.next().await != SignalAction::Resume {}
    }
}

fn meaning(origin: &Origin) -> Option<SignalAction> {
    let signal = origin.signal;
    let is = |named: Signal| signal == named.as_raw();
    let code = u8::try_from(signal).unwrap_or_default().saturating_add(128);
    match signal {
        _ if is(Signal::XFSZ) => None,
        _ if is(Signal::WINCH) => Some(SignalAction::Measure),
        _ if is(Signal::TSTP) => Some(SignalAction::Stop),
        _ if is(Signal::CONT) => Some(SignalAction::Resume),
        // Not sent by a process.
        _ if (is(Signal::INT) || is(Signal::QUIT)) && !matches!(origin.cause, Cause::Sent(_)) => {
            Some(SignalAction::EndByKey(code))
        }
        _ => Some(SignalAction::End(code)),
    }
}

/// Makes the system keep the ends of children until somebody asks for them. Whoever started the program may have left SIGCHLD
/// ignored, and then it keeps none: every wait for a child would be in vain.
pub fn keep_ends_of_children() {
    if is_ignored(Signal::CHILD) {
        // Any handler takes the place of the ignoring. Without one, commands cannot be waited for, and all else works.
        let _ = signal_hook::flag::register(Signal::CHILD.as_raw(), Arc::default());
    }
}

/// Returns whether a signal was ignored when the program was started, as far as the system tells.
fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    u32::try_from(signal.as_raw() - 1).is_ok_and(|bit| mask.checked_shr(bit).is_some_and(|mask| mask & 1 == 1))
}

/// Returns the signals of this system that have no name everywhere.
fn more_ends() -> Vec<i32> {
    #[cfg(target_os = "linux")]
    {
        // The C library keeps the first real-time signals for its threads: glibc two, musl three, for which it refuses a
        // handler.
        let real_time = libc::SIGRTMIN()..=libc::SIGRTMAX();
        [Signal::POWER, Signal::STKFLT].map(Signal::as_raw).into_iter().chain(real_time).collect()
    }
    #[cfg(not(target_os = "linux"))]
    {
        Vec::new()
    }
}
