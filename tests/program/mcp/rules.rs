//! Which calls of servers run in `exec`, where nobody can be asked: by rules, by modes, and by what a server can send.

use serde_json::json;
use steersman_tools::workspace::sandbox::SandboxChoice;

use super::command::{has_python, section};
use crate::support::program::{Program, exit_code, stderr};
use crate::support::server::{Reply, Server};
use crate::support::skip::{Need, skip};

/// Runs these calls, each in a reply of its own; returns what the model was told of each.
fn results(program: Program, config: &str, arguments: &[&str], calls: &[(&str, &str)]) -> Vec<String> {
    let replies = calls.iter().map(|(tool, arguments)| Reply::calls(&[("c", *tool, *arguments)]));
    let server = Server::start(replies.chain([Reply::text("Done.")]).collect::<Vec<_>>());
    let program = program.config(config).args(["exec", "--base-url", &server.url(), "--model", "m"]);
    let output = program.args(arguments.iter().copied()).arg("Try.").output();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    server.chats().last().unwrap().texts("tool")
}

const ECHO: &str = r#"{"text": "x"}"#;

#[test]
fn a_rule_that_allows_tools_of_a_server_lets_it_start_for_a_search_and_its_tools_run() {
    if !has_python("a server that a rule allows") {
        return;
    }
    let program = Program::new();
    let servers = section("f", &program, &[]) + &section("g", &program, &[]);
    let rules = "[rules]\nallow = [\"mcp: f/*\"]\nask = [\"mcp: f/slow\"]\ndeny = [\"mcp: f/FAIL\"]\n";
    let search = json!({"query": "gives takes fails", "limit": 20}).to_string();
    let calls = [
        ("tool_search", search.as_str()),
        ("mcp__f__echo", ECHO),
        ("mcp__f__big", "{}"),
        ("mcp__f__echo", ECHO),
        ("mcp__f__slow", "{}"),
        ("mcp__f__fail", "{}"),
        ("mcp__g__echo", ECHO),
    ];
    let results = results(program, &(servers + rules), &["--mode", "auto"], &calls);
    assert!(results[0].contains("[g cannot be searched: it is not started without a yes"), "{}", results[0]);
    assert!(results[0].contains("mcp__f__echo: Gives its arguments back. (f)"), "{}", results[0]);
    for at in [1, 2, 3] {
        assert!(!results[at].starts_with("Error"), "{}: {}", calls[at].0, results[at]);
    }
    assert!(results[4].starts_with("Error: this needs the user's approval"), "{}", results[4]);
    assert!(results[5].starts_with("Error: the user's configuration denies this"), "{}", results[5]);
    assert!(results[6].starts_with("Error: unknown tool"), "{}", results[6]);
}

#[test]
fn a_rule_for_other_servers_or_a_mode_that_refuses_all_calls_starts_none() {
    if !has_python("a server that no rule allows") {
        return;
    }
    for (rule, mode) in [("mcp: f2/*", "auto"), ("mcp: */echo", "auto"), ("bash: f *", "ask"), ("mcp: f/*", "plan")] {
        let program = Program::new();
        let config = section("f", &program, &[]) + &format!("[rules]\nallow = [{rule:?}]\n");
        let results = results(program, &config, &["--mode", mode], &[("tool_search", r#"{"query": "echo"}"#)]);
        assert!(
            results[0].contains("[f cannot be searched: it is not started without a yes"),
            "{rule}: {}",
            results[0]
        );
    }
}

#[test]
fn what_the_sandbox_keeps_from_every_network_sends_nothing_and_is_not_asked_about_for_that() {
    if !has_python("a server without a network") {
        return;
    }
    let probe = Server::start([Reply::text("ok")]);
    let output = Program::new().args(["exec", "--json", "--base-url", &probe.url(), "--model", "m", "x"]).output();
    if stderr(&output).contains("not sandboxed") {
        return skip(Need::of_sandbox(SandboxChoice::Auto), "a server without a network");
    }
    for (more, is_free) in [("", true), ("network = true\n", false), ("egress = true\n", false)] {
        let program = Program::new();
        let config = section("f", &program, &[]) + more;
        let calls = [("tool_search", r#"{"query": "mcp__f__echo"}"#), ("mcp__f__echo", ECHO), ("mcp__f__echo", ECHO)];
        let results = results(program, &config, &["--mode", "auto-without-sandbox"], &calls);
        assert!(!results[1].starts_with("Error"), "{more}: {}", results[1]);
        assert_eq!(!results[2].starts_with("Error: this needs the user's approval"), is_free, "{more}: {}", results[2]);
    }
}
