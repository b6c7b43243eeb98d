//! The filter of the list: a text, and which agents it lets through.
//!
//! An agent matches when every word of the text is in its id, persona, task, or the word for its status.

use crate::session::fold::agents::{AgentNode, AgentStatus};

/// The filter's text.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    text: String,
    words: Vec<String>,
}

impl Filter {
    /// Makes a filter from its text.
    pub fn new(text: String) -> Self {
        Self { words: text.split_whitespace().map(str::to_lowercase).collect(), text }
    }

    /// Returns the text as it was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether anything is filtered.
    pub fn is_active(&self) -> bool {
        !self.words.is_empty()
    }

    /// Returns whether an agent matches.
    pub(super) fn lets_through(&self, node: &AgentNode) -> bool {
        let status = node.status();
        let in_tool = |word: &String| {
            status == AgentStatus::Tools && node.open.iter().any(|call| call.name.contains(word.as_str()))
        };
        let found = |word: &String| node.words().contains(word.as_str()) || status.word().contains(word.as_str());
        self.words.iter().all(|word| found(word) || in_tool(word))
    }
}
