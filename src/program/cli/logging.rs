//! The log file: one file per day in the user's state directory, written by a thread of its own.
//!
//! Nothing is logged to the terminal. The directory is 0700, each file 0600. A program that cannot log still runs.

use std::fs::{DirBuilder, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;

use steersman_base::limits;
use steersman_base::regular_file::{self, Links};

/// Starts logging: warnings of all, and what this program does, unless `STEERSMAN_LOG` or `RUST_LOG` names other levels
/// (`debug`, or `warn,steersman_agent=trace`). Keep the guard to the end of the program: dropping it writes what is left.
///
/// # Errors
/// When there is no directory for logs, or a log file cannot be made private.
pub fn start() -> io::Result<WorkerGuard> {
    let home = etcetera::base_strategy::Xdg::new().map_err(io::Error::other)?;
    let directory = home.state_dir().ok_or(io::ErrorKind::NotFound)?.join("steersman");
    let file = PrivateFile::open(&directory)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", directory.display())))?;
    let (writer, guard) = NonBlockingBuilder::default().buffered_lines_limit(limits::LOG_LINES).finish(file);
    let filter = ["STEERSMAN_LOG", "RUST_LOG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|text| !text.is_empty()))
        .and_then(|text| text.parse::<Targets>().ok());
    let filter = filter
        .unwrap_or_else(|| Targets::new().with_default(LevelFilter::WARN).with_target("steersman", LevelFilter::INFO));
    let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(writer).with_filter(filter);
    let subscriber = tracing_subscriber::registry().with(layer);
    tracing::subscriber::set_global_default(subscriber).map_err(io::Error::other)?;
    Ok(guard)
}

/// The daily log file, whose permissions are restricted to the user.
struct PrivateFile {
    appender: RollingFileAppender,
    directory: PathBuf,
    /// Days since the epoch, UTC, as the appender counts them.
    day: i64,
}

impl PrivateFile {
    fn open(directory: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        std::fs::set_permissions(directory, Permissions::from_mode(0o700))?;
        close_to_others(directory)?;
        let appender = RollingFileAppender::builder()
            .rotation(Rotation::DAILY)
            .filename_prefix("steersman")
            .filename_suffix("log")
            .build(directory)
            .map_err(io::Error::other)?;
        let files = Self { appender, directory: directory.to_owned(), day: today() };
        files.tidy()?;
        Ok(files)
    }
}

impl PrivateFile {
    /// Restricts the permissions of the files, and removes those of older days. The appender's own limit would also
    /// count today's file before it exists.
    fn tidy(&self) -> io::Result<()> {
        close_to_others(&self.directory)?;
        let mut days: Vec<PathBuf> = logs(&self.directory)?.filter(|path| is_of_a_day(path)).collect();
        // The names contain the date, the year first.
        days.sort();
        days.iter().rev().skip(limits::LOG_FILES).try_for_each(std::fs::remove_file)
    }
}

impl Write for PrivateFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.appender.write(bytes)?;
        let today = today();
        if today != self.day {
            self.day = today;
            self.tidy()?;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.appender.flush()
    }
}

fn today() -> i64 {
    jiff::Timestamp::now().as_second().div_euclid(24 * 60 * 60)
}

/// Restricts the permissions of each log file to the user. A link is never followed: then there is no log.
fn close_to_others(directory: &Path) -> io::Result<()> {
    logs(directory)?.try_for_each(|path| {
        let named = |error: io::Error| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            io::Error::new(error.kind(), format!("{name}: {error}"))
        };
        let (file, _) = regular_file::open(&path, Links::Refused).map_err(named)?;
        file.set_permissions(Permissions::from_mode(0o600))
    })
}

fn logs(directory: &Path) -> io::Result<impl Iterator<Item = PathBuf>> {
    let paths = std::fs::read_dir(directory)?.flatten().map(|entry| entry.path());
    Ok(paths.filter(|path| path.extension().is_some_and(|extension| extension == "log")))
}

/// Returns whether a file is one of the appender's: `steersman.2026-01-31.log`.
fn is_of_a_day(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let date = name.and_then(|name| name.strip_prefix("steersman.")?.strip_suffix(".log"));
    date.is_some_and(|date| date.parse::<jiff::civil::Date>().is_ok())
}
