//! The patterns of rules: words and paths below the workspace; those of web addresses are in `address.rs`.
//!
//! `*` stands for any characters but `/`, `**` for `/` too, `?` for one character; nothing else is special. Matching takes
//! time in the length of pattern times text, whatever they are.

use std::path::{Component, Path};

/// Tells whether a list, its members parted by blanks, has this one.
pub(super) fn lists(list: &str, member: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == member)
}

/// A glob over one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Glob {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Char(char),
    /// One character that is no separator.
    One,
    /// Any number of characters, none of them a separator.
    Any,
    /// Any number of characters.
    All,
}

/// Whether `*` stops at a `/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slash {
    /// It does; `**` does not.
    Separates,
    /// It does not.
    Plain,
}

impl Glob {
    pub(super) fn new(pattern: &str, slash: Slash) -> Self {
        let mut parts: Vec<Part> = Vec::new();
        let mut chars = pattern.chars().peekable();
        while let Some(c) = chars.next() {
            let part = match (c, slash) {
                ('*', Slash::Plain) => Part::All,
                ('*', Slash::Separates) if chars.next_if_eq(&'*').is_some() => Part::All,
                ('*', Slash::Separates) => Part::Any,
                ('?', _) => Part::One,
                (c, _) => Part::Char(c),
            };
            parts.push(part);
        }
        Self { parts }
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        // Which parts may come next, as the text is read: no backtracking, so no text takes long.
        let mut open = vec![false; self.parts.len() + 1];
        if let Some(first) = open.first_mut() {
            *first = true;
        }
        self.skip_empty(&mut open);
        let mut next = vec![false; open.len()];
        for c in text.chars() {
            next.fill(false);
            for (place, part) in self.parts.iter().enumerate() {
                if !open.get(place).copied().unwrap_or_default() {
                    continue;
                }
                let (takes, stays) = match part {
                    Part::Char(wanted) => (*wanted == c, false),
                    Part::One => (c != '/', false),
                    Part::Any => (false, c != '/'),
                    Part::All => (false, true),
                };
                let to = if stays { place } else { place + 1 };
                if let (true, Some(slot)) = (takes || stays, next.get_mut(to)) {
                    *slot = true;
                }
            }
            self.skip_empty(&mut next);
            std::mem::swap(&mut open, &mut next);
        }
        open.last().copied().unwrap_or_default()
    }

    /// A star may stand for nothing.
    fn skip_empty(&self, open: &mut [bool]) {
        for (place, part) in self.parts.iter().enumerate() {
            let here = open.get(place).copied().unwrap_or_default();
            if let (true, Part::Any | Part::All, Some(slot)) = (here, part, open.get_mut(place + 1)) {
                *slot = true;
            }
        }
    }
}

/// A pattern of paths; relative ones are below the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathPattern {
    is_absolute: bool,
    /// `None` stands for any number of directories.
    components: Vec<Option<Glob>>,
}

impl PathPattern {
    /// # Errors
    /// What is wrong with it, as the end of a sentence.
    pub(super) fn parse(pattern: &str) -> Result<Self, String> {
        let is_absolute = pattern.starts_with('/');
        let names: Vec<&str> = pattern.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
        if pattern.starts_with('~') {
            return Err("~ is not expanded; paths are relative to the workspace".to_owned());
        }
        if names.contains(&"..") {
            return Err("a path pattern cannot go up (..)".to_owned());
        }
        if names.is_empty() {
            return Err("it names no path".to_owned());
        }
        let mut components: Vec<Option<Glob>> = Vec::new();
        for name in &names {
            components.push((*name != "**").then(|| Glob::new(name, Slash::Separates)));
        }
        // A directory stands for what is in it.
        if pattern.ends_with('/') {
            components.push(None);
        }
        Ok(Self { is_absolute, components })
    }

    /// Tells whether it covers a real path, relative to the workspace's real root.
    pub(super) fn matches(&self, path: &Path, root: Option<&Path>) -> bool {
        let relative = root.and_then(|root| path.strip_prefix(root).ok());
        let path = match (self.is_absolute, relative) {
            (true, _) => path,
            (false, Some(relative)) => relative,
            (false, None) => return false,
        };
        let mut names = Vec::new();
        for component in path.components() {
            match component {
                Component::Normal(name) => names.push(name.to_string_lossy()),
                Component::RootDir => {}
                Component::ParentDir | Component::CurDir | Component::Prefix(_) => return false,
            }
        }
        self.matches_names(&names.iter().map(AsRef::as_ref).collect::<Vec<&str>>())
    }

    fn matches_names(&self, names: &[&str]) -> bool {
        let mut open = vec![false; self.components.len() + 1];
        if let Some(first) = open.first_mut() {
            *first = true;
        }
        // The last `**` is what is in a directory, not the directory itself.
        let last = self.components.len().saturating_sub(1);
        let skip = |open: &mut [bool]| {
            for (place, component) in self.components.iter().enumerate() {
                let here = open.get(place).copied().unwrap_or_default();
                if let (true, true, Some(slot)) = (here, component.is_none() && place < last, open.get_mut(place + 1)) {
                    *slot = true;
                }
            }
        };
        skip(&mut open);
        for name in names {
            let mut next = vec![false; open.len()];
            for (place, component) in self.components.iter().enumerate() {
                if !open.get(place).copied().unwrap_or_default() {
                    continue;
                }
                let targets: &[usize] = match component {
                    Some(glob) if glob.matches(name) => &[1],
                    Some(_) => &[],
                    None => &[0, 1],
                };
                for ahead in targets {
                    if let Some(slot) = next.get_mut(place + ahead) {
                        *slot = true;
                    }
                }
            }
            skip(&mut next);
            open = next;
        }
        open.last().copied().unwrap_or_default()
    }
}
