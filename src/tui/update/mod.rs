//! The one way in which the screen changes: a fold of messages into the state.
//!
//! Pure: no I/O and no clock; what is to be done outside comes back as effects. A live run, a resumed session and a
//! replay feed the same fold.
//!
//! # Where things are
//!
//! - what a key changes: `keys.rs`, `mod.rs`; what the run says: `post.rs`; stories: `tui_shell.rs`
//! - what a pane wants of its siblings, here of the message and the transcript: `pending.rs`, `call_text.rs`, `question.rs`,
//!   `approval.rs`, `ledger.rs`; stories: `pending_list.rs`, `pause.rs`,
//!   `approval_popups/composer.rs`, `undo.rs`, `ledger.rs`
//! - what the message wants of the rest: `message.rs`, `src/tui/message/mod.rs`; stories: `message.rs`
//! - a replay: `replay.rs`, `src/tui/timeline`; stories: `session/timeline.rs`
//! - zoom, lines between panes, tabs: `src/tui/agents/look.rs`, `src/tui/view/tabs.rs`; stories: `looks.rs`,
//!   `tests/pty/looks.rs`

mod approval;
mod budget;
mod call_text;
mod command;
mod escape;
pub mod export;
mod hooks;
mod jobs;
mod keys;
mod ledger;
pub mod line;
mod message;
mod mouse;
mod pending;
mod plan;
mod post;
mod question;
mod replay;
mod rules;
mod servers;
mod sessions;
mod transcript;

use crate::protocol::{ApprovalId, Request};
use crate::tui::agents::{AgentsFacts, AgentsPane, type_filter};
use crate::tui::alerts::{self, AlertFacts, Alerts};
use crate::tui::app::App;
use crate::tui::effect::{Outcome, PaneEffect};
use crate::tui::keymap::{PauseKey, PendingKey};
use crate::tui::message::{Message, Pasted, bring_back, history_search, send};
use crate::tui::msg::{EditorSubject, Effect, Msg};
use crate::tui::state::Pane;
use crate::tui::transcript::TranscriptDrawn;
use crate::tui::transcript::cell::Level;
use crate::tui::{palette, pause};
use post::PostOutcome;

/// Folds one message in; returns what is to be done outside, in order.
pub fn update(app: &mut App, msg: Msg) -> Vec<Effect> {
    if app.replay.is_some() { replay::update(app, msg) } else { fold(app, msg) }
}

#[allow(clippy::too_many_lines)] // One arm for each kind of message.
fn fold(app: &mut App, msg: Msg) -> Vec<Effect> {
    let mut effects = Vec::new();
    match msg {
        Msg::Key(key, at) => {
            app.facts.now = at;
            line::begins(app);
            effects = keys::press(app, &key);
            app.questions.heard(at);
        }
        Msg::Typed(text, at) => {
            app.facts.now = at;
            line::begins(app);
            effects = keys::type_text(app, &text);
            app.questions.heard(at);
        }
        Msg::Paste(text, at) => {
            app.facts.now = at;
            line::begins(app);
            effects = paste(app, &text);
            app.questions.heard(at);
        }
        Msg::Mouse(event, at) => {
            app.facts.now = at;
            effects = mouse::event(app, event, at);
        }
        Msg::Attention(attention) => app.alerts.attention = Some(attention),
        Msg::Background(ground) => {
            app.facts.theme = app.facts.themes.learn(ground).unwrap_or_else(|| app.facts.theme.clone());
        }
        Msg::Resize(size) => {
            app.facts.size = size;
            app.message.unscroll();
        }
        Msg::Tick(at) => {
            app.facts.now = at;
            app.facts.run.agents.tick(at);
        }
        Msg::Post(post) => match post::apply(app, post) {
            PostOutcome::Piece => return effects,
            PostOutcome::Changed(more) => {
                app.pending.follow(&app.facts.run.pending);
                effects = more;
            }
        },
        Msg::Branch(name) => app.facts.branch = name,
        Msg::History(Ok(older)) => app.message.begin_history(older),
        Msg::History(Err(reason)) | Msg::NotRemembered(reason) => {
            effects = message::with(app, |message, _| send::not_remembered(message, &reason));
        }
        Msg::Paths(list) => effects = message::with(app, |message, known| message.take_paths(list, known)),
        Msg::ImageRead { written, outcome } => {
            effects = message::with(app, |message, known| message.image_read(&written, outcome, known));
        }
        Msg::Matched(found) => app.message.take_hits(found),
        Msg::Written { subject, outcome } => effects = carry_out(app, vec![export::written(subject, outcome)]),
        Msg::Sessions(wanted_for, rows) => {
            let wanted = sessions::listed(&mut app.focus.overlays, &wanted_for, rows, &app.facts);
            effects = carry_out(app, wanted);
        }
        Msg::Compared(Ok(table)) => {
            let wanted = sessions::compared(&mut app.focus.overlays, table, &app.facts);
            effects = carry_out(app, wanted);
        }
        Msg::Compared(Err(reason)) => app.reply(&reason),
        Msg::Replayed(Ok(recorded)) => replay::begin(app, recorded),
        Msg::Replayed(Err(reason)) => app.reply(&format!("no replay: {reason}")),
        Msg::ChooseSession => {
            effects.push(sessions::resume(&mut app.focus.overlays, &app.facts, ""));
        }
        Msg::Copied(outcome) => copied(app, outcome),
        Msg::Edited { subject, outcome } => edited(app, subject, outcome),
        Msg::Line(text, at) => {
            app.facts.now = at;
            effects = line::take(app, &text);
            app.questions.heard(at);
        }
        Msg::NobodyThere(at) => {
            app.facts.now = at;
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
            app.transcripts.colours.take(found);
            return effects;
        }
        Msg::Shown(question, at) => {
            app.questions.shown(question, at);
            return effects;
        }
    }
    call_text::settle_focus(&mut app.focus, app.tree.selected(), &app.facts);
    app.settle_panes();
    question::settle_quit(&mut app.questions, &app.facts);
    settle_history_search(app);
    effects.extend(message::with(app, |message, known| {
        message.bind_draft(known);
        bring_back::follow(message, known)
    }));
    effects.extend(with_alerts(app, alerts::due));
    effects.extend(message::with(app, Message::type_path));
    effects.extend(refresh_palette(app));
    app.fit_composer();
    app.settle_message();
    effects
}

/// Lets the pane of the agents do something; `None` when it was not for the pane.
fn with_agents<F>(app: &mut App, act: F) -> Option<Vec<Effect>>
where
    F: FnOnce(&mut AgentsPane, &AgentsFacts<'_>) -> Outcome,
{
    let App { facts, focus, regions, tree, .. } = app;
    match act(tree, &AgentsFacts { facts, agents: &facts.run.agents, focus, regions }) {
        Outcome::Ignored => None,
        Outcome::Consumed(wanted) => {
            let effects = carry_out(app, wanted);
            if effects.contains(&Effect::Request(Request::Stop)) {
                app.facts.run.agents.cancelling(app.facts.now);
            }
            Some(effects)
        }
    }
}

/// Lets the notifications do something with their facts.
fn with_alerts<T>(app: &mut App, act: impl FnOnce(&mut Alerts, &AlertFacts<'_>) -> T) -> T {
    let App { alerts, facts, questions, .. } = app;
    act(alerts, &AlertFacts { now: facts.now, pending: &facts.run.pending, questions })
}

/// Carries out what a pane wants of the root; returns what is to be done outside, in order.
fn carry_out(app: &mut App, wanted: Vec<PaneEffect>) -> Vec<Effect> {
    let mut effects = Vec::new();
    for wanted in wanted {
        match wanted {
            PaneEffect::Outside(effect) => effects.push(effect),
            PaneEffect::Say(sentence) => app.status.say(sentence, app.facts.now),
            PaneEffect::SayWhile(cause, sentence) => app.status.say_while(cause, sentence, app.facts.now),
            PaneEffect::Reply(sentence) => app.reply(&sentence),
            PaneEffect::Focus(pane) => app.focus.go(pane),
            PaneEffect::EditEntry(agent, id) => effects.extend(message::ask(app, agent, id)),
            PaneEffect::WriteAboutCall(agent, what) => {
                let wanted = call_text::write(&mut app.message, agent, what, &app.facts);
                effects.extend(carry_out(app, wanted));
            }
            // In a replay nothing is written.
            PaneEffect::WriteStep(..) if app.replay.is_some() => app.status.say(replay::NOT_SENT, app.facts.now),
            PaneEffect::WriteStep(agent, what) => {
                let wanted = plan::write(&mut app.message, agent, what, &app.facts);
                effects.extend(carry_out(app, wanted));
            }
            PaneEffect::SendStep => {
                let wanted = plan::commit(&app.message);
                effects.extend(carry_out(app, wanted));
            }
            PaneEffect::WriteNo(id) => {
                let wanted = approval::decline(&mut app.message, id);
                effects.extend(carry_out(app, vec![wanted]));
            }
            PaneEffect::FillForm(id) => {
                let wanted = approval::fill_form(&mut app.message, id, &app.facts);
                effects.extend(carry_out(app, vec![wanted]));
            }
            PaneEffect::SendForm(id) => {
                let App { questions, message, facts, .. } = app;
                let outcome = approval::send_form(questions, message, id, facts);
                effects.extend(carry_out_outcome(app, outcome));
            }
            PaneEffect::EndFirst => {
                message::blocked(app);
            }
            PaneEffect::ShowText(agent, id) => {
                let App { transcripts, tree, facts, .. } = app;
                let wanted = ledger::show(transcripts, tree, &agent, &id, facts);
                effects.extend(carry_out(app, vec![wanted]));
            }
            PaneEffect::ShowAnswer(agent, id) => {
                let App { transcripts, tree, facts, .. } = app;
                let wanted = ledger::show_answer(transcripts, tree, &agent, &id, facts);
                effects.extend(carry_out(app, vec![wanted]));
            }
            PaneEffect::NewConversation => {
                app.empty_at_reset();
                effects.extend(command::reset(app));
            }
            PaneEffect::ResetConversation => effects.extend(command::reset(app)),
            PaneEffect::AskStopJob(job) => {
                let wanted = jobs::ask_stop(&mut app.questions, &job, &app.facts);
                effects.extend(carry_out(app, wanted.into_iter().collect()));
            }
            PaneEffect::UndoChanges(scope) => {
                let wanted = approval::confirm_undo(scope, &app.facts);
                effects.extend(carry_out(app, vec![wanted]));
            }
            PaneEffect::CloseOverlay => app.focus.overlays.close(),
            PaneEffect::Chosen(subject, row) => {
                let wanted = sessions::chosen(&mut app.questions, subject, row, &app.facts);
                effects.extend(carry_out(app, wanted));
            }
            PaneEffect::Quiet => app.status.quiet(),
            PaneEffect::Note(agent, text) => app.reader_mut(&agent).transcript.tell(Level::Info, &text),
            PaneEffect::Enter => effects.extend(keys::enter(app)),
            PaneEffect::Run(verb, argument) => effects.extend(command::run(app, verb, &argument)),
            PaneEffect::DecideCall => effects.extend(commit_call(app)),
            PaneEffect::Decline(id) => effects.extend(decline(app, id)),
            PaneEffect::KeepEntry(id) => app.pending.keep(id),
            PaneEffect::Complete(Some(chars), text) => app.message.complete(chars, &text),
            PaneEffect::Complete(None, text) => app.message.load(&text),
        }
    }
    effects
}

/// Carries out what a pane answers, where a key that it ignores means nothing else.
fn carry_out_outcome(app: &mut App, outcome: Outcome) -> Vec<Effect> {
    match outcome {
        Outcome::Ignored => Vec::new(),
        Outcome::Consumed(wanted) => carry_out(app, wanted),
    }
}

/// Carries out a key of the panel of the shown agent, or one that pauses it or lets it go on.
fn with_pause(app: &mut App, key: PauseKey) -> Vec<Effect> {
    let outcome = pause::act(&mut app.pause, key, app.tree.selected(), &app.facts);
    carry_out_outcome(app, outcome)
}

/// Carries out a key of the list of pending texts.
fn with_pending(app: &mut App, key: PendingKey) -> Vec<Effect> {
    let outcome = pending::act(&mut app.pending, key, &app.message, &app.facts);
    carry_out_outcome(app, outcome)
}

/// Asks for the newest pending text, to be put into the message.
fn take_back(app: &mut App) -> Vec<Effect> {
    let outcome = pending::take_back(&app.message, &app.facts);
    carry_out_outcome(app, outcome)
}

/// Decides about the call that the message is about.
fn commit_call(app: &mut App) -> Vec<Effect> {
    let outcome = call_text::commit(&app.message);
    carry_out_outcome(app, outcome)
}

fn decline(app: &mut App, id: ApprovalId) -> Vec<Effect> {
    let outcome = approval::commit(&mut app.questions, &mut app.message, id, &app.facts);
    carry_out_outcome(app, outcome)
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
    let wanted = palette::refresh(&mut palette, &app.message, &app.known());
    app.palette = palette;
    carry_out(app, wanted)
}

/// Takes what came back from the external editor.
fn edited(app: &mut App, subject: EditorSubject, outcome: Result<String, String>) {
    let sentence = match (subject, outcome) {
        (EditorSubject::Draft, outcome) => app.message.edited(outcome),
        (EditorSubject::Entry, Ok(_)) => None,
        (EditorSubject::Entry, Err(reason)) => Some(format!("not opened: {reason}")),
    };
    if let Some(sentence) = sentence {
        app.status.say(sentence, app.facts.now);
    }
}

/// Says how a copy went.
fn copied(app: &mut App, outcome: Result<String, String>) {
    let what = app.transcripts.take_copied().map(|what| format!("{what}: ")).unwrap_or_default();
    let sentence = match outcome {
        Ok(how) => format!("{what}copied {how}"),
        Err(reason) => format!("not copied: {reason}"),
    };
    app.status.say(sentence, app.facts.now);
}

fn paste(app: &mut App, text: &str) -> Vec<Effect> {
    app.status.disarm_quit();
    if app.focus.is_on(Pane::Filter) {
        return with_agents(app, |pane, facts| type_filter(pane, text, facts)).unwrap_or_default();
    }
    if app.focus.is_on(Pane::History) {
        return message::with(app, |message, _| history_search::type_text(message, text));
    }
    if app.focus.is_on(Pane::Search) {
        transcript::type_search(app, text);
        return Vec::new();
    }
    app.focus.go(Pane::Composer);
    insert(app, text);
    message::with(app, |message, known| message.attach_pasted(text, known))
}

/// Puts a text into the message that came at once.
fn insert(app: &mut App, text: &str) {
    question::type_digit(&mut app.questions, &mut app.message);
    match app.message.paste(text) {
        Pasted::Whole => {}
        Pasted::Cleaned(count) => {
            let noun = if count == 1 { "character" } else { "characters" };
            app.status.say(format!("paste: left out {count} control or invisible {noun}"), app.facts.now);
        }
        Pasted::TooLong => {
            app.status.say("not pasted: a message has at most 2 MiB", app.facts.now);
        }
    }
}
