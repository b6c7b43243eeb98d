//! The input reader: a thread of its own that blocks on the terminal and hands on what it decodes.
//!
//! Nothing is held back to guess at pastes: bracketed paste tells. The thread ends with the process.

use std::io;
use std::thread;

use crossterm::event::{self, Event};
use jiff::Timestamp;
use ratatui::layout::Size;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::tui::keymap;

/// Is one thing that the terminal sent.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A key went down; read at this moment, whenever it is taken up.
    Key(event::KeyEvent, Timestamp),
    /// A bracketed paste, read at this moment.
    Paste(String, Timestamp),
    /// The terminal has another size.
    Resize(Size),
    /// The terminal cannot be read any more.
    Lost,
}

/// Starts the reader.
///
/// # Errors
/// When no thread can be started.
pub fn start() -> io::Result<UnboundedReceiver<Input>> {
    let (sender, receiver) = unbounded_channel();
    thread::Builder::new().name("input".to_owned()).spawn(move || read(&sender))?;
    Ok(receiver)
}

fn read(sender: &UnboundedSender<Input>) {
    loop {
        let input = match event::read() {
            Ok(Event::Key(key)) if keymap::pressed(&key) => Input::Key(key, Timestamp::now()),
            Ok(Event::Paste(text)) => Input::Paste(text, Timestamp::now()),
            Ok(Event::Resize(width, height)) => Input::Resize(Size { width, height }),
            Ok(Event::Key(_) | Event::Mouse(_) | Event::FocusGained | Event::FocusLost) => continue,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => Input::Lost,
        };
        let lost = input == Input::Lost;
        if sender.send(input).is_err() || lost {
            return;
        }
    }
}
