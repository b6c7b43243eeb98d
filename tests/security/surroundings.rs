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

/// What a command tries at a directory of the user's: to add, to change, to take away, to put another in its place.
const CHANGES: &str = "echo evil > base/new; mkdir -p base/app; echo evil > base/app/rc; echo evil > base/kept; rm -f base/kept; \
                       mv base/kept base/moved; ln -s /tmp base/link; chmod 777 base/kept; mv base elsewhere; mkdir -p base/steersman; \
                       echo evil > base/steersman/hooks.json; ls -a base/steersman; echo free > free; true";

#[test]
fn no_command_changes_a_directory_of_the_user_that_lies_below_the_workspace_and_the_start_says_so() {
    for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME"] {
        for kind in ["namespaces", "bubblewrap", "landlock"] {
            let what = format!("{name} under {kind}");
            // By a file: a command that names the places is asked about for that alone.
            let call = r#"{"command":"sh changes.sh"}"#;
            let server = Server::start([Reply::calls(&[("c1", "bash", call)]), Reply::text("Done.")]);
            let program = Program::new()
                .file("work/changes.sh", CHANGES)
                .file("work/base/kept", "kept")
                .file("work/base/steersman/secret", "kept");
            let (base, work) = (program.work().join("base"), program.work());
            let url = server.url();
            let program = program.env(name, &base).args(["--mode", "auto", "--sandbox", kind]);
            let program = program.args(["exec", "--base-url", &url, "--model", "m", "Try."]);
            let (output, home) = program.output_with_home_within(PATIENCE);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            if said.contains("does not work here") {
                continue;
            }
            assert_eq!(exit_code(&output), 0, "{what}: {said}");
            let is_cache = name == "XDG_CACHE_HOME";
            let words = "the workspace holds a directory of configurations or state of your programs";
            assert!(is_cache || said.contains(words), "{what}: {said}");
            let result = server.chats()[1].texts("tool").concat();
            // Data of other programs are read-only; of its own the program has none there.
            assert!(name == "XDG_DATA_HOME" || !result.contains("secret"), "{what}: {result}");
            assert_eq!(fs::read_to_string(base.join("steersman/secret")).unwrap(), "kept", "{what}");
            assert!(!base.join("steersman/hooks.json").exists(), "{what}");
            if !is_cache {
                // A cache holds nothing that is obeyed; of it only this program's own part is closed.
                assert_eq!(fs::read_to_string(base.join("kept")).unwrap(), "kept", "{what}");
                for new in ["new", "app", "moved", "link"] {
                    assert!(base.join(new).symlink_metadata().is_err(), "{what}: {new}: {result}");
                }
                assert!(!work.join("elsewhere").exists(), "{what}");
            }
            // Landlock can hide nothing: there the command does not run.
            let is_run = kind != "landlock";
            assert!(!is_run || work.join("free").exists(), "{what}: {result}");
            drop(home);
        }
    }
}
