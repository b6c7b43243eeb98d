//! The patterns of rules: words and paths below the workspace; those of web addresses are in `address.rs`.
//!
//! `*` stands for any characters but `/`, `**` for `/` too, `?` for one character; nothing else is special. Matching takes
//! time in the length of pattern times text, whatever they are.

use std::path::{Component, Path, PathBuf};

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

    /// Returns the only text that it matches; `None` when there are more.
    fn literal(&self) -> Option<String> {
        self.parts.iter().map(|part| if let Part::Char(c) = part { Some(*c) } else { None }).collect()
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        stand_for(&self.parts, text.chars(), |part| part.stretches(), |part, c| part.fits(*c))
    }

    /// Tells whether it matches a text in any case of its letters.
    pub(super) fn matches_in_any_case(&self, text: &str) -> bool {
        stand_for(&self.parts, text.chars(), |part| part.stretches(), |part, c| part.fits_in_any_case(*c))
    }
}

impl Part {
    fn fits(self, c: char) -> bool {
        match self {
            Self::Char(wanted) => wanted == c,
            Self::One | Self::Any => c != '/',
            Self::All => true,
        }
    }

    fn fits_in_any_case(self, c: char) -> bool {
        match self {
            Self::Char(wanted) => wanted == c || wanted.to_lowercase().eq(c.to_lowercase()),
            Self::One | Self::Any | Self::All => self.fits(c),
        }
    }

    fn stretches(self) -> bool {
        matches!(self, Self::Any | Self::All)
    }
}

/// Tells whether the parts of a pattern, one after the other, stand for exactly these items; a part that stretches stands
/// for any number of those that fit, also for none.
fn stand_for<P, I>(
    parts: &[P],
    items: impl Iterator<Item = I>,
    stretches: impl Fn(&P) -> bool,
    fits: impl Fn(&P, &I) -> bool,
) -> bool {
    let skip_empty = |open: &mut [bool]| {
        for (place, part) in parts.iter().enumerate() {
            let here = open.get(place).copied().unwrap_or_default();
            if let (true, Some(slot)) = (here && stretches(part), open.get_mut(place + 1)) {
                *slot = true;
            }
        }
    };
    // Which parts may come next, as the items are read: no backtracking, so nothing takes long.
    let mut open = vec![false; parts.len() + 1];
    if let Some(first) = open.first_mut() {
        *first = true;
    }
    skip_empty(&mut open);
    let mut next = vec![false; open.len()];
    for item in items {
        next.fill(false);
        for (place, (part, is_open)) in parts.iter().zip(&open).enumerate() {
            let to = if stretches(part) { place } else { place + 1 };
            if let (true, Some(slot)) = (*is_open && fits(part, &item), next.get_mut(to)) {
                *slot = true;
            }
        }
        skip_empty(&mut next);
        std::mem::swap(&mut open, &mut next);
    }
    open.last().copied().unwrap_or_default()
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
        // A directory stands for what is in it, and so does the last `**`: for one name at least.
        if pattern.ends_with('/') {
            components.push(None);
        }
        if let Some(None) = components.last() {
            components.insert(components.len() - 1, Some(Glob::new("*", Slash::Separates)));
        }
        Ok(Self { is_absolute, components })
    }

    /// Returns the one place, or the directory, that it stands for with all that is in it; `None` for one with wildcards.
    pub(super) fn place(&self, root: Option<&Path>) -> Option<PathBuf> {
        let all = Glob::new("*", Slash::Separates);
        let components = match self.components.as_slice() {
            [above @ .., Some(last), None] if *last == all => above,
            components => components,
        };
        let base = if self.is_absolute { Path::new("/") } else { root? };
        let names: Option<PathBuf> = components.iter().map(|glob| glob.as_ref()?.literal()).collect();
        names.map(|names| base.join(names))
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
        stand_for(&self.components, names.iter(), Option::is_none, |component, name| {
            component.as_ref().is_none_or(|glob| glob.matches(name))
        })
    }
}
