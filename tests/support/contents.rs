//! What Gemini demands of a request: the validator that every request of a test of that family passes.

use serde_json::Value;

/// Words of a schema that Gemini knows.
const WORDS: [&str; 22] = [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "properties",
    "required",
    "anyOf",
    "propertyOrdering",
    "default",
    "example",
    "pattern",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
];

/// Returns the first fault of a request's body.
pub fn violation(body: &Value) -> Option<String> {
    let Some(contents) = body["contents"].as_array().filter(|contents| !contents.is_empty()) else {
        return Some("no contents".to_owned());
    };
    let mut open: Vec<(&Value, &Value)> = Vec::new();
    for (index, content) in contents.iter().enumerate() {
        let fault = |what: &str| Some(format!("content {index} {what}: {content}"));
        let role = if index % 2 == 0 { "user" } else { "model" };
        if content["role"] != role {
            return fault("is not of the other role than the one before");
        }
        let Some(parts) = content["parts"].as_array().filter(|parts| !parts.is_empty()) else {
            return fault("has no parts");
        };
        let of = |kind: &str| -> Vec<(&Value, &Value)> {
            parts.iter().filter_map(|part| part.get(kind)).map(|part| (&part["name"], &part["id"])).collect()
        };
        let (calls, results) = (of("functionCall"), of("functionResponse"));
        if results != open {
            return fault(&format!("answers {results:?}, due was {open:?}"));
        }
        let begins_with_results =
            parts.iter().position(|part| part.get("functionResponse").is_none()).is_none_or(|at| at >= results.len());
        if !begins_with_results {
            return fault("has something before its results");
        }
        for part in parts {
            let signed = part.get("thoughtSignature").is_some();
            if part["text"] == "" && !signed || part.as_object().is_none_or(serde_json::Map::is_empty) {
                return fault("has an empty part");
            }
            if let Some(call) = part.get("functionCall")
                && (!call["args"].is_object() || !is_name(&call["name"]) || role == "user")
            {
                return fault("has a bad call");
            }
            if let Some(result) = part.get("functionResponse")
                && (!result["response"].is_object() || role == "model")
            {
                return fault("has a bad result");
            }
        }
        open = calls;
    }
    if !open.is_empty() {
        return Some(format!("the calls {open:?} have no result"));
    }
    let declarations =
        body["tools"].as_array().into_iter().flatten().filter_map(|tools| tools["functionDeclarations"].as_array());
    declarations.flatten().find_map(|declared| {
        if !is_name(&declared["name"]) {
            return Some(format!("no function can be called {}", declared["name"]));
        }
        declared.get("parameters").and_then(unknown_word)
    })
}

fn is_name(name: &Value) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    let begins = |name: &str| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    name.as_str().is_some_and(|name| name.len() <= 64 && begins(name) && name.chars().all(fits))
}

fn unknown_word(schema: &Value) -> Option<String> {
    let object = schema.as_object()?;
    let unknown = object.keys().find(|word| !WORDS.contains(&word.as_str()));
    if let Some(word) = unknown {
        return Some(format!("unknown name {word:?} in a schema"));
    }
    if object.get("type").is_some_and(|kind| !kind.is_string()) {
        return Some(format!("a schema of several types: {schema}"));
    }
    let properties = object.get("properties").and_then(Value::as_object);
    let lists = object.get("anyOf").and_then(Value::as_array);
    let inner = properties.into_iter().flat_map(|map| map.values()).chain(object.get("items"));
    inner.chain(lists.into_iter().flatten()).find_map(unknown_word)
}
