//! The hooks of a session, as the program found them.

use std::path::PathBuf;
use std::sync::Arc;

use crate::agent::LoopHooks;
use crate::approval::Approvals;
use crate::hooks::{HookPlaces, HookRunner, HookSession, Hooks, TrustedHook};
use crate::protocol::HookStatus;
use crate::workspace::Spawner;

/// What the program decides about hooks before an agent is built.
#[derive(Default)]
pub struct HookSetup {
    /// The hooks that may run.
    pub hooks: Vec<TrustedHook>,
    /// All hooks that there are, for the clients.
    pub known: Vec<HookStatus>,
    /// The id of the session; empty for one that is not saved.
    pub session: String,
    /// The file that the session is saved in.
    pub transcript: Option<PathBuf>,
    /// The project's root; without one the directory that tools work in.
    pub project: Option<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
}

impl HookSetup {
    /// Makes the hooks of a session whose main agent works in this directory, `None` without any; with all that there are.
    pub(super) fn make(
        self,
        spawner: &Arc<Spawner>,
        approvals: &Arc<Approvals>,
        cwd: PathBuf,
    ) -> (Option<Arc<dyn LoopHooks>>, Vec<HookStatus>) {
        let project = self.project.unwrap_or_else(|| cwd.clone());
        let runner = HookRunner { spawner: Arc::clone(spawner), cwd: cwd.clone(), project: project.clone() };
        let places = HookPlaces { cwd: cwd.clone(), project, home: self.home };
        let session = HookSession { id: self.session, transcript: self.transcript, cwd };
        let hooks = Hooks::new(self.hooks, runner, places, session, Arc::clone(approvals));
        (hooks.map(|hooks| hooks as Arc<dyn LoopHooks>), self.known)
    }
}
