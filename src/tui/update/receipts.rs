//! Keeps the receipts and shows each change of one at its text in the transcript.

use crate::event::Envelope;
use crate::id::MessageId;
use crate::tui::state::App;
use crate::tui::state::told::told;

/// Folds one envelope in; the transcripts have it already.
pub fn apply(app: &mut App, envelope: &Envelope) {
    for id in app.receipts.apply(envelope) {
        show(app, &id);
    }
}

fn show(app: &mut App, id: &MessageId) {
    let Some(receipt) = app.receipts.get(id) else { return };
    let (agent, words) = (receipt.agent.clone(), told(receipt));
    app.reader_mut(&agent).transcript.set_receipt(id, words);
}
