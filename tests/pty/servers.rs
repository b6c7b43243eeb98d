//! MCP servers in the real program: looked at, searched, asked about, called, ended; one of a project that is not trusted.

use std::fs;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;

use crate::support::processes::{alive, wait_dead};
use crate::support::server::Server;
use crate::support::skip::{Need, skip};
use crate::support::terminal::{Start, keys};

#[test]
fn a_server_is_found_called_after_a_question_shown_in_the_list_and_gone_with_the_program() {
    if std::process::Command::new("python3").arg("-V").output().is_err() {
        return skip(Need::Program("python3"), "a server in the real program");
    }
    let (server, home, dir) = (Server::start([]), TempDir::new().unwrap(), TempDir::new().unwrap());
    let script = crate::support::root().join("tests/fixtures/mcp_server.py");
    let log = home.path().join("one.log").display().to_string();
    let config = home.path().join(".config/steersman");
    fs::create_dir_all(&config).unwrap();
    let args = ["-u", script.to_str().unwrap(), "--log", &log];
    fs::write(
        config.join("config.toml"),
        format!("[mcp.one]\ncommand = \"python3\"\nargs = {args:?}\nsandbox = false\n"),
    )
    .unwrap();
    server.reply_calls(&[("c1", "tool_search", r#"{"query": "echo"}"#)]);
    server.reply_calls(&[("c2", "mcp__one__echo", r#"{"text": "a parrot"}"#)]);
    server.reply_text("the answer");
    let mut terminal = Start::against(&server).home(home).cwd(dir.path()).arg("hello").run();
    terminal.wait_for("start 1 MCP server?");
    terminal.wait_for("● ready");
    assert!(terminal.screen().contains("one starts, outside of the sandbox: python3 -u "), "{}", terminal.screen());
    assert!(!std::path::Path::new(&log).exists(), "it waits for the answer");
    terminal.send("\x1by");
    terminal.wait_for("Call this tool of a server?");
    terminal.wait_for("● ready");
    assert!(terminal.screen().contains("\"text\": \"a parrot\""), "{}", terminal.screen());
    terminal.send("\x1by");
    terminal.wait_for("the answer");
    terminal.wait_for("· idle");
    let chats = server.chats();
    assert!(!chats[0].tools().contains(&"mcp__one__echo".to_owned()));
    assert!(chats[1].tools().contains(&"mcp__one__echo".to_owned()));
    assert!(chats[2].texts("tool").concat().contains(r#"{"text": "a parrot"}"#));
    terminal.type_text("/mcp");
    terminal.send("\r");
    terminal.wait_for("used · 9 tools · 1 call · config.toml");
    assert!(!alive(&log).is_empty());
    terminal.send(keys::ESC);
    terminal.wait_gone("MCP servers");
    terminal.send(keys::CTRL_D);
    assert_eq!(terminal.wait_exit(Duration::from_secs(30)).exit_code(), 0);
    wait_dead(&log, Duration::from_secs(30));
}

#[test]
fn the_server_of_a_project_that_is_not_trusted_is_shown_in_the_question_and_never_started() {
    let (server, dir) = (Server::start([]), TempDir::new().unwrap());
    let trace = dir.path().join("trace");
    let command = format!("touch {}; exec cat", trace.display());
    fs::create_dir_all(dir.path().join(".git")).unwrap();
    let servers = json!({"mcpServers": {"evil": {"command": "/bin/sh", "args": ["-c", command]}}});
    fs::write(dir.path().join(".mcp.json"), servers.to_string()).unwrap();
    server.reply_text("the answer");
    let mut terminal = Start::against(&server).arg("hello").cwd(dir.path()).run();
    terminal.wait_for("trust what this project brings (1 MCP server)?");
    terminal.wait_for("● ready");
    assert!(terminal.screen().contains("\"/bin/sh\" \"-c\" \"touch "), "{}", terminal.screen());
    assert!(!trace.exists() && server.chats().is_empty());
    terminal.send("\x1bn");
    terminal.wait_for("the answer");
    terminal.wait_for("· idle");
    terminal.type_text("/mcp");
    terminal.send("\r");
    terminal.wait_for("no MCP server is configured");
    assert!(!server.chats()[0].tools().iter().any(|name| name.contains("mcp") || name == "tool_search"));
    terminal.send(keys::ESC);
    terminal.wait_gone("MCP servers");
    terminal.send(keys::CTRL_D);
    assert_eq!(terminal.wait_exit(Duration::from_secs(30)).exit_code(), 0);
    assert!(!trace.exists());
}
