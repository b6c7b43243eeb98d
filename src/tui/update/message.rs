//! The message in the root: gives it what it reads of the rest, and carries out what it wants.

use super::carry_out;
use crate::event::Pending;
use crate::id::{AgentId, ClientId, MessageId};
use crate::tui::app::App;
use crate::tui::effect::{Effect, PaneEffect};
use crate::tui::message::{Message, MessageContext, bring_back};

/// Has the message do something, and carries out what it wants.
pub fn with(app: &mut App, act: impl FnOnce(&mut Message, &MessageContext<'_>) -> Vec<PaneEffect>) -> Vec<Effect> {
    let (message, known) = app.for_message();
    let wanted = act(message, &known);
    carry_out(app, wanted)
}

/// Asks for the hold of an entry that is to be edited.
pub fn ask(app: &mut App, agent: AgentId, id: MessageId) -> Vec<Effect> {
    with(app, |message, _| message.ask_edit(agent, id))
}

/// Tells whether something is written first, and says so: it has to be ended.
pub fn blocked(app: &mut App) -> bool {
    let busy = app.message.blocked();
    let is_busy = busy.is_some();
    carry_out(app, busy.into_iter().collect());
    is_busy
}

/// Ends what is written first without its effect; what it says can be brought back.
pub fn leave(app: &mut App) -> Vec<Effect> {
    with(app, |message, _| bring_back::abandon(message))
}

/// Takes the answer whether the model takes images.
pub fn images_checked(app: &mut App) -> Vec<Effect> {
    with(app, Message::images_checked)
}

/// Takes what a stop gave back.
pub fn stopped(app: &mut App, entries: &[Pending]) {
    with(app, |message, known| bring_back::stopped(message, entries, known));
}

/// Takes texts that no queue holds any more.
pub fn given_back(app: &mut App, entries: &[Pending]) {
    with(app, |message, known| bring_back::given_back(message, entries, known));
}

/// Takes what an agent that has ended gave back.
pub fn returned(app: &mut App, agent: &AgentId, entries: &[Pending]) {
    // What the user has in newer words is no news.
    let fresh: Vec<Pending> = entries.iter().filter(|entry| !app.pending.was_kept(&entry.id)).cloned().collect();
    with(app, |message, known| bring_back::returned(message, agent, &fresh, known));
}

/// Forgets texts that another client took out of their queues.
pub fn withdrawn(app: &mut App, by: Option<&ClientId>, entries: &[Pending]) {
    with(app, |message, _| bring_back::withdrawn(message, by, entries));
}
