//! Branches on the screen: the list of the user's messages, and the question before a new session begins from just before one.
//!
//! Tests: `session_branch.rs`.

use crate::approval::{Question, QuestionSubject, Questions, Rewind};
use crate::choices::{Choices, ListChoice, ListKind};
use crate::commands::{CommandEntry, Takes};
use crate::effect::PaneEffect;
use crate::overlay::Overlays;
use crate::sessions::LEAVES;
use crate::switch::{BranchFiles, Switch};
use crate::transcript::cell::{Body, Cell, CellId};
use crate::transcript::{Reader, TranscriptPane};
use crate::ui_context::UiContext;
use crate::undo;
use steersman_base::id::{AgentId, MessageId};
use steersman_base::protocol::{Request, UndoneFile};
use steersman_base::text::shell_output::without_outputs;
use steersman_session::model::DetailPart;

pub const COMMAND: CommandEntry = CommandEntry::new(
    "/branch",
    Takes::Nothing,
    "b",
    "a new session from just before one of your messages, its text to be edited",
    |_, _| vec![PaneEffect::change(|app| open(&mut app.focus.overlays, app.transcripts.reader(&AgentId::main())))],
);

/// The user's messages.
static MESSAGES: ListKind = ListKind {
    titles: [" Your messages: branch from just before one ", " Your messages "],
    awaited: "",
    empty: "nothing was said yet",
    choose: Some(choose),
};

/// Opens the list of the user's messages.
pub fn open(overlays: &mut Overlays, main: Option<&Reader>) {
    let row = |(id, cell): (&MessageId, CellId)| {
        let text = match main.and_then(|reader| reader.transcript.get(cell)).map(Cell::body) {
            Some(Body::User { text, .. }) => without_outputs(text).into_owned(),
            _ => String::new(),
        };
        let title = text.lines().next().unwrap_or_default().to_owned();
        ListChoice { id: id.to_string(), title, preview: text, ..ListChoice::default() }
    };
    let rows = main.map(|reader| reader.transcript.entered().into_iter().map(row).collect());
    overlays.open(Choices::new(&MESSAGES, rows.unwrap_or_default()));
}

/// Begins a branch from just before the selected message.
pub fn here(transcripts: &TranscriptPane, shown: &AgentId, ui: &UiContext) -> PaneEffect {
    if !shown.is_main() {
        return PaneEffect::Say("only the conversation of the main agent can branch".to_owned());
    }
    let found = transcripts.reader(shown).and_then(|reader| {
        let is_selected = |(_, cell): &(&MessageId, CellId)| reader.selected == Some(*cell);
        reader.transcript.entered().into_iter().find(is_selected).map(|(id, _)| id.clone())
    });
    preview(found, ui)
}

/// Asks about the branch from just before a message.
fn choose(row: &ListChoice, ui: &UiContext) -> Vec<PaneEffect> {
    vec![PaneEffect::CloseOverlay, preview(Some(MessageId::new(row.id.clone())), ui)]
}

fn preview(message: Option<MessageId>, ui: &UiContext) -> PaneEffect {
    match (message, &ui.session) {
        (_, None) => PaneEffect::Reply("this session is not saved, so nothing can branch from it".to_owned()),
        (None, _) => PaneEffect::Say("select a message of yours first; [ and ] go from one to the next".to_owned()),
        (Some(to), Some(_)) => Request::PreviewRewind { to }.into(),
    }
}

/// Asks before a branch, with what tools changed since the message.
pub fn ask(
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
        Rewind::Offered => detail.extend(undo::parts(files, "the message")),
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
