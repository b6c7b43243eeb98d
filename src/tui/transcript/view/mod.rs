//! Draws the transcript of one agent: finds the first visible line, then writes the rows below it.
//!
//! Resolves what [`Scroll`] was asked against the heights in the cache. Nothing is animated and an unchanged cell is
//! drawn as before, so that a growing tail costs few bytes. Any area will do, an empty one too.
//!
//! # Where things are
//!
//! - a call as rows: its head, what the user was asked, then what came of it: `call.rs`
//! - the rows of a laid-out cell as lines of text: `lines.rs`
//! - answers what is asked about the layout before a frame: `look.rs`
//! - a binary indexed tree: `prefix_sums.rs`
//! - one cell as rows: its mark, a head, a text that may grow, a tail: `rows.rs`
//! - draws the line in which a search is typed, over the rule above the composer: `search_line.rs`

pub mod annotations;
pub mod cache;
mod call;
mod lines;
mod look;
pub use look::look;
pub mod matches;
mod prefix_sums;
pub mod query;
mod rows;
pub mod search_line;
pub mod select;

use std::cmp::Ordering;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::highlight::Colours;
use crate::pictures::Placements;
use crate::state::{Part, ShownLine};
use crate::theme::Theme;
use crate::transcript::cell::CellId;
use crate::transcript::reduce::Transcript;
use crate::transcript::scroll::{Point, Position, Scroll, ScrollRequest};
use crate::transcript::view::annotations::{Annotations, Annotator};
use crate::transcript::view::cache::{TranscriptCache, gap_above};
use crate::widgets::code;
use crate::widgets::fit::select;
use crate::widgets::wrap::Line;

/// Narrowest area with a column for the scroll bar.
const BAR_FROM: u16 = 40;

/// Everything a frame of a transcript depends on.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    pub transcript: &'a Transcript,
    /// Where the reader is, and what was asked since the last frame.
    pub scroll: &'a Scroll,
    /// The cell to mark; none when the pane has no focus.
    pub selected: Option<CellId>,
    pub theme: &'a Theme,
    pub colours: &'a Colours,
    pub pictures: &'a Placements,
    /// Where the reader sees that there is more below.
    pub badge: Badge,
    /// What is marked in the text.
    pub annotations: Annotations<'a>,
}

/// Where the reader sees that there is more below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Badge {
    /// In the last row, over the text.
    Shown,
    /// Outside of the transcript.
    Elsewhere,
}

/// What a frame found out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metrics {
    /// The place that the frame shows; hand it to [`Scroll::settle`] with `cells`.
    pub position: Position,
    pub cells: usize,
    /// Cells that came since the end was last in view.
    pub new: usize,
    /// Lines below the last visible one; an estimate where cells were never drawn at this width.
    pub below: usize,
    /// The first visible row.
    pub top: Option<Point>,
    /// The visible lines, each with its row of the screen.
    pub shown: Vec<(u16, ShownLine)>,
}

/// A line of the transcript: a cell and a line within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct TranscriptLine {
    cell: usize,
    line: usize,
}

pub fn draw(view: &View<'_>, cache: &mut TranscriptCache, area: Rect, buf: &mut Buffer) -> Metrics {
    let area = area.intersection(buf.area);
    let cells = view.transcript.cells().len();
    if area.is_empty() || cells == 0 {
        return Metrics { position: view.scroll.position(), cells, ..Metrics::default() };
    }
    let has_bar = area.width >= BAR_FROM;
    let columns = area.width - u16::from(has_bar);
    cache.begin(view, columns, area.height);
    let mut walk = Walk { transcript: view.transcript, cache, height: area.height.into(), shown: Vec::new() };
    let (top, position) = walk.resolve(view.scroll);
    let end = walk.write(top, view, Rect { width: columns, ..area }, buf);
    let written = walk.shown;
    let above = cache.lines_above(CellId::new(top.cell)) + top.line;
    let first = cache.point_of(view.transcript, CellId::new(top.cell), top.line);
    let lines = cache.lines();
    let shown = cache.lines_above(CellId::new(end.cell)) + end.line - above;
    let metrics = Metrics {
        position,
        cells,
        new: match position {
            Position::Bottom => 0,
            Position::Anchor(_) => cells.saturating_sub(view.scroll.seen()),
        },
        below: match position {
            Position::Bottom => 0,
            Position::Anchor(_) => lines.saturating_sub(above + shown),
        },
        top: Some(first),
        shown: written,
    };
    cache.end();
    if matches!(position, Position::Anchor(_)) {
        if has_bar {
            draw_bar(above, lines, view.theme, Rect { x: area.right() - 1, width: 1, ..area }, buf);
        }
        if view.badge == Badge::Shown {
            draw_badge(&metrics, view.theme, Rect { width: columns, ..area }, buf);
        }
    }
    metrics
}

/// Walks over the lines of the transcript, laying out what it passes.
struct Walk<'a> {
    transcript: &'a Transcript,
    cache: &'a mut TranscriptCache,
    /// Lines of the view.
    height: usize,
    /// The lines that were written.
    shown: Vec<(u16, ShownLine)>,
}

impl Walk<'_> {
    fn height_of(&mut self, cell: usize) -> usize {
        self.cache.height(self.transcript, CellId::new(cell))
    }

    /// Finds the first visible line and the place to keep.
    fn resolve(&mut self, scroll: &Scroll) -> (TranscriptLine, Position) {
        let bottom = self.bottom();
        let mut place = match scroll.position() {
            Position::Bottom => bottom,
            Position::Anchor(point) => self.place(point).min(bottom),
        };
        let mut follows = scroll.position() == Position::Bottom;
        let page = self.height.saturating_sub(1).max(1);
        for request in scroll.requests() {
            place = match request {
                ScrollRequest::Up(lines) => self.up(place, *lines),
                ScrollRequest::Down(lines) => self.down(place, *lines).min(bottom),
                ScrollRequest::PageUp => self.up(place, page),
                ScrollRequest::PageDown => self.down(place, page).min(bottom),
                ScrollRequest::Top => TranscriptLine { cell: 0, line: 0 },
                ScrollRequest::Bottom | ScrollRequest::Return(Position::Bottom) => bottom,
                ScrollRequest::Reveal(cell) => self.reveal(place, cell.index()),
                ScrollRequest::Show(point) => self.show(place, *point),
                ScrollRequest::Reach(point) => self.reach(place, *point),
                ScrollRequest::Return(Position::Anchor(point)) => self.place(*point),
            };
            follows = match request {
                ScrollRequest::Up(_)
                | ScrollRequest::PageUp
                | ScrollRequest::Top
                | ScrollRequest::Show(_)
                | ScrollRequest::Reach(_) => false,
                ScrollRequest::Return(position) => *position == Position::Bottom,
                ScrollRequest::Down(_) | ScrollRequest::PageDown | ScrollRequest::Bottom | ScrollRequest::Reveal(_) => {
                    place >= bottom
                }
            };
        }
        let fits = bottom == TranscriptLine { cell: 0, line: 0 };
        if follows || fits {
            return (bottom, Position::Bottom);
        }
        let place = place.min(bottom);
        match (scroll.position(), scroll.requests()) {
            // It stays what it was, also where the width puts another row there for a while.
            (Position::Anchor(point), []) if point.cell.index() < self.transcript.cells().len() => {
                (place, Position::Anchor(point))
            }
            _ => (place, Position::Anchor(self.cache.point_of(self.transcript, CellId::new(place.cell), place.line))),
        }
    }

    /// Finds the first line of the view that ends with the last line.
    fn bottom(&mut self) -> TranscriptLine {
        let last = self.transcript.cells().len().saturating_sub(1);
        let line = self.height_of(last);
        self.up(TranscriptLine { cell: last, line }, self.height)
    }

    /// Finds the row of a place in the text.
    fn place(&mut self, point: Point) -> TranscriptLine {
        let last = CellId::new(self.transcript.cells().len().saturating_sub(1));
        if point.cell > last {
            return TranscriptLine { cell: last.index(), line: self.height_of(last.index()).saturating_sub(1) };
        }
        TranscriptLine { cell: point.cell.index(), line: self.cache.row_of(self.transcript, point) }
    }

    fn up(&mut self, mut place: TranscriptLine, mut lines: usize) -> TranscriptLine {
        while lines > place.line {
            let Some(above) = place.cell.checked_sub(1) else {
                return TranscriptLine { cell: 0, line: 0 };
            };
            lines -= place.line;
            place = TranscriptLine { cell: above, line: self.height_of(above) };
        }
        TranscriptLine { line: place.line - lines, ..place }
    }

    fn reveal(&mut self, place: TranscriptLine, cell: usize) -> TranscriptLine {
        let cell = cell.min(self.transcript.cells().len().saturating_sub(1));
        let start = TranscriptLine { cell, line: 0 };
        if start < place {
            return start;
        }
        let height = self.height_of(cell);
        if height >= self.height {
            return start;
        }
        place.max(self.up(TranscriptLine { cell, line: height }, self.height))
    }

    /// Brings a place into view: where it is in view already nothing moves.
    fn show(&mut self, top: TranscriptLine, point: Point) -> TranscriptLine {
        let place = self.place(point);
        let end = self.down(top, self.height);
        if place >= top && place < end {
            return top;
        }
        self.up(place, self.height / 3)
    }

    /// Brings a place into view, moving as little as possible.
    fn reach(&mut self, top: TranscriptLine, point: Point) -> TranscriptLine {
        let place = self.place(point);
        if place <= top {
            return place;
        }
        top.max(self.up(TranscriptLine { line: place.line + 1, ..place }, self.height))
    }

    fn down(&mut self, mut place: TranscriptLine, mut lines: usize) -> TranscriptLine {
        while place.cell < self.transcript.cells().len() {
            let left = self.height_of(place.cell).saturating_sub(place.line);
            if lines < left {
                return TranscriptLine { line: place.line + lines, ..place };
            }
            lines -= left;
            place = TranscriptLine { cell: place.cell + 1, line: 0 };
        }
        place
    }

    /// Writes the rows from a place on; returns the place behind the last one.
    fn write(&mut self, top: TranscriptLine, view: &View<'_>, area: Rect, buf: &mut Buffer) -> TranscriptLine {
        let mut place = top;
        let mut height = self.height_of(place.cell);
        let mut annotator = Annotator::new(&view.annotations, view.theme);
        for y in area.top()..area.bottom() {
            while place.line >= height {
                if place.cell + 1 >= self.transcript.cells().len() {
                    return place;
                }
                place = TranscriptLine { cell: place.cell + 1, line: 0 };
                height = self.height_of(place.cell);
            }
            let id = CellId::new(place.cell);
            let first_line = gap_above(self.transcript, id);
            if let Some(row) = self.cache.row(self.transcript, id, place.line) {
                if let Some(mark) = row.mark {
                    mark.draw(buf, area.x, y, row.indent);
                }
                let mut wants = false;
                if let Some(line) = row.line {
                    let painted = code::painted(line, view.colours, view.theme);
                    wants = painted.is_none() && code::is_wanting(line, view.colours);
                    painted.as_ref().unwrap_or(line).draw(buf, area.x + row.indent, y, area.width - row.indent);
                }
                let part = match place.line.cmp(&first_line) {
                    Ordering::Less => Part::Gap,
                    Ordering::Equal => Part::Head,
                    Ordering::Greater => Part::Body,
                };
                let shown = ShownLine { cell: id, line: place.line, indent: row.indent, part };
                self.shown.push((y, shown));
                if wants {
                    self.cache.want(self.transcript, id, place.line, view.colours);
                }
            }
            annotator.row(self.transcript, self.cache, (id, place.line), Rect { y, height: 1, ..area }, buf);
            if view.selected == Some(id) && place.line == first_line && !view.annotations.tell_of(id) {
                select(buf, Rect { y, height: 1, ..area }, view.theme.selected);
            }
            place.line += 1;
        }
        place
    }
}

fn draw_bar(above: usize, lines: usize, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let height = usize::from(area.height);
    let length = (height * height / lines.max(1)).clamp(1, height);
    let travel = lines.saturating_sub(height).max(1);
    let start = (above.min(travel) * (height - length)) / travel;
    let thumb = Line::new("┃", theme.dim);
    for y in (area.top()..area.bottom()).skip(start).take(length) {
        thumb.draw(buf, area.x, y, 1);
    }
}

/// Writes what is out of view below into the last row, at its right end.
fn draw_badge(metrics: &Metrics, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let text = match (metrics.new, metrics.below) {
        (0, 0) => return,
        (0, below) => format!(" ↓ {below} more "),
        (new, _) => format!(" ↓ {new} new "),
    };
    let badge = Line::new(&text, theme.status);
    let width = u16::try_from(badge.width()).unwrap_or(u16::MAX);
    if let Some(left) = area.width.checked_sub(width) {
        badge.draw(buf, area.x + left, area.bottom() - 1, width);
    }
}
