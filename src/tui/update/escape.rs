//! Carries out what [`next_escape`] says; decides nothing by itself.

use super::{carry_out, leave_message, transcript, with_agents};
use crate::agents::{Details, clear_filter};
use crate::app::escape::{Escape, next_escape};
use crate::approval;
use crate::branch;
use crate::keymap::Answer;
use crate::msg::Effect;
use crate::plan;
use crate::state::{App, Cause, Medium, Pane};
use steersman_base::id::AgentId;
use steersman_base::protocol::Request;

/// Carries out an Esc.
pub(super) fn press(app: &mut App) -> Vec<Effect> {
    let escape = next_escape(app);
    if escape.gives_up() {
        app.status.escaped = Some(app.ui.now);
    }
    match escape {
        Escape::CloseCompletion => {
            app.message.paths.close();
            if app.palette.is_about_whole() {
                app.palette.close(app.message.shown());
            }
        }
        Escape::NormalMode => {
            app.message.paths.close();
            app.message.vim_escape();
        }
        Escape::LeaveOverlay(_) => app.focus.overlays.back(),
        Escape::LeaveQuestion | Escape::Decline | Escape::PutOff | Escape::AnswerNow => {
            let outcome = approval::give(&mut app.questions, Answer::Leave.into(), &app.ui);
            return carry_out(app, outcome);
        }
        Escape::Wait => {
            let cause = app.about_question(Cause::Question);
            app.status.say_while(cause, "Esc did nothing: the question has just appeared", app.ui.now);
        }
        Escape::LeaveStep => {
            let App { message, focus, ui, .. } = app;
            let wanted = plan::leave(message, &mut focus.overlays, ui);
            return carry_out(app, wanted);
        }
        Escape::LeaveWords | Escape::LeaveEdit(_) | Escape::LeaveCall => return leave_message(app),
        Escape::LeaveCommand => {
            app.message.put_away();
        }
        Escape::ClearFilter => return with_agents(app, clear_filter).unwrap_or_default(),
        Escape::Unzoom => app.focus.zoom = None,
        Escape::CloseDetails => {
            app.tree.details = Details::Usual;
            if app.shows_details() {
                app.tree.details = Details::Collapsed;
            }
            if app.focus.pane == Pane::Details {
                app.focus.go(Pane::Composer);
            }
        }
        Escape::TooSoon(whom) | Escape::Ask(whom) => {
            app.status.say_while(Cause::Stop, format!("Esc again stops {whom}"), app.ui.now);
        }
        Escape::LeaveSearch => return transcript::cancel_search(app),
        Escape::EndSelection => transcript::shown(app).end_selection(),
        Escape::EndSearch => transcript::shown(app).search = None,
        Escape::CloseSearch | Escape::ToMessage => app.focus.go(Pane::Composer),
        Escape::StopFill => return vec![Effect::Request(Request::StopFill)],
        Escape::StopLine(job) => return vec![Effect::Request(Request::StopJob { job })],
        Escape::Stop(..) | Escape::TakeBack(_) => return stop(app),
        Escape::Nothing => branch(app),
    }
    Vec::new()
}

/// Stops the turn; what is pending comes back.
pub(super) fn stop(app: &mut App) -> Vec<Effect> {
    if !app.ui.run.agents.main().running()
        && let Some(whom) = app.ui.run.stopped_by_all()
    {
        let are = if app.ui.run.run_alone().count() == 1 { "is" } else { "are" };
        app.status.say(format!("{whom} {are} being stopped"), app.ui.now);
    }
    app.ui.run.agents.cancelling(app.ui.now);
    vec![Effect::Request(Request::Stop)]
}

/// Takes an Esc that does nothing else: the second in an empty message opens the list of the user's messages.
fn branch(app: &mut App) {
    let App { focus, status, message, transcripts, ui, .. } = app;
    if ui.medium != Medium::Screen || !message.is_empty() {
        return;
    }
    let main = transcripts.reader(&AgentId::main());
    if status.cause() == Some(&Cause::Escape) && status.message(ui.now).is_some() {
        status.quiet();
        branch::open(&mut focus.overlays, main);
    } else if main.is_some_and(|reader| !reader.transcript.entered().is_empty()) {
        status.say_while(Cause::Escape, "Esc again: branch from one of your messages", ui.now);
    }
}
