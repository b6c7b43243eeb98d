//! Whom a text is for, as it is written at its very start: `@researcher 0 and the tests`, `@all stop at ten`.
//!
//! Pure; the screen and `exec --steer-stdin` read texts with this one rule. Always holds: only an agent that is known
//! counts, the longest name first; everything else that starts with `@` is a text like any other (a path, a handle).

use crate::id::AgentId;

/// How the main agent is called where its empty id would be no name.
pub const MAIN: &str = "main";
/// How all agents that run are called.
pub const ALL: &str = "all";

/// Says whom a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Nobody: it goes where texts go by default.
    Unnamed,
    /// One agent.
    Agent(AgentId),
    /// Every agent that runs.
    All,
}

/// Is a text apart from the name before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addressed<'a> {
    /// Whom it names.
    pub target: Target,
    /// What is to be sent; blank when nothing but the name was written.
    pub text: &'a str,
}

/// Reads whom a text names: `@`, the id of an agent of `known` (or `main`, or `all`), then one blank or line end, which
/// is dropped with the name; the end of the text counts as one. Upper and lower case differ.
///
/// The main agent is always known, and one of its texts can start with a name: `@main @all of them`.
pub fn parse<'a>(text: &'a str, known: &[AgentId]) -> Addressed<'a> {
    let unnamed = Addressed { target: Target::Unnamed, text };
    let Some(rest) = text.strip_prefix('@') else { return unnamed };
    let children = known.iter().filter(|id| !id.is_main()).map(|id| (id.as_str(), Target::Agent(id.clone())));
    let fixed = [(MAIN, Target::Agent(AgentId::main())), (ALL, Target::All)];
    let named = children.chain(fixed).filter_map(|(name, target)| {
        let behind = rest.strip_prefix(name)?;
        let text = if behind.is_empty() { behind } else { behind.strip_prefix([' ', '\n'])? };
        Some((name.len(), Addressed { target, text }))
    });
    named.max_by_key(|(length, _)| *length).map_or(unnamed, |(_, addressed)| addressed)
}

/// Returns the id of a sub-agent that a text seems to be for: `@`, a name, one blank, a number, then a blank or the end.
/// Whether there is such an agent is not known here.
pub fn seems_for(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('@')?;
    let (name, behind) = rest.split_once(' ')?;
    let number = behind.split(char::is_whitespace).next()?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_".contains(c));
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if is_name && name != MAIN && name != ALL && is_number { rest.get(..name.len() + 1 + number.len()) } else { None }
}
