//! The output of a command as the model gets it: whole, or its beginning and its end, with the rest in a file.
//!
//! Each line is what a terminal would show of it at its end (`terminal_text.rs`). It holds no more than what is shown, however
//! much comes.

use std::io;
use std::path::Path;

use crate::tool::outputs::{OutputFile, Outputs, SavedOutput};
use crate::tool::terminal_text::TerminalText;
use steersman_base::limits;

/// Longest stretch that is given up so that a cut falls between two lines, bytes.
const LINE_SLACK: usize = 2 * 1024;
/// Part of a whole text that is taken at once, bytes.
const PIECE: usize = 64 * 1024;
const HALF: usize = limits::COMMAND_BYTES / 2;

/// Takes an output piece by piece.
#[derive(Debug, Default)]
pub struct Capture {
    terminal: TerminalText,
    head: Vec<u8>,
    /// The newest bytes behind the head; up to twice as many as are shown.
    tail: Vec<u8>,
    total: u64,
    line_ends: u64,
    file: Saving,
}

#[derive(Debug, Default)]
enum Saving {
    #[default]
    NotYet,
    Nowhere,
    Open(OutputFile),
    Failed(io::Error),
}

/// The output of a command that has ended.
#[derive(Debug)]
pub struct Captured {
    /// What the model gets; empty when there was nothing.
    pub text: String,
    /// Bytes that came.
    pub total: u64,
    /// Lines that were printed.
    pub lines: u64,
    /// Lines of them that the model does not get.
    pub lines_left_out: u64,
    /// The file that holds more than is shown.
    pub saved: Option<String>,
}

impl Capture {
    /// Takes the next piece of what a command prints.
    pub async fn push(&mut self, piece: &[u8], outputs: Option<&Outputs>) {
        let shown = self.terminal.push(piece);
        self.add_piece(&shown, outputs).await;
    }

    async fn add_piece(&mut self, piece: &[u8], outputs: Option<&Outputs>) {
        self.total += piece.len() as u64;
        self.line_ends += line_ends(piece);
        if self.total > limits::COMMAND_BYTES as u64 {
            if matches!(self.file, Saving::NotYet) {
                self.file = match outputs.map(Outputs::open) {
                    Some(Ok(mut file)) => {
                        file.push(&self.head).await;
                        file.push(&self.tail).await;
                        Saving::Open(file)
                    }
                    Some(Err(error)) => Saving::Failed(error),
                    None => Saving::Nowhere,
                };
            }
            if let Saving::Open(file) = &mut self.file {
                file.push(piece).await;
            }
        }
        let (head, rest) = piece.split_at(piece.len().min(HALF - self.head.len()));
        self.head.extend_from_slice(head);
        self.keep_newest(rest);
    }

    fn keep_newest(&mut self, piece: &[u8]) {
        let piece = piece.get(piece.len().saturating_sub(HALF)..).unwrap_or_default();
        if self.tail.len() + piece.len() > 2 * HALF {
            self.tail.drain(..self.tail.len().saturating_sub(HALF));
        }
        self.tail.extend_from_slice(piece);
    }

    /// Returns what is kept of the output, as far as it is one piece, and the number of bytes before that.
    pub fn newest(&self) -> (Vec<u8>, u64) {
        let kept = (self.head.len() + self.tail.len()) as u64;
        let unfinished = self.terminal.unfinished();
        if kept == self.total {
            return ([self.head.as_slice(), &self.tail, &unfinished].concat(), 0);
        }
        ([self.tail.as_slice(), &unfinished].concat(), self.total - self.tail.len() as u64)
    }

    /// Returns the file that takes the whole output, where one does.
    pub fn file(&self) -> Option<&Path> {
        match &self.file {
            Saving::Open(file) => Some(file.path()),
            Saving::NotYet | Saving::Nowhere | Saving::Failed(_) => None,
        }
    }

    /// Returns what the model gets.
    pub async fn finish(mut self, outputs: Option<&Outputs>) -> Captured {
        let last = self.terminal.finish();
        self.add_piece(&last, outputs).await;
        let total = self.total;
        let newest = self.tail.last().or(self.head.last());
        let lines = self.line_ends + u64::from(newest.is_some_and(|byte| *byte != b'\n'));
        if total <= limits::COMMAND_BYTES as u64 {
            let text = decode(&[self.head.as_slice(), &self.tail].concat());
            if text.len() <= limits::COMMAND_BYTES {
                return Captured { text, total, lines, lines_left_out: 0, saved: None };
            }
        }
        let head = self.head.get(..end_of_head(&self.head)).unwrap_or_default();
        let newest = self.tail.get(self.tail.len().saturating_sub(HALF)..).unwrap_or_default();
        let tail = newest.get(start_of_tail(newest)..).unwrap_or_default();
        // What is no text takes more room decoded.
        let head = head.get(..fitting(sizes(head).into_iter())).unwrap_or_default();
        let tail = tail.get(tail.len() - fitting(sizes(tail).into_iter().rev())..).unwrap_or_default();
        let left_out = total - (head.len() + tail.len()) as u64;
        let lines_left_out = lines.saturating_sub(lines_of(head) + lines_of(tail));
        let (saved, place) = match self.file {
            Saving::NotYet => (None, "; they are no text".to_owned()),
            Saving::Nowhere => (None, String::new()),
            Saving::Failed(error) => (None, format!("; it could not be saved: {error}")),
            Saving::Open(file) => {
                let (path, kept) = file.finish(total).await;
                let path = path.display().to_string();
                let place = match kept {
                    SavedOutput::Whole => format!("; the whole output is in {path}"),
                    SavedOutput::Beginning(bytes) => {
                        format!("; the first {bytes} bytes of {total} are in {path}, more is not kept")
                    }
                    SavedOutput::Failed(bytes, error) => format!(
                        "; the first {bytes} bytes of {total} are in {path}, more could not be written: {error}"
                    ),
                };
                (Some(path), place)
            }
        };
        let (head, tail) = (decode(head), decode(tail));
        let newline = if head.ends_with('\n') { "" } else { "\n" };
        let text = format!("{head}{newline}[{left_out} bytes left out{place}]\n{tail}");
        Captured { text, total, lines, lines_left_out, saved }
    }
}

/// Returns a long text as a model gets the output of a command: its beginning and its end, with the whole of it in a file
/// where there is a place for one. A text that is short enough stays as it is.
pub async fn shorten(text: String, outputs: Option<&Outputs>) -> String {
    if text.len() <= limits::COMMAND_BYTES {
        return text;
    }
    let mut capture = Capture::default();
    for piece in text.as_bytes().chunks(PIECE) {
        capture.add_piece(piece, outputs).await;
    }
    capture.finish(outputs).await.text
}

fn line_ends(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// Counts lines; one that has not ended counts.
fn lines_of(bytes: &[u8]) -> u64 {
    line_ends(bytes) + u64::from(bytes.last().is_some_and(|byte| *byte != b'\n'))
}

/// Makes text of what a program printed. Servers stumble over a NUL; it has a picture.
pub fn decode(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\0', "␀")
}

/// Returns each character's length, as it came and decoded.
fn sizes(bytes: &[u8]) -> Vec<(usize, usize)> {
    let decoded = |c: char| if c == '\0' { 3 } else { c.len_utf8() };
    let mut sizes = Vec::new();
    for chunk in bytes.utf8_chunks() {
        sizes.extend(chunk.valid().chars().map(|c| (c.len_utf8(), decoded(c))));
        if !chunk.invalid().is_empty() {
            sizes.push((chunk.invalid().len(), 3));
        }
    }
    sizes
}

/// Returns the length of the characters, from the first on, that fit into one half when decoded.
fn fitting(sizes: impl Iterator<Item = (usize, usize)>) -> usize {
    let mut room = HALF;
    let fits = |(_, decoded): &(usize, usize)| {
        let left = room.checked_sub(*decoded);
        room = left.unwrap_or(0);
        left.is_some()
    };
    sizes.take_while(fits).map(|(came, _)| came).sum()
}

/// Returns the length of what is whole: without a character that goes on behind the end.
pub fn whole_characters(bytes: &[u8]) -> usize {
    // A character has four bytes at most.
    for back in 1..=bytes.len().min(3) {
        let at = bytes.len() - back;
        let needs = match bytes.get(at) {
            Some(0xc0..=0xdf) => 2,
            Some(0xe0..=0xef) => 3,
            Some(0xf0..=0xf7) => 4,
            Some(0x80..=0xbf) => continue,
            Some(_) | None => 1,
        };
        return if needs > back { at } else { bytes.len() };
    }
    bytes.len()
}

/// Returns where a text that was cut at its front begins with a whole character.
pub fn first_character(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|byte| matches!(byte, 0x80..=0xbf)).count()
}

fn end_of_head(head: &[u8]) -> usize {
    let from = head.len().saturating_sub(LINE_SLACK);
    let line = head.get(from..).unwrap_or_default().iter().rposition(|&byte| byte == b'\n');
    line.map_or_else(|| whole_characters(head), |place| from + place + 1)
}

fn start_of_tail(tail: &[u8]) -> usize {
    let line = tail.iter().take(LINE_SLACK).position(|&byte| byte == b'\n');
    line.map_or_else(|| first_character(tail), |place| place + 1)
}
