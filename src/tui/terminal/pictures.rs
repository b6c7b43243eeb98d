//! The pictures that the terminal has or is given: each is sent with the first frame that shows it, and again only after the
//! terminal was emptied.
//!
//! The painter owns it. Always holds: what is not in a frame is not sent; a row of a picture that is covered in part is blank
//! in terminals that cannot show a part of it.

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;

use crate::pictures::placeholder::{self, PictureCell};
use crate::pictures::protocol::{iterm2, kitty, sixel};
use crate::pictures::{NewPicture, PictureProtocol, PictureSlot};

/// The pictures by their places.
#[derive(Debug, Default)]
pub(super) struct PictureStore(BTreeMap<PictureSlot, KeptPicture>);

#[derive(Debug)]
enum KeptPicture {
    /// One that the terminal keeps.
    Kitty { sequence: Vec<u8>, is_sent: bool },
    /// One that is drawn row by row: with iTerm2 it then is cells, with sixels it lies over cells.
    Strips { protocol: PictureProtocol, columns: u16, rows: Vec<Vec<u8>> },
}

impl KeptPicture {
    /// Returns its columns and what draws each of its rows; `None` for one that the terminal keeps.
    fn strips(&self) -> Option<(u16, &[Vec<u8>])> {
        match self {
            Self::Strips { columns, rows, .. } => Some((*columns, rows)),
            Self::Kitty { .. } => None,
        }
    }

    fn is_sixel(&self) -> bool {
        matches!(self, Self::Strips { protocol: PictureProtocol::Sixel, .. })
    }
}

/// A row of a picture on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PictureRow {
    pub x: u16,
    pub y: u16,
    pub columns: u16,
    slot: PictureSlot,
    row: u16,
}

impl PictureRow {
    /// Tells whether it covers a cell.
    pub(super) fn covers(&self, x: u16, y: u16) -> bool {
        y == self.y && x >= self.x && x - self.x < self.columns
    }
}

impl PictureStore {
    /// Keeps a picture, in the place of the one that was there.
    pub(super) fn keep(&mut self, new: &NewPicture) {
        let NewPicture { slot, picture, protocol } = new;
        let strips = |strip: fn(u16, &[u8]) -> Vec<u8>| {
            let columns = picture.columns;
            let rows = picture.parts.iter().map(|part| strip(columns, part)).collect();
            KeptPicture::Strips { protocol: *protocol, columns, rows }
        };
        let kept = match protocol {
            PictureProtocol::Kitty => KeptPicture::Kitty { sequence: kitty(*slot, picture), is_sent: false },
            PictureProtocol::Iterm2 => strips(iterm2),
            PictureProtocol::Sixel => strips(sixel),
        };
        self.0.insert(*slot, kept);
    }

    /// Notes that the terminal has none any more.
    pub(super) fn forget(&mut self) {
        for kept in self.0.values_mut() {
            if let KeptPicture::Kitty { is_sent, .. } = kept {
                *is_sent = false;
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns what gives the terminal the pictures of a frame that it has not yet.
    pub(super) fn unsent(&mut self, frame: &Buffer) -> Vec<u8> {
        let mut bytes = Vec::new();
        for cell in frame.content().iter().filter_map(placeholder::decode) {
            if let Some(KeptPicture::Kitty { sequence, is_sent: is_sent @ false }) = self.0.get_mut(&cell.slot) {
                *is_sent = true;
                bytes.extend_from_slice(sequence);
            }
        }
        bytes
    }

    /// Tells whether a frame shows what does not move with the text when the terminal scrolls: xterm moves every sixel
    /// picture of the screen, wherever the rows are that scroll.
    pub(super) fn stand_still(&self, frame: &Buffer) -> bool {
        let is_sixel = |cell: PictureCell| self.0.get(&cell.slot).is_some_and(KeptPicture::is_sixel);
        frame.content().iter().filter_map(placeholder::decode).any(is_sixel)
    }

    /// Finds the rows of pictures that are to be drawn in a frame, and blanks what is left of those that are covered in part.
    pub(super) fn rows(&self, frame: &mut Buffer) -> Vec<PictureRow> {
        let mut found = Vec::new();
        let area = frame.area;
        for y in area.top()..area.bottom() {
            let mut x = area.left();
            while x < area.right() {
                let strips_of = |cell: PictureCell| {
                    let kept = self.0.get(&cell.slot)?;
                    Some((cell, kept, kept.strips()?.0))
                };
                let cell = frame.cell((x, y)).and_then(placeholder::decode);
                let Some((cell, kept, columns)) = cell.and_then(strips_of) else {
                    x += 1;
                    continue;
                };
                // Sixels in the last row of the screen scroll it: terminals set the cursor beneath them.
                let is_room = y + 1 < area.bottom() || !kept.is_sixel();
                let is_next = |place: &u16| {
                    let expected = PictureCell { column: cell.column + (place - x), ..cell };
                    frame.cell((*place, y)).and_then(placeholder::decode) == Some(expected)
                };
                let end = (x..area.right()).take_while(is_next).last().map_or(x + 1, |last| last + 1);
                if cell.column == 0 && end - x == columns && is_room {
                    found.push(PictureRow { x, y, columns, slot: cell.slot, row: cell.row });
                } else {
                    (x..end).for_each(|x| {
                        if let Some(cell) = frame.cell_mut((x, y)) {
                            cell.reset();
                        }
                    });
                }
                x = end;
            }
        }
        found
    }

    /// Returns what draws a row at the cursor.
    pub(super) fn sequence(&self, row: &PictureRow) -> &[u8] {
        let strips = self.0.get(&row.slot).and_then(KeptPicture::strips);
        strips.and_then(|(_, rows)| rows.get(usize::from(row.row))).map_or(&[], Vec::as_slice)
    }
}
