//! Token counts of the `OpenAI` dialects, converted to parts that do not overlap.
//!
//! Servers disagree on what includes what: cached tokens are part of the prompt, beside it, or in it twice, and
//! thinking is part of the answer or beside it. The server's total shows which.

use serde_json::Value;

use crate::chat::{Dollars, Number};
use steersman_base::event::Usage;
use steersman_core::provider::UsageScope;

/// The ticks, in which xAI reports costs, of a billionth of a dollar.
const TICKS: u64 = 10;

/// The counts of one reply.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TokenCounts {
    pub prompt: Number,
    pub answer: Number,
    /// The tokens of the prompt that were read from a cache.
    pub cached: Number,
    /// The tokens of the prompt that were written to a cache.
    pub written: Number,
    pub thinking: Number,
    /// The server's total.
    pub total: Number,
}

impl TokenCounts {
    /// Converts to parts that do not overlap.
    pub(crate) fn usage(self) -> Usage {
        let (cached, written) = (count_or_zero(self.cached), count_or_zero(self.written));
        let (prompt, output) = self.sums();
        // More than the prompt: the same tokens under two names.
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

    /// Returns the whole prompt and the whole answer: the first way to count that adds up to the total, else the
    /// dialect's own.
    fn sums(self) -> (u64, u64) {
        let (prompt, answer) = (count_or_zero(self.prompt), count_or_zero(self.answer));
        let (cached, written) = (count_or_zero(self.cached), count_or_zero(self.written));
        let beside = prompt.saturating_add(cached);
        let prompts = [
            Some(prompt),
            Some(beside),
            Some(prompt.saturating_add(written)),
            Some(beside.saturating_add(written)),
            prompt.checked_sub(cached).filter(|prompt| *prompt >= cached),
        ];
        let thinking = count_or_zero(self.thinking);
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

fn count_or_zero(number: Number) -> u64 {
    number.0.unwrap_or(0)
}

/// Returns the cost of a reply in billionths of a dollar: `OpenRouter` sends dollars, xAI ticks.
pub(super) fn cost_nanos(dollars: Dollars, ticks: Number) -> Option<u64> {
    dollars.0.or_else(|| Some(ticks.0? / TICKS))
}

/// Returns whether a usage covers one request or several: `tools` are the uses of a server's own tools by name,
/// `uses` is their number.
pub(super) fn scope(tools: Option<&Value>, uses: Number) -> UsageScope {
    let mut by_name = tools.and_then(Value::as_object).into_iter().flat_map(serde_json::Map::values);
    let used = count_or_zero(uses) > 0 || by_name.any(|uses| uses.as_u64().is_some_and(|uses| uses > 0));
    if used { UsageScope::SeveralRequests } else { UsageScope::OneRequest }
}
