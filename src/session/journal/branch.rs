//! The part of a session before one of its messages: what a branch from there begins with.
//!
//! Texts that were not delivered by then, drafts and whatever lists them stay with the session that is left.

use std::collections::HashSet;

use crate::journal::record::Record;
use steersman_base::event::Event;
use steersman_base::id::MessageId;
use steersman_base::image::Image;
use steersman_base::message::{Message, UserAbout};

/// Returns the records before a message of the main agent; `None` when the session has no such message.
pub fn before(records: &[Record], message: &MessageId) -> Option<Vec<Record>> {
    let is_it = |record: &Record| {
        matches!(record, Record::Event(envelope)
            if matches!(&envelope.event, Event::UserTurn { injection: Some(id), .. } if id == message)
                && envelope.agent.is_main())
    };
    let place = records.iter().position(is_it)?;
    let mut kept = records.get(..place)?;
    // A turn that begins with the message does not begin.
    if let Some(start) = kept.iter().rposition(is_main_turn) {
        let (earlier, turn) = kept.split_at(start);
        if !turn.iter().any(happened_in_turn) {
            kept = earlier;
        }
    }
    Some(carried_over(kept))
}

/// Returns the images of a message of the main agent, for the draft that it becomes.
pub fn images_of(records: &[Record], message: &MessageId) -> Vec<Image> {
    let of_record = |record: &Record| match record {
        Record::History { messages, .. } => messages.iter().find_map(|one| own_images(one, message)),
        Record::Session(_)
        | Record::Run { .. }
        | Record::Unattended
        | Record::Event(_)
        | Record::AgentHistory { .. }
        | Record::Accepted { .. }
        | Record::Restored { .. }
        | Record::TakenBack { .. }
        | Record::Drafts { .. }
        | Record::Missing { .. }
        | Record::Unknown => None,
    };
    records.iter().find_map(of_record).unwrap_or_default()
}

fn own_images(message: &Message, id: &MessageId) -> Option<Vec<Image>> {
    match message {
        Message::User { images, about: Some(about), .. } => match &**about {
            UserAbout::Text(text) if text.id.as_ref() == Some(id) => Some(images.clone()),
            UserAbout::Text(_)
            | UserAbout::Rule(_)
            | UserAbout::Plan(_)
            | UserAbout::Kept(_)
            | UserAbout::Job(_)
            | UserAbout::Images
            | UserAbout::Agent(_) => None,
        },
        Message::User { about: None, .. } | Message::System { .. } | Message::Assistant(_) | Message::Tool { .. } => {
            None
        }
    }
}

/// Returns what a session that begins with all of another takes from it.
pub fn carried_over(kept: &[Record]) -> Vec<Record> {
    let entered: HashSet<&MessageId> = kept.iter().filter_map(entered).collect();
    let stays = |record: &&Record| match record {
        Record::Accepted { entry, .. } => entered.contains(&entry.id),
        Record::Event(envelope) => !matches!(envelope.event, Event::Pending { .. } | Event::Returned { .. }),
        Record::History { .. } | Record::AgentHistory { .. } => true,
        Record::Session(_)
        | Record::Run { .. }
        | Record::Unattended
        | Record::Restored { .. }
        | Record::TakenBack { .. }
        | Record::Drafts { .. }
        | Record::Missing { .. }
        | Record::Unknown => false,
    };
    kept.iter().filter(stays).cloned().collect()
}

fn is_main_turn(record: &Record) -> bool {
    matches!(record, Record::Event(envelope)
        if envelope.agent.is_main() && matches!(envelope.event, Event::TurnStarted { .. }))
}

/// Tells whether the main agent did something in its turn with this.
fn happened_in_turn(record: &Record) -> bool {
    matches!(record, Record::Event(envelope) if envelope.agent.is_main()
        && matches!(envelope.event, Event::RoundStarted { .. } | Event::UserTurn { .. } | Event::TurnEnded { .. }))
}

fn entered(record: &Record) -> Option<&MessageId> {
    let Record::Event(envelope) = record else { return None };
    if let Event::UserTurn { injection, .. } = &envelope.event { injection.as_ref() } else { None }
}
