//! `steersman inject`: a text for an agent of a session that runs, and how far it has come.

use crate::program::cli::args::Flags;
use crate::program::cli::exec::standard_input;
use crate::program::cli::exit::{self, Exit};
use crate::program::cli::running::args::{InjectArgs, Stage};
use crate::program::cli::running::choose::connect;
use steersman_base::event::{Delivery, Envelope, Event, Outcome, UserText};
use steersman_base::id::{AgentId, MessageId};
use steersman_base::limits;
use steersman_base::protocol::{NO_SUCH_COMMAND, Notice, Reply, Request, Update};
use steersman_base::regular_file::read_named;
use steersman_base::steering::Trigger;
use steersman_base::target::MAIN;
use steersman_base::text::{visible, visible_line};
use steersman_images::attach_bytes;
use steersman_session::socket::{Caller, Updates};

pub(crate) fn run(flags: &Flags, args: &InjectArgs) -> Exit {
    let text = if args.text == "-" { standard_input() } else { Ok(args.text.clone()) };
    match text {
        Ok(text) => Exit::from_result(send(flags, args, text), Exit::Failed),
        Err(sentence) => Exit::from_result(Err(sentence), Exit::Usage),
    }
}

fn send(flags: &Flags, args: &InjectArgs, text: String) -> Result<Exit, String> {
    let updates = if args.wait.is_some() { Updates::Now } else { Updates::None };
    let (mut caller, _) = connect(flags, &args.which, "inject", updates)?;
    let to = args.to.as_deref().filter(|to| *to != MAIN).map_or_else(AgentId::main, AgentId::from);
    let delivery = match (args.follow_up, args.now) {
        (true, _) => Delivery::FollowUp,
        (false, true) => Delivery::Now,
        (false, false) => Delivery::Steer,
    };
    let (kind, scope) = (args.kind, args.scope.unwrap_or_default());
    let once = args.when.clone().map(Trigger::once);
    let trigger = once.or_else(|| args.every.clone().map(Trigger::every));
    let (mut text, mut images) = (text, Vec::new());
    for file in &args.image {
        let name = file.display().to_string();
        let bytes =
            read_named(file, limits::IMAGE_FILE_BYTES).map_err(|error| format!("cannot read {name}: {error}"))?;
        attach_bytes(&mut text, &mut images, &name, &bytes)?;
    }
    let text = expanded(&mut caller, text)?;
    let message = UserText { text, delivery, kind, scope, trigger, sender: None, images };
    let reply = caller.request(Request::Inject { to: to.clone(), message }).map_err(|error| error.to_string())?;
    let id = match reply {
        Some(Reply::Injected { outcome: Ok(id), .. }) => id,
        Some(Reply::Injected { outcome: Err(refused), .. }) => return Err(format!("not sent: {refused}")),
        _ => return Err("the session does not say whether it took the text".to_owned()),
    };
    match args.wait {
        None => {
            print(&format!("{id} is pending"));
            Ok(Exit::Done)
        }
        Some(stage) => wait(&mut caller, &to, &id, stage),
    }
}

/// Returns what is sent for a text: what a custom command or a skill of the session says that it calls, else the text itself.
fn expanded(caller: &mut Caller, text: String) -> Result<String, String> {
    if !text.starts_with('/') {
        return Ok(text);
    }
    match caller.request_patiently(Request::Fill { call: text.clone() }).map_err(|error| error.to_string())? {
        Some(Reply::Filled { outcome: Ok(filled), .. }) => Ok(filled),
        Some(Reply::Filled { outcome: Err(why), .. }) if why == NO_SUCH_COMMAND => Ok(text),
        Some(Reply::Filled { outcome: Err(why), .. }) => Err(format!("not sent: {why}")),
        _ => Err("the session does not say what the command sends".to_owned()),
    }
}

fn print(line: &str) {
    exit::print(&format!("{line}\n"));
}

/// Waits until the text has come that far, or never will.
fn wait(caller: &mut Caller, to: &AgentId, id: &MessageId, stage: Stage) -> Result<Exit, String> {
    let mut reached = None;
    let mut answer = String::new();
    while let Some(update) = caller.next_update().map_err(|error| format!("the session does not answer: {error}"))? {
        let envelope = match &update {
            Update::Envelope(envelope) => envelope,
            Update::Notice(Notice::Returned(entries) | Notice::Withdrawn { entries, .. })
                if entries.iter().any(|entry| entry.id == *id) =>
            {
                return Err(format!("{id} was taken back before it was delivered"));
            }
            Update::Notice(Notice::Over(_)) => break,
            Update::Notice(_)
            | Update::Reply(_)
            | Update::Queues { .. }
            | Update::Approvals { .. }
            | Update::Budget(_) => {
                continue;
            }
        };
        if let Some((next, words)) = step(envelope, id) {
            print(&words);
            reached = Some(next);
        }
        if let (true, Event::Returned { entries }) = (envelope.agent == *to, &envelope.event)
            && entries.iter().any(|entry| entry.id == *id)
        {
            return Err(format!("{} ended before it read {id}", visible_line(to.as_str())));
        }
        if reached.is_some() && envelope.agent == *to {
            match &envelope.event {
                Event::Assistant { text, .. } => answer.clone_from(text),
                Event::TurnEnded { outcome, message, .. } => {
                    return ended(*outcome, message.as_deref(), stage, &answer);
                }
                _ => {}
            }
        }
        if reached.is_some_and(|reached| reached >= stage) {
            return Ok(Exit::Done);
        }
    }
    Err(format!("the session ended before {id} came that far"))
}

/// Returns how far a text has come by an event, and the sentence that says so.
fn step(envelope: &Envelope, id: &MessageId) -> Option<(Stage, String)> {
    match &envelope.event {
        Event::UserTurn { injection: Some(delivered), mid_loop, step, after, .. } if delivered == id => {
            let place = match (mid_loop, after) {
                (false, _) => "at the start of a turn".to_owned(),
                (true, Some(tool)) => format!("after {}, step {step}", visible_line(tool)),
                (true, None) => format!("in place of an answer, step {step}"),
            };
            Some((Stage::Delivered, format!("{id} delivered {place}")))
        }
        Event::Seen { injections, step } if injections.contains(id) => {
            Some((Stage::Seen, format!("{id} seen at step {step}")))
        }
        _ => None,
    }
}

/// Ends the wait with the turn that the text entered.
fn ended(outcome: Outcome, message: Option<&str>, stage: Stage, answer: &str) -> Result<Exit, String> {
    match (outcome, stage) {
        (Outcome::Completed | Outcome::Synthesized, Stage::Answered) => {
            print(&format!("answered\n\n{}", visible(answer)));
            Ok(Exit::Done)
        }
        (Outcome::Completed | Outcome::Synthesized, _) => Err("the turn ended before a reply to it began".to_owned()),
        (Outcome::Cancelled, _) => Err("the turn was cancelled".to_owned()),
        (Outcome::Failed, _) => Err(message.unwrap_or("the turn failed").to_owned()),
    }
}
