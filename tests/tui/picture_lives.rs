//! Random lives of pictures that are drawn row by row: what the terminal shows of them is what the frame holds, whatever
//! scrolls, covers them, or is written anew.

use std::io::Cursor;
use std::num::NonZeroU16;

use image::{ImageFormat, Rgb, RgbImage};
use proptest::prelude::*;
use ratatui::layout::{Rect, Size};
use ratatui::style::Style;
use steersman_base::image::Image;
use steersman_images::{CellArea, Preview};
use steersman_tui::pictures::placeholder;
use steersman_tui::pictures::protocol::{iterm2, sixel};
use steersman_tui::pictures::{NewPicture, PictureProtocol, PictureSlot, Placement};
use steersman_tui::terminal::paint::Painter;

const SCREEN: Rect = Rect { x: 0, y: 0, width: 40, height: 12 };
/// The last row does not scroll.
const SCROLLING: Rect = Rect { height: SCREEN.height - 1, ..SCREEN };
const PICTURE: Placement = Placement { slot: PictureSlot(0), columns: 6, rows: 4 };
/// Where it stands: its left column, and its first line of the text.
const LEFT: u16 = 2;
const LINE: u16 = 12;
/// Lines of the text.
const LINES: u16 = 40;
/// Stands for the first row of the picture on the terminal, the next letter for the next; no other text is in capitals.
const MARK: u8 = b'A';

/// What happens before a frame.
#[derive(Debug, Clone)]
enum Operation {
    /// Scrolls to a line of the text.
    Show(u16),
    /// Scrolls up by a few lines, as a transcript does.
    Follow(u16),
    /// Covers a part of the screen, or nothing of it.
    Cover(Option<Rect>),
    /// Writes the whole screen anew.
    Redraw,
}

fn act() -> impl Strategy<Value = Operation> {
    let area = (0..SCREEN.width, 0..SCREEN.height, 1..20_u16, 1..6_u16);
    let area = area.prop_map(|(x, y, width, height)| Rect { x, y, width, height }.intersection(SCREEN));
    prop_oneof![
        2 => (0..LINES).prop_map(Operation::Show),
        4 => (1..5_u16).prop_map(Operation::Follow),
        2 => prop::option::of(area).prop_map(Operation::Cover),
        1 => Just(Operation::Redraw),
    ]
}

/// A painter, and a terminal that has marks where it shows rows of a picture.
struct Life {
    painter: ratatui::Terminal<Painter>,
    emulator: vt100::Parser,
    protocol: PictureProtocol,
    /// What draws each row.
    sequences: Vec<String>,
    top: u16,
    cover: Option<Rect>,
}

impl Life {
    fn new(protocol: PictureProtocol) -> Self {
        let picture = RgbImage::from_fn(60, 80, |_, y| Rgb([u8::try_from(y).unwrap() * 3, 90, 30]));
        let mut bytes = Vec::new();
        picture.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).unwrap();
        let room = CellArea { columns: PICTURE.columns, rows: PICTURE.rows, cell: (10, 20) };
        let picture = Preview::new(&Image::new("p.png", &bytes).unwrap(), room, protocol.cut()).unwrap();
        let sequence = |part: &Vec<u8>| match protocol {
            PictureProtocol::Sixel => sixel(PICTURE.columns, part),
            PictureProtocol::Iterm2 | PictureProtocol::Kitty => iterm2(PICTURE.columns, part),
        };
        let sequences: Vec<String> =
            picture.parts.iter().map(|part| String::from_utf8(sequence(part)).unwrap()).collect();
        assert_eq!(sequences.len(), usize::from(PICTURE.rows));
        let mut painter = Painter::new(Size { width: SCREEN.width, height: SCREEN.height });
        painter.keep_picture(&NewPicture { slot: PICTURE.slot, picture, protocol });
        let side = |cells: u16| NonZeroU16::new(cells).unwrap();
        Self {
            painter: ratatui::Terminal::new(painter).unwrap(),
            emulator: vt100::Parser::new(side(SCREEN.height), side(SCREEN.width), 0),
            protocol,
            sequences,
            top: 0,
            cover: None,
        }
    }

    /// Plays an operation, then draws a frame and compares what the terminal shows of the picture with what the frame holds.
    fn play(&mut self, operation: &Operation) {
        match operation {
            Operation::Show(top) => self.top = *top,
            Operation::Follow(lines) => self.top = (self.top + lines) % LINES,
            Operation::Cover(area) => self.cover = *area,
            Operation::Redraw => {
                self.painter.backend_mut().forget();
                self.painter.resize(SCREEN).unwrap();
            }
        }
        self.painter.backend_mut().set_scrolling(SCROLLING);
        let (top, cover) = (self.top, self.cover);
        let mut expected = Vec::new();
        let draw = |frame: &mut ratatui::Frame<'_>| {
            let buffer = frame.buffer_mut();
            for y in SCROLLING.top()..SCROLLING.bottom() {
                let line = top + y;
                match placeholder::rows(PICTURE).nth(usize::from(line.wrapping_sub(LINE))) {
                    Some(row) => row.draw(buffer, LEFT, y, SCREEN.width - LEFT),
                    None => {
                        buffer.set_string(0, y, format!("line {line} of a long text"), Style::new());
                    }
                }
            }
            buffer.set_string(0, SCREEN.height - 1, "the last row", Style::new());
            for position in cover.into_iter().flat_map(Rect::positions) {
                if let Some(cell) = buffer.cell_mut(position) {
                    cell.reset();
                    cell.set_symbol("x");
                }
            }
            let cells = (0..SCREEN.height).map(|y| {
                let picture = (LEFT..LEFT + PICTURE.columns).map(|x| placeholder::decode(buffer.cell((x, y)).unwrap()));
                let picture: Option<Vec<_>> = picture.collect();
                picture.map(|cells| cells[0].row)
            });
            expected = cells.collect();
        };
        self.painter.draw(draw).unwrap();
        let written = String::from_utf8(self.painter.backend_mut().take_bytes()).unwrap();
        self.write(&written);
        for y in 0..SCREEN.height {
            let row = expected[usize::from(y)].map(|row| char::from(MARK + u8::try_from(row).unwrap()));
            let shown: String = (0..SCREEN.width).map(|x| self.mark(x, y).unwrap_or(' ')).collect();
            let row = row.map(|mark| mark.to_string().repeat(PICTURE.columns.into())).unwrap_or_default();
            let wanted = format!("{:width$}{row}", "", width = usize::from(LEFT));
            assert_eq!(shown.trim_end(), wanted.trim_end(), "row {y}\n{}", self.emulator.screen().contents());
        }
    }

    /// Writes to the terminal, with marks in the place of the picture's rows.
    fn write(&mut self, mut written: &str) {
        let stands_still = self.protocol == PictureProtocol::Sixel && self.shows_any();
        loop {
            let places = self.sequences.iter().enumerate();
            let next = places.filter_map(|(row, sequence)| Some((written.find(sequence)?, row))).min();
            let text = &written[..next.map_or(written.len(), |(at, _)| at)];
            assert!(!text.contains("\x1bP") && !text.contains("\x1b]1337"), "a row that is none: {text:?}");
            let scrolls = text.contains('S');
            assert!(!(scrolls && stands_still), "xterm moves every picture of the screen when rows scroll: {text:?}");
            self.emulator.process(text.as_bytes());
            let Some((at, row)) = next else { break };
            let mark = char::from(MARK + u8::try_from(row).unwrap());
            let marks = format!("\x1b7{}\x1b8", mark.to_string().repeat(PICTURE.columns.into()));
            self.emulator.process(marks.as_bytes());
            written = &written[at + self.sequences[row].len()..];
        }
    }

    fn mark(&self, x: u16, y: u16) -> Option<char> {
        let cell = self.emulator.screen().cell(y, x)?;
        cell.contents().chars().next().filter(char::is_ascii_uppercase)
    }

    fn shows_any(&self) -> bool {
        (0..SCREEN.height).any(|y| (0..SCREEN.width).any(|x| self.mark(x, y).is_some()))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_terminal_shows_exactly_the_rows_of_pictures_that_the_frame_holds(acts in prop::collection::vec(act(), 1..40)) {
        for protocol in [PictureProtocol::Sixel, PictureProtocol::Iterm2] {
            let mut life = Life::new(protocol);
            for operation in &acts {
                life.play(operation);
            }
        }
    }
}
