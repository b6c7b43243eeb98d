//! Arguments that passed the check: what a tool's `execute` reads. Only `Parameters::validate` makes them.
//!
//! No getter panics. A getter for a required parameter returns its type's empty value when the name was never
//! declared, which is a slip of the tool's author, not of the model.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::tool::ToolError;

/// Holds arguments that passed [`Parameters::validate`](crate::tool::Parameters::validate).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Args {
    map: Map<String, Value>,
}

impl Args {
    pub(crate) fn new(map: Map<String, Value>) -> Self {
        Self { map }
    }

    /// Reads all of them into a type.
    ///
    /// # Errors
    /// What the type does not take, although the check let it pass.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, serde_json::Error> {
        serde_json::from_value(Value::Object(self.map))
    }

    /// Writes all of them as JSON, over several lines.
    pub fn to_json(&self) -> String {
        format!("{:#}", Value::Object(self.map.clone()))
    }

    /// Returns a required string or enum value; `""` when there is none of that name.
    pub fn str(&self, name: &str) -> &str {
        self.opt_str(name).unwrap_or_default()
    }

    /// Returns an optional string or enum value.
    pub fn opt_str(&self, name: &str) -> Option<&str> {
        self.map.get(name)?.as_str()
    }

    /// Returns a required integer; 0 when there is none of that name.
    pub fn int(&self, name: &str) -> i64 {
        self.opt_int(name).unwrap_or_default()
    }

    /// Returns an optional integer.
    pub fn opt_int(&self, name: &str) -> Option<i64> {
        self.map.get(name)?.as_i64()
    }

    /// Returns the time that an argument in seconds sets, or else the usual one.
    ///
    /// # Errors
    /// One sentence when it is no time, or more than `most`.
    pub fn seconds(&self, name: &str, usual: Duration, most: Duration) -> Result<Duration, ToolError> {
        let Some(asked) = self.opt_int(name) else { return Ok(usual) };
        let time = u64::try_from(asked).ok().map(Duration::from_secs).filter(|time| !time.is_zero() && *time <= most);
        time.ok_or_else(|| ToolError::failed(format!("{name} must be from 1 to {} seconds", most.as_secs())))
    }

    /// Returns a required number; 0 when there is none of that name.
    pub fn number(&self, name: &str) -> f64 {
        self.opt_number(name).unwrap_or_default()
    }

    /// Returns an optional number; always finite.
    pub fn opt_number(&self, name: &str) -> Option<f64> {
        self.map.get(name)?.as_f64()
    }

    /// Returns a required truth value; false when there is none of that name.
    pub fn bool(&self, name: &str) -> bool {
        self.opt_bool(name).unwrap_or_default()
    }

    /// Returns an optional truth value.
    pub fn opt_bool(&self, name: &str) -> Option<bool> {
        self.map.get(name)?.as_bool()
    }

    /// Tells whether an argument was given.
    pub fn has(&self, name: &str) -> bool {
        self.map.contains_key(name)
    }

    /// Returns a list of objects; empty when it was left out.
    pub fn objects(&self, name: &str) -> Vec<&Map<String, Value>> {
        let items = self.map.get(name).and_then(Value::as_array);
        items.map(|items| items.iter().filter_map(Value::as_object).collect()).unwrap_or_default()
    }

    /// Returns a list of strings; empty when it was left out.
    pub fn strings(&self, name: &str) -> Vec<&str> {
        self.map
            .get(name)
            .and_then(Value::as_array)
            .map(|items| items.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default()
    }
}
