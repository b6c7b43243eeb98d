//! Texts from outside as parts of a Markdown page: none runs, loads or swallows anything there.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use steersman_base::limits;

/// Stands behind a text to see whether the text ends where it should.
const PROBE: &str = "\n\n# end\n";

/// Writes a text of one line so that it means itself.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '!' | '&') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Writes a text as one cell of a table.
pub(crate) fn cell(text: &str) -> String {
    text.lines().map(plain).collect::<Vec<_>>().join("<br>")
}

/// Writes a text of any lines, so that all of it is shown as it is and nothing of it ends the block.
pub(crate) fn fenced(text: &str, info: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{info}\n{text}{end}{fence}\n")
}

/// Writes Markdown of a model or of the user: it keeps its looks, but loads no picture, holds no HTML, and ends where it
/// ends. What cannot be tamed, or is cut in the middle of a block, is written as it is in a fence.
pub(crate) fn tamed(text: &str) -> String {
    let mut tamed = text.to_owned();
    for _ in 0..limits::TAMING_ROUNDS {
        let next = escaped(&tamed);
        if next == tamed {
            return if ends(&tamed) { format!("{}\n", tamed.trim_end()) } else { fenced(text, "markdown") };
        }
        tamed = next;
    }
    fenced(text, "markdown")
}

/// Puts a backslash before each `<` and `![` outside of code. What is code may change with that: repeat it until nothing
/// changes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for code in code_ranges(text) {
        escape(text.get(from..code.start).unwrap_or_default(), &mut out);
        out.push_str(text.get(code.clone()).unwrap_or_default());
        from = code.end;
    }
    escape(text.get(from..).unwrap_or_default(), &mut out);
    out
}

fn escape(text: &str, out: &mut String) {
    let mut backslashes = 0;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let active = c == '<' || (c == '!' && rest.peek() == Some(&'['));
        if active && backslashes % 2 == 0 {
            out.push('\\');
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
        out.push(c);
    }
}

/// Returns where code stands, in order, without overlaps.
fn code_ranges(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
    for (event, range) in parser(text).into_offset_iter() {
        let is_code = matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(_)));
        if is_code && ranges.last().is_none_or(|last| last.end <= range.start) {
            ranges.push(range);
        }
    }
    ranges
}

/// Tells whether a heading behind the text is one: no block of the text is open at its end.
fn ends(text: &str) -> bool {
    let probed = format!("{text}{PROBE}");
    let mut depth = 0_usize;
    let mut heads = false;
    for event in parser(&probed) {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                heads = depth == 0;
                depth += 1;
            }
            Event::Start(_) => {
                heads = false;
                depth += 1;
            }
            Event::End(TagEnd::Heading(_)) => depth = depth.saturating_sub(1),
            Event::End(_) => {
                heads = false;
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
    }
    heads
}

fn parser(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS)
}
