//! What a project's own configuration may set: rules, the step budget, the system prompt and MCP servers. Nothing else.
//!
//! Which server gets the conversation, which key goes there, what confines commands and how much runs unasked are the
//! user's decisions: a project's file that sets one of them is refused as a whole.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;

use crate::program::config::file::{key_at, parse};
use crate::program::config::{FileError, Layer, RuleLists, ServerSection};

/// What a project sets.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProjectLayer {
    /// What tools may do, case by case; behind the user's rules.
    pub rules: RuleLists,
    /// Tool calls per turn.
    pub max_steps: Option<NonZeroU32>,
    /// The file, beside the project's configuration or below, that replaces the default system prompt.
    pub system_prompt: Option<PathBuf>,
    pub servers: BTreeMap<String, ServerSection>,
}

impl ProjectLayer {
    /// The keys that a project may set.
    pub const KEYS: [&'static str; 4] = ["rules", "max_steps", "system_prompt", "mcp"];

    /// Reads the text of a project's configuration.
    ///
    /// # Errors
    /// As [`parse`], and for a key that is not for a project to set.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let layer = parse(text)?;
        let foreign = Layer::names().filter(|key| !Self::KEYS.contains(key));
        if let Some((line, key)) = foreign.filter_map(|key| key_at(text, key).map(|line| (line, key))).min() {
            let message = format!("a project may not set {key:?}, only {}", Self::KEYS.join(", "));
            return Err(FileError { line, message });
        }
        let rules = layer.rules.unwrap_or_default();
        if let Err(error) = rules.parse() {
            return Err(FileError { line: key_at(text, "rules").unwrap_or(1), message: error.to_string() });
        }
        let servers = layer.mcp.unwrap_or_default();
        Ok(Self { rules, max_steps: layer.max_steps, system_prompt: layer.system_prompt, servers })
    }
}
