//! The line being typed, as a terminal shows it that is only ever written forward.
//!
//! What is typed is written; what is deleted is wiped by backspaces and blanks, as terminals do by themselves, so no
//! escape sequence is needed. Where that does not reach, over the edge of a row, the line is written again in a new one.
//! A line longer than a row is shown up to the cursor. Pure: the loop gives it the message and writes what it returns.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use steersman_base::limits;
use steersman_base::text::visible_line;

/// What the terminal shows of the line.
#[derive(Debug, Default)]
pub struct Echo {
    shown: String,
    /// Bytes before the cursor.
    cursor: usize,
}

/// A place on the terminal: so many rows below the line's beginning, so many columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CursorPlace {
    row: usize,
    column: usize,
}

impl Echo {
    /// Shows the message; returns what is to be written. `before` and `after` are the parts around the cursor.
    pub fn show(&mut self, before: &str, after: &str, columns: usize) -> String {
        let columns = columns.max(2);
        let before = end_of(&visible_line(before)).into_owned();
        let after = visible_line(after);
        let is_short = place(&before, columns).row == 0 && place(&format!("{before}{after}"), columns).row == 0;
        let shown = if is_short { format!("{before}{after}") } else { before.clone() };
        let cursor = before.len();
        if shown == self.shown && cursor == self.cursor {
            return String::new();
        }
        let written = self.change(&shown, cursor, columns).unwrap_or_else(|| {
            let back = back(place(&shown, columns), place(&before, columns)).unwrap_or_default();
            format!("\r\n{}{back}", rest_wrapped("", &shown, columns))
        });
        self.shown = shown;
        self.cursor = cursor;
        written
    }

    /// Ends the line on the terminal; what comes next stands in a new one.
    pub fn leave(&mut self) -> &'static str {
        let is_empty = self.shown.is_empty();
        *self = Self::default();
        if is_empty { "" } else { "\r\n" }
    }

    /// Tells whether the terminal shows nothing of a line.
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// Writes the difference; `None` when the cursor would have to go up a row.
    fn change(&self, shown: &str, cursor: usize, columns: usize) -> Option<String> {
        let same = common(&self.shown, shown);
        let from = place(self.shown.get(..self.cursor)?, columns);
        let to = place(shown.get(..same)?, columns);
        let mut out = if self.cursor >= same { back(from, to)? } else { self.shown.get(self.cursor..same)?.to_owned() };
        if shown.len() == same && self.shown.len() == same {
            // Only the cursor moves.
            let there = place(shown.get(..cursor)?, columns);
            let out =
                if cursor <= self.cursor { back(from, there)? } else { shown.get(self.cursor..cursor)?.to_owned() };
            return Some(out);
        }
        out.push_str(&rest_wrapped(shown.get(..same)?, shown.get(same..)?, columns));
        let end = place(shown, columns);
        let was = place(&self.shown, columns);
        if (was.row, was.column) > (end.row, end.column) {
            if was.row != end.row {
                return None;
            }
            let blanks = was.column - end.column;
            out.push_str(&" ".repeat(blanks));
            out.push_str(&"\u{8}".repeat(blanks));
        }
        out.push_str(&back(end, place(shown.get(..cursor)?, columns))?);
        Some(out)
    }
}

/// Returns the backspaces from one place to another in the same row before it.
fn back(from: CursorPlace, to: CursorPlace) -> Option<String> {
    (from.row == to.row && from.column >= to.column).then(|| "\u{8}".repeat(from.column - to.column))
}

/// Returns where the cursor stands behind a text.
fn place(text: &str, columns: usize) -> CursorPlace {
    let mut place = CursorPlace { row: 0, column: 0 };
    for grapheme in text.graphemes(true) {
        let width = grapheme.width();
        if place.column + width > columns {
            place = CursorPlace { row: place.row + 1, column: 0 };
        }
        place.column += width;
        if place.column >= columns {
            place = CursorPlace { row: place.row + 1, column: 0 };
        }
    }
    place
}

/// Writes a text behind another. A terminal goes to the next row only with the next character: one is written and wiped.
fn rest_wrapped(before: &str, text: &str, columns: usize) -> String {
    let end = place(&format!("{before}{text}"), columns);
    let wraps = end.column == 0 && end.row > 0 && !text.is_empty();
    format!("{text}{}", if wraps { " \u{8}" } else { "" })
}

/// Returns how many bytes two texts have in common at their start, whole graphemes.
fn common(one: &str, other: &str) -> usize {
    let pairs = one.graphemes(true).zip(other.graphemes(true));
    pairs.take_while(|(one, other)| one == other).map(|(one, _)| one.len()).sum()
}

/// Returns the end of a very long line.
fn end_of(text: &str) -> std::borrow::Cow<'_, str> {
    let count = text.chars().count();
    if count <= limits::LINE_ECHO {
        return text.into();
    }
    // In steps, so that what is shown does not change with each key.
    let skipped = (count - limits::LINE_ECHO).next_multiple_of(limits::LINE_ECHO / 2);
    let end: String = text.chars().skip(skipped).collect();
    format!("({skipped} characters) {end}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A terminal that knows backspace, return and line feed alone.
    struct PlainTerminal {
        rows: Vec<Vec<char>>,
        column: usize,
        columns: usize,
    }

    impl PlainTerminal {
        fn write(&mut self, text: &str) {
            for c in text.chars() {
                match c {
                    '\u{8}' => self.column = self.column.min(self.columns - 1).saturating_sub(1),
                    '\r' => self.column = 0,
                    '\n' => self.rows.push(Vec::new()),
                    c => {
                        if self.column == self.columns {
                            self.rows.push(Vec::new());
                            self.column = 0;
                        }
                        let row = self.rows.last_mut().unwrap();
                        row.resize(row.len().max(self.column + 1), ' ');
                        row[self.column] = c;
                        self.column += 1;
                    }
                }
            }
        }

        fn last(&self) -> String {
            self.rows.last().unwrap().iter().collect::<String>().trim_end().to_owned()
        }
    }

    #[test]
    fn what_is_shown_is_the_line_whatever_is_typed_and_deleted() {
        let mut terminal = PlainTerminal { rows: vec![Vec::new()], column: 0, columns: 10 };
        let mut echo = Echo::default();
        let mut seed = 7_u64;
        let mut text: Vec<char> = Vec::new();
        let mut cursor = 0;
        for step in 0..4_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            match seed >> 33 & 7 {
                0..=3 if text.len() < 24 => {
                    text.insert(cursor, char::from(b'a' + u8::try_from(seed >> 40 & 15).unwrap()));
                    cursor += 1;
                }
                4 if cursor > 0 => {
                    cursor -= 1;
                    text.remove(cursor);
                }
                5 => cursor = cursor.saturating_sub(1),
                6 => cursor = (cursor + 1).min(text.len()),
                7 if (seed >> 50).is_multiple_of(8) => {
                    text.truncate(cursor);
                }
                _ => {}
            }
            let (before, after): (String, String) = (text[..cursor].iter().collect(), text[cursor..].iter().collect());
            let written = echo.show(&before, &after, 10);
            assert!(!written.contains('\u{1b}'));
            terminal.write(&written);
            let whole = format!("{before}{after}");
            let shown = if whole.len() < 10 { whole } else { before.clone() };
            let row = shown.get(shown.len() / 10 * 10..).unwrap();
            assert_eq!(terminal.last(), row.trim_end(), "step {step}: {before}|{after}");
            assert_eq!(terminal.column, before.len() % 10, "step {step}: {before}|{after}");
        }
    }

    #[test]
    fn typing_at_the_end_writes_what_was_typed_and_nothing_else() {
        let mut echo = Echo::default();
        assert_eq!(echo.show("a", "", 80), "a");
        assert_eq!(echo.show("ab", "", 80), "b");
        assert_eq!(echo.show("a", "", 80), "\u{8} \u{8}");
        assert_eq!(echo.leave(), "\r\n");
        assert_eq!(echo.leave(), "");
    }

    #[test]
    fn nothing_typed_or_pasted_is_obeyed_by_the_terminal() {
        let mut echo = Echo::default();
        assert_eq!(echo.show("one\ntwo\u{1b}[2J", "", 80), "one⏎two␛[2J");
    }
}
