//! Whom the next message goes to: the agent that is named at its start, else the one that the draft is bound to.
//!
//! A draft is bound at its first character, to the agent whose transcript is shown then when it runs, else to the main
//! agent. Always holds: what was begun for an agent that has ended since is not sent to another one without being asked
//! for it again.

use super::App;
use crate::id::AgentId;
use crate::session::fold::agents::AgentNode;
use crate::target::{self, Target};

/// A draft as it would be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address<'a> {
    /// Every agent that it goes to, the main agent first.
    pub to: Vec<AgentId>,
    /// What is sent: the draft without the name at its start.
    pub text: &'a str,
}

/// Why a text goes to nobody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unaddressed {
    /// The agent that it was begun for has ended since.
    Ended(AgentId),
    /// It names an agent that does not run.
    Unknown(AgentId),
}

impl App {
    /// Returns the agent that a message without a name goes to.
    pub fn target(&self) -> AgentId {
        self.message.bound().cloned().unwrap_or_else(|| self.shown_or_main())
    }

    /// Finds out whom a text goes to.
    ///
    /// # Errors
    /// Why it goes to nobody.
    pub fn address<'a>(&self, text: &'a str) -> Result<Address<'a>, Unaddressed> {
        let named = target::parse(text, &self.named_in(text, AgentNode::takes_messages));
        match named.target {
            Target::Agent(agent) => return Ok(Address { to: vec![agent], text: named.text }),
            Target::All => return Ok(Address { to: self.told_agents(), text: named.text }),
            Target::Unnamed => {}
        }
        if let Some(agent) = self.nobody(text) {
            return Err(Unaddressed::Unknown(agent));
        }
        let agent = self.target();
        if self.run.agents.takes_messages(&agent) {
            Ok(Address { to: vec![agent], text })
        } else {
            Err(Unaddressed::Ended(agent))
        }
    }

    /// Binds a draft at its first character, and forgets about a draft that is gone.
    pub fn bind_draft(&mut self) {
        if self.message.is_draft_empty() {
            self.message.bind(None);
        } else if self.message.bound().is_none() {
            self.message.bind(Some(self.shown_or_main()));
        }
    }

    /// Returns the agent that a draft is for which is begun now: the one that is shown, where that takes texts.
    pub fn shown_or_main(&self) -> AgentId {
        let shown = self.run.agents.get(self.tree.selected());
        shown.filter(|node| node.takes_messages()).map_or_else(AgentId::main, |node| node.id.clone())
    }

    /// Returns every agent that runs and can be told something, and the main agent in any case, which comes first.
    fn told_agents(&self) -> Vec<AgentId> {
        let children = self.run.agents.running_nodes().filter(|node| !node.id.is_main() && node.takes_messages());
        std::iter::once(AgentId::main()).chain(children.map(|node| node.id.clone())).collect()
    }

    /// Returns the agents that a text could name and that are like this.
    fn named_in(&self, text: &str, like: impl Fn(&AgentNode) -> bool) -> Vec<AgentId> {
        let named = text.strip_prefix('@').into_iter().flat_map(|text| self.run.agents.named_in(text));
        named.filter(|node| like(node)).map(|node| node.id.clone()).collect()
    }

    /// Returns the agent that a text names although it takes no texts, or is none.
    fn nobody(&self, text: &str) -> Option<AgentId> {
        let gone = self.named_in(text, |node| !node.takes_messages());
        match target::parse(text, &gone).target {
            Target::Agent(agent) if !agent.is_main() => Some(agent),
            Target::Agent(_) | Target::All | Target::Unnamed => target::seems_for(text).map(AgentId::new),
        }
    }
}
