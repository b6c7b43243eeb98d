//! What the session may spend and has spent, as the status line and `/budget` show it: the host's own count, which no new
//! conversation sets back.

use crate::price::{Money, dollars};
use crate::summary::tokens as count;

/// Holds the limits; none unless set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// US dollars.
    pub max_cost: Option<Money>,
    /// Tokens.
    pub max_tokens: Option<u64>,
}

/// What the session has spent, all its conversations together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Billionths of a US dollar, as far as prices are known.
    pub nanos: u64,
    /// Tokens.
    pub tokens: u64,
}

impl Limits {
    /// Says what was spent and what is left, in a sentence.
    pub fn sentence(&self, spent: Spent) -> String {
        let Spent { nanos, tokens } = spent;
        let money = match self.max_cost {
            Some(max) => format!("{} of {max} spent, {} left", dollars(nanos), left(max, nanos)),
            None => format!("{} spent, no limit", dollars(nanos)),
        };
        let tokens = match self.max_tokens {
            Some(max) => format!("{} of {} tokens used", count(tokens), count(max)),
            None => format!("{} tokens used, no limit", count(tokens)),
        };
        format!("budget: {money} · {tokens}")
    }

    /// Says how much money is left, in few words; `None` without a limit.
    pub fn money_left(&self, spent: Spent) -> Option<String> {
        self.max_cost.map(|max| format!("{} of {max} left", left(max, spent.nanos)))
    }
}

fn left(max: Money, spent: u64) -> String {
    dollars(max.nanos().saturating_sub(spent))
}
