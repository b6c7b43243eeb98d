//! What this machine cannot test: said at the end of a run, and a failure where nothing may be left out.
//!
//! With `STEERSMAN_TEST_NO_SKIP=1` whatever a package brings must be there. What only the machine has, its kernel or the
//! container around it, may still be missing: those exceptions are listed in `Need::is_the_machines` and nowhere else.

use std::io::Write as _;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::Mutex;

#[cfg(feature = "tools")]
use steersman_tools::workspace::sandbox::SandboxChoice;

/// Prints the lines once the test binary has ended, which closes the pipe; equal ones once.
const SUMMARY: &str =
    r#"lines=$(sort -u); [ -z "$lines" ] || printf '\nnot tested on this machine:\n%s\n' "$lines" >&2"#;

/// The pipe to the process that prints the summary; none when it does not start.
static SKIPPED: Mutex<Option<ChildStdin>> = Mutex::new(None);

/// Something that a test needs and a machine may not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// A program, which a package brings.
    Program(&'static str),
    /// A namespace of one's own: not everywhere may a process have one.
    Namespace,
    /// A kernel with Landlock.
    Landlock,
    /// An address of IPv6.
    Ipv6,
    /// The right to make device nodes.
    DeviceNode,
    /// A Node that runs TypeScript, 22.6 or later: many a system has an older one.
    RecentNode,
}

impl Need {
    /// Returns what a kind of sandbox needs that was not found.
    #[cfg(feature = "tools")]
    pub fn of_sandbox(kind: SandboxChoice) -> Self {
        match kind {
            SandboxChoice::Landlock => Self::Landlock,
            SandboxChoice::Namespaces => Self::Namespace,
            SandboxChoice::Auto | SandboxChoice::Bubblewrap | SandboxChoice::Off => Self::of_program("bwrap"),
        }
    }

    /// Returns what a program needs that did not work: itself, or else the namespaces that it makes.
    pub fn of_program(name: &'static str) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_there = std::env::split_paths(&path).any(|directory| directory.join(name).exists());
        if is_there { Self::Namespace } else { Self::Program(name) }
    }

    /// Tells whether no package brings it.
    fn is_the_machines(self) -> bool {
        match self {
            Self::Namespace | Self::Landlock | Self::Ipv6 | Self::DeviceNode | Self::RecentNode => true,
            Self::Program(_) => false,
        }
    }
}

/// Says that a test, or a part of one, is left out for want of something.
///
/// # Panics
/// Where nothing may be left out.
#[track_caller]
pub fn skip(need: Need, detail: &str) {
    let place = std::panic::Location::caller();
    let line = format!("  {}: {need:?}: {}", place.file(), detail.trim().replace('\n', " "));
    let is_strict = std::env::var_os("STEERSMAN_TEST_NO_SKIP").is_some_and(|value| value == "1");
    assert!(!is_strict || need.is_the_machines(), "nothing may be skipped here:\n{line}");
    let mut skipped = SKIPPED.lock().unwrap();
    if skipped.is_none() {
        let printer = Command::new("sh").args(["-c", SUMMARY]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        *skipped = printer.ok().and_then(|mut printer| printer.stdin.take());
    }
    let told = skipped.as_mut().is_some_and(|pipe| writeln!(pipe, "{line}").is_ok());
    if !told {
        // Not by `eprintln!`, which is captured.
        let _ = writeln!(std::io::stderr(), "not tested on this machine:\n{line}");
    }
}
