//! Reads what a start depends on (environment, configuration file, system prompt, directory) into one [`Start`].

use std::io;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;

use crate::approval::Answerer;
use crate::cli::args::Flags;
use crate::config::{Config, ConfigError, Environment, FileError, Layer, parse};

/// Is everything a start of the program needs, read and checked.
#[derive(Debug)]
pub struct Start {
    /// The interpreted configuration.
    pub config: Config,
    /// The directory to work in, absolute.
    pub cwd: PathBuf,
    /// The text that replaces the default system prompt.
    pub system_prompt: Option<String>,
    /// Who answers questions.
    pub answerer: Answerer,
}

/// Says why the program cannot start, in one sentence.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A setting is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The configuration file says something wrong.
    #[error("{path}, {error}", path = .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What and where.
        error: FileError,
    },
    /// A named file cannot be read.
    #[error("cannot read {path}: {error}", path = .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The directory to work in is none.
    #[error("cannot work in {path}: {error}", path = .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
}

/// Reads and interprets everything that the flags name or leave to their defaults; `answerer` is who answers questions
/// unless the flag gives a standing yes, which no file and no environment does.
///
/// # Errors
/// [`LoadError`], one sentence for the user; the exit code is 2.
pub fn load(flags: &Flags, answerer: Answerer) -> Result<Start, LoadError> {
    let file = match &flags.config {
        Some(path) => read_layer(path)?,
        None => match default_file() {
            Some(path) if path.exists() => read_layer(&path)?,
            _ => Layer::default(),
        },
    };
    let config = Config::resolve(flags.layer(), &Environment::of_process(), file)?;
    let system_prompt = config.system_prompt.as_deref().map(read).transpose()?;
    let answerer = if flags.yes { Answerer::Yes } else { answerer };
    Ok(Start { cwd: directory(flags.cwd.as_deref())?, config, system_prompt, answerer })
}

/// Returns the configuration file that is used when none is named.
fn default_file() -> Option<PathBuf> {
    let base = etcetera::base_strategy::Xdg::new().ok()?;
    Some(base.config_dir().join("steersman").join("config.toml"))
}

fn read_layer(path: &Path) -> Result<Layer, LoadError> {
    let text = read(path)?;
    let mut layer = parse(&text).map_err(|error| LoadError::File { path: path.to_owned(), error })?;
    let beside = path.parent().unwrap_or(Path::new(""));
    if let Some(prompt) = &mut layer.system_prompt {
        *prompt = beside.join(&*prompt);
    }
    if let Some(sandbox) = &mut layer.sandbox {
        let home = etcetera::home_dir().ok();
        sandbox.each_directory(|directory| *directory = from(beside, home.as_deref(), directory));
    }
    Ok(layer)
}

/// Returns a directory that a file names: `~/` is the home, and what is relative begins beside the file.
fn from(beside: &Path, home: Option<&Path>, named: &Path) -> PathBuf {
    match (named.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        (Ok(_) | Err(_), _) => beside.join(named),
    }
}

fn read(path: &Path) -> Result<String, LoadError> {
    std::fs::read_to_string(path).map_err(|error| LoadError::Unreadable { path: path.to_owned(), error })
}

fn directory(named: Option<&Path>) -> Result<PathBuf, LoadError> {
    let path = named.unwrap_or(Path::new("."));
    let fault = |error| LoadError::Directory { path: path.to_owned(), error };
    let absolute = path.canonicalize().map_err(fault)?;
    if !absolute.is_dir() {
        return Err(fault(io::ErrorKind::NotADirectory.into()));
    }
    Ok(absolute)
}
