//! Questions of tools, as the events that record them.

use crate::approval::{Act, Answer, RequestId, Told};
use crate::event::Event;

/// Returns the event that records what was asked or answered.
pub(super) fn event(told: Told) -> Event {
    match told {
        Told::Asked(request) => {
            let (question, detail) = words(&request.act);
            Event::Question { id: name(request.id), question, detail }
        }
        Told::Answered(id, answer) => {
            let (answer, words) = match answer {
                Answer::Once => ("yes", None),
                Answer::Session => ("session", None),
                Answer::No(words) => ("no", words),
            };
            Event::Answer { id: name(id), answer: answer.to_owned(), words }
        }
        Told::Withdrawn(id) => Event::Answer { id: name(id), answer: "withdrawn".to_owned(), words: None },
    }
}

fn name(id: RequestId) -> String {
    format!("approval {}", id.0)
}

/// Returns what is asked, in one line, and what exactly would happen.
fn words(act: &Act) -> (String, Option<String>) {
    match act {
        Act::Command(act) => ("run this command?".to_owned(), Some(act.command.clone())),
        Act::Write(act) => (format!("write {}?", act.shown), Some(act.diff.clone())),
        Act::Fetch(act) => ("get this address?".to_owned(), Some(act.url.clone())),
        Act::Search(act) => ("search the web for this?".to_owned(), Some(act.query.clone())),
        Act::Clone(act) => ("clone this repository?".to_owned(), Some(act.url.clone())),
    }
}
