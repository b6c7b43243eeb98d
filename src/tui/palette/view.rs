//! Draws what could stand behind what is being typed, above the composer.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{Offer, Palette};
use crate::keymap::Context;
use crate::overlay::frame::{LIST_ROWS, clear_bottom};
use crate::state::{Region, Regions};
use crate::ui_context::UiContext;
use crate::widgets::fit::{columns, one_line, put, put_marked, put_right, row};

/// Draws the list into the lower end of the room above the composer; returns the room that is left.
pub fn draw(palette: &Palette, ui: &UiContext, room: Rect, regions: &mut Regions, buffer: &mut Buffer) -> Rect {
    let offers = palette.offers();
    let most = usize::from(room.height.saturating_sub(1)).min(LIST_ROWS).min(offers.len());
    if most == 0 {
        return room;
    }
    let theme = &ui.theme;
    let rows = u16::try_from(most + 1).unwrap_or(room.height);
    let area = clear_bottom(room, rows, buffer);
    regions.add(area, Region::Overlay);
    let chosen = palette.chosen();
    let first = (chosen + 1).saturating_sub(most);
    let labels = offers.iter().map(|offer| columns(&one_line(&offer.label))).max().unwrap_or(0).min(area.width / 2);
    for ((place, offer), y) in offers.iter().enumerate().skip(first).take(most).zip(0..) {
        let line = row(area, y);
        regions.add(line, Region::Offer(place));
        let (mark, style) = if place == chosen { ("▸ ", theme.accent) } else { ("  ", theme.text) };
        let rest = put(buffer, line, mark, style);
        if offer.marks.is_empty() {
            put(buffer, rest, &one_line(&offer.label), style);
        } else {
            put_marked(buffer, rest, &offer.label, &offer.marks, style);
        }
        let x = line.x + (labels + 4).min(line.width);
        draw_help(offer, Rect { x, width: line.right() - x, ..line }, theme.dim, buffer);
    }
    let keys = row(area, rows - 1);
    let hidden = offers.len() - most;
    let left = if hidden > 0 { put_right(buffer, keys, &format!(" {hidden} more "), theme.dim) } else { keys };
    let about = if palette.names_agents() { " · otherwise @ is text" } else { "" };
    let hints = [format!("  Tab takes it · Up/Down choose · Esc closes{about}"), format!("  Tab takes it{about}")];
    if let Some(hint) =
        hints.iter().map(|hint| ui.spell(Context::Composer, hint)).find(|hint| columns(hint) <= left.width)
    {
        put(buffer, left, &hint, theme.dim);
    }
    Rect { height: area.y - room.y, ..room }
}

/// Draws what an offer is and its keys behind that; where the words are too long they are cut, and the usual key stays.
fn draw_help(offer: &Offer, area: Rect, style: Style, buffer: &mut Buffer) {
    let help = one_line(&offer.help);
    if offer.key.is_empty() {
        put(buffer, area, &help, style);
        return;
    }
    let whole = format!("{help} ({})", offer.key);
    if columns(&whole) <= area.width {
        put(buffer, area, &whole, style);
        return;
    }
    let usual = offer.key.split(',').next().unwrap_or_default();
    let key = format!(" ({usual})");
    let rest = if columns(&key) < area.width { put_right(buffer, area, &key, style) } else { area };
    put(buffer, rest, &help, style);
}
