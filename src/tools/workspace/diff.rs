//! Unified diffs as git prints them: the comparison is that of `imara-diff`, which ported it from git, with three lines
//! of context. In a few texts where lines repeat, the hunks are cut otherwise than in git, and are as right.
//!
//! Called by the tools that change files: the whole diff goes into the question, a cut one to the screen. Behind `@@`
//! stands no function name. Bytes that are not UTF-8 are shown as replacement characters.

use std::fmt::Write as _;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput, Token};

use crate::encoding::text_of;
use steersman_base::details::FileDiff;
use steersman_base::limits;

/// Unchanged lines shown around a change.
const CONTEXT: u32 = 3;
/// How far into a file a NUL makes it binary, as git has it.
const BINARY_BYTES: usize = 8_000;

/// The difference of two contents.
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
    let (before, after) = (&*text_of(before), &*text_of(after));
    let binary = before.iter().take(BINARY_BYTES).any(|byte| *byte == 0);
    let shown: &[u8] = if binary { &[] } else { before };
    let input = InternedInput::new(shown, after);
    let diff = compare(&input);
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

/// Finds the lines that came and went. Of a long text where the same few lines come again and again, all between the
/// first and the last difference did: a search would take minutes.
fn compare(input: &InternedInput<&[u8]>) -> Diff {
    let (before, after) = (input.before.as_slice(), input.after.as_slice());
    let equal = |(a, b): &(&Token, &Token)| a == b;
    let head = before.iter().zip(after).take_while(equal).count();
    let rest = before.len().min(after.len()) - head;
    let tail = before.iter().rev().zip(after.iter().rev()).take(rest).take_while(equal).count();
    let searched = before.len() + after.len() - 2 * (head + tail);
    let distinct = input.interner.num_tokens();
    let mut diff = Diff::default();
    if searched > limits::DIFF_LINES.max(limits::DIFF_REPEATS * distinct as usize) {
        let mut fresh = (distinct..).map(Token);
        let mut part = |side: &[Token]| {
            let middle = head..side.len() - tail;
            let own = |(at, token): (usize, &Token)| if middle.contains(&at) { fresh.next() } else { Some(*token) };
            side.iter().enumerate().filter_map(own).collect::<Vec<_>>()
        };
        let (left, right) = (part(before), part(after));
        diff.compute_with(Algorithm::Myers, &left, &right, u32::MAX);
    } else {
        diff.compute_with(Algorithm::Myers, before, after, distinct);
    }
    diff.postprocess_lines(input);
    diff
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
    let mut show = |sign, side: &[Token], range: Range<u32>| {
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
