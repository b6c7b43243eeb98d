//! Tool parameters: a schema for the model and the check of what the model sent (spec 2.13).

use serde_json::{Map, Value, json};

/// Describes the arguments of a tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameters {}

/// Collects parameters; [`Parameters::build`] freezes them.
#[derive(Debug, Default)]
pub struct ParametersBuilder {}

/// Holds arguments that passed the check.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Args {}

impl Parameters {
    /// Returns the JSON Schema.
    pub fn to_schema(&self) -> Value {
        json!({"type": "object", "properties": Map::new(), "required": []})
    }
}
