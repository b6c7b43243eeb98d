//! Where in a whole transcript something is found: how often in each cell, folded or not, piece by piece.
//!
//! Called by `look` before a frame; each time it does a bounded piece of the work, and it says when there is more. Counts
//! are those of the opened cells at the width of the screen. The cells that were looked through are one stretch, which
//! grows at both its ends from where the search began.

use crate::id::AgentId;
use crate::limits;
use crate::session::fold::ReceiptMark;
use crate::tui::theme::Theme;
use crate::tui::transcript::cell::{Body, CallStatus, Cell, CellId, ChildState, Fold, Stage};
use crate::tui::transcript::fold::Transcript;
use crate::tui::transcript::scroll::Point;
use crate::tui::transcript::search::{Count, Found, Scan, Search, Spot, Turned, Visit, Wish};
use crate::tui::transcript::view::cache::has_gap;
use crate::tui::transcript::view::prefix_sums::Sums;
use crate::tui::transcript::view::query::Needle;
use crate::tui::transcript::view::rows::Rows;
use crate::tui::transcript::view::sift::{may_hold, weight};

/// Work for a cell beside its bytes, in bytes.
const CELL: usize = 48;
/// Bytes that are passed over in the time in which one is laid out.
const LIGHT: usize = 32;

/// One place within a cell: its line, without a blank row above, and the bytes of that line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// The line.
    pub line: usize,
    /// The first byte.
    pub from: usize,
    /// The byte behind the last one.
    pub to: usize,
}

/// Finds all places in the rows of a cell.
pub fn hits(rows: &Rows, needle: &Needle) -> Vec<Hit> {
    let mut hits = Vec::new();
    rows.lines(|number, line| {
        hits.extend(needle.all(&line.text).map(|found| Hit { line: number, from: found.start, to: found.end }));
    });
    hits
}

/// Remembers what was found in one transcript.
#[derive(Debug, Default)]
pub struct Finds {
    agent: AgentId,
    columns: u16,
    needle: Needle,
    /// The cells that were looked through.
    from: usize,
    to: usize,
    /// How often it is in each cell.
    counts: Vec<u32>,
    sums: Sums,
    /// Cells that may still change, with the revision that was looked through.
    open: Vec<(usize, u64)>,
    /// What a shorter needle found: a cell without that one has none of this one.
    before: Option<(usize, usize, Vec<u32>)>,
}

/// What a look needs to know.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The cells.
    pub transcript: &'a Transcript,
    /// The columns at which they are laid out.
    pub columns: u16,
    /// The styles, of which nothing depends.
    pub theme: &'a Theme,
}

impl Finds {
    /// Does a piece of the work, and answers what is wished as far as that is known.
    pub fn look(&mut self, scene: Scene<'_>, needle: &Needle, search: &Search) -> Found {
        let begin = search.at.map_or(search.began().cell, |spot| spot.cell).index();
        self.prepare(scene, needle, begin);
        self.work(scene);
        let cells = scene.transcript.cells().len();
        let is_whole = self.from == 0 && self.to >= cells;
        let visit = match search.wish {
            None => Visit::Waits,
            Some(wish) => self.visit(scene, search, wish, cells),
        };
        let at = match visit {
            Visit::At { spot, .. } => Some(spot),
            Visit::Waits | Visit::Nothing => search.at,
        };
        let place = at.filter(|_| self.from == 0).map(|spot| self.rank(spot));
        let total = self.total();
        let scan = if is_whole { Scan::Whole } else { Scan::SoFar };
        Found { count: Count { place: place.filter(|place| *place < total), total, scan }, visit }
    }

    /// Begins afresh when something else is searched for, or somewhere else.
    fn prepare(&mut self, scene: Scene<'_>, needle: &Needle, begin: usize) {
        let cells = scene.transcript.cells().len();
        let is_same =
            self.agent == *scene.transcript.agent() && self.columns == scene.columns && self.counts.len() <= cells;
        if is_same && self.needle == *needle && !self.counts.is_empty() {
            return;
        }
        let mut before = None;
        if is_same && self.needle != *needle && self.needle.is_within(needle) {
            before = Some((self.from, self.to, std::mem::take(&mut self.counts)));
        }
        let begin = begin.min(cells);
        *self = Self {
            agent: scene.transcript.agent().clone(),
            columns: scene.columns,
            needle: needle.clone(),
            from: begin,
            to: begin,
            before,
            ..Self::default()
        };
    }

    fn work(&mut self, scene: Scene<'_>) {
        let cells = scene.transcript.cells();
        for _ in self.counts.len()..cells.len() {
            self.counts.push(0);
            self.sums.push(0);
        }
        let mut left = limits::SEARCH_WORK;
        let open = std::mem::take(&mut self.open);
        for (index, revision) in open {
            match cells.get(index) {
                Some(cell) if cell.revision() == revision => self.open.push((index, revision)),
                Some(_) => left = left.saturating_sub(self.count(scene, index, Trust::Nothing)),
                None => {}
            }
        }
        while left > 0 && (self.to < cells.len() || self.from > 0) {
            if self.to < cells.len() {
                left = left.saturating_sub(self.count(scene, self.to, Trust::Before));
                self.to += 1;
            }
            if let Some(above) = self.from.checked_sub(1) {
                left = left.saturating_sub(self.count(scene, above, Trust::Before));
                self.from = above;
            }
        }
        if self.from == 0 && self.to >= cells.len() {
            self.before = None;
        }
    }

    /// Counts the places in a cell; returns the work that it was.
    fn count(&mut self, scene: Scene<'_>, index: usize, trust: Trust) -> usize {
        let Some(cell) = scene.transcript.cells().get(index) else { return CELL };
        let had_none = self
            .before
            .as_ref()
            .is_some_and(|(from, to, counts)| (*from..*to).contains(&index) && counts.get(index) == Some(&0));
        let is_open = may_change(cell);
        if is_open {
            self.open.push((index, cell.revision()));
        }
        let (found, work) = if had_none && trust == Trust::Before && !is_open {
            (0, CELL / 8)
        } else if may_hold(cell, &self.needle) {
            let rows = Rows::opened(cell, scene.columns, scene.theme);
            (hits(&rows, &self.needle).len(), CELL + weight(cell))
        } else {
            (0, CELL / 2 + weight(cell) / LIGHT)
        };
        if let Some(count) = self.counts.get_mut(index) {
            let old = std::mem::replace(count, u32::try_from(found).unwrap_or(u32::MAX));
            if old as usize != found {
                self.sums.change(index, old as usize, found);
            }
        }
        work
    }

    fn total(&self) -> usize {
        self.sums.sum(self.counts.len())
    }

    /// Returns how many places stand before one.
    fn rank(&self, spot: Spot) -> usize {
        let own = self.counts.get(spot.cell.index()).copied().unwrap_or(0) as usize;
        self.sums.sum(spot.cell.index()) + spot.nth.min(own.saturating_sub(1))
    }

    fn spot(&self, rank: usize) -> Option<Spot> {
        let cell = self.sums.first_above(rank)?;
        Some(Spot { cell: CellId::new(cell), nth: rank - self.sums.sum(cell) })
    }

    /// Answers a wish, when the cells between here and there were looked through.
    fn visit(&self, scene: Scene<'_>, search: &Search, wish: Wish, cells: usize) -> Visit {
        let total = self.total();
        let (is_up, is_down) = (self.from == 0, self.to >= cells);
        if total == 0 {
            return if is_up && is_down { Visit::Nothing } else { Visit::Waits };
        }
        let ahead = self.ahead(scene, search);
        let (rank, turned) = match (wish, search.at) {
            (Wish::Nearest, _) if ahead < total => (ahead, None),
            (Wish::Nearest, _) if is_down => (total - 1, None),
            (Wish::Nearest, _) => return Visit::Waits,
            (Wish::Steps(steps), at) => {
                // Without a place to start from, the first step leads to the next one.
                let here = match at {
                    Some(spot) => self.rank(spot),
                    None if steps > 0 => ahead.wrapping_sub(1),
                    None => ahead,
                };
                let rank = here.wrapping_add_signed(steps);
                if rank < total {
                    (rank, None)
                } else if !(is_up && is_down) {
                    return Visit::Waits;
                } else if steps > 0 {
                    (rank % total, Some(Turned::ToFirst))
                } else {
                    let beyond = 0_usize.wrapping_sub(rank) % total;
                    ((total - beyond) % total, Some(Turned::ToLast))
                }
            }
        };
        match self.spot(rank).and_then(|spot| Some((spot, self.point(scene, spot)?))) {
            Some((spot, point)) => Visit::At { spot, point, turned },
            None => Visit::Nothing,
        }
    }

    /// Returns how many places stand before where the search began.
    fn ahead(&self, scene: Scene<'_>, search: &Search) -> usize {
        let began = search.began();
        let before = self.sums.sum(began.cell.index());
        let cell = scene.transcript.get(began.cell);
        let Some(cell) = cell.filter(|cell| cell.fold() == Fold::Open) else { return before };
        let gap = usize::from(has_gap(scene.transcript, cell));
        let rows = Rows::opened(cell, scene.columns, scene.theme);
        let is_above = |hit: &&Hit| (hit.line + gap, hit.from) < (began.line, began.byte);
        before + hits(&rows, &self.needle).iter().filter(is_above).count()
    }

    fn point(&self, scene: Scene<'_>, spot: Spot) -> Option<Point> {
        let cell = scene.transcript.get(spot.cell)?;
        let rows = Rows::opened(cell, scene.columns, scene.theme);
        let hit = *hits(&rows, &self.needle).get(spot.nth)?;
        let gap = usize::from(has_gap(scene.transcript, cell));
        Some(Point { cell: spot.cell, line: gap + hit.line, byte: hit.from })
    }
}

/// Whether what a shorter needle found holds for a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    Before,
    Nothing,
}

/// Tells whether a cell may come to show something else.
fn may_change(cell: &Cell) -> bool {
    let runs = |state: &ChildState| *state == ChildState::Running;
    match cell.body() {
        Body::User { receipt, .. } => {
            receipt.as_ref().is_some_and(|told| matches!(told.mark, ReceiptMark::Waiting | ReceiptMark::Delivered))
        }
        Body::Thinking { stage, .. } | Body::Assistant { stage, .. } => *stage == Stage::Live,
        Body::Call(call) => {
            // What is shown of one that was stopped depends on the height of the view.
            matches!(call.status(), CallStatus::Running | CallStatus::Interrupted)
                || call.child.as_ref().is_some_and(|child| runs(&child.state))
        }
        Body::Child(child) => runs(&child.state),
        Body::Compaction { .. } | Body::Notice { .. } => false,
    }
}
