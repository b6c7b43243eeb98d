//! The details of the selected agent, and how much room they and the list have: by key, by wheel and by drag.

use ratatui::layout::Position;

use super::{AgentsContext, AgentsPane, Details};
use crate::effect::{Outcome, PaneEffect};
use crate::keymap::{LookKey, Travel};
use crate::state::{BROAD, Divider, MEDIUM, Pane, Region};

/// Columns by which a key moves a line; rows are moved by one.
const COLUMNS: i16 = 4;

/// Carries out a key of the sizes; what fills the screen says the focus.
pub fn look_key(pane: &mut AgentsPane, key: LookKey, ui: &AgentsContext<'_>) -> Outcome {
    match key {
        LookKey::Zoom => return Outcome::Ignored,
        LookKey::Details => return focus_details(pane, ui),
        LookKey::Smaller => by_key(pane, -1, ui),
        LookKey::Larger => by_key(pane, 1, ui),
        LookKey::Usual => {
            if let Some(divider) = of_focus(ui) {
                pane.viewport.sizes.set(divider, None);
            }
        }
    }
    Outcome::DONE
}

impl AgentsPane {
    /// Returns whether the details of the selected agent are open on a screen of this width; on a broad one they are once
    /// they are of use.
    pub fn shows_details(&self, width: u16) -> bool {
        match self.details {
            Details::Usual => width >= BROAD && self.viewport.room.details,
            Details::Open => true,
            Details::Collapsed => false,
        }
    }
}

/// Goes to the details of the selected agent, opening them.
pub fn focus_details(pane: &mut AgentsPane, ui: &AgentsContext<'_>) -> Outcome {
    if !pane.shows_details(ui.ui.size.width) {
        pane.details = Details::Open;
    }
    Outcome::one(PaneEffect::Focus(Pane::Details))
}

/// Expands or collapses the details; where one pane fills the screen it goes to them, or back to the agents.
pub(super) fn toggle_details(pane: &mut AgentsPane, ui: &AgentsContext<'_>) -> Outcome {
    let width = ui.ui.size.width;
    let is_narrow = width < MEDIUM;
    if ui.focus.is_on(Pane::Details) {
        if !is_narrow {
            pane.details = Details::Collapsed;
        }
        return Outcome::one(PaneEffect::Focus(Pane::Tree));
    }
    if is_narrow {
        return focus_details(pane, ui);
    }
    pane.details = if pane.shows_details(width) { Details::Collapsed } else { Details::Open };
    Outcome::DONE
}

pub(super) fn scroll_details(pane: &mut AgentsPane, to: Travel, ui: &AgentsContext<'_>) {
    let area = ui.regions.area_of(&Region::Pane(Pane::Details));
    let page = isize::try_from(area.map_or(1, |area| area.height.saturating_sub(2).max(1))).unwrap_or(1);
    let lines = match to {
        Travel::Previous => -1,
        Travel::Next => 1,
        Travel::PageUp => -page,
        Travel::PageDown => page,
        Travel::First => isize::MIN,
        Travel::Last => isize::MAX,
    };
    pane.scroll_details(lines);
}

/// Moves a line between panes to where the pointer is.
pub fn drag_divider(pane: &mut AgentsPane, divider: Divider, place: Position, ui: &AgentsContext<'_>) -> Outcome {
    let top = ui.regions.area_of(&Region::Pane(Pane::Details)).map_or(0, |area| area.y);
    let size = match divider {
        Divider::TreeColumn => place.x,
        Divider::TreeRow => place.y,
        Divider::DetailsColumn => ui.ui.size.width.saturating_sub(1).saturating_sub(place.x),
        Divider::DetailsRow => place.y.saturating_sub(top).saturating_add(1),
    };
    pane.viewport.sizes.set(divider, Some(size));
    Outcome::DONE
}

/// Returns the line that the pane with the focus has, as it was drawn.
fn of_focus(ui: &AgentsContext<'_>) -> Option<Divider> {
    let candidates = match ui.focus.pane {
        Pane::Tree => [Divider::TreeColumn, Divider::TreeRow],
        Pane::Details => [Divider::DetailsColumn, Divider::DetailsRow],
        Pane::Composer
        | Pane::History
        | Pane::Filter
        | Pane::Transcript
        | Pane::Search
        | Pane::Pause
        | Pane::Pending => return None,
    };
    candidates.into_iter().find(|divider| ui.regions.area_of(&Region::Divider(*divider)).is_some())
}

fn by_key(pane: &mut AgentsPane, way: i16, ui: &AgentsContext<'_>) {
    let Some(divider) = of_focus(ui) else { return };
    let Some(area) = ui.regions.area_of(&Region::Pane(ui.focus.pane)) else { return };
    let (size, step) = match divider {
        Divider::TreeColumn | Divider::DetailsColumn => (area.width, COLUMNS),
        Divider::TreeRow | Divider::DetailsRow => (area.height, 1),
    };
    pane.viewport.sizes.set(divider, Some(size.saturating_add_signed(way * step)));
}
