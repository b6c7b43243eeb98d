//! Counts of tokens as the dialects of `OpenAI` write them, made into parts that do not overlap.
//!
//! Servers disagree on what includes what: cached tokens stand within the prompt, beside it, or in it twice, and thoughts
//! within the answer or beside it. The total that a server adds up tells which.

use serde_json::Value;

use crate::event::Usage;
use crate::provider::UsageScope;
use crate::provider::chat::{Dollars, Number};

/// The ticks that xAI writes costs in, in a billionth of a dollar.
const TICKS: u64 = 10;

/// The counts of one reply.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TokenCounts {
    /// Tokens of the prompt.
    pub prompt: Number,
    /// Tokens of the answer.
    pub answer: Number,
    /// Tokens of the prompt that a cache held.
    pub cached: Number,
    /// Tokens of the prompt that went into a cache.
    pub written: Number,
    /// Tokens of thinking.
    pub thinking: Number,
    /// All of them.
    pub total: Number,
}

impl TokenCounts {
    /// Translates into exclusive parts.
    pub fn usage(self) -> Usage {
        let (cached, written) = (known(self.cached), known(self.written));
        let (prompt, output) = self.sums();
        // More than there is: the same tokens under two names.
        let doubled = cached.saturating_add(written) > prompt;
        let written = if doubled { 0 } else { written };
        Usage {
            input: self.prompt.0.map(|_| prompt.saturating_sub(cached).saturating_sub(written)),
            output: self.answer.0.map(|_| output),
            cached: self.cached.0,
            cache_creation: self.written.0.map(|_| written),
            thinking: self.thinking.0,
            ..Usage::default()
        }
    }

    /// Returns the whole prompt and the whole answer: of all ways to count the first that makes up the total, else the
    /// dialect's own.
    fn sums(self) -> (u64, u64) {
        let (prompt, answer) = (known(self.prompt), known(self.answer));
        let (cached, written) = (known(self.cached), known(self.written));
        let beside = prompt.saturating_add(cached);
        let prompts = [
            Some(prompt),
            Some(beside),
            Some(prompt.saturating_add(written)),
            Some(beside.saturating_add(written)),
            prompt.checked_sub(cached).filter(|prompt| *prompt >= cached),
        ];
        let thinking = known(self.thinking);
        let both = answer.saturating_add(thinking);
        let mut ways = prompts.into_iter().flatten().flat_map(|prompt| [(prompt, answer), (prompt, both)]);
        let fits = |(prompt, answer): &(u64, u64)| {
            self.total.0.is_some_and(|total| prompt.checked_add(*answer) == Some(total))
        };
        // A part cannot be more than its whole.
        let likely = (if cached > prompt { beside } else { prompt }, if thinking > answer { both } else { answer });
        ways.find(fits).unwrap_or(likely)
    }
}

fn known(number: Number) -> u64 {
    number.0.unwrap_or(0)
}

/// Returns what a reply cost, billionths of a dollar: `OpenRouter` writes dollars, xAI ticks.
pub(super) fn cost_nanos(dollars: Dollars, ticks: Number) -> Option<u64> {
    dollars.0.or_else(|| Some(ticks.0? / TICKS))
}

/// Says whether a usage counts one request: `tools` are the uses of a server's own tools by their names, `uses` is their
/// number.
pub(super) fn scope(tools: Option<&Value>, uses: Number) -> UsageScope {
    let mut by_name = tools.and_then(Value::as_object).into_iter().flat_map(serde_json::Map::values);
    let used = known(uses) > 0 || by_name.any(|uses| uses.as_u64().is_some_and(|uses| uses > 0));
    if used { UsageScope::SeveralRequests } else { UsageScope::OneRequest }
}
