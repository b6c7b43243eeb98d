//! The hidden sub-command: this program gives its rights away for ever and becomes the job. It is dispatched before
//! anything else happens, so it has one thread.
//!
//! It fails closed: when a restriction cannot be applied, it says so, ends with [`FAILED`], and the job does not run.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use crate::workspace::Network;

/// The exit code when the job was not started because it could not be confined.
pub const FAILED: u8 = 120;
/// The exit code when there is no such program, as of a shell.
const NOT_FOUND: u8 = 127;
/// The exit code when the program cannot be executed, as of a shell.
const NOT_EXECUTABLE: u8 = 126;

/// Tells git where the settings of the user are.
const GIT_CONFIG_VARIABLE: &str = "GIT_CONFIG_GLOBAL";

/// Holds what the sub-command was told.
#[derive(Debug, Default)]
struct Order {
    readable: Vec<PathBuf>,
    writable: Vec<PathBuf>,
    temp: Option<PathBuf>,
    git_config: Option<PathBuf>,
    network: Network,
    /// Bubblewrap confines the file system already.
    inside: bool,
    argv: Vec<OsString>,
}

/// Confines this process and executes the job; returns the exit code only when that failed, after saying why.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let order = match read(args) {
        Ok(order) => order,
        Err(sentence) => return failed(&sentence),
    };
    let Some((program, arguments)) = order.argv.split_first() else { return failed("there is nothing to run") };
    if let Err(sentence) = confine(&order) {
        return failed(&sentence);
    }
    let mut command = Command::new(program);
    command.args(arguments).env_remove("TMP").env_remove("TEMP");
    if let Some(temp) = &order.temp {
        command.env("TMPDIR", temp);
    }
    // The user's own is not to be seen, for what else it may hold.
    if let Some(config) = &order.git_config
        && std::env::var_os(GIT_CONFIG_VARIABLE).is_none()
    {
        command.env(GIT_CONFIG_VARIABLE, config);
    }
    let error = command.exec();
    say(&format!("{} cannot be started: {error}", program.to_string_lossy()));
    if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_EXECUTABLE }
}

fn read(args: impl IntoIterator<Item = OsString>) -> Result<Order, String> {
    let mut order = Order::default();
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        let mut path = || args.next().map(PathBuf::from).ok_or("a path is missing");
        match arg.to_str() {
            Some("--ro") => order.readable.push(path()?),
            Some("--rw") => order.writable.push(path()?),
            Some("--tmp") => order.temp = Some(path()?),
            Some("--git-config") => order.git_config = Some(path()?),
            Some("--network") => order.network = Network::On,
            Some("--inside") => order.inside = true,
            Some("--") => {
                order.argv = args.collect();
                return Ok(order);
            }
            _ => return Err(format!("{} is not understood", arg.to_string_lossy())),
        }
    }
    Err("there is nothing to run".to_owned())
}

#[cfg(target_os = "linux")]
fn confine(order: &Order) -> Result<(), String> {
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};

    use crate::workspace::sandbox::landlock::{self, UnixSockets};
    use crate::workspace::sandbox::seccomp;

    let said = |error: rustix::io::Errno| error.to_string();
    set_no_new_privs(true).map_err(said)?;
    let nothing = CapabilitySet::empty();
    let sets = CapabilitySets { effective: nothing, permitted: nothing, inheritable: nothing };
    // With no new privileges not even the superuser's programs get them back.
    set_capabilities(None, sets).map_err(said)?;

    let inet = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let mut families = Vec::new();
    if order.inside {
        landlock::scope()?;
        // Its network is the job's own, or the one it may use.
        families.push(libc::AF_UNIX);
        families.extend(inet);
    } else {
        let unix = landlock::confine(&order.readable, &order.writable, order.network)?;
        families.extend((unix == UnixSockets::Confined).then_some(libc::AF_UNIX));
        families.extend(inet.into_iter().filter(|_| order.network == Network::On));
    }
    seccomp::confine(&families)
}

#[cfg(not(target_os = "linux"))]
fn confine(_: &Order) -> Result<(), String> {
    Err("this system has none".to_owned())
}

fn failed(sentence: &str) -> u8 {
    say(&format!("the sandbox cannot be set up, so nothing was run: {sentence}"));
    FAILED
}

fn say(sentence: &str) {
    let _ = writeln!(io::stderr(), "steersman: {sentence}");
}
