//! Rules: what is said about one command, one host or one tool holds for no other, and for every way to it.

use std::fs;

use serde_json::json;
use tempfile::TempDir;

use super::{SECRET, bash, home, read, run, sandboxes};
use crate::support::program::{Program, exit_code, stderr};
use crate::support::server::{Reply, Request, Server};
use crate::support::skip::{Need, skip};

use super::PATIENCE;

/// The end of what is refused because nobody is there to be asked.
const NOBODY: &str = "nobody is there to give it";

/// A command that is allowed, with something behind it or in it that makes a file.
const CHAINS: &[&str] = &[
    "echo a; touch made",
    "echo a && touch made",
    "echo a & touch made",
    "false || touch made",
    "echo a | touch made",
    "echo a |& touch made",
    "echo a\ntouch made",
    "echo a;touch made;echo b",
    "echo $(touch made)",
    "echo `touch made`",
    "echo \"$(touch made)\"",
    "echo <(touch made)",
    "echo a > >(touch made)",
    "echo ${x:-$(touch made)}",
    "echo $((a[$(touch made)]))",
    "(touch made); echo a",
    "{ touch made; }; echo a",
    "echo a; if touch made; then echo b; fi",
    "for x in 1; do touch made; done; echo a",
    "case a in a) touch made;; esac; echo a",
    "f() { touch made; }; f; echo a",
    "echo a; ! touch made",
    "echo a; time touch made",
    "echo a; command touch made",
    "echo a; env touch made",
    "echo made | xargs touch",
    "echo a; x=1 touch made",
    "echo a; eval 'touch made'",
    "echo a; bash -c 'touch made'",
    "echo a; \\touch made",
    "echo a; t''ouch made",
    "echo a; $'touch' made",
    "echo a; /usr/bin/touch made",
    "cat <<x\n$(touch made)\nx",
    "trap 'touch made' EXIT; echo a",
    "coproc touch made; echo a; wait",
    "echo a > made",
    "echo a 2>> made",
    "echo a &> made",
];

#[test]
fn a_rule_for_the_first_command_of_a_chain_lets_no_other_run_and_one_against_a_later_one_holds() {
    for sandbox in sandboxes() {
        let calls: Vec<_> = CHAINS.iter().map(|command| bash(command)).chain([bash("echo plain")]).collect();
        let allowed = run(home(&[]), &["--sandbox", sandbox, "--allow", "bash: echo *"], &calls);
        assert_eq!(allowed.results.len(), calls.len(), "{sandbox}: {}", allowed.said);
        for (command, result) in CHAINS.iter().zip(&allowed.results) {
            assert!(result.contains(NOBODY), "{sandbox}: {command}: {result}");
        }
        assert!(!allowed.is_there("work/made"), "{sandbox}: {:#?}", allowed.results);
        assert_eq!(allowed.results.last().unwrap().trim(), "plain", "{sandbox}");

        let calls: Vec<_> =
            CHAINS.iter().filter(|command| command.contains("touch made")).map(|command| bash(command)).collect();
        let denied = run(home(&[]), &["--sandbox", sandbox, "--yes", "--deny", "bash: touch"], &calls);
        for ((_, call), result) in calls.iter().zip(&denied.results) {
            assert!(
                result.contains("denies this") || result.contains("deny rules cover"),
                "{sandbox}: {call}: {result}"
            );
        }
        assert!(!denied.is_there("work/made"), "{sandbox}: {:#?}", denied.results);
    }
}

#[test]
fn no_number_of_commands_in_one_line_hides_the_last_one() {
    let sandbox = sandboxes();
    let Some(sandbox) = sandbox.first() else { return };
    let chain = |number: usize, between: &str| format!("{}touch made", format!("echo 1{between}").repeat(number));
    let calls: Vec<_> = [49, 50, 51, 100, 1_000, 5_000]
        .iter()
        .flat_map(|number| [" ; ", " && ", "\n"].map(|between| bash(&chain(*number, between))))
        .collect();
    for arguments in [["--allow", "bash: echo *"], ["--deny", "bash: touch"]] {
        let general = if arguments[0] == "--deny" { "--yes" } else { "--json" };
        let run = run(home(&[]), &["--sandbox", sandbox, general, arguments[0], arguments[1]], &calls);
        assert_eq!(run.results.len(), calls.len(), "{}", run.said);
        for ((_, call), result) in calls.iter().zip(&run.results) {
            let start: String = call.to_string().chars().take(60).collect();
            assert!(result.starts_with("Error") || result.contains(NOBODY), "{arguments:?}: {start}: {result}");
        }
        assert!(!run.is_there("work/made"), "{arguments:?}");
    }
}

/// Options that make a command that only looks run or write something.
const FLAGS: &[(&str, &str)] = &[
    ("git log *", "git log --output=made"),
    ("git log *", "git log -p --ext-diff"),
    ("git log *", "git log --format=%GK"),
    ("git log *", "git log --help"),
    ("git show *", "git show --textconv"),
    ("git cat-file *", "git cat-file --filters HEAD:README"),
    ("git add *", "git add --edit"),
    ("git branch *", "git branch --edit-description"),
    ("git remote *", "git remote add x 'ext::sh -c touch% made'"),
    ("git stash *", "git stash"),
    ("git diff *", "git diff --no-index --output=made /dev/null README"),
    ("git grep *", "git grep -O./made x"),
    ("git grep *", "git grep --open-files-in-pager=./made x"),
    ("git *", "git -c core.pager='touch made' -p log"),
    ("git *", "git -c alias.x='!touch made' x"),
    ("git *", "git --exec-path=. x"),
    ("git *", "git ls-remote --upload-pack='touch made' ."),
    ("git *", "git fetch 'ext::touch made'"),
    ("find *", "find . -exec touch made ;"),
    ("find *", "find . -name x -o -fprintf made x"),
    ("find *", "find . -delete"),
    ("sort *", "sort -o made README"),
    ("sort *", "sort --output=made README"),
    ("sort *", "sort --compress-program=./made README"),
    ("rg *", "rg --pre ./made x"),
    ("rg *", "rg --hostname-bin=./made x"),
    ("fd *", "fd -x touch made"),
    ("tar *", "tar -cf /dev/null README --checkpoint=1 --checkpoint-action=exec='touch made'"),
    ("tar *", "tar -xf x -I ./made"),
    ("sed *", "sed -n '1e touch made' README"),
    ("sed *", "sed -i s/a/b/ README"),
    ("sed *", "sed -n 'w made' README"),
    ("awk *", "awk 'BEGIN { system(\"touch made\") }'"),
    ("tree *", "tree -o made"),
    ("date *", "date -f README --set=1"),
    ("man *", "man -P 'touch made' ls"),
    ("less *", "less -o made README"),
    ("xargs *", "xargs -a README touch"),
    ("ssh *", "ssh -o ProxyCommand='touch made' x"),
    ("curl *", "curl -o made http://x.invalid"),
    ("python3 *", "python3 -c 'open(\"made\", \"w\")'"),
    ("node *", "node --eval 'x'"),
    ("cargo *", "cargo --config build.rustc-wrapper='./made' build"),
    ("cargo *", "cargo build --artifact-dir made -Zunstable-options"),
    ("npm *", "npm test --script-shell=./made"),
    ("go *", "go test -exec ./made"),
    ("pytest *", "pytest -p made"),
    ("uniq *", "uniq README made"),
    ("xxd *", "xxd README made"),
    ("file *", "file -C -m made"),
];

#[test]
fn no_option_makes_an_allowed_command_run_or_write_something_else() {
    let sandbox = sandboxes();
    let Some(sandbox) = sandbox.first() else { return };
    for (rule, command) in FLAGS {
        let rule = format!("bash: {rule}");
        let run = run(home(&[("work/README", "made\n")]), &["--sandbox", sandbox, "--allow", &rule], &[bash(command)]);
        let left: Vec<_> = fs::read_dir(run.path("work")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["README"], "{rule}: {command}: {:?}", run.results);
        assert!(run.results[0].contains(NOBODY), "{rule}: {command}: {:?}", run.results);
    }
}

#[test]
fn no_argument_of_a_tool_is_an_option_of_the_program_behind_it() {
    for sandbox in sandboxes() {
        let calls = [
            ("git_clone", json!({"url": "--upload-pack=touch made"})),
            ("git_clone", json!({"url": "ext::sh -c touch% made"})),
            ("git_clone", json!({"url": "-u./made", "path": "x"})),
            ("git_clone", json!({"url": "ssh://-oProxyCommand=touch made/x"})),
            (
                "git_clone",
                json!({"url": "https://x.invalid/a", "branch": "--upload-pack=touch made", "ref": "--output=made"}),
            ),
            ("grep", json!({"pattern": "--pre=./made"})),
            ("grep", json!({"pattern": "x", "path": "--pre=./made", "glob": "--pre=./made"})),
            ("glob", json!({"pattern": "-exec touch made"})),
            read("--output=made"),
        ];
        let run = run(home(&[("work/a.txt", "x\n")]), &["--sandbox", sandbox, "--mode", "auto", "--yes"], &calls);
        assert_eq!(run.results.len(), calls.len(), "{sandbox}: {}", run.said);
        assert!(!run.is_there("work/made") && !run.is_there("made"), "{sandbox}: {:#?}", run.results);
    }
}

#[test]
fn a_rule_for_a_host_lets_no_host_be_reached_whose_name_or_address_only_holds_it() {
    let elsewhere = [
        "https://allowed.invalid.evil.invalid/",
        "https://allowed.invalid@evil.invalid/",
        "https://allowed.invalid:80@evil.invalid/",
        "https://allowed.invalid%2f@evil.invalid/",
        "https://evil.invalid/allowed.invalid",
        "https://evil.invalid?allowed.invalid",
        "https://evil.invalid#allowed.invalid",
        "https://evil.invalid\\@allowed.invalid/",
        "https://notallowed.invalid/",
        "https://sub.allowed.invalid/",
        "https://allowed.invalid%00.evil.invalid/",
        "https://allowed.invalid%E3%80%82evil.invalid/",
        "https://allowed\u{ad}.evil.invalid/",
        "https://allowed.invalіd/",
        "https://[::ffff:127.0.0.1]/allowed.invalid",
    ];
    let calls: Vec<_> =
        elsewhere.iter().chain(&["https://allowed.invalid/"]).map(|url| ("fetch", json!({"url": url}))).collect();
    let arguments = ["--allow", "fetch: https://allowed.invalid/*"];
    let results = of_sub_agent(home(&[]), "researcher", &arguments, &calls);
    assert_eq!(results.len(), calls.len(), "{results:#?}");
    let (allowed, others) = results.split_last().unwrap();
    assert!(!allowed.contains(NOBODY), "{allowed}");
    for (url, result) in elsewhere.iter().zip(others) {
        let is_no_address = result.contains("is not") || result.contains("invalid") && !result.contains("resolve");
        assert!(result.contains(NOBODY) || is_no_address, "{url}: {result}");
    }
}

#[test]
fn a_deny_rule_holds_for_sub_agents_and_for_each_tool_that_reads_a_file() {
    let calls = [
        read("secrets/key"),
        ("grep", json!({"pattern": "canary"})),
        ("grep", json!({"pattern": "canary", "path": "secrets"})),
        ("grep", json!({"pattern": "canary", "path": "secrets/key"})),
        ("glob", json!({"pattern": "secrets/*"})),
    ];
    for mode in ["ask", "auto", "auto-without-sandbox"] {
        let home = home(&[("work/secrets/key", SECRET), ("work/plain", "x")]);
        let arguments = ["--mode", mode, "--yes", "--deny", "read: secrets/*"];
        let results = of_sub_agent(home, "file_miner", &arguments, &calls);
        assert_eq!(results.len(), calls.len(), "{mode}: {results:#?}");
        assert!(results[0].contains("denies this"), "{mode}: {results:#?}");
        assert!(!results.concat().contains(SECRET), "{mode}: {results:#?}");
    }
}

/// Lets a sub-agent make calls, one after the other; returns their results.
fn of_sub_agent(
    home: TempDir,
    persona: &'static str,
    arguments: &[&str],
    calls: &[(&str, serde_json::Value)],
) -> Vec<String> {
    const TASK: &str = "Do what is to be done.";
    let calls: Vec<_> = calls.iter().map(|(tool, arguments)| ((*tool).to_owned(), arguments.to_string())).collect();
    let is_child = |request: &Request| request.texts("user").concat().contains(TASK);
    let server = Server::routed(move |request| {
        let done = request.roles().iter().filter(|role| *role == "tool").count();
        match calls.get(done) {
            Some((tool, arguments)) if is_child(request) => Reply::calls(&[(&format!("k{done}"), tool, arguments)]),
            _ if done == 0 => {
                let task = json!({"name": persona, "task": TASK}).to_string();
                Reply::calls(&[("a1", "agent", &task)])
            }
            _ => Reply::text("done"),
        }
    });
    let program = Program::within(home).args(["exec", "--base-url", &server.url(), "--model", "m"]);
    let output = program.args(arguments.iter().copied()).arg("go").output_within(PATIENCE);
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    server
        .chats()
        .iter()
        .filter(|chat| is_child(chat))
        .map(|chat| chat.contents("tool"))
        .next_back()
        .unwrap_or_default()
}

#[test]
fn a_deny_rule_for_the_tools_of_a_server_holds_in_every_mode_and_against_a_general_yes() {
    if std::process::Command::new("python3").arg("-V").output().is_err() {
        return skip(Need::Program("python3"), "a server in the real program");
    }
    let script = crate::support::root().join("tests/fixtures/mcp_server.py");
    for (rule, is_denied) in [("mcp", true), ("mcp: one/*", true), ("mcp: one/echo", true), ("mcp: two/*", false)] {
        let home = home(&[]);
        let args = ["-u", script.to_str().unwrap()];
        let config = format!("[mcp.one]\ncommand = \"python3\"\nargs = {args:?}\nsandbox = false\n");
        super::put(home.path(), ".config/steersman/config.toml", &config);
        let calls = [("tool_search", json!({"query": "echo"})), ("mcp__one__echo", json!({"text": "a parrot"}))];
        let run = run(home, &["--yes", "--mode", "auto-without-sandbox", "--sandbox", "off", "--deny", rule], &calls);
        assert_eq!(run.results.len(), calls.len(), "{rule}: {}", run.said);
        let is_refused = !run.results[1].contains("{\"text\": \"a parrot\"}");
        assert_eq!(is_refused, is_denied, "{rule}: {:?} {}", run.results, run.said);
    }
}

/// Ways in which a command could write what this program, or another agent's, obeys.
#[test]
fn no_command_writes_the_settings_of_a_host_in_any_letter_case() {
    let names = [
        ".steersman/config.toml",
        ".Steersman/Config.toml",
        ".STEERSMAN/hooks.json",
        ".steersman /config.toml",
        ".claude/settings.json",
        ".CLAUDE/settings.local.json",
        ".Cursor/mcp.json",
        ".codex/Config.toml",
        ".mcp.json",
        ".MCP.JSON",
        "AGENTS.md",
        "agents.MD",
        "Claude.md",
        ".vscode/Settings.json",
        ".ＶＳcode/settings.json",
        ".clau\u{200b}de/settings.json",
        ".Git/config",
        ".GIT/hooks/pre-commit",
    ];
    for sandbox in sandboxes() {
        for start in [
            "mkdir -p \"${n%/*}\"; echo x > \"$n\"",
            "mkdir -p t; echo x > t/f; mv t \"${n%/*}\"; mv t/f \"$n\"",
            "ln -s ../a \"$n\"; ln -s . \"${n%/*}\"",
            "python3 -c 'import os, sys; os.makedirs(os.path.dirname(sys.argv[1]) or \".\", exist_ok=True); open(sys.argv[1], \"w\")' \"$n\"",
        ] {
            let list = names.map(|name| format!("'{name}'")).join(" ");
            let command =
                format!("shopt -s nocasematch; for n in {list}; do {start}; done 2> /dev/null; rm -rf t; echo tried");
            let home = home(&[("work/.git/HEAD", "ref: refs/heads/main\n"), ("work/write.sh", &command)]);
            let run = run(home, &["--mode", "auto", "--sandbox", sandbox], &[bash("bash write.sh")]);
            assert!(run.results[0].contains("tried"), "{sandbox}: {:?} {}", run.results, run.said);
            for name in names {
                assert!(!run.is_there(&format!("work/{name}")), "{sandbox}: {start}: {name}");
            }
        }
    }
}
