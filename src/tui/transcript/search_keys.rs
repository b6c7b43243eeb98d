//! What the keys of the search do, and what becomes of what it finds.
//!
//! Always holds: leaving it while it is typed puts everything back as it was when it began.

use crate::id::AgentId;
use crate::limits;
use crate::tui::keymap::ReadKey;
use crate::tui::state::App;
use crate::tui::state::focus::Pane;
use crate::tui::transcript::cell::{CellId, Fold};
use crate::tui::transcript::fold::Transcript;
use crate::tui::transcript::keys::shown;
use crate::tui::transcript::scroll::ScrollRequest;
use crate::tui::transcript::search::{Found, Origin, Search, Visit, Wish};

/// Begins a search, in the transcript that is shown.
pub fn begin(app: &mut App) {
    let pane = if app.focus.pane == Pane::Search { Pane::Transcript } else { app.focus.pane };
    let reader = shown(app);
    let origin = Origin {
        position: reader.scroll.position(),
        top: reader.scroll.top().unwrap_or_default(),
        selected: reader.selected,
        pane,
    };
    reader.search = Some(Search::new(origin));
    reader.selection = None;
    app.focus.go(Pane::Search);
}

/// Searches for these words at once; without words it begins a search.
pub fn find(app: &mut App, words: &str) {
    begin(app);
    if !words.is_empty() {
        type_text(app, words);
        keep(app);
    }
}

/// Types or pastes into the search.
pub fn type_text(app: &mut App, text: &str) {
    if shown(app).search.is_none() {
        begin(app);
    }
    if let Some(search) = &mut shown(app).search {
        search.type_text(text);
    }
}

/// Carries out a key of the search line.
pub fn edit(app: &mut App, key: ReadKey) {
    let searches = std::mem::take(&mut app.searches);
    let mut is_left = false;
    match &mut shown(app).search {
        None => is_left = true,
        Some(search) => match key {
            ReadKey::RubOut => is_left = !search.rub_out() && !search.is_active(),
            ReadKey::RubOutWord => search.rub_out_word(),
            ReadKey::RubOutAll => search.rub_out_all(),
            ReadKey::Left => search.left(),
            ReadKey::Right => search.right(),
            ReadKey::Start => search.home(),
            ReadKey::End => search.end(),
            ReadKey::EarlierSearch => search.earlier(&searches),
            ReadKey::LaterSearch => search.later(&searches),
            _ => {}
        },
    }
    app.searches = searches;
    if is_left {
        leave(app);
    } else if shown(app).search.as_ref().is_some_and(|search| !search.is_active()) {
        go_back(app);
    }
}

/// Stays where the search led; an empty one takes the last search again.
pub fn keep(app: &mut App) {
    let last = app.searches.last().cloned();
    let reader = shown(app);
    let Some(search) = &mut reader.search else { return app.focus.go(Pane::Transcript) };
    match (search.is_active(), last) {
        (true, _) => {}
        (false, Some(last)) => search.set_text(&last),
        (false, None) => return leave(app),
    }
    let text = search.text().to_owned();
    if let Some(spot) = search.at {
        reader.selected = Some(spot.cell);
    }
    app.searches.retain(|known| *known != text);
    app.searches.push(text);
    if app.searches.len() > limits::SEARCHES {
        app.searches.remove(0);
    }
    app.focus.go(Pane::Transcript);
}

/// Leaves the search that is typed: the view, the folds and the focus are what they were when it began.
pub fn leave(app: &mut App) {
    go_back(app);
    let reader = shown(app);
    let Some(search) = reader.search.take() else { return app.focus.go(Pane::Transcript) };
    reader.selected = search.origin().selected;
    app.focus.go(search.origin().pane);
}

/// Ends a search that was kept; the view stays where it is.
pub fn end(app: &mut App) {
    shown(app).search = None;
}

/// Goes to the next place, or the previous one; without a search the last one is taken again.
pub fn step(app: &mut App, steps: isize) {
    let last = app.searches.last().cloned();
    let focus = app.focus.pane;
    if shown(app).search.is_none() {
        let Some(last) = last else {
            app.status.say("nothing was searched for yet: / starts a search", app.now);
            return;
        };
        begin(app);
        app.focus.go(focus);
        if let Some(search) = &mut shown(app).search {
            search.set_text(&last);
            search.wish = None;
        }
    }
    if let Some(search) = shown(app).search.as_mut().filter(|search| search.is_active()) {
        search.step(steps);
    }
}

/// Takes what a look found: goes to the place that it was asked for, and opens the cell that it stands in.
pub fn found(app: &mut App, agent: &AgentId, found: Found) {
    let reader = app.reader_mut(agent);
    let Some(search) = &mut reader.search else { return };
    search.count = found.count;
    match found.visit {
        Visit::Waits => {}
        Visit::Nothing => {
            let began = search.wish == Some(Wish::Nearest);
            search.wish = None;
            search.at = None;
            fold_again(&mut reader.transcript, search.opened.take());
            if began {
                reader.scroll.ask(ScrollRequest::Return(search.origin().position));
            }
        }
        Visit::At { spot, point, turned } => {
            search.wish = None;
            search.at = Some(spot);
            search.turned = turned;
            if search.opened != Some(spot.cell) {
                fold_again(&mut reader.transcript, search.opened.take());
                let is_folded = reader.transcript.get(spot.cell).is_some_and(|cell| cell.fold() == Fold::Folded);
                if is_folded {
                    reader.transcript.toggle(spot.cell);
                    search.opened = Some(spot.cell);
                }
            }
            reader.selected = Some(spot.cell);
            reader.scroll.ask(ScrollRequest::Show(point));
        }
    }
}

fn go_back(app: &mut App) {
    let reader = shown(app);
    let Some(search) = &mut reader.search else { return };
    fold_again(&mut reader.transcript, search.opened.take());
    reader.scroll.ask(ScrollRequest::Return(search.origin().position));
}

/// Folds the cell again that was opened to show a place in it.
fn fold_again(transcript: &mut Transcript, opened: Option<CellId>) {
    if let Some(cell) = opened
        && transcript.get(cell).is_some_and(|cell| cell.fold() == Fold::Open)
    {
        transcript.toggle(cell);
    }
}
