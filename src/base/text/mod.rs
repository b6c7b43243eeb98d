//! The sanitiser: every untrusted text passes it before it reaches a cell, a title, a log line or stderr.
//!
//! Escape, control, bidi and invisible characters are shown, not obeyed. Also the rule for blank texts (D16). It
//! never drops a character, leaves plain text unchanged, and applied twice does no more than applied once. Give it
//! whole texts: a line ending, an emoji or a letter with its marks must not be split between two calls.
//!
//! # Where things are
//!
//! - output of a command as a terminal would show it: `command_output.rs`
//! - halves of characters in JSON: `\ud83d` without the `\ude00` that belongs to it: `halves.rs`
//! - what a shell line of a custom command printed, within a text: `shell_output.rs`
//! - the text of a question that the program itself asks: `question_text.rs`

mod command_output;
pub mod halves;
mod question_text;
pub mod shell_output;

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_normalization::{UnicodeNormalization as _, is_nfc};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::limits;

pub use command_output::{Coloured, CommandOutput, CommandOutputReader, Hue};
pub use question_text::QuestionText;

/// The columns between tab stops.
const TAB_STOP: usize = 4;
/// The base for a combining mark at the start of a line, so that it does not join the cell before it.
const MARK_BASE: char = '◌';
/// The sign for a line break in a text of one line.
const LINE_BREAK: char = '⏎';
/// The end of a text that was cut.
const ELLIPSIS: char = '…';

/// Which byte of a unit of UTF-16 stands first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Utf16Order {
    /// The low byte.
    LittleEndian,
    /// The high byte.
    BigEndian,
}

impl Utf16Order {
    /// Returns the order by the mark at the start of bytes; without one, where they are plainly text with this order.
    pub fn detect(bytes: &[u8]) -> Option<Self> {
        match bytes {
            // That is the mark of UTF-32.
            [0xff, 0xfe, 0, 0, ..] => None,
            [0xff, 0xfe, ..] => Some(Self::LittleEndian),
            [0xfe, 0xff, ..] => Some(Self::BigEndian),
            _ => [Self::LittleEndian, Self::BigEndian].into_iter().find(|order| order.is_plain(bytes)),
        }
    }

    /// Returns how two bytes are read.
    pub fn unit(self) -> fn([u8; 2]) -> u16 {
        match self {
            Self::LittleEndian => u16::from_le_bytes,
            Self::BigEndian => u16::from_be_bytes,
        }
    }

    /// Tells whether bytes without a mark are text in this order: most of it of the scripts whose high byte is zero, nothing
    /// that is no text.
    fn is_plain(self, bytes: &[u8]) -> bool {
        let (pairs, rest) = bytes.as_chunks::<2>();
        let units = || pairs.iter().copied().map(self.unit());
        // Cheap, and false for nearly all that is not: UTF-8 has no zero bytes, and other data has them elsewhere.
        let is_likely =
            pairs.len() >= 2 && rest.is_empty() && units().take(4).filter(|unit| *unit < 0x100).count() >= 2;
        let is_text = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r' | '\u{c}');
        is_likely
            && units().filter(|unit| *unit < 0x100).count() * 2 > pairs.len()
            && char::decode_utf16(units()).all(|c| c.is_ok_and(is_text))
    }
}

/// Returns the text of bytes in UTF-16, without a mark; `None` for any other bytes.
pub fn utf16_text(bytes: &[u8]) -> Option<String> {
    let order = Utf16Order::detect(bytes)?;
    let units = bytes.as_chunks::<2>().0.iter().copied().map(order.unit());
    let text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Returns the signs that close what this sign opens as a quotation, straight or as keyboards and editors set it; none where
/// it opens nothing.
pub fn closing_quotes(open: char) -> &'static [char] {
    match open {
        '"' => &['"'],
        '\'' => &['\''],
        '“' | '”' => &['”'],
        '„' => &['“', '”'],
        '‘' | '’' => &['’'],
        '‚' => &['‘', '’'],
        '«' => &['»'],
        _ => &[],
    }
}

/// Returns whether a text is empty after removing white space and invisible characters (D16).
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_invisible(c))
}

/// Returns whether a character shows nothing by itself: controls, zero-width, fillers, bidi marks, tags, selectors.
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
            | '\u{2800}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}'
            | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}'
            // Stands for pictures, in terminals that show them.
            | '\u{10EEEE}')
}

/// Returns a text with each letter composed with its marks, so that two spellings that look the same are the same.
pub fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

/// Makes a text of several lines safe to show; borrowed when it is safe already.
///
/// - `\n` stays, `\r\n` becomes `\n`, tabs become spaces up to the next stop of 4 columns.
/// - Other controls become their pictures (`␛ ␍ ␀ ␡`); those of C1 and all invisible characters (bidi controls,
///   zero-width, tags, soft hyphen, fillers, line and paragraph separators) become `<U+202E>` and the like.
/// - Characters that scripts need stay: joiners between two letters of one Arabic, Indic or similar script, or after a
///   virama; joiners between two emoji; one variation selector after an emoji, an ideograph or a Mongolian letter;
///   the keycap selector. Flags made of tag characters do not: tags can hide whole sentences.
/// - Combining marks stay, up to `limits::MARKS_PER_CHARACTER`; one without a letter before it gets a `◌`.
pub fn visible(text: &str) -> Cow<'_, str> {
    show(text, LineBreaks::Kept)
}

/// Makes a text safe to show on one line: as [`visible`], and line breaks become `⏎`.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    show(text, LineBreaks::Shown)
}

/// Escapes as `\uXXXX` what a terminal would obey or hide in JSON, and what some readers take for a line end. JSON itself
/// escapes only the first 32 characters; the value stays the same, and what is written is safe to print.
pub fn escaped_json(json: String) -> String {
    // An escaped character stands in a string: JSON itself is of other ones, and between its parts only lines end.
    let is_escaped = |c: char| c != '\n' && (is_invisible(c) || matches!(c, '\u{2028}' | '\u{2029}'));
    if !json.chars().any(is_escaped) {
        return json;
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_escaped(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// Cuts a text of one line to a number of columns, between visible characters, with `…` at the end.
///
/// The text must have passed [`visible_line`]. Reads no more of it than fits.
pub fn clip(text: &str, columns: usize) -> Cow<'_, str> {
    let mut used = 0;
    // The cut if the rest does not fit: the last position that leaves a column for the ellipsis.
    let mut cut = 0;
    for (index, cluster) in text.grapheme_indices(true) {
        let end = used + cluster.width();
        if end > columns {
            return match columns {
                0 => Cow::Borrowed(""),
                _ => Cow::Owned(format!("{}{ELLIPSIS}", text.get(..cut).unwrap_or_default())),
            };
        }
        used = end;
        if used < columns {
            cut = index + cluster.len();
        }
    }
    Cow::Borrowed(text)
}

/// Writes bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Counts the insertions, deletions and replacements of characters that make `left` into `right` (Levenshtein).
pub fn distance(left: &str, right: &str) -> usize {
    let mut costs: Vec<usize> = (0..=right.chars().count()).collect();
    for (row, a) in left.chars().enumerate() {
        let mut diagonal = row;
        let mut before = row + 1;
        if let Some(first) = costs.first_mut() {
            *first = before;
        }
        for (cost, b) in costs.iter_mut().skip(1).zip(right.chars()) {
            let replaced = diagonal + usize::from(a != b);
            diagonal = *cost;
            before = replaced.min(diagonal + 1).min(before + 1);
            *cost = before;
        }
    }
    costs.last().copied().unwrap_or_default()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LineBreaks {
    Kept,
    Shown,
}

fn show(text: &str, breaks: LineBreaks) -> Cow<'_, str> {
    let plain = |byte: u8| matches!(byte, b' '..=b'~') || (byte == b'\n' && breaks == LineBreaks::Kept);
    let Some(start) = text.bytes().position(|byte| !plain(byte)) else { return Cow::Borrowed(text) };
    let (head, tail) = text.split_at_checked(start).unwrap_or((text, ""));
    let column = head.len() - head.rfind('\n').map_or(0, |newline| newline + 1);
    let before = head.chars().next_back().filter(|&c| c != '\n');
    let mut painter = Painter { text, out: None, before, marks: 0, column };
    let mut rest = tail.char_indices().peekable();
    while let Some((index, c)) = rest.next() {
        let next = rest.peek().map(|&(_, next)| next);
        if c == '\r' && next == Some('\n') {
            painter.replace(start + index, "");
        } else {
            painter.paint(start + index, c, next, breaks);
        }
    }
    painter.out.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// The writer of the sanitised text, which allocates at the first character that changes.
///
/// Its decisions depend only on the text written so far and, for a joiner, on a next character that is kept for
/// sure. So its own output passes unchanged.
struct Painter<'a> {
    text: &'a str,
    out: Option<String>,
    /// The last character written on this line.
    before: Option<char>,
    /// The characters without width since the last one with width.
    marks: usize,
    column: usize,
}

impl Painter<'_> {
    fn paint(&mut self, index: usize, c: char, next: Option<char>, breaks: LineBreaks) {
        match c {
            '\n' if breaks == LineBreaks::Kept => self.new_line(),
            '\n' => self.replace(index, LINE_BREAK.encode_utf8(&mut [0; 4])),
            '\t' => {
                let spaces = TAB_STOP - self.column % TAB_STOP;
                self.replace(index, "    ".get(..spaces).unwrap_or_default());
            }
            ' '..='~' | '\u{2800}' => self.keep(c, 1),
            '\0'..='\u{1F}' => self.replace_char(index, u32::from(c) + 0x2400),
            '\u{7F}' => self.replace_char(index, 0x2421),
            '\u{2028}' | '\u{2029}' => self.mark(index, c),
            _ if is_invisible(c) => {
                if self.needed(c, next) {
                    self.keep(c, 0);
                } else {
                    self.mark(index, c);
                }
            }
            _ => match c.width() {
                Some(0) if self.marks >= limits::MARKS_PER_CHARACTER => {
                    self.mark(index, c);
                    // Further marks on this character are shown as codes as well.
                    self.marks = limits::MARKS_PER_CHARACTER;
                }
                Some(0) => {
                    if self.before.is_none() {
                        self.replace(index, MARK_BASE.encode_utf8(&mut [0; 4]));
                    }
                    self.keep(c, 0);
                }
                width => self.keep(c, width.unwrap_or(1)),
            },
        }
    }

    /// Returns whether an invisible character is needed by the script here.
    fn needed(&self, c: char, next: Option<char>) -> bool {
        let Some(before) = self.before else { return false };
        // Room for the character and a following mark, so that the joined character is not replaced.
        if self.marks + 2 > limits::MARKS_PER_CHARACTER {
            return false;
        }
        match c {
            '\u{200D}' if is_emoji(before) || before == '\u{FE0F}' => next.is_some_and(is_emoji),
            '\u{200C}' | '\u{200D}' => joins(before, next),
            '\u{FE0F}' if matches!(before, '0'..='9' | '#' | '*') => next == Some('\u{20E3}'),
            '\u{FE0E}' | '\u{FE0F}' => is_emoji(before),
            '\u{FE00}'..='\u{FE02}' | '\u{E0100}'..='\u{E01EF}' => is_ideograph(before),
            '\u{180B}'..='\u{180F}' => matches!(before, '\u{1820}'..='\u{18AA}'),
            _ => false,
        }
    }

    fn new_line(&mut self) {
        if let Some(out) = &mut self.out {
            out.push('\n');
        }
        self.before = None;
        self.marks = 0;
        self.column = 0;
    }

    fn keep(&mut self, c: char, width: usize) {
        if let Some(out) = &mut self.out {
            out.push(c);
        }
        self.wrote(c, width);
    }

    fn wrote(&mut self, c: char, width: usize) {
        self.before = Some(c);
        self.marks = if width == 0 { self.marks + 1 } else { 0 };
        self.column += width;
    }

    fn replace(&mut self, index: usize, shown: &str) {
        let text = self.text;
        let out = self.out.get_or_insert_with(|| {
            let mut out = String::with_capacity(text.len() + text.len() / 8 + 16);
            out.push_str(text.get(..index).unwrap_or_default());
            out
        });
        out.push_str(shown);
        for c in shown.chars() {
            self.wrote(c, 1);
        }
    }

    fn replace_char(&mut self, index: usize, code: u32) {
        let shown = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        self.replace(index, shown.encode_utf8(&mut [0; 4]));
    }

    fn mark(&mut self, index: usize, c: char) {
        let mut shown = String::with_capacity(10);
        // Writing to a string cannot fail.
        let _ = write!(shown, "<U+{:04X}>", u32::from(c));
        self.replace(index, &shown);
    }
}

/// Returns whether a joiner belongs between two characters: both of one script that uses it, or the first a virama.
fn joins(before: char, next: Option<char>) -> bool {
    let Some(script) = joining_script(before) else { return false };
    let same = next.is_some_and(|next| joining_script(next) == Some(script) && !is_invisible(next));
    same || matches!(
        before,
        '\u{094D}'
            | '\u{09CD}'
            | '\u{0A4D}'
            | '\u{0ACD}'
            | '\u{0B4D}'
            | '\u{0BCD}'
            | '\u{0C4D}'
            | '\u{0CCD}'
            | '\u{0D4D}'
            | '\u{0DCA}'
            | '\u{1039}'
            | '\u{17D2}'
    )
}

/// Returns a number for each script in which joiners change letters; the number has no other meaning.
fn joining_script(c: char) -> Option<u32> {
    match c {
        '\u{0600}'..='\u{06FF}'
        | '\u{0750}'..='\u{077F}'
        | '\u{0870}'..='\u{08FF}'
        | '\u{FB50}'..='\u{FDFF}'
        | '\u{FE70}'..='\u{FEFC}' => Some(1),
        '\u{0700}'..='\u{074F}' => Some(2),
        '\u{07C0}'..='\u{07FF}' => Some(3),
        '\u{1800}'..='\u{18AF}' => Some(4),
        '\u{1000}'..='\u{109F}' => Some(5),
        '\u{1780}'..='\u{17FF}' => Some(6),
        '\u{A980}'..='\u{A9DF}' => Some(7),
        // Devanagari to Sinhala: ten scripts of one block of 128 each.
        '\u{0900}'..='\u{0DFF}' => Some(u32::from(c) / 0x80),
        _ => None,
    }
}

/// Returns whether a character can be an emoji; somewhat too broad, but all of these characters are visible.
fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21FF}'
        | '\u{2300}'..='\u{23FF}' | '\u{2460}'..='\u{24FF}' | '\u{25A0}'..='\u{27BF}' | '\u{2900}'..='\u{297F}'
        | '\u{2B00}'..='\u{2BFF}' | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}' | '\u{1F000}'..='\u{1FAFF}')
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{323AF}')
}
