//! Texts that come back: what a key removed (`u`, Ctrl+_), what a stop gives back, what an ended agent returns, the draft
//! of another agent that is shown.
//!
//! Says what came back and why; where it goes is decided by the message. Always holds: a text comes back to one place once.

use super::{editing, line};
use crate::event::Pending;
use crate::id::{AgentId, MessageId};
use crate::protocol::{QueueAct, Request};
use crate::text::is_blank;
use crate::tui::message::Left;
use crate::tui::message::purpose::{Editing, Purpose};
use crate::tui::message::removed::{Removed, Taken};
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::focus::Pane;
use crate::tui::state::lines::Medium;

/// Undoes the newest edit of the message, or the newest removal when that is newer.
pub fn undo(app: &mut App) -> Vec<Effect> {
    if app.message.undo() { Vec::new() } else { newest(app) }
}

/// Brings back what a key removed last.
pub fn newest(app: &mut App) -> Vec<Effect> {
    app.message.leave_recalled();
    while let Some(removed) = app.message.take_removed() {
        match removed {
            Removed::Deleted(taken) => return vec![restore(taken)],
            Removed::TakenBack(taken) => {
                // Sent, cleared or changed since: then it is a text of its own.
                if app.message.take_front(&taken.entry.text) {
                    return vec![restore(taken)];
                }
            }
            Removed::Merged { agent, first, second, text } => {
                if let Some(effect) = part(app, agent, first, second, &text) {
                    return vec![effect];
                }
                return Vec::new();
            }
            Removed::Edit { agent, id, text, was } => return edit_again(app, agent, id, text, was),
            Removed::Draft(text) => {
                app.message.put_before(&[text]);
                return Vec::new();
            }
        }
    }
    app.status.say("nothing to undo", app.now);
    Vec::new()
}

/// Leaves what is written first; what it says can be brought back.
pub fn leave(app: &mut App) -> Vec<Effect> {
    let Some((Purpose::Edit(Editing { agent, entry }), left)) = app.message.leave() else { return Vec::new() };
    app.focus.go(Pane::Composer);
    if left == Left::Kept {
        app.status.say(format!("{} is as it was; Ctrl+_ brings the edit back", entry.id), app.now);
    }
    vec![Effect::Request(Request::Queue { agent, id: entry.id, act: QueueAct::Release })]
}

/// Follows the choice of the agent that is shown: it brings its own draft into the message.
pub fn follow(app: &mut App) {
    // A line that is typed stays where it is seen.
    if app.medium == Medium::Lines {
        return;
    }
    if app.message.shows_other(app.tree.selected()) {
        let to = app.shown_or_main();
        app.message.switch(&to);
    }
    let tree = &app.tree;
    for agent in app.message.give_back_drafts(|agent| !tree.takes_texts(agent)) {
        let name = super::pending::name(&agent);
        app.status.say(format!("{name} has ended: Ctrl+_ brings your draft for it into the message"), app.now);
    }
}

/// Takes what a stop gave back.
pub fn stopped(app: &mut App, entries: &[Pending]) {
    let in_lines = app.medium == Medium::Lines;
    if !entries.is_empty() {
        let sentence = match entries.len() {
            1 if in_lines => "cancelled; the pending text is yours again".to_owned(),
            count if in_lines => format!("cancelled; {count} pending texts are yours again"),
            1 => "cancelled; the pending text is back in the message".to_owned(),
            count => format!("cancelled; {count} pending texts are back in the message"),
        };
        app.status.say(sentence, app.now);
    }
    given_back(app, entries);
}

/// Takes texts that no queue holds any more; of a text for all agents one copy, and none that another agent has.
pub fn given_back(app: &mut App, entries: &[Pending]) {
    let mut kept: Vec<Pending> = Vec::new();
    for entry in entries {
        let is_kept = kept.iter().any(|known| app.run.receipts.are_copies(&known.id, &entry.id));
        if !is_kept && !app.run.receipts.is_with_others(&entry.id) {
            kept.push(entry.clone());
        }
    }
    to_message(app, &kept);
}

/// Takes what an agent that has ended gave back: into the message, with the reason. It comes unasked, so it must not get
/// under the fingers of somebody who types: then, and when others have the same text by `@all`, it only can be brought
/// back.
pub fn returned(app: &mut App, agent: &AgentId, entries: &[Pending]) {
    let edited = entries.iter().any(|entry| app.message.is_edited(&entry.id));
    let mut fresh = Vec::new();
    for entry in entries {
        if !app.pending.was_kept(&entry.id) {
            fresh.push(entry.clone());
        }
    }
    if fresh.is_empty() {
        return;
    }
    let who = super::pending::name(agent).to_owned();
    if !edited && fresh.iter().all(|entry| app.run.receipts.is_with_others(&entry.id)) {
        app.status.say(format!("{who} ended before it read this text; the others have it"), app.now);
        return;
    }
    if !edited && (app.medium == Medium::Lines || !app.questions.is_quiet(app.now)) {
        if app.medium == Medium::Screen {
            for entry in &fresh {
                app.message.set_aside(Removed::Draft(entry.text.clone()));
            }
        }
        if app.medium == Medium::Lines {
            line::gave_back(app, &fresh);
        }
        let what = if fresh.len() == 1 { "your text was" } else { "your texts were" };
        app.status.say(format!("{who} has ended: {what} not delivered; Ctrl+_ brings it back"), app.now);
        return;
    }
    let what = match &fresh[..] {
        [one] if edited => format!("{}, which you edit, is a draft now", one.id),
        [one] => format!("{} is back in the message", one.id),
        more => format!("{} texts are back in the message", more.len()),
    };
    app.status.say(format!("{who} has ended: {what}"), app.now);
    to_message(app, &fresh);
}

/// Puts texts that left the queue undelivered into the message; in lines where `/back` finds them.
fn to_message(app: &mut App, entries: &[Pending]) {
    if app.medium == Medium::Lines && !entries.iter().any(|entry| app.message.is_edited(&entry.id)) {
        return line::gave_back(app, entries);
    }
    app.message.give_back(entries);
}

fn restore(Taken { agent, entry, before }: Taken) -> Effect {
    let id = entry.id.clone();
    Effect::Request(Request::Queue { agent, id, act: QueueAct::Restore { entry, before } })
}

fn part(app: &mut App, agent: AgentId, first: Pending, second: Pending, text: &str) -> Option<Effect> {
    let id = first.id.clone();
    if app.message.is_edited(&id) {
        editing::blocked(app);
        app.message.set_aside(Removed::Merged { agent, first, second, text: text.to_owned() });
        return None;
    }
    match app.run.pending.get(&id) {
        Some(entry) if entry.message.text == text => {
            Some(Effect::Request(Request::Queue { agent, id, act: QueueAct::Split { first, second } }))
        }
        Some(_) => {
            app.status.say(format!("{id} was changed since, it stays joined"), app.now);
            None
        }
        None => {
            app.status.say(format!("{id} is not pending any more: both were delivered as one text"), app.now);
            None
        }
    }
}

/// Goes on with an edit that was left. Over newer words of the entry it would write: then the text is one of its own.
fn edit_again(app: &mut App, agent: AgentId, id: MessageId, text: String, was: String) -> Vec<Effect> {
    if let Some(was) = app.message.editing().filter(|editing| editing.entry.id == id).map(|e| e.entry.text.clone()) {
        // Both are words for the same entry: they change places.
        let present = app.message.text();
        app.message.load(&text);
        if !is_blank(&present) && present != was {
            app.message.set_aside(Removed::Edit { agent, id, text: present, was });
        }
        return Vec::new();
    }
    if editing::blocked(app) {
        app.message.set_aside(Removed::Edit { agent, id, text, was });
        return Vec::new();
    }
    if app.run.pending.get(&id).is_some_and(|entry| entry.message.text != was) {
        app.message.put_before(&[text]);
        app.status.say(format!("{id} was changed since; what you had written is in the message"), app.now);
        return Vec::new();
    }
    vec![Effect::Request(Request::Queue { agent, id, act: QueueAct::Hold { text: Some(text) } })]
}
