//! The text of a question that the program itself asks: what is untrusted in it stands behind a label or a bar of the
//! program, so that it can bring no line that looks like the program's own.

use std::fmt::Write as _;

use super::{visible, visible_line};

/// A question's text, as it is put together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuestionText(String);

impl QuestionText {
    /// Begins a part: a line after an empty one. The title is untrusted.
    pub fn part(&mut self, title: &str) {
        let gap = if self.0.is_empty() { "" } else { "\n" };
        let _ = writeln!(self.0, "{gap}{}", visible_line(title));
    }

    /// Adds a sentence of the program.
    pub fn sentence(&mut self, sentence: &str) {
        let _ = writeln!(self.0, "  {}", visible_line(sentence));
    }

    /// Adds a field: its value is untrusted, and one line.
    pub fn field(&mut self, label: &str, value: &str) {
        let _ = writeln!(self.0, "  {label}: {}", visible_line(value));
    }

    /// Adds a field where it has a value.
    pub fn optional(&mut self, label: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.field(label, value);
        }
    }

    /// Adds an untrusted text of any length, each of its lines behind a bar.
    pub fn quote(&mut self, text: &str) {
        for line in visible(text).lines() {
            let _ = writeln!(self.0, "    | {line}");
        }
    }

    /// Adds what has changed since the user trusted it, as the hunks of a diff between the text of then and of now.
    pub fn changes(&mut self, hunks: &str) {
        self.part("What has changed since you trusted it (- before, + now):");
        self.quote(hunks);
    }

    /// Adds another text as parts of this one.
    pub fn append(&mut self, other: &Self) {
        let gap = if self.0.is_empty() || other.0.is_empty() { "" } else { "\n" };
        let _ = write!(self.0, "{gap}{}", other.0);
    }

    /// Returns the text so far.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text without the end of its last line.
    pub fn finish(mut self) -> String {
        self.0.truncate(self.0.trim_end().len());
        self.0
    }
}
