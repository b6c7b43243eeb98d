//! The scalars and short lists of a head: quotes, block texts, comments, parts between separators.
//!
//! Called by the reader of heads alone. What is malformed is `None`, and the caller takes it as plain text.

use crate::limits;

/// Returns a plain line without blanks around it and without its comment. Unlike in YAML a blank must follow the mark, so
/// that the number of an issue is no comment.
pub(super) fn without_comment(line: &str) -> &str {
    let line = line.trim();
    if line.starts_with("# ") || line == "#" {
        return "";
    }
    match line.find(" # ") {
        Some(at) if !line.starts_with(['"', '\'']) => line.get(..at).unwrap_or(line).trim_end(),
        Some(_) | None => line.strip_suffix(" #").unwrap_or(line),
    }
}

/// Joins lines into one; an empty line becomes a line break.
pub(super) fn folded<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for line in lines {
        if line.is_empty() {
            text.push('\n');
        } else {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push(' ');
            }
            text.push_str(line);
        }
    }
    text.trim().to_owned()
}

/// Reads the lines of a block text: `|` keeps its lines, `>` joins them.
pub(super) fn block(style: char, lines: &[&str]) -> String {
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let least = lines.iter().find(|line| !line.is_empty()).map_or(0, indent);
    let bare = lines.iter().map(|line| line.get(least..).unwrap_or_else(|| line.trim_start()));
    if style == '>' { folded(bare) } else { bare.collect::<Vec<_>>().join("\n").trim_end().to_owned() }
}

/// Reads a quoted text that begins here and may go on in the lines below; `None` when it does not end, or something stands
/// behind it.
pub(super) fn quoted<'a, 'b>(quote: char, first: &str, rest: &'a [&'b str]) -> Option<(String, &'a [&'b str])> {
    let mut text = String::new();
    let mut line = first.strip_prefix(quote)?;
    let mut rest = rest;
    for _ in 0..limits::FRONT_MATTER_VALUE_LINES {
        if let Some(behind) = quoted_part(quote, line, &mut text) {
            return without_comment(behind).is_empty().then_some((text, rest));
        }
        let (next, behind) = rest.split_first()?;
        text.push(if next.is_empty() { '\n' } else { ' ' });
        (line, rest) = (next.trim(), behind);
    }
    None
}

/// Reads a line up to the closing quote; returns what stands behind that.
fn quoted_part<'a>(quote: char, line: &'a str, text: &mut String) -> Option<&'a str> {
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == quote {
            if quote == '\'' && chars.as_str().starts_with('\'') {
                chars.next();
                text.push('\'');
                continue;
            }
            return Some(chars.as_str());
        }
        if c != '\\' || quote != '"' {
            text.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some(c @ ('u' | 'x')) => {
                let digits = if c == 'u' { 4 } else { 2 };
                let code = chars.as_str().get(..digits).and_then(|code| u32::from_str_radix(code, 16).ok());
                text.push(code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER));
                chars = chars.as_str().get(digits..).unwrap_or_default().chars();
            }
            Some(c @ ('"' | '\\' | '/' | ' ')) => text.push(c),
            Some('r' | '0') | None => {}
            Some(other) => text.extend(['\\', other]),
        }
    }
    None
}

/// Returns a value without its quotes.
pub(super) fn unquoted(value: &str) -> String {
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
    let text = quote.and_then(|quote| quoted(quote, value, &[]));
    text.map_or_else(|| value.to_owned(), |(text, _)| text)
}

/// Reads what stands between brackets that open here and may close in a line below; `None` when they do not close, or
/// something stands behind them.
pub(super) fn flow<'a, 'b>(first: &str, rest: &'a [&'b str]) -> Option<(String, &'a [&'b str])> {
    let (mut depth, mut quote, mut inside) = (0_usize, None, String::new());
    let (mut line, mut rest) = (first, rest);
    for _ in 0..limits::FRONT_MATTER_VALUE_LINES {
        for (at, c) in line.char_indices() {
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (None, '"' | '\'') => quote = Some(c),
                (None, '[' | '{') => depth += 1,
                (None, ']' | '}') => depth = depth.checked_sub(1)?,
                (Some(_) | None, _) => {}
            }
            if depth == 0 {
                let behind = without_comment(line.get(at + c.len_utf8()..)?);
                return behind.is_empty().then_some((inside, rest));
            }
            if depth > 1 || !inside.is_empty() || !matches!(c, '[' | '{') {
                inside.push(c);
            }
        }
        let (next, behind) = rest.split_first()?;
        inside.push(' ');
        (line, rest) = (without_comment(next), behind);
    }
    None
}

/// Splits a text where the separator stands outside of quotes and brackets; blank parts are left out.
pub(super) fn parts(text: &str, is_separator: fn(char) -> bool) -> Vec<String> {
    let (mut depth, mut quote, mut part, mut all) = (0_usize, None, String::new(), Vec::new());
    let mut end = |part: &mut String| {
        let whole = std::mem::take(part);
        if !whole.trim().is_empty() {
            all.push(unquoted(whole.trim()));
        }
    };
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            // An apostrophe within a word quotes nothing.
            (None, '"' | '\'') if part.trim().is_empty() => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, c) if depth == 0 && is_separator(c) => {
                end(&mut part);
                continue;
            }
            (Some(_) | None, _) => {}
        }
        part.push(c);
    }
    end(&mut part);
    all
}
