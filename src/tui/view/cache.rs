//! What the drawing of a transcript remembers between frames: heights of all cells, rows of those lately in view.
//!
//! Called by `view::transcript`. Heights are exact for cells that were in view at this width and estimated for the
//! others; their sums come from a binary indexed tree. So a frame costs what it shows, whatever the length of the history.

use super::cell::{Rows, gap};
use super::code;
use super::wrap::Line;
use crate::id::AgentId;
use crate::limits::LAYOUT_LINES;
use crate::tui::highlight::Job;
use crate::tui::state::cell::{Cell, CellId};
use crate::tui::state::colours::Colours;
use crate::tui::state::transcript::Transcript;
use crate::tui::theme::Theme;

/// Remembers the layout of one transcript; given another one it starts afresh.
#[derive(Debug, Default)]
pub struct TranscriptCache {
    agent: AgentId,
    columns: u16,
    theme: Theme,
    refolds: u64,
    entries: Vec<Entry>,
    sums: Sums,
    /// Rows that are kept, over all entries.
    kept: usize,
    /// Entries whose rows are kept.
    laid_out: Vec<usize>,
    frame: u64,
    /// Code in view whose colours are wanted, and how far that reaches: a cell and the row behind it.
    wanted: Vec<Job>,
    wanted_to: Option<(CellId, usize)>,
}

#[derive(Debug, Default)]
struct Entry {
    /// The height that `sums` has.
    height: usize,
    revision: u64,
    rewrites: u64,
    frame: u64,
    rows: Option<Rows>,
}

/// Is one visible row of a cell.
pub struct CellRow<'a> {
    /// The text, without the mark's columns; none for a blank row.
    pub line: Option<&'a Line>,
    /// The mark, in the first row.
    pub mark: Option<&'a Line>,
    /// The mark's columns.
    pub indent: u16,
}

impl TranscriptCache {
    /// Makes an empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a frame: forgets what no longer holds, estimates the cells that are new.
    pub(super) fn begin(&mut self, transcript: &Transcript, columns: u16, theme: &Theme) {
        self.frame += 1;
        self.wanted.clear();
        self.wanted_to = None;
        let cells = transcript.cells();
        let is_other = self.agent != *transcript.agent() || cells.len() < self.entries.len();
        if is_other || self.columns != columns || self.theme != *theme || self.refolds != transcript.refolds() {
            self.agent = transcript.agent().clone();
            self.columns = columns;
            self.theme = theme.clone();
            self.refolds = transcript.refolds();
            self.entries.clear();
            self.sums.clear();
            self.laid_out.clear();
            self.kept = 0;
        }
        let known = self.entries.len();
        for (index, cell) in cells.iter().enumerate().skip(known) {
            let above = index.checked_sub(1).and_then(|above| cells.get(above));
            let height = self.estimate(above, cell);
            self.entries.push(Entry { height, ..Entry::default() });
            self.sums.push(height);
        }
    }

    /// Ends a frame: gives up rows that are out of view when there are too many.
    pub(super) fn end(&mut self) {
        if self.kept <= LAYOUT_LINES {
            return;
        }
        let (entries, kept, frame) = (&mut self.entries, &mut self.kept, self.frame);
        self.laid_out.retain(|index| match entries.get_mut(*index) {
            Some(entry) if entry.frame < frame => {
                *kept -= entry.rows.take().map_or(0, |rows| rows.height());
                false
            }
            Some(_) => true,
            None => false,
        });
    }

    /// Returns the height of a cell, the blank row above it included; lays it out if need be.
    pub(super) fn height(&mut self, transcript: &Transcript, id: CellId) -> usize {
        let index = id.index();
        let (Some(cell), Some(entry)) = (transcript.get(id), self.entries.get_mut(index)) else {
            return 0;
        };
        entry.frame = self.frame;
        if entry.rows.is_some() && entry.revision == cell.revision() {
            return entry.height;
        }
        let before = entry.rows.take();
        match &before {
            Some(rows) => self.kept -= rows.height(),
            None => self.laid_out.push(index),
        }
        let grown = entry.rewrites == cell.rewrites();
        let text = before.filter(|_| grown).and_then(Rows::into_text);
        let rows = Rows::new(cell, self.columns, &self.theme, text);
        self.kept += rows.height();
        let height = rows.height() + usize::from(has_gap(transcript, cell));
        entry.rows = Some(rows);
        entry.revision = cell.revision();
        entry.rewrites = cell.rewrites();
        let old = std::mem::replace(&mut entry.height, height);
        self.sums.change(index, old, height);
        height
    }

    /// Returns a row of a cell that was laid out in this frame.
    pub(super) fn row(&self, transcript: &Transcript, id: CellId, at: usize) -> Option<CellRow<'_>> {
        let cell = transcript.get(id)?;
        let rows = self.entries.get(id.index())?.rows.as_ref()?;
        let Some(at) = at.checked_sub(usize::from(has_gap(transcript, cell))) else {
            return Some(CellRow { line: None, mark: None, indent: rows.indent() });
        };
        Some(CellRow { line: rows.row(at), mark: (at == 0).then(|| rows.mark()), indent: rows.indent() })
    }

    /// Notes that the colours of a row in view are wanted.
    pub(super) fn want(&mut self, transcript: &Transcript, id: CellId, at: usize, colours: &Colours) {
        let rows = self.entries.get(id.index()).and_then(|entry| entry.rows.as_ref());
        let (Some(cell), Some(rows)) = (transcript.get(id), rows) else { return };
        let Some(at) = at.checked_sub(usize::from(has_gap(transcript, cell))) else { return };
        if self.wanted_to.is_some_and(|(last, end)| last == id && at < end) {
            return;
        }
        if let Some((job, end)) = code::job(at, |at| rows.row(at), colours) {
            self.wanted.push(job);
            self.wanted_to = Some((id, end));
        }
    }

    /// Returns what is wanted for the frame that was drawn last.
    pub(super) fn take_wanted(&mut self) -> Vec<Job> {
        std::mem::take(&mut self.wanted)
    }

    /// Returns the number of lines above a cell, estimated where cells were never in view.
    pub(super) fn lines_above(&self, id: CellId) -> usize {
        self.sums.sum(id.index())
    }

    /// Returns the number of all lines, estimated where cells were never in view.
    pub(super) fn lines(&self) -> usize {
        self.sums.sum(self.entries.len())
    }

    fn estimate(&self, above: Option<&Cell>, cell: &Cell) -> usize {
        let gap = above.is_some_and(|above| gap(above.body(), cell.body()));
        usize::from(gap) + 1 + cell.weight() / usize::from(self.columns.max(1))
    }
}

/// Tells whether a blank row stands above a cell.
pub(super) fn has_gap(transcript: &Transcript, cell: &Cell) -> bool {
    let above = cell.id().index().checked_sub(1).and_then(|above| transcript.cells().get(above));
    above.is_some_and(|above| gap(above.body(), cell.body()))
}

/// Is a binary indexed tree over heights: sums and changes in logarithmic time.
#[derive(Debug, Default)]
struct Sums {
    tree: Vec<usize>,
}

impl Sums {
    fn clear(&mut self) {
        self.tree.clear();
    }

    fn push(&mut self, height: usize) {
        let place = self.tree.len() + 1;
        let first = place - lowest_bit(place);
        let sum = self.sum(place - 1) - self.sum(first);
        self.tree.push(sum + height);
    }

    fn change(&mut self, index: usize, old: usize, new: usize) {
        let mut place = index + 1;
        while let Some(sum) = self.tree.get_mut(place - 1) {
            *sum = (*sum + new).saturating_sub(old);
            place += lowest_bit(place);
        }
    }

    /// Returns the sum of the first heights, so many of them.
    fn sum(&self, count: usize) -> usize {
        let mut place = count.min(self.tree.len());
        let mut sum = 0;
        while place > 0 {
            sum += self.tree.get(place - 1).copied().unwrap_or(0);
            place -= lowest_bit(place);
        }
        sum
    }
}

fn lowest_bit(place: usize) -> usize {
    place & place.wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::Sums;

    #[test]
    fn sums_follow_pushes_and_changes() {
        let mut sums = Sums::default();
        let mut heights: Vec<usize> = (0..100).map(|index| index * 7 % 13).collect();
        for height in &heights {
            sums.push(*height);
        }
        for index in [0, 1, 31, 32, 63, 99] {
            let old = std::mem::replace(&mut heights[index], index + 5);
            sums.change(index, old, index + 5);
        }
        for count in 0..=100 {
            assert_eq!(sums.sum(count), heights[..count].iter().sum::<usize>(), "the first {count}");
        }
    }
}
