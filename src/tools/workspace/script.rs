//! The files that are trusted with what names them: scripts, and whole directories, each file as it was read.
//!
//! A script is a regular file that can be run: by its mode, its first line or its ending. Reads files: not to be called under
//! a lock.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use steersman_base::limits;
use steersman_base::regular_file::{self, Links};
use steersman_base::summary::bytes;
use steersman_base::text::hex;

/// Endings of files that an interpreter runs.
const ENDINGS: [&str; 15] =
    ["sh", "bash", "zsh", "fish", "py", "js", "mjs", "cjs", "ts", "mts", "rb", "pl", "php", "lua", "awk"];

/// A file that is trusted with what names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Where it lies.
    pub path: PathBuf,
    /// What it was when it was read.
    pub content: Vec<u8>,
    /// Its mode.
    pub mode: u32,
}

impl Script {
    /// Reads a script; `None` for what is none.
    ///
    /// # Errors
    /// Why it cannot be compared: it is too large.
    pub fn load(path: &Path) -> Result<Option<Self>, String> {
        let Ok((file, metadata)) = regular_file::open(path, Links::Followed) else { return Ok(None) };
        let mode = metadata.permissions().mode();
        let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        let content = match regular_file::read_whole(file, metadata.len(), limits::HOOK_SCRIPT_BYTES) {
            Ok(content) => content,
            Err(error) if mode & 0o111 != 0 || ENDINGS.contains(&ending) => {
                let most = bytes(limits::HOOK_SCRIPT_BYTES);
                let path = path.display();
                let why = if error.kind() == io::ErrorKind::FileTooLarge {
                    format!("it is larger than {most}")
                } else {
                    error.to_string()
                };
                return Err(format!("its script {path} cannot be compared: {why}"));
            }
            Err(_) => return Ok(None),
        };
        let script = Self { path: path.to_owned(), content, mode };
        Ok(script.can_be_run().then_some(script))
    }

    /// Reads every file of a directory and of those below it, in the order of their paths, but for what lies in the `.git` of
    /// the directory itself: the history of a checkout is larger than it, and changes although nothing of it does. Of a link
    /// its target is read, not what is there.
    ///
    /// # Errors
    /// Why the directory cannot be compared.
    pub fn read_checkout(directory: &Path) -> Result<Vec<Self>, String> {
        let git = directory.join(".git");
        Self::read_within(directory, limits::PINNED_BYTES, |path| path != git)
    }

    /// As [`Self::read_checkout`], of a directory with at most so many bytes, and of what below it is wanted.
    fn read_within(directory: &Path, mut room: u64, is_wanted: impl Fn(&Path) -> bool) -> Result<Vec<Self>, String> {
        let (mut files, mut looked_at) = (Vec::new(), 0);
        let mut directories = vec![directory.to_owned()];
        while let Some(directory) = directories.pop() {
            let entries = directory.read_dir().map_err(|error| error.to_string())?;
            for entry in entries {
                let path = entry.map_err(|error| error.to_string())?.path();
                if !is_wanted(&path) {
                    continue;
                }
                let metadata = path.symlink_metadata().map_err(|error| error.to_string())?;
                if metadata.is_dir() {
                    directories.push(path);
                } else if metadata.is_file() || metadata.is_symlink() {
                    let content = content(&path, metadata.is_symlink(), room).map_err(|error| error.to_string())?;
                    room = room.saturating_sub(content.len() as u64);
                    files.push(Self { path, content, mode: metadata.permissions().mode() });
                }
                // What is no file counts too: a pipe for example.
                looked_at += 1;
                if files.len() > limits::PINNED_FILES || looked_at > limits::PINNED_NAMES {
                    return Err(format!("it holds more than {} files", limits::PINNED_FILES));
                }
            }
        }
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(files)
    }

    /// Returns whether it can be run.
    pub fn can_be_run(&self) -> bool {
        let ending = self.path.extension().and_then(OsStr::to_str).unwrap_or_default();
        !self.is_link() && (self.mode & 0o111 != 0 || self.content.starts_with(b"#!") || ENDINGS.contains(&ending))
    }

    /// Returns whether it is a link, and its content the path that it leads to.
    pub fn is_link(&self) -> bool {
        self.mode & 0o170_000 == 0o120_000
    }

    /// Returns its text for a question; of what cannot be shown its hash, by which a change is seen.
    pub fn shown(&self) -> Cow<'_, str> {
        match std::str::from_utf8(&self.content) {
            Ok(content) if content.len() as u64 <= limits::PROJECT_FILE_BYTES => content.into(),
            Ok(_) | Err(_) => format!("# (a program, or too long to be shown; SHA-256 {})", self.hash()).into(),
        }
    }

    /// Returns its place with what tells it from another content.
    pub fn pin(&self) -> (PathBuf, String) {
        let kind = if self.is_link() { "link " } else { "" };
        (self.path.clone(), format!("{kind}{}", self.hash()))
    }

    /// Returns the SHA-256 of its content.
    pub fn hash(&self) -> String {
        hex(&Sha256::digest(&self.content))
    }
}

/// What a command line names of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedFiles {
    /// The scripts, and all files of the directories that are programs or hold what is run.
    pub files: Vec<Script>,
    /// The directories among the words that are programs.
    pub programs: Vec<PathBuf>,
    /// The directories that are not compared, each with the reason.
    pub uncompared: Vec<(PathBuf, String)>,
}

impl NamedFiles {
    /// Reads what the words of a command line name below `root`, which is run in `directory`. A directory that is too large is
    /// not compared; nothing else is left out.
    ///
    /// # Errors
    /// Why a script cannot be compared.
    pub fn find<'a>(words: impl IntoIterator<Item = &'a str>, directory: &Path, root: &Path) -> Result<Self, String> {
        let mut named = Self::default();
        named.add_directory(directory, root);
        let paths = words.into_iter().flat_map(parts).map(|part| directory.join(part));
        let mut scripts = 0;
        for path in paths.filter(|path| path.starts_with(root)) {
            if named.names(&path) {
                continue;
            }
            if path.is_dir() {
                if PROGRAM_FILES.iter().any(|name| path.join(name).exists()) {
                    named.add_directory(&path, root);
                    named.programs.push(path);
                }
            } else if let Some(script) = Script::load(&path)? {
                scripts += 1;
                named.files.push(script);
            }
            if scripts > limits::HOOK_SCRIPTS || named.programs.len() > limits::HOOK_SCRIPTS {
                return Err(format!("it names more than {} scripts", limits::HOOK_SCRIPTS));
            }
            if named.bytes() > limits::PINNED_BYTES {
                return Err(format!("its scripts are larger than {}", bytes(limits::PINNED_BYTES)));
            }
        }
        named.files.sort_by(|one, other| one.path.cmp(&other.path));
        named.files.dedup_by(|one, other| one.path == other.path);
        named.uncompared.dedup();
        Ok(named)
    }

    /// Returns whether a path is one of the scripts, or of the directories that are programs.
    pub fn names(&self, path: &Path) -> bool {
        self.programs.iter().any(|program| program == path) || self.files.iter().any(|file| file.path == path)
    }

    /// Returns whether all files of a directory below the root are compared.
    pub fn compares(&self, directory: &Path, root: &Path) -> bool {
        is_below(directory, root) && self.uncompared.iter().all(|(uncompared, _)| uncompared != directory)
    }

    /// Adds a directory that is below the root, and not the root itself: what changes there all the time is nobody's program.
    fn add_directory(&mut self, directory: &Path, root: &Path) {
        if !is_below(directory, root) {
            return;
        }
        match Script::read_within(directory, limits::PINNED_BYTES.saturating_sub(self.bytes()), |_| true) {
            Ok(files) => self.files.extend(files),
            Err(why) => self.uncompared.push((directory.to_owned(), why)),
        }
    }

    /// Returns how many bytes all files have.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.content.len() as u64).sum()
    }

    /// Returns the first directory that is not compared and is none of these, with the reason.
    pub fn newly_uncompared(&self, known: &[PathBuf]) -> Option<&(PathBuf, String)> {
        self.uncompared.iter().find(|(directory, _)| !known.contains(directory))
    }

    /// Returns each file with what tells it from another content.
    pub fn pins(&self) -> BTreeMap<PathBuf, String> {
        self.files.iter().map(Script::pin).collect()
    }
}

/// Returns whether a directory is really below the root, and not the root itself.
fn is_below(directory: &Path, root: &Path) -> bool {
    let (Ok(real), Ok(root)) = (directory.canonicalize(), root.canonicalize()) else { return false };
    real != root && real.starts_with(&root)
}

/// Files by which an interpreter runs a directory, or a tool the package in it.
const PROGRAM_FILES: [&str; 12] = [
    "__main__.py",
    "Cargo.toml",
    "deno.json",
    "go.mod",
    "index.cjs",
    "index.js",
    "index.mjs",
    "index.ts",
    "main.go",
    "package.json",
    "pyproject.toml",
    "setup.py",
];

/// Splits a word of a command line into the parts that may be paths.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    word.split(is_between).filter(|part| !part.is_empty())
}

fn is_between(c: char) -> bool {
    c.is_whitespace() || "=;&|()\"'".contains(c)
}

/// Replaces the parts of a word that have another place now.
pub fn replace_parts(word: &str, place: impl Fn(&str) -> Option<String>) -> String {
    let pieces = word.split_inclusive(is_between).map(|piece| {
        let part = piece.trim_end_matches(is_between);
        let end = piece.get(part.len()..).unwrap_or_default();
        place(part).filter(|_| !part.is_empty()).map_or_else(|| piece.to_owned(), |place| place + end)
    });
    pieces.collect()
}

fn content(path: &Path, is_link: bool, room: u64) -> io::Result<Vec<u8>> {
    if is_link {
        return Ok(path.read_link()?.into_os_string().into_encoded_bytes());
    }
    let (file, metadata) = regular_file::open(path, Links::Refused)?;
    regular_file::read_whole(file, metadata.len(), room)
}
