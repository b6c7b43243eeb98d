//! Hooks before calls that cannot be read: what they are for is stopped, and every start names them.

use std::fs;
use std::sync::Arc;

use steersman::program::cli::hooks::{BrokenHooks, HookSearch, broken_guards};
use steersman::program::cli::project::{FrontEnd, ProjectOffer};
use steersman_agent::HookPoint;
use steersman_base::id::AgentId;
use steersman_core::approval::Answer;
use steersman_extensions::hooks::{BrokenGuard, GuardedHooks, read_json};

use super::runs::call;
use super::trust::{Home, settings};
use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Reply, Server};

fn broken(text: &str) -> Vec<String> {
    read_json("hooks.json", text).broken.iter().map(BrokenGuard::calls).collect()
}

#[test]
fn what_may_have_been_a_hook_before_calls_stops_the_calls_that_it_is_for() {
    let guard = r#"{"matcher":"Bash","hooks":[{"type":"command","command":"x"}]}"#;
    let entry = |entry: &str| format!(r#"{{"hooks":{{"PreToolUse":[{entry}]}}}}"#);
    let hook = |hook: &str| entry(&format!(r#"{{"matcher":"Bash","hooks":[{hook}]}}"#));
    for (text, calls) in [
        (format!(r#"{{"hooks":{{"PreToolUse":[{guard},]}}}}"#), "all calls"),
        (format!(r#"{{"hooks":{{"PreToolUse":[{guard}]}}"#), "all calls"),
        (format!("// ours\n{}", entry(guard)), "all calls"),
        (String::new(), "all calls"),
        (r#"{"hooks":[]}"#.to_owned(), "all calls"),
        ("null".to_owned(), "all calls"),
        (format!("[{guard}]"), "all calls"),
        (r#""hooks""#.to_owned(), "all calls"),
        (entry(r#"{"matcher":"BASH","hooks":[{"type":"command","command":"x"}]}"#), "calls of Bash"),
        (entry(r#"{"matcher":"Edit|Wrote","hooks":[{"type":"command","command":"x"}]}"#), "calls of Write"),
        (entry(r#"{"matcher":"Bahs","hooks":[{"type":"command","command":"x"}]}"#), "calls of Bash"),
        (entry(r#"{"matcher":"Web_Fetch","hooks":[{"type":"command","command":"x"}]}"#), "calls of WebFetch"),
        (format!(r#"{{"Hooks":{{"PreToolUse":[{guard}]}}}}"#), "all calls"),
        (format!(r#"{{"PreToolUse":[{guard}]}}"#), "all calls"),
        (format!(r#"{{"hooks":{{"PreToolUse":[{guard}],"PreToolUse":[]}}}}"#), "all calls"),
        (format!(r#"{{"hooks":{{"PreToolUse":{guard}}}}}"#), "calls of Bash"),
        (format!(r#"{{"hooks":{{"PreTooluse":[{guard}]}}}}"#), "calls of Bash"),
        (format!(r#"{{"hooks":{{"BeforeTool":[{guard}]}}}}"#), "calls of Bash"),
        (entry(r#""x""#), "all calls"),
        (entry(r#"{"matcher":"Bash","hook":[]}"#), "calls of Bash"),
        (entry(r#"{"matcher":3,"hooks":[]}"#), "all calls"),
        (entry(r#"{"matcher":"Bash[","hooks":[]}"#), "all calls"),
        (entry(r#"{"matcher":"Bash(rm *)","hooks":[{"type":"command","command":"x"}]}"#), "all calls"),
        (hook(r#"{"typ":"command","command":"x"}"#), "calls of Bash"),
        (hook(r#"{"type":"comand","command":"x"}"#), "calls of Bash"),
        (hook(r#"{"type":"prompt","prompt":"safe?"}"#), "calls of Bash"),
        (hook(r#"{"type":"command","comand":"x"}"#), "calls of Bash"),
        (hook(r#"{"type":"command","command":"x","if":"Bush(rm *)"}"#), "calls of Bash"),
        (hook(r#"{"type":"command","command":"x","timeout":"5"}"#), "calls of Bash"),
    ] {
        assert_eq!(broken(&text), [calls], "{text}");
    }
    let many = vec![guard; 101].join(",");
    assert_eq!(broken(&entry(&many)), ["calls of Bash"]);
}

#[test]
fn what_was_no_hook_before_calls_stops_none() {
    for text in [
        "{}",
        r#"{"hooks":null}"#,
        r#"{"hooks":{}}"#,
        r#"{"hooks":{"PreToolUse":[]}}"#,
        r#"{"hooks":{"PreToolUse":[{"matcher":"Bash|MultiEdit|apply_patch|mcp__x__bas|TodoWrite|LS|bash","hooks":[]}]}}"#,
        r#"{"hooks":{"PostToolUse":[{"matcher":"BASH","hooks":[]}]}}"#,
        r#"{"hooks":{"PreToolUse":[{"matcher":"Bash|mcp__(a|b)__.*","hooks":[]}]}}"#,
        r#"{"hooks":{"Notification":[{"hooks":[{"type":"command","command":"x"}]}]}}"#,
        r#"{"hooks":{"Stop":[{"hooks":[{"type":"prompt"}]}]}}"#,
        r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"x","async":true,"asyncRewake":true}]}]}}"#,
        r#"{"disableAllHooks":true,"hooks":{"PreTooluse":[{}]}}"#,
    ] {
        assert_eq!(broken(text), [""; 0], "{text}");
    }
    // Settings of another program without hooks are not for here.
    assert!(read_json("~/.claude/settings.json", "{\"model\": }").broken.is_empty());
    assert_eq!(read_json("~/.claude/settings.json", "{\"hooks\": }").broken.len(), 1);
}

#[tokio::test]
async fn only_the_calls_that_the_hook_is_for_are_stopped_and_the_model_reads_why() {
    let text = r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"typ":"command"}]}]}}"#;
    let hooks = GuardedHooks::over(None, read_json("hooks.json", text).broken).unwrap();
    let at = async |tool: &str| {
        let call = call(tool, &serde_json::json!({}));
        hooks.at(&AgentId::main(), HookPoint::BeforeCall(&call), &|_| {}).await.block
    };
    assert_eq!(at("read").await, None);
    let why = at("bash").await.unwrap();
    assert!(
        why.contains("hooks.json (PreToolUse: it has no type)") && why.contains("It blocks calls of Bash"),
        "{why}"
    );
    assert!(GuardedHooks::over(None, Vec::new()).is_none());
}

/// Starts; returns the calls that are stopped, what was asked, and what was said.
async fn start(home: &Home, front: FrontEnd, answer: Answer) -> (Vec<String>, Vec<String>, Vec<String>) {
    let (approvals, asked) = Home::desk(answer);
    let (cwd, mut notes) = (home.root.join("work"), Vec::new());
    let search = HookSearch { places: &home.places, cwd: &cwd, writable: &[] };
    let offer = ProjectOffer::load(&cwd, &[]);
    let stop = BrokenHooks::StopCalls;
    let guards = broken_guards(
        front,
        &search,
        offer.into_iter().flat_map(|offer| offer.broken_hooks).collect(),
        stop,
        &approvals,
        &mut notes,
    )
    .await;
    let asked = asked.lock().unwrap().clone();
    (guards.iter().map(BrokenGuard::calls).collect(), asked, notes)
}

#[tokio::test]
async fn every_start_names_them_and_the_screen_asks_once_whether_to_go_on_without() {
    let home = Home::new();
    home.put(".config/steersman/hooks.json", &settings("x").replace("type", "typ"));
    let fault = "~/.config/steersman/hooks.json (PreToolUse: it has no type)";
    let (stopped, asked, notes) = start(&home, FrontEnd::Exec, Answer::Once).await;
    assert_eq!((stopped, asked.len()), (vec!["calls of Bash".to_owned()], 0));
    assert!(notes[0].starts_with(&format!("{fault}: Steersman blocks calls of Bash")), "{notes:?}");
    assert!(notes[0].ends_with("--without-broken-hooks"), "{notes:?}");
    let (stopped, asked, notes) = start(&home, FrontEnd::Screen, Answer::No(None)).await;
    assert_eq!((stopped.len(), asked.len(), notes.len()), (1, 1, 1));
    assert!(asked[0].starts_with("go on without 1 hook that cannot be read?") && asked[0].contains(fault), "{asked:?}");
    let (stopped, asked, notes) = start(&home, FrontEnd::Screen, Answer::Once).await;
    assert_eq!((stopped.len(), asked.len(), notes.len()), (0, 1, 1));
    for front in [FrontEnd::Screen, FrontEnd::Exec] {
        let (stopped, asked, notes) = start(&home, front, Answer::No(None)).await;
        assert_eq!((stopped.len(), asked.len()), (0, 0), "it is asked once");
        assert_eq!(notes, [format!("{fault}: you chose to go on without this hook")]);
    }
    home.put(".config/steersman/hooks.json", "{");
    assert_eq!(start(&home, FrontEnd::Exec, Answer::Once).await.0, ["all calls"], "it has changed");
}

#[tokio::test]
async fn a_file_that_cannot_be_opened_or_compared_stops_calls_too() {
    let home = Home::new();
    let own = home.root.join(".config/steersman/hooks.json");
    let stopped = async || start(&home, FrontEnd::Exec, Answer::Once).await.0;
    home.put(".config/steersman/hooks.json/x", "a directory");
    assert_eq!(stopped().await, ["all calls"]);
    fs::remove_dir_all(&own).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &own, rustix::fs::Mode::from(0o600)).unwrap();
    assert_eq!(stopped().await, ["all calls"]);
    fs::remove_file(&own).unwrap();
    // Half a character is no text; a whole one in UTF-16 is.
    fs::write(&own, b"\xff\xfe{\0}\0\0\xd8").unwrap();
    assert_eq!(stopped().await, ["all calls"]);
    let wide: Vec<u8> = settings("x").replace("type", "typ").encode_utf16().flat_map(u16::to_be_bytes).collect();
    fs::write(&own, wide).unwrap();
    assert_eq!(stopped().await, ["calls of Bash"]);
    fs::write(&own, " ".repeat(300_000)).unwrap();
    assert_eq!(stopped().await, ["all calls"]);
    let script = home.root.join("guard.sh");
    fs::File::create(&script).unwrap().set_len(1 << 25).unwrap();
    fs::write(&own, settings(script.to_str().unwrap())).unwrap();
    assert_eq!(stopped().await, ["calls of Bash"]);
    fs::remove_file(&own).unwrap();
    std::os::unix::fs::symlink("/nowhere/hooks.json", &own).unwrap();
    assert_eq!(stopped().await, ["all calls"]);
    fs::remove_file(&own).unwrap();
    fs::write(&own, settings("x")).unwrap();
    home.put(".codex/config.toml", "[[hooks.PreToolUse]\n").put("work/.claude/settings.json", "{\"hooks\": {,}}");
    assert_eq!(stopped().await, ["all calls", "all calls"]);
}

#[test]
fn exec_does_not_run_what_a_hook_may_forbid_that_it_cannot_read() {
    let run = |flags: &[&str]| {
        let server =
            Server::start([Reply::calls(&[("c1", "calculator", "{\"expression\":\"1+1\"}")]), Reply::text("ok")]);
        let hooks = settings("exit 2").replace("Bash", "calculator").replace("}]}]", "}]},]");
        let program = Program::new()
            .args(["exec", "--json", "--base-url", &server.url(), "--model", "m"])
            .args(flags.iter().copied())
            .args(["add"])
            .file(".config/steersman/hooks.json", &hooks);
        let output = program.output();
        assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
        (stdout(&output), stderr(&output))
    };
    let (out, err) = run(&[]);
    assert!(out.contains("Steersman cannot read the hook that guards this call"), "{out}");
    assert!(err.contains("~/.config/steersman/hooks.json (the file is not valid JSON: trailing comma"), "{err}");
    let (out, err) = run(&["--without-broken-hooks"]);
    assert!(!out.contains("cannot read the hook"), "{out}");
    assert!(err.contains("you chose to go on without this hook"), "{err}");
}

#[test]
fn the_list_of_hooks_says_which_calls_are_stopped() {
    let program =
        Program::new().args(["hooks"]).file(".config/steersman/hooks.json", "{\"hooks\": {\"PreTooluse\": [3]}}");
    let list = stdout(&program.output());
    assert!(list.contains("all calls: Steersman blocks its calls until you fix it"), "{list}");
}

/// Hooks that can be read are asked as before.
#[tokio::test]
async fn broken_guards_leave_the_other_hooks_in_place() {
    let yard = super::runs::Yard::command("PreToolUse", "echo no >&2; exit 2");
    let text = r#"{"hooks":{"PreToolUse":[{"matcher":"Read","hooks":[{"typ":"command"}]}]}}"#;
    let hooks = GuardedHooks::over(Some(Arc::clone(&yard.hooks) as _), read_json("hooks.json", text).broken).unwrap();
    let call = call("bash", &serde_json::json!({}));
    assert_eq!(hooks.at(&AgentId::main(), HookPoint::BeforeCall(&call), &|_| {}).await.block.as_deref(), Some("no"));
}

#[test]
fn a_guard_that_cannot_run_needs_the_users_own_yes_and_the_line_output_says_why() {
    for (command, why) in [
        ("/nowhere/guards/of/the/whole/company/guard-of-shell-commands --strict --profile production", "No such file"),
        ("python3 missing-guard-of-the-project-with-a-rather-long-name.py", "missing-guard-of-the-project"),
        ("node missing.js", "missing.js is not there"),
    ] {
        for flags in [&["--yes"][..], &["--mode", "auto"], &["--mode", "auto-without-sandbox"]] {
            let server =
                Server::start([Reply::calls(&[("c1", "bash", "{\"command\":\"touch ran\"}")]), Reply::text("ok")]);
            let program = Program::new()
                .args(["exec", "--base-url", &server.url(), "--model", "m"])
                .args(flags.iter().copied())
                .args(["go"])
                .file(".config/steersman/hooks.json", &settings(command));
            let (output, home) = program.output_with_home();
            let err = stderr(&output);
            assert!(!home.path().join("work/ran").exists(), "{command} with {flags:?}: {err}");
            let result = err.lines().find(|line| line.contains("touch ran → ")).unwrap_or_default();
            assert!(result.contains(why), "{command} with {flags:?}: {err}");
        }
    }
}
