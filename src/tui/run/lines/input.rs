//! What the line output reads: keys of a terminal, or whole lines.
//!
//! Whole lines are read by a thread of their own that blocks; it ends with its input or with the process.

use std::io::{self, BufRead as _, Read as _};
use std::thread;

use jiff::Timestamp;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::output::OutputKind;
use crate::input::{Input, Reader, TerminalLink};
use crate::terminal::{self, watchdog};
use steersman_base::clock;
use steersman_base::limits;

/// Lines that wait; no more is read meanwhile.
const WAITING: usize = 8;

/// One thing that was read.
#[derive(Debug)]
pub(crate) enum LineInput {
    /// A terminal sent this.
    Input(Input),
    /// A whole line, without its end; read at this moment.
    Line(String, Timestamp),
    End,
}

/// Gives what was read, in order.
pub(super) enum LineReader {
    Keys(Reader),
    Lines(Receiver<LineInput>),
    /// Nothing comes any more.
    Over,
}

impl LineReader {
    /// Starts to read.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(super) fn start(kind: OutputKind, link: TerminalLink) -> io::Result<Self> {
        Ok(match kind {
            OutputKind::Keys => Self::Keys(Reader::start(terminal::keyboard()?, link, watchdog::end_interrupted)?),
            OutputKind::Lines => {
                let (sender, receiver) = channel(WAITING);
                thread::Builder::new().name("lines".to_owned()).spawn(move || read_lines(&sender))?;
                Self::Lines(receiver)
            }
        })
    }

    /// Lets go of the terminal: somebody else reads it.
    pub(super) fn pause(&mut self) {
        if let Self::Keys(reader) = self {
            reader.pause();
        }
    }

    /// Reads the terminal again.
    pub(super) fn go_on(&mut self) {
        if let Self::Keys(reader) = self {
            reader.go_on();
        }
    }

    /// Waits for what comes next, and returns everything that is there.
    pub(super) async fn next(&mut self) -> Vec<LineInput> {
        match self {
            Self::Keys(reader) => {
                let mut batch = reader.recv().await;
                batch.extend(std::iter::from_fn(|| reader.try_recv()).flatten());
                batch.into_iter().map(LineInput::Input).collect()
            }
            Self::Lines(lines) => {
                let input = lines.recv().await.unwrap_or(LineInput::End);
                if matches!(input, LineInput::End) {
                    *self = Self::Over;
                }
                vec![input]
            }
            Self::Over => std::future::pending().await,
        }
    }
}

fn read_lines(sender: &Sender<LineInput>) {
    let mut input = io::stdin().lock();
    loop {
        let mut line = Vec::new();
        // More than a message may hold is refused anyway.
        let most = 2 * limits::MESSAGE_BYTES as u64;
        let count = input.by_ref().take(most).read_until(b'\n', &mut line);
        match count {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        }
        if line.last() != Some(&b'\n') && input.skip_until(b'\n').is_err() {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        if sender.blocking_send(LineInput::Line(text.to_owned(), clock::now())).is_err() {
            return;
        }
    }
    // A loop that is gone needs no end.
    let _ = sender.blocking_send(LineInput::End);
}
