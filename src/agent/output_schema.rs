//! A JSON Schema that the answer of a turn must match: of every turn, or of one.
//!
//! The model is told once in the conversation, or once in that turn; the server is asked for it where its dialect can. An answer that does not
//! match is asked for once more, in the same turn. What comes then is the answer; whoever wants to know checks it again.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::Agent;
use crate::deliver::TurnInput;
use crate::on_drop::OnDrop;
use steersman_base::error::AskError;
use steersman_base::event::UserText;
use steersman_base::id::ClientId;
use steersman_base::message::Message;
use steersman_core::provider::{AnswerFormat, AnswerStage};

/// The sender of the message that asks for an answer once more.
pub(crate) const SENDER: &str = "output schema";

/// Returns what is wrong with a value, a sentence each; nothing where it matches.
type SchemaErrors = Box<dyn Fn(&Value) -> Vec<String> + Send + Sync>;

/// A schema that an answer must match.
///
/// Example: "An answer that matches a schema" in the documentation of `steersman::prelude`.
pub struct OutputSchema {
    schema: Value,
    faults: SchemaErrors,
}

/// An answer that matches.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StructuredAnswer<'t> {
    /// Its value.
    pub value: Value,
    /// The part of the text that it stands in: all but white space and the fence of a code block.
    pub text: &'t str,
}

impl fmt::Debug for OutputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputSchema").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl OutputSchema {
    /// Takes a schema with the function that checks a value by it and returns what is wrong, a sentence each.
    pub fn new(schema: Value, faults: impl Fn(&Value) -> Vec<String> + Send + Sync + 'static) -> Self {
        Self { schema, faults: Box::new(faults) }
    }

    /// Returns the answer as JSON when it matches.
    ///
    /// # Errors
    /// Why it does not, in one sentence; it may quote the answer (untrusted).
    pub fn check<'t>(&self, answer: &'t str) -> Result<StructuredAnswer<'t>, String> {
        let text = without_fence(answer.trim().trim_start_matches('\u{feff}'));
        let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
        let faults = (self.faults)(&value);
        if faults.is_empty() { Ok(StructuredAnswer { value, text }) } else { Err(faults.join("; ")) }
    }

    pub(super) fn format(&self, stage: AnswerStage) -> AnswerFormat<'_> {
        AnswerFormat { schema: &self.schema, stage }
    }

    /// Returns what the model is told, where the answer to one message must match.
    fn instruction_for_turn(&self) -> String {
        format!(
            "Your final answer to the last message of the user must be one JSON value and nothing else: no words around it, no \
             code block. It must match this JSON Schema, other answers need not:\n{}",
            self.schema
        )
    }

    /// Returns what the model is told.
    fn instruction(&self) -> String {
        format!(
            "Your final answer must be one JSON value and nothing else: no words around it, no code block. It must match this \
             JSON Schema:\n{}",
            self.schema
        )
    }
}

/// Whether the schema holds for one turn alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum TurnSchema {
    /// It holds for every turn.
    #[default]
    None,
    /// For this one; the model is not told yet.
    Due,
    /// For this one, and the model is told.
    Said,
}

impl Agent {
    /// Runs one turn as [`Agent::ask`] does and returns its answer as JSON, which matches a schema. One that does not match is
    /// asked for once more; a fence around it is taken off. Other turns are as before.
    ///
    /// `ask_as` of the prelude does so with a type of yours.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use steersman_agent::{Agent, OutputSchema};
    /// use steersman_core::provider::{Played, ScriptedProvider};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let fault = |answer: &serde_json::Value| (!answer.is_u64()).then(|| "it must be a number".to_owned());
    /// let schema = OutputSchema::new(serde_json::json!({"type": "integer"}), move |answer| Vec::from_iter(fault(answer)));
    /// let model = ScriptedProvider::new([Played::text("Four."), Played::text("4")]);
    /// let mut agent = Agent::with_provider(model, "You count.").await?;
    /// assert_eq!(agent.ask_matching("How many?", Arc::new(schema)).await?, 4);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`AskError::Run`] as [`Agent::run_loop`], [`AskError::Mismatch`] when the second answer does not match either.
    pub async fn ask_matching(&mut self, user_message: &str, schema: Arc<OutputSchema>) -> Result<Value, AskError> {
        let before = self.output_schema.replace(Arc::clone(&schema));
        self.turn_schema = TurnSchema::Due;
        let mut turn = OnDrop::new(self, move |agent| {
            agent.output_schema = before;
            agent.turn_schema = TurnSchema::None;
        });
        let answer = turn.ask(user_message).await?;
        drop(turn);
        schema.check(&answer).map(|answer| answer.value).map_err(AskError::Mismatch)
    }

    /// Tells the model of the schema, unless the conversation holds that already: a compaction may have taken it out.
    pub(super) fn say_schema(&mut self) {
        let Some(schema) = &self.output_schema else { return };
        let instruction = match self.turn_schema {
            TurnSchema::None => schema.instruction(),
            TurnSchema::Due => {
                self.turn_schema = TurnSchema::Said;
                let instruction = schema.instruction_for_turn();
                self.history.push_system(instruction);
                self.notify_history();
                return;
            }
            TurnSchema::Said => schema.instruction_for_turn(),
        };
        let is_said =
            |message: &Message| matches!(message, Message::System { content } if content.ends_with(&instruction));
        if !self.history.messages().iter().any(is_said) {
            self.history.push_system(instruction);
            self.notify_history();
        }
    }

    /// Returns the message that asks for the answer once more; `None` when it matches, or was asked for already.
    pub(super) fn second_request(&self) -> Option<TurnInput> {
        let schema = self.output_schema.as_ref()?;
        let answer = self.last_assistant_content().unwrap_or_default();
        let fault = schema.check(answer).err().filter(|_| self.answer_stage == AnswerStage::Open)?;
        let text = format!(
            "Your answer does not match the JSON Schema that it must match: {fault}. Answer again, with the JSON value alone."
        );
        Some(TurnInput::Given(UserText { sender: Some(ClientId::new(SENDER)), ..UserText::new(text) }))
    }
}

/// Returns what stands in a text that is one code block; else the text.
fn without_fence(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    let body = inner.and_then(|inner| inner.split_once('\n')).map(|(_, body)| body);
    body.filter(|body| !body.contains("```")).map_or(text, str::trim)
}
