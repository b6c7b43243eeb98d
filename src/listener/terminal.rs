//! The plain renderer: the answer as it is, everything else on lines that start with `· ` (`exec` without `--json`).
//!
//! The main agent's text, and its rescue's, is written live when it comes in pieces and never twice. A sub-agent has an
//! instance of its own, indented and labelled, with `· ` lines only. All instances of a tree share the writer; a writer
//! that fails is not the run's problem.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use crate::event::{Envelope, Event, Outcome};
use crate::id::{AgentId, CallId};
use crate::listener::live::{Live, Rest};
use crate::listener::{Listener, summary};
use crate::text::{is_blank, visible, visible_line};

/// Writes a run as plain text.
pub struct Terminal {
    out: Arc<Mutex<Out>>,
    /// None for the agent that the listener was made for.
    label: Option<Label>,
    voice: Voice,
    state: Mutex<State>,
}

struct Label {
    id: AgentId,
    depth: usize,
}

/// Says what becomes of the agent's own text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Voice {
    /// It is the answer.
    Answer,
    /// It is for another agent: a note tells of it.
    Note,
}

#[derive(Default)]
struct State {
    answer: Live,
    thought: Thought,
    /// The calls that run, with their summaries.
    calls: Vec<(CallId, String)>,
    /// The tokens that the model can hold.
    window: Option<u64>,
    /// The rescue that this agent has announced: its text will be the answer.
    rescue: Option<AgentId>,
}

/// Is the thinking of one reply; it is told of before the text that it led to.
#[derive(Default)]
enum Thought {
    #[default]
    None,
    Pieces(String),
    Told,
}

struct Out {
    writer: Box<dyn Write + Send>,
    mid_line: bool,
}

impl Out {
    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.mid_line = !text.ends_with('\n');
        if let Err(error) = self.writer.write_all(text.as_bytes()).and_then(|()| self.writer.flush()) {
            tracing::debug!(%error, "plain output was not written");
        }
    }

    fn end_line(&mut self) {
        if self.mid_line {
            self.text("\n");
        }
    }
}

impl Terminal {
    /// Makes a renderer that writes to `writer`.
    pub fn new(writer: impl Write + Send + 'static) -> Self {
        let out = Out { writer: Box::new(writer), mid_line: false };
        Self { out: Arc::new(Mutex::new(out)), label: None, voice: Voice::Answer, state: Mutex::default() }
    }

    fn note(&self, note: &str) {
        let line = match &self.label {
            None => format!("· {note}\n"),
            Some(Label { id, depth }) => {
                format!("· {:indent$}[{}] {note}\n", "", visible_line(id.as_str()), indent = depth * 2)
            }
        };
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        out.end_line();
        out.text(&line);
    }

    fn answer(&self, text: &str) {
        self.out.lock().unwrap_or_else(PoisonError::into_inner).text(text);
    }

    fn end_line(&self) {
        self.out.lock().unwrap_or_else(PoisonError::into_inner).end_line();
    }

    /// A piece of the answer is shown at once.
    fn assistant_delta(&self, state: &mut State, text: &str) {
        if self.voice == Voice::Note {
            return;
        }
        self.tell_thought(state, "");
        let shown = state.answer.push(text);
        self.answer(&shown);
    }

    /// The whole text replaces what its pieces have shown.
    fn assistant(&self, state: &mut State, text: &str, interrupted: bool) {
        match self.voice {
            Voice::Note => self.note(&format!("says: {}", summary::one_line(text))),
            Voice::Answer => match state.answer.finish(text) {
                Rest::Continues(rest) => self.answer(&rest),
                Rest::Differs => {
                    self.note("the text above was a preview; this replaces it:");
                    self.answer(&visible(text));
                }
            },
        }
        self.end_line();
        if interrupted {
            self.note("interrupted");
        }
    }

    /// Tells once per reply that there was thinking; `whole` is all of it, when it is known.
    fn tell_thought(&self, state: &mut State, whole: &str) {
        let text = match &state.thought {
            Thought::Told => return,
            Thought::Pieces(pieces) if is_blank(whole) => pieces.as_str(),
            Thought::Pieces(_) | Thought::None => whole,
        };
        if is_blank(text) {
            return;
        }
        let note = format!("thinking: {}", summary::one_line(text));
        state.thought = Thought::Told;
        self.note(&note);
    }

    /// A reply begins or is given up: what is left of the one before is shown.
    fn fresh_reply(&self, state: &mut State) {
        state.thought = Thought::None;
        if !state.answer.is_empty() {
            let rest = state.answer.abandon();
            self.answer(&rest);
        }
        self.end_line();
    }

    fn user_turn(&self, content: &str, mid_loop: bool) {
        let said = summary::one_line(content);
        match (&self.label, mid_loop) {
            (_, true) => self.note(&format!("user, mid-turn: {said}")),
            (None, false) => self.note(&format!("user: {said}")),
            // A task: the spawner has told of it.
            (Some(_), false) => {}
        }
    }

    fn tool_result(&self, state: &mut State, id: &CallId, content: &str, is_error: bool, elapsed_ms: u64) {
        let at = state.calls.iter().position(|(call, _)| call == id);
        let call = at.map_or_else(|| visible_line(id.as_str()).into_owned(), |at| state.calls.remove(at).1);
        let what = if is_error { summary::one_line(content) } else { summary::size(content) };
        self.note(&format!("{call} → {what} ({})", summary::duration(elapsed_ms)));
    }

    fn turn_ended(&self, outcome: Outcome, message: Option<&str>) {
        // The turn of a child ends with a note of its spawner.
        if self.label.is_some() || outcome == Outcome::Completed {
            return;
        }
        self.note(&ended("the turn", outcome, message));
    }

    /// What the session or the host does around the turns.
    fn around(&self, event: &Event) {
        match event {
            Event::SessionStarted { program, cwd, provider, model, .. } => {
                let model = model.as_deref().unwrap_or("unknown model");
                self.note(&summary::one_line(&format!("{program}, {provider}, {model}, in {cwd}")));
            }
            Event::FallbackNotice { reason } => self.note(&summary::one_line(reason)),
            Event::Retrying { attempt, after_ms, reason } => {
                let (wait, reason) = (summary::duration(*after_ms), summary::one_line(reason));
                self.note(&format!("attempt {attempt} in {wait}: {reason}"));
            }
            Event::Question { question, .. } => self.note(&format!("question: {}", summary::one_line(question))),
            Event::Answer { answer, .. } => self.note(&format!("answer: {}", summary::one_line(answer))),
            Event::ModelSwitched { to, .. } => {
                self.note(&format!("the model is now {}", summary::one_line(to.as_deref().unwrap_or("unknown"))));
            }
            Event::Compacting { messages } => {
                self.note(&format!("summarising {}", crate::summary::count(*messages, "older message")));
            }
            Event::Notice { text } => self.note(&summary::one_line(text)),
            Event::Reset {} => self.note("the conversation starts anew"),
            _ => {}
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
    fn on_event(&self, envelope: &Envelope) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        match &envelope.event {
            Event::RoundStarted { .. } | Event::RoundEnded { .. } => self.fresh_reply(state),
            Event::UserTurn { content, mid_loop, .. } => self.user_turn(content, *mid_loop),
            Event::ThinkingDelta { text } => match &mut state.thought {
                Thought::None => state.thought = Thought::Pieces(text.clone()),
                Thought::Pieces(pieces) => pieces.push_str(text),
                Thought::Told => {}
            },
            Event::AssistantDelta { text } => self.assistant_delta(state, text),
            Event::Thinking { text } => self.tell_thought(state, text),
            Event::Assistant { text, interrupted } => self.assistant(state, text, *interrupted),
            Event::ToolCall { id, name, arguments } => {
                let call = summary::call(name, arguments);
                self.note(&call);
                state.calls.push((id.clone(), call));
            }
            Event::ToolResult { id, content, is_error, elapsed_ms } => {
                self.tool_result(state, id, content, *is_error, *elapsed_ms);
            }
            Event::AgentSpawned { child, task, call, .. } => {
                if call.is_none() {
                    state.rescue = Some(child.clone());
                }
                // A call tells of its task itself.
                let told = call.as_ref().is_some_and(|call| state.calls.iter().any(|(id, _)| id == call));
                let what = if told { String::new() } else { format!(": {}", summary::one_line(task)) };
                self.note(&format!("{} starts{what}", visible_line(child.as_str())));
            }
            Event::AgentFinished { child, outcome, message } => {
                self.note(&ended(&visible_line(child.as_str()), *outcome, message.as_deref()));
            }
            Event::TurnEnded { outcome, message, .. } => {
                state.calls.clear();
                self.fresh_reply(state);
                self.turn_ended(*outcome, message.as_deref());
            }
            Event::SessionStarted { .. }
            | Event::FallbackNotice { .. }
            | Event::Retrying { .. }
            | Event::Question { .. }
            | Event::Answer { .. }
            | Event::ModelSwitched { .. }
            | Event::Compacting { .. }
            | Event::Notice { .. }
            | Event::Reset {} => self.around(&envelope.event),
            Event::ContextCap { tokens } => state.window = *tokens,
            Event::Compacted { before, after, messages, .. } => {
                self.note(&crate::summary::compacted([*before, *after], state.window, *messages));
            }
            Event::Returned { entries } => {
                for entry in entries {
                    self.note(&format!("not delivered, the agent has ended: {}", summary::one_line(&entry.text)));
                }
            }
            // Told by other events, or not for a reader of plain text.
            Event::Seen { .. }
            | Event::ContextSize { .. }
            | Event::Parked { .. }
            | Event::Unparked { .. }
            | Event::TurnStarted { .. }
            | Event::Cancelled {}
            | Event::Tokens(_)
            | Event::ToolProgress { .. }
            | Event::ToolDetails { .. }
            | Event::Guards { .. }
            | Event::Pending { .. }
            | Event::History { .. }
            | Event::Extension { .. }
            | Event::Unknown => {}
        }
    }

    fn for_sub_agent(&self, id: &AgentId) -> Option<Arc<dyn Listener>> {
        let rescue = self.state.lock().unwrap_or_else(PoisonError::into_inner).rescue.as_ref() == Some(id);
        let voice = if rescue { self.voice } else { Voice::Note };
        let depth = self.label.as_ref().map_or(0, |label| label.depth) + 1;
        Some(Arc::new(Self {
            out: Arc::clone(&self.out),
            label: Some(Label { id: id.clone(), depth }),
            voice,
            state: Mutex::default(),
        }))
    }

    fn label(&self) -> String {
        "Terminal".to_owned()
    }
}
