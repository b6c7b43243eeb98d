//! Draws the changed files over the screen: a row for each above, the change of the selected one below.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::state::ChangesPane;
use crate::session::fold::ChangedFile;
use crate::summary::count;
use crate::target::name_of;
use crate::text::visible_line;
use crate::tui::facts::Facts;
use crate::tui::keymap::Context;
use crate::tui::overlay::{OverlayPosition, frame};
use crate::tui::state::regions::{Region, Regions};
use crate::tui::theme::Theme;
use crate::tui::widgets::diff::{self, Diff};
use crate::tui::widgets::fit::{columns, one_line, put, put_right, row};
use crate::tui::widgets::wrap::{Break, Line, Wrap};

/// Columns that are left to a path at least.
const PATH: u16 = 20;

const KEYS: [&str; 4] = [
    " Up/Down file · Left/Right turn · a agent · Enter opens · u undoes the file · U the turn · Esc closes ",
    " Left/Right turn · a agent · Enter opens · u, U undo · Esc closes ",
    " u, U undo · Enter opens · Esc closes ",
    " Esc closes ",
];

/// Draws the list; returns the position as they were shown.
pub fn draw(
    pane: &ChangesPane,
    facts: &Facts,
    screen: Rect,
    regions: &mut Regions,
    buffer: &mut Buffer,
) -> OverlayPosition {
    let theme = &facts.theme;
    let rows = pane.rows(facts);
    let shown = match pane.turn {
        Some(turn) => format!("turn {turn}"),
        None => "this session".to_owned(),
    };
    let by = pane.agent.as_ref().map(|agent| format!(", by {}", name_of(agent))).unwrap_or_default();
    let titles = [format!(" {} changed: {shown}{by} ", count(rows.len(), "file")), " Changed files ".to_owned()];
    let inner = frame::open(theme, &titles, screen, regions, buffer);
    let keys: Vec<_> = KEYS.iter().map(|keys| facts.spell(Context::Changes, keys)).collect();
    frame::foot(theme, &keys, screen, buffer);
    let Some(last) = rows.len().checked_sub(1) else {
        put(buffer, row(inner, 0), "No tool has changed a file.", theme.dim);
        put(buffer, row(inner, 1), "What commands changed is not recorded.", theme.dim);
        return OverlayPosition::None;
    };
    let selected = pane.selected.min(last);
    let height = u16::try_from(rows.len()).unwrap_or(u16::MAX).min((inner.height / 3).max(1));
    let list = Rect { height, ..inner };
    let first = (selected + 1).saturating_sub(height.into());
    for (y, (index, file)) in (list.y..list.bottom()).zip(rows.iter().enumerate().skip(first)) {
        let line = Rect { y, height: 1, ..list };
        regions.add(line, Region::OverlayRow(index));
        if index == selected {
            put(buffer, line, "›", theme.accent);
        }
        draw_row(file, theme, line, buffer);
        if index == selected {
            buffer.set_style(line.intersection(*buffer.area()), theme.selected);
        }
    }
    let rule = Rect { y: list.bottom(), height: 1.min(inner.height - height), ..inner };
    put(buffer, rule, &"─".repeat(inner.width.into()), theme.border);
    let below = Rect { y: rule.bottom(), height: inner.bottom().saturating_sub(rule.bottom()), ..inner };
    let lines = rows.get(selected).map(|file| lines(pane, file, below.width, theme)).unwrap_or_default();
    let top = pane.top.min(lines.len().saturating_sub(below.height.into()));
    for (line, y) in lines.iter().skip(top).zip(below.y..below.bottom()) {
        line.draw(buffer, below.x, y, below.width);
    }
    OverlayPosition::List { selected, top }
}

/// Draws a row: the path, then lines, turns and agents as far as there is room.
fn draw_row(file: &ChangedFile<'_>, theme: &Theme, line: Rect, buffer: &mut Buffer) {
    let room = Rect { x: line.x + line.width.min(2), width: line.width.saturating_sub(2), ..line };
    let (added, removed) = file.lines();
    let turns: Vec<String> = file.turns().iter().map(u32::to_string).collect();
    let turns = if turns.len() > 4 { format!("{} turns", turns.len()) } else { format!("turn {}", turns.join(", ")) };
    let new = if file.is_new() { "new " } else { "" };
    let all = [format!("{new}+{added} −{removed}"), turns, file.agents().join(", ")];
    let fitting = (1..=all.len()).rev().filter_map(|most| all.get(..most)).map(|words| one_line(&words.join(" · ")));
    let facts = fitting.into_iter().find(|words| columns(words) + PATH <= room.width).unwrap_or_default();
    put_right(buffer, room, &facts, theme.dim);
    let width = room.width.saturating_sub(if facts.is_empty() { 0 } else { columns(&facts) + 1 });
    put(buffer, Rect { width, ..room }, &visible_line(file.path), theme.text);
}

/// Returns the lines of a file's change.
fn lines(pane: &ChangesPane, file: &ChangedFile<'_>, width: u16, theme: &Theme) -> Vec<Line> {
    let none = Line::default();
    let wrap = Wrap { width: width.into(), at: Break::Anywhere, first: &none, rest: &none };
    let mut shown = Vec::new();
    for (heading, change) in pane.parts(file) {
        let change = Diff::of(change);
        let heading = Line::new(&format!("{heading}: {}", change.words), theme.dim);
        Wrap { at: Break::Words, ..wrap }.line(&heading, &mut shown);
        for line in diff::lines(&change.lines, change.columns, None, theme) {
            wrap.line(&line, &mut shown);
        }
    }
    shown
}
