//! What Enter will do with the draft, in words, where that is not simply sending it to one agent.

use super::App;
use super::target::{Address, Unaddressed};
use crate::id::AgentId;
use crate::target::MAIN;
use crate::text::{clip, visible_line};
use crate::tui::commands::{self, Draft};

/// Columns of a text that are repeated in the border.
const QUOTED: usize = 16;

impl App {
    /// Says what becomes of the draft; `None` where it goes to one agent as it is.
    pub fn draft_words(&self) -> Option<String> {
        if !self.is_drafting() || self.message.is_empty() {
            return None;
        }
        let draft = self.message.shown();
        match commands::read(&draft) {
            Draft::Command(command, _) => Some(format!("→ /{}: {}", command.name, command.help)),
            Draft::Misfit(command) => Some(format!("→ {}", command.misfit())),
            Draft::Escaped(text) => {
                let line = visible_line(text);
                Some(format!("→ {}: sent as \"{}\"", whom(&self.address(text)), clip(&line, QUOTED)))
            }
            Draft::NoCommand { .. } if self.message.completion.was_refused(&draft) => {
                Some(format!("→ {}: sent as text", whom(&self.address(&draft))))
            }
            Draft::NoCommand { word } => {
                Some(format!("→ unknown command {}; nearest: /{}", visible_line(word), commands::nearest(word)))
            }
            Draft::Text(text) => match self.address(text) {
                Ok(address) if address.to.len() == 1 => None,
                address => Some(format!("→ {}", whom(&address))),
            },
        }
    }

    /// Returns the one agent that the draft goes to, or would go to.
    pub fn draft_target(&self) -> AgentId {
        let draft = self.message.shown();
        let address = self.address(&draft).ok().filter(|_| !self.message.is_empty());
        address.and_then(|address| address.to.into_iter().next()).unwrap_or_else(|| self.target())
    }
}

/// Names whom a text goes to.
fn whom(address: &Result<Address<'_>, Unaddressed>) -> String {
    match address {
        Ok(address) => match address.to.as_slice() {
            [one] if one.is_main() => MAIN.to_owned(),
            [one] => visible_line(one.as_str()).into_owned(),
            several => format!("all {} agents that run", several.len()),
        },
        Err(Unaddressed::Ended(agent)) => format!("nobody, {} has ended", visible_line(agent.as_str())),
        Err(Unaddressed::Unknown(agent)) => format!("nobody, no {} runs", visible_line(agent.as_str())),
    }
}
