//! The files that changed while a command ran, found by one bounded walk behind it.
//!
//! `bash` takes a [`ChangeMark`] before a command and asks it for the files after. A file counts by the time of its last change
//! of content or attributes, which no program can set back: so every change is found that the walk gets to, those of
//! other programs among them. Removed files, what ignore rules leave out and what lies in `.git` are not found.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::FileType;
use rustix::time::{ClockId, clock_gettime};

use crate::workspace::{Bounds, EntryKind, Workspace};
use steersman_base::limits;

/// The clock by which the kernel marks changes: it is behind the other one by up to a tick.
#[cfg(target_os = "linux")]
const MARKS: ClockId = ClockId::RealtimeCoarse;
/// The clock by which the kernel marks changes.
#[cfg(not(target_os = "linux"))]
const MARKS: ClockId = ClockId::Realtime;
/// Longest tick of a kernel, with some to spare.
const LONGEST_TICK: Duration = Duration::from_millis(20);

/// A moment that lies between all changes before it and all changes after it.
#[derive(Debug, Clone, Copy)]
pub struct ChangeMark {
    /// Seconds and nanoseconds.
    at: (i64, i64),
}

/// The files that changed since a moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Touched {
    /// Their real paths, sorted.
    pub paths: Vec<PathBuf>,
    /// Whether there may be more: the walk ended early.
    pub is_partial: bool,
}

impl ChangeMark {
    /// Takes the moment. Waits until the clock of the kernel is past it, which takes less than a tick.
    pub fn now() -> Self {
        let read = |clock| {
            let time = clock_gettime(clock);
            (time.tv_sec, time.tv_nsec)
        };
        let at = read(ClockId::Realtime);
        let step = Duration::from_millis(1);
        let mut waited = Duration::ZERO;
        // A clock that is set back is not waited for.
        while read(MARKS) <= at && waited < LONGEST_TICK {
            std::thread::sleep(step);
            waited += step;
        }
        Self { at }
    }

    /// Returns the files below the root of a workspace that changed since. Blocks; bounded in entries, files and time, and
    /// `stop` is asked again and again.
    pub fn touched(self, workspace: &Workspace, stop: impl Fn() -> bool) -> Touched {
        let bounds = Bounds { entries: limits::TOUCHED_ENTRIES, time: limits::TOUCHED_TIME };
        let Ok(mut walk) = workspace.walk(workspace.root(), bounds) else {
            return Touched { paths: Vec::new(), is_partial: true };
        };
        let mut touched = Touched::default();
        while let Some(entry) = walk.next(&stop) {
            if entry.kind == EntryKind::Directory || !self.is_followed_by_change_of(&entry.path) {
                continue;
            }
            if touched.paths.len() == limits::TOUCHED_FILES {
                touched.is_partial = true;
                return touched;
            }
            touched.paths.push(entry.path);
        }
        touched.is_partial = walk.end().is_some();
        touched
    }

    /// Returns whether a path is a file or a link that changed since.
    fn is_followed_by_change_of(self, path: &Path) -> bool {
        rustix::fs::lstat(path).is_ok_and(|stat| {
            let kind = FileType::from_raw_mode(stat.st_mode);
            #[allow(clippy::unnecessary_cast, clippy::cast_possible_wrap)] // The types differ between systems.
            let changed = (stat.st_ctime as i64, stat.st_ctime_nsec as i64);
            matches!(kind, FileType::RegularFile | FileType::Symlink) && changed > self.at
        })
    }
}
