//! The commands that are about the conversation as a whole: what it may spend, room in it, another try, its end.

use crate::commands::{CommandEntry, Takes};
use crate::effect::PaneEffect;
use crate::state::Cause;
use crate::ui_context::UiContext;
use steersman_base::protocol::{BudgetLimits, Request};
use steersman_session::model::budget_sentence;

pub const RETRY: CommandEntry =
    CommandEntry::new("/retry", Takes::Nothing, "Alt+T", "send the failed request again", |context, _| {
        vec![retry(context.ui)]
    });

pub const DONE: CommandEntry = CommandEntry::new(
    "/done",
    Takes::Nothing,
    "",
    "close the open task; without it your next text adds to a task that was stopped or failed",
    |context, _| vec![close_task(context.ui)],
);

pub const COMPACT: CommandEntry = CommandEntry::new(
    "/compact [WORDS]",
    Takes::Any,
    "Alt+C",
    "summarise older rounds; the words say what to keep in mind",
    |context, words| compact(context.ui, words),
);

pub const BUDGET: CommandEntry = CommandEntry::new(
    "/budget [DOLLARS]",
    Takes::Any,
    "Alt+M",
    "what the session may spend; with an amount, N tokens, or off: set it",
    |context, argument| vec![budget(context.ui, argument)],
)
.offering(&[OFF]);

/// Behind a number, says that it is one of tokens.
const TOKENS: &str = "tokens";
/// Takes the limits away.
const OFF: &str = "off";

/// Carries out `/budget`.
fn budget(ui: &UiContext, argument: &str) -> PaneEffect {
    if argument.is_empty() {
        return PaneEffect::Reply(format!(
            "{}; /budget 5 sets dollars, /budget 100000 tokens sets tokens, /budget off takes both away",
            budget_sentence(ui.run.budget)
        ));
    }
    let now = ui.run.budget.limits;
    let tokens = argument.strip_suffix(TOKENS).map(str::trim);
    let limits = match (argument, tokens) {
        (OFF, _) => Some(BudgetLimits::default()),
        (_, Some(number)) => {
            let max_tokens = number.parse().ok().filter(|max| *max > 0);
            max_tokens.map(|max| BudgetLimits { max_tokens: Some(max), ..now })
        }
        (amount, None) => amount.parse().ok().map(|max| BudgetLimits { max_cost: Some(max), ..now }),
    };
    match limits {
        Some(limits) => Request::SetBudget { limits }.into(),
        None => {
            PaneEffect::Reply("not set: write /budget 5, /budget 0.50, /budget 100000 tokens or /budget off".to_owned())
        }
    }
}

/// Asks for room in the conversation.
fn compact(ui: &UiContext, words: &str) -> Vec<PaneEffect> {
    let words = Some(words.to_owned()).filter(|words| !words.is_empty());
    let said = ui.run.agents.main().running().then(|| {
        PaneEffect::SayWhile(Some(Cause::Turn), "older rounds are summarised before the next request".to_owned())
    });
    said.into_iter().chain([Request::Compact { words }.into()]).collect()
}

/// Sends the request again that failed.
fn retry(ui: &UiContext) -> PaneEffect {
    if ui.run.agents.main().running() {
        return PaneEffect::SayWhile(Some(Cause::Turn), "not sent again: a turn runs".to_owned());
    }
    Request::Retry.into()
}

/// Closes the task that has no answer.
fn close_task(ui: &UiContext) -> PaneEffect {
    if ui.run.agents.main().running() {
        return PaneEffect::SayWhile(Some(Cause::Turn), "not closed: the agent works on the task".to_owned());
    }
    Request::CloseTask.into()
}

/// Begins a conversation anew, on an empty screen.
pub fn begin_anew() -> PaneEffect {
    PaneEffect::call(|app| {
        app.empty_at_reset();
        vec![reset()]
    })
}

/// Takes the conversation back to its system prompt.
pub fn reset() -> PaneEffect {
    PaneEffect::call(|app| {
        app.ui.run.agents.cancelling(app.ui.now);
        vec![Request::Reset.into()]
    })
}
