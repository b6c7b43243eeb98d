//! The ends of a selection as the layout has them, and the text that it takes.
//!
//! Called by `look`. Rows that were wrapped are one line again; marks, gutters and the scroll bar are not copied.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::state;
use crate::theme::Theme;
use crate::transcript::cell::CellId;
use crate::transcript::reduce::Transcript;
use crate::transcript::scroll::Point;
use crate::transcript::selection::{Selection, SelectionRequest, Shape};
use crate::transcript::view::cache::{TranscriptCache, gap_above};
use crate::transcript::view::rows::Rows;
use crate::widgets::wrap::{Joint, Line, width};
use steersman_base::limits;

/// Finds the selection that is asked for, and the place that is to come into view.
pub fn resolve(
    transcript: &Transcript,
    layouts: &mut TranscriptCache,
    before: Option<Selection>,
    ask: SelectionRequest,
) -> (Option<Selection>, Option<Point>) {
    let mut lines = Lines { transcript, layouts };
    let lines_to = |head: Point| {
        let selection = before.map(|before| Selection { head, ..before });
        (selection, Some(head))
    };
    let head = before.map(|selection| selection.head).unwrap_or_default();
    match ask {
        SelectionRequest::Begin(cell) => {
            let point = lines.first_of(cell);
            (Some(Selection { anchor: point, head: point, shape: Shape::Lines }), Some(point))
        }
        SelectionRequest::Lines(count) => lines_to(lines.step(head, count)),
        SelectionRequest::Pages(count) => {
            let page = isize::try_from(lines.layouts.view_rows().saturating_sub(1).max(1)).unwrap_or(isize::MAX);
            lines_to(lines.step(head, page.saturating_mul(count)))
        }
        SelectionRequest::First => lines_to(lines.first_of(CellId::default())),
        SelectionRequest::Last => {
            let last = CellId::new(transcript.cells().len().saturating_sub(1));
            let line = lines.count(last).saturating_sub(1);
            lines_to(Point { cell: last, line, byte: 0 })
        }
        SelectionRequest::Cell(cell) => lines_to(lines.first_of(cell)),
        SelectionRequest::Drag(from, to) => {
            let (from, to) = (lines.unit(from, Unit::Character), lines.unit(to, Unit::Character));
            let (anchor, head) = if from.0 <= to.0 { (from.0, to.1) } else { (from.1, to.0) };
            (Some(Selection { anchor, head, shape: Shape::Characters }), None)
        }
        SelectionRequest::Word(at) => {
            let (anchor, head) = lines.unit(at, Unit::Word);
            (Some(Selection { anchor, head, shape: Shape::Characters }), None)
        }
        SelectionRequest::Line(at) => {
            let (point, _) = lines.unit(at, Unit::Character);
            (Some(Selection { anchor: point, head: point, shape: Shape::Lines }), None)
        }
    }
}

/// Returns the text that a selection takes, or why it is not copied. What the program says beneath a text, such as its
/// receipt, is copied only when nothing else is selected.
///
/// # Errors
/// One sentence, when it is longer than is copied.
pub fn text(
    transcript: &Transcript,
    layouts: &TranscriptCache,
    columns: u16,
    theme: &Theme,
    selection: &Selection,
) -> Result<String, String> {
    let text = taken(transcript, layouts, columns, theme, selection, Rows::own_lines)?;
    if !text.is_empty() {
        return Ok(text);
    }
    taken(transcript, layouts, columns, theme, selection, |_| usize::MAX)
}

/// Returns what a selection takes of the first lines of each cell, of as many as `most` says.
fn taken(
    transcript: &Transcript,
    layouts: &TranscriptCache,
    columns: u16,
    theme: &Theme,
    selection: &Selection,
    most: impl Fn(&Rows) -> usize,
) -> Result<String, String> {
    let (first, last) = selection.ends();
    let mut text = String::new();
    for cell in transcript.cells().iter().skip(first.cell.index()).take(last.cell.index() + 1 - first.cell.index()) {
        let gap = gap_above(transcript, cell.id());
        if gap > 0 && selection.bytes_of(cell.id(), 0, 0).is_some() && !text.is_empty() {
            text.push('\n');
        }
        let rows = Rows::new(cell, columns, layouts.view_rows(), theme, None);
        let most = most(&rows);
        rows.lines(|number, line| {
            if number < most
                && let Some((from, to)) = selection.bytes_of(cell.id(), number + gap, line.text.len())
            {
                text.push_str(line.text.get(from..to).unwrap_or_default());
                text.push('\n');
            }
        });
        if text.len() > limits::SELECTED_BYTES {
            let most = limits::SELECTED_BYTES / (1024 * 1024);
            return Err(format!("not copied: that is more than {most} MiB; w writes the transcript into a file"));
        }
    }
    text.pop();
    Ok(text)
}

/// What a pointer takes at a place.
#[derive(Clone, Copy)]
enum Unit {
    Character,
    Word,
}

/// Walks over the lines of a transcript.
struct Lines<'a> {
    transcript: &'a Transcript,
    layouts: &'a mut TranscriptCache,
}

impl Lines<'_> {
    fn gap(&self, cell: CellId) -> usize {
        gap_above(self.transcript, cell)
    }

    /// Returns the first line of a cell, not the blank one above it.
    fn first_of(&self, cell: CellId) -> Point {
        Point { cell, line: self.gap(cell), byte: 0 }
    }

    /// Returns how many lines a cell has, a blank one above it included.
    fn count(&mut self, cell: CellId) -> usize {
        self.layouts.height(self.transcript, cell);
        let begins = |rows: &Rows| rows.iter().filter(|row| row.joint() == Joint::Begins).count();
        self.gap(cell) + self.layouts.rows(cell).map_or(1, begins).max(1)
    }

    /// Goes so many lines on or back, up to an end.
    fn step(&mut self, from: Point, count: isize) -> Point {
        let mut point = Point { byte: 0, ..from };
        for _ in 0..count.unsigned_abs() {
            let gap = self.gap(point.cell);
            if count > 0 {
                if point.line + 1 < self.count(point.cell) {
                    point.line += 1;
                } else if point.cell.index() + 1 < self.transcript.cells().len() {
                    point = self.first_of(CellId::new(point.cell.index() + 1));
                } else {
                    break;
                }
            } else if point.line > gap {
                point.line -= 1;
            } else if let Some(above) = point.cell.index().checked_sub(1) {
                let cell = CellId::new(above);
                point = Point { cell, line: self.count(cell).saturating_sub(1), byte: 0 };
            } else {
                break;
            }
        }
        point
    }

    /// Returns where the character or the word at a place of the screen begins and ends.
    fn unit(&mut self, at: state::Point, unit: Unit) -> (Point, Point) {
        let start = self.layouts.point_of(self.transcript, at.cell, at.line);
        let Some((words, column)) = self.row_text(at) else { return (start, start) };
        let units: Vec<(usize, &str)> = match unit {
            Unit::Character => words.grapheme_indices(true).collect(),
            Unit::Word => words.split_word_bound_indices().collect(),
        };
        let mut columns = 0;
        let found = units.into_iter().find(|(_, text)| {
            columns += width(text);
            columns > column
        });
        let (from, to) = found.map_or((words.len(), words.len()), |(from, text)| (from, from + text.len()));
        (Point { byte: start.byte + from, ..start }, Point { byte: start.byte + to, ..start })
    }

    /// Returns the text of the row at a place of the screen, and the column within it.
    fn row_text(&mut self, at: state::Point) -> Option<(String, usize)> {
        let row = at.line.checked_sub(self.gap(at.cell))?;
        let line: &Line = self.layouts.rows(at.cell)?.row(row)?;
        Some((line.text_after_lead().to_owned(), usize::from(at.column).saturating_sub(line.lead_width())))
    }
}
