//! The budget of a whole tree: how much money and how many tokens it may use, and what it has used so far.
//!
//! One per tree, shared by every agent in it: each charges it with each of its replies and asks before each of its
//! requests. A limit can be set at any time. What has no known price counts its tokens only.

use std::collections::BTreeSet;
use std::sync::Mutex;

use crate::sync::lock;
use steersman_base::price::{Money, Prices, dollars};

/// How much may be spent, and what tokens cost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spending {
    /// US dollars; `None` is without a limit.
    pub max_cost: Option<Money>,
    /// Tokens, the prompt of each request counted anew; `None` is without a limit.
    pub max_tokens: Option<u64>,
    /// What tokens cost by the user's word, which goes before what is known about a model.
    pub prices: Prices,
}

/// Counts what a tree of agents uses.
///
/// Example: "A budget" in the documentation of `steersman::prelude`.
#[derive(Debug, Default)]
pub struct Budget {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    spending: Spending,
    nanos: u64,
    tokens: u64,
    /// The models without a price that were told of.
    warned: BTreeSet<String>,
}

/// What a charge did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChargeOutcome {
    /// It is counted.
    Counted,
    /// There is a limit in money, and this model has no price: said once for each model.
    Unpriced,
}

/// How a budget stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetStanding {
    /// Billionths of a US dollar that were spent, as far as prices are known.
    pub nanos: u64,
    /// Tokens that were used.
    pub tokens: u64,
    /// The limit in money.
    pub max_cost: Option<Money>,
    /// The limit in tokens.
    pub max_tokens: Option<u64>,
}

impl Budget {
    /// Makes a budget of which nothing is used.
    pub fn new(spending: Spending) -> Self {
        let budget = Self::default();
        budget.configure(spending);
        budget
    }

    /// Sets limits and prices; what is used stays used.
    pub fn configure(&self, spending: Spending) {
        lock(&self.inner).spending = spending;
    }

    /// Sets the limit in money.
    pub fn set_max_cost(&self, max_cost: Option<Money>) {
        lock(&self.inner).spending.max_cost = max_cost;
    }

    /// Sets the limit in tokens.
    pub fn set_max_tokens(&self, max_tokens: Option<u64>) {
        lock(&self.inner).spending.max_tokens = max_tokens;
    }

    /// Returns what tokens cost by the user's word.
    pub fn prices(&self) -> Prices {
        lock(&self.inner).spending.prices.clone()
    }

    /// Counts one reply of a model: its tokens, and what it cost in billionths of a US dollar where that is known.
    pub fn charge(&self, model: &str, tokens: u64, nanos: Option<u64>) -> ChargeOutcome {
        let mut inner = lock(&self.inner);
        inner.tokens = inner.tokens.saturating_add(tokens);
        inner.nanos = inner.nanos.saturating_add(nanos.unwrap_or(0));
        let unpriced = nanos.is_none() && inner.spending.max_cost.is_some();
        if unpriced && inner.warned.insert(model.to_owned()) { ChargeOutcome::Unpriced } else { ChargeOutcome::Counted }
    }

    /// Returns how it stands.
    pub fn standing(&self) -> BudgetStanding {
        let inner = lock(&self.inner);
        BudgetStanding {
            nanos: inner.nanos,
            tokens: inner.tokens,
            max_cost: inner.spending.max_cost,
            max_tokens: inner.spending.max_tokens,
        }
    }

    /// Returns the sentence that says that it is used up; `None` while it is not.
    pub fn used_up(&self) -> Option<String> {
        self.standing().used_up()
    }
}

impl BudgetStanding {
    /// Returns the sentence that says that the budget is used up; `None` while it is not.
    pub fn used_up(&self) -> Option<String> {
        if let Some(max) = self.max_cost.filter(|max| self.nanos >= max.nanos()) {
            let spent = dollars(self.nanos);
            return Some(format!(
                "the budget of {max} is used up, {spent} were spent; raise it with --max-cost (on the screen: /budget)"
            ));
        }
        let max = self.max_tokens.filter(|max| self.tokens >= *max)?;
        let used = self.tokens;
        Some(format!(
            "the budget of {max} tokens is used up, {used} were used; raise it with --max-tokens-total (on the screen: /budget)"
        ))
    }
}
