//! Bubblewrap: the command line that makes the mounts of a job and namespaces of its own by the program `bwrap`.
//!
//! Made for [`super::Sandbox`]; nothing is started here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::workspace::sandbox::mounts::{self, Mount};
use crate::workspace::sandbox::{SUBCOMMAND, SandboxResources, inner};
use crate::workspace::{Job, Network};

/// Where the hidden sub-command lies within bubblewrap.
const INNER: &str = "/run/steersman";

/// Returns the command line that runs a job confined.
pub(super) fn wrap(bwrap: &Path, own: &SandboxResources, job: &Job) -> Vec<OsString> {
    let mut line: Vec<OsString> = vec![bwrap.into()];
    line.extend(["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"].map(OsString::from));
    match job.confinement.network {
        Network::Off => {}
        Network::On => line.push("--share-net".into()),
    }
    let program = Mount::ReadOnly(own.around.program.clone(), PathBuf::from(INNER));
    // Before the view is closed.
    line.extend(program.arguments());
    let mounts = mounts::of(own, job);
    line.extend(mounts.iter().flat_map(Mount::arguments));
    line.extend(["--chdir".into(), job.cwd.clone().into()]);
    line.extend(["--", INNER, SUBCOMMAND, inner::INSIDE].map(OsString::from));
    line.extend(expected(&mounts));
    line.extend(inner::within_mounts(own, job));
    line
}

/// Returns the arguments that name what must be at each place before the job runs.
#[cfg(target_os = "linux")]
fn expected(mounts: &[Mount]) -> Vec<OsString> {
    use crate::workspace::sandbox::expected_mount::ExpectedMount;

    ExpectedMount::of(mounts).iter().flat_map(ExpectedMount::arguments).collect()
}

/// There is no bubblewrap elsewhere.
#[cfg(not(target_os = "linux"))]
fn expected(_: &[Mount]) -> Vec<OsString> {
    Vec::new()
}
