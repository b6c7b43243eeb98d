//! Schemas of tools in the form of Gemini, which accepts a part of `OpenAPI` 3 only.
//!
//! A schema that cannot be written with these keywords is sent as JSON Schema, which newer models read.

use serde::Serialize;
use serde_json::{Map, Value, json};

/// The keywords that Gemini knows and that mean the same as in JSON Schema.
const KNOWN: [&str; 17] = [
    "title",
    "description",
    "nullable",
    "default",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "propertyOrdering",
    "type",
    "required",
];
/// The formats that Gemini knows; it refuses any other.
const FORMATS: [&str; 6] = ["enum", "date-time", "int32", "int64", "float", "double"];
/// The keywords that change the meaning and that Gemini does not know.
const BEYOND: [&str; 9] =
    ["$ref", "allOf", "not", "if", "patternProperties", "prefixItems", "dependentSchemas", "contains", "propertyNames"];
/// The depth up to which a schema is read.
const DEPTH: usize = 32;

/// The schema of a tool's arguments in one of two forms; a tool without arguments has none.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum DeclaredParameters<'a> {
    /// In Gemini's own form.
    Parameters(Value),
    /// As JSON Schema.
    ParametersJsonSchema(&'a Value),
}

/// Returns a schema in the form of Gemini; `None` without parameters.
pub(super) fn declare(schema: &Value) -> Option<DeclaredParameters<'_>> {
    if is_beyond(schema, DEPTH) {
        return Some(DeclaredParameters::ParametersJsonSchema(schema));
    }
    let cleaned = clean(schema);
    let has_any = cleaned.get("properties").and_then(Value::as_object).is_some_and(|map| !map.is_empty());
    has_any.then_some(DeclaredParameters::Parameters(cleaned))
}

fn is_beyond(schema: &Value, depth: usize) -> bool {
    let Some(map) = schema.as_object() else { return false };
    let Some(depth) = depth.checked_sub(1) else { return true };
    let properties = map.get("properties").and_then(Value::as_object);
    let lists = ["anyOf", "oneOf"].into_iter().filter_map(|word| map.get(word)?.as_array()).flatten();
    let tuple = map.get("items").is_some_and(Value::is_array);
    tuple
        || BEYOND.iter().any(|word| map.contains_key(*word))
        || properties
            .into_iter()
            .flat_map(Map::values)
            .chain(map.get("items"))
            .chain(lists)
            .any(|inner| is_beyond(inner, depth))
}

fn clean(schema: &Value) -> Value {
    let Some(map) = schema.as_object() else { return json!({}) };
    let mut cleaned = Map::new();
    for (word, value) in map {
        let said = match (word.as_str(), value) {
            ("type", Value::Array(types)) => {
                several(&mut cleaned, types);
                continue;
            }
            ("properties", Value::Object(properties)) if properties.is_empty() => continue,
            ("properties", Value::Object(properties)) => {
                properties.iter().map(|(name, inner)| (name.clone(), clean(inner))).collect()
            }
            ("items", inner) => clean(inner),
            ("anyOf" | "oneOf", Value::Array(list)) => {
                cleaned.insert("anyOf".to_owned(), list.iter().map(clean).collect());
                continue;
            }
            ("enum", Value::Array(values)) if values.iter().all(is_choice) => value.clone(),
            ("const", value) if is_choice(value) => {
                cleaned.insert("enum".to_owned(), json!([value]));
                continue;
            }
            ("format", format) if format.as_str().is_some_and(|format| FORMATS.contains(&format)) => format.clone(),
            (word, value) if KNOWN.contains(&word) => value.clone(),
            _ => continue,
        };
        cleaned.insert(word.clone(), said);
    }
    if cleaned.get("type").is_some_and(|kind| kind == "array") && !cleaned.contains_key("items") {
        cleaned.insert("items".to_owned(), json!({"type": "string"}));
    }
    // A name that is required must be declared.
    let declared: Vec<String> =
        cleaned.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys).cloned().collect();
    if let Some(Value::Array(required)) = cleaned.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(|name| declared.iter().any(|known| known == name)));
        if required.is_empty() {
            cleaned.shift_remove("required");
        }
    }
    Value::Object(cleaned)
}

/// Returns whether a value can be a choice: only texts can, and not the empty one.
fn is_choice(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

/// Writes several types: one that may be null, or `anyOf`.
fn several(cleaned: &mut Map<String, Value>, types: &[Value]) {
    let real: Vec<&Value> = types.iter().filter(|kind| *kind != "null").collect();
    if real.len() < types.len() {
        cleaned.insert("nullable".to_owned(), json!(true));
    }
    match real.as_slice() {
        [] => {}
        [one] => {
            cleaned.insert("type".to_owned(), (*one).clone());
        }
        more => {
            cleaned.insert("anyOf".to_owned(), more.iter().map(|kind| json!({"type": kind})).collect());
        }
    }
}
