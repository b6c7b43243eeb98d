//! The details of the selected agent, above its transcript: the task it was given, what it was made from, what it may
//! do and what it has used.
//!
//! Folded they are the rest of the title's row; open they take rows from the transcript, on a low screen all of them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::words::{ending, money, reasons, share, tokens};
use crate::tui::state::App;
use crate::tui::state::tree::{Details, Totals};
use crate::tui::view::fit::{count, one_line, row};
use crate::tui::view::layout::Panes;
use crate::tui::view::wrap::{Break, Line, Wrap};

/// Rows below which there is no room for both.
const LOW: u16 = 9;
/// Bytes of a task that are shown here; the whole of it begins the transcript.
const TASK: usize = 4_000;
/// Columns of the labels, where there is room for them.
const LABEL: usize = 9;

/// Takes the rows of the open details from the transcript.
pub fn take(app: &App, panes: &mut Panes) {
    if app.tree.details == Details::Folded {
        return;
    }
    let area = panes.transcript;
    let rows = u16::try_from(lines(app, area.width).len()).unwrap_or(u16::MAX).saturating_add(1);
    // They may take all where there is little; on a higher screen a third is left for the transcript.
    let most = if area.height < LOW { area.height } else { area.height - area.height / 3 };
    let rows = rows.min(most);
    panes.details = Rect { height: rows, ..area };
    panes.transcript = Rect { y: area.y + rows, height: area.height - rows, ..area };
}

/// Draws the open details and the line below them.
pub fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    let Some(text) = area.height.checked_sub(1) else { return };
    let lines = lines(app, area.width);
    let is_cut = lines.len() > usize::from(text);
    for (line, y) in lines.iter().zip(area.y..area.y + text) {
        line.draw(buffer, area.x, y, area.width);
    }
    let rule = row(area, text).intersection(*buffer.area());
    for position in rule.positions() {
        if let Some(cell) = buffer.cell_mut(position) {
            cell.set_symbol("╌").set_style(app.theme.border);
        }
    }
    let hidden = lines.len().saturating_sub(text.into());
    let words = if is_cut {
        format!(" {hidden} more {}; i folds ", if hidden == 1 { "line" } else { "lines" })
    } else {
        " i folds ".to_owned()
    };
    let words = Line::new(&words, app.theme.dim);
    let indent = 2.min(rule.width);
    words.draw(buffer, rule.x + indent, rule.y, rule.width - indent);
}

fn lines(app: &App, width: u16) -> Vec<Line> {
    let node = app.tree.selected_node();
    let theme = &app.theme;
    let width = usize::from(width.saturating_sub(1));
    let label_width = if width >= 30 { LABEL } else { 0 };
    let mut lines = Vec::new();
    let mut add = |label: &str, text: &str, style| {
        if text.is_empty() {
            return;
        }
        let (first, rest) = if label_width > 0 {
            (
                Line::new(&format!(" {label:<label_width$}"), theme.dim),
                Line::new(&" ".repeat(label_width + 1), theme.dim),
            )
        } else {
            (Line::new(" ", theme.dim), Line::new(" ", theme.dim))
        };
        let text = if label_width > 0 { text.to_owned() } else { format!("{label}: {text}") };
        Wrap { width, at: Break::Words, first: &first, rest: &rest }.line(&Line::new(&text, style), &mut lines);
    };
    for lint in &node.lints {
        let [why, _] = reasons(lint, app.now);
        add("look", &format!("! {why}"), theme.notice);
    }
    add("ended", &one_line(&ending(node).unwrap_or_default()), theme.notice);
    let cut = node.task.char_indices().map(|(at, _)| at).find(|at| *at >= TASK).unwrap_or(node.task.len());
    let task = node.task.get(..cut).unwrap_or_default();
    let more = if cut < node.task.len() { " …" } else { "" };
    add("task", &format!("{}{more}", one_line(task)), theme.text);
    add("persona", &one_line(&node.persona), theme.text);
    add("model", &one_line(node.model.as_deref().unwrap_or_default()), theme.text);
    add("tools", &one_line(&node.tools.join(", ")), theme.text);
    add("budget", &budget(app), theme.text);
    add("used", &used(app), theme.text);
    if node.id.is_main() {
        add("context", &one_line(&app.guards.context_files.join(", ")), theme.text);
    }
    lines
}

fn budget(app: &App) -> String {
    let node = app.tree.selected_node();
    let steps = node.max_steps.map(|max| format!("{} of {max} steps", node.steps.min(max)));
    let known = share(node).zip(node.cap).map(|(share, cap)| format!("context {share} of {}", count(cap)));
    let context = known.or_else(|| tokens(node).map(|tokens| format!("context {tokens} of ?")));
    [steps, context].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn used(app: &App) -> String {
    let node = app.tree.selected_node();
    let totals = node.totals();
    let cost = |totals: &Totals| money(totals).map(|cost| format!(", {cost}")).unwrap_or_default();
    let own = (node.spent > 0).then(|| format!("{} tokens{}", count(node.spent), cost(&node.own())));
    let tokens = count(totals.tokens());
    let all = node.has_children().then(|| format!("Σ {tokens} in {} agents{}", totals.agents, cost(totals)));
    let left = if node.id.is_main() { app.budget.money_left(totals) } else { None };
    [own, all, left].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}
