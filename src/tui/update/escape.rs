//! Carries out what [`next_escape`] says; decides nothing by itself.

use super::{bring_back, completion, question, reading, search, sessions, tree};
use crate::protocol::Request;
use crate::tui::keymap::Answer;
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::cause::Cause;
use crate::tui::state::escape::{Escape, next_escape};
use crate::tui::state::focus::Pane;

/// Carries out an Esc.
pub fn press(app: &mut App) -> Vec<Effect> {
    match next_escape(app) {
        Escape::CloseCompletion => completion::close(app),
        Escape::LeavePage => app.help.back(),
        Escape::CloseHelp | Escape::CloseLedger | Escape::CloseChoices => app.focus.overlay = None,
        Escape::LeaveQuestion | Escape::Decline | Escape::AnswerNow => return question::give(app, Answer::Leave),
        Escape::Wait => {
            let cause = app.about_question(Cause::Question);
            app.status.say_while(cause, "nothing was done: the question has just come up", app.now);
        }
        Escape::LeaveWords | Escape::LeaveEdit(_) | Escape::LeaveCall => return bring_back::leave(app),
        Escape::LeaveCommand => {
            app.message.put_away();
        }
        Escape::ClearFilter => tree::clear_filter(app),
        Escape::Unzoom => app.focus.zoom = None,
        Escape::LeaveSearch => search::leave(app),
        Escape::EndSelection => reading::end_selection(app),
        Escape::EndSearch => search::end(app),
        Escape::CloseSearch | Escape::ToMessage => app.focus.go(Pane::Composer),
        Escape::Stop(_) | Escape::TakeBack(_) => return stop(app),
        Escape::Nothing => sessions::escape(app),
    }
    Vec::new()
}

/// Stops the turn; what is pending comes back.
pub fn stop(app: &mut App) -> Vec<Effect> {
    app.tree.cancelling(app.now);
    vec![Effect::Request(Request::Stop)]
}
