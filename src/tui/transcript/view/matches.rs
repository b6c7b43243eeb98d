//! Where in a whole transcript something is found: how often in each cell, collapsed or not, piece by piece.
//!
//! Called by `look` before a frame; each time it does a bounded piece of the work, and it says when there is more. Counts
//! are those of the opened cells at the width of the screen. The cells that were looked through are one stretch, which
//! grows at both its ends from where the search began.

use crate::theme::Theme;
use crate::transcript::cell::{Body, CallStatus, Cell, CellId, ChildState, Expansion, Stage};
use crate::transcript::reduce::{Extent, Transcript};
use crate::transcript::scroll::Point;
use crate::transcript::search::{
    Count, MatchPlace, Scan, Search, SearchAnswer, SearchProgress, SearchRequest, WrapAround,
};
use crate::transcript::view::cache::gap_above;
use crate::transcript::view::query::Query;
use crate::transcript::view::rows::Rows;
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_session::model::ReceiptMark;

/// Work for a cell beside its bytes, in bytes.
const CELL: usize = 48;
/// Bytes that are passed over in the time in which one is laid out.
const LIGHT: usize = 32;

/// One place within a cell: its line, without a blank row above, and the bytes of that line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    pub line: usize,
    /// The first byte.
    pub from: usize,
    /// The byte behind the last one.
    pub to: usize,
}

/// Finds all places in the rows of a cell.
pub fn hits(rows: &Rows, query: &Query) -> Vec<Hit> {
    let mut hits = Vec::new();
    rows.lines(|number, line| {
        hits.extend(query.all(&line.text).map(|found| Hit { line: number, from: found.start, to: found.end }));
    });
    hits
}

/// Remembers what was found in one transcript.
#[derive(Debug, Default)]
pub struct MatchIndex {
    agent: AgentId,
    extent: Extent,
    columns: u16,
    query: Query,
    /// The cells that were looked through.
    from: usize,
    to: usize,
    /// How often it is in each cell.
    counts: Vec<u32>,
    /// Cells that may still change, with the revision that was looked through.
    open: Vec<(usize, u64)>,
}

/// What a look needs to know.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub transcript: &'a Transcript,
    /// The columns at which they are laid out.
    pub columns: u16,
    /// The styles, of which nothing depends.
    pub theme: &'a Theme,
}

impl MatchIndex {
    /// Does a piece of the work, and answers what is asked as far as that is known.
    pub fn look(&mut self, scene: Scene<'_>, query: &Query, search: &Search) -> SearchProgress {
        let begin = search.at.map_or(search.began().cell, |place| place.cell).index();
        self.prepare(scene, query, begin);
        self.work(scene);
        let cells = scene.transcript.cells().len();
        let is_whole = self.from == 0 && self.to >= cells;
        let answer = match search.request {
            None => SearchAnswer::Unknown,
            Some(request) => self.answer(scene, search, request, cells),
        };
        let at = match answer {
            SearchAnswer::At { place, .. } => Some(place),
            SearchAnswer::Unknown | SearchAnswer::NotFound => search.at,
        };
        let place = at.filter(|_| self.from == 0).map(|place| self.rank(place));
        let total = self.total();
        let scan = if is_whole { Scan::Whole } else { Scan::SoFar };
        SearchProgress { count: Count { place: place.filter(|place| *place < total), total, scan }, answer }
    }

    /// Begins afresh when something else is searched for, or somewhere else.
    fn prepare(&mut self, scene: Scene<'_>, query: &Query, begin: usize) {
        let cells = scene.transcript.cells().len();
        let is_same = self.agent == *scene.transcript.agent()
            && self.columns == scene.columns
            && self.counts.len() <= cells
            && self.extent == scene.transcript.extent();
        if is_same && self.query == *query && !self.counts.is_empty() {
            return;
        }
        let begin = begin.min(cells);
        *self = Self {
            agent: scene.transcript.agent().clone(),
            extent: scene.transcript.extent(),
            columns: scene.columns,
            query: query.clone(),
            from: begin,
            to: begin,
            ..Self::default()
        };
    }

    fn work(&mut self, scene: Scene<'_>) {
        let cells = scene.transcript.cells();
        self.counts.resize(cells.len(), 0);
        let mut left = limits::SEARCH_WORK;
        let open = std::mem::take(&mut self.open);
        for (index, revision) in open {
            match cells.get(index) {
                Some(cell) if cell.revision() == revision => self.open.push((index, revision)),
                Some(_) => left = left.saturating_sub(self.count(scene, index)),
                None => {}
            }
        }
        while left > 0 && (self.to < cells.len() || self.from > 0) {
            if self.to < cells.len() {
                left = left.saturating_sub(self.count(scene, self.to));
                self.to += 1;
            }
            if let Some(above) = self.from.checked_sub(1) {
                left = left.saturating_sub(self.count(scene, above));
                self.from = above;
            }
        }
    }

    /// Counts the places in a cell; returns the work that it was.
    fn count(&mut self, scene: Scene<'_>, index: usize) -> usize {
        let Some(cell) = scene.transcript.cells().get(index) else { return CELL };
        if may_change(cell) {
            self.open.push((index, cell.revision()));
        }
        let (may_match, bytes) = self.query.may_be_in(cell);
        let found =
            if may_match { hits(&Rows::opened(cell, scene.columns, scene.theme), &self.query).len() } else { 0 };
        if let Some(count) = self.counts.get_mut(index) {
            *count = u32::try_from(found).unwrap_or(u32::MAX);
        }
        if may_match { CELL + bytes } else { CELL / 2 + bytes / LIGHT }
    }

    /// Returns how many places the first cells have, so many of them.
    fn before(&self, cells: usize) -> usize {
        self.counts.iter().take(cells).map(|count| *count as usize).sum()
    }

    fn total(&self) -> usize {
        self.before(self.counts.len())
    }

    /// Returns how many places stand before one.
    fn rank(&self, place: MatchPlace) -> usize {
        let own = self.counts.get(place.cell.index()).copied().unwrap_or(0) as usize;
        self.before(place.cell.index()) + place.nth.min(own.saturating_sub(1))
    }

    fn place(&self, rank: usize) -> Option<MatchPlace> {
        let mut left = rank;
        for (cell, count) in self.counts.iter().enumerate() {
            match left.checked_sub(*count as usize) {
                Some(more) => left = more,
                None => return Some(MatchPlace { cell: CellId::new(cell), nth: left }),
            }
        }
        None
    }

    /// Answers a request, when the cells between here and there were looked through.
    fn answer(&self, scene: Scene<'_>, search: &Search, request: SearchRequest, cells: usize) -> SearchAnswer {
        let total = self.total();
        let (is_up, is_down) = (self.from == 0, self.to >= cells);
        if total == 0 {
            return if is_up && is_down { SearchAnswer::NotFound } else { SearchAnswer::Unknown };
        }
        let ahead = self.ahead(scene, search);
        let (rank, wrapped) = match (request, search.at) {
            (SearchRequest::Nearest, _) if ahead < total => (ahead, None),
            (SearchRequest::Nearest, _) if is_down => (total - 1, None),
            (SearchRequest::Nearest, _) => return SearchAnswer::Unknown,
            (SearchRequest::Steps(steps), at) => {
                // Without a place to start from, the first step leads to the next one.
                let here = match at {
                    Some(place) => self.rank(place),
                    None if steps > 0 => ahead.wrapping_sub(1),
                    None => ahead,
                };
                let rank = here.wrapping_add_signed(steps);
                if rank < total {
                    (rank, None)
                } else if !(is_up && is_down) {
                    return SearchAnswer::Unknown;
                } else if steps > 0 {
                    (rank % total, Some(WrapAround::ToFirst))
                } else {
                    let beyond = 0_usize.wrapping_sub(rank) % total;
                    ((total - beyond) % total, Some(WrapAround::ToLast))
                }
            }
        };
        match self.place(rank).and_then(|place| Some((place, self.point(scene, place)?))) {
            Some((place, point)) => SearchAnswer::At { place, point, wrapped },
            None => SearchAnswer::NotFound,
        }
    }

    /// Returns how many places stand before where the search began.
    fn ahead(&self, scene: Scene<'_>, search: &Search) -> usize {
        let began = search.began();
        let before = self.before(began.cell.index());
        let cell = scene.transcript.get(began.cell);
        let Some(cell) = cell.filter(|cell| cell.expansion() == Expansion::Expanded) else { return before };
        let gap = gap_above(scene.transcript, cell.id());
        let rows = Rows::opened(cell, scene.columns, scene.theme);
        let is_above = |hit: &&Hit| (hit.line + gap, hit.from) < (began.line, began.byte);
        before + hits(&rows, &self.query).iter().filter(is_above).count()
    }

    fn point(&self, scene: Scene<'_>, place: MatchPlace) -> Option<Point> {
        let cell = scene.transcript.get(place.cell)?;
        let rows = Rows::opened(cell, scene.columns, scene.theme);
        let hit = *hits(&rows, &self.query).get(place.nth)?;
        let gap = gap_above(scene.transcript, cell.id());
        Some(Point { cell: place.cell, line: gap + hit.line, byte: hit.from })
    }
}

/// Tells whether a cell may come to show something else.
fn may_change(cell: &Cell) -> bool {
    let runs = |state: &ChildState| *state == ChildState::Running;
    match cell.body() {
        Body::User { receipt, .. } => receipt
            .as_ref()
            .is_some_and(|receipt| matches!(receipt.mark, ReceiptMark::Waiting | ReceiptMark::Delivered)),
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
