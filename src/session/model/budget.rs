//! What the session may spend and has spent, in words: the host's own count, which no new conversation sets back.

use steersman_base::price::{Money, dollars};
use steersman_base::protocol::BudgetStatus;
use steersman_base::summary::tokens as count;

/// Says what was spent and what is left, in a sentence.
pub fn budget_sentence(budget: BudgetStatus) -> String {
    let BudgetStatus { limits, nanos, tokens } = budget;
    let money = match limits.max_cost {
        Some(max) => format!("{} of {max} spent, {} left", dollars(nanos), left(max, nanos)),
        // Without a price nothing is known of the cost.
        None if nanos == 0 && tokens > 0 => "no cost known, no limit".to_owned(),
        None => format!("{} spent, no limit", dollars(nanos)),
    };
    let tokens = match limits.max_tokens {
        Some(max) => format!("{} of {} tokens used", count(tokens), count(max)),
        None => format!("{} tokens used, no limit", count(tokens)),
    };
    format!("budget: {money} · {tokens}")
}

/// Says how much money is left, in few words; `None` without a limit.
pub fn money_left(budget: BudgetStatus) -> Option<String> {
    budget.limits.max_cost.map(|max| format!("{} of {max} left", left(max, budget.nanos)))
}

fn left(max: Money, spent: u64) -> String {
    dollars(max.nanos().saturating_sub(spent))
}
