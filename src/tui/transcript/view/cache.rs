//! What the drawing of a transcript remembers between frames: heights of all cells, rows of those lately in view.
//!
//! Called by `view::transcript`. Heights are exact for cells that were in view at this width and estimated for the
//! others; their sums come from a binary indexed tree. So a frame costs what it shows, whatever the length of the history.

use crate::highlight::{Colours, Job};
use crate::pictures::Placements;
use crate::theme::Theme;
use crate::transcript::cell::{CallStatus, Cell, CellId};
use crate::transcript::cells::{CellOutline, Cells};
use crate::transcript::reduce::{Extent, Transcript};
use crate::transcript::scroll::Point;
use crate::transcript::view::View;
use crate::transcript::view::matches::{Hit, hits};
use crate::transcript::view::prefix_sums::PrefixSums;
use crate::transcript::view::query::Query;
use crate::transcript::view::rows::{Rows, gap};
use crate::widgets::code;
use crate::widgets::wrap::Line;
use steersman_base::id::AgentId;
use steersman_base::limits::LAYOUT_LINES;

/// Remembers the layout of one transcript; given another one it starts afresh.
#[derive(Debug, Default)]
pub struct TranscriptCache {
    agent: AgentId,
    extent: Extent,
    columns: u16,
    theme: Theme,
    expansion_changes: u64,
    pictures: Placements,
    view_rows: usize,
    entries: Vec<Entry>,
    heights: PrefixSums,
    /// Rows that are kept, over all entries.
    kept: usize,
    /// Entries whose rows are kept.
    laid_out: Vec<usize>,
    frame: u64,
    /// Code in view whose colours are wanted, and how far that reaches: a cell and the row behind it.
    wanted: Vec<Job>,
    wanted_to: Option<(CellId, usize)>,
}

/// What every cell takes, in view or not: it is small.
#[derive(Debug, Default)]
struct Entry {
    /// The height that `heights` has.
    height: u32,
    laid: Option<Box<Laid>>,
}

/// A cell that is laid out.
#[derive(Debug)]
struct Laid {
    rows: Rows,
    revision: u64,
    rewrites: u64,
    /// The frame that had it in view last.
    frame: u64,
    /// What was searched for in it last, and where it is.
    hits: Option<(Query, Vec<Hit>)>,
}

/// One visible row of a cell.
pub struct CellRow<'a> {
    /// The text, without the mark's columns; none for a blank row.
    pub line: Option<&'a Line>,
    /// The mark, in the first row.
    pub mark: Option<&'a Line>,
    /// The mark's columns.
    pub indent: u16,
}

impl TranscriptCache {
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a frame: forgets what no longer holds, estimates the cells that are new.
    pub(super) fn begin(&mut self, view: &View<'_>, columns: u16, rows: u16) {
        let View { transcript, theme, pictures, .. } = view;
        self.frame += 1;
        self.wanted.clear();
        self.wanted_to = None;
        let cells = transcript.cells();
        if self.view_rows != usize::from(rows) {
            self.view_rows = rows.into();
            self.lay_out_again(cells, has_live_output);
        }
        if self.pictures != **pictures {
            self.pictures = (*pictures).clone();
            self.lay_out_again(cells, |cell| !cell.images().is_empty());
        }
        let is_other =
            self.agent != *transcript.agent() || self.extent != transcript.extent() || cells.len() < self.entries.len();
        if is_other
            || self.columns != columns
            || self.theme != **theme
            || self.expansion_changes != transcript.expansion_changes()
        {
            self.agent = transcript.agent().clone();
            self.extent = transcript.extent();
            self.columns = columns;
            self.theme = (*theme).clone();
            self.expansion_changes = transcript.expansion_changes();
            self.entries.clear();
            self.heights.clear();
            self.laid_out.clear();
            self.kept = 0;
        }
        let known = self.entries.len();
        for index in known..cells.len() {
            let height = self.estimate(transcript, index);
            self.entries.push(Entry { height: u32::try_from(height).unwrap_or(u32::MAX), laid: None });
            self.heights.push(height);
        }
    }

    /// Has some cells laid out again.
    fn lay_out_again(&mut self, cells: &Cells, is_other: impl Fn(&Cell) -> bool) {
        for index in &self.laid_out {
            let is_other = cells.get(*index).is_some_and(&is_other);
            let entry = self.entries.get_mut(*index).filter(|_| is_other);
            if let Some(laid) = entry.and_then(|entry| entry.laid.as_mut()) {
                laid.revision = u64::MAX;
            }
        }
    }

    /// Ends a frame: gives up rows that are out of view when there are too many.
    pub(super) fn end(&mut self) {
        if self.kept <= LAYOUT_LINES {
            return;
        }
        let (entries, kept, frame) = (&mut self.entries, &mut self.kept, self.frame);
        self.laid_out.retain(|index| {
            let Some(entry) = entries.get_mut(*index) else { return false };
            let is_in_view = entry.laid.as_ref().is_some_and(|laid| laid.frame >= frame);
            if !is_in_view {
                *kept -= entry.laid.take().map_or(0, |laid| laid.rows.height());
            }
            is_in_view
        });
    }

    /// Returns the height of a cell, the blank row above it included; lays it out if need be.
    pub(super) fn height(&mut self, transcript: &Transcript, id: CellId) -> usize {
        let index = id.index();
        let (Some(cell), Some(entry)) = (transcript.get(id), self.entries.get_mut(index)) else {
            return 0;
        };
        if let Some(laid) = &mut entry.laid {
            laid.frame = self.frame;
            if laid.revision == cell.revision() {
                return entry.height as usize;
            }
        }
        let before = entry.laid.take();
        match &before {
            Some(laid) => self.kept -= laid.rows.height(),
            None => self.laid_out.push(index),
        }
        let grown = before.filter(|laid| laid.rewrites == cell.rewrites());
        let rows =
            Rows::new(cell, self.columns, self.view_rows, &self.theme, grown.and_then(|laid| laid.rows.into_text()))
                .with_pictures(cell, self.columns, &self.pictures);
        self.kept += rows.height();
        let height = rows.height() + gap_above(transcript, id);
        let (revision, rewrites) = (cell.revision(), cell.rewrites());
        entry.laid = Some(Box::new(Laid { rows, revision, rewrites, frame: self.frame, hits: None }));
        let old = std::mem::replace(&mut entry.height, u32::try_from(height).unwrap_or(u32::MAX));
        self.heights.change(index, old as usize, height);
        height
    }

    /// Returns a row of a cell that was laid out in this frame.
    pub(super) fn row(&self, transcript: &Transcript, id: CellId, at: usize) -> Option<CellRow<'_>> {
        let rows = self.rows(id)?;
        let Some(at) = at.checked_sub(gap_above(transcript, id)) else {
            return Some(CellRow { line: None, mark: None, indent: rows.indent() });
        };
        Some(CellRow { line: rows.row(at), mark: (at == 0).then(|| rows.mark()), indent: rows.indent() })
    }

    /// Notes that the colours of a row in view are wanted.
    pub(super) fn want(&mut self, transcript: &Transcript, id: CellId, at: usize, colours: &Colours) {
        let Some(rows) = self.rows(id) else { return };
        let Some(at) = at.checked_sub(gap_above(transcript, id)) else { return };
        if self.wanted_to.is_some_and(|(last, end)| last == id && at < end) {
            return;
        }
        if let Some((job, end)) = code::job(at, |at| rows.row(at), colours) {
            self.wanted.push(job);
            self.wanted_to = Some((id, end));
        }
    }

    /// Returns what is wanted for the frame that was drawn last.
    pub(crate) fn take_wanted(&mut self) -> Vec<Job> {
        std::mem::take(&mut self.wanted)
    }

    /// Returns the columns of a transcript's last frame; `None` before its first.
    pub(crate) fn columns_of(&self, transcript: &Transcript) -> Option<u16> {
        (self.columns > 0 && self.agent == *transcript.agent()).then_some(self.columns)
    }

    /// Returns the rows of the last frame.
    pub(super) fn view_rows(&self) -> usize {
        self.view_rows
    }

    /// Returns where something is in a cell that is laid out, as it is collapsed now.
    pub(super) fn hits(&mut self, id: CellId, query: &Query) -> &[Hit] {
        let Some(laid) = self.entries.get_mut(id.index()).and_then(|entry| entry.laid.as_mut()) else { return &[] };
        let known = laid.hits.take().filter(|(known, _)| known == query);
        let hits = known.map_or_else(|| hits(&laid.rows, query), |(_, hits)| hits);
        &laid.hits.insert((query.clone(), hits)).1
    }

    /// Returns the rows of a cell, when it is laid out.
    pub(super) fn rows(&self, id: CellId) -> Option<&Rows> {
        Some(&self.entries.get(id.index())?.laid.as_ref()?.rows)
    }

    /// Returns the row of a cell that a place of its text stands in; lays it out if need be.
    pub(super) fn row_of(&mut self, transcript: &Transcript, point: Point) -> usize {
        let height = self.height(transcript, point.cell);
        let gap = gap_above(transcript, point.cell);
        let row = match point.line.checked_sub(gap) {
            Some(line) => self.rows(point.cell).map_or(0, |rows| gap + rows.row_of(line, point.byte)),
            None => 0,
        };
        row.min(height.saturating_sub(1))
    }

    /// Returns the place with which a row of a cell begins; lays it out if need be.
    pub(super) fn point_of(&mut self, transcript: &Transcript, cell: CellId, row: usize) -> Point {
        self.height(transcript, cell);
        let gap = gap_above(transcript, cell);
        let (line, byte) = match (row.checked_sub(gap), self.rows(cell)) {
            (Some(row), Some(rows)) => {
                let place = rows.place_of(row);
                (gap + place.line, place.byte)
            }
            (None, _) | (_, None) => (0, 0),
        };
        Point { cell, line, byte }
    }

    /// Returns the number of lines above a cell, estimated where cells were never in view.
    pub(super) fn lines_above(&self, id: CellId) -> usize {
        self.heights.sum(id.index())
    }

    /// Returns the number of all lines, estimated where cells were never in view.
    pub(super) fn lines(&self) -> usize {
        self.heights.sum(self.entries.len())
    }

    fn estimate(&self, transcript: &Transcript, index: usize) -> usize {
        let weight = transcript.cells().outline(index).map_or(0, CellOutline::weight);
        gap_above(transcript, CellId::new(index)) + 1 + weight / usize::from(self.columns.max(1))
    }
}

/// Tells whether the newest output of a call takes as much room as there is.
fn has_live_output(cell: &Cell) -> bool {
    cell.body().call().is_some_and(|call| matches!(call.status(), CallStatus::Running | CallStatus::Interrupted))
}

/// Returns how many blank rows stand above a cell: one or none.
pub(super) fn gap_above(transcript: &Transcript, id: CellId) -> usize {
    let group = |index: usize| transcript.cells().outline(index).map(|outline| outline.group);
    let above = id.index().checked_sub(1).and_then(group);
    usize::from(above.zip(group(id.index())).is_some_and(|(above, cell)| gap(above, cell)))
}
