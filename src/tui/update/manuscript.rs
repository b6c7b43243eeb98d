//! Texts that leave the screen for the user's editor or clipboard, and what comes back.

use crate::tui::msg::{Effect, Manuscript};
use crate::tui::state::App;

/// Opens the message being written in the user's editor.
pub fn open(app: &mut App) -> Vec<Effect> {
    let text = app.composer.text();
    app.lent = Some(text.clone());
    vec![Effect::Edit { subject: Manuscript::Draft, text }]
}

/// Takes over what came back from the editor.
pub fn edited(app: &mut App, subject: Manuscript, outcome: Result<String, String>) {
    match (subject, outcome) {
        (Manuscript::Draft, Ok(text)) => {
            let lent = app.lent.take().unwrap_or_default();
            take_over(app, &lent, &text);
        }
        (Manuscript::Draft, Err(reason)) => {
            app.lent = None;
            app.status.say(format!("the message did not change: {reason}"), app.now);
        }
        (Manuscript::Entry, Ok(_)) => {}
        (Manuscript::Entry, Err(reason)) => app.status.say(format!("not opened: {reason}"), app.now),
    }
}

/// Puts an edited text where it was taken from. Texts may have come back meanwhile, before it or behind it: they stay.
fn take_over(app: &mut App, lent: &str, text: &str) {
    let present = app.composer.text();
    if text == lent {
        return;
    }
    if let Some(before) = present.strip_suffix(lent) {
        app.composer.replace(&format!("{before}{text}"));
    } else if let Some(behind) = present.strip_prefix(lent) {
        app.composer.replace(&format!("{text}{behind}"));
    } else {
        app.composer.put_before(&[text.to_owned()]);
        app.status.say("the message was changed meanwhile; the text from the editor stands before it", app.now);
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
