//! Keeps the receipts and shows each change of one at its text in the transcript.

use crate::event::Envelope;
use crate::id::MessageId;
use crate::session::fold::receipt_words;
use crate::tui::state::App;

/// Folds one envelope in; the transcripts have it already.
pub fn apply(app: &mut App, envelope: &Envelope) {
    for id in app.run.apply(envelope) {
        show(app, &id);
    }
}

fn show(app: &mut App, id: &MessageId) {
    let Some(receipt) = app.run.receipts.get(id) else { return };
    let (agent, words) = (receipt.agent.clone(), receipt_words(receipt));
    app.reader_mut(&agent).transcript.set_receipt(id, words);
}
