//! Allow rules that the user keeps for later sessions of a project.
//!
//! A kept rule is offered with a question, shown exactly, and narrower than what a user may write: the first words of a
//! program that runs no other code by its arguments, or one host. Always holds: what is read back is held to the same.

use std::path::Path;
use std::{fmt, io};

use crate::approval::rules::Rule;
use crate::approval::shell::Shape;
use crate::approval::{CommandOperation, Grant, Operation, RuleError};

/// An allow rule that holds in later sessions too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptRule {
    rule: Rule,
    reach: RuleReach,
}

/// The sessions in which a kept rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleReach {
    /// Those of one project.
    Project,
    /// Those of every project.
    Everywhere,
}

impl RuleReach {
    /// Returns it in words: where the rule holds.
    pub fn label(self) -> &'static str {
        match self {
            Self::Project => "this project",
            Self::Everywhere => "every project",
        }
    }
}

/// A place where rules are kept. Its functions may take a moment.
pub trait RuleStore: Send + Sync {
    /// Adds a rule.
    ///
    /// # Errors
    /// What the system says; the place is as it was.
    fn add(&self, rule: &KeptRule) -> io::Result<()>;

    /// Takes a rule out.
    ///
    /// # Errors
    /// What the system says; the place is as it was.
    fn remove(&self, rule: &KeptRule) -> io::Result<()>;
}

impl KeptRule {
    /// Reads a rule of a project: `bash: cargo test *`.
    ///
    /// # Errors
    /// [`RuleError`] for what is no rule, or one that is too wide to be kept.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let rule = Rule::parse(text)?;
        let kept = Self { rule, reach: RuleReach::Project };
        if kept.rule.is_narrow() { Ok(kept) } else { Err(RuleError::new(text, "it is too wide to be kept")) }
    }

    /// Returns the same rule for other sessions.
    #[must_use]
    pub fn reaching(self, reach: RuleReach) -> Self {
        Self { reach, ..self }
    }

    /// Returns the sessions in which it holds.
    pub fn reach(&self) -> RuleReach {
        self.reach
    }

    /// Returns the rule that can be kept with an operation for which this is offered; `None` where no narrow one covers it.
    pub(super) fn offered(operation: &Operation, grant: &Grant, root: Option<&Path>) -> Option<Self> {
        let pattern = match grant {
            Grant::Prefix { words, .. } => format!("{} *", words.join(" ")),
            Grant::Host(origin) => format!("{origin}/*"),
            Grant::ServerTool(name) => name.clone(),
            Grant::Edits
            | Grant::Command { .. }
            | Grant::Searches
            | Grant::Action { .. }
            | Grant::Kept(_)
            | Grant::Call
            | Grant::Template(_) => return None,
        };
        let shape =
            if let Operation::Command(operation) = operation { Some(Shape::parse(&operation.command)) } else { None };
        let rule = Self::parse(&format!("{}: {pattern}", operation.tool())).ok()?;
        rule.covers(operation, shape.as_ref(), root).then_some(rule)
    }

    /// Returns the rule as a configuration would have it.
    pub fn text(&self) -> &str {
        self.rule.text()
    }

    /// Returns its pattern, without the tool.
    pub fn pattern(&self) -> &str {
        self.text().split_once(':').map_or(self.text(), |(_, pattern)| pattern.trim())
    }

    /// Tells whether it covers an operation; a command must run within the workspace.
    pub(super) fn covers(&self, operation: &Operation, shape: Option<&Shape>, root: Option<&Path>) -> bool {
        let is_here = |operation: &CommandOperation| root.is_some_and(|root| operation.cwd.starts_with(root));
        let is_here = if let Operation::Command(operation) = operation { is_here(operation) } else { true };
        is_here && self.rule.allows(operation, shape, root)
    }
}

impl fmt::Display for KeptRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
