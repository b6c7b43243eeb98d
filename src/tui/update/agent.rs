//! What the agents do, folded into tree, transcripts and pending list.

use super::{hold, message, receipts};
use crate::event::{Envelope, Event, Pending, Usage};
use crate::tui::state::App;

/// Folds one envelope in.
pub fn apply(app: &mut App, envelope: &Envelope) {
    app.now = app.now.max(envelope.at);
    let priced = priced(app, envelope);
    let envelope = priced.as_ref().unwrap_or(envelope);
    app.transcripts.envelope(envelope);
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
        Event::Returned { entries } => {
            let own: Vec<Pending> = entries.iter().filter(|entry| entry.sender == app.client).cloned().collect();
            message::returned(app, &envelope.agent, &own);
        }
        _ => {}
    }
    if envelope.agent.is_main() && envelope.event == (Event::Reset {}) {
        app.message.end_conversation();
        app.begin_again();
    }
}

/// Returns a round's tokens together with what they cost, so that whoever sums costs sums the same.
fn priced(app: &App, envelope: &Envelope) -> Option<Envelope> {
    let Event::Tokens(usage) = &envelope.event else { return None };
    let cost_nanos = Some(app.run.agents.cost(&envelope.agent, usage)?);
    Some(Envelope { event: Event::Tokens(Usage { cost_nanos, ..usage.clone() }), ..envelope.clone() })
}
