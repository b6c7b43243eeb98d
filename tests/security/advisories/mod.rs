//! The kinds of holes that the hosts of others had, from their public advisories of 2025 and 2026, tried here: each on the
//! real program, under each sandbox that the machine has where a command is part of it.
//!
//! - what a project brings before it is trusted, and how it could seem to be trusted: `projects.rs`
//! - what an agent writes, reads and reaches: `agents.rs`
//! - what rules for commands, hosts and tools hold for: `rules.rs`

mod agents;
mod projects;
mod rules;

use std::fs;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use steersman_tools::workspace::sandbox::SandboxChoice;
use tempfile::TempDir;

use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Reply, Server};
use crate::support::skip::{Need, skip};

/// How long a run may take on a crowded machine.
const PATIENCE: Duration = Duration::from_mins(4);
/// What stands in the files of the user that no model gets.
const SECRET: &str = "canary-of-the-user-4711";

/// Returns the sandboxes that this machine has, as the flag names them.
pub fn sandboxes() -> Vec<&'static str> {
    let kinds = [
        ("namespaces", SandboxChoice::Namespaces),
        ("bubblewrap", SandboxChoice::Bubblewrap),
        ("landlock", SandboxChoice::Landlock),
    ];
    let works = |(name, kind): &(&str, SandboxChoice)| {
        let output = Program::new().args(["exec", "--provider", "demo", "--sandbox", name, "--mode", "auto", "hi"]);
        let output = output.output_within(PATIENCE);
        let works = exit_code(&output) == 0;
        if !works {
            skip(Need::of_sandbox(*kind), &stderr(&output));
        }
        works
    };
    kinds.into_iter().filter(works).map(|(name, _)| name).collect()
}

/// What a run came to.
pub struct Run {
    code: i32,
    pub said: String,
    /// The results of its calls, in their order.
    pub results: Vec<String>,
    /// The system prompt.
    system: String,
    home: TempDir,
}

impl Run {
    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub fn is_there(&self, name: &str) -> bool {
        self.path(name).symlink_metadata().is_ok()
    }
}

/// Lets a model make calls, one after the other, in the directory `work` of a home.
pub fn run(home: TempDir, arguments: &[&str], calls: &[(&str, serde_json::Value)]) -> Run {
    let replies = calls
        .iter()
        .enumerate()
        .map(|(number, (tool, arguments))| Reply::calls(&[(&format!("c{number}"), tool, &arguments.to_string())]));
    let server = Server::start(replies.chain([Reply::text("done")]).collect::<Vec<_>>());
    let program = Program::within(home).args(["exec", "--base-url", &server.url(), "--model", "m"]);
    let program = program.args(arguments.iter().copied()).arg("go");
    let (output, home) = program.output_with_home_within(PATIENCE);
    let chats = server.chats();
    Run {
        code: exit_code(&output),
        said: format!("{}{}", stdout(&output), stderr(&output)),
        results: chats.last().map(|chat| chat.contents("tool")).unwrap_or_default(),
        system: chats.first().map(|chat| chat.texts("system").concat()).unwrap_or_default(),
        home,
    }
}

pub fn bash(command: &str) -> (&'static str, serde_json::Value) {
    ("bash", json!({ "command": command }))
}

fn write(path: &str, content: &str) -> (&'static str, serde_json::Value) {
    ("write", json!({ "path": path, "content": content }))
}

fn read(path: &str) -> (&'static str, serde_json::Value) {
    ("read", json!({ "path": path }))
}

/// Makes a home with files in it.
pub fn home(files: &[(&str, &str)]) -> TempDir {
    let home = TempDir::new().unwrap();
    for (path, text) in files {
        put(home.path(), path, text);
    }
    home
}

pub fn put(home: &Path, path: &str, text: &str) {
    let path = home.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A socket of the host at which nothing may arrive.
fn trap() -> UdpSocket {
    let trap = UdpSocket::bind("127.0.0.1:0").unwrap();
    trap.set_nonblocking(true).unwrap();
    trap
}
