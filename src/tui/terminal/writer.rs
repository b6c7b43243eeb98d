//! The one writer to an output: a thread that writes whole frames, so that nothing else ever waits for a terminal or a
//! pipe that is not read.
//!
//! `Terminal` gives it a frame only when the one before is written; so the newest frame wins and none pile up. `exec`
//! gives it pieces, and lets the agent wait while too many are on their way.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Called on the writer's thread after each frame, with the bytes of it.
pub type Written = Arc<dyn Fn(io::Result<usize>) + Send + Sync>;

/// Gives bytes to the writer's thread.
#[derive(Debug)]
pub struct Writer {
    jobs: Sender<Job>,
    done: Receiver<()>,
}

enum Job {
    Frame(Vec<u8>),
    Call(Box<dyn FnOnce() + Send>),
    Last(Vec<u8>),
}

impl Writer {
    /// Starts the thread on a terminal.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(terminal: OwnedFd, written: Written) -> io::Result<Self> {
        let (jobs, queue) = channel();
        let (finished, done) = channel();
        let mut file = File::from(terminal);
        thread::Builder::new().name("writer".to_owned()).spawn(move || {
            for job in queue {
                match job {
                    Job::Frame(bytes) => written(write_all(&mut file, &bytes).map(|()| bytes.len())),
                    Job::Call(call) => call(),
                    Job::Last(bytes) => {
                        // A terminal that is gone needs no farewell.
                        let _ = write_all(&mut file, &bytes);
                        let _ = finished.send(());
                    }
                }
            }
        })?;
        Ok(Self { jobs, done })
    }

    /// Hands over a frame; [`Written`] tells when the terminal has taken it.
    pub fn frame(&self, bytes: Vec<u8>) {
        // The thread lives as long as this value: it ends when the channel closes.
        let _ = self.jobs.send(Job::Frame(bytes));
    }

    /// Calls this on the thread, behind every frame that was handed over before.
    pub fn call(&self, call: impl FnOnce() + Send + 'static) {
        let _ = self.jobs.send(Job::Call(Box::new(call)));
    }

    /// Writes the last bytes, and waits for the terminal to take them, but not longer than `patience`.
    pub fn finish(&self, bytes: Vec<u8>, patience: Duration) {
        if self.jobs.send(Job::Last(bytes)).is_ok() {
            let _ = self.done.recv_timeout(patience);
        }
    }
}

/// Writes everything, also when a child left the terminal in non-blocking mode.
///
/// # Errors
/// When the terminal is gone.
pub fn write_all(file: &mut File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => bytes = bytes.get(n..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                wait_writable(file, None)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Waits until a terminal takes bytes; false when it did not within the time.
///
/// # Errors
/// When the terminal cannot be waited for.
pub fn wait_writable(file: &File, patience: Option<Duration>) -> io::Result<bool> {
    let timeout = patience.and_then(|patience| Timespec::try_from(patience).ok());
    let fd = file.as_fd();
    let mut fds = [PollFd::new(&fd, PollFlags::OUT)];
    match poll(&mut fds, timeout.as_ref()) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(true),
        Err(error) => Err(error.into()),
    }
}
