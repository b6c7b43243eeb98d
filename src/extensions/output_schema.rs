//! Schemas that an answer must match, out of their text; answers as a Rust type.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

use steersman_agent::{Agent, OutputSchema};
use steersman_base::error::AskError;
use steersman_base::limits;

/// The address of a schema without one of its own.
const SCHEMA_URL: &str = "schema:///";

/// Reads a schema. References to other files or addresses are refused.
///
/// # Errors
/// One sentence.
pub fn parse(text: &str) -> Result<OutputSchema, String> {
    let schema: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let mut compiler = boon::Compiler::new();
    compiler.use_loader(Box::new(NoOtherSchemas));
    let mut schemas = boon::Schemas::new();
    let refused = |error: boon::CompileError| format!("it is no JSON Schema: {}", errors_in(&error).join("; "));
    compiler.add_resource(SCHEMA_URL, schema.clone()).map_err(refused)?;
    let index = compiler.compile(SCHEMA_URL, &mut schemas).map_err(refused)?;
    let faults =
        move |value: &Value| schemas.validate(value, index).map_or_else(|error| errors_in(&error), |()| Vec::new());
    Ok(OutputSchema::new(schema, faults))
}

/// Returns the faults that an error lists, else its one line; of each the beginning, as some quote the whole value.
fn errors_in(error: &impl fmt::Display) -> Vec<String> {
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

/// What an [`Agent`] can be asked where schemas are checked.
pub trait AskAs {
    /// Runs one turn with one user message and returns the answer as a type: its schema is sent to the model, an answer that
    /// does not match is asked for once more, and a fence around it is taken off.
    ///
    /// Example: "An answer as a type" in the documentation of `steersman::prelude`.
    ///
    /// # Errors
    /// [`AskError::Run`] as [`Agent::run_loop`], [`AskError::Mismatch`] when the second answer does not match either.
    fn ask_as<T>(&mut self, user_message: &str) -> impl Future<Output = Result<T, AskError>> + Send
    where
        T: DeserializeOwned + JsonSchema;
}

impl AskAs for Agent {
    async fn ask_as<T>(&mut self, user_message: &str) -> Result<T, AskError>
    where
        T: DeserializeOwned + JsonSchema,
    {
        let schema = {
            let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
            let schema = settings.into_generator().into_root_schema_for::<T>().to_value();
            parse(&schema.to_string()).map_err(AskError::Schema)?
        };
        let value = self.ask_matching(user_message, Arc::new(schema)).await?;
        serde_json::from_value(value).map_err(|error| AskError::Mismatch(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> OutputSchema {
        let schema =
            json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]});
        parse(&schema.to_string()).unwrap()
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
    fn an_answer_may_have_what_arguments_of_tools_may_not() {
        let checked = |schema: Value, text: &str| parse(&schema.to_string()).unwrap().check(text).map(drop);
        let integer = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        assert_eq!(checked(integer.clone(), r#"{"n": 1.0}"#), Ok(()), "a number with a point");
        assert_eq!(
            checked(integer, r#"{"n": 18446744073709551615, "m": 1}"#),
            Ok(()),
            "a large one, and an unknown one"
        );
        let by = |name: &str, member: &str| json!({"properties": {"by": {"const": name}}, "required": ["by", member]});
        let fault =
            checked(json!({"oneOf": [by("cash", "sum"), by("card", "number")]}), r#"{"by": "card"}"#).unwrap_err();
        assert!(
            fault.contains("'sum'") && fault.contains("'number'"),
            "all alternatives, not the one that is meant: {fault}"
        );
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
            assert!(parse(text).is_err(), "{text}");
        }
        let fault = parse("{\"type\": 7}").unwrap_err();
        assert!(fault.contains("at '/type': want array, but got number"), "{fault}");
        assert!(parse("{\"$ref\": \"#/$defs/x\", \"$defs\": {\"x\": {\"type\": \"null\"}}}").is_ok());
    }
}
