//! A project with a set-up for Claude Code, on the real program: shown first, and after a yes its command is typed and sent.

use std::fs;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

use crate::support::server::Server;
use crate::support::terminal::{Start, Terminal, keys};

const COMMAND: &str = "---\ndescription: Reviews a change\nargument-hint: [pr]\n---\nReview $1, and nothing else.\n";
const SKILL: &str = "---\nname: deploy\ndescription: Deploys it.\n---\nRun scripts/deploy.sh.\n";

fn project(dir: &Path) {
    for (path, text) in [(".claude/commands/review.md", COMMAND), (".claude/skills/deploy/SKILL.md", SKILL)] {
        fs::create_dir_all(dir.join(path).parent().unwrap()).unwrap();
        fs::write(dir.join(path), text).unwrap();
    }
    fs::create_dir_all(dir.join(".git")).unwrap();
}

/// Starts in the project, reads the question to its end, and waits until a key may answer it.
fn asked(server: &Server, dir: &Path) -> Terminal {
    let mut terminal = Start::against(server).cwd(dir).run();
    terminal.wait_for("trust what this project brings (1 skill, 1 command)?");
    assert!(terminal.screen().contains("a skill: deploy"), "{}", terminal.screen());
    terminal.send("\u{1b}[6~");
    terminal.wait_for("● ready");
    terminal
}

#[test]
fn a_trusted_projects_command_is_offered_and_sent_filled_in() {
    let (server, dir) = (Server::start([]), TempDir::new().unwrap());
    project(dir.path());
    let mut terminal = asked(&server, dir.path());
    terminal.send("\x1by");
    terminal.wait_gone("trust what this project brings");
    terminal.wait_for("· idle");
    server.reply_text("the answer");
    terminal.type_text("/rev");
    terminal.wait_for("/review [pr]");
    terminal.send("\t");
    terminal.type_text("12");
    terminal.send("\r");
    terminal.wait_for("the answer");
    terminal.wait_for("· idle");
    let chat = &server.chats()[0];
    assert_eq!(chat.texts("user"), ["Review 12, and nothing else."]);
    assert!(chat.texts("system").concat().contains("- `deploy` — Deploys it."));
    terminal.send(keys::CTRL_D);
    assert_eq!(terminal.wait_exit(Duration::from_secs(30)).exit_code(), 0);
}

#[test]
fn after_a_no_there_is_neither_command_nor_skill() {
    let (server, dir) = (Server::start([]), TempDir::new().unwrap());
    project(dir.path());
    let mut terminal = asked(&server, dir.path());
    terminal.send("\x1bn");
    terminal.wait_gone("trust what this project brings");
    terminal.wait_for("· idle");
    terminal.type_text("/review 12");
    terminal.send("\r");
    terminal.wait_for("unknown command /review");
    server.reply_text("the answer");
    terminal.send("\r");
    terminal.wait_for("the answer");
    let chat = &server.chats()[0];
    assert_eq!(chat.texts("user"), ["/review 12"]);
    assert!(!chat.texts("system").concat().contains("deploy") && !chat.tools().contains(&"skill".to_owned()));
}
