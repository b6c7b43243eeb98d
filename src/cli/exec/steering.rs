//! A run without a screen: the effects of lines, signals and posts, and the end of the run.
//!
//! Always holds: every text that was read is delivered, refused with a message, or listed as unsent at the end.

use std::collections::VecDeque;
use std::io;
use std::mem;

use tokio::time::Instant;

use super::progress::Progress;
use super::unwritten;
use crate::cli::args::ExecArgs;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::questions::{Questions, RefusedCalls};
use crate::cli::steer_stdin::{Line, Lines, ReadLine};
use crate::clock;
use crate::error::Refused;
use crate::event::{Delivery, Event, Outcome, Pending};
use crate::host::{Handle, Notice, Post, StartError};
use crate::id::{AgentId, MessageId};
use crate::limits;
use crate::summary::count;
use crate::target::{self, Addressed, Target};
use crate::text::is_blank;
use crate::tui::terminal::watchdog;

/// The state of a run.
pub(super) struct ExecRun<'a> {
    pub handle: &'a Handle,
    pub lines: Option<Lines>,
    pub err: Output,
    pub progress: Progress,
    pub questions: Questions,
    pub unasked: RefusedCalls,
    json: bool,
    /// Texts that were read while a queue was full.
    waiting: VecDeque<(String, Delivery)>,
    /// Texts that were accepted or read, but not sent.
    pub unsent: Vec<Pending>,
    /// The reason of its failure.
    pub reason: Option<String>,
    /// The number of refused lines.
    refused: usize,
    pub stop: Option<ExecStop>,
}

/// A stop: nothing more is sent. Holds the exit code, and the time until which the turn may end by itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExecStop {
    pub exit: Exit,
    pub deadline: Instant,
}

impl<'a> ExecRun<'a> {
    pub fn new(handle: &'a Handle, lines: Option<Lines>, questions: Questions, err: Output, args: &ExecArgs) -> Self {
        Self {
            handle,
            lines,
            progress: Progress::new(err.clone()),
            err,
            questions,
            unasked: RefusedCalls::default(),
            json: args.json,
            waiting: VecDeque::new(),
            unsent: Vec::new(),
            reason: None,
            refused: 0,
            stop: None,
        }
    }

    pub fn send(&mut self, text: &str, delivery: Delivery) -> Result<(), Refused> {
        let id = self.handle.inject_user_message(&AgentId::main(), (text, delivery))?;
        self.progress.accepted(id);
        Ok(())
    }

    /// Sends a text to the agent that it names, else to the main agent; reports refusals. Returns false when the
    /// queue is full.
    fn send_to_named(&mut self, text: &str, delivery: Delivery) -> bool {
        let known = self.handle.crew().ids();
        let Addressed { target, text } = target::parse(text, &known);
        let outcomes = match target {
            Target::Unnamed => {
                if let Some(name) = named(text) {
                    self.refuse(&format!("no agent @{name} runs; @main before it sends it as text"), text);
                    return true;
                }
                vec![self.handle.inject_user_message(&AgentId::main(), (text, delivery))]
            }
            Target::Agent(agent) => vec![self.handle.inject_user_message(&agent, (text, delivery))],
            Target::All => self.handle.inject_all((text, delivery)).into_iter().map(|(_, outcome)| outcome).collect(),
        };
        if let [Err(Refused::TooMany)] = outcomes.as_slice() {
            return false;
        }
        for outcome in outcomes {
            match outcome {
                Ok(id) => self.progress.accepted(id),
                Err(refused) => self.refuse(&refused.to_string(), text),
            }
        }
        true
    }

    /// Reports a line that is not sent; after many of them only their number is reported, at the end.
    fn refuse(&mut self, why: &str, text: &str) {
        self.refused += 1;
        if self.refused <= limits::REFUSED_LINES {
            self.err.say(&format!("not sent, {why}: {}", start_of(text)));
        }
    }

    /// Returns whether more lines may be read.
    pub fn has_room(&self) -> bool {
        let bytes: usize = self.waiting.iter().map(|(text, _)| text.len()).sum();
        self.waiting.len() < limits::STEER_LINES && bytes < limits::STEER_BYTES
    }

    /// Sends the texts that wait for room in a queue, until one is refused again.
    pub fn send_waiting(&mut self) {
        while let Some((text, delivery)) = self.waiting.pop_front() {
            if !self.send_to_named(&text, delivery) {
                self.waiting.push_front((text, delivery));
                return;
            }
        }
    }

    /// Takes the lines that have been read.
    pub fn read_lines(&mut self) {
        for _ in 0..limits::STEER_LINES {
            if !self.has_room() {
                return;
            }
            let Some(read) = self.lines.as_ref().and_then(Lines::take) else { break };
            self.line(read);
        }
        if self.lines.as_ref().is_some_and(Lines::is_over) {
            self.lines = None;
            // No question can be answered any more.
            self.handle.approvals().user_left();
        }
    }

    fn line(&mut self, read: ReadLine) {
        let (text, delivery) = match read.line {
            Line::Text(text) => (text, Delivery::Steer),
            Line::FollowUp(text) => (text, Delivery::FollowUp),
            Line::Stop => return self.stop(Exit::Cancelled),
            Line::Answer(number, answer) => {
                if let Err(sentence) = self.questions.answer(self.handle.approvals(), number, answer, read.began) {
                    self.refused += 1;
                    if self.refused <= limits::REFUSED_LINES {
                        self.err.say(&sentence);
                    }
                }
                return;
            }
            Line::Unknown(text) => {
                return self.refuse("there is no such command here; a doubled / sends it as text", &text);
            }
            Line::NotText => return self.refuse("the line is not UTF-8 text", ""),
            Line::Ignore => return,
        };
        if !self.waiting.is_empty() || !self.send_to_named(&text, delivery) {
            self.waiting.push_back((text, delivery));
        }
    }

    pub fn take(&mut self, post: &Post) {
        match post {
            Post::Envelope(envelope) => {
                self.unasked.saw(envelope);
                // In plain output the listener writes it.
                if let (Event::Notice { text }, true) = (&envelope.event, self.json) {
                    self.err.say(text);
                }
                match self.progress.saw(envelope) {
                    Some((Outcome::Failed, message)) => {
                        let sentence = message.unwrap_or("the turn failed");
                        self.err.say(sentence);
                        self.reason = Some(sentence.to_owned());
                        self.stop(Exit::Failed);
                    }
                    Some((Outcome::Cancelled, _)) => self.stop(Exit::Cancelled),
                    Some((Outcome::Completed | Outcome::Synthesized, _)) | None => {}
                }
            }
            Post::Notice(Notice::BuildFailed(error)) => {
                self.err.say(&error.to_string());
                self.reason = Some(error.to_string());
                self.stop(match error {
                    StartError::Configuration(_) => Exit::Usage,
                    StartError::Failed(_) => Exit::Failed,
                });
                self.progress.give_up();
            }
            Post::Notice(Notice::Info(sentence)) => self.err.say(sentence),
            Post::Notice(Notice::Returned(entries)) => {
                self.unsent.extend(entries.iter().cloned());
            }
            Post::Notice(Notice::Ready | Notice::Models(_) | Notice::Offer(_)) => {}
        }
    }

    pub fn signal(&mut self, code: u8) {
        let again = self.stop.is_some();
        // Ends the program even if something below hangs.
        watchdog::end_within(limits::QUIT_TIME, code);
        self.stop(Exit::of_signal(code));
        if again {
            self.progress.give_up();
        }
    }

    pub fn output_failed(&mut self, kind: io::ErrorKind) {
        let exit = unwritten(&self.err, kind);
        self.stop(exit);
    }

    /// Stops the turn and takes back unsent messages. The first reason decides the exit code, unless a signal ends the
    /// program.
    fn stop(&mut self, exit: Exit) {
        for entry in self.handle.stop() {
            self.progress.returned(&entry.id);
            self.unsent.push(entry);
        }
        for (text, delivery) in mem::take(&mut self.waiting) {
            self.keep(text, delivery);
        }
        if let Some(lines) = self.lines.take() {
            let begun = lines.close();
            while let Some(read) = lines.take() {
                match read.line {
                    Line::Text(text) => self.keep(text, Delivery::Steer),
                    Line::FollowUp(text) => self.keep(text, Delivery::FollowUp),
                    Line::Stop | Line::Answer(..) | Line::Unknown(_) | Line::NotText | Line::Ignore => {}
                }
            }
            self.keep(begun, Delivery::Steer);
        }
        let first = self.stop.get_or_insert(ExecStop { exit, deadline: Instant::now() + limits::EXIT_GRACE });
        first.exit = first.exit.unless_ended_by(exit);
    }

    /// Adds a text that was read to the unsent ones.
    fn keep(&mut self, text: String, delivery: Delivery) {
        if !is_blank(&text) {
            let id = MessageId::new(format!("unsent {}", self.unsent.len() + 1));
            self.unsent.push(Pending { id, text, delivery, held: false, stale: false, at: clock::now() });
        }
    }

    /// Returns how the run ended, if it has. Lines that were read already are sent first.
    pub fn ended(&mut self) -> Option<Exit> {
        if !self.progress.idle() {
            return None;
        }
        if let Some(stop) = self.stop {
            return Some(stop.exit);
        }
        self.read_lines();
        if !self.progress.idle() || !self.waiting.is_empty() {
            return None;
        }
        let outcome = self.progress.outcome?;
        if let Some(lines) = &self.lines {
            let begun = lines.close_if_taken()?;
            self.lines = None;
            self.keep(begun, Delivery::Steer);
        }
        Some(Exit::from(outcome))
    }

    pub fn list_unsent(&self) {
        if let Some(more) = self.refused.checked_sub(limits::REFUSED_LINES).filter(|&more| more > 0) {
            self.err.say(&format!("{} refused as well", count(more, "line")));
        }
        for entry in &self.unsent {
            self.err.say(&format!("not sent: {}", entry.text));
        }
    }
}

/// Returns the beginning of a text, for messages on standard error.
pub(super) fn start_of(text: &str) -> String {
    text.chars().take(limits::ERROR_CHARS).collect()
}

/// Returns the word after the `@` of a text that begins like one for an agent.
fn named(text: &str) -> Option<&str> {
    let word = text.strip_prefix('@')?.split(char::is_whitespace).next()?;
    let is_name = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_".contains(c));
    is_name.then_some(word)
}
