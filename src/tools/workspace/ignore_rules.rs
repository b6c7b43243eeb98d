//! The rules of `.ignore`, `.gitignore` and `.git/info/exclude` that hold while a walk goes through a tree.
//!
//! The walk reads them, bounded and through open directories, and asks here about each entry. A `.git` that is a
//! file is not followed: it may point anywhere. The rules held at a time are limited, because each of them costs
//! memory.

use std::io;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use steersman_base::limits;

/// The files with rules, those that come first decide.
pub(super) const FILES: [&str; 3] = [".ignore", ".gitignore", ".git/info/exclude"];

/// The rules of the directories from the outermost one to the one that is walked now.
#[derive(Debug, Default)]
pub(super) struct IgnoreRules {
    directories: Vec<Directory>,
    bytes: u64,
    rules: usize,
}

/// The rules of one directory that has any.
#[derive(Debug)]
struct Directory {
    path: PathBuf,
    /// In the order of [`FILES`].
    files: [Gitignore; FILES.len()],
    bytes: u64,
    rules: usize,
}

impl IgnoreRules {
    /// Adds the rules of a directory below all others. `read` gets a name of [`FILES`] and the most bytes it may
    /// return; `refused` gets the files that are there and whose rules cannot be used.
    pub(super) fn enter(
        &mut self,
        path: &Path,
        read: impl Fn(&str, u64) -> io::Result<Vec<u8>>,
        mut refused: impl FnMut(PathBuf),
    ) {
        let mut directory =
            Directory { path: path.to_owned(), files: std::array::from_fn(|_| Gitignore::empty()), bytes: 0, rules: 0 };
        for (name, file) in FILES.iter().zip(&mut directory.files) {
            let left = limits::IGNORE_BYTES.saturating_sub(self.bytes + directory.bytes);
            match read(name, left) {
                Ok(text) => {
                    let most = limits::IGNORE_RULES.saturating_sub(self.rules + directory.rules);
                    match parsed(path, &text, most) {
                        Some((parsed, rules)) => {
                            *file = parsed;
                            directory.bytes += text.len() as u64;
                            directory.rules += rules;
                        }
                        None => refused(path.join(name)),
                    }
                }
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
                Err(_) => refused(path.join(name)),
            }
        }
        if directory.rules > 0 {
            self.bytes += directory.bytes;
            self.rules += directory.rules;
            self.directories.push(directory);
        }
    }

    /// Removes the rules of a directory, if it has any: the walk has left it.
    pub(super) fn leave(&mut self, path: &Path) {
        if let Some(left) = self.directories.pop_if(|directory| directory.path == path) {
            self.bytes -= left.bytes;
            self.rules -= left.rules;
        }
    }

    /// Returns whether an entry is to be passed over. As in git the innermost directory decides; a rule of
    /// `.ignore` stands above all others.
    pub(super) fn ignores(&self, path: &Path, is_directory: bool) -> bool {
        for file in 0..FILES.len() {
            for directory in self.directories.iter().rev() {
                match directory.files.get(file).map_or(Match::None, |rules| rules.matched(path, is_directory)) {
                    Match::None => {}
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                }
            }
        }
        false
    }
}

/// Compiles the rules of a file and counts them; `None` when there are more than `most`, or too large ones.
fn parsed(directory: &Path, text: &[u8], most: usize) -> Option<(Gitignore, usize)> {
    let text = String::from_utf8_lossy(text);
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
    let lines = || text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    if lines().nth(most).is_some() {
        return None;
    }
    let mut builder = GitignoreBuilder::new(directory);
    let mut rules = 0;
    for line in lines() {
        rules += 1;
        // A rule that is none costs only itself, as with git.
        let _ = builder.add_line(None, line);
    }
    Some((builder.build().ok()?, rules))
}
