//! Landlock: the command line of the hidden sub-command that gives its own rights away, and the giving away itself.
//!
//! Rights can only be given to whole trees: around what is covered elsewhere each neighbour gets its own, and within the
//! workspace nothing is closed here; `supervisor` closes what must not change. Paths can still be looked at from outside
//! (that they exist, their owner and size), not opened.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope, path_beneath_rules,
};

use crate::workspace::programs::passes_through;
use crate::workspace::sandbox::places::{self, System};
use crate::workspace::sandbox::{SUBCOMMAND, SandboxResources, inner};
use crate::workspace::{Job, Network};
use steersman_base::protected::DirectoryRole;

/// Returns the command line that runs a job confined.
///
/// # Errors
/// One sentence when it could reach the home directory: no part of it could be kept closed.
pub(super) fn wrap(own: &SandboxResources, job: &Job) -> Result<Vec<OsString>, String> {
    let may = &job.confinement;
    let around = &own.around;
    let (temp, git_config) = (own.temp(), own.git_config());
    let home = around.home.as_deref();
    let is_reached = |place: &Path| may.readable.iter().chain(&may.writable).any(|path| place.starts_with(path));
    let holds = |what: &str, kept: &str| {
        format!(
            "the workspace holds {what}, and Landlock cannot keep {kept} closed: start in a project's directory, or let \
             namespaces or bubblewrap work here"
        )
    };
    if around.protected.with_role(DirectoryRole::Own).any(is_reached) {
        return Err(holds("this program's own files", "them"));
    }
    if home.is_some_and(is_reached) {
        return Err(holds("the home directory", "its secrets"));
    }
    let within = |root: &PathBuf| around.hidden.iter().find(|hidden| hidden.starts_with(root));
    if let Some(hidden) = may.writable.iter().find_map(within) {
        let sentence = "Landlock cannot keep it closed within the workspace: let namespaces or bubblewrap work here";
        return Err(format!("{} is the program's own; {sentence}", hidden.display()));
    }
    let system = places::system(may.network).into_iter().map(|place| match place {
        System::Real(path) | System::Link(path, _) => path,
    });
    // Some lead to homes.
    let system = system.filter(|path| !places::HOMES.iter().any(|home| path == Path::new(home)));
    let tools = home.map(places::toolchains).unwrap_or_default();
    let tools = tools.into_iter().chain(places::of_search_path(&around.path, home));
    let readable = system.chain([PathBuf::from("/proc"), git_config.clone()]).chain(tools);
    let readable = readable.chain(may.readable.iter().cloned());
    // What is there can be read already, unless a command made it a link to what cannot.
    let readable = readable.filter(|path| !passes_through(path, &may.writable));

    let mut line: Vec<OsString> = vec![around.program.itself(), SUBCOMMAND.into()];
    for path in readable {
        line.extend(["--ro".into(), path.into()]);
    }
    for path in around.hidden.iter().chain(&may.denied).filter_map(|path| path.canonicalize().ok()) {
        line.extend(["--cover".into(), path.into()]);
    }
    let repositories = places::repositories(&may.writable);
    for path in may.writable.iter().chain(&repositories).chain([&temp]) {
        line.extend(["--rw".into(), path.into()]);
    }
    line.extend(inner::arguments(own, job, &temp, &git_config));
    Ok(line)
}

/// The least that counts as a sandbox: before it, files outside could be emptied.
const LEAST: ABI = ABI::V3;
/// The newest that was looked through.
const BEST: ABI = ABI::V9;

/// Whether the kernel also decides about sockets that have a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnixSockets {
    Confined,
    /// They are open to everybody whom the file system lets.
    Open,
}

/// Rights to read that leave something out.
#[derive(Debug, Default, PartialEq, Eq)]
struct Readable {
    whole: Vec<PathBuf>,
    /// Directories of which only the names can be listed.
    listed: Vec<PathBuf>,
}

impl Readable {
    /// Leaves out what is covered; real paths.
    fn without(readable: &[PathBuf], covered: &[PathBuf]) -> Self {
        let mut found = Self::default();
        let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
        let mut open = readable.to_vec();
        while let Some(path) = open.pop() {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            if covered.iter().any(|covered| real.starts_with(covered)) {
                continue;
            }
            if !covered.iter().any(|covered| covered.starts_with(&real)) {
                found.whole.push(path);
                continue;
            }
            // Behind a link is what has rights of its own, or none.
            let children = fs::read_dir(&real).into_iter().flatten().flatten().map(|entry| entry.path());
            open.extend(children.filter(|path| !is_link(path)));
            // The right to list goes down the whole tree, also to a directory that is covered.
            if covered.iter().filter(|covered| covered.starts_with(&real)).all(|covered| !covered.is_dir()) {
                found.listed.push(real);
            }
        }
        found
    }
}

/// Confines this process for ever to these paths but for those that are covered, and to itself for signals, abstract
/// sockets and TCP.
pub(super) fn confine(
    readable: &[PathBuf],
    covered: &[PathBuf],
    writable: &[PathBuf],
    network: Network,
) -> Result<UnixSockets, String> {
    let describe = |error: landlock::RulesetError| error.to_string();
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(LEAST))
        .map_err(describe)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(BEST))
        .map_err(describe)?
        .scope(Scope::from_all(BEST))
        .map_err(describe)?;
    ruleset = match network {
        Network::Off => ruleset.handle_access(AccessNet::from_all(ABI::V4)).map_err(describe)?,
        Network::On => ruleset,
    };
    let Readable { whole, listed } = Readable::without(readable, covered);
    let read: BitFlags<AccessFs> = AccessFs::from_read(BEST);
    let write = AccessFs::from_all(BEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let status = ruleset
        .create()
        .map_err(describe)?
        .add_rules(path_beneath_rules(whole, read))
        .map_err(describe)?
        .add_rules(path_beneath_rules(listed, AccessFs::ReadDir))
        .map_err(describe)?
        .add_rules(path_beneath_rules(writable, write))
        .map_err(describe)?
        .add_rules(path_beneath_rules(places::DEVICES, device))
        .map_err(describe)?
        .restrict_self()
        .map_err(describe)?;
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err("the kernel does not enforce Landlock".to_owned());
    }
    Ok(match status.landlock {
        LandlockStatus::Available { effective_abi, .. } if effective_abi >= ABI::V9 => UnixSockets::Confined,
        LandlockStatus::Available { .. } | LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => {
            UnixSockets::Open
        }
    })
}

/// Confines signals and abstract sockets to this process and what it starts, where the kernel can.
pub(super) fn scope() -> Result<(), String> {
    let describe = |error: landlock::RulesetError| error.to_string();
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    let scoped = ruleset.scope(Scope::from_all(BEST)).map_err(describe)?;
    scoped.create().map_err(describe)?.restrict_self().map_err(describe).map(|_| ())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_covered_is_left_out_and_its_neighbours_keep_their_rights() {
        let dir = tempfile::TempDir::new().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        for name in ["usr/bin", "usr/lib/inner", "opt"] {
            fs::create_dir_all(dir.join(name)).unwrap();
        }
        for name in ["usr/bin/curl", "usr/bin/ls", "opt/tool"] {
            fs::write(dir.join(name), "").unwrap();
        }
        symlink("curl", dir.join("usr/bin/fetch")).unwrap();
        let at = |names: &[&str]| names.iter().map(|name| dir.join(name)).collect::<Vec<_>>();
        let mut found = Readable::without(&at(&["usr", "opt", "usr/bin/fetch"]), &at(&["usr/bin/curl"]));
        found.whole.sort();
        assert_eq!(found, Readable { whole: at(&["opt", "usr/bin/ls", "usr/lib"]), listed: at(&["usr", "usr/bin"]) });
        // A directory that is covered cannot even be listed.
        let found = Readable::without(&at(&["usr"]), &at(&["usr/lib/inner"]));
        assert_eq!(found, Readable { whole: at(&["usr/bin"]), listed: Vec::new() });
        let found = Readable::without(&at(&["usr"]), &[]);
        assert_eq!(found, Readable { whole: at(&["usr"]), listed: Vec::new() });
    }
}
