//! The plain renderer: the answer, and everything else on lines that start with `· ` (`exec` without `--json`).
//!
//! The main agent's text, and its rescue's, is written live when it comes in pieces and never twice; apart from the
//! rest it is the answer alone, byte by byte, once it is whole. A sub-agent has an instance of its own, indented
//! and labelled, with `· ` lines only. All instances of a tree share the writers; a failing writer does not affect
//! the run.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard};

use jiff::Timestamp;

use crate::listener::live::{Continuation, LiveText};
use crate::listener::plain_out::PlainOut;
use crate::listener::{Listener, summary};
use steersman_base::details::{CommandEnd, Details};
use steersman_base::event::{Envelope, Event, Outcome};
use steersman_base::id::{AgentId, CallId};
use steersman_base::steering::TextKind;
use steersman_base::sync::lock;
use steersman_base::text::{is_blank, visible, visible_line};

/// A listener that writes a run as plain text.
pub struct Terminal {
    out: Arc<Mutex<PlainOut>>,
    /// None for the agent that the listener was made for.
    label: Option<AgentLabel>,
    role: TextRole,
    state: Mutex<TerminalState>,
}

struct AgentLabel {
    id: AgentId,
    depth: usize,
}

/// The role of the agent's own text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextRole {
    Answer,
    /// The text is for another agent: a note sums it up.
    Note,
}

#[derive(Default)]
struct TerminalState {
    answer: LiveText,
    /// Whether a round began while this was looking: else it may have come in the middle of an answer.
    has_begun: bool,
    /// The text of a reply, until it is known whether calls follow it or it is the answer.
    whole: Option<String>,
    thought: ThinkingNote,
    calls: Vec<RunningCall>,
    /// The context window of the model, tokens.
    window: Option<u64>,
    /// The announced rescue of this agent, whose text will be the answer.
    rescue: Option<AgentId>,
    /// The sub-agents in the background whose answers have not come.
    awaited: BTreeSet<AgentId>,
}

/// A running call, with what the line at its end needs.
struct RunningCall {
    id: CallId,
    summary: String,
    end: Option<CommandEnd>,
    /// The open question about it, and since when it is open.
    asked: Option<(String, Timestamp)>,
    /// How long it waited for answers, milliseconds.
    waited_ms: u64,
}

/// The thinking of one reply; its note comes before the text.
#[derive(Default)]
enum ThinkingNote {
    #[default]
    None,
    Pieces(String),
    Shown,
}

impl Terminal {
    /// Makes a renderer that writes to `writer`, the answer as it is between the other lines.
    pub fn new(writer: impl Write + Send + 'static) -> Self {
        Self::on(PlainOut::mixed(writer))
    }

    /// Makes a renderer for a terminal of so many columns: a bar stands before every row of the answer, so that no
    /// text of a model can look like a line of the program.
    pub fn framed(writer: impl Write + Send + 'static, columns: impl Fn() -> usize + Send + 'static) -> Self {
        Self::on(PlainOut::framed(writer, columns))
    }

    /// Makes a renderer that writes the answer alone to `answer`, unchanged, and everything else to `notes`.
    pub fn apart(answer: impl Write + Send + 'static, notes: impl Write + Send + 'static) -> Self {
        Self::on(PlainOut::apart(answer, notes))
    }

    fn on(out: PlainOut) -> Self {
        Self { out: Arc::new(Mutex::new(out)), label: None, role: TextRole::Answer, state: Mutex::default() }
    }

    fn out(&self) -> MutexGuard<'_, PlainOut> {
        lock(&self.out)
    }

    fn note(&self, note: &str) {
        let line = match &self.label {
            None => format!("· {note}\n"),
            Some(AgentLabel { id, depth }) => {
                format!("· {:indent$}[{}] {note}\n", "", visible_line(id.as_str()), indent = depth * 2)
            }
        };
        self.out().note(&line);
    }

    fn answer(&self, text: &str) {
        self.out().answer(text);
    }

    fn end_line(&self) {
        self.out().end_line();
    }

    /// Shows a piece of the answer at once.
    fn assistant_delta(&self, state: &mut TerminalState, text: &str) {
        if self.role == TextRole::Note {
            return;
        }
        self.note_thinking(state, "");
        if self.out().is_apart() {
            return;
        }
        let shown = state.answer.push(text);
        self.answer(&shown);
    }

    /// Ends the answer with its whole text, which replaces the pieces shown before.
    fn assistant(&self, state: &mut TerminalState, text: &str, interrupted: bool) {
        match self.role {
            TextRole::Note => self.note(&format!("says: {}", summary::one_line(text))),
            TextRole::Answer if self.out().is_apart() => state.whole = Some(text.to_owned()),
            // The beginning came before anybody looked.
            TextRole::Answer if !state.has_begun && state.answer.is_end_of(text) => {
                let rest = state.answer.abandon();
                self.answer(&rest);
            }
            TextRole::Answer => match state.answer.finish(text) {
                Continuation::Follows(rest) => self.answer(&rest),
                Continuation::Differs => {
                    self.note("the text above was a preview; this replaces it:");
                    self.answer(&visible(text));
                }
            },
        }
        self.end_line();
        if interrupted {
            // Where the answer goes alone, a part of one is none.
            match state.whole.take() {
                Some(part) => self.note(&format!("interrupted: {}", summary::one_line(&part))),
                None => self.note("interrupted"),
            }
        }
    }

    /// Writes the note on thinking, once per reply; `whole` is all of the thinking, when it is known.
    fn note_thinking(&self, state: &mut TerminalState, whole: &str) {
        let text = match &state.thought {
            ThinkingNote::Shown => return,
            ThinkingNote::Pieces(pieces) if is_blank(whole) => pieces.as_str(),
            ThinkingNote::Pieces(_) | ThinkingNote::None => whole,
        };
        if is_blank(text) {
            return;
        }
        let note = format!("thinking: {}", summary::one_line(text));
        state.thought = ThinkingNote::Shown;
        self.note(&note);
    }

    /// Writes a text that nothing followed: it is the answer, unless agents work in the background: then the next turn has it.
    fn write_whole(&self, state: &mut TerminalState) {
        if state.awaited.is_empty()
            && let Some(text) = state.whole.take()
        {
            self.answer(&text);
            self.end_line();
        }
    }

    /// Shows what is left of the last reply, when the next one begins or this one is dropped.
    fn fresh_reply(&self, state: &mut TerminalState) {
        state.thought = ThinkingNote::None;
        self.write_whole(state);
        if !state.answer.is_empty() {
            let rest = state.answer.abandon();
            self.answer(&rest);
        }
        self.end_line();
    }

    fn user_turn(&self, content: &str, mid_loop: bool, kind: TextKind) {
        let said = summary::one_line(content);
        let kind = if kind == TextKind::Add { String::new() } else { format!(" ({kind})") };
        match (&self.label, mid_loop) {
            (_, true) => self.note(&format!("user, while it worked{kind}: {said}")),
            (None, false) => self.note(&format!("user{kind}: {said}")),
            // A task: the spawner's lines show it already.
            (Some(_), false) => {}
        }
    }

    fn tool_result(&self, state: &mut TerminalState, id: &CallId, content: &str, is_error: bool, elapsed_ms: u64) {
        let at = state.calls.iter().position(|call| call.id == *id);
        let call = at.map(|at| state.calls.remove(at));
        let end = call.as_ref().and_then(|call| call.end.as_ref());
        let what = match (is_error, end) {
            (true, _) => summary::reason(content),
            (false, Some(end)) if end.failed() => {
                format!("failed, {}, {}", steersman_base::summary::ended(end), summary::printed(end, content))
            }
            (false, Some(end)) => summary::printed(end, content),
            (false, None) => summary::size(content),
        };
        let waited_ms = call.as_ref().map_or(0, |call| call.waited_ms);
        let summary = call.map_or_else(|| visible_line(id.as_str()).into_owned(), |call| call.summary);
        let time = steersman_base::summary::took(elapsed_ms.saturating_sub(waited_ms), waited_ms);
        self.note(&format!("{summary} → {what} ({time})"));
    }

    fn turn_ended(&self, outcome: Outcome, message: Option<&str>) {
        // For a child its spawner writes the note.
        if self.label.is_some() || outcome == Outcome::Completed {
            return;
        }
        self.note(&ended("the turn", outcome, message));
    }

    /// Writes what happens around the replies and calls.
    fn around(&self, event: &Event) {
        match event {
            Event::SessionStarted { program, cwd, provider, model, .. } => {
                let model = model.as_deref().unwrap_or("unknown model");
                self.note(&summary::one_line(&format!("{program}, {provider}, {model}, in {cwd}")));
            }
            Event::Retrying { attempt, after_ms, reason } => {
                let (wait, reason) = (steersman_base::summary::seconds(*after_ms), summary::one_line(reason));
                self.note(&format!("attempt {attempt} in {wait}: {reason}"));
            }
            Event::Question { question, .. } => self.note(&format!("question: {}", summary::one_line(question))),
            Event::Answer { answer, .. } => self.note(&format!("answer: {}", summary::one_line(answer))),
            Event::Compacting { messages } => {
                self.note(&format!("summarising {}", steersman_base::summary::count(*messages, "older message")));
            }
            Event::JobStarted(start) => {
                self.note(&summary::one_line(&format!("{} runs in the background: {}", start.id, start.command)));
            }
            Event::JobEnded(end) => {
                self.note(&summary::one_line(&end.sentence()));
                for note in &end.notes {
                    self.note(&summary::one_line(note));
                }
            }
            other => {
                for note in other.notes() {
                    self.note(&summary::reason(&note.text));
                }
            }
        }
    }
}

fn ended(who: &str, outcome: Outcome, message: Option<&str>) -> String {
    let how = match outcome {
        Outcome::Completed => "completed",
        Outcome::Synthesized => "ended with an answer from what was found",
        Outcome::Cancelled => "was cancelled",
        Outcome::Failed => "failed",
    };
    match message {
        Some(message) => format!("{who} {how}: {}", summary::one_line(message)),
        None => format!("{who} {how}"),
    }
}

impl Listener for Terminal {
    #[allow(clippy::too_many_lines)] // One arm for each kind of event.
    fn on_event(&self, envelope: &Envelope) {
        let mut state = lock(&self.state);
        let state = &mut *state;
        match &envelope.event {
            Event::RoundStarted { .. } | Event::RoundEnded { .. } => {
                state.has_begun = true;
                self.fresh_reply(state);
            }
            Event::UserTurn { content, mid_loop, kind, .. } => self.user_turn(content, *mid_loop, *kind),
            Event::ThinkingDelta { text } => match &mut state.thought {
                ThinkingNote::None => state.thought = ThinkingNote::Pieces(text.clone()),
                ThinkingNote::Pieces(pieces) => pieces.push_str(text),
                ThinkingNote::Shown => {}
            },
            Event::AssistantDelta { text } => self.assistant_delta(state, text),
            Event::Thinking { text } => self.note_thinking(state, text),
            Event::Assistant { text, interrupted } => self.assistant(state, text, *interrupted),
            Event::ToolCall { id, name, arguments } => {
                if let Some(text) = state.whole.take() {
                    self.note(&format!("says: {}", summary::one_line(&text)));
                }
                let call = summary::call(name, arguments);
                self.note(&call);
                let (id, summary) = (id.clone(), call);
                state.calls.push(RunningCall { id, summary, end: None, asked: None, waited_ms: 0 });
            }
            Event::ToolResult { id, content, is_error, elapsed_ms } => {
                self.tool_result(state, id, content, *is_error, *elapsed_ms);
            }
            Event::AgentSpawned { child, task, call, .. } => {
                // Another one works for the user, or in the background.
                if call.is_none() && child.is_synthesizer() {
                    state.rescue = Some(child.clone());
                }
                // The call's own line shows the task.
                let shown_by_call =
                    call.as_ref().is_some_and(|call| state.calls.iter().any(|running| running.id == *call));
                let what = if shown_by_call { String::new() } else { format!(": {}", summary::one_line(task)) };
                self.note(&format!("{} starts{what}", visible_line(child.as_str())));
            }
            Event::AgentFinished { child, outcome, message } => {
                self.note(&ended(&visible_line(child.as_str()), *outcome, message.as_deref()));
                // Behind a stop its answer waits for the next text.
                if *outcome == Outcome::Cancelled && state.awaited.remove(child) {
                    self.write_whole(state);
                }
            }
            Event::AgentBackgrounded { child } => {
                state.awaited.insert(child.clone());
                self.around(&envelope.event);
            }
            Event::AgentAnswered { child, .. } => {
                state.awaited.remove(child);
                // What was said before it is not the answer.
                if let Some(text) = state.whole.take() {
                    self.note(&format!("says: {}", summary::one_line(&text)));
                }
                self.around(&envelope.event);
            }
            Event::TurnEnded { outcome, message, .. } => {
                state.calls.clear();
                self.fresh_reply(state);
                self.turn_ended(*outcome, message.as_deref());
            }
            Event::ToolDetails { id, details: Details::Command(end) } => {
                if let Some(call) = state.calls.iter_mut().find(|call| call.id == *id) {
                    call.end = Some(end.clone());
                }
            }
            Event::Question { id, call, .. } => {
                if let Some(call) = state.calls.iter_mut().find(|running| Some(&running.id) == call.as_ref()) {
                    call.asked = Some((id.clone(), envelope.at));
                }
                self.around(&envelope.event);
            }
            Event::Answer { id, .. } => {
                let is_its = |call: &&mut RunningCall| call.asked.as_ref().is_some_and(|(asked, _)| asked == id);
                if let Some(call) = state.calls.iter_mut().find(is_its)
                    && let Some((_, since)) = call.asked.take()
                {
                    call.waited_ms += u64::try_from(envelope.at.duration_since(since).as_millis()).unwrap_or(0);
                }
                self.around(&envelope.event);
            }
            Event::ContextCap { tokens } => state.window = *tokens,
            Event::Compacted { before, after, messages, .. } => {
                self.note(&steersman_base::summary::compacted([*before, *after], state.window, *messages));
            }
            Event::Returned { entries } => {
                for entry in entries {
                    self.note(&format!("not delivered: {}", summary::one_line(&entry.text)));
                }
            }
            other => self.around(other),
        }
    }

    fn for_sub_agent(&self, id: &AgentId) -> Option<Arc<dyn Listener>> {
        let rescue = lock(&self.state).rescue.as_ref() == Some(id);
        let role = if rescue { self.role } else { TextRole::Note };
        let depth = self.label.as_ref().map_or(0, |label| label.depth) + 1;
        Some(Arc::new(Self {
            out: Arc::clone(&self.out),
            label: Some(AgentLabel { id: id.clone(), depth }),
            role,
            state: Mutex::default(),
        }))
    }

    fn label(&self) -> String {
        "Terminal".to_owned()
    }
}
