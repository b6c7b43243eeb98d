//! `--steer-stdin`: lines of standard input that steer the run. The parser is pure; the reader is one thread.
//!
//! It reads no further while earlier lines are not taken, so endless input costs nothing. Every line has its
//! position in the input, which shows an answer that was typed before its question.

use std::collections::VecDeque;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use std::{io, mem, thread};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, ioctl_fionread, read};
use tokio::sync::Notify;

use steersman_base::limits;
use steersman_base::steering::{Recurrence, TextKind, Trigger, conditional};
use steersman_base::sync::lock;
use steersman_base::text::halves::without_halves;
use steersman_base::text::is_blank;
use steersman_core::approval::Answer;
use steersman_core::sync::until;

/// The bytes that are read at once.
const PIECE: usize = 64 * 1024;
/// How often the end of a pending read is checked at the end of a run.
const LOOKS: u32 = 20;

/// The meaning of one line of standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A message for the next boundary, and what it is.
    Text(String, TextKind),
    /// A message that waits for a condition.
    When(Trigger, String),
    /// A command whose condition cannot be read, and why.
    NoCondition(String, String),
    /// A message for after the turn.
    FollowUp(String),
    /// Cancel the turn and send nothing more.
    Stop,
    /// The answer to the question of this number, or to the only one.
    Answer(Option<u64>, Answer),
    /// The answer to what an agent asks, as it was written.
    AnswerText(Option<u64>, String),
    /// An unknown command, or one with wrong arguments.
    Unknown(String),
    /// A line of `--input json`.
    Json(String),
    /// Bytes that are not UTF-8.
    NotText,
    /// A blank line.
    Ignore,
}

impl Line {
    /// Reads one line, without its line end.
    ///
    /// `/instead`, `/note` and `/rule`, each with words, send these as what the command says; `/when CONDITION: words` and
    /// `/every CONDITION: words` send them when the condition is met; `/stop` cancels; `/yes`, `/session`, `/always`, `/no`
    /// and `/no words`, each with the number of a question after the command, answer; `/answer`, with that and words, answers what
    /// an agent asks; `> text` is a follow-up, without one blank after the `>`; a doubled `/` or a `\` before `>`
    /// sends the rest literally; any other `/word` is an unknown command; everything else is a message.
    pub fn parse(line: &str) -> Self {
        if is_blank(line) {
            return Self::Ignore;
        }
        if let Some(text) = line.strip_prefix('>') {
            let text = text.strip_prefix(' ').unwrap_or(text);
            return if is_blank(text) { Self::Ignore } else { Self::FollowUp(text.to_owned()) };
        }
        if line.starts_with("//") || line.starts_with("\\>") {
            return Self::Text(line.get(1..).unwrap_or(line).to_owned(), TextKind::Add);
        }
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let name =
            command.strip_prefix('/').filter(|name| name.chars().all(|c| c.is_alphanumeric() || "-_".contains(c)));
        match name {
            Some(name) => Self::command(name, rest.trim()).unwrap_or_else(|| Self::Unknown(line.trim_end().to_owned())),
            None => Self::Text(line.to_owned(), TextKind::Add),
        }
    }

    fn command(name: &str, rest: &str) -> Option<Self> {
        let (first, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let (number, words) = first.parse().map_or((None, rest), |number| (Some(number), behind.trim_start()));
        if let (Some(kind), false) = (TextKind::named(name).filter(|kind| *kind != TextKind::Add), is_blank(rest)) {
            return Some(Self::Text(rest.to_owned(), kind));
        }
        let recurrence = match name {
            "when" => Some(Recurrence::Once),
            "every" => Some(Recurrence::Every),
            _ => None,
        };
        if let Some(recurrence) = recurrence {
            return Some(match conditional(rest, recurrence) {
                Ok((trigger, text)) => Self::When(trigger, text.to_owned()),
                Err(why) => Self::NoCondition(format!("/{name} {rest}"), why.to_string()),
            });
        }
        match name {
            "stop" if rest.is_empty() => Some(Self::Stop),
            "yes" if words.is_empty() => Some(Self::Answer(number, Answer::Once)),
            "session" if words.is_empty() => Some(Self::Answer(number, Answer::Session)),
            "always" if words.is_empty() => Some(Self::Answer(number, Answer::Always)),
            "everywhere" if words.is_empty() => Some(Self::Answer(number, Answer::Everywhere)),
            "answer" if !is_blank(words) => Some(Self::AnswerText(number, words.to_owned())),
            "no" => Some(Self::Answer(number, Answer::No((!is_blank(words)).then(|| words.to_owned())))),
            _ => None,
        }
    }
}

/// What the lines of an input are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LineForm {
    /// Words for the agent, and commands.
    #[default]
    Words,
    Json,
}

impl LineForm {
    /// Returns the longest line, bytes; a text in JSON may be longer than itself.
    fn longest(self) -> usize {
        match self {
            Self::Words => limits::MESSAGE_BYTES,
            Self::Json => 2 * limits::MESSAGE_BYTES,
        }
    }

    fn parse(self, line: &str) -> Line {
        match self {
            Self::Words => Line::parse(line),
            Self::Json if is_blank(line) => Line::Ignore,
            Self::Json => Line::Json(without_halves(line.trim_start_matches('\u{feff}')).into_owned()),
        }
    }
}

/// The state of cutting input into lines.
#[derive(Debug, Default)]
pub struct Splitter {
    form: LineForm,
    line: Vec<u8>,
    began: u64,
    read: u64,
}

impl Splitter {
    /// Makes the state before the first byte.
    pub fn new(form: LineForm) -> Self {
        Self { form, ..Self::default() }
    }

    /// Takes the next bytes; passes on each line that ends in them, with the position in the input where it began.
    ///
    /// A line that is too long to be a message is cut one byte above the limit, so that the queue itself refuses it.
    pub fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Line, u64)) {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.read += part.len() as u64;
            let (text, ends) = part.strip_suffix(b"\n").map_or((part, false), |text| (text, true));
            let room = (self.form.longest() + 3).saturating_sub(self.line.len());
            self.line.extend_from_slice(text.get(..room.min(text.len())).unwrap_or_default());
            if ends {
                self.end(&mut each);
            }
        }
    }

    /// Ends the input: a last line without a line end counts.
    pub fn finish(&mut self, mut each: impl FnMut(Line, u64)) {
        if self.read > self.began {
            self.end(&mut each);
        }
    }

    fn end(&mut self, each: &mut impl FnMut(Line, u64)) {
        let line = mem::take(&mut self.line);
        let began = mem::replace(&mut self.began, self.read);
        let longest = line.len().min(self.form.longest() + 1);
        let parsed = match str::from_utf8(&line) {
            Ok(text) => self.form.parse(text.strip_suffix('\r').unwrap_or(text)),
            // Cut within a character: too long.
            Err(error)
                if error.error_len().is_none() && line.len() > self.form.longest() && self.form == LineForm::Words =>
            {
                Line::Text("x".repeat(longest), TextKind::Add)
            }
            Err(_) => Line::NotText,
        };
        each(parsed, began);
    }
}

/// A line of standard input and its position.
#[derive(Debug)]
pub struct ReadLine {
    pub line: Line,
    /// Where it began, in bytes of the whole input.
    pub began: u64,
}

/// The lines of standard input. Cheap to clone.
#[derive(Clone)]
pub struct Lines {
    shared: Arc<SharedLines>,
}

struct SharedLines {
    /// Locked during a read until its lines are in `state`.
    input: Mutex<Input>,
    state: Mutex<LineBuffer>,
    room: Condvar,
    changed: Notify,
}

struct Input {
    fd: OwnedFd,
    splitter: Splitter,
}

#[derive(Default)]
struct LineBuffer {
    lines: VecDeque<ReadLine>,
    bytes: usize,
    is_over: bool,
    is_closed: bool,
}

impl LineBuffer {
    fn is_full(&self) -> bool {
        self.bytes >= limits::STEER_BYTES || self.lines.len() >= limits::STEER_LINES
    }

    fn push(&mut self, line: Line, began: u64) {
        if line != Line::Ignore {
            self.bytes += length(&line);
            self.lines.push_back(ReadLine { line, began });
        }
    }
}

impl Lines {
    /// Starts a thread that reads. The program does not wait for it at the end.
    ///
    /// # Errors
    /// When the input is closed, or no thread can be started.
    pub fn start(form: LineForm) -> io::Result<Self> {
        let fd = io::stdin().as_fd().try_clone_to_owned()?;
        let waiting = fd.try_clone()?;
        let input = Mutex::new(Input { fd, splitter: Splitter::new(form) });
        let shared =
            Arc::new(SharedLines { input, state: Mutex::default(), room: Condvar::new(), changed: Notify::new() });
        let lines = Self { shared: Arc::clone(&shared) };
        thread::Builder::new().name("lines".to_owned()).spawn(move || {
            let mut piece = vec![0; PIECE];
            while shared.wait_for_room() && wait_for_input(&waiting) && shared.read_piece(&mut piece) {}
        })?;
        Ok(lines)
    }

    pub fn take_line(&self) -> Option<ReadLine> {
        let mut state = lock(&self.shared.state);
        let read = state.lines.pop_front()?;
        state.bytes = state.bytes.saturating_sub(length(&read.line));
        drop(state);
        self.shared.room.notify_all();
        Some(read)
    }

    /// Returns whether the input has ended and every line of it was taken.
    pub fn is_over(&self) -> bool {
        let state = lock(&self.shared.state);
        state.is_over && state.lines.is_empty()
    }

    /// Waits for a line, or the end of the input.
    pub async fn changed(&self) {
        until(&self.shared.changed, || {
            let state = lock(&self.shared.state);
            (state.is_over || !state.lines.is_empty()).then_some(())
        })
        .await;
    }

    /// Returns the length of the input so far, including unread bytes.
    pub fn position(&self) -> u64 {
        let input = lock(&self.shared.input);
        input.splitter.read + ioctl_fionread(&input.fd).unwrap_or(0)
    }

    /// Stops reading and returns the beginning of an unfinished line; `None`, and no stop, while lines are not taken.
    pub fn close_if_taken(&self) -> Option<String> {
        self.shut(|state| state.lines.is_empty())
    }

    /// Stops reading; lines that were read can still be taken. Returns the beginning of an unfinished line.
    pub fn close(&self) -> String {
        self.shut(|_| true).unwrap_or_default()
    }

    fn shut(&self, may: impl Fn(&LineBuffer) -> bool) -> Option<String> {
        // Another process may have read the input: then the thread waits in its read, with no line begun.
        let input = (0..LOOKS).find_map(|look| {
            if look > 0 {
                thread::sleep(Duration::from_millis(1));
            }
            self.shared.input.try_lock().ok()
        });
        let mut state = lock(&self.shared.state);
        if !may(&state) {
            return None;
        }
        state.is_closed = true;
        drop(state);
        self.shared.room.notify_all();
        let begun = input.map(|mut input| mem::take(&mut input.splitter.line)).unwrap_or_default();
        Some(String::from_utf8_lossy(&begun).into_owned())
    }
}

impl SharedLines {
    /// Waits until lines may be added; returns false when no more are needed.
    fn wait_for_room(&self) -> bool {
        let state = lock(&self.state);
        let is_full = |state: &mut LineBuffer| state.is_full() && !state.is_closed;
        let state = self.room.wait_while(state, is_full).unwrap_or_else(PoisonError::into_inner);
        !state.is_closed
    }

    /// Reads once; returns false at the end.
    fn read_piece(&self, piece: &mut [u8]) -> bool {
        let mut input = lock(&self.input);
        if lock(&self.state).is_closed {
            return false;
        }
        let count = match read(&input.fd, &mut *piece) {
            Ok(count) => count,
            Err(Errno::INTR | Errno::AGAIN) => return true,
            Err(_) => 0,
        };
        let mut state = lock(&self.state);
        let each = |line, began| state.push(line, began);
        match piece.get(..count) {
            Some(bytes) if count > 0 => input.splitter.push(bytes, each),
            _ => {
                input.splitter.finish(each);
                state.is_over = true;
            }
        }
        let goes_on = !state.is_over;
        drop(state);
        self.changed.notify_one();
        goes_on
    }
}

fn length(line: &Line) -> usize {
    match line {
        Line::Text(text, _)
        | Line::When(_, text)
        | Line::NoCondition(text, _)
        | Line::FollowUp(text)
        | Line::Unknown(text)
        | Line::Json(text) => text.len(),
        Line::Answer(_, Answer::No(Some(words))) | Line::AnswerText(_, words) => words.len(),
        Line::Answer(..) | Line::Stop | Line::NotText | Line::Ignore => 0,
    }
}

fn wait_for_input(fd: &OwnedFd) -> bool {
    loop {
        let mut fds = [PollFd::new(fd, PollFlags::IN)];
        match poll(&mut fds, None) {
            Ok(_) => return true,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}
