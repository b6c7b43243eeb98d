//! Brings approvals together with the message, where the words of a no are written, and with the transcript.
//!
//! Always holds: the draft that was there before a no was written comes back.

use crate::id::AgentId;
use crate::mode::Mode;
use crate::protocol::{self, ApprovalId, ModeChoice, Request, UndoneFile};
use crate::tui::approval;
use crate::tui::message::purpose::Purpose;
use crate::tui::message::removed::Removed;
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::cause::Cause;
use crate::tui::state::focus::Pane;
use crate::tui::transcript::cell::Level;
use crate::tui::update::{carry_out_outcome, message as editing};

/// Follows the requests that are open.
pub fn snapshot(app: &mut App) {
    if app.message.declining().is_some_and(|id| !app.run.permissions.is_open(id)) {
        editing::leave(app);
        app.status.say("the question is gone; Ctrl+_ brings your words back", app.now);
    }
    approval::ask_about_requests(&mut app.questions, &app.facts);
}

/// Notes whether an answer was taken.
pub fn answered(app: &mut App, answer: protocol::Answer, outcome: Result<(), String>) {
    match (outcome, answer) {
        (Ok(()), _) => app.status.quiet(),
        (Err(why), protocol::Answer::No(Some(words))) => {
            app.message.set_aside(Removed::Draft(words));
            app.status.say(format!("nothing was answered: {why}; Ctrl+_ brings your words back"), app.now);
        }
        (Err(why), _) => app.status.say(format!("nothing was answered: {why}"), app.now),
    }
}

/// Begins the words of a no.
pub fn decline(app: &mut App, id: ApprovalId) {
    if editing::blocked(app) {
        return;
    }
    app.message.begin(Purpose::Decline(id), "");
    app.focus.go(Pane::Composer);
}

/// Sends the words of a no.
pub fn commit(app: &mut App, id: ApprovalId) -> Vec<Effect> {
    let words = app.message.text();
    let outcome = approval::no_with_words(&mut app.questions, id, words, &app.facts);
    let effects = carry_out_outcome(app, outcome);
    if !effects.is_empty() {
        app.message.finish_decline();
    }
    effects
}

/// Carries out `/rules`.
pub fn rules(app: &mut App, argument: &str) -> Vec<Effect> {
    carry_out_outcome(app, approval::rules(argument))
}

/// Tells what `/rules` found or did.
pub fn rules_told(app: &mut App, sentences: &[String]) {
    let shown = app.tree.selected().clone();
    for sentence in sentences {
        app.reader_mut(&shown).transcript.tell(Level::Info, sentence);
    }
}

/// Carries out `/mode`.
pub fn mode(app: &mut App, name: &str) -> Vec<Effect> {
    if let Some(mode) = Mode::named(name) {
        return vec![Effect::Request(Request::SetMode { choice: ModeChoice::Named(mode) })];
    }
    let names: Vec<&str> = Mode::ALL.iter().map(|mode| mode.name()).collect();
    let sentence = if name.is_empty() {
        let mode = app.run.permissions.mode;
        format!("the mode is {}: {}; there are {}", mode.name(), mode.help(), names.join(", "))
    } else {
        format!("no mode is called {name}; there are {}", names.join(", "))
    };
    app.reply(&sentence);
    Vec::new()
}

/// Takes the answer to a choice of the mode.
pub fn mode_set(app: &mut App, outcome: Result<Mode, String>) {
    match outcome {
        Ok(mode) => {
            app.status.say(format!("mode: {}", mode.name()), app.now);
        }
        Err(why) => app.reply(&format!("the mode did not change: {why}")),
    }
}

/// Looks at what there is to take back.
pub fn begin_undo(app: &mut App) -> Vec<Effect> {
    if is_refused(app) { Vec::new() } else { vec![Effect::Request(Request::PreviewUndo)] }
}

/// Asks about what an undo would do.
pub fn ask_undo(app: &mut App, changes: &[UndoneFile]) {
    if changes.is_empty() {
        app.status
            .say("nothing to undo: the tools of the last turn changed no file; commands are not on record", app.now);
        return;
    }
    approval::ask_about_undo(&mut app.questions, changes, &app.facts);
}

/// Takes a yes to an undo.
pub fn confirm_undo(app: &mut App) -> Vec<Effect> {
    if is_refused(app) { Vec::new() } else { vec![Effect::Request(Request::Undo)] }
}

/// Tells what an undo did.
pub fn undone(app: &mut App, changes: &[UndoneFile]) {
    let main = AgentId::main();
    for change in changes {
        let level = if change.undo.is_done() { Level::Info } else { Level::Warning };
        let sentence = format!("undo: {}: {}", change.path, change.undo);
        app.reader_mut(&main).transcript.tell(level, &sentence);
    }
    app.status.say(approval::undone(changes), app.now);
}

fn is_refused(app: &mut App) -> bool {
    let is_refused = app.busy();
    if is_refused {
        app.status.say_while(Cause::Turn, "not undone: a turn runs; stop it first, or wait for its end", app.now);
    }
    is_refused
}
