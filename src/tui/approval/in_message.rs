//! Brings the questions together with the message: its keys answer them, and the words of an answer are written in it.
//!
//! Always holds: the draft that was there before an answer was written comes back.

use super::agent_question;
use super::update::{MessageUse, fill_form, form_fields, no_with_words};
use super::{QuestionSubject, Questions, ask_about_requests, update};
use crate::app::App;
use crate::effect::{Outcome, PaneEffect};
use crate::focus::Focus;
use crate::keymap::{Action, Answer, Chord};
use crate::message::purpose::QuestionText;
use crate::message::purpose::{AboutQuestion, Purpose};
use crate::message::removed::Removed;
use crate::message::{Message, bring_back};
use crate::state::{Medium, Pane};
use crate::ui_context::UiContext;
use steersman_base::protocol::{self, ApprovalId, form_text};

/// Stops asking whether to quit as soon as nothing runs: nothing would be lost any more.
pub fn settle_quit(questions: &mut Questions, ui: &UiContext) {
    if questions.current().is_some() && !ui.run.works() {
        questions.retain(ui.now, |subject| *subject != QuestionSubject::Quit);
    }
}

/// Gives an answer to the shown question; ignored when the key has nothing to do with a question.
pub fn answer(questions: &mut Questions, answer: Answer, message: &Message, focus: &Focus, ui: &UiContext) -> Outcome {
    let used = message_use(questions, message, focus, ui);
    update::answer(questions, answer, used, ui)
}

/// Carries out a key that selects an answer or gives the selected one; ignored when it is for something else. Any other
/// character makes a text of itself and of the digit before it.
pub fn choose(
    questions: &mut Questions,
    chord: Chord,
    message: &mut Message,
    focus: &Focus,
    ui: &UiContext,
) -> Outcome {
    let used = message_use(questions, message, focus, ui);
    let outcome = update::choose(questions, chord, used, ui);
    let writes = || chord.typed().is_some() || ui.keymap.lookup(focus.context(), chord) == Some(Action::Newline);
    if outcome == Outcome::Ignored && used == MessageUse::Free && writes() {
        type_digit(questions, message);
    }
    outcome
}

/// Makes a text of the digit that has selected an answer: more text comes behind it.
pub fn type_digit(questions: &mut Questions, message: &mut Message) {
    if let Some(digit) = questions.unselect() {
        message.type_char(digit);
    }
}

/// Returns what the message is used for, as far as the shown question goes by it.
pub fn message_use(questions: &Questions, message: &Message, focus: &Focus, ui: &UiContext) -> MessageUse {
    if let Some(about) = message.about_question() {
        return MessageUse::Writes(about.what);
    }
    // What a resume asks about comes together with a draft, which nobody typed at this question.
    let is_resumed =
        || questions.current().is_some_and(|asked| matches!(asked.subject, QuestionSubject::Unfinished(_)));
    let has_keys = ui.medium == Medium::Screen && focus.is_on(Pane::Composer) && message.is_draft();
    if has_keys && (message.is_empty() || message.is_as_restored() && is_resumed()) {
        MessageUse::Free
    } else {
        MessageUse::Other
    }
}

/// Follows the requests that are open.
pub fn snapshot(questions: &mut Questions, message: &mut Message, ui: &UiContext) -> Vec<PaneEffect> {
    let mut wanted = Vec::new();
    if message.about_question().is_some_and(|about| !ui.run.permissions.is_open(about.id)) {
        wanted = bring_back::abandon(message);
        wanted.push(PaneEffect::Say("the question is gone; Ctrl+_ brings your words back".to_owned()));
    }
    ask_about_requests(questions, ui);
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

/// Asks for the words of an answer, to be written in the message.
pub fn write_answer(id: ApprovalId, what: QuestionText) -> PaneEffect {
    PaneEffect::call(move |app| vec![write(&mut app.message, id, what, &app.ui)])
}

/// Asks for the words that the message holds to be sent as the answer.
pub fn send_answer(id: ApprovalId, what: QuestionText) -> PaneEffect {
    PaneEffect::call(move |app| {
        let App { questions, message, ui, .. } = app;
        send(questions, message, (id, what), ui).into_iter().collect()
    })
}

/// Begins the words of an answer in the message.
fn write(message: &mut Message, id: ApprovalId, what: QuestionText, ui: &UiContext) -> PaneEffect {
    if let Some(first) = message.blocked() {
        return first;
    }
    let before = match what {
        QuestionText::No | QuestionText::Answer => String::new(),
        QuestionText::Form => match form_fields(id, ui) {
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
fn send(
    questions: &mut Questions,
    message: &mut Message,
    (id, what): (ApprovalId, QuestionText),
    ui: &UiContext,
) -> Outcome {
    let outcome = match what {
        QuestionText::No => no_with_words(questions, id, message.text(), ui),
        QuestionText::Form => fill_form(questions, id, &message.text(), ui),
        QuestionText::Answer => agent_question::give_words(questions, id, &message.text(), ui),
    };
    let is_sent = |wanted: &PaneEffect| matches!(wanted, PaneEffect::Outside(_));
    if matches!(&outcome, Outcome::Consumed(wanted) if wanted.iter().any(is_sent)) {
        message.finish_about_question();
    }
    outcome
}
