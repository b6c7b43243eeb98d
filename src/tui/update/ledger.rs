//! Brings the ledger together with the transcripts.

use crate::id::{AgentId, MessageId};
use crate::session::fold::receipt_words;
use crate::tui::agents::AgentsPane;
use crate::tui::effect::PaneEffect;
use crate::tui::facts::Facts;
use crate::tui::state::pane::Pane;
use crate::tui::transcript::TranscriptPane;
use crate::tui::transcript::scroll::ScrollRequest;

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
