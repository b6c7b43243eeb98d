//! Draws two sessions over the screen: side by side, or one under the other where there is no room.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::state::ComparedPane;
use crate::summary::ComparedTable;
use crate::tui::facts::Facts;
use crate::tui::keymap::Context;
use crate::tui::overlay::{OverlayPosition, frame};
use crate::tui::state::regions::Regions;
use crate::tui::theme::Theme;
use crate::tui::widgets::fit::{put, row};
use crate::tui::widgets::wrap::{Break, Line, Wrap};

/// Columns of the names of rows, and those from which both sessions stand side by side.
const NAMES: u16 = 10;
const WIDE: u16 = 60;

const KEYS: [&str; 2] = [" Up/Down scrolls · Home/End · Esc closes ", " Esc closes "];

/// Draws the comparison; returns the first row that is shown.
pub fn draw(
    pane: &ComparedPane,
    facts: &Facts,
    screen: Rect,
    regions: &mut Regions,
    buffer: &mut Buffer,
) -> OverlayPosition {
    let theme = &facts.theme;
    let titles = [" Two sessions: what each did behind the place where they part ", " Two sessions "];
    let inner = frame::open(theme, &titles, screen, regions, buffer);
    let keys: Vec<_> = KEYS.iter().map(|keys| facts.spell(Context::Ledger, keys)).collect();
    frame::foot(theme, &keys, screen, buffer);
    put(buffer, row(inner, 0), &pane.table.heading, theme.title);
    let below = Rect { y: inner.y.saturating_add(2), height: inner.height.saturating_sub(2), ..inner };
    let lines = lines(&pane.table, below.width, theme);
    let top = pane.top.min(lines.len().saturating_sub(below.height.into()));
    let side = (below.width.saturating_sub(NAMES)) / 2;
    for ([name, left, right], y) in lines.iter().skip(top).zip(below.y..below.bottom()) {
        let x = below.x.saturating_add(NAMES);
        name.draw(buffer, below.x, y, NAMES.min(below.width));
        left.draw(buffer, x, y, below.width.saturating_sub(NAMES));
        if below.width >= WIDE {
            right.draw(buffer, x.saturating_add(side), y, side);
        }
    }
    OverlayPosition::Page { top }
}

fn lines(table: &ComparedTable, width: u16, theme: &Theme) -> Vec<[Line; 3]> {
    let is_wide = width >= WIDE;
    let side = if is_wide { (width - NAMES) / 2 - 1 } else { width.saturating_sub(NAMES) };
    let none = Line::default();
    let wrap = Wrap { width: usize::from(side.max(1)), at: Break::Words, first: &none, rest: &none };
    let wrapped = |texts: &[String]| {
        let mut lines = Vec::new();
        for text in texts {
            wrap.line(&Line::new(text, theme.text), &mut lines);
        }
        lines
    };
    let mut shown = Vec::new();
    for compared in &table.rows {
        let [left, right] = compared.sides.each_ref().map(|texts| wrapped(texts));
        let pairs: Vec<[Option<Line>; 2]> = if is_wide {
            let at = |lines: &[Line], index: usize| lines.get(index).cloned();
            (0..left.len().max(right.len())).map(|index| [at(&left, index), at(&right, index)]).collect()
        } else {
            // One under the other.
            left.into_iter().chain(right).map(|line| [Some(line), None]).collect()
        };
        for (index, [left, right]) in pairs.into_iter().enumerate() {
            let name = if index == 0 { Line::new(compared.name, theme.dim) } else { Line::default() };
            shown.push([name, left.unwrap_or_default(), right.unwrap_or_default()]);
        }
    }
    shown
}
