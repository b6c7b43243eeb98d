//! What a Markdown text that still grows most likely becomes, so that its last rows are quiet while it does.
//!
//! Called by `stream` for the block at the end of a text that is not whole. Marks that say nothing yet are held back;
//! what was opened is closed. Nothing of it outlives the frame: a text that is whole is shown as it is.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::Event;

use crate::widgets::blocks::{is_block, parser};

/// Longest line of nothing but marks that is held back, bytes.
const MARKS: usize = 200;

pub(super) fn complete(text: &str) -> Cow<'_, str> {
    let text = hold_back(text);
    let text = text.trim_end_matches(['*', '_', '~']);
    let Some(closed) = close_link(text) else { return close_emphasis(text) };
    Cow::Owned(close_emphasis(&closed).into_owned())
}

/// Completes the end of code: what may become the fence's end is held back.
pub(super) fn complete_code(text: &str) -> &str {
    let start = last_line(text);
    let line = text.get(start..).unwrap_or_default().trim();
    let is_fence = |mark: char| line.chars().all(|c| c == mark);
    if is_fence('`') || is_fence('~') { text.get(..start).unwrap_or_default() } else { text }
}

fn last_line(text: &str) -> usize {
    text.rfind('\n').map_or(0, |end| end + 1)
}

/// Leaves out a last line that has only marks so far: it may yet be an item, a rule, a heading, a fence.
fn hold_back(text: &str) -> &str {
    let start = last_line(text);
    let line = text.get(start..).unwrap_or_default();
    if line.len() <= MARKS && is_marks(line) { text.get(..start).unwrap_or_default() } else { text }
}

fn is_marks(line: &str) -> bool {
    let rest = line.trim_start_matches([' ', '`', '~', '*', '_', '-', '=', '#', '>', '|', '+', ':']);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let rest = rest.get(digits.min(3)..).unwrap_or_default();
    let rest = rest.strip_prefix(['.', ')']).unwrap_or(rest).trim_start();
    // A box of a task.
    let rest = rest.strip_prefix('[').unwrap_or(rest);
    let rest = rest.strip_prefix([' ', 'x', 'X']).unwrap_or(rest);
    rest.strip_prefix(']').unwrap_or(rest).trim().is_empty()
}

/// Closes a link whose target has not come in whole.
fn close_link(text: &str) -> Option<String> {
    let line = text.get(last_line(text)..)?;
    let (before, target) = line.rsplit_once("](")?;
    let is_open = !target.contains(|c: char| c == ')' || c.is_whitespace());
    let is_code = before.matches('`').count() % 2 == 1;
    (is_open && !is_code && before.contains('[')).then(|| format!("{text})"))
}

/// Closes emphasis that is open at the end of the text.
fn close_emphasis(text: &str) -> Cow<'_, str> {
    let body = text.trim_end();
    let is_over = text.get(body.len()..).is_some_and(|blank| blank.matches('\n').count() > 1);
    if is_over || !body.contains(['*', '_', '~']) {
        return Cow::Borrowed(text);
    }
    let opens = |run: &Range<usize>| body.get(run.end..).and_then(|rest| rest.chars().next()).is_some_and(is_solid);
    let open: Vec<Range<usize>> = literal_runs(body).into_iter().filter(opens).collect();
    if open.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut closed = body.to_owned();
    open.iter().rev().filter_map(|run| body.get(run.clone())).for_each(|run| closed.push_str(run));
    let is_closed = literal_runs(&closed).iter().all(|run| run.end <= body.len());
    closed.push_str(text.get(body.len()..).unwrap_or_default());
    if is_closed { Cow::Owned(closed) } else { Cow::Borrowed(text) }
}

fn is_solid(c: char) -> bool {
    !c.is_whitespace()
}

/// Finds the marks of emphasis in the last stretch of running text that mark nothing.
fn literal_runs(text: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (event, range) in parser(text).into_offset_iter() {
        match event {
            Event::Start(tag) if is_block(&tag) => runs.clear(),
            Event::Text(shown) if text.get(range.clone()) == Some(&*shown) => {
                let is_escaped = text.get(..range.start).is_some_and(|before| before.ends_with('\\'));
                let mark = shown.chars().next().filter(|c| matches!(c, '*' | '_' | '~'));
                let is_run = mark.is_some_and(|mark| shown.chars().all(|c| c == mark)) && !is_escaped;
                match runs.last_mut() {
                    Some(last)
                        if is_run
                            && last.end == range.start
                            && text.get(last.start..).is_some_and(|from| from.starts_with(&*shown)) =>
                    {
                        last.end = range.end;
                    }
                    _ if is_run => runs.push(range),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::{complete, complete_code};

    #[test]
    fn what_was_opened_is_closed() {
        for (text, completed) in [
            ("a **bold te", "a **bold te**"),
            ("a **bold ", "a **bold** "),
            ("a **bold**", "a **bold"),
            ("a **bold *both", "a **bold *both***"),
            ("a ~~gone", "a ~~gone~~"),
            ("2 * 3", "2 * 3"),
            ("snake_case_na", "snake_case_na"),
            ("a \\*not", "a \\*not"),
            ("**over\n\n", "**over\n\n"),
            ("see [docs](https://a.b/c", "see [docs](https://a.b/c)"),
            ("see [docs](https://a.b/c) and", "see [docs](https://a.b/c) and"),
            ("`x](y", "`x](y"),
            ("**[docs](https://a", "**[docs](https://a)**"),
            ("- a\n- **b", "- a\n- **b**"),
            ("| a |\n|---|\n| **b", "| a |\n|---|\n| **b**"),
        ] {
            let shown = complete(text);
            // What closes at the end is taken off first and put on again.
            assert!(shown == completed || shown == format!("{completed}**"), "{text:?}: {shown:?}");
        }
    }

    #[test]
    fn a_line_of_marks_says_nothing_yet() {
        for marks in ["-", "- ", "- [", "- [ ]", "1", "12.", "###", "> -", "```", "| --- | :-", "***", "=="] {
            assert_eq!(complete(&format!("above\n{marks}")), "above\n", "{marks:?}");
        }
        for words in ["- a", "1.5", "1234", "# T", "- [x] d", "a"] {
            assert_eq!(complete(&format!("above\n{words}")), format!("above\n{words}"), "{words:?}");
        }
        assert_eq!(complete_code("let a;\n``"), "let a;\n");
        assert_eq!(complete_code("let a;\n- "), "let a;\n- ");
    }
}
