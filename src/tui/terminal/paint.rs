//! Turns frames into few bytes: keeps what the terminal shows, and writes the difference.
//!
//! The backend beneath ratatui. It never asks the terminal anything. Each frame is one synchronized update; when the
//! transcript has moved up, the terminal is told to scroll these rows instead of being sent them again.
//!
//! Terminals differ in how many columns a cluster of several code points has: a flag, a syllable. So every cell that one may
//! cover is written with it and when it goes, and what stands behind it is placed, never just continued.

use std::collections::HashSet;
use std::io::{self, Write as _};

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect, Size};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::pictures::PictureStore;
use crate::pictures::NewPicture;

/// Rows that a frame may have moved by for scrolling to be worth looking for.
const MOST_SHIFT: u16 = 12;

/// Collects a frame's cells and makes its bytes.
#[derive(Debug)]
pub struct Painter {
    /// What the terminal shows.
    front: Buffer,
    /// What it shall show.
    back: Buffer,
    scrolling: Rect,
    cursor: Option<Position>,
    shown_cursor: Option<Position>,
    wipe: bool,
    /// Cells that ratatui handed over for this frame.
    handed: usize,
    pictures: PictureStore,
    /// The area whose cells are all written with the next frame.
    rewritten: Rect,
    /// True while a frame was drawn and is not taken.
    is_drawn: bool,
    bytes: Vec<u8>,
}

impl Painter {
    /// Makes a painter for a terminal of this size that shows nothing yet.
    pub fn new(size: Size) -> Self {
        let area = Rect::from((Position::ORIGIN, size));
        Self {
            front: Buffer::empty(area),
            back: Buffer::empty(area),
            scrolling: Rect::ZERO,
            cursor: None,
            shown_cursor: None,
            wipe: true,
            handed: 0,
            pictures: PictureStore::default(),
            rewritten: Rect::ZERO,
            is_drawn: false,
            bytes: Vec::new(),
        }
    }

    /// Says which area scrolls as a whole, for the frame that is drawn next.
    pub fn set_scrolling(&mut self, area: Rect) {
        self.scrolling = area;
    }

    /// Takes over a new size; the next frame is written in full.
    pub fn set_size(&mut self, size: Size) {
        let area = Rect::from((Position::ORIGIN, size));
        self.back = Buffer::empty(area);
        self.forget();
    }

    /// Makes the next frame write everything again.
    pub fn forget(&mut self) {
        self.front = Buffer::empty(*self.back.area());
        self.shown_cursor = None;
        self.wipe = true;
    }

    /// Keeps a picture for the frames that show it.
    pub fn keep_picture(&mut self, picture: &NewPicture) {
        self.pictures.keep(picture);
    }

    /// Has every cell of an area written with the frame that was drawn, whatever the terminal should show there already.
    pub fn rewrite(&mut self, area: Rect) {
        self.rewritten = area;
    }

    /// Takes the bytes of the frame that was drawn; empty when the terminal shows it already.
    pub fn take_bytes(&mut self) -> Vec<u8> {
        if std::mem::take(&mut self.is_drawn)
            && let Err(error) = self.paint()
        {
            tracing::error!(%error, "a frame was not written");
        }
        std::mem::take(&mut self.bytes)
    }

    fn paint(&mut self) -> io::Result<()> {
        let mut body = Vec::new();
        if self.wipe {
            body.extend_from_slice(b"\x1b[0m\x1b[2J");
            self.wipe = false;
            // Some terminals forget their pictures with what they show.
            self.pictures.forget();
        }
        if !self.pictures.is_empty() {
            body.append(&mut self.pictures.unsent(&self.back));
        }
        // Few changes are no scrolling; keys take this way out.
        let handed = std::mem::take(&mut self.handed);
        if handed > usize::from(self.scrolling.width) * 2
            && (self.pictures.is_empty() || !self.pictures.stand_still(&self.front))
            && let Some(rows) = shift(&mut self.front, &self.back, self.scrolling)
        {
            let (top, bottom) = (self.scrolling.top() + 1, self.scrolling.bottom());
            write!(body, "\x1b[{top};{bottom}r\x1b[{rows}S\x1b[r")?;
        }
        let rewritten = std::mem::take(&mut self.rewritten);
        if self.pictures.is_empty() {
            let changes = changes(&self.front, &self.back, rewritten);
            if !changes.is_empty() {
                write_cells(&mut body, &changes, self.back.area().width)?;
                self.front.clone_from(&self.back);
            }
        } else {
            self.paint_with_pictures(&mut body, rewritten)?;
        }
        if body.is_empty() && self.cursor == self.shown_cursor {
            return Ok(());
        }
        self.bytes.extend_from_slice(b"\x1b[?2026h");
        if !body.is_empty() && self.shown_cursor.is_some() {
            // Terminals without synchronized updates would show the cursor running over the screen.
            self.bytes.extend_from_slice(b"\x1b[?25l");
        }
        self.bytes.append(&mut body);
        match self.cursor {
            Some(Position { x, y }) => {
                write!(self.bytes, "\x1b[{};{}H\x1b[?25h", y.saturating_add(1), x.saturating_add(1))?;
            }
            None => self.bytes.extend_from_slice(b"\x1b[?25l"),
        }
        self.bytes.extend_from_slice(b"\x1b[?2026l");
        self.shown_cursor = self.cursor;
        Ok(())
    }
}

impl Painter {
    /// Writes the difference where pictures may be drawn row by row: a row with any change is drawn again, behind the text.
    fn paint_with_pictures(&mut self, body: &mut Vec<u8>, rewritten: Rect) -> io::Result<()> {
        let mut back = self.back.clone();
        let rows = self.pictures.rows(&mut back);
        let changes = changes(&self.front, &back, rewritten);
        if changes.is_empty() {
            return Ok(());
        }
        let row_at = |x: u16, y: u16| rows.iter().position(|row| row.covers(x, y));
        let (mut changed, mut text) = (vec![false; rows.len()], Vec::with_capacity(changes.len()));
        for (x, y, cell) in changes {
            match row_at(x, y).and_then(|row| changed.get_mut(row)) {
                Some(changed) => *changed = true,
                None => text.push((x, y, cell)),
            }
        }
        write_cells(body, &text, back.area().width)?;
        for row in rows.iter().zip(&changed).filter_map(|(row, changed)| changed.then_some(row)) {
            write!(body, "\x1b[{};{}H", row.y.saturating_add(1), row.x.saturating_add(1))?;
            body.extend_from_slice(self.pictures.sequence(row));
        }
        self.front = back;
        Ok(())
    }
}

/// Returns how many columns a terminal may give a cell that holds a cluster of several code points, or a picture that an older
/// one does not know; `None` for any other.
fn widest(cell: &Cell) -> Option<u16> {
    let symbol = cell.symbol();
    if symbol.len() < 3 {
        return None;
    }
    let mut chars = symbol.chars();
    let (first, second) = (chars.next()?, chars.next());
    if second.is_none() {
        return (is_picture(first) && first.width() == Some(2)).then_some(2);
    }
    let columns = symbol.chars().map(|c| match c {
        // A joiner, and a selector that makes a wide picture of a narrow one.
        '\u{200D}' => 0,
        // Some give the half of a flag as much as a picture.
        '\u{1F1E6}'..='\u{1F1FF}' => 2,
        // Some give a mark a column of its own.
        c => c.width().unwrap_or(0).max(1),
    });
    u16::try_from(columns.sum::<usize>().max(symbol.width())).ok()
}

/// Tells whether a character of two columns is no letter: an older terminal may give it one, and leave the other as it was.
fn is_picture(c: char) -> bool {
    matches!(c, '\u{2000}'..'\u{2E80}' | '\u{1F000}'..'\u{20000}')
}

/// Returns the cells of `back` that are to be written over `front`, row by row: those that differ, those of an area, and
/// those that a cluster of several code points may cover that comes or goes.
fn changes<'a>(front: &Buffer, back: &'a Buffer, rewritten: Rect) -> Vec<(u16, u16, &'a Cell)> {
    let mut changes = front.diff(back);
    let area = *back.area();
    let mut rows: Vec<u16> = changes.iter().map(|(_, y, _)| *y).chain(rewritten.top()..rewritten.bottom()).collect();
    rows.sort_unstable();
    rows.dedup();
    let has_cluster = |y: u16| {
        let cells = (area.left()..area.right()).flat_map(|x| [front.cell((x, y)), back.cell((x, y))]);
        cells.flatten().any(|cell| widest(cell).is_some())
    };
    rows.retain(|y| (rewritten.top()..rewritten.bottom()).contains(y) || has_cluster(*y));
    if rows.is_empty() {
        return changes;
    }
    let mut known = changes.iter().map(|(x, y, _)| (*y, *x)).collect::<HashSet<_>>();
    let mut more = Vec::new();
    for y in rows {
        // Up to where the clusters so far may reach.
        let mut reached = area.left();
        let mut covered = area.left();
        for x in area.left()..area.right() {
            let (Some(before), Some(cell)) = (front.cell((x, y)), back.cell((x, y))) else { continue };
            let is_new = known.contains(&(y, x)) || x < reached || rewritten.contains(Position { x, y });
            if before != cell || is_new {
                let reach = widest(before).into_iter().chain(widest(cell)).max().unwrap_or(0);
                reached = reached.max(x.saturating_add(reach));
            }
            if x < covered {
                // The second half of a wide character.
                continue;
            }
            covered = x.saturating_add(u16::try_from(cell.symbol().width()).unwrap_or(1));
            if is_new && known.insert((y, x)) {
                more.push((x, y, cell));
            }
        }
    }
    if !more.is_empty() {
        changes.extend(more);
        changes.sort_by_key(|(x, y, _)| (*y, *x));
    }
    changes
}

/// Writes cells. Behind a cluster of several code points nobody knows where the cursor stands; what it may cover is blank
/// before, and it begins no new row.
fn write_cells(body: &mut Vec<u8>, cells: &[(u16, u16, &Cell)], width: u16) -> io::Result<()> {
    let mut rest = cells;
    while let Some(place) = rest.iter().position(|(_, _, cell)| widest(cell).is_some()) {
        let (plain, behind) = rest.split_at(place);
        write_plain(body, plain)?;
        let Some((&(x, y, cell), behind)) = behind.split_first() else { return Ok(()) };
        rest = behind;
        let end = x.saturating_add(widest(cell).unwrap_or(1));
        let mut blank = cell.clone();
        blank.set_symbol(" ");
        let blanks: Vec<_> = (x..end.min(width)).map(|x| (x, y, &blank)).collect();
        write_plain(body, &blanks)?;
        let may_wrap = end > width;
        if may_wrap {
            body.extend_from_slice(b"\x1b[?7l");
        }
        write_plain(body, &[(x, y, cell)])?;
        if may_wrap {
            body.extend_from_slice(b"\x1b[?7h");
        }
    }
    write_plain(body, rest)
}

fn write_plain(body: &mut Vec<u8>, cells: &[(u16, u16, &Cell)]) -> io::Result<()> {
    if cells.is_empty() {
        return Ok(());
    }
    CrosstermBackend::new(body).draw(cells.iter().copied())
}

/// Looks for a move of the scrolling area's text by a few rows; when it saves much, moves `front` the same way.
///
/// The terminal moves whole rows, so what stands beside the area is moved too and then written again: it is little.
fn shift(front: &mut Buffer, back: &Buffer, scrolling: Rect) -> Option<u16> {
    let area = scrolling.intersection(*front.area());
    if area != scrolling || area.height < 4 || area.width < 4 {
        return None;
    }
    let line = Rect { y: 0, height: 1, ..area };
    let blank = row_hashes(&Buffer::empty(line), line).first().copied()?;
    let before = row_hashes(front, area);
    let after = row_hashes(back, area);
    // Blank rows are cheap to write anyway; only rows with text count.
    let matches = |shift: usize| {
        let pairs = before.iter().skip(shift).zip(&after);
        pairs.filter(|(old, new)| old == new && **new != blank).count()
    };
    let most = MOST_SHIFT.min(area.height - 1);
    let (rows, moved) = (1..=most).rev().map(|rows| (rows, matches(rows.into()))).max_by_key(|(_, moved)| *moved)?;
    if moved < matches(0) + 3 {
        return None;
    }
    for y in area.top()..area.bottom() {
        let from = y.saturating_add(rows);
        for x in 0..front.area().width {
            let cell = if from < area.bottom() { front.cell((x, from)).cloned() } else { None };
            if let Some(target) = front.cell_mut((x, y)) {
                *target = cell.unwrap_or_default();
            }
        }
    }
    Some(rows)
}

/// Hashes the text of each row (FNV-1a). A hash that is right by chance costs bytes, never a wrong picture: the move is
/// followed by the difference.
fn row_hashes(buffer: &Buffer, area: Rect) -> Vec<u64> {
    let hash = |y: u16| {
        let cells = (area.left()..area.right()).filter_map(|x| buffer.cell((x, y)));
        let bytes = cells.flat_map(|cell| cell.symbol().bytes());
        bytes.fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
    };
    (area.top()..area.bottom()).map(hash).collect()
}

impl Backend for Painter {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        for (x, y, cell) in content {
            self.handed += 1;
            if let Some(target) = self.back.cell_mut((x, y)) {
                target.clone_from(cell);
            }
            // A wide character covers what stood beside it; only its own cell is handed over.
            let columns = u16::try_from(cell.symbol().width()).unwrap_or(1);
            for covered in 1..columns {
                if let Some(target) = self.back.cell_mut((x.saturating_add(covered), y)) {
                    target.reset();
                }
            }
        }
        Ok(())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.cursor = None;
        Ok(())
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Answers from memory: a terminal that is asked might not answer.
    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(self.cursor.unwrap_or_default())
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.cursor = Some(position.into());
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.back.reset();
        Ok(())
    }

    fn clear_region(&mut self, _region: ClearType) -> io::Result<()> {
        // Ratatui clears before it writes everything again; the difference is made here anyway.
        self.back.reset();
        Ok(())
    }

    fn size(&self) -> io::Result<Size> {
        Ok(self.back.area().as_size())
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.back.area().as_size(), pixels: Size::ZERO })
    }

    /// The frame is whole; its bytes are made when they are taken.
    fn flush(&mut self) -> io::Result<()> {
        self.is_drawn = true;
        Ok(())
    }
}
