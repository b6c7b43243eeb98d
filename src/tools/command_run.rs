//! A command that runs: its output is taken until it ends, is ended, or goes on elsewhere.
//!
//! Called by `bash` for a command that is waited for, and by the task of a job for one in the background. Always holds:
//! neither an end that is asked for nor what is shown waits for an output that never stops.

use std::path::Path;
use std::sync::Arc;

use tokio::time::{Instant, MissedTickBehavior};

use crate::live::{LIVE_STEP, Live};
use crate::workspace::{ChangeMark, Ended, Failure, GitOperations, Job, Running, Spawner, Workspace, signal_name};
use steersman_base::details::{CommandEnd, TouchedFiles};
use steersman_base::limits;
use steersman_core::control::Cancellable;
use steersman_core::tool::capture::{Capture, Captured};
use steersman_core::tool::outputs::Outputs;

/// Bytes that are read at once.
const READ_BYTES: usize = 64 * 1024;

/// What brought a command to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Itself,
    TimedOut,
    Cancelled,
}

/// Takes the output of a command while it comes.
pub(super) trait OutputSink: Send {
    fn took(&mut self, piece: &[u8]);

    /// Takes what is shown live.
    fn shows(&mut self, text: String);

    /// Takes the file that everything goes to, once there is one.
    fn saves(&mut self, file: &Path) {
        let _ = file;
    }
}

/// A command that runs, with what it has printed.
#[derive(Debug)]
pub(super) struct CommandRun {
    running: Running,
    capture: Capture,
    live: Live,
    outputs: Option<Arc<Outputs>>,
    is_open: bool,
    /// Whether the file with everything was told.
    is_saved: bool,
    end: End,
}

impl CommandRun {
    /// Takes a command that has just been started.
    pub(super) fn new(running: Running, outputs: Option<Arc<Outputs>>) -> Self {
        let (capture, live) = (Capture::default(), Live::new(Instant::now()));
        Self { running, capture, live, outputs, is_open: true, is_saved: false, end: End::Itself }
    }

    /// Returns the file that takes the whole output, where one does.
    pub(super) fn file(&self) -> Option<&Path> {
        self.capture.file()
    }

    /// Returns what is kept of the output so far, as far as it is one piece, and the number of bytes before that.
    pub(super) fn kept(&self) -> (Vec<u8>, u64) {
        self.capture.newest()
    }

    /// Shows the output from its beginning, as far as it is kept: it goes on where nothing of it was shown.
    pub(super) fn show_again(&mut self) {
        self.live = Live::again(Instant::now(), self.kept());
    }

    /// Takes the output until the command ends, which `stop` brings about; `None` when it is to go on elsewhere, before.
    pub(super) async fn follow(
        &mut self,
        stop: impl Future<Output = End> + Send,
        leave: impl Future<Output = ()> + Send,
        sink: &mut dyn OutputSink,
    ) -> Option<(End, Ended)> {
        let mut step = tokio::time::interval(LIVE_STEP);
        step.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut stop, mut leave) = (std::pin::pin!(stop), std::pin::pin!(leave));
        let mut buffer = vec![0; READ_BYTES];
        loop {
            tokio::select! {
                biased;
                end = &mut stop, if self.end == End::Itself => {
                    self.end = end;
                    self.running.kill();
                }
                () = &mut leave, if self.end == End::Itself => return None,
                _ = step.tick(), if self.live.is_waiting() => {
                    if let Some(text) = self.live.take_due(Instant::now()) {
                        sink.shows(text);
                    }
                }
                came = next(&mut self.running, &mut buffer, self.is_open) => match came {
                    Came::Output(bytes) => {
                        let piece = buffer.get(..bytes).unwrap_or_default();
                        sink.took(piece);
                        self.live.push(piece);
                        self.capture.push(piece, self.outputs.as_deref()).await;
                        if let (false, Some(file)) = (self.is_saved, self.capture.file()) {
                            self.is_saved = true;
                            sink.saves(file);
                        }
                    }
                    Came::Closed => self.is_open = false,
                    Came::End(ended) => return Some((self.end, ended)),
                },
            }
        }
    }

    /// Shows what was not shown yet, and returns the output of a command that has ended.
    pub(super) async fn finish(self, sink: &mut dyn OutputSink) -> Captured {
        if let Some(text) = self.live.finish(Instant::now()) {
            sink.shows(text);
        }
        self.capture.finish(self.outputs.as_deref()).await
    }
}

enum Came {
    Output(usize),
    /// There is no more output; the command may go on without.
    Closed,
    End(Ended),
}

async fn next(running: &mut Running, buffer: &mut [u8], is_open: bool) -> Came {
    if !is_open {
        return Came::End(running.ended().await);
    }
    match running.read_output(buffer).await {
        Ok(0) | Err(_) => Came::Closed,
        Ok(bytes) => Came::Output(bytes),
    }
}

/// What is to be looked at once a command of an agent has ended.
pub(super) struct Aftermath {
    /// What the command ran as.
    pub(super) job: Job,
    pub(super) spawner: Arc<Spawner>,
    pub(super) workspace: Arc<Workspace>,
    pub(super) began: ChangeMark,
    /// What of git was stopped then.
    pub(super) stopped: GitOperations,
}

impl Aftermath {
    /// Finds the files that changed; returns what there is to say. `over` is set once nobody waits.
    pub(super) async fn conclude(self, ended: &Ended, output: &str, over: &Cancellable) -> (Vec<String>, TouchedFiles) {
        let Self { job, spawner, workspace, began, stopped } = self;
        let sandbox = spawner.sandbox();
        let explained = sandbox.explain_hidden(&job, output);
        let explained = explained.or_else(|| if ended.code == Some(0) { None } else { sandbox.explain(&job, output) });
        let over = over.clone();
        let search = move || {
            let stopped = GitOperations::find(&job.confinement.writable).new_since(&stopped);
            let touched = began.touched(&workspace, || over.check().is_err());
            let paths = touched.paths.iter().map(|path| workspace.display(path)).collect();
            (stopped, TouchedFiles { paths, partial: touched.is_partial })
        };
        // A search that breaks down has found nothing for certain.
        let nothing = |_| (None, TouchedFiles { paths: Vec::new(), partial: true });
        let (stopped, touched) = tokio::task::spawn_blocking(search).await.unwrap_or_else(nothing);
        (explained.into_iter().chain(stopped).collect(), touched)
    }
}

/// Returns the facts of the end of a command for the screen.
pub(super) fn command_end(end: End, ended: &Ended, captured: &Captured, touched: TouchedFiles) -> CommandEnd {
    CommandEnd {
        code: ended.code,
        signal: ended.signal.map(signal_name),
        timed_out: end == End::TimedOut,
        bytes: captured.total,
        lines: Some(captured.lines),
        lines_left_out: captured.lines_left_out,
        killed: ended.killed,
        saved: captured.saved.clone(),
        touched,
    }
}

/// Says why a command was ended or did not start; `None` where it ended by itself, or was ended from outside.
pub(super) fn failure_text(failure: &Failure) -> String {
    match failure {
        Failure::NotStarted(sentence) => sentence.clone(),
        Failure::TooManyProcesses => {
            format!("the command was ended: it had more than {} processes", limits::JOB_PROCESSES)
        }
        Failure::TooMuchMemory(most) => {
            format!("the command was ended: it had more than {} MB of memory", most / 1_000_000)
        }
        Failure::MachineOutOfMemory => "the command was ended: the machine had almost no memory left".to_owned(),
        Failure::GuardLost => "the command was ended: it killed the process that watches over it".to_owned(),
        Failure::Unwatched => "the command was ended: its processes could not be watched any more".to_owned(),
    }
}
