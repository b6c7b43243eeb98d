//! Answers what is asked about the layout before a frame: what a search finds, where a selection ends, what it copies.
//!
//! It works with the layout of the frame before, and does a bounded piece of work.

use super::cache::TranscriptCache;
use super::matches::{MatchIndex, Scene};
use super::query::Query;
use super::select::{resolve, text};
use crate::theme::Theme;
use crate::transcript::pane::{Copying, Looked, Reader, Rest};
use crate::transcript::search::Scan;
use steersman_base::id::AgentId;

/// Looks; `None` when nothing is asked.
pub fn look(
    reader: &Reader,
    agent: &AgentId,
    theme: &Theme,
    layouts: &mut TranscriptCache,
    matches: &mut MatchIndex,
) -> Option<Looked> {
    let query = reader.search.as_ref().and_then(|search| Query::new(search.text()));
    if query.is_none() {
        *matches = MatchIndex::default();
    }
    let is_copying = reader.copying == Copying::Selection;
    if query.is_none() && reader.requests.is_empty() && !is_copying {
        return None;
    }
    // Before its first frame nothing is known of its layout.
    let Some(columns) = layouts.columns_of(&reader.transcript) else {
        return Some(Looked { rest: Rest::More, ..Looked::nothing(agent.clone()) });
    };
    let mut looked = Looked::nothing(agent.clone());
    if let (Some(search), Some(query)) = (&reader.search, &query) {
        let scene = Scene { transcript: &reader.transcript, columns, theme };
        let found = matches.look(scene, query, search);
        looked.rest = if found.count.scan == Scan::Whole { Rest::Done } else { Rest::More };
        looked.found = Some(found);
    }
    for request in &reader.requests {
        let before = looked.selection.or(reader.selection);
        let (selection, reach) = resolve(&reader.transcript, layouts, before, *request);
        looked.selection = selection.or(looked.selection);
        looked.reach = reach.or(looked.reach);
    }
    if is_copying {
        let selection = looked.selection.or(reader.selection);
        looked.copy = selection.map(|selection| text(&reader.transcript, layouts, columns, theme, &selection));
    }
    Some(looked)
}
