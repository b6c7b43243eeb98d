//! The commands of one session with the protected files that they share, and questions that a test answers.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use steersman::workspace::snapshot::{Command, Decision, Protection, Question, Recovery, recover};
use steersman::workspace::{Ended, Sandbox};

use super::grounds::Grounds;

/// A session in the workspace of the grounds.
pub struct Session<'a> {
    pub grounds: &'a Grounds,
    pub sandbox: &'a Sandbox,
    pub protection: Arc<Protection>,
    asked: Mutex<Vec<Question>>,
}

impl<'a> Session<'a> {
    pub fn new(grounds: &'a Grounds, sandbox: &'a Sandbox) -> Self {
        let protection = Protection::new(Some(state(grounds)), Some(grounds.home.clone()));
        Self { grounds, sandbox, protection: Arc::new(protection), asked: Mutex::default() }
    }

    /// Prepares for a command.
    pub async fn enter(&self, decision: Decision) -> Result<(Command, Vec<String>), String> {
        let roots = [self.grounds.work.clone()];
        let ask = |question| self.ask(question, decision);
        let cover = self.sandbox.cover().unwrap();
        self.protection.enter(&roots, &Sandbox::repositories(&roots), cover, &ask).await
    }

    /// Looks after a command that has ended.
    pub async fn leave(&self, command: Command, decision: Decision) -> Vec<String> {
        command.leave(&|question| self.ask(question, decision)).await
    }

    /// Runs a shell command; returns how it ended and what is said of protected files.
    pub async fn run(&self, command: &str, decision: Decision) -> (Ended, Vec<String>) {
        self.try_run(command, decision).await.unwrap()
    }

    /// As [`Session::run`]; the sentence when the command must not run yet.
    pub async fn try_run(&self, command: &str, decision: Decision) -> Result<(Ended, Vec<String>), String> {
        let (entered, mut notes) = self.enter(decision).await?;
        let mut job = self.grounds.shell(command);
        job.environment.extend(entered.variable().map(|(name, mark)| (name.into(), mark.into())));
        let (ended, _) = self.grounds.run(self.sandbox, &job).await;
        notes.extend(self.leave(entered, decision).await);
        Ok((ended, notes))
    }

    /// Returns the questions since the last call.
    pub fn asked(&self) -> Vec<Question> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    fn ask(&self, question: Question, decision: Decision) -> BoxFuture<'static, Decision> {
        self.asked.lock().unwrap().push(question);
        std::future::ready(decision).boxed()
    }
}

/// Does what the next start does where nobody can be asked, as soon as the lock of the earlier one is free: a process that
/// another test is just starting may still hold it.
pub async fn recovered(grounds: &Grounds) -> Recovery {
    let ask = |_| async { Decision::Nobody }.boxed();
    let mut recovery = recover(&state(grounds), &grounds.work, &ask).await;
    for _ in 0..6_000 {
        if recovery.found > 0 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        recovery = recover(&state(grounds), &grounds.work, &ask).await;
    }
    recovery
}

/// Returns the state directory of the program.
pub fn state(grounds: &Grounds) -> PathBuf {
    grounds.home.join(".local/state/steersman")
}

/// Runs a script as the user does, outside of every sandbox; returns what it printed.
pub fn user(directory: &Path, home: &Path, script: &str) -> String {
    let mut command = std::process::Command::new("bash");
    command.args(["-ec", script]).current_dir(directory).env("HOME", home).env("GIT_CONFIG_NOSYSTEM", "1");
    for (name, value) in [("NAME", "A"), ("EMAIL", "a@example.com")] {
        command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}\n{}{said}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns every file below a directory with its content and mode.
pub fn tree(root: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            if metadata.is_dir() {
                open.push(path);
            } else {
                let content = fs::read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                found.push((name, format!("{:o} {}", metadata.permissions().mode(), content.unwrap_or_default())));
            }
        }
    }
    found.sort();
    found
}
