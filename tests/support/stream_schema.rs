//! Checks lines of `exec --json` against the schema that the program prints: the part of JSON Schema that it uses.

use std::sync::OnceLock;

use serde_json::Value;
use steersman_base::assets::EXEC_SCHEMA;

/// Checks every line of an output of `exec` that is an event; others are left alone, and so is the output of `watch`, whose
/// lines name no session.
#[track_caller]
pub fn check_lines(output: &str) {
    let is_of_exec = |line: &str| serde_json::from_str(line).is_ok_and(|line: Value| line.get("session").is_some());
    if !output.lines().any(is_of_exec) {
        return;
    }
    for line in output.lines().filter(|line| line.starts_with("{\"seq\":")) {
        // A test may have cut the last line off.
        if let Ok(value) = serde_json::from_str(line) {
            check("output", &value);
        }
    }
}

/// Returns the schema that the program prints.
pub fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| serde_json::from_str(EXEC_SCHEMA).unwrap())
}

/// Checks one value against a part of the schema: `output`, `input` or `result`.
#[track_caller]
pub fn check(part: &str, value: &Value) {
    let whole = schema();
    let faults = faults(whole, &whole["properties"][part], value, "");
    assert!(faults.is_empty(), "{faults:?}: {}", value.to_string().chars().take(2000).collect::<String>());
}

/// Returns what does not fit, each with its place.
pub fn faults(whole: &Value, schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let Some(schema) = schema.as_object() else { return Vec::new() };
    let mut found = Vec::new();
    let mut say = |what: String| found.push(format!("{place}: {what}"));
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let target = whole.pointer(name.strip_prefix('#').unwrap()).unwrap_or_else(|| panic!("{name} is not there"));
        faults(whole, target, value, place).into_iter().for_each(&mut say);
    }
    match schema.get("type") {
        Some(Value::String(name)) if !is_of(name, value) => say(format!("not {name}")),
        Some(Value::Array(names)) if !names.iter().any(|name| is_of(name.as_str().unwrap(), value)) => {
            say(format!("none of {names:?}"));
        }
        _ => {}
    }
    if schema.get("const").is_some_and(|wanted| wanted != value) {
        say("another constant".to_owned());
    }
    if schema.get("enum").and_then(Value::as_array).is_some_and(|names| !names.contains(value)) {
        say("none of the names".to_owned());
    }
    if let Some(members) = value.as_object() {
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            if !members.contains_key(name.as_str().unwrap()) {
                say(format!("{name} is missing"));
            }
        }
        for (name, below) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if let Some(member) = members.get(name) {
                faults(whole, below, member, &format!("{place}/{name}")).into_iter().for_each(&mut say);
            }
        }
    }
    if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
        for (number, value) in values.iter().enumerate() {
            faults(whole, items, value, &format!("{place}/{number}")).into_iter().for_each(&mut say);
        }
    }
    for all in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        faults(whole, all, value, place).into_iter().for_each(&mut say);
    }
    for name in ["oneOf", "anyOf"] {
        if let Some(choices) = schema.get(name).and_then(Value::as_array) {
            let each: Vec<Vec<String>> = choices.iter().map(|one| faults(whole, one, value, place)).collect();
            if each.iter().all(|faults| !faults.is_empty()) {
                let nearest = each.iter().filter(|faults| !faults.iter().any(|fault| fault.contains("constant")));
                say(format!("no choice fits: {:?}", nearest.min_by_key(|faults| faults.len())));
            }
        }
    }
    found
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        other => panic!("the schema has a type {other}"),
    }
}
