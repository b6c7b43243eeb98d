//! What runs outside of the sandbox: never from a place where agents can write.
//!
//! A program of the user (a hook, a server, an editor, the command for a key, …) runs as the user. Always holds: neither its
//! working directory, nor its search path, nor its program, the interpreter of that, or a script that it is given lies where
//! an agent could have made it, whatever links lead there; and no variable points such a program's loader there. Everything
//! of this program that starts a process outside makes an [`OutsideCommand`] first; what a user types or approves as a
//! command for the workspace is run there as it is, and is no such program.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::workspace::programs::{find, passes_through, search_path};
use steersman_base::text::visible_line;

/// The variable with the directory that tools work in, for programs that run elsewhere.
pub const WORKSPACE_VARIABLE: &str = "STEERSMAN_WORKSPACE";

/// The working directory of a program that may not run where it was to: nobody but the superuser writes there.
const NEUTRAL: &str = "/";

/// The variable that keeps Python from loading modules of the working directory.
pub(super) const SAFE_PYTHON: &str = "PYTHONSAFEPATH";

/// Variables that tell a loader or an interpreter what else to run. A relative part of them means the working directory.
const LOADERS: [&str; 16] = [
    "BASH_ENV",
    "CLASSPATH",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "ENV",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
];

/// How many interpreters may stand behind each other, as in the kernel.
const INTERPRETERS: usize = 5;

/// The bytes of a script in which its interpreter is named.
const FIRST_LINE: u64 = 512;

/// A program with its arguments, its directory and its variables, of which nothing lies where agents can write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideCommand {
    argv: Vec<OsString>,
    directory: PathBuf,
    variables: Vec<(OsString, OsString)>,
}

/// Why a program does not run outside of the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutsideError {
    /// There is none of this name.
    #[error("{0} is not installed")]
    NotInstalled(String),
    /// This word of the command line leads to where agents can write.
    #[error("{0} lies where agents can write, and nothing is run from there outside of the sandbox")]
    Refused(String),
}

impl OutsideError {
    pub(super) fn missing(name: &OsStr) -> Self {
        Self::NotInstalled(visible_line(&name.to_string_lossy()).into_owned())
    }

    fn refused(word: &OsStr) -> Self {
        Self::Refused(visible_line(&word.to_string_lossy()).into_owned())
    }
}

impl From<OutsideError> for io::Error {
    fn from(error: OutsideError) -> Self {
        let kind = match error {
            OutsideError::NotInstalled(_) => io::ErrorKind::NotFound,
            OutsideError::Refused(_) => io::ErrorKind::PermissionDenied,
        };
        Self::new(kind, error)
    }
}

impl OutsideCommand {
    /// Checks a command line. `directory` is where it would run, and `variables` are all that it would get; `writable` are the
    /// places where agents can write.
    ///
    /// # Errors
    /// [`OutsideError`].
    pub fn new(
        argv: &[OsString],
        directory: &Path,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        writable: &[PathBuf],
    ) -> Result<Self, OutsideError> {
        let mut variables: Vec<(OsString, OsString)> = variables.into_iter().collect();
        let whole =
            variables.iter().rfind(|(name, _)| name == "PATH").map(|(_, path)| path.clone()).unwrap_or_default();
        let path = search_path(&whole, writable);
        variables.retain(|(name, value)| {
            name != "PATH" && name != "PWD" && name != "OLDPWD" && !leads_there(name, value, writable)
        });
        variables.push(("PATH".into(), path));
        variables.push((SAFE_PYTHON.into(), "1".into()));
        let (program, arguments) = argv.split_first().ok_or_else(|| OutsideError::missing(OsStr::new("a program")))?;
        let program = program_of(program, &whole, directory, writable)?;
        for argument in arguments {
            check_argument(argument, directory, writable)?;
        }
        let is_safe = !passes_through(directory, writable);
        let directory = if is_safe { directory.to_owned() } else { NEUTRAL.into() };
        let argv = std::iter::once(program.into_os_string()).chain(arguments.iter().cloned()).collect();
        Ok(Self { argv, directory, variables })
    }

    /// Checks a command line of this process's own environment and directory.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of_user(argv: &[OsString], writable: &[PathBuf]) -> Result<Self, OutsideError> {
        let directory = std::env::current_dir().unwrap_or_else(|_| NEUTRAL.into());
        Self::new(argv, &directory, std::env::vars_os(), writable)
    }

    /// Sets a variable, in place of one of that name.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        let name = name.into();
        self.variables.retain(|(other, _)| *other != name);
        self.variables.push((name, value.into()));
        self
    }

    /// Returns the program, by its path, and its arguments.
    pub fn argv(&self) -> &[OsString] {
        &self.argv
    }

    /// Returns the directory in which it runs.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns all its variables.
    pub fn variables(&self) -> &[(OsString, OsString)] {
        &self.variables
    }

    /// Returns what starts it.
    pub fn command(&self) -> std::process::Command {
        let mut command = std::process::Command::new(self.argv.first().map_or(OsStr::new(""), OsString::as_os_str));
        command.args(self.argv.iter().skip(1)).current_dir(&self.directory);
        command.env_clear().envs(self.variables.iter().cloned());
        command
    }
}

/// Finds a program, and looks at the interpreters that it names.
fn program_of(named: &OsStr, path: &OsStr, directory: &Path, writable: &[PathBuf]) -> Result<PathBuf, OutsideError> {
    let program = if named.as_encoded_bytes().contains(&b'/') {
        directory.join(named)
    } else {
        match find(named, path, writable) {
            Some(program) => program,
            None if find(named, path, &[]).is_some() => return Err(OutsideError::refused(named)),
            None => return Err(OutsideError::missing(named)),
        }
    };
    let mut interpreter = Some(program.clone());
    for _ in 0..INTERPRETERS {
        let Some(file) = interpreter else { break };
        if passes_through(&file, writable) {
            return Err(OutsideError::refused(named));
        }
        let line = first_line(&file);
        let mut words = line.split_whitespace();
        interpreter = words.next().map(|word| directory.join(word));
        for word in words {
            check_argument(OsStr::new(word), directory, writable)?;
        }
    }
    Ok(program)
}

/// Returns what stands behind the `#!` of a script; empty for any other file.
fn first_line(file: &Path) -> String {
    let mut head = Vec::new();
    // What cannot be read cannot be run as a script either.
    let _ = File::open(file).and_then(|file| file.take(FIRST_LINE).read_to_end(&mut head));
    let line = head.strip_prefix(b"#!").and_then(|rest| rest.split(|byte| *byte == b'\n').next());
    String::from_utf8_lossy(line.unwrap_or_default()).trim().to_owned()
}

/// Looks at an argument, and at each word in it that could be a path: a script, the value of an option, a line for a shell.
fn check_argument(argument: &OsStr, directory: &Path, writable: &[PathBuf]) -> Result<(), OutsideError> {
    let text = argument.to_string_lossy();
    for part in std::iter::once(&*text).chain(parts(&text)) {
        let path = directory.join(part);
        // A relative one leads nowhere from another directory, but the user is to hear of it.
        let is_there = if Path::new(part).is_absolute() { path.exists() } else { part.contains('/') && path.is_file() };
        if is_there && passes_through(&path, writable) {
            return Err(OutsideError::refused(OsStr::new(part)));
        }
    }
    Ok(())
}

/// Returns whether a variable leads to where agents can write.
fn leads_there(name: &OsStr, value: &OsStr, writable: &[PathBuf]) -> bool {
    let is_loader = LOADERS.iter().any(|loader| name == *loader);
    let value = value.to_string_lossy();
    parts(&value).any(|part| {
        let path = Path::new(part);
        if path.is_absolute() { passes_through(path, writable) } else { is_loader && part.contains(['/', '.']) }
    })
}

/// Splits a text into what could be a path in it.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "=,:;|&()<>`\"'".contains(c)).filter(|part| !part.is_empty())
}
