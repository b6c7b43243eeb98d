//! Which hooks there are, and which of them the user trusts.
//!
//! Read are the user's own `hooks.json` beside the configuration, the files of Claude Code and codex in the home, and, with
//! the trust in a project, its files. Always holds: what was not written for this program runs only after the user saw the
//! exact commands and said yes; that yes is kept by the hash of the command and its scripts. `exec` never asks.
//!
//! # Where things are
//!
//! - the hooks of the user, the question, the record: `mod.rs`, `record.rs`; of a project: `src/program/cli/project/hooks.rs`;
//!   `steersman hooks`: `list.rs`; tests: `hooks/trust.rs`
//! - hooks that cannot be read: `broken.rs`; tests: `hooks/broken.rs`

mod broken;
mod list;
mod record;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::program::cli::places::UserDirectories;
use crate::program::cli::project::FrontEnd;
use steersman_base::event::HookEvent;
use steersman_base::limits;
use steersman_base::regular_file::read_own_text;
use steersman_base::summary::count;
use steersman_base::text::{QuestionText, visible_line};
use steersman_core::approval::{Approvals, PlainAnswer};
use steersman_extensions::hooks::{
    Hook, HookFile, HookPin, HookPlaces, HookTrust, TrustedHook, read_json, read_value, scripts,
};
use steersman_tools::workspace::diff;
use steersman_tools::workspace::programs;

pub use broken::{BrokenHooks, broken_guards, broken_of_user, with_uncompared};
pub use list::{all, ask_again, list};
pub use record::{HookDecision, HookRecord};

/// Where hooks of the user are looked for.
#[derive(Debug, Clone, Copy)]
pub struct HookSearch<'a> {
    pub places: &'a UserDirectories,
    /// The directory that tools work in.
    pub cwd: &'a Path,
    /// The directories in which commands of the agent can write.
    pub writable: &'a [PathBuf],
}

/// A hook of the user with what decides whether it runs.
#[derive(Debug, Clone)]
pub struct UserHook {
    pub hook: Hook,
    pub state: UserHookState,
}

/// How a hook of the user stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserHookState {
    /// It runs, for this reason.
    Trusted(HookTrust),
    /// The user said no to this content.
    Declined,
    /// The user was not asked about this content.
    Unknown(HookPin),
}

/// Returns the directories that the commands of hooks can name.
pub fn places_of(places: &UserDirectories, cwd: &Path) -> HookPlaces {
    let project = places.project.clone().unwrap_or_else(|| cwd.to_owned());
    HookPlaces { cwd: cwd.to_owned(), project, home: places.home.clone() }
}

/// Reads a file with hooks by its ending: the `hooks` of a TOML file, else JSON.
pub fn read_file(shown: &str, path: &Path, text: &str) -> HookFile {
    if path.extension().is_none_or(|ending| ending != "toml") {
        return read_json(shown, text);
    }
    match toml::from_str::<Value>(text) {
        Ok(value) => read_value(shown, &value),
        Err(error) if text.contains("hook") => {
            HookFile::unreadable(shown, text, &format!("the file is not valid TOML: {}", error.message()))
        }
        // What is wrong in another part of the file is not for here.
        Err(_) => HookFile::default(),
    }
}

/// Reads the hooks of the user; sentences about what is not run go to `notes`, those about files of other programs to
/// `others`. A script of a hook of this program's own file is trusted with that, unless it lies where commands of the agent
/// can write.
pub fn of_user(search: &HookSearch<'_>, notes: &mut Vec<String>, others: &mut Vec<String>) -> Vec<UserHook> {
    let HookSearch { places, cwd, writable } = *search;
    let mut found = Vec::new();
    let at = places_of(places, cwd);
    let record = HookRecord::at(places.state.as_deref());
    for (path, is_own) in files(places) {
        let notes = if is_own { &mut *notes } else { &mut *others };
        let shown = shown(&path, places.home.as_deref());
        let text = match read_own_text(&path, limits::HOOK_FILE_BYTES) {
            Ok(text) => text,
            Err(error) if broken::is_absent(&path, &error) => continue,
            Err(error) => {
                notes.push(format!("{shown}: no hook of it is run: {error}"));
                continue;
            }
        };
        let mut file = read_file(&shown, &path, &text);
        for hook in std::mem::take(&mut file.hooks) {
            match scripts(&hook, &at) {
                Ok(named) => {
                    let is_safe = named.iter().all(|script| !programs::passes_through(&script.path, writable));
                    let pin = HookPin::new(&hook, &named, &at);
                    let decision = || record.as_ref().and_then(|record| record.decision(&pin.hash));
                    let state = if is_own && is_safe {
                        UserHookState::Trusted(HookTrust::Configuration)
                    } else {
                        match decision() {
                            Some(HookDecision::Trusted) => UserHookState::Trusted(HookTrust::Content(pin)),
                            Some(HookDecision::Declined) => UserHookState::Declined,
                            None => UserHookState::Unknown(pin),
                        }
                    };
                    found.push(UserHook { hook, state });
                }
                Err(why) => file.faults.push(format!("{} ({why})", hook.event)),
            }
        }
        notes.extend(file.error_line(&shown));
    }
    found
}

/// Returns the hooks of the user that run, asking on the screen about those that nobody has decided about.
pub async fn trusted_of_user(
    front: FrontEnd,
    search: &HookSearch<'_>,
    approvals: &Approvals,
    notes: &mut Vec<String>,
) -> Vec<TrustedHook> {
    let (mut trusted, mut unknown, mut off, mut faults) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for UserHook { hook, state } in of_user(search, notes, &mut faults) {
        match state {
            UserHookState::Trusted(trust) => trusted.push(TrustedHook { hook, trust }),
            UserHookState::Declined => off.push(hook),
            UserHookState::Unknown(pin) => unknown.push((hook, pin)),
        }
    }
    // Who said no to all of it is not told of it at each start.
    if !trusted.is_empty() || (front == FrontEnd::Screen && !unknown.is_empty()) {
        notes.extend((!faults.is_empty()).then(|| faults.join("; ")));
    }
    if front == FrontEnd::Screen
        && let Some(guards) = guards(&off)
    {
        notes.push(format!("{guards} not run, you said no; steersman hooks --ask-again asks again"));
    }
    if unknown.is_empty() {
        return trusted;
    }
    let what = count(unknown.len(), "hook");
    let answer = match front {
        FrontEnd::Exec => PlainAnswer::Nobody,
        FrontEnd::Screen => {
            let record = HookRecord::at(search.places.state.as_deref());
            let mut before = record.map(|record| record.texts_of_others(&trusted)).unwrap_or_default();
            let mut text = QuestionText::default();
            text.part(
                "They were written for another program. With your yes they run here too, in the sandbox unless it says otherwise:",
            );
            for (_, pin) in &unknown {
                if let Some(earlier) = take_earlier(&mut before, pin) {
                    text.changes(&diff(earlier.as_bytes(), pin.text.as_str().as_bytes()).hunks);
                }
                text.append(&pin.text);
            }
            text.part(
                "In the sandbox a hook writes to the workspace alone. What it writes to /tmp is gone when it ends, and",
            );
            text.sentence("other files of yours are not there for it.");
            text.part("A command or a script that changes is asked about again. A no is kept until you run");
            text.quote("steersman hooks --ask-again");
            approvals.ask_plain(format!("run the {what} of {} here too?", files_of(&unknown)), text).await
        }
    };
    let pins: Vec<&HookPin> = unknown.iter().map(|(_, pin)| pin).collect();
    let record = HookRecord::at(search.places.state.as_deref());
    let kept = match (answer, record) {
        (PlainAnswer::Nobody, _) => {
            notes.push(format!(
                "not run, nobody has said yes to them: {what} of yours; start steersman once and decide"
            ));
            return trusted;
        }
        (PlainAnswer::NotNow, _) => {
            let hooks: Vec<Hook> = unknown.into_iter().map(|(hook, _)| hook).collect();
            let guards = guards(&hooks).map(|guards| format!(" ({guards} off)")).unwrap_or_default();
            notes.push(format!("not run in this session, and asked about at the next start: {what}{guards}"));
            return trusted;
        }
        (PlainAnswer::Yes, Some(record)) => record.trust(&pins),
        (PlainAnswer::No, Some(record)) => record.decline(pins.iter().map(|pin| pin.hash.clone()).collect()),
        (PlainAnswer::Yes | PlainAnswer::No, None) => Ok(()),
    };
    if let Err(error) = kept {
        notes.push(format!("the answer about hooks holds for this session only: {error}"));
    }
    if answer == PlainAnswer::Yes {
        let trust = |(hook, pin)| TrustedHook { hook, trust: HookTrust::Content(pin) };
        trusted.extend(unknown.into_iter().map(trust));
    }
    trusted
}

/// Returns how many of these hooks may forbid calls, with the verb; `None` where none does.
fn guards(hooks: &[Hook]) -> Option<String> {
    match hooks.iter().filter(|hook| hook.event == HookEvent::PreToolUse).count() {
        0 => None,
        1 => Some("1 hook that guards calls is".to_owned()),
        many => Some(format!("{many} hooks that guard calls are")),
    }
}

/// Names the files that hooks are in.
fn files_of(hooks: &[(Hook, HookPin)]) -> String {
    let mut files: Vec<&str> = hooks.iter().map(|(hook, _)| hook.file.as_str()).collect();
    files.dedup();
    files.join(" and ")
}

/// Takes the text of the hook that a changed one most likely was: the one with the most lines in common.
fn take_earlier(before: &mut Vec<String>, pin: &HookPin) -> Option<String> {
    let lines: HashSet<&str> = pin.text.as_str().lines().collect();
    let alike = |text: &String| text.lines().filter(|line| lines.contains(line)).count();
    let (at, lines) = before.iter().map(alike).enumerate().max_by_key(|(_, lines)| *lines)?;
    (lines > 0).then(|| before.swap_remove(at))
}

/// Returns the files of the user with hooks, and whether they are this program's own.
fn files(places: &UserDirectories) -> Vec<(PathBuf, bool)> {
    let own = places.config.iter().map(|config| (config.join("hooks.json"), true));
    let of_others = [".claude/settings.json", ".codex/hooks.json", ".codex/config.toml"];
    let others = places.home.iter().flat_map(|home| of_others.map(|file| (home.join(file), false)));
    own.chain(others).collect()
}

fn shown(path: &Path, home: Option<&Path>) -> String {
    let below = home.and_then(|home| path.strip_prefix(home).ok()).map(|below| Path::new("~").join(below));
    visible_line(&below.as_deref().unwrap_or(path).to_string_lossy()).into_owned()
}
