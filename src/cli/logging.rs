//! The log file: a rolling file of the day in the user's state directory, written by a thread of its own.
//!
//! Nothing is logged to the terminal. The directory is 0700, each file 0600. A program that cannot log still runs.

use std::fs::{DirBuilder, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use tracing_appender::non_blocking::WorkerGuard;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::EnvFilter;

use crate::limits;
use crate::regular_file::{self, Links};

/// What is logged unless `STEERSMAN_LOG` or `RUST_LOG` says otherwise.
const DEFAULT_FILTER: &str = "warn,steersman=info";

/// Starts logging. Keep the guard to the end of the program: dropping it writes what is left.
///
/// # Errors
/// When there is no place to log to, or a file there that must not be touched.
pub fn start() -> io::Result<WorkerGuard> {
    let home = etcetera::base_strategy::Xdg::new().map_err(io::Error::other)?;
    let directory = home.state_dir().ok_or(io::ErrorKind::NotFound)?.join("steersman");
    let file = PrivateFile::open(&directory)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", directory.display())))?;
    let (writer, guard) = tracing_appender::non_blocking(file);
    let filter = ["STEERSMAN_LOG", "RUST_LOG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|text| !text.is_empty()))
        .and_then(|text| EnvFilter::try_new(text).ok())
        .unwrap_or_else(|| EnvFilter::new(DEFAULT_FILTER));
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(writer).finish();
    tracing::subscriber::set_global_default(subscriber).map_err(io::Error::other)?;
    Ok(guard)
}

/// Writes to the rolling file, and takes the rights of others away from each new one.
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
            .max_log_files(limits::LOG_FILES)
            .build(directory)
            .map_err(io::Error::other)?;
        close_to_others(directory)?;
        Ok(Self { appender, directory: directory.to_owned(), day: today() })
    }
}

impl Write for PrivateFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.appender.write(bytes)?;
        let today = today();
        if today != self.day {
            self.day = today;
            close_to_others(&self.directory)?;
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

/// Takes the rights of others away from each log file. A link in the place of one is never followed: there is no log then.
fn close_to_others(directory: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)?.flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "log") {
            let named = |error: io::Error| {
                io::Error::new(error.kind(), format!("{}: {error}", entry.file_name().to_string_lossy()))
            };
            let (file, _) = regular_file::open(&path, Links::Refused).map_err(named)?;
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
    }
    Ok(())
}
