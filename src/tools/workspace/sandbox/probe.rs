//! The probe: whether a sandbox really works, which no version and no file can tell. Made by
//! [`super::Sandbox::detect`].

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Stdio;

use tokio::process::Command;

use crate::workspace::sandbox::Surroundings;
use crate::workspace::{ChildEnvironment, Confinement, Failure, Job, OutsideCommand, Sandbox, Spawner, programs};
use steersman_base::limits;
use steersman_base::sync::with_spawn_lock;
use steersman_base::text::visible_line;

pub(super) fn job(cwd: &Path) -> Job {
    Job {
        argv: ["sh", "-c", "echo > \"$TMPDIR/probe\" && rm \"$TMPDIR/probe\""].map(Into::into).to_vec(),
        cwd: cwd.to_owned(),
        environment: Vec::new(),
        confinement: Confinement { readable: Vec::new(), writable: vec![cwd.to_owned()], ..Confinement::default() },
    }
}

/// Runs a job that should end well at once; says what it said when it does not.
pub(super) async fn run(around: &Surroundings, sandbox: &Sandbox, job: &Job) -> Result<(), String> {
    // What a command has left behind must not say whether it is confined.
    let path = programs::search_path(&around.path, &around.writable);
    let environment = ChildEnvironment::new([("PATH".into(), path)], &[] as &[&str], &[]);
    let spawner = Spawner::new(around.program.clone(), sandbox.clone(), environment);
    let ending = async {
        let mut running = spawner.start(job)?;
        let mut printed = Vec::new();
        let mut piece = [0; 1024];
        while let read @ 1.. = running.read_output(&mut piece).await? {
            printed.extend_from_slice(piece.get(..read).unwrap_or_default());
        }
        Ok::<_, io::Error>((running.ended().await, printed))
    };
    let (ended, printed) = match tokio::time::timeout(limits::SANDBOX_PROBE, ending).await {
        Ok(ended) => ended.map_err(|error| error.to_string())?,
        Err(_) => return Err("it does not answer".to_owned()),
    };
    if ended.code == Some(0) {
        return Ok(());
    }
    let printed = String::from_utf8_lossy(&printed);
    let line = printed.lines().map(str::trim).rfind(|line| !line.is_empty());
    Err(match (line, ended.failure) {
        (Some(line), _) => visible_line(line).into_owned(),
        (None, Some(Failure::NotStarted(why))) => why,
        (None, _) => format!("it ended with exit code {}", ended.code.unwrap_or_default()),
    })
}

/// Settings of the user that git in a sandbox gets: who commits, and how files begin. Never one that names a program.
const GIT_SETTINGS: &str = r"^(user\.(name|email)|init\.defaultbranch|core\.(autocrlf|eol))$";

/// Returns those settings as a configuration of git; `None` when there are none.
pub(super) async fn git_settings(around: &Surroundings) -> Option<String> {
    let line = ["git", "config", "--global", "--includes", "-z", "--get-regexp", GIT_SETTINGS].map(OsString::from);
    let variables = [("PATH".into(), around.path.clone())];
    let outside = OutsideCommand::new(&line, Path::new("/"), variables, &around.writable).ok()?;
    // Also where the home is the workspace: only these settings are read.
    let outside = outside.with_variable("HOME", around.home.as_ref()?);
    let mut command = Command::from(outside.command());
    command.kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let child = with_spawn_lock(|| command.spawn()).ok()?;
    let output = tokio::time::timeout(limits::SANDBOX_PROBE, child.wait_with_output()).await.ok()?.ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let settings = text.split('\0').filter_map(|entry| entry.split_once('\n')).filter_map(|(name, value)| {
        let (section, key) = name.split_once('.')?;
        let value = value.replace('\\', r"\\").replace('"', r#"\""#);
        (!value.contains(char::is_control)).then(|| format!("[{section}]\n\t{key} = \"{value}\"\n"))
    });
    Some(settings.collect()).filter(|text: &String| !text.is_empty())
}
