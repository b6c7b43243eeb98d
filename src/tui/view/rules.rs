//! Draws the row with the user's rules that hold, and above it why the session cannot be saved: there is none while there
//! is neither.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::keymap::Context;
use crate::ui_context::UiContext;
use crate::widgets::fit::{columns, one_line, put, put_right, row};
use steersman_base::summary::count;

/// Fewest rows of a screen that has one for the rules.
pub(super) const LEAST: u16 = 12;

/// Returns the rows that both take.
pub(super) fn rows(ui: &UiContext) -> u16 {
    let has_rules = !ui.run.rules.all().is_empty() && ui.size.height >= LEAST;
    u16::from(has_rules) + u16::from(ui.unsaved.is_some())
}

/// Draws the rules, as much of each as finds room.
pub(super) fn draw(ui: &UiContext, area: Rect, buffer: &mut Buffer) {
    let rules = ui.run.rules.all();
    let theme = &ui.theme;
    let above = u16::from(ui.unsaved.is_some());
    if let Some(unsaved) = &ui.unsaved {
        put(buffer, row(area, 0), &format!("! {}", one_line(&unsaved.why)), theme.error);
    }
    let mut line = row(area, above);
    if line.is_empty() || rules.is_empty() {
        return;
    }
    let hint = ui.spell(Context::Composer, "Alt+K changes them").into_owned();
    let head = format!("§ {}: ", count(rules.len(), "rule"));
    let words: Vec<String> = rules.iter().map(|rule| one_line(&rule.text)).collect();
    let words = words.join(" · ");
    if columns(&head) + columns(&words) + columns(&hint) + 2 <= line.width {
        line = put_right(buffer, line, &format!("  {hint}"), theme.dim);
    }
    let line = put(buffer, line, &head, theme.notice);
    put(buffer, line, &words, theme.dim);
}
