//! Brings the questions together with the message, whose keys answer them.

use super::carry_out_outcome;
use crate::id::AgentId;
use crate::protocol::Unfinished;
use crate::tui::approval::{self, MessageUse, Subject, Unarmed};
use crate::tui::effect::Outcome;
use crate::tui::keymap::{Answer, Chord};
use crate::tui::message::removed::Removed;
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::lines::Medium;
use crate::tui::transcript::cell::Level;

/// Asks about every pending text that is held for its age, and stops asking about those that are gone.
pub fn ask_about_stale(app: &mut App) {
    let edited = app.message.editing().map(|editing| &editing.entry.id);
    approval::ask_about_stale(&mut app.questions, edited, &app.facts);
}

/// Stops asking whether to quit as soon as no turn runs: nothing would be lost any more.
pub fn settle_quit(app: &mut App) {
    if app.questions.current().is_some() && !app.run.agents.main().running() {
        app.questions.retain(app.facts.now, |subject| *subject != Subject::Quit);
    }
}

/// Gives an answer to the shown question; `None` when the key has nothing to do with a question.
pub fn answer(app: &mut App, answer: Answer) -> Option<Vec<Effect>> {
    let message = message_use(app);
    let outcome = approval::answer(&mut app.questions, answer, message, &app.facts);
    if outcome == Outcome::Ignored { None } else { Some(carry_out_outcome(app, outcome)) }
}

/// Carries out a key that selects an answer or gives the selected one; `None` when it is for something else. Any other
/// character makes a text of itself and of the digit before it.
pub fn choose(app: &mut App, chord: Chord) -> Option<Vec<Effect>> {
    let message = message_use(app);
    match approval::choose(&mut app.questions, chord, message, &app.facts) {
        Outcome::Ignored => {
            if message == MessageUse::Free && chord.typed().is_some() {
                type_digit(app);
            }
            None
        }
        outcome @ Outcome::Consumed(_) => Some(carry_out_outcome(app, outcome)),
    }
}

/// Makes a text of the digit that has selected an answer: more text comes behind it.
pub fn type_digit(app: &mut App) {
    if let Some(digit) = app.questions.unselect() {
        app.message.type_char(digit);
    }
}

/// Says why nothing was answered.
pub fn not_answered(app: &mut App, unarmed: Unarmed) {
    let outcome = approval::not_answered(&app.questions, unarmed);
    carry_out_outcome(app, outcome);
}

/// Gives an answer to the question, which is armed.
pub fn give(app: &mut App, answer: Answer) -> Vec<Effect> {
    let outcome = approval::give(&mut app.questions, answer, &app.facts);
    carry_out_outcome(app, outcome)
}

fn message_use(app: &App) -> MessageUse {
    if app.message.declining().is_some() {
        MessageUse::No
    } else if app.medium == Medium::Screen && app.is_drafting() && app.message.is_empty() {
        MessageUse::Free
    } else {
        MessageUse::Other
    }
}

/// Takes what an earlier process of the session left: the drafts are back, and one question is about all texts that wait.
pub fn begin_unfinished(app: &mut App, left: &Unfinished) {
    match app.medium {
        Medium::Screen => app.message.restore_drafts(&left.drafts),
        // Nothing gets into a line that is being typed; `/back` brings it there.
        Medium::Lines => {
            for draft in &left.drafts {
                let told = format!("you were writing: {}; /back brings it into the line", draft.text);
                app.reader_mut(&AgentId::main()).transcript.tell(Level::Info, &told);
                app.message.set_aside(Removed::Draft(draft.text.clone()));
            }
        }
    }
    let Some(question) = super::sessions::unfinished(left) else {
        if let Some(sentence) = left.sentence() {
            app.reply(&sentence);
        }
        return;
    };
    let is_about =
        |subject: &Subject| left.pending.iter().any(|entry| *subject == Subject::StillTrue(entry.id.clone()));
    app.questions.retain(app.now, |subject| !is_about(subject));
    for entry in &left.pending {
        app.questions.leave(Subject::StillTrue(entry.id.clone()));
    }
    app.questions.ask_once(question);
}
