//! Texts that leave the screen for the user's editor or clipboard, and what comes back.

use crate::tui::msg::{Effect, Manuscript};
use crate::tui::state::App;

/// Opens the message being written in the user's editor.
pub fn open(app: &mut App) -> Vec<Effect> {
    vec![Effect::Edit { subject: Manuscript::Draft, text: app.composer.text() }]
}

/// Takes over what came back from the editor.
pub fn edited(app: &mut App, subject: Manuscript, outcome: Result<String, String>) {
    match (subject, outcome) {
        (Manuscript::Draft, Ok(text)) => {
            if text != app.composer.text() {
                app.composer.rewrite(&text);
            }
        }
        (Manuscript::Draft, Err(reason)) => {
            app.status.say(format!("the message is as it was: {reason}"), app.now);
        }
        (Manuscript::Entry, Ok(_)) => {}
        (Manuscript::Entry, Err(reason)) => app.status.say(format!("not opened: {reason}"), app.now),
    }
}

/// Says how a copy went.
pub fn copied(app: &mut App, outcome: Result<String, String>) {
    let what = app.copied.take().map(|what| format!("{what}: ")).unwrap_or_default();
    let sentence = match outcome {
        Ok(how) => format!("{what}copied {how}"),
        Err(reason) => format!("not copied: {reason}"),
    };
    app.status.say(sentence, app.now);
}
