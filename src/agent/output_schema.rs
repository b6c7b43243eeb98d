//! A JSON Schema that the answer of a turn must match.
//!
//! The model is told once in the conversation; the server is asked for it where its dialect can. An answer that does not
//! match is asked for once more, in the same turn. What comes then is the answer; whoever wants to know checks it again.

use std::fmt;

use serde_json::Value;

use crate::Agent;
use crate::deliver::TurnInput;
use steersman_base::id::ClientId;
use steersman_base::message::Message;
use steersman_core::provider::{AnswerFormat, AnswerStage};

/// The sender of the message that asks for an answer once more.
pub const SENDER: &str = "output schema";

/// Returns what is wrong with a value, a sentence each; nothing where it matches.
type Faults = Box<dyn Fn(&Value) -> Vec<String> + Send + Sync>;

/// A schema that an answer must match.
///
/// Example: "An answer that matches a schema" in the documentation of `steersman::prelude`.
pub struct OutputSchema {
    schema: Value,
    faults: Faults,
}

/// An answer that matches.
#[derive(Debug, Clone, PartialEq)]
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
        let text = without_fence(answer.trim());
        let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
        let faults = (self.faults)(&value);
        if faults.is_empty() { Ok(StructuredAnswer { value, text }) } else { Err(faults.join("; ")) }
    }

    pub(super) fn format(&self, stage: AnswerStage) -> AnswerFormat<'_> {
        AnswerFormat { schema: &self.schema, stage }
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

impl Agent {
    /// Tells the model of the schema, unless the conversation holds that already: a compaction may have taken it out.
    pub(super) fn say_schema(&mut self) {
        let Some(schema) = &self.output_schema else { return };
        let instruction = schema.instruction();
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
        Some(TurnInput { text, sender: Some(ClientId::new(SENDER)), ..TurnInput::default() })
    }
}

/// Returns what stands in a text that is one code block; else the text.
fn without_fence(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    let body = inner.and_then(|inner| inner.split_once('\n')).map(|(_, body)| body);
    body.filter(|body| !body.contains("```")).map_or(text, str::trim)
}
