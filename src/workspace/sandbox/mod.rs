//! The sandbox: what confines a job. It is a change of its argv, made by the spawner; who set it up is the program.
//!
//! Two kinds. Bubblewrap gives a job a file system that holds nothing but what it may reach, and a network, processes
//! and a `/tmp` of its own. Landlock lets it see the file system of the machine and closes it. In both the hidden
//! sub-command ([`inner`]) takes away capabilities and system calls, and nothing runs when that fails.
//!
//! What neither covers: what a job may write it may fill with anything (a build script, a new repository with hooks of
//! its own), and what it may read the model may see. With the network on, the machine's own servers are in reach.
//! Landlock besides: a job sees which processes and files there are (not what is in them); sockets that have a path are
//! closed only by refusing sockets of that family altogether before Linux 7.1; signals to other processes of the user
//! pass before Linux 6.12; what must not change is put back after the job, not kept from changing ([`Seal`]).

mod bubblewrap;
mod explain;
pub mod inner;
mod landlock;
mod places;
mod probe;
mod seal;
#[cfg(target_os = "linux")]
mod seccomp;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use crate::workspace::Job;

pub use seal::Seal;

/// The name of the hidden sub-command under which this program confines itself and becomes the job.
pub const SUBCOMMAND: &str = "__sandbox";

/// Where the hidden sub-command lies within bubblewrap.
const INNER: &str = "/run/steersman";

/// The file with the user's settings for git, in the temporary directory of a session.
const GIT_CONFIG: &str = ".gitconfig";

/// Says which sandbox is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Choice {
    /// The best that works here, or none.
    #[default]
    Auto,
    /// Bubblewrap and nothing else.
    Bubblewrap,
    /// Landlock and nothing else.
    Landlock,
    /// None.
    Off,
}

/// Is what a sandbox has to know of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// The executable of this program, for its hidden sub-command.
    pub program: PathBuf,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// The search path: where bubblewrap is looked for, and directories that jobs may read.
    pub path: OsString,
}

/// Says that a sandbox that was asked for does not work here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the sandbox {name} does not work here: {why}")]
pub struct Missing {
    name: &'static str,
    why: String,
}

/// Confines jobs.
#[derive(Debug, Clone)]
pub struct Sandbox(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Bubblewrap { bwrap: PathBuf, own: Arc<Own> },
    Landlock { own: Arc<Own> },
    None { why: String },
}

/// Is what a sandbox that works holds on to.
#[derive(Debug)]
struct Own {
    around: Surroundings,
    /// The `/tmp` of every job of this session; gone with the last one who holds the sandbox.
    temp: TempDir,
}

impl Sandbox {
    /// Makes one that confines nothing.
    pub fn none() -> Self {
        Self(Kind::None { why: "it is switched off".to_owned() })
    }

    /// Finds out what works here, by really running something in it.
    ///
    /// # Errors
    /// [`Missing`] when one kind was asked for by name and does not work.
    pub async fn detect(wanted: Choice, around: &Surroundings) -> Result<Self, Missing> {
        match wanted {
            Choice::Off => Ok(Self::none()),
            Choice::Bubblewrap => bubblewrap(around).await.map_err(|why| Missing { name: "bubblewrap", why }),
            Choice::Landlock => landlock(around).await.map_err(|why| Missing { name: "landlock", why }),
            Choice::Auto => Ok(match bubblewrap(around).await {
                Ok(sandbox) => sandbox,
                Err(first) => match landlock(around).await {
                    Ok(sandbox) => sandbox,
                    Err(second) => Self(Kind::None { why: format!("bubblewrap: {first}; landlock: {second}") }),
                },
            }),
        }
    }

    /// Returns the name for the screen; `None` means: not sandboxed.
    pub fn name(&self) -> Option<&'static str> {
        match self.0 {
            Kind::Bubblewrap { .. } => Some("bubblewrap"),
            Kind::Landlock { .. } => Some("landlock"),
            Kind::None { .. } => None,
        }
    }

    /// Returns why nothing is confined; `None` when jobs are.
    pub fn why_none(&self) -> Option<&str> {
        match &self.0 {
            Kind::Bubblewrap { .. } | Kind::Landlock { .. } => None,
            Kind::None { why } => Some(why),
        }
    }

    /// Returns what is to be run in place of a job's argv.
    ///
    /// # Errors
    /// One sentence when this job cannot be confined; it must not run then.
    pub fn wrap(&self, job: &Job) -> io::Result<Vec<OsString>> {
        let refused = |sentence: String| io::Error::new(io::ErrorKind::InvalidInput, sentence);
        if let (Some(name), Some(root)) = (self.name(), job.confinement.writable.iter().find(|path| is_root(path))) {
            return Err(refused(format!("{name} cannot confine a command that may write in {}", root.display())));
        }
        match &self.0 {
            Kind::Bubblewrap { bwrap, own } => Ok(bubblewrap::wrap(bwrap, &own.around, own.temp.path(), job)),
            Kind::Landlock { own } => landlock::wrap(&own.around, own.temp.path(), job).map_err(refused),
            Kind::None { .. } => Ok(job.argv.clone()),
        }
    }

    /// Notes, before a job runs, what it must not change; [`Seal::check`] is for when it has ended. Blocks.
    pub fn seal(&self, job: &Job) -> Seal {
        match self.0 {
            // What is there cannot be changed; what is not could be made.
            Kind::Bubblewrap { .. } => Seal::of_missing(&job.confinement.writable),
            Kind::Landlock { .. } => Seal::of_all(&job.confinement.writable),
            Kind::None { .. } => Seal::default(),
        }
    }

    /// Explains the failure of a job whose output looks as if the sandbox refused something; for the model.
    pub fn explain(&self, job: &Job, output: &str) -> Option<String> {
        let home = match &self.0 {
            Kind::Bubblewrap { own, .. } | Kind::Landlock { own } => own.around.home.as_deref(),
            Kind::None { .. } => None,
        };
        explain::explain(self.name()?, &job.confinement, home, output)
    }
}

impl Own {
    fn new(around: &Surroundings) -> Result<Self, String> {
        let said = |error: io::Error| error.to_string();
        let temp = tempfile::Builder::new().prefix("steersman-tmp-").tempdir().map_err(said)?;
        let mut around = around.clone();
        // The mounts are made on real paths, whatever links lead there.
        around.home = around.home.and_then(|home| home.canonicalize().ok()).filter(|home| home.parent().is_some());
        around.program = around.program.canonicalize().map_err(said)?;
        Ok(Self { around, temp })
    }
}

async fn bubblewrap(around: &Surroundings) -> Result<Sandbox, String> {
    let bwrap = find(&around.path).ok_or("bwrap is not installed")?;
    let is_lent = fs::metadata(&bwrap).is_ok_and(|found| found.permissions().mode() & 0o6000 != 0);
    if is_lent {
        return Err("bwrap runs with the rights of another user here, which no job may take on".to_owned());
    }
    works(Sandbox(Kind::Bubblewrap { bwrap, own: Arc::new(Own::new(around)?) })).await
}

async fn landlock(around: &Surroundings) -> Result<Sandbox, String> {
    if cfg!(not(target_os = "linux")) {
        return Err("it is a part of Linux".to_owned());
    }
    works(Sandbox(Kind::Landlock { own: Arc::new(Own::new(around)?) })).await
}

/// Runs something that does nothing in a sandbox.
async fn works(sandbox: Sandbox) -> Result<Sandbox, String> {
    let own = match &sandbox.0 {
        Kind::Bubblewrap { own, .. } | Kind::Landlock { own } => own,
        Kind::None { why } => return Err(why.clone()),
    };
    let line = sandbox.wrap(&probe::job(own.temp.path())).map_err(|error| error.to_string())?;
    probe::run(&line, &own.around.path).await?;
    if let Some(settings) = probe::git_settings(own.around.home.as_deref(), &own.around.path).await {
        fs::write(own.temp.path().join(GIT_CONFIG), settings).map_err(|error| error.to_string())?;
    }
    Ok(sandbox)
}

/// Looks bubblewrap up.
fn find(path: &OsString) -> Option<PathBuf> {
    let directories = std::env::split_paths(path).filter(|directory| directory.is_absolute());
    let mut programs = directories.map(|directory| directory.join("bwrap"));
    programs
        .find(|program| fs::metadata(program).is_ok_and(|found| found.is_file() && found.permissions().mode() & 1 != 0))
}

fn is_root(path: &Path) -> bool {
    path.parent().is_none()
}
