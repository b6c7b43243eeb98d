//! What Enter will do with the draft, in words, where that is not simply sending it to the main agent.

use super::App;
use crate::target::MAIN;
use crate::text::{clip, visible_line};
use crate::tui::commands::{self, Draft};

/// Columns of a text that are repeated in the border.
const QUOTED: usize = 16;

impl App {
    /// Says what becomes of the draft, or whom it goes to; `None` where it goes to the main agent as it is.
    pub fn draft_words(&self) -> Option<String> {
        if !self.is_drafting() || self.composer.is_empty() {
            return None;
        }
        let draft = self.composer.text();
        match commands::read(&draft) {
            Draft::Command(command, _) => Some(format!("→ /{}: {}", command.name, command.help)),
            Draft::Misfit(command) => Some(format!("→ {}", command.misfit())),
            Draft::Escaped(text) => {
                let line = visible_line(text);
                Some(format!("→ {}: sent as \"{}\"", self.whom(text).0, clip(&line, QUOTED)))
            }
            Draft::NoCommand { word } => {
                let (whom, _) = self.whom(&draft);
                Some(format!("→ {whom}: \"{}\" is no command, it is sent as text", visible_line(word)))
            }
            Draft::Text(text) => {
                let (whom, is_plain) = self.whom(text);
                (!is_plain).then(|| format!("→ {whom}"))
            }
        }
    }

    /// Names whom a text goes to, and tells whether that is the main agent without being named.
    fn whom(&self, text: &str) -> (String, bool) {
        match self.address(text) {
            Ok(address) => match address.to.as_slice() {
                [one] if one.is_main() => (MAIN.to_owned(), address.text.len() == text.len()),
                [one] => (visible_line(one.as_str()).into_owned(), false),
                several => (format!("all {} agents that run", several.len()), false),
            },
            Err(ended) => (format!("nobody, {} has ended", visible_line(ended.as_str())), false),
        }
    }
}
