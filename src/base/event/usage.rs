//! The tokens and the cost of a round, as the server reported them.
//!
//! Unknown counts stay unknown: what is added up from them is a lower bound.

use serde::{Deserialize, Serialize};

/// Adds a count that may be unknown to a sum of the known ones.
pub fn add_known(sum: &mut Option<u64>, count: Option<u64>) {
    *sum = count.map(|count| count.saturating_add(sum.unwrap_or(0))).or(*sum);
}

/// The token counts of one round, as the server reported them.
///
/// `input + cached + cache_creation` is the size of the prompt; providers subtract where a dialect nests them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Usage {
    /// Prompt tokens that were not read from or written to a cache.
    pub input: Option<u64>,
    /// Tokens of the reply, thinking included.
    pub output: Option<u64>,
    /// Prompt tokens read from a cache.
    pub cached: Option<u64>,
    /// Prompt tokens written to a cache.
    pub cache_creation: Option<u64>,
    /// Tokens of thinking, a part of `output`.
    pub thinking: Option<u64>,
    /// The model that answered.
    pub model: Option<String>,
    /// The cost in billionths of a US dollar: as the server reports it, else computed from a known price.
    #[serde(default)]
    pub cost_nanos: Option<u64>,
}

impl Usage {
    /// Returns the size of the prompt in tokens; unknown parts count as 0.
    pub fn prompt(&self) -> u64 {
        let part = |tokens: Option<u64>| tokens.unwrap_or(0);
        part(self.input).saturating_add(part(self.cached)).saturating_add(part(self.cache_creation))
    }

    /// Adds the counts of another reply, as far as they are known; the model is that of the last one that is known.
    ///
    /// ```
    /// use steersman_base::event::Usage;
    ///
    /// let mut sum = Usage { input: Some(10), ..Usage::default() };
    /// sum.add(&Usage { input: Some(5), output: Some(2), ..Usage::default() });
    /// assert_eq!((sum.input, sum.output, sum.cached), (Some(15), Some(2), None));
    /// ```
    pub fn add(&mut self, other: &Self) {
        add_known(&mut self.input, other.input);
        add_known(&mut self.output, other.output);
        add_known(&mut self.cached, other.cached);
        add_known(&mut self.cache_creation, other.cache_creation);
        add_known(&mut self.thinking, other.thinking);
        add_known(&mut self.cost_nanos, other.cost_nanos);
        if other.model.is_some() {
            self.model.clone_from(&other.model);
        }
    }

    /// Returns the tokens of the conversation after this reply.
    pub fn context(&self) -> u64 {
        self.prompt().saturating_add(self.output.unwrap_or(0))
    }
}
