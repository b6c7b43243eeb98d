//! `steersman hooks`: the hooks of the user and of the project, what each is for, and whether it runs.

use crate::approval::Answerer;
use crate::cli::args::Flags;
use crate::cli::exit::{Exit, print_outcome};
use crate::cli::hooks::{HookRecord, HookSearch, UserHook, UserHookState, of_user};
use crate::cli::load::{load, writable};
use crate::cli::project::{FrontEnd, ProjectOffer, TrustRecord};
use crate::hooks::{Hook, HookTrust};
use crate::text::visible_line;

/// What `steersman hooks` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HooksAct {
    List,
    /// Forget what the user said of the hooks of other programs.
    AskAgain,
}

/// Prints the list, or forgets what was decided.
pub fn run(flags: &Flags, act: HooksAct) -> Exit {
    let said = match act {
        HooksAct::List => list(flags),
        HooksAct::AskAgain => forget(flags),
    };
    print_outcome(said, Exit::Usage)
}

fn forget(flags: &Flags) -> Result<String, String> {
    let start = load(flags, FrontEnd::Exec, Answerer::Nobody).map_err(|error| error.to_string())?;
    let record = HookRecord::at(start.places.state.as_deref()).ok_or("there is no state directory")?;
    record.forget().map_err(|error| error.to_string())?;
    Ok("the next start asks about your hooks of other programs\n".to_owned())
}

fn list(flags: &Flags) -> Result<String, String> {
    let start = load(flags, FrontEnd::Exec, Answerer::Nobody).map_err(|error| error.to_string())?;
    let mut notes = Vec::new();
    let mut text = String::new();
    let writable = writable(&start.cwd, &start.config);
    let search = HookSearch { places: &start.places, cwd: &start.cwd, writable: &writable };
    for UserHook { hook, state } in of_user(&search, &mut notes) {
        let state = match state {
            UserHookState::Trusted(HookTrust::Configuration) => "runs",
            UserHookState::Trusted(HookTrust::Content(_)) => "runs, you said yes",
            UserHookState::Declined => "not run, you said no",
            UserHookState::Unknown(_) => "not run, you were not asked yet",
        };
        text.push_str(&line(&hook, state));
    }
    if let Some(offer) = start.places.project.as_deref().and_then(ProjectOffer::read) {
        let record = TrustRecord::at(start.places.state.as_deref());
        let is_trusted = record.is_some_and(|record| record.knows(&offer));
        let state = if is_trusted { "runs, you trust the project" } else { "not run, the project is not trusted" };
        for trusted in &offer.hooks {
            text.push_str(&line(&trusted.hook, state));
        }
        notes.extend(offer.faults.iter().filter(|fault| fault.contains("hooks that are not run")).cloned());
    }
    if text.is_empty() {
        text.push_str("there are no hooks; steersman help hooks says how to add some\n");
    }
    for note in &notes {
        text.push_str(note);
        text.push('\n');
    }
    Ok(text)
}

fn line(hook: &Hook, state: &str) -> String {
    let matcher = match hook.matcher.text() {
        "" => "*",
        matcher => matcher,
    };
    let (matcher, command) = (visible_line(matcher), hook.whole_command());
    format!("{}  {}  {matcher}  {}  ({state})\n", hook.file, hook.event, visible_line(&command))
}
