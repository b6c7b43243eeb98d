//! The events that record questions of tools and their answers.

use crate::approval::{Act, Answer, RequestId, Subject, Told};
use crate::event::Event;
use crate::summary::calls_made;

/// Returns the event that records what was asked or answered.
pub(super) fn event(told: Told) -> Event {
    match told {
        Told::Asked(request) => {
            let offer = request.grant.as_ref().map(ToString::to_string);
            let rule = request.rule.as_ref().map(ToString::to_string);
            let call = request.asker.map(|asker| asker.call);
            let (question, detail) = words(request.subject);
            Event::Question { id: name(request.id), question, detail, call, offer, rule }
        }
        Told::Answered(id, answer) => {
            let (answer, words) = match answer {
                Answer::Once => ("yes", None),
                Answer::Session => ("session", None),
                Answer::Always => ("always", None),
                Answer::No(words) => ("no", words),
            };
            Event::Answer { id: name(id), answer: answer.to_owned(), words }
        }
        Told::Kept(rule, Ok(())) => Event::Notice {
            text: format!("kept for this project: {rule}; /rules on the screen lists and removes rules"),
        },
        Told::Kept(rule, Err(why)) => {
            Event::Notice { text: format!("{rule} is allowed in this session only, it could not be kept: {why}") }
        }
        Told::Allowed(id) => Event::Answer { id: name(id), answer: "allowed".to_owned(), words: None },
        Told::Denied(id, why) => Event::Answer { id: name(id), answer: "denied".to_owned(), words: Some(why) },
        Told::Withdrawn(id) => Event::Answer { id: name(id), answer: "withdrawn".to_owned(), words: None },
    }
}

fn name(id: RequestId) -> String {
    format!("approval {}", id.0)
}

/// Returns what is asked, in one line, and what exactly would happen.
fn words(subject: Subject) -> (String, Option<String>) {
    let act = match subject {
        Subject::Act(act) => act,
        Subject::Plain { title, detail } => return (title, Some(detail)),
        Subject::MoreCalls { made, more } => return (format!("{}: go on for {more} more?", calls_made(made)), None),
    };
    match act {
        Act::Command(act) => ("run this command?".to_owned(), Some(act.command)),
        Act::Write(act) => (format!("write {}?", act.shown), Some(act.diff)),
        Act::Fetch(act) => ("get this address?".to_owned(), Some(act.url)),
        Act::Search(act) => ("search the web for this?".to_owned(), Some(act.query)),
        Act::Clone(act) => ("clone this repository?".to_owned(), Some(act.url)),
        Act::Use(act) => (format!("use the tool {}?", act.tool), Some(act.shown)),
    }
}
