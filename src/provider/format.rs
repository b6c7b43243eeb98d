//! The form of an answer on its way to a server: which schema a request asks for, and which tools stay away from it.

use serde_json::Value;

use crate::quirks::Want;
use crate::wire::Outgoing;
use steersman_core::provider::{AnswerStage, ToolSchema};

/// The name of the schema, where a dialect wants one.
pub(super) const SCHEMA_NAME: &str = "answer";
/// The depth up to which a schema is looked through.
const DEPTH: usize = 64;

impl<'a> Outgoing<'a> {
    /// Returns the schema that the server is to be asked for.
    pub(crate) fn schema(&self) -> Option<&'a Value> {
        let format = self.request.format.filter(|_| !self.quirks.wants(Want::NoFormat))?;
        let is_alone = self.quirks.wants(Want::FormatAlone);
        (!is_alone || format.stage == AnswerStage::Due || self.request.tools.is_empty()).then_some(format.schema)
    }

    pub(crate) fn tools(&self) -> &'a [ToolSchema] {
        let is_left_out = self.quirks.wants(Want::FormatAlone) && self.schema().is_some();
        if is_left_out { &[] } else { self.request.tools }
    }
}

/// Returns whether `OpenAI` takes a schema as strict: each object names all its members as required and allows no others.
pub(super) fn is_strict(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "object") && has_strict_objects(schema, DEPTH)
}

fn has_strict_objects(schema: &Value, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    match schema {
        Value::Object(members) => {
            let is_object = members.contains_key("properties") || members.get("type").is_some_and(names_object);
            (!is_object || is_closed(schema)) && members.values().all(|inner| has_strict_objects(inner, depth))
        }
        Value::Array(items) => items.iter().all(|inner| has_strict_objects(inner, depth)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

fn names_object(kind: &Value) -> bool {
    kind == "object" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "object"))
}

fn is_closed(schema: &Value) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &String| required.is_some_and(|names| names.iter().any(|required| required == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    schema.get("additionalProperties") == Some(&Value::Bool(false))
        && properties.is_some_and(|properties| properties.keys().all(is_required))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::is_strict;

    #[test]
    fn a_schema_is_strict_when_each_object_in_it_is_closed() {
        let closed = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
            "additionalProperties": false});
        let open = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        assert!(is_strict(&closed) && !is_strict(&open) && !is_strict(&json!({"type": "array", "items": closed})));
        let holding = |inner| {
            json!({"type": "object", "properties": {"b": {"type": "array", "items": inner}}, "required": ["b"],
                "additionalProperties": false})
        };
        assert!(is_strict(&holding(closed)) && !is_strict(&holding(open)));
    }
}
