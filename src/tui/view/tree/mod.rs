//! Draws the agent tree: as a column, as rows, or as one line, whatever the screen has room for.
//!
//! Costs what it shows: only the visible rows are looked at, however many agents there are.
//!
//! # Where things are
//!
//! - its rows, figures and details: `row.rs`, `cells.rs`; stories: `tree_rows.rs`

mod cells;
pub mod details;
mod row;
mod words;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::layout::TreeForm;
use crate::tui::state::App;
use crate::tui::state::focus::Pane;
use crate::tui::state::regions::{Region, Regions};
use crate::tui::state::tree::Lint;
use crate::tui::widgets::fit::{columns, one_line, put, put_right, row as line_of};
use row::{Look, Shown};

pub use words::{agent_name, longest, money, name, share, tokens, tools};

/// Draws the tree into an area; returns where the cursor belongs while the filter is typed, and the first row.
pub fn draw(
    app: &App,
    area: Rect,
    form: TreeForm,
    regions: &mut Regions,
    buffer: &mut Buffer,
) -> (Option<Position>, usize) {
    regions.add(area, Region::Pane(Pane::Tree));
    match form {
        TreeForm::Column => {
            let cursor = draw_head(app, line_of(area, 0), buffer);
            (cursor, draw_rows(app, below(area), regions, buffer))
        }
        TreeForm::Rows if has_filter(app) => {
            let cursor = draw_filter(app, line_of(area, 0), "", buffer);
            (cursor, draw_rows(app, below(area), regions, buffer))
        }
        TreeForm::Rows => (None, draw_rows(app, area, regions, buffer)),
        TreeForm::Line => {
            draw_line(app, area, buffer);
            (None, 0)
        }
    }
}

/// Tells whether the filter is shown: it filters, or it is being typed.
pub fn has_filter(app: &App) -> bool {
    app.tree.filter().is_active() || app.focus.is_on(Pane::Filter)
}

/// Draws the title of the column, or the filter.
fn draw_head(app: &App, head: Rect, buffer: &mut Buffer) -> Option<Position> {
    let theme = &app.theme;
    let is_focused = app.focus.is_on(Pane::Tree) || app.focus.is_on(Pane::Filter);
    let (mark, style) = if is_focused { ("▸ ", theme.border_focus) } else { ("  ", theme.title) };
    if has_filter(app) {
        let head = put(buffer, head, mark, style);
        draw_filter(app, head, "Agents ", buffer)
    } else {
        let head = put_right(buffer, head, &format!("{} ", running(app)), theme.dim);
        put(buffer, head, &format!("{mark}Agents"), style);
        None
    }
}

/// Draws the filter's text and how many agents match it.
fn draw_filter(app: &App, line: Rect, label: &str, buffer: &mut Buffer) -> Option<Position> {
    let theme = &app.theme;
    let count = format!(" {} of {} ", app.tree.matching(), app.tree.nodes().len());
    let line = if line.width > columns(&count) * 2 { put_right(buffer, line, &count, theme.dim) } else { line };
    let line = put(buffer, line, label, theme.title);
    let line = put(buffer, line, "/", theme.accent);
    let line = put(buffer, line, &one_line_kept(app.tree.filter().text()), theme.text);
    let x = line.x.min(line.right().saturating_sub(1));
    app.focus.is_on(Pane::Filter).then_some(Position { x, y: line.y })
}

/// Returns the text as one safe line; a blank at its end stays, it is being typed.
fn one_line_kept(text: &str) -> String {
    let blank = if text.ends_with(' ') { " " } else { "" };
    format!("{}{blank}", one_line(text))
}

/// Draws one row for each agent; keeps the selected one in view unless the wheel has scrolled since. Returns the first
/// row.
fn draw_rows(app: &App, area: Rect, regions: &mut Regions, buffer: &mut Buffer) -> usize {
    let rows = app.tree.rows();
    let mut fits = usize::from(area.height);
    if fits >= 2 && rows.len() > fits {
        fits -= 1;
    }
    let selected = app.tree.selected_row();
    let last_top = rows.len().saturating_sub(fits);
    let usual = (selected + 1).saturating_sub(fits).max(selected.saturating_sub(fits / 2));
    let top = app.sight.tree_top(app.tree.selected()).unwrap_or(usual).min(last_top);
    let shown: Vec<Shown> = rows.iter().skip(top).take(fits).filter_map(|row| Shown::of(app, row)).collect();
    if usize::from(area.height) > shown.len() {
        draw_hidden(app, rows.len(), &shown, line_of(area, area.height.saturating_sub(1)), buffer);
    }
    let widest = shown.iter().map(Shown::width).max().unwrap_or(0);
    let look = Look::of(area.width.saturating_sub(widest));
    for (shown, y) in shown.iter().zip(0..) {
        let line = line_of(area, y);
        regions.add(line, shown.region());
        row::draw(app, shown, &look, line, buffer);
    }
    top
}

/// Counts the rows that there is no room for.
fn draw_hidden(app: &App, rows: usize, shown: &[Shown], line: Rect, buffer: &mut Buffer) {
    let hidden = rows - shown.len();
    let running = app.tree.running().saturating_sub(shown.iter().map(Shown::running).sum());
    if hidden > 0 {
        let rows = if hidden == 1 { "row" } else { "rows" };
        put(buffer, line, &format!("   … {hidden} more {rows}, {running} running"), app.theme.dim);
    }
}

/// Draws the selected agent, what is odd about it, and how many others there are. What the main agent does stands in the
/// status line.
fn draw_line(app: &App, area: Rect, buffer: &mut Buffer) {
    let theme = &app.theme;
    let node = app.tree.selected_node();
    let mut line = line_of(area, 0);
    let word = (!node.id.is_main()).then(|| {
        let (mark, style) = words::look(node.state(), theme);
        line = put(buffer, line, &format!("{mark} "), style);
        words::word(node, app.now, line.width)
    });
    let line = put(buffer, line, &one_line(&name(node)), theme.title);
    let line = if app.tree.nodes().len() > 1 {
        put_right(buffer, line, &format!(" {}", running(app)), theme.dim)
    } else {
        line
    };
    // That it asks is the word already.
    let odd = node.lints.iter().find(|lint| **lint != Lint::Asking);
    let odd = odd.map(|lint| format!("! {}", words::reasons(lint, app.now)[1]));
    let elapsed = node.elapsed(app.now).map(|seconds| format!("turn {}", crate::tui::widgets::fit::clock(seconds)));
    let mut line = line;
    for part in [word, odd, elapsed].into_iter().flatten().map(|part| format!(" · {part}")) {
        if columns(&part) > line.width {
            break;
        }
        line = put(buffer, line, &part, theme.dim);
    }
}

/// Says whose transcript is shown and what a sub-agent does; what the main agent does stands in the status line.
pub fn at_work(app: &App) -> String {
    let node = app.tree.selected_node();
    if node.id.is_main() {
        return marked(app);
    }
    format!("{} · {}", marked(app), words::word(node, app.now, 24))
}

/// Says whose transcript is shown, behind the mark of what that agent does.
pub fn marked(app: &App) -> String {
    let node = app.tree.selected_node();
    let (mark, _) = words::look(node.state(), &app.theme);
    format!("{mark} {}", one_line(&name(node)))
}

/// Says how many agents run, and how many are worth a look.
fn running(app: &App) -> String {
    let odd = match app.tree.main().totals().odd {
        0 => String::new(),
        odd => format!("!{odd} · "),
    };
    format!("{odd}{} of {} running", app.tree.running(), app.tree.nodes().len())
}

fn below(area: Rect) -> Rect {
    Rect { y: area.y.saturating_add(1), height: area.height.saturating_sub(1), ..area }
}
