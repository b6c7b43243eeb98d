//! Standard output and standard error of `exec`, each written by a thread of its own, so that no caller waits for a
//! write.
//!
//! The bytes that wait to be written are counted. While there are too many the agent reads no further in a reply,
//! so that the backlog is bounded and nothing is lost; signals, cancels and questions still work. A failed write is
//! kept here: `exec` waits for it and stops the run.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use std::{mem, thread};

use rustix::fs::fstat;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::program::cli::exit::line;
use steersman_base::event::Envelope;
use steersman_base::limits;
use steersman_base::sync::lock;
use steersman_core::listener::Listener;
use steersman_core::sync::until;
use steersman_tui::terminal::watchdog::wait_for_hang_up;
use steersman_tui::terminal::writer::Writer;

/// The bytes that a pipe takes at once (`PIPE_BUF`), in whose steps progress is measured.
const PIECE: usize = 4096;

/// An output that never blocks and never fails; after a failed write it discards. Clones share the state.
#[derive(Clone)]
pub(super) struct Output {
    shared: Arc<SharedOutput>,
    before_end: EndCallback,
}

/// The function to call before the end of the next text.
type EndCallback = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

struct SharedOutput {
    writer: Mutex<Writer>,
    state: Arc<WriterState>,
}

#[derive(Default)]
struct WriterState {
    inner: Mutex<OutputState>,
    /// Notified after every piece and after a failure.
    progress: Notify,
}

#[derive(Default)]
struct OutputState {
    /// The bytes handed over and not written yet.
    waiting: usize,
    failure: Option<io::ErrorKind>,
    /// The tasks that wait until less is on its way.
    wakers: Vec<Waker>,
}

impl Output {
    /// Opens standard output and standard error; one output for both where they are the same file, so that the
    /// order stays.
    ///
    /// # Errors
    /// When one is closed, or no thread can be started.
    pub(super) fn both() -> io::Result<(Self, Self)> {
        let (out, err) = (io::stdout(), io::stderr());
        let first = Self::start(out.as_fd())?;
        first.watch(out.as_fd())?;
        let file = |fd: BorrowedFd<'_>| fstat(fd).map(|stat| (stat.st_dev, stat.st_ino));
        let is_one = matches!((file(out.as_fd()), file(err.as_fd())), (Ok(one), Ok(other)) if one == other);
        let second = if is_one { first.clone() } else { Self::start(err.as_fd())? };
        Ok((first, second))
    }

    /// Starts the thread of one output.
    ///
    /// # Errors
    /// When the descriptor is closed, or no thread can be started.
    pub(super) fn start(fd: BorrowedFd<'_>) -> io::Result<Self> {
        let state = Arc::new(WriterState::default());
        let writing = Arc::clone(&state);
        let written = Arc::new(move |result: io::Result<usize>| match result {
            Ok(bytes) => writing.wrote(bytes),
            Err(error) => writing.fail(error.kind()),
        });
        let writer = Mutex::new(Writer::start(fd.try_clone_to_owned()?, written)?);
        Ok(Self { shared: Arc::new(SharedOutput { writer, state }), before_end: EndCallback::default() })
    }

    /// Detects that the reader closes the pipe while nothing is written.
    fn watch(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        let fd = fd.try_clone_to_owned()?;
        let state = Arc::clone(&self.shared.state);
        thread::Builder::new().name("reader-watch".to_owned()).spawn(move || {
            wait_for_hang_up(&fd);
            state.fail(io::ErrorKind::BrokenPipe);
        })?;
        Ok(())
    }

    /// Writes one sentence with the program's name before it.
    pub(super) fn say(&self, sentence: &str) {
        self.hand_over(line(sentence).as_bytes());
    }

    /// Returns the same output with a [`Self::before_next_end`] of its own.
    pub(super) fn apart(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), before_end: EndCallback::default() }
    }

    /// Calls a function once everything before the last byte of the next text is written, and then writes that byte: a
    /// reader that waits for the end of the line cannot have read the line earlier.
    pub(super) fn before_next_end(&self, call: impl FnOnce() + Send + 'static) {
        *lock(&self.before_end) = Some(Box::new(call));
    }

    /// Waits until a write has failed.
    pub(super) async fn failed(&self) -> io::ErrorKind {
        self.until(|inner| inner.failure).await
    }

    pub(super) fn failure(&self) -> Option<io::ErrorKind> {
        lock(&self.shared.state.inner).failure
    }

    /// Waits until few bytes wait to be written.
    pub(super) async fn room(&self) {
        self.until(|inner| (inner.waiting < limits::OUTPUT_BACKLOG).then_some(())).await;
    }

    /// Waits until everything is written, or a write has failed; returns false when nothing was written within
    /// `patience`.
    pub(super) async fn drained(&self, patience: Duration) -> bool {
        loop {
            let before = lock(&self.shared.state.inner).waiting;
            if before == 0 {
                return true;
            }
            let moved = self.until(|inner| (inner.waiting != before).then_some(()));
            if timeout(patience, moved).await.is_err() {
                return false;
            }
        }
    }

    async fn until<T>(&self, found: impl Fn(&OutputState) -> Option<T>) -> T {
        let state = &self.shared.state;
        until(&state.progress, || found(&lock(&state.inner))).await
    }

    fn hand_over(&self, bytes: &[u8]) {
        // Locked while the pieces are handed over, so that two texts do not mix.
        let writer = lock(&self.shared.writer);
        {
            let mut inner = lock(&self.shared.state.inner);
            if inner.failure.is_some() {
                return;
            }
            inner.waiting += bytes.len();
        }
        let before_end = if bytes.is_empty() { None } else { lock(&self.before_end).take() };
        let (body, end) = match before_end {
            Some(call) => {
                let (body, end) = bytes.split_at(bytes.len().saturating_sub(1));
                (body, Some((call, end)))
            }
            None => (bytes, None),
        };
        for piece in body.chunks(PIECE) {
            writer.frame(piece.to_vec());
        }
        if let Some((call, end)) = end {
            writer.call(call);
            writer.frame(end.to_vec());
        }
    }
}

impl WriterState {
    fn wrote(&self, bytes: usize) {
        let mut inner = lock(&self.inner);
        inner.waiting = inner.waiting.saturating_sub(bytes);
        let freed = if inner.waiting < limits::OUTPUT_BACKLOG / 2 { mem::take(&mut inner.wakers) } else { Vec::new() };
        drop(inner);
        self.wake(freed);
    }

    fn fail(&self, kind: io::ErrorKind) {
        let mut inner = lock(&self.inner);
        inner.failure.get_or_insert(kind);
        inner.waiting = 0;
        let freed = mem::take(&mut inner.wakers);
        drop(inner);
        self.wake(freed);
    }

    fn wake(&self, wakers: Vec<Waker>) {
        self.progress.notify_waiters();
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.hand_over(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Makes the agent wait while too many bytes wait to be written.
impl Listener for Output {
    fn on_event(&self, _envelope: &Envelope) {}

    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut inner = lock(&self.shared.state.inner);
        if inner.failure.is_some() || inner.waiting < limits::OUTPUT_BACKLOG {
            return Poll::Ready(());
        }
        if !inner.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
            inner.wakers.push(context.waker().clone());
        }
        Poll::Pending
    }

    fn label(&self) -> String {
        "Output".to_owned()
    }
}
