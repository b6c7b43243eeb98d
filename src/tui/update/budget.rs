//! `/budget` and `/compact`: what the session may spend, and room in the conversation.

use crate::protocol::{BudgetLimits, Request};
use crate::session::fold::budget_sentence;
use crate::tui::msg::Effect;
use crate::tui::state::App;
use crate::tui::state::cause::Cause;

/// Behind a number, says that it is one of tokens.
const TOKENS: &str = "tokens";
/// Takes the limits away.
const OFF: &str = "off";

/// Shows or sets the budget.
pub fn budget(app: &mut App, argument: &str) -> Vec<Effect> {
    if argument.is_empty() {
        let sentence = budget_sentence(app.run.budget);
        app.reply(&format!(
            "{sentence}; /budget 5 sets dollars, /budget 100000 tokens sets tokens, /budget off takes both away"
        ));
        return Vec::new();
    }
    let tokens = argument.strip_suffix(TOKENS).map(str::trim);
    let limits = match (argument, tokens) {
        (OFF, _) => Some(BudgetLimits::default()),
        (_, Some(number)) => {
            let max_tokens = number.parse().ok().filter(|max| *max > 0);
            max_tokens.map(|max| BudgetLimits { max_tokens: Some(max), ..app.run.budget.limits })
        }
        (amount, None) => amount.parse().ok().map(|max| BudgetLimits { max_cost: Some(max), ..app.run.budget.limits }),
    };
    if let Some(limits) = limits {
        return vec![Effect::Request(Request::SetBudget { limits })];
    }
    app.reply("not set: write /budget 5, /budget 0.50, /budget 100000 tokens or /budget off");
    Vec::new()
}

/// Notes what the budget is now.
pub fn set(app: &mut App) {
    app.reply(&budget_sentence(app.run.budget));
}

/// Asks for room in the conversation.
pub fn compact(app: &mut App, words: &str) -> Vec<Effect> {
    if app.run.agents.main().running() {
        app.status.say_while(Cause::Turn, "older rounds are summarised before the next request", app.now);
    }
    vec![Effect::Request(Request::Compact { words: Some(words.to_owned()).filter(|words| !words.is_empty()) })]
}
