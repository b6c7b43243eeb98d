//! The settings of git, read for two questions only: which paths do they name, and are they harmless in a new
//! repository.
//!
//! Reading for paths takes too much rather than too little. Harmless is only what is written plainly and listed here.

use std::collections::HashSet;

/// Settings that run nothing and lead nowhere, `*` for the name of a remote, a branch or a submodule.
const HARMLESS: &[&str] = &[
    "advice.*",
    "branch.*.merge",
    "branch.*.rebase",
    "branch.*.remote",
    "core.abbrev",
    "core.autocrlf",
    "core.bare",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.precomposeunicode",
    "core.quotepath",
    "core.repositoryformatversion",
    "core.safecrlf",
    "core.symlinks",
    "extensions.objectformat",
    "extensions.refstorage",
    "gc.auto",
    "init.defaultbranch",
    "pull.ff",
    "pull.rebase",
    "push.default",
    "remote.*.fetch",
    "remote.*.url",
    "submodule.*.active",
    "submodule.*.url",
    "submodule.active",
    "user.email",
    "user.name",
];

/// Settings whose whole value is a path, and what is in a directory there runs.
const PATHS: &[&str] =
    &["core.attributesfile", "core.hookspath", "include.path", "includeif.*.path", "init.templatedir"];

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    /// As in `core.hookspath`, in lower case, `*` in the place of a name in quotes.
    pub(super) name: String,
    pub(super) value: String,
}

/// The settings of a file.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) all: Vec<Setting>,
    /// Nothing in the file is written in a way that could be read otherwise.
    is_plain: bool,
}

impl Setting {
    /// Returns whether the value is a path as a whole.
    pub(super) fn is_path(&self) -> bool {
        PATHS.contains(&self.name.as_str())
    }

    pub(super) fn is_include(&self) -> bool {
        self.name.starts_with("include") && self.is_path()
    }

    /// Returns whether it runs nothing and leads nowhere.
    pub(super) fn is_harmless(&self) -> bool {
        let is_listed = HARMLESS.contains(&self.name.as_str()) || self.name.starts_with("advice.");
        // Another way of transport is a program.
        is_listed && !self.value.contains("::") && !self.value.starts_with('-')
    }
}

impl Settings {
    /// Reads a file of settings.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes).replace("\\\r\n", "").replace("\\\n", "");
        let is_plain = std::str::from_utf8(bytes).is_ok() && !bytes.contains(&b'\\') && !bytes.contains(&b'\r');
        let mut settings = Self { all: Vec::new(), is_plain };
        let mut section = String::new();
        for line in text.lines() {
            let mut line = line.trim_start_matches('\u{feff}').trim();
            if let Some(rest) = line.strip_prefix('[') {
                // A name in quotes may hold a bracket.
                let end = if rest.contains('"') { rest.find("\"]").map(|at| at + 1) } else { rest.find(']') };
                let Some(end) = end else {
                    settings.is_plain = false;
                    continue;
                };
                section = section_name(rest.get(..end).unwrap_or_default());
                line = rest.get(end + 1..).unwrap_or_default().trim();
                settings.is_plain &= line.is_empty();
            }
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            let (key, value) = line.split_once('=').unwrap_or((line, ""));
            settings.is_plain &= !value.contains(['"', '#', ';']);
            let value = value.replace("\\\"", "\u{0}").replace('"', "").replace('\u{0}', "\"").replace("\\\\", "\\");
            let name = format!("{section}.{}", key.trim().to_ascii_lowercase());
            settings.all.push(Setting { name, value: value.trim().to_owned() });
        }
        settings
    }

    /// Returns whether a new repository with these settings runs nothing that git itself would not.
    pub(super) fn is_harmless(&self) -> bool {
        self.is_harmless_but(|_| false)
    }

    /// As [`Self::is_harmless`], with settings that are known to be.
    pub(super) fn is_harmless_but(&self, is_known: impl Fn(&Setting) -> bool) -> bool {
        self.is_plain && self.all.iter().all(|setting| setting.is_harmless() || is_known(setting))
    }
}

/// Returns a file of settings with the new harmless sections that a later version has, as `git remote add` makes them.
pub(super) fn with_additions(before: &[u8], after: &[u8]) -> Vec<u8> {
    let mut all = before.to_vec();
    let mut known: HashSet<String> = sections(before).iter().map(|section| heading(section)).collect();
    for section in sections(after) {
        let is_closed = all.is_empty() || (all.ends_with(b"\n") && !all.ends_with(b"\\\n"));
        if is_closed && Settings::read(section).is_harmless() && known.insert(heading(section)) {
            all.extend_from_slice(section);
        }
    }
    all
}

/// Returns each section of a file, from its heading to the next.
fn sections(bytes: &[u8]) -> Vec<&[u8]> {
    let mut sections: Vec<&[u8]> = Vec::new();
    let (mut from, mut at) = (None, 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if line.trim_ascii_start().starts_with(b"[") {
            sections.extend(from.and_then(|from| bytes.get(from..at)));
            from = Some(at);
        }
        at += line.len();
    }
    sections.extend(from.and_then(|from| bytes.get(from..)));
    sections
}

/// Returns the heading of a section without what git lets one write in several ways: the same for the same section.
fn heading(section: &[u8]) -> String {
    let line = section.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut heading = String::from_utf8_lossy(line).to_ascii_lowercase();
    heading.retain(|c| !c.is_whitespace() && !matches!(c, '"' | '.' | '\\'));
    heading
}

fn section_name(header: &str) -> String {
    match header.split_once([' ', '\t', '"', '.']) {
        Some((section, _)) => format!("{}.*", section.to_ascii_lowercase()),
        None => header.trim().to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_harmlessly_is_told_from_what_comes_with_it() {
        let before = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = a\n";
        let mine = "[remote \"mine\"]\n\turl = https://example.com\n";
        let evil = "[core]\n\tfsmonitor = evil\n";
        let with = |after: &str| String::from_utf8(with_additions(before.as_bytes(), after.as_bytes())).unwrap();
        let all = format!("{before}{mine}");
        for after in [
            format!("{before}{mine}"),
            format!("{before}{evil}{mine}{evil}"),
            format!("[core]\n\tbare = false\n\tfsmonitor = evil\n{mine}"),
        ] {
            assert_eq!(with(&after), all, "{after}");
        }
        for section in [
            "[remote \"origin\"]\n\turl = b\n",
            "[remote  \"origin\"]\n\turl = b\n",
            "[remote.origin]\n\turl = b\n",
            "[REMOTE \"origin\"]\n\turl = b\n",
            "[remote \"x\"]\n\turl = ext::b\n",
            "[remote \"x\"]\n\turl = b\\\n[core]\n\tfsmonitor = evil\n",
        ] {
            assert_eq!(with(&format!("{before}{section}")), before, "{section}");
        }
        assert_eq!(with_additions(b"[core]\nbare = false\\\n", mine.as_bytes()), b"[core]\nbare = false\\\n");
    }

    #[test]
    fn what_a_new_repository_has_is_harmless_and_what_names_a_program_is_not() {
        let fresh = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\
                     [remote \"origin\"]\n\turl = https://example.com/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
                     [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";
        assert!(Settings::read(fresh.as_bytes()).is_harmless());
        for evil in [
            "[core]\nfsmonitor = x",
            "[core] fsmonitor = x",
            "[CORE]\n\tFSMonitor=x\n",
            "[core]\nbare = false\\\n[x]\n",
            "[remote \"x]\"] url = a\n[core]\nhooksPath = x",
            "[remote \"x\"]\nurl = ext::sh -c x",
            "[include]\npath = x",
            "[includeIf \"gitdir:/\"]\npath = x",
            "[core.x]\nfsmonitor = x",
            "[core \"\"]\nfsmonitor = x",
            "\u{feff}[core]\nfsmonitor = x",
            "[core]\nworktree = /",
            "[alias]\nst = !x",
        ] {
            assert!(!Settings::read(evil.as_bytes()).is_harmless(), "{evil}");
        }
    }
}
