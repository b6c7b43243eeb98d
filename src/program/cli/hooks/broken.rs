//! The hooks before calls that cannot be read: found at each start, named, and asked about.
//!
//! Always holds: the calls that they are for are stopped unless the user said to go on without them, on the screen once for
//! what stands there, or by a flag for this run. Those of a project that the user never trusted are only named for `exec`,
//! as nothing of such a project acts.

use std::io;
use std::path::Path;

use crate::program::cli::hooks::{HookDecision, HookRecord, HookSearch, files, places_of, read_file, shown};
use crate::program::cli::project::FrontEnd;
use steersman_base::limits;
use steersman_base::regular_file::read_own_text;
use steersman_base::summary::count;
use steersman_base::text::QuestionText;
use steersman_core::approval::{Approvals, PlainAnswer};
use steersman_extensions::hooks::{BrokenGuard, HookFile, HookPlaces, scripts};

/// Whether calls run although a hook before them cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrokenHooks {
    /// They are stopped.
    StopCalls,
    /// They run, in this run of the program.
    Ignored,
}

/// Adds the hooks of a file that can be read and not be compared with what was trusted.
pub fn with_uncompared(mut file: HookFile, shown: &str, at: &HookPlaces) -> HookFile {
    for hook in file.hooks.iter().filter(|hook| hook.is_guard()) {
        if let Err(why) = scripts(hook, at) {
            file.broken.push(BrokenGuard::new(shown, hook.matcher.clone(), &why, &hook.whole_command()));
        }
    }
    file
}

/// Finds those in the user's files.
pub fn broken_of_user(search: &HookSearch<'_>) -> Vec<BrokenGuard> {
    let at = places_of(search.places, search.cwd);
    let found = files(search.places).into_iter().flat_map(|(path, _)| {
        let shown = shown(&path, search.places.home.as_deref());
        match read_own_text(&path, limits::HOOK_FILE_BYTES) {
            Ok(text) => with_uncompared(read_file(&shown, &path, &text), &shown, &at).broken,
            Err(error) if is_absent(&path, &error) => Vec::new(),
            Err(error) => HookFile::unreadable(&shown, "", &error.to_string()).broken,
        }
    });
    found.collect()
}

/// Tells whether there is no file. A link that leads nowhere is one that cannot be read.
pub(super) fn is_absent(path: &Path, error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) && path.symlink_metadata().is_err()
}

/// Returns the broken guards by which calls are stopped, asking on the screen about those that nobody has decided about.
/// `other_guards` are those of a project and of plugins, as far as they count. One line of `notes` names them all.
pub async fn broken_guards(
    front: FrontEnd,
    search: &HookSearch<'_>,
    other_guards: Vec<BrokenGuard>,
    setting: BrokenHooks,
    approvals: &Approvals,
    notes: &mut Vec<String>,
) -> Vec<BrokenGuard> {
    let mut found = broken_of_user(search);
    found.extend(other_guards);
    let record = HookRecord::at(search.places.state.as_deref());
    let is_declined = |guard: &BrokenGuard| {
        setting == BrokenHooks::Ignored
            || record.as_ref().is_some_and(|record| record.decision(&guard.hash) == Some(HookDecision::Declined))
    };
    let (mut without, mut stopping): (Vec<_>, Vec<_>) = found.into_iter().partition(is_declined);
    if front == FrontEnd::Screen && !stopping.is_empty() {
        let mut detail = QuestionText::default();
        detail.part("Steersman cannot read this. It may be a hook that forbids calls:");
        for guard in &stopping {
            detail.quote(&format!("{}: {}", guard.error(), guard.calls()));
        }
        detail.part("Yes: these calls run without it, in later sessions too, until the file changes.");
        detail.part("No: this session blocks them. Fix the file and start again.");
        let title = format!("go on without {} that cannot be read?", count(stopping.len(), "hook"));
        if approvals.ask_plain(title, detail).await == PlainAnswer::Yes {
            let hashes = stopping.iter().map(|guard| guard.hash.clone()).collect();
            if let Some(Err(error)) = record.map(|record| record.decline(hashes)) {
                notes.push(format!("the answer about hooks holds for this session only: {error}"));
            }
            without.append(&mut stopping);
        }
    }
    let together = |said: Vec<String>| (!said.is_empty()).then(|| said.join("; "));
    let left = without.iter().map(|guard| format!("{}: you chose to go on without this hook", guard.error())).collect();
    notes.extend(together(left));
    let how = match front {
        FrontEnd::Screen => "fix the file and start again",
        FrontEnd::Exec => "fix the file, start steersman once and go on without it, or give --without-broken-hooks",
    };
    let stopped =
        stopping.iter().map(|guard| format!("{}: Steersman blocks {}", guard.error(), guard.calls())).collect();
    notes.extend(together(stopped).map(|line| format!("{line}; {how}")));
    stopping
}
