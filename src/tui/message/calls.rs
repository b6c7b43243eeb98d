//! What other panes ask of the message, as deferred calls on the root; tests: `pending_list.rs`, `commands.rs`.

use crate::effect::PaneEffect;
use steersman_base::id::{AgentId, MessageId};

/// Asks for the edit of a pending text in the message.
pub fn edit_entry(agent: AgentId, id: MessageId) -> PaneEffect {
    PaneEffect::call(move |app| app.message.ask_edit(agent.clone(), id.clone()))
}

/// Asks for a sentence that names what is written first and has to be ended.
pub fn end_first() -> PaneEffect {
    PaneEffect::call(|app| app.message.blocked().into_iter().collect())
}

/// Asks for a text in place of so many characters before the cursor, or of the whole text.
pub fn complete(replaces: Option<usize>, text: impl Into<String>) -> PaneEffect {
    let text = text.into();
    PaneEffect::change(move |app| match replaces {
        Some(chars) => app.message.complete(chars, &text),
        None => app.message.load(&text),
    })
}
