//! Odd surroundings of a start: variables, arguments and directories that are not UTF-8 or not there, closed streams. The
//! program does its work or says in one sentence why not; it never panics.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use tempfile::TempDir;

use crate::support::program::{Program, exit_code};
use crate::support::server::{Reply, Server};

/// How long a start may take on a crowded machine before it counts as one that hangs.
const PATIENCE: Duration = Duration::from_mins(3);
/// Bytes that are no UTF-8.
const BAD: &[u8] = b"/\xff\xfe-nine-long";

fn bad() -> OsString {
    OsStr::from_bytes(BAD).to_owned()
}

/// A run of the embedded model.
const EXEC: &[&str] = &["exec", "--provider", "demo", "--json", "hi"];
/// Ways of starting that read what surrounds the program.
const STARTS: [&[&str]; 4] = [EXEC, &["sessions"], &["doctor"], &["personas"]];

fn ends_by_itself(what: &str, output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked"), "{what}: {said}");
    assert!((0..=9).contains(&exit_code(output)), "{what}: {:?}: {said}", output.status);
}

fn start(arguments: &[&str]) -> Program {
    Program::new().args(arguments.iter().copied())
}

#[test]
fn no_variable_ends_a_start_with_a_panic() {
    let names = [
        "ANYTHING",
        "MY_API_KEY",
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "XDG_CACHE_HOME",
        "XDG_RUNTIME_DIR",
        "TMPDIR",
        "PATH",
        "TERM",
        "COLORTERM",
        "TERM_PROGRAM",
        "LANG",
        "LC_ALL",
        "TZ",
        "COLUMNS",
        "SHELL",
        "EDITOR",
        "PAGER",
        "HTTP_PROXY",
        "https_proxy",
        "NO_PROXY",
        "STEERSMAN_MODEL",
        "STEERSMAN_BASE_URL",
        "STEERSMAN_PROFILE",
        "STEERSMAN_LOG",
        "STEERSMAN_LOCAL_PORTS",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "NO_COLOR",
        "SSL_CERT_FILE",
    ];
    let odd = [bad(), OsString::new(), "relative".into(), "/dev/null".into(), "x".repeat(5_000).into()];
    for name in names.iter().filter(|name| name.contains("HOME") || name.contains("DIR")) {
        for value in &odd {
            let output = start(EXEC).env(name, value).output_within(PATIENCE);
            ends_by_itself(&format!("{name}={value:?}"), &output);
        }
    }
    for arguments in STARTS {
        let all =
            names.iter().filter(|name| **name != "PATH").fold(start(arguments), |start, name| start.env(name, bad()));
        ends_by_itself(&format!("all, {arguments:?}"), &all.output_within(PATIENCE));
        let odd_name = start(arguments).env(OsStr::from_bytes(b"NAME-\xff"), "x");
        ends_by_itself(&format!("a name, {arguments:?}"), &odd_name.output_within(PATIENCE));
        let empty = Program::new().behind("unset HOME PATH; exec \"$0\" \"$@\"").args(arguments.iter().copied());
        ends_by_itself(&format!("none, {arguments:?}"), &empty.output_within(PATIENCE));
    }
}

#[test]
fn a_secret_that_is_not_utf_8_is_kept_out_of_the_journal_too() {
    let secret = OsStr::from_bytes(b"sk-4f9A7d2Qx8Lm\xff3Zp5Ws1Vn6Kt0RbYc7Hd");
    let prompt = format!("echo {}", secret.to_string_lossy());
    // The embedded model would look for parts of what is asked.
    let server = Server::start([Reply::text("done")]);
    let program = Program::new().env("MY_API_KEY", secret).args(["exec", "--base-url", &server.url(), "--model", "m"]);
    let program = program.arg(&prompt);
    let (output, home) = program.output_with_home();
    ends_by_itself("exec", &output);
    let saved = sessions(home.path());
    assert!(!saved.is_empty() && !saved.contains("5Ws1Vn6Kt0"), "{saved}");
}

/// Returns what all journals below a home hold.
fn sessions(home: &Path) -> String {
    let files = fs::read_dir(home.join(".local/state/steersman/sessions")).unwrap();
    files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect()
}

#[test]
fn no_argument_ends_a_start_with_a_panic() {
    for before in [
        &[][..],
        &["exec"],
        &["exec", "--provider", "demo"],
        &["exec", "--provider"],
        &["--cwd"],
        &["--config"],
        &["--profile"],
        &["search"],
        &["export"],
        &["replay"],
        &["inject"],
        &["mcp"],
        &["completions"],
        &["exec", "--output"],
        &["exec", "--provider", "demo", "--image"],
    ] {
        let output = start(before).arg(bad()).output_within(PATIENCE);
        ends_by_itself(&format!("{before:?}"), &output);
    }
}

#[test]
fn a_working_directory_that_is_gone_or_not_utf_8_ends_no_start_with_a_panic() {
    for arguments in STARTS {
        let gone = "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" \"$@\"";
        let output = Program::new().behind(gone).args(arguments.iter().copied()).output_within(PATIENCE);
        ends_by_itself(&format!("gone, {arguments:?}"), &output);
        let odd = TempDir::new().unwrap();
        let directory = odd.path().join(OsStr::from_bytes(b"dir-\xff"));
        fs::create_dir(&directory).unwrap();
        let output = start(arguments).cwd(&directory).output_within(PATIENCE);
        ends_by_itself(&format!("not UTF-8, {arguments:?}"), &output);
    }
}

#[test]
fn closed_and_full_streams_end_no_start_with_a_panic() {
    for arguments in STARTS {
        for closed in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", "2>/dev/full", ">/dev/full 2>/dev/full"] {
            let script = format!("exec \"$0\" \"$@\" {closed}");
            let output = Program::new().behind(&script).args(arguments.iter().copied()).output_within(PATIENCE);
            ends_by_itself(&format!("{closed}, {arguments:?}"), &output);
        }
    }
}
