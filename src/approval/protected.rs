//! The places that a change always asks about, in every mode: what runs code later, or steers agents and programs (S4).
//!
//! Names are compared as the most forgiving file system would: without case, without what is invisible, without dots and
//! blanks at the end, without the width of letters. A file that is yet to be made counts as one that is there; of a
//! repository without a `.git`, whose parts have ordinary names, the part that completes it. `build.rs`,
//! `Makefile` and the like are sources: they are what the work is about, and run only when somebody builds.

mod names;
mod repository;

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use self::names::{DEEP, GIT_DATA, GIT_HOOKS, PAIRS, PATTERNS, listed};
use crate::approval::pattern::lists;
use crate::text::is_invisible;

/// The places of one workspace and one user.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Places<'a> {
    /// The workspace's real root.
    pub root: Option<&'a Path>,
    /// The directory of the user's configuration of this program.
    pub config: Option<&'a Path>,
    /// The user's home directory.
    pub home: Option<&'a Path>,
}

impl Places<'_> {
    /// Returns what a path is, in a few words, when a change of it is always asked about.
    pub(super) fn what(&self, path: &Path) -> Option<&'static str> {
        let whole = folded(path);
        if self.config.is_some_and(|config| whole.starts_with(&folded(config))) {
            return Some("this program's own configuration");
        }
        // A dot-file of the user's home is some program's configuration, unless the workspace itself is in it.
        if let Some(home) = self.home.map(folded)
            && let Some([name, ..]) = whole.strip_prefix(home.as_slice())
            && name.starts_with('.')
            && self.root.map(folded).is_none_or(|root| root.get(home.len()) != Some(name))
        {
            return Some("a configuration in the home directory");
        }
        let below = match self.root.and_then(|root| path.strip_prefix(root).ok()) {
            Some(relative) => folded(relative),
            None => whole.clone(),
        };
        hook(&whole).or_else(|| deep(&whole)).or_else(|| named(&below))
    }

    /// As [`Self::what`], of a path that is written while these are written too: also what makes, or is, a part of a
    /// repository without a `.git`. Looks at the disk.
    pub(super) fn what_with(&self, path: &Path, planned: &[PathBuf]) -> Option<&'static str> {
        let is_part = || repository::is_part_of_one(path, planned).then_some(repository::PART);
        self.what(path).or_else(is_part)
    }

    /// Tells whether a path could be a part of a repository, by its name.
    pub(super) fn may_be_part(path: &Path) -> bool {
        repository::may_be_part(path)
    }
}

fn deep(names: &[String]) -> Option<&'static str> {
    let listed = |name: &String| DEEP.iter().find(|(listed, _)| listed == name).map(|(_, what)| *what);
    names.iter().find_map(listed)
}

fn named(names: &[String]) -> Option<&'static str> {
    let paired = |pair: &[String]| match pair {
        [directory, name] => {
            let is_name = |wanted: &str| wanted == name || wanted.ends_with('.') && name.starts_with(wanted);
            PAIRS.iter().find(|(at, wanted, _)| at == directory && is_name(wanted)).map(|(_, _, what)| *what)
        }
        _ => None,
    };
    let patterned = |name: &String| {
        let fits = |(start, end, _): &&(&str, &str, &str)| name.starts_with(start) && name.ends_with(end);
        PATTERNS.iter().find(fits).map(|(_, _, what)| *what)
    };
    // A repository without a `.git` has it in its name.
    let is_bare = |name: &String| name.strip_suffix(".git").is_some_and(|bare| !bare.is_empty());
    let directories = names.split_last().map_or(&[] as &[String], |(_, directories)| directories);
    let bare = || directories.iter().any(is_bare).then_some(GIT_DATA);
    let listed = || names.iter().find_map(|name| listed(name));
    listed().or_else(bare).or_else(|| names.windows(2).find_map(paired)).or_else(|| names.last().and_then(patterned))
}

fn hook(names: &[String]) -> Option<&'static str> {
    let is_hook = |pair: &[String]| match pair {
        [directory, name] => directory == "hooks" && lists(GIT_HOOKS, name),
        _ => false,
    };
    names.windows(2).any(is_hook).then_some("a Git hook")
}

/// Returns the names of a path as the most forgiving file system compares them.
fn folded(path: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(fold(&name.to_string_lossy())),
            // As it would be resolved; a real path has none.
            Component::ParentDir => {
                names.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    names
}

fn fold(name: &str) -> String {
    // A stream of a file is named behind a colon where there are such.
    let name = name.split_once(':').map_or(name, |(name, _)| if name.is_empty() { ":" } else { name });
    let wide = |c: char| match c {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(c as u32 - 0xFEE0).unwrap_or(c),
        '\u{2024}' | '\u{3002}' | '\u{FE52}' => '.',
        c => c,
    };
    let visible = name.chars().filter(|c| !is_invisible(*c)).map(wide);
    let small: String = visible.flat_map(char::to_uppercase).collect::<String>().to_lowercase();
    let ends = |c: char| c == '.' || c.is_whitespace();
    let bare: Cow<'_, str> = match small.trim_end_matches(ends) {
        "" => Cow::Borrowed(small.as_str()),
        bare => Cow::Borrowed(bare),
    };
    bare.trim_start().to_owned()
}
