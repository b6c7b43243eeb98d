//! Undo of what tools changed, on the screen: what it would do is looked up first, then asked, then done.
//!
//! The undo itself: `src/tools/workspace/changes.rs`; tests: `undo.rs`, `changes_pane.rs`.

use crate::approval::{Question, QuestionSubject, Questions};
use crate::commands::{CommandEntry, Takes};
use crate::effect::PaneEffect;
use crate::state::Cause;
use crate::ui_context::UiContext;
use steersman_base::protocol::{Request, UndoScope, UndoneFile};
use steersman_base::summary::count;
use steersman_base::text::visible_line;
use steersman_session::model::DetailPart;

pub const COMMAND: CommandEntry = CommandEntry::new(
    "/undo",
    Takes::Nothing,
    "Alt+Z",
    "undo the file changes of the last turn; asks first",
    |context, _| vec![begin(UndoScope::LastTurn, context.ui)],
)
.giving_up();

/// Looks at what there is to take back.
pub fn begin(scope: UndoScope, ui: &UiContext) -> PaneEffect {
    refused(ui).unwrap_or_else(|| Request::PreviewUndo { scope }.into())
}

/// Asks about what an undo would do.
pub fn ask(questions: &mut Questions, scope: UndoScope, changes: &[UndoneFile], ui: &UiContext) -> Option<PaneEffect> {
    if changes.is_empty() {
        let what = match &scope {
            UndoScope::LastTurn => {
                "the tools of the last turn changed no file; changes made by shell commands are not tracked"
            }
            UndoScope::Turn(_) | UndoScope::File(_) => "another process made this change, or it was undone already",
        };
        return Some(PaneEffect::Reply(format!("nothing to undo: {what}")));
    }
    ask_about(questions, scope, changes, ui);
    None
}

/// Takes back what is asked for: the user has said yes.
pub fn confirmed(scope: UndoScope) -> PaneEffect {
    PaneEffect::call(move |app| vec![refused(&app.ui).unwrap_or_else(|| Request::Undo { scope: scope.clone() }.into())])
}

fn refused(ui: &UiContext) -> Option<PaneEffect> {
    let sentence = "not undone: a turn runs; stop it first, or wait for its end";
    ui.run.is_under_way().then(|| PaneEffect::SayWhile(Some(Cause::Turn), sentence.to_owned()))
}

/// Asks whether files that tools changed are to be as before. The list is looked at anew each time.
fn ask_about(questions: &mut Questions, scope: UndoScope, changes: &[UndoneFile], ui: &UiContext) {
    let (title, since) = match &scope {
        UndoScope::LastTurn => ("Take back what the last turn changed?".to_owned(), "the turn".to_owned()),
        UndoScope::Turn(turn) => (format!("Take back what turn {turn} changed?"), format!("turn {turn}")),
        UndoScope::File(path) => {
            (format!("Take back all changes of {}?", visible_line(path)), "its first change".to_owned())
        }
    };
    let mut detail = parts(changes, &since);
    detail.push(DetailPart::Note("The model is told with your next message.".to_owned()));
    questions.retain(ui.now, |subject| !matches!(subject, QuestionSubject::Undo(_)));
    questions.ask_once(Question::new(QuestionSubject::Undo(scope), title, detail));
}

/// Returns every file with what happens to it, with the words for what it goes back to, and what is not covered.
pub fn parts(changes: &[UndoneFile], since: &str) -> Vec<DetailPart> {
    let (back, stay): (Vec<_>, Vec<_>) = changes.iter().partition(|change| change.undo.is_done());
    let mut parts = Vec::new();
    for (files, words) in [(back, format!("to be as before {since}")), (stay, "to stay as now".to_owned())] {
        if !files.is_empty() {
            parts.push(DetailPart::Note(format!("{}, {words}:", count(files.len(), "file"))));
            let line = |change: &UndoneFile| visible_line(&format!("{}: {}", change.path, change.undo)).into_owned();
            parts.extend(files.into_iter().map(|change| DetailPart::Exact(line(change))));
        }
    }
    parts.push(DetailPart::Note("Changes made by shell commands are not tracked and stay.".to_owned()));
    parts
}

/// Says what an undo did, in one sentence.
pub fn done(changes: &[UndoneFile]) -> String {
    let back = changes.iter().filter(|change| change.undo.is_done()).count();
    let stay = match changes.len() - back {
        0 => String::new(),
        stay => format!(", {stay} left alone"),
    };
    format!("undone: {} as before{stay}", count(back, "file"))
}
