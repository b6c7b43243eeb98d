//! The hidden sub-command: this program gives its rights away for ever and becomes the job. It is dispatched before
//! anything else happens, so it has one thread.
//!
//! It fails closed: when a restriction cannot be applied, it says so, ends with [`FAILED`], and the job does not run.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};

use crate::workspace::sandbox::landlock::{self, UnixSockets};
use crate::workspace::sandbox::mounts::Mount;
use crate::workspace::sandbox::namespaces::{self, Side};
use crate::workspace::sandbox::supervisor::View;
use crate::workspace::sandbox::{SandboxResources, init, listed_mount, seccomp, supervisor};
use crate::workspace::{Job, Network};
use steersman_base::protected::ProtectedPlaces;

/// The exit code when the job was not started because it could not be confined.
pub const FAILED: u8 = 120;
/// The exit code when there is no such program, as of a shell.
const NOT_FOUND: u8 = 127;
/// The exit code when the program cannot be executed, as of a shell.
const NOT_EXECUTABLE: u8 = 126;

/// The variable that names the user's settings for git.
const GIT_CONFIG_VARIABLE: &str = "GIT_CONFIG_GLOBAL";

/// The variable with settings for git that stand above all files.
const GIT_PARAMETERS: &str = "GIT_CONFIG_PARAMETERS";

/// The first argument where bubblewrap has made mounts and namespaces already.
pub(super) const INSIDE: &str = "--inside";
/// The first argument where mounts and namespaces are to be made.
pub(super) const NAMESPACES: &str = "--namespaces";

/// The argument that makes this program answer the system calls of the job. The directory whose lock it takes follows.
pub(super) const SUPERVISE: &str = "--supervise";
/// The argument before the open file that this program was started from, which the job does not get.
pub(super) const PROGRAM: &str = "--program";

/// The parsed arguments of the sub-command.
#[derive(Debug, Default)]
struct InnerArguments {
    place: Stage,
    /// The input of the job; that of this process without.
    input: Option<Stdio>,
    mounts: Vec<Mount>,
    /// The mounts that must be there already: what, and where.
    expected: Vec<(OsString, PathBuf)>,
    cwd: Option<PathBuf>,
    readable: Vec<PathBuf>,
    writable: Vec<PathBuf>,
    /// What may not be read, wherever it lies.
    covered: Vec<PathBuf>,
    temp: Option<PathBuf>,
    git_config: Option<PathBuf>,
    network: Network,
    /// Whose lock the supervisor takes, and what it protects; nothing supervises the job without.
    supervised: Option<(PathBuf, ProtectedPlaces)>,
    argv: Vec<OsString>,
}

/// The stage at which a process of the sub-command is started.
#[derive(Debug, Default, Clone, Copy)]
enum Stage {
    /// On the machine, where Landlock is to confine it.
    #[default]
    Machine,
    /// In the mounts and namespaces that bubblewrap made.
    Inside,
    /// On the machine, where namespaces are to be made.
    Outside,
    /// In new namespaces, as their first process; the job's user and group.
    First(u32, u32),
}

/// Returns the arguments that the command line of every kind of sandbox ends with.
pub(super) fn arguments(own: &SandboxResources, job: &Job, temp: &Path, git_config: &Path) -> Vec<OsString> {
    let mut line: Vec<OsString> = vec!["--tmp".into(), temp.into(), "--git-config".into(), git_config.into()];
    // If the kernel lets this program supervise the job.
    if own.unsupervised.is_none() {
        let locked = job.confinement.writable.first().and_then(|root| root.canonicalize().ok());
        line.extend([SUPERVISE.into(), locked.unwrap_or_else(|| temp.to_owned()).into()]);
        line.extend(own.protected(job, temp).arguments());
    }
    match job.confinement.network {
        Network::Off => {}
        Network::On => line.push("--network".into()),
    }
    line.push("--".into());
    line.extend(job.argv.iter().cloned());
    line
}

/// Confines this process and executes the job; returns the exit code only when that failed, after saying why, or when
/// the job runs in namespaces that this process waits for.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let mut order = match parse_arguments(args) {
        Ok(order) => order,
        Err(sentence) => return failed(&sentence),
    };
    match separate(&mut order) {
        Ok(None) => {}
        Ok(Some(code)) => return code,
        Err(sentence) => return failed(&sentence),
    }
    let Some((program, arguments)) = order.argv.split_first() else { return failed("there is nothing to run") };
    let supervised = order.supervised.take();
    let sockets = match confine(&order) {
        Ok(families) => families,
        Err(sentence) => return failed(&sentence),
    };
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
    // What it keeps is closed.
    if std::env::var_os(GIT_PARAMETERS).is_none() {
        command.env(GIT_PARAMETERS, "'rerere.enabled'='false'");
    }
    if let Some(input) = order.input.take() {
        command.stdin(input);
    }
    let error = match start(command, order.place, supervised, sockets) {
        Ok(code) => return code,
        Err(StartError::Confinement(sentence)) => return failed(&sentence),
        Err(StartError::Program(error)) => error,
    };
    say(&format!("{} cannot be started: {error}", program.to_string_lossy()));
    if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_EXECUTABLE }
}

/// Returns the exit code that says how a process ended, as of a shell.
pub(super) fn exit_code(code: Option<i32>, signal: Option<i32>) -> u8 {
    const SIGNALLED: i32 = 128;
    let code = code.or(signal.map(|signal| SIGNALLED + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED)
}

fn parse_arguments(args: impl IntoIterator<Item = OsString>) -> Result<InnerArguments, String> {
    let mut order = InnerArguments::default();
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        let mut path = || args.next().map(PathBuf::from).ok_or("a path is missing");
        match arg.to_str() {
            Some("--ro") => order.readable.push(path()?),
            Some("--rw") => order.writable.push(path()?),
            Some("--cover") => order.covered.push(path()?),
            Some("--tmp") => order.temp = Some(path()?),
            Some("--git-config") => order.git_config = Some(path()?),
            Some("--chdir") => order.cwd = Some(path()?),
            Some("--expect") => order.expected.push((path()?.into(), path()?)),
            Some("--network") => order.network = Network::On,
            Some(SUPERVISE) => order.supervised = Some((path()?, ProtectedPlaces::default())),
            Some(PROGRAM) => {
                let number = path()?.file_name().and_then(|number| number.to_str()?.parse::<i32>().ok());
                nix::unistd::close(number.ok_or("the number of the program is missing")?)
                    .map_err(|error| error.to_string())?;
            }
            Some(INSIDE) => order.place = Stage::Inside,
            Some(NAMESPACES) => order.place = Stage::Outside,
            Some("--") => {
                order.argv = args.collect();
                return Ok(order);
            }
            flag => {
                if let (Some(role), Some((_, places))) = (ProtectedPlaces::role_of(&arg), &mut order.supervised) {
                    places.add(role, &path()?);
                    continue;
                }
                let mount = flag.and_then(|flag| Mount::parse(flag, || args.next().map(PathBuf::from)));
                order.mounts.push(mount.ok_or_else(|| format!("{} is not understood", arg.to_string_lossy()))?);
            }
        }
    }
    Err("there is nothing to run".to_owned())
}

/// The error when a job was not started.
pub(super) enum StartError {
    /// It cannot be confined; one sentence.
    Confinement(String),
    /// Its program cannot be started.
    Program(io::Error),
}

/// Confines this process but for its system calls; returns the kinds of socket that the job may open.
fn confine(order: &InnerArguments) -> Result<Vec<i32>, String> {
    let describe = |error: rustix::io::Errno| error.to_string();
    set_no_new_privs(true).map_err(describe)?;
    listed_mount::check(&order.expected)?;
    if let Stage::First(user, group) = order.place {
        let cwd = order.cwd.as_deref().ok_or("a working directory is missing")?;
        init::prepare(&order.mounts, cwd, order.network, (user, group))?;
    }
    let nothing = CapabilitySet::empty();
    let sets = CapabilitySets { effective: nothing, permitted: nothing, inheritable: nothing };
    // With no new privileges not even the superuser's programs get them back.
    set_capabilities(None, sets).map_err(describe)?;

    let inet = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let mut families = Vec::new();
    if let Stage::Machine = order.place {
        let unix = landlock::confine(&order.readable, &order.covered, &order.writable, order.network)?;
        families.extend((unix == UnixSockets::Confined).then_some(libc::AF_UNIX));
        families.extend(inet.into_iter().filter(|_| order.network == Network::On));
    } else {
        landlock::scope()?;
        // Its network is the job's own, or the one it may use.
        families.push(libc::AF_UNIX);
        families.extend(inet);
    }
    Ok(families)
}

/// Starts the job, with system calls taken from it; returns its exit code unless the job takes the place of this process.
fn start(
    mut command: Command,
    place: Stage,
    supervised: Option<(PathBuf, ProtectedPlaces)>,
    sockets: Vec<i32>,
) -> Result<u8, StartError> {
    let confine = move || seccomp::confine(&sockets);
    let job = match (supervised, place) {
        (Some((locked, places)), place) => {
            let view = if let Stage::Machine = place { View::Machine } else { View::Own };
            supervisor::start(command, places, &locked, view, confine)?
        }
        (None, Stage::First(..)) => {
            confine().map_err(StartError::Confinement)?;
            command.spawn().map_err(StartError::Program)?.id()
        }
        (None, Stage::Machine | Stage::Inside | Stage::Outside) => {
            confine().map_err(StartError::Confinement)?;
            return Err(StartError::Program(command.exec()));
        }
    };
    Ok(end(job, place))
}

/// Makes the namespaces of the job where that is asked for; goes on in their first process. Returns the exit code of the job
/// in this one, which waits for it.
fn separate(order: &mut InnerArguments) -> Result<Option<u8>, String> {
    if let Stage::Outside = order.place {
        match namespaces::separate(order.network)? {
            Side::Outer(code) => return Ok(Some(code)),
            Side::First { user, group, input } => {
                order.place = Stage::First(user, group);
                order.input = Some(input);
            }
        }
    }
    Ok(None)
}

/// Waits for the end of the job; returns its exit code.
fn end(job: u32, place: Stage) -> u8 {
    match place {
        // Nobody else looks at the streams of the job, whose ends are to be seen.
        Stage::Machine | Stage::Inside => {
            let _ = release_streams();
        }
        Stage::First(..) | Stage::Outside => {}
    }
    let (code, signal) = init::wait_for(job);
    if let Stage::Machine = place {
        // What it left behind on the machine gets the moment that its guard gives it, and writes its last words.
        init::wait_for_others();
        if let Some(signal) = signal {
            let _ = nix::sys::signal::SigSet::all().thread_unblock();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    }
    exit_code(code, signal)
}

fn release_streams() -> Result<(), rustix::io::Errno> {
    let nothing = rustix::fs::open("/dev/null", rustix::fs::OFlags::RDWR, rustix::fs::Mode::empty())?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)
}

fn failed(sentence: &str) -> u8 {
    say(&format!("the sandbox cannot be set up, so nothing was run: {sentence}"));
    FAILED
}

fn say(sentence: &str) {
    let _ = writeln!(io::stderr(), "steersman: {sentence}");
}
