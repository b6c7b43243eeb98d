//! Schemas of tools: what Gemini refuses is left out, what it cannot say goes as JSON Schema.

use serde_json::{Value, json};
use steersman_base::message::Message;
use steersman_core::provider::{Answering, ToolSchema};
use steersman_core::tool::Parameters;

use super::body_with;

fn declared(parameters: Value) -> Value {
    let tools = [ToolSchema { name: "f".to_owned(), description: "F.".to_owned(), parameters }];
    let body = body_with("m", None, &[Message::user("hi")], &tools, Answering::default());
    body["tools"][0]["functionDeclarations"][0].clone()
}

#[test]
fn the_schema_of_our_own_tools_is_taken() {
    let parameters = Parameters::build(|p| {
        p.required_string("path", "Where.");
        p.optional_integer("limit", "How many.");
    });
    let expected = json!({"type": "object", "properties": {
        "path": {"type": "string", "description": "Where."}, "limit": {"type": "integer", "description": "How many."}}, "required": ["path"]});
    assert_eq!(declared(parameters.to_schema())["parameters"], expected);
    let none = Parameters::build(|_| {});
    assert_eq!(declared(none.to_schema()), json!({"name": "f", "description": "F."}));
}

#[test]
fn what_it_refuses_is_left_out_and_what_it_says_otherwise_is_changed() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "url": {"type": "string", "format": "uri", "minLength": 1},
            "when": {"type": "string", "format": "date-time"},
            "maybe": {"type": ["string", "null"], "examples": ["x"]},
            "either": {"type": ["string", "integer"]},
            "kind": {"const": "a"},
            "level": {"type": "integer", "enum": [1, 2], "exclusiveMinimum": 0},
            "mode": {"type": "string", "enum": ["a", "b"]},
            "list": {"type": "array"},
            "nested": {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}},
            "one": {"oneOf": [{"type": "string"}, {"type": "object", "properties": {"x": {"type": "number", "$comment": "c"}}}]},
        },
        "required": ["url", "gone"],
    });
    let expected = json!({
        "type": "object",
        "properties": {
            "url": {"type": "string", "minLength": 1},
            "when": {"type": "string", "format": "date-time"},
            "maybe": {"nullable": true, "type": "string"},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "kind": {"enum": ["a"]},
            "level": {"type": "integer"},
            "mode": {"type": "string", "enum": ["a", "b"]},
            "list": {"type": "array", "items": {"type": "string"}},
            "nested": {"type": "object"},
            "one": {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"x": {"type": "number"}}}]},
        },
        "required": ["url"],
    });
    assert_eq!(declared(schema)["parameters"], expected);
}

#[test]
fn a_schema_beyond_its_words_goes_as_it_is() {
    let mut deep = json!({"type": "string"});
    for _ in 0..40 {
        deep = json!({"type": "array", "items": deep});
    }
    for property in [
        json!({"$ref": "#/$defs/x"}),
        json!({"allOf": [{"type": "string"}]}),
        json!({"type": "object", "patternProperties": {"^a": {"type": "string"}}}),
        json!({"type": "array", "items": [{"type": "string"}]}),
        json!({"anyOf": [{"not": {"type": "string"}}]}),
        deep,
    ] {
        let schema = json!({"type": "object", "properties": {"a": property}, "$defs": {"x": {"type": "string"}}});
        let declared = declared(schema.clone());
        assert_eq!((declared.get("parameters"), &declared["parametersJsonSchema"]), (None, &schema));
    }
    assert_eq!(declared(json!(true)), json!({"name": "f", "description": "F."}));
}
