//! What a Responses server demands of a request: the validator that every request of a test of that family passes.

use serde_json::Value;

/// Returns the first fault of a request's body.
pub fn violation(body: &Value) -> Option<String> {
    if body["store"] != false {
        return Some("something is to be stored".to_owned());
    }
    let Some(input) = body["input"].as_array().filter(|input| !input.is_empty()) else {
        return Some("no input".to_owned());
    };
    let mut open: Vec<&str> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (index, item) in input.iter().enumerate() {
        let text = |name: &str| item[name].as_str().filter(|text| !text.is_empty());
        let fault = |what: &str| Some(format!("item {index} {what}: {item}"));
        let kind = text("type").unwrap_or_default();
        if kind == "message" && item["role"] != "assistant" && !open.is_empty() {
            return fault(&format!("stands before the results of {open:?}"));
        }
        match kind {
            "message" => {
                if !matches!(text("role"), Some("system" | "developer" | "user" | "assistant")) {
                    return fault("has no role");
                }
                if text("content").is_none() && item["content"].as_array().is_none_or(Vec::is_empty) {
                    return fault("says nothing");
                }
            }
            "function_call" => {
                let Some(id) = text("call_id").filter(|id| id.len() <= 64 && !seen.contains(id)) else {
                    return fault("has no id of its own");
                };
                let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                if text("name").is_none_or(|name| name.len() > 64 || !name.chars().all(fits)) {
                    return fault("has a name that no function can have");
                }
                let arguments = item["arguments"].as_str().unwrap_or_default();
                if serde_json::from_str::<serde_json::Map<String, Value>>(arguments).is_err() {
                    return fault("has arguments that are no object");
                }
                seen.push(id);
                open.push(id);
            }
            "function_call_output" => {
                let Some(at) = open.iter().position(|id| Some(*id) == text("call_id")) else {
                    return fault("answers no call");
                };
                if !item["output"].is_string() {
                    return fault("has no output");
                }
                open.remove(at);
            }
            "reasoning" => {
                let holds = text("encrypted_content").is_some()
                    || item["content"].as_array().is_some_and(|content| !content.is_empty());
                if !holds || !item["summary"].is_array() {
                    return fault("refers to what nobody has stored");
                }
                let behind = input.get(index + 1).map(|next| next["type"].as_str().unwrap_or_default());
                if matches!(behind, None | Some("function_call_output")) {
                    return fault("has nothing behind it");
                }
            }
            "" | "custom_tool_call" | "computer_call" | "local_shell_call" => return fault("is of no kind"),
            _ => {}
        }
    }
    (!open.is_empty()).then(|| format!("the calls {open:?} have no result"))
}
