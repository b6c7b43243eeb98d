//! What the agents do, folded into tree, transcripts and pending list.

use super::{bring_back, hold, receipts};
use crate::event::{Envelope, Event, Usage};
use crate::tui::state::App;

/// Folds one envelope in.
pub fn apply(app: &mut App, envelope: &Envelope) {
    app.now = app.now.max(envelope.at);
    let priced = priced(app, envelope);
    let envelope = priced.as_ref().unwrap_or(envelope);
    app.tree.apply(envelope);
    app.reader_mut(&envelope.agent).transcript.apply(envelope);
    receipts::apply(app, envelope);
    hold::apply(app, envelope);
    match &envelope.event {
        Event::UserTurn { .. } => {
            // The embedded model it is.
            app.status.offer = None;
        }
        Event::ModelSwitched { to, provider, .. } if envelope.agent.is_main() => {
            app.status.switched(to.as_deref(), provider.as_deref());
        }
        Event::Returned { entries } => bring_back::returned(app, &envelope.agent, entries),
        _ => {}
    }
    if let Some(copy) = answer_for_spawner(envelope) {
        app.reader_mut(&copy.agent).transcript.apply(&copy);
    }
    if envelope.agent.is_main() && envelope.event == (Event::Reset {}) {
        app.message.end_conversation();
        app.begin_again();
    }
}

/// Returns a round's tokens together with what they cost, so that whoever sums costs sums the same.
fn priced(app: &App, envelope: &Envelope) -> Option<Envelope> {
    let Event::Tokens(usage) = &envelope.event else { return None };
    let cost_nanos = Some(app.tree.cost(&envelope.agent, usage)?);
    Some(Envelope { event: Event::Tokens(Usage { cost_nanos, ..usage.clone() }), ..envelope.clone() })
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
