//! The input reader: a thread of its own that blocks on the terminal and hands on what it decodes.
//!
//! Nothing is held back to guess at pastes: bracketed paste tells. What came in together is handed on together, so that
//! many characters at once, as a terminal without bracketed paste sends them, are told from keys. The thread ends with
//! the process.

use std::io;
use std::thread;
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode, KeyEvent};
use jiff::Timestamp;
use ratatui::layout::Size;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::tui::keymap::{self, Chord};

/// Plain characters that are typed as one when they came in together.
const LONG_RUN: usize = 8;
/// Most that is handed on together.
const BATCH: usize = 4_096;

/// Is one thing that the terminal sent.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A key went down; read at this moment, whenever it is taken up.
    Key(KeyEvent, Timestamp),
    /// Many plain characters came at once; the last was read at this moment.
    Typed(String, Timestamp),
    /// A bracketed paste, read at this moment.
    Paste(String, Timestamp),
    /// The terminal has another size.
    Resize(Size),
    /// The terminal cannot be read any more.
    Lost,
}

/// Says what a line end among many characters is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnds {
    /// The Enter key.
    Keys,
    /// A character like any other.
    Text,
}

/// Starts the reader; what it hands on at once came in together.
///
/// # Errors
/// When no thread can be started.
pub fn start() -> io::Result<UnboundedReceiver<Vec<Input>>> {
    let (sender, receiver) = unbounded_channel();
    thread::Builder::new().name("input".to_owned()).spawn(move || read(&sender))?;
    Ok(receiver)
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
    let chord = Chord::of(key);
    let line_end = line_ends == LineEnds::Text && chord.code == KeyCode::Enter && chord.modifiers.is_empty();
    chord.typed().or(line_end.then_some('\n')).map(|c| (c, *at))
}

fn read(sender: &UnboundedSender<Vec<Input>>) {
    loop {
        let mut batch = Vec::new();
        while batch.is_empty() || (batch.len() < BATCH && matches!(event::poll(Duration::ZERO), Ok(true))) {
            batch.extend(read_one());
            if batch.last() == Some(&Input::Lost) {
                break;
            }
        }
        let lost = batch.last() == Some(&Input::Lost);
        if sender.send(batch).is_err() || lost {
            return;
        }
    }
}

/// Waits for what comes next; `None` when it means nothing here.
fn read_one() -> Option<Input> {
    match event::read() {
        Ok(Event::Key(key)) if keymap::pressed(&key) => Some(Input::Key(key, Timestamp::now())),
        Ok(Event::Paste(text)) => Some(Input::Paste(text, Timestamp::now())),
        Ok(Event::Resize(width, height)) => Some(Input::Resize(Size { width, height })),
        Ok(Event::Key(_) | Event::Mouse(_) | Event::FocusGained | Event::FocusLost) => None,
        Err(error) if error.kind() == io::ErrorKind::Interrupted => None,
        Err(_) => Some(Input::Lost),
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyModifiers;

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
