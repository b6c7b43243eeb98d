//! Sessions and branches on the screen: the list, the question before the screen closes, another try after a failure.
//!
//! Always holds: the screen closes for something else only when no turn runs and nothing waits, or when the user said so.

use crate::id::{AgentId, MessageId};
use crate::protocol::{Request, UndoneFile, Unfinished};
use crate::session::fold::DetailPart;
use crate::text::visible_line;
use crate::tui::app::App;
use crate::tui::approval::{Question, Rewind, Subject, undo_parts};
use crate::tui::keymap::Chord;
use crate::tui::msg::Effect;
use crate::tui::sessions::{Choice, ChoiceSubject, Choices, Pressed};
use crate::tui::state::cause::Cause;
use crate::tui::state::focus::Overlay;
use crate::tui::state::lines::Medium;
use crate::tui::switch::{BranchFiles, Switch};
use crate::tui::transcript::cell::{Body, Cell, CellId, Level};

/// Most sessions that are told in lines.
const TOLD: usize = 10;
/// What happens to a turn when the screen closes.
const LEAVES: &str = "A turn that runs is stopped. What waits is held in this session until you come back.";

/// Goes on with the session of this name, or lets one be chosen.
pub fn resume(app: &mut App, name: &str) -> Vec<Effect> {
    app.choices = if name.is_empty() { Choices::awaited(ChoiceSubject::Session) } else { Choices::wanting(name) };
    if name.is_empty() && app.medium == Medium::Screen {
        app.focus.overlay = Some(Overlay::Choices);
    }
    vec![Effect::ListSessions]
}

/// Takes the list of sessions.
pub fn listed(app: &mut App, rows: Result<Vec<Choice>, String>) -> Vec<Effect> {
    let known = match &rows {
        Ok(known) => known.as_slice(),
        Err(reason) => {
            app.reply(reason);
            &[]
        }
    };
    if let Some(name) = app.choices.take_wanted() {
        let mut fitting = known.iter().filter(|row| row.id.starts_with(&name));
        return match (fitting.next(), fitting.next()) {
            (Some(row), None) => go_on_with(app, row),
            (None, _) => {
                app.reply(&format!("there is no session {name}; /resume lists them"));
                Vec::new()
            }
            (Some(_), Some(_)) => {
                app.reply(&format!("{name} is the beginning of several sessions; write more of it"));
                Vec::new()
            }
        };
    }
    if app.medium == Medium::Lines {
        for row in known.iter().take(TOLD) {
            let told = format!("{}: {}; {}", row.id, visible_line(&row.title), visible_line(&row.facts));
            app.reader_mut(&AgentId::main()).transcript.tell(Level::Info, &told);
        }
        app.status.say("/resume ID goes on with a session; the beginning of the ID is enough", app.now);
    }
    app.choices.take(rows);
    Vec::new()
}

/// Carries out a key in the list; `None` when it means what it means elsewhere.
pub fn key(app: &mut App, chord: Chord) -> Option<Vec<Effect>> {
    let page = usize::from(app.size.height / 2).max(1);
    match app.choices.key(chord, &app.facts.keymap, page) {
        Pressed::Consumed => Some(Vec::new()),
        Pressed::Ignored => None,
        Pressed::Chosen(ChoiceSubject::Session, row) => Some(go_on_with(app, &row)),
        Pressed::Chosen(ChoiceSubject::Message, row) => {
            app.focus.overlay = None;
            Some(preview(app, Some(MessageId::new(row.id))))
        }
    }
}

fn go_on_with(app: &mut App, row: &Choice) -> Vec<Effect> {
    app.focus.overlay = None;
    if app.session.as_deref() == Some(row.id.as_str()) {
        app.status.say("this is the session that runs here", app.now);
        return Vec::new();
    }
    let switch = Switch::Resume { session: row.id.clone(), directory: row.directory.clone() };
    if !app.busy() {
        return vec![Effect::Switch(switch)];
    }
    app.questions.ask_once(Question {
        agent: None,
        title: "Leave this session for another?".to_owned(),
        detail: vec![DetailPart::Text(LEAVES.to_owned())],
        session: String::new(),
        rule: None,
        subject: Subject::Switch(switch, Rewind::Nothing),
    });
    Vec::new()
}

/// Opens the list of the user's messages.
pub fn branch(app: &mut App) {
    let reader = app.reader_of(&AgentId::main());
    let row = |(id, cell): (&MessageId, CellId)| {
        let text = match reader.and_then(|reader| reader.transcript.get(cell)).map(Cell::body) {
            Some(Body::User { text, .. }) => text.clone(),
            _ => String::new(),
        };
        let title = text.lines().next().unwrap_or_default().to_owned();
        Choice { id: id.to_string(), title, facts: String::new(), preview: text, directory: String::new() }
    };
    let rows = reader.map(|reader| reader.transcript.entered().into_iter().map(row).collect());
    app.choices = Choices::of(ChoiceSubject::Message, rows.unwrap_or_default());
    app.focus.overlay = Some(Overlay::Choices);
}

/// Carries out an Esc that does nothing else: the second in an empty message opens the list of messages.
pub fn escape(app: &mut App) {
    if app.medium != Medium::Screen || !app.message.is_empty() {
        return;
    }
    if app.status.cause() == Some(&Cause::Escape) && app.status.message(app.now).is_some() {
        app.status.quiet();
        branch(app);
    } else if app.reader_of(&AgentId::main()).is_some_and(|reader| !reader.transcript.entered().is_empty()) {
        app.status.say_while(Cause::Escape, "Esc again: branch from one of your messages", app.now);
    }
}

/// Begins a branch from just before the selected message.
pub fn branch_here(app: &mut App) -> Vec<Effect> {
    if !app.tree.selected().is_main() {
        app.status.say("only the conversation of the main agent can branch", app.now);
        return Vec::new();
    }
    let found = app.reader_of(&AgentId::main()).and_then(|reader| {
        let is_selected = |(_, cell): &(&MessageId, CellId)| reader.selected == Some(*cell);
        reader.transcript.entered().into_iter().find(is_selected).map(|(id, _)| id.clone())
    });
    preview(app, found)
}

fn preview(app: &mut App, message: Option<MessageId>) -> Vec<Effect> {
    match (message, &app.session) {
        (_, None) => app.reply("this session is not saved, so nothing can branch from it"),
        (None, _) => app.status.say("select a message of yours first; [ and ] go from one to the next", app.now),
        (Some(to), Some(_)) => return vec![Effect::Request(Request::PreviewRewind { to })],
    }
    Vec::new()
}

/// Asks before a branch, with what tools changed since the message.
pub fn ask_branch(app: &mut App, message: &MessageId, files: &[UndoneFile]) {
    let Some(reader) = app.reader_of(&AgentId::main()) else { return };
    let cell = reader.transcript.cell_of(message).and_then(|cell| reader.transcript.get(cell));
    let Some(Body::User { text, .. }) = cell.map(Cell::body) else { return };
    let text = text.clone();
    let mut detail = vec![DetailPart::Text(text.clone())];
    if app.busy() {
        detail.push(DetailPart::Note(LEAVES.to_owned()));
    }
    let rewind = if files.is_empty() { Rewind::Nothing } else { Rewind::Offered };
    match rewind {
        Rewind::Offered => detail.extend(undo_parts(files, "the message")),
        Rewind::Nothing => {
            detail.push(DetailPart::Note(
                "No change of a file since then is on record: files stay as they are.".to_owned(),
            ));
        }
    }
    app.questions.retain(app.now, |subject| !matches!(subject, Subject::Switch(..)));
    app.questions.ask_once(Question {
        agent: None,
        title: "Branch: a new session from just before this message?".to_owned(),
        detail,
        session: String::new(),
        rule: None,
        subject: Subject::Switch(Switch::Branch { message: message.clone(), text, files: BranchFiles::Stay }, rewind),
    });
}

/// Sends the request again that failed.
pub fn retry(app: &mut App) -> Vec<Effect> {
    if app.run.agents.main().running() {
        app.status.say_while(Cause::Turn, "not sent again: a turn runs", app.now);
        return Vec::new();
    }
    vec![Effect::Request(Request::Retry)]
}

/// Returns the question about texts that an earlier process of the session left; `None` when none waits. One question is
/// about all, so that one key decides.
pub fn unfinished(left: &Unfinished) -> Option<Question> {
    let ids: Vec<MessageId> = left.pending.iter().map(|entry| entry.id.clone()).collect();
    let sentence = left.sentence().filter(|_| !ids.is_empty())?;
    Some(Question {
        agent: None,
        subject: Subject::Unfinished(ids),
        title: format!("{sentence}: continue, edit or discard?"),
        detail: left.pending.iter().map(|entry| DetailPart::Text(entry.text.clone())).collect(),
        session: String::new(),
        rule: None,
    })
}
