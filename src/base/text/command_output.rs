//! Output of a command as a terminal would show it: colours, carriage returns and erased lines are interpreted.
//!
//! Used by the reducer of the transcript. Always holds: the text has passed the sanitiser, so that of all that a command can
//! print only a line's own words and the names of seven colours are left. Every other sequence is shown, not obeyed.

use serde::{Deserialize, Serialize};

use super::visible;

/// Longest sequence that is waited for, bytes.
const SEQUENCE_BYTES: usize = 64;
/// Characters of a line that can still be written over; those before them are final.
const LINE_CHARS: usize = 4 * 1024;
/// Columns from one tab stop to the next.
const TAB_STOP: usize = 4;
/// How often the lines of a whole output are compared with those that were printed.
const COMPARED_TIMES: usize = 4;

/// A colour that a command asked for; a theme decides how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hue {
    /// Errors and what went.
    Red,
    /// Success and what came.
    Green,
    /// Warnings.
    Yellow,
    /// Blue.
    Blue,
    /// Magenta.
    Magenta,
    /// Cyan.
    Cyan,
    /// Grey.
    Grey,
}

/// A stretch of a text with its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coloured {
    /// Its first byte.
    pub start: usize,
    /// The byte behind its last.
    pub end: usize,
    /// Its colour.
    pub hue: Hue,
}

/// A sanitised text with the colours of its parts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandOutput {
    /// The text.
    pub text: String,
    /// The coloured parts, in order; none crosses a line end.
    pub colours: Vec<Coloured>,
}

impl CommandOutput {
    /// Interprets a whole output.
    pub fn parse(output: &str) -> Self {
        let mut reader = CommandOutputReader::default();
        reader.push(output);
        reader.finish()
    }

    /// Gives this output the colours that were seen while it was printed, line by line: a line that was shown in another way, for
    /// a sequence in it that is not interpreted, stays without.
    #[must_use]
    pub fn coloured_by(mut self, printed: &Self) -> Self {
        if !self.colours.is_empty() || printed.colours.is_empty() {
            return self;
        }
        let whole: Vec<(usize, &str)> = lines(&self.text).collect();
        // So much is compared: lines that do not come again cost no more than the output is long.
        let mut comparisons = whole.len().saturating_mul(COMPARED_TIMES);
        let mut next = 0;
        let mut found = Vec::new();
        let mut parts = printed.colours.iter().peekable();
        for (start, line) in lines(&printed.text) {
            let rest = whole.get(next..).unwrap_or_default();
            let ahead = rest.iter().take(comparisons).position(|(_, other)| *other == line);
            comparisons = comparisons.saturating_sub(ahead.map_or(rest.len(), |ahead| ahead + 1));
            let to = ahead.and_then(|ahead| rest.get(ahead)).map(|(to, _)| *to);
            while let Some(part) = parts.next_if(|part| part.start < start + line.len()) {
                let moved = |at: usize| to.and_then(|to| Some(at.checked_sub(start)? + to));
                if let (Some(start), Some(end)) = (moved(part.start), moved(part.end)) {
                    found.push(Coloured { start, end, hue: part.hue });
                }
            }
            next += ahead.map_or(0, |ahead| ahead + 1);
        }
        self.colours = found;
        self
    }

    /// Takes the output of something that is no command: nothing in it is interpreted.
    pub fn plain(output: &str) -> Self {
        Self { text: visible(output).into_owned(), colours: Vec::new() }
    }
}

/// The output of a command that still runs, interpreted piece by piece.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandOutputReader {
    shown: CommandOutput,
    /// Bytes of the shown text that are final.
    settled: usize,
    /// Coloured parts that are final.
    settled_colours: usize,
    /// The characters of the last line.
    line: Vec<(char, Option<Hue>)>,
    /// Where the next character of it goes.
    column: usize,
    hue: Option<Hue>,
    /// The beginning of a sequence.
    held: String,
}

/// What the characters behind an escape character are.
enum Sequence<'a> {
    /// Colours, with their parameters, in this many bytes.
    Colours(usize, &'a str),
    /// The erasing of a part of the line, in this many bytes.
    Erase(usize, &'a str),
    Open,
    /// Nothing that is interpreted.
    Other,
}

impl CommandOutputReader {
    /// Returns what there is to see so far.
    pub fn shown(&self) -> &CommandOutput {
        &self.shown
    }

    /// Takes the next piece, which may begin and end anywhere.
    pub fn push(&mut self, piece: &str) {
        let mut input = std::mem::take(&mut self.held);
        input.push_str(piece);
        let mut rest = input.as_str();
        while let Some(c) = rest.chars().next() {
            let mut used = c.len_utf8();
            match c {
                '\n' => self.end_line(),
                '\r' => self.column = 0,
                '\t' => {
                    for _ in 0..TAB_STOP - self.column % TAB_STOP {
                        self.put(' ');
                    }
                }
                '\u{1b}' => match sequence(rest) {
                    Sequence::Colours(bytes, parameters) => {
                        self.hue = hue(self.hue, parameters);
                        used = bytes;
                    }
                    Sequence::Erase(bytes, parameter) => {
                        self.erase(parameter);
                        used = bytes;
                    }
                    Sequence::Open => {
                        rest.clone_into(&mut self.held);
                        used = rest.len();
                    }
                    Sequence::Other => self.put(c),
                },
                _ => self.put(c),
            }
            rest = rest.get(used..).unwrap_or_default();
        }
        self.show_line();
    }

    /// Returns the whole output.
    pub fn finish(mut self) -> CommandOutput {
        for c in std::mem::take(&mut self.held).chars() {
            self.put(c);
        }
        self.show_line();
        self.shown.text.shrink_to_fit();
        self.shown.colours.shrink_to_fit();
        self.shown
    }

    /// Drops the older part, so that about this many bytes stay; returns how many lines went.
    pub fn keep_newest(&mut self, bytes: usize) -> usize {
        let text = &mut self.shown.text;
        let end = text.ceil_char_boundary(text.len().saturating_sub(bytes)).min(self.settled);
        let lines = text.drain(..end).filter(|c| *c == '\n').count();
        let gone = self.shown.colours.iter().take_while(|part| part.start < end).count();
        self.shown.colours.drain(..gone);
        for part in &mut self.shown.colours {
            part.start -= end;
            part.end -= end;
        }
        self.settled -= end;
        self.settled_colours = self.settled_colours.saturating_sub(gone);
        lines
    }

    fn put(&mut self, c: char) {
        if self.column >= LINE_CHARS {
            self.settle();
        }
        while self.line.len() < self.column {
            self.line.push((' ', None));
        }
        match self.line.get_mut(self.column) {
            Some(place) => *place = (c, self.hue),
            None => self.line.push((c, self.hue)),
        }
        self.column += 1;
    }

    fn erase(&mut self, parameter: &str) {
        match parameter {
            "" | "0" => self.line.truncate(self.column),
            "1" => self.line.iter_mut().take(self.column + 1).for_each(|place| *place = (' ', None)),
            _ => self.line.clear(),
        }
    }

    fn end_line(&mut self) {
        self.show_line();
        self.shown.text.push('\n');
        self.begin_line();
    }

    /// Makes final what the line has.
    fn settle(&mut self) {
        self.show_line();
        self.begin_line();
    }

    fn begin_line(&mut self) {
        self.settled = self.shown.text.len();
        self.settled_colours = self.shown.colours.len();
        self.line.clear();
        self.column = 0;
    }

    fn show_line(&mut self) {
        self.shown.text.truncate(self.settled);
        self.shown.colours.truncate(self.settled_colours);
        for part in self.line.chunk_by(|(_, one), (_, other)| one == other) {
            let start = self.shown.text.len();
            let words: String = part.iter().map(|(c, _)| *c).collect();
            self.shown.text.push_str(&visible(&words));
            if let Some(hue) = part.first().and_then(|(_, hue)| *hue) {
                self.shown.colours.push(Coloured { start, end: self.shown.text.len(), hue });
            }
        }
    }
}

/// Returns the lines of a text, each with the place of its first byte.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |next, line| {
        let start = *next;
        *next += line.len();
        Some((start, line.trim_end()))
    })
}

/// Reads what stands behind an escape character.
fn sequence(text: &str) -> Sequence<'_> {
    let mut bytes = text.bytes().skip(1);
    match bytes.next() {
        None => return Sequence::Open,
        Some(b'[') => {}
        Some(_) => return Sequence::Other,
    }
    for (at, byte) in text.bytes().enumerate().skip(2).take(SEQUENCE_BYTES) {
        let parameters = text.get(2..at).unwrap_or_default();
        match byte {
            b'0'..=b'9' | b';' | b':' => {}
            b'm' => return Sequence::Colours(at + 1, parameters),
            b'K' if matches!(parameters, "" | "0" | "1" | "2") => return Sequence::Erase(at + 1, parameters),
            _ => return Sequence::Other,
        }
    }
    if text.len() < SEQUENCE_BYTES { Sequence::Open } else { Sequence::Other }
}

/// Returns the colour behind a sequence of colours: of everything else that it may say nothing is kept.
fn hue(before: Option<Hue>, parameters: &str) -> Option<Hue> {
    let mut hue = before;
    let mut rest = parameters.split(';');
    while let Some(parameter) = rest.next() {
        let mut parts = parameter.split(':').map(|part| part.parse::<u8>().unwrap_or(0));
        match parts.next().unwrap_or(0) {
            0 | 39 => hue = None,
            code @ 30..=37 => hue = of_sixteen(code - 30),
            code @ 90..=97 => hue = of_sixteen(code - 90 + 8),
            code @ (38 | 48) => {
                let values: Vec<u8> = parts.collect();
                let number = |part: Option<&str>| part.and_then(|part| part.parse().ok()).unwrap_or(0);
                let asked = match values.as_slice() {
                    [5, index, ..] => of_256(*index),
                    [2, .., red, green, blue] => of_rgb([*red, *green, *blue]),
                    [] => match rest.next() {
                        Some("5") => of_256(number(rest.next())),
                        Some("2") => of_rgb([number(rest.next()), number(rest.next()), number(rest.next())]),
                        _ => None,
                    },
                    _ => None,
                };
                if code == 38 {
                    hue = asked;
                }
            }
            _ => {}
        }
    }
    hue
}

/// Black and white are the colours of plain text: which of them can be read only the theme knows.
fn of_sixteen(index: u8) -> Option<Hue> {
    match index {
        1 | 9 => Some(Hue::Red),
        2 | 10 => Some(Hue::Green),
        3 | 11 => Some(Hue::Yellow),
        4 | 12 => Some(Hue::Blue),
        5 | 13 => Some(Hue::Magenta),
        6 | 14 => Some(Hue::Cyan),
        8 => Some(Hue::Grey),
        _ => None,
    }
}

fn of_256(index: u8) -> Option<Hue> {
    let level = |step: u8| if step == 0 { 0 } else { 55 + step * 40 };
    match index {
        0..=15 => of_sixteen(index),
        16..=231 => {
            let cube = index - 16;
            of_rgb([level(cube / 36), level(cube / 6 % 6), level(cube % 6)])
        }
        232.. => {
            let grey = 8 + (index - 232) * 10;
            of_rgb([grey; 3])
        }
    }
}

fn of_rgb(channels: [u8; 3]) -> Option<Hue> {
    let [most, least] = [channels.into_iter().max()?, channels.into_iter().min()?];
    if most - least < 48 {
        return (64..160).contains(&most).then_some(Hue::Grey);
    }
    let middle = least + (most - least) / 2;
    Some(match channels.map(|channel| channel > middle) {
        [true, true, _] => Hue::Yellow,
        [true, false, true] => Hue::Magenta,
        [true, false, false] => Hue::Red,
        [false, true, true] => Hue::Cyan,
        [false, true, false] => Hue::Green,
        [false, false, _] => Hue::Blue,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(output: &str) -> String {
        CommandOutput::parse(output).text
    }

    fn colours(output: &str) -> Vec<(String, Hue)> {
        let output = CommandOutput::parse(output);
        output.colours.iter().map(|part| (output.text[part.start..part.end].to_owned(), part.hue)).collect()
    }

    #[test]
    fn a_progress_line_shows_what_was_written_over_it() {
        for (output, seen) in [
            ("progress 10%\rprogress 50%\rprogress 100%\ndone\n", "progress 100%\ndone\n"),
            ("long line\rshort", "shortline"),
            ("long line\r\u{1b}[Kshort", "short"),
            ("long line\u{1b}[2K\rshort", "short"),
            ("dos\r\nlines\r\n", "dos\nlines\n"),
            ("a\tb", "a   b"),
        ] {
            assert_eq!(shown(output), seen, "{output:?}");
        }
    }

    #[test]
    fn colours_are_kept_and_their_sequences_are_not_shown() {
        let red = |text: &str| (text.to_owned(), Hue::Red);
        assert_eq!(colours("\u{1b}[31mred\u{1b}[0m plain"), [red("red")]);
        assert_eq!(colours("\u{1b}[1;38;5;196mred\u{1b}[39m plain"), [red("red")]);
        assert_eq!(colours("\u{1b}[38;2;255;0;0mred\u{1b}[m"), [red("red")]);
        assert_eq!(colours("\u{1b}[38:2::255:0:0mone\ntwo"), [red("one"), red("two")]);
        assert_eq!(colours("\u{1b}[48;5;32;91mred"), [red("red")]);
        assert_eq!(colours("\u{1b}[30;47mhidden\u{1b}[8m\u{1b}[97m"), []);
        assert_eq!(shown("\u{1b}[30;40;8mhidden\u{1b}[0m"), "hidden");
    }

    #[test]
    fn a_text_without_colours_gets_those_that_were_seen() {
        let printed = CommandOutput::parse("ok\n\u{1b}[31mred\u{1b}[0m and \u{1b}[32mgreen\u{1b}[0m\n");
        let whole = CommandOutput::parse("It failed:\nok\nred and green\n[exit code 1]\n").coloured_by(&printed);
        let parts: Vec<&str> = whole.colours.iter().map(|part| &whole.text[part.start..part.end]).collect();
        assert_eq!(parts, ["red", "green"]);
        assert_eq!(CommandOutput::parse("something else").coloured_by(&printed).colours, []);
        let printed = CommandOutput::parse("\u{1b}[?25l\u{1b}[31mred\u{1b}[0m\nand \u{1b}[32mgreen\u{1b}[0m\n");
        let whole = CommandOutput::parse("red\nand green\n").coloured_by(&printed);
        let parts: Vec<&str> = whole.colours.iter().map(|part| &whole.text[part.start..part.end]).collect();
        assert_eq!(parts, ["green"], "the line with a sequence that is shown has none");
    }

    #[test]
    fn no_other_sequence_is_interpreted() {
        for (output, seen) in [
            ("\u{1b}[2J\u{1b}[1;1H", "␛[2J␛[1;1H"),
            ("\u{1b}]0;title\u{7}", "␛]0;title␇"),
            ("\u{1b}[?25l", "␛[?25l"),
            ("\u{9b}31m", "<U+009B>31m"),
            ("\u{1b}[31", "␛[31"),
            ("a\u{8}b", "a␈b"),
            ("\u{202e}x", "<U+202E>x"),
            ("\u{1b}[3K", "␛[3K"),
        ] {
            assert_eq!(shown(output), seen, "{output:?}");
        }
    }

    #[test]
    fn what_is_shown_does_not_depend_on_the_pieces_and_is_always_visible_text() {
        let output =
            "a\u{1b}[31mb\tc\r\u{1b}[Kd\u{0301}e\u{1b}[32m\u{0301}\u{200d}f\u{1b}[2J\r\n\u{1b}[1mx\rüy\u{1b}[3";
        let whole = CommandOutput::parse(output);
        assert_eq!(visible(&whole.text), whole.text);
        let mut reader = CommandOutputReader::default();
        for c in output.chars() {
            reader.push(&c.to_string());
            assert_eq!(visible(&reader.shown().text), reader.shown().text);
        }
        assert_eq!(reader.finish(), whole);
    }

    #[test]
    fn a_line_without_end_and_an_output_without_end_stay_small() {
        let mut reader = CommandOutputReader::default();
        for _ in 0..100 {
            reader.push(&"\u{1b}[31mx\r".repeat(100));
            reader.push(&"\u{1b}[32m0123456789".repeat(100));
            reader.keep_newest(1_000);
            assert!(reader.shown().text.len() <= 2 * LINE_CHARS && reader.line.len() <= LINE_CHARS);
            let end = reader.shown().text.len();
            assert!(reader.shown().colours.iter().all(|part| part.start < part.end && part.end <= end));
        }
        reader.push("\n");
        reader.push(&"line\n".repeat(1_000));
        assert!(reader.keep_newest(500) > 800);
        assert_eq!(reader.shown().text.len(), 500);
    }
}
