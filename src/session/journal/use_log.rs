//! The file beside the directory of the journals that says in which order sessions were used, whatever the clock said.
//!
//! Written by whoever writes a journal ([`OpenFile`](super::OpenFile)), read by [`SessionFiles`](super::SessionFiles). One line
//! for each use: the age of the directory as far as this program has seen it, the clock, and the session. A clock that is set
//! ahead lets that age grow by [`SEEN_AT_ONCE`] at most, one that is set back not at all. Always holds: it is a help, not a
//! record; where it is missing or damaged, sessions are ordered by their names and have no age.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use rustix::fs::OFlags;

use crate::journal::files::SessionId;
use steersman_base::clock;
use steersman_base::limits;
use steersman_base::regular_file::{self, Links};

/// The longest time between two uses that counts: a longer one may be a clock that was set.
const SEEN_AT_ONCE: Duration = Duration::from_hours(7 * 24);
/// A session that stays the last one is written again after this time, so that the time is seen to pass.
const AGAIN_AFTER: Duration = Duration::from_hours(1);
/// The longest line, bytes.
const LINE: u64 = 96;

/// The order of uses of the sessions in one directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UseLog(PathBuf);

/// One use of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Use {
    /// How long the directory has been in use by then.
    seen: Duration,
    /// What the clock said, in seconds since 1970.
    clock: i64,
    session: SessionId,
}

/// What the log says now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Uses {
    /// The place of each session in the order, and when it was used, by the time that was seen to pass.
    sessions: HashMap<SessionId, (usize, Duration)>,
    /// That time now.
    now: Duration,
}

impl UseLog {
    /// Names the file beside the directory of the journals.
    pub(super) fn in_directory(directory: &Path) -> Self {
        Self(directory.with_extension("uses"))
    }

    /// Says that a session is used now.
    ///
    /// # Errors
    /// What the system says; nobody needs to know.
    pub(super) fn mark(&self, session: &SessionId) -> io::Result<()> {
        let mut file = self.opened()?;
        let now = clock::now();
        let tail = tail(&file)?;
        let last = tail.lines().next_back().and_then(Use::parse);
        if let Some(last) = &last
            && last.session == *session
            && passed(last.clock, now) < AGAIN_AFTER
        {
            return Ok(());
        }
        let next = Use { seen: seen_by(last.as_ref(), now), clock: now.as_second(), session: session.clone() };
        // A line that was cut off by a kill stays a line of its own.
        let end = if tail.is_empty() || tail.ends_with('\n') { "" } else { "\n" };
        file.write_all(format!("{end}{}", next.line()).as_bytes())
    }

    /// Returns what it says; nothing of a file that cannot be read.
    pub(super) fn load(&self) -> Uses {
        let uses = self.lines().unwrap_or_default();
        let now = seen_by(uses.last(), clock::now());
        let sessions = uses.into_iter().enumerate().map(|(place, one)| (one.session, (place, one.seen))).collect();
        Uses { sessions, now }
    }

    /// Leaves one line for each of these sessions, the last; those without one get one for now, in this order and before all
    /// others. In place and under the lock, so that no use that another program writes is lost.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn tidy(&self, sessions: &[SessionId]) -> io::Result<()> {
        let mut file = self.opened()?;
        let uses = self.lines()?;
        let now = clock::now();
        let seen = seen_by(uses.last(), now);
        let last: HashMap<&SessionId, usize> =
            uses.iter().enumerate().map(|(place, one)| (&one.session, place)).collect();
        let unknown = sessions.iter().filter(|session| !last.contains_key(session));
        let mut text: String =
            unknown.map(|session| Use { seen, clock: now.as_second(), session: session.clone() }.line()).collect();
        let kept = uses
            .iter()
            .enumerate()
            .filter(|(place, one)| last.get(&one.session) == Some(place) && sessions.contains(&one.session));
        text.extend(kept.map(|(_, one)| one.line()));
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(text.as_bytes())
    }

    fn lines(&self) -> io::Result<Vec<Use>> {
        let (file, _) = regular_file::open(&self.0, Links::Refused)?;
        let mut text = String::new();
        file.take(limits::SESSION_USES).read_to_string(&mut text)?;
        Ok(text.lines().filter_map(Use::parse).collect())
    }

    /// Opens it as the only one who writes.
    fn opened(&self) -> io::Result<File> {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let file =
            OpenOptions::new().read(true).append(true).create(true).mode(0o600).custom_flags(flags).open(&self.0)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        // Whoever is late marks it with the next record.
        file.try_lock()?;
        Ok(file)
    }
}

impl Use {
    fn line(&self) -> String {
        format!("{} {} {}\n", self.seen.as_secs(), self.clock, self.session)
    }

    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.split(' ');
        let (seen, clock, session) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self {
            seen: Duration::from_secs(seen.parse().ok()?),
            clock: clock.parse().ok()?,
            session: session.parse().ok()?,
        })
    }
}

impl Uses {
    /// Returns the place of a session in the order of uses; `None`, before all others, of one that is not known.
    pub(super) fn place(&self, session: &SessionId) -> Option<usize> {
        self.sessions.get(session).map(|(place, _)| *place)
    }

    /// Returns how long nobody has used a session, as far as that was seen.
    pub(super) fn unused_for(&self, session: &SessionId) -> Duration {
        self.sessions.get(session).map_or(Duration::ZERO, |(_, seen)| self.now.saturating_sub(*seen))
    }
}

/// Returns how long the directory has been in use now, after its last use.
fn seen_by(last: Option<&Use>, now: Timestamp) -> Duration {
    last.map_or(Duration::ZERO, |last| last.seen.saturating_add(passed(last.clock, now).min(SEEN_AT_ONCE)))
}

/// Returns the time from a clock's seconds to now; none when it was set back.
fn passed(clock: i64, now: Timestamp) -> Duration {
    Duration::from_secs(now.as_second().saturating_sub(clock).try_into().unwrap_or(0))
}

/// Returns the end of the file, with its last line.
fn tail(file: &File) -> io::Result<String> {
    let size = file.metadata()?.len();
    let from = size.saturating_sub(2 * LINE);
    let mut tail = vec![0; usize::try_from(size - from).unwrap_or_default()];
    file.read_exact_at(&mut tail, from)?;
    Ok(String::from_utf8_lossy(&tail).into_owned())
}
