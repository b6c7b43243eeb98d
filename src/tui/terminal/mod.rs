//! The terminal: its modes, its painter and its one writer.
//!
//! `run` opens it, draws on it, lends it to others and closes it. Whatever ends the program, the terminal gets its modes back; a panic of
//! the UI thread restores it before the message is printed, a panic elsewhere is logged and the screen goes on.
//!
//! # Where things are
//!
//! - what a terminal gets at the start and at the end: `modes.rs`; tests: `tests/pty/terminal.rs`, `tests/pty/multiplexers.rs`
//! - few bytes to the terminal: `paint.rs`, `writer.rs`; tests: `paint.rs`, `tests/bench/screen.rs`
//! - the sequences by which a terminal tells its user something, and its title: `alert.rs`; tests: `alerts.rs`
//! - pictures, and when they are sent: `pictures.rs`; tests: `picture_cells.rs`, `picture_lives.rs`, `tests/pty/pictures.rs`
//! - leaving, restoring the terminal, signals, what ends a program that does not answer: `mod.rs`, `signals.rs`,
//!   `watchdog.rs`; tests: `tests/pty/leaving.rs`

pub mod alert;
mod modes;
pub mod paint;
mod pictures;
pub mod signals;
pub mod watchdog;
pub mod writer;

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{io, panic, thread};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use ratatui::Frame;
use ratatui::layout::{Position, Rect, Size};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

use crate::pictures::protocol::forget_kitty;
use crate::pictures::{NewPicture, PictureProtocol};
use alert::{KEEP_TITLE, RESTORE_TITLE, Titled};
pub use modes::{MouseMode, TerminalKind};
use paint::Painter;
use steersman_base::limits;
pub use steersman_base::sync::{Mutex, lock};
use writer::{Writer, Written};

/// Pastes come as if they were typed.
pub const PLAIN_PASTES: &[u8] = b"\x1b[?2004l";
/// Asks for the colour of the background; a terminal that does not know the question passes over it.
pub const ASK_BACKGROUND: &[u8] = b"\x1b]11;?\x1b\\";
/// Erases the screen, also out of the middle of a picture.
const END_SIXELS: &[u8] = b"\x1b\\\x1b[0m\x1b[2J";
/// Longest wait for a terminal that does not read, when leaving.
const FAREWELL: Duration = Duration::from_millis(300);

/// True while the modes are set; whoever clears it restores them.
static RAISED: AtomicBool = AtomicBool::new(false);
/// The terminal whose modes they are.
static KIND: Mutex<TerminalKind> = Mutex::new(TerminalKind::Emulator);
/// True while the line output reads keys and marked pastes; whoever clears it restores the modes.
static LINE_MODES: AtomicBool = AtomicBool::new(false);
/// True while the title is the program's; whoever clears it puts the old one back.
static TITLED: AtomicBool = AtomicBool::new(false);
/// True once the terminal was given pictures that it keeps: they are taken away with the modes.
static PICTURED: AtomicBool = AtomicBool::new(false);
/// True once pictures were drawn over the cells of the terminal: they are erased with them at the end.
static DRAWN_OVER: AtomicBool = AtomicBool::new(false);

/// Owns the screen of the terminal until it is closed or dropped.
#[derive(Debug)]
pub struct Terminal {
    inner: ratatui::Terminal<Painter>,
    writer: Writer,
    writing: bool,
    /// Goes out in front of the next frame.
    prelude: Vec<u8>,
    /// Goes out as soon as the terminal takes something.
    queued: Vec<u8>,
    kind: TerminalKind,
    mouse: MouseMode,
    titled: Titled,
    /// The title that the terminal has; none yet, or it is somebody else's.
    title: Option<String>,
    /// The modes that the terminal had.
    cooked: Termios,
    lent: bool,
}

impl Terminal {
    /// Sets the modes and starts the writer. `written` is called on the writer's thread after each frame.
    ///
    /// # Errors
    /// When standard output is no terminal, or its modes cannot be set.
    pub fn open(written: Written, kind: TerminalKind, mouse: MouseMode, titled: Titled) -> io::Result<Self> {
        let painter = Painter::new(bounded(measure()?));
        let cooked = tcgetattr(io::stdin())?;
        let writer = Writer::start(device()?, written)?;
        restore_on_panic();
        enable_raw_mode()?;
        *lock(&KIND) = kind;
        RAISED.store(true, Ordering::SeqCst);
        let inner = ratatui::Terminal::new(painter)?;
        Ok(Self {
            inner,
            writer,
            writing: false,
            prelude: kind.enter(mouse),
            queued: Vec::new(),
            kind,
            mouse,
            titled,
            title: None,
            cooked,
            lent: false,
        })
    }

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
        self.resize(measure()?);
        self.forget();
        if self.prelude.is_empty() {
            self.prelude = self.kind.enter_again(self.mouse);
        }
        Ok(())
    }

    /// Gives the terminal to another program, with the modes that it had; until [`Terminal::take_back`] nothing is written.
    pub fn lend(&mut self) {
        self.close();
        self.lent = true;
    }

    /// Takes the terminal from the other program and measures it; the next frame writes everything again.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn take_back(&mut self) -> io::Result<()> {
        // What a program left that did not end well is not what the next one is to find.
        tcsetattr(io::stdin(), OptionalActions::Now, &self.cooked)?;
        enable_raw_mode()?;
        RAISED.store(true, Ordering::SeqCst);
        self.lent = false;
        self.prelude = self.kind.enter(self.mouse);
        self.resize(measure()?);
        self.forget();
        Ok(())
    }

    /// Tells whether another program has the terminal.
    pub fn is_lent(&self) -> bool {
        self.lent
    }

    /// Sets the title, if it is the program's and not so already.
    pub fn set_title(&mut self, words: &str) {
        let has_title = self.titled == Titled::Yes && self.kind.is_emulator();
        if !has_title || self.lent || self.title.as_deref() == Some(words) {
            return;
        }
        if !TITLED.swap(true, Ordering::SeqCst) {
            self.say(KEEP_TITLE);
        }
        self.title = Some(words.to_owned());
        self.say(&alert::title(words));
    }

    /// Asks for the mouse, or leaves it to the terminal.
    pub fn set_mouse(&mut self, mouse: MouseMode) {
        if self.mouse != mouse {
            self.mouse = mouse;
            // Before the first frame the prelude says it.
            if self.prelude.is_empty() {
                self.say(self.kind.mouse(mouse));
            } else {
                self.prelude.extend_from_slice(self.kind.mouse(mouse));
            }
        }
    }

    /// Writes a sequence that puts nothing on the screen, as soon as the terminal takes it. While the terminal is lent
    /// it is passed over: it would be for somebody else.
    pub fn say(&mut self, sequence: &[u8]) {
        if self.lent {
            return;
        }
        if self.writing {
            // A terminal that does not read does not get everything later.
            if self.queued.len() + sequence.len() <= limits::QUEUED_SEQUENCE_BYTES {
                self.queued.extend_from_slice(sequence);
            }
        } else {
            self.writing = true;
            self.writer.frame(sequence.to_vec());
        }
    }

    /// Keeps a picture for the frames that show it.
    pub fn keep_picture(&mut self, picture: &NewPicture) {
        match picture.protocol {
            PictureProtocol::Kitty => PICTURED.store(true, Ordering::SeqCst),
            PictureProtocol::Sixel => DRAWN_OVER.store(true, Ordering::SeqCst),
            PictureProtocol::Iterm2 => {}
        }
        self.inner.backend_mut().keep_picture(picture);
    }

    /// Makes the next frame write everything again.
    pub fn forget(&mut self) {
        self.inner.backend_mut().forget();
    }

    /// Tells whether the terminal still takes the frame before.
    pub fn is_writing(&self) -> bool {
        self.writing
    }

    /// Tells whether no frame may be drawn now: one is still being taken, or the terminal is lent.
    pub fn is_busy(&self) -> bool {
        self.writing || self.lent
    }

    /// Notes that the writer has written its frame.
    pub fn written(&mut self) {
        self.writing = false;
        if !self.queued.is_empty() {
            let queued = std::mem::take(&mut self.queued);
            self.say(&queued);
        }
    }

    /// Draws a frame and hands it to the writer. `scrolling` is the area whose text moves up as it grows; what `render`
    /// returns is an area of which nothing may stay that was there before.
    ///
    /// # Errors
    /// Never in practice: the painter writes to memory.
    pub fn draw(&mut self, scrolling: Rect, render: impl FnOnce(&mut Frame<'_>) -> Rect) -> io::Result<()> {
        self.inner.backend_mut().set_scrolling(scrolling);
        let mut rewritten = Rect::ZERO;
        self.inner.draw(|frame| rewritten = render(frame))?;
        self.inner.backend_mut().rewrite(rewritten);
        let frame = self.inner.backend_mut().take_bytes();
        if !frame.is_empty() {
            self.writing = true;
            self.writer.frame([std::mem::take(&mut self.prelude), frame].concat());
        }
        Ok(())
    }

    /// Gives the terminal its modes back; waits a moment for it to take them.
    pub fn close(&mut self) {
        if RAISED.swap(false, Ordering::SeqCst) {
            self.title = None;
            self.writer.finish(farewell(), FAREWELL);
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

/// Returns the terminal that keys are read from.
///
/// # Errors
/// When standard input is closed.
pub fn keyboard() -> io::Result<OwnedFd> {
    io::stdin().as_fd().try_clone_to_owned()
}

/// Returns the size of the terminal; a usual one where the terminal knows none, as a serial line does.
///
/// # Errors
/// When there is no terminal.
pub fn measure() -> io::Result<Size> {
    let size = tcgetwinsize(io::stdout())?;
    let or = |measured: u16, usual: u16| if measured == 0 { usual } else { measured };
    Ok(Size { width: or(size.ws_col, 80), height: or(size.ws_row, 24) })
}

/// Returns the width and the height of a cell, pixels, where the terminal says them.
pub fn cell_pixels() -> Option<(u16, u16)> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    let side = |pixels: u16, cells: u16| pixels.checked_div(cells).filter(|side| *side > 0);
    side(size.ws_xpixel, size.ws_col).zip(side(size.ws_ypixel, size.ws_row))
}

/// Returns what gives the terminal its modes and its title back, and takes the pictures away.
fn farewell() -> Vec<u8> {
    // They may be sent again when the terminal is taken back: then they are taken away again.
    let pictures = if PICTURED.load(Ordering::SeqCst) { forget_kitty() } else { Vec::new() };
    let drawn_over: &[u8] = if DRAWN_OVER.load(Ordering::SeqCst) { END_SIXELS } else { b"" };
    let title = if TITLED.swap(false, Ordering::SeqCst) { RESTORE_TITLE } else { b"" };
    let kind = *lock(&KIND);
    [&pictures, drawn_over, kind.leave(), title].concat()
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

/// Notes whether the line output has set its modes.
pub fn set_line_modes(are_set: bool) {
    LINE_MODES.store(are_set, Ordering::SeqCst);
}

/// Restores without the writer: for the panic hook, and for an end that waits for nobody.
fn restore_now() {
    let words = if RAISED.swap(false, Ordering::SeqCst) {
        farewell()
    } else if LINE_MODES.swap(false, Ordering::SeqCst) {
        PLAIN_PASTES.to_vec()
    } else {
        return;
    };
    if let Ok(mut file) = device().map(File::from)
        && writer::wait_writable(&file, Some(FAREWELL)).unwrap_or(false)
    {
        let _ = writer::write_all(&mut file, &words);
    }
    let _ = disable_raw_mode();
}
