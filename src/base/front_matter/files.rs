//! Finds the skill, command and agent files below a directory.
//!
//! Bounded in depth, names and files, in order of their paths. Always holds: of a project nothing is found that a link leads
//! out of it, and no directory is looked at twice.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::limits;

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChoice {
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
    /// Directories that lie too deep.
    too_deep: Vec<String>,
    seen: HashSet<PathBuf>,
    names: usize,
}

/// Finds the files below a directory. Links are followed; where `within` is given (without links itself), only to what lies
/// in it.
pub fn find(directory: &Path, within: Option<&Path>, wanted: FileChoice) -> FoundFiles {
    let mut found = FoundFiles::default();
    let search = Search { top: directory, within, wanted };
    if let Some(real) = search.real(directory, &mut found) {
        search.directory(Path::new(""), &real, 0, &mut found);
    }
    if !found.too_deep.is_empty() {
        let most = limits::SKILL_DEPTH;
        let sentence = format!("not looked at, more than {most} directories deep: {}", found.too_deep.join(", "));
        found.faults.push(sentence);
    }
    found
}

impl FoundFiles {
    fn say_once(&mut self, sentence: String) {
        if !self.faults.contains(&sentence) {
            self.faults.push(sentence);
        }
    }
}

struct Search<'a> {
    top: &'a Path,
    within: Option<&'a Path>,
    wanted: FileChoice,
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
        let entries = match real.read_dir() {
            Ok(entries) => entries,
            // What is no directory holds nothing.
            Err(error) if error.kind() == ErrorKind::NotADirectory => return,
            Err(error) => {
                return found.faults.push(format!("{} cannot be read: {error}", self.shown(&self.top.join(relative))));
            }
        };
        let room = limits::SKILL_NAMES.saturating_sub(found.names);
        let mut names: Vec<_> = entries.flatten().take(room + 1).map(|entry| entry.file_name()).collect();
        if names.len() > room {
            names.truncate(room);
            found.say_once(format!("more than {} names; the others are not looked at", limits::SKILL_NAMES));
        }
        found.names += names.len();
        names.sort();
        if self.wanted == FileChoice::Skills && names.iter().any(|name| name == SKILL_FILE) {
            names = vec![SKILL_FILE.into()];
        }
        let (mut files, mut directories) = (Vec::new(), Vec::new());
        for name in names {
            let path = self.top.join(relative).join(&name);
            if self.wanted == FileChoice::Skills && name != SKILL_FILE && name.eq_ignore_ascii_case(SKILL_FILE) {
                found.faults.push(format!("{} is not read: it must be called {SKILL_FILE}", self.shown(&path)));
                continue;
            }
            // What is no regular file is refused when it is opened.
            if self.is_wanted(&name) {
                files.push(path);
                continue;
            }
            let is_passed_over = name == "node_modules" || name.to_string_lossy().starts_with('.');
            let is_directory = path.metadata().is_ok_and(|metadata| metadata.is_dir());
            if !is_directory || is_passed_over {
                continue;
            }
            if depth < limits::SKILL_DEPTH {
                directories.push(path);
            } else {
                found.too_deep.push(self.shown(&path));
            }
        }
        for path in files {
            if found.files.len() >= limits::SKILL_FILES {
                return found.say_once(format!("more than {} files; the others are ignored", limits::SKILL_FILES));
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
            FileChoice::Skills => name == SKILL_FILE,
            FileChoice::Markdown => Path::new(name).extension().is_some_and(|extension| extension == "md"),
        }
    }
}

/// The file that makes a directory a skill.
pub const SKILL_FILE: &str = "SKILL.md";
