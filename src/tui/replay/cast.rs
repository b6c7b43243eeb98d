//! A recording of the screen for terminal players: asciicast, version 2.
//!
//! A picture is written when something changed and the next change comes later; players shorten the waits.

use std::cell::RefCell;
use std::io::{self, Write};
use std::mem;
use std::rc::Rc;

use jiff::{SignedDuration, Timestamp};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Position, Rect};
use ratatui::{Terminal, TerminalOptions, Viewport};
use serde_json::json;

use super::{ReplayScreen, Replayed};
use steersman_base::protocol::Update;
use steersman_base::text::escaped_json;

/// Changes within this time are one picture.
const FRAME: SignedDuration = SignedDuration::from_millis(100);
/// The longest wait that a player shows, seconds.
const LONGEST_WAIT: f64 = 2.0;

/// Takes what would go to a terminal.
#[derive(Clone, Default)]
struct Output(Rc<RefCell<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes the recording of these updates, each with its time.
///
/// # Errors
/// When the recording has no written form.
pub fn cast(replayed: Replayed, title: &str, updates: Vec<(Timestamp, Update)>) -> io::Result<String> {
    let (size, started) = (replayed.size, replayed.started);
    let began = updates.first().map_or(started, |(at, _)| *at);
    let mut screen = ReplayScreen::new(replayed);
    let output = Output::default();
    let viewport = Viewport::Fixed(Rect::from((Position::ORIGIN, size)));
    let mut terminal = Terminal::with_options(CrosstermBackend::new(output.clone()), TerminalOptions { viewport })?;
    let header = json!({
        "version": 2,
        "width": size.width,
        "height": size.height,
        "timestamp": began.as_second(),
        "idle_time_limit": LONGEST_WAIT,
        "title": title,
    });
    let mut lines = escaped_json(header.to_string()) + "\n";
    let mut updates = updates.into_iter().peekable();
    while let Some((at, update)) = updates.next() {
        screen.receive(at, update);
        if updates.peek().is_some_and(|(next, _)| next.duration_since(at) < FRAME) {
            continue;
        }
        screen.draw(&mut terminal);
        let bytes = mem::take(&mut *output.0.borrow_mut());
        if !bytes.is_empty() {
            let after = at.duration_since(began).as_secs_f64().max(0.0);
            let line = serde_json::to_string(&(after, "o", String::from_utf8_lossy(&bytes)))?;
            lines.push_str(&escaped_json(line));
            lines.push('\n');
        }
    }
    Ok(lines)
}
