//! The input reader: a thread of its own that sleeps until the terminal sends something and hands on what it means.
//!
//! What came in together is handed on together, so that many characters at once, as a terminal without bracketed paste
//! sends them, are told apart from keys; what is held back for a moment, and why, is in `incoming/mod.rs`. While somebody else has
//! the terminal (an editor, a shell) the reader takes nothing. With nothing to read it does not wake up at all.
//!
//! # Where things are
//!
//! - the mouse reports of terminals: `mouse.rs`

mod decode;
mod incoming;
mod mouse;
mod sequence;

use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEvent, MouseEventKind};
use jiff::Timestamp;
use ratatui::layout::Size;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::handover::Handover;
use crate::keymap::{self, Chord};
use crate::msg::Attention;
use crate::pictures::PictureProtocol;
use decode::Decoded;
use incoming::Incoming;
pub use incoming::TerminalLink;
use steersman_base::clock;
use steersman_base::limits;

/// Plain characters that are typed as one when they came in together.
const LONG_RUN: usize = 8;
/// Bytes of one read.
const CHUNK: usize = 64 * 1024;
/// Longest wait for the reader to let go of the terminal; it sleeps, so this takes no time.
const HANDOVER: Duration = Duration::from_secs(1);
const PAUSE: u8 = b'p';
const GO_ON: u8 = b'g';
const EXPECT: u8 = b'e';

/// One thing that the terminal sent.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A key went down; read at this moment, whenever it is taken up.
    Key(KeyEvent, Timestamp),
    /// Many plain characters came at once; the last was read at this moment.
    Typed(String, Timestamp),
    /// A bracketed paste, read at this moment.
    Paste(String, Timestamp),
    /// The mouse did something, read at this moment.
    Mouse(MouseEvent, Timestamp),
    /// The terminal got or lost the focus.
    Attention(Attention),
    /// The terminal says the colour of its background: red, green, blue.
    Background([u8; 3]),
    /// The terminal says that it shows pictures of this protocol.
    Pictures(PictureProtocol),
    /// The terminal says the width and the height of a cell, pixels.
    CellPixels((u16, u16)),
    /// The terminal has another size.
    Resize(Size),
    /// The terminal cannot be read any more.
    Lost,
}

/// What a line end among many characters is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnds {
    Keys,
    /// A character like any other.
    Text,
}

/// The reader's thread, seen from outside. It ends when this is dropped.
#[derive(Debug)]
pub struct Reader {
    inputs: UnboundedReceiver<Vec<Input>>,
    handover: Arc<Handover>,
    control: PipeWriter,
    paused: Receiver<()>,
}

impl Reader {
    /// Starts the reader on a terminal. `unheard` is called on a thread of its own when what is read is not taken any more
    /// although the user quits: at F12 or at a second Ctrl+C.
    ///
    /// # Errors
    /// When no thread or pipe can be made.
    pub fn start(terminal: OwnedFd, link: TerminalLink, unheard: fn()) -> io::Result<Self> {
        let (sender, inputs) = unbounded_channel();
        let (orders, control) = io::pipe()?;
        let (pausing, paused) = channel();
        let handover = Arc::new(Handover::default());
        let source = Source {
            terminal,
            orders,
            pausing,
            sender,
            handover: Arc::clone(&handover),
            interrupted: None,
            unheard,
            incoming: Incoming::new(link),
            asked: None,
        };
        thread::Builder::new().name("input".to_owned()).spawn(move || source.run())?;
        Ok(Self { inputs, handover, control, paused })
    }

    /// Waits for what comes next; what is handed on at once came in together.
    pub async fn recv(&mut self) -> Vec<Input> {
        let batch = self.inputs.recv().await;
        self.handover.count_taken();
        batch.unwrap_or_else(|| vec![Input::Lost])
    }

    /// Returns what has come, without waiting.
    pub fn try_recv(&mut self) -> Option<Vec<Input>> {
        let batch = self.inputs.try_recv().ok()?;
        self.handover.count_taken();
        Some(batch)
    }

    /// Lets go of the terminal: when this returns, what is typed is for somebody else.
    pub fn pause(&mut self) {
        // A reader that is gone reads nothing.
        if self.control.write_all(&[PAUSE]).is_ok() {
            let _ = self.paused.recv_timeout(HANDOVER);
        }
    }

    /// Lets an answer count: the terminal is asked something now.
    pub fn expect_answer(&mut self) {
        let _ = self.control.write_all(&[EXPECT]);
    }

    /// Reads again.
    pub fn go_on(&mut self) {
        let _ = self.control.write_all(&[GO_ON]);
    }
}

/// Joins the plain characters of what came in together when there are many: each by itself would cost more the longer
/// the text is, and they may be a paste.
pub fn join(batch: Vec<Input>, line_ends: LineEnds) -> Vec<Input> {
    if batch.iter().filter(|input| plain(input, LineEnds::Text).is_some()).count() < LONG_RUN {
        return batch;
    }
    let mut joined = Vec::new();
    for input in batch {
        match (plain(&input, line_ends), joined.last_mut()) {
            (Some((c, at)), Some(Input::Typed(text, last))) => {
                text.push(c);
                *last = at;
            }
            (Some((c, at)), _) => joined.push(Input::Typed(c.to_string(), at)),
            (None, _) => joined.push(input),
        }
    }
    joined
}

fn plain(input: &Input, line_ends: LineEnds) -> Option<(char, Timestamp)> {
    let Input::Key(key, at) = input else { return None };
    let chord = Chord::from_event(key);
    let line_end = line_ends == LineEnds::Text && chord.code == KeyCode::Enter && chord.modifiers.is_empty();
    chord.typed().or(line_end.then_some('\n')).map(|c| (c, *at))
}

/// Lives on the reader's thread.
struct Source {
    terminal: OwnedFd,
    orders: PipeReader,
    pausing: Sender<()>,
    sender: UnboundedSender<Vec<Input>>,
    handover: Arc<Handover>,
    /// The number of the batch with the last Ctrl+C.
    interrupted: Option<u64>,
    unheard: fn(),
    incoming: Incoming,
    /// When the terminal was asked something that it has not answered.
    asked: Option<Instant>,
}

/// What ended a wait.
enum Woken {
    Terminal,
    Orders,
    Nothing,
}

impl Source {
    fn run(mut self) {
        loop {
            let patience = self.incoming.due().map(|due| due.saturating_duration_since(Instant::now()));
            let goes_on = match self.wait(patience) {
                Ok(Woken::Terminal) => self.read_terminal(),
                Ok(Woken::Orders) => self.obey(),
                Ok(Woken::Nothing) => {
                    let decoded = self.incoming.take_due(Instant::now());
                    self.hand_on(decoded)
                }
                Err(_) => self.lose(),
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Sleeps until there is something to read; orders go first.
    fn wait(&self, patience: Option<Duration>) -> io::Result<Woken> {
        let timeout = patience.and_then(|patience| Timespec::try_from(patience).ok());
        let (orders, terminal) = (self.orders.as_fd(), self.terminal.as_fd());
        let mut fds = [PollFd::new(&orders, PollFlags::IN), PollFd::new(&terminal, PollFlags::IN)];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [orders, terminal] = fds;
        Ok(match (orders.revents().is_empty(), terminal.revents().is_empty()) {
            (false, _) => Woken::Orders,
            (true, false) => Woken::Terminal,
            (true, true) => Woken::Nothing,
        })
    }

    /// Reads what is there; false when the reader is to end.
    fn read_terminal(&mut self) -> bool {
        let mut buffer = vec![0; CHUNK];
        match rustix::io::read(&self.terminal, buffer.as_mut_slice()) {
            Ok(count) if count > 0 => {
                self.incoming.feed(buffer.get(..count).unwrap_or_default(), Instant::now());
                if !self.incoming.is_full() {
                    return true;
                }
                let decoded = self.incoming.take_decoded();
                self.hand_on(decoded)
            }
            // A program that had the terminal may have left it like that.
            Err(Errno::INTR | Errno::AGAIN) => true,
            Ok(_) | Err(_) => {
                let decoded = self.incoming.end();
                self.hand_on(decoded) && self.lose()
            }
        }
    }

    /// Does as it is asked; sleeps as long as it is to pause.
    fn obey(&mut self) -> bool {
        let mut order = [0];
        let mut is_paused = false;
        loop {
            match self.orders.read(&mut order) {
                Ok(1) if order == [EXPECT] => {
                    self.asked = Some(Instant::now());
                    if !is_paused {
                        return true;
                    }
                }
                Ok(1) if order == [PAUSE] => {
                    is_paused = true;
                    let decoded = self.incoming.end();
                    if !self.hand_on(decoded) || self.pausing.send(()).is_err() {
                        return false;
                    }
                }
                Ok(1) => return true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => return false,
            }
        }
    }

    fn hand_on(&mut self, decoded: Vec<Decoded>) -> bool {
        let now = clock::now();
        let mut batch: Vec<Input> = Vec::with_capacity(decoded.len());
        for one in decoded {
            let input = match one {
                Decoded::Key(key) if keymap::pressed(&key) => Input::Key(key, now),
                Decoded::Key(_) => continue,
                Decoded::Paste(text) => Input::Paste(text, now),
                Decoded::Mouse(event) => Input::Mouse(event, now),
                Decoded::Attention(attention) => Input::Attention(attention),
                Decoded::Pictures(protocol) => Input::Pictures(protocol),
                Decoded::CellPixels(cell) => Input::CellPixels(cell),
                Decoded::Background(colour) => match self.asked.take() {
                    Some(asked) if asked.elapsed() < limits::BACKGROUND_TIME => Input::Background(colour),
                    // Nobody asked, or so long ago that a change would startle.
                    Some(_) | None => continue,
                },
            };
            match (batch.last_mut(), &input) {
                // Of a drag only the last place counts.
                (Some(last @ Input::Mouse(..)), Input::Mouse(event, _)) if is_same_drag(last, *event) => *last = input,
                _ => batch.push(input),
            }
        }
        batch.is_empty() || self.send(batch)
    }

    /// Hands a batch over. A loop that does not take the keys to quit is not waited for.
    fn send(&mut self, batch: Vec<Input>) -> bool {
        let is = |input: &&Input, code, modifiers| matches!(input, Input::Key(key, _) if key.code == code && key.modifiers == modifiers);
        let quits = batch.iter().any(|input| is(&input, KeyCode::F(12), KeyModifiers::NONE));
        let interrupts = batch.iter().filter(|input| is(input, KeyCode::Char('c'), KeyModifiers::CONTROL)).count();
        let number = self.handover.give();
        let is_sent = self.sender.send(batch).is_ok();
        let again = interrupts > 0 && self.interrupted.is_some_and(|last| !self.handover.is_taken(last));
        if quits || again || interrupts > 1 {
            self.handover.insist(number, self.unheard);
        }
        if interrupts > 0 {
            self.interrupted = Some(number);
        }
        is_sent
    }

    fn lose(&mut self) -> bool {
        // Nobody is left to read it.
        let _ = self.send(vec![Input::Lost]);
        false
    }
}

fn is_same_drag(last: &Input, event: MouseEvent) -> bool {
    let Input::Mouse(last, _) = last else { return false };
    matches!(event.kind, MouseEventKind::Drag(_)) && last.kind == event.kind && last.modifiers == event.modifiers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<Input> {
        let code = |c| if c == '\n' { KeyCode::Enter } else { KeyCode::Char(c) };
        text.chars().map(|c| Input::Key(KeyEvent::new(code(c), KeyModifiers::NONE), Timestamp::UNIX_EPOCH)).collect()
    }

    fn typed(text: &str) -> Input {
        Input::Typed(text.to_owned(), Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn few_characters_stay_keys() {
        assert_eq!(join(keys("stop it"), LineEnds::Text), keys("stop it"));
        assert_eq!(join(keys("say it\n"), LineEnds::Text), keys("say it\n"));
    }

    #[test]
    fn many_are_one_text_and_their_line_ends_are_keys_or_part_of_it() {
        let enter = || keys("\n").remove(0);
        assert_eq!(join(keys("\nrun that\nno"), LineEnds::Text), [typed("\nrun that\nno")]);
        assert_eq!(join(keys("\nrun that\nno"), LineEnds::Keys), [enter(), typed("run that"), enter(), typed("no")]);
    }
}
