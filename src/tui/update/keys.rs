//! What the keys do. The meaning of a key is looked up in the keymap; here it is carried out on the state.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{
    bring_back, carry_out, command, completion, escape, external_editor, history_search, hold, ledger, line, look,
    pending, question, reading, search, sessions, submit, tree, undo,
};
use crate::protocol::{ModeChoice, Request};
use crate::tui::effect::Outcome;
use crate::tui::help::{self, Help};
use crate::tui::keymap::{Action, Chord, Context, Edit, ReadKey, WriteKey};
use crate::tui::message::Expanded;
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::focus::{Overlay, Pane};
use crate::tui::state::lines::Medium;
use crate::tui::state::question::Subject;
use crate::tui::transcript::keys::shown;
use crate::tui::transcript::scroll::ScrollRequest;

/// Carries out one key.
pub fn press(app: &mut App, key: &KeyEvent) -> Vec<Effect> {
    app.message.history.awaited = false;
    let chord = Chord::of(key);
    if is_for_message(app, chord) {
        app.focus.go(Pane::Composer);
    }
    app.focus.by_click = false;
    if let Some(effects) = question::choose(app, chord) {
        app.status.disarm_quit();
        return effects;
    }
    let action = app.keymap.lookup(app.focus.context(), chord);
    if action != Some(Action::Clear) {
        app.status.disarm_quit();
    }
    if app.focus.overlay == Some(Overlay::Help)
        && let Outcome::Consumed(effects) = help::key(&mut app.help, chord, &app.facts)
    {
        return carry_out(app, effects);
    }
    if app.focus.overlay == Some(Overlay::Choices)
        && let Some(effects) = sessions::key(app, chord)
    {
        return effects;
    }
    match action {
        Some(Action::Answer(answer)) => {
            if let Some(effects) = question::answer(app, answer) {
                return effects;
            }
        }
        Some(action) => return act(app, action),
        None => {}
    }
    if chord.alt_char().is_some() {
        app.status.say(format!("{chord} does nothing here"), app.now);
        return Vec::new();
    }
    if let Some(c) = chord.typed() {
        if app.focus.is_on(Pane::Filter) {
            tree::type_filter(app, c.encode_utf8(&mut [0; 4]));
            return Vec::new();
        }
        if app.focus.is_on(Pane::Search) {
            search::type_text(app, c.encode_utf8(&mut [0; 4]));
            return Vec::new();
        }
        if app.focus.is_on(Pane::History) {
            return history_search::type_text(app, c.encode_utf8(&mut [0; 4]));
        }
        app.focus.go(Pane::Composer);
        app.message.type_char(c);
    }
    Vec::new()
}

/// Tells whether a key types a letter into the message although a click has led to another pane: all but the one that
/// copies what was selected with the mouse.
fn is_for_message(app: &App, chord: Chord) -> bool {
    let copies = app.keymap.lookup(app.focus.context(), chord) == Some(Action::Read(ReadKey::Copy))
        && app.reader().is_some_and(|reader| reader.selection.is_some());
    app.focus.by_click && app.focus.overlay.is_none() && chord.typed().is_some() && !copies
}

/// Types many characters at once, which may be a paste: where single letters are keys they are pressed one by one, up to
/// one that does more than show something. It and the rest are text, and nothing is decided before the next frame.
pub fn type_text(app: &mut App, text: &str) -> Vec<Effect> {
    app.pause.hide();
    app.status.disarm_quit();
    if app.focus.by_click {
        app.focus.go(Pane::Composer);
    }
    if app.focus.is_on(Pane::Search) {
        search::type_text(app, text);
        return Vec::new();
    }
    let mut effects = Vec::new();
    let mut rest = text.chars();
    while !app.focus.is_on(Pane::Composer)
        && let Some(c) = rest.clone().next()
    {
        let key = KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
        let action = app.keymap.lookup(app.focus.context(), Chord::of(&key));
        if c == '\n' || action.is_some_and(|action| !action.only_shows()) {
            app.focus.go(Pane::Composer);
            break;
        }
        rest.next();
        effects.extend(press(app, &key));
    }
    super::insert(app, rest.as_str());
    effects
}

fn act(app: &mut App, action: Action) -> Vec<Effect> {
    if action != Action::Send {
        app.pause.other_key();
    }
    if completion::press(app, action) {
        return Vec::new();
    }
    match action {
        Action::Send => return submit::enter(app),
        Action::FollowUp => return submit::follow_up(app),
        Action::Escape if app.medium == Medium::Lines => return bring_back::leave(app),
        Action::Clear if app.medium == Medium::Lines => return line::interrupt(app),
        Action::Escape => return escape::press(app),
        Action::Clear => return clear(app),
        Action::QuitOrDelete => return quit_or_delete(app),
        Action::TakeBack => return pending::take_back(app),
        Action::ChooseModel => return command::choose_model(app),
        Action::Prefill(words) => command::prefill(app, words),
        Action::NextTheme => command::next_theme(app),
        Action::New => return command::ask(app, Subject::New),
        Action::Reset => return command::ask(app, Subject::Reset),
        Action::Quit => return vec![Effect::Quit],
        Action::Answer(answer) => return question::answer(app, answer).unwrap_or_default(),
        Action::UndoChanges => return undo::begin(app),
        Action::NextMode => return vec![Effect::Request(Request::SetMode { choice: ModeChoice::Next })],
        Action::Retry => return sessions::retry(app),
        Action::Redraw => return vec![Effect::Redraw],
        Action::Editor => return external_editor::open(app),
        Action::Suspend => return vec![Effect::Suspend],
        Action::Mouse => return command::mouse(app, ""),
        Action::Tree(key) => return tree::act(app, key),
        Action::Look(key) => look::act(app, key),
        Action::Read(ReadKey::Branch) => return sessions::branch_here(app),
        Action::Read(key) => return reading::act(app, key),
        Action::Newline => app.message.newline(),
        Action::Undo => return bring_back::undo(app),
        Action::BringBack => return bring_back::newest(app),
        Action::DeliverNow if !app.focus.is_on(Pane::Pending) => return submit::deliver_now(app),
        Action::EditEntry
        | Action::DeleteEntry
        | Action::MoveEarlier
        | Action::MoveLater
        | Action::AsFollowUp
        | Action::AsSteer
        | Action::Merge
        | Action::DeliverNow => return pending::act(app, action),
        Action::FocusPending => pending::focus(app),
        Action::Edit(edit) => {
            let changed = app.message.edit(edit);
            match edit {
                // On the first row, and only there, older texts come; on the last newer ones.
                Edit::Up if !changed && app.focus.is_on(Pane::Composer) => app.message.older(),
                Edit::Down if !changed && app.focus.is_on(Pane::Composer) => app.message.newer(),
                _ => {}
            }
        }
        Action::Write(key) => return write(app, key),
        Action::FocusTree => app.focus.go(Pane::Tree),
        Action::FocusTranscript => reading::focus(app),
        Action::FocusComposer => app.focus.go(Pane::Composer),
        Action::Fold => {
            let reader = shown(app);
            if let Some(cell) = reader.selected {
                reader.transcript.toggle(cell);
                reader.scroll.ask(ScrollRequest::Reveal(cell));
            }
        }
        Action::FoldAll => shown(app).transcript.toggle_all(),
        Action::Help => toggle_help(app),
        Action::HoldOrGoOn | Action::GoOn | Action::FocusGate | Action::Step | Action::EditCall | Action::SkipCall => {
            return hold::act(app, action);
        }
        Action::Ledger => ledger::toggle(app),
        Action::Jump => ledger::jump(app),
        Action::Previous | Action::Next | Action::First | Action::Last | Action::PageUp | Action::PageDown => {
            travel(app, action);
        }
    }
    Vec::new()
}

fn write(app: &mut App, key: WriteKey) -> Vec<Effect> {
    match key {
        WriteKey::Redo => {
            if !app.message.redo() {
                app.status.say("nothing to redo", app.now);
            }
        }
        WriteKey::Expand => match app.message.expand() {
            Expanded::Done => {}
            Expanded::TooLong => app.status.say("too long to be shown here; Ctrl+G opens it in your editor", app.now),
            Expanded::NoChip => app.status.say("there is no folded paste at the cursor", app.now),
        },
        WriteKey::Search => return history_search::open(app, ""),
        WriteKey::TakeText | WriteKey::RubOut | WriteKey::RubOutWord | WriteKey::RubOutAll => {
            return history_search::act(app, key);
        }
    }
    Vec::new()
}

/// Opens help from its beginning, or closes it.
fn toggle_help(app: &mut App) {
    app.focus.overlay = match app.focus.overlay {
        Some(Overlay::Help) => None,
        Some(Overlay::Ledger { .. } | Overlay::Choices) | None => {
            app.help = Help::default();
            Some(Overlay::Help)
        }
    };
}

/// Clears the message; when it is empty it stops the turn, and quits when there is none and it comes twice.
fn clear(app: &mut App) -> Vec<Effect> {
    if !app.message.is_empty() || app.message.recalled().is_some() {
        app.status.disarm_quit();
        app.message.clear();
        return Vec::new();
    }
    if !app.message.is_draft() {
        return escape::press(app);
    }
    if app.tree.main().running() || !app.run.pending.is_empty() {
        app.status.disarm_quit();
        return escape::stop(app);
    }
    if app.status.arm_quit(app.now) { vec![Effect::Quit] } else { Vec::new() }
}

fn quit_or_delete(app: &mut App) -> Vec<Effect> {
    if app.message.is_empty() && app.message.about_call().is_none() && app.message.declining().is_none() {
        return if app.tree.main().running() { command::ask(app, Subject::Quit) } else { vec![Effect::Quit] };
    }
    if app.focus.is_on(Pane::Composer) {
        app.message.edit(Edit::Delete);
    }
    Vec::new()
}

/// Selects or scrolls, according to the focus.
fn travel(app: &mut App, action: Action) {
    match (app.focus.context(), action) {
        (Context::Ledger, action) => ledger::travel(app, action),
        (Context::Gate, action) => hold::travel(app, action),
        (Context::Composer, Action::PageUp | Action::PageDown | Action::First | Action::Last)
            if app.questions.is_shown() =>
        {
            app.questions.page(action);
        }
        (Context::Details, action) => look::travel_details(app, action),
        (Context::Transcript, action) => reading::travel(app, action),
        (_, Action::PageUp) => shown(app).scroll.ask(ScrollRequest::PageUp),
        (_, Action::PageDown) => shown(app).scroll.ask(ScrollRequest::PageDown),
        (Context::History, action) => history_search::travel(app, action),
        (Context::Tree | Context::Filter, action) => tree::travel(app, action),
        (Context::Pending, action) => pending::travel(app, action),
        (_, Action::First) => shown(app).scroll.ask(ScrollRequest::Top),
        (_, Action::Last) => shown(app).scroll.ask(ScrollRequest::Bottom),
        (_, _) => {}
    }
}
