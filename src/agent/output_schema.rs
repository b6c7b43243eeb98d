//! A JSON Schema that the answer of a turn must match.
//!
//! The model is told once in the conversation; the server is asked for it where its dialect can. An answer that does not
//! match is asked for once more, in the same turn. What comes then is the answer; whoever wants to know checks it again.

use std::fmt;

use serde_json::Value;

use crate::Agent;
use crate::deliver::TurnInput;
use steersman_base::id::ClientId;
use steersman_base::limits;
use steersman_base::message::Message;
use steersman_provider::{AnswerFormat, AnswerStage};

/// The sender of the message that asks for an answer once more.
pub const SENDER: &str = "output schema";

/// The address of a schema without one of its own.
const SCHEMA_URL: &str = "schema:///";

/// Returns what is wrong with a value, a sentence each; nothing where it matches.
type Faults = Box<dyn Fn(&Value) -> Vec<String> + Send + Sync>;

/// A schema that an answer must match.
///
/// ```
/// use std::sync::Arc;
///
/// use steersman_agent::OutputSchema;
/// use steersman::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = serde_json::json!({"type": "object", "properties": {"birds": {"type": "integer"}}, "required": ["birds"]});
/// // The function is that of any checker of schemas; with the feature `program` there is `OutputSchema::read`.
/// let schema = Arc::new(OutputSchema::new(schema, |answer| match answer["birds"].as_u64() {
///     Some(_) => Vec::new(),
///     None => vec!["birds must be an integer".to_owned()],
/// }));
/// // The first answer does not match: it is asked for again.
/// let model = ScriptedProvider::new([Played::text("Two birds."), Played::text(r#"{"birds": 2}"#)]);
/// let mut agent = Agent::with_provider(model, "You count.").output_schema(Some(schema.clone())).await?;
/// let answer = agent.ask("How many?").await?;
/// assert_eq!(schema.check(&answer)?.value["birds"], 2);
/// # Ok(())
/// # }
/// ```
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

    /// Reads a schema. References to other files or addresses are refused.
    ///
    /// # Errors
    /// One sentence.
    pub fn read(text: &str) -> Result<Self, String> {
        let schema: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
        let mut compiler = boon::Compiler::new();
        compiler.use_loader(Box::new(NoOtherSchemas));
        let mut schemas = boon::Schemas::new();
        let refused = |error: boon::CompileError| format!("it is no JSON Schema: {}", faults_in(&error).join("; "));
        compiler.add_resource(SCHEMA_URL, schema.clone()).map_err(refused)?;
        let index = compiler.compile(SCHEMA_URL, &mut schemas).map_err(refused)?;
        let faults =
            move |value: &Value| schemas.validate(value, index).map_or_else(|error| faults_in(&error), |()| Vec::new());
        Ok(Self::new(schema, faults))
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

/// Returns the faults that an error lists, else its one line; of each the beginning, as some quote the whole value.
fn faults_in(error: &impl fmt::Display) -> Vec<String> {
    let error = format!("{error:#}");
    let listed = usize::from(error.lines().nth(1).is_some());
    let fault =
        |line: &str| steersman_base::text::clip(line.trim_start_matches([' ', '-']), limits::ERROR_CHARS).into_owned();
    error.lines().skip(listed).take(limits::SCHEMA_FAULTS).map(fault).collect()
}

/// Refuses what a schema refers to outside of itself.
struct NoOtherSchemas;

impl boon::UrlLoader for NoOtherSchemas {
    fn load(&self, _: &str) -> Result<Value, Box<dyn std::error::Error>> {
        Err("a schema stands in one file".into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> OutputSchema {
        let schema =
            json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]});
        OutputSchema::read(&schema.to_string()).unwrap()
    }

    #[test]
    fn the_value_is_found_with_and_without_a_fence() {
        for text in ["{\"n\":1}", "  {\"n\": 1}\n", "```json\n{\"n\": 1}\n```", "```\n{\"n\":1}```\n"] {
            let answer = schema().check(text).unwrap();
            assert_eq!(answer.value, json!({"n": 1}), "{text}");
            assert_eq!(serde_json::from_str::<Value>(answer.text).unwrap(), answer.value);
        }
    }

    #[test]
    fn what_does_not_match_says_where() {
        for (text, words) in [
            ("", "it is not JSON"),
            ("It is {\"n\": 1}", "it is not JSON"),
            ("{\"n\": 1} and more", "it is not JSON"),
            ("{}", "missing properties 'n'"),
            ("{\"n\": 0}", "at '/n' [S#/properties/n/minimum]: must be >=1, but got 0"),
            ("{\"n\": \"one\"}", "at '/n'"),
        ] {
            let fault = schema().check(text).unwrap_err();
            assert!(fault.contains(words), "{text}: {fault}");
        }
        let long = format!("{{\"n\": \"{}\"}}", "x".repeat(100_000));
        assert!(schema().check(&long).unwrap_err().len() < 10_000);
    }

    #[test]
    fn what_is_no_schema_or_names_other_files_is_refused() {
        for text in [
            "",
            "[1",
            "{\"type\": 7}",
            "{\"$ref\": \"https://example.com/x.json\"}",
            "{\"$ref\": \"file:///etc/passwd\"}",
        ] {
            assert!(OutputSchema::read(text).is_err(), "{text}");
        }
        let fault = OutputSchema::read("{\"type\": 7}").unwrap_err();
        assert!(fault.contains("at '/type': want array, but got number"), "{fault}");
        assert!(OutputSchema::read("{\"$ref\": \"#/$defs/x\", \"$defs\": {\"x\": {\"type\": \"null\"}}}").is_ok());
    }
}
