//! The keys of the completion list, while it is open; every other key goes on to where it belongs. And what the list
//! needs from outside: the names of the models.

use super::offers::is_naming_model;
use super::state::{Offer, Palette};
use crate::protocol::Request;
use crate::tui::effect::{Outcome, PaneEffect};
use crate::tui::keymap::{Action, Edit};
use crate::tui::message::{Message, MessageContext};

/// Carries out a key on the list for this text.
pub fn key(palette: &mut Palette, action: Action, text: &str) -> Outcome {
    if !palette.is_open() {
        return Outcome::Ignored;
    }
    match action {
        Action::Edit(Edit::Up) => palette.previous(),
        Action::Edit(Edit::Down) => palette.next(),
        Action::FollowUp => return taken(palette.taken(text)),
        Action::Send => return taken(palette.taken_by_enter(text)),
        _ => return Outcome::Ignored,
    }
    Outcome::DONE
}

/// Takes the offer at this place of the list.
pub fn take(palette: &mut Palette, place: usize, text: &str) -> Outcome {
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
    offer.map_or(Outcome::Ignored, |offer| Outcome::one(PaneEffect::Complete(offer.replaces, offer.text.clone())))
}
