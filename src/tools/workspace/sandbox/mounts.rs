//! The mounts that make a job's view of the file system, as one list, for bubblewrap and for this program's own
//! mounts.
//!
//! Made for [`super::namespaces`]; nothing is mounted here. Later mounts cover earlier
//! ones, so the order is the policy: system, home, what may be read, what may be written, and above all what nobody
//! may see or change. No link is followed that a command could have made.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use crate::workspace::Job;
use crate::workspace::programs::passes_through;
use crate::workspace::sandbox::places::{self, System};
use crate::workspace::sandbox::{GIT_CONFIG, SandboxResources};
use steersman_base::protected::DirectoryRole;

/// The temporary directory of a machine.
const TEMP: &str = "/tmp";

/// A step in building a job's view of the file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mount {
    /// A file or directory of the machine that can be read.
    ReadOnly(PathBuf, PathBuf),
    /// A file or directory of the machine that can be changed.
    Writable(PathBuf, PathBuf),
    /// A link: its target and its place.
    Link(PathBuf, PathBuf),
    /// An empty directory of the job's own.
    Empty(PathBuf),
    Processes(PathBuf),
    /// The devices that every program needs.
    Devices(PathBuf),
    /// A mount that was made before and can no longer be changed.
    Closed(PathBuf),
}

impl Mount {
    /// Returns it as arguments of bubblewrap, which the hidden sub-command understands as well.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let (flag, paths): (&str, &[&PathBuf]) = match self {
            Self::ReadOnly(from, to) => ("--ro-bind", &[from, to]),
            Self::Writable(from, to) => ("--bind", &[from, to]),
            Self::Link(target, at) => ("--symlink", &[target, at]),
            Self::Empty(at) => ("--tmpfs", &[at]),
            Self::Processes(at) => ("--proc", &[at]),
            Self::Devices(at) => ("--dev", &[at]),
            Self::Closed(at) => ("--remount-ro", &[at]),
        };
        std::iter::once(flag.into()).chain(paths.iter().map(|path| path.as_os_str().to_owned())).collect()
    }

    /// Reads one back; `None` when the flag is none of a mount, or a path is missing.
    pub(super) fn parse(flag: &str, mut path: impl FnMut() -> Option<PathBuf>) -> Option<Self> {
        Some(match flag {
            "--ro-bind" => Self::ReadOnly(path()?, path()?),
            "--bind" => Self::Writable(path()?, path()?),
            "--symlink" => Self::Link(path()?, path()?),
            "--tmpfs" => Self::Empty(path()?),
            "--proc" => Self::Processes(path()?),
            "--dev" => Self::Devices(path()?),
            "--remount-ro" => Self::Closed(path()?),
            _ => return None,
        })
    }

    /// Returns whether it puts a file or directory at its path.
    fn has_content(&self) -> bool {
        matches!(self, Self::ReadOnly(..) | Self::Writable(..) | Self::Empty(_))
    }

    pub(super) fn at(&self) -> &Path {
        match self {
            Self::ReadOnly(_, at)
            | Self::Writable(_, at)
            | Self::Link(_, at)
            | Self::Empty(at)
            | Self::Processes(at)
            | Self::Devices(at)
            | Self::Closed(at) => at,
        }
    }
}

/// Where a job finds the temporary directory of the session: in place of the machine's, unless what it works on lies in
/// that one. Nothing is ever mounted within a directory that commands write, where they could have made a link.
pub(super) fn temp(own: &SandboxResources, job: &Job) -> PathBuf {
    let may = &job.confinement;
    let tools = places::of_search_path(&own.around.path, own.around.home.as_deref());
    let mut shown = may.readable.iter().chain(&may.writable).chain(&own.around.home).chain(&tools);
    let is_within =
        shown.any(|path| path.starts_with(TEMP) || path.canonicalize().is_ok_and(|real| real.starts_with(TEMP)));
    if is_within { own.temp() } else { TEMP.into() }
}

/// Returns the mounts of a job's view, in their order.
pub(super) fn mounts_for(own: &SandboxResources, job: &Job) -> Vec<Mount> {
    let may = &job.confinement;
    let home = own.around.home.as_deref();
    let roots: Vec<PathBuf> = may.writable.iter().filter_map(|root| root.canonicalize().ok()).collect();
    let mut plan = MountPlan { mounts: Vec::new(), roots };
    for place in places::system(may.network) {
        match place {
            System::Real(path) => plan.follow(&path),
            System::Link(path, target) => plan.mounts.push(Mount::Link(target, path)),
        }
    }
    plan.mounts.push(Mount::Processes("/proc".into()));
    // The superuser owns the settings of the kernel below it, also without any capability.
    plan.mounts.push(Mount::Closed("/proc".into()));
    plan.mounts.push(Mount::Devices("/dev".into()));
    let temp = temp(own, job);
    if temp != Path::new(TEMP) {
        plan.mounts.push(Mount::Empty(TEMP.into()));
    }
    plan.mounts.push(Mount::Writable(own.temp(), temp));
    plan.mounts.push(Mount::ReadOnly(own.git_config(), GIT_CONFIG.into()));

    // A workspace that holds the home directory shows all of it but the secrets.
    let shown = home.filter(|home| may.readable.iter().chain(&plan.roots).any(|path| home.starts_with(path)));
    let mut tools: Vec<PathBuf> = home.map(places::toolchains).unwrap_or_default();
    tools.extend(places::of_search_path(&own.around.path, home));
    if let (Some(home), None) = (home, shown) {
        plan.mounts.push(Mount::Empty(home.to_owned()));
        tools.retain(|tool| !plan.is_changeable(tool));
        for tool in &tools {
            plan.follow(tool);
        }
    }
    for path in &may.readable {
        if plan.is_changeable(path) { plan.protect(path) } else { plan.follow(path) }
    }
    for path in places::repositories(&may.writable) {
        plan.mounts.push(Mount::Writable(path.clone(), path));
    }
    for (named, root) in may.writable.iter().filter_map(|named| Some((named, named.canonicalize().ok()?))) {
        plan.mounts.push(Mount::Writable(root.clone(), root.clone()));
        plan.name(named, &root);
    }
    if let Some(home) = shown {
        for path in &tools {
            plan.protect(path);
        }
        for path in places::secrets(home) {
            plan.hide(&path);
        }
    }
    for own_place in own.around.protected.with_role(DirectoryRole::Own) {
        plan.hide(own_place);
        // Scripts of skills and the outputs of commands may lie there.
        for path in may.readable.iter().filter(|path| path.starts_with(own_place)) {
            plan.follow(path);
        }
        // What a server keeps for itself lies there.
        for path in may.unprotected.iter().filter(|path| path.starts_with(own_place) && is_real(path)) {
            plan.mounts.push(Mount::Writable(path.clone(), path.clone()));
        }
    }
    for path in own.around.hidden.iter().chain(&may.denied) {
        plan.hide(path);
    }
    // What was made in between to hold the mounts.
    plan.mounts.push(Mount::Closed("/".into()));
    without_covered(&plan.mounts)
}

/// Leaves out what a later mount covers: nobody would see it, and nobody could check where it was made.
fn without_covered(mounts: &[Mount]) -> Vec<Mount> {
    let is_covered = |number: usize, mount: &Mount| {
        let mut later = mounts.iter().skip(number + 1);
        mount.has_content() && later.any(|over| over.has_content() && mount.at().starts_with(over.at()))
    };
    let seen = mounts.iter().enumerate().filter(|(number, mount)| !is_covered(*number, mount));
    seen.map(|(_, mount)| mount.clone()).collect()
}

struct MountPlan {
    mounts: Vec<Mount>,
    /// What the job may write, by its real paths.
    roots: Vec<PathBuf>,
}

impl MountPlan {
    /// Returns whether a command decides what is at a path.
    fn is_changeable(&self, path: &Path) -> bool {
        passes_through(path, &self.roots)
    }

    /// Shows what is at a path, wherever links lead to it; nobody but the user made these.
    fn follow(&mut self, path: &Path) {
        // A link in the view leads to what it leads to on the machine, and nothing is mounted on one.
        let is_in_view = self.mounts.iter().any(|mount| match mount {
            Mount::Link(_, at) => path.starts_with(at),
            Mount::ReadOnly(_, at) | Mount::Writable(_, at) => path != at && path.starts_with(at),
            Mount::Empty(_) | Mount::Processes(_) | Mount::Devices(_) | Mount::Closed(_) => false,
        });
        if let Ok(real) = path.canonicalize() {
            let at = if is_in_view || goes_up(path) { real.clone() } else { path.to_owned() };
            self.mounts.push(Mount::ReadOnly(real, at));
        }
    }

    /// Makes read-only what is there already. Behind a link lies something else, and a link cannot be covered.
    fn protect(&mut self, path: &Path) {
        if is_real(path) {
            self.mounts.push(Mount::ReadOnly(path.to_owned(), path.to_owned()));
        }
    }

    /// Covers what is there, and what a link there leads to when it is in the view.
    fn hide(&mut self, path: &Path) {
        let Ok(real) = path.canonicalize() else { return };
        let is_directory = real.is_dir();
        let mut shown: Vec<PathBuf> = self.mounts.iter().filter_map(|mount| shown_at(mount, &real)).collect();
        shown.sort();
        shown.dedup();
        let cover = |at| if is_directory { Mount::Empty(at) } else { Mount::ReadOnly("/dev/null".into(), at) };
        self.mounts.extend(shown.into_iter().map(cover));
    }

    /// Keeps another name of a place, unless the link that makes it one is in the view already.
    fn name(&mut self, named: &Path, real: &Path) {
        let is_shown = |mount: &Mount| !matches!(mount, Mount::Empty(_)) && named.starts_with(mount.at());
        if named != real && !goes_up(named) && !self.mounts.iter().any(is_shown) {
            self.mounts.push(Mount::Link(real.to_owned(), named.to_owned()));
        }
    }
}

/// Returns the place at which a mount shows a file of the machine; `None` when it does not show it.
fn shown_at(mount: &Mount, path: &Path) -> Option<PathBuf> {
    match mount {
        Mount::ReadOnly(from, to) | Mount::Writable(from, to) if path == from => Some(to.clone()),
        Mount::ReadOnly(from, to) | Mount::Writable(from, to) => path.strip_prefix(from).ok().map(|rest| to.join(rest)),
        Mount::Link(..) | Mount::Empty(_) | Mount::Processes(_) | Mount::Devices(_) | Mount::Closed(_) => None,
    }
}

/// Returns whether a path has a step to the directory above: nothing can be mounted there by that name.
fn goes_up(path: &Path) -> bool {
    path.components().any(|step| step == Component::ParentDir)
}

/// Returns whether something is there and no link leads to it.
fn is_real(path: &Path) -> bool {
    path.canonicalize().is_ok_and(|real| real == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_later_mount_covers_is_not_mounted() {
        let read = |path: &str| Mount::ReadOnly(path.into(), path.into());
        let written = |path: &str| Mount::Writable(path.into(), path.into());
        let link = Mount::Link("/real".into(), "/w/named".into());
        let kept = [link, Mount::Empty("/h".into()), written("/w"), read("/w/.git"), read("/w/.git/hooks")];
        let mut all = vec![read("/w/.git"), read("/h/tool"), read("/w/sub")];
        all.extend(kept.clone());
        all.insert(6, read("/w/.git/hooks"));
        all.push(Mount::Closed("/".into()));
        assert_eq!(without_covered(&all), [&kept[..], &[Mount::Closed("/".into())]].concat());
    }
}
