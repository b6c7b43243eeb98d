//! Brings the list of pending texts together with the message, where a text can be edited or comes back to.

use crate::id::{AgentId, MessageId};
use crate::protocol::{QueueAct, QueueOutcome};
use crate::tui::effect::{Outcome, PaneEffect};
use crate::tui::facts::Facts;
use crate::tui::keymap::PendingKey;
use crate::tui::message::{Message, MessageContext};
use crate::tui::pending::{self, PendingPane, Turn};

/// Carries out a key of the list.
pub fn act(pane: &mut PendingPane, key: PendingKey, message: &Message, facts: &Facts) -> Outcome {
    pending::act(pane, key, edited(message), facts)
}

/// Delivers what is pending at once.
pub fn deliver_now(pane: &PendingPane, message: &Message, facts: &Facts) -> Outcome {
    let turn = if facts.run.agents.main().running() { Turn::Running } else { Turn::None };
    pending::deliver_now(pane, edited(message), facts, turn)
}

/// Asks for the newest text, to be put into the message.
pub fn take_back(message: &Message, facts: &Facts) -> Outcome {
    match message.blocked() {
        Some(first) => Outcome::one(first),
        None => pending::take_back(&facts.run.pending),
    }
}

/// Tells the message what came of a change of a pending text.
pub fn answered(
    message: &mut Message,
    known: &MessageContext<'_>,
    (agent, id): (&AgentId, &MessageId),
    act: &QueueAct,
    outcome: &QueueOutcome,
) -> Vec<PaneEffect> {
    match act {
        QueueAct::Hold { text } => message.held(id, text.as_ref(), outcome, known),
        QueueAct::Commit { .. } => message.committed(id, outcome),
        QueueAct::Confirm
        | QueueAct::Deliver { .. }
        | QueueAct::Move { .. }
        | QueueAct::SetKind { .. }
        | QueueAct::Merge
        | QueueAct::Release
        | QueueAct::Restore { .. }
        | QueueAct::Split { .. }
        | QueueAct::Withdraw { .. } => {
            message.queue_answered(agent, act, outcome);
            Vec::new()
        }
    }
}

fn edited(message: &Message) -> Option<&MessageId> {
    message.editing().map(|editing| &editing.entry.id)
}
