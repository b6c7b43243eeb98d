//! Who may act: a living program of the user's that can read the key, and none that the session itself started.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;

use serde_json::json;
use steersman_tools::workspace::sandbox::SandboxChoice;
use tempfile::TempDir;

use crate::support::listening::{Listening, Raw};
use crate::support::program::Program;
use crate::support::server::{Reply, Server};
use crate::support::skip::{Need, skip};

/// A program that tries each kind of caller.
const CALLERS: &str = include_str!("../../fixtures/socket_callers.py");

#[test]
fn nothing_is_answered_without_the_key() {
    let run = Listening::start();
    let key = run.key();
    assert_eq!(key.len(), 64);
    let hello = json!({"version": steersman_base::protocol::VERSION, "name": "story"});
    for wrong in [String::new(), key[..63].to_owned(), format!("{key}0"), "0".repeat(64), key.to_uppercase() + " "] {
        let mut raw = Raw::new(UnixStream::connect(&run.path).unwrap());
        let answer = raw.call(1, "authorize", &json!(wrong));
        assert_eq!(answer["error"]["message"], "this is not the key", "{wrong:?}");
        for (method, params) in [
            ("status", json!(null)),
            ("hello", hello.clone()),
            ("request", json!({"type": "stop"})),
            ("end", json!(null)),
        ] {
            let answer = raw.call(2, method, &params);
            assert_eq!(
                answer["error"]["message"], "authorize first, with the key of this session",
                "{method}: {answer}"
            );
        }
        // Who has it after all is answered.
        assert!(raw.call(3, "authorize", &json!(key)).get("error").is_none());
        assert!(raw.call(4, "status", &json!(null))["result"].is_object());
    }
}

#[test]
fn the_key_is_the_users_alone_new_for_each_session_and_gone_with_it() {
    let mut run = Listening::start();
    let path = run.path.with_extension("key");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_ne!(run.key(), Listening::start().key());
    run.server = None;
    assert!(!path.exists() && !run.path.exists());
}

/// Runs the callers as a command of a session with this configuration; returns what they print.
fn callers(home: TempDir, config: &str, directory: &str) -> Result<String, String> {
    // By a file: a command that names the place is asked about for that alone.
    let directory = home.path().join(directory).display().to_string();
    let call = Reply::calls(&[("c1", "bash", r#"{"command":"python3 callers.py 2>&1"}"#)]);
    let server = Server::start([call, Reply::text("Done.")]);
    let program = Program::within(home).config(config).file("work/callers.py", CALLERS).file("work/place", &directory);
    let end = program.args(["exec", "--base-url", &server.url(), "--model", "m", "Try."]).run().end();
    if end.stderr.contains("does not work here") {
        return Err(end.stderr);
    }
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    Ok(server.chats()[1].texts("tool").concat())
}

/// Where the sockets lie without a runtime directory.
const SOCKETS: &str = ".local/state/steersman/sockets";

#[test]
fn a_command_without_a_sandbox_is_refused_whoever_of_its_processes_connects() {
    let config = "mode = 'auto-without-sandbox'\nsandbox.kind = 'off'\n";
    let said = callers(TempDir::new().unwrap(), config, SOCKETS).unwrap();
    // It sees both, being a process of the user's.
    assert!(said.contains("seen: ['.key', '.sock']") && said.contains("keys: 1"), "{said}");
    let own = "a program that the session started cannot steer it";
    assert!(said.contains(&format!("itself: {own}")), "{said}");
    assert!(said.contains(&format!("orphan: {own}")), "{said}");
    let ended = said.lines().find_map(|line| line.strip_prefix("one_that_has_ended: ")).unwrap();
    let refusals = ["has ended, so nobody can tell what started it", "nobody knows who you are", own];
    assert!(refusals.iter().any(|refusal| ended.contains(refusal)), "{said}");
}

#[test]
fn no_sandbox_shows_the_socket_or_its_key_wherever_they_lie() {
    for (kind, choice) in [
        ("namespaces", SandboxChoice::Namespaces),
        ("bubblewrap", SandboxChoice::Bubblewrap),
        ("landlock", SandboxChoice::Landlock),
    ] {
        for readable in ["", ".local"] {
            let home = TempDir::new().unwrap();
            fs::create_dir_all(home.path().join(".local/state")).unwrap();
            let real = home.path().canonicalize().unwrap();
            let readable = if readable.is_empty() { String::new() } else { format!("'{}/{readable}'", real.display()) };
            let config = format!("mode = 'auto'\nsandbox.kind = '{kind}'\nsandbox.readable = [{readable}]\n");
            let said = match callers(home, &config, SOCKETS) {
                Ok(said) => said,
                Err(missing) => {
                    skip(Need::of_sandbox(choice), &missing);
                    break;
                }
            };
            // Landlock cannot close a part of what may be read: there the command does not run at all.
            if kind == "landlock" && !readable.is_empty() {
                assert!(said.contains("Landlock cannot keep them closed"), "{readable}: {said}");
                continue;
            }
            assert!(said.contains("seen: []") && said.contains("keys: 0"), "{kind} {readable}: {said}");
            for caller in ["itself", "one_that_has_ended", "orphan"] {
                assert!(said.contains(&format!("{caller}: ")), "{kind} {readable}: {said}");
            }
            assert!(!said.contains("acted"), "{kind} {readable}: {said}");
        }
    }
}
