//! Draws the list of agents: as a column, as rows, or as one line, whatever the screen has room for.
//!
//! Costs what it shows: only the visible rows are looked at, however many agents there are.
//!
//! # Where things are
//!
//! - the words and marks for what an agent does: `text.rs`

mod cells;
pub mod details;
mod row;
mod text;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::AgentsPane;
use crate::focus::Focus;
use crate::state::{MEDIUM, Pane, Region, Regions};
use crate::transcript::reduce::Transcript;
use crate::ui_context::UiContext;
use crate::view::layout::TreeForm;
use crate::widgets::fit::{below, clock, columns, one_line, put, put_right, row as line_of};
use row::{Look, Shown};
use steersman_base::summary::count;
use steersman_session::model::agents::{AgentNode, Warning};

pub use text::{agent_name, longest, money, reasons, share, tokens, tools};

/// What the list and the details are drawn from.
#[derive(Debug, Clone, Copy)]
pub struct AgentsView<'a> {
    pub pane: &'a AgentsPane,
    /// Size, time, keys and theme.
    pub ui: &'a UiContext,
    pub focus: &'a Focus,
    pub transcript: Option<&'a Transcript>,
}

impl<'a> AgentsView<'a> {
    pub fn selected(&self) -> &'a AgentNode {
        self.ui.run.agents.get_or_main(self.pane.selected())
    }

    /// Returns whether the filter is shown: it filters, or it is being typed.
    pub fn has_filter(&self) -> bool {
        self.pane.filter().is_active() || self.focus.is_on(Pane::Filter)
    }

    fn shows_details(&self) -> bool {
        self.pane.shows_details(self.ui.size.width)
    }

    fn is_narrow(&self) -> bool {
        self.ui.size.width < MEDIUM
    }
}

/// Draws the tree into an area; returns where the cursor belongs while the filter is typed, and the first row.
pub fn draw(
    view: &AgentsView<'_>,
    area: Rect,
    form: TreeForm,
    regions: &mut Regions,
    buffer: &mut Buffer,
) -> (Option<Position>, usize) {
    regions.add(area, Region::Pane(Pane::Tree));
    match form {
        TreeForm::Column => {
            let cursor = draw_head(view, line_of(area, 0), buffer);
            (cursor, draw_rows(view, below(area, 1), regions, buffer))
        }
        TreeForm::Rows if view.has_filter() => {
            let cursor = draw_filter(view, line_of(area, 0), "", buffer);
            (cursor, draw_rows(view, below(area, 1), regions, buffer))
        }
        TreeForm::Rows => (None, draw_rows(view, area, regions, buffer)),
        TreeForm::Line => {
            draw_line(view, area, buffer);
            (None, 0)
        }
    }
}

/// Draws the title of the column, or the filter.
fn draw_head(view: &AgentsView<'_>, head: Rect, buffer: &mut Buffer) -> Option<Position> {
    let theme = &view.ui.theme;
    let is_focused = view.focus.is_on(Pane::Tree) || view.focus.is_on(Pane::Filter);
    let (mark, style) = if is_focused { ("▸ ", theme.border_focus) } else { ("  ", theme.title) };
    if view.has_filter() {
        let head = put(buffer, head, mark, style);
        draw_filter(view, head, "Agents ", buffer)
    } else {
        let head = put_right(buffer, head, &format!("{} ", running(view)), theme.dim);
        put(buffer, head, &format!("{mark}Agents"), style);
        None
    }
}

/// Draws the filter's text and how many agents match it.
fn draw_filter(view: &AgentsView<'_>, line: Rect, label: &str, buffer: &mut Buffer) -> Option<Position> {
    let theme = &view.ui.theme;
    let count = format!(" {} of {} ", view.pane.rows(&view.ui.run.agents).matching(), view.ui.run.agents.nodes().len());
    let line = if line.width > columns(&count) * 2 { put_right(buffer, line, &count, theme.dim) } else { line };
    let line = put(buffer, line, label, theme.title);
    let line = put(buffer, line, "/", theme.accent);
    let line = put(buffer, line, &one_line_kept(view.pane.filter().text()), theme.text);
    let x = line.x.min(line.right().saturating_sub(1));
    view.focus.is_on(Pane::Filter).then_some(Position { x, y: line.y })
}

/// Returns the text as one safe line; a blank at its end stays, it is being typed.
fn one_line_kept(text: &str) -> String {
    let blank = if text.ends_with(' ') { " " } else { "" };
    format!("{}{blank}", one_line(text))
}

/// Draws one row for each agent; keeps the selected one in view unless the wheel has scrolled since. Returns the first
/// row.
fn draw_rows(view: &AgentsView<'_>, area: Rect, regions: &mut Regions, buffer: &mut Buffer) -> usize {
    let rows = view.pane.rows(&view.ui.run.agents);
    let mut fits = usize::from(area.height);
    if fits >= 2 && rows.len() > fits {
        fits -= 1;
    }
    let selected = view.pane.selected_row(&view.ui.run.agents);
    let last_top = rows.len().saturating_sub(fits);
    let usual = (selected + 1).saturating_sub(fits).max(selected.saturating_sub(fits / 2));
    let top = view.pane.viewport.list_top(view.pane.selected()).unwrap_or(usual).min(last_top);
    let shown: Vec<Shown> =
        rows.rows.iter().skip(top).take(fits).filter_map(|row| Shown::new(&view.ui.run.agents, &rows, row)).collect();
    if usize::from(area.height) > shown.len() {
        draw_hidden(view, rows.len(), &shown, line_of(area, area.height.saturating_sub(1)), buffer);
    }
    let widest = shown.iter().map(Shown::width).max().unwrap_or(0);
    let look = Look::for_width(area.width.saturating_sub(widest));
    for (shown, y) in shown.iter().zip(0..) {
        let line = line_of(area, y);
        regions.add(line, shown.region());
        row::draw(view, &rows, shown, &look, line, buffer);
    }
    top
}

/// Counts the rows that there is no room for.
fn draw_hidden(view: &AgentsView<'_>, rows: usize, shown: &[Shown], line: Rect, buffer: &mut Buffer) {
    let hidden = rows - shown.len();
    let running = view.ui.run.agents.running().saturating_sub(shown.iter().map(Shown::running).sum());
    if hidden > 0 {
        let rows = count(hidden, "more row");
        put(buffer, line, &format!("   … {rows}, {running} running"), view.ui.theme.dim);
    }
}

/// Draws the selected agent, its warning, and how many others there are. What the main agent does stands in the
/// status line.
fn draw_line(view: &AgentsView<'_>, area: Rect, buffer: &mut Buffer) {
    let theme = &view.ui.theme;
    let node = view.selected();
    let mut line = line_of(area, 0);
    let word = (!node.id.is_main()).then(|| {
        let (mark, style) = text::look(node.status(), theme);
        line = put(buffer, line, &format!("{mark} "), style);
        text::word(node, view.ui.now, line.width)
    });
    let line = put(buffer, line, &one_line(&agent_name(&node.id)), theme.title);
    let line = if view.ui.run.agents.nodes().len() > 1 {
        put_right(buffer, line, &format!(" {}", running(view)), theme.dim)
    } else {
        line
    };
    // That it asks is the word already.
    let warning = node.warnings.iter().find(|warning| **warning != Warning::Asking);
    let warning = warning.map(|warning| format!("! {}", text::reasons(warning, view.ui.now)[1]));
    let elapsed = node.elapsed(view.ui.now).map(|seconds| format!("turn {}", clock(seconds)));
    let mut line = line;
    for part in [word, warning, elapsed].into_iter().flatten().map(|part| format!(" · {part}")) {
        if columns(&part) > line.width {
            break;
        }
        line = put(buffer, line, &part, theme.dim);
    }
}

/// Says whose transcript is shown and what a sub-agent does; what the main agent does stands in the status line.
pub fn at_work(view: &AgentsView<'_>) -> String {
    let node = view.selected();
    if node.id.is_main() {
        return marked(view);
    }
    format!("{} · {}", marked(view), text::word(node, view.ui.now, 24))
}

/// Says whose transcript is shown, behind the mark of what that agent does.
pub fn marked(view: &AgentsView<'_>) -> String {
    let node = view.selected();
    let (mark, _) = text::look(node.status(), &view.ui.theme);
    format!("{mark} {}", one_line(&agent_name(&node.id)))
}

/// Says how many agents run, and how many are worth a look.
fn running(view: &AgentsView<'_>) -> String {
    let warned = match view.ui.run.agents.main().totals().warned {
        0 => String::new(),
        warned => format!("!{warned} · "),
    };
    format!("{warned}{} of {} running", view.ui.run.agents.running(), view.ui.run.agents.nodes().len())
}
