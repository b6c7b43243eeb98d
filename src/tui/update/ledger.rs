//! Brings the ledger together with the focus and the transcripts.

use super::carry_out_outcome;
use crate::id::{AgentId, MessageId};
use crate::session::fold::receipt_words;
use crate::tui::keymap::Action;
use crate::tui::ledger::LedgerPane;
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::focus::{Overlay, Pane};
use crate::tui::transcript::scroll::ScrollRequest;

/// Opens the ledger at its newest row, or closes it.
pub fn toggle(app: &mut App) {
    app.focus.overlay = match app.focus.overlay {
        Some(Overlay::Ledger) => None,
        Some(Overlay::Help | Overlay::Choices) | None => {
            app.ledger = LedgerPane::at_newest(&app.run.receipts);
            Some(Overlay::Ledger)
        }
    }
}

/// Carries out a key.
pub fn act(app: &mut App, action: Action) -> Vec<Effect> {
    let outcome = app.ledger.act(action, &app.facts);
    carry_out_outcome(app, outcome)
}

/// Closes the ledger and goes to a text in the transcript of its agent.
pub fn show(app: &mut App, agent: &AgentId, id: &MessageId) {
    let Some(cell) = app.reader_mut(agent).transcript.cell_of(id) else {
        let state = app.run.receipts.get(id).map(|receipt| receipt_words(receipt).parts.join(" · "));
        app.status.say(format!("{id} is not in the conversation: {}", state.unwrap_or_default()), app.now);
        return;
    };
    app.tree.select_agent(agent, &app.facts.run.agents);
    app.focus.go(Pane::Transcript);
    let reader = app.reader_mut(agent);
    reader.selected = Some(cell);
    reader.scroll.ask(ScrollRequest::Reveal(cell));
}
