//! What a project brings for this program, and whether the user trusts it.
//!
//! Always holds: nothing of it acts before the user saw exactly what it would run or change and said yes, and what acts is
//! what was shown: the bytes are read once, shown, hashed and used. `exec` never asks.
//!
//! # Where things are
//!
//! - project trust: what a project brings, the record: `mod.rs`, `offer.rs`, `record.rs`,
//!   `src/config/project.rs`; stories: `trust.rs`

mod offer;
mod record;
mod rules;
mod state_file;

use std::path::Path;

use crate::approval::Approvals;
use crate::cli::places::Places;
use crate::subagent::{PersonaSource, Roster};

pub use offer::{Offer, ProjectPersona};
pub use record::Record;
pub use rules::KeptRules;

/// Says who is there to be asked about trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Front {
    /// The screen.
    Screen,
    /// `exec`: nobody.
    Exec,
}

/// Returns what the project brings and the user trusts already; sentences go to `notes`.
pub fn known(places: &Places, notes: &mut Vec<String>) -> Option<Offer> {
    match look(places, notes)? {
        Standing::Trusted(offer) => Some(offer),
        Standing::Unknown(offer, _) => {
            let brings = offer.names();
            notes.push(format!("not trusted, and therefore ignored: {brings}; start steersman here once and decide"));
            None
        }
    }
}

/// Returns what the project brings and the user trusts, asking where somebody is there; sentences go to `notes`.
pub async fn trusted(front: Front, places: &Places, approvals: &Approvals, notes: &mut Vec<String>) -> Option<Offer> {
    if front == Front::Exec {
        return known(places, notes);
    }
    let (offer, record) = match look(places, notes)? {
        Standing::Trusted(offer) => return Some(offer),
        Standing::Unknown(offer, record) => (offer, record),
    };
    let brings = offer.names();
    if !approvals.ask_user(format!("trust what this project brings ({brings})?"), offer.detail()).await {
        notes.push(format!("not trusted, and therefore ignored: {brings}"));
        return None;
    }
    match record.map(|record| record.add(&offer)) {
        Some(Ok(())) => {}
        Some(Err(error)) => notes.push(format!("trusted for this session only: {error}")),
        None => notes.push("trusted for this session only: there is no state directory".to_owned()),
    }
    Some(offer)
}

/// Adds the personas of a trusted project.
pub fn adopted(offer: &Offer, roster: &mut Roster) {
    for ProjectPersona { file, text, .. } in &offer.personas {
        roster.add(PersonaSource::Project(file.clone()), text);
    }
}

/// How the user stands to what a project brings.
enum Standing {
    Trusted(Offer),
    Unknown(Offer, Option<Record>),
}

/// Looks at what the project brings; `None` when nothing of it would act.
fn look(places: &Places, notes: &mut Vec<String>) -> Option<Standing> {
    let offer = Offer::read(places.project.as_deref()?)?;
    notes.extend(offer.faults.iter().cloned());
    if !offer.acts() {
        return None;
    }
    let record = Record::at(places.state.as_deref());
    let known = record.as_ref().is_some_and(|record| record.knows(&offer));
    Some(if known { Standing::Trusted(offer) } else { Standing::Unknown(offer, record) })
}

/// Returns a path as it is shown of a project: relative to its root.
fn shown(path: &Path) -> String {
    crate::text::visible_line(&path.to_string_lossy()).into_owned()
}
