//! What a command printed, line by line as a terminal would show it at its end: the text that a model gets.
//!
//! A progress bar is its last state and a colour is nothing. Bounded whatever comes: of a line so much is kept as can still be
//! written over, and lines are kept only once an output has gone back to earlier ones, as several progress bars do: from there on,
//! and only so many. The screen interprets output
//! by itself and keeps the colours (`src/base/text/command_output.rs`).

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::tool::capture::whole_characters;

/// Characters of a line that can still be written over; those before them are final.
const LINE_CHARS: usize = 16 * 1024;
/// Lines that can still be written over, once an output goes back to earlier ones.
const ROWS: usize = 100;
/// Longest sequence that is waited for, bytes; what is longer is text.
const SEQUENCE_BYTES: usize = 4 * 1024;
const ESCAPE: u8 = 0x1b;
const BACKSPACE: u8 = 0x08;
const BELL: u8 = 0x07;

/// A character as it came, padded with zeros; a byte that is none stands alone.
type Place = [u8; 4];

type Row = Vec<Place>;

const BLANK: Place = [b' ', 0, 0, 0];

/// Takes an output piece by piece and gives back the lines that are final.
#[derive(Debug, Default)]
pub struct TerminalText {
    /// The line, while nothing was written over in it.
    plain: Vec<u8>,
    /// The line otherwise, and where its next character goes.
    places: Option<(Vec<Place>, usize)>,
    /// The lines above and, the nearest last, below the one that is written, once the output has gone back to earlier ones.
    rows: Option<(VecDeque<Row>, Vec<Row>)>,
    /// What goes on in the next piece: a part of a character or of a sequence.
    held: Vec<u8>,
}

/// What a sequence does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Nothing,
    /// Erases what is behind the place, before it, or all.
    Erase(usize),
    /// Goes to the right or, below zero, to the left.
    Move(isize),
    /// Goes to this column, from 0.
    Column(usize),
    /// Goes down or, below zero, up, in the same column.
    Row(isize),
    /// The same, to the start of the line.
    RowStart(isize),
    /// Erases what is behind the place, and the lines below.
    EraseBelow,
}

impl TerminalText {
    /// Interprets a whole output.
    pub fn render(output: &[u8]) -> Vec<u8> {
        let mut text = Self::default();
        let mut shown = text.push(output);
        shown.append(&mut text.finish());
        shown
    }

    /// Takes the next piece, which may begin and end anywhere; returns what is final.
    pub(super) fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        let input = if self.held.is_empty() {
            Cow::Borrowed(piece)
        } else {
            Cow::Owned([std::mem::take(&mut self.held).as_slice(), piece].concat())
        };
        let mut shown = Vec::with_capacity(input.len());
        let mut rest: &[u8] = &input;
        while !rest.is_empty() {
            let (text, after) = rest.split_at(self.special(rest));
            let whole = if after.is_empty() { whole_characters(text) } else { text.len() };
            let (text, part) = text.split_at(whole);
            self.write(text, &mut shown);
            self.held.extend_from_slice(part);
            let used = match after {
                [] => 0,
                [b'\n', ..] => {
                    self.end_line(&mut shown);
                    1
                }
                [b'\r', b'\n', ..] => 1,
                // It may be the end of a line.
                [b'\r'] => {
                    self.held.push(b'\r');
                    1
                }
                [b'\r', ..] => {
                    self.places().1 = 0;
                    1
                }
                [BACKSPACE, ..] => {
                    self.apply(Effect::Move(-1));
                    1
                }
                [ESCAPE, ..] => {
                    if let Some((length, effect)) = sequence(after) {
                        if matches!(effect, Effect::Row(..0) | Effect::RowStart(..0)) && self.rows.is_none() {
                            self.begin_rows(&mut shown);
                        }
                        self.apply(effect);
                        length
                    } else {
                        self.held.extend_from_slice(after);
                        after.len()
                    }
                }
                [_, ..] => 1,
            };
            rest = after.get(used..).unwrap_or_default();
        }
        shown
    }

    /// Returns what there is of the line that is not final.
    pub(super) fn unfinished(&self) -> Vec<u8> {
        let mut shown = self.plain.clone();
        let (above, below) = self.rows.as_ref().map_or((None, None), |(above, below)| (Some(above), Some(below)));
        for line in above.into_iter().flatten() {
            show(line, &mut shown);
            shown.push(b'\n');
        }
        if let Some((places, _)) = &self.places {
            show(places, &mut shown);
        }
        for line in below.into_iter().flatten().rev() {
            shown.push(b'\n');
            show(line, &mut shown);
        }
        shown
    }

    /// Returns what there is of the last line.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        let mut shown = Vec::new();
        // A part of a character is shown as it came; a sequence without an end is none of the text.
        if !matches!(held.first(), Some(&(ESCAPE | b'\r'))) {
            self.write(&held, &mut shown);
        }
        shown.extend(self.unfinished());
        *self = Self::default();
        shown
    }

    /// Keeps the lines from here on; what was printed before is final.
    fn begin_rows(&mut self, shown: &mut Vec<u8>) {
        let is_begun = !self.unfinished().is_empty();
        self.settle(shown);
        if is_begun {
            shown.push(b'\n');
        }
        self.rows = Some((VecDeque::new(), Vec::new()));
        self.places = Some((Vec::new(), 0));
    }

    /// Returns where something comes that is not simply written; the lines of a plain text are written all at once.
    fn special(&self, rest: &[u8]) -> usize {
        let mut end = memchr::memchr3(b'\r', ESCAPE, BACKSPACE, rest).unwrap_or(rest.len());
        let of = |byte: u8, end: usize| memchr::memchr(byte, rest.get(..end).unwrap_or_default()).unwrap_or(end);
        end = of(BELL, end);
        if self.places.is_some() || self.rows.is_some() { of(b'\n', end) } else { end }
    }

    fn write(&mut self, text: &[u8], shown: &mut Vec<u8>) {
        if self.places.is_none() && self.rows.is_none() {
            let (lines, text) = text.split_at(memchr::memrchr(b'\n', text).map_or(0, |last| last + 1));
            if !lines.is_empty() {
                shown.append(&mut self.plain);
                shown.extend_from_slice(lines);
            }
            self.plain.extend_from_slice(text);
            if self.plain.len() > LINE_CHARS {
                shown.append(&mut self.plain);
            }
            return;
        }
        for chunk in text.utf8_chunks() {
            for c in chunk.valid().chars() {
                let mut place = Place::default();
                c.encode_utf8(&mut place);
                self.put(place, shown);
            }
            for byte in chunk.invalid() {
                self.put([*byte, 0, 0, 0], shown);
            }
        }
    }

    fn put(&mut self, place: Place, shown: &mut Vec<u8>) {
        if self.places().1 >= LINE_CHARS {
            self.settle(shown);
        }
        let (places, column) = self.places();
        if places.len() < *column {
            places.resize(*column, BLANK);
        }
        match places.get_mut(*column) {
            Some(there) => *there = place,
            None => places.push(place),
        }
        *column += 1;
    }

    fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::Nothing => return,
            Effect::Row(by) | Effect::RowStart(by) => return self.go_to_row(by, effect),
            Effect::EraseBelow => {
                if let Some((_, below)) = &mut self.rows {
                    below.clear();
                }
            }
            Effect::Erase(_) | Effect::Move(_) | Effect::Column(_) => {}
        }
        let (places, column) = self.places();
        match effect {
            Effect::Nothing | Effect::Row(_) | Effect::RowStart(_) => {}
            Effect::EraseBelow | Effect::Erase(0) => places.truncate(*column),
            Effect::Erase(1) => places.iter_mut().take(*column + 1).for_each(|place| *place = BLANK),
            Effect::Erase(_) => places.clear(),
            Effect::Move(by) => *column = column.saturating_add_signed(by).min(LINE_CHARS),
            Effect::Column(to) => *column = to.min(LINE_CHARS),
        }
    }

    /// Goes to an earlier or a later line; nowhere before the output has gone back to one.
    fn go_to_row(&mut self, by: isize, effect: Effect) {
        let Some((above, below)) = &mut self.rows else { return };
        let (mut line, mut column) = self.places.take().unwrap_or_default();
        for _ in 0..by.unsigned_abs().min(ROWS) {
            if by > 0 {
                if above.len() + 1 >= ROWS {
                    break;
                }
                above.push_back(std::mem::replace(&mut line, below.pop().unwrap_or_default()));
            } else if let Some(earlier) = above.pop_back() {
                below.push(std::mem::replace(&mut line, earlier));
            }
        }
        if matches!(effect, Effect::RowStart(_)) {
            column = 0;
        }
        self.places = Some((line, column));
    }

    /// Returns the places of the line, which has no others from here on.
    fn places(&mut self) -> &mut (Vec<Place>, usize) {
        let plain = &mut self.plain;
        self.places.get_or_insert_with(|| {
            let mut places = Vec::new();
            for chunk in std::mem::take(plain).utf8_chunks() {
                places.extend(chunk.valid().chars().map(|c| {
                    let mut place = Place::default();
                    c.encode_utf8(&mut place);
                    place
                }));
                places.extend(chunk.invalid().iter().map(|byte| [*byte, 0, 0, 0]));
            }
            let column = places.len();
            (places, column)
        })
    }

    fn end_line(&mut self, shown: &mut Vec<u8>) {
        let Some((above, below)) = &mut self.rows else {
            self.settle(shown);
            return shown.push(b'\n');
        };
        let (line, _) = self.places.take().unwrap_or_default();
        above.push_back(line);
        self.places = Some((below.pop().unwrap_or_default(), 0));
        if above.len() >= ROWS
            && let Some(first) = above.pop_front()
        {
            show(&first, shown);
            shown.push(b'\n');
        }
    }

    /// Makes final what the line has, and what stands above it.
    fn settle(&mut self, shown: &mut Vec<u8>) {
        for line in self.rows.iter_mut().flat_map(|(above, _)| above.drain(..)) {
            show(&line, shown);
            shown.push(b'\n');
        }
        shown.append(&mut self.plain);
        if let Some((places, _)) = self.places.take() {
            show(&places, shown);
        }
    }
}

/// Shows a line without the blanks at its end, with which programs clear what stood there.
fn show(places: &[Place], shown: &mut Vec<u8>) {
    let end = places.iter().rposition(|place| *place != BLANK).map_or(0, |last| last + 1);
    for place in places.get(..end).unwrap_or_default() {
        // The first byte may be a NUL of the command's.
        let bytes = 1 + place.iter().skip(1).take_while(|byte| **byte != 0).count();
        shown.extend_from_slice(place.get(..bytes).unwrap_or_default());
    }
}

/// Returns the length of an output without a sequence that has only begun.
pub fn whole_sequences(bytes: &[u8]) -> usize {
    let from = bytes.len().saturating_sub(SEQUENCE_BYTES);
    let last = bytes.get(from..).unwrap_or_default().iter().rposition(|byte| *byte == ESCAPE);
    let open = last.map(|at| from + at).filter(|at| sequence(bytes.get(*at..).unwrap_or_default()).is_none());
    open.unwrap_or(bytes.len())
}

/// Reads a sequence, from its escape character on; `None` where it goes on behind the end.
fn sequence(bytes: &[u8]) -> Option<(usize, Effect)> {
    let most = bytes.get(..SEQUENCE_BYTES);
    let body = most.unwrap_or(bytes).get(1..).unwrap_or_default();
    let length = match body.first()? {
        b'[' => body.iter().skip(1).position(|byte| !matches!(byte, 0x20..=0x3f)).map(|end| end + 3),
        // A text for the terminal, up to a bell or to `ESC \`.
        b']' | b'P' | b'X' | b'^' | b'_' => {
            let end = body.iter().position(|byte| matches!(*byte, BELL | ESCAPE | b'\n'));
            end.and_then(|end| match body.get(end..) {
                Some([ESCAPE]) => None,
                Some([ESCAPE, b'\\', ..]) => Some(end + 3),
                // Another sequence or a line end ends it.
                Some([ESCAPE | b'\n', ..]) => Some(end + 1),
                _ => Some(end + 2),
            })
        }
        // Others have their last byte behind those that are none.
        _ => body.iter().position(|byte| !matches!(byte, 0x20..=0x2f)).map(|end| end + 2),
    };
    let Some(length) = length else {
        // So much is no sequence any more.
        return most.map(|_| (1, Effect::Nothing));
    };
    let effect = match body.get(..length - 1) {
        Some([b'[', parameters @ .., last]) => effect(parameters, *last),
        _ => Effect::Nothing,
    };
    // A line end within one ends it.
    match bytes.get(..length).and_then(|whole| whole.iter().position(|byte| *byte == b'\n')) {
        Some(end) => Some((end, Effect::Nothing)),
        None => Some((length, effect)),
    }
}

fn effect(parameters: &[u8], last: u8) -> Effect {
    let number = std::str::from_utf8(parameters).ok().and_then(|text| text.parse::<usize>().ok());
    let count = isize::try_from(number.unwrap_or(1).clamp(1, LINE_CHARS)).unwrap_or(1);
    match last {
        b'K' if parameters.is_empty() => Effect::Erase(0),
        b'K' => number.map_or(Effect::Nothing, Effect::Erase),
        b'C' => Effect::Move(count),
        b'D' => Effect::Move(-count),
        b'A' => Effect::Row(-count),
        b'B' => Effect::Row(count),
        b'E' => Effect::RowStart(count),
        b'F' => Effect::RowStart(-count),
        b'J' if number.unwrap_or(0) == 0 => Effect::EraseBelow,
        b'G' | b'`' => Effect::Column(number.unwrap_or(1).saturating_sub(1)),
        _ => Effect::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(output: &str) -> String {
        String::from_utf8(TerminalText::render(output.as_bytes())).unwrap()
    }

    #[test]
    fn each_line_is_what_a_terminal_shows_of_it_at_its_end() {
        for (output, seen) in [
            ("10%\r50%\r100%\ndone\n", "100%\ndone\n"),
            ("long line\rshort", "shortline"),
            ("long line\r\x1b[Kshort\n", "short\n"),
            ("long line\x1b[2K\rshort\n", "short\n"),
            ("50%\r    \rready\n", "ready\n"),
            ("50%\r        \n", "\n"),
            ("dos\r\nlines\r\n", "dos\nlines\n"),
            ("a\tb  \n", "a\tb  \n"),
            ("spin |\x08/\x08-\x08done\n", "spin done\n"),
            ("\x1b[1;31merror\x1b[0m: no\n", "error: no\n"),
            ("\x1b[?25l\x1b]0;title\x07\x1b(Bx\x1b=\x07\n", "x\n"),
            ("\x1b]8;;https://a.example\x1b\\link\x1b]8;;\x1b\\\n", "link\n"),
            ("1234\x1b[2Dx\x1b[1Gy\x1b[5Cz\n", "y2x4  z\n"),
            ("grün 10%\rgrün 20%\n", "grün 20%\n"),
            ("last\r", "last"),
            ("\x1b[3", ""),
            ("\x1b]0;torn\nnext\n", "\nnext\n"),
            ("a\0b\rc\n", "c\0b\n"),
        ] {
            assert_eq!(shown(output), seen, "{output:?}");
        }
        assert_eq!(TerminalText::render(b"\xff\xfe\rx\xe2\x82"), b"x\xe2\x82");
    }

    #[test]
    fn progress_over_several_lines_is_its_last_state_behind_its_first() {
        let frames = |frame: fn(usize) -> String| (2..200).map(frame).collect::<Vec<_>>().concat();
        for (output, seen) in [
            (
                format!("a: 1\nb: 1\n{}done\n", frames(|n| format!("\x1b[2A\ra: {n}\x1b[K\nb: {n}\x1b[K\n"))),
                "a: 1\nb: 1\na: 199\nb: 199\ndone\n",
            ),
            (frames(|n| format!("\x1b[1A\x1b[2K  Compiling {n}\n")), "  Compiling 199\n"),
            (frames(|n| format!("step {n}\n\x1b[F\x1b[J")), "step 2\n"),
            (format!("{}end\n", frames(|n| format!("step {n}\n\x1b[F\x1b[K"))), "step 2\nend\n"),
            ("one\n\x1b[Atwo\nthree\n\x1b[2Ax\x1b[Bz".to_owned(), "one\nxwo\ntzree\n"),
            ("one\n\x1b[999Atwo\x1b[999Bx\n".to_owned(), "one\ntwo\n"),
            ("bar\x1b[A\rup\n".to_owned(), "bar\nup\n"),
        ] {
            let shown = shown(&output);
            assert!(shown.starts_with(seen), "{shown:?} for {seen:?}");
        }
        let lines = (0..300).map(|n| format!("{n}\n")).collect::<Vec<_>>().concat();
        assert_eq!(shown(&format!("\x1b[A{lines}")), lines, "no line is lost");
    }

    #[test]
    fn the_pieces_make_no_difference() {
        let output = "a\x1b[31mb\r\x1b[Kdé\x1b[32m\x08e\u{0301}\r\n\x1b]0;t\x1b\\x\ry\x1b[2K\rgrün\r\n50%\r70%\rend\nx\x1b[A\ra\nb\n\x1b[2Ac\x1b[J\x1b[3";
        let whole = shown(output);
        for size in 1..8 {
            let mut text = TerminalText::default();
            let mut parts: Vec<u8> = output.as_bytes().chunks(size).flat_map(|piece| text.push(piece)).collect();
            parts.append(&mut text.finish());
            assert_eq!(String::from_utf8(parts).unwrap(), whole, "pieces of {size}");
        }
    }

    #[test]
    fn a_line_and_a_sequence_without_end_stay_small() {
        for piece in ["\r0123456789", "\x1b[31mx", "x\x08", "\x1b]0;x", "\x1b[9999Cx", "abc"] {
            let mut text = TerminalText::default();
            for _ in 0..50 {
                text.push(piece.repeat(1_000).as_bytes());
                let places = text.places.as_ref().map_or(0, |(places, _)| places.len());
                assert!(places <= LINE_CHARS && text.plain.len() <= 2 * LINE_CHARS && text.held.len() < SEQUENCE_BYTES);
            }
        }
    }
}
