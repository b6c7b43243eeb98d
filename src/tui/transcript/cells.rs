//! The cells of one transcript: the newest as they are, the older ones packed page by page.
//!
//! Used by the reducer and read by everything that looks at a transcript. A packed cell is unpacked with its page when it is
//! looked at, and put away again later, so that a session of any length takes little memory. What a layout has to know of
//! every cell stays at hand. A copy shares everything until one of the two changes.

use std::iter::FusedIterator;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

use crate::transcript::cell::{Cell, Expansion};
use steersman_session::packed::Packed;

/// Cells that are packed together, but where a transcript is put away before there are so many.
const PAGE: usize = 128;
/// The newest cells, which are not packed meanwhile: what is still expected for one comes soon, if at all.
const RECENT: usize = 4 * PAGE;
/// Pages that stay unpacked.
const UNPACKED: usize = 16;

/// The cells of a transcript, oldest first.
#[derive(Debug, Default)]
pub struct Cells {
    /// Each with the place of the cell behind its last one.
    pages: Arc<Vec<(usize, Page)>>,
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
    pub expansion: Expansion,
    /// What it stands beside without a blank row between.
    pub group: CellGroup,
    /// Whether it has more to show than its head.
    pub can_collapse: bool,
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
        if self.can_collapse && self.expansion == Expansion::Collapsed { 1 } else { self.bytes as usize }
    }

    /// Returns it with the cell collapsed or expanded, if that can be.
    fn with_expansion(self, expansion: Expansion) -> Self {
        if self.can_collapse { Self { expansion, ..self } } else { self }
    }
}

impl Cells {
    pub fn len(&self) -> usize {
        self.packed() + self.recent.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pages.is_empty() && self.recent.is_empty()
    }

    /// Returns how many cells are in pages.
    fn packed(&self) -> usize {
        self.pages.last().map_or(0, |(end, _)| *end)
    }

    /// Returns the place of a cell: its page, and which one of that it is; the number of pages for a recent one.
    fn place(&self, index: usize) -> (usize, usize) {
        let page = self.pages.partition_point(|(end, _)| *end <= index);
        let start = page.checked_sub(1).and_then(|before| self.pages.get(before)).map_or(0, |(end, _)| *end);
        (page, index - start)
    }

    pub fn get(&self, index: usize) -> Option<&Cell> {
        let (page, within) = self.place(index);
        match self.pages.get(page) {
            Some((_, Page::Packed(page))) => page.cells(&self.unpacked).get(within),
            Some((_, Page::Open(cells))) => cells.get(within),
            None => self.recent.get(within),
        }
    }

    /// Returns what a layout has to know of a cell.
    pub fn outline(&self, index: usize) -> Option<CellOutline> {
        let (page, within) = self.place(index);
        match self.pages.get(page) {
            Some((_, Page::Packed(page))) => page.outlines.get(within).copied(),
            Some((_, Page::Open(cells))) => cells.get(within).map(Cell::outline),
            None => self.recent.get(within).map(Cell::outline),
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
        let (page, within) = self.place(index);
        let Some((_, page)) = Arc::make_mut(&mut self.pages).get_mut(page) else {
            return Arc::make_mut(&mut self.recent).get_mut(within);
        };
        if let Page::Packed(packed) = page {
            let cells = packed.cells(&self.unpacked).to_vec();
            *page = Page::Open(cells);
        }
        match page {
            Page::Open(cells) => cells.get_mut(within),
            Page::Packed(_) => None,
        }
    }

    pub(super) fn push(&mut self, cell: Cell) {
        let recent = Arc::make_mut(&mut self.recent);
        recent.push(cell);
        if recent.len() >= RECENT + PAGE {
            self.pack(PAGE);
            self.put_away();
        }
    }

    /// Puts the cells away that nothing more is expected for, as far as they are the oldest of those that are not, so that a
    /// copy shares them with this.
    pub(super) fn settle(&mut self) {
        self.pack(self.recent.iter().take_while(|cell| cell.is_settled()).count());
        // What was changed behind a packed page is open there.
        if self.pages.iter().any(|(_, page)| matches!(page, Page::Open(_))) {
            self.put_all_away();
        }
    }

    fn pack(&mut self, count: usize) {
        let Some(page) = self.recent.get(..count).filter(|cells| !cells.is_empty()).and_then(PackedPage::pack) else {
            return;
        };
        let end = self.packed() + count;
        Arc::make_mut(&mut self.recent).drain(..count);
        Arc::make_mut(&mut self.pages).push((end, Page::Packed(Arc::new(page))));
    }

    /// Collapses or expands all cells that can be collapsed.
    pub(super) fn set_all_expansions(&mut self, expansion: Expansion) {
        for (_, page) in Arc::make_mut(&mut self.pages) {
            match page {
                Page::Packed(packed) => *packed = Arc::new(packed.with_expansion(expansion)),
                Page::Open(cells) => cells.iter_mut().for_each(|cell| cell.set_expansion(expansion)),
            }
        }
        for cell in Arc::make_mut(&mut self.recent) {
            cell.set_expansion(expansion);
        }
    }

    /// Puts pages away that were unpacked, when they are many.
    pub(super) fn put_away(&mut self) {
        if *self.unpacked.get_mut() > UNPACKED {
            self.put_all_away();
        }
    }

    fn put_all_away(&mut self) {
        *self.unpacked.get_mut() = 0;
        for (_, page) in Arc::make_mut(&mut self.pages) {
            let packed = match page {
                Page::Packed(packed) if packed.unpacked.get().is_some() => Some(packed.put_away()),
                Page::Packed(_) => None,
                Page::Open(cells) => PackedPage::pack(cells),
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
    fn pack(cells: &[Cell]) -> Option<Self> {
        if !cells.iter().all(Cell::is_settled) {
            return None;
        }
        let outlines = cells.iter().map(Cell::outline).collect();
        Some(Self { outlines, packed: Arc::new(Packed::pack(cells)?), unpacked: OnceLock::new() })
    }

    fn cells(&self, count: &AtomicUsize) -> &[Cell] {
        self.unpacked.get_or_init(|| {
            count.fetch_add(1, Ordering::Relaxed);
            let mut cells: Vec<Cell> = self.packed.values().unwrap_or_default();
            for (cell, outline) in cells.iter_mut().zip(&self.outlines) {
                cell.restore_expansion(outline.expansion);
            }
            cells.into_boxed_slice()
        })
    }

    fn with_expansion(&self, expansion: Expansion) -> Self {
        let outlines = self.outlines.iter().map(|outline| outline.with_expansion(expansion)).collect();
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
