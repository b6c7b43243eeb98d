//! The words of a condition: how they are read, and how they are written.
//!
//! Always holds: what is written is read as the same condition.

use std::fmt;
use std::str::FromStr;

use globset::GlobBuilder;

use super::{AgentEnd, CallMoment, Condition, Recurrence, Trigger};
use crate::price::Money;
use crate::text::visible_line;

/// A form of a condition.
#[derive(Debug, Clone, Copy)]
pub struct ConditionForm {
    /// How it is written.
    pub form: &'static str,
    /// What it means.
    pub help: &'static str,
    /// One that has it.
    pub example: &'static str,
}

const fn form(form: &'static str, example: &'static str, help: &'static str) -> ConditionForm {
    ConditionForm { form, help, example }
}

/// The forms of a condition.
pub const CONDITION_FORMS: &[ConditionForm] = &[
    form("TOOL WORDS fails", "bash cargo test* fails", "a call failed, or its command ended with another code than 0"),
    form(
        "before TOOL WORDS",
        "before bash git push*",
        "a call is about to run: it gives way, and the model decides again",
    ),
    form("after TOOL WORDS", "after bash cargo test*", "a call has run; without WORDS any call of the tool"),
    form("GLOB changes", "*.sql changes", "a tool or a command changed a file"),
    form("agent NAME ends", "agent ends", "a sub-agent ends: file_miner 0, each file_miner, or without a NAME any"),
    form("agent NAME fails", "agent fails", "it ends without an answer"),
    form("context above N%", "context above 70%", "the conversation fills more of the context window"),
    form("cost above $N", "cost above $1", "the session has cost more"),
    form("tokens above N", "tokens above 200k", "the session has used more tokens"),
    form("N steps", "20 steps", "so many tool calls of the agent later"),
    form("N minutes", "10 minutes", "so many minutes later"),
];

/// Why words are no condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConditionError(String);

/// Reads what stands behind `/when` or `/every`: the condition, a colon with white space behind it, the text.
///
/// # Errors
/// A sentence for the user.
pub fn conditional(words: &str, recurrence: Recurrence) -> Result<(Trigger, &str), ConditionError> {
    let end = words
        .match_indices(':')
        .find(|(at, _)| words.get(at + 1..).is_some_and(|behind| behind.starts_with(char::is_whitespace)));
    let parts = end.and_then(|(at, _)| Some((words.get(..at)?, words.get(at + 1..)?.trim_start())));
    let Some((condition, text)) = parts.filter(|(_, text)| !text.is_empty()) else {
        let why = "write the condition, a colon and the text: /when bash cargo test* fails: look at the first error";
        return Err(ConditionError(why.to_owned()));
    };
    Ok((Trigger { condition: Box::new(condition.parse()?), recurrence }, text))
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(words: &str) -> Result<Self, Self::Err> {
        let words = words.trim();
        let fail = |why: &str| ConditionError(format!("{:?} {why}", visible_line(words)));
        let parsed = [later, above, agent, call, changed].into_iter().find_map(|read| read(words));
        match parsed {
            Some(Ok(condition)) => Ok(condition),
            Some(Err(why)) => Err(fail(why)),
            None => {
                let forms: Vec<&str> = CONDITION_FORMS.iter().map(|form| form.form).collect();
                Err(fail(&format!("is no condition; write one of: {}", forms.join(", "))))
            }
        }
    }
}

/// What comes of reading words in one of the forms: nothing where they do not have it.
type Reading = Option<Result<Condition, &'static str>>;

/// Reads `10 steps`, `in 5 minutes`.
fn later(words: &str) -> Reading {
    let words = words.strip_prefix("in ").unwrap_or(words);
    let words = words.strip_suffix(" from now").unwrap_or(words);
    let (number, unit) = words.split_once(' ')?;
    let make: fn(u32) -> Condition = match unit.trim() {
        "step" | "steps" => Condition::Steps,
        "minute" | "minutes" | "min" => Condition::Minutes,
        _ => return None,
    };
    let number = number.parse::<u32>().ok().filter(|number| *number > 0);
    Some(number.map(make).ok_or("needs a whole number above 0"))
}

/// Reads `context above 70%`, `cost above $2`, `tokens above 100k`.
fn above(words: &str) -> Reading {
    let (what, amount) = words.split_once(" above ")?;
    let amount = amount.trim();
    Some(match what.trim() {
        "context" => {
            let percent = amount.trim_end_matches('%').trim_end().parse::<u8>().ok();
            percent.filter(|percent| (1..100).contains(percent)).map(Condition::ContextAbove).ok_or("needs 1% to 99%")
        }
        "cost" => {
            amount.parse::<Money>().map(Condition::CostAbove).map_err(|_| "needs US dollars, such as $2 or $0.50")
        }
        "tokens" => {
            tokens(amount).map(Condition::TokensAbove).ok_or("needs a number of tokens, such as 200000 or 200k")
        }
        _ => return None,
    })
}

fn tokens(amount: &str) -> Option<u64> {
    let (digits, unit) = match amount.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => match amount.strip_suffix(['m', 'M']) {
            Some(digits) => (digits, 1_000_000),
            None => (amount, 1),
        },
    };
    digits.parse::<u64>().ok().filter(|number| *number > 0)?.checked_mul(unit)
}

/// Reads `agent ends`, `agent file_miner 0 fails`, `@file_miner 0 ends`.
fn agent(words: &str) -> Reading {
    let name = match words.strip_prefix('@') {
        Some(name) => name,
        None => words.strip_prefix("agent")?.strip_prefix(' ')?.trim_start(),
    };
    let (name, end) = ended(name, &["ends", "ended"])
        .map(|name| (name, AgentEnd::Ends))
        .or_else(|| ended(name, &["fails", "failed"]).map(|name| (name, AgentEnd::Fails)))?;
    let agent = name.strip_prefix('@').unwrap_or(name);
    if agent == crate::target::MAIN {
        return Some(Err("waits for a sub-agent; what is to follow the main agent's turn is a follow-up (Tab)"));
    }
    Some(Ok(Condition::Agent { agent: agent.to_owned(), end }))
}

/// Reads `before bash git push*`, `after write *.sql`, `bash cargo test* fails`.
fn call(words: &str) -> Reading {
    let (rest, moment) = if let Some(rest) = words.strip_prefix("before ") {
        (rest, CallMoment::Before)
    } else if let Some(rest) = words.strip_prefix("after ") {
        (rest, CallMoment::After)
    } else {
        (ended(words, &["fails", "failed"])?, CallMoment::Failed)
    };
    let (tool, words) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
    if tool.is_empty() {
        return Some(Err("names no tool"));
    }
    let words = Some(words.trim()).filter(|words| !words.is_empty());
    if [Some(tool), words].into_iter().flatten().any(|pattern| GlobBuilder::new(pattern).build().is_err()) {
        return Some(Err("has an open bracket; \\ before it takes it as it is"));
    }
    Some(Ok(Condition::Call { tool: tool.to_owned(), words: words.map(str::to_owned), moment }))
}

/// Reads `src/**/*.rs changes`.
fn changed(words: &str) -> Reading {
    let glob = ended(words, &["changes", "changed"]).or_else(|| words.strip_prefix("changed ").map(str::trim))?;
    Some(match GlobBuilder::new(glob).build() {
        Ok(_) if !glob.is_empty() => Ok(Condition::Changed(glob.to_owned())),
        Ok(_) | Err(_) => Err("needs a glob of files, such as *.sql"),
    })
}

/// Returns what stands before the last word where that is one of these.
fn ended<'a>(words: &'a str, last: &[&str]) -> Option<&'a str> {
    let (before, end) = words.rsplit_once(' ').unwrap_or(("", words));
    last.contains(&end).then(|| before.trim_end())
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |number: u32| if number == 1 { "" } else { "s" };
        match self {
            Self::Agent { agent, end } => {
                let end = match end {
                    AgentEnd::Ends => "ends",
                    AgentEnd::Fails => "fails",
                };
                if agent.is_empty() { write!(f, "agent {end}") } else { write!(f, "agent {agent} {end}") }
            }
            Self::Call { tool, words, moment } => {
                let call = words.as_ref().map_or_else(|| tool.clone(), |words| format!("{tool} {words}"));
                match moment {
                    CallMoment::Before => write!(f, "before {call}"),
                    CallMoment::After => write!(f, "after {call}"),
                    CallMoment::Failed => write!(f, "{call} fails"),
                }
            }
            Self::ContextAbove(percent) => write!(f, "context above {percent}%"),
            Self::CostAbove(money) => write!(f, "cost above ${}", f64::from(*money)),
            Self::TokensAbove(tokens) => write!(f, "tokens above {tokens}"),
            Self::Steps(steps) => write!(f, "{steps} step{}", plural(*steps)),
            Self::Minutes(minutes) => write!(f, "{minutes} minute{}", plural(*minutes)),
            Self::Changed(glob) => write!(f, "{glob} changes"),
        }
    }
}

impl TryFrom<String> for Condition {
    type Error = ConditionError;

    fn try_from(words: String) -> Result<Self, Self::Error> {
        words.parse()
    }
}

impl From<Condition> for String {
    fn from(condition: Condition) -> Self {
        condition.to_string()
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Condition {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Condition".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let forms: Vec<&str> = CONDITION_FORMS.iter().map(|form| form.form).collect();
        let description = format!("What a text waits for, in words: {}.", forms.join(", "));
        schemars::json_schema!({ "type": "string", "description": description })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_as_the_same() {
        for words in [
            "agent ends",
            "agent fails",
            "agent file_miner 0 ends",
            "agent file_miner fails",
            "before bash",
            "before bash git push*",
            "after write src/*.rs",
            "bash fails",
            "bash cargo test* fails",
            "context above 70%",
            "cost above $0.5",
            "tokens above 200000",
            "1 step",
            "10 steps",
            "5 minutes",
            "src/**/*.rs changes",
        ] {
            let condition: Condition = words.parse().unwrap();
            assert_eq!(condition.to_string(), words);
            let wire = serde_json::to_value(&condition).unwrap();
            assert_eq!(wire, words);
            assert_eq!(serde_json::from_value::<Condition>(wire).unwrap(), condition);
        }
    }

    #[test]
    fn each_form_has_an_example_that_is_read() {
        for form in CONDITION_FORMS {
            let words = form.example.parse::<Condition>().map(|condition| condition.to_string());
            assert_eq!(words, Ok(form.example.replace("200k", "200000")), "{}", form.form);
        }
    }

    #[test]
    fn other_spellings_are_read_too() {
        for (written, words) in [
            (" in 10 steps", "10 steps"),
            ("5 minutes from now", "5 minutes"),
            ("in 1 min", "1 minute"),
            ("@file_miner 0 fails", "agent file_miner 0 fails"),
            ("agent @file_miner 0 ended", "agent file_miner 0 ends"),
            ("bash cargo test* failed", "bash cargo test* fails"),
            ("changed *.sql", "*.sql changes"),
            ("*.sql changed", "*.sql changes"),
            ("context above 70 %", "context above 70%"),
            ("cost above 2", "cost above $2"),
            ("tokens above 200k", "tokens above 200000"),
        ] {
            assert_eq!(written.parse::<Condition>().map(|condition| condition.to_string()), Ok(words.to_owned()));
        }
    }

    #[test]
    fn what_is_no_condition_says_why() {
        for (words, why) in [
            ("", "is no condition; write one of: TOOL WORDS fails,"),
            ("the tests are red", "is no condition"),
            ("0 steps", "whole number above 0"),
            ("-1 minutes", "whole number above 0"),
            ("context above 100%", "1% to 99%"),
            ("cost above much", "US dollars"),
            ("tokens above 0", "a number of tokens"),
            ("agent main ends", "Tab"),
            ("before ", "is no condition"),
            ("fails", "names no tool"),
            ("[ changes", "a glob of files"),
            ("before bash [x", "open bracket"),
        ] {
            let error = words.parse::<Condition>().unwrap_err().to_string();
            assert!(error.contains(why), "{words:?}: {error}");
        }
    }

    #[test]
    fn a_colon_and_a_blank_end_the_condition() {
        let read = |words| conditional(words, Recurrence::Once).map(|(trigger, text)| (trigger.to_string(), text));
        assert_eq!(read("10 steps: stop: now"), Ok(("10 steps".to_owned(), "stop: now")));
        assert_eq!(read("before fetch https://x.org/*:\nno"), Ok(("before fetch https://x.org/*".to_owned(), "no")));
        for words in ["10 steps", "10 steps:", "10 steps: ", "10 steps:stop"] {
            assert!(read(words).unwrap_err().to_string().contains("a colon and the text"), "{words}");
        }
        assert!(read("ten steps: stop").is_err());
        assert_eq!(Trigger::every(Condition::Steps(3)).command(), "/every 3 steps: ");
        assert_eq!(Trigger::every(Condition::Steps(3)).to_string(), "every 3 steps");
    }
}
