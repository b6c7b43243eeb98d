//! The environment of jobs: a list of what is allowed, never a list of what is not (rule D22).
//!
//! Every job of the spawner gets it. A variable whose name looks like a secret never passes, even when it is listed.

use std::ffi::{OsStr, OsString};

/// Variables that every job gets when they are set. A `*` at the end stands for anything.
const ALLOWED: [&str; 9] = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TZ", "TMPDIR"];
/// The variables that tell every job that there is no terminal and no user to answer.
const SET: [(&str, &str); 5] =
    [("TERM", "dumb"), ("NO_COLOR", "1"), ("PAGER", "cat"), ("GIT_PAGER", "cat"), ("GIT_TERMINAL_PROMPT", "0")];
/// The search path where none is set.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Parts of a name, between underscores, that mark a secret.
const SECRET_PARTS: [&str; 9] = ["KEY", "KEYS", "AUTH", "PASS", "PWD", "PAT", "COOKIE", "COOKIES", "CERT"];
/// Words that mark a secret anywhere in a name.
const SECRET_WORDS: [&str; 7] = ["TOKEN", "SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL", "APIKEY", "PRIVATE"];
/// Beginnings of the names that are this program's own.
const OWN: [&str; 2] = ["STEERSMAN_", "OPENAI_"];

/// The variables that every job gets.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ChildEnvironment {
    variables: Vec<(OsString, OsString)>,
}

impl ChildEnvironment {
    /// Selects the variables that jobs may have: the usual ones and those that `also` lists, by name or with a `*`
    /// at the end. Never those that `never` lists (the variable with the key of the model's server), nor those that
    /// look like a secret, nor this program's own.
    pub fn new<V, S>(variables: V, also: &[S], never: &[S]) -> Self
    where
        V: IntoIterator<Item = (OsString, OsString)>,
        S: AsRef<str>,
    {
        let listed = |name: &str| {
            let also = also.iter().map(AsRef::as_ref);
            ALLOWED.into_iter().chain(also).any(|pattern| fits(name, pattern))
        };
        let passes = |name: &OsStr| {
            name.to_str().is_some_and(|name| {
                listed(name)
                    && !is_secret(name)
                    && !OWN.iter().any(|own| name.starts_with(own))
                    && !never.iter().any(|never| never.as_ref() == name)
            })
        };
        let mut kept: Vec<(OsString, OsString)> = variables.into_iter().filter(|(name, _)| passes(name)).collect();
        kept.retain(|(name, _)| !SET.iter().any(|(set, _)| name == set));
        kept.extend(SET.map(|(name, value)| (name.into(), value.into())));
        match kept.iter_mut().find(|(name, _)| name == "PATH") {
            Some((_, path)) => *path = absolute(path),
            None => kept.push(("PATH".into(), PATH.into())),
        }
        Self { variables: kept }
    }

    /// Returns the variables.
    pub fn variables(&self) -> &[(OsString, OsString)] {
        &self.variables
    }
}

/// Returns whether a name looks as if its value were a secret.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let mut parts = name.split(|c: char| !c.is_ascii_alphanumeric());
    SECRET_WORDS.iter().any(|word| name.contains(word)) || parts.any(|part| SECRET_PARTS.contains(&part))
}

fn fits(name: &str, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    }
}

/// Removes relative directories from a search path, so that no program of the workspace is run as `git`.
fn absolute(path: &OsStr) -> OsString {
    let kept = std::env::split_paths(path).filter(|directory| directory.is_absolute());
    match std::env::join_paths(kept) {
        Ok(path) if !path.is_empty() => path,
        _ => PATH.into(),
    }
}
