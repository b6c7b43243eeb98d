//! What a plugin of Claude Code brings, as an offer like that of a project: read, described, hashed and trusted the same way.
//!
//! Always holds: all of it lies below the plugin's root; the hash is of its whole tree, so that a change of any file asks again.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::ProjectOffer;
use super::offer::ProjectPersona;
use crate::program::cli::hooks::places_of;
use crate::program::cli::places::UserDirectories;
use crate::program::cli::plugins::{AddedPlugin, Manifest, Part, text_with_root, with_root};
use crate::program::config::{ForeignServers, read_project};
use steersman_agent::subagent::{Headless, Persona};
use steersman_base::front_matter::{FileChoice, FoundFile, SKILL_FILE, find};
use steersman_base::limits;
use steersman_base::text::visible_line;
use steersman_extensions::hooks::{HookFile, HookPin, HookPlaces, HookTrust, TrustedHook, read_json, read_value};
use steersman_extensions::skill::{Skill, command, command_names, note_unused};
use steersman_tools::workspace::{Placement, Script, Workspace};

/// The variable that holds the root of a plugin for what it runs.
const ROOT: &str = "CLAUDE_PLUGIN_ROOT";

impl ProjectOffer {
    /// Reads what a plugin brings to sessions in a directory.
    ///
    /// # Errors
    /// One sentence: why it cannot be used.
    pub fn read_plugin(plugin: &AddedPlugin, places: &UserDirectories, cwd: &Path) -> Result<Self, String> {
        let manifest = plugin.manifest()?;
        let failed = |error: std::io::Error| format!("{}: {error}", plugin.root.display());
        let workspace = Workspace::new(&plugin.root).map_err(failed)?;
        let root = workspace.root().to_path_buf();
        // Plugins of one list may share a root; each is trusted by itself.
        let nearest = root.join(crate::program::cli::plugins::DIRECTORY).join(&plugin.name);
        let mut offer = Self::of_workspace(workspace, nearest);
        offer.plugin = Some(plugin.name.clone());
        offer.pin_tree(&manifest)?;
        offer.read_plugin_commands(&manifest.commands);
        offer.read_plugin_skills(&manifest.skills);
        offer.read_plugin_agents(&manifest.agents);
        offer.read_plugin_hooks(&manifest.hooks, &places_of(places, cwd));
        offer.read_plugin_servers(&manifest.servers);
        offer.say_unused();
        if !manifest.left_out.is_empty() {
            offer.faults.push(format!("not used: {}", manifest.left_out.join(", ")));
        }
        let name = &plugin.name;
        offer.faults.iter_mut().for_each(|fault| *fault = format!("plugin {name}: {fault}"));
        Ok(offer)
    }

    /// Returns the name of the plugin; empty for a project.
    pub fn plugin_name(&self) -> &str {
        self.plugin.as_deref().unwrap_or_default()
    }

    /// Hashes the tree: the whole, or of a plugin that is a part of a list what is named of it.
    fn pin_tree(&mut self, manifest: &Manifest) -> Result<(), String> {
        let runs_something = !manifest.hooks.is_empty() || !manifest.servers.is_empty();
        let paths: Vec<PathBuf> = if manifest.is_whole || runs_something {
            vec![self.root.clone()]
        } else {
            let named = [&manifest.commands, &manifest.agents, &manifest.skills];
            named.into_iter().flatten().map(|path| self.root.join(path)).collect()
        };
        for path in paths {
            let files = if path.is_dir() {
                Script::read_checkout(&path)
            } else {
                Script::load(&path).map(|file| file.into_iter().collect())
            };
            let files = files.map_err(|why| format!("its tree cannot be compared: {why}"))?;
            for file in &files {
                self.hashed(format!("tree {} {:o}", self.relative(&file.path), file.mode), file.content.clone());
            }
        }
        Ok(())
    }

    /// Finds the files of a kind below the paths that the plugin names.
    fn find_in_plugin(&mut self, named: &[PathBuf], wanted: FileChoice) -> Vec<(PathBuf, FoundFile)> {
        let mut all: Vec<(PathBuf, FoundFile)> = Vec::new();
        let root = self.root.clone();
        for path in named.iter().map(|path| root.join(path)) {
            if path.is_dir() {
                let found = find(&path, Some(&self.root), wanted);
                for fault in &found.faults {
                    self.note_error(&path, &visible_line(fault));
                }
                all.extend(found.files.into_iter().map(|file| (path.clone(), file)));
                continue;
            }
            match path.canonicalize() {
                Ok(real) if real.starts_with(&self.root) => {
                    let beside = path.parent().unwrap_or(&path).to_path_buf();
                    let relative = PathBuf::from(path.file_name().unwrap_or_default());
                    all.push((beside, FoundFile { relative, real }));
                }
                Ok(_) => self.note_error(&path, "is left out: it leads out of the plugin"),
                Err(error) => self.note_error(&path, &format!("is left out: {error}")),
            }
        }
        // A list may name what lies in the usual places too.
        let mut seen = HashSet::new();
        all.retain(|(_, file)| seen.insert(file.real.clone()));
        all
    }

    fn read_plugin_commands(&mut self, named: &[PathBuf]) {
        let source = format!("plugin {}", self.plugin_name());
        let found = self.find_in_plugin(named, FileChoice::Markdown);
        let paths: Vec<PathBuf> = found.iter().map(|(_, file)| file.relative.clone()).collect();
        let root = self.root.clone();
        // A name of this program's is no reason: the name of the plugin stands before it then.
        for ((_, FoundFile { real, .. }), name) in found.iter().zip(command_names(&paths, |_| false)) {
            let Some(text) = self.read_of_plugin(real, limits::COMMAND_FILE_BYTES) else { continue };
            let name = name.ok_or_else(|| "its name cannot be typed".to_owned());
            match name.and_then(|name| command(&text_with_root(&text, &root), &name, &source)) {
                Ok(command) => {
                    note_unused(&text, &command.name, &mut self.unused);
                    self.texts.commands.push((self.relative(real), command));
                }
                Err(fault) => self.note_error(real, &format!("is left out: {fault}")),
            }
        }
    }

    fn read_plugin_skills(&mut self, named: &[PathBuf]) {
        let source = format!("plugin {}", self.plugin_name());
        // What is named may be the file of a skill.
        let named: Vec<PathBuf> =
            named
                .iter()
                .map(|path| {
                    if path.ends_with(SKILL_FILE) { path.parent().unwrap_or(path).to_path_buf() } else { path.clone() }
                })
                .collect();
        let root = self.root.clone();
        for (_, FoundFile { real, .. }) in self.find_in_plugin(&named, FileChoice::Skills) {
            let Some(text) = self.read_of_plugin(&real, limits::SKILL_FILE_BYTES) else { continue };
            let folder = real.parent().unwrap_or(&root).to_path_buf();
            let skill = Skill::parse(&text_with_root(&text, &root), &folder, &source);
            match (skill, Script::read_checkout(&folder)) {
                (Ok(skill), Ok(mut files)) => {
                    files.retain(|file| file.path != real);
                    note_unused(&text, &skill.name, &mut self.unused);
                    self.texts.skill_files.insert(self.relative(&real), files);
                    self.texts.skills.push((self.relative(&real), skill));
                }
                (Err(fault), _) | (_, Err(fault)) => self.note_error(&real, &format!("is left out: {fault}")),
            }
        }
    }

    fn read_plugin_agents(&mut self, named: &[PathBuf]) {
        let mut headless = Headless::default();
        for (_, FoundFile { relative, real }) in self.find_in_plugin(named, FileChoice::Markdown) {
            let Some(text) = self.read_of_plugin(&real, limits::COMMAND_FILE_BYTES) else { continue };
            if headless.takes(&text, &relative) {
                continue;
            }
            let text = text_with_root(&text, &self.root);
            match Persona::parse(&text) {
                Ok(persona) => self.personas.push(ProjectPersona { file: self.relative(&real), text, persona }),
                Err(error) => self.note_error(&real, &format!("is left out: {error}")),
            }
        }
        self.faults.extend(headless.sentence().map(|sentence| format!("agents: {sentence}")));
    }

    fn read_plugin_hooks(&mut self, parts: &[Part], at: &HookPlaces) {
        for part in parts {
            let (shown, mut file) = match part {
                Part::Inline(value) => {
                    let shown = format!("plugin {}", self.plugin_name());
                    let whole =
                        if value.get("hooks").is_some() { value.clone() } else { serde_json::json!({"hooks": value}) };
                    (shown.clone(), read_value(&shown, &with_root(whole, &self.root)))
                }
                Part::File(path) => {
                    let path = self.root.join(path);
                    let shown = self.relative(&path);
                    let Some(text) = self.read_of_plugin(&path, limits::HOOK_FILE_BYTES) else {
                        self.broken_hooks.extend(HookFile::unreadable(&shown, "", "it cannot be read").broken);
                        continue;
                    };
                    let file = match serde_json::from_str::<Value>(&text) {
                        Ok(value) => read_value(&shown, &with_root(value, &self.root)),
                        Err(_) => read_json(&shown, &text),
                    };
                    (shown, file)
                }
            };
            self.broken_hooks.append(&mut file.broken);
            for mut hook in std::mem::take(&mut file.hooks) {
                if hook.placement == Placement::Outside {
                    let why = "it wants to run outside of the sandbox, which only a file of your own may say";
                    file.faults.push(format!("{} ({why})", hook.event));
                    continue;
                }
                hook.plugin = Some(self.root.clone());
                match HookPin::load(&hook, at) {
                    Ok(pin) => {
                        self.hashed(format!("hook {shown} {}", hook.event), hook.whole_command().into_bytes());
                        self.hooks.push(TrustedHook { hook, trust: HookTrust::Content(pin) });
                    }
                    Err(why) => file.faults.push(format!("{} ({why})", hook.event)),
                }
            }
            self.faults.extend(file.error_line(&shown));
        }
    }

    fn read_plugin_servers(&mut self, parts: &[Part]) {
        for part in parts {
            let (path, value) = match part {
                Part::Inline(value) => (self.root.clone(), value.clone()),
                Part::File(path) => {
                    let path = self.root.join(path);
                    let Some(text) = self.read_of_plugin(&path, limits::PROJECT_FILE_BYTES) else { continue };
                    match serde_json::from_str(&text) {
                        Ok(value) => (path, value),
                        Err(error) => {
                            self.note_error(&path, &format!("it is not valid JSON: {error}; it is ignored"));
                            continue;
                        }
                    }
                }
            };
            // Plugins write the servers with or without the member around them.
            let value = with_root(value, &self.root);
            let whole =
                if value.get("mcpServers").is_some() { value } else { serde_json::json!({"mcpServers": value}) };
            match read_project(&whole.to_string()) {
                Ok(ForeignServers { servers, notes }) => {
                    for note in &notes {
                        self.note_error(&path, note);
                    }
                    for (name, server) in servers {
                        self.servers.entry(name).or_insert(server);
                    }
                }
                Err(error) => self.note_error(&path, &format!("{error}; it is ignored")),
            }
        }
        self.check_servers();
        let root = self.root.to_string_lossy().into_owned();
        for server in self.servers.values_mut().filter(|server| server.command.is_some()) {
            server.env.get_or_insert_default().insert(ROOT.to_owned(), root.clone());
        }
    }

    /// Reads a file of the plugin, which the tree's hash covers.
    fn read_of_plugin(&mut self, path: &Path, most: u64) -> Option<String> {
        let bytes = self.bytes_of(path, most)?;
        self.text(path, bytes)
    }
}
