//! Arguments as strict modes of servers write them, made what the schema of the tool says.
//!
//! Pure. Some servers write `5.0` for an integer, `null` for every member that may be left out, or a text that holds the JSON of
//! an object or a list. Only what the schema does not take as it stands is changed, and only into what means the same.

use serde_json::{Map, Value};

/// Deepest nesting that is looked at.
const DEPTH: usize = 16;
/// The largest number whose neighbours a float tells apart.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns arguments in the form that a schema asks for; `root` is what its references lead into.
pub fn in_form(arguments: &Map<String, Value>, root: &Value) -> Map<String, Value> {
    let mut arguments = arguments.clone();
    if let Some(schema) = root.as_object() {
        object(&mut arguments, schema, root, DEPTH);
    }
    arguments
}

fn object(members: &mut Map<String, Value>, schema: &Map<String, Value>, root: &Value, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    let is_required = |name: &str| {
        let mut required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        required.any(|required| required.as_str() == Some(name))
    };
    members.retain(|name, value| {
        let Some(schema) = properties.get(name) else { return true };
        !value.is_null() || is_required(name) || takes_null(schema, root, depth)
    });
    for (name, value) in members {
        if let Some(schema) = properties.get(name) {
            member(value, schema, root, depth);
        }
    }
}

fn member(value: &mut Value, schema: &Value, root: &Value, depth: usize) {
    let Some(schema) = resolved(schema, root, depth).as_object() else { return };
    let types: Vec<&str> = types(schema).collect();
    let is = |kind: &str| types.contains(&kind);
    if let Value::Number(number) = value
        && is("integer")
        && !is("number")
        && let Some(whole) = number.as_f64().filter(|_| number.is_f64()).and_then(whole)
    {
        *value = whole.into();
    }
    if let Value::String(text) = value
        && (is("object") || is("array"))
        && !is("string")
        && let Ok(read) = serde_json::from_str::<Value>(text)
        && (is("object") && read.is_object() || is("array") && read.is_array())
    {
        *value = read;
    }
    match value {
        Value::Object(members) => object(members, schema, root, depth),
        Value::Array(items) => {
            let Some((each, depth)) = schema.get("items").zip(depth.checked_sub(1)) else { return };
            for item in items.iter_mut() {
                member(item, each, root, depth);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the integer that a number is, such as that of `5.0`.
fn whole(number: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

/// Tells whether a schema may take null. One that says nothing of types may.
fn takes_null(schema: &Value, root: &Value, depth: usize) -> bool {
    let Some(schema) = resolved(schema, root, depth).as_object() else { return true };
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return choices.contains(&Value::Null);
    }
    if let Some(only) = schema.get("const") {
        return only.is_null();
    }
    for keyword in ["anyOf", "oneOf"] {
        if let (Some(alternatives), Some(depth)) = (schema.get(keyword).and_then(Value::as_array), depth.checked_sub(1))
        {
            return alternatives.iter().any(|schema| takes_null(schema, root, depth));
        }
    }
    let mut types = types(schema).peekable();
    types.peek().is_none() || types.any(|kind| kind == "null")
}

/// Follows references within the schema.
fn resolved<'a>(schema: &'a Value, root: &'a Value, depth: usize) -> &'a Value {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|to| root.pointer(to.strip_prefix('#')?));
    match (target, depth.checked_sub(1)) {
        (Some(target), Some(depth)) => resolved(target, root, depth),
        _ => schema,
    }
}

fn types(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let kind = schema.get("type");
    let one = kind.and_then(Value::as_str);
    one.into_iter().chain(kind.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_the_schema_does_not_take_is_changed() {
        let schema = json!({
            "type": "object",
            "required": ["path"],
            "properties": {
                "path": {"type": "string"}, "limit": {"type": "integer"}, "share": {"type": "number"},
                "note": {"type": ["string", "null"]}, "any": {}, "to": {"$ref": "#/$defs/place"},
                "list": {"type": "array", "items": {"type": "integer"}}, "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "kind": {"enum": ["a", "b"]}
            },
            "$defs": {"place": {"type": "object", "properties": {"line": {"type": "integer"}, "side": {"type": "string"}}}}
        });
        let formed = |arguments: Value| Value::Object(in_form(arguments.as_object().unwrap(), &schema));
        for (given, expected) in [
            (json!({"path": "a", "limit": 5.0}), json!({"path": "a", "limit": 5})),
            (json!({"path": "a", "limit": null, "kind": null}), json!({"path": "a"})),
            (json!({"path": null}), json!({"path": null})),
            (json!({"limit": 5.5, "share": 5.0}), json!({"limit": 5.5, "share": 5.0})),
            (json!({"note": null, "any": null, "either": null}), json!({"note": null, "any": null, "either": null})),
            (json!({"to": "{\"line\": 3.0, \"side\": null}"}), json!({"to": {"line": 3}})),
            (json!({"list": "[1.0, 2]"}), json!({"list": [1, 2]})),
            (json!({"path": "{\"a\": 1}", "list": "x"}), json!({"path": "{\"a\": 1}", "list": "x"})),
            (json!({"limit": 1e300, "other": null}), json!({"limit": 1e300, "other": null})),
        ] {
            assert_eq!(formed(given), expected);
        }
    }
}
