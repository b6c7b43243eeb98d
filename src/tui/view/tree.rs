//! Draws the agent tree: as a column, as rows, or as one line, whatever the screen has room for.

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::fit::{clip, clock, columns, count, one_line, put, put_right, row};
use super::layout::TreeForm;
use crate::event::Outcome;
use crate::id::AgentId;
use crate::tui::state::App;
use crate::tui::state::focus::Pane;
use crate::tui::state::tree::{Activity, Kind, Node, OpenCall, Row};
use crate::tui::theme::Theme;

/// Columns of the status word.
const WORD: u16 = 10;

/// Draws the tree into an area.
pub fn draw(app: &App, area: Rect, form: TreeForm, buffer: &mut Buffer) {
    match form {
        TreeForm::Column => draw_column(app, area, buffer),
        TreeForm::Rows => draw_rows(app, area, buffer, 1),
        TreeForm::Line => draw_line(app, area, buffer),
    }
}

fn draw_column(app: &App, area: Rect, buffer: &mut Buffer) {
    let theme = &app.theme;
    let (mark, style) = if app.focus.is_on(Pane::Tree) { ("▸ ", theme.border_focus) } else { ("  ", theme.title) };
    let head = row(area, 0);
    let head = put_right(buffer, head, &format!("{} ", running(app)), theme.dim);
    put(buffer, head, &format!("{mark}Agents"), style);
    let body = Rect { y: area.y.saturating_add(1), height: area.height.saturating_sub(1), ..area };
    let agents = u16::try_from(app.tree.rows().len()).unwrap_or(u16::MAX);
    let rows_each = if agents.saturating_mul(2) <= body.height { 2 } else { 1 };
    draw_rows(app, body, buffer, rows_each);
}

/// Draws each agent in one or two rows; keeps the selected one in view.
fn draw_rows(app: &App, area: Rect, buffer: &mut Buffer, rows_each: u16) {
    let rows = app.tree.rows();
    let mut fits = usize::from(area.height / rows_each.max(1));
    if fits >= 2 && rows.len() > fits {
        fits -= 1;
    }
    let selected = app.tree.selected_row();
    let last_top = rows.len().saturating_sub(fits);
    let top = (selected + 1).saturating_sub(fits).max(selected.saturating_sub(fits / 2)).min(last_top);
    let shown: Vec<Shown> = rows.iter().skip(top).take(fits).filter_map(|row| Shown::of(app, row)).collect();
    draw_hidden(app, rows.len(), &shown, row(area, area.height.saturating_sub(1)), buffer);
    let name_width = shown.iter().map(|shown| columns(&label(app, shown)).min(30)).max().unwrap_or(0);
    for (shown, y) in shown.iter().zip((0..area.height).step_by(usize::from(rows_each.max(1)))) {
        let line = row(area, y);
        if let Kind::Ended { children, cancelled } = shown.row.kind {
            let line = put(buffer, line, &format!(" {}", guide(app, shown.row, "├─ ", "└─ ")), app.theme.border);
            put(buffer, line, &ended(children, cancelled), app.theme.dim);
            continue;
        }
        draw_head(app, shown, line, buffer, Figures { shown: rows_each == 1, name_width });
        if rows_each > 1 {
            let theme = &app.theme;
            let line = row(area, y + 1);
            let line = put(buffer, line, &format!(" {}", guide(app, shown.row, "│  ", "   ")), theme.border);
            let figures = [steps(shown.node).map(|steps| format!("{steps} steps")), tokens(shown.node)];
            let figures: Vec<String> = figures.into_iter().flatten().collect();
            put(buffer, line, &format!("  {}", figures.join(" · ")), theme.dim);
        }
    }
}

/// Is a row with its agent.
#[derive(Debug, Clone, Copy)]
struct Shown<'a> {
    row: &'a Row,
    node: &'a Node,
}

impl<'a> Shown<'a> {
    fn of(app: &'a App, row: &'a Row) -> Option<Self> {
        app.tree.nodes().get(row.agent).map(|node| Self { row, node })
    }

    /// Returns how many running agents the row stands for.
    fn running(&self) -> usize {
        match self.row.kind {
            Kind::Agent => usize::from(self.node.running()),
            Kind::Folded => self.node.totals().running,
            Kind::Ended { .. } => 0,
        }
    }
}

/// Counts the agents that there is no room for.
fn draw_hidden(app: &App, rows: usize, shown: &[Shown], line: Rect, buffer: &mut Buffer) {
    let hidden = rows - shown.len();
    let running = app.tree.running().saturating_sub(shown.iter().map(Shown::running).sum());
    if hidden > 0 {
        let agents = if hidden == 1 { "agent" } else { "agents" };
        put(buffer, line, &format!("   + {hidden} more {agents}, {running} running"), app.theme.dim);
    }
}

/// Says which figures a row may show.
#[derive(Debug, Clone, Copy)]
struct Figures {
    /// Whether steps and tokens stand in the row itself.
    shown: bool,
    /// Columns that the longest guide and name need.
    name_width: u16,
}

/// Draws mark, name, status and elapsed time, and the figures that there is room for.
fn draw_head(app: &App, shown: &Shown, line: Rect, buffer: &mut Buffer, figures: Figures) {
    let theme = &app.theme;
    let node = shown.node;
    let selected = *app.tree.selected() == node.id;
    let (mark, style) = look(node, theme);
    let mut left = Rect { width: line.width.saturating_sub(1), ..line };
    // The figures that say least go first where there is no room; every row has the same ones.
    let elapsed = node.elapsed(app.now).map(clock).unwrap_or_default();
    let mut cells = vec![format!("{elapsed:>6}")];
    if figures.shown {
        cells.push(format!("{:>8}", steps(node).unwrap_or_default()));
        cells.push(format!("{:>14}", tokens(node).unwrap_or_default()));
    }
    let mut room = left.width.saturating_sub(figures.name_width + WORD + 4);
    cells.retain(|cell| {
        let fits = columns(cell) <= room;
        room = if fits { room - columns(cell) } else { 0 };
        fits
    });
    // Steps, tokens, time: the time stands last.
    if !cells.is_empty() {
        cells.rotate_left(1);
    }
    for cell in cells.iter().rev() {
        left = put_right(buffer, left, cell, theme.dim);
    }
    let word = format!("{:<width$}", clip(&one_line(&status_word(node)), WORD), width = usize::from(WORD));
    if left.width >= WORD * 2 {
        left = put_right(buffer, left, &word, style);
    }
    let left = put(buffer, left, if selected { "›" } else { " " }, theme.accent);
    let left = put(buffer, left, &guide(app, shown.row, "├─ ", "└─ "), theme.border);
    let left = put(buffer, left, mark, style);
    let left = Rect { width: left.width.saturating_sub(1), ..left };
    let name = one_line(&name(node));
    put(buffer, left, &format!(" {name}"), if selected { theme.title } else { theme.text });
    if selected && app.focus.is_on(Pane::Tree) {
        buffer.set_style(line.intersection(*buffer.area()), theme.selected);
    }
}

/// Says how the children ended whose rows are folded away.
fn ended(children: usize, cancelled: usize) -> String {
    match (children.saturating_sub(cancelled), cancelled) {
        (done, 0) => format!("+{done} done"),
        (0, cancelled) => format!("+{cancelled} cancelled"),
        (done, cancelled) => format!("+{done} done, {cancelled} cancelled"),
    }
}

fn label(app: &App, shown: &Shown) -> String {
    guide(app, shown.row, "├─ ", "└─ ") + &one_line(&name(shown.node))
}

/// Draws the selected agent and how many others there are.
fn draw_line(app: &App, area: Rect, buffer: &mut Buffer) {
    let theme = &app.theme;
    let Some(node) = app.tree.get(app.tree.selected()) else { return };
    let (mark, style) = look(node, theme);
    let line = row(area, 0);
    let line = put(buffer, line, &format!("{mark} "), style);
    let line = put(buffer, line, &one_line(&name(node)), theme.title);
    let line = if app.tree.nodes().len() > 1 {
        put_right(buffer, line, &format!(" {}", running(app)), theme.dim)
    } else {
        line
    };
    let word = one_line(&status_word(node));
    let elapsed = node.elapsed(app.now).map(clock);
    let figures = [Some(word), elapsed, steps(node).map(|steps| format!("{steps} steps")), tokens(node)];
    let mut line = line;
    for part in figures.into_iter().flatten().map(|part| format!(" · {part}")) {
        if columns(&part) > line.width {
            break;
        }
        line = put(buffer, line, &part, theme.dim);
    }
}

fn running(app: &App) -> String {
    format!("{} of {} running", app.tree.running(), app.tree.nodes().len())
}

/// Returns the lines that tie a row to its ancestors, with `more` or `last` at its own place.
fn guide(app: &App, row: &Row, more: &str, last: &str) -> String {
    let lasts = app.tree.guide(row);
    let own = lasts.len().saturating_sub(1);
    let part = |(at, is_last): (usize, &bool)| match (at == own, is_last) {
        (true, false) => more,
        (true, true) => last,
        (false, false) => "│  ",
        (false, true) => "   ",
    };
    lasts.iter().enumerate().map(part).collect()
}

/// Returns the name that an agent is shown by.
pub fn name(node: &Node) -> String {
    agent_name(&node.id)
}

/// Returns how an agent is called on the screen (untrusted).
pub fn agent_name(id: &AgentId) -> String {
    if id.is_main() { "main".to_owned() } else { id.to_string() }
}

/// Returns what an agent does, in a word or two; untrusted where a tool is named.
pub fn status_word(node: &Node) -> String {
    match &node.activity {
        Activity::Idle => "idle".to_owned(),
        Activity::Waiting => "waiting".to_owned(),
        Activity::Retrying { .. } => "retrying".to_owned(),
        Activity::Thinking => "thinking".to_owned(),
        Activity::Writing => "writing".to_owned(),
        Activity::Tools => tools(&node.open),
        Activity::Parked(_) => "parked".to_owned(),
        Activity::Rescue => "out of steps".to_owned(),
        Activity::Cancelling => "stopping".to_owned(),
        Activity::Ended(outcome, _) => match outcome {
            Outcome::Completed | Outcome::Synthesized => "done",
            Outcome::Cancelled => "cancelled",
            Outcome::Failed => "failed",
        }
        .to_owned(),
    }
}

/// Names the running calls: each tool once, with how many of it run. Untrusted.
pub fn tools(open: &[OpenCall]) -> String {
    let mut names: Vec<(&str, usize)> = Vec::new();
    for call in open {
        match names.iter_mut().find(|(name, _)| *name == call.name) {
            Some((_, count)) => *count += 1,
            None => names.push((&call.name, 1)),
        }
    }
    let label = |(name, count): (&str, usize)| if count > 1 { format!("{name} ×{count}") } else { name.to_owned() };
    names.into_iter().map(label).collect::<Vec<_>>().join(", ")
}

/// Returns the longest time that any of the calls has run.
pub fn longest(open: &[OpenCall], now: Timestamp) -> u64 {
    open.iter().map(|call| crate::tui::state::tree::seconds(call.since, now)).max().unwrap_or(0)
}

fn steps(node: &Node) -> Option<String> {
    match node.max_steps {
        // The call that went beyond the budget was not carried out.
        Some(max) => Some(format!("{}/{max}", node.steps.min(max))),
        None => (node.steps > 0).then(|| node.steps.to_string()),
    }
}

fn tokens(node: &Node) -> Option<String> {
    node.context.map(|tokens| format!("{} tokens", count(tokens)))
}

/// Returns the mark and the style of an agent's state; the mark alone tells the state.
fn look(node: &Node, theme: &Theme) -> (&'static str, Style) {
    match &node.activity {
        Activity::Idle => ("·", theme.dim),
        Activity::Waiting | Activity::Retrying { .. } => ("○", theme.accent),
        Activity::Thinking => ("◌", theme.accent),
        Activity::Writing => ("✎", theme.accent),
        Activity::Tools => ("●", theme.tool),
        Activity::Parked(_) => ("‖", theme.notice),
        Activity::Rescue => ("!", theme.notice),
        Activity::Cancelling => ("■", theme.notice),
        Activity::Ended(outcome, _) => match outcome {
            Outcome::Completed => ("✓", theme.tool_ok),
            Outcome::Synthesized => ("✓", theme.notice),
            Outcome::Cancelled => ("■", theme.dim),
            Outcome::Failed => ("✗", theme.tool_error),
        },
    }
}
