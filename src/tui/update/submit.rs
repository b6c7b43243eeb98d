//! What happens to the composer's text when it is sent: a command is carried out, a text goes to whom it is for.
//!
//! Always holds: the text leaves the composer only when a queue has taken it, or when a command was carried out.

use crate::error::Refused;
use crate::event::Delivery;
use crate::id::{AgentId, MessageId};
use crate::protocol::Request;
use crate::target;
use crate::tui::commands::{self, Draft, LineVerb, Verb};
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::cause::Cause;
use crate::tui::state::lines::Medium;
use crate::tui::state::scroll::ScrollRequest;
use crate::tui::state::status::HostState;
use crate::tui::state::target::Unaddressed;
use crate::tui::update::{command, line, recall};

/// Carries the draft out as a command, or sends it, or says why not: then it stays.
pub fn submit(app: &mut App, delivery: Delivery) -> Vec<Effect> {
    // A chip is text, whatever stands in it: a paste is no command and names nobody.
    let draft = app.composer.shown();
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
            let argument = app.composer.whole(argument);
            let mut effects = recall::remember(app, &app.composer.text());
            app.composer.forget();
            recall::gone(app);
            effects.extend(command::run(app, command.verb, &argument));
            effects
        }
        Draft::Misfit(command) => {
            app.status.say_while(Cause::Message(app.composer.text()), command.misfit(), app.now);
            Vec::new()
        }
        Draft::Escaped(text) | Draft::Text(text) => send(app, &draft, text, delivery),
        Draft::NoCommand { .. } if app.completion.was_refused(&draft) => send(app, &draft, &draft, delivery),
        Draft::NoCommand { word } => {
            let again = match app.medium {
                Medium::Screen => "Enter again sends it as text".to_owned(),
                Medium::Lines => format!("/{word} sends it as text"),
            };
            let nearest = commands::nearest(word);
            let sentence = format!("unknown command {word}; nearest: /{nearest}. {again}");
            app.status.say_while(Cause::Message(app.composer.text()), sentence, app.now);
            if app.medium == Medium::Screen {
                app.completion.refuse(draft);
            }
            Vec::new()
        }
    }
}

fn send(app: &mut App, draft: &str, text: &str, delivery: Delivery) -> Vec<Effect> {
    match app.address(text) {
        Ok(address) => {
            app.outgoing = Some(draft.to_owned());
            let text = app.composer.whole(address.text);
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
    let draft = app.outgoing.as_deref().unwrap_or(text);
    let is_here = app.composer.shown() == draft;
    match outcome {
        Ok(id) => {
            app.receipts.sent(&id, to, text, app.now);
            app.reader_mut(to).scroll.ask(ScrollRequest::Bottom);
            if is_here {
                let effects = recall::remember(app, &app.composer.text());
                app.composer.forget();
                recall::gone(app);
                app.status.quiet();
                return effects;
            }
            // A line leaves the message before it is sent; to several agents it went once.
            if app.medium == Medium::Lines
                && let Some(line) = app.outgoing.take()
            {
                return recall::remember(app, &line);
            }
        }
        Err(Refused::Ended) if is_here => not_for_the_ended(app, to),
        Err(refused) => {
            // Another queue may have taken it before: then the draft is gone and the words say who did not get it.
            if app.medium == Medium::Lines && !is_here {
                line::keep(app, text.to_owned());
            } else if app.outgoing.is_none() && !is_here {
                recall::leave(app);
                app.composer.put_before(&[text.to_owned()]);
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
    let is_named = target::seems_for(&app.composer.shown()) == Some(agent.as_str());
    let how = if is_named { "@main before it sends it as text" } else { "Enter sends it to main" };
    app.status.say(format!("not sent: {agent} has ended; {how}"), app.now);
    app.bind_to_main();
}
