//! The check of a call's arguments against the schema of its tool, as far as it spares a call that the server would
//! refuse: required members, unknown ones where none are allowed, plain types and lists of values. The rest is the
//! server's.

use serde_json::{Map, Value};

/// Deepest nesting that is looked at.
const DEPTH: usize = 8;
/// Most problems that are named.
const PROBLEMS: usize = 20;

/// Checks arguments.
///
/// # Errors
/// One message for the model: every problem on a line of its own, then the schema.
pub(super) fn check(arguments: &Map<String, Value>, schema: &Map<String, Value>) -> Result<(), String> {
    let mut problems = Vec::new();
    object(arguments, schema, "", DEPTH, &mut problems);
    if problems.is_empty() {
        return Ok(());
    }
    problems.truncate(PROBLEMS);
    Err(format!("{}\nThe schema: {}", problems.join("\n"), Value::Object(schema.clone())))
}

fn object(value: &Map<String, Value>, schema: &Map<String, Value>, at: &str, depth: usize, problems: &mut Vec<String>) {
    let place = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    let properties = schema.get("properties").and_then(Value::as_object);
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        if !value.contains_key(name) {
            problems.push(format!("{} is missing", place(name)));
        }
    }
    let is_closed =
        schema.get("additionalProperties") == Some(&Value::Bool(false)) && !schema.contains_key("patternProperties");
    for (name, value) in value {
        match properties.and_then(|properties| properties.get(name)).and_then(Value::as_object) {
            Some(schema) => member(value, schema, &place(name), depth, problems),
            None if is_closed => problems.push(format!("{} is not known", place(name))),
            None => {}
        }
    }
}

fn member(value: &Value, schema: &Map<String, Value>, at: &str, depth: usize, problems: &mut Vec<String>) {
    if depth == 0 {
        return;
    }
    if let Some(choices) = schema.get("enum").and_then(Value::as_array)
        && !choices.contains(value)
    {
        problems.push(format!("{at} must be one of {}", Value::from(choices.clone())));
        return;
    }
    let kinds: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        Some(_) | None => Vec::new(),
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| is_of(value, kind)) {
        problems.push(format!("{at} must be of the type {}", kinds.join(" or ")));
        return;
    }
    match value {
        Value::Object(map) => object(map, schema, at, depth - 1, problems),
        Value::Array(list) => {
            if let Some(items) = schema.get("items").and_then(Value::as_object) {
                for (place, value) in list.iter().enumerate() {
                    member(value, items, &format!("{at}[{place}]"), depth - 1, problems);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        // A kind that is not known here is the server's to check.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn checked(arguments: &Value, schema: &Value) -> Result<(), String> {
        check(arguments.as_object().unwrap(), schema.as_object().unwrap())
    }

    #[test]
    fn every_problem_is_named_with_its_place_and_the_schema() {
        let schema = json!({"type": "object", "required": ["path", "deep"], "additionalProperties": false, "properties": {
            "path": {"type": "string"}, "unit": {"enum": ["c", "f"]}, "count": {"type": ["integer", "null"]},
            "deep": {"type": "object", "required": ["x"], "properties": {"x": {"type": "array", "items": {"type": "number"}}}}}});
        let said =
            checked(&json!({"unit": "k", "count": 1.5, "deep": {"x": [1, "2"]}, "more": 1}), &schema).unwrap_err();
        for problem in [
            "path is missing",
            "unit must be one of [\"c\",\"f\"]",
            "count must be of the type integer or null",
            "deep.x[1] must be of the type number",
            "more is not known",
            "The schema: {",
        ] {
            assert!(said.contains(problem), "{said}");
        }
        assert_eq!(checked(&json!({"path": "a", "count": 2.0, "unit": "c", "deep": {"x": []}}), &schema), Ok(()));
    }

    #[test]
    fn a_schema_that_says_nothing_or_what_is_not_known_refuses_nothing() {
        for schema in
            [json!({}), json!({"type": "object", "properties": {"a": {"$ref": "#/x"}, "b": {"type": 5}, "c": true}})]
        {
            assert_eq!(checked(&json!({"a": 1, "b": "x", "c": {}}), &schema), Ok(()));
        }
    }
}
