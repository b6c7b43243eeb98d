//! Sessions and branches on the screen: the list, the question before the screen closes, another try after a failure.
//!
//! Always holds: the screen closes for something else only when no turn runs and nothing waits, or when the user said so.

use crate::approval::{Question, QuestionSubject, Questions, Rewind, undo_parts};
use crate::compared::ComparedPane;
use crate::effect::{Effect, PaneEffect};
use crate::overlay::Overlays;
use crate::sessions::Choices;
use crate::state::{Cause, Medium};
use crate::switch::{BranchFiles, ChoiceSubject, ListChoice, SessionPlace, SessionsFor, Switch};
use crate::transcript::cell::{Body, Cell, CellId};
use crate::transcript::{Reader, TranscriptPane};
use crate::ui_context::UiContext;
use steersman_base::id::{AgentId, MessageId};
use steersman_base::protocol::{Request, ServerRequest, UndoneFile, Unfinished};
use steersman_base::summary::{ComparedRow, ComparedTable};
use steersman_base::text::visible_line;
use steersman_session::model::DetailPart;

/// Most sessions that the line output lists.
const LISTED_SESSIONS: usize = 10;
/// What happens to a turn when the screen closes.
const LEAVES: &str = "A turn that runs is stopped. What waits is held in this session until you come back.";

/// Goes on with the session of this name, or lets one be chosen.
pub fn resume(overlays: &mut Overlays, ui: &UiContext, name: &str) -> Effect {
    if !name.is_empty() {
        return Effect::ListSessions(SessionsFor::Named(name.to_owned()));
    }
    if ui.medium == Medium::Screen {
        overlays.open(Choices::awaited(ChoiceSubject::Session));
    }
    Effect::ListSessions(SessionsFor::Choosing)
}

/// Searches all saved sessions; a place where these words stand can be chosen.
pub fn search(overlays: &mut Overlays, ui: &UiContext, words: &str) -> Effect {
    if ui.medium == Medium::Screen {
        overlays.open(Choices::awaited(ChoiceSubject::Hit));
    }
    Effect::ListSessions(SessionsFor::Holding(words.to_owned()))
}

/// Compares the session that runs with another one, or two others.
///
/// # Errors
/// Why it cannot.
pub fn compare(ui: &UiContext, names: &str) -> Result<Effect, &'static str> {
    let mut names = names.split_whitespace().map(str::to_owned);
    match (names.next(), names.next(), names.next(), &ui.session) {
        (Some(first), Some(second), None, _) => Ok(Effect::Compare([first, second])),
        (Some(other), None, _, Some(own)) => Ok(Effect::Compare([own.clone(), other])),
        (Some(_), None, _, None) => Err("this session is not saved: name two others"),
        (None, ..) | (_, _, Some(_), _) => Err("name one session or two; steersman sessions lists them"),
    }
}

/// Shows two sessions side by side; in lines, says them.
pub fn compared(overlays: &mut Overlays, table: ComparedTable, ui: &UiContext) -> Vec<PaneEffect> {
    if ui.medium == Medium::Screen {
        overlays.open(ComparedPane::new(table));
        return Vec::new();
    }
    let line = |ComparedRow { name, sides: [left, right] }: ComparedRow| {
        format!("{name}: {}; {}", left.join(", "), right.join(", "))
    };
    let lines = std::iter::once(table.heading).chain(table.rows.into_iter().map(line));
    lines.map(|line| PaneEffect::Note(AgentId::main(), line)).collect()
}

/// Takes the list of sessions, or of places in them.
pub fn listed(
    overlays: &mut Overlays,
    wanted_for: &SessionsFor,
    rows: Result<Vec<ListChoice>, String>,
    ui: &UiContext,
) -> Vec<PaneEffect> {
    let mut wanted = Vec::new();
    let known = match &rows {
        Ok(known) => known.as_slice(),
        Err(reason) => {
            wanted.push(PaneEffect::Reply(reason.clone()));
            &[]
        }
    };
    if let SessionsFor::Named(name) = wanted_for {
        let mut fitting = known.iter().filter(|row| row.id.starts_with(name));
        wanted.push(match (fitting.next(), fitting.next()) {
            (Some(row), None) => PaneEffect::Chosen(ChoiceSubject::Session, row.clone()),
            (None, _) => PaneEffect::Reply(format!("there is no session {name}; /resume lists them")),
            (Some(_), Some(_)) => {
                PaneEffect::Reply(format!("{name} is the beginning of several sessions; write more of it"))
            }
        });
        return wanted;
    }
    let (subject, sentence) = match wanted_for {
        SessionsFor::Choosing | SessionsFor::Named(_) => {
            (ChoiceSubject::Session, "/resume ID goes on with a session; the beginning of the ID is enough")
        }
        SessionsFor::Holding(_) if known.is_empty() => (ChoiceSubject::Hit, "no session holds these words"),
        SessionsFor::Holding(_) => (ChoiceSubject::Hit, "steersman replay ID --at N shows a session at event N"),
    };
    if ui.medium == Medium::Lines {
        for row in known.iter().take(LISTED_SESSIONS) {
            let line = format!("{}: {}; {}", row.id, visible_line(&row.title), visible_line(&row.details));
            wanted.push(PaneEffect::Note(AgentId::main(), line));
        }
        wanted.push(PaneEffect::Say(sentence.to_owned()));
    }
    Choices::refresh(overlays, subject, || rows);
    wanted
}

pub fn chosen(questions: &mut Questions, subject: ChoiceSubject, row: ListChoice, ui: &UiContext) -> Vec<PaneEffect> {
    match subject {
        ChoiceSubject::Session => go_on_with(questions, &row, ui),
        // The list stays: it shows what becomes of it.
        ChoiceSubject::Server => {
            let name = visible_line(&row.id).into_owned();
            vec![
                PaneEffect::Say(format!("starting {name}, unless it runs")),
                Request::Servers { request: ServerRequest::Start(row.id) }.into(),
            ]
        }
        ChoiceSubject::Hook => Vec::new(),
        ChoiceSubject::Message => {
            let asked = preview(Some(MessageId::new(row.id)), ui);
            vec![PaneEffect::CloseOverlay, asked]
        }
        // The list stays open for the next one.
        ChoiceSubject::Hit => {
            vec![PaneEffect::Outside(Effect::ReadSession(SessionPlace { session: row.id, place: row.place }))]
        }
    }
}

fn go_on_with(questions: &mut Questions, row: &ListChoice, ui: &UiContext) -> Vec<PaneEffect> {
    let mut wanted = vec![PaneEffect::CloseOverlay];
    if ui.session.as_deref() == Some(row.id.as_str()) {
        wanted.push(PaneEffect::Say("this is the session that runs here".to_owned()));
        return wanted;
    }
    let switch = Switch::Resume { session: row.id.clone(), directory: row.directory.clone() };
    if !ui.run.is_under_way() {
        wanted.push(PaneEffect::Outside(Effect::Switch(switch)));
        return wanted;
    }
    let subject = QuestionSubject::Switch(switch, Rewind::Nothing);
    let detail = vec![DetailPart::Text(LEAVES.to_owned())];
    questions.ask_once(Question::new(subject, "Leave this session for another?", detail));
    wanted
}

/// Opens the list of the user's messages.
pub fn branch(overlays: &mut Overlays, main: Option<&Reader>) {
    let row = |(id, cell): (&MessageId, CellId)| {
        let text = match main.and_then(|reader| reader.transcript.get(cell)).map(Cell::body) {
            Some(Body::User { text, .. }) => text.clone(),
            _ => String::new(),
        };
        let title = text.lines().next().unwrap_or_default().to_owned();
        ListChoice { id: id.to_string(), title, preview: text, ..ListChoice::default() }
    };
    let rows = main.map(|reader| reader.transcript.entered().into_iter().map(row).collect());
    overlays.open(Choices::of(ChoiceSubject::Message, rows.unwrap_or_default()));
}

/// Begins a branch from just before the selected message.
pub fn branch_here(transcripts: &TranscriptPane, shown: &AgentId, ui: &UiContext) -> PaneEffect {
    if !shown.is_main() {
        return PaneEffect::Say("only the conversation of the main agent can branch".to_owned());
    }
    let found = transcripts.reader(shown).and_then(|reader| {
        let is_selected = |(_, cell): &(&MessageId, CellId)| reader.selected == Some(*cell);
        reader.transcript.entered().into_iter().find(is_selected).map(|(id, _)| id.clone())
    });
    preview(found, ui)
}

fn preview(message: Option<MessageId>, ui: &UiContext) -> PaneEffect {
    match (message, &ui.session) {
        (_, None) => PaneEffect::Reply("this session is not saved, so nothing can branch from it".to_owned()),
        (None, _) => PaneEffect::Say("select a message of yours first; [ and ] go from one to the next".to_owned()),
        (Some(to), Some(_)) => Request::PreviewRewind { to }.into(),
    }
}

/// Asks before a branch, with what tools changed since the message.
pub fn ask_branch(
    questions: &mut Questions,
    transcripts: &TranscriptPane,
    message: &MessageId,
    files: &[UndoneFile],
    ui: &UiContext,
) {
    let Some(reader) = transcripts.reader(&AgentId::main()) else { return };
    let cell = reader.transcript.cell_of(message).and_then(|cell| reader.transcript.get(cell));
    let Some(Body::User { text, .. }) = cell.map(Cell::body) else { return };
    let text = text.clone();
    let mut detail = vec![DetailPart::Text(text.clone())];
    if ui.run.is_under_way() {
        detail.push(DetailPart::Note(LEAVES.to_owned()));
    }
    let rewind = if files.is_empty() { Rewind::Nothing } else { Rewind::Offered };
    match rewind {
        Rewind::Offered => detail.extend(undo_parts(files, "the message")),
        Rewind::Nothing => {
            detail.push(DetailPart::Note(
                "No change of a file since then is tracked: the files stay as they are.".to_owned(),
            ));
        }
    }
    questions.retain(ui.now, |subject| !matches!(subject, QuestionSubject::Switch(..)));
    let branch = Switch::Branch { message: message.clone(), text, files: BranchFiles::Stay };
    let subject = QuestionSubject::Switch(branch, rewind);
    questions.ask_once(Question::new(subject, "Branch: a new session from just before this message?", detail));
}

/// Sends the request again that failed.
pub fn retry(ui: &UiContext) -> PaneEffect {
    if ui.run.agents.main().running() {
        return PaneEffect::SayWhile(Some(Cause::Turn), "not sent again: a turn runs".to_owned());
    }
    Request::Retry.into()
}

/// Closes the task that has no answer.
pub fn close_task(ui: &UiContext) -> PaneEffect {
    if ui.run.agents.main().running() {
        return PaneEffect::SayWhile(Some(Cause::Turn), "not closed: the agent works on the task".to_owned());
    }
    Request::CloseTask.into()
}

/// Returns the question about texts that an earlier process of the session left; `None` when none waits. One question is
/// about all, so that one key decides.
pub fn unfinished(left: &Unfinished) -> Option<Question> {
    let ids: Vec<MessageId> = left.pending.iter().map(|entry| entry.id.clone()).collect();
    let sentence = left.sentence().filter(|_| !ids.is_empty())?;
    let texts = left.pending.iter().map(|entry| DetailPart::Text(entry.text.clone())).collect();
    let title = format!("{sentence}: continue, edit or discard?");
    Some(Question::new(QuestionSubject::Unfinished(ids), title, texts))
}
