//! Texts that come back: what a key removed (`u`, Ctrl+_), what a stop gives back, what an ended agent returns, the draft
//! of another agent that is shown.
//!
//! Says what came back and why. Always holds: a text comes back to one place once.

use super::address::shown_or_main;
use super::entry::{addressed, written};
use super::purpose::{Editing, Purpose};
use super::removed::{Removed, RemovedEntry};
use super::{LeaveOutcome, Message, MessageContext};
use crate::effect::PaneEffect;
use crate::state::Pane;
use steersman_base::event::{Outcome, Pending};
use steersman_base::id::{AgentId, ClientId, MessageId};
use steersman_base::protocol::{QueueOperation, Request};
use steersman_base::target::MAIN;
use steersman_base::text::is_blank;
use steersman_session::model::agents::Activity;

/// Undoes the newest edit of the message, or the newest removal when that is newer.
pub fn undo(message: &mut Message, known: &MessageContext<'_>) -> Vec<PaneEffect> {
    if message.undo() { Vec::new() } else { newest(message, known) }
}

/// Brings back what a key removed last.
pub fn newest(message: &mut Message, known: &MessageContext<'_>) -> Vec<PaneEffect> {
    message.leave_recalled();
    while let Some(removed) = message.take_removed() {
        match removed {
            Removed::Deleted(taken) => return vec![restore(taken)],
            Removed::TakenBack(taken) => {
                // Sent, cleared or changed since: then it is a text of its own.
                let (named, own) = (addressed(&taken.agent, &taken.entry), written(&taken.entry));
                if message.take_front(&named) || message.take_front(&own) {
                    return vec![restore(taken)];
                }
            }
            Removed::Merged { agent, first, second, text } => {
                return vec![part(message, agent, first, second, &text, known)];
            }
            Removed::Edit { agent, id, text, was } => return edit_again(message, agent, id, text, was, known),
            Removed::Draft(text) => {
                message.put_before(&[text]);
                return Vec::new();
            }
        }
    }
    vec![PaneEffect::Say("nothing to undo".to_owned())]
}

/// Ends what is written first without its effect; what it says can be brought back.
pub fn abandon(message: &mut Message) -> Vec<PaneEffect> {
    let Some((Purpose::Edit(Editing { agent, entry, from_list }), left)) = message.leave() else { return Vec::new() };
    let mut effects = vec![PaneEffect::Focus(if from_list { Pane::Pending } else { Pane::Composer })];
    if left == LeaveOutcome::Kept {
        effects.push(PaneEffect::Say(format!("{} is as it was; Ctrl+_ brings the edit back", entry.id)));
    }
    effects.push(Request::Queue { agent, id: entry.id, operation: QueueOperation::Release }.into());
    effects
}

/// Follows the choice of the agent that is shown: it brings its own draft into the message.
pub fn follow(message: &mut Message, known: &MessageContext<'_>) -> Vec<PaneEffect> {
    // A line that is typed stays where it is seen.
    if known.in_lines() {
        return Vec::new();
    }
    if message.shows_other(known.shown) {
        message.switch(&shown_or_main(known));
    }
    let ended = message.give_back_drafts(|agent| !known.run.takes_messages(agent));
    let say = |agent: AgentId| {
        let name = name(&agent);
        PaneEffect::Say(format!("{name} has ended: Ctrl+_ brings your draft for it into the message"))
    };
    ended.into_iter().map(say).collect()
}

/// Takes what a stop gave back.
pub fn stopped(message: &mut Message, entries: &[Pending], known: &MessageContext<'_>) -> Vec<PaneEffect> {
    let in_lines = known.in_lines();
    let is_cancelled =
        matches!(known.run.agents.main().activity, Activity::Cancelling | Activity::Ended(Outcome::Cancelled, _));
    let stops_others = || known.run.agents.nodes().iter().any(|node| node.activity == Activity::Cancelling);
    let begun = if is_cancelled {
        "cancelled; "
    } else if stops_others() {
        "sub-agents are being stopped; "
    } else {
        "no turn runs; "
    };
    let place = if in_lines { "yours again" } else { "back in the message" };
    let others = if in_lines { 0 } else { message.of_other_kinds(entries) };
    let sentence = match (entries.len() - others, others) {
        (0, 0) => None,
        (0, 1) => Some(format!("{begun}Ctrl+_ brings the pending text back, which is of another kind")),
        (0, count) => Some(format!("{begun}Ctrl+_ brings {count} pending texts back, which are of other kinds")),
        (1, 0) => Some(format!("{begun}the pending text is {place}")),
        (count, 0) => Some(format!("{begun}{count} pending texts are {place}")),
        (1, _) => Some(format!("{begun}a pending text is {place}; Ctrl+_ brings {others} of another kind back")),
        (count, _) => {
            Some(format!("{begun}{count} pending texts are {place}; Ctrl+_ brings {others} of another kind back"))
        }
    };
    let back = given_back(message, entries, known);
    sentence.map(PaneEffect::Say).into_iter().chain(back).collect()
}

/// Forgets texts that another client took out of their queues.
pub fn withdrawn(message: &mut Message, by: Option<&ClientId>, entries: &[Pending]) -> Vec<PaneEffect> {
    for entry in entries {
        if message.is_edited(&entry.id) {
            message.edit_becomes_draft(&[], &[]);
        }
    }
    let who = by.map_or("the first screen", ClientId::as_str);
    let what = match entries {
        [one] => one.id.to_string(),
        more => format!("{} pending texts", more.len()),
    };
    vec![PaneEffect::Say(format!("{who} took {what} back"))]
}

/// Takes texts that no queue holds any more; of a text for all agents one copy, and none that another agent has. The
/// receipts know of it already.
pub fn given_back(message: &mut Message, entries: &[Pending], known: &MessageContext<'_>) -> Vec<PaneEffect> {
    let mut kept: Vec<Pending> = Vec::new();
    for entry in entries {
        let is_kept = kept.iter().any(|one| known.run.receipts.are_copies(&one.id, &entry.id));
        if !is_kept && !known.run.receipts.is_with_others(&entry.id) {
            kept.push(entry.clone());
        }
    }
    to_message(message, &kept, known)
}

/// Takes what an agent that has ended gave back: into the message, with the reason. It comes unasked, so it must not get
/// under the fingers of somebody who types: then, and when others have the same text by `@all`, it only can be brought
/// back.
pub fn returned(
    message: &mut Message,
    agent: &AgentId,
    fresh: &[Pending],
    known: &MessageContext<'_>,
) -> Vec<PaneEffect> {
    if fresh.is_empty() {
        return Vec::new();
    }
    let edited = fresh.iter().any(|entry| message.is_edited(&entry.id));
    let who = name(agent);
    let say = |sentence: String| vec![PaneEffect::Say(sentence)];
    if !edited && fresh.iter().all(|entry| known.run.receipts.is_with_others(&entry.id)) {
        return say(format!("{who} ended before it read this text; the others have it"));
    }
    // Beside a draft for another agent it would go to that one.
    let is_mixed = !message.is_draft_empty() && message.target(known) != *agent;
    if !edited && (known.in_lines() || known.is_typing || is_mixed) {
        let mut effects = Vec::new();
        if known.in_lines() {
            effects.extend(message.take_aside(fresh, known));
        } else {
            for entry in fresh {
                message.set_aside(Removed::Draft(addressed(agent, entry)));
            }
        }
        let what = if fresh.len() == 1 { "your text was" } else { "your texts were" };
        effects.extend(say(format!("{who} has ended: {what} not delivered; Ctrl+_ brings it back")));
        return effects;
    }
    let what = match fresh {
        [one] if edited => format!("{}, which you edit, is a draft now", one.id),
        [one] => format!("{} is back in the message", one.id),
        more => format!("{} texts are back in the message", more.len()),
    };
    let mut effects = say(format!("{who} has ended: {what}"));
    effects.extend(to_message(message, fresh, known));
    effects
}

/// Puts texts that left the queue undelivered into the message; in lines where `/back` finds them. One for another agent
/// than the message is for names it there, or where there is more than that can be brought back alone.
fn to_message(message: &mut Message, entries: &[Pending], known: &MessageContext<'_>) -> Vec<PaneEffect> {
    if entries.iter().any(|entry| message.is_edited(&entry.id)) {
        message.give_back(entries);
        return Vec::new();
    }
    if known.in_lines() {
        return message.take_aside(entries, known);
    }
    let target = message.target(known);
    let to = |entry: &Pending| known.agent_of(&entry.id);
    // A text is of one kind: what is of another stays a text of its own.
    let kind = message.kind_of_return(entries);
    let (entries, others): (Vec<Pending>, Vec<Pending>) =
        entries.iter().cloned().partition(|entry| Some(entry.kind) == kind);
    for entry in others.iter().rev() {
        message.set_aside(Removed::Draft(addressed(&to(entry), entry)));
    }
    let entries = entries.as_slice();
    let (own, others): (Vec<Pending>, Vec<Pending>) = entries.iter().cloned().partition(|entry| to(entry) == target);
    let Some(first) = others.first().map(to) else {
        message.give_back(&own);
        return Vec::new();
    };
    if own.is_empty() && message.is_draft_empty() && others.iter().all(|entry| to(entry) == first) {
        message.give_back(&others);
        // Enter sends it to no other agent than the one that it was for.
        message.name_draft(name(&first));
        return Vec::new();
    }
    message.give_back(&own);
    for entry in others.iter().rev() {
        let to_main = if to(entry).is_main() { format!("@{MAIN} ") } else { String::new() };
        message.set_aside(Removed::Draft(format!("{to_main}{}", addressed(&to(entry), entry))));
    }
    let what = if others.len() == 1 { "1 text is for another agent" } else { "some texts are for other agents" };
    vec![PaneEffect::Say(format!("{what}: Ctrl+_ brings it back"))]
}

fn name(agent: &AgentId) -> &str {
    if agent.is_main() { MAIN } else { agent.as_str() }
}

fn restore(RemovedEntry { agent, entry, before }: RemovedEntry) -> PaneEffect {
    let id = entry.id.clone();
    Request::Queue { agent, id, operation: QueueOperation::Restore { entry: Box::new(entry), before } }.into()
}

fn part(
    message: &mut Message,
    agent: AgentId,
    first: Pending,
    second: Pending,
    text: &str,
    known: &MessageContext<'_>,
) -> PaneEffect {
    let id = first.id.clone();
    if let Some(busy) = message.blocked().filter(|_| message.is_edited(&id)) {
        message.set_aside(Removed::Merged { agent, first, second, text: text.to_owned() });
        return busy;
    }
    match known.run.pending.get(&id) {
        Some(entry) if entry.message.text == text => {
            let (first, second) = (Box::new(first), Box::new(second));
            Request::Queue { agent, id, operation: QueueOperation::Split { first, second } }.into()
        }
        Some(_) => PaneEffect::Say(format!("{id} was changed since, it stays joined")),
        None => PaneEffect::Say(format!("{id} is not pending any more: both were delivered as one text")),
    }
}

/// Goes on with an edit that was left. Over newer words of the entry it would write: then the text is one of its own.
fn edit_again(
    message: &mut Message,
    agent: AgentId,
    id: MessageId,
    text: String,
    was: String,
    known: &MessageContext<'_>,
) -> Vec<PaneEffect> {
    if let Some(was) = message.editing().filter(|editing| editing.entry.id == id).map(|e| written(&e.entry)) {
        // Both are words for the same entry: they change places.
        let present = message.text();
        message.load(&text);
        if !is_blank(&present) && present != was {
            message.set_aside(Removed::Edit { agent, id, text: present, was });
        }
        return Vec::new();
    }
    if let Some(busy) = message.blocked() {
        message.set_aside(Removed::Edit { agent, id, text, was });
        return vec![busy];
    }
    if known.run.pending.get(&id).is_some_and(|entry| written(&entry.message) != was) {
        message.put_before(&[text]);
        return vec![PaneEffect::Say(format!("{id} was changed since; what you had written is in the message"))];
    }
    vec![Request::Queue { agent, id, operation: QueueOperation::Hold { text: Some(text) } }.into()]
}
