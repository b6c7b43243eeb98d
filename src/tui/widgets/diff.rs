//! The lines of a change: number, sign, text, and which words of a line are other ones than before.
//!
//! Called by `call`. Nothing is known by its colour alone: lines have their sign, words are underlined. Lines that have little
//! in common are not compared: then every word would be another one.

use std::ops::Range;

use imara_diff::{Algorithm, Diff as Comparison, InternedInput};
use ratatui::style::Style;
use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::highlight::{Chain, Language};
use crate::theme::Theme;
use crate::widgets::code::{Code, CodeBackground};
use crate::widgets::exact::marked;
use crate::widgets::wrap::Line;
use steersman_base::details::FileDiff;
use steersman_base::limits;

/// Added lines that are looked at for the next removed one.
const NEAR: usize = 3;

/// The change of one file, line by line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diff {
    /// In a few words: `+3 −1`.
    pub words: String,
    pub lines: Vec<DiffLine>,
    /// The columns of the largest line number.
    pub columns: usize,
}

/// One line of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffLine {
    /// Its number: in the file as it is now, or was for a line that went.
    pub number: Option<u32>,
    /// What it is.
    pub kind: LineKind,
    /// The text, without its sign (untrusted).
    pub text: String,
}

/// What a line of a diff is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LineKind {
    Added,
    Removed,
    /// It is as it was.
    Same,
    /// It says where in the file the next ones are.
    Hunk,
    /// It says something about the one before.
    Note,
}

impl LineKind {
    /// Returns its sign, so that no kind is known by its colour alone.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Added => "+",
            Self::Removed => "-",
            Self::Same => " ",
            Self::Hunk | Self::Note => "",
        }
    }
}

impl Diff {
    /// Reads the change that a tool made.
    pub fn new(diff: &FileDiff) -> Self {
        let created = if diff.created { "new, " } else { "" };
        let words = format!("{created}+{} −{}", diff.added, diff.removed);
        let lines = parse_hunks(&diff.hunks);
        let largest = lines.iter().filter_map(|line| line.number).max().unwrap_or(0);
        Self { words, columns: largest.to_string().len(), lines }
    }
}

fn parse_hunks(hunks: &str) -> Vec<DiffLine> {
    let mut lines = Vec::new();
    let (mut old, mut new) = (0_u32, 0_u32);
    for line in hunks.strip_suffix('\n').unwrap_or(hunks).split('\n') {
        if line.is_empty() && lines.is_empty() {
            continue;
        }
        if let Some((first, second)) = starts(line) {
            (old, new) = (first, second);
            lines.push(DiffLine { number: None, kind: LineKind::Hunk, text: line.to_owned() });
            continue;
        }
        let kind = match line.as_bytes().first() {
            Some(b'+') => LineKind::Added,
            Some(b'-') => LineKind::Removed,
            Some(b' ') | None => LineKind::Same,
            Some(_) => LineKind::Note,
        };
        let number = match kind {
            LineKind::Added | LineKind::Same => Some(new),
            LineKind::Removed => Some(old),
            LineKind::Hunk | LineKind::Note => None,
        };
        old = old.saturating_add(u32::from(matches!(kind, LineKind::Removed | LineKind::Same)));
        new = new.saturating_add(u32::from(matches!(kind, LineKind::Added | LineKind::Same)));
        let text = if kind == LineKind::Note { line } else { line.get(1..).unwrap_or_default() };
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

/// Makes a line for each line of a change; numbers take so many columns.
pub(crate) fn lines(diff: &[DiffLine], columns: usize, language: Option<&Language>, theme: &Theme) -> Vec<Line> {
    let texts: Vec<Line> = diff.iter().map(|line| marked(&line.text, style(line.kind, theme), theme)).collect();
    let others = changed_words(diff, &texts);
    let mut chain = None;
    let mut shown = Vec::new();
    for ((line, text), others) in diff.iter().zip(&texts).zip(&others) {
        let mut row = Line::default();
        if let Some(number) = line.number {
            row.push(&format!("{number:>columns$} "), theme.hunk);
        }
        row.push(line.kind.sign(), style(line.kind, theme));
        let at = row.text().len();
        row.append(&emphasised(text, others, line.kind, theme));
        // Each hunk is code by itself: what stands between two is not known.
        if line.kind == LineKind::Hunk || chain.is_none() {
            chain = language.cloned().map(Chain::new);
        }
        if let Some(code) = chain.as_mut().and_then(|chain| code(chain, line.kind, text.text(), at)) {
            row.set_code(code);
        }
        shown.push(row);
    }
    shown
}

fn style(kind: LineKind, theme: &Theme) -> Style {
    match kind {
        LineKind::Added => theme.added,
        LineKind::Removed => theme.removed,
        LineKind::Same => theme.output,
        LineKind::Hunk | LineKind::Note => theme.hunk,
    }
}

fn code(chain: &mut Chain, kind: LineKind, text: &str, at: usize) -> Option<Code> {
    let number = chain.lines();
    let language = chain.language().clone();
    let (key, background) = match kind {
        LineKind::Same => (chain.push(text)?, CodeBackground::Marked),
        LineKind::Added => (chain.push(text)?, CodeBackground::Change),
        LineKind::Removed => (chain.key(), CodeBackground::Gone),
        LineKind::Hunk | LineKind::Note => return None,
    };
    Some(Code { key, language, number, at, from: 0, background })
}

fn emphasised(text: &Line, others: &[Range<usize>], kind: LineKind, theme: &Theme) -> Line {
    let emphasis = if kind == LineKind::Removed { theme.removed_word } else { theme.added_word };
    let mut line = Line::default();
    let mut done = 0;
    for other in others {
        text.slice(done, other.start).for_each(|(text, style)| line.push(text, style));
        text.slice(other.start, other.end).for_each(|(text, style)| line.push(text, style.patch(emphasis)));
        done = other.end;
    }
    text.slice(done, text.text().len()).for_each(|(text, style)| line.push(text, style));
    line
}

/// Finds for each line the stretches that its counterpart does not have.
fn changed_words(diff: &[DiffLine], texts: &[Line]) -> Vec<Vec<Range<usize>>> {
    let mut others = vec![Vec::new(); diff.len()];
    let run = |from: usize, kind: LineKind| {
        let behind = diff.iter().skip(from).take_while(|line| line.kind == kind).count();
        from..from + behind.min(limits::WORD_LINES)
    };
    let mut at = 0;
    while at < diff.len() {
        let removed = run(at, LineKind::Removed);
        let added = run(removed.end, LineKind::Added);
        let mut next = added.start;
        for old in removed.clone() {
            let near = next..added.end.min(next + NEAR);
            let found = near.into_iter().find_map(|new| {
                let (before, after) = compare(texts.get(old)?.text(), texts.get(new)?.text())?;
                Some((new, before, after))
            });
            if let Some((new, before, after)) = found {
                next = new + 1;
                others.get_mut(old).into_iter().for_each(|other| other.clone_from(&before));
                others.get_mut(new).into_iter().for_each(|other| other.clone_from(&after));
            }
        }
        at = added.end.max(at + 1);
    }
    others
}

/// The stretches of a line, in bytes.
type Stretches = Vec<Range<usize>>;

/// Finds what two lines do not share; `None` when that is most of them.
fn compare(before: &str, after: &str) -> Option<(Stretches, Stretches)> {
    if before.len().max(after.len()) > limits::WORD_BYTES {
        return None;
    }
    let (old, new) = (word_ranges(before), word_ranges(after));
    let mut input = InternedInput::default();
    input.update_before(old.iter().filter_map(|word| before.get(word.clone())));
    input.update_after(new.iter().filter_map(|word| after.get(word.clone())));
    let comparison = Comparison::compute(Algorithm::Myers, &input);
    let (mut gone, mut came) = (Vec::new(), Vec::new());
    for hunk in comparison.hunks() {
        join(&mut gone, stretch(&old, &hunk.before), before);
        join(&mut came, stretch(&new, &hunk.after), after);
    }
    let solid = |text: &str| text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
    let lost = |text: &str, ranges: &[Range<usize>]| -> usize {
        ranges.iter().filter_map(|range| text.get(range.clone())).map(solid).sum()
    };
    let (whole, other) = (solid(before) + solid(after), lost(before, &gone) + lost(after, &came));
    (other * 2 <= whole).then_some((gone, came))
}

/// Returns the bytes of a stretch of words.
fn stretch(words: &[Range<usize>], tokens: &Range<u32>) -> Option<Range<usize>> {
    let first = words.get(tokens.start as usize)?;
    let last = words.get((tokens.end as usize).checked_sub(1)?)?;
    (tokens.start < tokens.end).then_some(first.start..last.end)
}

/// Appends a stretch; blanks alone between two are no reason to part them.
fn join(stretches: &mut Vec<Range<usize>>, next: Option<Range<usize>>, text: &str) {
    let Some(next) = next else { return };
    match stretches.last_mut() {
        Some(last) if text.get(last.end..next.start).is_some_and(|gap| gap.trim().is_empty()) => last.end = next.end,
        _ => stretches.push(next),
    }
}

/// Divides a line into words, blanks, and single characters of anything else.
fn word_ranges(line: &str) -> Vec<Range<usize>> {
    #[derive(PartialEq)]
    enum Sort {
        Word,
        Blank,
        Single,
    }
    let sort = |symbol: &str| match symbol.chars().next() {
        Some(c) if c.is_whitespace() => Sort::Blank,
        // Scripts without blanks between words have their words at every letter.
        Some(c) if c == '_' || c.is_alphanumeric() && crate::widgets::wrap::width(symbol) == 1 => Sort::Word,
        _ => Sort::Single,
    };
    let mut words: Vec<(Range<usize>, Sort)> = Vec::new();
    for (at, symbol) in line.grapheme_indices(true) {
        let (end, sort) = (at + symbol.len(), sort(symbol));
        match words.last_mut() {
            Some((word, last)) if *last == sort && sort != Sort::Single => word.end = end,
            _ => words.push((at..end, sort)),
        }
    }
    words.into_iter().map(|(word, _)| word).collect()
}

#[cfg(test)]
mod tests {
    use super::{compare, parse_hunks, word_ranges};

    fn shared_out(before: &str, after: &str) -> Option<(Vec<String>, Vec<String>)> {
        let cut = |text: &str, ranges: Vec<std::ops::Range<usize>>| {
            ranges.into_iter().map(|range| text[range].to_owned()).collect::<Vec<_>>()
        };
        compare(before, after).map(|(gone, came)| (cut(before, gone), cut(after, came)))
    }

    #[test]
    fn words_are_words_and_signs_are_single() {
        let line = "let a_b = f(日本);";
        let found: Vec<&str> = word_ranges(line).into_iter().map(|word| &line[word]).collect();
        assert_eq!(found, ["let", " ", "a_b", " ", "=", " ", "f", "(", "日", "本", ")", ";"]);
    }

    #[test]
    fn only_the_words_that_differ_stand_out() {
        let differ = |gone: &[&str], came: &[&str]| {
            let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
            Some((own(gone), own(came)))
        };
        assert_eq!(shared_out("let b = 2;", "let b = 3;"), differ(&["2"], &["3"]));
        assert_eq!(shared_out("fn f(a: u8)", "fn f(a: u8, b: u8)"), differ(&[], &[", b: u8"]));
        assert_eq!(shared_out("say one two now then", "say uno due now then"), differ(&["one two"], &["uno due"]));
        assert_eq!(shared_out("alpha beta", "gamma delta"), None);
        assert_eq!(shared_out("", "new"), None);
    }

    #[test]
    fn lines_of_a_diff_have_the_numbers_of_their_file() {
        let hunks =
            "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -10,1 +10,2 @@ fn x\n-\n+x\n+y\n\\ No newline at end of file\n";
        let read: Vec<_> =
            parse_hunks(hunks).into_iter().map(|line| (line.number, line.kind.sign(), line.text)).collect();
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
            parse_hunks(hunks);
        }
    }
}
