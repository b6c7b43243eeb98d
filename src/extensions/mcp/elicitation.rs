//! What a server wants to be told by the user: a question with a form, or an address to open.
//!
//! The question names the server and shows everything that it says; nothing is answered for the user. What a server
//! cannot ask for in a form (nested values) is refused with words for it.

use serde_json::{Map, Value, json};

use crate::mcp::message::RpcError;
use steersman_base::protocol::FieldKind;
use steersman_base::text::{QuestionText, visible_line};
use steersman_core::approval::{Approvals, FormAnswer, FormField, PlainAnswer};

/// Most fields of a form.
const FIELDS: usize = 50;

/// Puts a question of a server to the user; returns the result for the server.
///
/// # Errors
/// When it cannot be asked.
pub(super) async fn elicit(server: &str, approvals: &Approvals, params: &Value) -> Result<Value, RpcError> {
    let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    if text("mode") == "url" {
        let title = format!("The server {} asks you to open this address. Will you?", visible_line(server));
        let mut detail = QuestionText::default();
        detail.field("address", &text("url"));
        detail.sentence("the server says:");
        detail.quote(&text("message"));
        return Ok(match approvals.ask_plain(title, detail).await {
            PlainAnswer::Yes => json!({"action": "accept"}),
            PlainAnswer::No => json!({"action": "decline"}),
            PlainAnswer::NotNow | PlainAnswer::Nobody => json!({"action": "cancel"}),
        });
    }
    let fields = fields(params.get("requestedSchema").unwrap_or(&Value::Null)).map_err(|message| RpcError {
        code: -32602,
        message,
        data: Value::Null,
    })?;
    Ok(match approvals.ask_form(server.to_owned(), text("message"), fields).await {
        FormAnswer::Filled(content) => json!({"action": "accept", "content": content}),
        FormAnswer::Declined => json!({"action": "decline"}),
        FormAnswer::Nobody => json!({"action": "cancel"}),
    })
}

fn fields(schema: &Value) -> Result<Vec<FormField>, String> {
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    if properties.len() > FIELDS {
        return Err(format!("a form has at most {FIELDS} fields"));
    }
    properties.iter().map(|(name, schema)| field(name, schema, required.contains(&name.as_str()))).collect()
}

fn field(name: &str, schema: &Value, required: bool) -> Result<FormField, String> {
    let text = |name: &str| schema.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let number = |name: &str| schema.get(name).and_then(Value::as_f64);
    let kind = match text("type").unwrap_or("string") {
        "string" => match choices(schema) {
            Some(values) => FieldKind::Choice { values },
            None => FieldKind::Text {
                least: schema.get("minLength").and_then(Value::as_u64).unwrap_or(0),
                most: schema.get("maxLength").and_then(Value::as_u64).unwrap_or(u64::MAX),
            },
        },
        kind @ ("number" | "integer") => {
            FieldKind::Number { whole: kind == "integer", least: number("minimum"), most: number("maximum") }
        }
        "boolean" => FieldKind::Boolean,
        "array" => match schema.get("items").and_then(choices) {
            Some(values) => FieldKind::Choices { values },
            None => return Err(format!("the field {name} is a list of what a form cannot hold")),
        },
        kind => return Err(format!("the field {name} is of the type {kind}, which a form cannot hold")),
    };
    let about = [text("title"), text("description")].into_iter().flatten().collect::<Vec<_>>().join(": ");
    // One that the field itself does not take is none.
    let default = schema.get("default").cloned();
    let field = FormField { name: name.to_owned(), about, kind, required, default: None };
    let fits = |value: &Value| {
        let values = Map::from_iter([(name.to_owned(), value.clone())]);
        steersman_base::protocol::check_form(std::slice::from_ref(&field), &values).is_ok()
    };
    let default = default.filter(fits);
    Ok(FormField { default, ..field })
}

/// Returns the values of a field that takes one of several.
fn choices(schema: &Value) -> Option<Vec<String>> {
    let texts = |list: &Value| {
        let list = list.as_array()?.iter().map(|one| one.as_str().map(str::to_owned));
        list.collect::<Option<Vec<String>>>()
    };
    if let Some(values) = schema.get("enum").and_then(texts) {
        return Some(values);
    }
    let titled = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?;
    titled.iter().map(|one| one.get("const")?.as_str().map(str::to_owned)).collect()
}
