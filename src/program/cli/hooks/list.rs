//! `steersman hooks`: the hooks of the user and of the project, what each is for, and whether it runs.

use std::fmt::Write as _;

use crate::program::cli::args::Flags;
use crate::program::cli::exit::{Exit, print_outcome};
use crate::program::cli::hooks::{
    HookDecision, HookRecord, HookSearch, UserHook, UserHookState, broken_of_user, of_user,
};
use crate::program::cli::load::{load, writable};
use crate::program::cli::plugins;
use crate::program::cli::project::{FrontEnd, ProjectOffer, TrustRecord};
use steersman_base::protocol::{HookState, HookStatus};
use steersman_base::text::visible_line;
use steersman_core::approval::Answerer;
use steersman_extensions::hooks::{Hook, HookTrust, TrustedHook};

/// Prints the list.
pub fn list(flags: &Flags) -> Exit {
    print_outcome(rows(flags), Exit::Usage)
}

/// Forgets what the user said of the hooks of other programs.
pub fn ask_again(flags: &Flags) -> Exit {
    print_outcome(forget(flags), Exit::Usage)
}

fn forget(flags: &Flags) -> Result<String, String> {
    let start = load(flags, FrontEnd::Exec, Answerer::Nobody).map_err(|error| error.to_string())?;
    let record = HookRecord::at(start.places.state.as_deref()).ok_or("there is no state directory")?;
    record.forget().map_err(|error| error.to_string())?;
    Ok("the next start asks about your hooks of other programs\n".to_owned())
}

fn rows(flags: &Flags) -> Result<String, String> {
    let start = load(flags, FrontEnd::Exec, Answerer::Nobody).map_err(|error| error.to_string())?;
    let writable = writable(&start.cwd, &start.config);
    let search = HookSearch { places: &start.places, cwd: &start.cwd, writable: &writable };
    let (hooks, notes) = all(&search, None);
    let mut text: String = hooks.iter().map(line).collect();
    if text.is_empty() {
        text.push_str("there are no hooks; steersman help hooks says how to add some\n");
    }
    for note in &notes {
        text.push_str(note);
        text.push('\n');
    }
    let record = HookRecord::at(start.places.state.as_deref());
    for guard in broken_of_user(&search) {
        let is_declined = record.as_ref().is_some_and(|r| r.decision(&guard.hash) == Some(HookDecision::Declined));
        let what = if is_declined {
            "you chose to go on without this hook"
        } else {
            "Steersman blocks its calls until you fix it"
        };
        let _ = writeln!(text, "{}: {}: {what}", guard.error(), guard.calls());
    }
    Ok(text)
}

fn line(hook: &HookStatus) -> String {
    let HookStatus { file, event, matcher, command, state, in_background } = hook;
    let matcher = if matcher.is_empty() { "*" } else { matcher };
    let beside = if *in_background { ", in the background" } else { "" };
    let (matcher, command, state) = (visible_line(matcher), visible_line(command), state.label());
    format!("{file}  {event}  {matcher}  {command}  ({state}{beside})\n")
}

/// Returns all hooks of the user and of the project, and one line for each file of which something is not run. `trusted`
/// are those that run in a session that has begun, also by a yes that could not be kept.
pub fn all(search: &HookSearch<'_>, trusted: Option<&[TrustedHook]>) -> (Vec<HookStatus>, Vec<String>) {
    let (mut found, mut notes, mut others) = (Vec::new(), Vec::new(), Vec::new());
    let runs = |hook: &Hook| {
        trusted.is_some_and(|trusted| {
            let is_same = |other: &Hook| {
                (&other.file, other.event, other.whole_command()) == (&hook.file, hook.event, hook.whole_command())
            };
            trusted.iter().any(|other| is_same(&other.hook))
        })
    };
    for UserHook { hook, state } in of_user(search, &mut notes, &mut others) {
        let state = match state {
            UserHookState::Trusted(HookTrust::Configuration) => HookState::Own,
            UserHookState::Trusted(HookTrust::Content(_)) => HookState::Accepted,
            UserHookState::Declined | UserHookState::Unknown(_) if runs(&hook) => HookState::Accepted,
            UserHookState::Declined => HookState::Declined,
            UserHookState::Unknown(_) => HookState::Unasked,
        };
        found.push(hook.status(state));
    }
    notes.append(&mut others);
    let project = search.places.project.as_deref();
    if let Some(offer) = project.and_then(|root| ProjectOffer::load(root, &search.places.below)) {
        let record = TrustRecord::at(search.places.state.as_deref());
        let is_trusted = record.is_some_and(|record| record.knows(&offer));
        for TrustedHook { hook, .. } in &offer.hooks {
            let is_run = if trusted.is_some() { runs(hook) } else { is_trusted };
            found.push(hook.status(if is_run { HookState::OfTrustedProject } else { HookState::OfUntrustedProject }));
        }
        notes.extend(offer.faults.iter().filter(|fault| fault.contains("hooks that are not run")).cloned());
    }
    for plugin in plugins::trusted_plugins(search.places, search.cwd, &mut notes) {
        found.extend(plugin.hooks.iter().map(|TrustedHook { hook, .. }| hook.status(HookState::Accepted)));
    }
    (found, notes)
}
