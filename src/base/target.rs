//! The agent that a text is for, named at its very start: `@researcher 0 and the tests`, `@all stop at ten`.
//!
//! Pure; the screen and `exec --steer-stdin` share this rule. Always holds: only a known agent counts, the longest name
//! first; any other text that starts with `@` is an ordinary text (a path, a handle).

use crate::id::AgentId;
use crate::text::visible_line;

/// The name of the main agent, whose id is empty.
pub const MAIN: &str = "main";
/// The name for all running agents.
pub const ALL: &str = "all";

/// The name for the running sub-agents of the agent that a text would go to.
pub const SUBTREE: &str = "subtree";
/// The name for that agent and its running sub-agents.
pub const TREE: &str = "tree";

/// The agents that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// None: it goes to the default agent.
    Unnamed,
    /// One agent.
    Agent(AgentId),
    /// Every running agent.
    All,
    /// The running sub-agents of the agent that it would go to without a name.
    Subtree,
    /// That agent and its running sub-agents.
    Tree,
}

/// A text, split from the name before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addressed<'a> {
    /// The agents that it names.
    pub target: Target,
    /// The text to send; blank when only the name was written.
    pub text: &'a str,
}

/// Splits the name off a text: `@`, the id of an agent of `known` (or `main`, `all`, `subtree`, `tree`), then one blank or line
/// end, which is dropped with the name; the end of the text counts as one. Upper and lower case differ.
///
/// The main agent is always known, and one of its texts can start with a name: `@main @all of them`.
pub fn parse<'a>(text: &'a str, known: &[AgentId]) -> Addressed<'a> {
    let unnamed = Addressed { target: Target::Unnamed, text };
    let Some(rest) = text.strip_prefix('@') else { return unnamed };
    let children = known.iter().filter(|id| !id.is_main()).map(|id| (id.as_str(), Target::Agent(id.clone())));
    let main = Target::Agent(AgentId::main());
    let fixed = [(MAIN, main), (ALL, Target::All), (SUBTREE, Target::Subtree), (TREE, Target::Tree)];
    let named = children.chain(fixed).filter_map(|(name, target)| {
        let behind = rest.strip_prefix(name)?;
        let text = if behind.is_empty() { behind } else { behind.strip_prefix([' ', '\n'])? };
        Some((name.len(), Addressed { target, text }))
    });
    named.max_by_key(|(length, _)| *length).map_or(unnamed, |(_, addressed)| addressed)
}

/// Returns the id of a sub-agent that a text seems to be for: `@`, a name, one blank, a number, then a blank or the
/// end. The agent need not exist.
pub fn seems_for(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('@')?;
    let (name, behind) = rest.split_once(' ')?;
    let number = behind.split(char::is_whitespace).next()?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_".contains(c));
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_fixed = [MAIN, ALL, SUBTREE, TREE].contains(&name);
    if is_name && !is_fixed && is_number { rest.get(..name.len() + 1 + number.len()) } else { None }
}

/// Returns an agent's name as one safe line; the main agent's id is no name.
pub fn name_of(agent: &AgentId) -> String {
    if agent.is_main() { MAIN.to_owned() } else { visible_line(agent.as_str()).into_owned() }
}
