//! Whom the next message goes to: the agent that is named at its start, else the one that the draft is bound to.
//!
//! A draft is bound at its first character, to the agent whose transcript is shown then when it runs, else to the main
//! agent. Always holds: what was begun for an agent that has ended since is not sent to another one without being asked
//! for it again.

use super::send::{called, shell_line};
use super::{Message, MessageContext};
use crate::commands::{self, Command, Draft, LineVerb, Verb};
use steersman_base::id::AgentId;
use steersman_base::protocol::ShellOutput;
use steersman_base::steering::conditional;
use steersman_base::target::{self, MAIN, Target};
use steersman_base::text::{clip, visible_line};
use steersman_session::model::agents::AgentNode;

/// Columns of a text that are repeated in the border.
const QUOTED: usize = 16;

/// A draft as it would be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address<'a> {
    /// Every agent that it goes to, the main agent first.
    pub to: Vec<AgentId>,
    /// What is sent: the draft without the name at its start.
    pub text: &'a str,
    /// The name at its start.
    pub named: Target,
}

/// Why a text goes to nobody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unaddressed {
    /// The agent that it was begun for has ended since.
    Ended(AgentId),
    /// It names an agent that does not run.
    Unknown(AgentId),
    NoSubAgents(AgentId),
}

impl Message {
    /// Returns the agent that a message without a name goes to.
    pub fn target(&self, known: &MessageContext<'_>) -> AgentId {
        self.bound().cloned().unwrap_or_else(|| shown_or_main(known))
    }

    /// Finds out whom a text goes to.
    ///
    /// # Errors
    /// Why it goes to nobody.
    pub fn address<'a>(&self, text: &'a str, known: &MessageContext<'_>) -> Result<Address<'a>, Unaddressed> {
        let takes = |node: &AgentNode| known.run.takes_messages(&node.id);
        let named = target::parse(text, &named_in(text, known, takes));
        let to = match &named.target {
            Target::Agent(agent) => vec![agent.clone()],
            Target::All => addressed_agents(known),
            Target::Subtree | Target::Tree => {
                let top = self.target(known);
                let mut to = known.run.agents.addressed_beneath(&top);
                if to.is_empty() {
                    return Err(Unaddressed::NoSubAgents(top));
                }
                if named.target == Target::Tree {
                    to.insert(0, top);
                }
                to
            }
            Target::Unnamed => Vec::new(),
        };
        if !to.is_empty() {
            return Ok(Address { to, text: named.text, named: named.target });
        }
        if let Some(agent) = nobody(text, known) {
            return Err(Unaddressed::Unknown(agent));
        }
        let agent = self.target(known);
        if known.run.takes_messages(&agent) {
            Ok(Address { to: vec![agent], text, named: Target::Unnamed })
        } else {
            Err(Unaddressed::Ended(agent))
        }
    }

    /// Splits a draft in which the command of a text stands behind the agent that it is for, as in `@worker 0 /note it is
    /// v4`; `None` for any other.
    pub(super) fn named_command<'a>(&self, draft: &'a str, known: &MessageContext<'_>) -> Option<(&'a str, &'a str)> {
        let behind = self.address(draft, known).ok().filter(|address| address.named != Target::Unnamed)?.text;
        let command = match commands::parse(behind) {
            Draft::Command(command, _) | Draft::InvalidArguments(command, _) => command,
            Draft::Escaped(_) | Draft::Text(_) | Draft::NoCommand { .. } => return None,
        };
        match command.verb {
            Verb::Send(_) | Verb::Now | Verb::When(_) | Verb::Line(LineVerb::Later) => {
                draft.split_at_checked(draft.len() - behind.len())
            }
            _ => None,
        }
    }

    /// Binds a draft at its first character, and forgets about a draft that is gone.
    pub fn bind_draft(&mut self, known: &MessageContext<'_>) {
        if self.is_draft_empty() {
            self.bind(None);
        } else if self.bound().is_none() {
            self.bind(Some(shown_or_main(known)));
        }
    }

    /// Says what becomes of the draft; `None` where it goes to one agent as it is.
    pub fn draft_text(&self, known: &MessageContext<'_>) -> Option<String> {
        if !(known.on_composer() && self.is_draft()) || self.is_empty() {
            return None;
        }
        if let Some(call) = self.filling().filter(|_| self.next_draft().is_empty()) {
            let command = call.split(char::is_whitespace).next().unwrap_or_default();
            return Some(format!("→ {}: its shell lines run, then it is sent", visible_line(command)));
        }
        let draft = self.shown();
        if let Some((_, output)) = shell_line(&draft) {
            return Some(match output {
                ShellOutput::Deliver => {
                    format!("→ runs in your own shell: {} gets its output", named(known.shown))
                }
                ShellOutput::Show => "→ runs in your own shell: no agent gets its output".to_owned(),
            });
        }
        if let Some((template, _)) = called(&draft, known) {
            let (command, about) = (template.command(), &template.description);
            return Some(format!("→ {}: {}", visible_line(&command), visible_line(about)));
        }
        let (name, behind) = self.named_command(&draft, known).unwrap_or(("", &draft));
        match commands::parse(behind) {
            Draft::Command(Command { verb: Verb::When(recurrence), .. }, words) => {
                Some(match conditional(words, recurrence) {
                    Ok((trigger, _)) => format!("→ waits, is sent {}", trigger.sentence()),
                    Err(why) => format!("→ {why}"),
                })
            }
            Draft::Command(command, _) if !name.is_empty() => {
                Some(format!("→ {}, /{}: {}", whom(&self.address(&draft, known)), command.name, command.help))
            }
            Draft::Command(command, _) => Some(format!("→ /{}: {}", command.name, command.help)),
            Draft::InvalidArguments(command, argument) => {
                Some(format!("→ {}", command.invalid_arguments(&draft, argument)))
            }
            Draft::Escaped(text) => {
                let line = visible_line(text);
                Some(format!("→ {}: sent as \"{}\"", whom(&self.address(text, known)), clip(&line, QUOTED)))
            }
            Draft::NoCommand { .. } if self.refused.as_ref() == Some(&draft) => {
                Some(format!("→ {}: sent as text", whom(&self.address(&draft, known))))
            }
            Draft::NoCommand { word } => Some(format!("→ {}", visible_line(&commands::unknown(word)))),
            Draft::Text(text) => match self.address(text, known) {
                Ok(address) if address.to.len() == 1 => None,
                address => Some(format!("→ {}", whom(&address))),
            },
        }
    }

    /// Returns the one agent that the draft goes to, or would go to.
    pub fn draft_target(&self, known: &MessageContext<'_>) -> AgentId {
        let draft = self.shown();
        let address = self.address(&draft, known).ok().filter(|_| !self.is_empty());
        address.and_then(|address| address.to.into_iter().next()).unwrap_or_else(|| self.target(known))
    }
}

/// Names whom a text goes to.
fn named(agent: &AgentId) -> String {
    if agent.is_main() { MAIN.to_owned() } else { visible_line(agent.as_str()).into_owned() }
}

fn whom(address: &Result<Address<'_>, Unaddressed>) -> String {
    match address {
        Ok(address) => match address.to.as_slice() {
            [one] => named(one),
            several if address.named == Target::Subtree => format!("its {} sub-agents that run", several.len()),
            [top, several @ ..] if address.named == Target::Tree => {
                let count = if several.len() == 1 {
                    "its sub-agent".to_owned()
                } else {
                    format!("its {} sub-agents", several.len())
                };
                format!("{} and {count}", named(top))
            }
            several => format!("all {} agents that run", several.len()),
        },
        Err(Unaddressed::Ended(agent)) => format!("nobody, {} has ended", visible_line(agent.as_str())),
        Err(Unaddressed::Unknown(agent)) => format!("nobody, no {} runs", visible_line(agent.as_str())),
        Err(Unaddressed::NoSubAgents(agent)) => format!("nobody, no sub-agent of {} runs", named(agent)),
    }
}

/// Returns the agent that a draft is for which is begun now: the one that is shown, where that takes texts.
pub(super) fn shown_or_main(known: &MessageContext<'_>) -> AgentId {
    let shown = known.run.agents.get(known.shown);
    shown.filter(|node| known.run.takes_messages(&node.id)).map_or_else(AgentId::main, |node| node.id.clone())
}

/// Returns every agent that runs and can be told something, and the main agent in any case, which comes first.
fn addressed_agents(known: &MessageContext<'_>) -> Vec<AgentId> {
    let children = known.run.agents.running_nodes().filter(|node| !node.id.is_main() && node.takes_messages());
    std::iter::once(AgentId::main()).chain(children.map(|node| node.id.clone())).collect()
}

/// Returns the agents that a text could name and that are like this.
fn named_in(text: &str, known: &MessageContext<'_>, like: impl Fn(&AgentNode) -> bool) -> Vec<AgentId> {
    let named = text.strip_prefix('@').into_iter().flat_map(|text| known.run.agents.named_in(text));
    named.filter(|node| like(node)).map(|node| node.id.clone()).collect()
}

/// Returns the agent that a text names although it takes no texts, or is none.
fn nobody(text: &str, known: &MessageContext<'_>) -> Option<AgentId> {
    let gone = named_in(text, known, |node| !known.run.takes_messages(&node.id));
    match target::parse(text, &gone).target {
        Target::Agent(agent) if !agent.is_main() => Some(agent),
        Target::Agent(_) | Target::All | Target::Subtree | Target::Tree | Target::Unnamed => {
            target::seems_for(text).map(AgentId::new)
        }
    }
}
