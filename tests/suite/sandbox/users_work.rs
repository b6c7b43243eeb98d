//! The user's own git work, outside of every sandbox, that goes on while commands run and are killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use steersman::workspace::sandbox::SandboxChoice;

use super::grounds::Grounds;
use super::session::{state, tree, user};

/// The work, until it is told to end.
pub struct UsersWork {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Done>,
}

/// What of the work was in its place when the user's command had ended.
#[derive(Debug, Default)]
pub struct Done {
    remotes: Vec<String>,
    hooks: Vec<String>,
    branches: Vec<String>,
    submodules: Vec<String>,
}

impl UsersWork {
    /// Starts to add remotes, hooks, commits and a submodule, with names that begin with `name`.
    pub fn start(grounds: &Grounds, name: &str) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let (work, home, name) = (grounds.work.clone(), grounds.home.clone(), name.to_owned());
        let until = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            let mut done = Done::default();
            for number in 0.. {
                if until.load(Ordering::Relaxed) {
                    break;
                }
                step(&work, &home, &format!("{name}-{number}"), number, &mut done);
            }
            done
        });
        Self { is_over, thread }
    }

    /// Ends it behind its last command.
    pub fn end(self) -> Done {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// Does one thing, and notes it when it can be seen: git may fail, or work elsewhere, under what an attack left.
fn step(work: &Path, home: &Path, name: &str, number: usize, done: &mut Done) {
    let settings = || fs::read_to_string(work.join(".git/config")).unwrap_or_default();
    let hooks = work.join(".git/hooks");
    match number % 4 {
        0 => {
            let is_done = git(work, home, &["remote", "add", name, "https://example.com/x"]);
            if is_done && settings().contains(&remote(name)) {
                done.remotes.push(name.to_owned());
            }
        }
        1 => {
            let is_there = || hooks.symlink_metadata().is_ok_and(|found| found.is_dir());
            if is_there() && fs::write(hooks.join(name), hook(name)).is_ok() && is_there() && hooks.join(name).exists()
            {
                done.hooks.push(name.to_owned());
            }
        }
        2 => {
            let script = format!("git update-ref refs/heads/{name} $(git commit-tree -m mine HEAD^{{tree}})");
            if run(work, home, "bash", &["-ec", &script]) && work.join(".git/refs/heads").join(name).exists() {
                done.branches.push(name.to_owned());
            }
        }
        _ if number == 3 => {
            let library = work.parent().unwrap().join("library").display().to_string();
            let file = "protocol.file.allow=always";
            let is_done = git(
                work,
                home,
                &["-c", file, "submodule", "--quiet", "add", "--name", name, &library, &format!("sub-{name}")],
            );
            let settings_there = work.join(".git/modules").join(name).join("config").exists();
            if is_done && settings_there && settings().contains(&submodule(name)) {
                done.submodules.push(name.to_owned());
            }
        }
        _ => {}
    }
}

fn git(work: &Path, home: &Path, arguments: &[&str]) -> bool {
    run(work, home, "git", arguments)
}

fn run(work: &Path, home: &Path, program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(work).env("HOME", home).env("GIT_CONFIG_NOSYSTEM", "1");
    for name in ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"] {
        command.env(name, "user");
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
}

fn remote(name: &str) -> String {
    format!("[remote \"{name}\"]\n")
}

fn submodule(name: &str) -> String {
    format!("[submodule \"{name}\"]\n")
}

fn hook(name: &str) -> String {
    format!("#!/bin/sh\n# the hook {name} of the user\n")
}

impl Done {
    /// Fails when something of it is lost. Where nothing tells the user from a command, what was put back is kept elsewhere.
    pub fn assert_stands(&self, grounds: &Grounds, kind: SandboxChoice, told: &dyn std::fmt::Debug) {
        let work = &grounds.work;
        let settings = fs::read_to_string(work.join(".git/config")).unwrap();
        for branch in &self.branches {
            assert!(work.join(".git/refs/heads").join(branch).exists(), "{kind:?}: {branch}: {told:#?}");
        }
        let mut kept = tree(work);
        let changed = state(grounds).join("changed");
        if changed.exists() {
            kept.extend(tree(&changed));
        }
        let is_kept = |text: &str| kept.iter().any(|(_, content)| content.contains(text));
        let sections =
            self.remotes.iter().map(|name| remote(name)).chain(self.submodules.iter().map(|name| submodule(name)));
        for section in sections {
            let stands = settings.contains(&section) || kind == SandboxChoice::Landlock && is_kept(&section);
            assert!(stands, "{kind:?}: {section:?} is lost; what stands:\n{settings}\n{told:#?}");
        }
        for name in &self.hooks {
            let is_there = fs::read_to_string(work.join(".git/hooks").join(name)).is_ok_and(|text| text == hook(name));
            let stands = is_there || kind == SandboxChoice::Landlock && is_kept(&hook(name));
            assert!(stands, "{kind:?}: the hook {name} is lost: {told:#?}");
        }
        for name in self.submodules.iter().filter(|_| kind != SandboxChoice::Landlock) {
            user(&work.join(format!("sub-{name}")), &grounds.home, "git status && git log -1");
        }
    }

    /// Tells whether there is anything.
    pub fn is_empty(&self) -> bool {
        [&self.remotes, &self.hooks, &self.branches, &self.submodules].iter().all(|all| all.is_empty())
    }

    /// Tells whether a file is the user's, by its path in the workspace.
    pub fn made(path: &str) -> bool {
        [".git/hooks/mine-", ".git/refs/heads/mine-", ".git/modules/mine-", "sub-mine-", ".gitmodules", ".git/logs"]
            .iter()
            .any(|own| path.starts_with(own))
    }

    /// Returns settings without the sections that the user adds.
    pub fn without_sections(settings: &str) -> String {
        let is_own = |line: &str| {
            let words = ["[remote \"mine-", "[submodule \"mine-", "\turl = ", "\tfetch = ", "\tactive = "];
            words.iter().any(|word| line.starts_with(word))
        };
        settings.split_inclusive('\n').filter(|line| !is_own(line)).collect()
    }
}

/// Makes the workspace what it was when it was saved.
pub struct Saved(PathBuf);

impl Saved {
    pub fn of(grounds: &Grounds) -> Self {
        let saved = grounds.work.with_file_name("saved");
        user(&grounds.outside, &grounds.home, &format!("cp -a {} {}", grounds.work.display(), saved.display()));
        Self(saved)
    }

    pub fn put_back(&self, grounds: &Grounds) {
        let (work, saved) = (grounds.work.display(), self.0.display());
        let script = format!("find {work} -mindepth 1 -delete; cp -a {saved}/. {work}");
        user(&grounds.outside, &grounds.home, &script);
    }
}
