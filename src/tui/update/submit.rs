//! The one door of Enter, Tab and F5: what is written about a call decides about it, a pending text goes back into its
//! queue, a command is carried out, and a text goes to whom it is for.
//!
//! Always holds: the text leaves the message only when a queue has taken it, or when a command was carried out.

use crate::error::Refused;
use crate::event::Delivery;
use crate::id::{AgentId, MessageId};
use crate::protocol::Request;
use crate::target;
use crate::tui::commands::{self, Draft, LineVerb, Verb};
use crate::tui::keymap::Edit;
use crate::tui::message::purpose::Purpose;
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::cause::Cause;
use crate::tui::state::lines::Medium;
use crate::tui::state::status::HostState;
use crate::tui::state::target::Unaddressed;
use crate::tui::transcript::scroll::ScrollRequest;
use crate::tui::update::{approval, command, editing, hold, line, pending};

/// Carries out Enter.
pub fn enter(app: &mut App) -> Vec<Effect> {
    if app.message.is_empty() && app.is_drafting() && hold::waits(app) && app.medium == Medium::Screen {
        return hold::enter(app);
    }
    app.pause.entered(app.now);
    if app.message.is_in_lines() {
        return line::enter_several(app);
    }
    if app.medium == Medium::Lines && app.message.text().ends_with(line::GOES_ON) {
        // A line that ends with a backslash goes on.
        app.message.edit(Edit::LineEnd);
        app.message.edit(Edit::Backspace);
        app.message.newline();
        return Vec::new();
    }
    end_first(app, None).unwrap_or_else(|| {
        if !app.message.is_empty() {
            return submit(app, Delivery::Steer);
        }
        if app.run.pending.is_held_back() { vec![Effect::Request(Request::Resume)] } else { Vec::new() }
    })
}

/// Carries out Tab: what is sent waits for the end of the turn.
pub fn follow_up(app: &mut App) -> Vec<Effect> {
    end_first(app, Some(Delivery::FollowUp)).unwrap_or_else(|| {
        if app.message.is_empty() {
            return Vec::new();
        }
        if !app.busy() {
            app.status.say_while(Cause::NoTurn, "no turn runs, so there is nothing to follow: Enter sends", app.now);
            return Vec::new();
        }
        submit(app, Delivery::FollowUp)
    })
}

/// Carries out F5: what is sent interrupts.
pub fn deliver_now(app: &mut App) -> Vec<Effect> {
    end_first(app, Some(Delivery::Now))
        .unwrap_or_else(|| if app.message.is_empty() { pending::deliver_now(app) } else { submit(app, Delivery::Now) })
}

/// Ends what is written first; `None` when that is the draft. The delivery is that of a pending text, where it changes.
fn end_first(app: &mut App, delivery: Option<Delivery>) -> Option<Vec<Effect>> {
    Some(match app.message.first_purpose()? {
        Purpose::AboutCall(_) => hold::commit(app),
        Purpose::Decline(id) => {
            let id = *id;
            approval::commit(app, id)
        }
        Purpose::Edit(_) => editing::commit(app, delivery),
        Purpose::Recall(_) | Purpose::Line => return None,
    })
}

/// Carries the draft out as a command, or sends it, or says why not: then it stays.
pub fn submit(app: &mut App, delivery: Delivery) -> Vec<Effect> {
    // A chip is text, whatever stands in it: a paste is no command and names nobody.
    let draft = app.message.shown();
    let read = match app.medium {
        Medium::Screen => commands::read(&draft),
        Medium::Lines => commands::read_line(&draft),
    };
    match read {
        Draft::Command(command, text) if command.verb == Verb::Line(LineVerb::Later) => {
            let delivery = if app.busy() { Delivery::FollowUp } else { Delivery::Steer };
            send(app, &draft, text, delivery)
        }
        Draft::Command(command, text) if command.verb == Verb::Now => send(app, &draft, text, Delivery::Now),
        Draft::Command(command, argument) => {
            let argument = app.message.whole(argument);
            let mut effects = remember(app.message.sent());
            effects.extend(command::run(app, command.verb, &argument));
            effects
        }
        Draft::Misfit(command) => {
            app.status.say_while(Cause::Message(app.message.text()), command.misfit(), app.now);
            Vec::new()
        }
        Draft::Escaped(text) | Draft::Text(text) => send(app, &draft, text, delivery),
        Draft::NoCommand { .. } if app.message.completion.was_refused(&draft) => send(app, &draft, &draft, delivery),
        Draft::NoCommand { word } => {
            let again = match app.medium {
                Medium::Screen => "Enter again sends it as text".to_owned(),
                Medium::Lines => format!("/{word} sends it as text"),
            };
            let nearest = commands::nearest(word);
            let sentence = format!("unknown command {word}; nearest: /{nearest}. {again}");
            app.status.say_while(Cause::Message(app.message.text()), sentence, app.now);
            if app.medium == Medium::Screen {
                app.message.completion.refuse(draft);
            }
            Vec::new()
        }
    }
}

fn send(app: &mut App, draft: &str, text: &str, delivery: Delivery) -> Vec<Effect> {
    match app.address(text) {
        Ok(address) => {
            app.message.goes_out(draft.to_owned());
            let text = app.message.whole(address.text);
            address
                .to
                .into_iter()
                .map(|to| Effect::Request(Request::Inject { to, text: text.clone(), delivery }))
                .collect()
        }
        Err(Unaddressed::Ended(agent)) => {
            not_for_the_ended(app, &agent);
            Vec::new()
        }
        Err(Unaddressed::Unknown(agent)) => {
            app.status.say(format!("not sent: no agent {agent} runs; @main before it sends it as text"), app.now);
            Vec::new()
        }
    }
}

/// Takes the answer of one queue.
pub fn sent(app: &mut App, to: &AgentId, text: &str, outcome: Result<MessageId, Refused>) -> Vec<Effect> {
    let draft = app.message.outgoing().unwrap_or(text);
    let is_here = app.message.shown() == draft;
    match outcome {
        Ok(_) => {
            app.reader_mut(to).scroll.ask(ScrollRequest::Bottom);
            if is_here {
                app.status.quiet();
                return remember(app.message.sent());
            }
            // A line leaves the message before it is sent; to several agents it went once.
            if app.medium == Medium::Lines
                && let Some(line) = app.message.take_outgoing()
            {
                return remember(app.message.remember(&line));
            }
        }
        Err(Refused::Ended) if is_here => not_for_the_ended(app, to),
        Err(refused) => {
            // Another queue may have taken it before: then the draft is gone and the words say who did not get it.
            if app.medium == Medium::Lines && !is_here {
                line::keep(app, text.to_owned());
            } else if app.message.outgoing().is_none() && !is_here {
                app.message.put_before(&[text.to_owned()]);
            }
            let whom = if to.is_main() { String::new() } else { format!(" to {to}") };
            let why = match (&refused, &app.status.host) {
                (Refused::NotBuilt, HostState::Failed(reason)) => reason.clone(),
                _ => refused.to_string(),
            };
            app.reply(&format!("not sent{whom}: {why}"));
        }
    }
    Vec::new()
}

/// Says that a draft was begun for an agent that has ended since; from now on it is for the main agent, unless it names
/// the other one itself.
fn not_for_the_ended(app: &mut App, agent: &AgentId) {
    let is_named = target::seems_for(&app.message.shown()) == Some(agent.as_str());
    let how = if is_named { "@main before it sends it as text" } else { "Enter sends it to main" };
    app.status.say(format!("not sent: {agent} has ended; {how}"), app.now);
    app.message.bind(Some(AgentId::main()));
}

/// Says once that nothing is remembered beyond the session.
pub fn not_remembered(app: &mut App, reason: &str) {
    if !std::mem::replace(&mut app.message.history.complained, true) {
        app.status.say(format!("what you send is not remembered for the next session: {reason}"), app.now);
    }
}

fn remember(text: Option<String>) -> Vec<Effect> {
    text.map(Effect::Remember).into_iter().collect()
}
