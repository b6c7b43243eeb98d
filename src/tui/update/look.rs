//! How the screen is divided: zoom, details, and the lines between panes, by key and by drag.

use ratatui::layout::Position;

use crate::tui::keymap::{Action, LookKey};
use crate::tui::state::App;
use crate::tui::state::focus::Pane;
use crate::tui::state::regions::{Divider, Region};
use crate::tui::state::tree::Details;

/// Columns by which a key moves a line; rows are moved by one.
const COLUMNS: i16 = 4;

/// Carries out one key.
pub fn act(app: &mut App, key: LookKey) {
    match key {
        LookKey::Zoom => app.focus.toggle_zoom(),
        LookKey::Details => focus_details(app),
        LookKey::Smaller => by_key(app, -1),
        LookKey::Larger => by_key(app, 1),
        LookKey::Usual => {
            if let Some(divider) = of_focus(app) {
                reset(app, divider);
            }
        }
    }
}

/// Goes to the details of the shown agent, opening them.
pub fn focus_details(app: &mut App) {
    if !app.shows_details() {
        app.tree.details = Details::Open;
    }
    app.focus.go(Pane::Details);
}

/// Opens or folds the details; where one pane fills the screen it goes to them, or back to the agents.
pub fn toggle_details(app: &mut App) {
    if app.focus.is_on(Pane::Details) {
        app.tree.details = if app.is_narrow() { app.tree.details } else { Details::Folded };
        app.focus.go(Pane::Tree);
    } else if app.is_narrow() {
        focus_details(app);
    } else if app.shows_details() {
        app.tree.details = Details::Folded;
    } else {
        app.tree.details = Details::Open;
    }
}

/// Scrolls the details.
pub fn travel_details(app: &mut App, action: Action) {
    let rows = app.regions.area_of(&Region::Pane(Pane::Details)).map_or(1, |area| area.height.saturating_sub(2).max(1));
    let page = isize::try_from(rows).unwrap_or(1);
    let lines = match action {
        Action::Previous => -1,
        Action::Next => 1,
        Action::PageUp => -page,
        Action::PageDown => page,
        Action::Last => isize::MAX,
        _ => isize::MIN,
    };
    app.sight.scroll_details(app.tree.selected(), lines);
}

/// Moves a line between panes to where the pointer is.
pub fn drag(app: &mut App, divider: Divider, place: Position) {
    let top = app.regions.area_of(&Region::Pane(Pane::Details)).map_or(0, |area| area.y);
    let size = match divider {
        Divider::TreeColumn => place.x,
        Divider::TreeRow => place.y,
        Divider::DetailsColumn => app.size.width.saturating_sub(1).saturating_sub(place.x),
        Divider::DetailsRow => place.y.saturating_sub(top).saturating_add(1),
    };
    *size_of(app, divider) = Some(size.max(1));
}

/// Gives the panes beside a line their usual room.
pub fn reset(app: &mut App, divider: Divider) {
    *size_of(app, divider) = None;
}

fn size_of(app: &mut App, divider: Divider) -> &mut Option<u16> {
    let sizes = &mut app.sight.sizes;
    match divider {
        Divider::TreeColumn => &mut sizes.tree_columns,
        Divider::TreeRow => &mut sizes.tree_rows,
        Divider::DetailsColumn => &mut sizes.details_columns,
        Divider::DetailsRow => &mut sizes.details_rows,
    }
}

/// Returns the line that the pane with the focus has, as it was drawn.
fn of_focus(app: &App) -> Option<Divider> {
    let candidates = match app.focus.pane {
        Pane::Tree => [Divider::TreeColumn, Divider::TreeRow],
        Pane::Details => [Divider::DetailsColumn, Divider::DetailsRow],
        Pane::Composer
        | Pane::History
        | Pane::Filter
        | Pane::Transcript
        | Pane::Search
        | Pane::Gate
        | Pane::Pending => return None,
    };
    candidates.into_iter().find(|divider| app.regions.area_of(&Region::Divider(*divider)).is_some())
}

fn by_key(app: &mut App, way: i16) {
    let Some(divider) = of_focus(app) else { return };
    let Some(area) = app.regions.area_of(&Region::Pane(app.focus.pane)) else { return };
    let (size, step) = match divider {
        Divider::TreeColumn | Divider::DetailsColumn => (area.width, COLUMNS),
        Divider::TreeRow | Divider::DetailsRow => (area.height, 1),
    };
    *size_of(app, divider) = Some(size.saturating_add_signed(way * step).max(1));
}
