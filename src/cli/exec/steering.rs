//! A run without a screen: the effects of lines, signals and posts, and the end of the run.
//!
//! Always holds: every text that was read is delivered, refused with a message, or listed as unsent at the end.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::sync::Arc;

use tokio::time::Instant;

use super::args::{ExecArgs, OutputForm};
use super::progress::Progress;
use super::result::TimeLeft;
use super::{input, unwritten};
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::questions::{Questions, RefusedCalls};
use crate::cli::steer_stdin::{Line, LineForm, Lines, ReadLine};
use crate::clock;
use crate::error::{Refused, StartError};
use crate::event::{Delivery, Event, Outcome, Pending};
use crate::id::{AgentId, MessageId};
use crate::limits;
use crate::listener::JsonLines;
use crate::protocol::{Answer, ApprovalRequest, Notice, Post, Reply, Request};
use crate::session::Client;
use crate::session::stream::RunRecord;
use crate::summary::count;
use crate::target::{self, Addressed, Target};
use crate::text::is_blank;
use crate::tui::terminal::watchdog;

/// A run under way.
pub(super) struct ExecRun<'a> {
    pub(super) client: &'a dyn Client,
    /// What was taken and is to be folded, in order.
    pub(super) posts: VecDeque<Post>,
    pub lines: Option<Lines>,
    pub err: Output,
    pub progress: Progress,
    pub questions: Questions,
    pub unasked: RefusedCalls,
    json: bool,
    /// What standard input holds.
    input: LineForm,
    /// Where they are answered.
    pub replies: Option<Arc<JsonLines>>,
    pub(super) record: RunRecord,
    pub time: TimeLeft,
    /// True when a failed or stopped turn holds the queue back.
    is_paused: bool,
    /// The agents that run.
    agents: Vec<AgentId>,
    /// The questions that wait for an answer.
    pub(super) open: Vec<ApprovalRequest>,
    /// Requests whose reply has not come.
    pub(super) unanswered: usize,
    /// True once the prompt was taken.
    has_sent: bool,
    /// Texts that were read and are not sent yet: a queue was full, or the one before has no reply. For the agent
    /// that is named there, else for whom the text itself names.
    waiting: VecDeque<(Option<AgentId>, String, Delivery)>,
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
    pub fn new(
        client: &'a dyn Client,
        lines: Option<Lines>,
        questions: Questions,
        err: Output,
        args: &ExecArgs,
        record: RunRecord,
    ) -> Self {
        Self {
            client,
            posts: VecDeque::new(),
            agents: vec![AgentId::main()],
            open: Vec::new(),
            unanswered: 0,
            has_sent: false,
            lines,
            progress: Progress::new(err.clone()),
            err,
            questions,
            unasked: RefusedCalls::default(),
            json: args.form() == Some(OutputForm::Json),
            input: args.line_form(),
            replies: None,
            record,
            time: TimeLeft::Some,
            is_paused: false,
            waiting: VecDeque::new(),
            unsent: Vec::new(),
            reason: None,
            refused: 0,
            stop: None,
        }
    }

    /// Sends the prompt. What comes of it is among the replies.
    pub fn begin(&mut self, prompt: &str) {
        self.inject(AgentId::main(), prompt, Delivery::Steer);
        self.take_posts();
    }

    fn inject(&mut self, to: AgentId, text: &str, delivery: Delivery) {
        self.unanswered += 1;
        self.client.send(Request::Inject { to, text: text.to_owned(), delivery });
    }

    /// Sends a text to whom it names, else to the main agent.
    fn send_to_named(&mut self, text: &str, delivery: Delivery) {
        let Addressed { target, text } = target::parse(text, &self.agents);
        match target {
            Target::Unnamed => match named(text) {
                Some(name) => self.refuse(&format!("no agent @{name} runs; @main before it sends it as text"), text),
                None => self.inject(AgentId::main(), text, delivery),
            },
            Target::Agent(agent) => self.inject(agent, text, delivery),
            Target::All => {
                for agent in self.agents.clone() {
                    self.inject(agent, text, delivery);
                }
            }
        }
    }

    /// Takes everything that the run says: what came of requests first.
    pub fn take_posts(&mut self) {
        let events = self.client.events();
        self.posts.extend(self.client.answers().into_iter().chain(events));
        // One that makes a request is not overtaken by what comes of that.
        while let Some(post) = self.posts.pop_front() {
            self.take(&post);
        }
        // Who reads JSON finds them there.
        if !self.has_requests() {
            self.questions.say_new(&self.open);
        }
    }

    fn replied(&mut self, reply: &Reply) {
        match reply {
            Reply::Injected { to, text, delivery, outcome } => {
                self.unanswered = self.unanswered.saturating_sub(1);
                match outcome {
                    Ok(id) => {
                        self.has_sent = true;
                        self.progress.accepted(id.clone());
                    }
                    Err(_) if self.has_requests() => {}
                    Err(refused) if !self.has_sent => {
                        let sentence = refused.to_string();
                        self.err.say(&sentence);
                        self.reason = Some(sentence);
                        self.stop(Exit::Usage);
                    }
                    Err(Refused::TooMany) if self.stop.is_some() => self.keep(text.clone(), *delivery),
                    Err(Refused::TooMany) => self.waiting.push_front((Some(to.clone()), text.clone(), *delivery)),
                    Err(refused) => self.refuse(&refused.to_string(), text),
                }
            }
            Reply::Stopped(entries) => {
                self.unanswered = self.unanswered.saturating_sub(1);
                for entry in entries {
                    self.progress.returned(&entry.id);
                    self.unsent.push(entry.clone());
                }
            }
            Reply::Answered { outcome: Err(why), .. } => self.refuse_answer(&format!("not answered: {why}")),
            Reply::Answered { outcome: Ok(()), .. }
            | Reply::Queue { .. }
            | Reply::Pause { .. }
            | Reply::Decided { .. }
            | Reply::Cancelling(_)
            | Reply::Mode(_)
            | Reply::UndoPreview(_)
            | Reply::RewindPreview { .. }
            | Reply::Undone(_)
            | Reply::Rules(_)
            | Reply::Budget(_) => {}
        }
    }

    fn refuse_answer(&mut self, sentence: &str) {
        self.refused += 1;
        if self.refused <= limits::REFUSED_LINES {
            self.err.say(sentence);
        }
    }

    fn answer(&mut self, number: Option<u64>, answer: Answer, began: u64) {
        match self.questions.answered(&self.open, number, &answer, began) {
            Ok(id) => {
                self.record.answering(id.0, "input");
                self.client.send(Request::Answer { id, answer });
            }
            Err(sentence) => self.refuse_answer(&sentence),
        }
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
        let bytes: usize = self.waiting.iter().map(|(_, text, _)| text.len()).sum();
        self.waiting.len() < limits::STEER_LINES && bytes < limits::STEER_BYTES
    }

    /// Sends the texts that wait for room in a queue, until one is refused again.
    pub fn send_waiting(&mut self) {
        while self.unanswered == 0
            && self.stop.is_none()
            && let Some((to, text, delivery)) = self.waiting.pop_front()
        {
            let left = self.waiting.len();
            match to {
                Some(agent) => self.inject(agent, &text, delivery),
                None => self.send_to_named(&text, delivery),
            }
            self.take_posts();
            if self.waiting.len() > left {
                // The queue is still full.
                return;
            }
        }
    }

    /// Takes the lines that have been read.
    pub fn read_lines(&mut self) {
        // Whom a line names may have begun by now.
        self.take_posts();
        for _ in 0..limits::STEER_LINES {
            if !self.has_room() {
                return;
            }
            let Some(read) = self.lines.as_ref().and_then(Lines::take) else { break };
            self.line(read);
        }
        if self.lines.as_ref().is_some_and(Lines::is_over) {
            self.end_of_requests();
        }
    }

    /// Takes nothing more from standard input.
    pub(super) fn end_of_requests(&mut self) {
        if let Some(lines) = self.lines.take() {
            lines.close();
        }
        // Nobody can answer any more.
        self.client.send(Request::UserLeft);
    }

    fn line(&mut self, read: ReadLine) {
        if self.has_requests() {
            return self.request_line(&read);
        }
        let (text, delivery) = match read.line {
            Line::Text(text) => (text, Delivery::Steer),
            Line::FollowUp(text) => (text, Delivery::FollowUp),
            Line::Stop => return self.stop(Exit::Cancelled),
            Line::Answer(number, answer) => return self.answer(number, answer, read.began),
            Line::Unknown(text) => {
                return self.refuse("there is no such command here; a doubled / sends it as text", &text);
            }
            Line::NotText => return self.refuse("the line is not UTF-8 text", ""),
            Line::Json(_) | Line::Ignore => return,
        };
        self.waiting.push_back((None, text, delivery));
        self.send_waiting();
    }

    fn take(&mut self, post: &Post) {
        match post {
            Post::Reply(reply) => self.replied(reply),
            Post::Approvals { open, .. } => self.open.clone_from(open),
            Post::Envelope(envelope) => {
                self.unasked.saw(envelope);
                self.note_agents(&envelope.event);
                // In plain output it is a line among the others.
                if let (Event::Notice { text }, true) = (&envelope.event, self.json) {
                    self.err.say(text);
                }
                match self.progress.saw(envelope) {
                    Some((Outcome::Failed, message)) => {
                        let sentence = message.unwrap_or("the turn failed");
                        self.err.say(sentence);
                        self.reason = Some(sentence.to_owned());
                        self.stop_unless_open(Exit::Failed);
                    }
                    Some((Outcome::Cancelled, _)) => self.stop_unless_open(Exit::Cancelled),
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
                for entry in entries {
                    self.progress.returned(&entry.id);
                    self.unsent.push(entry.clone());
                }
            }
            Post::Notice(Notice::Withdrawn { entries, .. }) => {
                for entry in entries {
                    self.progress.returned(&entry.id);
                }
            }
            Post::Notice(Notice::Unfinished(unfinished)) => {
                if let Some(sentence) = unfinished.sentence() {
                    self.err.say(&format!("{sentence}; the screen asks what is to become of that"));
                }
            }
            Post::Notice(Notice::Ready | Notice::Models(_) | Notice::LocalServer(_) | Notice::Over(_))
            | Post::Budget(_) => {}
            Post::Queues { queues, paused } => {
                self.is_paused = *paused;
                // The texts of other clients are waited for too, unless nothing delivers them by itself.
                for entry in queues.iter().flat_map(|(_, queue)| queue).filter(|entry| entry.sender.is_some()) {
                    if *paused || entry.held {
                        self.progress.returned(&entry.id);
                    } else {
                        self.progress.accepted(entry.id.clone());
                    }
                }
            }
        }
    }

    fn note_agents(&mut self, event: &Event) {
        match event {
            // A rescue takes no texts.
            Event::AgentSpawned { child, persona, .. } if persona != "synthesizer" => self.agents.push(child.clone()),
            Event::AgentFinished { child, .. } => self.agents.retain(|agent| agent != child),
            _ => {}
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

    fn has_requests(&self) -> bool {
        self.input == LineForm::Json
    }

    /// Stops the run after a turn that failed or was stopped, unless more requests may come.
    fn stop_unless_open(&mut self, exit: Exit) {
        if !self.has_requests() {
            self.stop(exit);
        }
    }

    pub fn time_is_over(&mut self) {
        let sentence = "the time of --max-time is over";
        self.err.say(sentence);
        (self.reason, self.time) = (Some(sentence.to_owned()), TimeLeft::None);
        self.stop(Exit::Failed);
    }

    /// Stops the turn and takes back unsent messages. The first reason decides the exit code, unless a signal ends the
    /// program.
    fn stop(&mut self, exit: Exit) {
        // Before what the stop itself brings about is taken: the cancelled turn is no reason of its own.
        let first = self.stop.get_or_insert(ExecStop { exit, deadline: Instant::now() + limits::EXIT_GRACE });
        first.exit = first.exit.unless_ended_by(exit);
        self.unanswered += 1;
        self.client.send(Request::Stop);
        self.take_posts();
        for (_, text, delivery) in mem::take(&mut self.waiting) {
            self.keep(text, delivery);
        }
        if let Some(lines) = self.lines.take() {
            let begun = lines.close();
            while let Some(read) = lines.take() {
                match read.line {
                    Line::Text(text) => self.keep(text, Delivery::Steer),
                    Line::FollowUp(text) => self.keep(text, Delivery::FollowUp),
                    Line::Json(line) => {
                        if let Some((text, delivery)) = input::text_of(&line) {
                            self.keep(text, delivery);
                        }
                    }
                    Line::Stop | Line::Answer(..) | Line::Unknown(_) | Line::NotText | Line::Ignore => {}
                }
            }
            if !self.has_requests() {
                self.keep(begun, Delivery::Steer);
            }
        }
    }

    /// Adds a text that was read to the unsent ones.
    fn keep(&mut self, text: String, delivery: Delivery) {
        if !is_blank(&text) {
            let id = MessageId::new(format!("unsent {}", self.unsent.len() + 1));
            self.unsent.push(Pending { id, text, delivery, held: false, stale: false, at: clock::now(), sender: None });
        }
    }

    /// Returns how the run ended, if it has. Lines that were read already are sent first.
    pub fn ended(&mut self) -> Option<Exit> {
        if self.has_requests() && self.stop.is_none() {
            return self.ended_without_requests();
        }
        if !self.progress.idle() || self.unanswered > 0 {
            return None;
        }
        if let Some(stop) = self.stop {
            return Some(stop.exit);
        }
        self.read_lines();
        if !self.progress.idle() || self.unanswered > 0 || !self.waiting.is_empty() {
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

    /// Returns how the run ended once nothing more can be asked for.
    fn ended_without_requests(&mut self) -> Option<Exit> {
        self.read_lines();
        if self.lines.is_some() || self.unanswered > 0 || self.progress.is_running() {
            return None;
        }
        let exit = self.progress.outcome.map_or(Exit::Done, Exit::from);
        if self.progress.idle() {
            return Some(exit);
        }
        if self.is_paused {
            // Nothing delivers what a failed turn holds back.
            self.stop(exit);
        }
        None
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use clap::Parser;

    use super::*;
    use crate::event::Envelope;
    use crate::session::Wake;

    /// A run whose turn has been cancelled before anybody can look again.
    #[derive(Default)]
    struct Quick {
        stops: Mutex<u32>,
        posts: Mutex<Vec<Post>>,
    }

    impl Client for Quick {
        fn send(&self, request: Request) {
            let mut stops = self.stops.lock().unwrap();
            *stops += u32::from(matches!(request, Request::Stop));
            if *stops == 1 {
                let event = Event::TurnEnded { turn: 1, outcome: Outcome::Cancelled, message: None };
                let main = AgentId::main();
                let ended = Envelope { seq: 1, at: clock::now(), agent: main, parent: None, event };
                self.posts.lock().unwrap().push(Post::Envelope(ended));
            }
        }

        fn answers(&self) -> Vec<Post> {
            Vec::new()
        }

        fn events(&self) -> Vec<Post> {
            mem::take(&mut *self.posts.lock().unwrap())
        }

        fn on_wake(&self, _: Wake) {}

        fn end(&self) {}
    }

    #[tokio::test]
    async fn a_turn_that_ends_at_once_does_not_replace_the_reason_of_the_stop() {
        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            exec: ExecArgs,
        }
        let client = Quick::default();
        let (_, err) = Output::both().unwrap();
        let args = Line::parse_from(["exec", "hello"]).exec;
        let questions = Questions::new(err.apart(), None);
        let mut run = ExecRun::new(&client, None, questions, err, &args, RunRecord::default());
        run.time_is_over();
        assert_eq!(run.stop.map(|stop| stop.exit), Some(Exit::Failed));
        assert_eq!(run.progress.outcome, Some(Outcome::Cancelled));
    }
}
