//! The conversation of one agent, in an order that can always be sent (D7).
//!
//! Always holds: a tool result answers the oldest call that is still open; no other message enters while a call is
//! open (the open calls are closed first). `provider::validate` checks the same once more on every request.
//!
//! # Where things are
//!
//! - the images of a conversation: `images.rs`

mod images;
mod kept;
mod older;
mod texts;

use std::collections::VecDeque;

use steersman_base::image::Image;
use steersman_base::message::{AssistantMessage, Message, ToolCall, UserAbout};
use steersman_base::text::is_blank;

pub(crate) use kept::lost;
pub use kept::{KEPT_HEAD, Keep};
pub use older::{Pins, SUMMARY_HEAD};
pub(super) use older::{is_kept, is_pinned, is_summary, shorten};
pub use texts::{PlacedText, RuleInConversation, TextFate, UserTexts, rules_in_conversation};

/// The messages of a conversation and the calls that wait for their results.
#[derive(Debug, Clone, Default)]
pub struct History {
    messages: Vec<Message>,
    open: VecDeque<ToolCall>,
}

/// The reason why a call has no result. The model reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotRunReason {
    /// The turn was cancelled before the call ran.
    Cancelled,
    /// The turn was cancelled while the call ran.
    Interrupted,
    /// The step budget was used up.
    BudgetExhausted,
    /// The user sent a message that cut the batch.
    UserMessage,
}

impl NotRunReason {
    /// Returns the observation that takes the place of the result.
    pub fn observation(self) -> &'static str {
        match self {
            Self::Cancelled => "Error: cancelled before it ran",
            Self::Interrupted => "Error: cancelled while it ran",
            Self::BudgetExhausted => "Error: step budget exhausted",
            Self::UserMessage => "Error: not run, the user sent a message",
        }
    }
}

impl History {
    /// Starts a conversation with its system prompt; a blank one is no message.
    pub fn new(system_prompt: &str) -> Self {
        let prompt = Some(system_prompt).filter(|prompt| !is_blank(prompt)).map(Message::system);
        Self { messages: prompt.into_iter().collect(), open: VecDeque::new() }
    }

    /// Returns the number of messages that its system prompt is: 1, or 0 where it has none.
    fn prompt_len(&self) -> usize {
        usize::from(matches!(self.messages.first(), Some(Message::System { .. })))
    }

    /// Builds a conversation from messages that were recorded, whatever is missing among them: a result stays only behind
    /// its call, and a call without a result gets the one of a call that was interrupted.
    pub fn from_messages(recorded: impl IntoIterator<Item = Message>) -> Self {
        let mut history = Self::default();
        for message in recorded {
            match message {
                Message::Assistant(reply) => history.push_assistant(reply),
                Message::Tool { call_id, content, .. } => {
                    if let Some(place) = history.open.iter().position(|call| call.id == call_id) {
                        for _ in 0..place {
                            history.push_result(NotRunReason::Interrupted.observation());
                        }
                        history.push_result(content);
                    }
                }
                message @ (Message::System { .. } | Message::User { .. }) => {
                    history.close_open(NotRunReason::Interrupted);
                    history.push(message);
                }
            }
        }
        history.close_open(NotRunReason::Interrupted);
        history
    }

    /// Returns the messages, oldest first.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the calls that have no result yet, in order.
    pub fn open_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.open.iter()
    }

    /// Appends a message of the user.
    pub fn push_user(&mut self, content: impl Into<String>) {
        self.push(Message::user(content));
    }

    /// Appends a message of the user of which something is known.
    pub fn push_user_about(&mut self, content: impl Into<String>, images: Vec<Image>, about: UserAbout) {
        self.push(Message::user_about(content, images, about));
    }

    /// Appends a system text.
    pub fn push_system(&mut self, content: impl Into<String>) {
        self.push(Message::system(content));
    }

    /// Appends a reply; its calls are open from here on.
    pub fn push_assistant(&mut self, reply: AssistantMessage) {
        let calls = reply.tool_calls.clone();
        self.push(Message::Assistant(reply));
        self.open.extend(calls);
    }

    /// Appends the result of the oldest open call; does nothing when no call is open.
    pub fn push_result(&mut self, content: impl Into<String>) {
        if let Some(call) = self.open.pop_front() {
            self.messages.push(Message::tool(&call, content));
        }
    }

    /// Closes every open call with the reason why it has no result.
    pub fn close_open(&mut self, why: NotRunReason) {
        while !self.open.is_empty() {
            self.push_result(why.observation());
        }
    }

    /// Takes off the part of an answer at the end that was cut; tells whether there was one.
    pub fn drop_partial(&mut self) -> bool {
        let is_partial = |message: &mut Message| matches!(message, Message::Assistant(reply) if reply.interrupted);
        self.open.is_empty() && self.messages.pop_if(is_partial).is_some()
    }

    /// Returns the content of the last reply, which is empty when that was tool calls only.
    pub fn last_assistant_content(&self) -> Option<&str> {
        self.messages.iter().rev().find_map(|message| match message {
            Message::Assistant(reply) => Some(reply.content.as_str()),
            Message::System { .. } | Message::User { .. } | Message::Tool { .. } => None,
        })
    }

    fn push(&mut self, message: Message) {
        self.close_open(NotRunReason::UserMessage);
        self.messages.push(message);
    }
}
