//! The rescue of a turn whose step budget is used up.
//!
//! A fresh conversation without tools answers the question from the gathered evidence. It shares the transport and the
//! cancel flag, has a step budget of its own, and emits under the id `synthesizer` or `<id>_synthesizer`.

use std::ops::Range;

use crate::on_drop::OnDrop;
use crate::{Agent, AgentBuilder, EmptyReply, NotRunReason};
use steersman_base::error::{BuildError, Cancelled, RunError};
use steersman_base::event::{Event, Outcome};
use steersman_base::limits;
use steersman_base::message::{DeliveredText, Message, UserAbout};
use steersman_base::sync::lock;
use steersman_core::control::{OnExhausted, StepLimit};
use steersman_core::provider::ProviderError;

/// The system prompt of the rescue.
pub const SYSTEM_PROMPT: &str = "You are given evidence another agent collected before running out of steps. \
Answer the user's question using only this evidence. You have no tools. If the evidence is insufficient, state plainly \
what's missing and what partial answer you can give. Do not apologize or comment on the previous agent.";

/// Writes the only user message of the rescue. Pure.
///
/// The evidence leaves out system messages, the question itself and the calls that never ran; long results are cut
/// and the oldest evidence is left out when all of it would not fit a small context window.
pub fn build_prompt(parent_messages: &[Message], user_message: &str) -> String {
    format!("Question: {user_message}\n\nEvidence gathered:\n{}", transcript(parent_messages, user_message))
}

fn transcript(messages: &[Message], question: &str) -> String {
    let never_ran = |content: &str| {
        [NotRunReason::BudgetExhausted, NotRunReason::UserMessage].iter().any(|why| content == why.observation())
    };
    let answered = |id: &steersman_base::id::CallId| {
        messages.iter().any(|message| match message {
            Message::Tool { call_id, content, .. } => call_id == id && !never_ran(content),
            Message::System { .. } | Message::User { .. } | Message::Assistant(_) => false,
        })
    };
    let asked = question_range(messages, question);
    let mut parts: Vec<String> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        match message {
            Message::System { .. } => {}
            Message::User { .. } if asked.contains(&index) => {}
            Message::User { .. } => parts.push(format!("User: {}", text_of(message))),
            Message::Assistant(reply) => {
                if !reply.content.is_empty() {
                    parts.push(format!("Assistant: {}", reply.content));
                }
                let calls = reply.tool_calls.iter().filter(|call| answered(&call.id));
                parts.extend(calls.map(|call| format!("Tool call: {} {}", call.name, call.arguments)));
            }
            Message::Tool { content, .. } if never_ran(content) => {}
            Message::Tool { name, content, .. } => parts.push(format!("Result of {name}: {}", shorten(content))),
        }
    }
    if parts.is_empty() {
        return "(none)".to_owned();
    }
    let mut kept = 0;
    let mut size = 0;
    for part in parts.iter().rev() {
        size += part.len();
        if size > limits::EVIDENCE_CHARS && kept > 0 {
            break;
        }
        kept += 1;
    }
    parts.split_off(parts.len() - kept).join("\n")
}

/// Finds the messages that are the question: the last run of user messages that, joined, is exactly the question.
/// Comparing texts one by one would also leave out a later "no" to the question "yes or no?".
fn question_range(messages: &[Message], question: &str) -> Range<usize> {
    let joined = |start: usize| {
        let mut text = String::new();
        for (index, message) in messages.iter().enumerate().skip(start) {
            match message {
                Message::User { .. } if text.is_empty() => text.push_str(text_of(message)),
                Message::User { .. } => text = format!("{text}\n\n{}", text_of(message)),
                Message::System { .. } => continue,
                Message::Assistant(_) | Message::Tool { .. } => return None,
            }
            if text == question {
                return Some(start..index + 1);
            }
            if text.len() > question.len() {
                return None;
            }
        }
        None
    };
    let begins = |message: &Message| matches!(message, Message::User { .. }) && question.starts_with(text_of(message));
    let starts = messages.iter().enumerate().rev().filter(|(_, message)| begins(message));
    starts.map(|(start, _)| start).find_map(joined).unwrap_or(0..0)
}

/// Returns what the user wrote of a message, without a frame; nothing of any other message.
fn text_of(message: &Message) -> &str {
    let Message::User { content, about, .. } = message else { return "" };
    match about.as_deref() {
        Some(UserAbout::Text(DeliveredText { words: Some(words), .. })) => words,
        Some(UserAbout::Job(_) | UserAbout::Images | UserAbout::Agent(_)) => "",
        Some(UserAbout::Text(_) | UserAbout::Rule(_) | UserAbout::Plan(_) | UserAbout::Kept(_)) | None => content,
    }
}

fn shorten(content: &str) -> String {
    match content.char_indices().nth(limits::EVIDENCE_RESULT_CHARS) {
        Some((end, _)) => format!("{}… [cut, {} bytes in all]", &content[..end], content.len()),
        None => content.to_owned(),
    }
}

impl Agent {
    /// Runs the rescue and returns its answer, which may be empty.
    pub(super) async fn synthesize(&mut self, question: &str) -> Result<String, RunError> {
        self.listeners.emit(Event::AgentSpawned {
            child: self.id.synthesizer(),
            persona: "synthesizer".to_owned(),
            task: question.to_owned(),
            call: None,
            model: self.tree.transport.model.clone(),
            max_steps: self.handles.step_limit.as_ref().map(|_| 1),
            tools: Vec::new(),
        });
        let open = OnDrop::new(self, |agent| agent.end_synthesizer(&Err(Cancelled.into())));
        let result = open.run_synthesizer(question).await;
        open.disarm();
        self.end_synthesizer(&result);
        result
    }

    fn end_synthesizer(&self, result: &Result<String, RunError>) {
        let (outcome, message) = match result {
            Ok(_) => (Outcome::Completed, None),
            Err(RunError::Cancelled(_)) => (Outcome::Cancelled, None),
            Err(error) => (Outcome::Failed, Some(error.to_string())),
        };
        self.listeners.emit(Event::AgentFinished { child: self.id.synthesizer(), outcome, message });
    }

    async fn run_synthesizer(&self, question: &str) -> Result<String, RunError> {
        let id = self.id.synthesizer();
        let mut builder = AgentBuilder::new(self.tree.clone(), SYSTEM_PROMPT.to_owned())
            .id(id.clone())
            .listeners(self.listeners.for_sub_agent(&id))
            .model_checked()
            .output_schema(self.output_schema.clone())
            .empty_reply(EmptyReply::Accept);
        builder.context_window = self.context_window_cap;
        if self.handles.step_limit.is_some() {
            let budget = StepLimit::new(1).map_err(into_run_error)?;
            builder = builder.step_limit(budget.on_exhausted(OnExhausted::Fail));
        }
        if let Some(cancellable) = &self.handles.cancellable {
            builder = builder.shared_cancellable(cancellable.clone());
        }
        let mut synthesizer = builder.build(|_| Ok(())).await.map_err(into_run_error)?;
        let mut prompt = build_prompt(self.history.messages(), question);
        for rule in self.tree.rules.for_agent(&self.id) {
            prompt.push_str("\n\nThis rule of the user holds for your answer:\n");
            prompt.push_str(&rule.text);
        }
        // Boxed: an agent's turn may contain a rescue's turn.
        let ran = Box::pin(synthesizer.run_loop(&prompt)).await;
        if let Some(turn) = synthesizer.last_turn() {
            lock(&self.turn_usage).add(&turn.usage);
        }
        ran?;
        Ok(synthesizer.last_assistant_content().unwrap_or_default().to_owned())
    }
}

fn into_run_error(error: BuildError) -> RunError {
    match error {
        BuildError::Provider(error) => error.into(),
        BuildError::Cancelled(cancelled) => cancelled.into(),
        BuildError::Argument(message) => ProviderError::Configuration(message).into(),
        BuildError::Extension(error) => RunError::Extension(error),
    }
}
