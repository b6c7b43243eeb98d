//! Stories of places that a change always asks about: in every mode, for the first creation too, in any spelling (S4).

mod commands;

use crate::support::protected::PROTECTED;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use steersman_base::protected::{DirectoryRole, ProtectedPlaces};
use steersman_core::approval::{
    Answerer, Circumstances, CommandOperation, Grant, Mode, Network, Operation, Policy, Rules, Sandboxed, Taint,
    Verdict, WriteOperation,
};

const ROOT: &str = "/home/me/work/project";

/// Allows all that can be allowed.
fn generous(answerer: Answerer) -> Policy {
    Policy {
        answerer,
        sandboxed: Some(Sandboxed::Yes),
        network: Network::Off,
        rules: Rules::parse(&["write: **", "edit: **", "bash: cp *", "bash: echo *", "bash: cat *"], &[], &[]).unwrap(),
        root: Some(PathBuf::from(ROOT)),
        protected: ProtectedPlaces::default()
            .with(DirectoryRole::Own, Path::new("/home/me/.config/steersman"))
            .with(DirectoryRole::Home, Path::new("/home/me")),
        ..Policy::default()
    }
}

fn write(path: &Path, before: Option<&[u8]>) -> Operation {
    Operation::Write(WriteOperation {
        tool: "write".into(),
        path: path.to_path_buf(),
        shown: path.strip_prefix(ROOT).unwrap_or(path).display().to_string(),
        before: before.map(|before| Arc::<[u8]>::from(before).into()),
        after: Arc::<[u8]>::from(&b"new"[..]).into(),
        diff: String::new(),
    })
}

fn decide(policy: &Policy, operation: &Operation, mode: Mode) -> Verdict {
    policy.decide(operation, &Circumstances { mode, grants: &[Grant::Edits], taint: Taint::NONE })
}

/// Every mode but the one in which nothing is written at all.
const ASKING: [Mode; 4] = [Mode::Ask, Mode::AutoEdit, Mode::Auto, Mode::AutoWithoutSandbox];

/// The same in the spellings of forgiving file systems.
const SLY: [&str; 24] = [
    ".GIT/hooks/pre-commit",
    ".Git/config",
    ".git./config",
    ".git /config",
    ".git . . /config",
    "git~1/config",
    "GIT~1/config",
    ".g\u{200c}it/config",
    ".git\u{200b}/config",
    "\u{feff}.git/config",
    ".git::$INDEX_ALLOCATION/config",
    ".git:x/config",
    ".\u{ff47}\u{ff49}\u{ff54}/config",
    "\u{ff0e}git/config",
    "\u{2024}git/config",
    ".g\u{131}t/config",
    ".vscode./tasks.json",
    ".VSCODE/tasks.json",
    "agents.md",
    "Agents.MD",
    "AGENTS.md ",
    ".ba\u{17f}hrc",
    "config.fi\u{17f}h",
    "con\u{fb01}g.fish",
];

/// Ordinary work.
const OPEN: &str = "\
    src/main.rs README.md docs/a.md Cargo.toml package.json build.rs Makefile .gitignore .github/dependabot.yml \
    .github/ISSUE_TEMPLATE/x.md .editorconfig .env.example tests/git/hooks.rs src/git.rs gitconfig hooks/useThing.ts \
    src/hooks/pre.ts agents.rs src/agents/mod.md claude.py docs/AGENTS.txt mcp/server.ts vscode/x cargo/config.toml \
    .prettierrc .eslintrc.json rustfmt.toml .rustfmt.toml .cargo/audit.toml x.git profile bashrc.md ssh/x .gitkeep \
    config/fish.toml workflows/x.yml";

fn spellings() -> Vec<PathBuf> {
    let named = PROTECTED.split_whitespace().chain(SLY);
    let config =
        ["/home/me/.config/steersman/config.toml", "/home/me/.config/steersman/personas/x.md", "/home/me/.netrc"];
    named.map(|name| Path::new(ROOT).join(name)).chain(config.map(PathBuf::from)).collect()
}

#[test]
fn a_protected_place_is_asked_about_in_every_mode_whatever_allows_it_and_before_it_exists() {
    let policy = generous(Answerer::User);
    for path in spellings() {
        for mode in ASKING {
            for before in [None, Some(&b"old"[..])] {
                let verdict = decide(&policy, &write(&path, before), mode);
                let Verdict::Ask { why, grant: None } = verdict else { panic!("{path:?} in {mode:?}: {verdict:?}") };
                assert!(why.contains(" is "), "{path:?}: {why}");
            }
        }
    }
}

#[test]
fn with_a_general_yes_a_user_who_is_there_is_still_asked_about_every_protected_place() {
    let policy = generous(Answerer::YesOrUser);
    for path in spellings() {
        for mode in ASKING {
            let verdict = decide(&policy, &write(&path, None), mode);
            assert!(matches!(verdict, Verdict::Ask { grant: None, .. }), "{path:?} in {mode:?}: {verdict:?}");
        }
    }
    let elsewhere = decide(&policy, &write(&Path::new(ROOT).join("src/main.rs"), None), Mode::Ask);
    assert_eq!(elsewhere, Verdict::Allow);
}

#[test]
fn nobody_and_a_general_yes_write_no_protected_place_and_say_why() {
    for (answerer, words) in [(Answerer::Yes, "a general yes is not enough"), (Answerer::Nobody, "nobody is there")] {
        let policy = generous(answerer);
        for path in spellings() {
            for mode in ASKING {
                let verdict = decide(&policy, &write(&path, None), mode);
                let Verdict::Deny(why) = verdict else { panic!("{path:?}: {verdict:?}") };
                assert!(why.contains(words) && why.contains(" is "), "{why}");
            }
        }
    }
    let verdict =
        decide(&generous(Answerer::Yes), &write(&Path::new(ROOT).join(".git/hooks/pre-commit"), None), Mode::Ask);
    assert_eq!(
        verdict,
        Verdict::Deny(
            ".git/hooks/pre-commit is a Git hook (protected): that needs the user's own approval, a general yes is not enough"
                .to_owned()
        )
    );
}

#[test]
fn in_read_only_not_even_a_question_is_asked() {
    for answerer in [Answerer::User, Answerer::Yes, Answerer::Nobody] {
        let verdict = decide(&generous(answerer), &write(&Path::new(ROOT).join("AGENTS.md"), None), Mode::ReadOnly);
        let sentence = "the mode is read-only: files stay as they are, no command runs and nothing is sent";
        assert_eq!(verdict, Verdict::Deny(sentence.to_owned()));
    }
}

#[test]
fn ordinary_files_are_not_protected() {
    let policy = generous(Answerer::User);
    for name in OPEN.split_whitespace() {
        let verdict = decide(&policy, &write(&Path::new(ROOT).join(name), None), Mode::Auto);
        assert_eq!(verdict, Verdict::Allow, "{name}");
    }
}

#[test]
fn a_workspace_below_a_directory_of_such_a_name_can_be_worked_in_but_for_version_control() {
    let inside = |root: &str, name: &str| {
        let policy = Policy { root: Some(PathBuf::from(root)), ..generous(Answerer::User) };
        decide(&policy, &write(&Path::new(root).join(name), None), Mode::Auto)
    };
    assert_eq!(inside("/home/me/.claude/worktrees/x", "src/main.rs"), Verdict::Allow);
    assert_eq!(inside("/home/me/.cache/x", "src/main.rs"), Verdict::Allow);
    assert_eq!(inside("/home/me", "work/main.rs"), Verdict::Allow);
    for (root, name) in [
        ("/home/me/.git", "hooks/x"),
        ("/srv/x/.git", "config"),
        ("/home/me", ".anything"),
        ("/home/me", ".config/x/y"),
        ("/home/me/.claude/worktrees/x", "AGENTS.md"),
    ] {
        assert!(matches!(inside(root, name), Verdict::Ask { .. }), "{root} {name}");
    }
}

// `cd docs && git status` would obey `docs/config`. The order is up to whoever writes them.
#[test]
fn the_file_that_makes_a_directory_a_repository_is_asked_about_and_every_later_one() {
    let parts = ["HEAD", "config", "objects/keep", "refs/keep"];
    let needed = ["HEAD", "objects/keep", "refs/keep"];
    let orders = (0..256).map(|code| [code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6 & 3].map(|place| parts[place]));
    let mut tried = 0;
    for order in orders.filter(|order| parts.iter().all(|part| order.contains(part))) {
        tried += 1;
        let root = tempfile::tempdir().unwrap();
        let policy = Policy { root: Some(root.path().to_path_buf()), ..generous(Answerer::User) };
        let mut written: Vec<&str> = Vec::new();
        for part in order {
            let path = root.path().join("docs").join(part);
            written.push(part);
            let is_one = needed.iter().all(|part| written.contains(part));
            for mode in ASKING {
                let verdict = decide(&policy, &write(&path, None), mode);
                let asks = matches!(verdict, Verdict::Ask { grant: None, .. });
                assert_eq!(asks, is_one, "{part} of {order:?}: {verdict:?}");
            }
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "x").unwrap();
        }
        for later in
            ["config", "CONFIG", "config.worktree", "hooks/any", "info/attributes", "commondir", "refs/heads/x"]
        {
            let verdict = decide(&policy, &write(&root.path().join("docs").join(later), None), Mode::Auto);
            assert!(matches!(verdict, Verdict::Ask { .. }), "{later}: {verdict:?}");
        }
        let command = |text: &str| {
            let cwd = root.path().to_path_buf();
            Operation::Command(CommandOperation {
                command: text.to_owned(),
                cwd,
                timeout: Duration::from_mins(1),
                outside: false,
            })
        };
        assert!(matches!(decide(&policy, &command("echo x > docs/config"), Mode::Auto), Verdict::Ask { .. }));
        assert!(matches!(decide(&policy, &command("cp x docs/readme"), Mode::Auto), Verdict::Allow));
        // A working tree beneath a bare repository is ordinary work.
        let verdict = decide(&policy, &write(&root.path().join("docs/main/src/config.rs"), None), Mode::Auto);
        assert_eq!(verdict, Verdict::Allow);
    }
    assert_eq!(tried, 24);
}

#[test]
fn with_a_commondir_the_head_alone_makes_a_repository_and_one_command_makes_a_whole_one() {
    let root = tempfile::tempdir().unwrap();
    let policy = Policy { root: Some(root.path().to_path_buf()), ..generous(Answerer::User) };
    std::fs::create_dir(root.path().join("docs")).unwrap();
    assert_eq!(decide(&policy, &write(&root.path().join("docs/HEAD"), None), Mode::Ask), Verdict::Allow);
    std::fs::write(root.path().join("docs/commondir"), "../evil").unwrap();
    let verdict = decide(&policy, &write(&root.path().join("docs/HEAD"), None), Mode::Ask);
    assert!(matches!(verdict, Verdict::Ask { .. }), "{verdict:?}");
    let cwd = root.path().to_path_buf();
    let text = "mkdir -p x/objects x/refs; echo x > x/config; echo ref: refs/heads/m > x/HEAD".to_owned();
    let operation =
        Operation::Command(CommandOperation { command: text, cwd, timeout: Duration::from_mins(1), outside: false });
    assert!(matches!(decide(&policy, &operation, Mode::Auto), Verdict::Ask { grant: None, .. }));
}

fn command(command: &str) -> Operation {
    let (command, cwd) = (command.to_owned(), PathBuf::from(ROOT));
    Operation::Command(CommandOperation { command, cwd, timeout: Duration::from_mins(1), outside: false })
}

// Best effort, as far as the words say it; the sandbox confines what a command really does.
#[test]
fn a_command_that_names_a_protected_place_is_asked_about_unless_it_only_looks() {
    let policy = generous(Answerer::User);
    for text in [
        "cp x .git/hooks/pre-commit",
        "echo x > .git/hooks/pre-commit",
        "echo x >> .bashrc",
        "echo x >>.bashrc",
        "cat x > AGENTS.md",
        "tee .envrc",
        "ln -s x .git/hooks/y",
        "cd .git && cp x hooks/y",
        "mv x .vscode/tasks.json",
        "sed -i s/a/b/ .mcp.json",
        "rm -rf .git",
        "chmod +x .husky/pre-commit",
        "echo x > '.git'/config",
        "echo x > .g'i't/config",
        "python -c \"open('.git/config', 'w')\"",
        "dd of=.profile",
        "bash -c 'echo x > CLAUDE.md'",
        "install x /home/me/.bashrc",
        "git checkout x -- .gitattributes",
        "git config -f .git/config a b",
        "cp x ~/.zshrc",
        "git log > .git/x",
        "git diff --output=.git/x",
        "cat <<E > .envrc\nx\nE",
        "cp x sub/../.git/config",
        "cp x ./.git/config",
        "cp x \"$PWD/.git/config\"",
    ] {
        for mode in [Mode::Ask, Mode::Auto, Mode::AutoWithoutSandbox] {
            let verdict = decide(&policy, &command(text), mode);
            let Verdict::Ask { why, grant: None } = verdict else { panic!("{text}: {verdict:?}") };
            assert!(why.starts_with("it may change "), "{text}: {why}");
        }
        let verdict = decide(&generous(Answerer::Yes), &command(text), Mode::Auto);
        assert!(matches!(verdict, Verdict::Deny(_)), "{text}: {verdict:?}");
    }
    for text in [
        "cat .git/config",
        "cat AGENTS.md",
        "ls -la .vscode",
        "rg x .github/workflows",
        "git add AGENTS.md .gitattributes",
        "git commit -m 'Update AGENTS.md'",
        "git diff .envrc",
        "cat .git/config | head -5",
        "ls .git && cat .mcp.json",
        "head CLAUDE.md; wc -l AGENTS.md",
        "find . -name .gitmodules",
        "cargo test",
        "make all",
        "cp a b",
        "echo x > out",
    ] {
        assert_eq!(decide(&policy, &command(text), Mode::Auto), Verdict::Allow, "{text}");
    }
}

#[test]
fn what_settings_of_git_name_is_asked_about_in_every_mode() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let (root, home) = (dir.join("work"), dir.join("home"));
    std::fs::create_dir_all(root.join(".git")).unwrap();
    std::fs::create_dir(&home).unwrap();
    std::fs::write(root.join(".git/config"), "[core]\n\thooksPath = tools/hk\n[include]\n\tpath = ../shared\n")
        .unwrap();
    std::fs::write(home.join(".gitconfig"), "[include]\n\tpath = ~/../work/dots/git\n").unwrap();
    let policy = Policy { root: Some(root.clone()), home: Some(home), ..generous(Answerer::User) };
    for name in ["tools/hk/pre-commit", "tools/hk/any", "shared", "dots/git"] {
        for mode in ASKING {
            let verdict = decide(&policy, &write(&root.join(name), None), mode);
            assert!(matches!(verdict, Verdict::Ask { grant: None, .. }), "{name} in {mode:?}: {verdict:?}");
        }
    }
    assert_eq!(decide(&policy, &write(&root.join("tools/other"), None), Mode::Ask), Verdict::Allow);
    // Of the repository around a directory that is worked in, and of one that was added.
    let deep = root.join("dots");
    let policy = Policy { root: Some(deep.clone()), home: None, ..generous(Answerer::User) };
    std::fs::write(root.join(".git/config"), "[core]\n\thooksPath = dots/checks\n").unwrap();
    let around = decide(&policy, &write(&deep.join("checks/pre-commit"), None), Mode::Auto);
    assert!(matches!(around, Verdict::Ask { grant: None, .. }), "{around:?}");
    let policy = Policy { root: Some(dir.join("other")), added: vec![root.clone()], ..policy };
    let added = decide(&policy, &write(&root.join("dots/checks/pre-commit"), None), Mode::Auto);
    assert!(matches!(added, Verdict::Ask { grant: None, .. }), "{added:?}");
}

#[test]
fn what_settings_of_a_nested_repository_name_is_asked_about_too() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("vendor/part/.git")).unwrap();
    std::fs::write(root.join("vendor/part/.git/config"), "[core]\n\thooksPath = ../checks\n").unwrap();
    let policy = Policy { root: Some(root.clone()), ..generous(Answerer::User) };
    let named = decide(&policy, &write(&root.join("vendor/checks/pre-commit"), None), Mode::Auto);
    assert!(matches!(named, Verdict::Ask { grant: None, .. }), "{named:?}");
    assert_eq!(decide(&policy, &write(&root.join("vendor/part/checks"), None), Mode::Auto), Verdict::Allow);
}
