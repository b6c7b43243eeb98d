//! A JSON Schema as the parameters of a tool, and the check of arguments against it.
//!
//! Declared one by one, made from the type of a typed tool, or given by hand to `Parameters::from_schema`. It knows what descriptions of Rust
//! types have: types, ranges, lengths, enums, lists, objects within objects, alternatives, references. What else a schema
//! says (`pattern`, `format`) is for the model; the type itself refuses it. Always holds: an object that lists its members
//! takes no others, unless it says so.

use serde_json::{Map, Value};

/// How many characters of a wrong value a message quotes.
const QUOTED_CHARS: usize = 40;
/// How deep schemas and values are followed: arguments have at most 127 levels, and a reference is one more each.
const LEVELS: usize = 300;

/// Keywords that hold schemas for the same value.
const SAME_VALUE: [&str; 4] = ["$ref", "allOf", "oneOf", "anyOf"];

/// The schema of the arguments of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ArgumentSchema(Value);

/// Whether a schema describes all of a value, or shares it with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    Part,
}

impl ArgumentSchema {
    /// Takes a schema; its objects take no members but those that they list.
    pub(super) fn new(mut root: Value) -> Self {
        close(&mut root);
        Self(root)
    }

    pub(super) fn value(&self) -> &Value {
        &self.0
    }

    /// Returns what is wrong with these arguments, one sentence each.
    pub(super) fn problems(&self, arguments: &Map<String, Value>) -> Vec<String> {
        self.check(&self.0, &Value::Object(arguments.clone()), "", Extent::Whole, LEVELS)
    }

    fn check(&self, schema: &Value, value: &Value, at: &str, extent: Extent, levels: usize) -> Vec<String> {
        let (Some(schema), Some(levels)) = (schema.as_object(), levels.checked_sub(1)) else { return Vec::new() };
        let is_shared = extent == Extent::Part || schema.contains_key("unevaluatedProperties");
        let shared = if is_shared { Extent::Part } else { Extent::Whole };
        let mut problems = Vec::new();
        if let Some(target) = self.target(schema) {
            problems.extend(self.check(target, value, at, shared, levels));
        }
        for member in list(schema, "allOf") {
            problems.extend(self.check(member, value, at, shared, levels));
        }
        for keyword in ["oneOf", "anyOf"] {
            problems.extend(self.alternatives(list(schema, keyword), value, at, shared, levels));
        }
        if !fits(schema, value) {
            problems.push(format!("{} must be {}, not {}", named(at), self.expected(schema, levels), shown(value)));
            return problems;
        }
        match value {
            Value::Object(map) => self.members(schema, map, at, extent, levels, &mut problems),
            Value::Array(items) => self.items(schema, items, at, levels, &mut problems),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        problems
    }

    fn members(
        &self,
        schema: &Map<String, Value>,
        map: &Map<String, Value>,
        at: &str,
        extent: Extent,
        levels: usize,
        problems: &mut Vec<String>,
    ) {
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        for name in list(schema, "required").filter_map(Value::as_str).filter(|name| !map.contains_key(*name)) {
            let wanted = properties.get(name).map_or("given".to_owned(), |schema| self.expected_of(schema, levels));
            problems.push(format!("{:?} is missing; it must be {wanted}", below(at, name)));
        }
        let others = schema.get("additionalProperties");
        let is_closed = schema.get("unevaluatedProperties") == Some(&Value::Bool(false));
        for (name, value) in map {
            let place = below(at, name);
            if let Some(schema) = properties.get(name) {
                problems.extend(self.check(schema, value, &place, Extent::Whole, levels));
            } else if is_closed && !self.knows(schema, name, levels) || others == Some(&Value::Bool(false)) {
                if extent == Extent::Whole {
                    problems.push(format!("{} is not a parameter; {}", quoted(&place), property_names(properties)));
                }
            } else if let Some(others) = others {
                problems.extend(self.check(others, value, &place, Extent::Whole, levels));
            }
        }
    }

    /// Checks the items of a list; tells of the first that does not fit.
    fn items(&self, schema: &Map<String, Value>, items: &[Value], at: &str, levels: usize, problems: &mut Vec<String>) {
        let first: Vec<&Value> = list(schema, "prefixItems").collect();
        for (index, item) in items.iter().enumerate() {
            let Some(schema) = first.get(index).copied().or_else(|| schema.get("items")) else { return };
            let wrong = self.check(schema, item, &format!("{at}[{index}]"), Extent::Whole, levels);
            if !wrong.is_empty() {
                problems.extend(wrong);
                return;
            }
        }
    }

    /// Checks that a value is one of several; tells what is wrong with the one that its tags name.
    fn alternatives<'a>(
        &self,
        alternatives: impl Iterator<Item = &'a Value>,
        value: &Value,
        at: &str,
        extent: Extent,
        levels: usize,
    ) -> Vec<String> {
        let alternatives: Vec<&Value> = alternatives.collect();
        let found: Vec<Vec<String>> =
            alternatives.iter().map(|schema| self.check(schema, value, at, extent, levels)).collect();
        if alternatives.is_empty() || found.iter().any(Vec::is_empty) {
            return Vec::new();
        }
        let mut meant = alternatives.iter().zip(found).filter(|(schema, _)| has_tags_of(schema, value));
        if let (Some((_, problems)), None) = (meant.next(), meant.next()) {
            return problems;
        }
        let wanted = self.any_of(alternatives.into_iter(), levels);
        vec![format!("{} must be {wanted}, not {}", named(at), shown(value))]
    }

    /// Tells whether a member has a schema here or in what describes the same value.
    fn knows(&self, schema: &Map<String, Value>, name: &str, levels: usize) -> bool {
        let Some(levels) = levels.checked_sub(1) else { return false };
        let is_own = schema.get("properties").is_some_and(|properties| properties.get(name).is_some());
        let beside = ["allOf", "oneOf", "anyOf"].into_iter().flat_map(|keyword| list(schema, keyword));
        is_own
            || beside
                .chain(self.target(schema))
                .filter_map(Value::as_object)
                .any(|schema| self.knows(schema, name, levels))
    }

    /// Returns what a reference stands for.
    fn target(&self, schema: &Map<String, Value>) -> Option<&Value> {
        self.0.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
    }

    fn expected_of(&self, schema: &Value, levels: usize) -> String {
        schema.as_object().map_or_else(|| "given".to_owned(), |schema| self.expected(schema, levels))
    }

    /// Returns what a value must be, in words.
    fn expected(&self, schema: &Map<String, Value>, levels: usize) -> String {
        let Some(levels) = levels.checked_sub(1) else { return "given".to_owned() };
        if let Some(only) = schema.get("const") {
            return only.to_string();
        }
        if schema.contains_key("enum") {
            return one_of(list(schema, "enum").map(Value::to_string).collect());
        }
        if let Some(target) = self.target(schema) {
            return self.expected_of(target, levels);
        }
        if let Some(keyword) = ["oneOf", "anyOf"].into_iter().find(|keyword| schema.contains_key(*keyword)) {
            return self.any_of(list(schema, keyword), levels);
        }
        let tags: Vec<String> = tags(schema).map(|(name, only)| format!("{name:?} {only}")).collect();
        let types: Vec<String> = types(schema)
            .map(|kind| match kind {
                "object" if !tags.is_empty() => format!("an object with {}", tags.join(" and ")),
                "object" => "an object".to_owned(),
                "array" => format!("a list{}", span(schema, ["minItems", "maxItems"], " of", items_name(schema))),
                "string" => format!("a string{}", span(schema, ["minLength", "maxLength"], " of", " characters")),
                "integer" => format!("an integer{}", range(schema)),
                "number" => format!("a number{}", range(schema)),
                "boolean" => "true or false".to_owned(),
                other => other.to_owned(),
            })
            .collect();
        if types.is_empty() { "given".to_owned() } else { types.join(" or ") }
    }

    fn any_of<'a>(&self, alternatives: impl Iterator<Item = &'a Value>, levels: usize) -> String {
        one_of(alternatives.map(|schema| self.expected_of(schema, levels)).collect())
    }
}

/// Makes every object that lists its members take no others, and leaves out what tells a model nothing.
fn close(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    map.shift_remove("$schema");
    map.shift_remove("title");
    let is_width = |format: &str| ["int", "uint", "float", "double"].iter().any(|width| format.starts_with(width));
    if map.get("format").and_then(Value::as_str).is_some_and(is_width) {
        map.shift_remove("format");
    }
    let is_composed = SAME_VALUE.iter().any(|keyword| map.contains_key(*keyword));
    let is_bare = map.get("type").and_then(Value::as_str) == Some("object") && !is_composed;
    let has_members = map.contains_key("properties") || is_bare;
    let says = map.contains_key("additionalProperties") || map.contains_key("unevaluatedProperties");
    if has_members && !says {
        let keyword = if is_composed { "unevaluatedProperties" } else { "additionalProperties" };
        map.insert(keyword.to_owned(), Value::Bool(false));
    }
    for keyword in ["properties", "$defs"] {
        map.get_mut(keyword).and_then(Value::as_object_mut).into_iter().flatten().for_each(|(_, schema)| close(schema));
    }
    for keyword in ["items", "additionalProperties"] {
        map.get_mut(keyword).into_iter().for_each(close);
    }
    for keyword in ["prefixItems", "allOf", "oneOf", "anyOf"] {
        map.get_mut(keyword).and_then(Value::as_array_mut).into_iter().flatten().for_each(close);
    }
}

/// Tells whether a value has the type, the choice and the size that a schema asks for.
fn fits(schema: &Map<String, Value>, value: &Value) -> bool {
    let is_choice = !schema.contains_key("enum") || list(schema, "enum").any(|choice| choice == value);
    let is_only = schema.get("const").is_none_or(|only| only == value);
    has_type(schema, value) && is_choice && is_only && is_within(schema, value)
}

/// Tells whether a value has one of the types of a schema; one that names none takes any. Nothing is coerced: `1.0` is no
/// integer, and `"1"` is none either.
pub(super) fn has_type(schema: &Map<String, Value>, value: &Value) -> bool {
    // What is read as a signed number must be one.
    let is_unsigned = schema.get("minimum").is_some_and(Value::is_u64);
    let is = |kind: &str| match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || is_unsigned && value.is_u64(),
        "number" => value.as_f64().is_some_and(f64::is_finite),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    let mut types = types(schema).peekable();
    types.peek().is_none() || types.any(is)
}

fn is_within(schema: &Map<String, Value>, value: &Value) -> bool {
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let is_sized = |size: usize, [least, most]: [&str; 2]| {
        let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        bound(least).is_none_or(|least| size >= least) && bound(most).is_none_or(|most| size <= most)
    };
    match value {
        Value::Number(number) => number.as_f64().is_none_or(|number| {
            bound("minimum").is_none_or(|least| number >= least)
                && bound("maximum").is_none_or(|most| number <= most)
                && bound("exclusiveMinimum").is_none_or(|least| number > least)
                && bound("exclusiveMaximum").is_none_or(|most| number < most)
        }),
        Value::String(text) => is_sized(text.chars().count(), ["minLength", "maxLength"]),
        Value::Array(items) => is_sized(items.len(), ["minItems", "maxItems"]),
        Value::Null | Value::Bool(_) | Value::Object(_) => true,
    }
}

/// Returns the members that have one value only, which name an alternative.
fn tags(schema: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().filter_map(|(name, schema)| Some((name, schema.get("const")?)))
}

/// Tells whether a value names this alternative: by its tags, or by its only member.
fn has_tags_of(schema: &Value, value: &Value) -> bool {
    let Some(schema) = schema.as_object() else { return false };
    let mut tags = tags(schema).peekable();
    if tags.peek().is_some() {
        return tags.all(|(name, only)| value.get(name) == Some(only));
    }
    let required: Vec<&str> = list(schema, "required").filter_map(Value::as_str).collect();
    matches!(required.as_slice(), [only] if value.get(only).is_some())
}

fn list<'a>(schema: &'a Map<String, Value>, keyword: &str) -> impl Iterator<Item = &'a Value> {
    schema.get(keyword).and_then(Value::as_array).into_iter().flatten()
}

pub(super) fn types(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let one = schema.get("type").and_then(Value::as_str);
    one.into_iter().chain(list(schema, "type").filter_map(Value::as_str))
}

fn property_names(properties: &Map<String, Value>) -> String {
    let names: Vec<&str> = properties.keys().map(String::as_str).collect();
    if names.is_empty() { "there are none".to_owned() } else { format!("the parameters are {}", names.join(", ")) }
}

fn named(at: &str) -> String {
    if at.is_empty() { "what is given".to_owned() } else { quoted(at) }
}

/// Returns the place of a member: `to.city`.
fn below(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

fn one_of(mut words: Vec<String>) -> String {
    match words.len() {
        0 => "given".to_owned(),
        1 => words.remove(0),
        _ if words
            .iter()
            .all(|word| word.starts_with(['"', '-']) || word.starts_with(|c: char| c.is_ascii_digit())) =>
        {
            format!("one of {}", words.join(", "))
        }
        _ => words.join(" or "),
    }
}

/// Names the items of a list, with the space before it.
fn items_name(schema: &Map<String, Value>) -> &'static str {
    match schema.get("items").and_then(|items| items.get("type")).and_then(Value::as_str) {
        Some("string") => " strings",
        Some("object") => " objects",
        _ => " items",
    }
}

/// Returns the bounds of a number in words.
fn range(schema: &Map<String, Value>) -> String {
    let bounds =
        [("minimum", "at least"), ("exclusiveMinimum", "above"), ("maximum", "at most"), ("exclusiveMaximum", "below")];
    let words = bounds.iter().filter_map(|(keyword, word)| Some(format!("{word} {}", schema.get(*keyword)?)));
    let words: Vec<String> = words.collect();
    if words.is_empty() { String::new() } else { format!(", {}", words.join(" and ")) }
}

fn counted(number: &Value, noun: &str) -> String {
    let noun = if number.as_u64() == Some(1) { noun.trim_end_matches('s') } else { noun };
    format!("{number}{noun}")
}

/// Returns the bounds of a length in words.
fn span(schema: &Map<String, Value>, [least, most]: [&str; 2], before: &str, behind: &str) -> String {
    match (schema.get(least), schema.get(most)) {
        (Some(least), Some(most)) => format!("{before} {least} to {most}{behind}"),
        (Some(least), None) => format!("{before} at least {}", counted(least, behind)),
        (None, Some(most)) => format!("{before} at most {}", counted(most, behind)),
        (None, None) if behind == " strings" || behind == " objects" => format!("{before}{behind}"),
        (None, None) => String::new(),
    }
}

/// Names the type of a value and quotes it, shortened.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) if value.is_u64() && !value.is_i64() => format!("{value}, which is too large"),
        Value::Number(value) => format!("the number {value}"),
        Value::String(value) => format!("the string {}", quoted(value)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn quoted(text: &str) -> String {
    if text.chars().nth(QUOTED_CHARS).is_none() {
        return format!("{text:?}");
    }
    let head: String = text.chars().take(QUOTED_CHARS).collect();
    format!("{head:?}…")
}
