//! Stories of hooks that nobody waits for: they run beside, decide nothing, and what they say comes at a boundary.

use std::time::Duration;

use serde_json::json;
use steersman_agent::{EndedHook, HookAnswer, HookPoint, LoopHooks as _};
use steersman_base::event::HookOutcome;
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_extensions::hooks::{HookPin, HookPlaces, HookWaiting, read_json};

use super::runs::{Yard, call};
use crate::support::processes::{alive, unique, wait_until};
use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Reply, Server};

const PATIENCE: Duration = Duration::from_mins(5);

/// A yard with one hook in the background.
fn yard(event: &str, command: &str) -> Yard {
    Yard::new(&json!({ event: [{ "hooks": [{ "type": "command", "command": command, "async": true }] }] }), &[])
}

/// Waits until a hook of an agent has ended.
async fn ended(yard: &Yard, agent: &str) -> EndedHook {
    let mut taken = Vec::new();
    wait_until("the hook has ended", PATIENCE, || {
        taken.extend(yard.hooks.ended(&AgentId::new(agent)));
        !taken.is_empty()
    })
    .await;
    taken.remove(0)
}

#[tokio::test]
async fn nobody_waits_for_it_and_what_it_says_comes_later_and_once() {
    let output = json!({ "systemMessage": "built", "hookSpecificOutput": { "hookEventName": "PostToolUse", "additionalContext": "2 tests fail" } });
    let yard = yard("PostToolUse", &format!("until [ -e go ]; do sleep 0.01; done; echo '{output}'"));
    let bash = call("bash", &json!({}));
    let (answer, ran) = yard.at("coder 1", HookPoint::AfterCall(&bash, "done")).await;
    assert_eq!(answer, HookAnswer::default(), "it still runs");
    let began: Vec<_> = ran.iter().map(|run| (run.outcome, run.call.clone(), run.is_silent())).collect();
    assert_eq!(began, [(HookOutcome::Started, Some("c1".into()), true)]);
    assert_eq!(yard.hooks.ended(&AgentId::new("coder 1")), []);
    std::fs::write(yard.root().join("go"), "").unwrap();
    let EndedHook { run, context } = ended(&yard, "coder 1").await;
    assert_eq!((run.outcome, run.words.as_deref()), (HookOutcome::Done, Some("built")));
    assert_eq!(run.call, Some("c1".into()));
    assert_eq!(context.as_deref(), Some("<hook-PostToolUse>\n2 tests fail\n</hook-PostToolUse>"));
    assert_eq!(yard.hooks.ended(&AgentId::new("coder 1")), []);
}

#[tokio::test]
async fn what_it_decides_comes_too_late_and_is_told_as_a_failure() {
    let allow = json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "permissionDecision": "allow" } });
    let stop = json!({ "continue": false, "stopReason": "enough" });
    for command in ["echo no >&2; exit 2".to_owned(), format!("echo '{allow}'"), format!("echo '{stop}'")] {
        let yard = yard("PreToolUse", &command);
        let (answer, _) = yard.at("", HookPoint::BeforeCall(&call("bash", &json!({})))).await;
        assert_eq!(answer, HookAnswer::default());
        let run = ended(&yard, "").await.run;
        let words = run.words.unwrap();
        assert_eq!(run.outcome, HookOutcome::Failed, "{words}");
        assert!(words.starts_with("it runs in the background and decides nothing"), "{words}");
    }
}

#[tokio::test]
async fn its_time_ends_it_and_so_does_the_end_of_the_session() {
    let mark = unique();
    let sleep = format!("touch began; TEST_MARK={mark} sleep 600; : {mark}");
    let hooks =
        json!({ "Stop": [{ "hooks": [{ "type": "command", "command": sleep, "async": true, "timeout": 0.2 }] }] });
    let timed = Yard::new(&hooks, &[]);
    let point = HookPoint::Answered { answer: "", again: false };
    timed.at("", point).await;
    assert_eq!(ended(&timed, "").await.run.outcome, HookOutcome::TimedOut);
    wait_until("it is dead", PATIENCE, || alive(&mark).is_empty()).await;
    let left = yard("Stop", &sleep);
    left.at("", point).await;
    wait_until("it runs", PATIENCE, || left.root().join("began").exists()).await;
    let Yard { dir: _dir, hooks, .. } = left;
    drop(hooks);
    wait_until("it is dead", PATIENCE, || alive(&mark).is_empty()).await;
}

#[tokio::test]
async fn more_than_a_few_wait_for_each_other_and_all_of_them_run() {
    let yard = yard("Stop", "echo x >> ran; until [ -e go ]; do sleep 0.01; done");
    let point = HookPoint::Answered { answer: "", again: false };
    for _ in 0..12 {
        yard.at("", point).await;
    }
    let ran = || std::fs::read_to_string(yard.root().join("ran")).unwrap_or_default().lines().count();
    wait_until("eight run", PATIENCE, || ran() == 8).await;
    std::fs::write(yard.root().join("go"), "").unwrap();
    let mut count = 0;
    wait_until("all have ended", PATIENCE, || {
        count += yard.hooks.ended(&AgentId::main()).len();
        count == 12
    })
    .await;
    assert_eq!(ran(), 12);
}

#[tokio::test]
async fn what_cannot_wait_any_more_is_not_run_and_that_is_told() {
    let yard = yard("Stop", "sleep 600");
    let point = HookPoint::Answered { answer: "", again: false };
    for _ in 0..limits::WAITING_HOOKS {
        assert_eq!(yard.at("", point).await.1[0].outcome, HookOutcome::Started);
    }
    let (answer, ran) = yard.at("", point).await;
    assert_eq!(answer, HookAnswer::default());
    assert_eq!(ran[0].outcome, HookOutcome::Failed);
    assert_eq!(ran[0].words.as_deref(), Some("not run: 64 hooks run in the background already"));
}

#[test]
fn a_hook_that_becomes_one_in_the_background_is_another_hook() {
    let read = |is_async: bool| {
        let hooks =
            json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "x", "async": is_async }] }] } });
        read_json("hooks.json", &hooks.to_string()).hooks.remove(0)
    };
    let (waited, beside) = (read(false), read(true));
    assert_eq!((waited.waiting, beside.waiting), (HookWaiting::Waits, HookWaiting::Background));
    let hash = |hook| HookPin::load(hook, &HookPlaces::default()).unwrap().hash;
    assert_ne!(hash(&waited), hash(&beside));
}

#[test]
fn the_model_reads_what_it_said_with_the_next_request_behind_its_end_and_the_list_names_it() {
    let output =
        json!({ "hookSpecificOutput": { "hookEventName": "PostToolUse", "additionalContext": "2 tests fail" } });
    let command = format!("until [ -e go ]; do sleep 0.01; done; echo '{output}'");
    let hooks = json!({ "hooks": { "PostToolUse": [{ "hooks": [{ "type": "command", "command": command, "async": true }] }] } });
    let program = Program::new().file(".config/steersman/hooks.json", &hooks.to_string());
    let go = program.work().join("go");
    // The second request comes while the hook still runs; then it may end, and the agent works until it hears of it.
    let server = Server::routed(move |request| {
        let heard = request.messages().iter().any(|message| message.to_string().contains("2 tests fail"));
        let count = request.messages().len();
        if request.roles().last().is_some_and(|role| role == "tool") {
            std::fs::write(&go, "").unwrap();
        }
        if heard {
            Reply::text("Heard.")
        } else {
            Reply::calls(&[(&format!("c{count}"), "glob", r#"{"pattern":"*.none"}"#)])
        }
    });
    let args = ["exec", "--base-url", &server.url(), "--model", "m", "--max-steps", "5000", "--json", "look"];
    let (output, home) = program.args(args).output_with_home();
    assert_eq!(exit_code(&output), 0, "{}", stderr(&output));
    let chats = server.chats();
    assert!(!chats[1].messages().iter().any(|message| message.to_string().contains("2 tests fail")), "not waited for");
    let last = chats.last().unwrap().messages();
    let place = last.iter().position(|message| message.to_string().contains("2 tests fail")).unwrap();
    assert_ne!(last[place - 1]["role"], "assistant", "never between a call and its result");
    let told = stdout(&output);
    let begin = told.find(r#""outcome":"started""#).unwrap();
    assert!(begin < told.find(r#""outcome":"done""#).unwrap(), "its begin is told before its end: {told}");
    let (output, _home) = Program::within(home).args(["hooks"]).output_with_home();
    assert!(stdout(&output).ends_with("(runs, in the background)\n"), "{}", stdout(&output));
}
