//! Brings the ledger together with the focus and the transcripts.

use crate::id::{AgentId, MessageId};
use crate::session::fold::receipt_words;
use crate::tui::agents::AgentsPane;
use crate::tui::effect::PaneEffect;
use crate::tui::facts::Facts;
use crate::tui::ledger::LedgerPane;
use crate::tui::state::focus::{Focus, Overlay, Pane};
use crate::tui::transcript::TranscriptPane;
use crate::tui::transcript::scroll::ScrollRequest;

/// Opens the ledger at its newest row, or closes it.
pub fn toggle(ledger: &mut LedgerPane, focus: &mut Focus, facts: &Facts) {
    focus.overlay = match focus.overlay {
        Some(Overlay::Ledger) => None,
        Some(Overlay::Help | Overlay::Choices) | None => {
            *ledger = LedgerPane::at_newest(&facts.run.receipts);
            Some(Overlay::Ledger)
        }
    }
}

/// Goes to a text in the transcript of its agent.
pub fn show(
    transcripts: &mut TranscriptPane,
    agents: &mut AgentsPane,
    agent: &AgentId,
    id: &MessageId,
    facts: &Facts,
) -> PaneEffect {
    let reader = transcripts.reader_mut(agent);
    let Some(cell) = reader.transcript.cell_of(id) else {
        let state = facts.run.receipts.get(id).map(|receipt| receipt_words(receipt).parts.join(" · "));
        return PaneEffect::Say(format!("{id} is not in the conversation: {}", state.unwrap_or_default()));
    };
    reader.selected = Some(cell);
    reader.scroll.ask(ScrollRequest::Reveal(cell));
    agents.select_agent(agent, &facts.run.agents);
    PaneEffect::Focus(Pane::Transcript)
}
