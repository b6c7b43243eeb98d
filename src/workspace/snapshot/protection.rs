//! The protected files of all commands of a session: one snapshot, taken before the first of several commands, compared
//! when each ends, and at the boundaries of agents while one runs in the background. A difference is decided about before
//! another command starts.
//!
//! Called by the tools that run commands. The turn is a lock for a long time on purpose: who waits for it waits for an
//! answer of the user. A command that is dropped leaves its snapshot to the next one.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::limits;
use crate::sync::lock;
use crate::text::visible_line;
use crate::workspace::snapshot::find::find;
use crate::workspace::snapshot::journal::Journal;
use crate::workspace::snapshot::question::{Ask, Cover, Decision, NO_RECORD, WHO, question, shown, without_record};
use crate::workspace::snapshot::restore::{ChangedVersions, put_back, sweep};
use crate::workspace::snapshot::survivors::{self, Certainty};
use crate::workspace::snapshot::{Comparison, Difference, ProtectionReason, Snapshot};

/// The protection of files that all commands of a session share.
#[derive(Debug, Default)]
pub struct Protection {
    /// Where the snapshot is kept on disk.
    state: Option<PathBuf>,
    /// Without the snapshot on disk a command runs only when that is allowed or nobody can be asked.
    needs_record: bool,
    home: Option<PathBuf>,
    turn: tokio::sync::Mutex<Option<OpenSnapshot>>,
    count: Mutex<CommandCount>,
}

#[derive(Debug, Default)]
struct CommandCount {
    running: usize,
    /// A command went away before its end was looked at.
    is_unchecked: bool,
    /// Whether the user lets commands run while the snapshot cannot be kept on disk.
    without_record: Option<bool>,
}

/// A command that may run. Dropping it leaves what it changed to be looked at before the next one.
#[derive(Debug)]
pub struct Command {
    protection: Arc<Protection>,
    mark: String,
    has_left: bool,
}

impl Protection {
    /// Makes one that keeps its snapshot in a state directory while commands run; where that fails it asks. `home` is
    /// where the user's settings of git are. The default one keeps it in memory.
    pub fn new(state: Option<PathBuf>, home: Option<PathBuf>) -> Self {
        Self { state, needs_record: true, home, ..Self::default() }
    }

    /// Prepares for a command that may write in `roots`, and in repositories outside of them: waits for an open
    /// question, has what an earlier command left decided, and takes the snapshot when no other command runs.
    ///
    /// # Errors
    /// One sentence when the command must not run yet.
    pub async fn enter(
        self: &Arc<Self>,
        roots: &[PathBuf],
        repositories: &[PathBuf],
        cover: Cover,
        ask: &Ask<'_>,
    ) -> Result<(Command, Vec<String>), String> {
        let mut turn = self.turn.lock().await;
        let mut notes = Vec::new();
        if let Some(open) = turn.as_mut()
            && (!open.is_decided || self.has_to_look())
        {
            let others = OtherCommands::from(self.count().running);
            notes = open.resolve(self.state.as_deref(), others, ask).await;
            if !open.is_decided {
                return Err(format!("{WHO} changed protected files, and it is not decided what becomes of them"));
            }
            self.count().is_unchecked = false;
        }
        // This future may be dropped at any await: what runs keeps its snapshot, and a new one stands only when it
        // is whole.
        if let Some(open) = turn.as_mut() {
            if !open.snapshot.covers(roots) {
                let more = self.take(roots, repositories, cover).await?;
                Arc::make_mut(&mut open.snapshot).add(more);
                open.is_recorded = false;
            }
            notes.extend(self.record(open, ask).await?);
        } else {
            let mut open = OpenSnapshot::new(self.take(roots, repositories, cover).await?, None, cover);
            notes.extend(self.record(&mut open, ask).await?);
            *turn = Some(open);
        }
        let journal = turn.as_ref().and_then(|open| open.journal.as_ref());
        let mark = journal.map(|journal| journal.mark.clone()).unwrap_or_default();
        self.count().running += 1;
        Ok((Command { protection: Arc::clone(self), mark, has_left: false }, notes))
    }

    /// Writes the snapshot to disk, or asks once whether commands may run without it; returns a note for the
    /// result, if any.
    ///
    /// # Errors
    /// One sentence when the command must not run.
    async fn record(&self, open: &mut OpenSnapshot, ask: &Ask<'_>) -> Result<Option<String>, String> {
        if !self.needs_record || open.is_recorded {
            return Ok(None);
        }
        let Err(error) = open.record(self.state.as_deref()).await else {
            self.count().without_record = None;
            return Ok(None);
        };
        let error = visible_line(&error.to_string()).into_owned();
        let known = self.count().without_record;
        let decision = match known {
            Some(true) => Decision::Keep,
            Some(false) => Decision::Restore,
            None => ask(without_record(&error)).await,
        };
        match decision {
            Decision::Keep => {
                self.count().without_record = Some(true);
                Ok(None)
            }
            Decision::Restore => {
                self.count().without_record = Some(false);
                Err(format!("{NO_RECORD} ({error}), and the user wants no command to run without it"))
            }
            Decision::Postpone => {
                Err(format!("{NO_RECORD} ({error}), and it is not decided whether commands run without it"))
            }
            Decision::Nobody => Ok(Some(format!(
                "[{NO_RECORD} ({error}), and nobody can be asked: had the program been killed during this command, its \
                 changes of them would have stayed]"
            ))),
        }
    }

    /// Returns whether a command ended that nobody looked after.
    fn has_to_look(&self) -> bool {
        let count = self.count();
        count.running == 0 || count.is_unchecked
    }

    async fn take(&self, roots: &[PathBuf], repositories: &[PathBuf], cover: Cover) -> Result<Snapshot, String> {
        let (roots, repositories, home) = (roots.to_vec(), repositories.to_vec(), self.home.clone());
        tokio::task::spawn_blocking(move || Snapshot::take(&roots, &repositories, home.as_deref(), cover))
            .await
            .map_err(|_| "the protected files could not be looked at".to_owned())
    }

    fn count(&self) -> std::sync::MutexGuard<'_, CommandCount> {
        lock(&self.count)
    }
}

impl Protection {
    /// Compares while commands run, as at the end of one of them; returns what there is to say. Nothing without a command.
    pub async fn check(&self, ask: &Ask<'_>) -> Vec<String> {
        let mut turn = self.turn.lock().await;
        let running = self.count().running;
        match turn.as_mut() {
            Some(open) if running > 0 => open.resolve(self.state.as_deref(), OtherCommands::Running, ask).await,
            Some(_) | None => Vec::new(),
        }
    }
}

impl Command {
    /// Returns the protection that it entered.
    pub fn protection(&self) -> &Arc<Protection> {
        &self.protection
    }

    /// Returns the variable that marks everything that the command starts.
    pub fn variable(&self) -> Option<(&'static str, &str)> {
        (!self.mark.is_empty()).then_some((limits::SNAPSHOT_MARK, &*self.mark))
    }

    /// Compares, now that the command has ended with everything that it started; returns what there is to say.
    pub async fn leave(mut self, ask: &Ask<'_>) -> Vec<String> {
        let protection = Arc::clone(&self.protection);
        let mut turn = protection.turn.lock().await;
        let Some(open) = turn.as_mut() else { return Vec::new() };
        open.is_decided = false;
        let is_last = {
            let mut count = protection.count();
            count.running = count.running.saturating_sub(1);
            count.running == 0
        };
        self.has_left = true;
        if is_last && let Some(mark) = open.journal.as_ref().map(|journal| journal.mark.clone()) {
            // Whoever outlived a guard that was killed would go on after the comparison.
            let _ = tokio::task::spawn_blocking(move || survivors::kill(&mark, Certainty::Now)).await;
        }
        let others = if is_last { OtherCommands::None } else { OtherCommands::Running };
        let notes = open.resolve(protection.state.as_deref(), others, ask).await;
        if open.is_decided
            && is_last
            && let Some(open) = turn.take()
        {
            open.close();
        }
        notes
    }
}

impl Drop for Command {
    fn drop(&mut self) {
        if !self.has_left {
            let mut count = self.protection.count();
            count.running = count.running.saturating_sub(1);
            count.is_unchecked = true;
        }
    }
}

/// Whether other commands run during a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OtherCommands {
    /// None does.
    None,
    /// Some do, and may change files meanwhile.
    Running,
}

impl From<usize> for OtherCommands {
    fn from(running: usize) -> Self {
        if running == 0 { Self::None } else { Self::Running }
    }
}

/// A snapshot while commands run.
#[derive(Debug)]
pub(super) struct OpenSnapshot {
    snapshot: Arc<Snapshot>,
    journal: Option<Journal>,
    cover: Cover,
    /// The journal holds all of the snapshot.
    is_recorded: bool,
    /// Nothing waits for an answer.
    pub(super) is_decided: bool,
}

impl OpenSnapshot {
    pub(super) fn new(snapshot: Snapshot, journal: Option<Journal>, cover: Cover) -> Self {
        Self { snapshot: Arc::new(snapshot), journal, cover, is_recorded: false, is_decided: true }
    }

    /// Forgets it, also on disk.
    pub(super) fn close(self) {
        if let Some(journal) = self.journal {
            journal.remove();
        }
    }

    /// Compares, asks and carries out the answer, until nothing differs.
    pub(super) async fn resolve(&mut self, state: Option<&Path>, others: OtherCommands, ask: &Ask<'_>) -> Vec<String> {
        self.is_decided = false;
        let mut notes = Vec::new();
        for _ in 0..limits::SNAPSHOT_ROUNDS {
            let snapshot = Arc::clone(&self.snapshot);
            let Ok(compared) = tokio::task::spawn_blocking(move || snapshot.compare()).await else { break };
            for difference in &compared.reported {
                notes.push(describe(difference));
            }
            self.adopt(&compared.reported);
            if compared.open.is_empty() {
                self.accept(&compared);
                self.is_decided = true;
                break;
            }
            match ask(question(&compared.open, &compared.repositories)).await {
                Decision::Keep => {
                    for difference in &compared.open {
                        notes.push(format!("[{WHO} changed {}: the user keeps it]", shown(&difference.path)));
                    }
                    self.adopt(&compared.open);
                    self.accept(&compared);
                }
                Decision::Restore | Decision::Nobody => notes.extend(self.restore(compared, state, others).await),
                Decision::Postpone => break,
            }
        }
        self.write().await;
        notes
    }

    fn shelf(&self, state: Option<&Path>) -> ChangedVersions {
        ChangedVersions::new(state, self.journal.as_ref().map(|journal| &*journal.mark).unwrap_or_default())
    }

    /// Removes what its dead owner left half done; returns what there is to say. Blocks.
    pub(super) fn sweep(&self, state: &Path) -> Vec<String> {
        let snapshot = &self.snapshot;
        let found = find(&snapshot.grounds, &snapshot.walked, snapshot.home.as_deref());
        let directories = found.places.keys().chain(snapshot.entries.keys()).filter_map(|path| path.parent());
        let directories = directories.map(Path::to_owned).collect();
        let kept = sweep(snapshot, &directories, &mut self.shelf(Some(state)));
        kept.iter().map(|(path, kept)| changed(path, kept)).collect()
    }

    /// Takes over what needs no answer.
    fn accept(&mut self, compared: &Comparison) {
        self.adopt(&compared.silent);
        let snapshot = Arc::make_mut(&mut self.snapshot);
        for (git, inode) in &compared.repositories {
            snapshot.repositories.entry(git.clone()).or_insert(*inode);
        }
    }

    fn adopt(&mut self, differences: &[Difference]) {
        if !differences.is_empty() {
            let snapshot = Arc::make_mut(&mut self.snapshot);
            for difference in differences {
                snapshot.adopt(difference);
            }
        }
    }

    async fn restore(&mut self, compared: Comparison, state: Option<&Path>, others: OtherCommands) -> Vec<String> {
        let (snapshot, mut shelf) = (Arc::clone(&self.snapshot), self.shelf(state));
        let done = tokio::task::spawn_blocking(move || {
            let put = |difference: Difference| {
                let done = put_back(&snapshot.grounds, &difference, &compared.repositories, &mut shelf);
                snapshot.remove_empty(&difference.path);
                (difference, done)
            };
            compared.open.into_iter().map(put).collect::<Vec<_>>()
        });
        let mut notes = Vec::new();
        for (difference, done) in done.await.unwrap_or_default() {
            let place = shown(&difference.path);
            // What somebody is just changing is looked at again, and never taken for the truth.
            let is_busy = done.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::ResourceBusy);
            if is_busy || done.is_err() && others == OtherCommands::Running {
                continue;
            }
            notes.push(match done {
                Ok(Some(kept)) => changed(&difference.path, &kept),
                Ok(None) => format!("[{WHO} removed {place} or changed its permissions: it is as it was]"),
                Err(error) => {
                    // Asking for ever would help nobody.
                    let after = self.snapshot.grounds.look_at_directory(&difference.path);
                    self.adopt(&[Difference { after, ..difference }]);
                    format!("[{WHO} changed {place}, and it could not be put back ({error}): look at it before you use git here]")
                }
            });
        }
        notes
    }

    /// Writes what was decided to disk; an older version there asks again.
    async fn write(&mut self) {
        if let Some(journal) = &self.journal {
            let written = journal.write(&self.snapshot, self.cover).await;
            if let Err(error) = &written {
                tracing::warn!(%error, "the snapshot of protected files is not on disk");
            }
            self.is_recorded = written.is_ok();
        }
    }

    /// Writes it to disk before a command runs.
    async fn record(&mut self, state: Option<&Path>) -> io::Result<()> {
        if let Some(journal) = &self.journal {
            journal.write(&self.snapshot, self.cover).await?;
        } else {
            let state = state.ok_or_else(|| io::Error::other("there is no state directory"))?.to_owned();
            let made = tokio::task::spawn_blocking(move || Journal::new(&state)).await;
            let journal = made.map_err(io::Error::other)??;
            if let Err(error) = journal.write(&self.snapshot, self.cover).await {
                journal.remove();
                return Err(error);
            }
            self.journal = Some(journal);
        }
        self.is_recorded = true;
        Ok(())
    }
}

fn changed(path: &Path, kept: &Path) -> String {
    format!(
        "[{WHO} changed {}, which git or another tool runs or reads as settings: it is as it was, the changed version is {}]",
        shown(path),
        shown(kept)
    )
}

fn describe(difference: &Difference) -> String {
    let place = shown(&difference.path);
    match difference.watch {
        ProtectionReason::Instructs => format!("[{WHO} changed {place}]"),
        ProtectionReason::Exists | ProtectionReason::Steps | ProtectionReason::Runs
            if difference.after.is_missing() =>
        {
            format!("[{WHO} removed {place}: what was there was not kept and cannot be put back]")
        }
        ProtectionReason::Exists | ProtectionReason::Steps | ProtectionReason::Runs => format!(
            "[{WHO} changed {place}, which git or another tool runs or reads as settings; what was there before is not \
             known whole, so it is as it is: look at it before you use git here]"
        ),
    }
}
