//! What the agents do, folded into tree, transcripts and pending list.

use crate::event::{Envelope, Event};
use crate::tui::state::App;
use crate::tui::update::receipts;

/// Folds one envelope in.
pub fn apply(app: &mut App, envelope: &Envelope) {
    app.now = app.now.max(envelope.at);
    app.tree.apply(envelope);
    app.reader_mut(&envelope.agent).transcript.apply(envelope);
    receipts::apply(app, envelope);
    if let Event::UserTurn { injection: Some(id), .. } = &envelope.event {
        app.pending.settle(id);
    }
    if let Some(copy) = answer_for_spawner(envelope) {
        app.reader_mut(&copy.agent).transcript.apply(&copy);
    }
}

/// Returns the answer of a rescue as its spawner's: it is the answer to what the user asked there.
fn answer_for_spawner(envelope: &Envelope) -> Option<Envelope> {
    let spawner = envelope.parent.as_ref()?;
    if spawner.synthesizer() != envelope.agent {
        return None;
    }
    match envelope.event {
        Event::AssistantDelta { .. } | Event::Assistant { .. } => {
            Some(Envelope { agent: spawner.clone(), ..envelope.clone() })
        }
        _ => None,
    }
}
