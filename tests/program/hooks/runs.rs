//! Stories of hooks that run: what they get, their time, their output, what they leave behind.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use steersman_agent::{HookAnswer, HookPoint, LoopHooks as _, SessionStart};
use steersman_base::event::{Event, HookOutcome, HookRun};
use steersman_base::id::AgentId;
use steersman_base::message::{Arguments, ToolCall};
use steersman_core::approval::{Answerer, Approvals, CallPermission, Mode, Policy};
use steersman_extensions::hooks::{
    HookPin, HookPlaces, HookRunner, HookSession, HookTrust, Hooks, TrustedHook, read_json,
};
use tempfile::TempDir;

use crate::support::processes::{alive, spawner, unique, wait_until};

/// A directory with hooks that are trusted as they are at first.
pub struct Yard {
    pub dir: TempDir,
    pub hooks: Arc<Hooks>,
    pub approvals: Arc<Approvals>,
}

impl Yard {
    /// Makes one; `files` are written before the hooks are trusted.
    pub fn new(hooks: &Value, files: &[(&str, &str)]) -> Self {
        let dir = TempDir::new().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for (name, text) in files {
            std::fs::write(root.join(name), text).unwrap();
        }
        let read = read_json("hooks.json", &json!({ "hooks": hooks }).to_string());
        assert_eq!(read.faults, [""; 0]);
        let places = HookPlaces { cwd: root.clone(), project: root.clone(), home: None };
        let trust = |hook| {
            let pin = HookPin::load(&hook, &places).unwrap();
            TrustedHook { hook, trust: HookTrust::Content(pin) }
        };
        let trusted = read.hooks.into_iter().map(trust).collect();
        let runner = HookRunner { spawner: spawner(), places };
        let session = HookSession { id: "s1".to_owned(), transcript: Some("/t.jsonl".into()), cwd: root };
        let approvals =
            Arc::new(Approvals::new(Policy { answerer: Answerer::User, ..Policy::default() }, Mode::AutoEdit));
        let hooks = Hooks::new(trusted, runner, session, Arc::clone(&approvals)).unwrap();
        Self { dir, hooks, approvals }
    }

    /// Makes one with one command for an event.
    pub fn command(event: &str, command: &str) -> Self {
        Self::new(&json!({ event: [{ "hooks": [{ "type": "command", "command": command }] }] }), &[])
    }

    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    /// Comes to a point; returns what the hooks say, and what they did.
    pub async fn at(&self, agent: &str, point: HookPoint<'_>) -> (HookAnswer, Vec<HookRun>) {
        let ran = Mutex::new(Vec::new());
        let tell = |event| match event {
            Event::HookRan(run) => ran.lock().unwrap().push(run),
            other => panic!("{other:?}"),
        };
        let answer = self.hooks.at(&AgentId::new(agent), point, &tell).await;
        (answer, ran.into_inner().unwrap())
    }
}

pub fn call(tool: &str, arguments: &Value) -> ToolCall {
    ToolCall { id: "c1".into(), name: tool.to_owned(), arguments: Arguments::parse(&arguments.to_string()) }
}

/// What a hook got that copies its input to `got`.
fn got(yard: &Yard) -> Value {
    serde_json::from_str(&std::fs::read_to_string(yard.root().join("got")).unwrap()).unwrap()
}

#[tokio::test]
async fn a_hook_gets_the_members_of_claude_code_on_its_input() {
    let yard = Yard::command("PreToolUse", "cat > got");
    let bash = call("bash", &json!({ "command": "ls", "timeout": 5 }));
    yard.at("", HookPoint::BeforeCall(&bash)).await;
    let cwd = yard.root().canonicalize().unwrap();
    let common = json!({
        "session_id": "s1", "transcript_path": "/t.jsonl", "cwd": cwd, "permission_mode": "acceptEdits",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "c1",
        "tool_input": { "command": "ls", "timeout": 5000 },
    });
    assert_eq!(got(&yard), common);

    yard.at(
        "coder 3",
        HookPoint::BeforeCall(&call("edit", &json!({ "path": "a.rs", "old_string": "x", "new_string": "y" }))),
    )
    .await;
    let edit = got(&yard);
    assert_eq!(
        (&edit["tool_name"], &edit["agent_id"], &edit["agent_type"]),
        (&json!("Edit"), &json!("coder 3"), &json!("coder"))
    );
    assert_eq!(edit["tool_input"], json!({ "file_path": cwd.join("a.rs"), "old_string": "x", "new_string": "y" }));
    let own = call("mcp__memory__create", &json!({ "x": 1 }));
    yard.at("", HookPoint::BeforeCall(&own)).await;
    assert_eq!(
        (&got(&yard)["tool_name"], &got(&yard)["tool_input"]),
        (&json!("mcp__memory__create"), &json!({ "x": 1 }))
    );

    let yard = Yard::command("SessionStart", "cat > got; env > environment");
    yard.at("", HookPoint::Session(SessionStart::Resume)).await;
    assert_eq!(got(&yard)["source"], "resume");
    let environment = std::fs::read_to_string(yard.root().join("environment")).unwrap();
    let root = yard.root().canonicalize().unwrap();
    assert!(environment.contains(&format!("CLAUDE_PROJECT_DIR={}\n", root.display())), "{environment}");
    assert!(!environment.contains("CARGO_"), "only what every job gets: {environment}");
}

#[tokio::test]
async fn a_hook_runs_for_what_its_matcher_means_under_either_name() {
    let hooks = json!({ "PreToolUse": [
        { "matcher": "Bash", "hooks": [{ "type": "command", "command": "echo bash >&2; exit 1" }] },
        { "matcher": "Write|Edit", "hooks": [{ "type": "command", "command": "echo file >&2; exit 1" }] },
        { "matcher": "mcp__.*", "hooks": [{ "type": "command", "command": "echo server >&2; exit 1" }] },
        { "matcher": "calculator", "hooks": [{ "type": "command", "command": "echo own >&2; exit 1" }] },
    ]});
    let yard = Yard::new(&hooks, &[]);
    for (tool, word) in
        [("bash", "bash"), ("write", "file"), ("edit", "file"), ("mcp__a__b", "server"), ("calculator", "own")]
    {
        let (_, ran) = yard.at("", HookPoint::BeforeCall(&call(tool, &json!({})))).await;
        let words: Vec<_> = ran.iter().map(|run| run.words.clone().unwrap()).collect();
        assert_eq!(words, [format!("exit code 1 {word}")], "{tool}");
    }
    let (answer, ran) = yard.at("", HookPoint::BeforeCall(&call("read", &json!({})))).await;
    assert_eq!((answer, ran), (HookAnswer::default(), Vec::new()));
}

#[tokio::test]
async fn of_two_hooks_that_disagree_the_stricter_holds() {
    let decide = |word: &str| {
        let output = json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": word } });
        json!({ "type": "command", "command": format!("echo '{output}'") })
    };
    let at = async |words: &[&str]| {
        let hooks: Vec<Value> = words.iter().map(|word| decide(word)).collect();
        let yard = Yard::new(&json!({ "PreToolUse": [{ "hooks": hooks }] }), &[]);
        let (answer, ran) = yard.at("", HookPoint::BeforeCall(&call("bash", &json!({})))).await;
        assert_eq!(ran.len(), words.len(), "each is told");
        answer
    };
    let denied = at(&["allow", "deny", "ask"]).await;
    assert_eq!(denied.block.as_deref(), Some("deny"));
    let asked = at(&["allow", "ask"]).await;
    assert_eq!((asked.block, asked.permission), (None, Some(CallPermission::Ask("ask".to_owned()))));
    assert_eq!(at(&["allow"]).await.permission, Some(CallPermission::Allow));
}

#[tokio::test]
async fn other_arguments_come_back_under_our_names() {
    let yard = Yard::command(
        "PreToolUse",
        "sed 's/\"tool_input\":{[^}]*}/\"x\":1/' >/dev/null; echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\",\"updatedInput\":{\"file_path\":\"'$PWD'/b.rs\",\"content\":\"c\"}}}'",
    );
    let (answer, _) =
        yard.at("", HookPoint::BeforeCall(&call("write", &json!({ "path": "a.rs", "content": "c" })))).await;
    assert_eq!(answer.arguments, Some(Arguments::parse("{\"path\":\"b.rs\",\"content\":\"c\"}")));
}

#[tokio::test]
async fn a_hook_that_takes_too_long_is_ended_with_all_that_it_started() {
    let mark = unique();
    let command = format!("TEST_MARK={mark} sleep 600 & TEST_MARK={mark} setsid sleep 600 & sleep 600; : {mark}");
    let hooks = json!({ "Stop": [{ "hooks": [{ "type": "command", "command": command, "timeout": 0.2 }] }] });
    let yard = Yard::new(&hooks, &[]);
    let (answer, ran) = yard.at("", HookPoint::Answered { answer: "", again: false }).await;
    assert_eq!(answer, HookAnswer::default(), "it forbids nothing");
    assert_eq!((ran[0].outcome, ran[0].words.as_deref()), (HookOutcome::TimedOut, Some("it was ended after 0.2 s")));
    wait_until("everything is dead", Duration::from_mins(5), || alive(&mark).is_empty()).await;
}

/// Whatever the reason: a call that its guard has not seen is asked about.
#[tokio::test]
async fn a_guard_that_has_not_looked_at_a_call_lets_the_user_be_asked() {
    let bash = call("bash", &json!({ "command": "ls" }));
    let guard = |hook: Value| json!({ "PreToolUse": [{ "matcher": "Bash", "hooks": [hook] }] });
    for (command, why) in [
        ("/nowhere/guard", "No such file"),
        ("./guard.txt", "Permission denied"),
        ("no-such-guard --check", "command not found"),
        ("./interpreter", "interpreter"),
        ("./dangling", "No such file"),
        ("bash missing.sh", "No such file"),
        ("python3 ./missing.py", "missing.py"),
        ("GUARD=1 perl missing.pl", "missing.pl"),
        ("perl \"$CLAUDE_PROJECT_DIR/hooks/missing.pl\" --strict", "missing.pl"),
        ("node -u missing.js", "missing.js is not there"),
        ("GUARD=1 node missing.js --strict", "missing.js is not there"),
        ("kill -9 $$", "killed"),
        ("yes", "printed more"),
    ] {
        let yard = Yard::new(
            &guard(json!({ "type": "command", "command": command })),
            &[("guard.txt", "exit 0"), ("interpreter", "#!/nowhere/python\n")],
        );
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(yard.root().join("interpreter"), executable).unwrap();
        std::os::unix::fs::symlink("nowhere", yard.root().join("dangling")).unwrap();
        let (answer, ran) = yard.at("", HookPoint::BeforeCall(&bash)).await;
        let asked = match (&answer.permission, &answer.block) {
            (Some(CallPermission::Unseen(words)), None) | (None, Some(words)) => words,
            other => panic!("{command}: {other:?}, {ran:?}"),
        };
        assert!(asked.contains(why), "{command}: {asked}");
    }
    let yard = Yard::new(&guard(json!({ "type": "command", "command": "sleep 600", "timeout": 0.2 })), &[]);
    let (answer, ran) = yard.at("", HookPoint::BeforeCall(&bash)).await;
    let unseen = CallPermission::Unseen("it was ended after 0.2 s".to_owned());
    assert_eq!((answer.permission, ran[0].outcome), (Some(unseen), HookOutcome::TimedOut));
    // One that has changed, and that nobody lets run.
    let yard = Yard::new(&guard(json!({ "type": "command", "command": "sh ./guard.sh" })), &[("guard.sh", "exit 0")]);
    yard.approvals.user_left();
    std::fs::remove_file(yard.root().join("guard.sh")).unwrap();
    let (answer, _) = yard.at("", HookPoint::BeforeCall(&bash)).await;
    assert!(matches!(answer.permission, Some(CallPermission::Unseen(words)) if words.contains("has changed")));
    // What looked and failed by itself has let it through, as in other programs.
    for command in
        ["exit 1", "cd . && false", "[ -f missing.sh ] && sh missing.sh", "perl -e 'exit 3'", "\"./a guard\""]
    {
        let yard = Yard::new(&guard(json!({ "type": "command", "command": command })), &[("a guard", "#!/bin/sh\n")]);
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(yard.root().join("a guard"), executable).unwrap();
        let (answer, _) = yard.at("", HookPoint::BeforeCall(&bash)).await;
        assert_eq!((answer.permission, answer.block), (None, None), "{command}");
    }
}

#[tokio::test]
async fn a_hook_that_prints_without_end_is_ended() {
    for command in ["yes", "yes >&2 & yes", "while :; do echo '{\"a\":'; done"] {
        let yard = Yard::command("Stop", command);
        let (answer, ran) = yard.at("", HookPoint::Answered { answer: "", again: false }).await;
        assert_eq!((answer, ran[0].outcome), (HookAnswer::default(), HookOutcome::Failed));
        let words = ran[0].words.as_deref().unwrap();
        assert!(words.starts_with("it printed more than 256"), "{words}");
    }
    // Errors without end are read and dropped; the hook ends by itself.
    let yard = Yard::command("Stop", "head -c 3000000 /dev/zero | tr '\\0' x >&2; exit 2");
    let (answer, _) = yard.at("", HookPoint::Answered { answer: "", again: false }).await;
    assert!(answer.block.unwrap().len() < 11_000);
}

#[tokio::test]
async fn what_a_hook_leaves_behind_dies_with_it_and_holds_nothing_up() {
    let mark = unique();
    let yard = Yard::command("Stop", &format!("TEST_MARK={mark} setsid sleep 600 & : {mark}; echo done"));
    let (_, ran) = yard.at("", HookPoint::Answered { answer: "", again: false }).await;
    assert_eq!(ran[0].outcome, HookOutcome::Done);
    wait_until("what it left is dead", Duration::from_mins(5), || alive(&mark).is_empty()).await;
}

#[tokio::test]
async fn a_hook_need_not_read_its_input_however_long_that_is() {
    let yard = Yard::command("Stop", "exec <&-; exit 0");
    let long = "x".repeat(1_000_000);
    let (_, ran) = yard.at("", HookPoint::Answered { answer: &long, again: false }).await;
    assert_eq!(ran[0].outcome, HookOutcome::Done);
    let yard = Yard::command("Stop", "wc -c | tr -d '\\n' > size");
    yard.at("", HookPoint::Answered { answer: &long, again: false }).await;
    let size: usize = std::fs::read_to_string(yard.root().join("size")).unwrap().trim().parse().unwrap();
    assert!(size > 1_000_000, "it gets all of it");
}

#[tokio::test]
async fn a_dropped_question_ends_the_hook() {
    let mark = unique();
    let yard = Yard::command("Stop", &format!("touch began; TEST_MARK={mark} sleep 600; : {mark}"));
    let point = HookPoint::Answered { answer: "", again: false };
    let file = yard.root().join("began");
    let began = wait_until("the hook began", Duration::from_mins(5), || file.exists());
    tokio::select! {
        _ = yard.at("", point) => panic!("it sleeps"),
        () = began => {}
    }
    wait_until("the hook is dead", Duration::from_mins(5), || alive(&mark).is_empty()).await;
}

#[tokio::test]
async fn a_program_with_arguments_runs_without_a_shell() {
    let hooks = json!({ "SessionStart": [{ "hooks": [{ "type": "command", "command": "printf", "args": ["%s", "$HOME; a b"] }] }] });
    let (answer, _) = Yard::new(&hooks, &[]).at("", HookPoint::Session(SessionStart::Startup)).await;
    assert_eq!(answer.context, ["<hook-SessionStart>\n$HOME; a b\n</hook-SessionStart>"]);
    let hooks =
        json!({ "Stop": [{ "hooks": [{ "type": "command", "command": "no-such-program-here", "args": [] }] }] });
    let (_, ran) = Yard::new(&hooks, &[]).at("", HookPoint::Answered { answer: "", again: false }).await;
    assert_eq!(ran[0].outcome, HookOutcome::Failed);
}
