//! Where a plugin comes from: a directory of the user, which stays where it is, or a repository that is cloned into the data
//! directory of the program.
//!
//! A clone runs the user's git, and nothing of the repository: no hook, no template, no submodule. What is kept is the tree of
//! one commit without its history.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use steersman_base::limits;
use steersman_tools::workspace::{OwnCommand, UserCommand};

use crate::program::cli::with_runtime;

/// A tree with plugins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FetchedTree {
    pub root: PathBuf,
    /// The commit that was cloned.
    pub commit: Option<String>,
}

/// Finds a tree: what is there as a directory is one, everything else an address of git.
///
/// # Errors
/// One sentence.
pub(super) fn fetch(source: &str, data: Option<&Path>) -> Result<FetchedTree, String> {
    if let Ok(root) = Path::new(source).canonicalize() {
        if !root.is_dir() {
            return Err(format!("{source} is no directory"));
        }
        return Ok(FetchedTree { root, commit: None });
    }
    let (address, branch) = address(source).ok_or_else(|| {
        format!("{source} is neither a directory nor an address of git (https://…, git@…, OWNER/REPOSITORY)")
    })?;
    let data = data.ok_or("there is no data directory for a clone")?;
    let failed = |error: std::io::Error| format!("{}: {error}", data.display());
    DirBuilder::new().recursive(true).mode(0o700).create(data).map_err(failed)?;
    let beside = tempfile::Builder::new().prefix(".clone").tempdir_in(data).map_err(failed)?;
    let tree = beside.path().join("tree");
    clone(&address, branch.as_deref(), &tree)?;
    let commit = git(&["-C", &tree.to_string_lossy(), "rev-parse", "HEAD"])?.trim().to_owned();
    fs::remove_dir_all(tree.join(".git")).map_err(failed)?;
    let short: String = commit.chars().filter(char::is_ascii_hexdigit).take(12).collect();
    let root = data.join(format!("{}-{short}", stem(&address)));
    if root.symlink_metadata().is_ok() {
        // An earlier clone of this commit: what may have become of it since is not this commit.
        fs::remove_dir_all(&root).map_err(failed)?;
    }
    fs::rename(&tree, &root).map_err(failed)?;
    let root = root.canonicalize().map_err(failed)?;
    Ok(FetchedTree { root, commit: Some(commit) })
}

/// Returns the address that a source means, and the branch or tag behind its `#`.
fn address(source: &str) -> Option<(String, Option<String>)> {
    let (place, branch) = match source.split_once('#') {
        Some((place, branch)) if !branch.is_empty() && !branch.starts_with('-') => (place, Some(branch.to_owned())),
        Some(_) => return None,
        None => (source, None),
    };
    let place = place.strip_prefix("github:").unwrap_or(place);
    let is_address = ["https://", "ssh://", "git@", "file://"].iter().any(|kind| place.starts_with(kind));
    if is_address {
        return Some((place.to_owned(), branch));
    }
    let is_name = |name: &str| {
        !name.is_empty()
            && !name.starts_with(['-', '.'])
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    let (owner, name) = place.split_once('/')?;
    (is_name(owner) && is_name(name)).then(|| (format!("https://github.com/{owner}/{name}"), branch))
}

/// Returns what a directory for a clone of this address is called.
fn stem(address: &str) -> String {
    let name = address.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
    let name = name.strip_suffix(".git").unwrap_or(name);
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect();
    if name.is_empty() { "plugin".to_owned() } else { name }
}

fn clone(address: &str, branch: Option<&str>, to: &Path) -> Result<(), String> {
    let to = to.to_string_lossy();
    let mut words = vec!["clone", "--quiet", "--depth", "1", "--no-tags", "--single-branch", "--template="];
    words.extend(["--no-recurse-submodules"]);
    words.extend(branch.iter().flat_map(|branch| ["--branch", *branch]));
    words.extend(["--", address, &to]);
    git(&words).map(|_| ())
}

/// Runs git for a clone: with no hook and no other way to it than the usual ones, and without a question.
fn git(words: &[&str]) -> Result<String, String> {
    let before = [
        "env",
        "GIT_TERMINAL_PROMPT=0",
        "GIT_ALLOW_PROTOCOL=https:ssh:file",
        "git",
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.fsmonitor=false",
    ];
    let words = before.iter().chain(words).map(|word| (*word).to_owned()).collect();
    let command = UserCommand::new(words);
    with_runtime(async {
        let run = OwnCommand {
            command: &command,
            input: "",
            most: limits::PLUGIN_CLONE_OUTPUT,
            time: limits::PLUGIN_CLONE_TIME,
        };
        run.run().await.map_err(|error| format!("git {error}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_git_can_clone_safely_is_an_address() {
        let address = |source| address(source).map(|(place, branch)| (place, branch.unwrap_or_default()));
        let github = "https://github.com/a/b-c.d".to_owned();
        assert_eq!(address("a/b-c.d"), Some((github.clone(), String::new())));
        assert_eq!(address("github:a/b-c.d#v1"), Some((github, "v1".to_owned())));
        assert!(address("https://host/a.git").is_some() && address("git@host:a/b.git").is_some());
        for odd in ["ext::sh -c x", "--upload-pack=x", "a/b/c", "a", "a/-b", "../a", "a/b#--x", "a/b#", "http://h/a"] {
            assert_eq!(address(odd), None, "{odd}");
        }
        assert_eq!(stem("git@host:a/b.git"), "b");
        assert_eq!(stem("https://host/"), "host");
    }
}
