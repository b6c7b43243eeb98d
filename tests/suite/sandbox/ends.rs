//! Every way in which a command of the real program ends, under each kind of sandbox: no protected name has changed, and
//! nothing is left that changes one later.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;
use steersman::workspace::sandbox::SandboxChoice;

use super::KINDS;
use super::grounds::Grounds;
use super::protected::closing;
use super::users::{tree, user};
use crate::support::processes::{unique, wait_dead};
use crate::support::program::Program;
use crate::support::server::{Reply, Server};

/// One name of each class.
const NAMES: &str = "\
    .git/config .git/config.worktree .git/commondir .git/hooks/post-checkout .git/info/attributes .git/modules/x/config \
    .git/worktrees/wt/commondir .git/objects/info/alternates nested/.git/config .github/workflows/ci.yml \
    .claude/settings.json .cursor/mcp.json .codex/config.toml AGENTS.md .envrc .bashrc .npmrc .vscode/tasks.json \
    .steersman/config.toml .ssh/config new/.git bare.git/config docs/config";

const PROJECT: &str =
    "git init -q -b main . && git commit -q --allow-empty -m one && git worktree add -q wt && git init -q nested
    mkdir -p .claude docs .github/workflows && echo mine > .claude/settings.json && echo mine > .github/workflows/ci.yml
    git init -q --bare docs && echo ref: refs/heads/main > docs/HEAD";

/// Tries every name in several ways, again and again; `$1` says how long.
const ATTACK: &str = "cp -r .git fake
    attack() {
        chmod 0311 .
        for name in NAMES; do
            mkdir -p \"$(dirname $name)\"; echo evil >> $name; ln -sf ../fake $name; echo evil > plain; mv -f plain $name
            rm -rf $name
        done
        mv .github aside; mv .git aside; mv fake .git; mkdir bare; touch bare/HEAD; mkdir bare/objects bare/refs
    } 2> /dev/null
    attack; chmod 755 .; touch attacked; echo attacked
    if test \"$1\" = once; then exit 0; fi
    while :; do attack; done";

/// How a command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    ByItself,
    /// The program ends while it runs in the background.
    LeftBehind,
    Signal(Signal),
    /// The program and what it has started, at once.
    Group,
}

const ENDS: [End; 8] = [
    End::ByItself,
    End::LeftBehind,
    End::Signal(Signal::INT),
    End::Signal(Signal::TERM),
    End::Signal(Signal::HUP),
    End::Signal(Signal::QUIT),
    End::Signal(Signal::KILL),
    End::Group,
];

#[tokio::test]
async fn however_a_command_ends_no_protected_name_has_changed() {
    for kind in KINDS {
        let grounds = Grounds::new();
        let Some(sandbox) = closing(&grounds, kind).await else { continue };
        let name = sandbox.name().unwrap();
        tokio::task::spawn_blocking(move || {
            for end in ENDS {
                ends(name, end);
            }
        })
        .await
        .unwrap();
    }
    assert!(KINDS.contains(&SandboxChoice::Landlock));
}

fn ends(kind: &str, end: End) {
    let mark = unique();
    let how = if end == End::ByItself { "once" } else { "on" };
    let call =
        json!({"command": format!("bash build.sh {how} {mark}"), "background": end == End::LeftBehind}).to_string();
    let mut script = vec![Reply::calls(&[("c1", "bash", &call)])];
    if end == End::LeftBehind {
        // It ends while the other goes on.
        script.push(Reply::calls(&[("c2", "job_output", r#"{"job": "j1", "wait_for": "attacked"}"#)]));
    }
    script.push(Reply::text("Done."));
    let server = Server::start(script);
    let program = Program::new().args(["exec", "--base-url", &server.url(), "--model", "scripted", "--sandbox", kind]);
    let program = program.args(["--mode", "auto", "hello"]);
    let program = program
        .file("work/build.sh", &ATTACK.replace("NAMES", &NAMES.split_whitespace().collect::<Vec<_>>().join(" ")));
    let (work, home) = (program.work(), program.home().to_owned());
    user(&work, &home, PROJECT);
    let before = protected(&work);
    let attacked = work.join("attacked");
    let run = program.run();
    let began = Instant::now();
    while !attacked.exists() {
        assert!(
            began.elapsed() < Duration::from_mins(2),
            "{kind}, {end:?}: the command does not run: {:?}",
            server.chats().last().map(|chat| chat.texts("tool"))
        );
        std::thread::park_timeout(Duration::from_millis(10));
    }
    match end {
        End::ByItself | End::LeftBehind => {}
        End::Signal(signal) => run.signal(signal),
        End::Group => {
            let group = Pid::from_raw(i32::try_from(run.id()).unwrap()).unwrap();
            // Nobody is left who could put anything back.
            if kill_process_group(group, Signal::KILL).is_err() {
                run.signal(Signal::KILL);
            }
        }
    }
    let (_, home) = run.end_with_home();
    wait_dead(&mark, Duration::from_mins(1));
    assert_eq!(protected(&work), before, "{kind}, {end:?}");
    drop(home);
}

/// Returns what is protected of a workspace, with its content.
fn protected(work: &Path) -> Vec<(String, String)> {
    let names: Vec<&str> = NAMES.split_whitespace().collect();
    let is_meant = |path: &str| {
        names.iter().any(|name| path == *name || path.strip_prefix(name).is_some_and(|rest| rest.starts_with('/')))
            || path.starts_with(".git") && !path.starts_with(".git/index")
    };
    tree(work).into_iter().filter(|(path, _)| is_meant(path)).collect()
}
