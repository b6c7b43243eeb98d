//! The first time in a directory that brings its own configuration: shown, asked about, and nothing of it acts before.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::support::server::Server;
use crate::support::terminal::{Start, Terminal, keys};

fn project(dir: &Path) {
    fs::create_dir_all(dir.join(".git")).unwrap();
    fs::create_dir_all(dir.join(".steersman")).unwrap();
    fs::write(dir.join(".steersman/config.toml"), "system_prompt = 'prompt.md'\nrules.allow = ['bash: make *']\n")
        .unwrap();
    fs::write(dir.join(".steersman/prompt.md"), "You belong to the project.\n").unwrap();
}

/// Starts in the project and waits for the question and until a key may answer it.
fn asked(server: &Server, dir: &Path) -> Terminal {
    let terminal = Start::against(server).arg("hello").cwd(dir).run();
    terminal.wait_for("trust what this project brings (.steersman/config.toml)?");
    terminal.wait_for("● ready");
    assert_eq!(server.chats().len(), 0, "nothing runs before the answer");
    terminal
}

fn system_prompt(server: &Server) -> String {
    server.chats()[0].texts("system").concat()
}

#[test]
fn a_no_ignores_what_it_brings_and_says_so() {
    let (server, dir) = (Server::start([]), tempfile::tempdir().unwrap());
    project(dir.path());
    server.reply_text("the answer");
    let mut terminal = asked(&server, dir.path());
    terminal.send("\x1bn");
    terminal.wait_for("the answer");
    terminal.wait_for("· idle");
    assert!(!system_prompt(&server).contains("You belong to the project."));
    assert!(!terminal.home().join(".local/state/steersman/trust.toml").exists());
    terminal.send(keys::CTRL_D);
    assert_eq!(terminal.wait_exit(Duration::from_secs(30)).exit_code(), 0);
}

#[test]
fn a_yes_takes_it_over_and_is_remembered() {
    let (server, dir) = (Server::start([]), tempfile::tempdir().unwrap());
    project(dir.path());
    server.reply_text("the answer");
    let mut terminal = asked(&server, dir.path());
    let screen = terminal.screen();
    assert!(screen.contains("rule, allow: bash: make *") && screen.contains("You belong to the project."), "{screen}");
    terminal.send("\x1by");
    terminal.wait_for("the answer");
    terminal.wait_for("· idle");
    assert!(system_prompt(&server).starts_with("You belong to the project."));
    assert!(terminal.home().join(".local/state/steersman/trust.toml").exists());
    terminal.send(keys::CTRL_D);
    assert_eq!(terminal.wait_exit(Duration::from_secs(30)).exit_code(), 0);
}

#[test]
fn a_standing_yes_does_not_answer_whether_a_project_is_trusted() {
    let (server, dir) = (Server::start([]), tempfile::tempdir().unwrap());
    project(dir.path());
    server.reply_text("the answer");
    let mut terminal = Start::against(&server).arg("--yes").arg("hello").cwd(dir.path()).run();
    terminal.wait_for("trust what this project brings (.steersman/config.toml)?");
    terminal.wait_for("● ready");
    assert_eq!(server.chats().len(), 0, "nothing runs before the answer");
    terminal.send("\x1bn");
    terminal.wait_for("the answer");
    terminal.wait_for("· idle");
    assert!(!system_prompt(&server).contains("You belong to the project."));
}
