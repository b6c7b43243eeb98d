//! The tool `git_clone`: a copy of a repository from the web, into the workspace.
//!
//! Only the newest state of one branch, over http(s), from the address that was checked and no other: git is told to ask
//! it there, to follow nowhere, to run nothing and to read no configuration. It runs in the sandbox, where only the
//! new directory can be written. What came stays untrusted.

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::OnceCell;
use tokio::time::{Instant, MissedTickBehavior};

use crate::checkout::{self, Size};
use crate::web::{Client, Target};
use crate::workspace::{Confinement, Ended, Failure, Job, Network, Running, Spawner, Workspace, signal_name};
use crate::workspace_in;
use steersman_base::details::{CommandEnd, Details};
use steersman_base::error::Cancelled;
use steersman_base::limits;
use steersman_base::text::{clip, visible_line};
use steersman_core::approval::CloneOperation;
use steersman_core::tool::{Args, OnCancel, Parameters, Tool, ToolContext, ToolDirectory, ToolError, ToolSpec, Traits};

/// The first git that can be told at which address a host is.
const LEAST_GIT: (u32, u32) = (2, 37);

/// What git is told besides the address: nothing is run, nothing is asked, nothing is read but what it is told.
const SETTINGS: [&str; 17] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.askPass=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "credential.helper=",
    "http.followRedirects=false",
    "http.proxy=",
    "http.sslVerify=true",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=30",
    "protocol.allow=never",
    "protocol.http.allow=always",
    "protocol.https.allow=always",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// Variables that hold git to the same.
const VARIABLES: [(&str, &str); 9] = [
    ("HOME", "/nonexistent"),
    ("XDG_CONFIG_HOME", "/nonexistent"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ALLOW_PROTOCOL", "http:https"),
    ("GIT_ASKPASS", "false"),
    ("GIT_LFS_SKIP_SMUDGE", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];

/// Copies repositories into a workspace.
pub struct GitCloneTool {
    workspace: Arc<Workspace>,
    spawner: Arc<Spawner>,
    client: Client,
    bounds: CloneBounds,
    /// The version of git, once it was asked.
    version: Arc<OnceCell<(u32, u32)>>,
    spec: ToolSpec,
}

/// How much a copy may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CloneBounds {
    /// Time for everything.
    pub time: std::time::Duration,
    /// Time until the first of the history has come.
    pub first: std::time::Duration,
    /// Memory of git, bytes: what a server tells before the history comes is kept there.
    pub memory: u64,
    /// Bytes of the directory, history and files together.
    pub bytes: u64,
    /// Files of the directory.
    pub files: u64,
}

impl Default for CloneBounds {
    fn default() -> Self {
        Self {
            time: limits::CLONE_TIME,
            first: limits::CLONE_FIRST,
            memory: limits::CLONE_MEMORY,
            bytes: limits::CLONE_BYTES,
            files: limits::CLONE_FILES,
        }
    }
}

impl GitCloneTool {
    /// Makes the tool. `client` says which addresses may be asked and looks names up.
    pub fn new(workspace: Arc<Workspace>, spawner: Arc<Spawner>, client: Client) -> Self {
        let parameters = Parameters::build(|p| {
            p.required_string("url", "The address of the repository, with https://.");
            p.optional_string("directory", "The new directory, in the workspace. Default: the repository's name.");
        });
        let description = format!(
            "Copies a git repository from the web into a new directory of the workspace: the newest commit of its main \
             branch, without history, tags and submodules. At most {} MB in {} minutes. Redirects are not followed. Read \
             it with read, grep and glob.",
            limits::CLONE_BYTES / 1_000_000,
            limits::CLONE_TIME.as_secs() / 60,
        );
        let (bounds, version) = (CloneBounds::default(), Arc::default());
        let spec = ToolSpec::new("git_clone", description, parameters).on_cancel(OnCancel::Wait).traits(Traits {
            private: false,
            untrusted: true,
            egress: true,
        });
        Self { workspace, spawner, client, bounds, version, spec }
    }

    /// Sets how much a copy may take.
    #[must_use]
    pub fn with_bounds(mut self, bounds: CloneBounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// Returns what is asked of the user: the address as it is asked, and the new directory.
    fn act(&self, args: &Args) -> Result<CloneOperation, ToolError> {
        let target = self.client.target(args.str("url").trim())?;
        // What listens behind an address without a port of its own listens there, or is not cloned.
        let target = target.upgraded().unwrap_or(target);
        let name = match args.opt_str("directory") {
            Some(directory) => directory.to_owned(),
            None => name_of(&target)?,
        };
        let into = self.workspace.resolve_write(&name).map_err(ToolError::Failed)?;
        let below = into.strip_prefix(self.workspace.root()).unwrap_or(Path::new(""));
        let is_hidden = below.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."));
        if below.as_os_str().is_empty() || is_hidden {
            let shown = visible_line(&name);
            return Err(ToolError::failed(format!("{shown} is not a new directory: name one that is not hidden")));
        }
        if into.symlink_metadata().is_ok() {
            let shown = self.workspace.display(&into);
            return Err(ToolError::failed(format!("{shown} is there already: name a new directory")));
        }
        Ok(CloneOperation { url: target.url().to_string(), into })
    }

    async fn clone_into(&self, operation: &CloneOperation, context: &ToolContext) -> Result<String, ToolError> {
        self.check_version().await?;
        let target = self.client.target(&operation.url)?;
        let addresses = self.client.pin(&target).await?;
        let shown = self.workspace.display(&operation.into);
        let failed = |error: io::Error| ToolError::failed(format!("{shown} cannot be made: {error}"));
        std::fs::create_dir_all(&operation.into).map_err(failed)?;
        if operation.into.canonicalize().map_err(failed)? != operation.into {
            return Err(ToolError::failed(format!("{shown} lies elsewhere now than when it was asked about")));
        }
        let ended = self.follow(&operation.into, &job(&target, &addresses, &operation.into), context).await;
        let result = match ended {
            Ok(()) => checkout::describe(&operation.url, &shown, &operation.into).await,
            Err(error) => Err(error),
        };
        if result.is_err() {
            let into = operation.into.clone();
            // Nothing that is incomplete stays, and what was refused least of all.
            let _ = tokio::task::spawn_blocking(move || std::fs::remove_dir_all(into)).await;
        }
        result
    }

    /// Runs git to its end, within the bounds.
    async fn follow(&self, into: &Path, job: &Job, context: &ToolContext) -> Result<(), ToolError> {
        let memory = Some(self.bounds.memory);
        let mut running = self.spawner.start_own(job, memory).map_err(|error| not_started(&error))?;
        let mut output = OutputTail::default();
        let mut broken = None;
        let began = Instant::now();
        let mut size = Size::default();
        let mut step = tokio::time::interval(limits::CLONE_WATCH);
        step.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut late = std::pin::pin!(tokio::time::sleep_until(Instant::now() + self.bounds.time));
        let mut buffer = [0; 4096];
        loop {
            tokio::select! {
                biased;
                () = context.cancellable.cancelled(), if broken.is_none() => {
                    broken = Some(Broken::Cancelled);
                    running.kill();
                }
                () = &mut late, if broken.is_none() => {
                    broken = Some(Broken::Late);
                    running.kill();
                }
                _ = step.tick(), if broken.is_none() => {
                    let now = checkout::size(into, self.bounds.files).await;
                    if now.bytes > self.bounds.bytes || now.files > self.bounds.files {
                        broken = Some(Broken::Large);
                        running.kill();
                    } else if began.elapsed() > self.bounds.first && !checkout::has_begun(into).await {
                        broken = Some(Broken::Silent);
                        running.kill();
                    } else if now.bytes > size.bytes {
                        context.progress(format!("{}\n", checkout::megabytes(now.bytes)));
                    }
                    size = now;
                }
                read = running.read_output(&mut buffer) => match read {
                    Ok(0) | Err(_) => break,
                    Ok(bytes) => output.push(buffer.get(..bytes).unwrap_or_default()),
                },
            }
        }
        let ended = end(&mut running, &mut broken, context, late.as_mut()).await;
        context.details(Details::Command(CommandEnd {
            code: ended.code,
            signal: ended.signal.map(signal_name),
            timed_out: broken == Some(Broken::Late),
            bytes: output.total,
            lines: None,
            lines_left_out: 0,
            killed: ended.killed,
            saved: None,
            ..CommandEnd::default()
        }));
        let after = checkout::size(into, self.bounds.files).await;
        let is_large = after.bytes > self.bounds.bytes || after.files > self.bounds.files;
        match (broken, &ended.failure) {
            (Some(Broken::Cancelled), _) => Err(Cancelled.into()),
            (Some(Broken::Late), _) => Err(ToolError::failed(format!(
                "the clone took longer than {} s; nothing of it was kept",
                self.bounds.time.as_secs()
            ))),
            (Some(Broken::Silent), _) => Err(ToolError::failed(format!(
                "the server sent nothing of the history within {} s; nothing was kept",
                self.bounds.first.as_secs()
            ))),
            (Some(Broken::Large), _) => Err(self.too_large()),
            (None, Some(Failure::NotStarted(sentence))) => Err(ToolError::failed(sentence)),
            (None, Some(Failure::TooMuchMemory(_))) => Err(self.too_much_memory()),
            (None, Some(Failure::MachineOutOfMemory)) => {
                Err(ToolError::failed("git was ended: the machine had almost no memory left; nothing was kept"))
            }
            (None, Some(Failure::TooManyProcesses | Failure::GuardLost | Failure::Unwatched)) => {
                Err(ToolError::failed("git was ended"))
            }
            (None, None) if ended.code == Some(0) && is_large => Err(self.too_large()),
            (None, None) if ended.code == Some(0) => Ok(()),
            (None, None) if output.is_out_of_memory() => Err(self.too_much_memory()),
            (None, None) => Err(output.failure(&ended)),
        }
    }

    fn too_much_memory(&self) -> ToolError {
        ToolError::failed(format!(
            "git was ended: it needed more than {} of memory, for a history or a list of branches as large as that; \
             nothing was kept",
            checkout::megabytes(self.bounds.memory)
        ))
    }

    fn too_large(&self) -> ToolError {
        let CloneBounds { bytes, files, .. } = self.bounds;
        let most = checkout::megabytes(bytes);
        ToolError::failed(format!(
            "the repository is larger than {most}, or has more than {files} files; nothing of it was kept"
        ))
    }

    /// Makes sure that git can be held to an address.
    async fn check_version(&self) -> Result<(), ToolError> {
        let found = self.version.get_or_try_init(|| self.ask_version()).await?;
        if *found >= LEAST_GIT {
            return Ok(());
        }
        let ((major, minor), (least, least_minor)) = (*found, LEAST_GIT);
        Err(ToolError::failed(format!(
            "git {major}.{minor} cannot be held to the address that was checked; {least}.{least_minor} or newer is needed"
        )))
    }

    async fn ask_version(&self) -> Result<(u32, u32), ToolError> {
        let job = Job {
            argv: ["git", "--version"].map(Into::into).to_vec(),
            cwd: "/".into(),
            environment: VARIABLES.map(|(name, value)| (name.into(), value.into())).to_vec(),
            confinement: Confinement { readable: vec![self.workspace.root().to_owned()], ..Confinement::default() },
        };
        let mut running =
            self.spawner.start_own(&job, Some(self.bounds.memory)).map_err(|error| not_started(&error))?;
        let mut output = OutputTail::default();
        let mut buffer = [0; 256];
        while let Ok(bytes @ 1..) = running.read_output(&mut buffer).await {
            output.push(buffer.get(..bytes).unwrap_or_default());
        }
        let ended = running.ended().await;
        if let Some(Failure::NotStarted(sentence)) = ended.failure {
            return Err(ToolError::Failed(sentence));
        }
        output.version().ok_or_else(|| output.failure(&ended))
    }
}

impl Tool for GitCloneTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(&'a self, args: Args, context: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
        async move {
            context.cancellable.check()?;
            let operation = self.act(&args)?;
            let operation = context.cancellable.unless_cancelled(context.approve(operation)).await??.take();
            self.clone_into(&operation, context).await
        }
        .boxed()
    }

    fn in_directory(&self, directory: &ToolDirectory) -> Option<Result<Arc<dyn Tool>, String>> {
        let bound = |workspace| {
            let mut tool = Self::new(workspace, Arc::clone(&self.spawner), self.client.clone());
            tool.bounds = self.bounds;
            tool.version = Arc::clone(&self.version);
            tool
        };
        Some(workspace_in(directory).map(|workspace| Arc::new(bound(workspace)) as _))
    }
}

/// Why a clone was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Broken {
    Cancelled,
    Late,
    Silent,
    Large,
}

/// Waits for the end of a job that has closed its output.
async fn end(
    running: &mut Running,
    broken: &mut Option<Broken>,
    context: &ToolContext,
    late: std::pin::Pin<&mut tokio::time::Sleep>,
) -> Ended {
    if broken.is_none() {
        tokio::select! {
            biased;
            ended = running.ended() => return ended,
            () = context.cancellable.cancelled() => *broken = Some(Broken::Cancelled),
            () = late => *broken = Some(Broken::Late),
        }
        running.kill();
    }
    running.ended().await
}

/// The last words of git.
#[derive(Default)]
struct OutputTail {
    bytes: Vec<u8>,
    total: u64,
}

impl OutputTail {
    fn push(&mut self, piece: &[u8]) {
        self.total += piece.len() as u64;
        self.bytes.extend_from_slice(piece);
        let excess = self.bytes.len().saturating_sub(limits::CLONE_OUTPUT_BYTES);
        self.bytes.drain(..excess);
    }

    /// Tells whether git, or a library of it, did not get the memory that it asked for.
    fn is_out_of_memory(&self) -> bool {
        let text = String::from_utf8_lossy(&self.bytes).to_ascii_lowercase();
        ["out of memory", "cannot allocate memory", "mmap failed", "unable to create thread"]
            .iter()
            .any(|words| text.contains(words))
    }

    fn version(&self) -> Option<(u32, u32)> {
        let text = String::from_utf8_lossy(&self.bytes);
        let mut numbers = text.trim().strip_prefix("git version ")?.split('.');
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    }

    fn failure(&self, ended: &Ended) -> ToolError {
        let text = String::from_utf8_lossy(&self.bytes);
        let words = clip(text.trim(), limits::ERROR_CHARS);
        let hint = if text.contains("error: 30") {
            "\n[redirects are not followed; call again with the address that it leads to]"
        } else {
            ""
        };
        let how = match (ended.code, ended.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => signal_name(signal),
            (None, None) => "how it ended is unknown".to_owned(),
        };
        ToolError::failed(format!("the repository cannot be cloned ({how}):\n{words}{hint}"))
    }
}

fn not_started(error: &io::Error) -> ToolError {
    ToolError::failed(format!("git cannot be started: {error}"))
}

/// Returns the name of a repository, as a directory.
fn name_of(target: &Target) -> Result<String, ToolError> {
    let last = target.url().path_segments().and_then(|mut parts| parts.rfind(|part| !part.is_empty()));
    let name = last.map(|last| last.strip_suffix(".git").unwrap_or(last)).unwrap_or_default();
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+'));
    if name.is_empty() || !is_plain || name.starts_with(['-', '.']) {
        return Err(ToolError::failed("the address has no name for the new directory: give one"));
    }
    Ok(name.to_owned())
}

fn job(target: &Target, addresses: &[SocketAddr], into: &Path) -> Job {
    let mut argv = vec!["git".to_owned()];
    let pin = pin(target, addresses);
    for setting in SETTINGS.map(str::to_owned).into_iter().chain(pin) {
        argv.extend(["-c".to_owned(), setting]);
    }
    argv.extend(
        ["clone", "--depth=1", "--single-branch", "--no-tags", "--no-recurse-submodules", "--template=", "--"]
            .map(str::to_owned),
    );
    argv.push(target.url().to_string());
    Job {
        argv: argv.into_iter().map(OsString::from).chain([into.into()]).collect(),
        // Not where a repository around it could have settings for git.
        cwd: "/".into(),
        environment: VARIABLES.map(|(name, value)| (name.into(), value.into())).to_vec(),
        confinement: Confinement {
            writable: vec![PathBuf::from(into)],
            // A repository is what it makes.
            unprotected: vec![PathBuf::from(into)],
            network: Network::On,
            ..Confinement::default()
        },
    }
}

/// Returns the setting that tells git where a named host is. A number needs none.
fn pin(target: &Target, addresses: &[SocketAddr]) -> Option<String> {
    let name = target.url().domain()?;
    let port = target.url().port_or_known_default()?;
    let addresses: Vec<String> = addresses
        .iter()
        .map(|address| match address {
            SocketAddr::V4(address) => address.ip().to_string(),
            SocketAddr::V6(address) => format!("[{}]", address.ip()),
        })
        .collect();
    Some(format!("http.curloptResolve={name}:{port}:{}", addresses.join(",")))
}
