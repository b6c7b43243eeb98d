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

use crate::terminal::{self, PLAIN_PASTES, writer::Writer, writer::Written};
use steersman_base::limits;

/// Pastes come with a mark before and behind them.
const MARKED_PASTES: &str = "\u{1b}[?2004h";
/// Columns where nobody says how many there are.
const COLUMNS: u16 = 80;

/// How the input is read, and so what may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputKind {
    /// Key by key, from a terminal that leaves the line to the program.
    Keys,
    Lines,
}

/// Writes lines.
pub(super) struct Output {
    kind: OutputKind,
    writer: Writer,
    columns: u16,
    text: String,
    sent: usize,
    done: Arc<AtomicUsize>,
}

impl Output {
    /// Starts the writer, and sets the modes of the terminal. `written` is called on the writer's thread.
    ///
    /// # Errors
    /// When standard output is closed, or the modes cannot be set.
    pub(super) fn open(written: Written) -> io::Result<Self> {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        let kind = if is_terminal && !is_dumb { OutputKind::Keys } else { OutputKind::Lines };
        let columns = crossterm::terminal::size().map_or(COLUMNS, |(columns, _)| columns);
        let mut output = Self::on(terminal::device()?, kind, columns, written)?;
        if kind == OutputKind::Keys {
            output.take_back()?;
        }
        Ok(output)
    }

    /// Starts the writer and leaves the modes alone.
    fn on(device: OwnedFd, kind: OutputKind, columns: u16, written: Written) -> io::Result<Self> {
        let done = Arc::new(AtomicUsize::new(0));
        let counted: Written = {
            let done = Arc::clone(&done);
            Arc::new(move |outcome| {
                done.fetch_add(1, Ordering::SeqCst);
                written(outcome);
            })
        };
        let writer = Writer::start(device, counted)?;
        Ok(Self { kind, writer, columns, text: String::new(), sent: 0, done })
    }

    /// Returns how the input is read.
    pub(super) fn kind(&self) -> OutputKind {
        self.kind
    }

    /// Tells whether the input is a terminal, which sends an interrupt for Ctrl+C.
    pub(super) fn is_terminal() -> bool {
        io::stdin().is_terminal()
    }

    /// Returns the terminal, for whoever watches it.
    ///
    /// # Errors
    /// When standard output is closed.
    pub(super) fn device() -> io::Result<Option<OwnedFd>> {
        if io::stdout().is_terminal() { terminal::device().map(Some) } else { Ok(None) }
    }

    /// Returns the columns of a row.
    pub(super) fn columns(&self) -> u16 {
        self.columns
    }

    /// Takes over another width.
    pub(super) fn resize(&mut self, columns: u16) {
        self.columns = columns;
    }

    pub(super) fn write(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push_str(if self.kind == OutputKind::Keys { "\r\n" } else { "\n" });
    }

    /// Hands over what was added.
    pub(super) fn flush(&mut self) {
        if !self.text.is_empty() {
            self.sent += 1;
            self.writer.frame(std::mem::take(&mut self.text).into_bytes());
        }
    }

    /// Returns the number of the frame that was handed over last.
    pub(super) fn handed_over(&self) -> usize {
        self.sent
    }

    /// Tells whether the terminal has taken everything up to this frame.
    pub(super) fn has_written(&self, frame: usize) -> bool {
        self.done.load(Ordering::SeqCst) >= frame
    }

    /// Sets the modes again, after the program was stopped and goes on.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(super) fn reclaim(&mut self) -> io::Result<()> {
        if self.kind == OutputKind::Keys {
            // Modes that are set already would not be set again.
            disable_raw_mode()?;
            enable_raw_mode()?;
            self.write(MARKED_PASTES);
        }
        Ok(())
    }

    /// Gives the terminal to another program, with the modes that it had; waits a moment for the last lines to be written.
    pub(super) fn lend(&mut self) {
        self.flush();
        terminal::set_line_modes(false);
        self.writer.finish(PLAIN_PASTES.to_vec(), limits::LINE_FAREWELL);
        // A terminal that is gone has no modes.
        let _ = disable_raw_mode();
    }

    /// Sets the modes of the terminal, as at the start and after another program had it.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(super) fn take_back(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        terminal::set_line_modes(true);
        self.write(MARKED_PASTES);
        Ok(())
    }

    /// Gives the terminal its modes back; waits a moment for the last lines to be written.
    pub(super) fn close(&mut self) {
        match self.kind {
            OutputKind::Keys => {
                self.lend();
                self.kind = OutputKind::Lines;
            }
            OutputKind::Lines => {
                self.flush();
                self.writer.finish(Vec::new(), limits::LINE_FAREWELL);
            }
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if self.kind == OutputKind::Keys {
            restore();
        }
    }
}

/// Gives the terminal its modes back without the writer.
fn restore() {
    terminal::set_line_modes(false);
    if let Ok(device) = terminal::device() {
        // A terminal that is gone has no modes.
        let _ = terminal::writer::write_all(&mut File::from(device), PLAIN_PASTES);
    }
    let _ = disable_raw_mode();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{PipeReader, Read as _};
    use std::sync::mpsc::channel;

    #[test]
    fn a_question_is_written_although_the_terminal_has_not_taken_what_came_after_it() {
        let (mut reader, writer): (PipeReader, _) = io::pipe().unwrap();
        let (sender, receiver) = channel();
        let mut output =
            Output::on(writer.into(), OutputKind::Lines, COLUMNS, Arc::new(move |_| sender.send(()).unwrap())).unwrap();
        output.line("the question");
        output.flush();
        let question = output.handed_over();
        receiver.recv().unwrap();
        // More than a pipe holds: it is written once somebody reads.
        let long = "more ".repeat(100_000);
        output.line(&long);
        output.flush();
        let rest = output.handed_over();
        assert!(output.has_written(question) && !output.has_written(rest));
        let mut read = vec![0; "the question\n".len() + long.len() + 1];
        reader.read_exact(&mut read).unwrap();
        receiver.recv().unwrap();
        assert!(output.has_written(rest));
    }
}
