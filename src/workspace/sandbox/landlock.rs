//! Landlock: the command line of the hidden sub-command that gives its own rights away, and the giving away itself.
//!
//! Rights can only be given to whole trees, so nothing within the workspace is closed;
//! [`crate::workspace::snapshot`] looks after what must not change. Paths can still be looked at from outside (that
//! they exist, their owner and size), not opened.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::workspace::Job;
use crate::workspace::programs::passes_through;
use crate::workspace::sandbox::places::{self, System};
use crate::workspace::sandbox::{SUBCOMMAND, SandboxResources, inner};

/// Returns the command line that runs a job confined.
///
/// # Errors
/// One sentence when it could reach the home directory: no part of it could be kept closed.
pub(super) fn wrap(own: &SandboxResources, job: &Job) -> Result<Vec<OsString>, String> {
    let may = &job.confinement;
    let around = &own.around;
    let (temp, git_config) = (own.temp(), own.git_config());
    let home = around.home.as_deref();
    let mut reached = may.readable.iter().chain(&may.writable);
    if home.is_some_and(|home| reached.any(|path| home.starts_with(path))) {
        let sentence = "the workspace holds the home directory, and Landlock cannot keep its secrets closed: start in a \
                        project's directory, or let namespaces or bubblewrap work here";
        return Err(sentence.to_owned());
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

    let mut line: Vec<OsString> = vec![around.program.clone().into(), SUBCOMMAND.into()];
    for path in readable {
        line.extend(["--ro".into(), path.into()]);
    }
    let repositories = places::repositories(&may.writable);
    for path in may.writable.iter().chain(&repositories).chain([&temp]) {
        line.extend(["--rw".into(), path.into()]);
    }
    line.extend(["--tmp".into(), temp.into(), "--git-config".into(), git_config.into()]);
    inner::network(may.network, &mut line);
    line.push("--".into());
    line.extend(job.argv.iter().cloned());
    Ok(line)
}

#[cfg(target_os = "linux")]
pub(super) use kernel::{UnixSockets, confine, scope};

#[cfg(target_os = "linux")]
mod kernel {
    //! What the kernel is told.

    use std::path::PathBuf;

    use landlock::{
        ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, Ruleset, RulesetAttr,
        RulesetCreatedAttr, RulesetStatus, Scope, path_beneath_rules,
    };

    use crate::workspace::Network;
    use crate::workspace::sandbox::places;

    /// The least that counts as a sandbox: before it, files outside could be emptied.
    const LEAST: ABI = ABI::V3;
    /// The newest that was looked through.
    const BEST: ABI = ABI::V9;

    /// Whether the kernel also decides about sockets that have a path.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(in crate::workspace::sandbox) enum UnixSockets {
        Confined,
        /// They are open to everybody whom the file system lets.
        Open,
    }

    /// Confines this process for ever to these paths, and to itself for signals, abstract sockets and TCP.
    pub(in crate::workspace::sandbox) fn confine(
        readable: &[PathBuf],
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
        let read: BitFlags<AccessFs> = AccessFs::from_read(BEST);
        let write = AccessFs::from_all(BEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
        let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
        let status = ruleset
            .create()
            .map_err(describe)?
            .add_rules(path_beneath_rules(readable, read))
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
    pub(in crate::workspace::sandbox) fn scope() -> Result<(), String> {
        let describe = |error: landlock::RulesetError| error.to_string();
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
        let scoped = ruleset.scope(Scope::from_all(BEST)).map_err(describe)?;
        scoped.create().map_err(describe)?.restrict_self().map_err(describe).map(|_| ())
    }
}
