//! The personas of a session: the bundled ones, the user's files, and those of a trusted project.
//!
//! A broken file is left out, with a warning that names the file and its fault. A user's persona replaces a bundled
//! one of the same name; a project's does so too, with a warning.

use std::path::Path;
use std::sync::Arc;

use crate::subagent::{ClaudeFile, Persona, TempWorkspace};
use steersman_base::error::BuildError;
use steersman_base::front_matter::{FileChoice, FoundFile, UnusedMembers, find};
use steersman_base::limits;
use steersman_base::regular_file::read_own_text;
use steersman_base::text::visible_line;
use steersman_core::tool::{Tool, ToolSource, Traits};

/// The origin of a persona.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PersonaSource {
    /// It is built into the program.
    Bundled,
    /// A file of the user, as it is shown.
    User(String),
    /// A file of a project that the user trusts, as it is shown.
    Project(String),
    /// A file of a plugin that the user trusts, as it is shown.
    Plugin(String),
}

impl PersonaSource {
    /// Returns the owner in one word.
    pub fn whose(&self) -> &'static str {
        match self {
            Self::Bundled => "bundled",
            Self::User(_) => "user",
            Self::Project(_) => "project",
            Self::Plugin(_) => "plugin",
        }
    }

    /// Returns the file; `None` for what is built in.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Bundled => None,
            Self::User(file) | Self::Project(file) | Self::Plugin(file) => Some(file),
        }
    }
}

/// A persona with its source.
#[derive(Debug, Clone, PartialEq)]
pub struct RosterEntry {
    /// The persona.
    pub persona: Persona,
    /// Its origin.
    pub source: PersonaSource,
    /// What becomes of it when a tool that it names is missing.
    missing_tool: MissingTool,
}

/// What becomes of a persona when a tool that it names is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MissingTool {
    /// The persona is left out: it was written for this program.
    LeavesItOut,
    /// It does without: the file was written for another program.
    IsPassedOver,
}

/// The personas of one start, in the order in which the model sees them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Roster {
    members: Vec<RosterEntry>,
    warnings: Vec<String>,
    /// The tools that files of other programs do without.
    without: UnusedMembers,
    /// The members of their heads that count for nothing.
    unused: UnusedMembers,
}

impl Roster {
    /// Makes a roster of the bundled personas.
    ///
    /// # Errors
    /// A fault of the program's own files.
    pub fn bundled() -> Result<Self, BuildError> {
        let missing_tool = MissingTool::LeavesItOut;
        let member = |persona| RosterEntry { persona, source: PersonaSource::Bundled, missing_tool };
        let members = Persona::bundled()?.into_iter().map(member).collect();
        Ok(Self { members, ..Self::default() })
    }

    /// Adds every `*.md` below the user's directory, by name; a missing directory adds nothing.
    pub fn add_directory(&mut self, directory: &Path) {
        let found = find(directory, None, FileChoice::Markdown);
        let shown = visible_line(&directory.to_string_lossy()).into_owned();
        self.warnings.extend(found.faults.iter().map(|fault| format!("{shown}: {fault}")));
        let mut headless = Headless::default();
        for FoundFile { relative, real } in &found.files {
            let path = directory.join(relative);
            let source = PersonaSource::User(visible_line(&path.to_string_lossy()).into_owned());
            // The user may keep such files elsewhere and link to them.
            match read_own_text(real, limits::PROJECT_FILE_BYTES) {
                Ok(text) if headless.takes(&text, relative) => {}
                Ok(text) => self.add(source, &text),
                Err(error) => self.leave_out(&source, &format!("cannot be read: {error}")),
            }
        }
        self.warnings.extend(headless.sentence().map(|sentence| format!("{shown}: {sentence}")));
    }

    /// Adds the persona of a file of a plugin, whose name stands before that of the persona where this is taken.
    pub fn add_of_plugin(&mut self, plugin: &str, file: &str, text: &str) {
        self.add_named(PersonaSource::Plugin(format!("plugin {plugin}, {file}")), text, Some(plugin));
    }

    /// Adds the persona of one file.
    pub fn add(&mut self, source: PersonaSource, text: &str) {
        self.add_named(source, text, None);
    }

    fn add_named(&mut self, source: PersonaSource, text: &str, plugin: Option<&str>) {
        let read = if ClaudeFile::is_one(text) {
            ClaudeFile::parse(text).map(|file| (file.persona, file.without, file.unused, MissingTool::IsPassedOver))
        } else {
            Persona::parse(text).map(|persona| (persona, Vec::new(), Vec::new(), MissingTool::LeavesItOut))
        };
        let (mut persona, without, unused, missing_tool) = match read {
            Ok(read) => read,
            Err(error) => return self.leave_out(&source, &error.to_string()),
        };
        let is_taken =
            self.members.iter().any(|member| member.persona.name == persona.name && member.persona != persona);
        if let Some(plugin) = plugin.filter(|_| is_taken) {
            persona.name = format!("{plugin}-{}", persona.name);
            if let Some(fault) = persona.error() {
                return self.leave_out(&source, &fault);
            }
        }
        let entry = RosterEntry { persona, source, missing_tool };
        if self.insert(entry.clone()) {
            self.does_without(&entry.persona.name, &without);
            for member in unused {
                self.unused.add(member, &entry.persona.name);
            }
        }
    }

    /// Takes a persona in, unless one of the same name stays.
    fn insert(&mut self, entry: RosterEntry) -> bool {
        let RosterEntry { persona, source, missing_tool } = &entry;
        let place = self.members.iter().position(|member| member.persona.name == persona.name);
        let Some(old) = place.and_then(|place| self.members.get_mut(place)) else {
            self.members.push(entry);
            return true;
        };
        match (&old.source, source) {
            // The same words, as behind a link to a directory above.
            (PersonaSource::User(_), PersonaSource::User(_))
            | (_, PersonaSource::Project(_) | PersonaSource::Plugin(_))
                if old.persona == *persona => {}
            (PersonaSource::Bundled, PersonaSource::User(file)) => match missing_tool {
                // It was written for this program: it is meant to.
                MissingTool::LeavesItOut => {}
                MissingTool::IsPassedOver => {
                    self.warnings.push(format!("your agent '{}' ({file}) replaces the bundled one", persona.name));
                }
            },
            (before, PersonaSource::Project(file)) => self.warnings.push(format!(
                "the persona '{}' of this project ({file}) replaces the {} one",
                persona.name,
                before.whose()
            )),
            (_, PersonaSource::Bundled | PersonaSource::User(_) | PersonaSource::Plugin(_)) => {
                let fault = format!("is a second persona named '{}'", persona.name);
                self.leave_out(&source.clone(), &fault);
                return false;
            }
        }
        *old = entry;
        true
    }

    fn does_without(&mut self, name: &str, tools: &[String]) {
        for tool in tools {
            // Of a server's tools the server is enough.
            let server = tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")).map(|(server, _)| server);
            self.without.add(&server.map_or_else(|| tool.clone(), |server| format!("mcp__{server}__*")), name);
        }
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

    /// Returns the warnings, with what is known of the tools and the heads of all files before the tools of a session are.
    pub fn left_out(&self) -> Vec<String> {
        self.warnings.iter().cloned().chain(self.unused_sentences()).collect()
    }

    /// Returns one sentence for what files of other programs name and do not get, and one for what counts for nothing.
    fn unused_sentences(&self) -> impl Iterator<Item = String> {
        let tools = self.without.sentence("tools that agents of other programs do without here");
        tools.into_iter().chain(self.unused.sentence("agents run without these settings of their files"))
    }

    /// Leaves out the personas that name a missing tool, and warns of those that combine all three risks. Files of other
    /// programs do without the tool.
    #[must_use]
    pub fn usable(mut self, tools: &[Arc<dyn Tool>], foreign: Option<&dyn ToolSource>) -> Self {
        let available: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
        for mut entry in std::mem::take(&mut self.members) {
            let persona = &mut entry.persona;
            let missing = persona.missing_tools(&available).into_iter();
            let missing = missing.filter(|name| !foreign.is_some_and(|foreign| foreign.knows(name)));
            let missing: Vec<String> = missing.map(str::to_owned).collect();
            match (missing.as_slice(), entry.missing_tool) {
                ([], _) => {}
                (missing, MissingTool::IsPassedOver) => {
                    persona.tool_names.retain(|name| !missing.contains(name));
                    self.does_without(&persona.name.clone(), missing);
                }
                (missing, MissingTool::LeavesItOut) => {
                    let missing = missing.join(", ");
                    match entry.source.file() {
                        None => tracing::info!(persona = %persona.name, %missing, "left out, its tools are not there"),
                        Some(file) => {
                            self.warnings.push(format!("{file} is left out: there is no tool named {missing}"));
                        }
                    }
                    continue;
                }
            }
            // Who has the tools of the main agent has its reach too, and nothing more.
            if !persona.inherits() && persona.reach(tools, foreign).is_everything() {
                self.warnings.push(format!("the persona '{}' has {EVERYTHING}", persona.name));
            }
            self.members.push(entry);
        }
        let sentences: Vec<String> = self.unused_sentences().collect();
        self.warnings.extend(sentences);
        (self.without, self.unused) = Default::default();
        self
    }
}

/// The files of a directory of agents that have no head, and so are none: people keep notes there.
#[derive(Debug, Default)]
pub struct Headless(Vec<String>);

impl Headless {
    /// Takes a file whose text has no head; returns whether it did.
    pub fn takes(&mut self, text: &str, path: &Path) -> bool {
        let has_head = ClaudeFile::is_one(text) || text.trim_start_matches('\u{FEFF}').starts_with("+++");
        if !has_head {
            self.0.push(visible_line(&path.to_string_lossy()).into_owned());
        }
        !has_head
    }

    /// Says which files these are; `None` without any.
    pub fn sentence(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| format!("no agents, since they have no head: {}", self.0.join(", ")))
    }
}

/// The warning about a persona that combines all three risks.
pub const EVERYTHING: &str =
    "private files, untrusted content and network access at once: text from strangers can make it send your files";

impl Persona {
    /// Returns the traits of its tools taken together. The files of a temporary workspace are not private.
    pub fn reach(&self, tools: &[Arc<dyn Tool>], source: Option<&dyn ToolSource>) -> Traits {
        let own = tools.iter().filter(|tool| self.uses(tool.name()));
        let foreign = source.map_or(Traits::NONE, |source| {
            let mut with_servers = self.clone();
            with_servers.inherit(&[], &source.names_of_main());
            source.reach(&with_servers.tool_names)
        });
        let mut reach = own.map(|tool| tool.spec().traits).fold(Traits::NONE, Traits::and);
        if self.temp_workspace == TempWorkspace::Yes && !self.uses("bash") {
            reach.private = false;
        }
        reach.and(foreign)
    }
}
