//! The saved sessions on the screen: the list of them, what was found in them, and the question before the screen closes for
//! another one.
//!
//! Always holds: the screen closes for something else only when no turn runs and nothing waits, or when the user said so.
//! The saved sessions as rows: `src/tui/run/sessions.rs`; tests: `session_screen.rs`.

use crate::approval::{self, Question, QuestionSubject, Rewind};
use crate::choices::{Choices, ListChoice, ListKind};
use crate::commands::{CommandEntry, Takes};
use crate::effect::{Effect, PaneEffect};
use crate::overlay::Overlays;
use crate::state::Medium;
use crate::switch::{EventPlace, SessionPlace, SessionsFor, Switch};
use crate::ui_context::UiContext;
use steersman_base::id::AgentId;
use steersman_base::text::visible_line;
use steersman_session::model::DetailPart;

/// Most sessions that the line output lists.
const LISTED_SESSIONS: usize = 10;
/// What happens to a turn when the screen closes.
pub const LEAVES: &str = "A turn that runs is stopped. What waits is held in this session until you come back.";

pub const RESUME: CommandEntry = CommandEntry::new(
    "/resume [ID]",
    Takes::Word,
    "",
    "go on with another session; without its ID: choose one",
    |context, name| vec![PaneEffect::Outside(resume(context.overlays, context.ui, name))],
);

pub const SEARCH: CommandEntry = CommandEntry::new(
    "/search WORDS",
    Takes::Text,
    "",
    "search all saved sessions for texts that hold these words; Enter opens one there",
    |context, words| vec![PaneEffect::Outside(search(context.overlays, context.ui, words))],
);

pub const REPLAY: CommandEntry = CommandEntry::new(
    "/replay",
    Takes::Nothing,
    "",
    "replay this session event by event, while the run goes on",
    |context, _| vec![replay(context.ui)],
)
.only_drawing();

/// The saved sessions.
static SAVED: ListKind = ListKind {
    titles: [" Sessions: go on with one ", " Sessions "],
    awaited: "reading the sessions…",
    empty: "no session is saved",
    choose: Some(go_on_with),
};

/// The places in them that hold the words of a search.
static FOUND: ListKind = ListKind {
    titles: [" Found in the sessions: read one there ", " Found "],
    awaited: "reading the sessions…",
    empty: "no session holds these words",
    choose: Some(read_session),
};

/// Goes on with the session of this name, or lets one be chosen.
pub fn resume(overlays: &mut Overlays, ui: &UiContext, name: &str) -> Effect {
    if !name.is_empty() {
        return Effect::ListSessions(SessionsFor::Named(name.to_owned()));
    }
    if ui.medium == Medium::Screen {
        overlays.open(Choices::awaited(&SAVED));
    }
    Effect::ListSessions(SessionsFor::Choosing)
}

/// Replays the session as far as it has come.
fn replay(ui: &UiContext) -> PaneEffect {
    match &ui.session {
        Some(session) => {
            let place = SessionPlace { session: session.clone(), place: EventPlace::default() };
            PaneEffect::Outside(Effect::ReadSession(place))
        }
        None => PaneEffect::Reply("this session is not saved, so it cannot be replayed".to_owned()),
    }
}

/// Searches all saved sessions; a place where these words stand can be chosen.
fn search(overlays: &mut Overlays, ui: &UiContext, words: &str) -> Effect {
    if ui.medium == Medium::Screen {
        overlays.open(Choices::awaited(&FOUND));
    }
    Effect::ListSessions(SessionsFor::Holding(words.to_owned()))
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
        match (fitting.next(), fitting.next()) {
            (Some(row), None) => wanted.extend(go_on_with(row, ui)),
            (None, _) => wanted.push(PaneEffect::Reply(format!("there is no session {name}; /resume lists them"))),
            (Some(_), Some(_)) => {
                let sentence = format!("{name} is the beginning of several sessions; write more of it");
                wanted.push(PaneEffect::Reply(sentence));
            }
        }
        return wanted;
    }
    let (kind, sentence) = match wanted_for {
        SessionsFor::Choosing | SessionsFor::Named(_) => {
            (&SAVED, "/resume ID goes on with a session; the beginning of the ID is enough")
        }
        SessionsFor::Holding(_) if known.is_empty() => (&FOUND, FOUND.empty),
        SessionsFor::Holding(_) => (&FOUND, "steersman replay ID --at N shows a session at event N"),
    };
    if ui.medium == Medium::Lines {
        for row in known.iter().take(LISTED_SESSIONS) {
            let line = format!("{}: {}; {}", row.id, visible_line(&row.title), visible_line(&row.details));
            wanted.push(PaneEffect::Note(AgentId::main(), line));
        }
        wanted.push(PaneEffect::Say(sentence.to_owned()));
    }
    Choices::refresh(overlays, kind, || rows);
    wanted
}

/// Reads a session at the place that was found. The list stays open for the next one.
fn read_session(row: &ListChoice, _: &UiContext) -> Vec<PaneEffect> {
    let place = SessionPlace { session: row.id.clone(), place: row.place.clone() };
    vec![PaneEffect::Outside(Effect::ReadSession(place))]
}

/// Goes on with a session, after a question where a turn runs.
fn go_on_with(row: &ListChoice, ui: &UiContext) -> Vec<PaneEffect> {
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
    wanted.push(approval::ask(Question::new(subject, "Leave this session for another?", detail)));
    wanted
}
