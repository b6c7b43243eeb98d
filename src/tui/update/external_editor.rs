//! Texts that leave the screen for the user's editor or clipboard, and what comes back.

use crate::tui::message::TakenOver;
use crate::tui::msg::{EditorSubject, Effect};
use crate::tui::state::App;

/// Opens the message being written in the user's editor.
pub fn open(app: &mut App) -> Vec<Effect> {
    let text = app.message.open();
    vec![Effect::Edit { subject: EditorSubject::Draft, text }]
}

/// Takes over what came back from the editor.
pub fn edited(app: &mut App, subject: EditorSubject, outcome: Result<String, String>) {
    match (subject, outcome) {
        (EditorSubject::Draft, Ok(text)) => {
            if app.message.take_over(&text) == TakenOver::Before {
                let words = "the message was changed meanwhile; the text from the editor stands before it";
                app.status.say(words, app.now);
            }
        }
        (EditorSubject::Draft, Err(reason)) => {
            app.message.close_unchanged();
            app.status.say(format!("the message did not change: {reason}"), app.now);
        }
        (EditorSubject::Entry, Ok(_)) => {}
        (EditorSubject::Entry, Err(reason)) => app.status.say(format!("not opened: {reason}"), app.now),
    }
}

/// Says how a copy went.
pub fn copied(app: &mut App, outcome: Result<String, String>) {
    let what = app.transcripts.take_copied().map(|what| format!("{what}: ")).unwrap_or_default();
    let sentence = match outcome {
        Ok(how) => format!("{what}copied {how}"),
        Err(reason) => format!("not copied: {reason}"),
    };
    app.status.say(sentence, app.now);
}
