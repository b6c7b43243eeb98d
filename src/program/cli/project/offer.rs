//! The files of a project for this program, those in `.steersman` and its `.mcp.json`, and its skills, commands and agents
//! (`texts.rs`): read once, described for the question, hashed for the record.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::program::cli::project::permissions::ProjectPermissions;
use crate::program::cli::project::shown;
use crate::program::cli::project::texts::ProjectTexts;
use crate::program::config::{ForeignServers, ProjectLayer, ServerSection, read_project};
use steersman_agent::subagent::Persona;
use steersman_base::front_matter::UnusedMembers;
use steersman_base::limits;
use steersman_base::regular_file::{self, Head, head};
use steersman_base::text::hex;
use steersman_extensions::hooks::{BrokenGuard, TrustedHook};
use steersman_extensions::mcp::definition::PinnedFiles;
use steersman_extensions::mcp::names::server_name_error;
use steersman_tools::workspace::{NamedFiles, Script, Workspace};

/// The directory of a project's files for this program.
pub(super) const DIRECTORY: &str = ".steersman";
/// The file with a project's MCP servers.
const SERVERS: &str = ".mcp.json";

/// A persona of a project.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectPersona {
    /// The file, relative to the root.
    pub file: String,
    pub text: String,
    pub persona: Persona,
}

/// The files of a project for this program.
#[derive(Debug, Clone, Default)]
pub struct ProjectOffer {
    pub root: PathBuf,
    /// The directory nearest to the working directory in which there are files of it: a yes is remembered for that one.
    pub nearest: PathBuf,
    /// The settings of its configuration.
    pub layer: Option<ProjectLayer>,
    /// The system prompt that the configuration names.
    pub system_prompt: Option<String>,
    pub servers: BTreeMap<String, ServerSection>,
    /// What of the project each server names, as it was read.
    pub server_files: BTreeMap<String, NamedFiles>,
    pub personas: Vec<ProjectPersona>,
    /// Its skills and custom commands.
    pub texts: ProjectTexts,
    /// What its settings for Claude Code allow.
    pub permissions: Vec<ProjectPermissions>,
    pub hooks: Vec<TrustedHook>,
    /// Its hooks before calls that cannot be read.
    pub broken_hooks: Vec<BrokenGuard>,
    /// The name of the plugin that it is; none of a project.
    pub plugin: Option<String>,
    /// The faults of its files, one sentence each.
    pub faults: Vec<String>,
    /// What of the heads of its skills and commands counts for nothing.
    pub(super) unused: UnusedMembers,
    /// The opened root, from which files are read without following links.
    workspace: Option<Workspace>,
    /// Every file that was read, with its bytes.
    files: Vec<(String, Vec<u8>)>,
}

impl ProjectOffer {
    /// Reads the files of a project, with the skills, commands and agents of directories `below` its root, the nearest to the
    /// working directory first; `None` when there are none.
    pub fn load(root: &Path, below: &[PathBuf]) -> Option<Self> {
        let workspace = Workspace::new(root).ok()?;
        let root = root.to_path_buf();
        let mut offer = Self { root: root.clone(), ..Self::of_workspace(workspace, root.clone()) };
        offer.read_servers();
        // Of two with the same name the first counts.
        for directory in below {
            offer.read_at(directory, Self::read_texts);
        }
        offer.read_texts(&root);
        offer.read_agents(&root);
        offer.read_hooks();
        offer.read_permissions(&root);
        if is_directory(&root.join(DIRECTORY)) {
            offer.read_config(&root.join(DIRECTORY));
        }
        offer.check_servers();
        offer.read_personas(&root);
        // Of two with the same name the last counts.
        for directory in below.iter().rev() {
            offer.read_at(directory, Self::read_agents);
            offer.read_at(directory, Self::read_personas);
            offer.read_at(directory, Self::read_permissions);
        }
        offer.say_unused();
        (!offer.files.is_empty() || !offer.faults.is_empty()).then_some(offer)
    }

    /// Reads something of a directory below the root.
    fn read_at(&mut self, directory: &Path, read: fn(&mut Self, &Path)) {
        let before = self.files.len();
        read(self, directory);
        if self.files.len() > before && directory.starts_with(&self.nearest) {
            self.nearest = directory.to_path_buf();
        }
    }

    /// Returns whether any of the files would take effect once they are trusted.
    pub fn acts(&self) -> bool {
        self.layer.is_some()
            || !self.personas.is_empty()
            || !self.servers.is_empty()
            || !self.texts.is_empty()
            || !self.permissions.is_empty()
            || !self.hooks.is_empty()
    }

    /// Returns the names of the files, for one line.
    pub fn names(&self) -> String {
        let parts = [
            self.layer.as_ref().map(|_| format!("{DIRECTORY}/config.toml")),
            count(self.servers.len(), "MCP server"),
            count(self.personas.len(), "persona"),
            count(self.texts.skills.len(), "skill"),
            count(self.texts.commands.len(), "command"),
            count(self.permissions.iter().map(|file| file.allow.len()).sum(), "permission"),
            count(self.permissions.iter().map(|file| file.variables.len()).sum(), "variable"),
            count(self.hooks.len(), "hook"),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Returns the hash of all files with their names.
    pub fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        for (name, bytes) in &self.files {
            for field in [name.as_bytes(), bytes] {
                hasher.update((field.len() as u64).to_le_bytes());
                hasher.update(field);
            }
        }
        hex(&hasher.finalize())
    }

    /// Returns what of the project a server runs, as it was read.
    pub fn pinned_files(&self, name: &str) -> Option<PinnedFiles> {
        let (server, named) = (self.servers.get(name)?, self.server_files.get(name)?);
        let words = server.command.iter().chain(server.args.iter().flatten()).cloned().collect();
        let directory = server_directory(server, &self.root);
        let uncompared = named.uncompared.iter().map(|(directory, _)| directory.clone()).collect();
        Some(PinnedFiles { root: self.root.clone(), directory, words, files: named.pins(), uncompared })
    }

    /// Makes one of which nothing is read yet.
    pub(super) fn of_workspace(workspace: Workspace, nearest: PathBuf) -> Self {
        Self { root: workspace.root().to_path_buf(), nearest, workspace: Some(workspace), ..Self::default() }
    }

    fn read_config(&mut self, directory: &Path) {
        let path = directory.join("config.toml");
        if path.symlink_metadata().is_err() {
            return;
        }
        let Some(text) = self.read_hashed(&path) else { return };
        let layer = match ProjectLayer::parse(&text) {
            Ok(layer) => layer,
            Err(error) => return self.note_error(&path, &format!("{error}; the file is ignored")),
        };
        if let Some(named) = &layer.system_prompt {
            let prompt = directory.join(named);
            // Paths without links: a link that leads out of the project is refused.
            let root = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
            match prompt.canonicalize() {
                Ok(real) if real.starts_with(&root) => match self.read_hashed(&real) {
                    Some(text) => self.system_prompt = Some(text),
                    None => return,
                },
                Ok(_) => return self.note_error(&path, "system_prompt leads out of the project; the file is ignored"),
                Err(error) => {
                    let sentence =
                        format!("system_prompt {} cannot be read: {error}; the file is ignored", shown(named));
                    return self.note_error(&path, &sentence);
                }
            }
        }
        for (name, server) in &layer.servers {
            if let Some(fault) = server_name_error(name) {
                self.note_error(&path, &format!("the server {} is left out: {fault}", shown(Path::new(name))));
                continue;
            }
            let earlier = self.servers.insert(name.clone(), server.clone());
            if earlier.is_some_and(|earlier| earlier != *server) {
                let sentence =
                    format!("the server {name} is left out: {DIRECTORY}/config.toml has another one of this name");
                self.note_error(&self.root.join(SERVERS), &sentence);
            }
        }
        self.layer = Some(layer);
    }

    /// Leaves out servers that want what only the user's own configuration gives, and reads the scripts of the others.
    pub(super) fn check_servers(&mut self) {
        let mut faults = Vec::new();
        self.servers.retain(|name, server| {
            let key = server.own_key();
            let why = |key| format!("the server {name} is left out: {key} is for your own configuration only");
            faults.extend(key.map(why));
            key.is_none()
        });
        for fault in faults {
            self.note_error(&self.root.join(DIRECTORY).join("config.toml"), &fault);
        }
        let mut room = limits::PINNED_BYTES_OF_SERVERS;
        for (name, server) in self.servers.clone() {
            let named = server_files(&server, &self.root).and_then(|named| {
                room = room.checked_sub(named.bytes()).ok_or("the files of all servers together are too large")?;
                Ok(named)
            });
            match named {
                Ok(named) => {
                    for file in &named.files {
                        self.hash_file(file);
                    }
                    // What becomes too large later is asked about again.
                    for (directory, _) in &named.uncompared {
                        self.hashed(format!("not compared {}", self.relative(directory)), Vec::new());
                    }
                    self.server_files.insert(name, named);
                }
                Err(why) => {
                    self.servers.remove(&name);
                    self.note_error(&self.root.join(SERVERS), &format!("the server {name} is left out: {why}"));
                }
            }
        }
    }

    fn read_servers(&mut self) {
        let path = self.root.join(SERVERS);
        if path.symlink_metadata().is_err() {
            return;
        }
        let Some(text) = self.read_hashed(&path) else { return };
        match read_project(&text) {
            Ok(ForeignServers { servers, notes }) => {
                self.servers = servers;
                for note in &notes {
                    self.note_error(&path, note);
                }
            }
            Err(error) => self.note_error(&path, &format!("{error}; it is ignored")),
        }
    }

    fn read_personas(&mut self, at: &Path) {
        let directory = at.join(DIRECTORY);
        if !is_directory(&directory) {
            return;
        }
        let markdown = |path: &Path| path.extension().is_some_and(|extension| extension == "md");
        for path in self.list(&directory.join("personas"), markdown) {
            let Some(text) = self.read_hashed(&path) else { continue };
            match Persona::parse(&text) {
                Ok(persona) => {
                    let file = self.relative(&path);
                    self.personas.push(ProjectPersona { file, text, persona });
                }
                Err(error) => self.note_error(&path, &format!("is left out: {error}")),
            }
        }
    }

    /// Lists the files of a directory by name, up to the limit; links are not followed.
    fn list(&mut self, directory: &Path, wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
        if !is_directory(directory) {
            return Vec::new();
        }
        let Ok(entries) = directory.read_dir() else { return Vec::new() };
        let mut paths: Vec<PathBuf> = entries
            .flatten()
            .take(limits::PROJECT_NAMES)
            .map(|entry| entry.path())
            .filter(|path| wanted(path))
            .collect();
        paths.sort();
        if paths.len() > limits::PROJECT_FILES {
            self.note_error(
                directory,
                &format!("holds more than {} files; the others are ignored", limits::PROJECT_FILES),
            );
            paths.truncate(limits::PROJECT_FILES);
        }
        paths
    }

    /// Reads the beginning of a file below the root.
    pub(super) fn read_file(&self, path: &Path, most: u64) -> io::Result<Head> {
        let workspace = self.workspace.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let real = path.strip_prefix(&self.root).map_or_else(|_| path.to_owned(), |below| workspace.root().join(below));
        let (file, metadata) = workspace.open(&real)?;
        head(file, metadata.len(), most)
    }

    /// Reads a file, adds it to the hashed files and returns its text; a fault is noted.
    fn read_hashed(&mut self, path: &Path) -> Option<String> {
        self.take_within(path, limits::PROJECT_FILE_BYTES)
    }

    /// Reads a file, as [`Self::take`]; a larger one than `most` bytes is ignored.
    pub(super) fn take_within(&mut self, path: &Path, most: u64) -> Option<String> {
        let bytes = self.bytes_of(path, most)?;
        self.files.push((self.relative(path), bytes.clone()));
        self.text(path, bytes)
    }

    /// Reads a file of which only a part is hashed; a fault is noted.
    pub(super) fn text_of(&mut self, path: &Path) -> Option<String> {
        let bytes = self.bytes_of(path, limits::PROJECT_FILE_BYTES)?;
        self.text(path, bytes)
    }

    /// Adds a file that belongs to something else to what is hashed.
    pub(super) fn hash_file(&mut self, file: &Script) {
        let kind = if file.is_link() { "link" } else { "script" };
        self.hashed(format!("{kind} {}", self.relative(&file.path)), file.content.clone());
    }

    /// Adds something that was read to what is hashed.
    pub(super) fn hashed(&mut self, name: String, bytes: Vec<u8>) {
        self.files.push((name, bytes));
    }

    pub(super) fn text(&mut self, path: &Path, bytes: Vec<u8>) -> Option<String> {
        let text = regular_file::text_of(bytes).ok();
        if text.is_none() {
            self.note_error(path, "is not UTF-8; it is ignored");
        }
        text
    }

    pub(super) fn bytes_of(&mut self, path: &Path, most: u64) -> Option<Vec<u8>> {
        let head = match self.read_file(path, most) {
            Ok(head) if head.is_truncated() => {
                self.note_error(path, &format!("is larger than {most} bytes; it is ignored"));
                return None;
            }
            Ok(head) => head,
            Err(error) => {
                self.note_error(path, &format!("is ignored: {error}"));
                return None;
            }
        };
        Some(head.bytes)
    }

    pub(super) fn note_error(&mut self, path: &Path, sentence: &str) {
        let sentence = format!("{}: {}", self.relative(path), steersman_base::text::visible_line(sentence));
        self.faults.push(sentence);
    }

    pub(super) fn relative(&self, path: &Path) -> String {
        shown(path.strip_prefix(&self.root).unwrap_or(path))
    }
}

/// Tells whether this is a directory, and no link to one.
fn is_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
}

/// Reads what of the project the command line of a server names.
///
/// # Errors
/// Why one of the files cannot be compared.
fn server_files(server: &ServerSection, root: &Path) -> Result<NamedFiles, String> {
    let words = server.command.iter().chain(server.args.iter().flatten()).map(String::as_str);
    NamedFiles::find(words, &server_directory(server, root), root)
}

/// Returns the directory that the command line of a server is meant for.
fn server_directory(server: &ServerSection, root: &Path) -> PathBuf {
    server.cwd.as_ref().map_or_else(|| root.to_owned(), |cwd| root.join(cwd))
}

fn count(number: usize, what: &str) -> Option<String> {
    match number {
        0 => None,
        1 => Some(format!("1 {what}")),
        more => Some(format!("{more} {what}s")),
    }
}
