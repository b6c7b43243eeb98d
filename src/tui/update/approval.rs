//! Approvals: the questions that tools wait for, the words of a no, and the mode.
//!
//! Always holds: a question stands for one open request of the host and goes when that goes; the draft that was there
//! before a no was written comes back.

use crate::mode::Mode;
use crate::protocol::{self, ApprovalId, ModeChoice, Request, RuleRequest};
use crate::session::fold::{approval_parts, approval_title};
use crate::text::is_blank;
use crate::tui::keymap::Answer;
use crate::tui::message::purpose::Purpose;
use crate::tui::message::removed::Removed;
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::cause::Cause;
use crate::tui::state::focus::Pane;
use crate::tui::state::question::{Offer, Question, Subject};
use crate::tui::transcript::cell::Level;
use crate::tui::update::{bring_back, editing};

/// Takes everything that is open: asks about what is new, stops asking about what is gone.
pub fn snapshot(app: &mut App) {
    if app.message.declining().is_some_and(|id| !app.run.permissions.is_open(id)) {
        bring_back::leave(app);
        app.status.say("the question is gone; Ctrl+_ brings your words back", app.now);
    }
    app.questions.retain(app.now, |subject| match subject {
        Subject::Approval(id, _) => app.run.permissions.is_open(*id),
        Subject::StillTrue(_)
        | Subject::Unfinished(_)
        | Subject::New
        | Subject::Reset
        | Subject::Quit
        | Subject::Undo
        | Subject::Switch(..) => true,
    });
    for approval in &app.run.permissions.open {
        let offer = match (&approval.subject, &approval.session, &approval.rule) {
            (protocol::Subject::Plain { .. }, _, _) => Offer::Nothing,
            (protocol::Subject::MoreCalls { .. }, _, _) => Offer::MoreCalls,
            (protocol::Subject::Act { .. }, _, Some(_)) => Offer::Always,
            (protocol::Subject::Act { .. }, Some(_), None) => Offer::Session,
            (protocol::Subject::Act { .. }, None, None) => Offer::Words,
        };
        app.questions.ask_once(Question {
            agent: approval.asker.as_ref().map(|asker| asker.agent.clone()),
            subject: Subject::Approval(approval.id, offer),
            title: approval_title(approval).into_owned(),
            detail: approval_parts(approval),
            session: String::new(),
            rule: approval.rule.as_ref().map(|rule| rule.pattern.clone()),
        });
    }
}

/// Returns what a key answers.
pub fn answer_of(key: Answer) -> protocol::Answer {
    match key {
        Answer::Once => protocol::Answer::Once,
        Answer::Session => protocol::Answer::Session,
        Answer::Always => protocol::Answer::Always,
        Answer::No | Answer::Words | Answer::Leave => protocol::Answer::No(None),
    }
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
    let text = app.message.text();
    if is_blank(&text) {
        let words = "write what the model is to be told; Esc goes back to the question";
        app.status.say_while(Cause::Message(text), words, app.now);
        return Vec::new();
    }
    app.message.finish_decline();
    app.questions.take(app.now);
    vec![Effect::Request(Request::Answer { id, answer: protocol::Answer::No(Some(text)) })]
}

/// Carries out `/rules`.
pub fn rules(app: &mut App, argument: &str) -> Vec<Effect> {
    let number = argument.strip_prefix("remove ").and_then(|number| number.trim().parse().ok());
    match (argument, number) {
        ("", _) => vec![Effect::Request(Request::Rules { request: RuleRequest::List })],
        (_, Some(number)) => vec![Effect::Request(Request::Rules { request: RuleRequest::Remove(number) })],
        (_, None) => {
            app.status.say("it is /rules, or /rules remove N", app.now);
            Vec::new()
        }
    }
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
