//! The one way in which the screen changes: a fold of messages into the state.
//!
//! Pure: no I/O and no clock; what is to be done outside comes back as effects. A live run, a resumed session and a
//! replay feed the same fold.
//!
//! # Where things are
//!
//! - what a key or an event changes: `mod.rs`; stories: `tui_shell.rs`
//! - telling who does not look; the terminal's title: `alerts.rs`, `src/tui/terminal/alert.rs`,
//!   `src/tui/view/title.rs`; stories: `alerts.rs`, `tests/pty/terminal.rs`
//! - what is sent, and to whom: `submit.rs`, `src/tui/state/target.rs`, `src/target.rs`; stories: `targets.rs`
//! - zoom, lines between panes, tabs: `look.rs`, `src/tui/state/sight.rs`, `src/tui/view/tabs.rs`; stories:
//!   `looks.rs`, `tests/pty/looks.rs`

mod agent;
mod alerts;
mod approval;
mod bring_back;
mod budget;
mod command;
mod completion;
mod editing;
mod escape;
pub mod export;
mod external_editor;
mod history_search;
pub mod hold;
mod keys;
mod ledger;
pub mod line;
mod look;
mod mouse;
pub mod pending;
mod question;
mod receipts;
pub mod sessions;
mod submit;
mod tree;
mod undo;

use crate::event::Event;
use crate::id::AgentId;
use crate::protocol::{Notice, Post, Reply};
use crate::tui::effect::PaneEffect;
use crate::tui::message::Pasted;
use crate::tui::msg::{Effect, Msg};
use crate::tui::state::App;
use crate::tui::state::focus::Pane;
use crate::tui::state::status::HostState;
use crate::tui::transcript::{keys as reading, search_keys as search};

/// Folds one message in; returns what is to be done outside, in order.
#[allow(clippy::too_many_lines)] // One arm for each kind of message.
pub fn update(app: &mut App, msg: Msg) -> Vec<Effect> {
    let mut effects = Vec::new();
    match msg {
        Msg::Key(key, at) => {
            app.now = at;
            line::begins(app);
            effects = keys::press(app, &key);
            app.questions.heard(at);
        }
        Msg::Typed(text, at) => {
            app.now = at;
            line::begins(app);
            effects = keys::type_text(app, &text);
            app.questions.heard(at);
        }
        Msg::Paste(text, at) => {
            app.now = at;
            line::begins(app);
            effects = paste(app, &text);
            app.questions.heard(at);
        }
        Msg::Mouse(event, at) => {
            app.now = at;
            effects = mouse::event(app, event, at);
        }
        Msg::Attention(attention) => app.attention = Some(attention),
        Msg::Background(ground) => app.theme = app.themes.learn(ground).unwrap_or_else(|| app.theme.clone()),
        Msg::Resize(size) => {
            app.size = size;
            app.message.unscroll();
        }
        Msg::Tick(at) => {
            app.now = at;
            app.tree.tick(at);
        }
        Msg::Post(post) => match told(app, post) {
            Told::Piece => return effects,
            Told::Changed(more) => {
                app.pending.follow(&app.run.pending);
                effects = more;
            }
        },
        Msg::Branch(name) => app.branch = name,
        Msg::History(Ok(older)) => app.message.begin_history(older),
        Msg::History(Err(reason)) | Msg::NotRemembered(reason) => submit::not_remembered(app, &reason),
        Msg::Paths(list) => effects = completion::listed(app, list),
        Msg::Matched(found) => {
            history_search::found(app, found.clone());
            app.message.paths.take(found);
        }
        Msg::Written { subject, outcome } => export::written(app, subject, outcome),
        Msg::Sessions(rows) => effects = sessions::listed(app, rows),
        Msg::ChooseSession => effects = sessions::resume(app, ""),
        Msg::Copied(outcome) => external_editor::copied(app, outcome),
        Msg::Edited { subject, outcome } => external_editor::edited(app, subject, outcome),
        Msg::Line(text, at) => {
            app.now = at;
            effects = line::take(app, &text);
            app.questions.heard(at);
        }
        Msg::NobodyThere(at) => {
            app.now = at;
            effects = line::nobody_there(app);
        }
        Msg::Printed(question, gate) => {
            app.pause.drawn(gate);
            app.questions.drawn(question);
            return effects;
        }
        Msg::Looked(looked) => return reading::looked(app, looked),
        Msg::Drawn(drawn) => {
            app.reader_mut(&drawn.agent).scroll.settle(drawn.position, drawn.top, drawn.cells);
            app.focus.overlay = drawn.overlay;
            if let Some(drawn) = drawn.help {
                app.help.drawn(drawn);
            }
            app.pause.drawn(drawn.gate);
            app.regions = drawn.regions;
            app.sight.drawn(drawn.tops);
            app.questions.drawn(drawn.question);
            effects.extend(app.colours.want(drawn.wanted).map(Effect::Colour));
            return effects;
        }
        Msg::Coloured(found) => {
            app.colours.take(found);
            return effects;
        }
        Msg::Shown(question, at) => {
            app.questions.shown(question, at);
            return effects;
        }
    }
    hold::settle_focus(app);
    app.settle_panes();
    question::settle_quit(app);
    history_search::settle(app);
    app.bind_draft();
    bring_back::follow(app);
    effects.extend(alerts::due(app));
    effects.extend(completion::refresh(app));
    app.fit_composer();
    app.settle_message();
    effects
}

/// Carries out what a pane wants of the root; returns what is to be done outside, in order.
fn carry_out(app: &mut App, wanted: Vec<PaneEffect>) -> Vec<Effect> {
    let mut effects = Vec::new();
    for wanted in wanted {
        match wanted {
            PaneEffect::Outside(effect) => effects.push(effect),
            PaneEffect::Say(sentence) => app.status.say(sentence, app.now),
            PaneEffect::SayWhile(cause, sentence) => app.status.say_while(cause, sentence, app.now),
            PaneEffect::Reply(sentence) => app.reply(&sentence),
            PaneEffect::Focus(pane) => app.focus.go(pane),
            PaneEffect::Close => app.focus.overlay = None,
        }
    }
    effects
}

/// What a post has changed.
enum Told {
    /// A piece of a stream: they come by the thousand, and change nothing about the message.
    Piece,
    /// Anything; with what is to be done.
    Changed(Vec<Effect>),
}

/// Folds what the run says.
fn told(app: &mut App, post: Post) -> Told {
    app.run.post(&post, app.now);
    match post {
        Post::Envelope(envelope) => {
            agent::apply(app, &envelope);
            alerts::apply(app, &envelope);
            if let Event::ThinkingDelta { .. } | Event::AssistantDelta { .. } = envelope.event {
                return Told::Piece;
            }
        }
        Post::Reply(reply) => return Told::Changed(replied(app, reply)),
        Post::Queues { queues, .. } => {
            app.tree.ask_about(&queues, app.now);
            question::ask_about_stale(app);
        }
        Post::Approvals { .. } => approval::snapshot(app),
        Post::Budget(_) => {}
        Post::Notice(notice) => noticed(app, notice),
    }
    Told::Changed(Vec::new())
}

/// Folds what came of a request.
fn replied(app: &mut App, reply: Reply) -> Vec<Effect> {
    match reply {
        Reply::Injected { to, text, outcome, .. } => return submit::sent(app, &to, &text, outcome),
        Reply::Stopped(entries) => bring_back::stopped(app, &entries),
        Reply::Queue { agent, id, act, outcome } => pending::answered(app, &agent, &id, act, outcome),
        Reply::Pause { agent, state, accepted } => hold::paused(app, agent.as_ref(), state, accepted),
        Reply::Decided { agent, decision, accepted } => hold::decided(app, &agent, &decision, accepted),
        Reply::Cancelling(agents) => tree::cancelled(app, &agents),
        Reply::Answered { answer, outcome, .. } => approval::answered(app, answer, outcome),
        Reply::Mode(outcome) => approval::mode_set(app, outcome),
        Reply::UndoPreview(files) => undo::ask(app, &files),
        Reply::RewindPreview { to, files } => sessions::ask_branch(app, &to, &files),
        Reply::Undone(files) => undo::done(app, &files),
        Reply::Rules(sentences) => approval::rules_told(app, &sentences),
        Reply::Budget(_) => budget::set(app),
    }
    Vec::new()
}

/// Folds a notice.
fn noticed(app: &mut App, notice: Notice) {
    match notice {
        Notice::Ready => app.status.host = HostState::Ready,
        Notice::BuildFailed(error) => {
            let reason = error.to_string();
            app.reader_mut(&AgentId::main()).transcript.cannot_run(&reason);
            app.tree.cannot_run(&reason, app.now);
            app.status.host = HostState::Failed(reason);
        }
        Notice::Info(sentence) => app.reply(&sentence),
        Notice::Returned(entries) => bring_back::given_back(app, &entries),
        Notice::Unfinished(left) => question::begin_unfinished(app, &left),
        Notice::LocalServer(server) => command::offer(app, server),
        Notice::Models(Ok(models)) => app.message.completion.models = models,
        Notice::Models(Err(reason)) => app.reply(&format!("no list of models: {reason}")),
    }
}

fn paste(app: &mut App, text: &str) -> Vec<Effect> {
    app.status.disarm_quit();
    if app.focus.is_on(Pane::Filter) {
        tree::type_filter(app, text);
        return Vec::new();
    }
    if app.focus.is_on(Pane::History) {
        return history_search::type_text(app, text);
    }
    if app.focus.is_on(Pane::Search) {
        search::type_text(app, text);
        return Vec::new();
    }
    app.focus.go(Pane::Composer);
    insert(app, text);
    Vec::new()
}

/// Puts a text into the message that came at once.
fn insert(app: &mut App, text: &str) {
    question::type_digit(app);
    match app.message.paste(text) {
        Pasted::Whole => {}
        Pasted::Cleaned(count) => {
            let noun = if count == 1 { "character" } else { "characters" };
            app.status.say(format!("paste: left out {count} control or invisible {noun}"), app.now);
        }
        Pasted::TooLong => {
            app.status.say("not pasted: a message has at most 2 MiB", app.now);
        }
    }
}
