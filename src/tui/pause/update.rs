//! What keys do about the agent that is shown: it is paused or goes on, its next call runs, runs changed, or is skipped.
//!
//! Always holds: what is decided is about what a frame has shown; what is written about a call names that call.

use super::call_text::write_about_call;
use super::{PausePane, editable, read_arguments};
use crate::effect::{Outcome, PaneEffect};
use crate::keymap::{PauseKey, Travel};
use crate::message::purpose::CallText;
use crate::state::{Cause, Pane};
use crate::ui_context::UiContext;
use steersman_base::id::AgentId;
use steersman_base::message::ToolCall;
use steersman_base::protocol::{Accepted, Decision, PausePlace, PauseState, Request};
use steersman_base::target::name_of;
use steersman_base::text::is_blank;
use steersman_session::model::{Pauses, RunState, WaitingAgent};

/// Whether the panel of the shown agent is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Panel {
    /// The agent waits, or will where it next comes by.
    Shown,
    /// The agent runs.
    Hidden,
}

/// Returns whether the panel of an agent is shown: the agent waits, or will.
pub fn panel(agent: &AgentId, run: &RunState) -> Panel {
    if run.is_paused(agent) || run.pauses.place(agent).is_some() { Panel::Shown } else { Panel::Hidden }
}

/// Carries out a key of the panel of the shown agent, or one that pauses it or lets it go on.
pub fn act(pane: &mut PausePane, key: PauseKey, shown: &AgentId, ui: &UiContext) -> Outcome {
    let pause = |state| Outcome::request(Request::Pause { agent: Some(shown.clone()), state });
    match key {
        PauseKey::PauseOrGoOn if panel(shown, &ui.run) == Panel::Hidden => pause(PauseState::Paused),
        PauseKey::PauseOrGoOn | PauseKey::GoOn => pause(PauseState::Running),
        PauseKey::Step => step(pane, shown, ui),
        PauseKey::EditCall => write(pane, shown, CallText::Arguments, ui),
        PauseKey::SkipCall => write(pane, shown, CallText::Reason, ui),
        PauseKey::Focus => focus(shown, ui),
    }
}

/// Gives the panel of the shown agent the focus while there is one.
pub fn focus(shown: &AgentId, ui: &UiContext) -> Outcome {
    Outcome::one(match panel(shown, &ui.run) {
        Panel::Shown => PaneEffect::Focus(Pane::Pause),
        Panel::Hidden => PaneEffect::Say("the shown agent is not paused; Alt+H pauses it".to_owned()),
    })
}

/// Pauses every agent, or lets every agent go on when each is paused: who is paused alone is not let go by this.
pub fn all(pauses: &Pauses) -> Request {
    let state = if pauses.are_all_paused() { PauseState::Running } else { PauseState::Paused };
    Request::Pause { agent: None, state }
}

/// Scrolls the arguments.
pub fn travel(pane: &mut PausePane, to: Travel, ui: &UiContext) {
    pane.top = to.from(pane.top, usize::from(ui.size.height / 4).max(1));
}

/// Takes an Enter in the empty message: a step, unless it is the second of two that came as one.
pub fn enter(pane: &PausePane, agent: &AgentId, ui: &UiContext) -> Outcome {
    if pane.has_just_entered(ui.now) {
        let sentence = format!("{} still waits: Enter came too soon after another; press it again", name_of(agent));
        return Outcome::say(sentence);
    }
    step(pane, agent, ui)
}

/// Lets an agent go on to where it next comes by.
fn step(pane: &PausePane, agent: &AgentId, ui: &UiContext) -> Outcome {
    let waiting = ui.run.pauses.waiting(agent);
    let name = name_of(agent);
    match waiting {
        Some(waiting) if pane.was_drawn(&waiting) => {
            let WaitingAgent { agent, call } = waiting;
            Outcome::request(Request::Decide { agent, call, decision: Decision::Run })
        }
        Some(_) => Outcome::say(format!("nothing was decided: where {name} waits was not on the screen")),
        None => Outcome::say(format!("{name} does not wait yet")),
    }
}

/// Begins a text about the call before which an agent waits.
fn write(pane: &PausePane, agent: &AgentId, what: CallText, ui: &UiContext) -> Outcome {
    let pauses = &ui.run.pauses;
    let is_drawn = pauses.waiting(agent).is_some_and(|waiting| pane.was_drawn(&waiting));
    Outcome::one(match (pauses.place(agent).filter(|_| is_drawn), what) {
        (Some(PausePlace::Call(_)), _) => write_about_call(agent.clone(), what),
        (_, CallText::Arguments) => PaneEffect::Say("there is no call to edit".to_owned()),
        (_, CallText::Reason) => PaneEffect::Say("there is no call to skip".to_owned()),
    })
}

pub(super) fn begin(call: &ToolCall, what: CallText) -> String {
    match what {
        CallText::Arguments => editable(&call.arguments),
        CallText::Reason => String::new(),
    }
}

/// Makes a decision of what was written about a call, or says why that is none.
pub(super) fn decide(agent: &AgentId, call: &ToolCall, what: CallText, text: &str) -> Outcome {
    let decision = match what {
        CallText::Arguments => match read_arguments(text) {
            Ok(arguments) => Decision::Edited(arguments),
            Err(sentence) => return Outcome::say(format!("not run: {sentence}")),
        },
        CallText::Reason if is_blank(text) => {
            let words = "not skipped: the model is told why, so write a reason; Esc leaves it".to_owned();
            return Outcome::one(PaneEffect::SayWhile(Some(Cause::Message(text.to_owned())), words));
        }
        CallText::Reason => Decision::Skip(text.to_owned()),
    };
    Outcome::request(Request::Decide { agent: agent.clone(), call: Some(call.id.clone()), decision })
}

/// Says what became of a pause; `None` where the panel shows it.
pub fn paused(agent: Option<&AgentId>, state: PauseState, accepted: Accepted) -> Option<String> {
    match (agent, state, accepted) {
        (Some(_), _, Accepted::Yes) => None,
        (None, PauseState::Paused, Accepted::Yes) => {
            Some("every agent is paused; /pause all lets them go on".to_owned())
        }
        (None, PauseState::Running, Accepted::Yes) => Some("every agent goes on".to_owned()),
        (agent, _, Accepted::No) => Some(format!("{} is not running any more", agent.map(name_of).unwrap_or_default())),
    }
}
