//! Brings the panel of a paused agent together with the message, where its arguments and the reasons are written.
//!
//! Always holds: the draft that was there before a text about a call comes back when that text is sent or left, and a
//! text that has lost its call is kept.

use super::update::{begin, decide};
use super::{Panel, PausePane, panel};
use crate::effect::{Outcome, PaneEffect};
use crate::focus::Focus;
use crate::message::purpose::CallText;
use crate::message::purpose::{AboutCall, Purpose};
use crate::message::{Message, bring_back};
use crate::state::{Medium, Pane};
use crate::ui_context::UiContext;
use steersman_base::event::Envelope;
use steersman_base::id::AgentId;
use steersman_base::protocol::PausePlace;
use steersman_base::protocol::{Accepted, Decision};
use steersman_base::target::name_of;

/// Applies one envelope; the run has it already.
pub fn follow(pane: &mut PausePane, message: &mut Message, ui: &UiContext, envelope: &Envelope) -> Vec<PaneEffect> {
    pane.apply(&envelope.event);
    let is_current =
        |about: &&AboutCall| ui.run.pauses.place(&about.agent).and_then(PausePlace::call) == Some(&about.call.id);
    let Some(lost) = message.about_call().filter(|about| !is_current(about)) else { return Vec::new() };
    let sentence =
        format!("{} does not wait before this call any more; Ctrl+_ brings your text back", name_of(&lost.agent));
    let mut wanted = bring_back::abandon(message);
    wanted.push(PaneEffect::Say(sentence));
    wanted
}

/// Asks for a text about the call before which an agent waits.
pub(super) fn write_about_call(agent: AgentId, what: CallText) -> PaneEffect {
    PaneEffect::call(move |app| write(&mut app.message, agent.clone(), what, &app.ui))
}

/// Asks for the decision about the call that the message is about.
pub fn decide_call() -> PaneEffect {
    PaneEffect::call(|app| commit(&app.message).into_iter().collect())
}

/// Begins a text about the call before which an agent waits.
fn write(message: &mut Message, agent: AgentId, what: CallText, ui: &UiContext) -> Vec<PaneEffect> {
    let Some(PausePlace::Call(call)) = ui.run.pauses.place(&agent).cloned() else { return Vec::new() };
    if let Some(first) = message.blocked() {
        return vec![first];
    }
    let before = begin(&call, what);
    let text = before.clone();
    message.begin(Purpose::AboutCall(AboutCall { agent, call, what, before }), &text);
    vec![PaneEffect::Focus(Pane::Composer)]
}

/// Asks for the end of what is written, when it can be accepted.
pub(super) fn commit(message: &Message) -> Outcome {
    match message.about_call() {
        Some(about) => decide(&about.agent, &about.call, about.what, &message.text()),
        None => Outcome::DONE,
    }
}

/// Takes the reply to a decision.
pub fn decided(
    message: &mut Message,
    agent: &AgentId,
    decision: &Decision,
    accepted: Accepted,
    ui: &UiContext,
) -> Vec<PaneEffect> {
    match accepted {
        Accepted::Yes => {
            if matches!(decision, Decision::Edited(_) | Decision::Skip(_)) {
                message.finish_about_call();
            }
            vec![PaneEffect::Quiet]
        }
        Accepted::No => {
            let mut wanted = match ui.medium {
                Medium::Lines => bring_back::abandon(message),
                Medium::Screen => Vec::new(),
            };
            let sentence = format!("{} does not wait there any more: nothing was decided", name_of(agent));
            wanted.push(PaneEffect::Say(sentence));
            wanted
        }
    }
}

/// Gives the composer the keys again when the panel of the shown agent is gone.
pub fn settle_focus(focus: &mut Focus, shown: &AgentId, ui: &UiContext) {
    if focus.pane == Pane::Pause && panel(shown, &ui.run) == Panel::Hidden {
        focus.pane = Pane::Composer;
    }
}
