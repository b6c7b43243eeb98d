//! The questions of the main agent that were open beside its work when its program ended: they are asked again.
//!
//! Filled record by record while a session is resumed. Always holds: a question for which a call waited is not among them;
//! that call has ended as interrupted, and its model asks again.

use std::collections::HashMap;

use steersman_base::event::{Envelope, Event};
use steersman_base::id::CallId;
use steersman_base::message::Arguments;
use steersman_core::tool::ASK_TOOL;
use steersman_tools::questions_of;

use crate::host::LeftQuestion;

/// What is known of such questions so far.
#[derive(Default)]
pub(super) struct QuestionsReducer {
    /// The calls that asked, with what they were called with, and whether they have ended.
    calls: HashMap<CallId, (Arguments, bool)>,
    /// The open questions: the id, the call, and what the user was shown.
    open: Vec<(String, CallId, String)>,
}

impl QuestionsReducer {
    pub(super) fn apply(&mut self, envelope: &Envelope) {
        if !envelope.agent.is_main() {
            return;
        }
        match &envelope.event {
            Event::ToolCall { id, name, arguments } if name == ASK_TOOL => {
                self.calls.insert(id.clone(), (arguments.clone(), false));
            }
            Event::Question { id, detail: Some(shown), call: Some(call), .. } if self.calls.contains_key(call) => {
                self.open.push((id.clone(), call.clone(), shown.clone()));
            }
            Event::Answer { id, .. } => self.open.retain(|(open, ..)| open != id),
            Event::ToolResult { id, .. } => {
                if let Some((_, has_ended)) = self.calls.get_mut(id) {
                    *has_ended = true;
                }
            }
            Event::Reset {} => *self = Self::default(),
            _ => {}
        }
    }

    /// Returns those that are to be asked again, the oldest first.
    pub(super) fn left(self) -> Vec<LeftQuestion> {
        let left = self.open.into_iter().filter_map(|(_, call, shown)| {
            let (arguments, has_ended) = self.calls.get(&call)?;
            let mut asked = questions_of(arguments).into_iter().filter(|_| *has_ended);
            Some(LeftQuestion { question: asked.find(|question| question.lines() == shown)?, call })
        });
        left.collect()
    }
}
