//! Brings approvals together with the message, where the words of a no are written, and with the transcript.
//!
//! Always holds: the draft that was there before a no was written comes back.

use crate::approval::{self, Questions};
use crate::effect::{Outcome, PaneEffect, QuestionText};
use crate::message::purpose::{AboutQuestion, Purpose};
use crate::message::removed::Removed;
use crate::message::{Message, bring_back};
use crate::state::{Cause, Pane};
use crate::ui_context::UiContext;
use steersman_base::mode::Mode;
use steersman_base::protocol::{self, ApprovalId, ModeChoice, Request, UndoScope, UndoneFile, form_text};

/// Follows the requests that are open.
pub fn snapshot(questions: &mut Questions, message: &mut Message, ui: &UiContext) -> Vec<PaneEffect> {
    let mut wanted = Vec::new();
    if message.about_question().is_some_and(|about| !ui.run.permissions.is_open(about.id)) {
        wanted = bring_back::abandon(message);
        wanted.push(PaneEffect::Say("the question is gone; Ctrl+_ brings your words back".to_owned()));
    }
    approval::ask_about_requests(questions, ui);
    wanted
}

/// Notes whether an answer was taken.
pub fn answered(message: &mut Message, answer: protocol::Answer, outcome: Result<(), String>) -> PaneEffect {
    match (outcome, answer) {
        (Ok(()), _) => PaneEffect::Quiet,
        (Err(why), protocol::Answer::No(Some(words))) => {
            message.set_aside(Removed::Draft(words));
            PaneEffect::Say(format!("nothing was answered: {why}; Ctrl+_ brings your words back"))
        }
        (Err(why), protocol::Answer::Filled(values)) => {
            let line = |(name, value): (&String, &serde_json::Value)| {
                format!("{name}: {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            };
            let words: Vec<String> = values.iter().map(line).collect();
            message.set_aside(Removed::Draft(words.join("\n")));
            PaneEffect::Say(format!("nothing was answered: {why}; Ctrl+_ brings what you wrote back"))
        }
        (Err(why), _) => PaneEffect::Say(format!("nothing was answered: {why}")),
    }
}

/// Begins the words of an answer in the message.
pub fn write(message: &mut Message, id: ApprovalId, what: QuestionText, ui: &UiContext) -> PaneEffect {
    if let Some(first) = message.blocked() {
        return first;
    }
    let before = match what {
        QuestionText::No => String::new(),
        QuestionText::Form => match approval::form_fields(id, ui) {
            Some(fields) => form_text(fields),
            None => return PaneEffect::Say("nothing was answered: the question is gone".to_owned()),
        },
    };
    let text = before.clone();
    message.begin(Purpose::AboutQuestion(AboutQuestion { id, what, before }), &text);
    if what == QuestionText::Form {
        message.to_first_line();
    }
    PaneEffect::Focus(Pane::Composer)
}

/// Answers with what the message holds, and ends that when it is accepted.
pub fn send(
    questions: &mut Questions,
    message: &mut Message,
    (id, what): (ApprovalId, QuestionText),
    ui: &UiContext,
) -> Outcome {
    let outcome = match what {
        QuestionText::No => approval::no_with_words(questions, id, message.text(), ui),
        QuestionText::Form => approval::fill_form(questions, id, &message.text(), ui),
    };
    let is_sent = |wanted: &PaneEffect| matches!(wanted, PaneEffect::Outside(_));
    if matches!(&outcome, Outcome::Consumed(wanted) if wanted.iter().any(is_sent)) {
        message.finish_about_question();
    }
    outcome
}

pub fn mode(ui: &UiContext, name: &str) -> PaneEffect {
    if let Some(mode) = Mode::named(name) {
        return Request::SetMode { choice: ModeChoice::Named(mode) }.into();
    }
    let names: Vec<&str> = Mode::ALL.iter().map(|mode| mode.name()).collect();
    PaneEffect::Reply(if name.is_empty() {
        let mode = ui.run.permissions.mode;
        format!("the mode is {}: {}; there are {}", mode.name(), mode.help(), names.join(", "))
    } else {
        format!("no mode is called {name}; there are {}", names.join(", "))
    })
}

/// Takes the answer to a choice of the mode.
pub fn mode_set(outcome: Result<Mode, String>) -> PaneEffect {
    match outcome {
        Ok(mode) => PaneEffect::Say(format!("mode: {}", mode.name())),
        Err(why) => PaneEffect::Reply(format!("the mode did not change: {why}")),
    }
}

/// Looks at what there is to take back.
pub fn begin_undo(scope: UndoScope, ui: &UiContext) -> PaneEffect {
    undo_refused(ui).unwrap_or_else(|| Request::PreviewUndo { scope }.into())
}

/// Asks about what an undo would do.
pub fn ask_undo(
    questions: &mut Questions,
    scope: UndoScope,
    changes: &[UndoneFile],
    ui: &UiContext,
) -> Option<PaneEffect> {
    if changes.is_empty() {
        let what = match &scope {
            UndoScope::LastTurn => {
                "the tools of the last turn changed no file; changes made by shell commands are not tracked"
            }
            UndoScope::Turn(_) | UndoScope::File(_) => "another process made this change, or it was undone already",
        };
        return Some(PaneEffect::Reply(format!("nothing to undo: {what}")));
    }
    approval::ask_about_undo(questions, scope, changes, ui);
    None
}

pub fn confirm_undo(scope: UndoScope, ui: &UiContext) -> PaneEffect {
    undo_refused(ui).unwrap_or_else(|| Request::Undo { scope }.into())
}

fn undo_refused(ui: &UiContext) -> Option<PaneEffect> {
    let sentence = "not undone: a turn runs; stop it first, or wait for its end";
    ui.run.is_under_way().then(|| PaneEffect::SayWhile(Some(Cause::Turn), sentence.to_owned()))
}
