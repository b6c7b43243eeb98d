//! What the next Esc does: one rule, used by the key and by the hint line, so that the two can never differ.
//!
//! The order: with the keys of vim it leads to normal mode, a completion list closes, an overlay closes, an armed question is left, what is written about a call or a
//! pending text is left, the filter of the agents is cleared, the search of the history closes, a search or a selection in
//! the transcript ends, a zoom ends, a focused pane gives the focus back to the composer, a command that a key began is
//! left, the shell lines of a custom command or of the user are stopped, the run is stopped.
//!
//! What it stops cannot be taken back. So it stops nothing in the quiet moment after it closed something or gave
//! something up: a second press was meant for the same. And where sub-agents would be stopped too it says so first.

use jiff::Timestamp;

use super::App;
use crate::agents::Details;
use crate::approval::{AnswerChoices, QuestionSubject};
use crate::message::history::Origin;
use crate::state::{Cause, MEDIUM, Pane};
use crate::status::{HostState, later};
use steersman_base::id::{JobId, MessageId};
use steersman_base::limits;
use steersman_base::summary::count;
use steersman_session::model::PendingText;

/// What the next Esc does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Escape {
    CloseCompletion,
    /// With the keys of vim it leads to normal mode, or drops what was begun there.
    NormalMode,
    /// It goes a step back in the overlay on top, or closes it; in words.
    LeaveOverlay(&'static [&'static str]),
    /// It leaves the question unanswered: not now.
    LeaveQuestion,
    /// It answers the question with no.
    Decline,
    /// It puts the question off.
    PutOff,
    /// It lets the turn answer from what was found.
    AnswerNow,
    /// Nothing: a question has just come up, or a key came just before.
    Wait,
    /// It leaves the words of a no, and goes back to the question.
    LeaveWords,
    /// It leaves the edit of this pending text, which stays as it was.
    LeaveEdit(MessageId),
    /// It leaves what is written about a call, before which the agent still waits.
    LeaveCall,
    /// It leaves the text of a step, and goes back to the plan.
    LeaveStep,
    /// It leaves a command that a key began; what was in the message before comes back.
    LeaveCommand,
    /// It clears the filter of the agent tree.
    ClearFilter,
    /// It gives the other panes their room back.
    Unzoom,
    /// It closes the search of the history; the message is as it was.
    CloseSearch,
    /// It leaves the search that is typed, and goes back to where it began.
    LeaveSearch,
    EndSelection,
    /// It ends the search in the transcript, and stays.
    EndSearch,
    /// It gives the focus back to the composer.
    ToMessage,
    /// It stops this shell line of the user.
    StopLine(JobId),
    /// It stops the shell lines of a custom command, which stays in the message.
    StopFill,
    /// It closes the details of the agent.
    CloseDetails,
    /// Nothing yet: the one before closed something a moment ago. The next stops what these words name.
    TooSoon(String),
    /// It says that the next stops what these words name: sub-agents are among it.
    Ask(String),
    /// It stops what runs, which these words name; so many pending texts come back.
    Stop(String, usize),
    /// No turn runs; so many pending texts come back.
    TakeBack(usize),
    /// Nothing: no turn runs and nothing is pending.
    Nothing,
}

pub fn next_escape(app: &App) -> Escape {
    if app.focus.overlays.is_empty()
        && app.focus.is_on(Pane::Composer)
        && app.replay.is_none()
        && app.message.takes_escape()
    {
        return Escape::NormalMode;
    }
    if app.palette.is_open() {
        return Escape::CloseCompletion;
    }
    if let Some(overlay) = app.focus.overlays.top() {
        return Escape::LeaveOverlay(overlay.escape_hints());
    }
    if app.message.about_question().is_some() {
        return Escape::LeaveWords;
    }
    if app.questions.is_shown() && app.focus.pane.whole() == Pane::Composer && !app.focus.is_on(Pane::History) {
        if !app.questions.armed(app.ui.now) && app.questions.selected().is_none() {
            return Escape::Wait;
        }
        return leaving(app.questions.current().map(|question| &question.subject));
    }
    if app.message.about_call().is_some() {
        return Escape::LeaveCall;
    }
    if app.message.about_step().is_some() {
        return Escape::LeaveStep;
    }
    if let Some(editing) = app.message.editing() {
        return Escape::LeaveEdit(editing.entry.id.clone());
    }
    if app.focus.is_on(Pane::Filter) || (app.focus.is_on(Pane::Tree) && app.tree.filter().is_active()) {
        return Escape::ClearFilter;
    }
    if app.focus.is_on(Pane::History) {
        return Escape::CloseSearch;
    }
    if app.focus.is_on(Pane::Search) {
        return Escape::LeaveSearch;
    }
    if let Some(reader) = app.reader().filter(|_| app.focus.is_on(Pane::Transcript)) {
        if reader.selection.is_some() {
            return Escape::EndSelection;
        }
        if reader.search.is_some() {
            return Escape::EndSearch;
        }
    }
    if app.focus.zoom.is_some() && !app.focus.is_on(Pane::Composer) {
        return Escape::Unzoom;
    }
    // On a narrow screen they are a tab, which stays.
    let has_place = app.ui.size.width >= MEDIUM;
    if has_place && app.tree.details == Details::Open && !app.focus.is_on(Pane::Composer) {
        return Escape::CloseDetails;
    }
    if !app.focus.is_on(Pane::Composer) {
        return Escape::ToMessage;
    }
    if matches!(app.message.recalled(), Some(Origin::Key(_))) {
        return Escape::LeaveCommand;
    }
    if app.disconnected().is_some() || matches!(app.status.host, HostState::ReadOnly(_)) {
        return Escape::Nothing;
    }
    if app.message.filling().is_some() {
        return Escape::StopFill;
    }
    let run = &app.ui.run;
    // What another client sent stays in its queue.
    let is_own = |entry: &&PendingText| app.ui.from_elsewhere(entry.message.sender.as_ref()).is_none();
    let waiting = run.pending.stopped().filter(is_own).count();
    if let Some(line) = run.jobs.shell_line() {
        return if app.is_escape_quiet() {
            Escape::TooSoon(format!("your command {}", line.id))
        } else {
            Escape::StopLine(line.id.clone())
        };
    }
    match stopped(app) {
        Some((whom, _)) if app.is_escape_quiet() => Escape::TooSoon(whom),
        Some((whom, Reach::SubAgents)) if !app.is_stop_announced() => Escape::Ask(whom),
        Some((whom, Reach::SubAgents | Reach::One)) => Escape::Stop(whom, waiting),
        // What starts no turn by itself waits for the next text, whatever is pressed.
        None if waiting > 0 => Escape::TakeBack(waiting),
        None => Escape::Nothing,
    }
}

/// Returns what an Esc does that is for a question.
fn leaving(subject: Option<&QuestionSubject>) -> Escape {
    match subject {
        Some(QuestionSubject::Approval(_, AnswerChoices::MoreCalls)) => Escape::AnswerNow,
        Some(QuestionSubject::Approval(_, AnswerChoices::Agent { .. })) => Escape::PutOff,
        Some(QuestionSubject::Approval(
            _,
            AnswerChoices::Always
            | AnswerChoices::Session
            | AnswerChoices::Words
            | AnswerChoices::Form
            | AnswerChoices::Plan,
        )) => Escape::Decline,
        Some(
            QuestionSubject::StillTrue(_)
            | QuestionSubject::Unfinished(_)
            | QuestionSubject::New
            | QuestionSubject::Reset
            | QuestionSubject::Quit
            | QuestionSubject::StopJob(_)
            | QuestionSubject::Undo(_)
            | QuestionSubject::Rule(_)
            | QuestionSubject::Switch(..)
            | QuestionSubject::Approval(_, AnswerChoices::Nothing),
        )
        | None => Escape::LeaveQuestion,
    }
}

/// Whether a stop reaches more than one agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    One,
    SubAgents,
}

/// Returns what a stop would stop, in words; `None` while nothing runs.
fn stopped(app: &App) -> Option<(String, Reach)> {
    let run = &app.ui.run;
    let whom = run.stopped_by_all()?;
    let alone = run.run_alone().count();
    let main = run.agents.main();
    let beneath = main.totals().running.saturating_sub(usize::from(main.running()));
    Some(match alone {
        0 if beneath > 0 => (format!("{whom} and {}", count(beneath, "agent")), Reach::SubAgents),
        0 | 1 => (whom, Reach::One),
        _ => (whom, Reach::SubAgents),
    })
}

impl App {
    /// Tells whether an Esc closed something or gave it up so short a time ago that the next may be meant for the same.
    fn is_escape_quiet(&self) -> bool {
        self.escape_counts_at().is_some_and(|at| self.ui.now < at)
    }

    /// Returns when an Esc may stop something again; `None` where none closed anything.
    pub(super) fn escape_counts_at(&self) -> Option<Timestamp> {
        self.status.escaped.map(|at| later(at, limits::QUESTION_QUIET))
    }

    /// Tells whether the screen says that the next Esc stops what runs.
    fn is_stop_announced(&self) -> bool {
        self.status.cause() == Some(&Cause::Stop) && self.status.message(self.ui.now).is_some()
    }
}

impl Escape {
    /// Tells whether it closes something or gives something up, or came too soon behind one that did: the next stops
    /// nothing for a moment.
    pub fn gives_up(&self) -> bool {
        match self {
            Self::CloseCompletion
            | Self::NormalMode
            | Self::LeaveOverlay(_)
            | Self::LeaveQuestion
            | Self::Decline
            | Self::PutOff
            | Self::AnswerNow
            | Self::Wait
            | Self::LeaveWords
            | Self::LeaveEdit(_)
            | Self::LeaveCall
            | Self::LeaveStep
            | Self::LeaveCommand
            | Self::ClearFilter
            | Self::Unzoom
            | Self::CloseSearch
            | Self::LeaveSearch
            | Self::EndSelection
            | Self::EndSearch
            | Self::ToMessage
            | Self::CloseDetails
            | Self::TooSoon(_)
            | Self::StopLine(_)
            | Self::StopFill => true,
            Self::Ask(_) | Self::Stop(..) | Self::TakeBack(_) | Self::Nothing => false,
        }
    }

    /// Returns it in words, the longest first; each begins with the key. None where it does nothing.
    pub fn labels(&self) -> Vec<String> {
        match self {
            Self::CloseCompletion => vec!["Esc: closes the list".to_owned(), "Esc: closes".to_owned()],
            Self::NormalMode => vec!["Esc: normal mode".to_owned(), "Esc: normal".to_owned()],
            Self::LeaveOverlay(words) => words.iter().map(|words| (*words).to_owned()).collect(),
            Self::LeaveQuestion => vec!["Esc: leaves the question".to_owned(), "Esc: not now".to_owned()],
            Self::Decline => vec!["Esc: no".to_owned()],
            Self::PutOff => vec!["Esc: puts the question off".to_owned(), "Esc: later".to_owned()],
            Self::AnswerNow => vec!["Esc: answers from what was found".to_owned(), "Esc: answers".to_owned()],
            Self::Wait | Self::TooSoon(_) => vec!["Esc: wait a moment".to_owned(), "Esc: wait".to_owned()],
            Self::LeaveWords => vec!["Esc: back to the question".to_owned(), "Esc: back".to_owned()],
            Self::LeaveEdit(id) => {
                vec![format!("Esc: leaves {id} as it was"), "Esc: leaves the edit".to_owned(), "Esc: leaves".to_owned()]
            }
            Self::LeaveCall => vec!["Esc: leaves the call as it was".to_owned(), "Esc: leaves".to_owned()],
            Self::LeaveStep => vec!["Esc: back to the plan".to_owned(), "Esc: back".to_owned()],
            Self::LeaveCommand => vec!["Esc: back to what you were writing".to_owned(), "Esc: back".to_owned()],
            Self::ClearFilter => vec!["Esc: clears the filter".to_owned(), "Esc: clears".to_owned()],
            Self::Unzoom => vec!["Esc: ends the zoom".to_owned(), "Esc: unzooms".to_owned()],
            Self::CloseSearch => vec!["Esc: the message as it was".to_owned(), "Esc: closes".to_owned()],
            Self::LeaveSearch => vec!["Esc: back to where you were".to_owned(), "Esc: back".to_owned()],
            Self::EndSelection => vec!["Esc: ends the selection".to_owned(), "Esc: ends it".to_owned()],
            Self::EndSearch => vec!["Esc: ends the search".to_owned(), "Esc: ends it".to_owned()],
            Self::ToMessage => vec!["Esc: back to the message".to_owned(), "Esc: back".to_owned()],
            Self::StopLine(id) => vec![format!("Esc: stops your command {id}"), "Esc: stops it".to_owned()],
            Self::StopFill => vec!["Esc: stops its shell lines".to_owned(), "Esc: stops them".to_owned()],
            Self::CloseDetails => vec!["Esc: closes the details".to_owned(), "Esc: closes".to_owned()],
            Self::Ask(whom) => {
                vec![format!("Esc twice: stops {whom}"), "Esc twice: stops".to_owned(), "Esc: stops".to_owned()]
            }
            Self::Stop(whom, count) => {
                let full = match count {
                    0 => format!("Esc: stops {whom}"),
                    1 => format!("Esc: stops {whom}, 1 pending comes back"),
                    count => format!("Esc: stops {whom}, {count} pending come back"),
                };
                let back = (*count > 0).then(|| format!("Esc: stops, {count} back"));
                [Some(full), back, Some("Esc: stops".to_owned())].into_iter().flatten().collect()
            }
            Self::TakeBack(1) => vec!["Esc: the pending text comes back".to_owned(), "Esc: 1 back".to_owned()],
            Self::TakeBack(count) => vec![format!("Esc: {count} pending come back"), format!("Esc: {count} back")],
            Self::Nothing => Vec::new(),
        }
    }
}
