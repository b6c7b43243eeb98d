//! The cells of one transcript: the newest as they are, the older ones packed page by page.
//!
//! Used by the fold and read by everything that looks at a transcript. A packed cell is unpacked with its page when it is
//! looked at, and put away again later, so that a session of any length takes little memory. What a layout has to know of
//! every cell stays at hand. A copy shares everything until one of the two changes.

use std::iter::FusedIterator;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

use crate::transcript::cell::{Cell, Fold};
use steersman_session::packed::Packed;

const PAGE: usize = 128;
/// The newest cells, which are never packed: what is still expected for one comes soon, if at all.
const RECENT: usize = 4 * PAGE;
/// Pages that stay unpacked.
const UNPACKED: usize = 16;

/// The cells of a transcript, oldest first.
#[derive(Debug, Default)]
pub struct Cells {
    pages: Arc<Vec<Page>>,
    /// The cells behind the pages.
    recent: Arc<Vec<Cell>>,
    /// How many pages were unpacked since they were put away.
    unpacked: AtomicUsize,
}

#[derive(Debug, Clone)]
enum Page {
    Packed(Arc<PackedPage>),
    Open(Vec<Cell>),
}

#[derive(Debug)]
struct PackedPage {
    outlines: Box<[CellOutline]>,
    packed: Arc<Packed>,
    unpacked: OnceLock<Box<[Cell]>>,
}

/// What a layout has to know of a cell that is out of view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellOutline {
    /// What is shown of it: the head only, or everything.
    pub fold: Fold,
    /// What it stands beside without a blank row between.
    pub group: CellGroup,
    /// Whether it has more to show than its head.
    pub can_fold: bool,
    /// Bytes of text in it, roughly.
    pub(super) bytes: u32,
}

/// What cells have in common that stand beside each other without a blank row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellGroup {
    /// Nothing: each text stands alone.
    Text,
    /// They are calls and sub-agents.
    Work,
    /// They are sentences of the program.
    Notice,
}

impl CellOutline {
    /// Returns roughly how many bytes of text are shown; enough to guess a height.
    pub fn weight(self) -> usize {
        if self.can_fold && self.fold == Fold::Folded { 1 } else { self.bytes as usize }
    }

    /// Returns it with the cell folded or opened, if that can fold.
    fn folded(self, fold: Fold) -> Self {
        if self.can_fold { Self { fold, ..self } } else { self }
    }
}

impl Cells {
    pub fn len(&self) -> usize {
        self.pages.len() * PAGE + self.recent.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pages.is_empty() && self.recent.is_empty()
    }

    pub fn get(&self, index: usize) -> Option<&Cell> {
        match self.pages.get(index / PAGE) {
            Some(Page::Packed(page)) => page.cells(&self.unpacked).get(index % PAGE),
            Some(Page::Open(cells)) => cells.get(index % PAGE),
            None => self.recent.get(index - self.pages.len() * PAGE),
        }
    }

    /// Returns what a layout has to know of a cell.
    pub fn outline(&self, index: usize) -> Option<CellOutline> {
        match self.pages.get(index / PAGE) {
            Some(Page::Packed(page)) => page.outlines.get(index % PAGE).copied(),
            Some(Page::Open(_)) | None => self.get(index).map(Cell::outline),
        }
    }

    /// Returns the cells, oldest first.
    pub fn iter(&self) -> CellsIter<'_> {
        self.range(0..self.len())
    }

    pub fn range(&self, range: Range<usize>) -> CellsIter<'_> {
        CellsIter { cells: self, range: range.start..range.end.min(self.len()) }
    }

    /// Returns the newest cells, which something may still be expected for.
    pub fn recent(&self) -> CellsIter<'_> {
        self.range(self.len().saturating_sub(RECENT)..self.len())
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Cell> {
        let packed = self.pages.len() * PAGE;
        let Some(page) = Arc::make_mut(&mut self.pages).get_mut(index / PAGE) else {
            return Arc::make_mut(&mut self.recent).get_mut(index - packed);
        };
        if let Page::Packed(packed) = page {
            let cells = packed.cells(&self.unpacked).to_vec();
            *page = Page::Open(cells);
        }
        match page {
            Page::Open(cells) => cells.get_mut(index % PAGE),
            Page::Packed(_) => None,
        }
    }

    pub(super) fn push(&mut self, cell: Cell) {
        let recent = Arc::make_mut(&mut self.recent);
        recent.push(cell);
        if recent.len() >= RECENT + PAGE
            && let Some(page) = recent.get(..PAGE).and_then(PackedPage::of)
        {
            recent.drain(..PAGE);
            Arc::make_mut(&mut self.pages).push(Page::Packed(Arc::new(page)));
            self.put_away();
        }
    }

    /// Folds or opens all cells that can fold.
    pub(super) fn set_folds(&mut self, fold: Fold) {
        for page in Arc::make_mut(&mut self.pages) {
            match page {
                Page::Packed(packed) => *packed = Arc::new(packed.folded(fold)),
                Page::Open(cells) => cells.iter_mut().for_each(|cell| cell.set_fold(fold)),
            }
        }
        for cell in Arc::make_mut(&mut self.recent) {
            cell.set_fold(fold);
        }
    }

    /// Puts pages away that were unpacked, when they are many.
    pub(super) fn put_away(&mut self) {
        if *self.unpacked.get_mut() <= UNPACKED {
            return;
        }
        *self.unpacked.get_mut() = 0;
        for page in Arc::make_mut(&mut self.pages) {
            let packed = match page {
                Page::Packed(packed) if packed.unpacked.get().is_some() => Some(packed.put_away()),
                Page::Packed(_) => None,
                Page::Open(cells) => PackedPage::of(cells),
            };
            if let Some(packed) = packed {
                *page = Page::Packed(Arc::new(packed));
            }
        }
    }
}

impl Default for &Cells {
    fn default() -> Self {
        static NONE: LazyLock<Cells> = LazyLock::new(Cells::default);
        &NONE
    }
}

impl Clone for Cells {
    fn clone(&self) -> Self {
        let unpacked = AtomicUsize::new(self.unpacked.load(Ordering::Relaxed));
        Self { pages: Arc::clone(&self.pages), recent: Arc::clone(&self.recent), unpacked }
    }
}

impl PackedPage {
    /// Packs cells; `None` when one of them may still change much.
    fn of(cells: &[Cell]) -> Option<Self> {
        if !cells.iter().all(Cell::is_settled) {
            return None;
        }
        let outlines = cells.iter().map(Cell::outline).collect();
        Some(Self { outlines, packed: Arc::new(Packed::of(cells)?), unpacked: OnceLock::new() })
    }

    fn cells(&self, count: &AtomicUsize) -> &[Cell] {
        self.unpacked.get_or_init(|| {
            count.fetch_add(1, Ordering::Relaxed);
            let mut cells: Vec<Cell> = self.packed.values().unwrap_or_default();
            for (cell, outline) in cells.iter_mut().zip(&self.outlines) {
                cell.restore_fold(outline.fold);
            }
            cells.into_boxed_slice()
        })
    }

    fn folded(&self, fold: Fold) -> Self {
        let outlines = self.outlines.iter().map(|outline| outline.folded(fold)).collect();
        Self { outlines, packed: Arc::clone(&self.packed), unpacked: OnceLock::new() }
    }

    fn put_away(&self) -> Self {
        Self { outlines: self.outlines.clone(), packed: Arc::clone(&self.packed), unpacked: OnceLock::new() }
    }
}

/// Cells in their order. Those that are passed over are not unpacked.
#[derive(Debug, Clone)]
pub struct CellsIter<'a> {
    cells: &'a Cells,
    range: Range<usize>,
}

impl<'a> Iterator for CellsIter<'a> {
    type Item = &'a Cell;

    fn next(&mut self) -> Option<&'a Cell> {
        self.cells.get(self.range.next()?)
    }

    fn nth(&mut self, n: usize) -> Option<&'a Cell> {
        self.cells.get(self.range.nth(n)?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }
}

impl<'a> DoubleEndedIterator for CellsIter<'a> {
    fn next_back(&mut self) -> Option<&'a Cell> {
        self.cells.get(self.range.next_back()?)
    }
}

impl ExactSizeIterator for CellsIter<'_> {}

impl FusedIterator for CellsIter<'_> {}

impl<'a> IntoIterator for &'a Cells {
    type Item = &'a Cell;
    type IntoIter = CellsIter<'a>;

    fn into_iter(self) -> CellsIter<'a> {
        self.iter()
    }
}
