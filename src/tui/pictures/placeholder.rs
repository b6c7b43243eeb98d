//! The marks that stand for the cells of a picture: a character of kitty's with the row and the column as accents, in a colour
//! that names the picture.
//!
//! In terminals with kitty's protocol they are what is written (`sw.kovidgoyal.net/kitty/graphics-protocol`, "Unicode
//! placeholders"); for others the painter writes the picture in their place. No text from outside has them: the sanitiser
//! shows the character by its number.

use ratatui::buffer::Cell;
use ratatui::style::{Color, Style};

use super::state::{PictureSlot, Placement};
use crate::widgets::wrap::Line;
use steersman_base::limits;

/// Stands for a cell of a picture.
pub const PLACEHOLDER: char = '\u{10EEEE}';
/// The colour of the marks of the first picture; its blue part counts them.
const COLOUR: (u8, u8) = (0x53, 0x54);
/// The accents for 0, 1, 2, … in the order of kitty's `rowcolumn-diacritics.txt`.
const ACCENTS: [char; limits::PICTURE_COLUMNS as usize] = [
    '\u{305}', '\u{30D}', '\u{30E}', '\u{310}', '\u{312}', '\u{33D}', '\u{33E}', '\u{33F}', '\u{346}', '\u{34A}',
    '\u{34B}', '\u{34C}', '\u{350}', '\u{351}', '\u{352}', '\u{357}', '\u{35B}', '\u{363}', '\u{364}', '\u{365}',
    '\u{366}', '\u{367}', '\u{368}', '\u{369}', '\u{36A}', '\u{36B}', '\u{36C}', '\u{36D}', '\u{36E}', '\u{36F}',
    '\u{483}', '\u{484}', '\u{485}', '\u{486}', '\u{487}', '\u{592}', '\u{593}', '\u{594}', '\u{595}', '\u{597}',
    '\u{598}', '\u{599}', '\u{59C}', '\u{59D}', '\u{59E}', '\u{59F}', '\u{5A0}', '\u{5A1}', '\u{5A8}', '\u{5A9}',
    '\u{5AB}', '\u{5AC}', '\u{5AF}', '\u{5C4}', '\u{610}', '\u{611}', '\u{612}', '\u{613}', '\u{614}', '\u{615}',
];

/// What a cell of the screen shows of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureCell {
    /// The picture.
    pub slot: PictureSlot,
    /// Its row, from the top.
    pub row: u16,
    /// Its column.
    pub column: u16,
}

/// Returns the number by which the terminal knows a picture: the colour of its marks.
pub fn number(slot: PictureSlot) -> u32 {
    u32::from_be_bytes([0, COLOUR.0, COLOUR.1, slot.0])
}

/// Returns the rows of a picture. They are frame: neither found nor copied.
pub fn rows(placement: Placement) -> impl Iterator<Item = Line> {
    let style = Style::new().fg(Color::Rgb(COLOUR.0, COLOUR.1, placement.slot.0));
    let accents = |count: u16| ACCENTS.iter().take(count.into());
    accents(placement.rows).map(move |row| {
        let cell = |column: &char| [PLACEHOLDER, *row, *column];
        let text: String = accents(placement.columns).flat_map(cell).collect();
        Line::frame(&text, style)
    })
}

/// Returns what a cell shows of a picture; `None` for every other cell.
pub fn decode(cell: &Cell) -> Option<PictureCell> {
    let mut marks = cell.symbol().strip_prefix(PLACEHOLDER)?.chars();
    let mut number = || {
        let accent = marks.next()?;
        u16::try_from(ACCENTS.iter().position(|known| *known == accent)?).ok()
    };
    let (row, column) = (number()?, number()?);
    match cell.fg {
        Color::Rgb(red, green, slot) if (red, green) == COLOUR => {
            Some(PictureCell { slot: PictureSlot(slot), row, column })
        }
        _ => None,
    }
}
