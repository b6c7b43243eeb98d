//! Brings the panel of a paused agent together with the message, where its arguments and the reasons are written.
//!
//! Always holds: the draft that was there before a text about a call comes back when that text is sent or left, and a
//! text that has lost its call is kept.

use super::{carry_out_outcome, message as editing};
use crate::event::Envelope;
use crate::id::AgentId;
use crate::protocol::{Accepted, Decision, PauseState};
use crate::session::fold::PausePlace;
use crate::target::name_of;
use crate::tui::effect::CallText;
use crate::tui::keymap::Action;
use crate::tui::message::purpose::{AboutCall, Purpose};
use crate::tui::msg::Effect;
use crate::tui::pause::{self, Panel, ShownAgent};
use crate::tui::state::App;
use crate::tui::state::focus::Pane;
use crate::tui::state::lines::Medium;

/// Folds one envelope in.
pub fn apply(app: &mut App, envelope: &Envelope) {
    app.pause.apply(&envelope.event);
    let is_current =
        |about: &&AboutCall| app.run.pauses.place(&about.agent).and_then(PausePlace::call) == Some(&about.call.id);
    if let Some(lost) = app.message.about_call().filter(|about| !is_current(about)) {
        let name = name_of(&lost.agent);
        editing::leave(app);
        app.status
            .say(format!("{name} does not wait before this call any more; Ctrl+_ brings your text back"), app.now);
    }
}

/// Carries out a key of the panel, or one that pauses an agent or lets it go on.
pub fn act(app: &mut App, action: Action) -> Vec<Effect> {
    let agent = app.tree.selected().clone();
    let shown = ShownAgent { agent: &agent, panel: panel(app) };
    let outcome = pause::act(&mut app.pause, action, shown, &app.facts);
    carry_out_outcome(app, outcome)
}

/// Gives the panel the focus while it is shown.
pub fn focus(app: &mut App) {
    let outcome = pause::focus(panel(app));
    carry_out_outcome(app, outcome);
}

/// Pauses every agent, or lets every agent go on.
pub fn all(app: &App) -> Vec<Effect> {
    vec![Effect::Request(pause::all(&app.run.pauses))]
}

/// Returns whether the panel is shown: the selected agent waits, or will.
fn panel(app: &App) -> Panel {
    let agent = app.tree.selected();
    if app.is_paused(agent) || waits(app) { Panel::Shown } else { Panel::Hidden }
}

/// Tells whether the selected agent waits: then Enter in an empty message lets it go one step.
pub fn waits(app: &App) -> bool {
    app.run.pauses.place(app.tree.selected()).is_some()
}

/// Takes an Enter in the empty message.
pub fn enter(app: &mut App) -> Vec<Effect> {
    let outcome = pause::enter(&app.pause, app.tree.selected(), &app.facts);
    carry_out_outcome(app, outcome)
}

/// Begins a text about the call before which an agent waits.
pub fn write(app: &mut App, agent: AgentId, what: CallText) {
    let Some(PausePlace::Call(call)) = app.run.pauses.place(&agent).cloned() else { return };
    if editing::blocked(app) {
        return;
    }
    let before = pause::begin(&call, what);
    let text = before.clone();
    app.message.begin(Purpose::AboutCall(AboutCall { agent, call, what, before }), &text);
    app.focus.go(Pane::Composer);
}

/// Asks for the end of what is written, when it can be accepted.
pub fn commit(app: &mut App) -> Vec<Effect> {
    let Some(about) = app.message.about_call() else { return Vec::new() };
    let outcome = pause::decide(&about.agent, &about.call, about.what, &app.message.text());
    carry_out_outcome(app, outcome)
}

/// Takes the reply to a decision.
pub fn decided(app: &mut App, agent: &AgentId, decision: &Decision, accepted: Accepted) {
    match accepted {
        Accepted::Yes => {
            if matches!(decision, Decision::Edited(_) | Decision::Skip(_)) {
                app.message.finish_about_call();
            }
            app.status.quiet();
        }
        Accepted::No => {
            if app.medium == Medium::Lines {
                editing::leave(app);
            }
            let sentence = format!("{} does not wait there any more: nothing was decided", name_of(agent));
            app.status.say(sentence, app.now);
        }
    }
}

/// Takes the reply to a pause.
pub fn paused(app: &mut App, agent: Option<&AgentId>, state: PauseState, accepted: Accepted) {
    if let Some(sentence) = pause::paused(agent, state, accepted) {
        app.status.say(sentence, app.now);
    }
}

/// Gives the composer the keys again when the panel is gone.
pub fn settle_focus(app: &mut App) {
    if app.focus.pane == Pane::Gate && panel(app) == Panel::Hidden {
        app.focus.pane = Pane::Composer;
    }
}
