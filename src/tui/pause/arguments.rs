//! The arguments of a call as the user edits them.

use crate::message::Arguments;

/// Writes arguments as the user edits them: JSON with line breaks, or the text that is none.
pub fn editable(arguments: &Arguments) -> String {
    match arguments {
        Arguments::Object(map) => serde_json::to_string_pretty(map).unwrap_or_default(),
        Arguments::Raw(text) => text.clone(),
    }
}

/// Reads edited arguments.
///
/// # Errors
/// One sentence, when the text is no JSON object.
pub fn read_arguments(text: &str) -> Result<Arguments, String> {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(serde_json::Value::Object(map)) => Ok(Arguments::Object(map)),
        Ok(_) => Err("arguments must be a JSON object: { … }".to_owned()),
        Err(error) => Err(format!("invalid JSON: {error}")),
    }
}
