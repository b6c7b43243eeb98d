//! How a run without a screen ends: what stops it, the exit code, and the texts that were not sent.
//!
//! Always holds: the first reason to stop decides the exit code, unless a signal ends the program.

use std::{io, mem};

use tokio::time::Instant;

use super::steering::{ExecRun, text_of};
use super::unwritten;
use crate::program::cli::exit::{Exit, StrictEnd};
use steersman_base::clock;
use steersman_base::event::{Outcome, Pending, UserText};
use steersman_base::id::MessageId;
use steersman_base::limits;
use steersman_base::protocol::Request;
use steersman_base::summary::count;
use steersman_base::text::{is_blank, visible_line};
use steersman_tui::terminal::watchdog;

/// A stop: nothing more is sent. Holds the exit code, and the time until which the turn may end by itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExecStop {
    pub exit: Exit,
    pub deadline: Instant,
    /// Whether a signal asked for it.
    pub is_signalled: bool,
}

impl ExecRun<'_> {
    pub(super) fn signal(&mut self, code: u8) {
        let again = self.stop.is_some();
        // Ends the program even if something below hangs.
        watchdog::end_within(limits::QUIT_TIME, code);
        self.stop(Exit::of_signal(code));
        if let Some(stop) = &mut self.stop {
            stop.is_signalled = true;
        }
        if again {
            self.progress.give_up();
        }
    }

    pub(super) fn output_failed(&mut self, kind: io::ErrorKind) {
        let exit = unwritten(&self.err, kind);
        self.stop(exit);
    }

    /// Ends the run with a turn of the main agent that others work behind.
    pub(super) fn stop_agents(&mut self, outcome: Outcome) {
        let awaited: Vec<String> =
            self.progress.awaited().map(|agent| visible_line(agent.as_str()).into_owned()).collect();
        if !awaited.is_empty() && !self.has_requests() {
            self.err.say(&format!("stopped, because of --no-wait: {}", awaited.join(", ")));
            self.stop(Exit::from(outcome));
        }
    }

    /// Stops the run after a turn that failed or was stopped, unless more requests may come.
    pub(super) fn stop_unless_open(&mut self, exit: Exit) {
        if !self.has_requests() {
            self.stop(exit);
        }
    }

    pub(super) fn time_is_over(&mut self) {
        let sentence = "the time of --max-time is over";
        self.err.say(sentence);
        (self.reason, self.strict_end) = (Some(sentence.to_owned()), Some(StrictEnd::UsedUp));
        self.stop(Exit::Failed);
    }

    /// Stops the turn and takes back unsent messages. The first reason decides the exit code, unless a signal ends the
    /// program.
    pub(super) fn stop(&mut self, exit: Exit) {
        // Before what the stop itself brings about is taken: the cancelled turn is no reason of its own.
        let first = self.stop.get_or_insert(ExecStop {
            exit,
            deadline: Instant::now() + limits::EXIT_GRACE,
            is_signalled: false,
        });
        first.exit = first.exit.unless_ended_by(exit);
        if let Some(prompt) = self.prompt_behind_left.take() {
            self.unanswered = self.unanswered.saturating_sub(1);
            self.keep(UserText::from(prompt.text));
        }
        self.progress.forget_awaited();
        self.unanswered += 1;
        self.client.send(Request::Stop);
        self.take_updates();
        self.keep_unfilled();
        for (_, message) in mem::take(&mut self.waiting) {
            self.keep(message);
        }
        if let Some(lines) = self.lines.take() {
            let begun = lines.close();
            while let Some(read) = lines.take_line() {
                if let Some(message) = text_of(read.line) {
                    self.keep(message);
                }
            }
            if !self.has_requests() {
                self.keep(UserText::from(begun));
            }
        }
    }

    /// Adds a text that was read to the unsent ones.
    pub(super) fn keep(&mut self, message: UserText) {
        if !is_blank(&message.text) {
            let id = MessageId::new(format!("unsent {}", self.unsent.len() + 1));
            self.unsent.push(Pending::new(id, message, clock::now()));
        }
    }

    /// Returns how the run ended, if it has. Lines that were read already are sent first.
    pub(super) fn ended(&mut self) -> Option<Exit> {
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
            self.keep(UserText::from(begun));
        }
        Some(Exit::from(outcome))
    }

    /// Returns how the run ended once nothing more can be asked for.
    fn ended_without_requests(&mut self) -> Option<Exit> {
        self.read_lines();
        if self.waits_in_vain() {
            // To let it go on would be a decision of nobody.
            let sentence = "the input has ended, and it keeps an agent paused";
            self.err.say(sentence);
            self.reason = Some(sentence.to_owned());
            self.stop(Exit::Failed);
            return None;
        }
        if self.lines.is_some() || self.unanswered > 0 || self.progress.is_running() {
            return None;
        }
        if !self.has_sent && self.progress.outcome.is_none() && self.reason.is_none() {
            let sentence = "the input has ended without a text to send";
            self.err.say(sentence);
            self.reason = Some(sentence.to_owned());
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

    pub(super) fn list_unsent(&self) {
        if let Some(more) = self.refused.checked_sub(limits::REFUSED_LINES).filter(|&more| more > 0) {
            self.err.say(&format!("{} refused as well", count(more, "line")));
        }
        for entry in &self.unsent {
            self.err.say(&format!("not sent: {}", entry.text));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use clap::Parser;

    use super::*;
    use crate::program::cli::exec::args::ExecArgs;
    use crate::program::cli::output::Output;
    use crate::program::cli::questions::Questions;
    use steersman_base::event::{Envelope, Event, Outcome};
    use steersman_base::id::AgentId;
    use steersman_base::protocol::Update;
    use steersman_session::stream::RunRecord;
    use steersman_session::{Client, Wake};

    /// A run whose turn has been cancelled before anybody can look again.
    #[derive(Default)]
    struct Quick {
        stops: Mutex<u32>,
        updates: Mutex<Vec<Update>>,
    }

    impl Client for Quick {
        fn send(&self, request: Request) {
            let mut stops = self.stops.lock().unwrap();
            *stops += u32::from(matches!(request, Request::Stop));
            if *stops == 1 {
                let event = Event::TurnEnded { turn: 1, outcome: Outcome::Cancelled, message: None };
                let main = AgentId::main();
                let ended = Envelope { seq: 1, at: clock::now(), agent: main, parent: None, event };
                self.updates.lock().unwrap().push(Update::Envelope(ended));
            }
        }

        fn answers(&self) -> Vec<Update> {
            Vec::new()
        }

        fn events(&self) -> Vec<Update> {
            mem::take(&mut *self.updates.lock().unwrap())
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
