//! The places that a change always asks about, in every mode: what runs code later, or steers agents and programs (S4).
//!
//! Names are compared as the most forgiving file system would: without case, without what is invisible, without dots and
//! blanks at the end, without the width of letters. A file that is yet to be made counts as one that is there. `build.rs`,
//! `Makefile` and the like are sources: they are what the work is about, and run only when somebody builds.

use std::borrow::Cow;
use std::path::{Component, Path};

use crate::approval::pattern::lists;
use crate::text::is_invisible;

/// Directories of version control, of keys; also when the workspace lies within one.
const DEEP: &[(&str, &str)] = &[
    (".git", "version control's own"),
    ("git~1", "version control's own"),
    (".hg", "version control's own"),
    (".svn", "version control's own"),
    (".bzr", "version control's own"),
    (".jj", "version control's own"),
    (".ssh", "keys and hosts"),
    (".gnupg", "keys"),
];

/// Names of directories and files, at any depth below the workspace.
const NAMES: &[(&str, &str)] = &[
    ("version control's configuration", ".gitconfig .gitattributes .gitmodules .hgrc .lfsconfig"),
    (
        "a hook of version control",
        "\
            .husky .githooks .pre-commit-config.yaml .pre-commit-config.yml lefthook.yml lefthook.yaml \
            .lefthook.yml .lefthook.yaml lefthook-local.yml .overcommit.yml .pre-commit-hooks.yaml",
    ),
    ("this program's own configuration", ".steersman"),
    (
        "a shell start file",
        "\
            .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin \
            .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc config.fish .xinitrc .xprofile \
            .xsession .xsessionrc .pam_environment .envrc .direnvrc .oh-my-zsh .zsh .bash_completion",
    ),
    (
        "configuration of MCP servers",
        "\
            .mcp.json mcp.json mcp_config.json mcp_settings.json cline_mcp_settings.json \
            claude_desktop_config.json .mcp",
    ),
    (
        "instructions or configuration of an agent",
        "\
            .cursor .claude .claude.json .codex .gemini .windsurf .continue .roo .cline .kiro .zed .junie .agents \
            .agent .amazonq .augment .opencode opencode.json .cursorrules .windsurfrules .clinerules .roorules \
            .goosehints .aider.conf.yml agents.md agent.md agents.override.md agents.local.md claude.md \
            claude.local.md gemini.md qwen.md warp.md copilot-instructions.md .rules",
    ),
    (
        "an editor's settings, which can run programs",
        "\
            .vscode .idea .fleet .devcontainer .devcontainer.json .vimrc .exrc .nvimrc .nvim.lua .lvimrc .emacs \
            .emacs.d .dir-locals.el .gdbinit .lldbinit .rprofile .tmux.conf .screenrc",
    ),
    (
        "what a continuous integration runs",
        "\
            .circleci .buildkite .gitlab-ci.yml .travis.yml .drone.yml .woodpecker .woodpecker.yml .cirrus.yml \
            azure-pipelines.yml bitbucket-pipelines.yml jenkinsfile appveyor.yml .appveyor.yml",
    ),
    (
        "a package manager's configuration, which can name programs or hold keys",
        "\
            .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs .pypirc .netrc _netrc .curlrc .wgetrc .gemrc \
            .bundle .condarc",
    ),
];

/// Names within a directory of this name, as (directory, name, what it is).
const PAIRS: &[(&str, &str, &str)] = &[
    (".github", "workflows", "what a continuous integration runs"),
    (".github", "actions", "what a continuous integration runs"),
    (".gitea", "workflows", "what a continuous integration runs"),
    (".forgejo", "workflows", "what a continuous integration runs"),
    (".github", "instructions", "instructions or configuration of an agent"),
    (".github", "prompts", "instructions or configuration of an agent"),
    (".github", "agents", "instructions or configuration of an agent"),
    (".github", "chatmodes", "instructions or configuration of an agent"),
    (".cargo", "config", "a package manager's configuration, which can name programs or hold keys"),
    (".cargo", "config.toml", "a package manager's configuration, which can name programs or hold keys"),
    (".cargo", "credentials", "a package manager's configuration, which can name programs or hold keys"),
    (".cargo", "credentials.toml", "a package manager's configuration, which can name programs or hold keys"),
    (".config", "git", "version control's configuration"),
    (".config", "steersman", "this program's own configuration"),
    (".config", "fish", "a shell start file"),
    (".config", "nvim", "an editor's settings, which can run programs"),
    (".config", "autostart", "what starts with the session"),
    (".config", "systemd", "what starts with the session"),
    (".config", "environment.d", "what starts with the session"),
    ("fish", "conf.d", "a shell start file"),
    ("fish", "functions", "a shell start file"),
    ("library", "launchagents", "what starts with the session"),
];

/// Hooks of a repository without a `.git`, such as a bare one.
const GIT_HOOKS: &str = "\
    applypatch-msg commit-msg fsmonitor-watchman post-applypatch post-checkout post-commit post-merge post-receive \
    post-rewrite post-update pre-applypatch pre-auto-gc pre-commit pre-merge-commit pre-push pre-rebase \
    pre-receive prepare-commit-msg proc-receive push-to-checkout reference-transaction sendemail-validate update";

/// Knows the places of one workspace and one user.
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
        deep(&whole).or_else(|| named(&below)).or_else(|| hook(&whole))
    }
}

fn deep(names: &[String]) -> Option<&'static str> {
    let listed = |name: &String| DEEP.iter().find(|(listed, _)| listed == name).map(|(_, what)| *what);
    names.iter().find_map(listed)
}

fn named(names: &[String]) -> Option<&'static str> {
    let listed = |name: &String| NAMES.iter().find(|(_, names)| lists(names, name)).map(|(what, _)| *what);
    let paired = |pair: &[String]| match pair {
        [directory, name] => {
            PAIRS.iter().find(|(at, wanted, _)| at == directory && wanted == name).map(|(_, _, what)| *what)
        }
        _ => None,
    };
    let is_workspace_file = |name: &String| name.ends_with(".code-workspace");
    // A repository without a `.git` has it in its name.
    let is_bare = |name: &String| name.strip_suffix(".git").is_some_and(|bare| !bare.is_empty());
    let directories = names.split_last().map_or(&[] as &[String], |(_, directories)| directories);
    let bare = || directories.iter().any(is_bare).then_some("version control's own");
    names.iter().find_map(listed).or_else(bare).or_else(|| names.windows(2).find_map(paired)).or_else(|| {
        names.last().is_some_and(is_workspace_file).then_some("an editor's settings, which can run programs")
    })
}

fn hook(names: &[String]) -> Option<&'static str> {
    let is_hook = |pair: &[String]| match pair {
        [directory, name] => directory == "hooks" && lists(GIT_HOOKS, name),
        _ => false,
    };
    names.windows(2).any(is_hook).then_some("a hook of version control")
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
