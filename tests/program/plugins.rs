//! Plugins and marketplaces of Claude Code: what is shown before trust, what acts behind it, what a change asks again, and
//! that nothing of a layout that people publish is left out without a word.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use steersman::program::cli::places::UserDirectories;
use steersman::program::cli::plugins::{AddedPlugin, Marketplace};
use steersman::program::cli::project::{ProjectOffer, adopted};
use steersman_agent::subagent::Roster;
use steersman_base::limits;
use steersman_base::protocol::PromptTemplate;
use steersman_extensions::skill::SkillLibrary;
use tempfile::TempDir;

use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Reply, Server};

const MANIFEST: &str = r#"{"name": "kit", "description": "A kit.", "version": "1.0.0"}"#;
const SHIP: &str =
    "---\ndescription: Ships\nallowed-tools: Bash(echo:*)\n---\nShip $1 from !`echo ${CLAUDE_PLUGIN_ROOT}`.\n";
const SKILL: &str =
    "---\nname: lint\ndescription: Lints. Use when: asked to.\n---\nRun ${CLAUDE_PLUGIN_ROOT}/skills/lint/run.sh.\n";
const AGENT: &str = "---\nname: checker\ndescription: Checks.\ntools: Read\n---\nYou check.\n";
const HOOKS: &str = r#"{"description": "Hooks.", "hooks": {"UserPromptSubmit": [{"hooks": [
    {"type": "command", "command": "sh \"${CLAUDE_PLUGIN_ROOT}/hooks/say.sh\""}]}]}}"#;

/// The files of a plugin with every kind of part.
fn kit() -> [(&'static str, &'static str); 7] {
    [
        (".claude-plugin/plugin.json", MANIFEST),
        ("commands/ship.md", SHIP),
        ("skills/lint/SKILL.md", SKILL),
        ("skills/lint/run.sh", "#!/bin/sh\necho linted\n"),
        ("agents/checker.md", AGENT),
        ("hooks/hooks.json", HOOKS),
        ("hooks/say.sh", "#!/bin/sh\necho \"said in ${CLAUDE_PLUGIN_ROOT##*/}\"\n"),
    ]
}

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// Runs the program in a home; returns its exit code and outputs.
fn run(home: TempDir, args: &[&str]) -> (TempDir, i32, String, String) {
    let (output, home) = Program::within(home).args(args.iter().copied()).output_with_home();
    (home, exit_code(&output), stdout(&output), stderr(&output))
}

/// Returns the hash that a line of the program says.
fn hash(said: &str) -> String {
    said.split("--trust ").nth(1).unwrap_or_else(|| panic!("no hash in {said}")).trim().to_owned()
}

fn offer(root: &Path, name: &str, list: Option<&Path>) -> ProjectOffer {
    let root = root.canonicalize().unwrap();
    let list = list.map(|list| list.canonicalize().unwrap());
    let plugin = AddedPlugin { name: name.to_owned(), source: "here".to_owned(), root, list, commit: None };
    ProjectOffer::read_plugin(&plugin, &UserDirectories::default(), Path::new("/")).unwrap()
}

#[test]
fn a_plugin_is_shown_whole_and_acts_only_once_it_is_trusted() {
    let home = TempDir::new().unwrap();
    write(&home.path().join("kit"), &kit());
    let root = home.path().canonicalize().unwrap().join("kit");
    let source = root.to_str().unwrap();
    let (home, code, shown, said) = run(home, &["plugin", "add", source]);
    assert_eq!(code, 0, "{said}");
    for part in [
        "this plugin changes how this program works",
        "a command: /ship",
        "its shell lines, !`…`, run these unasked: Bash(echo:*)",
        "a skill: lint",
        "echo linted",
        "a sub-agent: checker",
        "UserPromptSubmit",
        "hooks/say.sh",
        "echo \"said in",
    ] {
        assert!(shown.contains(part), "{part} is missing in\n{shown}");
    }
    let server = Server::start([Reply::text("one"), Reply::text("two")]);
    let url = server.url();
    let exec = |prompt| ["exec", "--base-url", &url, "--model", "m", prompt].map(str::to_owned);
    let words = exec("/ship 12");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (home, code, _, before) = run(home, &words);
    assert_eq!(code, 0, "{before}");
    assert!(before.contains("the plugin kit is not trusted as it is, and therefore not used"), "{before}");
    assert_eq!(server.chats()[0].texts("user"), ["/ship 12"]);
    assert!(!server.chats()[0].texts("system").concat().contains("lint"));

    let (home, code, _, said) = run(home, &["plugin", "add", source, "--trust", &hash(&said)]);
    assert_eq!(code, 0);
    assert!(said.contains("added the plugin kit: 1 persona, 1 skill, 1 command, 1 hook"), "{said}");
    let (home, code, _, said) = run(home, &words);
    assert_eq!(code, 0, "{said}");
    let chat = &server.chats()[1];
    let user = chat.texts("user").concat();
    assert!(user.contains("Ship 12 from <command-output"), "{user}");
    assert!(user.contains(&format!("\n{source}\n</command-output>")), "{user}");
    let system = chat.texts("system").concat();
    assert!(system.contains("- `lint` — Lints.") && system.contains("checker"), "{system}");
    assert!(
        chat.texts("system").iter().chain(&chat.texts("user")).any(|text| text.contains("said in kit")),
        "{chat:?}"
    );
    let (home, _, listed, _) = run(home, &["plugin", "list"]);
    assert!(listed.contains("kit (") && listed.contains("1 persona, 1 skill, 1 command, 1 hook"), "{listed}");
    let (home, _, listed, _) = run(home, &["skills"]);
    assert!(listed.contains("/ship (plugin kit): Ships") && listed.contains("/skill lint (plugin kit)"), "{listed}");
    // Removed is removed; a directory of the user stays.
    let (home, code, ..) = run(home, &["plugin", "remove", "kit"]);
    assert_eq!(code, 0);
    let (_home, _, listed, _) = run(home, &["plugin", "list"]);
    assert!(listed.starts_with("there are no plugins"), "{listed}");
    assert!(root.join("hooks/say.sh").exists());
}

#[test]
fn a_change_of_any_file_of_the_tree_asks_again_and_shows_what_changed() {
    for (file, text) in [
        ("hooks/say.sh", "#!/bin/sh\ncurl evil\n"),
        ("skills/lint/run.sh", "#!/bin/sh\necho other\n"),
        ("lib/new.py", "print(1)\n"),
        ("agents/checker.md", "---\nname: checker\ndescription: Cheats.\n---\nYou cheat.\n"),
    ] {
        let home = TempDir::new().unwrap();
        write(&home.path().join("kit"), &kit());
        let source = home.path().canonicalize().unwrap().join("kit");
        let source = source.to_str().unwrap();
        let (home, _, _, said) = run(home, &["plugin", "add", source]);
        let (home, ..) = run(home, &["plugin", "add", source, "--trust", &hash(&said)]);
        write(&home.path().join("kit"), &[(file, text)]);
        let (home, _, listed, _) = run(home, &["plugin", "list"]);
        assert!(listed.contains("not trusted as it is: "), "{file}: {listed}");
        let (_home, _, shown, said) = run(home, &["plugin", "add", source]);
        assert!(said.contains("not used before you trust it"), "{said}");
        if file != "lib/new.py" {
            assert!(shown.contains(&format!("+ {}", text.lines().last().unwrap())) || shown.contains('+'), "{shown}");
        }
    }
}

#[test]
fn the_history_of_a_checkout_is_no_part_of_a_plugin() {
    let home = TempDir::new().unwrap();
    write(&home.path().join("kit"), &kit());
    let pack = home.path().join("kit/.git/objects/pack/a.pack");
    fs::create_dir_all(pack.parent().unwrap()).unwrap();
    fs::File::create(&pack).unwrap().set_len(limits::PINNED_BYTES + 1).unwrap();
    let source = home.path().canonicalize().unwrap().join("kit");
    let source = source.to_str().unwrap();
    let (home, code, _, said) = run(home, &["plugin", "add", source]);
    assert_eq!(code, 0, "{said}");
    let (home, ..) = run(home, &["plugin", "add", source, "--trust", &hash(&said)]);
    write(&home.path().join("kit"), &[(".git/FETCH_HEAD", "x")]);
    let (_home, _, listed, _) = run(home, &["plugin", "list"]);
    assert!(listed.contains("1 skill") && !listed.contains("not trusted"), "{listed}");
}

#[test]
fn a_part_that_a_manifest_names_beside_the_usual_place_counts_once() {
    let root = TempDir::new().unwrap();
    let manifest = r#"{"name": "deck", "skills": ["./skills/one", "./skills/two"], "agents": "./agents/checker.md"}"#;
    let (one, two) = (skill("one"), skill("two"));
    let files = [
        (".claude-plugin/plugin.json", manifest),
        ("skills/one/SKILL.md", one.as_str()),
        ("skills/two/SKILL.md", two.as_str()),
        ("agents/checker.md", AGENT),
    ];
    write(root.path(), &files);
    assert_eq!(brought(root.path(), "deck", None), ("1 persona, 2 skills".to_owned(), vec![]));
}

#[test]
fn names_that_are_taken_get_the_name_of_the_plugin_before_them() {
    let home = TempDir::new().unwrap();
    let root = home.path().join("kit");
    write(&root, &kit());
    write(&root, &[("commands/help.md", "Help of the kit.")]);
    let mut library = SkillLibrary::default();
    write(
        home.path(),
        &[("mine/ship.md", "My ship."), ("skills/lint/SKILL.md", "---\nname: lint\ndescription: Mine.\n---\nMine.")],
    );
    library.add_user_commands(&home.path().join("mine"), |_| false);
    library.add_user_skills(&home.path().join("skills"));
    let mut roster = Roster::default();
    roster
        .add(steersman_agent::subagent::PersonaSource::User("a.md".to_owned()), &AGENT.replace("You check.", "Mine."));
    adopted(&offer(&root, "kit", None), &mut roster, &mut library);
    let names: Vec<String> = library.templates().iter().map(PromptTemplate::command).collect();
    assert_eq!(names, ["/ship", "/kit:help", "/kit:ship", "/skill lint", "/skill kit:lint"]);
    let agents: Vec<&str> = roster.members().iter().map(|member| member.persona.name.as_str()).collect();
    assert_eq!(agents, ["checker", "kit-checker"]);
    // What is not taken is called by both names.
    let mut alone = SkillLibrary::default();
    adopted(&offer(&root, "kit", None), &mut Roster::default(), &mut alone);
    let templates = alone.templates();
    for call in ["/ship 1", "/kit:ship 1"] {
        let called = PromptTemplate::called(&templates, call);
        assert_eq!(called.map(|(template, words)| (template.name.as_str(), words)), Some(("ship", "1")), "{call}");
    }
}

/// A marketplace with a plugin in a directory, one that is listed by its parts, and one elsewhere.
fn marketplace(root: &Path) {
    let list = r#"{"name": "market", "owner": {"name": "o"}, "plugins": [
        {"name": "kit", "source": "./plugins/kit", "description": "A kit."},
        {"name": "papers", "source": "./", "strict": false, "skills": ["./papers/pdf"], "description": "Papers."},
        {"name": "far", "source": {"source": "github", "repo": "o/far"}},
        {"name": "out", "source": "../../etc"}]}"#;
    write(
        root,
        &[
            (".claude-plugin/marketplace.json", list),
            ("papers/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDF.\n---\nRead."),
            ("skills/other/SKILL.md", "---\nname: other\ndescription: Not of papers.\n---\nOther."),
        ],
    );
    write(&root.join("plugins/kit"), &kit());
}

#[test]
fn a_marketplace_lists_its_plugins_and_those_that_are_named_are_added() {
    let home = TempDir::new().unwrap();
    marketplace(&home.path().join("market"));
    let source = home.path().canonicalize().unwrap().join("market");
    let source = source.to_str().unwrap();
    let (home, code, shown, said) = run(home, &["plugin", "add", source]);
    assert_eq!((code, shown.as_str()), (2, "kit\npapers\nfar\nout\n"), "{said}");
    let (home, code, _, said) = run(home, &["plugin", "add", source, "nothing"]);
    assert_eq!(code, 1);
    assert!(said.contains("has no plugin nothing; it has: kit, papers, far, out"), "{said}");
    let (home, code, shown, said) = run(home, &["plugin", "add", source, "--all"]);
    assert_eq!(code, 1);
    assert!(shown.contains("a skill: pdf") && shown.contains("a command: /ship"), "{shown}");
    assert!(!shown.contains("a skill: other"), "what the list does not name of it is not its: {shown}");
    assert!(said.contains("the plugin far is not added: it is in o/far (add it from there)"), "{said}");
    assert!(said.contains("the plugin out is not added: it leads out of the plugin"), "{said}");
    let (_home, _, listed, _) = run(home, &["plugin", "list"]);
    assert_eq!(listed.lines().count(), 2, "{listed}");
}

#[test]
fn a_repository_is_cloned_without_its_history_and_a_remove_takes_the_clone() {
    let home = TempDir::new().unwrap();
    let repository = home.path().join("repository");
    write(&repository, &kit());
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-C"]).arg(&repository).args(words);
        assert!(command.output().unwrap().status.success(), "{words:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "one"]);
    let address = format!("file://{}", repository.canonicalize().unwrap().display());
    let (home, code, shown, said) = run(home, &["plugin", "add", &address]);
    assert_eq!(code, 0, "{said}");
    assert!(shown.contains("a command: /ship"), "{shown}");
    let clones = home.path().join(".local/share/steersman/plugins");
    let found: Vec<PathBuf> = fs::read_dir(&clones).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].join("commands/ship.md").exists() && !found[0].join(".git").exists());
    let (home, _, listed, _) = run(home, &["plugin", "list"]);
    let commit = found[0].file_name().unwrap().to_str().unwrap().rsplit('-').next().unwrap().to_owned();
    assert!(commit.len() == 12 && listed.contains(&commit), "{listed}");
    let (home, code, ..) = run(home, &["plugin", "remove", "kit"]);
    assert_eq!(code, 0);
    assert_eq!(fs::read_dir(&clones).unwrap().count(), 0);
    let (_home, code, _, said) = run(home, &["plugin", "add", "ext::sh -c true"]);
    assert_eq!(code, 1);
    assert!(said.contains("neither a directory nor an address of git"), "{said}");
}

#[test]
fn a_project_that_enables_plugins_says_so_in_one_line_and_fetches_nothing() {
    let settings = r#"{"enabledPlugins": {"kit@market": true, "off@market": false, "x; rm -rf ~@market": true},
        "extraKnownMarketplaces": {"market": {"source": {"source": "github", "repo": "o/market"}}}}"#;
    let server = Server::start([Reply::text("done")]);
    let program = Program::new()
        .args(["exec", "--base-url", &server.url(), "--model", "m", "go"])
        .file("work/.git/HEAD", "ref: refs/heads/main\n")
        .file("work/.claude/settings.json", settings);
    let (output, home) = program.output_with_home();
    let said = stderr(&output);
    let line = said.lines().find(|line| line.contains("enables plugins")).unwrap_or_else(|| panic!("{said}"));
    assert!(line.contains("(kit, x; rm -rf ~)"), "{line}");
    assert!(
        line.ends_with("steersman plugin add o/market kit adds them"),
        "a word that a shell reads is left out: {line}"
    );
    assert!(!home.path().join(".local/share/steersman/plugins").exists());
}

/// Everything that a plugin of a layout brings, in one line each.
fn brought(root: &Path, name: &str, list: Option<&Path>) -> (String, Vec<String>) {
    let offer = offer(root, name, list);
    (offer.names(), offer.faults)
}

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\nlicense: MIT\n---\n# {name}\n")
}

fn agent(name: &str, tools: &str) -> String {
    format!("---\nname: {name}\ndescription: Use PROACTIVELY.\nmodel: opus\n{tools}---\nYou are {name}.\n")
}

#[test]
fn skills_that_a_list_names_by_their_paths_load_without_a_manifest() {
    let root = TempDir::new().unwrap();
    let list = r#"{"name": "agent-skills", "owner": {"name": "o"}, "metadata": {"description": "d", "version": "1.0.0"}, "plugins": [
        {"name": "document-skills", "source": "./", "strict": false, "skills": ["./skills/xlsx", "./skills/pdf"]},
        {"name": "example-skills", "source": "./", "strict": false, "skills": ["./skills/art"]}]}"#;
    write(root.path(), &[(".claude-plugin/marketplace.json", list), ("README.md", "x")]);
    for name in ["xlsx", "pdf", "art"] {
        write(
            root.path(),
            &[(&format!("skills/{name}/SKILL.md"), &skill(name)), (&format!("skills/{name}/scripts/a.py"), "1\n")],
        );
    }
    assert_eq!(brought(root.path(), "document-skills", Some(root.path())), ("2 skills".to_owned(), vec![]));
    assert_eq!(brought(root.path(), "example-skills", Some(root.path())), ("1 skill".to_owned(), vec![]));
}

#[test]
fn plugins_with_a_directory_each_bring_what_lies_in_the_usual_places() {
    let root = TempDir::new().unwrap();
    let list = r#"{"name": "workflows", "owner": {"name": "o"}, "plugins": [
        {"name": "backend", "source": "./plugins/backend", "version": "1.2.0", "author": {"name": "a"}, "category": "x", "strict": false},
        {"name": "ops", "source": "./plugins/ops", "agents": ["./agents/ops.md"], "commands": ["./commands/run.md", "./commands/gone.md"], "strict": false}]}"#;
    let (api, ops) = (agent("api", ""), agent("ops", "tools: Read, Grep, Bash\n"));
    write(
        root.path(),
        &[
            (".claude-plugin/marketplace.json", list),
            ("plugins/backend/agents/api.md", &api),
            ("plugins/backend/commands/feature.md", "Build $ARGUMENTS."),
            ("plugins/backend/skills/api-design/SKILL.md", &skill("api-design")),
            ("plugins/ops/agents/ops.md", &ops),
            ("plugins/ops/agents/unlisted.md", &ops),
            ("plugins/ops/commands/run.md", "---\nmodel: haiku\n---\nRun."),
        ],
    );
    let backend = root.path().join("plugins/backend");
    assert_eq!(brought(&backend, "backend", Some(root.path())), ("1 persona, 1 skill, 1 command".to_owned(), vec![]));
    let (names, faults) = brought(&root.path().join("plugins/ops"), "ops", Some(root.path()));
    assert_eq!(names, "1 persona, 1 command");
    assert!(faults.len() == 2 && faults[0].contains("plugin ops: commands/gone.md: is left out"), "{faults:?}");
    assert_eq!(faults[1], "plugin ops: skills and commands run without these settings of their files: model (run)");
}

#[test]
fn a_plugin_that_is_its_own_list_brings_a_hook_behind_a_wrapper() {
    let root = TempDir::new().unwrap();
    let hooks = r#"{"hooks": {"SessionStart": [{"matcher": "startup|resume|clear|compact", "hooks": [
        {"type": "command", "command": "\"${CLAUDE_PLUGIN_ROOT}/hooks/run-hook.cmd\" session-start.sh"}]}]}}"#;
    write(
        root.path(),
        &[
            (
                ".claude-plugin/marketplace.json",
                r#"{"name": "dev", "owner": {"name": "o"}, "plugins": [{"name": "powers", "source": "./"}]}"#,
            ),
            (".claude-plugin/plugin.json", r#"{"name": "powers", "version": "3.4.1", "keywords": ["skills"]}"#),
            ("hooks/hooks.json", hooks),
            ("hooks/run-hook.cmd", "#!/bin/sh\nexec sh \"$1\"\n"),
            ("hooks/session-start.sh", "echo start\n"),
            (
                "commands/brainstorm.md",
                "---\ndescription: Use before\ndisable-model-invocation: true\n---\nUse the brainstorming skill.",
            ),
            ("skills/brainstorming/SKILL.md", &skill("brainstorming")),
            ("agents/code-reviewer.md", &agent("code-reviewer", "")),
            ("lib/core.js", "1\n"),
        ],
    );
    assert_eq!(
        brought(root.path(), "powers", Some(root.path())),
        ("1 persona, 1 skill, 1 command, 1 hook".to_owned(), vec![])
    );
    assert!(offer(root.path(), "powers", None).detail().contains("exec sh"), "a script that a hook runs is shown");
    let listed = Marketplace::load(root.path()).unwrap().unwrap();
    assert_eq!(listed.plugins.len(), 1);
}

#[test]
fn servers_and_hooks_of_a_manifest_load_and_what_is_not_used_is_named() {
    let root = TempDir::new().unwrap();
    let manifest = r#"{"name": "tools", "mcpServers": {"db": {"command": "${CLAUDE_PLUGIN_ROOT}/db.sh", "args": ["--x"]}},
        "hooks": {"PostToolUse": [{"matcher": "Write|Edit", "hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/fmt.sh"}]}],
                  "Strange": [{"hooks": [{"type": "command", "command": "x"}]}]},
        "lspServers": {"go": {"command": "gopls"}}, "commands": "./extra"}"#;
    write(
        root.path(),
        &[
            (".claude-plugin/plugin.json", manifest),
            (
                ".mcp.json",
                r#"{"web": {"type": "http", "url": "https://mcp.example.com/"}, "old": {"type": "sse", "url": "https://x/"}}"#,
            ),
            ("db.sh", "#!/bin/sh\n"),
            ("fmt.sh", "#!/bin/sh\n"),
            ("extra/go.md", "Go."),
            ("output-styles/a.md", "x"),
        ],
    );
    let (names, faults) = brought(root.path(), "tools", None);
    assert_eq!(names, "2 MCP servers, 1 command, 1 hook");
    for named in
        ["lspServers (not used here)", "output-styles (not used here)", "the server old is left out", "Strange"]
    {
        assert!(faults.iter().any(|fault| fault.contains(named)), "{named}: {faults:#?}");
    }
    let detail = offer(root.path(), "tools", None).detail();
    assert!(detail.contains("an MCP server 'db'") && detail.contains("CLAUDE_PLUGIN_ROOT = "), "{detail}");
}

#[test]
fn hooks_of_a_projects_settings_and_commands_of_another_kit_load() {
    let root = TempDir::new().unwrap();
    let settings = r#"{"hooks": {"PreToolUse": [{"matcher": "", "hooks": [{"type": "command", "command": "uv run .claude/hooks/pre_tool_use.py"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "uv run .claude/hooks/stop.py --chat"}]}],
        "SubagentStop": [{"hooks": [{"type": "command", "command": "uv run .claude/hooks/subagent_stop.py"}]}]}}"#;
    write(
        root.path(),
        &[
            (".claude/settings.json", settings),
            (".claude/hooks/pre_tool_use.py", "#!/usr/bin/env -S uv run --script\n"),
            (".claude/hooks/stop.py", "1\n"),
            (".claude/hooks/subagent_stop.py", "1\n"),
            (
                ".claude/commands/speckit.specify.md",
                "---\ndescription: Specify\nhandoffs:\n  - label: Plan\n    agent: speckit.plan\nscripts:\n  sh: scripts/bash/create.sh --json \"{ARGS}\"\n---\n## User Input\n\n```text\n$ARGUMENTS\n```\n",
            ),
            (".claude/agents/team/meta.md", &agent("meta", "color: cyan\n")),
        ],
    );
    let offer = ProjectOffer::load(&root.path().canonicalize().unwrap(), &[]).unwrap();
    assert_eq!(offer.names(), "1 persona, 1 command, 3 hooks");
    assert_eq!(offer.faults, [""; 0]);
    assert_eq!(offer.texts.commands[0].1.name, "speckit.specify");
}

#[test]
fn two_plugins_with_an_agent_of_one_name_start_with_both() {
    let home = TempDir::new().unwrap();
    let list = r#"{"name": "two", "plugins": [{"name": "first-kit", "source": "./a"}, {"name": "second-kit", "source": "./b"}]}"#;
    write(
        &home.path().join("kits"),
        &[
            (".claude-plugin/marketplace.json", list),
            ("a/agents/code-reviewer.md", &agent("code-reviewer", "")),
            ("a/agents/README.md", "# Agents\n"),
            ("b/agents/code-reviewer.md", &agent("code-reviewer", "tools: Read\n")),
            ("b/bin/tool", "x"),
            ("b/.claude-plugin/plugin.json", r#"{"name": "second-kit", "sessionStart": {}, "version": "1"}"#),
            ("b/commands/set.md", "---\nallowed-tools: Bash(echo:*)\n---\n```!\necho $CLAUDE_PLUGIN_ROOT/run\n```\n"),
        ],
    );
    let kits = home.path().join("kits").to_string_lossy().into_owned();
    let (home, _, _, said) = run(home, &["plugin", "add", &kits, "--all"]);
    assert!(said.contains("bin (not used here), ") || said.contains("sessionStart (not used here), bin"), "{said}");
    let hashes: Vec<String> = said.lines().filter(|line| line.contains("--trust ")).map(hash).collect();
    let mut words = vec!["plugin", "add", &kits, "--all"];
    words.extend(hashes.iter().flat_map(|hash| ["--trust", hash]));
    let (home, code, _, said) = run(home, &words);
    assert_eq!(code, 0, "{said}");
    let server = Server::start([
        Reply::calls(&[("c1", "agent", r#"{"name":"second-kit-code-reviewer","task":"look"}"#)]),
        Reply::text("seen"),
        Reply::text("done"),
    ]);
    let (home, code, _, said) = run(home, &["exec", "--base-url", &server.url(), "--model", "m", "/set"]);
    assert_eq!(code, 0, "{said}");
    assert!(server.chats()[0].texts("user")[0].contains("kits/b/run\n"), "{:?}", server.chats()[0].texts("user"));
    assert_eq!(server.chats()[1].tools(), ["read"]);
    for part in
        ["plugin first-kit: agents: no agents, since they have no head: README.md", "sessionStart (not used here)"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    drop(home);
}
