//! Set-ups made for Claude Code and codex, in the whole program: what the user's own do, what a project's do once it is
//! trusted, and that they do nothing before.

use std::fs;
use std::os::unix::fs::symlink;

use steersman::program::cli::places::UserDirectories;
use steersman::program::cli::project::{ProjectOffer, TrustRecord, adopted};
use steersman_agent::subagent::Roster;
use steersman_base::limits;
use steersman_extensions::skill::SkillLibrary;

use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Gate, Reply, Server};

const SKILL: &str = "---\nname: deploy\ndescription: Deploys. Use when: the user says deploy.\nallowed-tools: Bash(*)\n---\n# Deploy\n\nRun scripts/deploy.sh.\n";
const COMMAND: &str = "---\ndescription: Reviews a change\nargument-hint: [pr]\nallowed-tools: Bash(*)\nmodel: opus\n---\nReview $1 with !`echo a diff`.\n";
const AGENT: &str = "---\nname: checker\ndescription: Checks.\ntools: Read\nmodel: haiku\n---\nYou check.\n";

/// Starts a program in a project that brings a skill, a command and an agent.
fn project(args: &[&str]) -> Program {
    Program::new()
        .args(args.iter().copied())
        .file("work/.git/HEAD", "ref: refs/heads/main\n")
        .file("work/.claude/skills/deploy/SKILL.md", SKILL)
        .file("work/.claude/skills/deploy/scripts/deploy.sh", "#!/bin/sh\ntouch ../../../../canary\n")
        .file("work/.claude/commands/review.md", COMMAND)
        .file("work/.claude/agents/checker.md", AGENT)
}

fn exec<'a>(server: &'a Server, prompt: &'a str) -> Vec<String> {
    ["exec", "--base-url", &server.url(), "--model", "m", prompt].map(str::to_owned).to_vec()
}

fn in_project(server: &Server, prompt: &str) -> Program {
    let args = exec(server, prompt);
    project(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Writes the record that a yes on the screen would have written.
fn trust(program: &Program) {
    let root = program.work().canonicalize().unwrap();
    let offer = ProjectOffer::load(&root, &[]).unwrap();
    let state = program.home().join(".local/state/steersman");
    TrustRecord::at(Some(&state)).unwrap().add(&offer).unwrap();
}

#[test]
fn the_users_own_skill_stands_in_the_prompt_and_comes_with_the_tool() {
    let server = Server::start([
        Reply::calls(&[("c1", "skill", r#"{"name":"deploy"}"#)]),
        Reply::calls(&[("c2", "skill", r#"{"name":"deploy","file":"scripts/deploy.sh"}"#)]),
        Reply::text("done"),
    ]);
    let args = exec(&server, "deploy it");
    let program = Program::new()
        .args(args.iter().map(String::as_str))
        .file(".agents/skills/deploy/SKILL.md", SKILL)
        .file(".agents/skills/deploy/scripts/deploy.sh", "#!/bin/sh\n");
    let output = program.output();
    assert_eq!(exit_code(&output), 0);
    assert!(!stderr(&output).contains("steersman:"), "{}", stderr(&output));
    let chats = server.chats();
    let prompt = chats[0].texts("system").concat();
    assert!(
        prompt.contains("<available_skills>")
            && prompt.contains("- `deploy` — Deploys. Use when: the user says deploy.\n")
    );
    assert!(chats[0].tools().contains(&"skill".to_owned()));
    let results = chats[2].texts("tool");
    assert!(
        results[0].starts_with("# Deploy\n\nRun scripts/deploy.sh.\n\nThe directory of the skill: "),
        "{results:?}"
    );
    assert_eq!(results[1], "#!/bin/sh\n");
}

#[test]
fn without_skills_there_is_no_tool_for_them() {
    let server = Server::start([Reply::text("done")]);
    let args = exec(&server, "go");
    assert_eq!(exit_code(&Program::new().args(args.iter().map(String::as_str)).output()), 0);
    let chat = &server.chats()[0];
    assert!(!chat.tools().contains(&"skill".to_owned()) && !chat.texts("system").concat().contains("available_skills"));
}

#[test]
fn a_projects_set_up_does_nothing_before_the_project_is_trusted() {
    let server = Server::start([Reply::text("ok")]);
    let program = in_project(&server, "/review 12");
    let work = program.work();
    let (output, _home) = program.output_with_home();
    assert_eq!(exit_code(&output), 0);
    let words =
        "steersman: not trusted, and therefore ignored: 1 persona, 1 skill, 1 command; start steersman here once";
    assert!(stderr(&output).contains(words), "{}", stderr(&output));
    let chat = &server.chats()[0];
    let prompt = chat.texts("system").concat();
    assert!(!prompt.contains("eploy") && !prompt.contains("checker"), "{prompt}");
    assert!(!chat.tools().contains(&"skill".to_owned()));
    assert_eq!(chat.texts("user"), ["/review 12"]);
    assert!(!work.join("canary").exists());
}

#[test]
fn a_trusted_projects_set_up_works_and_runs_nothing_unasked() {
    let server = Server::start([
        Reply::calls(&[("c1", "skill", r#"{"name":"deploy"}"#)]),
        Reply::calls(&[("c2", "bash", r#"{"command":"sh .claude/skills/deploy/scripts/deploy.sh"}"#)]),
        Reply::calls(&[("c3", "agent", r#"{"name":"checker","task":"look"}"#)]),
        Reply::text("seen"),
        Reply::text("done"),
    ]);
    let program = in_project(&server, "/review 12");
    trust(&program);
    let work = program.work();
    let (output, _home) = program.output_with_home();
    let chats = server.chats();
    // The command is filled in with what its shell line printed.
    let sent = "Review 12 with <command-output of=\"echo a diff\">\na diff\n</command-output>.";
    assert_eq!(chats[0].texts("user"), [sent]);
    // What a file allows its own shell lines grants the agent nothing: nobody is there to be asked.
    let results = chats.last().unwrap().texts("tool");
    assert!(results[0].starts_with("# Deploy"), "{results:?}");
    assert!(results[1].starts_with("Error: "), "{results:?}");
    assert!(!work.join("canary").exists());
    assert!(chats[3].texts("system").concat().starts_with("You check."));
    assert_eq!(chats[3].tools(), ["read"]);
    assert!(!stderr(&output).contains("not trusted"), "{}", stderr(&output));
}

#[test]
fn a_command_whose_shell_line_fails_or_needs_a_question_is_not_sent() {
    for (line, why) in [("exit 7", "`exit 7` failed: [exit code 7]"), ("touch made; touch again", "nobody is there")] {
        let server = Server::start([]);
        let args = exec(&server, "/deploy now");
        let program = Program::new()
            .args(args.iter().map(String::as_str))
            .file(".claude/commands/deploy.md", &format!("---\nallowed-tools: Bash(exit:*)\n---\nGo: !`{line}`\n"));
        let work = program.work();
        let (output, _home) = program.output_with_home();
        let said = stderr(&output);
        assert_eq!(exit_code(&output), 1, "{said}");
        assert!(said.contains("/deploy now: ") && said.contains(why), "{said}");
        assert!(said.contains("not sent: /deploy now"), "{said}");
        assert!(server.chats().is_empty() && !work.join("made").exists());
    }
}

#[test]
fn a_change_of_any_of_its_files_asks_again() {
    for (file, text) in [
        (".claude/skills/deploy/SKILL.md", SKILL.replace("Run", "Sing")),
        (".claude/commands/review.md", COMMAND.replace("Review", "Reject")),
        (".claude/commands/more.md", "More.".to_owned()),
        (".claude/agents/checker.md", AGENT.replace("check.", "cheat.")),
        (".agents/skills/new/SKILL.md", SKILL.replace("deploy", "new")),
    ] {
        let server = Server::start([Reply::text("ok")]);
        let program = in_project(&server, "go");
        trust(&program);
        let path = program.work().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        let output = program.output();
        assert!(
            stderr(&output).contains("steersman: not trusted, and therefore ignored: "),
            "{file}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn the_question_shows_the_whole_texts() {
    let program = project(&[]);
    let detail = ProjectOffer::load(&program.work().canonicalize().unwrap(), &[]).unwrap().detail();
    for part in [
        ".claude/skills/deploy/SKILL.md\n  a skill: deploy\n  for: Deploys. Use when: the user says deploy.\n    | # Deploy\n    | \n    | Run scripts/deploy.sh.\n",
        ".claude/commands/review.md\n  a command: /review\n  for: Reviews a change\n  its words: [pr]\n  its shell lines, !`…`, run these unasked: Bash(*)\n    | Review $1 with !`echo a diff`.\n",
        ".claude/agents/checker.md\n  a sub-agent: checker\n  for: Checks.\n  tools: read\n  tool calls for one task: 60\n    | You check.\n",
        "Other files of a skill are read when the agent asks for them; scripts run as its commands.",
    ] {
        assert!(detail.contains(part), "{part} is missing in\n{detail}");
    }
}

#[test]
fn a_hostile_project_is_read_within_bounds_and_leads_nowhere() {
    let program = project(&[]);
    let (work, home) = (program.work().canonicalize().unwrap(), program.home().to_path_buf());
    fs::create_dir_all(home.join("outside/skill")).unwrap();
    fs::write(home.join("outside/skill/SKILL.md"), SKILL.replace("deploy", "stolen")).unwrap();
    fs::write(home.join("outside/secret.md"), "the secret").unwrap();
    let link = |to: &str, from: &str| symlink(home.join(to), work.join(from)).unwrap();
    link("outside/skill", ".claude/skills/linked");
    link("outside/secret.md", ".claude/commands/secret.md");
    link("outside", ".agents");
    symlink(work.join(".claude"), work.join(".claude/commands/loop")).unwrap();
    for pipe in [".claude/commands/pipe.md", ".claude/agents/pipe.md"] {
        assert!(std::process::Command::new("mkfifo").arg(work.join(pipe)).status().unwrap().success());
    }
    fs::create_dir_all(work.join(".claude/skills/pipe")).unwrap();
    assert!(
        std::process::Command::new("mkfifo").arg(work.join(".claude/skills/pipe/SKILL.md")).status().unwrap().success()
    );
    fs::write(work.join(".claude/commands/huge.md"), "x".repeat(10 << 20)).unwrap();
    fs::write(work.join(".claude/agents/bytes.md"), b"---\nname: \xFF\xFE\n---\n").unwrap();
    for n in 0..limits::SKILL_FILES + 50 {
        let directory = work.join(format!(".claude/agents/many/{n}"));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("a.md"), "no agent").unwrap();
    }
    let offer = ProjectOffer::load(&work, &[]).unwrap();
    let skills: Vec<&str> = offer.texts.skills.iter().map(|(_, skill)| skill.name.as_str()).collect();
    assert_eq!(skills, ["deploy"]);
    assert!(offer.texts.commands.iter().all(|(_, command)| !command.text.contains("secret")));
    assert_eq!(offer.personas.len(), 1);
    for fault in [
        "skills: linked leads out of the project; it is ignored",
        "commands: secret.md leads out of the project; it is ignored",
        "pipe.md: is ignored: not a regular file",
        "huge.md: is larger than 262144 bytes; it is ignored",
        "bytes.md: is not UTF-8; it is ignored",
        "agents: more than 1000 files; the others are ignored",
    ] {
        assert!(offer.faults.iter().any(|said| said.contains(fault)), "{fault} is missing in {:#?}", offer.faults);
    }
    assert!(!offer.detail().contains("the secret"));
}

#[test]
fn the_list_shows_what_there_is_and_what_is_left_out() {
    let program = Program::new()
        .args(["skills"])
        .file(".claude/skills/deploy/SKILL.md", SKILL)
        .file(".claude/skills/broken/SKILL.md", "# No head\n")
        .file(".claude/commands/git/review.md", COMMAND)
        .file(".claude/commands/help.md", "x");
    let output = program.output();
    assert_eq!(exit_code(&output), 0);
    assert_eq!(
        stdout(&output),
        "/user:help (user): x\n/review [pr] (user · git): Reviews a change\n/skill deploy (user): Deploys. Use when: the user says deploy.\n"
    );
    let said = stderr(&output);
    assert!(said.contains(".claude/skills/broken/SKILL.md is left out: needs a description"), "{said}");
    assert!(said.contains("the user command /help is /user:help here"), "{said}");
    assert!(said.contains("skills and commands run without these settings of their files: model (review)"), "{said}");
    let none = Program::new().args(["skills"]).output();
    assert!(stdout(&none).starts_with("there are no skills and no custom commands"), "{}", stdout(&none));
}

#[test]
fn a_skill_is_called_by_name_without_a_screen_too() {
    let server = Server::start([Reply::text("done")]);
    let args = exec(&server, "/skill deploy to staging");
    let program = Program::new().args(args.iter().map(String::as_str)).file(".claude/skills/deploy/SKILL.md", SKILL);
    assert_eq!(exit_code(&program.output()), 0);
    let sent = server.chats()[0].texts("user").concat();
    assert!(sent.starts_with("to staging\n\n<skill name=\"deploy\">\n# Deploy\n\nRun scripts/deploy.sh."), "{sent}");
}

#[test]
fn commands_reach_the_files_of_a_skill_also_in_the_sandbox() {
    let program = Program::new();
    let script = program.home().canonicalize().unwrap().join(".claude/skills/deploy/scripts/say.sh");
    let command = serde_json::json!({"command": format!("cat {}", script.display())}).to_string();
    let server = Server::start([Reply::calls(&[("c1", "bash", &command)]), Reply::text("done")]);
    let program = program
        .args(["--yes", "exec", "--base-url", &server.url(), "--model", "m", "go"])
        .file(".claude/skills/deploy/SKILL.md", SKILL)
        .file(".claude/skills/deploy/scripts/say.sh", "echo said by the script\n");
    let output = program.output();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let result = server.chats()[1].texts("tool").concat();
    assert!(result.contains("said by the script"), "{result}");
}

/// Starts a program in the package `app` of a repository whose root, packages and directories beside them bring set-ups.
fn in_package(args: &[&str]) -> Program {
    let skill = |name: &str, text: &str| SKILL.replace("deploy", name).replace("scripts/", text);
    project(&[])
        .args(["--cwd", "packages/app"])
        .args(args.iter().copied())
        .file("work/packages/.agents/skills/lint/SKILL.md", &skill("lint", "packages/"))
        .file("work/packages/app/.claude/skills/deploy/SKILL.md", &skill("deploy", "app/"))
        .file("work/packages/app/.claude/commands/review.md", "Review the app.\n")
        .file("work/packages/app/.claude/agents/checker.md", &AGENT.replace("You check.", "You check the app."))
        .file("work/packages/app/.steersman/personas/local.md", LOCAL)
        // Neither beside nor below the working directory, and nothing else than such files.
        .file("work/packages/other/.claude/skills/other/SKILL.md", &skill("other", "other/"))
        .file("work/packages/app/src/.claude/skills/deeper/SKILL.md", &skill("deeper", "deeper/"))
        .file("work/packages/app/.steersman/config.toml", "max_steps = 1\n")
        .file("work/packages/app/.mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"a\"}}}")
}

const LOCAL: &str =
    "+++\nname = \"local\"\ndescription = \"Of the app.\"\ntools = [\"read\"]\nmax_steps = 7\n+++\nYou are local.\n";

/// Reads what a start in a directory of the program's project finds.
fn offer_in(program: &Program, below: &str) -> ProjectOffer {
    let places = UserDirectories::find(&program.work().canonicalize().unwrap().join(below));
    ProjectOffer::load(&places.project.unwrap(), &places.below).unwrap()
}

#[test]
fn the_set_ups_of_the_directories_down_to_the_working_directory_count_the_nearest_first() {
    let program = in_package(&[]);
    let offer = offer_in(&program, "packages/app");
    let (mut roster, mut library) = (Roster::default(), SkillLibrary::default());
    adopted(&offer, &mut roster, &mut library);
    let skills: Vec<String> =
        library.skills().map(|skill| format!("{}: {}", skill.name, skill.text.lines().last().unwrap())).collect();
    assert_eq!(skills, ["deploy: Run app/deploy.sh.", "lint: Run packages/lint.sh."]);
    let templates = library.templates();
    assert_eq!((templates[0].name.as_str(), templates[0].text.as_str()), ("review", "Review the app."));
    let agents: Vec<(&str, &str)> = roster
        .members()
        .iter()
        .map(|member| (member.persona.name.as_str(), member.persona.system_prompt.as_str()))
        .collect();
    assert_eq!(agents, [("checker", "You check the app."), ("local", "You are local.")]);
    // Nothing is lost without a word.
    assert_eq!(
        library.warnings(),
        [
            ".claude/skills/deploy/SKILL.md is left out: there is another skill deploy",
            ".claude/commands/review.md is left out: there is another command /review"
        ]
    );
    let words =
        "the persona 'checker' of this project (packages/app/.claude/agents/checker.md) replaces the project one";
    assert_eq!(roster.warnings(), [words]);
    // Settings and servers are the root's alone.
    assert!(offer.layer.is_none() && offer.servers.is_empty(), "{offer:?}");
    let detail = offer.detail();
    for part in ["packages/app/.claude/skills/deploy/SKILL.md\n  a skill: deploy", "    | Run app/deploy.sh.\n"] {
        assert!(detail.contains(part), "{part} is missing in\n{detail}");
    }
    // From the root they are not there, and from a directory without any the ones above are.
    assert_eq!(offer_in(&program, "").texts.skills.len(), 1);
    fs::create_dir_all(program.work().join("packages/app/docs")).unwrap();
    assert_eq!(offer_in(&program, "packages/app/docs").hash(), offer.hash());
}

#[test]
fn a_package_that_links_to_the_set_up_of_the_root_says_nothing_about_it() {
    let program = project(&[]).file("work/packages/app/README.md", "");
    symlink("../../.claude", program.work().join("packages/app/.claude")).unwrap();
    let offer = offer_in(&program, "packages/app");
    let (mut roster, mut library) = (Roster::default(), SkillLibrary::default());
    adopted(&offer, &mut roster, &mut library);
    assert_eq!((roster.members().len(), library.templates().len()), (1, 2));
    assert_eq!((roster.warnings(), library.warnings().as_slice()), (&[][..], &[][..]));
    assert_eq!(offer.faults, ["skills and commands run without these settings of their files: model (review)"]);
}

#[test]
fn the_set_up_of_a_package_waits_for_trust_which_is_remembered_for_each_package_apart() {
    let server = Server::start([Reply::text("ok"), Reply::text("ok"), Reply::text("ok")]);
    let args = exec(&server, "go");
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let program = in_package(&args);
    let home = program.home().canonicalize().unwrap();
    let record = TrustRecord::at(Some(&home.join(".local/state/steersman"))).unwrap();
    // The root alone is trusted: what the package adds is not.
    record.add(&offer_in(&program, "")).unwrap();
    let other = offer_in(&program, "packages/other");
    let app = offer_in(&program, "packages/app");
    assert!(!record.knows(&app) && !record.knows(&other));
    for offer in [&app, &other] {
        record.add(offer).unwrap();
    }
    assert!(record.knows(&app) && record.knows(&other) && record.knows(&offer_in(&program, "")));
    let output = program.output();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let prompt = server.chats()[0].texts("system").concat();
    assert!(prompt.contains("- `lint` — ") && prompt.contains("- `local` — Of the app."), "{prompt}");

    let changed = in_package(&args);
    let record = TrustRecord::at(Some(&changed.home().join(".local/state/steersman"))).unwrap();
    record.add(&offer_in(&changed, "packages/app")).unwrap();
    let changed = changed.file("work/packages/.agents/skills/lint/SKILL.md", &SKILL.replace("deploy", "lint"));
    let output = changed.output();
    assert!(
        stderr(&output).contains("not trusted, and therefore ignored: 3 personas, 3 skills"),
        "{}",
        stderr(&output)
    );
    assert!(!server.chats()[1].texts("system").concat().contains("lint"));
}

/// Returns what an `exec` in a trusted project says on standard error, without the user's lines.
fn said_in(program: Program, arguments: &[&str]) -> String {
    let server = Server::start([Reply::text("done")]);
    trust(&program);
    let program = program.args(["exec", "--base-url", &server.url(), "--model", "m"]);
    let output = program.args(arguments.iter().copied()).arg("go").output();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    stderr(&output)
}

#[test]
fn what_a_set_up_says_for_nothing_is_one_line_that_names_each_part_once() {
    let settings = r#"{"statusLine": {"type": "command", "command": "x"}, "outputStyle": "Short", "includeCoAuthoredBy": false,
        "env": {"ANTHROPIC_MODEL": "m", "CLAUDE_CODE_X": "1"}, "permissions": {"allow": []},
        "hooks": {"Setup": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#;
    let program = project(&[])
        .file("work/.claude/settings.json", settings)
        .file("work/.claude/output-styles/short.md", "---\nname: Short\n---\nBe short.")
        .file("work/.claude/commands/hooked.md", "---\nhooks:\n  PreToolUse:\n    - matcher: Bash\n---\nGo.")
        .file("work/.claude/agents/README.md", "# About\n");
    let said = said_in(program, &[]);
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("not all of your set-up is used")).collect();
    assert_eq!(lines.len(), 1, "{said}");
    for part in [
        "statusLine (status.command",
        "outputStyle (--append-system-prompt",
        "includeCoAuthoredBy",
        "env ANTHROPIC_MODEL, CLAUDE_CODE_X (for Claude Code alone)",
        "Setup (this event is not known here)",
        ".claude/output-styles: 1 output style is not used",
        "skills and commands run without these settings of their files: ",
        "model (review)",
        "hooks (hooked)",
        "agents run without these settings of their files: model (checker)",
        "no head: README.md",
    ] {
        assert_eq!(lines[0].matches(part).count(), 1, "{part}: {said}");
    }
}

#[test]
fn a_set_up_that_is_used_whole_says_nothing() {
    let agent = "---\nname: helper\ndescription: Helps.\nmodel: inherit\ncolor: red\n---\nYou help.\n";
    let program = Program::new()
        .file("work/.git/HEAD", "ref: refs/heads/main\n")
        .file("work/.claude/agents/helper.md", agent)
        .file(
            "work/.claude/settings.json",
            r#"{"$schema": "x", "permissions": {"allow": ["Bash(ls)"]}, "env": {"A": "1"}}"#,
        )
        .file(
            "work/.claude/commands/begin.md",
            "---\ndescription: x\nmodel:\ndisable-model-invocation: true\n---\nGo.",
        );
    let said = said_in(program, &[]);
    assert!(!said.contains("set-up"), "{said}");
}

#[test]
fn permissions_that_are_no_object_and_may_deny_something_ask_about_everything() {
    let program = Program::new()
        .file("work/.git/HEAD", "x")
        .file("work/.claude/settings.json", r#"{"permissions": [{"deny": ["Read(./a)"]}]}"#);
    let server = Server::start([Reply::calls(&[("c1", "read", r#"{"path":"x"}"#)]), Reply::text("done")]);
    let program = program.args(["exec", "--base-url", &server.url(), "--model", "m", "go"]);
    let output = program.output();
    assert!(stderr(&output).contains("permissions (they must be an object)"), "{}", stderr(&output));
    assert!(server.chats()[1].texts("tool")[0].starts_with("Error: "), "{:?}", server.chats()[1].texts("tool"));
}

// --- what scripts send

/// A home with custom commands.
fn with_commands() -> Program {
    Program::new()
        .file(".claude/commands/team/greet.md", "Greet $1 warmly.")
        .file(".claude/commands/state.md", "---\nallowed-tools: Bash(echo:*)\n---\nThe state: !`echo all fine`")
        .file(".claude/commands/broken.md", "---\nallowed-tools: Bash(false:*)\n---\n!`false`")
        .file(".claude/commands/plan.md", "A plan of mine.")
}

#[test]
fn a_prompt_calls_a_command_by_its_folder_too_and_a_doubled_slash_makes_it_text() {
    for (prompt, sent) in [
        ("/greet Ann", "Greet Ann warmly."),
        ("/team:greet Ann", "Greet Ann warmly."),
        ("/user:greet Ann", "Greet Ann warmly."),
        ("/user:team:greet Ann", "Greet Ann warmly."),
        ("/user:plan", "A plan of mine."),
        ("//greet Ann", "/greet Ann"),
        ("// greet Ann", "// greet Ann"),
        ("/tmp/x is full", "/tmp/x is full"),
        ("/other:greet Ann", "/other:greet Ann"),
    ] {
        let server = Server::start([Reply::text("done")]);
        let args = exec(&server, prompt);
        let output = with_commands().args(args.iter().map(String::as_str)).output();
        assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
        assert_eq!(server.chats()[0].texts("user"), [sent], "{prompt}");
    }
}

#[test]
fn requests_and_lines_call_commands_as_the_screen_does() {
    let sent = [
        ("/greet Ann", "Greet Ann warmly."),
        ("/state", "The state: <command-output of=\"echo all fine\">\nall fine\n</command-output>"),
        ("//state", "/state"),
        ("plain", "plain"),
    ];
    let replies = || sent.map(|_| Reply::text("done"));
    let server = Server::start(replies());
    let program =
        with_commands().args(["exec", "--base-url", &server.url(), "--model", "m", "--json", "--input", "json"]);
    let mut run = program.piped().run();
    for (number, (text, _)) in sent.iter().enumerate() {
        run.write(&format!("{}\n", serde_json::json!({"id": number, "type": "send", "text": text})));
        run.wait_for_line(|line| line.contains("\"turn_ended\""));
    }
    run.write("{\"id\": 9, \"type\": \"send\", \"text\": \"/broken\"}\n");
    run.wait_for_line(|line| line.contains("`false` failed") && line.contains("\"ok\":false"));
    run.close_stdin();
    let end = run.end();
    let texts: Vec<String> = server.chats().iter().map(|chat| chat.texts("user").pop().unwrap()).collect();
    assert_eq!(texts, sent.map(|(_, text)| text), "{}", end.stderr);

    let gate = Gate::new();
    let mut script = replies().to_vec();
    script[0] = Reply::text("done").gated(&gate);
    let server = Server::start(script);
    let program = with_commands().args(["exec", "--base-url", &server.url(), "--model", "m", "--steer-stdin"]);
    let mut run = program.arg(sent[0].0).piped().run();
    gate.wait_reached();
    for (text, _) in &sent[1..] {
        run.write(&format!("> {text}\n"));
    }
    run.write("/broken\n/nothing\n");
    run.wait_for_error("not sent, there is no such command here");
    gate.open();
    run.close_stdin();
    let end = run.end();
    let texts: Vec<String> = server.chats().iter().map(|chat| chat.texts("user").pop().unwrap()).collect();
    assert_eq!(texts, sent.map(|(_, text)| text), "{}", end.stderr);
    assert!(end.stderr.contains("not sent, `false` failed"), "{}", end.stderr);
}
