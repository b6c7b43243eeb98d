//! The model's Markdown as lines to be read aloud, while it streams.
//!
//! Called for each change of an answer with its whole text so far. What is written depends on the text alone, never on
//! the pieces in which it came: a sentence, an item, a row, a line of code is written once, as soon as nothing that
//! follows can change it. Pure.

use std::mem;

use super::inline::{plain, sentence_end};
use steersman_base::summary::count;
use steersman_base::text::visible_line;

/// Reads one text.
#[derive(Debug, Clone, Default)]
pub struct Speech {
    /// Bytes that were read.
    read: usize,
    state: SpeechState,
    /// Indents of the lists that are open, outermost first.
    lists: Vec<usize>,
    /// What the line that is read stands in.
    within: Within,
    /// True once a line of the block that is read was written in part.
    begun: bool,
    /// A line that is a table's head when the next one says so.
    head: Option<String>,
}

/// What the next line belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum SpeechState {
    #[default]
    Text,
    /// Code, up to a line of at least so many of this character.
    Code(Fence),
    /// A table with these columns; so many rows were read.
    Table { columns: Vec<String>, rows: usize },
}

/// What opened a block of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fence {
    mark: char,
    count: usize,
    indent: usize,
    within: Within,
}

/// What stands before the words of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Within {
    #[default]
    Nothing,
    Quote,
}

impl Speech {
    /// Reads what has come; `whole` is the text so far.
    pub fn more(&mut self, whole: &str) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(end) = self.rest(whole).find('\n') {
            let line = self.rest(whole).get(..end).unwrap_or_default().to_owned();
            self.line(&line, &mut lines);
            self.read += end + 1;
            self.begun = false;
        }
        self.sentences(whole, &mut lines);
        lines
    }

    /// Reads the rest of a text that has ended.
    pub fn end(&mut self, whole: &str) -> Vec<String> {
        let mut lines = self.more(whole);
        let rest = self.rest(whole).to_owned();
        if !rest.is_empty() {
            self.line(&rest, &mut lines);
            self.read = whole.len();
        }
        self.flush_head(&mut lines);
        match mem::take(&mut self.state) {
            SpeechState::Text => {}
            SpeechState::Code(_) => lines.push("end of code".to_owned()),
            SpeechState::Table { .. } => lines.push("end of table".to_owned()),
        }
        lines
    }

    /// Returns how many bytes were read.
    pub fn bytes_read(&self) -> usize {
        self.read
    }

    fn rest<'a>(&self, whole: &'a str) -> &'a str {
        whole.get(self.read..).unwrap_or_default()
    }

    /// Reads the sentences of a paragraph's line that has not ended yet.
    fn sentences(&mut self, whole: &str, lines: &mut Vec<String>) {
        if self.state != SpeechState::Text || self.head.is_some() {
            return;
        }
        loop {
            let rest = self.rest(whole);
            if !self.begun && !is_plainly_text(rest) {
                return;
            }
            let Some(end) = sentence_end(rest) else { return };
            let sentence = rest.get(..end).unwrap_or_default().to_owned();
            if !self.begun {
                self.lists_end(0);
            }
            self.add_sentences("", &sentence, lines);
            self.read += end;
            self.begun = true;
        }
    }

    /// Reads a line that is whole, or what is left of it.
    fn line(&mut self, line: &str, lines: &mut Vec<String>) {
        if self.begun {
            return self.add_sentences("", line, lines);
        }
        let (line, quote) = match mem::take(&mut self.state) {
            SpeechState::Text => quoted(line),
            SpeechState::Code(fence) => return self.code(line, fence, lines),
            SpeechState::Table { columns, rows } => {
                if line.trim_start().starts_with('|') || (line.contains('|') && !line.trim().is_empty()) {
                    lines.push(row(&columns, rows + 1, line));
                    self.state = SpeechState::Table { columns, rows: rows + 1 };
                    return;
                }
                lines.push("end of table".to_owned());
                (line, Within::Nothing)
            }
        };
        self.within = quote;
        if let Some(head) = self.head.take() {
            if is_delimiter(line) {
                let columns: Vec<String> = cells(&head).iter().map(|cell| plain(cell)).collect();
                lines.push(format!("table, {}: {}", count(columns.len(), "column"), columns.join(", ")));
                self.state = SpeechState::Table { columns, rows: 0 };
                return;
            }
            self.paragraph(&head, lines);
        }
        if line.trim_start().starts_with('|') {
            self.head = Some(line.to_owned());
            return;
        }
        self.block(line, lines);
        self.within = Within::Nothing;
    }

    fn flush_head(&mut self, lines: &mut Vec<String>) {
        if let Some(head) = self.head.take() {
            self.paragraph(&head, lines);
        }
    }

    /// Reads a line in which a block may begin.
    fn block(&mut self, line: &str, lines: &mut Vec<String>) {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if text.is_empty() {
            return;
        }
        if let Some((mark, count, language)) = fence(text) {
            let language = visible_line(language.split([' ', ',', '{']).next().unwrap_or_default()).into_owned();
            lines.push(if language.is_empty() { "code:".to_owned() } else { format!("code {language}:") });
            self.state = SpeechState::Code(Fence { mark, count, indent, within: self.within });
            return;
        }
        if is_rule(text) {
            // Dashes alone have nothing to say.
            return;
        }
        if let Some((depth, title)) = heading(text) {
            self.lists.clear();
            lines.push(format!("heading {depth}: {}", plain(title)));
            return;
        }
        if let Some((number, item)) = item(text) {
            self.lists_end(indent);
            if self.lists.last().is_none_or(|open| *open < indent) {
                self.lists.push(indent);
            }
            let level = self.lists.len();
            let (mark, item) = task(item);
            let number = number.map(|number| format!(" {number}")).unwrap_or_default();
            let level = if level > 1 { format!(", level {level}") } else { String::new() };
            let label = format!("item{number}{level}{mark}: ");
            return self.add_sentences(&label, item, lines);
        }
        if indent == 0 {
            self.lists_end(0);
        }
        self.paragraph(text, lines);
    }

    /// Closes the lists that are indented further than this.
    fn lists_end(&mut self, indent: usize) {
        self.lists.retain(|open| *open <= indent);
    }

    fn paragraph(&self, text: &str, lines: &mut Vec<String>) {
        self.add_sentences("", text, lines);
    }

    /// Writes words, a sentence in each line.
    fn add_sentences(&self, label: &str, text: &str, lines: &mut Vec<String>) {
        let quote = match self.within {
            Within::Quote => "quote: ",
            Within::Nothing => "",
        };
        let mut label = format!("{quote}{label}");
        let mut rest = text.trim();
        if rest.is_empty() && !label.is_empty() {
            lines.push(label.trim_end().to_owned());
        }
        while !rest.is_empty() {
            let end = sentence_end(rest).unwrap_or(rest.len());
            let (sentence, behind) = rest.split_at_checked(end).unwrap_or((rest, ""));
            lines.push(format!("{label}{}", plain(sentence.trim())));
            quote.clone_into(&mut label);
            rest = behind.trim_start();
        }
    }

    fn code(&mut self, line: &str, fence: Fence, lines: &mut Vec<String>) {
        let (line, within) = if fence.within == Within::Quote { quoted(line) } else { (line, Within::Nothing) };
        if within != fence.within {
            lines.push("end of code".to_owned());
            return self.block(line, lines);
        }
        let text = line.trim();
        if text.chars().count() >= fence.count && text.chars().all(|c| c == fence.mark) {
            lines.push("end of code".to_owned());
            return;
        }
        let blanks = line.len() - line.trim_start_matches(' ').len();
        lines.push(visible_line(line.get(fence.indent.min(blanks)..).unwrap_or_default()).into_owned());
        self.state = SpeechState::Code(fence);
    }
}

/// Takes the mark of a quote off.
fn quoted(line: &str) -> (&str, Within) {
    match line.trim_start().strip_prefix('>') {
        Some(quoted) => (quoted.strip_prefix(' ').unwrap_or(quoted), Within::Quote),
        None => (line, Within::Nothing),
    }
}

/// Tells whether a line that has not ended can only be words: no block begins like this.
fn is_plainly_text(text: &str) -> bool {
    text.starts_with(char::is_alphabetic) || (text.starts_with(['"', '(', '“', '‘']) && text.len() > 1)
}

fn fence(text: &str) -> Option<(char, usize, &str)> {
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let count = text.chars().take_while(|c| *c == mark).count();
    let info = text.get(count..)?.trim();
    (count >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, count, info))
}

fn is_rule(text: &str) -> bool {
    let mark = text.chars().next().unwrap_or_default();
    let marks = text.chars().filter(|c| *c == mark).count();
    matches!(mark, '-' | '*' | '_' | '=') && marks >= 3 && text.chars().all(|c| c == mark || c == ' ')
}

fn heading(text: &str) -> Option<(usize, &str)> {
    let depth = text.chars().take_while(|c| *c == '#').count();
    let title = text.get(depth..)?;
    let is_one = (1..=6).contains(&depth) && (title.is_empty() || title.starts_with(' '));
    is_one.then(|| (depth, title.trim().trim_end_matches('#').trim_end()))
}

/// Reads an item of a list: its number, and its words.
fn item(text: &str) -> Option<(Option<&str>, &str)> {
    if let Some(rest) = text.strip_prefix(['-', '*', '+']) {
        return (rest.is_empty() || rest.starts_with(' ')).then(|| (None, rest.trim_start()));
    }
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let rest = text.get(digits..)?.strip_prefix(['.', ')'])?;
    let is_one = (1..=9).contains(&digits) && (rest.is_empty() || rest.starts_with(' '));
    is_one.then(|| (text.get(..digits), rest.trim_start()))
}

fn task(item: &str) -> (&'static str, &str) {
    for (mark, words) in [("[ ] ", ", open"), ("[x] ", ", done"), ("[X] ", ", done")] {
        if let Some(rest) = item.strip_prefix(mark) {
            return (words, rest);
        }
    }
    ("", item)
}

fn is_delimiter(line: &str) -> bool {
    let cells = cells(line);
    let is_one = |cell: &String| {
        let dashes = cell.trim().trim_start_matches(':').trim_end_matches(':');
        !dashes.is_empty() && dashes.chars().all(|c| c == '-')
    };
    !cells.is_empty() && cells.iter().all(is_one)
}

/// Takes a row of a table apart.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut escaped = false;
    let mut last = 0;
    for c in line.chars() {
        match c {
            '|' if !escaped => {
                cells.push(String::new());
                last += 1;
            }
            '|' => {
                if let Some(cell) = cells.get_mut(last) {
                    cell.pop();
                    cell.push('|');
                }
            }
            _ => {
                if let Some(cell) = cells.get_mut(last) {
                    cell.push(c);
                }
            }
        }
        escaped = c == '\\' && !escaped;
    }
    if cells.last().is_some_and(|cell| cell.trim().is_empty()) {
        cells.pop();
    }
    cells.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

/// Writes a row as a record: each cell with the name of its column.
fn row(columns: &[String], number: usize, line: &str) -> String {
    let cells = cells(line);
    let named = cells.iter().enumerate().map(|(at, cell)| {
        let cell = plain(cell);
        let cell = if cell.is_empty() { "empty".to_owned() } else { cell };
        match columns.get(at).filter(|name| !name.is_empty()) {
            Some(name) => format!("{name}: {cell}"),
            None => cell,
        }
    });
    format!("row {number}: {}", named.collect::<Vec<_>>().join("; "))
}
