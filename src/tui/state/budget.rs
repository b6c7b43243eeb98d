//! What the session may spend, as the status line and `/budget` show it. What was spent is in the tree.

use crate::price::{Money, dollars};
use crate::summary::tokens as count;
use crate::tui::state::tree::Totals;

/// Holds the limits; none unless set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// US dollars.
    pub max_cost: Option<Money>,
    /// Tokens.
    pub max_tokens: Option<u64>,
}

impl Limits {
    /// Says what was spent and what is left, in a sentence.
    pub fn sentence(&self, totals: &Totals) -> String {
        let spent = nanos(totals);
        let money = match self.max_cost {
            Some(max) => format!("{} of {max} spent, {} left", dollars(spent), left(max, spent)),
            None => format!("{} spent, no limit", dollars(spent)),
        };
        let tokens = match self.max_tokens {
            Some(max) => format!("{} of {} tokens used", count(totals.tokens()), count(max)),
            None => format!("{} tokens used, no limit", count(totals.tokens())),
        };
        format!("budget: {money} · {tokens}")
    }

    /// Says how much money is left, in few words; `None` without a limit.
    pub fn money_left(&self, totals: &Totals) -> Option<String> {
        self.max_cost.map(|max| format!("{} of {max} left", left(max, nanos(totals))))
    }
}

fn nanos(totals: &Totals) -> u64 {
    u64::try_from(totals.cost_nanos).unwrap_or(u64::MAX)
}

fn left(max: Money, spent: u64) -> String {
    dollars(max.nanos().saturating_sub(spent))
}
