//! Draws one row of the tree: guide, mark, name, what it does, and its time and tokens or the reason to look at it.

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::AgentsView;
use super::cells::{self, Figure};
use super::text::{self, agent_name};
use crate::agents::{Row, RowKind, Rows};
use crate::state::{Pane, Region};
use crate::widgets::fit::{clip, columns, one_line, put, select};
use steersman_session::model::agents::{AgentNode, AgentStatus, Agents};

/// Columns of the word for what an agent does.
const WORD: u16 = 14;
/// Columns of the word below which the time gives way to it.
const LEAST_WORD: u16 = 10;
/// Widest name that the other rows make room for, columns.
const NAME: u16 = 30;
/// Columns of selection, mark and the blanks around them.
const MARKS: u16 = 5;

/// A row with its agent.
#[derive(Debug)]
pub(super) struct Shown<'a> {
    row: &'a Row,
    node: &'a AgentNode,
    guide: Vec<bool>,
    name: String,
}

impl<'a> Shown<'a> {
    /// Looks a row's agent up.
    pub(super) fn new(agents: &'a Agents, rows: &'a Rows, row: &'a Row) -> Option<Self> {
        let node = agents.nodes().get(row.agent)?;
        Some(Self { row, node, guide: rows.guide(agents, row), name: one_line(&agent_name(&node.id)) })
    }

    /// Returns what the row is to a pointer.
    pub(super) fn region(&self) -> Region {
        match self.row.kind {
            RowKind::Agent | RowKind::Collapsed => Region::Agent(self.node.id.clone()),
            RowKind::Past { .. } => Region::Ended(self.node.id.clone()),
        }
    }

    /// Returns how many running agents the row stands for.
    pub(super) fn running(&self) -> usize {
        match self.row.kind {
            RowKind::Agent => usize::from(self.node.running()),
            RowKind::Collapsed => self.node.totals().running,
            RowKind::Past { .. } => 0,
        }
    }

    /// Returns the columns of guide and name.
    pub(super) fn width(&self) -> u16 {
        match self.row.kind {
            RowKind::Agent | RowKind::Collapsed => {
                let guide = u16::try_from(self.guide.len().saturating_mul(3)).unwrap_or(u16::MAX);
                guide.saturating_add(columns(&self.name).min(NAME))
            }
            RowKind::Past { .. } => 0,
        }
    }

    /// Returns what the row shows: of a collapsed one the worst beneath it.
    fn status(&self) -> AgentStatus {
        let totals = self.node.totals();
        let own = self.node.status();
        let beneath = match self.row.kind {
            RowKind::Agent | RowKind::Past { .. } => return own,
            RowKind::Collapsed if totals.asking > 0 => AgentStatus::Asking,
            RowKind::Collapsed if totals.failed > 0 => AgentStatus::Failed,
            RowKind::Collapsed if totals.paused > 0 => AgentStatus::Paused,
            RowKind::Collapsed => own,
        };
        own.max(beneath)
    }

    /// Says what the row shows in a word or two.
    fn word(&self, now: Timestamp, width: u16) -> String {
        let status = self.status();
        if status == self.node.status() {
            text::word(self.node, now, width.saturating_sub(1))
        } else {
            status.word().to_owned()
        }
    }

    /// Returns the lines that tie the row to its ancestors, with `more` or `last` at its own place.
    fn guide(&self, [more, last]: [&str; 2], width: u16) -> String {
        let own = self.guide.len().saturating_sub(1);
        let part = |(at, is_last): (usize, &bool)| match (at == own, is_last) {
            (true, false) => more.to_owned(),
            (true, true) => last.to_owned(),
            (false, false) => "│  ".to_owned(),
            (false, true) => "   ".to_owned(),
        };
        // Of a row that stands very deep the nearest ancestors are shown.
        let fits = usize::from(width / 6).max(1);
        let skipped = self.guide.len().saturating_sub(fits);
        let parts: String = self.guide.iter().enumerate().skip(skipped).map(part).collect();
        if skipped > 0 { format!("… {parts}") } else { parts }
    }

    /// Puts the first warning into words, or what is hidden beneath the row; in fewer and fewer words.
    fn notes(&self, now: Timestamp) -> Vec<String> {
        let more = match self.node.warnings.len() {
            0 | 1 => String::new(),
            warnings => format!(" (+{})", warnings - 1),
        };
        let reasons =
            self.node.warnings.first().map(|first| text::reasons(first, now).map(|why| format!("! {why}{more}")));
        let sums = match self.row.kind {
            RowKind::Collapsed => Some(text::sums(&self.node.beneath())),
            RowKind::Agent | RowKind::Past { .. } => None,
        };
        match (reasons, sums) {
            (None, None) => Vec::new(),
            (Some(reasons), None) => reasons.to_vec(),
            (None, Some(sums)) => sums.to_vec(),
            (Some([long, short]), Some([_, sums, least])) => {
                vec![format!("{long} · {sums}"), format!("{short} · {sums}"), format!("{short} · {least}"), short]
            }
        }
    }
}

/// What the rows of one frame show beside the names.
#[derive(Debug)]
pub(super) struct Look {
    figures: Vec<Figure>,
    /// Columns of what stands right of the names, the figures included.
    beside: u16,
}

impl Look {
    /// Divides so much room beside guide and name.
    pub(super) fn for_width(room: u16) -> Self {
        let beside = room.saturating_sub(MARKS);
        Self { figures: cells::fitting(beside.saturating_sub(LEAST_WORD)), beside }
    }
}

/// Draws a row of the tree: selection, guide, mark, name and word, then the figures or what there is to say instead.
pub(super) fn draw(view: &AgentsView<'_>, rows: &Rows, shown: &Shown, look: &Look, line: Rect, buffer: &mut Buffer) {
    let (theme, now) = (&view.ui.theme, view.ui.now);
    if let RowKind::Past { children, cancelled } = shown.row.kind {
        let left = put(buffer, line, &format!(" {}", shown.guide(["├─ ", "└─ "], line.width)), theme.border);
        put(buffer, left, &text::ended(children, cancelled), theme.dim);
        return;
    }
    let node = shown.node;
    let is_selected = *view.pane.selected() == node.id;
    let (mark, style) = text::look(shown.status(), theme);
    let notes = shown.notes(now);
    let right = Rect { width: line.width.saturating_sub(1), ..line };
    // A reason takes the place of the tokens, not of the time.
    let figures: Vec<Figure> =
        look.figures.iter().copied().filter(|figure| notes.is_empty() || *figure == Figure::Elapsed).collect();
    let right = cells::draw(&figures, node, now, theme, right, buffer);
    // What stands right of the name begins at the same column in every row.
    let figures = line.width.saturating_sub(1).saturating_sub(right.width);
    let beside = right.width.min(look.beside.saturating_sub(figures));
    let beside = Rect { x: right.right() - beside, width: beside, ..right };
    let left = Rect { width: right.width - beside.width, ..right };

    let name = match (rows.matches(shown.row.agent), is_selected) {
        (true, true) => theme.title,
        (true, false) => theme.text,
        (false, _) => theme.dim,
    };
    let left = put(buffer, left, if is_selected { "›" } else { " " }, theme.accent);
    let left = put(buffer, left, &shown.guide(["├─ ", "└─ "], line.width), theme.border);
    let left = put(buffer, left, mark, style);
    put(buffer, Rect { x: left.x + left.width.min(1), width: left.width.saturating_sub(2), ..left }, &shown.name, name);

    let width = beside.width.min(WORD);
    let word = clip(&shown.word(now, width), width).into_owned();
    let room_behind = beside.width.saturating_sub(WORD);
    // A longer reason says more than the word does, which the mark says too.
    match notes.iter().find(|note| columns(note) <= beside.width).or(notes.last()) {
        Some(note) if columns(note) <= room_behind => {
            let rest = put(buffer, beside, &format!("{word:<width$}", width = usize::from(WORD)), style);
            put(buffer, rest, note, theme.notice);
        }
        Some(note) => {
            put(buffer, beside, note, theme.notice);
        }
        None => {
            put(buffer, beside, &word, style);
        }
    }
    if is_selected && view.focus.is_on(Pane::Tree) {
        select(buffer, line, theme.selected);
    }
}
