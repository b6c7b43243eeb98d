//! `--steer-stdin`: standard input as lines that steer the run. The parser is pure; the reader is one thread.

use std::io::{BufRead, Read as _};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::approval::Answer;
use crate::limits;
use crate::text::is_blank;

/// Is what one line of standard input asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A message for the next boundary.
    Text(String),
    /// A message for after the turn.
    FollowUp(String),
    /// Cancel the turn and send nothing more.
    Stop,
    /// The answer to the oldest open question.
    Answer(Answer),
    /// Nothing: the line is blank.
    Ignore,
}

impl Line {
    /// Reads one line, without its line end.
    ///
    /// `/stop` cancels; `/yes`, `/session`, `/no` and `/no words` answer the oldest question; `> text` is a follow-up, one blank behind the `>` dropped; a doubled `/` or a `\` before `>` sends the rest
    /// literally; everything else is a message as it stands.
    pub fn parse(line: &str) -> Self {
        if is_blank(line) {
            return Self::Ignore;
        }
        match line.trim_end() {
            "/stop" => return Self::Stop,
            "/yes" => return Self::Answer(Answer::Once),
            "/session" => return Self::Answer(Answer::Session),
            "/no" => return Self::Answer(Answer::No(None)),
            _ => {}
        }
        if let Some(words) = line.strip_prefix("/no ") {
            return Self::Answer(Answer::No((!is_blank(words)).then(|| words.trim().to_owned())));
        }
        if let Some(text) = line.strip_prefix('>') {
            let text = text.strip_prefix(' ').unwrap_or(text);
            return if is_blank(text) { Self::Ignore } else { Self::FollowUp(text.to_owned()) };
        }
        let literal =
            if line.starts_with("//") || line.starts_with("\\>") { line.get(1..).unwrap_or(line) } else { line };
        Self::Text(literal.to_owned())
    }
}

/// Starts a thread that reads standard input. It is not waited for: the program may end while a read blocks.
pub fn start() -> UnboundedReceiver<Line> {
    let (sender, lines) = unbounded_channel();
    std::thread::spawn(move || read_lines(std::io::stdin().lock(), &sender));
    lines
}

/// Reads lines until the end of input or until nobody listens; the end of input changes nothing else.
///
/// A line that is too long to be a message is cut one byte above the limit, so that the queue refuses it by its own rule.
pub fn read_lines(mut input: impl BufRead, lines: &UnboundedSender<Line>) {
    let mut line = Vec::new();
    while let Ok(true) = read_line(&mut input, &mut line) {
        let text = String::from_utf8_lossy(&line);
        let parsed = Line::parse(text.strip_suffix('\r').unwrap_or(&text));
        if lines.send(parsed).is_err() {
            return;
        }
    }
}

/// Reads one line without its line end into `line`; false at the end of input.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    let longest = limits::MESSAGE_BYTES as u64 + 3;
    line.clear();
    if input.by_ref().take(longest).read_until(b'\n', line)? == 0 {
        return Ok(false);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else {
        input.skip_until(b'\n')?;
    }
    Ok(true)
}
