//! The sandbox that confines a job. The spawner changes the job's argv for it; the program sets it up.
//!
//! Three kinds. Namespaces of our own, and bubblewrap where only that program may make them, give a job a file
//! system that holds nothing but what it may reach, and a network, processes and a `/tmp` of its own. Landlock lets
//! it see the file system of the machine and closes it. In all of them the hidden sub-command ([`inner`]) takes
//! away capabilities and system calls, and nothing runs when that fails.
//!
//! What none covers: what a job may write it may fill with anything (a build script, a new repository with hooks of its
//! own), and what it may read the model may see. With the network on, the machine's own servers are in reach.
//! Landlock besides: a job sees which processes and files there are (not what is in them); sockets that have a path are
//! closed only by refusing sockets of that family altogether before Linux 7.1; signals to other processes of the user
//! pass before Linux 6.12.
//!
//! Names that are protected ([`steersman_base::protected`]) cannot be written in any of them, those that do not exist yet included:
//! this program carries out the job's calls that change names (`supervisor`). Where the kernel has no notifications of
//! system calls for that (before Linux 5.14, or where another supervisor stands around this program)
//! [`Sandbox::closes_names`] says so, and they can be written.
//!
//! # Where things are
//!
//! - the sandbox of commands: namespaces, bubblewrap, Landlock, what each closes: `mod.rs`, `mounts.rs`,
//!   `namespaces.rs`, `view.rs`, `listed_mount.rs`, `landlock.rs`, `seccomp.rs`, `places.rs`; tests:
//!   `sandbox/mod.rs`, `tests/fixtures/sandbox_probes.py`
//! - the supervisor of a job, which writes names in its place: `supervisor/`, `seccomp_notify/`; tests: `sandbox/names.rs`,
//!   `tests/fixtures/protected_names.py`
//! - the note on a command that the sandbox refused something: `explain.rs`
//! - the first process in the namespaces of a job: `init.rs`
//! - the hidden sub-command: this program gives its rights away for ever and becomes the job: `inner.rs`
//! - the probe: whether a sandbox really works, which no version and no file can tell: `probe.rs`

#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "there is none elsewhere"))]

mod explain;
#[cfg(target_os = "linux")]
mod init;
#[cfg(target_os = "linux")]
pub mod inner;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod listed_mount;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod namespaces;
mod places;
mod probe;
#[cfg(target_os = "linux")]
mod seccomp;
#[cfg(target_os = "linux")]
mod supervisor;
#[cfg(target_os = "linux")]
mod view;

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use crate::workspace::{Job, OwnProgram, denied_files, programs};
use steersman_base::protected::{DirectoryRole, ProtectedPlaces, settings};
use steersman_core::temporary::TemporaryDirectory;

/// The name of the hidden sub-command under which this program confines itself and becomes the job.
pub const SUBCOMMAND: &str = "__sandbox";

/// The file with the user's settings for git, where a job has a view of its own.
const GIT_CONFIG: &str = "/run/gitconfig";

/// The configured kind of sandbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SandboxChoice {
    /// The best that works here, or none.
    #[default]
    Auto,
    /// Namespaces that this program makes itself, and nothing else.
    Namespaces,
    /// Bubblewrap and nothing else.
    Bubblewrap,
    /// Landlock and nothing else.
    Landlock,
    /// None.
    Off,
}

/// The facts of the machine that a sandbox needs.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The executable of this program, for its hidden sub-command.
    pub program: OwnProgram,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// The search path: where bubblewrap is looked for, and directories that jobs may read.
    pub path: OsString,
    /// The directories in which jobs write: no program that is relied on is taken from there.
    pub writable: Vec<PathBuf>,
    /// The user's directories that no job changes, and those that none sees.
    pub protected: ProtectedPlaces,
    /// Directories that no job may see, wherever they lie.
    pub hidden: Vec<PathBuf>,
}

/// The error when the configured sandbox does not work here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the sandbox {name} does not work here: {why}")]
pub struct Missing {
    name: &'static str,
    why: String,
}

/// The sandbox of jobs, or the reason why there is none.
#[derive(Debug, Clone)]
pub struct Sandbox(SandboxState);

#[derive(Debug, Clone)]
enum SandboxState {
    Confined(Mechanism, Arc<SandboxResources>),
    None { why: String },
}

/// The mechanism that confines jobs.
#[derive(Debug, Clone)]
enum Mechanism {
    Namespaces,
    Bubblewrap(PathBuf),
    Landlock,
}

/// The resources of a working sandbox.
#[derive(Debug)]
struct SandboxResources {
    around: Surroundings,
    /// The files of this session; gone with the last one who holds the sandbox.
    directory: TemporaryDirectory,
    /// Why a better sandbox does not work here; empty when there is none.
    passed_over: String,
    /// Why no supervisor answers the system calls of jobs that change names; `None` when one does.
    unsupervised: Option<String>,
}

impl Sandbox {
    /// Makes a sandbox that confines nothing.
    pub fn none() -> Self {
        Self(SandboxState::None { why: "it is switched off".to_owned() })
    }

    /// Finds the sandbox that works here, by running a probe in it.
    ///
    /// # Errors
    /// [`Missing`] when the configured kind does not work.
    pub async fn detect(wanted: SandboxChoice, around: &Surroundings) -> Result<Self, Missing> {
        let (kinds, is_needed): (&[_], _) = match wanted {
            SandboxChoice::Off => return Ok(Self::none()),
            SandboxChoice::Auto => {
                (&[SandboxChoice::Namespaces, SandboxChoice::Bubblewrap, SandboxChoice::Landlock], false)
            }
            SandboxChoice::Namespaces => (&[SandboxChoice::Namespaces], true),
            SandboxChoice::Bubblewrap => (&[SandboxChoice::Bubblewrap], true),
            SandboxChoice::Landlock => (&[SandboxChoice::Landlock], true),
        };
        let mut reasons = Vec::new();
        for kind in kinds {
            let (name, found) = match kind {
                SandboxChoice::Namespaces => ("namespaces", Ok(Mechanism::Namespaces)),
                SandboxChoice::Bubblewrap => ("bubblewrap", bubblewrap(around)),
                SandboxChoice::Landlock | SandboxChoice::Auto | SandboxChoice::Off => {
                    ("landlock", Ok(Mechanism::Landlock))
                }
            };
            let works = match found {
                _ if cfg!(not(target_os = "linux")) => Err("it is a part of Linux".to_owned()),
                Ok(kind) => works(kind, around, reasons.join("; ")).await,
                Err(why) => Err(why),
            };
            match works {
                Ok(sandbox) => return Ok(sandbox),
                Err(why) if is_needed => return Err(Missing { name, why }),
                Err(why) => reasons.push(format!("{name}: {why}")),
            }
        }
        Ok(Self(SandboxState::None { why: reasons.join("; ") }))
    }

    /// Returns the name for the screen; `None` means: not sandboxed.
    pub fn name(&self) -> Option<&'static str> {
        match &self.0 {
            SandboxState::Confined(kind, _) => Some(kind.name()),
            SandboxState::None { .. } => None,
        }
    }

    /// Returns why nothing is confined; `None` when jobs are.
    pub fn why_none(&self) -> Option<&str> {
        match &self.0 {
            SandboxState::Confined(..) => None,
            SandboxState::None { why } => Some(why),
        }
    }

    /// Returns why a better one does not work here; `None` when this is the best, or none, or was asked for by name.
    pub fn why_not_better(&self) -> Option<&str> {
        match &self.0 {
            SandboxState::Confined(_, own) => Some(own.passed_over.as_str()).filter(|why| !why.is_empty()),
            SandboxState::None { .. } => None,
        }
    }

    /// Returns the command line that runs a job confined.
    ///
    /// # Errors
    /// One sentence when this job cannot be confined; it must not run then.
    pub fn wrap(&self, job: &Job) -> io::Result<Vec<OsString>> {
        let refused = |sentence: String| io::Error::new(io::ErrorKind::InvalidInput, sentence);
        if let (Some(name), Some(root)) = (self.name(), job.confinement.writable.iter().find(|path| is_root(path))) {
            return Err(refused(format!("{name} cannot confine a command that may write in {}", root.display())));
        }
        let mut job = job.clone();
        denied_files::close(&mut job.confinement);
        let job = &job;
        match &self.0 {
            #[cfg(target_os = "linux")]
            SandboxState::Confined(kind, own) => match kind {
                Mechanism::Namespaces => Ok(namespaces::wrap(own, job)),
                Mechanism::Bubblewrap(bwrap) => Ok(namespaces::wrap_in_bubblewrap(bwrap, own, job)),
                Mechanism::Landlock => landlock::wrap(own, job).map_err(refused),
            },
            #[cfg(not(target_os = "linux"))]
            SandboxState::Confined(..) => Err(refused("this system has none".to_owned())),
            SandboxState::None { .. } => Ok(job.argv.clone()),
        }
    }

    /// Returns whether no job can change a protected name, those that do not exist yet included.
    pub fn closes_names(&self) -> bool {
        self.why_names_are_open().is_none()
    }

    /// Returns why jobs can change protected names: the kernel does not let this program answer their system calls, or
    /// nothing is confined.
    pub fn why_names_are_open(&self) -> Option<&str> {
        match &self.0 {
            SandboxState::Confined(_, own) => own.unsupervised.as_deref(),
            SandboxState::None { why } => Some(why),
        }
    }

    /// Returns the temporary directory that jobs share.
    pub fn temporary(&self) -> Option<&Path> {
        match &self.0 {
            SandboxState::Confined(_, own) => Some(own.directory.path()),
            SandboxState::None { .. } => None,
        }
    }

    /// Names a file that a rule hides where the output of git is about it, also of a job that did not fail; for the model.
    pub fn explain_hidden(&self, job: &Job, output: &str) -> Option<String> {
        self.name()?;
        explain::explain_hidden(&job.confinement, &job.cwd, output)
    }

    /// Explains the failure of a job whose output looks as if the sandbox refused something; for the model.
    pub fn explain(&self, job: &Job, output: &str) -> Option<String> {
        let SandboxState::Confined(kind, own) = &self.0 else { return None };
        explain::explain(kind.name(), &job.confinement, own.around.home.as_deref(), output)
    }
}

impl Mechanism {
    fn name(&self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Bubblewrap(_) => "bubblewrap",
            Self::Landlock => "landlock",
        }
    }
}

impl SandboxResources {
    fn new(around: &Surroundings, passed_over: String, unsupervised: Option<String>) -> io::Result<Self> {
        let directory = TemporaryDirectory::new_in(&std::env::temp_dir(), "tmp")?;
        let mut around = around.clone();
        around.home = around.home.and_then(|home| home.canonicalize().ok()).filter(|home| home.parent().is_some());
        let own = Self { around, directory, passed_over, unsupervised };
        fs::create_dir(own.temp())?;
        fs::write(own.git_config(), "")?;
        Ok(own)
    }

    /// Returns the places that no job may change, where `temp` is its temporary directory.
    fn protected(&self, job: &Job, temp: &Path) -> ProtectedPlaces {
        let mut protected = self.around.protected.clone().with(DirectoryRole::Free, temp);
        let roots = job.confinement.writable.iter().filter_map(|root| root.canonicalize().ok());
        let roots: Vec<PathBuf> = roots.collect();
        for named in settings::named(&roots, self.around.home.as_deref(), &self.around.protected) {
            protected.add(DirectoryRole::Named, &named);
        }
        for root in &roots {
            protected.add(DirectoryRole::Writable, root);
        }
        for free in job.confinement.unprotected.iter().filter_map(|path| path.canonicalize().ok()) {
            protected.add(DirectoryRole::Free, &free);
        }
        for repository in places::repositories(&job.confinement.writable) {
            protected.add(DirectoryRole::Repository, &repository);
        }
        if let Some(home) = &self.around.home {
            protected.add(DirectoryRole::Home, home);
        }
        protected
    }

    /// Returns the temporary directory that the jobs of this session share.
    fn temp(&self) -> PathBuf {
        self.directory.path().join("tmp")
    }

    /// Returns the file with the user's settings for git, beside what jobs write.
    fn git_config(&self) -> PathBuf {
        self.directory.path().join("gitconfig")
    }
}

fn bubblewrap(around: &Surroundings) -> Result<Mechanism, String> {
    let bwrap = programs::find("bwrap", &around.path, &around.writable).ok_or("bwrap is not installed")?;
    let is_lent = fs::metadata(&bwrap).is_ok_and(|found| found.permissions().mode() & 0o6000 != 0);
    if is_lent {
        return Err("bwrap runs with the rights of another user here, which no job may take on".to_owned());
    }
    Ok(Mechanism::Bubblewrap(bwrap))
}

/// Tries a sandbox, with a supervisor if the kernel allows one.
async fn works(kind: Mechanism, around: &Surroundings, passed_over: String) -> Result<Sandbox, String> {
    match attempt(kind.clone(), around, passed_over.clone(), None).await {
        // For the supervisor's sake, or for the same reason again.
        Err(why) => attempt(kind, around, passed_over, Some(why.clone())).await.map_err(|_| why),
        works => works,
    }
}

/// Runs something that makes and removes a file in a sandbox.
async fn attempt(
    kind: Mechanism,
    around: &Surroundings,
    passed_over: String,
    unsupervised: Option<String>,
) -> Result<Sandbox, String> {
    let own = SandboxResources::new(around, passed_over, unsupervised).map_err(|error| error.to_string())?;
    let own = Arc::new(own);
    let sandbox = Sandbox(SandboxState::Confined(kind, Arc::clone(&own)));
    let probe = probe::job(&own.temp());
    let (works, settings) = tokio::join!(probe::run(&own.around, &sandbox, &probe), probe::git_settings(&own.around));
    works?;
    if let Some(settings) = settings {
        fs::write(own.git_config(), settings).map_err(|error| error.to_string())?;
    }
    Ok(sandbox)
}

fn is_root(path: &Path) -> bool {
    path.parent().is_none()
}
