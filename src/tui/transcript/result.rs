//! What there is to see of a call beyond its observation: the change of a file, the end of a command, a page.
//!
//! Made of the details that a tool tells. Always holds: words are sanitised; lines of a diff are not, they pass the
//! sanitiser when they are drawn, as arguments do.

use crate::details::{Details, FileDiff};
use crate::summary;
use crate::text::visible_line;

/// What there is to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// The change of a file.
    Diff(Diff),
    /// How a command ended.
    Command {
        /// In a few words.
        words: String,
        /// True when it failed: by its exit code, by a signal, by its time.
        failed: bool,
        /// Lines that it printed, where they were counted.
        lines: Option<u64>,
        /// Lines of them that the model did not get.
        left_out: u64,
        /// The file that holds the whole output, when the model did not get all of it.
        saved: Option<String>,
    },
    /// What came from an address: status, type, size.
    Page(String),
}

/// The change of one file, line by line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// In a few words: `+3 −1`.
    pub words: String,
    /// The lines.
    pub lines: Vec<DiffLine>,
    /// The columns of the largest line number.
    pub columns: usize,
}

/// One line of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// Its number: in the file as it is now, or was for a line that went.
    pub number: Option<u32>,
    /// What it is.
    pub kind: Kind,
    /// The text, without its sign (untrusted).
    pub text: String,
}

/// What a line of a diff is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It came.
    Added,
    /// It went.
    Removed,
    /// It is as it was.
    Same,
    /// It says where in the file the next ones are.
    Hunk,
    /// It says something about the one before.
    Note,
}

impl Kind {
    /// Returns its sign, so that no kind is told by colour alone.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Added => "+",
            Self::Removed => "-",
            Self::Same => " ",
            Self::Hunk | Self::Note => "",
        }
    }
}

impl Shown {
    /// Takes what a tool tells; `None` for what this version does not know.
    pub fn of(details: &Details) -> Option<Self> {
        match details {
            Details::Diff(diff) => Some(Self::Diff(Diff::of(diff))),
            Details::Command(end) => Some(Self::Command {
                words: summary::ended(end),
                failed: end.failed(),
                lines: end.lines,
                left_out: end.lines_left_out,
                saved: end.saved.as_ref().map(|path| visible_line(path).into_owned()),
            }),
            Details::Page(page) => Some(Self::Page(summary::page(page))),
            Details::Unknown => None,
        }
    }

    /// Returns it in a few words, for the head of the call.
    pub fn words(&self) -> &str {
        match self {
            Self::Diff(diff) => &diff.words,
            Self::Command { words, .. } | Self::Page(words) => words,
        }
    }
}

impl Diff {
    fn of(diff: &FileDiff) -> Self {
        let created = if diff.created { "new, " } else { "" };
        let words = format!("{created}+{} −{}", diff.added, diff.removed);
        let lines = lines(&diff.hunks);
        let largest = lines.iter().filter_map(|line| line.number).max().unwrap_or(0);
        Self { words, columns: largest.to_string().len(), lines }
    }
}

/// Reads the hunks of a unified diff.
fn lines(hunks: &str) -> Vec<DiffLine> {
    let mut lines = Vec::new();
    let (mut old, mut new) = (0_u32, 0_u32);
    for line in hunks.strip_suffix('\n').unwrap_or(hunks).split('\n') {
        if line.is_empty() && lines.is_empty() {
            continue;
        }
        if let Some((first, second)) = starts(line) {
            (old, new) = (first, second);
            lines.push(DiffLine { number: None, kind: Kind::Hunk, text: line.to_owned() });
            continue;
        }
        let kind = match line.as_bytes().first() {
            Some(b'+') => Kind::Added,
            Some(b'-') => Kind::Removed,
            Some(b' ') | None => Kind::Same,
            Some(_) => Kind::Note,
        };
        let number = match kind {
            Kind::Added | Kind::Same => Some(new),
            Kind::Removed => Some(old),
            Kind::Hunk | Kind::Note => None,
        };
        old = old.saturating_add(u32::from(matches!(kind, Kind::Removed | Kind::Same)));
        new = new.saturating_add(u32::from(matches!(kind, Kind::Added | Kind::Same)));
        let text = if kind == Kind::Note { line } else { line.get(1..).unwrap_or_default() };
        lines.push(DiffLine { number, kind, text: text.to_owned() });
    }
    lines
}

/// Reads where a hunk begins in the old file and in the new one: `@@ -10,7 +10,8 @@`.
fn starts(line: &str) -> Option<(u32, u32)> {
    let rest = line.strip_prefix("@@ -")?;
    let (old, rest) = rest.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let first = |range: &str| range.split(',').next().unwrap_or_default().parse().ok();
    Some((first(old)?, first(new)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_diff_have_the_numbers_of_their_file() {
        let hunks =
            "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -10,1 +10,2 @@ fn x\n-\n+x\n+y\n\\ No newline at end of file\n";
        let read: Vec<_> = lines(hunks).into_iter().map(|line| (line.number, line.kind.sign(), line.text)).collect();
        let expected: Vec<(Option<u32>, &str, String)> = [
            (None, "", "@@ -1,3 +1,3 @@"),
            (Some(1), " ", "a"),
            (Some(2), "-", "b"),
            (Some(2), "+", "B"),
            (Some(3), " ", "c"),
            (None, "", "@@ -10,1 +10,2 @@ fn x"),
            (Some(10), "-", ""),
            (Some(10), "+", "x"),
            (Some(11), "+", "y"),
            (None, "", "\\ No newline at end of file"),
        ]
        .map(|(number, sign, text)| (number, sign, text.to_owned()))
        .to_vec();
        assert_eq!(read, expected);
    }

    #[test]
    fn odd_diffs_are_read_without_harm() {
        for hunks in ["", "\n", "@@", "@@ -x +y @@\n+a", "+a", "@@ -4294967295 +4294967295 @@\n+a\n+b\n c", "é"] {
            lines(hunks);
        }
    }
}
