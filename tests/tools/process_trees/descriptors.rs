//! A host that has no descriptor left for itself: whatever its command started is dead all the same.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use rustix::process::{Resource, Rlimit, setrlimit};
use tempfile::TempDir;

use super::{Met, PATIENCE, SHAPES, each, spawner, wait_for_death};
use crate::support::processes::{alive, job, unique, wait_until};

/// How a host without descriptors comes to the end of its command.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// It may open nothing any more, and ends the command.
    Cancels,
    /// It has as many open as it may, and the command kills its guard.
    LosesGuard,
}

/// Starts a host with a command, which touches `ready` once its tree stands; waits for the end of both.
async fn host(name: &'static str, script: &str, way: Way) -> Met {
    let (dir, mark): (TempDir, String) = (tempfile::tempdir().unwrap(), unique());
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "process_trees::descriptors::a_host_that_has_no_descriptor_left", "--ignored", "--nocapture"])
        .env("HOST_SCRIPT", script)
        .env("HOST_DIRECTORY", dir.path())
        .env("HOST_WAY", format!("{way:?}"))
        .env("HOST_MARK", &mark)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let is_full = || host.try_wait().unwrap().is_some() || dir.path().join("full").exists();
    wait_until(name, PATIENCE, is_full).await;
    let began = Instant::now();
    wait_until(name, PATIENCE, || host.try_wait().unwrap().is_some()).await;
    wait_for_death(&mark).await;
    Met { name, took: began.elapsed(), survivors: alive(&mark) }
}

#[tokio::test]
#[ignore = "it is the host that another test starts"]
async fn a_host_that_has_no_descriptor_left() {
    let variable = |name: &str| std::env::var(name).unwrap();
    let (directory, mark) = (PathBuf::from(variable("HOST_DIRECTORY")), variable("HOST_MARK"));
    let mut job = job(&["bash", "-c", &variable("HOST_SCRIPT")], &mark);
    job.cwd.clone_from(&directory);
    let mut running = spawner(&mark).start(&job).unwrap();
    wait_until("the tree", PATIENCE, || directory.join("ready").exists()).await;
    let cancels = variable("HOST_WAY") == format!("{:?}", Way::Cancels);
    let most = Some(if cancels { 0 } else { 64 });
    setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most }).unwrap();
    let files: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    assert_eq!(files.is_empty(), cancels);
    std::fs::rename(directory.join("ready"), directory.join("full")).unwrap();
    if cancels {
        running.kill();
    }
    running.ended().await;
    drop(files);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_survives_a_cancel_by_a_host_that_may_open_nothing() {
    let shapes =
        SHAPES.into_iter().filter(|(name, _)| !name.ends_with("its guard") && !name.starts_with("asks its guard"));
    each(shapes, async |name, script| {
        host(name, &format!("{script}\ntouch ready\nwait; sleep 300"), Way::Cancels).await
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_with_every_descriptor_in_use_still_clears_away_what_a_killed_guard_left() {
    let script = "(setsid sleep 300 &); sleep 300 & touch ready\n\
                  until [ -e full ]; do sleep 0.02; done; kill -KILL $PPID; sleep 300";
    each([("kills its guard later", script)].into_iter(), async |name, script| {
        host(name, script, Way::LosesGuard).await
    })
    .await;
}
