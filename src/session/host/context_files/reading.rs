//! Reads context files with their imports, within what all of them may take.
//!
//! Always holds: a file is read once, and of a project only what lies in it, through open directories, so that no link that is
//! put there meanwhile leads out.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use super::imports::{Import, imports};
use super::{ContextFile, ContextFiles, ContextPlaces, shown};
use steersman_base::front_matter::{Document, FileChoice, find};
use steersman_base::limits;
use steersman_base::regular_file::{Head, head, read_head};
use steersman_base::text::utf16_text;
use steersman_tools::workspace::Workspace;

/// The files of codex and others; of a directory the first that is there counts.
pub(super) const AGENTS: [&str; 2] = ["AGENTS.override.md", "AGENTS.md"];
/// The files of Claude Code before its rules, and behind them.
const CLAUDE: [&str; 2] = ["CLAUDE.md", ".claude/CLAUDE.md"];
const LOCAL: &str = "CLAUDE.local.md";
pub(super) const RULES: &str = ".claude/rules";
/// Hidden directories from which a project's file may import.
const OPEN_DIRECTORIES: [&str; 6] = [".claude", ".agents", ".steersman", ".github", ".cursor", ".codex"];

/// Whose files are read, and where they may lie.
pub(super) struct Origin {
    root: PathBuf,
    /// The opened project; `None` for the user's own files.
    project: Option<Workspace>,
    places: ContextPlaces,
}

impl Origin {
    /// Makes the origin of the user's own files, which may be links.
    pub(super) fn of_user(places: &ContextPlaces) -> Self {
        Self { root: places.home.clone().unwrap_or_default(), project: None, places: places.clone() }
    }

    /// Makes the origin of a project's files; `None` when the project cannot be opened.
    pub(super) fn of_project(root: &Path, places: &ContextPlaces) -> Option<Self> {
        let project = Workspace::new(root).ok()?;
        Some(Self { root: root.to_path_buf(), project: Some(project), places: places.clone() })
    }

    /// Returns the project's root, or the home directory.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the real path of a named file, or why it is not read; `None` when it is not there.
    fn real(&self, path: &Path) -> Option<Result<PathBuf, &'static str>> {
        path.symlink_metadata().ok()?;
        // A link within the project is followed, as CLAUDE.md often is one to AGENTS.md.
        Some(match path.canonicalize() {
            Err(_) => Err("a link that leads nowhere"),
            Ok(real) if self.project.is_none() || real.starts_with(&self.root) => Ok(real),
            Ok(_) => Err("a link that leads out of the project"),
        })
    }

    fn read_head(&self, real: &Path, most: u64) -> io::Result<Head> {
        match &self.project {
            Some(project) if real.starts_with(&self.root) => {
                project.open(real).and_then(|(file, metadata)| head(file, metadata.len(), most))
            }
            Some(_) | None => read_head(real, most),
        }
    }

    fn shown(&self, path: &Path) -> String {
        let root = self.project.is_some().then_some(self.root.as_path());
        shown(path, root, self.places.home.as_deref())
    }

    /// Decides about an import: the real path to read, or why it is not read; `None` for what is no file, which is text.
    fn import(&self, from: &Path, import: &Import) -> Option<Result<PathBuf, &'static str>> {
        let home = self.places.home.as_deref();
        let path = match (import.path.strip_prefix("~/"), home) {
            (Some(below), Some(home)) => home.join(below),
            (Some(_), None) => return None,
            (None, _) => from.parent()?.join(&import.path),
        };
        let real = path.canonicalize().ok()?;
        if real.is_dir() {
            return None;
        }
        if self.project.is_none() {
            return Some(if home.is_some_and(|home| real.starts_with(home)) {
                Ok(real)
            } else {
                Err("leads out of your home directory")
            });
        }
        if let Ok(below) = real.strip_prefix(&self.root) {
            let is_hidden = |name: &str| name.starts_with('.') && !OPEN_DIRECTORIES.contains(&name);
            let is_hidden = below.components().any(|part| is_hidden(&part.as_os_str().to_string_lossy()));
            return Some(if is_hidden { Err("is hidden") } else { Ok(real) });
        }
        // What the user keeps for such programs, as people import it into a project's file; never their keys and records.
        let own = home.iter().flat_map(|home| [".claude", ".codex", ".agents"].map(|name| home.join(name)));
        let own = own.chain(self.places.user.iter().filter_map(|user| user.parent()).map(Path::to_path_buf));
        let is_text = real.extension().is_some_and(|extension| extension == "md");
        let is_own = own.filter_map(|own| own.canonicalize().ok()).any(|own| real.starts_with(own));
        Some(if is_own && is_text { Ok(real) } else { Err("leads out of the project") })
    }
}

/// Returns the paths of the context files that a directory of a project may have; they need not be there.
pub(super) fn named_in(directory: &Path, root: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = one_of(directory, &AGENTS).into_iter().collect();
    paths.extend(CLAUDE.map(|name| directory.join(name)));
    paths.extend(rules(&directory.join(RULES), Some(root)));
    paths.push(directory.join(LOCAL));
    paths
}

/// Returns the first of these files that is in a directory, or else the first that is there and none, so that it is named.
pub(super) fn one_of(directory: &Path, names: &[&str]) -> Option<PathBuf> {
    let mut paths = names.iter().map(|name| directory.join(name));
    let is_file = |path: &PathBuf| path.metadata().is_ok_and(|metadata| metadata.is_file());
    paths.clone().find(is_file).or_else(|| paths.find(|path| path.symlink_metadata().is_ok()))
}

/// Returns the files of a directory of rules; `within` is the root of the project that they belong to.
pub(super) fn rules(directory: &Path, within: Option<&Path>) -> Vec<PathBuf> {
    if !directory.is_dir() {
        return Vec::new();
    }
    find(directory, within, FileChoice::Markdown).files.into_iter().map(|file| directory.join(file.relative)).collect()
}

/// What was read so far.
#[derive(Default)]
pub(super) struct Found {
    pub(super) all: ContextFiles,
    used: u64,
}

impl Found {
    /// Goes on after files that took so many bytes.
    pub(super) fn behind(all: ContextFiles, used: u64) -> Self {
        Self { all, used }
    }

    /// Returns the bytes that all of them take.
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    /// Takes a file with what it imports; a rule only if it holds for all files.
    pub(super) fn add_file(&mut self, path: &Path, origin: &Origin) {
        match origin.real(path) {
            None => {}
            Some(Ok(real)) => self.take_real(&real, path, origin, 0, &|paths| paths.is_empty()),
            Some(Err(why)) => self.refuse(path, path, origin, why),
        }
    }

    /// Takes a rule if it holds for some files and `holds` says so of these patterns.
    pub(super) fn take_rule(&mut self, path: &Path, origin: &Origin, holds: &dyn Fn(&[String]) -> bool) {
        if let Some(Ok(real)) = origin.real(path) {
            self.take_real(&real, path, origin, 0, &|paths| !paths.is_empty() && holds(paths));
        }
    }

    /// Names a file that is there and cannot be read, once.
    fn refuse(&mut self, real: &Path, path: &Path, origin: &Origin, why: &str) {
        if self.all.seen.insert(real.to_path_buf()) {
            let why = steersman_base::text::visible_line(why);
            self.all.faults.push(format!("{}: {why}; it is not read", origin.shown(path)));
        }
    }

    fn take_real(
        &mut self,
        real: &Path,
        path: &Path,
        origin: &Origin,
        depth: usize,
        holds: &dyn Fn(&[String]) -> bool,
    ) {
        let most = limits::CONTEXT_FILES_BYTES.saturating_sub(self.used).min(limits::CONTEXT_FILE_BYTES);
        if self.all.seen.contains(real) {
            return;
        }
        let head = match origin.read_head(real, most) {
            Ok(head) if head.size == 0 => return,
            Ok(head) => head,
            Err(error) => return self.refuse(real, path, origin, &error.to_string()),
        };
        let cut_from = head.is_truncated().then_some(head.size);
        let Some(text) = decoded(&head.bytes) else { return self.refuse(real, path, origin, "it is no text") };
        let text = text.replace("\r\n", "\n");
        // What a cut left of a character is no part of the text.
        let text = if cut_from.is_some() { text.trim_end_matches('\u{FFFD}') } else { text.as_str() };
        let (text, paths) = bare(text, path);
        if !holds(&paths) {
            return;
        }
        self.all.seen.insert(real.to_path_buf());
        let shown = origin.shown(path);
        if most == 0 {
            return self.all.left_out.push(shown);
        }
        self.used += head.bytes.len() as u64;
        if depth < limits::CONTEXT_IMPORT_DEPTH {
            for import in imports(&text) {
                match origin.import(real, &import) {
                    None => {}
                    // What is imported stands before the file, which counts more.
                    Some(Ok(target)) => self.take_real(&target, &target, origin, depth + 1, &|_| true),
                    Some(Err(why)) => {
                        let named = steersman_base::text::visible_line(&import.path).into_owned();
                        self.all.faults.push(format!("{shown}: @{named} {why}; it is not read"));
                    }
                }
            }
        }
        let text = text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
        self.all.files.push(ContextFile { shown, text, cut_from });
    }
}

/// Returns the text of a file in UTF-8, or in UTF-16 with a mark at its start, without the mark; `None` for what is no text.
fn decoded(bytes: &[u8]) -> Option<Cow<'_, str>> {
    if let Some(text) = utf16_text(bytes) {
        return (!text.contains('\0')).then_some(Cow::Owned(text));
    }
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] | rest => (!rest.contains(&0)).then(|| String::from_utf8_lossy(rest)),
    }
}

/// Returns a file's text without its head, and the patterns in that which say for which files it holds.
fn bare(text: &str, path: &Path) -> (String, Vec<String>) {
    let is_rule = path.parent().is_some_and(|parent| parent.ancestors().any(|above| above.ends_with(RULES)));
    match Document::parse(text) {
        Ok(document) if is_rule => {
            let paths = document.list("paths").unwrap_or_default();
            (document.body, paths)
        }
        Ok(_) | Err(_) => (text.to_owned(), Vec::new()),
    }
}
