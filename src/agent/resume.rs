//! A conversation that an earlier process began, and that this agent goes on with.

use crate::{Agent, History, SessionStart};
use steersman_base::image::Image;
use steersman_base::message::Message;
use steersman_base::text::is_blank;
use steersman_core::approval::Taint;

impl Agent {
    /// Goes on with recorded messages, behind a number of turns. What is missing among them is closed, so that the history
    /// can be sent; without any it begins anew. Whether the task is open the messages tell. The system prompt is this
    /// agent's own: the recorded one is returned where it differs.
    pub fn resume(&mut self, recorded: &[Message], turns: u32) -> Option<String> {
        self.turns = turns;
        self.task_open = None;
        if recorded.is_empty() {
            return None;
        }
        self.session_start = Some(SessionStart::Resume);
        let own = Some(Message::system(&self.system_prompt)).filter(|prompt| !is_blank(prompt.content()));
        let (prompt, conversation) = match recorded {
            [prompt @ Message::System { .. }, conversation @ ..] => (Some(prompt), conversation),
            conversation => (None, conversation),
        };
        let replaced = prompt.filter(|prompt| own.as_ref() != Some(*prompt)).map(|prompt| prompt.content().to_owned());
        self.history = History::from_messages(own.into_iter().chain(conversation.iter().cloned()));
        self.context_size.forget();
        let messages = self.history.messages().to_vec();
        self.adopt_rules(&messages);
        self.tree.context.keep_images(messages.iter().flat_map(images));
        for call in messages.iter().flat_map(calls) {
            self.call_ids.note(&call.id);
            // What the calls brought is in the conversation again. Of sub-agents nobody knows it, nor of tools that are gone.
            let found = self.toolbox.find(&call.name);
            let is_known = self.tools().iter().any(|tool| tool.name() == call.name);
            let taint = found.filter(|_| is_known).map(|found| found.traits().taint());
            self.tree.approvals.mark(&self.id, taint.unwrap_or(Taint { private: true, untrusted: true }));
        }
        if messages.starts_with(recorded) {
            self.reported = recorded.len();
            self.notify_history();
        } else {
            self.notify_replaced();
        }
        self.publish_context();
        replaced
    }

    /// Goes on with a task that is known to be open or closed.
    pub fn resume_task(&mut self, open: Option<bool>) {
        self.task_open = open;
    }
}

fn calls(message: &Message) -> &[steersman_base::message::ToolCall] {
    match message {
        Message::Assistant(reply) => &reply.tool_calls,
        Message::System { .. } | Message::User { .. } | Message::Tool { .. } => &[],
    }
}

fn images(message: &Message) -> &[Image] {
    match message {
        Message::User { images, .. } => images,
        Message::System { .. } | Message::Assistant(_) | Message::Tool { .. } => &[],
    }
}
