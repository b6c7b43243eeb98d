//! Makes sure that the program ends when it is to, whatever the rest of it does: when the terminal is gone, when nobody
//! takes what asks for the end, when the orderly end takes too long. Nothing here needs a runtime or a lock of others.
//!
//! A thread sleeps in `poll` for the hang-up alone; it costs nothing while the terminal lives. The jobs end with the
//! process: their guards notice.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;
use std::{io, process, thread};

use rustix::event::{PollFd, PollFlags, poll};

use super::signals::INTERRUPTED;
use steersman_base::limits;

/// The exit code of a program whose terminal is gone: 128 + SIGHUP.
pub const HANG_UP: u8 = 129;

/// Watches a terminal; calls `gone` once when it hangs up.
///
/// # Errors
/// When no thread can be started.
pub fn watch(terminal: OwnedFd, gone: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name("watchdog".to_owned()).spawn(move || {
        wait_for_hang_up(&terminal);
        gone();
        thread::sleep(limits::EXIT_GRACE);
        end_now(HANG_UP);
    })?;
    Ok(())
}

/// Gives the terminal its modes back and ends the process.
pub fn end_now(code: u8) -> ! {
    super::restore_now();
    process::exit(code.into())
}

/// Ends the process with this code after `grace`, whatever else it is doing; for exits that must not hang.
pub fn end_within(grace: Duration, code: u8) {
    // Without a thread the orderly end is all there is.
    let _ = thread::Builder::new().name("last-exit".to_owned()).spawn(move || {
        thread::sleep(grace);
        end_now(code);
    });
}

/// Ends the process for a user who does not want to wait any more.
pub fn end_interrupted() {
    end_now(INTERRUPTED);
}

/// Blocks until nobody is at the other end any more: a terminal that hung up, a pipe that no one reads.
pub fn wait_for_hang_up(terminal: &OwnedFd) {
    let fd = terminal.as_fd();
    loop {
        // Nothing is asked for: hang-up and error are always reported.
        let mut fds = [PollFd::new(&fd, PollFlags::empty())];
        match poll(&mut fds, None) {
            Ok(_) => {
                let [fd] = &fds;
                if fd.revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
                    return;
                }
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}
