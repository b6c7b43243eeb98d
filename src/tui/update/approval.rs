//! Approvals: the questions that tools wait for, the words of a no, and the mode.
//!
//! Always holds: a question stands for one open request of the host and goes when that goes; the draft that was there
//! before a no was written comes back.

use crate::mode::Mode;
use crate::text::is_blank;
use crate::tui::keymap::Answer;
use crate::tui::msg::{Accepted, Effect};
use crate::tui::state::App;
use crate::tui::state::approval::{Approval, ApprovalId, Declining, Reply, RuleAct, Wanted};
use crate::tui::state::cause::Cause;
use crate::tui::state::cell::Level;
use crate::tui::state::focus::Pane;
use crate::tui::state::guards::ModeChoice;
use crate::tui::state::question::{Offer, Question, Subject};
use crate::tui::state::removed::Removed;
use crate::tui::update::{editing, recall};

/// Takes everything that is open: asks about what is new, stops asking about what is gone.
pub fn snapshot(app: &mut App, mode: Mode, open: &[Approval]) {
    app.guards.mode = mode;
    let is_open = |id: ApprovalId| open.iter().any(|approval| approval.id == id);
    if app.declining.as_ref().is_some_and(|declining| !is_open(declining.id)) {
        leave(app);
        app.status.say("the question is gone; Ctrl+_ brings your words back", app.now);
    }
    app.questions.retain(app.now, |subject| match subject {
        Subject::Approval(id, _) => is_open(*id),
        Subject::StillTrue(_) | Subject::New | Subject::Reset | Subject::Quit | Subject::Undo => true,
    });
    for approval in open {
        let offer = match (&approval.wanted, &approval.session, &approval.rule) {
            (Wanted::Plain { .. }, _, _) => Offer::Nothing,
            (Wanted::MoreCalls { .. }, _, _) => Offer::MoreCalls,
            (_, _, Some(_)) => Offer::Always,
            (_, Some(_), None) => Offer::Session,
            (_, None, None) => Offer::Words,
        };
        app.questions.ask_once(Question {
            agent: approval.agent.clone(),
            subject: Subject::Approval(approval.id, offer),
            title: approval.title().into_owned(),
            detail: approval.parts(),
            session: String::new(),
            rule: approval.rule.clone(),
        });
    }
}

/// Returns what a key answers.
pub fn reply(answer: Answer) -> Reply {
    match answer {
        Answer::Once => Reply::Once,
        Answer::Session => Reply::Session,
        Answer::Always => Reply::Always,
        Answer::No | Answer::Words | Answer::Leave => Reply::No(None),
    }
}

/// Takes the answer to a reply; `why` says why it was not accepted.
pub fn replied(app: &mut App, reply: Reply, accepted: Accepted, why: Option<&str>) {
    let why = why.unwrap_or("the question is gone");
    match (accepted, reply) {
        (Accepted::Yes, _) => app.status.quiet(),
        (Accepted::No, Reply::No(Some(words))) => {
            app.removed.push(Removed::Draft(words), &app.composer.text());
            app.status.say(format!("nothing was answered: {why}; Ctrl+_ brings your words back"), app.now);
        }
        (Accepted::No, _) => app.status.say(format!("nothing was answered: {why}"), app.now),
    }
}

/// Begins the words of a no.
pub fn decline(app: &mut App, id: ApprovalId) {
    if editing::blocked(app) {
        return;
    }
    recall::leave(app);
    let draft = std::mem::take(&mut app.composer);
    app.declining = Some(Declining { id, draft });
    app.focus.go(Pane::Composer);
}

/// Sends the words of a no.
pub fn commit(app: &mut App) -> Vec<Effect> {
    let text = app.composer.text();
    if is_blank(&text) {
        let words = "write what the model is to be told; Esc goes back to the question";
        app.status.say_while(Cause::Message(text), words, app.now);
        return Vec::new();
    }
    let Some(Declining { id, draft }) = app.declining.take() else { return Vec::new() };
    app.composer = draft;
    app.questions.take(app.now);
    vec![Effect::Reply { id, reply: Reply::No(Some(text)) }]
}

/// Leaves the words of a no; they can be brought back.
pub fn leave(app: &mut App) {
    let Some(declining) = app.declining.take() else { return };
    let text = std::mem::replace(&mut app.composer, declining.draft).text();
    if !is_blank(&text) {
        app.removed.push(Removed::Draft(text), &app.composer.text());
    }
}

/// Carries out `/rules`.
pub fn rules(app: &mut App, argument: &str) -> Vec<Effect> {
    let number = argument.strip_prefix("remove ").and_then(|number| number.trim().parse().ok());
    match (argument, number) {
        ("", _) => vec![Effect::Rules(RuleAct::List)],
        (_, Some(number)) => vec![Effect::Rules(RuleAct::Remove(number))],
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
        return vec![Effect::SetMode(ModeChoice::Named(mode))];
    }
    let names: Vec<&str> = Mode::ALL.iter().map(|mode| mode.name()).collect();
    let sentence = if name.is_empty() {
        let mode = app.guards.mode;
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
            app.guards.mode = mode;
            app.status.say(format!("mode: {}", mode.name()), app.now);
        }
        Err(why) => app.reply(&format!("the mode did not change: {why}")),
    }
}
