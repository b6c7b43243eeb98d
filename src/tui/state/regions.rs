//! What lies where on the screen: filled by the drawing, asked by the pointer; what was drawn last lies on top.
//!
//! Goes from the drawing to the state with `Drawn`. Always holds: a place that nothing claims answers with nothing, and an
//! overlay or a question covers what lies beneath it.

use ratatui::layout::{Position, Rect};
use serde::{Deserialize, Serialize};

use super::pane::Pane;
use crate::id::{AgentId, MessageId};

/// What a pointer can point at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Region {
    /// A pane with its title, where nothing more exact lies on it.
    Pane(Pane),
    /// A visible line of the shown transcript.
    Line(ShownLine),
    /// The row of an agent in the tree.
    Agent(AgentId),
    /// The row that counts the ended children of this agent.
    Ended(AgentId),
    /// A text that waits for delivery.
    Entry(MessageId),
    /// The composer's text.
    Text,
    /// A line between panes that can be drawn elsewhere.
    Divider(Divider),
    /// A tab of a narrow screen.
    Tab(Pane),
    /// What could stand behind what is being typed, by its place in the list.
    Offer(usize),
    /// The question that is asked.
    Question,
    /// Everything behind an overlay.
    Behind,
    /// An overlay, where nothing more exact lies on it.
    Overlay,
    /// A row of an overlay, by its place.
    OverlayRow(usize),
}

/// A line between panes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Divider {
    /// Between the tree and the transcript beside it.
    TreeColumn,
    /// Between the tree and the transcript beneath it.
    TreeRow,
    /// Between the transcript and the details beside it.
    DetailsColumn,
    /// Between the details and the transcript beneath them.
    DetailsRow,
}

/// One cell of a transcript; ids rise with the position and are never used again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CellId(usize);

impl CellId {
    pub(crate) fn new(index: usize) -> Self {
        Self(index)
    }

    /// Returns the position in the transcript, from 0.
    pub fn index(self) -> usize {
        self.0
    }
}

/// A line of the transcript, as a frame showed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownLine {
    /// The cell.
    pub cell: CellId,
    /// The line within it, from 0, a blank one above its head included.
    pub line: usize,
    /// Columns of the mark left of its text.
    pub indent: u16,
    /// What it is within its cell.
    pub part: Part,
}

/// Which part of a cell a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The blank line above it.
    Gap,
    /// Its first line.
    Head,
    /// Any other.
    Body,
}

/// A place in the text of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// The cell.
    pub cell: CellId,
    /// The line within it, as in [`ShownLine::line`].
    pub line: usize,
    /// The column within the line's text, from 0; may lie behind its end.
    pub column: u16,
}

/// What lies where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Regions {
    spots: Vec<(Rect, Region)>,
}

impl Regions {
    /// Puts a region on top of what is there; an empty area is left out.
    pub fn add(&mut self, area: Rect, region: Region) {
        if !area.is_empty() {
            self.spots.push((area, region));
        }
    }

    /// Returns what lies on top at a place, and where it lies.
    pub fn at(&self, place: Position) -> Option<(Rect, &Region)> {
        self.spots.iter().rev().find(|(area, _)| area.contains(place)).map(|(area, region)| (*area, region))
    }

    /// Tells whether any region is such a one.
    pub fn any(&self, is_such: impl Fn(&Region) -> bool) -> bool {
        self.spots.iter().any(|(_, region)| is_such(region))
    }

    /// Returns where a region lies.
    pub fn area_of(&self, wanted: &Region) -> Option<Rect> {
        self.spots.iter().rev().find(|(_, region)| region == wanted).map(|(area, _)| *area)
    }

    /// Returns the point of the transcript's text that is nearest to a place: for a drag that may lead out of the pane.
    pub fn nearest_point(&self, place: Position) -> Option<Point> {
        let lines = self
            .spots
            .iter()
            .filter_map(|(area, region)| if let Region::Line(line) = region { Some((area, line)) } else { None });
        let (area, line) = lines.min_by_key(|(area, _)| area.y.abs_diff(place.y))?;
        let column = place.x.saturating_sub(area.x.saturating_add(line.indent)).min(area.width);
        Some(Point { cell: line.cell, line: line.line, column })
    }
}
