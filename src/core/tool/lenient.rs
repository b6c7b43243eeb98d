//! Arguments as strict modes of servers and tags of models write them, made what the schema of the tool says.
//!
//! Pure. Some servers write `5.0` for an integer, `null` for every member that may be left out, or a text that holds the JSON of
//! an object or a list; models that call tools in tags write every value as a text, and a list of one without its brackets.
//! Only what the schema does not take as it stands is changed, and only into what means the same.

use serde_json::{Map, Number, Value};

use crate::tool::schema::{has_type, types};
use steersman_base::text::halves::without_halves;

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
    if let Some(formed) = alternative(value, schema, root, depth) {
        *value = formed;
        return;
    }
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
        && !is("string")
        && let Some(read) = parse(text, &types)
    {
        *value = read;
    }
    if is("array") && !has_type(schema, value) && is_item(value, schema, root, depth) {
        *value = vec![value.take()].into();
    }
    if let Some(choice) = choice(value, schema) {
        *value = choice;
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

/// Returns a value in the form of the first alternative that takes it; `None` where the schema has none, and where one takes it
/// as it stands. Of several that a list or an object can be, only the server knows which one is meant.
fn alternative(value: &Value, schema: &Map<String, Value>, root: &Value, depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    let all = ["anyOf", "oneOf"].into_iter().find_map(|keyword| schema.get(keyword)?.as_array())?;
    if schema.contains_key("type") || schema.contains_key("properties") {
        return None;
    }
    let takes = |schema: &Value, value: &Value| {
        resolved(schema, root, depth).as_object().is_none_or(|schema| has_type(schema, value))
    };
    let others: Vec<&Value> = all.iter().filter(|schema| !takes_only_null(schema)).collect();
    let is_plain = !value.is_object() && !value.is_array();
    if others.len() != 1 && (!is_plain || others.iter().any(|schema| takes(schema, value))) {
        return None;
    }
    if value.is_null() {
        return None;
    }
    others.into_iter().find_map(|schema| {
        let mut formed = value.clone();
        member(&mut formed, schema, root, depth);
        takes(schema, &formed).then_some(formed)
    })
}

fn takes_only_null(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null")
}

/// Reads a text that stands for a value of one of these types.
fn parse(text: &str, types: &[&str]) -> Option<Value> {
    let is = |kind: &str| types.contains(&kind);
    let text = text.trim();
    if is("object") || is("array") {
        let read = serde_json::from_str::<Value>(&without_halves(text)).ok();
        return read
            .filter(|read| is("object") && read.is_object() || is("array") && (read.is_array() || read.is_object()));
    }
    if is("boolean") && (text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false")) {
        return Some(text.eq_ignore_ascii_case("true").into());
    }
    let number = serde_json::from_str::<Number>(text).ok().filter(|_| is("integer") || is("number"))?;
    if is("number") || number.is_i64() {
        return Some(number.into());
    }
    number.as_f64().and_then(whole).map(Value::from)
}

/// Tells whether a value can be the only item of a list that was written without its brackets.
fn is_item(value: &Value, schema: &Map<String, Value>, root: &Value, depth: usize) -> bool {
    let is_blank = value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty());
    let (Some(items), false) = (schema.get("items"), is_blank) else { return false };
    let Some(items) = resolved(items, root, depth).as_object() else { return false };
    types(items).next().is_some() && has_type(items, value)
}

/// Returns the only choice that a text is in another case.
fn choice(value: &Value, schema: &Map<String, Value>) -> Option<Value> {
    let choices = schema.get("enum")?.as_array().filter(|choices| !choices.contains(value))?;
    let text = value.as_str()?.trim();
    let mut meant = choices.iter().filter(|choice| choice.as_str().is_some_and(|one| one.eq_ignore_ascii_case(text)));
    let only = meant.next()?.clone();
    meant.next().is_none().then_some(only)
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
                "kind": {"enum": ["a", "b"]}, "is": {"type": "boolean"}, "names": {"type": "array", "items": {"type": "string"}},
                "count": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "case": {"enum": ["Fast", "slow", "SLOW"]},
                "steps": {"type": "array", "items": {"$ref": "#/$defs/place"}}
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
            (json!({"limit": "5", "share": " 1.5 ", "is": "True"}), json!({"limit": 5, "share": 1.5, "is": true})),
            (json!({"limit": "5.0", "is": "yes"}), json!({"limit": 5, "is": "yes"})),
            (json!({"limit": "5 lines", "share": "NaN"}), json!({"limit": "5 lines", "share": "NaN"})),
            (json!({"limit": true, "path": 5, "is": 1}), json!({"limit": true, "path": 5, "is": 1})),
            (json!({"names": "a.rs", "list": 3}), json!({"names": ["a.rs"], "list": [3]})),
            (json!({"names": "[\"a\", \"b\"]"}), json!({"names": ["a", "b"]})),
            (json!({"names": "", "list": "x"}), json!({"names": "", "list": "x"})),
            (json!({"steps": {"line": 3.0}}), json!({"steps": [{"line": 3}]})),
            (json!({"steps": "{\"line\": \"3\"}"}), json!({"steps": [{"line": 3}]})),
            (json!({"count": 5.0}), json!({"count": 5})),
            (json!({"count": "7"}), json!({"count": 7})),
            (json!({"count": null, "either": "5"}), json!({"count": null, "either": "5"})),
            (json!({"kind": "A"}), json!({"kind": "a"})),
            (json!({"case": "fast"}), json!({"case": "Fast"})),
            (json!({"case": "Slow"}), json!({"case": "Slow"})),
        ] {
            assert_eq!(formed(given), expected);
        }
    }
}
