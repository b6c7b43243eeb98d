//! One run of a hook: started by the spawner, given its input, read up to a limit, ended when its time is over.
//!
//! Always holds: when the future ends or is dropped, everything that the hook started is dead.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use crate::hooks::Hook;
use crate::hooks::content::{HookPlaces, private_copy, with_copies};
use steersman_base::limits;
use steersman_base::summary::bytes;
use steersman_base::text::utf16_text;
use steersman_tools::workspace::{
    Ended, Failure, Job, JobErrors, JobInput, Network, Running, Script, Spawner, TalkingJob, signal_name,
};

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// By itself.
    Ended {
        /// Its exit code.
        code: i32,
        /// Its output.
        output: String,
        /// The beginning of its error output.
        errors: String,
    },
    /// Its time was over.
    TimedOut,
    /// Nothing can be said of its output; a sentence says why.
    Failed(String),
}

/// What runs hooks.
#[derive(Clone)]
pub struct HookRunner {
    /// Starts them.
    pub spawner: Arc<Spawner>,
    /// Where they run, and what they can name.
    pub places: HookPlaces,
}

impl HookRunner {
    /// Runs a hook with its scripts, as they were read, to its end.
    ///
    /// # Panics
    /// Outside of a runtime.
    pub async fn run(&self, hook: &Hook, scripts: &[Script], input: &str) -> RunEnd {
        let places = &self.places;
        let beside = self.spawner.beside(hook.placement, hook.network);
        // Kept until the hook has ended.
        let copy = match private_copy(scripts, places, beside) {
            Ok(copy) => copy,
            Err(error) => return RunEnd::Failed(format!("its scripts cannot be copied: {error}")),
        };
        let copied = copy.as_ref().map(|copy| with_copies(hook, copy, places));
        let mut job = self.job(copied.as_ref().unwrap_or(hook), scripts);
        job.confinement.readable.extend(copy.as_ref().map(|copy| copy.directory().to_owned()));
        let TalkingJob { input: to, running, errors } =
            match self.spawner.start_talking(&job, hook.placement, &places.cwd) {
                Ok(job) => job,
                Err(error) => return RunEnd::Failed(format!("it does not start: {error}")),
            };
        match timeout(hook.time, talk(to, input, running, errors)).await {
            Ok(Ok((ended, output, errors))) => end(&ended, &output, &errors),
            Ok(Err(why)) => RunEnd::Failed(why),
            Err(_) => RunEnd::TimedOut,
        }
    }

    fn job(&self, hook: &Hook, scripts: &[Script]) -> Job {
        let argv: Vec<OsString> = match &hook.arguments {
            None => vec!["bash".into(), "-c".into(), hook.command.clone().into()],
            Some(arguments) => std::iter::once(&hook.command).chain(arguments).map(OsString::from).collect(),
        };
        let HookPlaces { cwd, project, .. } = &self.places;
        // Python loads nothing that lies in the workspace only because the hook runs there.
        let safe = ("PYTHONSAFEPATH".into(), "1".into());
        let names = ["CLAUDE_PROJECT_DIR", "STEERSMAN_PROJECT_DIR"].map(|name| (name.into(), project.into()));
        let mut confinement = self.spawner.reach(cwd);
        confinement.readable.push(project.clone());
        confinement.readable.extend(hook.plugin.clone());
        let plugin = hook.plugin.as_ref().map(|root| ("CLAUDE_PLUGIN_ROOT".into(), root.into()));
        confinement.readable.extend(scripts.iter().map(|script| self.shown(&script.path)));
        if hook.network == Network::On {
            confinement.network = Network::On;
        }
        Job {
            argv,
            cwd: cwd.clone(),
            environment: names.into_iter().chain([safe]).chain(plugin).collect(),
            confinement,
        }
    }

    /// Returns what of a script's place its hook sees: the directory with what lies beside the script, but of the home, and
    /// of the directories right below it, which hold other things, the script alone.
    fn shown(&self, script: &Path) -> PathBuf {
        let beside = script.parent().filter(|beside| {
            let is_broad = |home: &PathBuf| home.starts_with(beside) || beside.parent() == Some(home);
            beside.parent().is_some() && !self.places.home.as_ref().is_some_and(is_broad)
        });
        beside.unwrap_or(script).to_owned()
    }
}

/// Gives a hook its input and reads it to its end. It need not read its input.
async fn talk(
    to: JobInput,
    input: &str,
    mut running: Running,
    errors: JobErrors,
) -> Result<(Ended, Vec<u8>, Vec<u8>), String> {
    let giving = async move {
        let mut to = to;
        // One that does not read has ended, or has closed its input.
        let _ = to.write_all(input.as_bytes()).await;
        drop(to);
        std::future::pending().await
    };
    let reading = async {
        let reading = async {
            let output = read_output(&mut running).await?;
            Ok::<_, String>((running.ended().await, output))
        };
        let ((ended, output), errors) = tokio::try_join!(reading, async { Ok(read_errors(errors).await) })?;
        Ok((ended, output, errors))
    };
    tokio::select! {
        biased;
        read = reading => read,
        never = giving => never,
    }
}

async fn read_output(running: &mut Running) -> Result<Vec<u8>, String> {
    let mut output = Vec::new();
    let mut buffer = vec![0; 16 * 1024];
    loop {
        match running.read_output(&mut buffer).await {
            Ok(0) => return Ok(output),
            Ok(read) => output.extend_from_slice(buffer.get(..read).unwrap_or_default()),
            Err(error) => return Err(format!("its output cannot be read: {error}")),
        }
        if output.len() > limits::HOOK_OUTPUT_BYTES {
            return Err(format!("it printed more than {} and was ended", bytes(limits::HOOK_OUTPUT_BYTES as u64)));
        }
    }
}

/// Reads the error output to its end, and keeps its beginning.
async fn read_errors(mut errors: JobErrors) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut buffer = vec![0; 16 * 1024];
    let mut next = async || -> io::Result<Vec<u8>> {
        let read = errors.read(&mut buffer).await?;
        Ok(buffer.get(..read).unwrap_or_default().to_vec())
    };
    while let Ok(piece) = next().await {
        if piece.is_empty() {
            break;
        }
        let room = limits::HOOK_ERROR_BYTES.saturating_sub(kept.len());
        kept.extend_from_slice(piece.get(..room.min(piece.len())).unwrap_or_default());
    }
    kept
}

fn end(ended: &Ended, output: &[u8], errors: &[u8]) -> RunEnd {
    // PowerShell writes UTF-16.
    let text = |bytes: &[u8]| utf16_text(bytes).unwrap_or_else(|| String::from_utf8_lossy(bytes).into_owned());
    match (&ended.failure, ended.code, ended.signal) {
        (None, Some(code), _) => RunEnd::Ended { code, output: text(output), errors: text(errors) },
        (Some(Failure::NotStarted(why)), ..) => RunEnd::Failed(why.clone()),
        (None, None, Some(signal)) => RunEnd::Failed(format!("it was killed by {}", signal_name(signal))),
        (Some(Failure::TooManyProcesses), ..) => RunEnd::Failed("it had too many processes and was ended".to_owned()),
        (Some(Failure::TooMuchMemory(_) | Failure::MachineOutOfMemory), ..) => {
            RunEnd::Failed("it took too much memory and was ended".to_owned())
        }
        (Some(Failure::Unwatched | Failure::GuardLost), ..) | (None, None, None) => {
            RunEnd::Failed("how it ended is not known".to_owned())
        }
    }
}
