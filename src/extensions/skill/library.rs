//! The skills and custom commands of a session, and what replaces what.
//!
//! Filled by the program: the user's directories in order, then the files of a trusted project. Always holds: a name stands
//! for one text; of two files of the user the first counts, and a project's replaces the user's, which is said.

use std::path::{Path, PathBuf};

use crate::skill::file::{self, Skill};
use steersman_base::front_matter::{FileChoice, FoundFile, UnusedMembers, find};
use steersman_base::limits;
use steersman_base::protocol::{PromptTemplate, SOURCE_FOLDER};
use steersman_base::regular_file::read_own_text;
use steersman_base::text::visible_line;

/// Whose a skill or a command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The user's.
    User,
    /// That of a project which the user trusts.
    Project,
    /// That of a plugin which the user trusts.
    Plugin,
}

impl Owner {
    /// Returns the owner in one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Plugin => "plugin",
        }
    }
}

/// The skills and custom commands of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillLibrary {
    skills: Vec<(Owner, Skill)>,
    commands: Vec<(Owner, PromptTemplate)>,
    warnings: Vec<String>,
    /// What of the heads of the user's files counts for nothing.
    unused: UnusedMembers,
    /// The files for which there was no room.
    without_room: Vec<String>,
    bytes: usize,
}

/// How the sentence about heads begins of which a part counts for nothing.
pub const NOT_USED: &str = "skills and commands run without these settings of their files";

impl SkillLibrary {
    /// Adds every skill below a directory of the user's; a missing one adds nothing.
    pub fn add_user_skills(&mut self, directory: &Path) {
        for FoundFile { relative, real } in self.found(directory, FileChoice::Skills) {
            let shown = shown(&directory.join(&relative));
            let Some(folder) = folder_of(directory, &relative) else { continue };
            let read =
                read_own_text(&real, limits::SKILL_FILE_BYTES).map_err(|error| format!("cannot be read: {error}"));
            let skill = read.and_then(|text| {
                let skill = Skill::parse(&text, &folder, Owner::User.name())?;
                file::note_unused(&text, &skill.name, &mut self.unused);
                Ok(skill)
            });
            match skill {
                Ok(skill) => self.add_skill(Owner::User, &shown, skill),
                Err(fault) => self.leave_out(&shown, &fault),
            }
        }
    }

    /// Adds every custom command below a directory of the user's; a missing one adds nothing. `is_taken` says which names the
    /// program has commands for.
    pub fn add_user_commands(&mut self, directory: &Path, is_taken: impl Fn(&str) -> bool) {
        let found = self.found(directory, FileChoice::Markdown);
        let paths: Vec<PathBuf> = found.iter().map(|file| file.relative.clone()).collect();
        for (FoundFile { relative, real }, name) in found.iter().zip(file::command_names(&paths, is_taken)) {
            let shown = shown(&directory.join(relative));
            let source = source_of(Owner::User, relative);
            let read =
                read_own_text(real, limits::COMMAND_FILE_BYTES).map_err(|error| format!("cannot be read: {error}"));
            let name = name.ok_or_else(|| "has no name that can be typed".to_owned());
            let command = read.and_then(|text| {
                let command = file::command(&text, &name?, &source)?;
                file::note_unused(&text, &command.name, &mut self.unused);
                Ok(command)
            });
            match command {
                Ok(command) => self.add_command(Owner::User, &shown, command),
                Err(fault) => self.leave_out(&shown, &fault),
            }
        }
    }

    /// Adds a skill; `file` is shown where it is left out or replaces another.
    pub fn add_skill(&mut self, owner: Owner, file: &str, skill: Skill) {
        if !self.has_room(file, skill.text.len()) {
            return;
        }
        let known = self.skills.iter_mut().find(|(_, known)| known.name == skill.name);
        let is_same = known.as_ref().is_some_and(|(_, known)| known.text == skill.text);
        let name = format!("skill {}", skill.name);
        match known {
            None => self.skills.push((owner, skill)),
            Some(known) if known.0 == Owner::User && owner == Owner::Project => {
                *known = (owner, skill);
                self.replaced(is_same, &name, file);
            }
            Some(_) => self.second(is_same, &name, file),
        }
    }

    /// Adds a custom command, as [`Self::add_skill`].
    pub fn add_command(&mut self, owner: Owner, file: &str, command: PromptTemplate) {
        if !self.has_room(file, command.text.len()) {
            return;
        }
        let known = self.commands.iter_mut().find(|(_, known)| known.name == command.name);
        let is_same = known.as_ref().is_some_and(|(_, known)| known.text == command.text);
        let name = format!("command /{}", command.name);
        match known {
            None => self.commands.push((owner, command)),
            Some(known) if known.0 == Owner::User && owner == Owner::Project => {
                *known = (owner, command);
                self.replaced(is_same, &name, file);
            }
            Some(_) => self.second(is_same, &name, file),
        }
    }

    /// Adds a skill of a plugin, whose name stands before that of the skill where this is taken.
    pub fn add_skill_of_plugin(&mut self, plugin: &str, file: &str, mut skill: Skill) {
        let taken = self.skills.iter().find(|(_, known)| known.name == skill.name);
        if taken.is_some_and(|(_, known)| known.text != skill.text) {
            skill.name = format!("{plugin}:{}", skill.name);
        }
        self.add_skill(Owner::Plugin, file, skill);
    }

    /// Adds a custom command of a plugin, as [`Self::add_skill_of_plugin`]. `is_taken` says which names the program has commands
    /// for.
    pub fn add_command_of_plugin(
        &mut self,
        plugin: &str,
        file: &str,
        mut command: PromptTemplate,
        is_taken: impl Fn(&str) -> bool,
    ) {
        let taken = self.commands.iter().find(|(_, known)| known.name == command.name);
        if is_taken(&command.name) || taken.is_some_and(|(_, known)| known.text != command.text) {
            command.name = format!("{plugin}:{}", command.name);
        }
        self.add_command(Owner::Plugin, file, command);
    }

    /// Calls the commands for whose names the program has commands of its own by whose they are too: `/project:plan`.
    pub fn without_commands(&mut self, is_taken: impl Fn(&str) -> bool) {
        for (owner, command) in self.commands.iter_mut().filter(|(_, command)| is_taken(&command.name)) {
            let name = format!("{}:{}", owner.name(), command.name);
            self.warnings.push(format!("the {} command /{} is /{name} here", owner.name(), command.name));
            command.name = name;
        }
    }

    /// Returns the skills.
    pub fn skills(&self) -> impl Iterator<Item = &Skill> {
        self.skills.iter().map(|(_, skill)| skill)
    }

    /// Returns what commands can send: the custom commands, then the skills.
    pub fn templates(&self) -> Vec<PromptTemplate> {
        let commands = self.commands.iter().map(|(_, command)| command.clone());
        commands.chain(self.skills().filter_map(Skill::template)).collect()
    }

    /// Names the output styles of the user, which count for nothing here.
    pub fn note_styles(&mut self, directory: &Path) {
        self.warnings.extend(styles(directory, None).map(|why| format!("{}: {why}", shown(directory))));
    }

    /// Returns what was left out and what replaces another, one sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let most = limits::SKILL_ALL_BYTES >> 20;
        let without_room = (!self.without_room.is_empty()).then(|| {
            let files = self.without_room.join(", ");
            format!("left out, since skills and commands together have more than {most} MiB: {files}")
        });
        self.warnings.iter().cloned().chain(without_room).chain(self.unused.sentence(NOT_USED)).collect()
    }

    fn found(&mut self, directory: &Path, wanted: FileChoice) -> Vec<FoundFile> {
        let found = find(directory, None, wanted);
        self.warnings.extend(found.faults.iter().map(|fault| format!("{}: {fault}", shown(directory))));
        found.files
    }

    fn has_room(&mut self, file: &str, bytes: usize) -> bool {
        let has_room = self.bytes + bytes <= limits::SKILL_ALL_BYTES;
        if has_room {
            self.bytes += bytes;
        } else {
            self.without_room.push(visible_line(file).into_owned());
        }
        has_room
    }

    fn replaced(&mut self, is_same: bool, name: &str, file: &str) {
        if !is_same {
            self.warnings.push(format!("the {name} of this project ({file}) replaces yours"));
        }
    }

    /// Says that a file has the name of another one, unless both are the same.
    fn second(&mut self, is_same: bool, name: &str, file: &str) {
        if !is_same {
            self.leave_out(file, &format!("there is another {name}"));
        }
    }

    fn leave_out(&mut self, file: &str, fault: &str) {
        self.warnings.push(format!("{file} is left out: {}", visible_line(fault)));
    }
}

/// Says of a directory of output styles that they count for nothing; `None` without any.
pub fn styles(directory: &Path, within: Option<&Path>) -> Option<String> {
    let files = find(directory, within, FileChoice::Markdown).files.len();
    let them = if files == 1 { "1 output style is".to_owned() } else { format!("{files} output styles are") };
    (files > 0).then(|| format!("{them} not used; --append-system-prompt adds a text to the system prompt"))
}

/// Returns the directory of a skill, without links; the `SKILL.md` in it may itself be one.
pub fn folder_of(directory: &Path, relative: &Path) -> Option<PathBuf> {
    directory.join(relative).parent()?.canonicalize().ok()
}

/// Returns what a list shows of where a command comes from: the owner, and its folder.
pub fn source_of(owner: Owner, relative: &Path) -> String {
    let folder = relative.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.map_or_else(|| owner.name().to_owned(), |folder| format!("{}{SOURCE_FOLDER}{}", owner.name(), shown(folder)))
}

fn shown(path: &Path) -> String {
    visible_line(&path.to_string_lossy()).into_owned()
}
