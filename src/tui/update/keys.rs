//! What the keys do. The meaning of a key is looked up in the keymap; here it is carried out on the state.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::transcript::shown;
use super::{
    carry_out, command, escape, leave_message, line, mouse, take_back, transcript, with_agents, with_message,
    with_pause, with_pending,
};
use crate::agents::{self, type_filter};
use crate::app::letters;
use crate::approval::QuestionSubject;
use crate::commands::{CommandEntry, Verb};
use crate::effect::{Outcome, PaneEffect};
use crate::help::{CheatSheet, Help};
use crate::keymap::{Action, Answer, Chord, Context, Edit, LookKey, ReadKey, Travel, WriteKey, option_hint};
use crate::message::vim::VimOutcome;
use crate::message::{Expanded, Message, bring_back, history_search, send};
use crate::msg::{EditorSubject, Effect};
use crate::plan;
use crate::state::{App, Cause, Medium, Pane};
use crate::transcript::{self as transcripts, scroll};
use crate::{approval, branch, conversation, jobs, palette, pause, pending, rules, undo};
use steersman_base::protocol::{ModeChoice, Request};
use steersman_base::steering::TextKind;
use steersman_session::model::agents::AgentNode;

pub(super) fn press(app: &mut App, key: &KeyEvent) -> Vec<Effect> {
    app.message.history.awaited = false;
    let chord = app.focus.take_chord(key);
    let had_sheet = app.focus.overlays.is_on::<CheatSheet>();
    if had_sheet {
        app.focus.overlays.close();
        if chord.typed().is_none() {
            return Vec::new();
        }
    }
    if is_for_message(app, chord) {
        app.focus.go(Pane::Composer);
    }
    app.focus.by_click = false;
    if chord.typed().is_none() {
        app.letters = None;
    }
    let App { questions, message, focus, ui, .. } = app;
    if let Outcome::Consumed(wanted) = approval::choose(questions, chord, message, focus, ui) {
        let effects = carry_out(app, wanted);
        app.status.disarm_quit();
        return effects;
    }
    let action = app.ui.keymap.lookup(app.focus.context(), chord);
    if action != Some(Action::Clear) {
        app.status.disarm_quit();
    }
    if chord.is_prefixed && action.is_none() {
        app.status.say(prefix_sentence(chord), app.ui.now);
        return Vec::new();
    }
    if app.ui.keymap.is_prefix(app.focus.context(), chord) {
        app.focus.is_prefixed = true;
        if app.ui.medium == Medium::Lines {
            app.status.say("Ctrl+X: the next key says what for", app.ui.now);
        }
        return Vec::new();
    }
    let action = chord.typed().map_or(action, |letter| letters::note(app, letter, action));
    if let Some(overlay) = app.focus.overlays.top_mut()
        && let Outcome::Consumed(wanted) = overlay.key(chord, &app.ui)
    {
        return carry_out(app, wanted);
    }
    match action {
        Some(Action::Answer(answer)) => {
            if let Some(effects) = self::answer(app, answer) {
                return effects;
            }
        }
        Some(action) => return act(app, action),
        None => {}
    }
    if chord.alt_char().is_some() {
        app.status.say(format!("{chord} does nothing here"), app.ui.now);
        return Vec::new();
    }
    if let Some(c) = chord.typed() {
        if app.focus.is_on(Pane::Filter) {
            return with_agents(app, |pane, ui| type_filter(pane, c.encode_utf8(&mut [0; 4]), ui)).unwrap_or_default();
        }
        if app.focus.is_on(Pane::Search) {
            transcript::type_search(app, c.encode_utf8(&mut [0; 4]));
            return Vec::new();
        }
        if app.focus.is_on(Pane::History) {
            return with_message(app, |message, _| history_search::type_text(message, c.encode_utf8(&mut [0; 4])));
        }
        if c == '?' && !had_sheet && is_empty_draft(app) {
            app.focus.overlays.open(CheatSheet::default());
            return Vec::new();
        }
        if !app.status.option_hinted
            && is_empty_draft(app)
            && let Some(hint) = option_hint(c)
        {
            app.status.option_hinted = true;
            app.status.say(hint, app.ui.now);
        }
        if !app.message.takes_commands() {
            letters::make_text(app);
        }
        app.focus.go(Pane::Composer);
        match app.message.vim_key(c) {
            Some(VimOutcome::Action(action, times)) => {
                return (0..times).flat_map(|_| act(app, action)).collect();
            }
            Some(VimOutcome::Says(sentence)) => app.status.say(sentence, app.ui.now),
            Some(VimOutcome::Done) => {}
            None => app.message.type_char(c),
        }
    }
    Vec::new()
}

/// Tells whether a character would be the first of a new message.
fn is_empty_draft(app: &App) -> bool {
    let is_free = app.focus.is_on(Pane::Composer) && app.message.is_empty() && app.is_drafting();
    is_free && app.ui.medium == Medium::Screen
}

/// Says that two keys have no meaning.
pub(super) fn prefix_sentence(chord: Chord) -> String {
    match chord.code {
        KeyCode::Esc => "Ctrl+X: cancelled".to_owned(),
        _ => format!("{chord} does nothing here"),
    }
}

/// Tells whether a key types a letter into the message although a click has led to another pane: all but the one that
/// copies what was selected with the mouse.
fn is_for_message(app: &App, chord: Chord) -> bool {
    let copies = app.ui.keymap.lookup(app.focus.context(), chord) == Some(Action::Read(ReadKey::Copy))
        && app.reader().is_some_and(|reader| reader.selection.is_some());
    app.focus.by_click && app.focus.overlays.is_empty() && chord.typed().is_some() && !copies
}

/// Types many characters at once, which may be a paste: where single letters are keys they are pressed one by one, up to
/// one that does more than show something. It and the rest are text, and nothing is decided before the next frame.
pub(super) fn type_text(app: &mut App, text: &str) -> Vec<Effect> {
    app.pause.hide();
    app.status.disarm_quit();
    app.letters = None;
    // After Ctrl+X the first character is the second key.
    if app.focus.is_prefixed
        && let Some(c) = text.chars().next()
    {
        let mut effects = press(app, &KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
        effects.extend(type_text(app, text.get(c.len_utf8()..).unwrap_or_default()));
        return effects;
    }
    if app.focus.by_click {
        app.focus.go(Pane::Composer);
    }
    if app.focus.is_on(Pane::Search) {
        transcript::type_search(app, text);
        return Vec::new();
    }
    let mut effects = Vec::new();
    let mut rest = text.chars();
    while !app.focus.is_on(Pane::Composer)
        && let Some(c) = rest.clone().next()
    {
        let key = KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
        let action = app.ui.keymap.lookup(app.focus.context(), Chord::from_event(&key));
        if c == '\n' || action.is_some_and(|action| !action.only_shows()) {
            letters::make_text(app);
            app.focus.go(Pane::Composer);
            break;
        }
        rest.next();
        effects.extend(press(app, &key));
    }
    super::insert(app, rest.as_str(), Message::type_burst);
    effects
}

fn act(app: &mut App, action: Action) -> Vec<Effect> {
    if action != Action::Send {
        app.pause.other_key();
    }
    if let Outcome::Consumed(wanted) = palette::key(&mut app.palette, action, &app.message.shown()) {
        return carry_out(app, wanted);
    }
    match action {
        Action::Send => return enter(app),
        Action::FollowUp => {
            return lone_answer(app).unwrap_or_else(|| with_message(app, send::follow_up));
        }
        Action::Escape if app.ui.medium == Medium::Lines => return leave_message(app),
        Action::Clear if app.ui.medium == Medium::Lines => return line::interrupt(app),
        Action::Escape => return escape::press(app),
        Action::Clear => return clear(app),
        Action::QuitOrDelete => return quit_or_delete(app),
        Action::TakeBack => return take_back(app),
        Action::ChooseModel => return command::choose_model(app),
        Action::Prefill(words) => command::prefill(app, words.0),
        Action::NextTheme => return command::run(app, Verb::Theme, ""),
        Action::New => return command::run(app, Verb::New, ""),
        Action::Reset => return command::run(app, Verb::Reset, ""),
        Action::Quit => return vec![leave(app)],
        Action::Answer(answer) => return self::answer(app, answer).unwrap_or_default(),
        Action::UndoChanges => return run(app, &undo::COMMAND),
        Action::NextMode => return vec![Effect::Request(Request::SetMode { choice: ModeChoice::Next })],
        Action::Retry if replaces_task(app) => {}
        Action::Retry => return run(app, &conversation::RETRY),
        Action::Redraw => return vec![Effect::Redraw],
        Action::PasteImage => return with_message(app, Message::paste_image),
        Action::Editor => {
            let text = app.message.open();
            return vec![Effect::Edit { subject: EditorSubject::Draft, text }];
        }
        Action::Suspend => return vec![Effect::Suspend],
        Action::Mouse => return run(app, &mouse::COMMAND),
        Action::Look(LookKey::Zoom) => app.focus.toggle_zoom(),
        Action::Tree(key) => {
            return with_agents(app, |pane, ui| agents::tree_key(pane, key, ui)).unwrap_or_default();
        }
        Action::Look(key) => {
            return with_agents(app, |pane, ui| agents::look_key(pane, key, ui)).unwrap_or_default();
        }
        Action::Read(ReadKey::Branch) => {
            let wanted = branch::here(&app.transcripts, app.tree.selected(), &app.ui);
            return carry_out(app, [wanted]);
        }
        Action::Read(key) => return transcript::key(app, key),
        Action::Newline => app.message.newline(),
        Action::Undo => return with_message(app, bring_back::undo),
        Action::BringBack => return with_message(app, bring_back::newest),
        Action::DeliverNow => return deliver_now(app),
        Action::Pending(key) => return with_pending(app, key),
        Action::NextKind => next_kind(app),
        Action::Forward => forward(app),
        // Only changes of plans wait: they are looked at there.
        Action::FocusPending if shows_plan(app) => return run(app, &plan::PANE.command),
        Action::FocusPending => {
            let outcome = pending::focus(&mut app.pending, &app.ui.run.pending);
            return carry_out(app, outcome);
        }
        Action::BackgroundOrLeft if waits_for_command(app) => return run(app, &jobs::BACKGROUND),
        Action::BackgroundOrLeft => _ = app.message.edit(Edit::Left),
        Action::Edit(edit) => {
            let changed = app.message.edit(edit);
            // On the first row, and only there, older texts come; on the last newer ones.
            let recalls = !changed && app.focus.is_on(Pane::Composer);
            if recalls && edit == Edit::Up && takes_back(app) {
                return take_back(app);
            } else if recalls && edit == Edit::Up {
                let pending = &app.ui.run.pending;
                app.message.older(|text| pending.waiting().any(|entry| entry.message.text == text));
            } else if recalls && edit == Edit::Down {
                let pending = &app.ui.run.pending;
                app.message.newer(|text| pending.waiting().any(|entry| entry.message.text == text));
            }
        }
        // As in vim.
        Action::Write(WriteKey::Search) if app.focus.is_on(Pane::Composer) && app.message.takes_commands() => {
            return write(app, WriteKey::Redo);
        }
        Action::Write(key) => return write(app, key),
        Action::FocusTree => app.focus.go(Pane::Tree),
        Action::FocusComposer => app.focus.go(Pane::Composer),
        Action::Help => app.focus.overlays.toggle(Help::default),
        Action::Pause(key) => return with_pause(app, key),
        Action::Open(pane) => return run(app, &pane.entry().command),
        Action::ToBackground => return run(app, &jobs::BACKGROUND),
        // Nothing without the overlay or the replay that it is for.
        Action::Jump | Action::InPane(_) | Action::InReplay(_) => {}
        Action::Travel(to) => return travel(app, to),
    }
    Vec::new()
}

fn run(app: &mut App, command: &'static CommandEntry) -> Vec<Effect> {
    command::run(app, Verb::Entry(command), "")
}

/// Tells whether Up takes the newest pending text back: in an empty message, rather than a copy of what still waits.
fn takes_back(app: &App) -> bool {
    let has_written = !app.message.is_empty() || app.message.recalled().is_some();
    app.ui.medium == Medium::Screen
        && app.message.is_draft()
        && !has_written
        && app.ui.run.pending.waiting().next().is_some()
}

/// Tells whether the shown agent waits for a command that runs: one that asks for an answer first does not run yet.
fn waits_for_command(app: &App) -> bool {
    let asks = app.ui.run.agents.get(app.tree.selected()).is_some_and(AgentNode::has_questions);
    let reader = app.transcripts.reader(app.tree.selected());
    !asks && reader.is_some_and(|reader| reader.transcript.running_command().is_some())
}

/// Tells whether nothing waits but what the user changed of plans.
fn shows_plan(app: &App) -> bool {
    let run = &app.ui.run;
    app.ui.medium == Medium::Screen && run.pending.is_empty() && run.plans.waiting().next().is_some()
}

/// Carries out Enter: in an empty message it lets an agent that waits go one step.
pub(super) fn enter(app: &mut App) -> Vec<Effect> {
    if let Some(effects) = lone_answer(app) {
        return effects;
    }
    if app.ui.medium == Medium::Screen && app.message.break_line() {
        return Vec::new();
    }
    if let Some(text) = app.message.rule_typed().filter(|_| app.ui.medium == Medium::Screen) {
        app.message.load("");
        rules::ask(&mut app.questions, &text);
        return Vec::new();
    }
    let waits = app.ui.run.pauses.place(app.tree.selected()).is_some();
    if app.message.is_empty() && app.is_drafting() && waits && app.ui.medium == Medium::Screen {
        let outcome = pause::enter(&app.pause, app.tree.selected(), &app.ui);
        return carry_out(app, outcome);
    }
    app.pause.entered(app.ui.now);
    with_message(app, send::enter)
}

/// Carries out F5: the message interrupts, or what is pending does.
fn deliver_now(app: &mut App) -> Vec<Effect> {
    if let Some(effects) = lone_answer(app) {
        return effects;
    }
    let (message, known) = app.for_message();
    let outcome = match send::deliver_now(message, &known) {
        Outcome::Ignored => pending::deliver_now(&app.pending, app.message.edited(), &app.ui),
        done @ Outcome::Consumed(_) => done,
    };
    carry_out(app, outcome)
}

/// Takes the next kind for what is written, where that goes to an agent as a text.
fn next_kind(app: &mut App) {
    if app.message.about_call().is_some() || app.message.about_question().is_some() {
        app.status.say("this is about a call, it has no kind", app.ui.now);
        return;
    }
    if app.message.about_step().is_some() {
        app.status.say("this is a step of the plan, it has no kind", app.ui.now);
        return;
    }
    app.message.next_kind();
}

/// Lets a text that adds to an open task replace it, or the other way; false where the message is none.
fn replaces_task(app: &mut App) -> bool {
    let target = app.message.draft_target(&app.message_context());
    let is_text = app.message.is_draft() && !app.message.is_empty();
    let has_open_task = app.ui.run.agents.get(&target).is_some_and(|node| !node.running() && node.open_task.is_some());
    if !is_text || !has_open_task {
        return false;
    }
    let kind = if app.message.kind() == TextKind::Instead { TextKind::Add } else { TextKind::Instead };
    app.message.set_kind(kind);
    true
}

/// Lets the draft go to the running sub-agents of its agent instead, then as well.
fn forward(app: &mut App) {
    let sentence = if !app.message.is_draft() {
        "this goes where it came from"
    } else if app.message.is_empty() {
        "write the text first, then this key sends it to the sub-agents"
    } else {
        return app.message.forward();
    };
    app.status.say(sentence, app.ui.now);
}

fn write(app: &mut App, key: WriteKey) -> Vec<Effect> {
    match key {
        WriteKey::Redo => {
            if !app.message.redo() {
                app.status.say("nothing to redo", app.ui.now);
            }
        }
        WriteKey::Expand => match app.message.expand() {
            Expanded::Done => {}
            Expanded::TooLong => {
                app.status.say("too long to be shown here; Ctrl+G opens it in your editor", app.ui.now);
            }
            Expanded::NoChip => app.status.say("there is no folded paste at the cursor", app.ui.now),
        },
        WriteKey::Search => return with_message(app, |message, known| history_search::open(message, "", known)),
        WriteKey::TakeText | WriteKey::RubOut | WriteKey::RubOutWord | WriteKey::RubOutAll => {
            return with_message(app, |message, _| history_search::act(message, key));
        }
    }
    Vec::new()
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
    // What waits and starts no turn goes with the next text: nothing is to be stopped.
    if app.ui.run.runs() || app.ui.run.is_busy() {
        app.status.disarm_quit();
        return escape::stop(app);
    }
    if app.status.arm_quit(app.ui.now) { vec![leave(app)] } else { Vec::new() }
}

/// Returns how a key ends the program: one that looks at a run from elsewhere leaves it as it is.
fn leave(app: &App) -> Effect {
    if app.ui.client.is_some() { Effect::Detach } else { Effect::Quit }
}

fn quit_or_delete(app: &mut App) -> Vec<Effect> {
    let is_about = app.message.about_call().is_some()
        || app.message.about_question().is_some()
        || app.message.about_step().is_some();
    if app.message.is_empty() && !is_about {
        let asks = app.ui.run.works() && app.ui.client.is_none();
        return if asks { command::ask(app, QuestionSubject::Quit) } else { vec![leave(app)] };
    }
    if app.focus.is_on(Pane::Composer) {
        app.message.edit(Edit::Delete);
    }
    Vec::new()
}

/// Selects or scrolls, according to the focus.
fn travel(app: &mut App, to: Travel) -> Vec<Effect> {
    if let Some(effects) = with_agents(app, |pane, ui| agents::travel(pane, to, ui)) {
        return effects;
    }
    let scrolls = !matches!(to, Travel::Previous | Travel::Next);
    let pages = matches!(to, Travel::PageUp | Travel::PageDown);
    match app.focus.context() {
        Context::Paused => pause::travel(&mut app.pause, to, &app.ui),
        Context::Composer if app.questions.is_shown() && scrolls => app.questions.page(to),
        Context::Transcript => transcripts::travel(shown(app), to),
        Context::History if !pages => history_search::travel(&mut app.message, to),
        Context::Pending if !pages => pending::travel(&mut app.pending, to, &app.ui.run.pending),
        Context::Global
        | Context::Composer
        | Context::History
        | Context::Tree
        | Context::Filter
        | Context::Search
        | Context::Pending
        | Context::Help
        | Context::Details
        | Context::Choices
        | Context::Pane(_)
        | Context::Replay => scroll(shown(app), to),
    }
    Vec::new()
}

/// Gives an answer to the shown question; `None` when the key has nothing to do with a question.
fn answer(app: &mut App, answer: Answer) -> Option<Vec<Effect>> {
    let App { questions, message, focus, ui, .. } = app;
    match approval::answer(questions, answer, message, focus, ui) {
        Outcome::Ignored => None,
        Outcome::Consumed(wanted) => Some(carry_out(app, wanted)),
    }
}

/// Answers the question that stands there with the message, where that holds nothing but an answer to it; `None` where it
/// holds anything else. Such a text is never sent: one that does not answer yet stays in the message, and one that looks
/// like an answer that there is not is sent by a second key only.
fn lone_answer(app: &mut App) -> Option<Vec<Effect>> {
    if !app.message.is_draft() || app.message.is_in_lines() {
        return None;
    }
    let shown = app.message.next_draft();
    let Some(answer) = approval::lone_answer(&app.questions, &shown, app.ui.medium) else {
        let is_requested = app.questions.is_shown() && approval::seems_answer(&shown);
        if !is_requested || !app.message.refuses_once(&shown) {
            return None;
        }
        let words = approval::no_such_answer(&app.questions, app.ui.medium);
        return Some(carry_out(app, [PaneEffect::SayWhile(Some(Cause::Message(shown)), words)]));
    };
    let now = app.ui.now;
    let unarmed = app.questions.unarmed_line(None, now).filter(|_| !app.questions.armed(now));
    if let Some(unarmed) = unarmed {
        let outcome = approval::not_answered(&app.questions, unarmed);
        return Some(carry_out(app, outcome));
    }
    let is_refused = answer.is_yes() && !app.questions.is_read();
    // What is refused stays in the line that is being typed; on the screen it is selected, and part of no other text.
    if app.ui.medium == Medium::Screen || !is_refused {
        app.message.drop_next_draft();
    }
    if is_refused && app.ui.medium == Medium::Screen {
        app.questions.select_answer(answer);
    }
    let outcome = approval::give(&mut app.questions, answer, &app.ui);
    Some(carry_out(app, outcome))
}
