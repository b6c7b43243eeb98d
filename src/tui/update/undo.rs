//! Undo of what the tools of the last turn changed: look, ask, do, tell.
//!
//! Always holds: nothing is taken back without a yes to the list of files, and nothing while a turn runs.

use crate::id::AgentId;
use crate::protocol::{Request, UndoneFile};
use crate::summary::count;
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::cause::Cause;
use crate::tui::state::question::{Question, Subject};
use crate::tui::state::undo::parts;
use crate::tui::transcript::cell::Level;

/// Looks at what there is to take back.
pub fn begin(app: &mut App) -> Vec<Effect> {
    if is_refused(app) { Vec::new() } else { vec![Effect::Request(Request::PreviewUndo)] }
}

/// Asks about what was found.
pub fn ask(app: &mut App, changes: &[UndoneFile]) {
    if changes.is_empty() {
        app.status
            .say("nothing to undo: the tools of the last turn changed no file; commands are not on record", app.now);
        return;
    }
    // The list is looked at anew each time.
    app.questions.retain(app.now, |subject| *subject != Subject::Undo);
    app.questions.ask_once(Question {
        agent: None,
        subject: Subject::Undo,
        title: "Take back what the last turn changed?".to_owned(),
        detail: parts(changes, "the turn"),
        session: String::new(),
        rule: None,
    });
}

/// Takes a yes.
pub fn confirmed(app: &mut App) -> Vec<Effect> {
    if is_refused(app) { Vec::new() } else { vec![Effect::Request(Request::Undo)] }
}

/// Tells what was done.
pub fn done(app: &mut App, changes: &[UndoneFile]) {
    let main = AgentId::main();
    let back = changes.iter().filter(|change| change.undo.is_done()).count();
    for change in changes {
        let level = if change.undo.is_done() { Level::Info } else { Level::Warning };
        let sentence = format!("undo: {}: {}", change.path, change.undo);
        app.reader_mut(&main).transcript.tell(level, &sentence);
    }
    let stay = match changes.len() - back {
        0 => String::new(),
        stay => format!(", {stay} left alone"),
    };
    app.status.say(format!("undone: {} as before the turn{stay}", count(back, "file")), app.now);
}

fn is_refused(app: &mut App) -> bool {
    let is_refused = app.busy();
    if is_refused {
        app.status.say_while(Cause::Turn, "not undone: a turn runs; stop it first, or wait for its end", app.now);
    }
    is_refused
}
