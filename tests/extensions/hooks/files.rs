//! Stories of the files with hooks: what is read as it is, what is left out, and why in one line.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use steersman_base::event::HookEvent;
use steersman_base::message::{Arguments, ToolCall};
use steersman_extensions::hooks::{HookCondition, HookFile, Matcher, read_json};

fn read(text: &str) -> HookFile {
    read_json("hooks.json", text)
}

/// Reads one hook of an event.
fn one(event: &str, hook: &serde_json::Value) -> HookFile {
    read(&json!({ "hooks": { event: [{ "hooks": [hook] }] } }).to_string())
}

#[test]
fn every_event_is_read_with_matcher_command_and_time() {
    let text = json!({ "permissions": { "allow": [] }, "hooks": {
        "SessionStart": [{ "matcher": "startup|resume", "hooks": [{ "type": "command", "command": "a" }] }],
        "UserPromptSubmit": [{ "hooks": [{ "type": "command", "command": "b", "timeout": 5 }] }],
        "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "c" }, { "type": "command", "command": "d" }] }],
        "PostToolUse": [{ "matcher": "Edit|Write", "hooks": [{ "type": "command", "command": "e", "statusMessage": "formats" }] }],
        "PreCompact": [{ "matcher": "auto", "hooks": [{ "type": "command", "command": "f", "async": false }] }],
        "SubagentStop": [{ "hooks": [{ "type": "command", "command": "g", "args": ["x y"] }] }],
        "Stop": [{ "matcher": "", "hooks": [{ "type": "command", "command": "h", "timeout": 90000 }] }],
    }});
    let file = read(&text.to_string());
    assert_eq!(file.faults, [""; 0]);
    let hooks: Vec<(HookEvent, &str, String)> =
        file.hooks.iter().map(|hook| (hook.event, hook.matcher.text(), hook.whole_command())).collect();
    // In the order of the names: the object has no other.
    let mut expected = vec![
        (HookEvent::PostToolUse, "Edit|Write", "e".to_owned()),
        (HookEvent::PreCompact, "auto", "f".to_owned()),
        (HookEvent::PreToolUse, "Bash", "c".to_owned()),
        (HookEvent::PreToolUse, "Bash", "d".to_owned()),
        (HookEvent::SessionStart, "startup|resume", "a".to_owned()),
        (HookEvent::Stop, "", "h".to_owned()),
        (HookEvent::SubagentStop, "", "g \"x y\"".to_owned()),
        (HookEvent::UserPromptSubmit, "", "b".to_owned()),
    ];
    let sorted = |hooks: &mut Vec<(HookEvent, &str, String)>| hooks.sort_by(|a, b| a.2.cmp(&b.2));
    let mut hooks = hooks;
    sorted(&mut hooks);
    sorted(&mut expected);
    assert_eq!(hooks, expected);
    let time = |command: &str| file.hooks.iter().find(|hook| hook.command == command).unwrap().time;
    assert_eq!([time("a"), time("b")], [Duration::from_mins(1), Duration::from_secs(5)]);
    assert_eq!(time("h"), Duration::from_mins(10), "no hook may take longer");
}

#[test]
fn what_is_not_run_says_why_in_one_line_and_leaves_the_rest_in_place() {
    let text = json!({ "hooks": {
        "TeammateIdle": [{ "hooks": [{ "type": "command", "command": "ping" }] }],
        "PreToolUse": [
            { "matcher": "Bash(", "hooks": [{ "type": "command", "command": "x" }] },
            { "matcher": 3, "hooks": [] },
            "no object",
            { "matcher": "Bash", "hooks": [{ "type": "prompt", "prompt": "is it safe?" }, { "type": "command", "command": "kept" }] },
        ],
        "Stop": { "hooks": [] },
    }});
    let file = read(&text.to_string());
    assert_eq!(file.hooks.iter().map(|hook| hook.command.as_str()).collect::<Vec<_>>(), ["kept"]);
    let line = file.error_line("settings.json").unwrap();
    assert!(line.starts_with("settings.json: hooks that are not run: "), "{line}");
    for part in [
        "TeammateIdle (this event is not known here)",
        "PreToolUse (the matcher \"Bash(\" is not a valid regular expression",
        "PreToolUse (its matcher must be a string)",
        "PreToolUse (an entry must be an object)",
        "PreToolUse (type \"prompt\"; Steersman runs only commands)",
        "Stop (it must be a list)",
    ] {
        assert!(line.contains(part), "{part} is missing in {line}");
    }
    assert!(!line.contains('\n'));
}

#[test]
fn a_hook_that_cannot_be_run_as_it_is_meant_is_not_run_at_all() {
    for (hook, why) in [
        (json!({ "type": "command" }), "it has no command"),
        (json!({ "type": "command", "command": " " }), "its command is empty"),
        (json!({ "type": "command", "command": 3 }), "its command must be a string"),
        (json!({ "command": "x" }), "it has no type"),
        (
            json!({ "type": "command", "command": "x", "if": "Bush(git *)" }),
            "its condition `if` must be a rule: \"Bush(git *)\"",
        ),
        (json!({ "type": "command", "command": "x", "if": 3 }), "its if must be a string"),
        (
            json!({ "type": "command", "command": "x", "asyncRewake": true }),
            "it would wake the agent; only you can do that",
        ),
        (json!({ "type": "command", "command": "x", "shell": "powershell" }), "its shell is \"powershell\""),
        (json!({ "type": "command", "command": "x", "timeout": "5" }), "its timeout must be a number of seconds"),
        (json!({ "type": "command", "command": "x", "timeout": -1 }), "its timeout must be a number of seconds"),
        (json!({ "type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/x" }), "it names the directory of a plugin"),
        (json!({ "type": "command", "command": "x", "args": [1] }), "each argument must be a string"),
        (json!("x"), "a hook must be an object"),
    ] {
        let file = one("PreToolUse", &hook);
        assert!(file.hooks.is_empty(), "{hook}");
        assert_eq!(file.faults, [format!("PreToolUse ({why})")]);
    }
}

#[test]
fn a_condition_is_a_rule_that_the_call_must_match() {
    let matches = |condition: &str, tool: &str, arguments: Value| {
        let Value::Object(arguments) = arguments else { panic!("no object") };
        let call = ToolCall { id: "c1".into(), name: tool.to_owned(), arguments: Arguments::Object(arguments) };
        HookCondition::parse(condition).unwrap().matches(&call, Path::new("/p"))
    };
    let bash = |condition: &str, command: &str| matches(condition, "bash", json!({ "command": command }));
    for command in ["git push", "git push --force", "ls && git push", "bash -c 'git push'", "python3 x.py"] {
        assert!(bash("Bash(git push:*)", command), "{command}: where nobody can tell it runs");
    }
    assert!(!bash("Bash(git push:*)", "git status") && !bash("Bash(git push:*)", "ls"));
    let edit = |condition: &str, path: &str| matches(condition, "edit", json!({ "path": path }));
    assert!(
        edit("Edit(*.ts)", "src/deep/a.ts") && edit("Write(src/**)", "src/a") && edit("Edit(/src/*.ts)", "./src/a.ts")
    );
    assert!(!edit("Edit(*.ts)", "a.rs") && !edit("Edit(/src/*.ts)", "lib/a.ts") && !edit("Bash(ls)", "a"));
    assert!(edit("Edit", "a") && !edit("Read", "a") && !edit("Edit(*.ts)", "../a.rs"));
    assert!(matches("mcp__db__*", "mcp__db__query", json!({})) && !matches("mcp__db", "mcp__dbs__query", json!({})));
    // Nothing that is about no call can match one.
    let hook = json!({ "type": "command", "command": "x", "if": "Bash" });
    assert_eq!(one("Stop", &hook).faults, ["Stop (`if` needs an event about a call)"]);
    assert_eq!(one("PreToolUse", &hook).hooks.len(), 1);
}

#[test]
fn files_that_are_none_run_nothing() {
    for text in ["", "[]", "{", "3", "{\"hooks\": null}", "{}"] {
        assert!(read(text).hooks.is_empty(), "{text}");
    }
    assert!(read("{").error_line("f").unwrap().contains("the file is not valid JSON"));
    assert_eq!(read("{\"hooks\": []}").faults, ["all (`hooks` must be an object)"]);
    let off =
        "{\"disableAllHooks\": true, \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\":\"command\",\"command\":\"x\"}]}]}}";
    assert_eq!((read(off).hooks.len(), read(off).faults), (0, vec!["all (the file has disableAllHooks)".to_owned()]));
}

#[test]
fn a_matcher_is_a_list_of_names_or_a_regular_expression() {
    let matches = |matcher: &str, names: &[&str]| Matcher::parse(Some(matcher)).unwrap().matches(names);
    for everything in ["", "*"] {
        assert!(matches(everything, &["Bash"]) && matches(everything, &[]));
    }
    assert!(Matcher::parse(None).unwrap().matches(&["Read"]));
    assert!(matches("Bash", &["bash", "Bash"]) && !matches("Bash", &["BashOutput"]), "a name is a whole name");
    assert!(matches("Edit|MultiEdit|Write", &["Write"]) && matches("Edit, Write", &["Write"]));
    assert!(!matches("mcp__memory", &["mcp__memory__create"]));
    assert!(
        matches("mcp__memory__.*", &["mcp__memory__create"]) && !matches("mcp__memory__.*", &["mcp__other__create"])
    );
    assert!(matches("^Bash$", &["Bash"]) && !matches("^Bash$", &["BashOutput"]) && matches("^Bash", &["BashOutput"]));
    assert!(Matcher::parse(Some("[")).is_err());
    // Time is linear, whatever the expression.
    assert!(!matches("^(a+)+$", &[&format!("{}b", "a".repeat(10_000))]));
}
