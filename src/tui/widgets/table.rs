//! A table, laid out to fit a width.
//!
//! Called by `markdown`. Wide columns give way first; where even narrow columns do not fit, each row becomes a short list
//! of `head: value` lines, so that no text is lost at any width.

use pulldown_cmark::Alignment;

use crate::theme::Theme;
use crate::widgets::wrap::{Break, Line, Wrap, wrapped};

/// What stands between two columns, and its width.
const SEPARATOR: &str = " │ ";
const SEPARATOR_WIDTH: usize = 3;
/// Narrowest column that is still read as one.
const NARROWEST: usize = 4;

/// The cells of a table; the first row is the head.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<Line>>,
}

impl Table {
    /// Makes a table without rows.
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new() }
    }

    pub(super) fn start_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(super) fn push_cell(&mut self, cell: Line) {
        if let Some(row) = self.rows.last_mut() {
            row.push(cell);
        }
    }

    /// Lays the table out and appends its rows, none wider than the width.
    pub(super) fn render(&self, width: usize, theme: &Theme, rows: &mut Vec<Line>) {
        match self.columns(width) {
            Some(columns) => self.render_grid(&columns, theme, rows),
            None => self.render_records(width, theme, rows),
        }
    }

    /// Returns how many rows the head takes at a width, its rule included.
    pub(super) fn head_rows(&self, width: usize) -> usize {
        let head = self.rows.first().map(Vec::as_slice).unwrap_or_default();
        self.columns(width).map_or(0, |columns| wrap_cells(head, &columns).iter().map(Vec::len).max().unwrap_or(0) + 1)
    }

    /// Finds the widths of the columns, or none when they do not fit.
    fn columns(&self, width: usize) -> Option<Vec<usize>> {
        let count = self.alignments.len();
        let room = width.checked_sub(count.saturating_sub(1) * SEPARATOR_WIDTH)?;
        let mut natural = vec![1; count];
        for row in &self.rows {
            for (column, cell) in natural.iter_mut().zip(row) {
                *column = cell.width().max(*column);
            }
        }
        let used = |level: usize| natural.iter().map(|width| *width.min(&level)).sum::<usize>();
        let widest = natural.iter().copied().max().unwrap_or(0);
        if used(widest) <= room {
            return Some(natural);
        }
        if used(NARROWEST) > room {
            return None;
        }
        // The highest level that the widest columns can be cut to.
        let (mut fits, mut too_wide) = (NARROWEST, widest);
        while fits + 1 < too_wide {
            let middle = usize::midpoint(fits, too_wide);
            if used(middle) <= room {
                fits = middle;
            } else {
                too_wide = middle;
            }
        }
        let mut left = room - used(fits);
        for column in &mut natural {
            if *column > fits {
                let more = usize::from(left > 0);
                left -= more;
                *column = fits + more;
            }
        }
        Some(natural)
    }

    fn render_grid(&self, columns: &[usize], theme: &Theme, rows: &mut Vec<Line>) {
        for (index, cells) in self.rows.iter().enumerate() {
            let wrapped = wrap_cells(cells, columns);
            let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
            for at in 0..height {
                let mut row = Line::default();
                for (number, (lines, width)) in wrapped.iter().zip(columns).enumerate() {
                    if number > 0 {
                        row.push(SEPARATOR, theme.dim);
                    }
                    let empty = Line::default();
                    let text = lines.get(at).unwrap_or(&empty);
                    let spare = width.saturating_sub(text.width());
                    let left = match self.alignments.get(number) {
                        Some(Alignment::Right) => spare,
                        Some(Alignment::Center) => spare / 2,
                        Some(Alignment::Left | Alignment::None) | None => 0,
                    };
                    row.push(&" ".repeat(left), theme.text);
                    for (text, style) in text.runs() {
                        row.push(text, if index == 0 { style.patch(theme.strong) } else { style });
                    }
                    // Blanks at the end of a row would be bytes for nothing.
                    if number + 1 < columns.len() {
                        row.push(&" ".repeat(spare - left), theme.text);
                    }
                }
                rows.push(row);
            }
            if index == 0 {
                let rule: Vec<String> = columns.iter().map(|width| "─".repeat(*width)).collect();
                rows.push(Line::new(&rule.join("─┼─"), theme.dim));
            }
        }
    }

    fn render_records(&self, width: usize, theme: &Theme, rows: &mut Vec<Line>) {
        let head = self.rows.first().map(Vec::as_slice).unwrap_or_default();
        let indent = Line::new("  ", theme.text);
        let wrap = Wrap { width, at: Break::Words, first: &Line::default(), rest: &indent };
        if self.rows.len() == 1 {
            for name in head {
                wrap.line(name, rows);
            }
        }
        for (index, cells) in self.rows.iter().enumerate().skip(1) {
            if index > 1 {
                rows.push(Line::default());
            }
            for (number, cell) in cells.iter().enumerate() {
                let mut line = Line::default();
                for (text, style) in head.get(number).into_iter().flat_map(Line::runs) {
                    line.push(text, style.patch(theme.strong));
                }
                line.push(": ", theme.dim);
                line.append(cell);
                wrap.line(&line, rows);
            }
        }
    }
}

fn wrap_cells(cells: &[Line], columns: &[usize]) -> Vec<Vec<Line>> {
    let none = Line::default();
    columns
        .iter()
        .enumerate()
        .map(|(number, width)| wrapped([cells.get(number).unwrap_or(&none)], *width, Break::Words))
        .collect()
}
