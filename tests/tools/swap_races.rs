//! Somebody swaps a directory, or the file itself, for a link while it is read and written: not a byte goes outside.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use steersman_tools::workspace::Workspace;
use tempfile::TempDir;

use crate::support::files::listing;

const SWAPS: usize = 10_000;
const TRIES: usize = 3_000;
/// Longest time for all of them.
const PATIENCE: Duration = Duration::from_mins(3);

/// Ends the other threads when one of them panics: the test fails with its words instead of waiting for it.
struct Alarm<'a>(&'a AtomicBool);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        self.0.fetch_or(thread::panicking(), Ordering::Relaxed);
    }
}

struct Race {
    dir: TempDir,
    workspace: Arc<Workspace>,
}

impl Race {
    fn new() -> Self {
        // In memory where that is possible: each write waits for the disk.
        let memory = Path::new("/dev/shm");
        let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        for made in ["in/sub/dir", "out/dir"] {
            fs::create_dir_all(dir.path().join(made)).unwrap();
        }
        fs::write(dir.path().join("in/sub/dir/file"), "inside").unwrap();
        fs::write(dir.path().join("out/file"), "CANARY").unwrap();
        fs::write(dir.path().join("out/dir/file"), "CANARY").unwrap();
        let workspace = Arc::new(Workspace::new(&dir.path().join("in")).unwrap());
        Self { dir, workspace }
    }

    /// Swaps two names again and again while a file is read, written and created; returns what was refused and what not.
    fn run(&self, here: &str, link: &str, target: &str) -> (usize, usize) {
        symlink(target, self.dir.path().join(link)).unwrap();
        let outside = listing(&self.dir.path().join("out"));
        let (swaps, tries) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (refused, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (here, link) = (self.dir.path().join(here), self.dir.path().join(link));
        let (failed, deadline) = (AtomicBool::new(false), Instant::now() + PATIENCE);
        let is_enough = || swaps.load(Ordering::Relaxed) >= SWAPS && tries.load(Ordering::Relaxed) >= TRIES;
        let goes_on = || !is_enough() && !failed.load(Ordering::Relaxed) && Instant::now() < deadline;
        thread::scope(|scope| {
            scope.spawn(|| {
                let _alarm = Alarm(&failed);
                while goes_on() {
                    renameat_with(CWD, &here, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                    swaps.fetch_add(1, Ordering::Relaxed);
                }
            });
            for writer in 0..2 {
                let (tries, refused, done, failed, goes_on) = (&tries, &refused, &done, &failed, &goes_on);
                scope.spawn(move || {
                    let _alarm = Alarm(failed);
                    while goes_on() {
                        let n = tries.fetch_add(1, Ordering::Relaxed);
                        let ok = self.touch(&format!("writer {writer}, {n}"), n);
                        if ok { done } else { refused }.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(listing(&self.dir.path().join("out")), outside, "what is outside is as it was");
        assert!(is_enough(), "only {swaps:?} swaps and {tries:?} tries in {PATIENCE:?}");
        (refused.into_inner(), done.into_inner())
    }

    /// Looks, reads, writes over it, and makes a new one beside it; as the tools do, and as if the check were long ago.
    fn touch(&self, content: &str, n: usize) -> bool {
        let workspace = &self.workspace;
        let checked = if n.is_multiple_of(2) { workspace.resolve_write("sub/dir/file").ok() } else { None };
        let path = checked.unwrap_or_else(|| workspace.root().join("sub/dir/file"));
        if let Ok((file, _)) = workspace.open(&path) {
            assert!(!std::io::read_to_string(file).unwrap().contains("CANARY"), "read through a link");
        }
        let beside = path.with_file_name(format!("new {}", n % 50));
        let _ = workspace.write(&beside, None, content.as_bytes());
        let _ = workspace.write(&path.with_file_name("made").join(format!("{}", n % 50)), None, content.as_bytes());
        let Ok(before) = workspace.look(&path) else { return false };
        if let Some(held) = &before {
            assert_ne!(*held.bytes, *b"CANARY", "looked through a link");
        }
        workspace.write(&path, before.as_ref().map(|held| &*held.bytes), content.as_bytes()).is_ok()
    }
}

#[test]
fn a_directory_swapped_for_a_link_ten_thousand_times() {
    let race = Race::new();
    let (refused, done) = race.run("in/sub/dir", "in/sub/link", "../../out/dir");
    assert!(refused > 0 && done > 0, "both were met: {refused} refused, {done} done");
}

#[test]
fn a_directory_further_up_swapped_for_a_link() {
    let race = Race::new();
    let (refused, done) = race.run("in/sub", "in/link", "../out");
    assert!(refused > 0 && done > 0, "both were met: {refused} refused, {done} done");
}

#[test]
fn the_file_itself_swapped_for_a_link() {
    let race = Race::new();
    let (refused, done) = race.run("in/sub/dir/file", "in/sub/dir/link", "../../../out/file");
    assert!(refused > 0 && done > 0, "both were met: {refused} refused, {done} done");
}
