//! Two and three commands at once, and git work of the user's beside them, with the host, a guard or a command killed at a
//! random moment; then the next start.
//!
//! The host is this test program, started again. `STEERSMAN_TEST_KILLS` sets how many rounds there are.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use rustix::process::{Pid, Signal, kill_process};
use steersman::workspace::sandbox::{SandboxChoice, Surroundings};
use steersman::workspace::snapshot::{Decision, Protection, recover};
use steersman::workspace::{ChildEnvironment, Confinement, Job, Sandbox, Spawner};

use super::KINDS;
use super::grounds::{Grounds, PATH, program};
use super::session::{state, tree, user};
use super::users_work::{Done, Saved, UsersWork};

/// Tells the host what to do: kind, number of commands.
const ORDER: &str = "TEST_HOST_ORDER";

/// Changes again and again what git runs.
const ATTACK: &str = "for n in 1 2 3 4 5 6; do
    printf '[core]\\n\\tfsmonitor = \"touch %s; false\"\\n' \"$CANARY_FILE\" >> .git/config
    printf '#!/bin/sh\\ntouch %s\\n' \"$CANARY_FILE\" > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
    printf '[core]\\n\\tfsmonitor = \"touch %s; false\"\\n' \"$CANARY_FILE\" >> nested/.git/config
    printf '[core]\\n\\tfsmonitor = \"touch %s; false\"\\n' \"$CANARY_FILE\" > .git/config.worktree
    mv .git/hooks .git/x && ln -s \"$OUTSIDE\" .git/hooks && rm .git/hooks && mv .git/x .git/hooks
    mkdir -p .steersman && echo evil > .steersman/config.toml
    echo \"$OUTSIDE\" > .git/commondir
    done 2> /dev/null";

const PROJECT: &str = "git init -q -b main . && git config extensions.worktreeConfig true && git config core.bare false
    echo a > a && git add a && git commit -qm one && git worktree add -q wt && git init -q --bare bare.git && rm -r .git/hooks && mkdir .git/hooks
    git init -q nested && git -C nested commit -q --allow-empty -m one
    mkdir -p .git/modules && cp -r nested/.git .git/modules/lfs && head -c 2000000 /dev/zero > .git/modules/lfs/index";

/// The host of the story below, when it is told to be one.
#[tokio::test]
async fn host_of_several_commands() {
    let Ok(order) = std::env::var(ORDER) else { return };
    let [kind, count, home, work, outside] = order.split('|').collect::<Vec<_>>()[..] else { panic!("{order}") };
    let (home, work) = (PathBuf::from(home), PathBuf::from(work));
    let kind = KINDS.into_iter().find(|known| format!("{known:?}") == kind).unwrap();
    let around = Surroundings {
        program: program(),
        home: Some(home.clone()),
        path: PATH.into(),
        writable: vec![work.clone()],
        hidden: Vec::new(),
    };
    let sandbox = Sandbox::detect(kind, &around).await.unwrap();
    let environment = ChildEnvironment::new([("PATH", PATH)].map(|(a, b)| (a.into(), b.into())), &[] as &[&str], &[]);
    let spawner = Spawner::new(program(), sandbox.clone(), environment);
    let protection = Arc::new(Protection::new(Some(home.join(".local/state/steersman")), Some(home.clone())));
    let confinement = Confinement { writable: vec![work.clone()], ..Confinement::default() };
    let run = async || {
        let ask = |_| async { Decision::Nobody }.boxed();
        let roots = &confinement.writable;
        let entered = protection.enter(roots, &Sandbox::repositories(roots), sandbox.cover().unwrap(), &ask).await;
        let Ok((command, _)) = entered else { return };
        let canary = Path::new(outside).join("canary").display().to_string();
        let mut environment = vec![("OUTSIDE".into(), outside.into()), ("CANARY_FILE".into(), canary.into())];
        environment.extend(command.variable().map(|(name, mark)| (name.into(), mark.into())));
        let argv = ["bash", "-c", ATTACK].map(Into::into).to_vec();
        let job = Job { argv, cwd: work.clone(), environment, confinement: confinement.clone() };
        let mut running = spawner.start(&job).unwrap();
        println!("running");
        running.ended().await;
        command.leave(&ask).await;
    };
    join_all((0..count.parse().unwrap()).map(|_| run())).await;
}

/// Starts the host, and waits until its first command runs.
fn host(grounds: &Grounds, kind: SandboxChoice, commands: usize) -> Child {
    let (home, work, outside) = (grounds.home.display(), grounds.work.display(), grounds.outside.display());
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sandbox::kills::host_of_several_commands", "--nocapture"])
        .env(ORDER, format!("{kind:?}|{commands}|{home}|{work}|{outside}"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(host.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("running")), "no command ran");
    // Who prints into a pipe that nobody reads would fail.
    std::thread::spawn(move || lines.count());
    host
}

/// Returns the processes below one, the nearest first.
fn below(pid: u32) -> Vec<u32> {
    let mut found = vec![pid];
    let mut at = 0;
    while let Some(pid) = found.get(at) {
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let children = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
        let children: Vec<u32> =
            children.flat_map(|all| all.split(' ').filter_map(|one| one.parse().ok()).collect::<Vec<_>>()).collect();
        found.extend(children);
        at += 1;
    }
    found
}

fn random(below: u64) -> u64 {
    getrandom::u64().unwrap() % below.max(1)
}

#[tokio::test]
async fn a_kill_at_any_moment_leaves_nothing_of_the_attackers_and_all_of_the_users_after_the_next_start() {
    let rounds: u64 = std::env::var("STEERSMAN_TEST_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(15);
    for kind in KINDS {
        let grounds = Grounds::new();
        if grounds.sandbox(kind).await.is_none() {
            continue;
        }
        user(&grounds.work, &grounds.home, PROJECT);
        user(
            &grounds.outside,
            &grounds.home,
            "git init -q ../library && git -C ../library commit -q --allow-empty -m one",
        );
        let saved = Saved::of(&grounds);
        let outside = tree(&grounds.outside.join("directory"));
        let before = tree(&grounds.work);
        let (mut found, mut idle) = (0, 0);
        for round in 0..rounds / KINDS.len() as u64 {
            let works = UsersWork::start(&grounds, &format!("mine-{round}"));
            let mut host = host(&grounds, kind, 2 + usize::try_from(round % 2).unwrap());
            tokio::time::sleep(Duration::from_millis(random(120))).await;
            let all = below(host.id());
            // The host, one of its guards, or anybody; and mostly the host too, a moment later.
            let victim = match round % 3 {
                0 => 0,
                1 => 1,
                _ => usize::try_from(random(all.len() as u64)).unwrap(),
            };
            let kill = |pid: u32| {
                let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
                let _ = kill_process(pid, Signal::KILL);
            };
            kill(all.get(victim).copied().unwrap_or(host.id()));
            if round % 5 > 0 {
                tokio::time::sleep(Duration::from_millis(random(40))).await;
                kill(host.id());
            }
            host.wait().unwrap();
            let done = works.end();
            idle += u64::from(done.is_empty());
            // The user's own git sees the files as they are while a command runs.
            let canary = grounds.outside.join("canary");
            let _ = fs::remove_file(&canary);

            let ask = |_| async { Decision::Nobody }.boxed();
            let recovery = recover(&state(&grounds), &grounds.work, &ask).await;
            found += usize::from(!recovery.notes.is_empty());
            assert_eq!(recovery.open, 0, "{kind:?}, round {round}: {recovery:?}");
            let told = (round, victim, &recovery, &done);
            done.assert_stands(&grounds, kind, &told);
            user(
                &grounds.work,
                &grounds.home,
                "for d in . wt nested; do git -C $d status; done; git commit -q --allow-empty -m x; git reset -q --hard HEAD~",
            );
            assert!(!canary.exists(), "{kind:?}: {told:#?}");
            assert_eq!(tree(&grounds.outside.join("directory")), outside);
            // Where an attack put the hooks meanwhile.
            let _ = fs::remove_dir_all(grounds.work.join(".git/x"));
            // What stands beside its place is named.
            for aside in recovery.notes.iter().filter_map(|note| note.split_once("the changed version is ")) {
                let path = aside.1.trim_end_matches(']');
                if path.contains(".changed-") && Path::new(path).starts_with(&grounds.work) {
                    let _ = fs::remove_dir_all(path);
                }
            }
            let mut after = tree(&grounds.work);
            let is_gits = |path: &str| {
                [
                    ".git/logs",
                    ".git/objects",
                    ".git/index",
                    ".git/ORIG_HEAD",
                    ".git/COMMIT_EDITMSG",
                    "wt/.git/",
                    "nested/.git/index",
                ]
                .iter()
                .any(|own| path.starts_with(own))
                    || path.starts_with(".git/worktrees/wt/index")
            };
            let mut known = before.clone();
            after.retain(|(path, _)| !is_gits(path) && !Done::made(path));
            known.retain(|(path, _)| !is_gits(path));
            for (_, settings) in after.iter_mut().filter(|(path, _)| path == ".git/config") {
                *settings = Done::without_sections(settings);
            }
            let changed: Vec<_> = after.iter().filter(|entry| !known.contains(entry)).collect();
            let missing: Vec<_> = known.iter().filter(|entry| !after.contains(entry)).collect();
            assert!(
                changed.is_empty() && missing.is_empty(),
                "{kind:?}: {changed:#?} in place of {missing:#?}: {told:#?}"
            );
            saved.put_back(&grounds);
        }
        let half = rounds / KINDS.len() as u64 / 2;
        assert!(idle <= half || rounds < 20, "{kind:?}: the user did nothing in {idle} rounds");
        assert!(found > 0 || rounds < 20, "{kind:?}: no kill left anything, so nothing was shown");
    }
}
