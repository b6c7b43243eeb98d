//! What the root does for the transcripts: hands them their keys with the facts, and carries out what comes of it.

use super::carry_out;
use crate::keymap::ReadKey;
use crate::msg::Effect;
use crate::state::App;
use crate::transcript::{self, Looked, Reader, TranscriptFacts};

/// Carries out a key in the transcript that is shown.
pub fn key(app: &mut App, key: ReadKey) -> Vec<Effect> {
    let facts =
        TranscriptFacts { facts: &app.facts, agent: app.tree.selected(), focus: app.focus.pane, regions: &app.regions };
    let outcome = transcript::key(&mut app.transcripts, key, &facts);
    carry_out(app, outcome)
}

/// Searches for these words in the transcript that is shown; without words it begins a search.
pub fn find(app: &mut App, words: &str) -> Vec<Effect> {
    let outcome = transcript::find(&mut app.transcripts, app.tree.selected(), app.focus.pane, words);
    carry_out(app, outcome)
}

/// Types or pastes into the search.
pub fn type_search(app: &mut App, text: &str) {
    transcript::type_search(&mut app.transcripts, app.tree.selected(), text);
}

pub fn cancel_search(app: &mut App) -> Vec<Effect> {
    let outcome = transcript::cancel_search(shown(app));
    carry_out(app, outcome)
}

/// Takes what the layout answered.
pub fn looked(app: &mut App, looked: Looked) -> Vec<Effect> {
    let outcome = transcript::looked(&mut app.transcripts, looked);
    carry_out(app, outcome)
}

/// Carries out what a key has left to be done.
pub fn shown(app: &mut App) -> &mut Reader {
    app.transcripts.reader_mut(app.tree.selected())
}
