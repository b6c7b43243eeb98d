//! Turns frames into few bytes: keeps what the terminal shows, and writes the difference.
//!
//! The backend beneath ratatui. It never asks the terminal anything. Each frame is one synchronized update; when the
//! transcript has moved up, the terminal is told to scroll these rows instead of being sent them again.

use std::io::{self, Write as _};

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect, Size};
use unicode_width::UnicodeWidthStr;

use super::pictures::PictureStore;
use crate::tui::pictures::NewPicture;

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

    /// Takes the bytes of the frame; empty when the terminal shows it already.
    pub fn take(&mut self) -> Vec<u8> {
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
        if self.pictures.is_empty() {
            let changes = self.front.diff(&self.back);
            if !changes.is_empty() {
                CrosstermBackend::new(&mut body).draw(changes.into_iter())?;
                self.front.clone_from(&self.back);
            }
        } else {
            self.paint_with_pictures(&mut body)?;
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
    fn paint_with_pictures(&mut self, body: &mut Vec<u8>) -> io::Result<()> {
        let mut back = self.back.clone();
        let rows = self.pictures.rows(&mut back);
        let changes = self.front.diff(&back);
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
        if !text.is_empty() {
            CrosstermBackend::new(&mut *body).draw(text.into_iter())?;
        }
        for row in rows.iter().zip(&changed).filter_map(|(row, changed)| changed.then_some(row)) {
            write!(body, "\x1b[{};{}H", row.y.saturating_add(1), row.x.saturating_add(1))?;
            body.extend_from_slice(self.pictures.sequence(row));
        }
        self.front = back;
        Ok(())
    }
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

    fn flush(&mut self) -> io::Result<()> {
        self.paint()
    }
}
