//! What the line output writes on: a terminal or a pipe, by a thread of its own, forward only.
//!
//! On a terminal whose keys are read one by one it sets two modes and gives them back: keys come without echo, and
//! pastes come marked as such. The marks are asked for by the only escape sequences that it ever writes.

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

use crate::limits;
use crate::tui::terminal::{self, writer::Writer, writer::Written};

/// Pastes come with a mark before and behind them.
const MARKED_PASTES: &str = "\u{1b}[?2004h";
/// They come as if they were typed.
const PLAIN_PASTES: &[u8] = b"\x1b[?2004l";
/// Columns where nobody says how many there are.
const COLUMNS: u16 = 80;

/// Says how the input is read, and so what may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Key by key, from a terminal that leaves the line to the program.
    Keys,
    /// Line by line.
    Lines,
}

/// Writes lines.
pub struct Paper {
    kind: Kind,
    writer: Writer,
    columns: u16,
    text: String,
    sent: usize,
    done: Arc<AtomicUsize>,
}

impl Paper {
    /// Starts the writer, and sets the modes of the terminal. `written` is called on the writer's thread.
    ///
    /// # Errors
    /// When standard output is closed, or the modes cannot be set.
    pub fn open(written: Written) -> io::Result<Self> {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        let kind = if is_terminal && !is_dumb { Kind::Keys } else { Kind::Lines };
        let done = Arc::new(AtomicUsize::new(0));
        let counted: Written = {
            let done = Arc::clone(&done);
            Arc::new(move |outcome| {
                done.fetch_add(1, Ordering::SeqCst);
                written(outcome);
            })
        };
        let writer = Writer::start(terminal::device()?, counted)?;
        let columns = crossterm::terminal::size().map_or(COLUMNS, |(columns, _)| columns);
        let mut paper = Self { kind, writer, columns, text: String::new(), sent: 0, done };
        if kind == Kind::Keys {
            enable_raw_mode()?;
            paper.write(MARKED_PASTES);
        }
        Ok(paper)
    }

    /// Returns how the input is read.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Tells whether the input is a terminal, which sends an interrupt for Ctrl+C.
    pub fn is_terminal() -> bool {
        io::stdin().is_terminal()
    }

    /// Returns the terminal, for whoever watches it.
    ///
    /// # Errors
    /// When standard output is closed.
    pub fn device() -> io::Result<Option<OwnedFd>> {
        if io::stdout().is_terminal() { terminal::device().map(Some) } else { Ok(None) }
    }

    /// Returns the columns of a row.
    pub fn columns(&self) -> u16 {
        self.columns
    }

    /// Takes over another width.
    pub fn resize(&mut self, columns: u16) {
        self.columns = columns;
    }

    /// Adds text as it is.
    pub fn write(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds a line.
    pub fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push_str(if self.kind == Kind::Keys { "\r\n" } else { "\n" });
    }

    /// Hands over what was added.
    pub fn flush(&mut self) {
        if !self.text.is_empty() {
            self.sent += 1;
            self.writer.frame(std::mem::take(&mut self.text).into_bytes());
        }
    }

    /// Tells whether everything that was handed over is written.
    pub fn has_written_all(&self) -> bool {
        self.done.load(Ordering::SeqCst) >= self.sent
    }

    /// Sets the modes again, after the program was stopped and goes on.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn reclaim(&mut self) -> io::Result<()> {
        if self.kind == Kind::Keys {
            // Modes that are set already would not be set again.
            disable_raw_mode()?;
            enable_raw_mode()?;
            self.write(MARKED_PASTES);
        }
        Ok(())
    }

    /// Gives the terminal to another program, with the modes that it had.
    pub fn lend(&mut self) {
        self.flush();
        self.writer.finish(PLAIN_PASTES.to_vec(), limits::LINE_FAREWELL);
        // A terminal that is gone has no modes.
        let _ = disable_raw_mode();
    }

    /// Takes the terminal back from the other program.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn take_back(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        self.write(MARKED_PASTES);
        Ok(())
    }

    /// Gives the terminal its modes back; waits a moment for the last lines to be written.
    pub fn close(&mut self) {
        self.flush();
        match self.kind {
            Kind::Keys => {
                self.writer.finish(PLAIN_PASTES.to_vec(), limits::LINE_FAREWELL);
                // A terminal that is gone has no modes.
                let _ = disable_raw_mode();
                self.kind = Kind::Lines;
            }
            Kind::Lines => self.writer.finish(Vec::new(), limits::LINE_FAREWELL),
        }
    }
}

impl Drop for Paper {
    fn drop(&mut self) {
        if self.kind == Kind::Keys {
            restore();
        }
    }
}

/// Gives the terminal its modes back without the writer.
fn restore() {
    if let Ok(device) = terminal::device() {
        // A terminal that is gone has no modes.
        let _ = terminal::writer::write_all(&mut File::from(device), PLAIN_PASTES);
    }
    let _ = disable_raw_mode();
}
