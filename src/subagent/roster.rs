//! The personas of a session: the bundled ones, the user's files, and those of a trusted project.
//!
//! A broken file is left out, with a warning that names the file and its fault. A user's persona replaces a bundled
//! one of the same name; a project's does so too, with a warning.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use crate::error::BuildError;
use crate::limits;
use crate::regular_file::read_own_text;
use crate::subagent::{Persona, TempWorkspace};
use crate::text::visible_line;
use crate::tool::{Tool, ToolSource, Traits};

/// The origin of a persona.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PersonaSource {
    /// It is built into the program.
    Bundled,
    /// A file of the user, as it is shown.
    User(String),
    /// A file of a project that the user trusts, as it is shown.
    Project(String),
}

impl PersonaSource {
    /// Returns the owner in one word.
    pub fn whose(&self) -> &'static str {
        match self {
            Self::Bundled => "bundled",
            Self::User(_) => "user",
            Self::Project(_) => "project",
        }
    }

    /// Returns the file; `None` for what is built in.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Bundled => None,
            Self::User(file) | Self::Project(file) => Some(file),
        }
    }
}

/// A persona with its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RosterEntry {
    /// The persona.
    pub persona: Persona,
    /// Its origin.
    pub source: PersonaSource,
}

/// The personas of one start, in the order in which the model sees them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roster {
    members: Vec<RosterEntry>,
    warnings: Vec<String>,
}

impl Roster {
    /// Makes a roster of the bundled personas.
    ///
    /// # Errors
    /// A fault of the program's own files.
    pub fn bundled() -> Result<Self, BuildError> {
        let member = |persona| RosterEntry { persona, source: PersonaSource::Bundled };
        let members = Persona::bundled()?.into_iter().map(member).collect();
        Ok(Self { members, warnings: Vec::new() })
    }

    /// Adds every `*.md` of the user's directory, by name; a missing directory adds nothing.
    pub fn add_directory(&mut self, directory: &Path) {
        let Ok(entries) = directory.read_dir() else { return };
        let markdown = |path: &std::path::PathBuf| path.extension() == Some(OsStr::new("md"));
        let mut paths: Vec<_> =
            entries.flatten().take(limits::PROJECT_NAMES).map(|entry| entry.path()).filter(markdown).collect();
        paths.sort();
        if paths.len() > limits::PROJECT_FILES {
            self.warnings.push(format!(
                "{} holds {} personas; the first {} count",
                visible_line(&directory.to_string_lossy()),
                paths.len(),
                limits::PROJECT_FILES
            ));
        }
        for path in paths.iter().take(limits::PROJECT_FILES) {
            let source = PersonaSource::User(visible_line(&path.to_string_lossy()).into_owned());
            // The user may keep such files elsewhere and link to them.
            match read_own_text(path, limits::PROJECT_FILE_BYTES) {
                Ok(text) => self.add(source, &text),
                Err(error) => self.leave_out(&source, &format!("cannot be read: {error}")),
            }
        }
    }

    /// Adds the persona of one file.
    pub fn add(&mut self, source: PersonaSource, text: &str) {
        let persona = match Persona::parse(text) {
            Ok(persona) => persona,
            Err(error) => return self.leave_out(&source, &error.to_string()),
        };
        let place = self.members.iter().position(|member| member.persona.name == persona.name);
        let Some(old) = place.and_then(|place| self.members.get_mut(place)) else {
            return self.members.push(RosterEntry { persona, source });
        };
        match (&old.source, &source) {
            (PersonaSource::Bundled, PersonaSource::User(_)) => {}
            (before, PersonaSource::Project(file)) => self.warnings.push(format!(
                "the persona '{}' of this project ({file}) replaces the {} one",
                persona.name,
                before.whose()
            )),
            (_, PersonaSource::Bundled | PersonaSource::User(_)) => {
                let name = persona.name;
                return self.leave_out(&source, &format!("is a second persona named '{name}'"));
            }
        }
        *old = RosterEntry { persona, source };
    }

    fn leave_out(&mut self, source: &PersonaSource, fault: &str) {
        let file = source.file().unwrap_or("a bundled persona");
        self.warnings.push(format!("{file} is left out: {}", visible_line(fault)));
    }

    /// Returns the personas.
    pub fn members(&self) -> &[RosterEntry] {
        &self.members
    }

    /// Returns the warnings about files that were left out or that replace others.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Leaves out the personas that name a missing tool, and warns of those that combine all three risks.
    #[must_use]
    pub fn usable(mut self, tools: &[Arc<dyn Tool>], foreign: Option<&dyn ToolSource>) -> Self {
        let available: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
        let warnings = &mut self.warnings;
        self.members.retain(|RosterEntry { persona, source }| {
            let mut missing = persona.missing_tools(&available);
            missing.retain(|name| !foreign.is_some_and(|foreign| foreign.knows(name)));
            let missing = missing.join(", ");
            if missing.is_empty() {
                if persona.reach(tools, foreign).is_everything() {
                    warnings.push(format!("the persona '{}' has {EVERYTHING}", persona.name));
                }
                return true;
            }
            match source.file() {
                None => tracing::info!(persona = %persona.name, %missing, "left out, its tools are not there"),
                Some(file) => warnings.push(format!("{file} is left out: there is no tool named {missing}")),
            }
            false
        });
        self
    }
}

/// The warning about a persona that combines all three risks.
pub const EVERYTHING: &str =
    "private files, untrusted content and network access at once: text from strangers can make it send your files";

impl Persona {
    /// Returns the traits of its tools taken together. The files of a temporary workspace are not private.
    pub fn reach(&self, tools: &[Arc<dyn Tool>], source: Option<&dyn ToolSource>) -> Traits {
        let own = tools.iter().filter(|tool| self.tool_names.iter().any(|name| name == tool.name()));
        let foreign = source.map_or(Traits::NONE, |source| source.reach(&self.tool_names));
        let mut reach = own.map(|tool| tool.spec().traits).fold(Traits::NONE, Traits::and);
        if self.temp_workspace == TempWorkspace::Yes && !self.tool_names.iter().any(|name| name == "bash") {
            reach.private = false;
        }
        reach.and(foreign)
    }
}
