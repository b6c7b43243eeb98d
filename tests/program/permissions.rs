//! The permissions of Claude Code's settings: what a project denies holds at once, what it allows once it is trusted.

use std::fs;
use std::path::Path;

use serde_json::json;
use steersman::program::config::{ClaudeSettings, PermissionPlaces};
use steersman_core::approval::Mode;
use tempfile::TempDir;

use crate::support::program::{Program, exit_code, stderr};
use crate::support::server::{Reply, Server};

/// A program in a project with these settings for Claude Code, and a secret.
fn project(settings: &str) -> Program {
    let program = Program::new().file("work/secret.txt", "pssst\n").file("work/open.txt", "nothing pssst\n");
    fs::create_dir_all(program.work().join(".git")).unwrap();
    program.file("work/.claude/settings.json", settings)
}

/// Runs these calls one after the other; returns what the model was told of each, and what was said.
fn told(program: Program, arguments: &[&str], calls: &[(&str, String)]) -> (Vec<String>, String) {
    let names: Vec<String> = (0..calls.len()).map(|number| format!("c{number}")).collect();
    let calls: Vec<(&str, &str, &str)> =
        names.iter().zip(calls).map(|(id, (tool, text))| (id.as_str(), *tool, text.as_str())).collect();
    let server = Server::start([Reply::calls(&calls), Reply::text("Done.")]);
    let program = program.args(["exec", "--base-url", &server.url(), "--model", "m"]);
    let output = program.args(arguments.iter().copied()).arg("Try.").output();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    (server.chats()[1].texts("tool"), stderr(&output))
}

fn bash(command: &str) -> (&'static str, String) {
    ("bash", json!({ "command": command }).to_string())
}

const DENYING: &str = r#"{"permissions": {"deny": ["Read(./secret.txt)"]}}"#;

#[test]
fn what_a_project_denies_to_read_is_closed_to_every_tool_before_any_trust() {
    let calls = [
        ("read", r#"{"path":"secret.txt"}"#.to_owned()),
        ("grep", r#"{"pattern":"pssst","path":"secret.txt"}"#.to_owned()),
        ("write", r#"{"path":"secret.txt","content":"x"}"#.to_owned()),
        ("edit", r#"{"path":"secret.txt","old_string":"pssst","new_string":"x"}"#.to_owned()),
        bash("cat secret.txt"),
        bash("cat < ./a/../secret.txt"),
        bash("cp --reflink=never secret.txt other && cat other"),
        bash("cd / && cat \"$OLDPWD\"/secret.txt; cat s[e]cret.txt; head -n1 *.txt"),
        bash("python3 -c 'print(open(\"sec\" + \"ret.txt\").read())'"),
        bash("ln secret.txt other; mv secret.txt other; cat other"),
    ];
    let (told, _) = told(project(DENYING), &["--mode", "auto"], &calls);
    for ((tool, call), told) in calls.iter().zip(&told) {
        let lines: Vec<&str> = told.lines().filter(|line| line.contains("pssst")).collect();
        assert!(lines.iter().all(|line| line.contains("nothing pssst")), "{tool} {call}: {told}");
    }
    for (told, is_read) in told[..6].iter().zip([true, true, false, false, true, true]) {
        assert!(told.starts_with("Error: ") && (!is_read || told.contains("denies this")), "{told}");
    }
}

#[test]
fn a_search_and_a_list_leave_out_what_a_project_denies() {
    let calls = [("grep", r#"{"pattern":"pssst"}"#.to_owned()), ("glob", r#"{"pattern":"*.txt"}"#.to_owned())];
    let (told, _) = told(project(DENYING), &[], &calls);
    for told in told {
        assert!(told.contains("open.txt") && !told.contains("secret.txt:") && !told.contains("\nsecret"), "{told}");
    }
}

#[test]
fn without_a_sandbox_a_command_that_may_read_what_is_denied_is_asked_about() {
    let ways = [
        "cat secret.txt",
        "cat s*.txt",
        "python3 -c 'open(\"x\")'",
        "cat $(echo secret.txt)",
        "cd . && cat secret.txt",
    ];
    let calls = ways.map(bash);
    let program = project(DENYING).config("sandbox.kind = 'off'\n");
    let (told, _) = told(program, &["--mode", "auto-without-sandbox"], &calls);
    for (way, told) in ways.iter().zip(&told) {
        assert!(told.starts_with("Error: ") && !told.contains("pssst"), "{way}: {told}");
    }
}

#[test]
fn what_a_project_allows_counts_once_it_is_trusted_and_what_the_user_allows_always() {
    let settings = r#"{"permissions": {"allow": ["Bash(touch made)", "Bash(a && b)"], "ask": ["Bash(ls:*)"]}}"#;
    let calls = [bash("touch made"), bash("ls")];
    let (first, said) = told(project(settings), &[], &calls);
    assert!(first.iter().all(|told| told.starts_with("Error: ")), "{first:?}");
    assert!(said.contains("not trusted, and therefore ignored: 1 permission; "), "{said}");
    assert!(said.contains(".claude/settings.json: not applied as written: Bash(a && b) ("), "{said}");
    let hash = said.split("--trust-project ").nth(1).unwrap().split_whitespace().next().unwrap();
    let (second, _) = told(project(settings), &["--trust-project", hash], &calls);
    assert!(!second[0].starts_with("Error: ") && second[1].starts_with("Error: "), "{second:?}");
    let (own, _) = told(Program::new().file(".claude/settings.json", settings), &[], &calls);
    assert!(!own[0].starts_with("Error: ") && own[1].starts_with("Error: "), "{own:?}");
}

#[test]
fn settings_that_cannot_be_read_and_may_deny_something_ask_about_everything() {
    let told_of_broken = |arguments: &[&str]| {
        let calls = [("read", r#"{"path":"open.txt"}"#.to_owned())];
        told(project(r#"{"permissions": {"deny": ["Read(./secret.txt)"]}"#), arguments, &calls)
    };
    let (told, said) = told_of_broken(&[]);
    assert!(told[0].starts_with("Error: "), "{told:?}");
    assert!(said.contains("every call asks first"), "{said}");
    let (told, _) = told_of_broken(&["--without-broken-hooks"]);
    assert!(told[0].contains("pssst"), "{told:?}");
}

#[test]
fn denied_skills_and_plans_are_refused_under_every_name() {
    let settings = r#"{"permissions": {"deny": ["Skill(kit:lint)", "TodoWrite"]}}"#;
    let skill = |name: &str| format!("---\nname: {name}\ndescription: Checks.\n---\nThe text of {name}.\n");
    let program = project(settings)
        .file(".claude/skills/lint/SKILL.md", &skill("lint"))
        .file(".claude/skills/lint/more.md", "The text of more.\n")
        .file(".claude/skills/other/SKILL.md", &skill("other"));
    let calls = [
        ("skill", r#"{"name":"lint"}"#.to_owned()),
        ("skill", r#"{"name":"lint","file":"more.md"}"#.to_owned()),
        ("plan", r#"{"steps":[{"text":"begin","state":"running"}]}"#.to_owned()),
        ("skill", r#"{"name":"other"}"#.to_owned()),
    ];
    let (told, said) = told(program, &["--mode", "auto"], &calls);
    assert!(told[..3].iter().all(|told| told.starts_with("Error: ") && told.contains("denies this")), "{told:?}");
    assert!(told[3].contains("The text of other."), "{told:?}");
    assert!(!said.contains("not applied as written"), "{said}");
}

fn read(text: &str) -> ClaudeSettings {
    let at = PermissionPlaces { home: Some(Path::new("/h")), project: Path::new("/p"), cwd: Path::new("/p") };
    ClaudeSettings::parse(text, at)
}

#[test]
fn each_form_of_a_permission_is_a_rule_of_this_program() {
    let allowed = |entry: &str| read(&json!({ "permissions": { "allow": [entry] } }).to_string()).rules.allow;
    assert_eq!(allowed("Bash(git diff:*)"), ["bash: git diff *"]);
    assert_eq!(allowed("Bash(npm run test)"), ["bash: npm run test"]);
    assert_eq!(allowed("Edit(/src/**)"), ["edit: src/**", "write: src/**"]);
    assert_eq!(allowed("Write"), ["edit", "write"]);
    assert_eq!(
        allowed("WebFetch(domain:example.com)"),
        ["fetch: https://example.com/*", "web_scrape: https://example.com/*"]
    );
    assert_eq!(allowed("mcp__server__tool"), ["mcp: server/tool"]);
    assert_eq!(allowed("mcp__server"), ["mcp: server/*"]);
    assert_eq!(allowed("Read(~/.zshrc)"), [""; 0]);
    for wide in ["Edit(/../x)", "Edit(//etc/**)", "Edit(src/[ab])", "Skill(x)", "Bash(a | b)"] {
        assert_eq!(allowed(wide), [""; 0], "{wide}");
    }
    // What nobody is asked about needs no rule, and nothing is left out.
    for unasked in ["TodoWrite", "Skill", "Skill(x)", "BashOutput", "SlashCommand(/review:*)", "AskUserQuestion"] {
        let allowed = read(&json!({ "permissions": { "allow": [unasked] } }).to_string());
        assert_eq!((allowed.rules.allow.len(), allowed.left_out.len()), (0, 0), "{unasked}: {:?}", allowed.left_out);
    }
    for other in ["SlashCommand(/review:*)", "ToolSearch"] {
        let denied = read(&json!({ "permissions": { "deny": [other] } }).to_string());
        assert_eq!(denied.left_out, [format!("{other} (no rule is about it here: it needs no permission)")]);
    }
    let denied = |entry: &str| read(&json!({ "permissions": { "deny": [entry] } }).to_string()).rules.deny;
    assert_eq!(denied("Task(kit:checker)"), ["agent: kit-checker", "agent: checker"], "of a plugin, by either name");
    assert_eq!(allowed("Agent(kit:checker)"), ["agent: kit-checker"]);
    assert_eq!((denied("Skill"), denied("TodoWrite")), (vec!["skill".to_owned()], vec!["plan".to_owned()]));
    assert_eq!(denied("Skill(kit:lint:*)"), ["skill: lint", "skill: lint/*"]);
    assert_eq!((denied("KillShell"), denied("ExitPlanMode")), (vec!["job_stop".into()], vec!["plan: submit".into()]));
    assert_eq!(
        denied("Read(~/.zshrc)"),
        ["read: /h/.zshrc", "read: /h/.zshrc/**", "edit: /h/.zshrc", "edit: /h/.zshrc/**"]
    );
    assert_eq!(denied("Edit(a/{b,c}/[de])"), ["edit: /p/a/*/?", "edit: /p/a/*/?/**"]);
    assert_eq!(
        denied("Edit(.env)"),
        ["edit: /p/**/.env", "edit: /p/**/.env/**", "edit: /p/.env", "edit: /p/.env/**"],
        "a name alone is one at any depth"
    );
    assert_eq!(denied("Edit(../x)"), ["edit: /x", "edit: /x/**"]);
    assert_eq!(denied("Bash(rm -rf \"$HOME\":*)"), ["bash: rm -rf *"], "wider, and said");
    assert_eq!(denied("Bash($(x))"), ["bash"]);
}

#[test]
fn settings_besides_the_rules_are_read_or_named() {
    let text = r#"{"permissions": {"defaultMode": "acceptEdits", "additionalDirectories": ["../docs"], "deny": [7]}}"#;
    let all = read(text);
    assert_eq!((all.mode, &all.directories[..]), (Some(Mode::AutoEdit), &["/docs".into()][..]));
    assert_eq!(all.left_out, ["7"]);
    let project = all.restrictions();
    assert_eq!((project.mode, project.directories.len(), project.left_out.len()), (None, 0, 3));
    assert_eq!(read(r#"{"permissions": {"defaultMode": "bypassPermissions"}}"#).mode, None);
}

#[test]
fn what_a_link_leads_to_is_denied_too() {
    let dir = TempDir::new().unwrap();
    let root = dir.path().canonicalize().unwrap();
    fs::create_dir(root.join("data")).unwrap();
    std::os::unix::fs::symlink("data", root.join("link")).unwrap();
    let at = PermissionPlaces { home: None, project: &root, cwd: &root };
    let read = ClaudeSettings::parse(r#"{"permissions": {"deny": ["Read(link/*.pem)"]}}"#, at);
    assert!(read.rules.deny.contains(&format!("read: {}/data/*.pem", root.display())), "{read:?}");
}

#[test]
fn variables_for_commands_come_from_the_user_and_from_a_trusted_project_but_none_that_steers_programs() {
    let settings = |value: &str| {
        json!({ "env": { "GREETING": value, "LD_PRELOAD": "x.so", "API_TOKEN": "t", "CLAUDE_CODE_X": "1" } })
            .to_string()
    };
    let calls = [bash("echo \"$GREETING/$LD_PRELOAD/$API_TOKEN/$CLAUDE_CODE_X\"")];
    let program = || project(&settings("hi"));
    let (first, said) = told(program(), &["--mode", "auto"], &calls);
    assert!(first[0].starts_with("///\n"), "{first:?}");
    assert!(said.contains("ignored: 1 variable; ") && said.contains("env API_TOKEN ("), "{said}");
    let hash = said.split("--trust-project ").nth(1).unwrap().split_whitespace().next().unwrap();
    let (second, _) = told(program(), &["--mode", "auto", "--trust-project", hash], &calls);
    assert!(second[0].starts_with("hi///\n"), "{second:?}");
    let (own, _) = told(Program::new().file(".claude/settings.json", &settings("own")), &["--mode", "auto"], &calls);
    assert!(own[0].starts_with("own///\n"), "{own:?}");
}

#[test]
fn a_project_does_not_choose_the_model() {
    let own = read(r#"{"model": "claude-opus-4-1"}"#);
    assert_eq!(own.model.as_deref(), Some("claude-opus-4-1"));
    let project = own.restrictions();
    assert_eq!((project.model, project.left_out.len()), (None, 1));
}

#[test]
fn what_is_denied_stays_closed_where_it_is_made_after_the_start() {
    let settings =
        r#"{"permissions": {"deny": ["Read(./later.txt)", "Read(./secrets/**)", "Read(*.pem)", "Read(.env)"]}}"#;
    let reads = ["later.txt", "secrets/deep/key", "sub/one.pem", "sub/.env"].map(|path| {
        [
            ("read", json!({ "path": path }).to_string()),
            ("grep", json!({ "pattern": "top", "path": path }).to_string()),
            bash(&format!("cat {path}")),
            bash(&format!("python3 -c 'print(open(\"{path}\").read())'")),
        ]
    });
    let make = bash(
        "mkdir -p secrets/deep sub && for f in later.txt secrets/deep/key sub/one.pem sub/.env open2.txt; do echo top-secret > $f; done",
    );
    let rest = [("grep", json!({ "pattern": "top" }).to_string()), bash("cat open2.txt; grep -r top . || true")];
    let names: Vec<String> = (0..20).map(|number| format!("c{number}")).collect();
    let calls: Vec<(&str, String)> = reads.into_iter().flatten().chain(rest).collect();
    let calls: Vec<(&str, &str, &str)> =
        names.iter().zip(&calls).map(|(id, (tool, text))| (id.as_str(), *tool, text.as_str())).collect();
    let server = Server::start([Reply::calls(&[("m", make.0, &make.1)]), Reply::calls(&calls), Reply::text("Done.")]);
    let program =
        project(settings).args(["exec", "--base-url", &server.url(), "--model", "m", "--mode", "auto", "Try."]);
    let output = program.output();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let told = server.chats()[2].texts("tool");
    for (told, (_, tool, call)) in told[1..].iter().zip(&calls) {
        let lines: Vec<&str> = told.lines().filter(|line| line.contains("top-secret")).collect();
        assert!(lines.iter().all(|line| line.contains("open2.txt") || *line == "top-secret"), "{tool} {call}: {told}");
        assert!(
            call.contains("open2.txt") || lines.iter().all(|line| line.contains("open2.txt")),
            "{tool} {call}: {told}"
        );
    }
}

#[test]
fn every_permission_that_is_no_rule_here_says_why() {
    let entries = ["Bash(for:*)", "Bash(while:*)", "Bash(if:*)", "Bash(! x)", "Bash(-x:*)"];
    let said = read(&json!({"permissions": {"allow": entries}}).to_string()).left_out;
    assert_eq!(said.len(), entries.len(), "{said:?}");
    for (entry, said) in entries.iter().zip(&said) {
        let why = said.strip_prefix(&format!("{entry} (")).and_then(|why| why.strip_suffix(')'));
        assert!(why.is_some_and(|why| why.len() > 5), "{said}");
    }
}
