//! Skills, custom commands and agent files: where the user's own lie, and which ones a project brings.
//!
//! The user's lie in the directories of this program, of Claude Code, of codex (<https://developers.openai.com/codex/skills>)
//! and in `~/.agents`; a project's are part of its offer. Always holds: what of a project is used is what was shown.

use std::collections::BTreeMap;
use std::path::Path;

use crate::program::cli::load::Start;
use crate::program::cli::places::UserDirectories;
use crate::program::cli::plugins;
use crate::program::cli::project::offer::{ProjectOffer, ProjectPersona};
use crate::program::cli::project::{adopted, trusted_offer};
use steersman_agent::subagent::{Headless, Persona, PersonaSource, Roster};
use steersman_base::front_matter::{FileChoice, FoundFile, find};
use steersman_base::limits;
use steersman_base::protocol::{PromptTemplate, ScriptText};
use steersman_base::text::visible_line;
use steersman_extensions::skill::{
    NOT_USED, Owner, Skill, SkillLibrary, command, command_names, folder_of, note_unused, source_of, styles,
};
use steersman_tools::workspace::Script;
use steersman_tui::commands::is_command;

/// The directories in a project's root and in those below it, those that count first in front.
const SKILLS: [&str; 3] = [".steersman/skills", ".claude/skills", ".agents/skills"];
const COMMANDS: [&str; 2] = [".steersman/commands", ".claude/commands"];
const AGENTS: &str = ".claude/agents";
/// The directory of Claude Code's output styles.
const STYLES: &str = ".claude/output-styles";

/// The skills and custom commands of a project, each with its file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectTexts {
    pub skills: Vec<(String, Skill)>,
    pub commands: Vec<(String, PromptTemplate)>,
    /// The other files in the directory of each skill, by the file of the skill.
    pub skill_files: BTreeMap<String, Vec<Script>>,
}

/// Reads the skills and custom commands of the user.
pub fn user_library(places: &UserDirectories) -> SkillLibrary {
    let mut library = SkillLibrary::default();
    let (config, home) = (places.config.as_deref(), places.home.as_deref());
    let own = |name: &str| config.map(|config| config.join(name));
    let of_home = |name: &str| home.map(|home| home.join(name));
    let skills = [own("skills"), of_home(".claude/skills"), of_home(".agents/skills"), of_home(".codex/skills")];
    for directory in skills.iter().flatten() {
        library.add_user_skills(directory);
    }
    for directory in [own("commands"), of_home(".claude/commands"), of_home(".codex/prompts")].iter().flatten() {
        library.add_user_commands(directory, is_command);
    }
    if let Some(directory) = of_home(STYLES) {
        library.note_styles(&directory);
    }
    library
}

/// The prompt of a start that calls a custom command or a skill.
pub enum CalledPrompt {
    /// What is sent for it.
    Filled(String),
    /// It has shell lines, which the session runs.
    WithCommands,
}

/// Returns what is sent for the prompt of a start that calls a custom command or a skill, or would without its doubled slash;
/// `None` for any other text.
pub fn called_prompt(start: &Start, text: &str) -> Option<CalledPrompt> {
    if !text.starts_with('/') {
        return None;
    }
    match PromptTemplate::script_text(&templates(start), text) {
        ScriptText::Command(template, _) if template.has_commands() => Some(CalledPrompt::WithCommands),
        ScriptText::Command(template, words) => Some(CalledPrompt::Filled(template.fill(words))),
        ScriptText::Text(sent) => (sent != text).then(|| CalledPrompt::Filled(sent.to_owned())),
    }
}

/// Returns the custom commands and skills that texts can call in a start.
pub fn templates(start: &Start) -> Vec<PromptTemplate> {
    let mut library = user_library(&start.places);
    // What is said of the project is said when the agent is built.
    if let Some(offer) = trusted_offer(&start.places, start.trust.as_deref(), &mut Vec::new()) {
        offer.texts.add_to(&mut library);
    }
    for offer in plugins::trusted_plugins(&start.places, &start.cwd, &mut Vec::new()) {
        adopted(&offer, &mut Roster::default(), &mut library);
    }
    library.without_commands(is_command);
    library.templates()
}

/// Adds the personas and agent files of the user, and the agents of the command line.
pub fn user_agents(start: &Start, roster: &mut Roster) {
    let places = &start.places;
    let config = places.config.as_ref().map(|config| config.join("personas"));
    let claude = places.home.as_ref().map(|home| home.join(".claude/agents"));
    for directory in config.iter().chain(&claude) {
        roster.add_directory(directory);
    }
    for text in &start.agents {
        roster.add(PersonaSource::User("--agents".to_owned()), text);
    }
}

impl ProjectTexts {
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty() && self.commands.is_empty()
    }

    pub(super) fn add_of_plugin(&self, plugin: &str, library: &mut SkillLibrary) {
        for (file, skill) in &self.skills {
            library.add_skill_of_plugin(plugin, file, skill.clone());
        }
        for (file, command) in &self.commands {
            library.add_command_of_plugin(plugin, file, command.clone(), is_command);
        }
    }

    pub(super) fn add_to(&self, library: &mut SkillLibrary) {
        for (file, skill) in &self.skills {
            library.add_skill(Owner::Project, file, skill.clone());
        }
        for (file, command) in &self.commands {
            library.add_command(Owner::Project, file, command.clone());
        }
    }
}

impl ProjectOffer {
    /// Reads the skills and custom commands of a directory.
    pub(super) fn read_texts(&mut self, at: &Path) {
        for directory in SKILLS.map(|name| at.join(name)) {
            for FoundFile { relative, real } in self.found(&directory, FileChoice::Skills) {
                let Some(text) = self.take_within(&real, limits::SKILL_FILE_BYTES) else { continue };
                let Some(folder) = folder_of(&directory, &relative) else { continue };
                let skill = Skill::parse(&text, &folder, Owner::Project.name());
                let files = real.parent().map_or_else(|| Ok(Vec::new()), Script::read_checkout);
                match (skill, files) {
                    (Ok(skill), Ok(mut files)) => {
                        files.retain(|file| file.path != real);
                        for file in &files {
                            self.hash_file(file);
                        }
                        note_unused(&text, &skill.name, &mut self.unused);
                        self.texts.skill_files.insert(self.relative(&real), files);
                        self.texts.skills.push((self.relative(&real), skill));
                    }
                    (Err(fault), _) => self.note_error(&real, &format!("is left out: {fault}")),
                    (_, Err(why)) => {
                        self.note_error(&real, &format!("is left out: its directory cannot be compared: {why}"));
                    }
                }
            }
        }
        for directory in COMMANDS.map(|name| at.join(name)) {
            let found = self.found(&directory, FileChoice::Markdown);
            let paths: Vec<_> = found.iter().map(|file| file.relative.clone()).collect();
            for (FoundFile { relative, real }, name) in found.iter().zip(command_names(&paths, is_command)) {
                let Some(text) = self.take_within(real, limits::COMMAND_FILE_BYTES) else { continue };
                let name = name.ok_or_else(|| "its name cannot be typed".to_owned());
                match name.and_then(|name| command(&text, &name, &source_of(Owner::Project, relative))) {
                    Ok(command) => {
                        note_unused(&text, &command.name, &mut self.unused);
                        self.texts.commands.push((self.relative(real), command));
                    }
                    Err(fault) => self.note_error(real, &format!("is left out: {fault}")),
                }
            }
        }
        let directory = at.join(STYLES);
        if let Some(why) = self.root.canonicalize().ok().and_then(|root| styles(&directory, Some(&root))) {
            self.note_error(&directory, &why);
        }
    }

    /// Says once what of the heads of skills and commands counts for nothing.
    pub(super) fn say_unused(&mut self) {
        self.faults.extend(std::mem::take(&mut self.unused).sentence(NOT_USED));
    }

    /// Reads the agent files of a directory.
    pub(super) fn read_agents(&mut self, at: &Path) {
        let directory = at.join(AGENTS);
        let mut headless = Headless::default();
        for FoundFile { relative, real } in self.found(&directory, FileChoice::Markdown) {
            let Some(text) = self.take_within(&real, limits::COMMAND_FILE_BYTES) else { continue };
            if headless.takes(&text, &relative) {
                continue;
            }
            match Persona::parse(&text) {
                Ok(persona) => self.personas.push(ProjectPersona { file: self.relative(&real), text, persona }),
                Err(error) => self.note_error(&real, &format!("is left out: {error}")),
            }
        }
        if let Some(sentence) = headless.sentence() {
            self.note_error(&directory, &sentence);
        }
    }

    fn found(&mut self, directory: &Path, wanted: FileChoice) -> Vec<FoundFile> {
        if directory.symlink_metadata().is_err() {
            return Vec::new();
        }
        let Ok(root) = self.root.canonicalize() else { return Vec::new() };
        let found = find(directory, Some(&root), wanted);
        for fault in &found.faults {
            self.note_error(directory, &visible_line(fault));
        }
        found.files
    }
}
