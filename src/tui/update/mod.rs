//! The one way in which the screen changes: messages are applied to the state.
//!
//! Pure: no I/O and no clock; what is to be done outside comes back as effects. A live run, a resumed session and a
//! replay go through the same function.
//!
//! # Where things are
//!
//! - what a key changes: `keys.rs`, `mod.rs`; what the run says: `apply_update.rs`; tests: `tui_shell.rs`
//! - what a pane wants of its siblings: `src/tui/effect.rs`, and the pane's own folder; tests: `pending_list.rs`, `pause.rs`,
//!   `approval_popups/composer.rs`, `undo.rs`, `ledger.rs`
//! - what the message wants of the rest: `mod.rs`, `src/tui/message/mod.rs`; tests: `message.rs`
//! - a replay: `replay.rs`, `src/tui/timeline`; tests: `session_timeline.rs`
//! - zoom, lines between panes, tabs: `src/tui/agents/look.rs`, `src/tui/view/tabs.rs`; tests: `looks.rs`,
//!   `tests/pty/looks.rs`
//! - what the root does for the transcripts: `transcript.rs`

mod apply_update;
mod command;
mod escape;
mod keys;
pub mod line;
mod mouse;
mod replay;
pub mod transcript;

use crate::agents::{AgentsContext, AgentsPane, type_filter};
use crate::alerts;
use crate::app::App;
use crate::commands::Verb;
use crate::effect::{Outcome, PaneEffect};
use crate::keymap::{PauseKey, PendingKey};
use crate::message::{Message, MessageContext, Pasted, bring_back, history_search, send};
use crate::msg::{EditorSubject, Effect, Msg};
use crate::state::Pane;
use crate::transcript::TranscriptDrawn;
use crate::transcript::cell::Level;
use crate::{approval, compared, export, palette, pause, pending, sessions};
use apply_update::UpdateOutcome;
use jiff::Timestamp;
pub use mouse::COMMAND as MOUSE;
pub use replay::{NOT_SENT, record};
use steersman_base::protocol::Request;
use steersman_base::summary::count;

/// Applies one message; returns what is to be done outside, in order.
pub fn update(app: &mut App, msg: Msg) -> Vec<Effect> {
    if app.replay.is_some() { replay::update(app, msg) } else { reduce(app, msg) }
}

#[allow(clippy::too_many_lines)] // One arm for each kind of message.
fn reduce(app: &mut App, msg: Msg) -> Vec<Effect> {
    let mut effects = Vec::new();
    match msg {
        Msg::Key(key, at) => effects = typed(app, at, |app| keys::press(app, &key)),
        Msg::Typed(text, at) => effects = typed(app, at, |app| keys::type_text(app, &text)),
        Msg::Paste(text, at) => effects = typed(app, at, |app| paste(app, &text)),
        Msg::Mouse(event, at) => {
            app.ui.now = at;
            mouse::event(app, event, at);
        }
        Msg::Attention(attention) => app.alerts.attention = Some(attention),
        Msg::Background(background) => {
            app.ui.theme = app.ui.themes.set_background(background).unwrap_or_else(|| app.ui.theme.clone());
        }
        Msg::Resize(size) => {
            app.ui.size = size;
            app.message.unscroll();
        }
        Msg::Tick(at) => {
            app.ui.now = at;
            app.ui.run.agents.tick(at);
        }
        Msg::Update(update) => match apply_update::apply(app, update) {
            UpdateOutcome::Piece => return effects,
            UpdateOutcome::Changed(more) => {
                app.pending.follow(&app.ui.run.pending);
                effects = more;
            }
        },
        Msg::Branch(name) => app.ui.branch = name,
        Msg::StatusLine(line) => app.status.own_line = line,
        Msg::History(Ok(older)) => app.message.begin_history(older),
        Msg::History(Err(reason)) | Msg::NotRemembered(reason) => {
            effects = with_message(app, |message, _| send::not_remembered(message, &reason));
        }
        Msg::Paths(list) => effects = with_message(app, |message, known| message.take_paths(list, known)),
        Msg::ImageRead { written, outcome } => {
            effects = with_message(app, |message, known| message.image_read(&written, outcome, known));
        }
        Msg::Matched(found) => app.message.take_hits(found),
        Msg::Written { subject, outcome } => effects = carry_out(app, [export::written(subject, outcome)]),
        Msg::Sessions(wanted_for, rows) => {
            let wanted = sessions::listed(&mut app.focus.overlays, &wanted_for, rows, &app.ui);
            effects = carry_out(app, wanted);
        }
        Msg::Compared(Ok(table)) => {
            let wanted = compared::show(&mut app.focus.overlays, table, &app.ui);
            effects = carry_out(app, wanted);
        }
        Msg::Compared(Err(reason)) => app.reply(&reason),
        Msg::Replayed(Ok(recorded)) => replay::begin(app, recorded),
        Msg::Replayed(Err(reason)) => app.reply(&format!("no replay: {reason}")),
        Msg::ChooseSession => {
            effects.push(sessions::resume(&mut app.focus.overlays, &app.ui, ""));
        }
        Msg::Copied(outcome) => copied(app, outcome),
        Msg::Edited { subject, outcome } => edited(app, subject, outcome),
        Msg::Line(text, at) => {
            app.ui.now = at;
            effects = line::take_line(app, &text);
            app.questions.note_input(at);
        }
        Msg::NobodyThere(at) => {
            app.ui.now = at;
            effects = line::nobody_there(app);
        }
        Msg::Printed(question, pause) => {
            app.pause.drawn(pause);
            app.questions.drawn(question);
            return effects;
        }
        Msg::Pictures(protocol, cell) => {
            app.transcripts.pictures.support(protocol, cell);
            return effects;
        }
        Msg::PictureMade { digest, outcome } => {
            effects.extend(app.transcripts.pictures.made(digest, outcome).map(Effect::KeepPicture));
            return effects;
        }
        Msg::Looked(looked) => return transcript::looked(app, looked),
        Msg::Drawn(drawn) => {
            let TranscriptDrawn { images, room, .. } = &drawn.transcript;
            let wanted = app.transcripts.pictures.drawn(images.clone(), *room);
            effects.extend(wanted.into_iter().map(|digest| Effect::Request(Request::ReadImage { digest })));
            effects.extend(app.transcripts.drawn(drawn.transcript).map(Effect::Colour));
            if let Some(overlay) = app.focus.overlays.top_mut() {
                overlay.drawn(drawn.overlay);
            }
            app.pause.drawn(drawn.pause);
            app.regions = drawn.regions;
            app.tree.viewport.drawn(drawn.agents);
            app.questions.drawn(drawn.question);
            return effects;
        }
        Msg::Coloured(found) => {
            app.transcripts.colours.add(found);
            return effects;
        }
        Msg::Shown(question, at) => {
            app.questions.shown(question, at);
            return effects;
        }
    }
    pause::settle_focus(&mut app.focus, app.tree.selected(), &app.ui);
    app.settle_panes();
    approval::settle_quit(&mut app.questions, &app.ui);
    settle_history_search(app);
    effects.extend(with_message(app, |message, known| {
        message.bind_draft(known);
        bring_back::follow(message, known)
    }));
    effects.extend(alerts::due(&mut app.alerts, &app.questions, app.ui.now));
    effects.extend(with_message(app, Message::type_path));
    effects.extend(refresh_palette(app));
    app.fit_composer();
    app.settle_message();
    effects
}

/// Lets the pane of the agents do something; `None` when it was not for the pane.
fn with_agents<F>(app: &mut App, act: F) -> Option<Vec<Effect>>
where
    F: FnOnce(&mut AgentsPane, &AgentsContext<'_>) -> Outcome,
{
    let App { ui, focus, regions, tree, .. } = app;
    match act(tree, &AgentsContext { ui, agents: &ui.run.agents, focus, regions }) {
        Outcome::Ignored => None,
        Outcome::Consumed(wanted) => {
            let effects = carry_out(app, wanted);
            if effects.contains(&Effect::Request(Request::Stop)) {
                app.ui.run.agents.cancelling(app.ui.now);
            }
            Some(effects)
        }
    }
}

/// Takes what the user typed at this moment.
fn typed(app: &mut App, at: Timestamp, take: impl FnOnce(&mut App) -> Vec<Effect>) -> Vec<Effect> {
    app.ui.now = at;
    line::begins(app);
    let effects = take(app);
    app.questions.note_input(at);
    effects
}

/// Lets the message do something, and carries out what it wants.
fn with_message(app: &mut App, act: impl FnOnce(&mut Message, &MessageContext<'_>) -> Vec<PaneEffect>) -> Vec<Effect> {
    let (message, known) = app.for_message();
    let wanted = act(message, &known);
    carry_out(app, wanted)
}

/// Carries out what a pane wants of the root; returns what is to be done outside, in order.
fn carry_out(app: &mut App, wanted: impl IntoIterator<Item = PaneEffect>) -> Vec<Effect> {
    let mut effects = Vec::new();
    for wanted in wanted {
        effects.extend(carry_out_one(app, wanted));
    }
    effects
}

fn carry_out_one(app: &mut App, wanted: PaneEffect) -> Vec<Effect> {
    let App { ui, status, .. } = app;
    match wanted {
        PaneEffect::Outside(effect) => return vec![effect],
        PaneEffect::Say(sentence) => status.say(sentence, ui.now),
        PaneEffect::SayWhile(cause, sentence) => status.say_while(cause, sentence, ui.now),
        PaneEffect::Reply(sentence) => app.reply(&sentence),
        PaneEffect::Quiet => status.quiet(),
        PaneEffect::Note(agent, text) => app.reader_mut(&agent).transcript.add_notice(Level::Info, &text),
        PaneEffect::Focus(pane) => app.focus.go(pane),
        PaneEffect::CloseOverlay => app.focus.overlays.close(),
        PaneEffect::Call(call) => {
            let more = call.carry_out(app);
            return carry_out(app, more);
        }
    }
    Vec::new()
}

/// Asks for what Enter does, wherever the text came from.
pub fn enter() -> PaneEffect {
    PaneEffect::call(|app| keys::enter(app).into_iter().map(PaneEffect::Outside).collect())
}

/// Asks for a command.
pub fn run(verb: Verb, argument: impl Into<String>) -> PaneEffect {
    let argument = argument.into();
    PaneEffect::call(move |app| command::run(app, verb, &argument).into_iter().map(PaneEffect::Outside).collect())
}

/// Carries out a key of the panel of the shown agent, or one that pauses it or lets it go on.
fn with_pause(app: &mut App, key: PauseKey) -> Vec<Effect> {
    let outcome = pause::act(&mut app.pause, key, app.tree.selected(), &app.ui);
    carry_out(app, outcome)
}

/// Carries out a key of the list of pending texts.
fn with_pending(app: &mut App, key: PendingKey) -> Vec<Effect> {
    let outcome = pending::act(&mut app.pending, key, app.message.edited(), &app.ui);
    carry_out(app, outcome)
}

/// Ends what is written first without its effect; what it says can be brought back.
fn leave_message(app: &mut App) -> Vec<Effect> {
    let wanted = bring_back::abandon(&mut app.message);
    carry_out(app, wanted)
}

/// Asks for the newest pending text, to be put into the message.
fn take_back(app: &mut App) -> Vec<Effect> {
    let first = app.message.blocked();
    let outcome = first.map_or_else(|| pending::take_back(&app.ui.run.pending), Outcome::one);
    carry_out(app, outcome)
}

/// Ends the search of the history when something else has got the keys.
fn settle_history_search(app: &mut App) {
    if app.focus.pane != Pane::History {
        app.message.search = None;
    } else if app.message.search.is_none() {
        app.focus.pane = Pane::Composer;
    }
}

/// Makes the offers for what is typed now.
fn refresh_palette(app: &mut App) -> Vec<Effect> {
    let mut palette = std::mem::take(&mut app.palette);
    let wanted = palette::refresh(&mut palette, &app.message, &app.message_context());
    app.palette = palette;
    carry_out(app, wanted)
}

/// Takes what came back from the external editor.
fn edited(app: &mut App, subject: EditorSubject, outcome: Result<String, String>) {
    let sentence = match (subject, outcome) {
        (EditorSubject::Draft, outcome) => app.message.editor_ended(outcome),
        (EditorSubject::Entry, Ok(_)) => None,
        (EditorSubject::Entry, Err(reason)) => Some(format!("not opened: {reason}")),
    };
    if let Some(sentence) = sentence {
        app.status.say(sentence, app.ui.now);
    }
}

/// Says how a copy went.
fn copied(app: &mut App, outcome: Result<String, String>) {
    let what = app.transcripts.take_copied().map(|what| format!("{what}: ")).unwrap_or_default();
    let sentence = match outcome {
        Ok(how) => format!("{what}copied {how}"),
        Err(reason) => format!("not copied: {reason}"),
    };
    app.status.say(sentence, app.ui.now);
}

fn paste(app: &mut App, text: &str) -> Vec<Effect> {
    app.status.disarm_quit();
    app.focus.is_prefixed = false;
    if app.focus.is_on(Pane::Filter) {
        return with_agents(app, |pane, ui| type_filter(pane, text, ui)).unwrap_or_default();
    }
    if app.focus.is_on(Pane::History) {
        return with_message(app, |message, _| history_search::type_text(message, text));
    }
    if app.focus.is_on(Pane::Search) {
        transcript::type_search(app, text);
        return Vec::new();
    }
    app.focus.go(Pane::Composer);
    insert(app, text, Message::paste);
    with_message(app, |message, known| message.attach_pasted(text, known))
}

/// Puts a text into the message that came at once.
fn insert(app: &mut App, text: &str, put: fn(&mut Message, &str) -> Pasted) {
    approval::type_digit(&mut app.questions, &mut app.message);
    match put(&mut app.message, text) {
        Pasted::Whole => {}
        Pasted::Cleaned(removed) => {
            let what = count(removed, "control or invisible character");
            app.status.say(format!("paste: left out {what}"), app.ui.now);
        }
        Pasted::TooLong => {
            app.status.say("not pasted: a message has at most 2 MiB", app.ui.now);
        }
    }
}
