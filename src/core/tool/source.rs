//! Sources of tools that are not known when an agent is built, and that come and go while it runs: servers.
//!
//! An agent is attached once, and gets its tools by its [`Additions`]. Always holds: a sub-agent gets only tools that
//! its persona names.

use std::path::Path;

use crate::tool::{Additions, Traits};

/// Stands before a name that takes tools away from those that other names stand for.
pub const WITHOUT: char = '!';

/// Which tools of a source an agent may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolScope {
    /// All that are for the main agent.
    Main,
    /// Those that these names stand for, without those of the names with [`WITHOUT`] before them.
    Named(Vec<String>),
}

/// A source of tools.
pub trait ToolSource: Send + Sync {
    /// Tells whether a name stands for a tool of this source, or for several.
    fn knows(&self, name: &str) -> bool;

    /// Returns what the tools that these names stand for bring and send, taken together.
    fn reach(&self, names: &[String]) -> Traits;

    /// Returns the names, for a model, of the tools that these names stand for, as far as they are known.
    fn names(&self, names: &[String]) -> Vec<String>;

    /// Returns names that stand for the tools which the main agent has.
    fn names_of_main(&self) -> Vec<String> {
        Vec::new()
    }

    /// Gives an agent its tools, now and when they change. `directory` is where it works, unless that is where the main
    /// agent does; `window` is its context window.
    fn attach(&self, scope: ToolScope, directory: Option<&Path>, window: Option<u64>, additions: &Additions);
}
