//! The content of a hook: its command with the scripts that it names, and the hash by which it is trusted.
//!
//! A script is a regular file of the project or of the user's home that the command names and that can be run: by its mode,
//! its first line or its ending. Files that a command writes (`>> log.txt`) are none. Reads files: not to be called under a
//! lock. What a script itself loads is not looked at: in the sandbox it can do no more than the agent's own commands.

use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::hooks::{Hook, HookWaiting};
use steersman_base::limits;
use steersman_base::text::{QuestionText, hex};
use steersman_tools::workspace::{Network, Placement, PrivateCopy, Script, SiblingFiles};

/// Programs whose first argument is a script, unless it is an option.
const INTERPRETERS: [&str; 12] =
    ["bash", "sh", "zsh", "dash", "node", "python", "python3", "ruby", "perl", "php", "pwsh", "tsx"];

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

/// Returns the scripts that a hook names, in the order of its words.
///
/// # Errors
/// Why they cannot be compared: one is too large, or there are too many.
pub fn scripts(hook: &Hook, places: &HookPlaces) -> Result<Vec<Script>, String> {
    let mut found: Vec<Script> = Vec::new();
    let words = split_words(&hook.command).into_iter().chain(hook.arguments.iter().flatten().cloned());
    for path in words.filter_map(|word| place(&word, hook, places)) {
        if found.iter().all(|script| script.path != path) {
            found.extend(Script::load(&path)?);
        }
        if found.len() > limits::HOOK_SCRIPTS {
            return Err(format!("it names more than {} scripts", limits::HOOK_SCRIPTS));
        }
    }
    Ok(found)
}

/// A hook with its scripts as the user is asked about it, and as it is trusted with a yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookPin {
    /// The hash by which it is trusted.
    pub hash: String,
    /// What is shown of it.
    pub text: QuestionText,
}

impl HookPin {
    /// Returns the pin of a hook as its files are now.
    ///
    /// # Errors
    /// As [`scripts`].
    pub fn load(hook: &Hook, places: &HookPlaces) -> Result<Self, String> {
        Ok(Self::new(hook, &scripts(hook, places)?, places))
    }

    /// Returns the pin of a hook with these scripts, as they were read.
    pub fn new(hook: &Hook, scripts: &[Script], places: &HookPlaces) -> Self {
        let mut text = QuestionText::default();
        hook.describe(&mut text, scripts);
        Self { hash: hash_of(hook, scripts, places), text }
    }
}

/// Returns the hash of a hook with these scripts: of its event, matcher, command and scripts, and whether it is waited for.
fn hash_of(hook: &Hook, scripts: &[Script], places: &HookPlaces) -> String {
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
    if let Some(condition) = &hook.condition {
        add(b"if");
        add(condition.text().as_bytes());
    }
    for Script { path, content, .. } in scripts {
        // Below the project by its place there: a copy of a project is asked about for its root, not for this.
        add(path.strip_prefix(&places.project).unwrap_or(path).as_os_str().as_encoded_bytes());
        add(content);
    }
    hex(&hasher.finalize())
}

/// Returns the script that a hook starts, by itself or with an interpreter, when it is not there.
pub(super) fn missing_script(hook: &Hook, places: &HookPlaces) -> Option<PathBuf> {
    let words = split_words(&hook.command).into_iter().chain(hook.arguments.iter().flatten().cloned());
    let mut words = words.skip_while(|word| is_assignment(word)).peekable();
    let is_interpreter = |word: &String| INTERPRETERS.contains(&word.rsplit('/').next().unwrap_or(word));
    let is_interpreted = words.next_if(is_interpreter).is_some();
    let script = words.find(|word| !is_interpreted || !matches!(word.as_str(), "-u" | "-x"))?;
    if script.starts_with('-') || !is_interpreted && !script.contains('/') {
        return None;
    }
    let path = place(&script, hook, places).or_else(|| Path::new(&script).is_absolute().then(|| script.into()))?;
    let is_plain = !path.to_string_lossy().contains(['$', '*', '?', '{', '~', '=']);
    (is_plain && !path.exists()).then_some(path)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
}

/// Splits a command into words, without quotes and operators, and without those that it writes to.
fn split_words(command: &str) -> Vec<String> {
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

/// Returns the place that a word of a hook names within the project, the home, or the plugin.
fn place(word: &str, hook: &Hook, places: &HookPlaces) -> Option<PathBuf> {
    let below = |names: &[&str], base: &Path| {
        names.iter().find_map(|name| word.strip_prefix(name)).map(|rest| base.join(rest.trim_start_matches('/')))
    };
    let (home, plugin) = (places.home.as_deref(), hook.plugin.as_deref());
    let path = below(&["${CLAUDE_PROJECT_DIR}/", "$CLAUDE_PROJECT_DIR/"], &places.project)
        .or_else(|| below(&["${STEERSMAN_PROJECT_DIR}/", "$STEERSMAN_PROJECT_DIR/"], &places.project))
        .or_else(|| plugin.and_then(|root| below(&["$CLAUDE_PLUGIN_ROOT/"], root)))
        .or_else(|| home.and_then(|home| below(&["~/", "$HOME/", "${HOME}/"], home)))
        .unwrap_or_else(|| places.cwd.join(word));
    let is_known = path.starts_with(&places.project)
        || path.starts_with(&places.cwd)
        || home.into_iter().chain(plugin).any(|root| path.starts_with(root));
    is_known.then_some(path)
}

/// Copies the scripts of a hook that lie in the project; `None` without any.
///
/// # Errors
/// That of the file system.
pub(super) fn private_copy(
    scripts: &[Script],
    places: &HookPlaces,
    beside: SiblingFiles,
) -> io::Result<Option<PrivateCopy>> {
    PrivateCopy::new(scripts, &[&places.project, &places.cwd], beside)
}

/// Returns the hook with the copies in place of the scripts that it names.
pub(super) fn with_copies(hook: &Hook, copies: &PrivateCopy, places: &HookPlaces) -> Hook {
    let copy = |word: &str| copies.copy_of(&place(word, hook, places)?).map(|copy| copy.to_string_lossy().into_owned());
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
