//! Texts that come line by line: a whole line that was read at once, one that goes on in the next, one of several lines.

use super::Message;
use super::composer::Composer;
use super::purpose::Purpose;

/// The lines that have come of a text so far.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The lines of a text that is written line by line.
    several: Option<String>,
    /// Lines of a pipe that go on in the next one.
    begun: Option<String>,
}

impl Lines {
    pub(super) fn texts(&self) -> impl Iterator<Item = String> {
        self.several.iter().chain(&self.begun).cloned()
    }
}

impl Message {
    /// Puts a whole line above what the message holds.
    pub fn begin_line(&mut self, line: &str) {
        let mut composer = Composer::default();
        composer.type_text(line);
        self.above.push((Purpose::Line, composer));
    }

    /// Takes the line away again; returns what was left of it, or was put there.
    pub fn end_line(&mut self) -> String {
        let line = self.end(|purpose| matches!(purpose, Purpose::Line));
        line.map(|(_, composer)| composer.text()).unwrap_or_default()
    }

    /// Notes that this line goes on in the next one.
    pub fn line_goes_on(&mut self, line: &str) {
        let whole = self.lines.begun.get_or_insert_default();
        whole.push_str(line);
        whole.push('\n');
    }

    /// Tells whether the next line belongs to one before it.
    pub fn is_line_begun(&self) -> bool {
        self.lines.begun.is_some()
    }

    /// Takes the lines that went on.
    pub fn take_begun_line(&mut self) -> Option<String> {
        self.lines.begun.take()
    }

    /// Begins a text of several lines.
    pub fn begin_lines(&mut self) {
        self.lines.several = Some(String::new());
    }

    /// Tells whether a text of several lines is being written.
    pub fn is_in_lines(&self) -> bool {
        self.lines.several.is_some()
    }

    /// Adds the line on top to the text of several lines.
    pub fn add_line(&mut self, line: &str) {
        let text = self.lines.several.get_or_insert_default();
        text.push_str(line);
        text.push('\n');
    }

    /// Takes the text of several lines.
    pub fn take_lines(&mut self) -> Option<String> {
        self.lines.several.take()
    }
}
