//! Makes the JSON Schema of both directions of `exec` from the types, to compare it with the one that is kept.
//!
//! `STEERSMAN_UPDATE_MANUAL=1 cargo test --lib schema` writes that one anew. The program prints it, and does not have to
//! carry what makes it.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::fields::{
    AgentFinishedFields, AgentSpawnedFields, AnswerFields, CompactedFields, FilesChanged, LineFields, QuestionFields,
    ReplyLine, RunResult, SeenFields, ToolResultFields, TurnEndedFields, UserTurnFields,
};
use super::permission::{PermissionAnswer, PermissionQuestion};
use super::request::InputLine;
use steersman_base::assets::EXEC_SCHEMA;
use steersman_base::event::Envelope;

#[test]
fn the_schema_that_is_kept_is_made_from_the_types() -> std::io::Result<()> {
    let made = serde_json::to_string_pretty(&schema())? + "\n";
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/schema/exec.json");
    if std::env::var_os("STEERSMAN_UPDATE_MANUAL").is_some() {
        return std::fs::write(path, &made);
    }
    assert_eq!(made, EXEC_SCHEMA, "see the head of this file");
    Ok(())
}

/// Makes the schema: `output` describes a line of `--json`, `input` one of `--input json`, `result` the object of
/// `--output result`, `permission_question` and `permission_answer` what `--permission-command` gets and prints.
fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let envelope = generator.subschema_for::<Envelope>().to_value();
    let input = generator.subschema_for::<InputLine>().to_value();
    let result = generator.subschema_for::<RunResult>().to_value();
    let question = generator.subschema_for::<PermissionQuestion>().to_value();
    let answer = generator.subschema_for::<PermissionAnswer>().to_value();
    let added = [
        ("question", schema_of::<QuestionFields>(&mut generator)),
        ("answer", schema_of::<AnswerFields>(&mut generator)),
        ("user_turn", schema_of::<UserTurnFields>(&mut generator)),
        ("seen", schema_of::<SeenFields>(&mut generator)),
        ("agent_spawned", schema_of::<AgentSpawnedFields>(&mut generator)),
        ("agent_finished", schema_of::<AgentFinishedFields>(&mut generator)),
        ("compacted", schema_of::<CompactedFields>(&mut generator)),
        ("tool_result", schema_of::<ToolResultFields>(&mut generator)),
        ("turn_ended", schema_of::<TurnEndedFields>(&mut generator)),
        ("session_ended", schema_of::<RunResult>(&mut generator)),
    ];
    let alone = [
        ("files_changed", schema_of::<FilesChanged>(&mut generator)),
        ("reply", schema_of::<ReplyLine>(&mut generator)),
        // Older and newer programs may write others.
    ];
    let line = schema_of::<LineFields>(&mut generator);
    let mut definitions = Map::from_iter(generator.take_definitions(true));
    if let Some(events) =
        definitions.get_mut("Event").and_then(|event| event.get_mut("oneOf")).and_then(Value::as_array_mut)
    {
        // A type that readers must ignore is not described.
        events.retain(|event| !matches!(type_of(event), None | Some("unknown" | "history")));
        for (name, fields) in &added {
            events.iter_mut().filter(|event| type_of(event) == Some(name)).for_each(|event| merge(event, fields));
        }
        for (name, fields) in alone {
            let mut event = json!({"type": "object", "properties": {"type": {"type": "string", "const": name}}, "required": ["type"]});
            merge(&mut event, &fields);
            events.push(event);
        }
        for event in events {
            merge(event, &json!({"properties": {"cut_bytes": {"type": "integer"}, "cut": {"type": "array"}}}));
        }
    }
    if let Some(envelope) = definitions.get_mut("Envelope") {
        merge(envelope, &line);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "steersman exec",
        "properties": {
            "output": envelope,
            "input": input,
            "result": result,
            "permission_question": question,
            "permission_answer": answer,
        },
        "$defs": definitions,
    })
}

/// Returns the schema of a type itself, not a reference to it.
fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    T::json_schema(generator).to_value()
}

/// Returns the type that a variant of `Event` is for.
fn type_of(event: &Value) -> Option<&str> {
    event.pointer("/properties/type/const").and_then(Value::as_str)
}

/// Adds the members of one object schema to another.
fn merge(into: &mut Value, from: &Value) {
    let Some(into) = into.as_object_mut() else { return };
    if let Some(properties) = from.get("properties").and_then(Value::as_object) {
        let all = into.entry("properties").or_insert_with(|| json!({}));
        if let Some(all) = all.as_object_mut() {
            for (name, property) in properties {
                all.entry(name).or_insert_with(|| property.clone());
            }
        }
    }
    if let Some(required) = from.get("required").and_then(Value::as_array) {
        let all = into.entry("required").or_insert_with(|| json!([]));
        if let Some(all) = all.as_array_mut() {
            all.extend(required.iter().cloned());
        }
    }
}
