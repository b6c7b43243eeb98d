//! The content of a hook: its command with the scripts that it names, and the hash by which it is trusted.
//!
//! A script is a regular file of the project or of the user's home that the command names and that can be run: by its mode,
//! its first line or its ending. Files that a command writes (`>> log.txt`) are none. Reads files: not to be called under a
//! lock. What a script itself loads is not looked at: in the sandbox it can do no more than the agent's own commands.

use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::hooks::{Hook, HookWaiting};
use crate::limits;
use crate::regular_file::{self, Links};
use crate::summary::bytes;
use crate::text::hex;
use crate::workspace::{Network, Placement};

/// Endings of files that an interpreter runs.
const ENDINGS: [&str; 15] =
    ["sh", "bash", "zsh", "fish", "py", "js", "mjs", "cjs", "ts", "mts", "rb", "pl", "php", "lua", "awk"];

/// The directories that the command of a hook can name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookPlaces {
    /// Where it runs.
    pub cwd: PathBuf,
    /// The project's root.
    pub project: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
}

/// A file that is part of a hook.
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
    /// Returns its text for a question.
    pub fn shown(&self) -> &str {
        match std::str::from_utf8(&self.content) {
            Ok(content) if content.len() as u64 <= limits::PROJECT_FILE_BYTES => content,
            Ok(_) | Err(_) => "# (a program, or too long to be shown)",
        }
    }

    /// Returns its place with the SHA-256 of its content.
    pub fn pin(&self) -> (PathBuf, String) {
        (self.path.clone(), hex(&Sha256::digest(&self.content)))
    }
}

/// Returns the scripts that a hook names, in the order of its words.
///
/// # Errors
/// Why one of them cannot be compared: it is too large.
pub fn scripts(hook: &Hook, places: &HookPlaces) -> Result<Vec<Script>, String> {
    let mut found: Vec<Script> = Vec::new();
    let words = words(&hook.command).into_iter().chain(hook.arguments.iter().flatten().cloned());
    for path in words.filter_map(|word| place(&word, places)).take(limits::HOOK_SCRIPTS * 4) {
        if found.len() >= limits::HOOK_SCRIPTS || found.iter().any(|script| script.path == path) {
            continue;
        }
        found.extend(script(&path)?);
    }
    Ok(found)
}

/// Returns the hash by which a hook is trusted: of its event, matcher, command and scripts, and whether it is waited for.
///
/// # Errors
/// As [`scripts`].
pub fn content_hash(hook: &Hook, places: &HookPlaces) -> Result<String, String> {
    Ok(hash_of(hook, &scripts(hook, places)?, places))
}

/// Returns the hash of a hook with these scripts, as [`content_hash`].
pub fn hash_of(hook: &Hook, scripts: &[Script], places: &HookPlaces) -> String {
    let mut hasher = Sha256::new();
    let mut add = |field: &[u8]| {
        hasher.update((field.len() as u64).to_le_bytes());
        hasher.update(field);
    };
    for field in [hook.event.name(), hook.matcher.text(), &hook.whole_command()] {
        add(field.as_bytes());
    }
    match hook.waiting {
        HookWaiting::Waits => {}
        HookWaiting::Background => add(b"async"),
    }
    match hook.placement {
        Placement::Sandboxed => {}
        Placement::Outside => add(b"outside"),
    }
    match hook.network {
        Network::Off => {}
        Network::On => add(b"network"),
    }
    for Script { path, content, .. } in scripts {
        // Below the project by its place there: a copy of a project is asked about for its root, not for this.
        add(path.strip_prefix(&places.project).unwrap_or(path).as_os_str().as_encoded_bytes());
        add(content);
    }
    hex(&hasher.finalize())
}

/// Splits a command into words, without quotes and operators, and without those that it writes to.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut is_target = false;
    let spaced = command.replace('>', " > ");
    for word in spaced.split(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | ')' | '<' | '`')) {
        let word: String = word.chars().filter(|c| !matches!(c, '"' | '\'' | '\\')).collect();
        match word.as_str() {
            "" => {}
            ">" => is_target = true,
            _ if std::mem::take(&mut is_target) => {}
            _ => words.push(word),
        }
    }
    words
}

/// Returns the place that a word names within the project or the home.
pub(super) fn place(word: &str, places: &HookPlaces) -> Option<PathBuf> {
    let below = |names: &[&str], base: &Path| {
        names.iter().find_map(|name| word.strip_prefix(name)).map(|rest| base.join(rest.trim_start_matches('/')))
    };
    let home = places.home.as_deref();
    let path = below(&["${CLAUDE_PROJECT_DIR}/", "$CLAUDE_PROJECT_DIR/"], &places.project)
        .or_else(|| below(&["${STEERSMAN_PROJECT_DIR}/", "$STEERSMAN_PROJECT_DIR/"], &places.project))
        .or_else(|| home.and_then(|home| below(&["~/", "$HOME/", "${HOME}/"], home)))
        .unwrap_or_else(|| places.cwd.join(word));
    let is_known = path.starts_with(&places.project)
        || path.starts_with(&places.cwd)
        || home.is_some_and(|home| path.starts_with(home));
    is_known.then_some(path)
}

/// Reads a script; `None` for what is none.
///
/// # Errors
/// Why it cannot be compared: it is too large.
pub fn script(path: &Path) -> Result<Option<Script>, String> {
    let Ok((file, metadata)) = regular_file::open(path, Links::Followed) else { return Ok(None) };
    let may_run = metadata.permissions().mode() & 0o111 != 0;
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    let content = match regular_file::read_whole(file, metadata.len(), limits::HOOK_SCRIPT_BYTES) {
        Ok(content) => content,
        Err(error) if may_run || ENDINGS.contains(&ending) => {
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
    let is_script = may_run || content.starts_with(b"#!") || ENDINGS.contains(&ending);
    let mode = metadata.permissions().mode();
    Ok(is_script.then(|| Script { path: path.to_owned(), content, mode }))
}
