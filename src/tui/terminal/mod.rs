//! The terminal: its modes, its painter and its one writer.
//!
//! `run` opens it, draws on it and closes it. Whatever ends the program, the terminal gets its modes back; a panic of
//! the UI thread restores it before the message is printed, a panic elsewhere is logged and the screen goes on.

pub mod paint;
pub mod watchdog;
pub mod writer;

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use ratatui::Frame;
use ratatui::layout::{Position, Rect, Size};

use crate::limits;
use paint::Painter;
use writer::{Writer, Written};

/// Alternate screen, bracketed paste, and the kitty protocol's first level, which tells Shift+Enter from Enter.
/// None of it is asked about first: a terminal that does not know a sequence passes over it.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?2004h\x1b[>1u";
/// The same for a terminal that may have the modes still: one level of the keys' protocol, never two.
const ENTER_AGAIN: &[u8] = b"\x1b[<u\x1b[?1049h\x1b[?2004h\x1b[>1u";
/// The way back, also out of the middle of a frame.
const LEAVE: &[u8] = b"\x1b[?2026l\x1b[r\x1b[<u\x1b[?2004l\x1b[0m\x1b[?25h\x1b[?1049l";
/// Longest wait for a terminal that does not read, when leaving.
const FAREWELL: Duration = Duration::from_millis(300);

/// True while the modes are set; whoever clears it restores them.
static RAISED: AtomicBool = AtomicBool::new(false);

/// Owns the screen of the terminal until it is closed or dropped.
#[derive(Debug)]
pub struct Terminal {
    inner: ratatui::Terminal<Painter>,
    writer: Writer,
    writing: bool,
    /// Goes out in front of the first frame.
    prelude: &'static [u8],
}

impl Terminal {
    /// Sets the modes and starts the writer. `written` is called on the writer's thread after each frame.
    ///
    /// # Errors
    /// When standard output is no terminal, or its modes cannot be set.
    pub fn open(written: Written) -> io::Result<Self> {
        let (width, height) = crossterm::terminal::size()?;
        let painter = Painter::new(bounded(Size { width, height }));
        let writer = Writer::start(device()?, written)?;
        restore_on_panic();
        enable_raw_mode()?;
        RAISED.store(true, Ordering::SeqCst);
        Ok(Self { inner: ratatui::Terminal::new(painter)?, writer, writing: false, prelude: ENTER })
    }

    /// Returns the size that frames are drawn in.
    pub fn size(&self) -> Size {
        use ratatui::backend::Backend as _;
        self.inner.backend().size().unwrap_or_default()
    }

    /// Takes over a new size. Everything is written again, also when the size is the old one: of several changes only
    /// the last may be heard of, and the terminal has cut and moved what it showed at each of them.
    pub fn resize(&mut self, size: Size) {
        let size = bounded(size);
        self.inner.backend_mut().set_size(size);
        // Ratatui would hand over the changed cells alone when the size is the one that it drew last.
        if let Err(error) = self.inner.resize(Rect::from((Position::ORIGIN, size))) {
            tracing::error!(%error, "the frame kept its old size");
        }
    }

    /// Sets the modes again, and the size, after the program was stopped and goes on.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn reclaim(&mut self) -> io::Result<()> {
        // Modes that are set already would not be set again.
        disable_raw_mode()?;
        enable_raw_mode()?;
        let (width, height) = crossterm::terminal::size()?;
        self.resize(Size { width, height });
        self.forget();
        if self.prelude.is_empty() {
            self.prelude = ENTER_AGAIN;
        }
        Ok(())
    }

    /// Makes the next frame write everything again.
    pub fn forget(&mut self) {
        self.inner.backend_mut().forget();
    }

    /// Tells whether the terminal still takes the frame before; no frame may be drawn meanwhile.
    pub fn is_writing(&self) -> bool {
        self.writing
    }

    /// Notes that the writer has written its frame.
    pub fn written(&mut self) {
        self.writing = false;
    }

    /// Draws a frame and hands it to the writer. `scrolling` is the area whose text moves up as it grows.
    ///
    /// # Errors
    /// Never in practice: the painter writes to memory.
    pub fn draw(&mut self, scrolling: Rect, render: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.inner.backend_mut().set_scrolling(scrolling);
        self.inner.draw(render)?;
        let frame = self.inner.backend_mut().take();
        if !frame.is_empty() {
            self.writing = true;
            self.writer.frame([std::mem::take(&mut self.prelude), &frame].concat());
        }
        Ok(())
    }

    /// Gives the terminal its modes back; waits a moment for it to take them.
    pub fn close(&mut self) {
        if RAISED.swap(false, Ordering::SeqCst) {
            self.writer.finish(LEAVE.to_vec(), FAREWELL);
            // A terminal that is gone has no modes.
            let _ = disable_raw_mode();
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.close();
    }
}

/// Returns the terminal that the screen is written to.
///
/// # Errors
/// When standard output is closed.
pub fn device() -> io::Result<OwnedFd> {
    io::stdout().as_fd().try_clone_to_owned()
}

/// Keeps a size that no terminal has from costing memory.
fn bounded(size: Size) -> Size {
    Size { width: size.width.min(limits::SCREEN_COLUMNS), height: size.height.min(limits::SCREEN_ROWS) }
}

fn restore_on_panic() {
    let screen = thread::current().id();
    let previous = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if thread::current().id() == screen {
            restore_now();
            previous(info);
        } else if RAISED.load(Ordering::SeqCst) {
            tracing::error!("{info}");
        } else {
            previous(info);
        }
    }));
}

/// Restores without the writer, for the panic hook.
fn restore_now() {
    if !RAISED.swap(false, Ordering::SeqCst) {
        return;
    }
    if let Ok(mut file) = device().map(File::from)
        && writer::wait_writable(&file, Some(FAREWELL)).unwrap_or(false)
    {
        let _ = writer::write_all(&mut file, LEAVE);
    }
    let _ = disable_raw_mode();
}
