//! Annotations in the visible text: what was found, what is selected, and the time at the head of each block.
//!
//! Called by `transcript` for each row that it has written. Always holds: no mark moves any text.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::theme::Theme;
use crate::transcript::cell::{Body, Cell, CellId, Expansion};
use crate::transcript::reduce::Transcript;
use crate::transcript::search::Search;
use crate::transcript::selection::Selection;
use crate::transcript::view::cache::{TranscriptCache, gap_above};
use crate::transcript::view::lines::RowPlace;
use crate::transcript::view::query::Query;
use crate::widgets::wrap::{Line, width};
use steersman_base::summary::seconds;

/// Columns from which a time may cover the end of a head.
const WIDE: u16 = 60;

/// What is marked in a transcript.
#[derive(Debug, Clone, Copy, Default)]
pub struct Annotations<'a> {
    pub search: Option<&'a Search>,
    pub selection: Option<&'a Selection>,
    /// The zone of the times that are shown, and the present moment.
    pub times: Option<(&'a TimeZone, Timestamp)>,
}

impl Annotations<'_> {
    /// Tells whether they say by themselves that the reader is in this cell.
    pub fn tell_of(&self, id: CellId) -> bool {
        let at = self.search.and_then(|search| search.at);
        self.selection.is_some() || at.is_some_and(|place| place.cell == id)
    }
}

/// Annotations the rows of one frame, from the top to the bottom.
pub struct Annotator<'a> {
    annotations: &'a Annotations<'a>,
    theme: &'a Theme,
    query: Option<Query>,
    /// The cell that it is in, and the place of its last row.
    here: Option<(CellId, RowPlace)>,
    /// Whether the row above is the blank one of this cell.
    above: Option<CellId>,
}

impl<'a> Annotator<'a> {
    pub fn new(annotations: &'a Annotations<'a>, theme: &'a Theme) -> Self {
        let query = annotations.search.and_then(|search| Query::new(search.text()));
        Self { annotations, theme, query, here: None, above: None }
    }

    /// Annotations what is to be marked in a row: the one of a cell, a blank one above it included.
    pub fn row(
        &mut self,
        transcript: &Transcript,
        cache: &mut TranscriptCache,
        (id, row): (CellId, usize),
        area: Rect,
        buf: &mut Buffer,
    ) {
        if self.query.is_none() && self.annotations.selection.is_none() && self.annotations.times.is_none() {
            return;
        }
        let Some(cell) = transcript.get(id) else { return };
        let gap = gap_above(transcript, id);
        let Some(row) = row.checked_sub(gap) else {
            self.above = Some(id);
            return;
        };
        let Some(rows) = cache.rows(id) else { return };
        let Some(line) = rows.row(row).cloned() else { return };
        let mut place = match self.here.take() {
            Some((here, place)) if here == id => place,
            _ => row.checked_sub(1).map(|above| rows.place_of(above)).unwrap_or_default(),
        };
        place.step(&line);
        let x = area.x + rows.indent();
        let room = Rect { x, width: area.right().saturating_sub(x), ..area };
        if row == 0 {
            self.time(cell, &line, room, buf);
        }
        self.above = None;
        self.found(cell, cache, &place, &line, room, buf);
        self.selected(id, gap, &place, &line, room, buf);
        self.here = Some((id, place));
    }

    fn found(
        &self,
        cell: &Cell,
        cache: &mut TranscriptCache,
        place: &RowPlace,
        line: &Line,
        room: Rect,
        buf: &mut Buffer,
    ) {
        let Some(query) = &self.query else { return };
        let now = self.annotations.search.and_then(|search| search.at);
        let now = now
            .filter(|place| place.cell == cell.id() && cell.expansion() == Expansion::Expanded)
            .map(|place| place.nth);
        let hits = cache.hits(cell.id(), query);
        let first = hits.partition_point(|hit| (hit.line, hit.to) <= (place.line, place.byte));
        for (nth, hit) in hits.iter().enumerate().skip(first) {
            if hit.line > place.line || hit.from >= place.byte + line.text_after_lead().len().max(1) {
                break;
            }
            let style = if now == Some(nth) { self.theme.found_now } else { self.theme.found };
            if let Some(area) = marked(line, place.byte, (hit.from, hit.to), room) {
                buf.set_style(area.intersection(buf.area), style);
            }
        }
    }

    fn selected(&self, id: CellId, gap: usize, place: &RowPlace, line: &Line, room: Rect, buf: &mut Buffer) {
        let Some(selection) = self.annotations.selection else { return };
        if let Some(bytes) = selection.bytes_of(id, place.line + gap, usize::MAX) {
            if let Some(area) = marked(line, place.byte, bytes, room) {
                select(area, self.theme.selection, buf);
            }
            // An empty line within it is seen too.
            if line.text_after_lead().is_empty() {
                select(Rect { width: room.width.min(1), ..room }, self.theme.selection, buf);
            }
        }
    }

    /// Writes when a block came: behind its head, else into the blank row above it, else over the end of its head.
    fn time(&self, cell: &Cell, line: &Line, room: Rect, buf: &mut Buffer) {
        let Some((zone, now)) = self.annotations.times else { return };
        let Some(words) = annotation(cell, zone, now) else { return };
        let words = Line::new(&words, self.theme.dim);
        let Ok(columns) = u16::try_from(words.width()) else { return };
        let Some(left) = room.width.checked_sub(columns) else { return };
        let is_free = line.width() < usize::from(left);
        let y = if is_free {
            room.y
        } else if self.above == Some(cell.id()) {
            room.y - 1
        } else if room.width >= WIDE {
            buf.set_style(Rect { x: room.x + left - 1, width: 1, ..room }, Style::reset());
            if let Some(blank) = buf.cell_mut((room.x + left - 1, room.y)) {
                blank.set_symbol(" ");
            }
            room.y
        } else {
            return;
        };
        words.draw(buf, room.x + left, y, columns);
    }
}

/// Shows that a part of a row is selected. Nothing of the style that it has is kept: reversed, each of its colours would
/// make another background.
fn select(area: Rect, style: Style, buf: &mut Buffer) {
    let area = area.intersection(buf.area);
    buf.set_style(area, Style::reset());
    buf.set_style(area, style);
}

/// Returns the part of a row that lies within these bytes of its line.
fn marked(line: &Line, start: usize, (from, to): (usize, usize), room: Rect) -> Option<Rect> {
    let words = line.text_after_lead();
    let from = from.saturating_sub(start).min(words.len());
    let to = to.saturating_sub(start).min(words.len());
    let columns = |end: usize| line.lead_width() + width(words.get(..end).unwrap_or_default());
    let left = columns(from).min(room.width.into());
    let right = columns(to).min(room.width.into());
    let (left, right) = (u16::try_from(left).ok()?, u16::try_from(right).ok()?);
    Some(Rect { x: room.x + left, width: right.saturating_sub(left), ..room })
}

/// Says when a block came, and of a text how long it took: a call says that itself.
fn annotation(cell: &Cell, zone: &TimeZone, now: Timestamp) -> Option<String> {
    let at = zone.to_datetime(cell.at()?);
    let form = if at.date() == zone.to_datetime(now).date() { "%H:%M:%S" } else { "%m-%d %H:%M" };
    let took = cell.took().filter(|_| !matches!(cell.body(), Body::Call(_)));
    let took = took.map(|millis| format!(" · {}", seconds(millis))).unwrap_or_default();
    Some(format!("{}{took}", at.strftime(form)))
}
