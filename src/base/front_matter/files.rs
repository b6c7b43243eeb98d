//! Finds the skill, command and agent files below a directory.
//!
//! Bounded in depth, names and files, in order of their paths. Always holds: of a project nothing is found that a link leads
//! out of it, and no directory is looked at twice.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::limits;

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Every `*.md`.
    Markdown,
    /// Every `SKILL.md`; nothing below a skill is another one.
    Skills,
}

/// A file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFile {
    /// Its path below the directory that was searched.
    pub relative: PathBuf,
    /// Its path without links.
    pub real: PathBuf,
}

/// The files below a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundFiles {
    /// In the order of their paths.
    pub files: Vec<FoundFile>,
    /// What is left out, and why; one sentence each, without the directory.
    pub faults: Vec<String>,
    seen: HashSet<PathBuf>,
    names: usize,
}

/// Finds the files below a directory. Links are followed; where `within` is given (without links itself), only to what lies
/// in it.
pub fn find(directory: &Path, within: Option<&Path>, wanted: Wanted) -> FoundFiles {
    let mut found = FoundFiles::default();
    let search = Search { top: directory, within, wanted };
    if let Some(real) = search.real(directory, &mut found) {
        search.directory(Path::new(""), &real, 0, &mut found);
    }
    found
}

struct Search<'a> {
    top: &'a Path,
    within: Option<&'a Path>,
    wanted: Wanted,
}

impl Search<'_> {
    fn real(&self, path: &Path, found: &mut FoundFiles) -> Option<PathBuf> {
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(error) if path.symlink_metadata().is_ok() => {
                found.faults.push(format!("{} cannot be read: {error}", self.shown(path)));
                return None;
            }
            Err(_) => return None,
        };
        if self.within.is_none_or(|within| real.starts_with(within)) {
            return Some(real);
        }
        found.faults.push(format!("{} leads out of the project; it is ignored", self.shown(path)));
        None
    }

    fn shown(&self, path: &Path) -> String {
        let relative = path.strip_prefix(self.top).ok().filter(|relative| !relative.as_os_str().is_empty());
        let name = relative.or_else(|| self.top.file_name().map(Path::new)).unwrap_or(path);
        crate::text::visible_line(&name.to_string_lossy()).into_owned()
    }

    fn directory(&self, relative: &Path, real: &Path, depth: usize, found: &mut FoundFiles) {
        if !found.seen.insert(real.to_path_buf()) {
            return;
        }
        let Ok(entries) = real.read_dir() else { return };
        let room = limits::SKILL_NAMES.saturating_sub(found.names);
        let mut names: Vec<_> = entries.flatten().take(room).map(|entry| entry.file_name()).collect();
        found.names += names.len();
        names.sort();
        if self.wanted == Wanted::Skills && names.iter().any(|name| name == SKILL_FILE) {
            names = vec![SKILL_FILE.into()];
        }
        let (mut files, mut directories) = (Vec::new(), Vec::new());
        for name in names {
            let path = self.top.join(relative).join(&name);
            // What is no regular file is refused when it is opened.
            if self.is_wanted(&name) {
                files.push(path);
                continue;
            }
            let is_passed_over = name == "node_modules" || name.to_string_lossy().starts_with('.');
            let is_directory = path.metadata().is_ok_and(|metadata| metadata.is_dir());
            if is_directory && depth < limits::SKILL_DEPTH && !is_passed_over {
                directories.push(path);
            }
        }
        for path in files {
            if found.files.len() >= limits::SKILL_FILES {
                let sentence = format!("more than {} files; the others are ignored", limits::SKILL_FILES);
                if !found.faults.contains(&sentence) {
                    found.faults.push(sentence);
                }
                return;
            }
            let Some(real) = self.real(&path, found) else { continue };
            let relative = path.strip_prefix(self.top).unwrap_or(&path).to_path_buf();
            if found.seen.insert(real.clone()) {
                found.files.push(FoundFile { relative, real });
            }
        }
        for path in directories {
            if let Some(real) = self.real(&path, found) {
                let relative = path.strip_prefix(self.top).unwrap_or(&path).to_path_buf();
                self.directory(&relative, &real, depth + 1, found);
            }
        }
    }

    fn is_wanted(&self, name: &OsStr) -> bool {
        match self.wanted {
            Wanted::Skills => name == SKILL_FILE,
            Wanted::Markdown => Path::new(name).extension().is_some_and(|extension| extension == "md"),
        }
    }
}

/// The file that makes a directory a skill.
pub const SKILL_FILE: &str = "SKILL.md";
