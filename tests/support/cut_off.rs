//! A home in which the program was killed while a command of it ran.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;
use steersman::workspace::sandbox::SandboxChoice;
use tempfile::TempDir;

use super::program::{Program, stdout};
use super::server::{Reply, Server};
use super::skip::{Need, skip};

/// What the command made in the directory `work` of the home.
pub const CHANGED: &str = "work/.git/config.worktree";

/// Returns the home; `None`, said at the end of the run, when this machine has no sandbox for the command.
pub fn cut_off() -> Option<TempDir> {
    let (checked, home) = Program::new().args(["doctor"]).output_with_home();
    if !stdout(&checked).contains(" confines commands") {
        skip(Need::of_sandbox(SandboxChoice::Auto), "the mode auto needs a sandbox");
        return None;
    }
    // Named in the command itself the file would be asked about before it runs.
    let script = "printf '[core]\n\tfsmonitor = evil\n' > .git/config.worktree; touch ready; sleep 300";
    let call = json!({"command": "sh build.sh"}).to_string();
    let server = Server::start([Reply::calls(&[("c1", "bash", &call)])]);
    let program = Program::within(home).args(["exec", "--base-url", &server.url(), "--model", "scripted"]);
    let program = program.args(["--mode", "auto", "hello"]);
    let program =
        program.file("work/.git/HEAD", "ref: refs/heads/main\n").file("work/.git/config", "[core]\n\tbare = false\n");
    let program = program.file("work/build.sh", script);
    let ready = program.work().join("ready");
    let run = program.run();
    let began = Instant::now();
    while !ready.exists() {
        assert!(began.elapsed() < Duration::from_mins(2), "the command does not run");
        std::thread::park_timeout(Duration::from_millis(10));
    }
    run.signal(Signal::KILL);
    let (_, home) = run.end_with_home();
    assert!(home.path().join(CHANGED).exists());
    Some(home)
}
