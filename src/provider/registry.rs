//! What is known about models by their names: context window, output limit, price, how they think.
//!
//! Plain data; the program fills it from the bundled table and the user's own. A model that is not in it works too.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::price::Price;

/// Is what is known about one model; each part may be unknown.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Card {
    /// Tokens that a conversation can hold.
    pub context_window: Option<u64>,
    /// Tokens that one reply can have.
    pub output_limit: Option<u64>,
    /// What tokens cost.
    pub price: Option<Price>,
    /// How it is told to think.
    pub thinking: Thinking,
}

/// Says how a model is told how much to think.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    /// Nothing is known: it is told only when the user asks for it.
    #[default]
    Unknown,
    /// It does not think; nothing is ever told.
    Never,
    /// By a word (`low`, `medium`, `high`).
    Effort,
    /// By a number of tokens.
    Budget,
    /// It decides itself, and is told by a word how eagerly.
    Adaptive,
}

/// Holds the cards of models by their names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Registry(BTreeMap<String, Card>);

impl FromIterator<(String, Card)> for Registry {
    fn from_iter<I: IntoIterator<Item = (String, Card)>>(cards: I) -> Self {
        Self(cards.into_iter().collect())
    }
}

impl Registry {
    /// Returns what is known about a model.
    pub fn card(&self, model: &str) -> Option<&Card> {
        self.0.get(model)
    }
}
