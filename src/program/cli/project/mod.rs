//! The settings and files that a project has for this program, and whether the user trusts them.
//!
//! Always holds: nothing of a project takes effect before the user saw exactly what it would run or change and said
//! yes, but for rules that only restrict. The bytes are read once, shown, hashed and used, so what was shown is what takes
//! effect. `exec` never asks.
//!
//! # Where things are
//!
//! - project trust: files of a project, the record of trust: `mod.rs`, `offer.rs`, `detail.rs`,
//!   `record.rs`, `trusted_texts.rs`,
//!   `src/program/config/project.rs`; tests: `trust/mod.rs`
//! - permissions of Claude Code's settings: `permissions.rs`, `src/program/config/permissions.rs`; tests: `permissions.rs`
//! - plugins of Claude Code, as offers like those of projects: `plugin.rs`; tests: `plugins.rs`
//! - skills, custom commands and agent files, the user's and a project's: `texts.rs`; tests: `trust/mod.rs`, `set_ups.rs`
//! - a file with decisions of the user, in the state directory, 0600: `state_file.rs`

mod detail;
mod hooks;
mod offer;
mod permissions;
mod plugin;
mod record;
mod rules;
mod state_file;
mod texts;
mod trusted_texts;

use std::path::Path;

use crate::program::cli::places::UserDirectories;
use steersman_agent::subagent::{PersonaSource, Roster};
use steersman_core::approval::Approvals;
use steersman_extensions::skill::SkillLibrary;

pub use offer::{ProjectOffer, ProjectPersona};
pub use permissions::{FILES as CLAUDE_FILES, ProjectPermissions, restrictions};
pub use record::TrustRecord;
pub use rules::KeptRules;
pub use texts::{CalledPrompt, ProjectTexts, called_prompt, templates, user_agents, user_library};

pub(in crate::program::cli) use state_file::StateFile;
pub(in crate::program::cli) use trusted_texts::TrustedTexts;

/// The front end of a start, which decides whether the user can be asked about trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontEnd {
    Screen,
    /// `exec`, where the user is not asked.
    Exec,
}

/// Returns the project's files if the user trusts them already; sentences go to `notes`.
/// `trust` is the hash of files that are trusted for this run.
pub fn trusted_offer(places: &UserDirectories, trust: Option<&str>, notes: &mut Vec<String>) -> Option<ProjectOffer> {
    let mut left_out = Vec::new();
    let offer = trusted_offer_with(places, trust, notes, &mut left_out);
    notes.append(&mut left_out);
    offer
}

fn trusted_offer_with(
    places: &UserDirectories,
    trust: Option<&str>,
    notes: &mut Vec<String>,
    left_out: &mut Vec<String>,
) -> Option<ProjectOffer> {
    match look(places, left_out)? {
        ProjectTrust::Trusted(offer) => Some(offer),
        ProjectTrust::Unknown(offer, _) if trust == Some(offer.hash().as_str()) => Some(offer),
        ProjectTrust::Unknown(offer, _) => {
            let brings = offer.names();
            let hash = offer.hash();
            notes.push(format!(
                "not trusted, and therefore ignored: {brings}; start steersman here once and decide, or read them and \
                 give exec --trust-project {hash}"
            ));
            None
        }
    }
}

/// Whose trust is asked about, and by whom.
#[derive(Debug, Clone, Copy)]
pub struct TrustQuestion<'a> {
    pub front: FrontEnd,
    pub places: &'a UserDirectories,
    /// The hash of files that are trusted for this run.
    pub trust: Option<&'a str>,
}

/// Returns the project's files if the user trusts them, asking on the screen; sentences go to `notes`, those about what of
/// the files counts for nothing to `left_out`.
pub async fn trusted(
    TrustQuestion { front, places, trust }: TrustQuestion<'_>,
    approvals: &Approvals,
    notes: &mut Vec<String>,
    left_out: &mut Vec<String>,
) -> Option<ProjectOffer> {
    if front == FrontEnd::Exec {
        return trusted_offer_with(places, trust, notes, left_out);
    }
    let (offer, record) = match look(places, left_out)? {
        ProjectTrust::Trusted(offer) => return Some(offer),
        ProjectTrust::Unknown(offer, record) => (offer, record),
    };
    let brings = offer.names();
    let before = record.as_ref().and_then(|record| record.text_of_root(&offer));
    let question = offer.question(before.as_deref());
    if !approvals.ask_user(format!("trust what this project brings ({brings})?"), question).await {
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

/// Returns the files of a project that is not trusted as it is, where its broken hooks count nevertheless: the user has trusted
/// it before, or nothing else of it needs trust and the user can be asked.
pub fn relied_on(places: &UserDirectories, front: FrontEnd) -> Option<ProjectOffer> {
    let offer = ProjectOffer::load(places.project.as_deref()?, &places.below)?;
    let is_known = TrustRecord::at(places.state.as_deref()).is_some_and(|record| record.knows_root(&offer));
    let counts = is_known || (front == FrontEnd::Screen && !offer.acts());
    Some(offer).filter(|_| counts)
}

/// Adds the personas, skills and custom commands of a trusted project or plugin. What a plugin brings replaces nothing: its name
/// stands before a name that is taken.
pub fn adopted(offer: &ProjectOffer, roster: &mut Roster, library: &mut SkillLibrary) {
    if let Some(plugin) = &offer.plugin {
        offer.texts.add_of_plugin(plugin, library);
        for ProjectPersona { file, text, .. } in &offer.personas {
            roster.add_of_plugin(plugin, file, text);
        }
        return;
    }
    offer.texts.add_to(library);
    for ProjectPersona { file, text, .. } in &offer.personas {
        roster.add(PersonaSource::Project(file.clone()), text);
    }
}

/// Whether the user trusts the files of a project.
enum ProjectTrust {
    Trusted(ProjectOffer),
    Unknown(ProjectOffer, Option<TrustRecord>),
}

/// Reads the project's files; `None` when nothing of them would take effect.
fn look(places: &UserDirectories, notes: &mut Vec<String>) -> Option<ProjectTrust> {
    let offer = ProjectOffer::load(places.project.as_deref()?, &places.below)?;
    notes.extend(offer.faults.iter().cloned());
    if !offer.acts() {
        return None;
    }
    let record = TrustRecord::at(places.state.as_deref());
    let known = record.as_ref().is_some_and(|record| record.knows(&offer));
    Some(if known { ProjectTrust::Trusted(offer) } else { ProjectTrust::Unknown(offer, record) })
}

/// Returns a path of a project for display.
fn shown(path: &Path) -> String {
    steersman_base::text::visible_line(&path.to_string_lossy()).into_owned()
}
