//! What the root does for the transcripts: hands them their keys with the context, and carries out what comes of it.

use super::carry_out;
use crate::effect::PaneEffect;
use crate::keymap::ReadKey;
use crate::msg::Effect;
use crate::state::{App, CellId, Pane};
use crate::transcript::scroll::ScrollRequest;
use crate::transcript::{self, Looked, Reader, TranscriptContext};
use jiff::Timestamp;
use steersman_base::id::{AgentId, CallId, MessageId};
use steersman_session::model::receipt_text;

/// Carries out a key in the transcript that is shown.
pub fn key(app: &mut App, key: ReadKey) -> Vec<Effect> {
    let context =
        TranscriptContext { ui: &app.ui, agent: app.tree.selected(), focus: app.focus.pane, regions: &app.regions };
    let outcome = transcript::key(&mut app.transcripts, key, &context);
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

/// Goes to a text in the transcript of its agent.
pub fn show_text(app: &mut App, agent: &AgentId, id: &MessageId) -> PaneEffect {
    if let Some(cell) = app.reader_mut(agent).transcript.cell_of(id) {
        return reveal(app, agent, cell);
    }
    let state = app.ui.run.receipts.get(id).map(|receipt| receipt_text(receipt).parts.join(" · "));
    PaneEffect::Say(format!("{id} is not in the conversation: {}", state.unwrap_or_default()))
}

/// Goes to the reply in which its agent says what it did with a text.
pub fn show_answer(app: &mut App, agent: &AgentId, id: &MessageId) -> PaneEffect {
    match app.reader_mut(agent).transcript.answer_to(id) {
        Some(cell) => reveal(app, agent, cell),
        None => PaneEffect::Say(format!("the model has not said what it did with {id}")),
    }
}

/// Goes to the call that began at this moment in the transcript of its agent.
pub fn show_call(app: &mut App, agent: &AgentId, call: &CallId, began: Timestamp) -> PaneEffect {
    match app.reader_mut(agent).transcript.cell_of_call(call, began) {
        Some(cell) => reveal(app, agent, cell),
        None => PaneEffect::Say("the call is not in the transcript any more".to_owned()),
    }
}

fn reveal(app: &mut App, agent: &AgentId, cell: CellId) -> PaneEffect {
    let reader = app.reader_mut(agent);
    reader.selected = Some(cell);
    reader.scroll.ask(ScrollRequest::Reveal(cell));
    app.tree.select_agent(agent, &app.ui.run.agents);
    PaneEffect::Focus(Pane::Transcript)
}
