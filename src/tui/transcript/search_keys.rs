//! What the keys of the search do, and what becomes of what it finds.
//!
//! Always holds: cancelling it while it is typed puts everything back as it was when it began.

use super::cell::{CellId, Expansion};
use super::keys::TranscriptContext;
use super::pane::{Reader, TranscriptPane};
use super::reduce::Transcript;
use super::scroll::{Point, ScrollRequest};
use super::search::{Origin, Search, SearchAnswer, SearchProgress, SearchRequest};
use crate::effect::{Outcome, PaneEffect};
use crate::keymap::SearchKey;
use crate::state::Pane;
use steersman_base::id::AgentId;

fn focus(pane: Pane) -> Outcome {
    Outcome::one(PaneEffect::Focus(pane))
}

/// Begins a search in the transcript of an agent; the focus was on this pane.
pub fn begin(pane: &mut TranscriptPane, agent: &AgentId, focused: Pane) -> Outcome {
    let reader = pane.reader_mut(agent);
    reader.search = Some(Search::new(Origin {
        position: reader.scroll.position(),
        top: reader.scroll.top().unwrap_or_default(),
        selected: reader.selected,
        pane: if focused == Pane::Search { Pane::Transcript } else { focused },
    }));
    reader.selection = None;
    focus(Pane::Search)
}

/// Searches for these words at once; without words it begins a search.
pub fn find(pane: &mut TranscriptPane, agent: &AgentId, focused: Pane, words: &str) -> Outcome {
    let begun = begin(pane, agent, focused);
    if words.is_empty() {
        return begun;
    }
    type_text(pane, agent, words);
    keep(pane, agent)
}

/// Searches for a word in the transcript of an agent, first in its last cell, then further up; the focus stays.
pub fn find_last(pane: &mut TranscriptPane, agent: &AgentId, word: &str) {
    let reader = pane.reader_mut(agent);
    let top = Point { cell: CellId::new(reader.transcript.cells().len().saturating_sub(1)), ..Point::default() };
    let position = reader.scroll.position();
    let mut search = Search::new(Origin { position, top, selected: reader.selected, pane: Pane::Transcript });
    search.set_text(word);
    reader.search = Some(search);
    pane.remember_search(word.to_owned());
}

/// Types or pastes into the search.
pub fn type_text(pane: &mut TranscriptPane, agent: &AgentId, text: &str) {
    if pane.reader_mut(agent).search.is_none() {
        // It began on another agent's transcript.
        let _ = begin(pane, agent, Pane::Search);
    }
    if let Some(search) = &mut pane.reader_mut(agent).search {
        search.type_text(text);
    }
}

/// Carries out a key of the search line.
pub(super) fn edit(pane: &mut TranscriptPane, agent: &AgentId, key: SearchKey) -> Outcome {
    let searches = std::mem::take(&mut pane.searches);
    let reader = pane.reader_mut(agent);
    let is_cancelled = match &mut reader.search {
        None => true,
        Some(search) => {
            let deleted = search.edit(key, &searches);
            key == SearchKey::RubOut && !deleted && !search.is_active()
        }
    };
    let is_empty = reader.search.as_ref().is_some_and(|search| !search.is_active());
    let outcome = match (is_cancelled, is_empty) {
        (true, _) => cancel(reader),
        (false, true) => {
            go_back(reader);
            Outcome::DONE
        }
        (false, false) => Outcome::DONE,
    };
    pane.searches = searches;
    outcome
}

/// Stays where the search led; an empty one takes the last search again.
pub(super) fn keep(pane: &mut TranscriptPane, agent: &AgentId) -> Outcome {
    let last = pane.searches.last().cloned();
    let reader = pane.reader_mut(agent);
    let Some(search) = &mut reader.search else { return focus(Pane::Transcript) };
    match (search.is_active(), last) {
        (true, _) => {}
        (false, Some(last)) => search.set_text(&last),
        (false, None) => return cancel(reader),
    }
    let text = search.text().to_owned();
    if let Some(place) = search.at {
        reader.selected = Some(place.cell);
    }
    pane.remember_search(text);
    focus(Pane::Transcript)
}

/// Cancels the search that is typed: the view, what is collapsed and the focus are what they were when it began.
pub fn cancel(reader: &mut Reader) -> Outcome {
    go_back(reader);
    let Some(search) = reader.search.take() else { return focus(Pane::Transcript) };
    reader.selected = search.origin().selected;
    focus(search.origin().pane)
}

/// Goes to the next place, or the previous one; without a search the last one is taken again.
pub(super) fn step(pane: &mut TranscriptPane, ui: &TranscriptContext<'_>, steps: isize) -> Outcome {
    if pane.reader_mut(ui.agent).search.is_none() {
        let Some(last) = pane.searches.last().cloned() else {
            let words = "no search yet; / starts one";
            return Outcome::say(words);
        };
        // The focus stays.
        let _ = begin(pane, ui.agent, ui.focus);
        if let Some(search) = &mut pane.reader_mut(ui.agent).search {
            search.set_text(&last);
            search.request = None;
        }
    }
    let search = pane.reader_mut(ui.agent).search.as_mut();
    if let Some(search) = search.filter(|search| search.is_active()) {
        search.step(steps);
    }
    Outcome::DONE
}

/// Takes what a look found: goes to the place that it was asked for, and opens the cell that it stands in.
pub(super) fn found(reader: &mut Reader, found: SearchProgress) {
    let Some(search) = &mut reader.search else { return };
    search.count = found.count;
    match found.answer {
        SearchAnswer::Unknown => {}
        SearchAnswer::NotFound => {
            let began = search.request.take() == Some(SearchRequest::Nearest);
            search.at = None;
            collapse_again(&mut reader.transcript, search.opened.take());
            if began {
                reader.scroll.ask(ScrollRequest::Return(search.origin().position));
            }
        }
        SearchAnswer::At { place, point, wrapped } => {
            search.request = None;
            search.at = Some(place);
            search.wrapped = wrapped;
            if search.opened != Some(place.cell) {
                collapse_again(&mut reader.transcript, search.opened.take());
                let is_folded =
                    reader.transcript.get(place.cell).is_some_and(|cell| cell.expansion() == Expansion::Collapsed);
                if is_folded {
                    reader.transcript.toggle(place.cell);
                    search.opened = Some(place.cell);
                }
            }
            reader.selected = Some(place.cell);
            reader.scroll.ask(ScrollRequest::Show(point));
        }
    }
}

fn go_back(reader: &mut Reader) {
    let Some(search) = &mut reader.search else { return };
    collapse_again(&mut reader.transcript, search.opened.take());
    reader.scroll.ask(ScrollRequest::Return(search.origin().position));
}

/// Collapses the cell again that was opened to show a place in it.
fn collapse_again(transcript: &mut Transcript, opened: Option<CellId>) {
    if let Some(cell) = opened
        && transcript.get(cell).is_some_and(|cell| cell.expansion() == Expansion::Expanded)
    {
        transcript.toggle(cell);
    }
}
