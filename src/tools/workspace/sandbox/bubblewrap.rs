//! Bubblewrap: the command line that makes the mounts of a job and namespaces of its own by the program `bwrap`.
//!
//! Made for [`super::Sandbox`]; nothing is started here.

use std::ffi::OsString;
use std::path::Path;

use crate::workspace::own_program::INHERITED;
use crate::workspace::sandbox::mounts::{self, Mount};
use crate::workspace::sandbox::{SUBCOMMAND, SandboxResources, inner};
use crate::workspace::{Job, Network};

/// Returns the command line that runs a job confined.
pub(super) fn wrap(bwrap: &Path, own: &SandboxResources, job: &Job) -> Vec<OsString> {
    let mut line: Vec<OsString> = vec![bwrap.into()];
    line.extend(["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"].map(OsString::from));
    match job.confinement.network {
        Network::Off => {}
        Network::On => line.push("--share-net".into()),
    }
    let mounts = mounts::of(own, job);
    line.extend(mounts.iter().flat_map(Mount::arguments));
    line.extend(["--chdir".into(), job.cwd.clone().into()]);
    // As a file that is open: in the view there is no place of it, and its file on the machine may be another one by now.
    line.extend(["--", INHERITED, SUBCOMMAND, inner::INSIDE, inner::PROGRAM, INHERITED].map(OsString::from));
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
