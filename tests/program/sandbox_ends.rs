//! Every way in which a command of the real program ends, under each kind of sandbox: no protected name has changed, and
//! nothing is left that changes one later.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::json;
use steersman_tools::workspace::sandbox::SandboxChoice;
use tempfile::TempDir;

use crate::support::grounds::{Grounds, KINDS, closing};
use crate::support::processes::{alive, unique, wait_dead};
use crate::support::program::Program;
use crate::support::server::{Reply, Server};
use crate::support::terminal::{Start, keys};
use crate::support::users::{tree, user};

/// How long anything may take on a crowded machine.
const PATIENCE: Duration = Duration::from_mins(2);

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

/// Where a command runs while it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Its call waits for it.
    Turn,
    /// In the background, behind the turn.
    Background,
}

/// How a command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    ByItself,
    /// The program ends while it runs in the background.
    LeftBehind,
    Signal(Signal),
    /// The program and whoever is in its group, at once.
    Group,
    /// Everything at once, as when the power fails.
    Power,
    /// The user types this on the screen.
    Keys(Place, &'static str),
    /// The window is closed.
    Window(Place),
}

const ENDS: [End; 19] = [
    End::ByItself,
    End::LeftBehind,
    End::Signal(Signal::INT),
    End::Signal(Signal::TERM),
    End::Signal(Signal::HUP),
    End::Signal(Signal::QUIT),
    End::Signal(Signal::KILL),
    End::Group,
    End::Power,
    End::Keys(Place::Turn, keys::ESC),
    End::Keys(Place::Turn, "/cancel\r"),
    End::Keys(Place::Turn, "\x03\x03\x03"),
    End::Keys(Place::Turn, F12),
    End::Keys(Place::Background, keys::CTRL_D),
    End::Keys(Place::Background, "\x03\x03\x03"),
    End::Keys(Place::Background, F12),
    End::Keys(Place::Background, "/quit\r"),
    End::Window(Place::Turn),
    End::Window(Place::Background),
];

const F12: &str = "\x1b[24~";

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
    let is_background =
        matches!(end, End::LeftBehind | End::Keys(Place::Background, _) | End::Window(Place::Background));
    let call = json!({"command": format!("bash build.sh {how} {mark}"), "background": is_background}).to_string();
    let mut script = vec![Reply::calls(&[("c1", "bash", &call)])];
    if is_background {
        // The turn ends while it goes on.
        script.push(Reply::calls(&[("c2", "job_output", r#"{"job": "j1", "wait_for": "attacked"}"#)]));
    }
    script.push(Reply::text("Done."));
    let server = Server::start(script);
    let home = TempDir::new().unwrap();
    let work = home.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let names: Vec<_> = NAMES.split_whitespace().collect();
    std::fs::write(work.join("build.sh"), ATTACK.replace("NAMES", &names.join(" "))).unwrap();
    user(&work, home.path(), PROJECT);
    let before = protected(&work);
    let attacked = || {
        let began = Instant::now();
        while !work.join("attacked").exists() {
            let results = server.chats().last().map(|chat| chat.texts("tool"));
            assert!(began.elapsed() < PATIENCE, "{kind}, {end:?}: the command does not run: {results:?}");
            std::thread::park_timeout(Duration::from_millis(10));
        }
    };
    let _home = match end {
        End::Keys(..) | End::Window(_) => {
            let start = ["--sandbox", kind, "--mode", "auto"].into_iter().fold(Start::against(&server), Start::arg);
            let mut terminal = start.home(home).run();
            terminal.send("hello\r");
            attacked();
            if is_background {
                terminal.wait_for("Done.");
                terminal.wait_for("· idle");
            }
            match end {
                End::Keys(_, typed) => terminal.send(typed),
                _ => terminal.hang_up(),
            }
            let (began, mut is_requested) = (Instant::now(), false);
            while !alive(&mark).is_empty() {
                let screen = terminal.screen();
                // Quitting asks while a command runs in the background.
                if screen.contains("Quit?") && screen.contains("● ready") && !is_requested {
                    terminal.send("\x1by");
                    is_requested = true;
                }
                assert!(began.elapsed() < PATIENCE, "{kind}, {end:?}: it lives on:\n{screen}");
                std::thread::park_timeout(Duration::from_millis(10));
            }
            assert_eq!(protected(&work), before, "{kind}, {end:?}");
            return;
        }
        End::ByItself | End::LeftBehind | End::Signal(_) | End::Group | End::Power => {
            let program = Program::within(home).leading_group();
            let program = program.args(["exec", "--base-url", &server.url(), "--model", "scripted"]);
            let run = program.args(["--sandbox", kind, "--mode", "auto", "hello"]).run();
            attacked();
            let group = || kill_process_group(pid(run.id()), Signal::KILL).unwrap();
            match end {
                End::Signal(signal) => run.signal(signal),
                End::Group => group(),
                // Nobody is left who could put anything back.
                End::Power => {
                    group();
                    alive(&mark).iter().filter_map(|line| line.split(' ').next()?.parse().ok()).for_each(|number| {
                        let _ = kill_process(pid(number), Signal::KILL);
                    });
                }
                _ => {}
            }
            run.end_with_home().1
        }
    };
    wait_dead(&mark, PATIENCE);
    assert_eq!(protected(&work), before, "{kind}, {end:?}");
}

fn pid(number: u32) -> Pid {
    Pid::from_raw(number.cast_signed()).unwrap()
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
