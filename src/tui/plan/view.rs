//! Draws a plan: its steps over the screen, its steps among the details of an agent, and what waits to be told.
//!
//! Each step has a mark that depends on no colour. The texts are untrusted until they are lines here.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::state::PlanPane;
use crate::plan::{PlanStep, StepState, summary};
use crate::session::fold::AgentPlan;
use crate::text::visible_line;
use crate::tui::facts::Facts;
use crate::tui::keymap::Context;
use crate::tui::overlay::{OverlayPosition, frame};
use crate::tui::state::regions::{Region, Regions};
use crate::tui::theme::Theme;
use crate::tui::widgets::fit::{put, row};
use crate::tui::widgets::wrap::{Break, Line, Wrap};

const KEYS: [&str; 4] = [
    " a add · Enter edits · Space checks · x strikes out · J/K move · Tab agent · Esc closes ",
    " a add · Enter edits · Space checks · x strikes · Esc closes ",
    " a add · Enter edits · Esc closes ",
    " Esc closes ",
];

/// Draws the plan; returns the position as it was shown.
pub fn draw(
    pane: &PlanPane,
    facts: &Facts,
    screen: Rect,
    regions: &mut Regions,
    buffer: &mut Buffer,
) -> OverlayPosition {
    let theme = &facts.theme;
    let shared = facts.run.plans.of(&pane.agent);
    let owner = visible_line(&pane.owner()).into_owned();
    let progress = shared.map(|shared| format!(": {}", progress(shared))).unwrap_or_default();
    let titles = [format!(" Plan of {owner}{progress} "), format!(" Plan of {owner} "), " Plan ".to_owned()];
    let mut inner = frame::open(theme, &titles, screen, regions, buffer);
    let keys: Vec<_> = KEYS.iter().map(|keys| facts.spell(Context::Plan, keys)).collect();
    frame::foot(theme, &keys, screen, buffer);
    let Some(shared) = shared else {
        put(buffer, row(inner, 0), "No steps yet.", theme.dim);
        put(buffer, row(inner, 1), "The agent writes them down, and so may you: a adds one.", theme.dim);
        return OverlayPosition::None;
    };
    let waiting = summary(&shared.untold());
    if !waiting.is_empty() && inner.height > 2 {
        let last = row(inner, inner.height - 1);
        put(buffer, last, &format!("⋯ not told yet: {waiting}"), theme.pending);
        inner.height -= 1;
    }
    let steps = &shared.plan.steps;
    let selected = pane.selected(steps);
    let mut lines: Vec<(usize, Line)> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let mut rows = Vec::new();
        let lead = if index == selected { "› " } else { "  " };
        step_lines(step, lead, inner.width, theme, &mut rows);
        lines.extend(rows.into_iter().map(|line| (index, line)));
    }
    let height = usize::from(inner.height);
    let first = lines.iter().position(|(index, _)| *index == selected).unwrap_or(0);
    let last = lines.iter().rposition(|(index, _)| *index == selected).unwrap_or(0);
    let most = lines.len().saturating_sub(height);
    let top = pane.top.max((last + 1).saturating_sub(height)).min(first).min(most);
    for ((index, line), y) in lines.iter().skip(top).zip(inner.y..inner.bottom()) {
        let area = Rect { y, height: 1, ..inner };
        regions.add(area, Region::OverlayRow(*index));
        line.draw(buffer, area.x, y, area.width);
        if *index == selected {
            buffer.set_style(area.intersection(*buffer.area()), theme.selected);
        }
    }
    OverlayPosition::List { selected, top }
}

/// Returns how far a plan is: `2 of 5 done, 1 struck out`.
pub fn progress(shared: &AgentPlan) -> String {
    let (done, all) = shared.plan.progress();
    let struck_out = match shared.plan.count(StepState::StruckOut) {
        0 => String::new(),
        count => format!(", {count} struck out"),
    };
    format!("{done} of {all} done{struck_out}")
}

/// Appends the lines of a step, behind a lead in its first line.
pub fn step_lines(step: &PlanStep, lead: &str, width: u16, theme: &Theme, lines: &mut Vec<Line>) {
    let style = look(step.state, theme);
    let indent = " ".repeat(lead.chars().count() + step.state.mark().len() + 1);
    let mut first = Line::new(lead, theme.accent);
    first.push(&format!("{} ", step.state.mark()), style.remove_modifier(Modifier::CROSSED_OUT));
    let (first, rest) = (first.into_frame(), Line::frame(&indent, theme.dim));
    let wrap = Wrap { width: usize::from(width).max(indent.len() + 1), at: Break::Words, first: &first, rest: &rest };
    wrap.line(&Line::new(&visible_line(&step.text), style), lines);
}

fn look(state: StepState, theme: &Theme) -> Style {
    match state {
        StepState::Pending => theme.text,
        StepState::Running => theme.accent,
        StepState::Done => theme.dim,
        StepState::StruckOut => theme.dim.add_modifier(Modifier::CROSSED_OUT),
    }
}
