//! The commands that the agents ran, as a client knows them: what, where, how each ended, and what it printed.
//!
//! Reduced from events, so that a resumed session, a replay and a screen that joined later know them too. Bounded: of the
//! commands the newest are kept, and of each the end of its output.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use steersman_base::details::{CommandEnd, Details};
use steersman_base::event::{Envelope, Event};
use steersman_base::id::{AgentId, CallId, JobId};
use steersman_base::limits::{LISTED_COMMANDS, LISTED_OUTPUT_BYTES};
use steersman_base::message::Arguments;
use steersman_base::text::{CommandOutput, visible_line};

/// The tool that runs commands.
const TOOL: &str = "bash";

/// A command that an agent ran.
#[derive(Debug, Clone)]
pub struct CommandRun {
    /// Who ran it.
    pub agent: AgentId,
    /// The call that ran it.
    pub call: CallId,
    /// What its shell runs (untrusted).
    pub command: String,
    /// Where (untrusted); empty where that is not known.
    pub directory: String,
    /// When it began.
    pub started: Timestamp,
    /// How long it ran, milliseconds; `None` while it runs.
    pub elapsed_ms: Option<u64>,
    /// How it ended; `None` while it runs, and for one that never started.
    pub end: Option<CommandEnd>,
    /// The end of what it printed, or why it did not run; safe to show.
    pub output: String,
    /// The job that it became when it was sent to the background.
    job: Option<JobId>,
}

impl CommandRun {
    /// Says in a few words how it stands; safe to show.
    pub fn describe(&self) -> String {
        match (&self.end, self.elapsed_ms) {
            (_, None) => "running".to_owned(),
            (None, Some(_)) if self.output.is_empty() => "interrupted".to_owned(),
            (None, Some(_)) => "not run".to_owned(),
            (Some(CommandEnd { timed_out: true, .. }), _) => "timed out".to_owned(),
            (Some(CommandEnd { code: Some(code), .. }), _) => format!("exit code {code}"),
            (Some(CommandEnd { signal: Some(signal), .. }), _) => format!("ended by {}", visible_line(signal)),
            (Some(_), _) => "ended, how is unknown".to_owned(),
        }
    }

    /// Tells whether it ended, and not well.
    pub fn has_failed(&self) -> bool {
        self.elapsed_ms.is_some() && self.end.as_ref().is_some_and(CommandEnd::failed)
    }
}

/// The commands of a session, in the order in which they began.
#[derive(Debug, Clone, Default)]
pub struct CommandList {
    commands: VecDeque<Arc<CommandRun>>,
    /// How many were forgotten before the first of them.
    forgotten: usize,
    /// The numbers of those whose call has no result yet, so that no event looks at all of them.
    open: HashMap<(AgentId, CallId), usize>,
    /// The numbers of those that go on in the background.
    jobs: HashMap<JobId, usize>,
    directories: HashMap<AgentId, String>,
}

impl CommandList {
    /// Takes an event.
    pub fn apply(&mut self, envelope: &Envelope) {
        match &envelope.event {
            Event::SessionStarted { cwd, .. } => {
                self.directories.insert(envelope.agent.clone(), cwd.clone());
            }
            Event::ToolCall { id, name, arguments: Arguments::Object(arguments) } if name == TOOL => {
                self.start(envelope, id, arguments.get("command").and_then(Value::as_str).unwrap_or_default());
            }
            Event::ToolDetails { id, details: Details::Command(end) } => {
                if let Some(run) = self.of_call(&envelope.agent, id) {
                    run.end = Some(end.clone());
                }
            }
            Event::ToolResult { id, content, elapsed_ms, .. } => {
                // One in the background goes on.
                if let Some(run) = self.of_call(&envelope.agent, id).filter(|run| run.job.is_none()) {
                    run.elapsed_ms = Some(*elapsed_ms);
                    run.output = newest(content);
                }
                self.open.remove(&(envelope.agent.clone(), id.clone()));
            }
            Event::JobStarted(start) => {
                let key = start.call.as_ref().map(|call| (envelope.agent.clone(), call.clone()));
                if let Some(number) = key.and_then(|key| self.open.get(&key)).copied() {
                    self.jobs.insert(start.id.clone(), number);
                    if let Some(run) = self.numbered(number) {
                        run.job = Some(start.id.clone());
                    }
                }
            }
            Event::JobEnded(end) => {
                if let Some(run) = self.jobs.remove(&end.id).and_then(|number| self.numbered(number)) {
                    (run.elapsed_ms, run.end) = (Some(end.elapsed_ms), Some(end.end.clone()));
                    run.output = newest(&end.output);
                }
            }
            // What still ran has ended with its turn.
            Event::TurnEnded { .. } => self.end_of(&envelope.agent, envelope.at),
            Event::AgentFinished { child, .. } => self.end_of(child, envelope.at),
            _ => {}
        }
    }

    fn start(&mut self, envelope: &Envelope, call: &CallId, command: &str) {
        let directories = [&envelope.agent, &AgentId::main()].map(|agent| self.directories.get(agent));
        let run = CommandRun {
            agent: envelope.agent.clone(),
            call: call.clone(),
            command: command.to_owned(),
            directory: directories.into_iter().flatten().next().cloned().unwrap_or_default(),
            started: envelope.at,
            elapsed_ms: None,
            end: None,
            output: String::new(),
            job: None,
        };
        self.open.insert((envelope.agent.clone(), call.clone()), self.forgotten + self.commands.len());
        self.commands.push_back(Arc::new(run));
        if self.commands.len() > LISTED_COMMANDS {
            self.commands.pop_front();
            self.forgotten += 1;
        }
    }

    fn of_call(&mut self, agent: &AgentId, call: &CallId) -> Option<&mut CommandRun> {
        let number = *self.open.get(&(agent.clone(), call.clone()))?;
        self.numbered(number)
    }

    fn numbered(&mut self, number: usize) -> Option<&mut CommandRun> {
        let place = number.checked_sub(self.forgotten)?;
        self.commands.get_mut(place).map(Arc::make_mut)
    }

    fn end_of(&mut self, agent: &AgentId, at: Timestamp) {
        let ended: Vec<usize> =
            self.open.extract_if(|(running, _), _| running == agent).map(|(_, number)| number).collect();
        for number in ended {
            if let Some(run) = self.numbered(number).filter(|run| run.job.is_none()) {
                run.elapsed_ms = Some(u64::try_from(at.duration_since(run.started).as_millis()).unwrap_or(0));
            }
        }
    }

    /// Returns all of them, in the order in which they began.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &CommandRun> {
        self.commands.iter().map(AsRef::as_ref)
    }
}

/// Returns the end of an output, safe to show.
fn newest(output: &str) -> String {
    let text = CommandOutput::parse(output).text;
    let start = text.len().saturating_sub(LISTED_OUTPUT_BYTES);
    let start = (start..text.len()).find(|place| text.is_char_boundary(*place)).unwrap_or(text.len());
    match text.get(start..) {
        Some(end) if start > 0 => format!("[… the beginning is in the transcript]\n{end}"),
        _ => text,
    }
}
