//! Texts in which every character counts, as rows: what is asked about, and diffs.
//!
//! Nothing of them can pass for the program's own words: every row has the gutter on its left. What a row would hide is
//! marked: blanks at the end and in long runs, tabs, blanks that are none of ASCII, and everything that the sanitiser
//! marks. A row that goes on the one before says so in its gutter.

use ratatui::style::Style;

use crate::theme::Theme;
use crate::widgets::wrap::{Break, Line, Wrap};
use steersman_base::text::visible_line;
use steersman_session::model::DetailPart;

/// Blanks in a row that are marked one by one, also within a line.
const RUN: usize = 4;
/// Columns from one tab stop to the next, for the mark of a tab.
const TAB: usize = 4;

/// Writes the parts of a question into rows of so many columns.
pub fn rows(parts: &[DetailPart], room: usize, theme: &Theme) -> Vec<Line> {
    let mut rows = Vec::new();
    let gutter = Line::new("│ ", theme.gutter);
    for part in parts {
        match part {
            DetailPart::Text(text) => {
                for line in steersman_base::text::visible(text).lines() {
                    wrap(&Line::new(line, theme.output), room, Break::Words, [&gutter, &gutter], &mut rows);
                }
            }
            DetailPart::Note(words) => {
                let none = Line::default();
                wrap(&Line::new(&visible_line(words), theme.dim), room, Break::Words, [&none, &none], &mut rows);
            }
            DetailPart::Fact(label, value) => {
                // A label that ends with a blank goes on as a sentence.
                let colon = if label.ends_with(' ') { "" } else { ": " };
                let mut whole = Line::new(&format!("{label}{colon}"), theme.dim);
                whole.append(&marked(value, theme.output, theme));
                wrap(&whole, room, Break::Words, [&Line::default(), &Line::new("  ", theme.dim)], &mut rows);
            }
            DetailPart::Exact(text) => {
                for line in text.split('\n') {
                    row(&marked(line, theme.output, theme), room, theme, &mut rows);
                }
            }
            DetailPart::Diff(diff) => {
                for line in diff.strip_suffix('\n').unwrap_or(diff).split('\n') {
                    let style = match line.as_bytes().first() {
                        Some(b'+') => theme.added,
                        Some(b'-') => theme.removed,
                        Some(b'@') => theme.hunk,
                        _ => theme.output,
                    };
                    // Behind the sign a line of the file begins: blanks there are its indent.
                    let signed = line.split_at_checked(1).filter(|(sign, _)| matches!(*sign, " " | "+" | "-"));
                    let (sign, text) = signed.unwrap_or(("", line));
                    let mut shown = Line::new(sign, style);
                    shown.append(&marked(text, style, theme));
                    row(&shown, room, theme, &mut rows);
                }
            }
        }
    }
    rows
}

/// Writes one line of untrusted text behind the gutter; the rows that go on have a mark there.
pub fn row(line: &Line, room: usize, theme: &Theme, rows: &mut Vec<Line>) {
    let [first, rest] = ["│ ", "│↪"].map(|gutter| Line::new(gutter, theme.gutter));
    wrap(line, room, Break::Anywhere, [&first, &rest], rows);
}

/// Returns one line in which nothing is hidden, where there are no styles.
pub fn plain(text: &str) -> String {
    marked(text, Style::default(), &Theme::default()).text().to_owned()
}

/// Makes one line in which nothing is hidden.
pub fn marked(text: &str, style: Style, theme: &Theme) -> Line {
    let mut line = Line::default();
    let end = text.trim_end_matches([' ', '\t']).len();
    let mut plain = String::new();
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        // An indent is no place to hide something in: it is plain, unless the line has nothing else.
        let is_hidden = at >= end || (blanks >= RUN && at > 0);
        match c {
            ' ' if is_hidden => {
                flush(&mut plain, style, &mut line);
                line.push(&"·".repeat(blanks), theme.mark);
                at += blanks;
            }
            ' ' => {
                plain.push_str(&" ".repeat(blanks));
                at += blanks;
            }
            '\t' => {
                flush(&mut plain, style, &mut line);
                let columns = TAB - line.width() % TAB;
                line.push("→", theme.mark);
                line.push(&" ".repeat(columns - 1), style);
                at += 1;
            }
            _ if c.is_whitespace() && !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}') || c == '\u{2800}' => {
                flush(&mut plain, style, &mut line);
                line.push(&format!("<U+{:04X}>", u32::from(c)), theme.mark);
                at += c.len_utf8();
            }
            _ => {
                plain.push(c);
                at += c.len_utf8();
            }
        }
    }
    flush(&mut plain, style, &mut line);
    line
}

fn flush(plain: &mut String, style: Style, line: &mut Line) {
    line.push(&visible_line(plain), style);
    plain.clear();
}

fn wrap(line: &Line, room: usize, at: Break, [first, rest]: [&Line; 2], rows: &mut Vec<Line>) {
    Wrap { width: room, at, first, rest }.line(line, rows);
}
