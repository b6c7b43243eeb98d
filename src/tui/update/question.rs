//! Brings the questions together with the message, whose keys answer them.

use crate::approval::{self, MessageUse, QuestionSubject, Questions};
use crate::effect::{Outcome, PaneEffect};
use crate::focus::Focus;
use crate::keymap::{Answer, Chord};
use crate::message::Message;
use crate::message::removed::Removed;
use crate::state::{Medium, Pane};
use crate::ui_context::UiContext;
use steersman_base::id::AgentId;
use steersman_base::protocol::Unfinished;

/// Stops asking whether to quit as soon as nothing runs: nothing would be lost any more.
pub fn settle_quit(questions: &mut Questions, ui: &UiContext) {
    if questions.current().is_some() && !ui.run.works() {
        questions.retain(ui.now, |subject| *subject != QuestionSubject::Quit);
    }
}

/// Gives an answer to the shown question; ignored when the key has nothing to do with a question.
pub fn answer(questions: &mut Questions, answer: Answer, message: &Message, focus: &Focus, ui: &UiContext) -> Outcome {
    approval::answer(questions, answer, message_use(message, focus, ui), ui)
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
    let used = message_use(message, focus, ui);
    let outcome = approval::choose(questions, chord, used, ui);
    if outcome == Outcome::Ignored && used == MessageUse::Free && chord.typed().is_some() {
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

fn message_use(message: &Message, focus: &Focus, ui: &UiContext) -> MessageUse {
    if let Some(about) = message.about_question() {
        MessageUse::Writes(about.what)
    } else if ui.medium == Medium::Screen && focus.is_on(Pane::Composer) && message.is_draft() && message.is_empty() {
        MessageUse::Free
    } else {
        MessageUse::Other
    }
}

/// Takes what an earlier process of the session left: the drafts are back, and one question is about all texts that wait.
pub fn begin_unfinished(
    questions: &mut Questions,
    message: &mut Message,
    left: &Unfinished,
    ui: &UiContext,
) -> Vec<PaneEffect> {
    let mut wanted = Vec::new();
    for draft in &left.drafts {
        message.know(&draft.text, &left.images);
    }
    match ui.medium {
        Medium::Screen => {
            message.restore_drafts(&left.drafts);
            wanted.extend(message.read_again(&left.drafts));
        }
        // Nothing gets into a line that is being typed; `/back` brings it there.
        Medium::Lines => {
            for draft in &left.drafts {
                let line = format!("you were writing: {}; /back brings it into the line", draft.text);
                wanted.push(PaneEffect::Note(AgentId::main(), line));
                message.set_aside(Removed::Draft(draft.text.clone()));
            }
        }
    }
    let Some(question) = super::sessions::unfinished(left) else {
        wanted.extend(left.sentence().map(PaneEffect::Reply));
        return wanted;
    };
    let is_about = |subject: &QuestionSubject| {
        left.pending.iter().any(|entry| *subject == QuestionSubject::StillTrue(entry.id.clone()))
    };
    questions.retain(ui.now, |subject| !is_about(subject));
    for entry in &left.pending {
        questions.leave(QuestionSubject::StillTrue(entry.id.clone()));
    }
    questions.ask_once(question);
    wanted
}
