//! The patterns of rules: words, paths below the workspace, web addresses.
//!
//! `*` stands for any characters but `/`, `**` for `/` too, `?` for one character; nothing else is special. Matching takes
//! time in the length of pattern times text, whatever they are. A pattern of an address never reaches past its host.

use std::path::{Component, Path};

use url::Url;

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

/// A pattern of web addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UrlPattern {
    scheme: String,
    host: Host,
    port: u16,
    names_port: bool,
    /// Of the path with its query.
    rest: Glob,
    covers_all: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    /// This one.
    Exact(String),
    Below(String),
}

impl UrlPattern {
    /// # Errors
    /// What is wrong with it, as the end of a sentence.
    pub(super) fn parse(pattern: &str) -> Result<Self, String> {
        let scheme = ["https://", "http://"].into_iter().find(|scheme| pattern.starts_with(scheme));
        let Some(scheme) = scheme else {
            return Err("an address pattern begins with https:// or http://, as in https://docs.rs/*".to_owned());
        };
        let behind = pattern.strip_prefix(scheme).unwrap_or_default();
        let (authority, rest) = behind.split_at(behind.find(['/', '?']).unwrap_or(behind.len()));
        let (is_below, name) = match authority.strip_prefix("*.") {
            Some(name) => (true, name),
            None => (false, authority),
        };
        if name.contains(['*', '?', '@', '\\']) || name.is_empty() {
            return Err(
                "a host is written out; only a first label can be a star, as in https://*.example.org/*".to_owned()
            );
        }
        let url = Url::parse(&format!("{scheme}{name}/")).map_err(|error| format!("its host is none: {error}"))?;
        let Some(host) = host_of(&url) else { return Err("it has no host".to_owned()) };
        if is_below && !host.contains('.') {
            return Err("a star cannot stand for every host of a top-level domain".to_owned());
        }
        let rest = if rest.is_empty() { "/" } else { rest };
        Ok(Self {
            scheme: url.scheme().to_owned(),
            host: if is_below { Host::Below(host) } else { Host::Exact(host) },
            port: url.port_or_known_default().unwrap_or_default(),
            names_port: url.port().is_some(),
            rest: Glob::new(rest, Slash::Plain),
            covers_all: rest == "/*",
        })
    }

    /// Tells whether it covers every address of one host and no other.
    pub(super) fn is_one_host(&self) -> bool {
        self.covers_all && matches!(self.host, Host::Exact(_))
    }

    /// Tells whether it covers an address exactly: scheme, host, port and the rest.
    pub(super) fn allows(&self, url: &Url) -> bool {
        let has_login = !url.username().is_empty() || url.password().is_some();
        if has_login || url.scheme() != self.scheme || url.port_or_known_default() != Some(self.port) {
            return false;
        }
        // An encoded separator may lead out of the directory that the pattern names.
        let path = url.path().to_ascii_lowercase();
        let is_sly = ["%2f", "%5c", "%2e", "%00"].iter().any(|code| path.contains(code));
        self.has_host(url) && self.rest.matches(&rest_of(url)) && (self.covers_all || !is_sly)
    }

    /// Tells whether it covers an address in any scheme, and on any port when it names none.
    pub(super) fn touches(&self, url: &Url) -> bool {
        if self.names_port && url.port_or_known_default() != Some(self.port) {
            return false;
        }
        let rest = rest_of(url);
        self.has_host(url) && (self.rest.matches(&rest) || self.rest.matches(&decoded(&rest)))
    }

    fn has_host(&self, url: &Url) -> bool {
        let Some(host) = host_of(url) else { return false };
        match &self.host {
            Host::Exact(name) => host == *name,
            Host::Below(name) => {
                host.strip_suffix(name).is_some_and(|labels| labels.len() > 1 && labels.ends_with('.'))
            }
        }
    }
}

/// Returns the host of an address in its one spelling: lower case, ASCII, numbers as dotted quads, no dot at the end.
pub(super) fn host_of(url: &Url) -> Option<String> {
    let host = url.host_str()?.trim_end_matches('.');
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

/// Returns scheme, host and port of an address in their one spelling.
pub(super) fn origin_of(url: &Url) -> Option<String> {
    let host = host_of(url)?;
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{}://{host}{port}", url.scheme()))
}

fn rest_of(url: &Url) -> String {
    match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    }
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let code = (*first == b'%').then(|| behind.get(..2)).flatten().and_then(|code| std::str::from_utf8(code).ok());
        if let Some(byte) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            bytes.push(byte);
            rest = behind.get(2..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = behind;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
