//! What real results say: the output of `glob`, `grep` and `read` as values.
//!
//! Pure and tolerant: a line that is not understood is passed over, an `Error: …` result holds nothing. Results are data;
//! nothing in them is ever obeyed.

use crate::program::demo::markdown::number;

/// A line of a file, as a search or a reading showed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    pub path: String,
    /// The line's number, from 1.
    pub line: usize,
    pub text: String,
}

pub(super) fn failed(result: &str) -> bool {
    result.starts_with("Error:")
}

/// Returns the sub-agent that a call no longer waits for: its answer comes as a message.
pub(super) fn agent_in_background(result: &str) -> Option<&str> {
    let named = result.strip_prefix("[a text for you came first. ").or_else(|| result.strip_prefix('['))?;
    let (name, behind) = named.split_once(" works in the background")?;
    behind.contains("Its answer will come to you as a message").then_some(name)
}

/// Reads a listing: one path a line; directories (with a slash at the end) and notes are passed over.
pub(super) fn paths(listing: &str) -> Vec<String> {
    let lines =
        listing.lines().map(str::trim_end).filter(|line| !failed(listing) && !line.is_empty() && !is_note(line));
    lines.filter(|line| !line.ends_with('/')).map(|line| line.trim_start_matches("./").to_owned()).collect()
}

/// Tells whether a result says of itself that it is not the whole.
pub(super) fn is_truncated(result: &str) -> bool {
    let mut notes = result.lines().rev().take(3).filter(|line| is_note(line));
    notes.any(|note| note.contains("narrow the pattern") || note.contains("to go on"))
}

/// Returns how many paths there are when a listing shows only some of them: `[1000 of 5313 paths: …]`.
pub(super) fn total_paths(listing: &str) -> Option<usize> {
    let note = listing.lines().rev().take(3).find(|line| is_note(line) && line.contains(" paths"))?;
    note.split(" of ").nth(1)?.split(' ').next()?.parse().ok()
}

/// Writes a number of things found; a result that is not the whole says "at least", unless it knows the whole number.
pub(super) fn extent(count: usize, result: &str, noun: &str) -> String {
    match total_paths(result) {
        Some(total) => number(total, noun),
        None if is_truncated(result) => format!("at least {}", number(count, noun)),
        None => number(count, noun),
    }
}

/// Reads search results: `path:line:text`.
pub(super) fn hits(result: &str) -> Vec<Hit> {
    let located = |line: &str| {
        let (path, rest) = line.split_once(':').filter(|(path, _)| !path.is_empty())?;
        Some(hit(path, numbered(rest)?))
    };
    result.lines().filter(|line| !failed(result) && !is_note(line)).filter_map(located).collect()
}

/// Reads the lines of a file: number, tab, text.
pub(super) fn lines(path: &str, result: &str) -> Vec<Hit> {
    result.lines().filter(|_| !failed(result)).filter_map(numbered).map(|line| hit(path, line)).collect()
}

/// Finds what a report names: `path:line` in backticks, and the words behind it.
pub(super) fn references(report: &str) -> Vec<Hit> {
    let reference = |line: &str| {
        let (place, rest) = line.trim_start_matches(['-', '*', ' ']).strip_prefix('`')?.split_once('`')?;
        let (path, number) = place.rsplit_once(':')?;
        let text = rest.trim_start_matches([' ', '—', '-', ':']).trim().trim_matches('`');
        Some(hit(path, (number.parse().ok()?, text)))
    };
    report.lines().filter_map(reference).collect()
}

fn hit(path: &str, (line, text): (usize, &str)) -> Hit {
    Hit { path: path.trim_start_matches("./").to_owned(), line, text: text.to_owned() }
}

/// Tells whether a line is the tool's own, not a path or a hit: `[1000 of 5313 paths: …]`.
fn is_note(line: &str) -> bool {
    line.starts_with('[') && line.ends_with(']') && line.contains(' ')
}

/// Reads `  12<TAB>text` or `12:text`.
fn numbered(line: &str) -> Option<(usize, &str)> {
    let line = line.trim_start();
    let (number, rest) = line.split_at(line.find(|c: char| !c.is_ascii_digit())?);
    Some((number.parse().ok()?, rest.strip_prefix(['\t', ':'])?))
}
