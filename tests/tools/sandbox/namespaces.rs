//! The namespaces that the program makes itself: how a job ends in them, and what was mounted before.

use std::fs;
use std::process::Command;
use std::time::Duration;

use steersman_tools::workspace::sandbox::{SUBCOMMAND, SandboxChoice};

use crate::support::built_program;
use crate::support::grounds::Grounds;
use crate::support::processes::{alive, unique, wait_until};

/// The kinds that give a job a view of its own.
const VIEWS: [SandboxChoice; 2] = [SandboxChoice::Namespaces, SandboxChoice::Bubblewrap];

#[tokio::test]
async fn the_best_that_works_is_taken() {
    let grounds = Grounds::new();
    let Some(sandbox) = grounds.sandbox(SandboxChoice::Namespaces).await else { return };
    assert_eq!(sandbox.name(), Some("namespaces"));
    assert_eq!(grounds.sandbox(SandboxChoice::Auto).await.unwrap().name(), Some("namespaces"));
}

#[tokio::test]
async fn a_job_ends_as_it_would_elsewhere() {
    for kind in VIEWS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        for (command, code) in [
            ("exit 0", 0),
            ("exit 7", 7),
            ("exit 255", 255),
            ("kill -KILL $$", 128 + 9),
            ("kill -TERM $$", 128 + 15),
            ("kill -HUP $$", 128 + 1),
            // The first process cannot be ended, nor passed off as the job.
            ("kill -KILL 1; kill -STOP 1; kill -TERM 1; kill -CONT 1; exit 5", 5),
            ("(exit 9 &); sleep 0.05; (setsid sleep 300 &); exit 4", 4),
        ] {
            let (ended, output) = grounds.run(&sandbox, &grounds.shell(command)).await;
            assert_eq!((ended.code, ended.signal), (Some(code), None), "{kind:?}: {command}: {output}");
        }
        let (ended, output) = grounds.run(&sandbox, &grounds.job(&["no-such-program"])).await;
        assert_eq!(ended.code, Some(127), "{output}");
        assert!(output.contains("no-such-program cannot be started"), "{output}");
    }
}

#[tokio::test]
async fn nothing_lives_longer_than_the_job_or_any_process_around_it() {
    for kind in VIEWS {
        let grounds = Grounds::new();
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        let script = "trap '' TERM INT HUP; (setsid sleep 300 &); (sleep 300 &); echo x > ready; sleep 300; :";
        let patience = Duration::from_mins(1);
        // Of the processes on the way to the job each is killed once: 0 is the guard.
        for victim in 0..3 {
            let _ = fs::remove_file(grounds.work.join("ready"));
            let mark = unique();
            let mut job = grounds.shell(&format!("{script} {mark}"));
            job.environment.push(("MARK".into(), mark.clone().into()));
            let mut running = grounds.spawner(&sandbox).start(&job).unwrap();
            wait_until("the job stands", patience, || grounds.work.join("ready").exists()).await;
            let chain = chain(&mark);
            let pid = chain.get(victim).unwrap_or_else(|| panic!("{kind:?}: {chain:?}"));
            assert!(Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap().success());
            let ended = running.ended().await;
            assert_eq!(ended.left, 0, "{kind:?}: {victim}: {ended:?}");
            wait_until("all are dead", patience, || alive(&mark).is_empty()).await;
        }
    }
}

/// Returns the processes of a job from the guard on, each the child of the one before.
fn chain(mark: &str) -> Vec<u32> {
    let field = |pid: u32, name: &str| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        status.lines().find_map(|line| line.strip_prefix(name))?.trim().parse::<u32>().ok()
    };
    let names = |pid: u32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let pids = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let marked: Vec<u32> = pids.filter(|pid| String::from_utf8_lossy(&names(*pid)).contains(mark)).collect();
    let mut chain: Vec<u32> = Vec::new();
    let is_first = |pid: &u32| field(*pid, "PPid:").is_some_and(|parent| !marked.contains(&parent));
    let mut next = marked.iter().copied().find(is_first);
    while let Some(pid) = next {
        chain.push(pid);
        next = marked.iter().copied().find(|child| field(*child, "PPid:") == Some(pid));
    }
    chain
}

#[tokio::test]
async fn what_was_mounted_in_a_directory_is_as_closed_as_the_directory() {
    let grounds = Grounds::new();
    if grounds.sandbox(SandboxChoice::Namespaces).await.is_none() {
        return;
    }
    let shown = grounds.outside.display();
    let work = grounds.work.display();
    fs::create_dir_all(grounds.outside.join("inner")).unwrap();
    fs::create_dir_all(grounds.work.join("inner")).unwrap();
    let program = built_program();
    let program = program.display();
    let script = format!(
        "set -e; for at in {shown}/inner {work}/inner; do mount -t tmpfs none $at; mkdir $at/twice; \
         mount -t tmpfs none $at/twice; mount -t tmpfs none $at/twice; echo x > $at/twice/file; done; \
         {program} {SUBCOMMAND} --namespaces --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib \
         --symlink usr/lib64 /lib64 --proc /proc --dev /dev --ro-bind {shown} {shown} --bind {work} {work} --chdir {work} \
         -- bash -c '! echo y > {shown}/inner/new && ! echo y > {shown}/inner/twice/file && echo y > {work}/inner/new && \
         echo y > {work}/inner/twice/file && cat /proc/self/mountinfo'",
    );
    let output = Command::new("unshare").args(["-Urm", "bash", "-c", &script]).output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    let inner: Vec<&str> = text.lines().filter(|line| line.contains("/inner") && !line.contains("Read-only")).collect();
    let visible = inner.iter().filter(|line| line.contains("nosuid,nodev")).count();
    // Of the two that lie over each other only the upper one can be reached.
    assert!(visible >= 4 && inner.len() <= visible + 2, "{inner:#?}");
}

#[tokio::test]
async fn a_workspace_elsewhere_than_in_the_temporary_directory_has_its_own_in_that_place() {
    for kind in VIEWS {
        let mut grounds = Grounds::within(tempfile::TempDir::new_in("/var/tmp").unwrap());
        let Some(sandbox) = grounds.sandbox(kind).await else { continue };
        assert_eq!(grounds.works(&sandbox, "echo kept > /tmp/kept; echo $TMPDIR; ls /tmp").await, "/tmp\nkept\n");
        assert_eq!(grounds.works(&sandbox, "cat $TMPDIR/kept").await, "kept\n");
        // The next one works in the machine's: its own is where it really lies.
        let dir = tempfile::TempDir::new().unwrap();
        grounds.work = dir.path().canonicalize().unwrap();
        assert_eq!(grounds.works(&sandbox, "cat $TMPDIR/kept; test ! -e /tmp/kept").await, "kept\n");
    }
}

#[tokio::test]
async fn the_job_sees_only_its_processes_and_cannot_look_into_the_first() {
    let grounds = Grounds::new();
    let Some(sandbox) = grounds.sandbox(SandboxChoice::Namespaces).await else { return };
    let numbers = grounds.works(&sandbox, "echo /proc/[0-9]*").await;
    assert_eq!((numbers.starts_with("/proc/1 /proc/"), numbers.matches("/proc/").count()), (true, 2), "{numbers}");
    let (ended, output) = grounds.run(&sandbox, &grounds.shell("cat /proc/1/mem /proc/1/environ")).await;
    assert_ne!(ended.code, Some(0), "{output}");
    assert_eq!(output.matches("denied").count(), 2, "{output}");
}
