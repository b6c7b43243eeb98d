//! Markdown with front matter: the head of skills, custom commands and agent files, and the text behind it.
//!
//! Read is the part of YAML that such heads are made of: scalars (plain, quoted, `|` and `>`), lists in both forms,
//! comments. A YAML reader would refuse many files that people have, since a description often holds a colon; here
//! every head is read, unknown members stay unused, and what is nested counts as present only. Always holds: reading takes
//! time in proportion to the text.
//!
//! # Where things are
//!
//! - the scalars and short lists of a head: quotes, block texts, comments, parts between separators: `scalar.rs`
//! - the members of heads that count for nothing here: `unused.rs`

mod files;
mod scalar;
mod unused;

use std::borrow::Cow;

use crate::limits;

pub use files::{FileChoice, FoundFile, FoundFiles, SKILL_FILE, find};
pub use unused::UnusedMembers;

/// The head and the text of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    fields: Vec<(String, FieldValue)>,
    /// The text behind the head; without a head the whole text.
    pub body: String,
}

/// The value of a member of the head.
#[derive(Debug, Clone, PartialEq, Eq)]
enum FieldValue {
    Text(String),
    List(Vec<String>),
    /// A mapping, of which nothing is used.
    Nested,
}

/// The error of a head that has no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the front matter begins with --- and has no closing --- line")]
pub struct UnclosedFrontMatter;

impl Document {
    /// Reads a file's text.
    ///
    /// # Errors
    /// When the head has no end.
    pub fn parse(text: &str) -> Result<Self, UnclosedFrontMatter> {
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text).replace("\r\n", "\n");
        let mut lines = text.split_inclusive('\n');
        if lines.next().map(str::trim_end) != Some(MARK) {
            return Ok(Self { fields: Vec::new(), body: text });
        }
        let mut head = Vec::new();
        for line in lines.by_ref() {
            if line.trim_end() == MARK {
                return Ok(Self { fields: fields(&head), body: lines.collect() });
            }
            head.push(line.trim_end());
        }
        Err(UnclosedFrontMatter)
    }

    /// Returns a member as text, without blanks around it; `None` when it is missing, blank or nested. A list reads as it is
    /// written.
    pub fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        let text = match self.field(name)? {
            FieldValue::Text(text) => Cow::Borrowed(text.trim()),
            FieldValue::List(items) => Cow::Owned(format!("[{}]", items.join(", "))),
            FieldValue::Nested => return None,
        };
        (!crate::text::is_blank(&text)).then_some(text)
    }

    /// Returns a member as a list: the items, or the parts of a text between commas, or without commas between blanks. What
    /// stands in brackets stays together. `None` when it is missing or says nothing.
    pub fn list(&self, name: &str) -> Option<Vec<String>> {
        Some(match self.field(name)? {
            FieldValue::List(items) => items.clone(),
            FieldValue::Text(text) if crate::text::is_blank(text) || ["null", "~"].contains(&text.trim()) => {
                return None;
            }
            FieldValue::Text(text) => {
                let separator = if text.contains(',') { |c: char| c == ',' } else { char::is_whitespace };
                scalar::parts(text, separator)
            }
            FieldValue::Nested => Vec::new(),
        })
    }

    /// Returns whether a member says yes.
    pub fn is_set(&self, name: &str) -> bool {
        self.text(name).is_some_and(|text| ["true", "yes", "on"].iter().any(|yes| text.eq_ignore_ascii_case(yes)))
    }

    /// Returns whether a member says no.
    pub fn is_denied(&self, name: &str) -> bool {
        self.text(name).is_some_and(|text| ["false", "no", "off"].iter().any(|no| text.eq_ignore_ascii_case(no)))
    }

    /// Returns whether a member says something; `inherit`, no and nothing say nothing.
    pub fn has(&self, name: &str) -> bool {
        match self.field(name) {
            None => false,
            Some(FieldValue::Nested) => true,
            Some(FieldValue::List(items)) => !items.is_empty(),
            Some(FieldValue::Text(text)) => {
                let text = text.trim();
                !crate::text::is_blank(text)
                    && !["inherit", "default", "null", "~"].contains(&text)
                    && !self.is_denied(name)
            }
        }
    }

    fn field(&self, name: &str) -> Option<&FieldValue> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
    }
}

/// The line before and behind the head.
const MARK: &str = "---";

/// Reads the lines of a head.
fn fields(lines: &[&str]) -> Vec<(String, FieldValue)> {
    let mut fields: Vec<(String, FieldValue)> = Vec::new();
    let mut rest = lines;
    while let Some((line, behind)) = rest.split_first() {
        rest = behind;
        if line.is_empty() || is_comment(line) {
            continue;
        }
        if let Some((name, value)) = member(line).filter(|_| !line.starts_with(char::is_whitespace)) {
            let (value, behind) = value_of(value, rest);
            rest = behind;
            if fields.len() < limits::FRONT_MATTER_FIELDS && !fields.iter().any(|(known, _)| known == name) {
                fields.push((name.to_owned(), value));
            }
        } else if let Some((_, FieldValue::Text(text))) = fields.last_mut() {
            // A line that should have been indented.
            text.push(' ');
            text.push_str(line.trim());
        }
    }
    fields
}

/// Splits `name: value`; `None` for a line that is none.
fn member(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let name = name.trim_matches(['"', '\'']);
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    (is_name && (value.is_empty() || value.starts_with(char::is_whitespace))).then(|| (name, value.trim()))
}

/// Reads the value that begins on a member's line; returns the lines behind it.
fn value_of<'a, 'b>(first: &str, rest: &'a [&'b str]) -> (FieldValue, &'a [&'b str]) {
    let bare = scalar::without_comment(first);
    match bare.chars().next() {
        None => below(rest),
        Some(style @ ('|' | '>')) if bare.len() <= 3 => {
            let (lines, rest) = indented(rest);
            (FieldValue::Text(scalar::block(style, lines)), rest)
        }
        Some(quote @ ('"' | '\'')) => match scalar::quoted(quote, first, rest) {
            Some((text, rest)) => (FieldValue::Text(text), rest),
            None => plain(bare, rest),
        },
        Some('[') => match scalar::flow(first, rest) {
            Some((inside, rest)) => (FieldValue::List(scalar::parts(&inside, |c| c == ',')), rest),
            None => plain(bare, rest),
        },
        Some('{') => match scalar::flow(first, rest) {
            Some((_, rest)) => (FieldValue::Nested, rest),
            None => plain(bare, rest),
        },
        Some(_) => plain(bare, rest),
    }
}

/// Reads a plain text, which goes on in indented lines.
fn plain<'a, 'b>(first: &str, rest: &'a [&'b str]) -> (FieldValue, &'a [&'b str]) {
    let (lines, rest) = indented(rest);
    let lines = std::iter::once(first).chain(lines.iter().map(|line| scalar::without_comment(line)));
    (FieldValue::Text(scalar::folded(lines)), rest)
}

/// Reads a value that begins below its member: a list, a text, or a mapping.
fn below<'a, 'b>(rest: &'a [&'b str]) -> (FieldValue, &'a [&'b str]) {
    let first = rest.iter().find(|line| !line.is_empty() && !is_comment(line));
    let Some(first) = first else { return (FieldValue::Text(String::new()), rest) };
    if item(first).is_some() {
        return items(rest);
    }
    let (lines, behind) = indented(rest);
    if lines.is_empty() {
        return (FieldValue::Text(String::new()), rest);
    }
    let value = match first.trim().chars().next() {
        Some('[') => match scalar::flow(first.trim(), lines.get(1..).unwrap_or_default()) {
            Some((inside, _)) => FieldValue::List(scalar::parts(&inside, |c| c == ',')),
            None => FieldValue::Nested,
        },
        _ if member(first.trim()).is_some() => FieldValue::Nested,
        _ => FieldValue::Text(scalar::folded(lines.iter().map(|line| scalar::without_comment(line)))),
    };
    (value, behind)
}

/// Reads the items of a list, each on a line of its own with what is indented below it.
fn items<'a, 'b>(mut rest: &'a [&'b str]) -> (FieldValue, &'a [&'b str]) {
    let mut list: Vec<String> = Vec::new();
    while let Some((line, behind)) = rest.split_first() {
        if let Some(value) = item(line) {
            list.push(scalar::unquoted(scalar::without_comment(value)));
        } else if line.starts_with(char::is_whitespace) && !is_comment(line) {
            if let Some(last) = list.last_mut() {
                last.push(' ');
                last.push_str(line.trim());
            }
        } else if !line.is_empty() && !is_comment(line) {
            break;
        }
        rest = behind;
    }
    (FieldValue::List(list), rest)
}

fn item(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('-')?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim())
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

/// Returns the indented and empty lines at the beginning, and those behind them.
fn indented<'a, 'b>(lines: &'a [&'b str]) -> (&'a [&'b str], &'a [&'b str]) {
    let is_inside = |line: &&str| line.is_empty() || line.starts_with(char::is_whitespace);
    let count = lines.iter().take_while(|line| is_inside(line)).count();
    lines.split_at(count)
}
