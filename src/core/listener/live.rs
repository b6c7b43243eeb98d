//! A text that is printed while it still grows, sanitised as if it had been whole.
//!
//! The last visible character waits for the next piece: a mark, a joiner or a line feed may still belong to it.
//! Text that was given out is never taken back.

use unicode_segmentation::UnicodeSegmentation;

use steersman_base::limits;
use steersman_base::text::visible;

/// A text that arrives in pieces, and how much of it was given out.
#[derive(Debug, Default)]
pub(super) struct LiveText {
    text: String,
    /// The start of the part that is sanitised as one: the start of a line, unless the line is very long.
    start: usize,
    /// The end of the part that was given out.
    given: usize,
    /// The bytes of the sanitised part when it was last given out.
    shown: usize,
}

/// The relation of a whole text to what was given out of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Continuation {
    /// The text that is still to be shown.
    Follows(String),
    /// What was given out is not how the whole text begins.
    Differs,
}

impl LiveText {
    /// Takes the next piece and returns what can be shown now.
    pub(super) fn push(&mut self, piece: &str) -> String {
        self.text.push_str(piece);
        self.give(self.settled())
    }

    /// Returns whether no piece has come.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Ends the text with the server's whole text, which may differ from the pieces.
    pub(super) fn finish(&mut self, whole: &str) -> Continuation {
        let given = self.text.get(..self.given).unwrap_or_default();
        let rest = if whole.starts_with(given) {
            whole.clone_into(&mut self.text);
            Continuation::Follows(self.give(whole.len()))
        } else if self.text.trim() == whole.trim() {
            // Only white space around it was dropped.
            Continuation::Follows(self.give(self.text.len()))
        } else {
            Continuation::Differs
        };
        *self = Self::default();
        rest
    }

    /// Tells whether the pieces are how the whole text ends.
    pub(super) fn is_end_of(&self, whole: &str) -> bool {
        !self.text.trim().is_empty() && whole.trim_end().ends_with(self.text.trim_end())
    }

    /// Returns the text that is left to show when no whole text will come.
    pub(super) fn abandon(&mut self) -> String {
        let rest = self.give(self.text.len());
        *self = Self::default();
        rest
    }

    /// Returns the end of the part whose appearance can no longer change.
    fn settled(&self) -> usize {
        let open = self.text.get(self.given..).unwrap_or_default();
        if open.len() > limits::LIVE_BYTES {
            // No script has a character that long.
            return self.text.len();
        }
        let mut settled = self.given;
        let mut before = None;
        for (index, cluster) in open.grapheme_indices(true) {
            // A joiner looks at the letter behind it.
            if !before.is_some_and(|last: &str| last.ends_with(['\u{200C}', '\u{200D}'])) {
                settled = self.given + index;
            }
            before = Some(cluster);
        }
        settled
    }

    fn give(&mut self, to: usize) -> String {
        if to <= self.given {
            return String::new();
        }
        let stretch = visible(self.text.get(self.start..to).unwrap_or_default());
        let new = stretch.get(self.shown..).unwrap_or_default().to_owned();
        self.shown = stretch.len();
        self.given = to;
        let line = self.text.get(self.start..to).and_then(|stretch| stretch.rfind('\n')).map(|at| self.start + at + 1);
        if let Some(line) = line {
            self.start = line;
            self.shown = visible(self.text.get(line..to).unwrap_or_default()).len();
        } else if to - self.start > limits::LIVE_BYTES {
            self.start = to;
            self.shown = 0;
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stream(pieces: &[&str]) -> String {
        let mut live = LiveText::default();
        let mut shown: String = pieces.iter().map(|piece| live.push(piece)).collect();
        match live.finish(&pieces.concat()) {
            Continuation::Follows(rest) => shown.push_str(&rest),
            Continuation::Differs => panic!("the pieces are the text"),
        }
        shown
    }

    #[test]
    fn text_is_given_out_while_it_grows() {
        let mut live = LiveText::default();
        assert_eq!(live.push("Hel"), "He");
        assert_eq!(live.push("lo\n"), "llo");
        assert_eq!(live.push("you"), "\nyo");
        assert_eq!(live.finish("Hello\nyou."), Continuation::Follows("u.".to_owned()));
    }

    #[test]
    fn what_differs_is_said_to_differ() {
        let mut live = LiveText::default();
        live.push("Hello");
        assert_eq!(live.finish("Goodbye"), Continuation::Differs);
        live.push("  Hello \n");
        assert_eq!(live.finish("Hello"), Continuation::Follows("\n".to_owned()));
        assert!(live.is_empty());
    }

    #[test]
    fn a_long_line_is_shown_whole() {
        let pieces: Vec<String> = (0..9_000).map(|n| format!("{n} ")).collect();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        assert_eq!(stream(&pieces), pieces.concat());
    }

    #[test]
    fn a_heap_of_marks_is_not_collected_without_end() {
        let mut live = LiveText::default();
        let heap = "a".to_owned() + &"\u{301}".repeat(limits::LIVE_BYTES);
        assert!(!live.push(&heap).is_empty());
    }

    proptest! {
        #[test]
        fn any_split_shows_what_the_whole_text_shows(
            pieces in prop::collection::vec("[a\t\r\né\u{301}\u{200D}\u{200C}\u{FE0F}👩🚀بک\u{1B}\u{202E}\u{E0041}1\u{20E3}क\u{94D}]{0,4}", 0..12)
        ) {
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let whole = pieces.concat();
            prop_assert_eq!(stream(&pieces), visible(&whole).into_owned());
        }
    }
}
