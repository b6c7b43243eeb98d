//! Brings the ledger together with the transcripts.

use crate::id::{AgentId, MessageId};
use crate::session::fold::receipt_words;
use crate::tui::agents::AgentsPane;
use crate::tui::effect::PaneEffect;
use crate::tui::facts::Facts;
use crate::tui::state::Pane;
use crate::tui::transcript::TranscriptPane;
use crate::tui::transcript::cell::CellId;
use crate::tui::transcript::scroll::ScrollRequest;

/// Goes to a text in the transcript of its agent.
pub fn show(
    transcripts: &mut TranscriptPane,
    agents: &mut AgentsPane,
    agent: &AgentId,
    id: &MessageId,
    facts: &Facts,
) -> PaneEffect {
    let Some(cell) = transcripts.reader_mut(agent).transcript.cell_of(id) else {
        let state = facts.run.receipts.get(id).map(|receipt| receipt_words(receipt).parts.join(" · "));
        return PaneEffect::Say(format!("{id} is not in the conversation: {}", state.unwrap_or_default()));
    };
    select(transcripts, agents, agent, cell, facts)
}

/// Goes to the reply in which its agent says what it did with a text.
pub fn show_answer(
    transcripts: &mut TranscriptPane,
    agents: &mut AgentsPane,
    agent: &AgentId,
    id: &MessageId,
    facts: &Facts,
) -> PaneEffect {
    match transcripts.reader_mut(agent).transcript.answer_to(id) {
        Some(cell) => select(transcripts, agents, agent, cell, facts),
        None => PaneEffect::Say(format!("the model has not said what it did with {id}")),
    }
}

fn select(
    transcripts: &mut TranscriptPane,
    agents: &mut AgentsPane,
    agent: &AgentId,
    cell: CellId,
    facts: &Facts,
) -> PaneEffect {
    let reader = transcripts.reader_mut(agent);
    reader.selected = Some(cell);
    reader.scroll.ask(ScrollRequest::Reveal(cell));
    agents.select_agent(agent, &facts.run.agents);
    PaneEffect::Focus(Pane::Transcript)
}
