//! The details of the selected agent: what it does, its plan, the files it changed, what it printed last, what it was made from, what
//! it may do and what it has used.
//!
//! On a broad screen they stand beside the transcript, else above it, on a narrow one in a tab of their own. Folded they are
//! the rest of the title's row.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::AgentsView;
use super::text::{ending, look, money, reasons, share, tokens};
use crate::state::{Divider, Pane, Region, Regions};
use crate::theme::Theme;
use crate::transcript::reduce::Transcript;
use crate::view::layout::Panes;
use crate::widgets::fit::{below, fill, one_line, put, put_right, row};
use crate::widgets::steps::step_lines;
use crate::widgets::wrap::{Break, Line, Wrap, draw_text};
use steersman_base::plan::{PlanStep, StepState};
use steersman_base::summary::{count, tokens as tokens_in_words};
use steersman_base::text::visible_line;
use steersman_session::model::agents::Totals;
use steersman_session::model::{Sandbox, money_left};

/// Rows below which there is no room for both.
const LOW: u16 = 9;
/// Bytes of a task that are shown here; the whole of it begins the transcript.
const TASK: usize = 4_000;
/// Most files that are named, the newest first.
const FILES: usize = 8;
/// Most steps of a plan that are shown.
const STEPS: usize = 10;
/// Most lines of the newest output.
const OUTPUT: usize = 6;
/// Columns of the labels, where there is room for them.
const LABEL: usize = 9;

/// Takes the rows of the open details from the transcript, where they have no place of their own.
pub fn take_room(view: &AgentsView<'_>, panes: &mut Panes) {
    let has_place = panes.zoom.is_some() || !panes.details.is_empty() || view.is_narrow();
    if !view.shows_details() || has_place {
        return;
    }
    let area = panes.transcript;
    let wanted = u16::try_from(lines(view, area.width).len()).unwrap_or(u16::MAX).saturating_add(1);
    // They may take all where there is little; on a higher screen a third is left for the transcript.
    let most = if area.height < LOW { area.height } else { area.height - area.height / 3 };
    let rows = match view.pane.viewport.sizes.details_rows {
        Some(rows) => rows.clamp(2, area.height.saturating_sub(3).max(2)),
        None => wanted.min(most),
    };
    let rows = rows.min(area.height);
    panes.details = Rect { height: rows, ..area };
    panes.transcript = Rect { y: area.y + rows, height: area.height - rows, ..area };
}

/// Draws the open details; returns the first line that is shown.
pub fn draw(view: &AgentsView<'_>, panes: &Panes, regions: &mut Regions, buffer: &mut Buffer) -> usize {
    let area = panes.details;
    if area.is_empty() {
        return 0;
    }
    regions.add(area, Region::Pane(Pane::Details));
    let has_place = panes.zoom.is_some() || !panes.details_divider.is_empty() || view.is_narrow();
    if has_place { draw_beside(view, panes, buffer) } else { draw_above(view, area, regions, buffer) }
}

/// Draws them with a title, unless a tab or the title of the zoom names them.
fn draw_beside(view: &AgentsView<'_>, panes: &Panes, buffer: &mut Buffer) -> usize {
    let theme = &view.ui.theme;
    let mut area = panes.details;
    if !panes.details_divider.is_empty() {
        let head = row(area, 0);
        let is_focused = view.focus.is_on(Pane::Details);
        let (mark, style) = if is_focused { ("▸ ", theme.border_focus) } else { ("  ", theme.title) };
        let rest = put(buffer, head, &format!("{mark}Details"), style);
        put_right(buffer, rest, if is_focused { "i folds " } else { "Alt+I " }, theme.dim);
        area = below(area, 1);
    }
    let lines = lines(view, area.width);
    let (top, room) = fit(view, lines.len(), area.height);
    draw_text(&lines, top, Rect { height: room, ..area }, buffer);
    let hidden = lines.len().saturating_sub(top + usize::from(room));
    if room < area.height && hidden > 0 {
        put(buffer, row(area, room), &format!(" ↓ {}", count(hidden, "more line")), theme.dim);
    }
    top
}

/// Draws them with a line below that can be moved.
fn draw_above(view: &AgentsView<'_>, area: Rect, regions: &mut Regions, buffer: &mut Buffer) -> usize {
    let theme = &view.ui.theme;
    let text = area.height - 1;
    let lines = lines(view, area.width);
    let top = view.pane.viewport.details_top(view.pane.selected());
    let top = draw_text(&lines, top, Rect { height: text, ..area }, buffer);
    let rule = row(area, text).intersection(*buffer.area());
    regions.add(rule, Region::Divider(Divider::DetailsRow));
    fill(buffer, rule, "╌", theme.border);
    let hidden = lines.len().saturating_sub(top + usize::from(text));
    let mark = if view.focus.is_on(Pane::Details) { " ▸" } else { "" };
    let words = if hidden > 0 {
        format!("{mark} {}; i folds ", count(hidden, "more line"))
    } else {
        format!("{mark} i folds ")
    };
    let words = Line::new(&words, if mark.is_empty() { theme.dim } else { theme.border_focus });
    let indent = 2.min(rule.width);
    words.draw(buffer, rule.x + indent, rule.y, rule.width - indent);
    top
}

/// Returns the first line that is shown and how many rows there are for text; the last row counts what is hidden.
fn fit(view: &AgentsView<'_>, lines: usize, height: u16) -> (usize, u16) {
    let wanted = view.pane.viewport.details_top(view.pane.selected());
    if lines <= usize::from(height) {
        return (0, height);
    }
    let room = height.saturating_sub(1).max(1);
    let last = lines.saturating_sub(height.into());
    // At the end nothing is hidden: the text has the last row too.
    if wanted >= last { (last, height) } else { (wanted, room) }
}

fn lines(view: &AgentsView<'_>, width: u16) -> Vec<Line> {
    let node = view.selected();
    let theme = &view.ui.theme;
    let width = usize::from(width.saturating_sub(1));
    let label_width = if width >= 30 { LABEL } else { 0 };
    let mut lines = Vec::new();
    let mut add =
        |label: &str, text: &str, style| add_fact(label, text, style, (width, label_width), theme, &mut lines);
    let (mark, style) = look(node.status(), theme);
    add("state", &format!("{mark} {}", node.status().meaning()), style);
    for warning in &node.warnings {
        let [why, _] = reasons(warning, view.ui.now);
        add("look", &format!("! {why}"), theme.notice);
    }
    add("ended", &one_line(&ending(node).unwrap_or_default()), theme.notice);
    let cut = node.task.char_indices().map(|(at, _)| at).find(|at| *at >= TASK).unwrap_or(node.task.len());
    let task = node.task.get(..cut).unwrap_or_default();
    let more = if cut < node.task.len() { " …" } else { "" };
    add("task", &format!("{}{more}", one_line(task)), theme.text);
    let steps = plan_steps(view, width, label_width, &mut lines);
    let mut add =
        |label: &str, text: &str, style| add_fact(label, text, style, (width, label_width), theme, &mut lines);
    if steps > 0 {
        add("", &format!("… {}", count(steps, "more step")), theme.dim);
    }
    let transcript = view.transcript;
    let changed = view.ui.run.changes.files(None, Some(&node.id));
    for (number, file) in changed.iter().rev().take(FILES).enumerate() {
        let label = if number == 0 { "changed" } else { "" };
        let (added, removed) = file.lines();
        add(label, &format!("{} +{added} −{removed}", visible_line(file.path)), theme.text);
    }
    if changed.len() > FILES {
        add("", &format!("… {}", count(changed.len() - FILES, "more file")), theme.dim);
    }
    add("used", &used(view), theme.text);
    add("budget", &budget(view), theme.text);
    add("persona", &one_line(&node.persona), theme.text);
    add("model", &one_line(node.model.as_deref().unwrap_or_default()), theme.text);
    add("tools", &one_line(&node.tools.join(", ")), theme.text);
    if node.id.is_main() {
        add("context", &one_line(&view.ui.run.permissions.context_files.join(", ")), theme.text);
        if let Sandbox::Named(name) = &view.ui.run.permissions.sandbox {
            add("sandbox", name, theme.text);
        }
    }
    if let Some(call) = transcript.and_then(Transcript::last_printed) {
        add("output", &one_line(&format!("{} {}", call.name, call.summary)), theme.text);
        let newest = call.output().lines().rev().filter(|line| !line.trim().is_empty()).take(OUTPUT);
        for line in newest.collect::<Vec<_>>().into_iter().rev() {
            let mut row = Line::frame(" │ ", theme.gutter);
            row.push(&one_line(line), theme.output);
            lines.push(row.truncate(width));
        }
    }
    lines
}

/// Appends a fact behind its label; nothing where there is nothing to say.
fn add_fact(
    label: &str,
    text: &str,
    style: Style,
    (width, label_width): (usize, usize),
    theme: &Theme,
    lines: &mut Vec<Line>,
) {
    if text.is_empty() {
        return;
    }
    let (first, rest) = if label_width > 0 {
        (Line::new(&format!(" {label:<label_width$}"), theme.dim), Line::new(&" ".repeat(label_width + 1), theme.dim))
    } else {
        (Line::new(" ", theme.dim), Line::new(" ", theme.dim))
    };
    let text = if label_width > 0 || label.is_empty() { text.to_owned() } else { format!("{label}: {text}") };
    Wrap { width, at: Break::Words, first: &first, rest: &rest }.line(&Line::new(&text, style), lines);
}

/// Appends the plan of the agent, those of many steps that are near the one that runs; returns how many are left out.
fn plan_steps(view: &AgentsView<'_>, width: usize, label_width: usize, lines: &mut Vec<Line>) -> usize {
    let theme = &view.ui.theme;
    let Some(shared) = view.ui.run.plans.get(&view.selected().id) else { return 0 };
    add_fact("plan", &shared.plan.progress_text(), theme.text, (width, label_width), theme, lines);
    let steps = &shared.plan.steps;
    let is_open = |step: &PlanStep| matches!(step.state, StepState::Pending | StepState::Running);
    let next = steps.iter().position(is_open).unwrap_or(0);
    let first = next.saturating_sub(1).min(steps.len().saturating_sub(STEPS));
    let lead = " ".repeat(label_width + 1);
    let width = u16::try_from(width).unwrap_or(u16::MAX);
    for step in steps.iter().skip(first).take(STEPS) {
        step_lines(step, &lead, width, theme, lines);
    }
    steps.len().saturating_sub(STEPS)
}

fn budget(view: &AgentsView<'_>) -> String {
    let node = view.selected();
    let steps = node.max_steps.map(|max| format!("{} of {max} steps", node.steps.min(max)));
    let known = share(node).zip(node.cap).map(|(share, cap)| format!("context {share} of {}", tokens_in_words(cap)));
    let context = known.or_else(|| tokens(node).map(|tokens| format!("context {tokens} of ?")));
    [steps, context].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn used(view: &AgentsView<'_>) -> String {
    let node = view.selected();
    let totals = node.totals();
    let cost = |totals: &Totals| money(totals).map(|cost| format!(", {cost}")).unwrap_or_default();
    let own = (node.spent > 0).then(|| format!("{} tokens{}", tokens_in_words(node.spent), cost(&node.own())));
    let tokens = tokens_in_words(totals.tokens());
    let all = (!node.children().is_empty()).then(|| format!("Σ {tokens} in {} agents{}", totals.agents, cost(totals)));
    let left = if node.id.is_main() { money_left(view.ui.run.budget) } else { None };
    [own, all, left].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}
