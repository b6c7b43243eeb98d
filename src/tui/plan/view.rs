//! Draws the plan over the screen: its steps, and what waits to be told.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::state::PlanPane;
use crate::plan::summary;
use crate::text::visible_line;
use crate::tui::facts::Facts;
use crate::tui::keymap::Context;
use crate::tui::overlay::{OverlayPosition, frame};
use crate::tui::state::regions::{Region, Regions};
use crate::tui::widgets::fit::{put, row};
use crate::tui::widgets::steps::step_lines;
use crate::tui::widgets::wrap::Line;

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
    let progress = shared.map(|shared| format!(": {}", shared.plan.progress_words())).unwrap_or_default();
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
