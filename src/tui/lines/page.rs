//! The lines that are to be written, in order, and the rule that separates the program's words from all others.
//!
//! Always holds: a line that begins at the margin begins with a word of the program; what a model, a tool or a file says
//! stands behind such a word or is indented. A line is one line, sanitised, and is never changed.

use steersman_base::text::visible_line;

/// Columns that everything is indented by that is not the program's.
pub(super) const INDENT: &str = "  ";
/// Most columns of what is only named.
pub(super) const NAMED: usize = 100;

/// Gathers lines.
#[derive(Debug, Default)]
pub(super) struct Page {
    lines: Vec<String>,
    /// The word at the margin that the last line belongs to.
    speaker: Option<String>,
}

impl Page {
    /// Writes a line of the program: its word, and what it says.
    pub(super) fn say(&mut self, word: &str, text: &str) {
        self.speaker = None;
        self.lines.push(visible_line(&format!("{word}: {}", text.trim_end())).into_owned());
    }

    /// Writes a line of somebody else, behind the word when the line before was not theirs.
    pub(super) fn write(&mut self, word: &str, text: &str) {
        if self.speaker.as_deref() == Some(word) {
            self.add(text);
        } else {
            self.say(word, text);
            self.speaker = Some(word.to_owned());
        }
    }

    /// Writes an indented line, which belongs to the one before.
    pub(super) fn add(&mut self, text: &str) {
        self.lines.push(visible_line(&format!("{INDENT}{}", text.trim_end())).into_owned());
    }

    /// Writes a text: its first line behind the word, the others indented; of a long one only the beginning.
    pub(super) fn text(&mut self, word: &str, text: &str, most: usize, more: &str) {
        let mut lines = text.lines();
        self.say(word, lines.next().unwrap_or_default());
        let rest: Vec<&str> = lines.collect();
        let shown = if rest.len() <= most { rest.len() } else { most };
        for line in rest.iter().take(shown) {
            self.add(line);
        }
        if rest.len() > shown {
            self.say("more", &format!("{}, {more}", steersman_base::summary::count(rest.len() - shown, "line")));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }
}

/// Returns a text as one line that only names it.
pub(super) fn named(text: &str) -> String {
    steersman_base::text::clip(&visible_line(text), NAMED).into_owned()
}
