//! Sub-agents: personas, the `agent` tool and the extension that adds them (seed: `Pikuri::SubAgentTool`).
//!
//! The model delegates a task; a fresh agent with the persona's prompt, tools and budget works on a conversation of its
//! own; its final answer is the parent's observation. A child never gets the `agent` tool or an extension, and a queue
//! of its own only as a member of a crew (D21).

mod extension;
mod member;
mod persona;
mod roster;
mod temp_workspace;
mod tool;

pub use extension::{SubAgents, available_agents_snippet};
pub use persona::{Persona, TempWorkspace};
pub use roster::{EVERYTHING, Member as RosterMember, Roster, Source};
pub use tool::{DESCRIPTION, SubAgentTool};
