//! What could stand behind what was typed: commands behind `/`, names behind `/theme`, `/model`
//! and `/help`, agents and paths behind `@`.
//!
//! Made anew from the composer's text after each message; only the choice and an Esc are remembered. Always holds: no
//! offer is taken but by a key.

use super::App;
use super::lines::Medium;
use super::paths::written;
use super::target::can_be_told;
use crate::id::AgentId;
use crate::manual::MANUAL;
use crate::mode::Mode;
use crate::target::ALL;
use crate::tui::commands::{self, COMMANDS, Draft, Takes, Verb};
use crate::tui::theme::AUTO;

/// Holds what is offered now.
#[derive(Debug, Default)]
pub struct Completion {
    offers: Vec<Offer>,
    chosen: usize,
    /// True once the user moved the choice.
    moved: bool,
    /// The text for which Esc closed the list; it stays closed until the text no longer continues it.
    closed: Option<String>,
    /// The text with an unknown command that Enter did not send the first time.
    refused: Option<String>,
    /// The models that the server offers, as far as it was asked.
    pub models: Vec<String>,
    /// Whether it was asked.
    has_asked_models: bool,
}

/// Is one thing that could stand there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The whole text of the composer once it is taken; of a path what stands in its place.
    pub text: String,
    /// The characters before the cursor that it replaces; `None` for the whole text.
    pub replaces: Option<usize>,
    /// The characters of the label that match what was typed.
    pub marks: Vec<u32>,
    /// How it is shown.
    pub label: String,
    /// What it means.
    pub help: String,
}

impl Completion {
    /// Returns what is offered; empty when the list is closed.
    pub fn offers(&self) -> &[Offer] {
        &self.offers
    }

    /// Returns the place of the chosen offer.
    pub fn chosen(&self) -> usize {
        self.chosen
    }

    /// Tells whether the list is open.
    pub fn is_open(&self) -> bool {
        !self.offers.is_empty()
    }

    /// Tells whether agents are offered.
    pub fn names_agents(&self) -> bool {
        self.offers.iter().any(|offer| offer.replaces.is_none() && offer.text.starts_with('@'))
    }

    /// Tells whether anything is offered for the whole text, not only for a path in it.
    pub fn is_about_whole(&self) -> bool {
        self.offers.iter().any(|offer| offer.replaces.is_none())
    }

    /// Chooses the one before.
    pub fn previous(&mut self) {
        self.moved = true;
        self.chosen = self.chosen.checked_sub(1).unwrap_or(self.offers.len().saturating_sub(1));
    }

    /// Chooses the one after.
    pub fn next(&mut self) {
        self.moved = true;
        self.chosen = if self.chosen + 1 < self.offers.len() { self.chosen + 1 } else { 0 };
    }

    /// Chooses the one at this place, the last when there are fewer.
    pub fn choose(&mut self, place: usize) {
        self.moved = true;
        self.chosen = place.min(self.offers.len().saturating_sub(1));
    }

    /// Notes that the models are asked for; false when they were before.
    pub fn ask_models(&mut self) -> bool {
        !std::mem::replace(&mut self.has_asked_models, true)
    }

    /// Closes the list for this text and what continues it.
    pub fn close(&mut self, text: String) {
        self.closed = Some(text);
        self.offers.clear();
    }

    /// Notes that this text begins with an unknown command and was not sent.
    pub fn refuse(&mut self, text: String) {
        self.refused = Some(text);
    }

    /// Tells whether this very text was not sent before, because it begins with an unknown command.
    pub fn was_refused(&self, text: &str) -> bool {
        self.refused.as_deref() == Some(text)
    }

    /// Returns the chosen offer; `None` when the text is that already.
    pub fn taken(&self, text: &str) -> Option<&Offer> {
        let chosen = self.offers.get(self.chosen);
        chosen.filter(|offer| offer.replaces.is_some() || offer.text.trim_end() != text.trim_end())
    }

    /// Returns what Enter takes: the chosen offer, unless nothing was chosen and the text is a whole command already, or
    /// a whole directory, or nothing was typed behind `@`.
    pub fn taken_by_enter(&self, text: &str) -> Option<&Offer> {
        let is_path = self.offers.get(self.chosen).is_some_and(|offer| offer.replaces.is_some());
        if !self.moved && is_path && text.ends_with(['@', '/']) {
            return None;
        }
        let is_whole = match commands::read(text) {
            Draft::Command(_, argument) => argument.is_empty() || self.offers.len() != 1,
            Draft::Text(_) | Draft::Escaped(_) | Draft::NoCommand { .. } | Draft::Misfit(_) => false,
        };
        if is_whole && !self.moved { None } else { self.taken(text) }
    }

    fn offer(&mut self, text: &str, offers: Vec<Offer>) {
        if self.closed.as_ref().is_some_and(|closed| !text.starts_with(closed.as_str())) {
            self.closed = None;
        }
        let offers = if self.closed.is_some() { Vec::new() } else { offers };
        if offers != self.offers {
            self.offers = offers;
            self.chosen = 0;
            self.moved = false;
        }
    }
}

impl App {
    /// Makes the offers for the composer's text.
    pub fn refresh_completion(&mut self) {
        let is_shown = self.medium == Medium::Screen && self.is_drafting();
        let text = if is_shown { self.composer.shown() } else { String::new() };
        let mut offers = self.offers_for(&text);
        if is_shown {
            offers.extend(self.path_offers());
        }
        self.completion.offer(&text, offers);
    }

    /// Tells whether the name of a model is being typed.
    pub fn is_naming_model(&self) -> bool {
        if self.medium != Medium::Screen || !self.is_drafting() {
            return false;
        }
        let text = self.composer.shown();
        let command = text.split_once(' ').map(|(command, _)| commands::read(command));
        matches!(command, Some(Draft::Command(command, _)) if command.verb == Verb::Model)
    }

    fn offers_for(&self, text: &str) -> Vec<Offer> {
        if text.contains('\n') {
            return Vec::new();
        }
        match text.chars().next() {
            Some('@') => self.agents(text),
            Some('/') => match text.split_once(' ') {
                None => command_names(text),
                Some((command, typed)) => self.arguments(command, typed),
            },
            _ => Vec::new(),
        }
    }

    fn arguments(&self, command: &str, typed: &str) -> Vec<Offer> {
        let Draft::Command(command, _) = commands::read(command) else { return Vec::new() };
        let names: Vec<String> = match command.verb {
            Verb::Help => return topics(command.name, typed),
            Verb::Mode => return modes(typed),
            Verb::Theme => self.themes.names().into_iter().chain([AUTO]).map(str::to_owned).collect(),
            Verb::Hold => vec![ALL.to_owned()],
            Verb::Budget => vec!["off".to_owned()],
            Verb::Export => vec!["transcript".to_owned(), "ledger".to_owned()],
            Verb::Model => self.completion.models.clone(),
            _ => Vec::new(),
        };
        if names.iter().any(|name| name == typed) {
            return Vec::new();
        }
        let fitting = names.into_iter().filter(|name| name.starts_with(typed));
        fitting.map(|name| offer(format!("/{} {name}", command.name), name, String::new())).collect()
    }

    /// Offers the paths that match what is typed behind `@`.
    fn path_offers(&self) -> Vec<Offer> {
        let Some(token) = self.paths.token() else { return Vec::new() };
        let hits = &self.paths.found().hits;
        if hits.iter().any(|hit| *hit.text == *token.typed && !token.typed.ends_with('/')) {
            return Vec::new();
        }
        let offers = hits.iter().map(|hit| {
            let path = written(&hit.text, self.tree.running_nodes().map(|node| &node.id));
            // Behind a directory the next part is typed at once.
            let blank = if path.ends_with('/') { "" } else { " " };
            Offer {
                text: format!("{path}{blank}"),
                replaces: Some(token.chars),
                marks: hit.marks.clone(),
                label: hit.text.to_string(),
                help: String::new(),
            }
        });
        offers.collect()
    }

    /// Offers the agents that run, behind `@`.
    fn agents(&self, text: &str) -> Vec<Offer> {
        let typed = text.get(1..).unwrap_or_default();
        let running: Vec<&AgentId> =
            self.tree.running_nodes().filter(|node| can_be_told(node)).map(|node| &node.id).collect();
        if running.iter().all(|id| id.is_main()) {
            return Vec::new();
        }
        let children =
            running.iter().filter(|id| !id.is_main()).map(|id| (id.as_str(), "this agent, at its next boundary"));
        let all = std::iter::once((ALL, "every agent that runs"));
        let fitting = children.chain(all).filter(|(name, _)| name.starts_with(typed) && *name != typed);
        fitting.map(|(name, help)| offer(format!("@{name} "), format!("@{name}"), help.to_owned())).collect()
    }
}

fn modes(typed: &str) -> Vec<Offer> {
    if Mode::named(typed).is_some_and(|mode| !Mode::ALL.iter().any(|m| *m != mode && m.name().starts_with(typed))) {
        return Vec::new();
    }
    let fitting = Mode::ALL.into_iter().filter(|mode| mode.name().starts_with(typed));
    fitting
        .map(|mode| offer(format!("/mode {}", mode.name()), mode.name().to_owned(), mode.help().to_owned()))
        .collect()
}

fn topics(command: &str, typed: &str) -> Vec<Offer> {
    if MANUAL.iter().any(|page| page.topic == typed) {
        return Vec::new();
    }
    let fitting = MANUAL.iter().filter(|page| page.topic.starts_with(typed));
    fitting
        .map(|page| offer(format!("/{command} {}", page.topic), page.topic.to_owned(), page.title().to_owned()))
        .collect()
}

fn command_names(text: &str) -> Vec<Offer> {
    let typed = text.get(1..).unwrap_or_default();
    let fitting = COMMANDS.iter().filter(|command| command.name.starts_with(typed));
    fitting
        .map(|command| {
            let space = if command.takes == Takes::Nothing { "" } else { " " };
            offer(
                format!("/{}{space}", command.name),
                command.usage.to_owned(),
                format!("{} ({})", command.help, command.key),
            )
        })
        .collect()
}

fn offer(text: String, label: String, help: String) -> Offer {
    Offer { text, replaces: None, marks: Vec::new(), label, help }
}
