//! The probe: whether a sandbox really works, which no version and no file can tell. Made by
//! [`super::Sandbox::detect`].

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;

use tokio::process::Command;

use crate::limits;
use crate::sync::with_spawn_lock;
use crate::text::visible_line;
use crate::workspace::sandbox::Surroundings;
use crate::workspace::{Confinement, Job, programs};

pub(super) fn job(cwd: &Path) -> Job {
    Job {
        argv: ["sh", "-c", "echo > \"$TMPDIR/probe\" && rm \"$TMPDIR/probe\""].map(Into::into).to_vec(),
        cwd: cwd.to_owned(),
        environment: Vec::new(),
        confinement: Confinement { readable: Vec::new(), writable: vec![cwd.to_owned()], ..Confinement::default() },
    }
}

/// Runs a command line that should end well at once; says what it said when it does not.
pub(super) async fn run(line: &[OsString], path: &OsString) -> Result<(), String> {
    let Some((program, arguments)) = line.split_first() else { return Err("there is nothing to run".to_owned()) };
    let mut command = Command::new(program);
    command.args(arguments).env_clear().env("PATH", path).kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let ending = async { with_spawn_lock(|| command.spawn())?.wait_with_output().await };
    match tokio::time::timeout(limits::SANDBOX_PROBE, ending).await {
        Ok(Ok(output)) if output.status.success() => Ok(()),
        Ok(Ok(output)) => {
            let printed = String::from_utf8_lossy(&output.stderr);
            let line = printed.lines().map(str::trim).rfind(|line| !line.is_empty());
            Err(line.map_or_else(|| output.status.to_string(), |line| visible_line(line).into_owned()))
        }
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("it does not answer".to_owned()),
    }
}

/// Settings of the user that git in a sandbox gets: who commits, and how files begin. Never one that names a program.
const GIT_SETTINGS: &str = r"^(user\.(name|email)|init\.defaultbranch|core\.(autocrlf|eol))$";

/// Returns those settings as a configuration of git; `None` when there are none.
pub(super) async fn git_settings(around: &Surroundings) -> Option<String> {
    let mut command = Command::new(programs::find("git", &around.path, &around.writable)?);
    command.args(["config", "--global", "--includes", "-z", "--get-regexp", GIT_SETTINGS]);
    let path = programs::search_path(&around.path, &around.writable);
    command.env_clear().env("PATH", path).env("HOME", around.home.as_ref()?).current_dir("/").kill_on_drop(true);
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
