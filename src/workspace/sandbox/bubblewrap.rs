//! Bubblewrap: a view of the file system that holds only what a job may reach, and namespaces of its own.
//!
//! Made for [`super::Sandbox`]; nothing is started here. Later mounts cover earlier ones, so the order is the policy:
//! system, home, what may be read, what may be written, and above all what nobody may see or change.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::workspace::sandbox::places::{self, System};
use crate::workspace::sandbox::{GIT_CONFIG, INNER, SUBCOMMAND, Surroundings};
use crate::workspace::{Job, Network};

/// Returns the command line that runs a job confined.
pub(super) fn wrap(bwrap: &Path, around: &Surroundings, temp: &Path, job: &Job) -> Vec<OsString> {
    let may = &job.confinement;
    let mut line = Line(vec![bwrap.into()]);
    line.flags(&["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
    match may.network {
        Network::Off => {}
        Network::On => line.flags(&["--share-net"]),
    }
    for place in places::system(may.network) {
        match place {
            System::Real(path) => line.read_only(&path),
            System::Link(path, target) => line.mount("--symlink", &target, &path),
        }
    }
    // The superuser owns the settings of the kernel below it, also without any capability.
    line.flags(&["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"]);
    line.mount("--bind", temp, Path::new("/tmp"));
    line.mount("--ro-bind", &around.program, Path::new(INNER));

    let home = around.home.as_deref();
    // A workspace that holds the home directory shows all of it but the secrets.
    let shown = home.filter(|home| may.readable.iter().chain(&may.writable).any(|path| home.starts_with(path)));
    let tools = home.map(places::toolchains).unwrap_or_default();
    let mut tools: Vec<PathBuf> = tools.into_iter().chain(places::of_search_path(&around.path, home)).collect();
    if let (Some(home), None) = (home, shown) {
        line.one("--tmpfs", home);
        tools.retain(|tool| !may.writable.iter().any(|path| tool.starts_with(path)));
        line.all_read_only(&tools);
    }
    may.readable.iter().filter(|path| path.exists()).for_each(|path| line.read_only(path));
    let repositories = places::repositories(&may.writable);
    may.writable.iter().chain(&repositories).for_each(|path| line.mount("--bind", path, path));
    if let Some(home) = shown {
        line.all_read_only(&tools);
        line.all_read_only(&places::starters(home));
        for secret in places::secrets(home) {
            if secret.is_dir() {
                line.one("--tmpfs", &secret);
            } else {
                line.mount("--ro-bind", Path::new("/dev/null"), &secret);
            }
        }
    }
    for root in &may.writable {
        // As a mount of its own it cannot be moved aside and replaced by another.
        let git = root.join(".git");
        if git.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            line.mount("--bind", &git, &git);
        }
        places::sealed(root, &may.writable).iter().filter(|path| path.exists()).for_each(|path| line.read_only(path));
    }
    // What was made in between to hold the mounts.
    line.one("--remount-ro", Path::new("/"));

    line.one("--chdir", &job.cwd);
    line.flags(&["--", INNER, SUBCOMMAND, "--inside", "--tmp", "/tmp"]);
    if temp.join(GIT_CONFIG).exists() {
        line.one("--git-config", &Path::new("/tmp").join(GIT_CONFIG));
    }
    match may.network {
        Network::Off => {}
        Network::On => line.flags(&["--network"]),
    }
    line.flags(&["--"]);
    line.0.extend(job.argv.iter().cloned());
    line.0
}

struct Line(Vec<OsString>);

impl Line {
    fn flags(&mut self, flags: &[&str]) {
        self.0.extend(flags.iter().map(OsString::from));
    }

    fn one(&mut self, flag: &str, path: &Path) {
        self.0.extend([OsStr::new(flag), path.as_os_str()].map(OsStr::to_owned));
    }

    fn mount(&mut self, flag: &str, from: &Path, to: &Path) {
        self.0.extend([OsStr::new(flag), from.as_os_str(), to.as_os_str()].map(OsStr::to_owned));
    }

    fn all_read_only(&mut self, paths: &[PathBuf]) {
        for path in paths {
            self.read_only(path);
        }
    }

    fn read_only(&mut self, path: &Path) {
        self.mount("--ro-bind", path, path);
    }
}
