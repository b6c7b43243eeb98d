//! The settings of git, read for two questions only: which paths do they name, and are they harmless in a new repository.
//!
//! Reading for paths takes too much rather than too little. Harmless is only what is written plainly and listed here.

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
    /// Tells whether the value is a path as a whole.
    pub(super) fn is_path(&self) -> bool {
        PATHS.contains(&self.name.as_str())
    }

    pub(super) fn is_include(&self) -> bool {
        self.name.starts_with("include") && self.is_path()
    }

    /// Tells whether it runs nothing and leads nowhere.
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

    /// Tells whether a new repository with these settings runs nothing that git itself would not.
    pub(super) fn is_harmless(&self) -> bool {
        self.is_plain && self.all.iter().all(Setting::is_harmless)
    }
}

/// Tells whether a file of settings got nothing but new harmless sections at its end, as by `git remote add`.
pub(super) fn only_adds(before: &[u8], after: &[u8]) -> bool {
    let Some(added) = after.strip_prefix(before) else { return false };
    let is_closed = before.is_empty() || (before.ends_with(b"\n") && !before.ends_with(b"\\\n"));
    let headers = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let lines = text.lines().map(|line| line.trim().to_ascii_lowercase()).filter(|line| line.starts_with('['));
        lines.collect::<Vec<String>>()
    };
    let known = headers(before);
    let is_new = headers(added).iter().all(|header| !known.iter().any(|known| known.starts_with(header.as_str())));
    is_closed && added.starts_with(b"[") && is_new && Settings::read(added).is_harmless()
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
