//! Jobs and how they ended. Made by tools, run by the spawner.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use steersman_core::approval::HiddenFiles;

/// A program that is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The program and its arguments; the program is looked up in the job's `PATH`.
    pub argv: Vec<OsString>,
    /// The working directory, absolute.
    pub cwd: PathBuf,
    /// Variables besides those that every job has.
    pub environment: Vec<(OsString, OsString)>,
    /// The paths and the network that it may use in a sandbox.
    pub confinement: Confinement,
}

/// The paths and the network that a job may use. Programs and libraries of the system are readable besides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confinement {
    /// Files and directories that it may read.
    pub readable: Vec<PathBuf>,
    /// Files and directories that it may read and change.
    pub writable: Vec<PathBuf>,
    /// Directories in which no name is protected: where a job whose every word is this program's own makes a repository, and
    /// where a server keeps what it loads.
    pub unprotected: Vec<PathBuf>,
    /// Programs that it may neither start nor read, and files and directories that it may not read.
    pub denied: Vec<PathBuf>,
    /// What else it may not read: files that patterns name, which are looked for when it starts.
    pub hidden: HiddenFiles,
    /// Whether it has a network.
    pub network: Network,
}

/// The network of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Network {
    /// None, not even the loopback of the machine.
    #[default]
    Off,
    /// That of the machine.
    On,
}

/// Where a program of the user runs: a hook, a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Placement {
    /// In the sandbox, where there is one.
    #[default]
    Sandboxed,
    /// Outside of it, and then never from where agents can write. The user's own choice.
    Outside,
}

/// The end of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// The exit code; `None` when a signal ended it, or it is unknown.
    pub code: Option<i32>,
    /// The number of the signal that ended it.
    pub signal: Option<i32>,
    /// Processes of it that were left, or ran when it was to end, and were killed.
    pub killed: u32,
    /// Processes that could not be killed in time; the kernel holds them.
    pub left: u32,
    /// Why it was ended or did not start; `None` when it ended by itself or was cancelled.
    pub failure: Option<Failure>,
}

/// The reason why a job failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The program could not be started; a sentence says why.
    NotStarted(String),
    /// It had more processes than a job may have.
    TooManyProcesses,
    /// Its processes together had more memory than this, bytes.
    TooMuchMemory(u64),
    /// The machine had almost no memory left.
    MachineOutOfMemory,
    /// Its guard could not see its processes any more.
    Unwatched,
    /// Its guard was killed. How the program ended is unknown; what was found of it was killed.
    GuardLost,
}

/// Returns the name of a signal, such as `SIGKILL`.
pub fn signal_name(signal: i32) -> String {
    let named = nix::sys::signal::Signal::try_from(signal);
    named.map_or_else(|_| format!("signal {signal}"), |known| known.as_str().to_owned())
}
