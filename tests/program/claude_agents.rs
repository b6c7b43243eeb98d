//! Agent files in the form of Claude Code, beside the personas of this program.

use std::fs;

use steersman_agent::subagent::{ClaudeFile, Persona};
use steersman_base::limits;

use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Reply, Server};

const REVIEWER: &str = "---\nname: code-reviewer\ndescription: Use this agent after a change. Examples:\\n\\n<example>\\nContext: x\\nuser: \"y\"\\n</example>\ntools: Read, Grep, Bash(git diff:*), WebFetch, NotebookEdit, TodoWrite\nmodel: sonnet\npermissionMode: bypassPermissions\ncolor: red\n---\n\nYou review.\n";

fn file(head: &str) -> ClaudeFile {
    ClaudeFile::parse(&format!("---\nname: x\ndescription: y\n{head}\n---\nYou are x.")).unwrap()
}

fn tools(head: &str) -> Vec<String> {
    file(head).persona.tool_names
}

#[test]
fn its_tools_are_those_of_the_same_purpose_and_the_others_are_named() {
    let ClaudeFile { persona, without, unused } = ClaudeFile::parse(REVIEWER).unwrap();
    assert_eq!(persona.name, "code-reviewer");
    assert_eq!(
        persona.description,
        "Use this agent after a change. Examples: <example> Context: x user: \"y\" </example>"
    );
    assert_eq!(persona.tool_names, ["read", "grep", "bash", "plan"]);
    assert_eq!((persona.system_prompt.as_str(), persona.max_steps), ("You review.", limits::AGENT_FILE_STEPS));
    assert_eq!(without, ["NotebookEdit", "WebFetch"]);
    assert_eq!(unused, ["model", "permissionMode"]);
    // One reader for both forms.
    assert_eq!(Persona::parse(REVIEWER).unwrap(), persona);
}

#[test]
fn without_a_list_of_tools_an_agent_inherits_those_of_its_parent_and_an_empty_list_is_none() {
    assert_eq!(tools("color: red"), ["*"]);
    assert_eq!(tools("tools: \"*\""), ["*"]);
    assert_eq!(tools("disallowedTools: Bash, mcp__db"), ["*", "!bash", "!mcp__db"]);
    assert_eq!(tools("tools: []"), [""; 0]);
    for all in ["tools:", "tools: All tools", "tools: all", "tools: ['*']", "tools: null"] {
        assert_eq!(tools(all), ["*"], "{all}");
    }
    assert_eq!(tools("tools: TodoWrite, BashOutput, KillShell"), ["plan", "job_output", "job_stop"]);
    assert_eq!(tools("tools:\n  - Edit\n  - MultiEdit\n  - Write"), ["edit", "write"]);
    assert_eq!(tools("tools: Read, Bash\ndisallowedTools: Bash(rm *)"), ["read"]);
    assert_eq!(tools("tools: Read, mcp__db__query"), ["read", "mcp__db__query"]);
}

#[test]
fn a_denied_tool_of_a_server_is_taken_out_of_what_the_file_names() {
    let named = "tools: Read, mcp__hub, mcp__db__query\ndisallowedTools:";
    assert_eq!(
        tools(&format!("{named} mcp__hub__delete, mcp__db")),
        ["read", "mcp__hub", "mcp__db__query", "!mcp__hub__delete", "!mcp__db"]
    );
    assert_eq!(tools(&format!("{named} mcp__*")), ["read"]);
    assert_eq!(tools("tools: Read\ndisallowedTools: mcp__hub"), ["read"]);
    // It is no tool that reads: the network stays.
    assert_eq!(
        tools("tools: WebSearch, mcp__hub\ndisallowedTools: mcp__hub__delete"),
        ["web_search", "mcp__hub", "!mcp__hub__delete"]
    );
}

#[test]
fn no_agent_reads_files_and_reaches_the_network() {
    assert_eq!(tools("tools: WebSearch, WebFetch"), ["web_search", "web_scrape", "fetch"]);
    for head in ["tools: Read, WebSearch, WebFetch", "tools: WebFetch, Bash, WebSearch"] {
        assert_eq!((tools(head).len(), file(head).without), (1, vec!["WebFetch".to_owned(), "WebSearch".to_owned()]));
    }
}

#[test]
fn a_name_that_does_not_fit_is_made_fit() {
    let named =
        |name: &str| ClaudeFile::parse(&format!("---\nname: {name}\ndescription: y\n---\nz")).unwrap().persona.name;
    assert_eq!(named("powershell-5.1-expert"), "powershell-5-1-expert");
    assert_eq!(named("Code Reviewer"), "Code-Reviewer");
    assert_eq!(named("performance-testing-review-performance-engineer").len(), 47);
}

#[test]
fn its_steps_have_a_limit() {
    assert_eq!(file("maxTurns: 7").persona.max_steps, 7);
    assert_eq!(file("maxTurns: 4000000000").persona.max_steps, limits::MAX_STEPS);
    assert_eq!(file("maxTurns: many").persona.max_steps, limits::AGENT_FILE_STEPS);
    assert_eq!(file("maxTurns: 0").persona.max_steps, limits::AGENT_FILE_STEPS);
}

#[test]
fn a_file_that_is_no_agent_says_why_in_one_line() {
    for (text, why) in [
        ("---\nname: x\n---\nYou.", "an agent file needs a description"),
        ("---\ndescription: x\n---\nYou.", "an agent file needs a name"),
        ("---\nname: main\ndescription: x\n---\nYou.", "which is not 'main' or 'all'; it has 'main'"),
        ("---\nname: x\ndescription: x\n---\n\n", "an agent file needs a prompt"),
        ("---\nname: x\ndescription: x\n", "has no closing --- line"),
        ("# Readme\n", "a persona file needs a TOML header"),
    ] {
        let error = Persona::parse(text).unwrap_err().to_string();
        assert!(error.contains(why) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn the_agents_of_the_users_home_are_offered_beside_the_personas() {
    let server = Server::start([
        Reply::calls(&[("c1", "agent", r#"{"name":"code-reviewer","task":"look"}"#)]),
        Reply::text("seen"),
        Reply::text("done"),
    ]);
    let program = Program::new().args(["exec", "--base-url", &server.url(), "--model", "m", "go"]);
    let program = program
        .file(".claude/agents/review/code-reviewer.md", REVIEWER)
        .file(".claude/agents/db.md", "---\nname: db\ndescription: z\ntools: Read, mcp__db__query\n---\nYou query.\n")
        .file(".claude/agents/README.md", "# About\n");
    let output = program.output();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let said = stderr(&output);
    for sentence in [
        ".claude/agents: no agents, since they have no head: README.md",
        "agents run without these settings of their files: model (code-reviewer); permissionMode (code-reviewer)",
        "tools that agents of other programs do without here: NotebookEdit (code-reviewer); WebFetch (code-reviewer); mcp__db__* (db)",
    ] {
        assert!(said.contains(sentence), "{sentence} is missing in\n{said}");
    }
    let child = &server.chats()[1];
    assert!(child.texts("system").concat().starts_with("You review."));
    assert_eq!(child.tools(), ["read", "grep", "plan", "bash"]);
}

#[test]
fn an_agent_without_a_list_of_tools_has_those_of_the_main_agent_and_no_more() {
    let agent = |more: &str| format!("---\nname: helper\ndescription: y\n{more}---\nYou help.\n");
    let run = |more: &str, arguments: &[&str]| {
        let server = Server::start([
            Reply::calls(&[("c1", "agent", r#"{"name":"helper","task":"look"}"#)]),
            Reply::text("seen"),
            Reply::text("done"),
        ]);
        let program = Program::new().args(["exec", "--base-url", &server.url(), "--model", "m"]);
        let program = program.args(arguments.iter().copied()).arg("go");
        // Tools that reach the web belong to the main agent here, and do not go to one that reads files.
        let program = program.file(".claude/agents/helper.md", &agent(more)).config("web.on_main_agent = true\n");
        let output = program.output();
        assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
        let chats = server.chats();
        (chats[0].tools(), chats[1].tools())
    };
    let is_for_child = |name: &String| !["agent", "fetch", "web_scrape", "web_search", "git_clone"].contains(&&**name);
    let (main, child) = run("", &[]);
    assert_eq!(child, main.iter().filter(|name| is_for_child(name)).cloned().collect::<Vec<_>>());
    assert!(child.contains(&"bash".to_owned()) && child.contains(&"edit".to_owned()), "{child:?}");
    let (_, without) = run("disallowedTools: Bash\n", &[]);
    assert_eq!(without, child.iter().filter(|name| *name != "bash").cloned().collect::<Vec<_>>());
    let (_, few) = run("", &["--tools", "read,agent"]);
    assert_eq!(few, ["read"]);
}

#[test]
fn an_agent_that_was_written_for_another_program_says_when_it_replaces_a_bundled_persona() {
    let file = |name: &str| format!("---\nname: {name}\ndescription: y\ntools: Read\n---\nYou are {name}.\n");
    let own =
        "+++\nname = \"researcher\"\ndescription = \"y\"\ntools = [\"read\"]\nmax_steps = 3\n+++\nYou are mine.\n";
    let program = Program::new()
        .args(["personas"])
        .file(".claude/agents/worker.md", &file("worker"))
        // The name of a tool takes nothing from that tool, and a file for this program is meant to replace.
        .file(".claude/agents/read.md", &file("read"))
        .file(".config/steersman/personas/researcher.md", own);
    let output = program.output();
    let (table, said) = (stdout(&output), stderr(&output));
    assert!(
        said.contains("steersman: your agent 'worker' (") && said.contains("worker.md) replaces the bundled one\n"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
    let main = table.lines().find(|line| line.starts_with("(main agent)")).unwrap();
    assert!(main.contains(" read ") && table.lines().any(|line| line.starts_with("read ")), "{table}");
}

#[test]
fn the_table_shows_them_with_their_reach() {
    let program = Program::new().args(["personas"]).file(".claude/agents/code-reviewer.md", REVIEWER);
    let table = stdout(&program.output());
    let row = table.lines().find(|line| line.starts_with("code-reviewer")).unwrap();
    assert!(row.contains("user") && row.trim_end().ends_with("read grep bash plan"), "{row}");
}

#[test]
fn a_projects_agent_acts_only_once_the_project_is_trusted() {
    let server = Server::start([Reply::text("ok")]);
    let program = Program::new().args(["exec", "--base-url", &server.url(), "--model", "m", "go"]);
    let work = program.work();
    fs::create_dir_all(work.join(".git")).unwrap();
    fs::create_dir_all(work.join(".claude/agents")).unwrap();
    fs::write(work.join(".claude/agents/x.md"), REVIEWER).unwrap();
    let output = program.output();
    assert!(stderr(&output).contains("not trusted, and therefore ignored: 1 persona"), "{}", stderr(&output));
    assert!(!server.chats()[0].texts("system").concat().contains("code-reviewer"));
}
