//! A private copy of the scripts of a hook that lie where agents can write: what was compared with what the user trusts is
//! what runs, whatever becomes of the files meanwhile.
//!
//! What lies beside a script is copied with it, so that it finds its own files; the rest of the project it finds by its
//! working directory and its variables.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::hooks::Hook;
use crate::hooks::content::{HookPlaces, Script, place};
use crate::limits;
use crate::regular_file::{self, Links};
use crate::temporary::TemporaryDirectory;

/// The private copy of a hook's scripts; gone with it.
#[derive(Debug)]
pub struct PrivateCopy {
    directory: TemporaryDirectory,
    /// Each script, with its copy.
    copies: Vec<(PathBuf, PathBuf)>,
}

impl PrivateCopy {
    /// Copies the scripts that lie in the project; `None` without any.
    ///
    /// # Errors
    /// That of the file system.
    pub fn of(scripts: &[Script], places: &HookPlaces) -> io::Result<Option<Self>> {
        let base = |script: &Script| {
            let roots = [&places.project, &places.cwd].into_iter().filter(|root| !root.as_os_str().is_empty());
            roots.filter(|root| script.path.starts_with(root)).min_by_key(|root| root.as_os_str().len()).cloned()
        };
        let of_project: Vec<(&Script, PathBuf)> =
            scripts.iter().filter_map(|script| Some((script, base(script)?))).collect();
        if of_project.is_empty() {
            return Ok(None);
        }
        let directory = TemporaryDirectory::new_in(&std::env::temp_dir(), "hook")?;
        let mut copies = Vec::new();
        for (script, root) in of_project {
            let Ok(below) = script.path.strip_prefix(&root) else { continue };
            let copy = directory.path().join("project").join(below);
            let Some((from, to)) = script.path.parent().zip(copy.parent()) else { continue };
            DirBuilder::new().recursive(true).mode(0o700).create(to)?;
            if from != root && from != places.cwd {
                copy_beside(from, to);
            }
            write(&copy, &script.content, script.mode)?;
            copies.push((script.path.clone(), copy));
        }
        Ok(Some(Self { directory, copies }))
    }

    /// Returns the directory that holds it.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the hook with the copies in place of the scripts that it names.
    #[must_use]
    pub fn hook(&self, hook: &Hook, places: &HookPlaces) -> Hook {
        let copy = |word: &str| {
            let path = place(word, places)?;
            let (_, copy) = self.copies.iter().find(|(script, _)| *script == path)?;
            Some(copy.to_string_lossy().into_owned())
        };
        let mut hook = hook.clone();
        match &mut hook.arguments {
            Some(arguments) => {
                for word in arguments.iter_mut().chain([&mut hook.command]) {
                    if let Some(copy) = copy(word) {
                        *word = copy;
                    }
                }
            }
            None => hook.command = replaced(&hook.command, copy),
        }
        hook
    }
}

/// Replaces words of a line for a shell.
fn replaced(line: &str, copy: impl Fn(&str) -> Option<String>) -> String {
    let mut text = String::new();
    let is_end = |c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | ')' | '<' | '>' | '`');
    for piece in line.split_inclusive(is_end) {
        let word = piece.trim_end_matches(is_end);
        let plain: String = word.chars().filter(|c| !matches!(c, '"' | '\'' | '\\')).collect();
        // Within longer quotes it is a part of something else.
        let is_whole = ['"', '\''].iter().all(|quote| word.matches(*quote).count() % 2 == 0);
        match copy(&plain).filter(|_| is_whole && !plain.is_empty()) {
            Some(copy) => {
                text.push_str(&shell_word(&copy));
                text.push_str(piece.get(word.len()..).unwrap_or_default());
            }
            None => text.push_str(piece),
        }
    }
    text
}

fn shell_word(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Copies the files beside a script, as far as they are few. One that cannot be copied is missed by the script alone.
fn copy_beside(from: &Path, to: &Path) {
    let Ok(entries) = from.read_dir() else { return };
    let paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).take(limits::HOOK_BESIDE + 1).collect();
    if paths.len() > limits::HOOK_BESIDE {
        return;
    }
    for path in paths {
        let Some(name) = path.file_name() else { continue };
        let Ok((file, metadata)) = regular_file::open(&path, Links::Refused) else { continue };
        if let Ok(content) = regular_file::read_whole(file, metadata.len(), limits::HOOK_SCRIPT_BYTES) {
            let _ = write(&to.join(name), &content, metadata.permissions().mode());
        }
    }
}

fn write(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    // Another script's copy may be there already.
    let _ = fs::remove_file(path);
    fs::write(path, content)?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o700 | 0o400))
}
