//! Draws what fills a context window: the sums above, a row for each part below.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::state::ContextPane;
use super::words::{name, sums, total, wish_word};
use crate::protocol::ContextPart;
use crate::summary;
use crate::target::name_of;
use crate::tui::facts::Facts;
use crate::tui::keymap::Context;
use crate::tui::overlay::{OverlayPosition, frame};
use crate::tui::state::regions::{Region, Regions};
use crate::tui::theme::Theme;
use crate::tui::widgets::fit::{columns, put, put_right, row};
use crate::tui::widgets::wrap::{Break, Line, Wrap};

/// Rows that the sums may have.
const SUM_ROWS: u16 = 3;

const KEYS: [&str; 4] = [
    " Up/Down part · d take out · p pin · a agent · Esc closes ",
    " d take out · p pin · a agent · Esc closes ",
    " d, p · Esc closes ",
    " Esc closes ",
];

/// Draws the list; returns the position as it was shown.
pub fn draw(
    pane: &ContextPane,
    facts: &Facts,
    screen: Rect,
    regions: &mut Regions,
    buffer: &mut Buffer,
) -> OverlayPosition {
    let theme = &facts.theme;
    let titles = match pane.report() {
        Some(report) => {
            let agent = name_of(&report.agent);
            [format!(" Context of {agent}: {} ", total(report)), format!(" Context of {agent} ")]
        }
        None => [" Context window ".to_owned(), " Context ".to_owned()],
    };
    let inner = frame::open(theme, &titles, screen, regions, buffer);
    let keys: Vec<_> = KEYS.iter().map(|keys| facts.spell(Context::Window, keys)).collect();
    frame::foot(theme, &keys, screen, buffer);
    let Some(report) = pane.report() else {
        let words = if pane.reports.is_some() { "No agent runs." } else { "The run is asked…" };
        put(buffer, row(inner, 0), words, theme.dim);
        return OverlayPosition::None;
    };
    let none = Line::default();
    let mut lines = Vec::new();
    let wrap = Wrap { width: inner.width.into(), at: Break::Words, first: &none, rest: &none };
    wrap.line(&Line::new(&sums(report), theme.dim), &mut lines);
    let above = SUM_ROWS.min(inner.height / 3);
    let mut y = inner.y;
    for line in lines.iter().take(above.into()) {
        line.draw(buffer, inner.x, y, inner.width);
        y += 1;
    }
    let rule = Rect { y, height: 1.min(inner.bottom().saturating_sub(y)), ..inner };
    put(buffer, rule, &"─".repeat(inner.width.into()), theme.border);
    let list = Rect { y: rule.bottom(), height: inner.bottom().saturating_sub(rule.bottom()), ..inner };
    let Some(last) = report.parts.len().checked_sub(1) else { return OverlayPosition::None };
    let selected = pane.selected.min(last);
    let first = (selected + 1).saturating_sub(list.height.into());
    for (y, (index, part)) in (list.y..list.bottom()).zip(report.parts.iter().enumerate().skip(first)) {
        let line = Rect { y, height: 1, ..list };
        regions.add(line, Region::OverlayRow(index));
        if index == selected {
            put(buffer, line, "›", theme.accent);
        }
        draw_row(part, report.tokens, theme, line, buffer);
        if index == selected {
            buffer.set_style(line.intersection(*buffer.area()), theme.selected);
        }
    }
    OverlayPosition::List { selected, top: first }
}

/// Draws a part: its size and share, what it is, and what is wanted of it.
fn draw_row(part: &ContextPart, whole: u64, theme: &Theme, line: Rect, buffer: &mut Buffer) {
    let room = Rect { x: line.x + line.width.min(2), width: line.width.saturating_sub(2), ..line };
    let wish = wish_word(part.wish);
    put_right(buffer, room, wish, theme.accent);
    let width = room.width.saturating_sub(if wish.is_empty() { 0 } else { columns(wish) + 1 });
    let share = part.tokens.saturating_mul(100) / whole.max(1);
    let size = format!("{:>7} {share:>3}%  {}", format!("~{}", summary::tokens(part.tokens)), name(part));
    put(buffer, Rect { width, ..room }, &size, theme.text);
}
