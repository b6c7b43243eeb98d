//! Answers what the state asks about the layout before a frame: what a search finds, where a selection ends, what it copies.
//!
//! Called by `run` before each frame. It works with the layout of the frame before, and does a bounded piece of work.

use super::ViewCache;
use crate::tui::msg::{Looked, Rest};
use crate::tui::state::{App, Copying};
use crate::tui::transcript::search::Scan;
use crate::tui::transcript::view::matches::Scene;
use crate::tui::transcript::view::query::Needle;
use crate::tui::transcript::view::select::{resolve, text};

/// Looks; `None` when nothing is asked.
pub fn look(app: &App, cache: &mut ViewCache) -> Option<Looked> {
    let reader = app.reader()?;
    let agent = app.tree.selected();
    let needle = reader.search.as_ref().and_then(|search| Needle::new(search.text()));
    if needle.is_none() {
        cache.forget_finds();
    }
    let is_copying = reader.copying == Copying::Selection;
    if needle.is_none() && reader.asks.is_empty() && !is_copying {
        return None;
    }
    let (layouts, finds) = cache.parts(agent);
    // Before its first frame nothing is known of its layout.
    let Some(columns) = layouts.columns_of(&reader.transcript) else {
        return Some(Looked { rest: Rest::More, ..Looked::nothing(agent.clone()) });
    };
    let mut looked = Looked::nothing(agent.clone());
    if let (Some(search), Some(needle)) = (&reader.search, &needle) {
        let scene = Scene { transcript: &reader.transcript, columns, theme: &app.theme };
        let found = finds.look(scene, needle, search);
        looked.rest = if found.count.scan == Scan::Whole { Rest::Done } else { Rest::More };
        looked.found = Some(found);
    }
    for ask in &reader.asks {
        let before = looked.selection.or(reader.selection);
        let (selection, reach) = resolve(&reader.transcript, layouts, before, *ask);
        looked.selection = selection.or(looked.selection);
        looked.reach = reach.or(looked.reach);
    }
    if is_copying {
        let selection = looked.selection.or(reader.selection);
        looked.copy = selection.map(|selection| text(&reader.transcript, layouts, columns, &app.theme, &selection));
    }
    Some(looked)
}
