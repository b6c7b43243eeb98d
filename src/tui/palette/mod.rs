//! The completion list: commands, their arguments, agents and paths behind what is typed.
//!
//! A pane in its own folder. It reads the message and never changes it: what is taken from the list goes to the message as
//! an effect.
//!
//! # Where things are
//!
//! - what is offered: `offers.rs`; which offer is chosen, and the keys: `mod.rs`; tests: `commands.rs`, `targets.rs`,
//!   `paths_offered.rs`, `tests/pty/commands.rs`
//! - how it is drawn: `view.rs`; tests: `commands.rs`

mod offers;
pub mod view;

use self::offers::is_naming_model;
use crate::commands::{self, Command, Draft, Verb};
use crate::effect::{Outcome, PaneEffect};
use crate::keymap::{Action, Edit};
use crate::message::{self, Message, MessageContext};
use crate::update;
use steersman_base::protocol::{ModelOption, Request};

/// What is offered now.
#[derive(Debug, Default)]
pub struct Palette {
    offers: Vec<Offer>,
    chosen: usize,
    /// True once the user moved the choice.
    moved: bool,
    /// The text for which Esc closed the list; it stays closed until the text no longer continues it.
    closed: Option<String>,
    /// The models that the server offers, as far as it was asked.
    pub models: Vec<ModelOption>,
    has_asked_models: bool,
    /// Whether the text calls a custom command or a skill, and nothing stands behind.
    is_call: bool,
}

/// One thing that could stand there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The whole text of the composer once it is taken; of a path what stands in its place.
    pub text: String,
    /// The characters before the cursor that it replaces; `None` for the whole text.
    pub replaces: Option<usize>,
    /// The characters of the label that match what was typed.
    pub marks: Vec<u32>,
    pub label: String,
    pub help: String,
    /// The keys that do the same, the usual one first; empty where none does.
    pub key: String,
    pub state: OfferState,
}

/// What Enter does with an offer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OfferState {
    /// Completes the text.
    #[default]
    Part,
    /// Carries it out: nothing is missing behind it.
    Whole,
    /// Carries it out; it is what holds now, and the list begins there.
    Current,
}

impl Palette {
    /// Returns what is offered; empty when the list is closed.
    pub fn offers(&self) -> &[Offer] {
        &self.offers
    }

    /// Returns the place of the chosen offer.
    pub fn chosen(&self) -> usize {
        self.chosen
    }

    pub fn is_open(&self) -> bool {
        !self.offers.is_empty()
    }

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
        // A command of the user's own that is typed to its end is meant, whatever else begins like it.
        if self.is_call && !self.moved {
            return None;
        }
        // A value that is typed to its end is meant, whatever else begins like it; of a list of values one is always meant.
        let chosen = self.offers.get(self.chosen).map(|offer| offer.state);
        let is_typed = self.offers.iter().any(|offer| offer.text.trim_end() == text.trim_end());
        let is_value = !is_typed && chosen.is_some_and(|chosen| chosen != OfferState::Part);
        let (_, typed) = text.split_once(' ').unwrap_or((text, ""));
        let is_whole = match commands::parse(text) {
            // What is offered there is no whole condition yet.
            Draft::Command(Command { verb: Verb::When(_), .. }, _)
            | Draft::Text(_)
            | Draft::Escaped(_)
            | Draft::NoCommand { .. }
            | Draft::InvalidArguments(..) => false,
            Draft::Command(..) if is_value => {
                self.offers.iter().all(|offer| offer.state != OfferState::Current) && typed.trim().is_empty()
            }
            Draft::Command(..) => typed.trim().is_empty() || self.offers.len() != 1,
        };
        if is_whole && !self.moved { None } else { self.taken(text) }
    }

    pub fn offer(&mut self, text: &str, offers: Vec<Offer>) {
        if self.closed.as_ref().is_some_and(|closed| !text.starts_with(closed.as_str())) {
            self.closed = None;
        }
        let offers = if self.closed.is_some() { Vec::new() } else { offers };
        if offers != self.offers {
            let current = offers.iter().position(|offer| offer.state == OfferState::Current);
            self.chosen = current.unwrap_or_default();
            self.offers = offers;
            self.moved = false;
        }
    }

    /// Forgets the models: another one answers now, whose server names them in another way.
    pub fn forget_models(&mut self) {
        self.models.clear();
        self.has_asked_models = false;
    }
}

/// Carries out a key on the list for this text.
pub fn key(palette: &mut Palette, action: Action, text: &str) -> Outcome {
    if !palette.is_open() {
        return Outcome::Ignored;
    }
    match action {
        Action::Edit(Edit::Up) => palette.previous(),
        Action::Edit(Edit::Down) => palette.next(),
        Action::FollowUp => return taken(palette.taken(text)),
        Action::Send => {
            let offer = palette.taken_by_enter(text);
            let mut outcome = taken(offer);
            if let (Outcome::Consumed(wanted), Some(OfferState::Whole | OfferState::Current)) =
                (&mut outcome, offer.map(|offer| offer.state))
            {
                wanted.push(update::enter());
            }
            return outcome;
        }
        _ => return Outcome::Ignored,
    }
    Outcome::DONE
}

/// Takes the offer at this place of the list.
pub fn accept(palette: &mut Palette, place: usize, text: &str) -> Outcome {
    palette.choose(place);
    taken(palette.taken(text))
}

/// Makes the offers for what is typed now; returns what has to be found out for them.
pub fn refresh(palette: &mut Palette, message: &Message, known: &MessageContext<'_>) -> Vec<PaneEffect> {
    let asks = is_naming_model(message, known) && palette.ask_models();
    palette.refresh(message, known);
    if asks { vec![Request::ListModels.into()] } else { Vec::new() }
}

fn taken(offer: Option<&Offer>) -> Outcome {
    offer.map_or(Outcome::Ignored, |offer| Outcome::one(message::complete(offer.replaces, offer.text.clone())))
}
