//! The filter of the tree: a text, and which agents it lets through.
//!
//! An agent matches when every word of the text is in its id, persona, task, or the word for its state.

use super::Tree;
use super::node::{Node, State};
use crate::limits;

/// The filter's text.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    text: String,
    words: Vec<String>,
}

impl Filter {
    /// Returns the text as it was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Tells whether anything is filtered.
    pub fn is_active(&self) -> bool {
        !self.words.is_empty()
    }

    pub(super) fn lets_through(&self, node: &Node) -> bool {
        let state = node.state();
        let in_tool =
            |word: &String| state == State::Tools && node.open.iter().any(|call| call.name.contains(word.as_str()));
        let found = |word: &String| node.words.contains(word.as_str()) || state.word().contains(word.as_str());
        self.words.iter().all(|word| found(word) || in_tool(word))
    }

    fn set(&mut self, text: String) {
        self.words = text.split_whitespace().map(str::to_lowercase).collect();
        self.text = text;
    }
}

impl Node {
    /// Takes over what it was started with as the words that the filter looks through.
    pub(super) fn remember_words(&mut self) {
        let task: String = self.task.chars().take(limits::FILTER_CHARS).collect();
        self.words = format!("{}\n{}\n{task}", self.id, self.persona).to_lowercase();
    }
}

impl Tree {
    /// Returns the filter.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Filters by another text; an empty one shows everything.
    pub fn filter_by(&mut self, text: impl Into<String>) {
        self.filter.set(text.into());
        for node in &mut self.nodes {
            node.matches = self.filter.lets_through(node);
        }
        self.forget_rows();
        if !self.filter.is_active() {
            // It may have been selected where a fold had hidden it.
            self.reveal(self.selected);
        }
    }

    /// Counts the agents that match the filter.
    pub fn matching(&self) -> usize {
        self.rows().iter().filter(|row| self.nodes[row.agent].matches).count()
    }

    /// Tells whether the filter matches an agent itself; one that is shown for others' sake does not match.
    pub fn matches(&self, agent: usize) -> bool {
        self.nodes.get(agent).is_some_and(|node| node.matches)
    }

    /// Selects the first agent that matches, unless the selected one does.
    pub fn select_match(&mut self) {
        if self.nodes[self.selected].matches {
            return;
        }
        let first = self.rows().iter().map(|row| row.agent).find(|agent| self.nodes[*agent].matches);
        if let Some(first) = first {
            self.go(first);
        }
    }
}
