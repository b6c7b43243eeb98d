//! Draws the list of sessions, messages or servers over the screen: the filter, the rows, and what the selected one holds.
//!
//! The list has the upper half where there is room for a preview, else everything.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::choices::Choices;
use crate::text::visible;
use crate::tui::facts::Facts;
use crate::tui::keymap::Context;
use crate::tui::overlay::frame;
use crate::tui::state::regions::{Region, Regions};
use crate::tui::switch::{ChoiceSubject, ListChoice};
use crate::tui::theme::Theme;
use crate::tui::widgets::fit::{columns, one_line, put, put_right, row};
use crate::tui::widgets::wrap::{Break, Line, Wrap};

/// Rows from which there is room for a preview.
const TALL: u16 = 12;
/// Columns that are left to a title at least.
const TITLE: u16 = 24;

const KEYS: [&str; 2] =
    [" type to filter · Up/Down select · Enter chooses · Esc closes ", " Enter chooses · Esc closes "];

/// Where there is nothing to be done with a row.
const READING_KEYS: [&str; 2] = [" type to filter · Up/Down select · Esc closes ", " Esc closes "];

/// Draws the list; returns where the cursor of the filter stands.
pub fn draw(choices: &Choices, facts: &Facts, screen: Rect, regions: &mut Regions, buffer: &mut Buffer) -> Position {
    let theme = &facts.theme;
    let titles = match choices.subject() {
        ChoiceSubject::Session => [" Sessions: go on with one ", " Sessions "],
        ChoiceSubject::Hit => [" Found in the sessions: read one there ", " Found "],
        ChoiceSubject::Message => [" Your messages: branch from just before one ", " Your messages "],
        ChoiceSubject::Server => [" MCP servers: start one ", " MCP servers "],
        ChoiceSubject::Hook => [" Hooks: when they run, and what they did last ", " Hooks "],
    };
    let inner = frame::open(theme, &titles, screen, regions, buffer);
    let keys = if choices.subject() == ChoiceSubject::Hook { READING_KEYS } else { KEYS };
    let keys: Vec<_> = keys.iter().map(|keys| facts.spell(Context::Choices, keys)).collect();
    frame::foot(theme, &keys, screen, buffer);
    let prompt = put(buffer, row(inner, 0), "/", theme.accent);
    let rest = put(buffer, prompt, choices.filter(), theme.text);
    let cursor = Position { x: rest.x.min(inner.right().saturating_sub(1)), y: inner.y };
    let below = Rect { y: inner.y.saturating_add(1), height: inner.height.saturating_sub(1), ..inner };
    let (found, selected) = choices.found();
    let nothing = match (choices.rows(), choices.subject()) {
        (None, ChoiceSubject::Server) => "asking how the servers stand…",
        (None, _) => "reading the sessions…",
        (Some(Ok([])), ChoiceSubject::Hit) => "no session holds these words",
        (Some(Err(reason)), _) => reason,
        (Some(Ok([])), ChoiceSubject::Session) => "no session is saved",
        (Some(Ok([])), ChoiceSubject::Message) => "nothing was said yet",
        (Some(Ok([])), ChoiceSubject::Server) => "no MCP server is configured; /help mcp says how",
        (Some(Ok([])), ChoiceSubject::Hook) => "there are no hooks; /help hooks says how to add some",
        (Some(Ok(_)), _) => "nothing fits the filter",
    };
    let Some(chosen) = found.get(selected) else {
        put(buffer, row(below, 0), &one_line(nothing), theme.dim);
        return cursor;
    };
    let list = if below.height >= TALL { Rect { height: below.height / 2, ..below } } else { below };
    draw_rows(&found, selected, theme, list, regions, buffer);
    let preview = Rect { y: list.bottom(), height: below.height - list.height, ..below };
    draw_preview(chosen, theme, preview, buffer);
    cursor
}

fn draw_rows(
    found: &[&ListChoice],
    selected: usize,
    theme: &Theme,
    area: Rect,
    regions: &mut Regions,
    buffer: &mut Buffer,
) {
    let fits = usize::from(area.height).max(1);
    let top = (selected + 1).saturating_sub(fits);
    for ((index, choice), y) in found.iter().enumerate().skip(top).take(fits).zip(area.y..) {
        let line = Rect { y, height: 1, ..area };
        regions.add(line, Region::OverlayRow(index));
        if index == selected {
            put(buffer, line, "›", theme.accent);
        }
        let room = Rect { x: line.x + line.width.min(2), width: line.width.saturating_sub(2), ..line };
        let all = one_line(&choice.facts);
        // As many as there is room for.
        let mut facts = all.as_str();
        while !facts.is_empty() && columns(facts) + TITLE > room.width {
            facts = facts.rsplit_once(" · ").map_or("", |(before, _)| before);
        }
        put_right(buffer, room, facts, theme.dim);
        let width = room.width.saturating_sub(if facts.is_empty() { 0 } else { columns(facts) + 1 });
        put(buffer, Rect { width, ..room }, &one_line(&choice.title), theme.text);
        if index == selected {
            buffer.set_style(line.intersection(*buffer.area()), theme.selected);
        }
    }
}

fn draw_preview(choice: &ListChoice, theme: &Theme, area: Rect, buffer: &mut Buffer) {
    let Some(bottom) = area.bottom().checked_sub(1).filter(|bottom| *bottom > area.y) else { return };
    let rule = "─".repeat(area.width.into());
    put(buffer, row(area, 0), &rule, theme.border);
    let facts = [choice.id.as_str(), &choice.facts].into_iter().filter(|fact| !fact.is_empty());
    let facts = (facts.collect::<Vec<_>>().join(" · "), theme.dim);
    let texts: Vec<(String, Style)> =
        visible(&choice.preview).lines().map(|line| (line.to_owned(), theme.text)).collect();
    let none = Line::default();
    let wrap = Wrap { width: area.width.into(), at: Break::Words, first: &none, rest: &none };
    let mut rows = Vec::new();
    for (text, style) in std::iter::once(facts).chain(texts) {
        wrap.line(&Line::new(&text, style), &mut rows);
    }
    for (line, y) in rows.iter().zip(area.y + 1..=bottom) {
        line.draw(buffer, area.x, y, area.width);
    }
}
