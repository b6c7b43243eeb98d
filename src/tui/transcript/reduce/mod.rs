//! The transcript of one agent: the reduction of its envelopes into cells.
//!
//! It takes each envelope of the agent once, in order; a live run, a resumed session and a replay alike.
//! Deltas are previews that the authoritative event replaces. Whatever ends a turn closes every open cell, so nothing
//! stays live for ever. Cells are only appended: a cell's id is its position.
//!
//! # Where things are
//!
//! - commands in the background in a transcript: `jobs.rs`
//! - the sanitising of a text that arrives in pieces: `pieces.rs`

mod calls;
mod jobs;
mod pieces;
mod texts;

use std::collections::HashMap;

use jiff::Timestamp;

use crate::transcript::cell::{Body, CallCell, Cell, CellId, ChildCell, ChildState, Expansion, Level, Stage};
use crate::transcript::cells::Cells;
use crate::transcript::reduce::pieces::Live;
use crate::transcript::result;
use steersman_base::event::{Envelope, Event, HookEvent, HookOutcome, HookRun, JobOwner, Outcome};
use steersman_base::id::{AgentId, CallId, JobId, MessageId};
use steersman_base::limits;
use steersman_base::plan::PlanAuthor;
use steersman_base::steering::TextKind;
use steersman_base::summary;
use steersman_base::text;
use steersman_session::model::{ReceiptText, shell_line_of_note};

/// A request that is being tried again.
#[derive(Debug, Clone)]
struct Retry {
    cell: CellId,
    attempt: u32,
    reason: String,
}

/// Whether a transcript is whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extent {
    /// It begins with the session.
    #[default]
    Whole,
    /// It is the end of one that is still being read.
    End,
}

/// The cells of one agent.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    agent: AgentId,
    /// The moment of the last envelope.
    now: Option<Timestamp>,
    cells: Cells,
    extent: Extent,
    /// Cells that something is still expected for.
    open: Vec<CellId>,
    thinking: Option<Live>,
    answer: Option<Live>,
    retry: Option<Retry>,
    /// Whether this turn's cancel has its notice.
    cancel_noticed: bool,
    expansion_changes: u64,
    /// The cells of texts that came through a queue.
    user_cells: HashMap<MessageId, CellId>,
    /// The replies that say what was done with such a text.
    answers: HashMap<MessageId, CellId>,
    questions: HashMap<String, CellId>,
    /// The cells of the sub-agents that have not ended.
    children: HashMap<AgentId, CellId>,
    /// The tokens that the model can hold.
    window: Option<u64>,
    /// The files that the system prompt was last said to hold.
    context_files: Vec<String>,
    /// The hooks whose last run failed, with what each said.
    failed_hooks: Vec<(HookEvent, String, Option<String>)>,
    /// The call that printed last.
    printed: Option<CellId>,
    /// The cells of the user's shell lines that run.
    shell_lines: HashMap<JobId, CellId>,
}

impl Transcript {
    pub fn new(agent: AgentId) -> Self {
        Self { agent, ..Self::default() }
    }

    pub fn agent(&self) -> &AgentId {
        &self.agent
    }

    /// Returns the cells, oldest first.
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// Tells whether it is whole.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    pub(super) fn mark_as_end(&mut self) {
        self.extent = Extent::End;
    }

    /// Puts older cells away that were looked at.
    pub(super) fn put_away(&mut self) {
        self.cells.put_away();
    }

    /// Puts everything away that nothing more is expected for: copies share it then.
    pub(super) fn settle(&mut self) {
        self.cells.settle();
    }

    /// Returns the call that printed something last.
    pub fn last_printed(&self) -> Option<&CallCell> {
        self.get(self.printed?)?.body().call()
    }

    /// Returns the command of the agent that was called last and runs.
    pub fn running_command(&self) -> Option<&CallId> {
        let open = self.open.iter().rev().filter_map(|open| self.get(*open)?.body().call());
        open.into_iter().find(|call| call.name == "bash" && call.owner == JobOwner::Agent).map(|call| &call.id)
    }

    pub fn get(&self, id: CellId) -> Option<&Cell> {
        self.cells.get(id.index())
    }

    /// Returns a number that rises when many cells were collapsed or expanded at once.
    pub fn expansion_changes(&self) -> u64 {
        self.expansion_changes
    }

    /// Takes one envelope; those of other agents are passed over. Returns whether the picture changed.
    #[allow(clippy::too_many_lines)] // One arm for each kind of event.
    pub fn apply(&mut self, envelope: &Envelope) -> bool {
        if envelope.agent != self.agent {
            return false;
        }
        self.now = Some(envelope.at);
        match &envelope.event {
            Event::TurnStarted { .. } => {
                self.cancel_noticed = false;
                self.retried();
                self.settle_texts()
            }
            Event::RoundStarted { .. } | Event::RoundEnded { .. } => {
                self.retried();
                self.settle_texts()
            }
            Event::UserTurn { content, mid_loop, injection, kind, images, .. } => {
                self.settle_texts();
                let about_line = shell_line_of_note(content).filter(|_| *kind == TextKind::Note);
                let text = match about_line {
                    Some(line) => format!("the output of ! {}", text::visible(line)),
                    None => text::visible(content).into_owned(),
                };
                let (kind, mid_loop, images) = (*kind, *mid_loop, result::digests(images));
                let cell = self.push(Body::User { text, kind, mid_loop, receipt: None, images });
                if let Some(id) = injection {
                    self.user_cells.insert(id.clone(), cell);
                }
                true
            }
            Event::ThinkingDelta { text } => self.think_more(text),
            Event::AssistantDelta { text } => self.answer_more(text),
            Event::Thinking { text } => self.thought(text),
            Event::Assistant { text, interrupted } => {
                self.answered(text, if *interrupted { Stage::Interrupted } else { Stage::Done })
            }
            Event::ToolCall { id, name, arguments } => {
                self.settle_texts();
                self.retried();
                let shown = text::visible_line(name).into_owned();
                let summary = summary::call(name, arguments);
                let call = CallCell::new(id.clone(), shown, arguments.clone(), summary, envelope.at);
                let begun = self.push(Body::Call(Box::new(call)));
                self.open.push(begun);
                self.settle_waiting();
                true
            }
            Event::ToolProgress { id, text } => self.progress(id, text),
            Event::JobStarted(start) => self.job_started(start, envelope.at),
            Event::JobOutput { id, text } => self.job_output(id, text),
            Event::JobEnded(end) => self.job_ended(end),
            Event::ToolResult { id, content, is_error, elapsed_ms } => {
                self.result(id, content, (*is_error, *elapsed_ms), envelope.at);
                true
            }
            Event::AgentBackgrounded { child } => {
                self.goes_on(child);
                self.tell(&envelope.event)
            }
            Event::AgentSpawned { child, task, call, .. } => {
                let child = ChildCell {
                    // The user lets it go on, or nobody waits for it.
                    goes_on: call.is_none() && !child.is_synthesizer(),
                    id: child.clone(),
                    name: text::visible_line(child.as_str()).into_owned(),
                    task: text::visible(task).into_owned(),
                    state: ChildState::Running,
                };
                self.spawned(call.as_ref(), child);
                true
            }
            Event::AgentFinished { child, outcome, message } => {
                self.child_finished(child, *outcome, message.as_deref())
            }
            Event::FallbackNotice { .. } | Event::Reset {} => {
                self.close();
                self.tell(&envelope.event)
            }
            Event::Retrying { attempt, after_ms, reason } => {
                self.retrying(*attempt, *after_ms, reason);
                true
            }
            Event::Cancelled {} => {
                self.close();
                self.notice_cancel();
                true
            }
            Event::TurnEnded { outcome, message, .. } => self.turn_ended(*outcome, message.as_deref()),
            Event::ToolDetails { id, details } => self.details(id, details),
            Event::Question { id, question, call, offer, .. } => {
                self.question_asked(id, question, call.as_ref(), offer.as_deref());
                true
            }
            Event::Answer { id, answer, words } => self.answered_question(id, answer, words.as_deref()),
            Event::Guards { context_files, .. } => self.guards(context_files),
            Event::Compacted { before, after, messages, summary } => {
                self.retried();
                let head = summary::compacted([*before, *after], self.window, *messages);
                self.push(Body::Compaction { head, summary: text::visible(summary).into_owned() });
                true
            }
            Event::Notice { .. } => {
                self.retried();
                self.tell(&envelope.event)
            }
            // What the agent changes its call shows.
            Event::PlanChanged(changed) if changed.by == PlanAuthor::Agent => false,
            Event::ContextCap { tokens } => {
                self.window = *tokens;
                false
            }
            event => self.tell(event),
        }
    }

    /// Returns the texts that came through a queue, with their cells, in order.
    pub fn entered(&self) -> Vec<(&MessageId, CellId)> {
        let mut entered: Vec<_> = self.user_cells.iter().map(|(id, cell)| (id, *cell)).collect();
        entered.sort_by_key(|(_, cell)| cell.index());
        entered
    }

    /// Returns the cell of a text that came through a queue.
    pub fn cell_of(&self, id: &MessageId) -> Option<CellId> {
        self.user_cells.get(id).copied()
    }

    /// Returns the cell of the call that began at this moment; some models use an id again.
    pub fn cell_of_call(&self, id: &CallId, began: Timestamp) -> Option<CellId> {
        let is_it = |cell: &Cell| cell.body().call().is_some_and(|call| call.id == *id && call.started == began);
        let place = self.cells.iter().rposition(is_it);
        place.map(CellId::new)
    }

    /// Returns the reply that says what was done with a text; `None` as long as none does.
    pub fn answer_to(&self, id: &MessageId) -> Option<CellId> {
        self.answers.get(id).copied()
    }

    /// Writes at a text where it is.
    pub fn set_receipt(&mut self, id: &MessageId, words: ReceiptText) {
        let place = self.cell_of(id).and_then(|cell| self.cells.get_mut(cell.index()));
        if let Some(Body::User { receipt, .. }) = place.map(Cell::change) {
            *receipt = Some(words);
        }
    }

    /// Collapses an expanded cell, expands a collapsed one.
    pub fn toggle(&mut self, id: CellId) {
        if let Some(cell) = self.cells.get_mut(id.index()) {
            let expansion = match cell.expansion() {
                Expansion::Collapsed => Expansion::Expanded,
                Expansion::Expanded => Expansion::Collapsed,
            };
            cell.set_expansion(expansion);
        }
    }

    /// Collapses all cells when any that can be collapsed is expanded, else expands all.
    pub fn toggle_all(&mut self) {
        let mut outlines = (0..self.cells.len()).filter_map(|index| self.cells.outline(index));
        let any_open = outlines.any(|outline| outline.can_collapse && outline.expansion == Expansion::Expanded);
        self.cells.set_all_expansions(if any_open { Expansion::Collapsed } else { Expansion::Expanded });
        self.expansion_changes += 1;
    }

    /// Returns the cell below the selected one; the last one when none is selected.
    pub fn next(&self, selected: Option<CellId>) -> Option<CellId> {
        let last = self.cells.len().checked_sub(1)?;
        Some(CellId::new(selected.map_or(last, |id| id.index().saturating_add(1).min(last))))
    }

    /// Returns the cell above the selected one; the last one when none is selected.
    pub fn previous(&self, selected: Option<CellId>) -> Option<CellId> {
        let last = self.cells.len().checked_sub(1)?;
        Some(CellId::new(selected.map_or(last, |id| id.index().saturating_sub(1).min(last))))
    }

    fn push(&mut self, body: Body) -> CellId {
        let id = CellId::new(self.cells.len());
        self.cells.push(Cell::new(id, body, self.now));
        id
    }

    fn change_call(&mut self, id: CellId) -> Option<&mut CallCell> {
        self.cells.get_mut(id.index())?.change().call_mut()
    }

    fn notice(&mut self, level: Level, sentence: &str) -> CellId {
        self.push(Body::Notice { level, text: text::visible(sentence).into_owned() })
    }

    /// Adds a notice; the picture has changed.
    fn say(&mut self, level: Level, sentence: &str) -> bool {
        self.notice(level, sentence);
        true
    }

    /// Tells an event that has no cell of its own; false when there is nothing to be told.
    fn tell(&mut self, event: &Event) -> bool {
        if let Event::HookRan(run) = event
            && self.has_failed_before(run)
        {
            return false;
        }
        let notes = event.notes();
        for note in &notes {
            let level = if note.is_warning { Level::Warning } else { Level::Info };
            self.add_notice(level, &note.text);
        }
        !notes.is_empty()
    }

    /// Tells whether a hook failed as it did the last time: it is told once, and the list of hooks shows every run.
    fn has_failed_before(&mut self, run: &HookRun) -> bool {
        let is_its = |known: &&(HookEvent, String, Option<String>)| (known.0, &known.1) == (run.hook, &run.command);
        let before = self.failed_hooks.iter().position(|known| is_its(&known)).map(|at| self.failed_hooks.remove(at));
        if run.outcome != HookOutcome::Failed {
            return false;
        }
        self.failed_hooks.push((run.hook, run.command.clone(), run.words.clone()));
        before.is_some_and(|(_, _, words)| words == run.words)
    }

    pub fn add_notice(&mut self, level: Level, sentence: &str) {
        self.notice(level, &text::visible_line(sentence));
    }

    /// Tells why the agent cannot run at all.
    pub fn only_read(&mut self, reason: &str) {
        self.notice(Level::Info, &format!("only read here: {reason}"));
    }

    pub fn cannot_run(&mut self, reason: &str) {
        self.notice(Level::Error, &format!("cannot run: {reason}"));
    }

    /// Notes that a sub-agent goes on when the turn of its spawner ends.
    fn goes_on(&mut self, child: &AgentId) {
        let Some(place) = self.children.get(child).copied() else { return };
        if let Some(body) = self.cells.get_mut(place.index()).map(Cell::change) {
            match body {
                Body::Child(child) => child.goes_on = true,
                body => {
                    if let Some(child) = body.call_mut().and_then(|call| call.child.as_mut()) {
                        child.goes_on = true;
                    }
                }
            }
        }
    }

    /// Adds a sub-agent to the call that started it, so that its task is shown once; else as a cell of its own.
    fn spawned(&mut self, call: Option<&CallId>, agent: ChildCell) {
        let is_its = |cell: &CellId| {
            let open = self.get(*cell).and_then(|cell| cell.body().call());
            open.is_some_and(|open| Some(&open.id) == call && open.child.is_none())
        };
        // The call stands among the last that are open.
        let place = call.and_then(|_| self.open.iter().rev().take(2 * limits::CALLS_PER_REPLY).copied().find(is_its));
        let child = agent.id.clone();
        let place = if let Some((place, call)) = place.and_then(|place| Some((place, self.change_call(place)?))) {
            call.child = Some(agent);
            place
        } else {
            let place = self.push(Body::Child(agent));
            self.open.push(place);
            place
        };
        self.children.insert(child, place);
    }

    fn child_finished(&mut self, child: &AgentId, outcome: Outcome, message: Option<&str>) -> bool {
        let is_it = |cell: &&Cell| cell.body().child().is_some_and(|link| link.id == *child);
        let open = self.children.remove(child);
        let ended = || self.cells.recent().rev().find(is_it).map(Cell::id);
        let Some(id) = open.or_else(ended) else { return false };
        let Some(cell) = self.cells.get_mut(id.index()) else { return false };
        let message = message.map(|message| text::visible(message).into_owned());
        cell.ended(self.now);
        if let Some(link) = cell.change().child_mut() {
            link.state = ChildState::Ended { outcome, message };
        }
        // A call is open until its result is there.
        if cell.body().call().is_none() {
            self.open.retain(|open| *open != id);
        }
        true
    }

    fn retrying(&mut self, attempt: u32, after_ms: u64, reason: &str) {
        let sentence = format!("retrying in {}, attempt {attempt}: {reason}", summary::seconds(after_ms));
        let cell = match self.retry.take() {
            Some(retry) => {
                self.reword(retry.cell, &sentence);
                retry.cell
            }
            None => self.notice(Level::Warning, &sentence),
        };
        self.retry = Some(Retry { cell, attempt, reason: reason.to_owned() });
    }

    /// Says what failed once the wait is over, or was stopped: no countdown stays behind.
    fn retried(&mut self) {
        if let Some(Retry { cell, attempt, reason }) = self.retry.take() {
            let failed = attempt.saturating_sub(1);
            self.reword(cell, &format!("attempt {failed} failed: {reason}"));
        }
    }

    fn reword(&mut self, cell: CellId, sentence: &str) {
        if let Some(Body::Notice { text, .. }) = self.cells.get_mut(cell.index()).map(Cell::change) {
            *text = text::visible(sentence).into_owned();
        }
    }

    fn notice_cancel(&mut self) {
        if !self.cancel_noticed {
            self.cancel_noticed = true;
            self.notice(Level::Warning, "cancelled");
        }
    }

    fn turn_ended(&mut self, outcome: Outcome, message: Option<&str>) -> bool {
        let closed = self.close();
        self.retried();
        match outcome {
            Outcome::Completed | Outcome::Synthesized => closed,
            Outcome::Cancelled => {
                self.notice_cancel();
                true
            }
            Outcome::Failed => self.say(Level::Error, &format!("failed: {}", message.unwrap_or("no reason given"))),
        }
    }

    /// Marks everything that is still open as interrupted.
    fn close(&mut self) -> bool {
        let texts = self.end_texts(Stage::Interrupted);
        let open = std::mem::take(&mut self.open);
        for id in &open {
            let Some(body) = self.cells.get_mut(id.index()).map(Cell::change) else { continue };
            if let Body::Child(child) = body {
                if child.goes_on {
                    // It is told of at its own end.
                    self.open.push(*id);
                    continue;
                }
                child.state = ChildState::Interrupted;
            } else if let Some(call) = body.call_mut() {
                calls::interrupt(call);
            }
        }
        texts || !open.is_empty()
    }
}
