//! The keys of hold and step: the selected agent is held or goes on, its next call runs, runs changed, or is skipped.
//!
//! Always holds: the draft that was there before a text about a call comes back when that text is sent or left, and a
//! text that has lost its call is kept.

use super::{bring_back, editing};
use crate::event::Envelope;
use crate::id::AgentId;
use crate::protocol::{Accepted, Decision, PauseState, Request};
use crate::session::fold::{PausePlace, WaitingAgent};
use crate::target::name_of;
use crate::text::is_blank;
use crate::tui::keymap::Action;
use crate::tui::message::purpose::{AboutCall, Purpose, Written};
use crate::tui::msg::Effect;
use crate::tui::pause::{editable, read_arguments};
use crate::tui::state::App;
use crate::tui::state::cause::Cause;
use crate::tui::state::focus::Pane;
use crate::tui::state::lines::Medium;

/// Folds one envelope in.
pub fn apply(app: &mut App, envelope: &Envelope) {
    app.pause.apply(&envelope.event);
    let is_current =
        |about: &&AboutCall| app.run.pauses.place(&about.agent).and_then(PausePlace::call) == Some(&about.call.id);
    if let Some(lost) = app.message.about_call().filter(|about| !is_current(about)) {
        let name = name_of(&lost.agent);
        bring_back::leave(app);
        app.status
            .say(format!("{name} does not wait before this call any more; Ctrl+_ brings your text back"), app.now);
    }
}

/// Carries out a key of the panel, or one that closes or opens a gate.
pub fn act(app: &mut App, action: Action) -> Vec<Effect> {
    let agent = app.tree.selected().clone();
    match action {
        Action::HoldOrGoOn => {
            let gate = if is_shown(app) { PauseState::Running } else { PauseState::Paused };
            vec![Effect::Request(Request::Pause { agent: Some(agent), state: gate })]
        }
        Action::GoOn => vec![Effect::Request(Request::Pause { agent: Some(agent), state: PauseState::Running })],
        Action::Step => step(app),
        Action::EditCall => write(app, Written::Arguments),
        Action::SkipCall => write(app, Written::Reason),
        Action::FocusGate => {
            focus(app);
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// Gives the panel the focus while it is shown.
pub fn focus(app: &mut App) {
    if is_shown(app) {
        app.focus.go(Pane::Gate);
    } else {
        app.status.say("the shown agent is not held; Alt+H holds it", app.now);
    }
}

/// Holds every agent, or lets every agent go on when each is held: who is held alone is not let go by this.
pub fn all(app: &App) -> Vec<Effect> {
    let gate = if app.run.pauses.are_all_paused() { PauseState::Running } else { PauseState::Paused };
    vec![Effect::Request(Request::Pause { agent: None, state: gate })]
}

/// Tells whether the panel is shown: the selected agent waits, or will.
pub fn is_shown(app: &App) -> bool {
    let agent = app.tree.selected();
    app.is_held(agent) || app.run.pauses.place(agent).is_some()
}

/// Tells whether the selected agent waits: then Enter in an empty message lets it go one step.
pub fn waits(app: &App) -> bool {
    app.run.pauses.place(app.tree.selected()).is_some()
}

/// Scrolls the arguments.
pub fn travel(app: &mut App, action: Action) {
    let page = usize::from(app.size.height / 4).max(1);
    let top = &mut app.pause.top;
    *top = match action {
        Action::Previous => top.saturating_sub(1),
        Action::Next => top.saturating_add(1),
        Action::PageUp => top.saturating_sub(page),
        Action::PageDown => top.saturating_add(page),
        Action::Last => usize::MAX,
        _ => 0,
    };
}

/// Takes an Enter in the empty message: a step, unless it is the second of two that came as one.
pub fn enter(app: &mut App) -> Vec<Effect> {
    if app.pause.has_just_entered(app.now) {
        let name = name_of(app.tree.selected());
        app.status.say(format!("{name} still waits: that Enter came right after another"), app.now);
        return Vec::new();
    }
    step(app)
}

/// Lets the selected agent go on to where it next comes by.
pub fn step(app: &mut App) -> Vec<Effect> {
    let agent = app.tree.selected().clone();
    let waiting = app.run.pauses.waiting(&agent).filter(|waiting| app.pause.was_drawn(waiting));
    let Some(WaitingAgent { agent, call }) = waiting else {
        let name = name_of(&agent);
        let sentence = match app.run.pauses.place(&agent) {
            Some(_) => format!("nothing was decided: where {name} waits was not on the screen"),
            None => format!("{name} does not wait yet"),
        };
        app.status.say(sentence, app.now);
        return Vec::new();
    };
    vec![Effect::Request(Request::Decide { agent, call, decision: Decision::Run })]
}

/// Begins a text about the call before which the selected agent waits.
fn write(app: &mut App, what: Written) -> Vec<Effect> {
    let agent = app.tree.selected().clone();
    if editing::blocked(app) {
        return Vec::new();
    }
    let drawn = app.run.pauses.waiting(&agent).is_some_and(|waiting| app.pause.was_drawn(&waiting));
    let Some(PausePlace::Call(call)) = app.run.pauses.place(&agent).filter(|_| drawn).cloned() else {
        let sentence = match what {
            Written::Arguments => "there is no call to edit",
            Written::Reason => "there is no call to skip",
        };
        app.status.say(sentence, app.now);
        return Vec::new();
    };
    let before = match what {
        Written::Arguments => editable(&call.arguments),
        Written::Reason => String::new(),
    };
    let text = before.clone();
    app.message.begin(Purpose::AboutCall(AboutCall { agent, call, what, before }), &text);
    app.focus.go(Pane::Composer);
    Vec::new()
}

/// Asks for the end of what is written, when it can be accepted.
pub fn commit(app: &mut App) -> Vec<Effect> {
    let Some(about) = app.message.about_call() else { return Vec::new() };
    let text = app.message.text();
    let verdict = match about.what {
        Written::Arguments => match read_arguments(&text) {
            Ok(arguments) => Decision::Edited(arguments),
            Err(sentence) => {
                app.status.say(format!("not run: {sentence}"), app.now);
                return Vec::new();
            }
        },
        Written::Reason if is_blank(&text) => {
            let words = "not skipped: the model is told why, so write a reason; Esc leaves it";
            app.status.say_while(Cause::Message(text), words, app.now);
            return Vec::new();
        }
        Written::Reason => Decision::Skip(text),
    };
    vec![Effect::Request(Request::Decide {
        agent: about.agent.clone(),
        call: Some(about.call.id.clone()),
        decision: verdict,
    })]
}

/// Takes the answer to a decision.
pub fn decided(app: &mut App, agent: &AgentId, decision: &Decision, accepted: Accepted) {
    let name = name_of(agent);
    match accepted {
        Accepted::Yes => {
            if matches!(decision, Decision::Edited(_) | Decision::Skip(_)) {
                app.message.finish_about_call();
            }
            app.status.quiet();
        }
        Accepted::No => {
            if app.medium == Medium::Lines {
                bring_back::leave(app);
            }
            app.status.say(format!("{name} does not wait there any more: nothing was decided"), app.now);
        }
    }
}

/// Takes the answer to a gate that was closed or opened.
pub fn paused(app: &mut App, agent: Option<&AgentId>, state: PauseState, accepted: Accepted) {
    match (agent, accepted) {
        (Some(_), Accepted::Yes) => {}
        (None, Accepted::Yes) => {
            let sentence = match state {
                PauseState::Paused => "every agent is held; /hold all lets them go on",
                PauseState::Running => "every agent goes on",
            };
            app.status.say(sentence, app.now);
        }
        (agent, Accepted::No) => {
            let name = agent.map(name_of).unwrap_or_default();
            app.status.say(format!("{name} is not running any more"), app.now);
        }
    }
}

/// Gives the composer the keys again when the panel is gone.
pub fn settle_focus(app: &mut App) {
    if app.focus.pane == Pane::Gate && !is_shown(app) {
        app.focus.pane = Pane::Composer;
    }
}
