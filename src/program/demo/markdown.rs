//! Small pieces of Markdown around text that is not ours: quotes, code spans, fences, tables.
//!
//! What is put in cannot break out of its piece.

/// Longest quote of a user's message, characters.
const QUOTE_CHARS: usize = 200;
/// Longest line shown of a file, characters.
const LINE_CHARS: usize = 100;

/// Quotes a message word for word as a block; a long one is cut and says so.
pub(super) fn block_quote(text: &str) -> String {
    format!("> {}\n", truncate(text.trim(), QUOTE_CHARS).lines().collect::<Vec<_>>().join("\n> "))
}

/// Quotes a message within a sentence; line ends become spaces.
pub(super) fn inline_quote(text: &str) -> String {
    format!("“{}”", truncate(&text.split_whitespace().collect::<Vec<_>>().join(" "), QUOTE_CHARS))
}

/// Makes a code span; backticks and control characters in it are replaced.
pub(super) fn code(text: &str) -> String {
    let clean: String = text.trim().chars().map(|c| if c == '`' || c.is_control() { '\'' } else { c }).collect();
    format!("`{}`", truncate(&clean, LINE_CHARS))
}

/// Makes a fenced block of lines; the fence is longer than any in them.
pub(super) fn fenced(language: &str, lines: &[&str]) -> String {
    let longest = lines.iter().flat_map(|line| line.split(|c| c != '`')).map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", lines.join("\n"))
}

/// Makes a table; bars in cells are escaped.
pub(super) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let escape = |cell: &str| cell.replace('|', "\\|");
    let mut table = line(head.iter().map(|cell| escape(cell)).collect());
    table.push_str(&line(head.iter().map(|_| "---".to_owned()).collect()));
    for row in rows {
        table.push_str(&line(row.iter().map(|cell| escape(cell)).collect()));
    }
    table
}

/// Writes a number with its noun: `1 file`, `2 files`.
pub(super) fn number(count: usize, noun: &str) -> String {
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) => format!("{count} {noun}s"),
    }
}

/// Joins code spans as a sentence does.
pub(super) fn and_code(texts: &[String]) -> String {
    and(&texts.iter().map(|text| code(text)).collect::<Vec<_>>())
}

/// Joins words as a sentence does: `a`, `a and b`, `a, b and c`.
pub(super) fn and(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Puts two blocks together, a blank line between.
pub(super) fn joined(first: &str, second: &str) -> String {
    let blank = if first.trim().is_empty() || second.trim().is_empty() { "" } else { "\n\n" };
    format!("{}{blank}{second}", first.trim())
}

/// Makes a section; nothing when nothing stands in it.
pub(super) fn section(heading: &str, body: &str) -> String {
    if body.trim().is_empty() { String::new() } else { format!("## {heading}\n\n{body}") }
}

/// Puts blocks together, a blank line between.
pub(super) fn all_joined(blocks: impl IntoIterator<Item = String>) -> String {
    blocks.into_iter().fold(String::new(), |text, block| joined(&text, &block))
}

pub(super) fn list(items: impl IntoIterator<Item = String>) -> String {
    items.into_iter().map(|item| format!("- {item}")).collect::<Vec<_>>().join("\n")
}

/// Cuts text after so many characters and says so.
pub(super) fn truncate(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{} …", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
