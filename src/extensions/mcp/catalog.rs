//! What a server offers: tools, resources, prompts. Read from its answers, written into what is known about it.
//!
//! Entries that cannot be used are left out, each with a sentence. Texts stay as the server wrote them; whoever shows one
//! or gives one to a model makes it visible.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use steersman_base::limits;
use steersman_base::summary::bytes;
use steersman_base::text::visible_line;

/// A tool of a server, as the server defines it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// The server's name for it.
    pub name: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does.
    #[serde(default)]
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Map<String, Value>,
    /// What the server says about its effects.
    #[serde(default)]
    pub hints: Hints,
}

/// What a server says about the effects of a tool. Nobody has checked it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Hints {
    /// It changes nothing.
    #[serde(rename = "readOnlyHint", skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// It may destroy something.
    #[serde(rename = "destructiveHint", skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// The same call twice does no more than once.
    #[serde(rename = "idempotentHint", skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// It reaches what is outside of the server.
    #[serde(rename = "openWorldHint", skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

impl Hints {
    /// Tells whether a call may be sent again when nobody knows what became of it.
    pub fn may_repeat(self) -> bool {
        self.read_only == Some(true) || self.idempotent == Some(true)
    }

    /// Returns the words for a question.
    pub fn labels(self) -> Vec<&'static str> {
        let words = |hint: Option<bool>, yes, no| hint.map(|hint| if hint { yes } else { no });
        [
            words(self.read_only, "changes nothing", "changes something"),
            words(self.destructive, "may destroy something", "destroys nothing"),
            words(self.idempotent, "may be repeated", "must not be repeated"),
            words(self.open_world, "reaches the outside", "reaches nothing outside"),
        ]
        .into_iter()
        .flatten()
        .filter(|words| !words.is_empty())
        .collect()
    }
}

impl ToolDefinition {
    /// Reads one entry of a server's list.
    ///
    /// # Errors
    /// One sentence, safe to show, when it cannot be used.
    pub fn parse(entry: &Value) -> Result<Self, String> {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let Some(name) = text("name") else { return Err("a tool without a name is left out".to_owned()) };
        let shown = visible_line(name);
        let annotations = entry.get("annotations").cloned().unwrap_or(Value::Null);
        let schema = match entry.get("inputSchema") {
            Some(Value::Object(schema)) => schema.clone(),
            None | Some(Value::Null) => Map::new(),
            Some(_) => return Err(format!("the tool {shown} is left out: the schema of its arguments is no object")),
        };
        let size = Value::Object(schema.clone()).to_string().len();
        if size > limits::MCP_SCHEMA_BYTES {
            let size = bytes(size as u64);
            return Err(format!("the tool {shown} is left out: the schema of its arguments has {size}"));
        }
        if entry.pointer("/execution/taskSupport").and_then(Value::as_str) == Some("required") {
            return Err(format!("the tool {shown} is left out: it runs only as a task, which is not supported"));
        }
        Ok(Self {
            name: name.to_owned(),
            title: text("title").or_else(|| annotations.get("title")?.as_str()).map(str::to_owned),
            description: text("description").unwrap_or_default().to_owned(),
            schema,
            // What is no truth value says nothing.
            hints: serde_json::from_value(annotations).unwrap_or_default(),
        })
    }

    /// Returns the hash of everything that a model or a user is told about it.
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        // The members stand in the order of the server, which may differ from one time to the next.
        hash.update(sorted(&serde_json::to_value(self).unwrap_or_default()).to_string());
        hash.finalize().iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// Returns it as a text of lines, for a diff.
    pub fn lines(&self) -> String {
        let Self { name, title, description, schema, hints } = self;
        let title = title.as_ref().map(|title| format!("title: {title}\n")).unwrap_or_default();
        let hints = match hints.labels() {
            words if words.is_empty() => String::new(),
            words => format!("says of itself: {}\n", words.join(", ")),
        };
        let schema = serde_json::to_string_pretty(&sorted(&Value::Object(schema.clone()))).unwrap_or_default();
        format!("name: {name}\n{title}{hints}description:\n{}\narguments:\n{schema}\n", description.trim())
    }
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut members: Vec<(&String, &Value)> = map.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            members.into_iter().map(|(name, value)| (name.clone(), sorted(value))).collect::<Map<_, _>>().into()
        }
        Value::Array(list) => list.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

/// A resource of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceEntry {
    /// Its address at the server.
    pub uri: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// What it is.
    #[serde(default)]
    pub description: String,
}

impl ResourceEntry {
    /// Reads one entry of a server's list; `None` when it has no address.
    pub fn parse(entry: &Value) -> Option<Self> {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let uri = text("uri");
        (!uri.is_empty()).then(|| Self { uri, name: text("name"), description: text("description") })
    }
}

/// A prompt of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptEntry {
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// What it takes, in order.
    #[serde(default)]
    pub arguments: Vec<PromptArgument>,
}

/// One argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// Whether it must be given.
    #[serde(default)]
    pub required: bool,
}

impl PromptEntry {
    /// Reads one entry of a server's list; `None` when it has no name.
    pub fn parse(entry: &Value) -> Option<Self> {
        let text = |entry: &Value, name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let name = text(entry, "name");
        let arguments = entry.get("arguments").and_then(Value::as_array).cloned().unwrap_or_default();
        let argument = |entry: &Value| PromptArgument {
            name: text(entry, "name"),
            required: entry.get("required").and_then(Value::as_bool).unwrap_or(false),
        };
        (!name.is_empty()).then(|| Self {
            name,
            description: text(entry, "description"),
            arguments: arguments.iter().map(argument).collect(),
        })
    }
}

/// What a server said that it offers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Catalog {
    /// How its tools are to be used, in its own words; empty when it says nothing of it.
    pub instructions: String,
    /// Its tools, in its order.
    pub tools: Vec<ToolDefinition>,
    /// Its resources.
    pub resources: Vec<ResourceEntry>,
    /// Its prompts.
    pub prompts: Vec<PromptEntry>,
}

/// Cuts a text that is too long at a character, with a note.
pub(super) fn truncate(mut text: String, most: usize, note: &str) -> String {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push_str(note);
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_definition_has_one_hash_however_its_members_stand() {
        let one = json!({"name": "t", "description": "d", "inputSchema": {"type": "object", "properties": {"a": {}, "b": {}}}});
        let two = json!({"inputSchema": {"properties": {"b": {}, "a": {}}, "type": "object"}, "description": "d", "name": "t"});
        let (one, two) = (ToolDefinition::parse(&one).unwrap(), ToolDefinition::parse(&two).unwrap());
        assert_eq!(one.hash(), two.hash());
        let other = ToolDefinition { description: "e".to_owned(), ..two };
        assert_ne!(one.hash(), other.hash());
    }

    #[test]
    fn what_cannot_be_used_is_left_out_with_a_sentence() {
        for entry in [json!({}), json!({"name": 5}), json!({"name": "t", "inputSchema": "x"})] {
            assert!(ToolDefinition::parse(&entry).unwrap_err().contains("left out"), "{entry}");
        }
        let huge = json!({"name": "t", "inputSchema": {"x": "y".repeat(limits::MCP_SCHEMA_BYTES)}});
        assert!(ToolDefinition::parse(&huge).unwrap_err().contains("KiB"));
        // A hint of the wrong kind says nothing.
        let odd = json!({"name": "t", "annotations": {"readOnlyHint": "yes"}});
        assert_eq!(ToolDefinition::parse(&odd).unwrap().hints, Hints::default());
    }
}
