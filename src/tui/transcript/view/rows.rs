//! One cell as rows: its mark, a head, a text that may grow, a tail.
//!
//! Called by `cache` when a cell changed. Each kind has its own mark, so that none is known by its colour alone. Output of
//! tools is untrusted: every row of it has the gutter on its left.

use ratatui::style::Style;

use crate::pictures::{Placements, placeholder};
use crate::theme::Theme;
use crate::transcript::cell::{Body, CallStatus, Cell, ChildCell, ChildState, Expansion, Level, Stage};
use crate::transcript::cells::CellGroup;
use crate::view::receipt;
use crate::widgets::stream::{Format, Layout};
use crate::widgets::wrap::{Break, Joint, Line, Wrap, width, wrapped};
use steersman_base::event::JobOwner;
use steersman_base::summary::count;

/// Columns of the mark at the left of every cell.
const MARK: usize = 2;

/// The rows of a cell at one width.
#[derive(Debug, Clone)]
pub struct Rows {
    mark: Line,
    indent: u16,
    head: Vec<Line>,
    text: Option<Layout>,
    tail: Vec<Line>,
}

impl Rows {
    /// Lays a cell out; takes over the text's rows from before when the text has only grown.
    pub fn new(cell: &Cell, columns: u16, view_rows: usize, theme: &Theme, before: Option<Layout>) -> Self {
        Self::collapsed(cell, cell.expansion(), columns, view_rows, theme, before)
    }

    /// Puts the pictures of the cell's images beneath its text, where there is room for all their columns.
    #[must_use]
    pub fn with_pictures(mut self, cell: &Cell, columns: u16, pictures: &Placements) -> Self {
        let room = columns.saturating_sub(self.indent);
        let placed = cell.images().iter().filter_map(|digest| pictures.get(digest));
        let rows = placed.filter(|placement| placement.columns <= room).flat_map(placeholder::rows);
        self.tail.splice(0..0, rows);
        self
    }

    /// Lays a cell out as if nothing of it were collapsed.
    pub fn opened(cell: &Cell, columns: u16, theme: &Theme) -> Self {
        Self::collapsed(cell, Expansion::Expanded, columns, 0, theme, None)
    }

    fn collapsed(
        cell: &Cell,
        expansion: Expansion,
        columns: u16,
        view_rows: usize,
        theme: &Theme,
        before: Option<Layout>,
    ) -> Self {
        let (mark, style) = mark(cell.body(), theme);
        let indent = MARK.min(usize::from(columns) / 2);
        let room = usize::from(columns) - indent;
        let mut rows = Self {
            mark: Line::new(mark, style),
            indent: u16::try_from(indent).unwrap_or_default(),
            head: Vec::new(),
            text: None,
            tail: Vec::new(),
        };
        let pen = Pen { room, view_rows, theme };
        match cell.body() {
            Body::User { text, receipt, .. } => {
                let label = cell.body().label();
                let label = if label.is_empty() { label } else { format!("{label}: ") };
                pen.labelled(&label, theme.mid_loop, text, theme.user, &mut rows.head);
                rows.tail.extend(receipt.iter().flat_map(|words| receipt::lines(words, room, theme)));
            }
            Body::Thinking { text, stage } if expansion == Expansion::Collapsed => {
                rows.head.push(pen.collapsed_text("thinking: ", text, *stage));
            }
            Body::Thinking { text, stage } => {
                rows.head.push(pen.truncated("thinking", theme.dim));
                rows.text = Some(pen.grow(before, Format::Plain(theme.thinking), text, *stage));
                pen.interrupted(*stage, &mut rows.tail);
            }
            Body::Assistant { text, stage } => {
                rows.text = Some(pen.grow(before, Format::Markdown, text, *stage));
                pen.interrupted(*stage, &mut rows.tail);
            }
            Body::Call(tool) => pen.call(tool, expansion, &mut rows.head),
            Body::Child(child) => pen.child(child, &mut rows.head),
            Body::Compaction { head, summary } if expansion == Expansion::Collapsed => {
                rows.head.push(pen.collapsed_text(&format!("{head}, summary: "), summary, Stage::Done));
            }
            Body::Compaction { head, summary } => {
                pen.labelled("", theme.dim, head, theme.dim, &mut rows.head);
                if !summary.is_empty() {
                    rows.text = Some(pen.grow(before, Format::Plain(theme.thinking), summary, Stage::Done));
                }
            }
            Body::Notice { level, text } => {
                let style = match level {
                    Level::Info => theme.dim,
                    Level::Warning => theme.notice,
                    Level::Error => theme.error,
                };
                pen.labelled("", style, text, style, &mut rows.head);
            }
        }
        rows
    }

    /// Gives up the text's rows, for the next version of the cell.
    pub fn into_text(self) -> Option<Layout> {
        self.text
    }

    /// Returns the number of rows, at least 1: a cell without text shows its mark.
    pub fn height(&self) -> usize {
        (self.head.len() + self.text.as_ref().map_or(0, |text| text.rows().len()) + self.tail.len()).max(1)
    }

    /// Returns how many lines of text stand above what the program says beneath them: a receipt, an interruption.
    pub(super) fn own_lines(&self) -> usize {
        let text = self.text.as_ref().map(Layout::rows).unwrap_or_default();
        self.head.iter().chain(text).filter(|row| row.joint() == Joint::Begins).count()
    }

    /// Returns the columns that the mark takes.
    pub fn indent(&self) -> u16 {
        self.indent
    }

    /// Returns the mark, shown in the first row.
    pub fn mark(&self) -> &Line {
        &self.mark
    }

    /// Returns the rows in order, without the mark's columns.
    pub fn iter(&self) -> impl Iterator<Item = &Line> {
        let text = self.text.as_ref().map(Layout::rows).unwrap_or_default();
        self.head.iter().chain(text).chain(&self.tail)
    }

    /// Returns a row, without the mark's columns.
    pub fn row(&self, at: usize) -> Option<&Line> {
        let text = self.text.as_ref().map(Layout::rows).unwrap_or_default();
        let behind_head = at.checked_sub(self.head.len());
        match behind_head {
            None => self.head.get(at),
            Some(at) => match at.checked_sub(text.len()) {
                None => text.get(at),
                Some(at) => self.tail.get(at),
            },
        }
    }
}

/// Tells whether a blank row stands between two neighbouring cells; one-line cells of a kind stand close.
pub(super) fn gap(above: CellGroup, below: CellGroup) -> bool {
    above == CellGroup::Text || above != below
}

fn mark(body: &Body, theme: &Theme) -> (&'static str, Style) {
    match body {
        Body::User { mid_loop: false, .. } => ("› ", theme.user),
        Body::User { mid_loop: true, .. } => ("» ", theme.mid_loop),
        Body::Thinking { .. } => ("· ", theme.dim),
        Body::Assistant { .. } => ("✦ ", theme.assistant),
        // No call of a model looks like what the user ran; how it stands is in its words.
        Body::Call(call) if call.owner == JobOwner::User => ("› ", theme.user),
        Body::Call(call) => match call.status() {
            CallStatus::Running => ("▸ ", theme.tool),
            CallStatus::Succeeded => ("✓ ", theme.tool_ok),
            CallStatus::Failed => ("✗ ", theme.tool_error),
            CallStatus::Interrupted => ("▪ ", theme.notice),
        },
        Body::Child(_) => ("↳ ", theme.agent),
        Body::Compaction { .. } => ("≡ ", theme.dim),
        Body::Notice { level: Level::Info, .. } => ("- ", theme.dim),
        Body::Notice { level: Level::Warning, .. } => ("! ", theme.notice),
        Body::Notice { level: Level::Error, .. } => ("✗ ", theme.error),
    }
}

/// Writes rows of one width.
pub(super) struct Pen<'a> {
    pub(super) room: usize,
    /// Rows of the view that the cell stands in.
    pub(super) view_rows: usize,
    pub(super) theme: &'a Theme,
}

impl Pen<'_> {
    pub(super) fn wrap(&self, at: Break, line: &Line, first: &Line, rest: &Line, rows: &mut Vec<Line>) {
        Wrap { width: self.room, at, first, rest }.line(line, rows);
    }

    fn truncated(&self, text: &str, style: Style) -> Line {
        Line::new(text, style).truncate(self.room)
    }

    fn labelled(&self, label: &str, label_style: Style, text: &str, style: Style, rows: &mut Vec<Line>) {
        let none = Line::default();
        for (number, source) in text.lines().enumerate() {
            let mut line = if number == 0 { Line::frame(label, label_style) } else { Line::default() };
            line.push(source, style);
            self.wrap(Break::Words, &line, &none, &none, rows);
        }
    }

    fn grow(&self, before: Option<Layout>, format: Format, text: &str, stage: Stage) -> Layout {
        let mut layout = before.unwrap_or_else(|| Layout::new(format, self.room));
        match stage {
            Stage::Live => layout.update(text, self.theme),
            Stage::Done | Stage::Interrupted => layout.finish(text, self.theme),
        }
        layout
    }

    fn interrupted(&self, stage: Stage, rows: &mut Vec<Line>) {
        match stage {
            Stage::Interrupted => rows.push(self.truncated("(interrupted)", self.theme.notice)),
            Stage::Live | Stage::Done => {}
        }
    }

    /// Writes the first line of a collapsed text behind a label, and how many more there are.
    fn collapsed_text(&self, label: &str, text: &str, stage: Stage) -> Line {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let mut line = Line::new(label, self.theme.dim);
        line.push(lines.next().unwrap_or_default().trim(), self.theme.thinking);
        let more = lines.count();
        let mut end = if more > 0 { format!(" (+{})", count(more, "line")) } else { String::new() };
        if stage == Stage::Interrupted {
            end.push_str(" (interrupted)");
        }
        self.with_end(&line, &end)
    }

    /// Cuts a line so that its end, written dim, is in view. Where there is hardly room, what the line says matters more: the
    /// end gives up its parts, the last first, and then goes itself.
    pub(super) fn with_end(&self, line: &Line, end: &str) -> Line {
        let room = |end: &str| self.room.saturating_sub(width(end));
        let fits = |end: &&str| room(end) >= (self.room / 3).max(8);
        let mut ends = std::iter::successors(Some(end), |end| end.rsplit_once(", ").map(|(kept, _)| kept));
        let Some(end) = ends.find(fits) else { return clean(line).truncate(self.room) };
        let mut cut = clean(line).truncate(room(end));
        cut.append(&Line::new(end, self.theme.dim));
        cut
    }

    pub(super) fn name_and_task(&self, child: &ChildCell, line: &mut Line) {
        line.push(&child.name, self.theme.agent);
        line.push(": ", self.theme.dim);
        line.push(&child.task.split_whitespace().collect::<Vec<_>>().join(" "), self.theme.text);
    }

    fn child(&self, child: &ChildCell, rows: &mut Vec<Line>) {
        let mut line = Line::default();
        self.name_and_task(child, &mut line);
        rows.push(self.with_end(&line, &format!(" · {}", child.state.label())));
        if let ChildState::Ended { message: Some(message), .. } = &child.state {
            self.labelled("", self.theme.error, message, self.theme.error, rows);
        }
    }
}

/// Turns tabs into blanks and leaves out what no buffer may hold, without wrapping.
pub(super) fn clean(line: &Line) -> Line {
    wrapped([line], u16::MAX.into(), Break::Anywhere).into_iter().next().unwrap_or_default()
}
