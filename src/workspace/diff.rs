//! Unified diffs that read as those of git: which lines belong together (`snakes`), where a group of changed lines is
//! shown (`slides`), three lines of context.
//!
//! Called by the tools that change files: the whole diff goes into the question, a cut one to the screen. Behind `@@`
//! stands no function name. Bytes that are not UTF-8 are shown as replacement characters.

mod slides;
mod snakes;

use std::fmt::Write as _;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput, Token};

use crate::details::FileDiff;
use crate::limits;

/// Unchanged lines shown around a change.
const CONTEXT: u32 = 3;
/// How far into a file a NUL makes it binary, as git has it.
const BINARY_BYTES: usize = 8_000;

/// Is the difference of two contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Lines that came.
    pub added: u32,
    /// Lines that went.
    pub removed: u32,
    /// The hunks, from the first `@@` on, whole; empty when nothing differs.
    pub hunks: String,
}

/// Compares two contents line by line. Where the old one is binary, the hunks show all of the new one.
pub fn diff(before: &[u8], after: &[u8]) -> Difference {
    let binary = before.iter().take(BINARY_BYTES).any(|byte| *byte == 0);
    let shown = if binary { &[] } else { before };
    let input = InternedInput::new(Lines(shown), Lines(after));
    let diff = aligned(&input);
    let mut hunks = String::new();
    if binary {
        // Writing to a string cannot fail.
        let _ = writeln!(hunks, "\\ Binary file of {} bytes, replaced by:", before.len());
    }
    for group in groups(diff.hunks()) {
        print(&group, &input, &mut hunks);
    }
    Difference { added: diff.count_additions(), removed: diff.count_removals(), hunks }
}

/// Returns a difference as the screen shows it with a result, cut at a limit.
pub fn file_diff(path: String, before: Option<&[u8]>, difference: &Difference) -> FileDiff {
    let Difference { added, removed, hunks } = difference;
    let mut shown = hunks.clone();
    if shown.len() > limits::DIFF_BYTES {
        let room = shown.floor_char_boundary(limits::DIFF_BYTES);
        let cut = shown.get(..room).and_then(|kept| kept.rfind('\n')).map_or(room, |end| end + 1);
        let lines = shown.get(cut..).map_or(0, |rest| rest.lines().count());
        shown.truncate(cut);
        if !shown.ends_with('\n') {
            shown.push('\n');
        }
        // Writing to a string cannot fail.
        let _ = writeln!(shown, "\\ {lines} more lines of the diff are not shown");
    }
    FileDiff { path, created: before.is_none(), added: *added, removed: *removed, hunks: shown }
}

/// Compares as git does. The library moves groups of changed lines to where they could be too, as git does; but which
/// lines belong together and which of the places is best it sees otherwise, so both are decided here.
fn aligned(input: &InternedInput<&[u8]>) -> Diff {
    let numbers = |side: &[Token]| side.iter().map(|token| token.0).collect::<Vec<u32>>();
    let (before, after) = (numbers(&input.before), numbers(&input.after));
    let changed = snakes::compare(&before, &after, input.interner.num_tokens() as usize);
    // Lines that belong together get one number, all others a number each: there is but one way to compare these.
    let mut count = 0;
    let mut fresh = || {
        count += 1;
        Token(count)
    };
    let left: Vec<Token> = changed.removed.iter().map(|_| fresh()).collect();
    let mut kept = left.iter().zip(&changed.removed).filter(|(_, removed)| !**removed).map(|(token, _)| *token);
    let right: Vec<Token> =
        changed.added.iter().map(|added| if *added { None } else { kept.next() }.unwrap_or_else(&mut fresh)).collect();
    let mut diff = Diff::default();
    diff.compute_with(Algorithm::Myers, &left, &right, count + 1);
    let best_end = |lines: &[Token], group: Range<u32>, earliest: u32| {
        slides::best_end(lines, &group, earliest, |token| input.interner[token])
    };
    diff.postprocess_with(&input.before, &input.after, best_end);
    diff
}

/// Yields lines with their ends, so that a missing one at the end of the file counts.
struct Lines<'a>(&'a [u8]);

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.0.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\n', self.0).map_or(self.0.len(), |at| at + 1);
        let (line, rest) = self.0.split_at_checked(end)?;
        self.0 = rest;
        Some(line)
    }
}

impl<'a> imara_diff::TokenSource for Lines<'a> {
    type Token = &'a [u8];
    type Tokenizer = Self;

    fn tokenize(&self) -> Self {
        Self(self.0)
    }

    fn estimate_tokens(&self) -> u32 {
        u32::try_from(self.0.len() / 40).unwrap_or(u32::MAX)
    }
}

/// Puts changes together whose contexts touch.
fn groups(hunks: impl Iterator<Item = Hunk>) -> Vec<Vec<Hunk>> {
    let mut groups: Vec<Vec<Hunk>> = Vec::new();
    for hunk in hunks {
        let near = |last: &Hunk| hunk.before.start - last.before.end <= 2 * CONTEXT;
        match groups.last_mut() {
            Some(group) if group.last().is_some_and(near) => group.push(hunk),
            _ => groups.push(vec![hunk]),
        }
    }
    groups
}

/// Writes one hunk of the diff.
fn print(group: &[Hunk], input: &InternedInput<&[u8]>, text: &mut String) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let lead = first.before.start.min(CONTEXT);
    let lines = u32::try_from(input.before.len()).unwrap_or(u32::MAX);
    let trail = (lines - last.before.end).min(CONTEXT);
    let before = first.before.start - lead..last.before.end + trail;
    let after = first.after.start - lead..last.after.end + trail;
    // Writing to a string cannot fail.
    let _ = writeln!(text, "@@ -{} +{} @@", span(&before), span(&after));
    let mut at = before.start;
    let mut show = |sign, side: &[imara_diff::Token], range: Range<u32>| {
        for token in side.get(range.start as usize..range.end as usize).unwrap_or_default() {
            let line = String::from_utf8_lossy(input.interner[*token]);
            text.push(sign);
            text.push_str(&line);
            if !line.ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    };
    for hunk in group {
        show(' ', &input.before, at..hunk.before.start);
        show('-', &input.before, hunk.before.clone());
        show('+', &input.after, hunk.after.clone());
        at = hunk.before.end;
    }
    show(' ', &input.before, at..before.end);
}

/// Returns the lines of one side of a hunk as git names them: a count of 1 is left out, an empty side stands behind a
/// line.
fn span(range: &Range<u32>) -> String {
    match range.end - range.start {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        count => format!("{},{count}", range.start + 1),
    }
}
