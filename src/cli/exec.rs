//! `exec`: a turn without a screen, and the turns that texts sent meanwhile start.
//!
//! It sends through the queue like the screen and reads the mailbox like the screen; listeners write standard output. It
//! ends when a turn has ended and every accepted text has entered the conversation. After a stop or a failure nothing
//! more is sent, and what was not sent is listed on standard error.

use std::collections::HashSet;
use std::io::{self, Read as _};
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;

use crate::approval::Answerer;
use crate::cli::args::{ExecArgs, Flags};
use crate::cli::exit::{Exit, say};
use crate::cli::load::{Start, load};
use crate::cli::output::Output;
use crate::cli::project::Front;
use crate::cli::questions::{Questions, Unasked};
use crate::cli::runtime;
use crate::cli::setup::setup;
use crate::cli::signals::{Signal, Signals};
use crate::cli::steer_stdin::{self, Line};
use crate::error::Refused;
use crate::event::{Delivery, Envelope, Event, Outcome};
use crate::host::{self, Handle, LocalOffer, Notice, Post, StartError};
use crate::id::MessageId;
use crate::limits;
use crate::listener::{JsonLines, Listener, Terminal};
use crate::target::{self, Addressed, Target};
use crate::text::is_blank;

/// Runs the prompt of the command line without a screen.
pub fn run(flags: &Flags, args: &ExecArgs) -> Exit {
    let answerer = if args.steer_stdin { Answerer::User } else { Answerer::Nobody };
    match load(flags, Front::Exec, answerer)
        .map_err(|error| error.to_string())
        .and_then(|start| Ok((start, read_prompt(args)?)))
    {
        Ok((start, prompt)) => run_loaded(start, args, &prompt),
        Err(sentence) => {
            say(&sentence);
            Exit::Usage
        }
    }
}

fn run_loaded(start: Start, args: &ExecArgs, prompt: &str) -> Exit {
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => {
            say(&format!("the program cannot start its threads: {error}"));
            return Exit::Failed;
        }
    };
    let exit = runtime.block_on(async {
        let signals = match Signals::new() {
            Ok(signals) => signals,
            Err(error) => {
                say(&format!("the program cannot handle signals: {error}"));
                return Exit::Failed;
            }
        };
        let output = Output::default();
        let listener: Arc<dyn Listener> =
            if args.json { Arc::new(JsonLines::new(output.clone())) } else { Arc::new(Terminal::new(output.clone())) };
        let host =
            host::start_with(&tokio::runtime::Handle::current(), |approvals| setup(start, vec![listener], approvals));
        let exit = steer(host.handle(), prompt, args, signals, &output).await;
        host.shutdown(limits::EXIT_GRACE).await;
        exit
    });
    runtime.shutdown_background();
    exit
}

/// Sends the prompt and steers the run until it has ended.
async fn steer(handle: &Handle, prompt: &str, args: &ExecArgs, mut signals: Signals, output: &Output) -> Exit {
    let wake = Arc::new(Notify::new());
    let waker = Arc::clone(&wake);
    handle.mailbox().on_wake(Arc::new(move || waker.notify_one()));
    let waker = Arc::clone(&wake);
    handle.approvals().watch(Arc::new(move || waker.notify_one()));
    let mut run = Run {
        handle,
        lines: args.steer_stdin.then(steer_stdin::start),
        progress: Progress::default(),
        questions: Questions::default(),
        unasked: Unasked::default(),
        json: args.json,
        unsent: Vec::new(),
        stop: None,
    };
    if let Err(refused) = run.send(prompt, Delivery::Steer) {
        say(&refused.to_string());
        return Exit::Usage;
    }
    loop {
        for post in handle.mailbox().take() {
            run.take(&post);
        }
        run.questions.say_new(handle.approvals());
        if let Some(exit) = run.ended() {
            run.list_unsent();
            run.unasked.say();
            return exit;
        }
        let deadline = run.stop.map(|stop| stop.deadline);
        tokio::select! {
            biased;
            signal = signals.next() => run.signal(signal),
            kind = output.failed(), if run.stop.is_none() => run.output_failed(kind),
            () = wake.notified() => {}
            line = next_line(&mut run.lines) => run.line(line),
            () = until(deadline) => run.progress.give_up(),
        }
    }
}

/// Is a run under way.
struct Run<'a> {
    handle: &'a Handle,
    lines: Option<UnboundedReceiver<Line>>,
    progress: Progress,
    questions: Questions,
    unasked: Unasked,
    json: bool,
    /// Texts that were accepted or read, but not sent.
    unsent: Vec<String>,
    stop: Option<Stop>,
}

/// Says that nothing more is sent: what the program ends with, and how long the turn may take to end.
#[derive(Debug, Clone, Copy)]
struct Stop {
    exit: Exit,
    deadline: Instant,
}

impl Run<'_> {
    fn send(&mut self, text: &str, delivery: Delivery) -> Result<(), Refused> {
        let id = self.handle.inject(text, delivery)?;
        self.progress.accepted(id);
        Ok(())
    }

    /// Sends a text to whom it names, else to the main agent; says what was not taken.
    fn send_to_named(&mut self, text: &str, delivery: Delivery) {
        let Addressed { target, text } = target::parse(text, &self.handle.crew().ids());
        let outcomes = match target {
            Target::Unnamed => vec![self.handle.inject(text, delivery)],
            Target::Agent(agent) => vec![self.handle.inject_to(&agent, text, delivery)],
            Target::All => self.handle.inject_all(text, delivery).into_iter().map(|(_, outcome)| outcome).collect(),
        };
        for outcome in outcomes {
            match outcome {
                Ok(id) => self.progress.accepted(id),
                Err(refused) => say(&format!("not sent, {refused}: {}", start_of(text))),
            }
        }
    }

    fn line(&mut self, line: Option<Line>) {
        let (text, delivery) = match line {
            Some(Line::Text(text)) => (text, Delivery::Steer),
            Some(Line::FollowUp(text)) => (text, Delivery::FollowUp),
            Some(Line::Stop) => return self.stop(Exit::Cancelled),
            Some(Line::Answer(answer)) => return Questions::answer(self.handle.approvals(), answer),
            Some(Line::Ignore) => return,
            None => {
                self.lines = None;
                // Nobody can answer any more.
                self.handle.approvals().answer_with(Answerer::Nobody);
                return;
            }
        };
        if self.stop.is_some() {
            self.unsent.push(text);
        } else {
            self.send_to_named(&text, delivery);
        }
    }

    fn take(&mut self, post: &Post) {
        match post {
            Post::Envelope(envelope) => {
                self.unasked.saw(envelope);
                // In plain output it is a line among the others.
                if let (Event::Notice { text }, true) = (&envelope.event, self.json) {
                    say(text);
                }
                match self.progress.saw(envelope) {
                    Some((Outcome::Failed, message)) => {
                        say(message.unwrap_or("the turn failed"));
                        self.stop(Exit::Failed);
                    }
                    Some((Outcome::Cancelled, _)) => self.stop(Exit::Cancelled),
                    Some((Outcome::Completed | Outcome::Synthesized, _)) | None => {}
                }
            }
            Post::Notice(Notice::BuildFailed(error)) => {
                say(&error.to_string());
                self.stop(match error {
                    StartError::Configuration(_) => Exit::Usage,
                    StartError::Failed(_) => Exit::Failed,
                });
                self.progress.give_up();
            }
            Post::Notice(Notice::Info(sentence)) => say(sentence),
            Post::Notice(Notice::Returned(entries)) => {
                self.unsent.extend(entries.iter().map(|entry| entry.text.clone()));
            }
            Post::Notice(Notice::Offer(offer)) => {
                let LocalOffer { what, address, model, .. } = offer;
                say(&format!(
                    "the embedded model answers; {what} answers on {address} with {model}: --base-url http://{address}/v1 uses it"
                ));
            }
            Post::Notice(Notice::Ready | Notice::Models(_)) => {}
        }
    }

    fn signal(&mut self, signal: Signal) {
        let again = self.stop.is_some();
        match signal {
            Signal::Interrupt => self.stop(Exit::Cancelled),
            Signal::Terminate => self.stop(Exit::Terminated),
            Signal::HangUp => self.stop(Exit::HungUp),
        }
        if again {
            self.progress.give_up();
        }
    }

    fn output_failed(&mut self, kind: io::ErrorKind) {
        // A reader that has seen enough closes its end: nothing to complain about.
        if kind == io::ErrorKind::BrokenPipe {
            return self.stop(Exit::Cancelled);
        }
        say(&format!("cannot write to standard output: {kind}"));
        self.stop(Exit::Failed);
    }

    /// Stops the turn and takes back what was not sent. The first reason decides the exit code, but for a signal that ends
    /// the program.
    fn stop(&mut self, exit: Exit) {
        for entry in self.handle.stop() {
            self.progress.returned(&entry.id);
            self.unsent.push(entry.text);
        }
        let first = self.stop.get_or_insert(Stop { exit, deadline: Instant::now() + limits::EXIT_GRACE });
        if matches!(exit, Exit::Terminated | Exit::HungUp) {
            first.exit = exit;
        }
    }

    /// Returns how the run ended, when it has. Lines that are there already count before that.
    fn ended(&mut self) -> Option<Exit> {
        while self.progress.idle()
            && let Some(line) = self.lines.as_mut().and_then(|lines| lines.try_recv().ok())
        {
            self.line(Some(line));
        }
        if !self.progress.idle() {
            return None;
        }
        match self.stop {
            Some(stop) => Some(stop.exit),
            None => self.progress.outcome.map(Exit::from),
        }
    }

    fn list_unsent(&self) {
        for text in &self.unsent {
            say(&format!("not sent: {text}"));
        }
    }
}

/// Follows the main agent's turns and the way of each accepted text, and says which of them came back.
#[derive(Debug, Default)]
struct Progress {
    /// Accepted, and not yet seen in the conversation.
    open: HashSet<MessageId>,
    /// Seen in the conversation before the queue's answer was.
    early: HashSet<MessageId>,
    running: bool,
    outcome: Option<Outcome>,
}

impl Progress {
    fn accepted(&mut self, id: MessageId) {
        if !self.early.remove(&id) {
            self.open.insert(id);
        }
    }

    fn delivered(&mut self, id: &MessageId) {
        if !self.open.remove(id) {
            self.early.insert(id.clone());
        }
    }

    fn returned(&mut self, id: &MessageId) {
        self.open.remove(id);
    }

    /// Takes one event; returns the outcome and the message of a turn of the main agent that ended with it.
    fn saw<'e>(&mut self, envelope: &'e Envelope) -> Option<(Outcome, Option<&'e str>)> {
        let main = envelope.agent.is_main();
        match &envelope.event {
            Event::UserTurn { injection: Some(id), .. } => self.delivered(id),
            Event::Returned { entries } => {
                for entry in entries {
                    self.returned(&entry.id);
                    say(&format!("not sent, {} has ended: {}", envelope.agent, start_of(&entry.text)));
                }
            }
            Event::TurnStarted { .. } if main => self.running = true,
            Event::TurnEnded { outcome, message, .. } if main => {
                self.running = false;
                self.outcome = Some(*outcome);
                return Some((*outcome, message.as_deref()));
            }
            _ => {}
        }
        None
    }

    /// Waits for nothing any more.
    fn give_up(&mut self) {
        self.running = false;
        self.open.clear();
    }

    fn idle(&self) -> bool {
        !self.running && self.open.is_empty()
    }
}

/// Returns as much of a text as is said on standard error.
fn start_of(text: &str) -> String {
    text.chars().take(limits::ERROR_CHARS).collect()
}

async fn next_line(lines: &mut Option<UnboundedReceiver<Line>>) -> Option<Line> {
    match lines {
        Some(lines) => lines.recv().await,
        None => std::future::pending().await,
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Reads the prompt: the argument, or standard input when it is `-`.
///
/// # Errors
/// One sentence for the user.
fn read_prompt(args: &ExecArgs) -> Result<String, String> {
    let prompt = match args.prompt.as_str() {
        "-" if args.steer_stdin => {
            return Err("the prompt - reads standard input, and so does --steer-stdin: use one of them".to_owned());
        }
        "-" => {
            let mut text = Vec::new();
            // One byte above the limit, so that the queue refuses what is too long by its own rule.
            let longest = limits::MESSAGE_BYTES as u64 + 3;
            io::stdin()
                .lock()
                .take(longest)
                .read_to_end(&mut text)
                .map_err(|error| format!("cannot read standard input: {error}"))?;
            String::from_utf8_lossy(&text).trim_end_matches(['\r', '\n']).to_owned()
        }
        prompt => prompt.to_owned(),
    };
    if is_blank(&prompt) { Err("the prompt is blank".to_owned()) } else { Ok(prompt) }
}
