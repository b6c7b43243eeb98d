//! The events that record questions of tools and their answers.

use steersman_base::event::Event;
use steersman_core::approval::{Answer, ApprovalRecord};

/// Returns the event that records what was asked or answered.
pub fn event(record: ApprovalRecord) -> Event {
    match record {
        ApprovalRecord::Asked(request) => {
            let rule = request.rule.map(|rule| rule.text);
            let call = request.asker.map(|asker| asker.call);
            let (question, detail) = request.subject.describe();
            Event::Question { id: request.id.to_string(), question, detail, call, offer: request.session, rule }
        }
        ApprovalRecord::Answered(id, answer) => {
            let (answer, words) = match answer {
                Answer::Once => ("yes", None),
                Answer::Session => ("session", None),
                Answer::Always => ("always", None),
                Answer::Everywhere => ("everywhere", None),
                // What the user wrote for a server is not for the record of the model's run.
                Answer::Filled(_) => ("filled", None),
                Answer::No(words) => ("no", words),
                Answer::NotNow => ("no", None),
            };
            Event::Answer { id: id.to_string(), answer: answer.to_owned(), words }
        }
        ApprovalRecord::Kept(rule, Ok(())) => Event::Notice {
            text: format!("kept for {}: {rule}; /rules on the screen lists and removes rules", rule.reach().label()),
        },
        ApprovalRecord::Kept(rule, Err(why)) => {
            Event::Notice { text: format!("{rule} is allowed in this session only, it could not be kept: {why}") }
        }
        ApprovalRecord::Allowed(id) => Event::Answer { id: id.to_string(), answer: "allowed".to_owned(), words: None },
        ApprovalRecord::Denied(id, why) => {
            Event::Answer { id: id.to_string(), answer: "denied".to_owned(), words: Some(why) }
        }
        ApprovalRecord::Withdrawn(id) => {
            Event::Answer { id: id.to_string(), answer: "withdrawn".to_owned(), words: None }
        }
    }
}
