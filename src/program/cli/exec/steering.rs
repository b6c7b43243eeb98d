//! A run without a screen: the effects of lines, signals and updates, and the end of the run.
//!
//! Always holds: every text that was read is delivered, refused with a message, or listed as unsent at the end.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use serde_json::Value;

use super::args::{ExecArgs, InputForm, LeftTexts, OutputForm};
use super::ending::ExecStop;
use super::fills::{Expanded, FilledText, Fills};
use super::input;
use super::permission::PermissionCommand;
use super::progress::Progress;
use super::prompt::Prompt;
use crate::program::cli::exit::{Exit, StrictEnd};
use crate::program::cli::output::Output;
use crate::program::cli::questions::{Questions, RefusedCalls};
use crate::program::cli::steer_stdin::{Line, LineForm, Lines, ReadLine};
use steersman_base::error::{Refused, StartError};
use steersman_base::event::{Delivery, Event, Outcome, Pending, UserText};
use steersman_base::id::AgentId;
use steersman_base::limits;
use steersman_base::protocol::{
    Answer, ApprovalId, ApprovalRequest, ApprovalSubject, Notice, QueueOperation, Reply, Request, Unfinished, Update,
    Withdrawn,
};
use steersman_base::steering::TextKind;
use steersman_base::target::{self, Addressed, Target};
use steersman_core::listener::JsonLines;
use steersman_session::Client;
use steersman_session::stream::{RunRecord, StreamJson};

/// Returns the text that a line sends; nothing for a command.
pub(super) fn text_of(line: Line) -> Option<UserText> {
    match line {
        Line::Text(text, kind) => Some(UserText::from((text, kind))),
        Line::When(trigger, text) => Some(UserText { trigger: Some(trigger), ..UserText::new(text) }),
        Line::FollowUp(text) => Some(UserText::from((text, Delivery::FollowUp))),
        Line::Json(line) => input::text_of(&line),
        Line::Stop
        | Line::Answer(..)
        | Line::AnswerText(..)
        | Line::NoCondition(..)
        | Line::Unknown(_)
        | Line::NotText
        | Line::Ignore => None,
    }
}

/// What becomes of texts that start no turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeping {
    /// The session is saved: they wait there for its next text.
    InSession,
    /// Nothing keeps them: they are listed as unsent.
    Nowhere,
}

/// What becomes of sub-agents that work in the background when a turn of the main agent has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BackgroundAgents {
    /// The run waits for them.
    Awaited,
    /// They are stopped.
    Stopped,
}

/// A run under way.
pub(super) struct ExecRun<'a> {
    pub(super) client: &'a dyn Client,
    /// What was taken and is to be applied, in order.
    pub(super) updates: VecDeque<Update>,
    pub lines: Option<Lines>,
    pub err: Output,
    pub progress: Progress,
    pub questions: Questions,
    pub unasked: RefusedCalls,
    json: bool,
    agents: BackgroundAgents,
    left_texts: LeftTexts,
    /// What standard input holds.
    input: LineForm,
    pub replies: Option<Arc<JsonLines>>,
    /// Where requests about the run are answered that came in the shape of Claude Code.
    pub stream: Option<Arc<StreamJson>>,
    input_form: Option<InputForm>,
    /// The program that decides about permissions.
    pub permission: Option<PermissionCommand>,
    pub(super) record: RunRecord,
    /// What `--strict` tells of a run that no turn stopped.
    pub strict_end: Option<StrictEnd>,
    /// True when a failed or stopped turn holds the queue back.
    pub(super) is_paused: bool,
    /// The agents that wait because they are paused.
    paused_agents: HashSet<AgentId>,
    /// What the input paused, and did not let go on; `None` is all agents.
    pub(super) paused_by_input: HashSet<Option<AgentId>>,
    /// The questions that wait for an answer.
    pub(super) open: Vec<ApprovalRequest>,
    /// Requests whose reply has not come.
    pub(super) unanswered: usize,
    /// The commands that texts call.
    pub(super) fills: Fills,
    /// The prompt, until it is known what an earlier run of the session left.
    pub(super) prompt_behind_left: Option<Prompt>,
    /// True once the prompt was taken.
    pub(super) has_sent: bool,
    /// Texts that were read and are not sent yet: a queue was full, or the one before has no reply. For the agent
    /// that is named there, else for whom the text itself names.
    pub(super) waiting: VecDeque<(Option<AgentId>, UserText)>,
    /// Texts that start no turn: nothing waits for them.
    beside: Vec<Pending>,
    /// What becomes of texts that start no turn.
    pub keeping: Keeping,
    /// Texts that were accepted or read, but not sent.
    pub unsent: Vec<Pending>,
    pub reason: Option<String>,
    /// The requests for a model, with their `id`, that are not answered yet.
    pub(super) switches: Vec<(Value, String)>,
    /// The number of refused lines.
    pub(super) refused: usize,
    pub stop: Option<ExecStop>,
}

impl<'a> ExecRun<'a> {
    pub(super) fn new(
        client: &'a dyn Client,
        lines: Option<Lines>,
        questions: Questions,
        err: Output,
        args: &ExecArgs,
        record: RunRecord,
    ) -> Self {
        Self {
            client,
            updates: VecDeque::new(),
            paused_agents: HashSet::new(),
            paused_by_input: HashSet::new(),
            open: Vec::new(),
            unanswered: 0,
            fills: Fills::default(),
            prompt_behind_left: None,
            has_sent: false,
            lines,
            progress: Progress::new(err.clone()),
            err,
            questions,
            unasked: RefusedCalls::default(),
            json: args.form() == Some(OutputForm::Json),
            agents: if args.no_wait { BackgroundAgents::Stopped } else { BackgroundAgents::Awaited },
            left_texts: args.pending,
            input: args.line_form(),
            replies: None,
            stream: None,
            input_form: args.input_form(),
            permission: None,
            record,
            strict_end: None,
            is_paused: false,
            waiting: VecDeque::new(),
            beside: Vec::new(),
            keeping: Keeping::Nowhere,
            unsent: Vec::new(),
            reason: None,
            switches: Vec::new(),
            refused: 0,
            stop: None,
        }
    }

    /// Sends the prompt, once the session has filled it in where it calls a command with shell lines. What comes of it is among
    /// the replies.
    pub(super) fn begin(&mut self, prompt: Prompt) {
        if prompt.is_filled_in {
            self.fill_in(FilledText::Prompt(prompt));
            return;
        }
        self.unanswered += 1;
        if self.left_texts == LeftTexts::Keep {
            self.send_prompt(prompt);
        } else {
            self.prompt_behind_left = Some(prompt);
        }
    }

    /// Sends the prompt that waited until what an earlier run left was decided about, so that this goes with it or not at all.
    fn send_prompt_behind_left(&mut self) {
        if let Some(prompt) = self.prompt_behind_left.take() {
            self.send_prompt(prompt);
        }
    }

    pub(super) fn send_prompt(&mut self, prompt: Prompt) {
        let Prompt { text, images, is_filled_in: _ } = prompt;
        let message = UserText { images, ..UserText::new(text) };
        self.client.send(Request::Inject { to: AgentId::main(), message });
        self.take_updates();
    }

    fn inject(&mut self, to: AgentId, message: UserText) {
        self.unanswered += 1;
        self.client.send(Request::Inject { to, message });
    }

    /// Sends a text to whom it names, else to the main agent.
    fn send_to_named(&mut self, message: UserText) {
        let message = match self.fills.expand(&message.text) {
            Expanded::Text(text) => UserText { text, ..message },
            // What stands in the file of a command names nobody.
            Expanded::Filled(text) => return self.inject(AgentId::main(), UserText { text, ..message }),
            Expanded::WithCommands => return self.fill_in(FilledText::Line(message)),
        };
        let Addressed { target, text } = target::parse(&message.text, &self.progress.named());
        let text = text.to_owned();
        let message = UserText { text, ..message };
        match target {
            Target::Unnamed => match named(&message.text) {
                Some(name) => {
                    self.refuse(&format!("no agent @{name} runs; @main before it sends it as text"), &message.text);
                }
                None => self.inject(AgentId::main(), message),
            },
            Target::Agent(agent) => self.inject(agent, message),
            // A rule for all is one rule for the whole tree.
            Target::All | Target::Tree if message.kind == TextKind::Rule => self.inject(AgentId::main(), message),
            Target::All | Target::Tree => {
                for agent in self.progress.addressed() {
                    self.inject(agent, message.clone());
                }
            }
            Target::Subtree => {
                for agent in self.progress.addressed().into_iter().filter(|agent| !agent.is_main()) {
                    self.inject(agent, message.clone());
                }
            }
        }
    }

    /// Takes everything that the run says: what came of requests first.
    pub(super) fn take_updates(&mut self) {
        let events = self.client.events();
        self.updates.extend(self.client.answers().into_iter().chain(events));
        // One that makes a request is not overtaken by what comes of that.
        while let Some(update) = self.updates.pop_front() {
            self.apply(&update);
        }
        // Who reads JSON finds them there, and a program that decides gets them.
        if !self.has_requests() && (self.permission.is_none() || self.lines.is_some()) {
            self.questions.say_new(&self.open);
        }
        if let Some(permission) = &mut self.permission {
            permission.ask(&self.open);
        }
    }

    fn replied(&mut self, reply: &Reply) {
        match reply {
            Reply::Injected { to, message, outcome } => {
                self.unanswered = self.unanswered.saturating_sub(1);
                match outcome {
                    Ok(id) => {
                        self.has_sent = true;
                        if message.starts_turn() {
                            self.progress.await_delivery(id.clone());
                        }
                    }
                    Err(_) if self.has_requests() => {}
                    Err(refused) if !self.has_sent => {
                        let sentence = refused.to_string();
                        self.err.say(&sentence);
                        self.reason = Some(sentence);
                        self.stop(Exit::Usage);
                    }
                    Err(Refused::TooMany) if self.stop.is_some() => self.keep(message.clone()),
                    Err(Refused::TooMany) => self.waiting.push_front((Some(to.clone()), message.clone())),
                    Err(refused) => self.refuse(&refused.to_string(), &message.text),
                }
            }
            Reply::Stopped(entries) => {
                self.unanswered = self.unanswered.saturating_sub(1);
                self.unsent.extend(entries.iter().cloned());
            }
            Reply::Filled { call, outcome } => self.filled_in(call, outcome),
            Reply::Answered { outcome: Err(why), .. } => self.refuse_answer(&format!("not answered: {why}")),
            _ => {}
        }
    }

    fn refuse_answer(&mut self, sentence: &str) {
        self.refused += 1;
        if self.refused <= limits::REFUSED_LINES {
            self.err.say(sentence);
        }
    }

    /// Answers what an agent asks with a line: numbers of options, or words.
    fn answer_text(&mut self, number: Option<u64>, words: &str, began: u64) {
        let read = |id: ApprovalId| {
            let subject = self.open.iter().find(|open| open.id == id).map(|open| &open.subject);
            match subject {
                Some(ApprovalSubject::AgentQuestion { question }) => {
                    question.read_answer(words).map_err(|why| format!("not answered: {why}"))
                }
                _ => Err(format!("not answered: question {} takes /yes or /no", id.0)),
            }
        };
        let id = self.questions.answered(&self.open, number, &Answer::Once, began);
        match id.and_then(|id| Ok((id, read(id)?))) {
            Ok((id, values)) => self.answer(Some(id.0), Answer::Filled(values), began),
            Err(sentence) => self.refuse_answer(&sentence),
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
    pub(super) fn refuse(&mut self, why: &str, text: &str) {
        self.refused += 1;
        if self.refused <= limits::REFUSED_LINES {
            self.err.say(&format!("not sent, {why}: {}", start_of(text)));
        }
    }

    /// Returns whether more lines may be read.
    pub(super) fn has_room(&self) -> bool {
        let bytes: usize = self.waiting.iter().map(|(_, message)| message.text.len()).sum();
        self.waiting.len() < limits::STEER_LINES && bytes < limits::STEER_BYTES
    }

    /// Sends the texts that wait for room in a queue, until one is refused again.
    pub(super) fn send_waiting(&mut self) {
        while self.unanswered == 0
            && self.stop.is_none()
            && let Some((to, message)) = self.waiting.pop_front()
        {
            let left = self.waiting.len();
            match to {
                Some(agent) => self.inject(agent, message),
                None => self.send_to_named(message),
            }
            self.take_updates();
            if self.waiting.len() > left {
                // The queue is still full.
                return;
            }
        }
    }

    pub(super) fn read_lines(&mut self) {
        // Whom a line names may have begun by now.
        self.take_updates();
        for _ in 0..limits::STEER_LINES {
            if !self.has_room() {
                return;
            }
            let Some(read) = self.lines.as_ref().and_then(Lines::take_line) else { break };
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
            // What stands behind `end` is returned.
            while let Some(read) = lines.take_line() {
                if let Some(message) = text_of(read.line) {
                    self.keep(message);
                }
            }
        }
        // Nobody can answer any more, but for the program that decides.
        if self.permission.is_none() {
            self.client.send(Request::UserLeft);
        }
    }

    fn line(&mut self, read: ReadLine) {
        if self.has_requests() {
            return self.request_line(&read);
        }
        match read.line {
            Line::Stop => self.stop(Exit::Cancelled),
            Line::Answer(number, answer) => self.answer(number, answer, read.began),
            Line::AnswerText(number, words) => self.answer_text(number, &words, read.began),
            Line::NoCondition(text, why) => self.refuse(&why, &text),
            Line::Unknown(text) if self.fills.calls(&text) => {
                self.waiting.push_back((None, UserText::new(text)));
                self.send_waiting();
            }
            Line::Unknown(text) => self.refuse("there is no such command here; a doubled / sends it as text", &text),
            Line::NotText => self.refuse("the line is not UTF-8 text", ""),
            line @ (Line::Text(..) | Line::When(..) | Line::FollowUp(_) | Line::Json(_) | Line::Ignore) => {
                self.waiting.extend(text_of(line).map(|message| (None, message)));
                self.send_waiting();
            }
        }
    }

    fn apply(&mut self, update: &Update) {
        self.progress.on_update(update);
        match update {
            Update::Reply(reply) => self.replied(reply),
            Update::Approvals { open, .. } => self.open.clone_from(open),
            Update::Envelope(envelope) => {
                self.unasked.saw(envelope);
                self.note_pause(&envelope.agent, &envelope.event);
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
                    Some((outcome @ (Outcome::Completed | Outcome::Synthesized), _))
                        if self.agents == BackgroundAgents::Stopped =>
                    {
                        self.stop_agents(outcome);
                    }
                    Some((Outcome::Completed | Outcome::Synthesized, _)) | None => {}
                }
            }
            Update::Notice(Notice::BuildFailed(error)) => {
                self.err.say(&error.to_string());
                self.reason = Some(error.to_string());
                let exit = match error {
                    StartError::Configuration(_) => Exit::Usage,
                    StartError::Authentication(_) | StartError::Failed(_) => Exit::Failed,
                };
                if let StartError::Authentication(_) = error {
                    self.strict_end = Some(StrictEnd::Authentication);
                }
                self.stop(exit);
                self.progress.give_up();
            }
            Update::Notice(Notice::Info(sentence)) => self.err.say(sentence),
            Update::Notice(Notice::ModelSwitch { name, outcome }) => {
                if !self.model_switched(name, outcome)
                    && let Err(sentence) = outcome
                {
                    self.err.say(sentence);
                }
            }
            Update::Notice(Notice::Returned(entries)) => self.unsent.extend(entries.iter().cloned()),
            Update::Notice(Notice::Unfinished(unfinished)) => {
                self.decide_left(unfinished);
                self.send_prompt_behind_left();
            }
            Update::Notice(Notice::Unsaved(why)) => {
                self.keeping = if why.is_none() { Keeping::InSession } else { Keeping::Nowhere };
            }
            Update::Notice(Notice::Ready) => {
                self.can_fill_in();
                // Nothing was left.
                self.send_prompt_behind_left();
            }
            Update::Notice(
                Notice::Models(_)
                | Notice::LocalServer(_)
                | Notice::Over(_)
                | Notice::ReadOnly(_)
                | Notice::Servers(_)
                | Notice::Images(_)
                | Notice::Hooks(_)
                | Notice::Templates(_)
                | Notice::Continuable(_)
                | Notice::Withdrawn { .. }
                | Notice::Pause { .. },
            )
            | Update::Budget(_) => {}
            Update::Queues { queues, paused } => {
                self.is_paused = *paused;
                let is_parallel = |entry: &&Pending| !entry.starts_turn() && !entry.held;
                self.beside = queues.iter().flat_map(|(_, queue)| queue).filter(is_parallel).cloned().collect();
            }
        }
    }

    /// Decides about what an earlier run of the session left.
    fn decide_left(&mut self, left: &Unfinished) {
        let agent = AgentId::main();
        match self.left_texts {
            LeftTexts::Keep => {
                if let Some(sentence) = left.sentence() {
                    let how =
                        if left.pending.is_empty() { "" } else { "; --pending send or drop decides, or the screen" };
                    self.err.say(&format!("{sentence}{how}"));
                }
            }
            LeftTexts::Send => {
                for entry in &left.pending {
                    if entry.trigger.is_none() {
                        self.progress.await_delivery(entry.id.clone());
                    }
                    self.client.send(Request::Queue {
                        agent: agent.clone(),
                        id: entry.id.clone(),
                        operation: QueueOperation::Confirm,
                    });
                }
            }
            LeftTexts::Drop => {
                for entry in &left.pending {
                    let operation = QueueOperation::Withdraw { to: Withdrawn::Removed, before: Vec::new() };
                    self.client.send(Request::Queue { agent: agent.clone(), id: entry.id.clone(), operation });
                }
            }
        }
    }

    /// Takes what starts no turn and so is not sent: it waits in a saved session; what waits for a condition of this run
    /// is listed as unsent all the same.
    pub(super) fn leave_others(&mut self) {
        for entry in std::mem::take(&mut self.beside) {
            if self.keeping == Keeping::InSession && entry.trigger.is_none() {
                self.err.say(&format!("kept for the next message of this session: {}", start_of(&entry.text)));
            } else {
                self.unsent.push(entry);
            }
        }
    }

    fn note_pause(&mut self, agent: &AgentId, event: &Event) {
        match event {
            Event::Paused { .. } => self.paused_agents.insert(agent.clone()),
            Event::Resumed { .. } | Event::TurnEnded { .. } => self.paused_agents.remove(agent),
            _ => false,
        };
    }

    /// Returns whether an agent waits for an input that has ended.
    pub(super) fn waits_in_vain(&self) -> bool {
        self.lines.is_none() && !self.paused_by_input.is_empty() && !self.paused_agents.is_empty()
    }

    /// Returns whether requests come in the shape of Claude Code.
    pub(super) fn has_messages(&self) -> bool {
        self.input_form == Some(InputForm::StreamJson)
    }

    pub(super) fn has_requests(&self) -> bool {
        self.input == LineForm::Json
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
