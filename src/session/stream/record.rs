//! A run reduced to what its lines say beside the events, and into its result.
//!
//! A listener before the one that writes: what it knows when a line is written includes the event of that line.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use serde::Serialize;
use serde_json::{Map, Value};

use super::fields::{
    AgentFinishedFields, AgentSpawnedFields, AnswerFields, CallError, ChangedFile, CompactedFields, FilesChanged,
    LineFields, ModelUsage, RefusedCall, RunResult, SeenFields, ToolResultFields, TurnEndedFields, UnsentText,
    UsageSum, UserTurnFields,
};
use super::permission::question_fields;
use steersman_agent::OutputSchema;
use steersman_base::details::Details;
use steersman_base::event::{
    CallFailure, Envelope, Event, EventContext, Outcome, Pending, TurnFailure, TurnFinish, Usage, add_known,
};
use steersman_base::id::{AgentId, CallId};
use steersman_base::limits;
use steersman_base::protocol::ApprovalRequest;
use steersman_base::sync::lock;
use steersman_core::approval::Approvals;
use steersman_core::listener::Listener;

/// The record of a run. Clones share it.
#[derive(Clone)]
pub struct RunRecord {
    began: Instant,
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    session: Option<String>,
    /// What the answers of the main agent are to match.
    schema: Option<Arc<OutputSchema>>,
    /// What was asked; kept until its answer is told, which can be long after it was given.
    requests: HashMap<u64, ApprovalRequest>,
    /// Who answers the questions of these numbers.
    answerers: HashMap<u64, String>,
    agents: HashMap<AgentId, AgentRecord>,
    calls: HashMap<(AgentId, CallId), CallRecord>,
    total: UsageSum,
    by_model: BTreeMap<Option<String>, UsageSum>,
    files: BTreeSet<String>,
    files_partial: bool,
    refused: Vec<RefusedCall>,
    turns: u32,
    last: Option<LastTurn>,
    result: Option<RunResult>,
}

#[derive(Default)]
struct AgentRecord {
    turn: Option<u32>,
    round: Option<u32>,
    /// The text of its last reply in the running turn.
    text: Option<String>,
    used: UsageSum,
    finish: Option<TurnFinish>,
    fault: Option<TurnFailure>,
}

#[derive(Default)]
struct CallRecord {
    name: Option<String>,
    fault: Option<CallFailure>,
    files: Vec<ChangedFile>,
    files_partial: bool,
}

impl CallRecord {
    /// Notes the files that a call changed.
    fn changed(&mut self, details: &Details) {
        match details {
            Details::Diff(diff) => self.files.push(ChangedFile {
                path: diff.path.clone(),
                created: Some(diff.created),
                added: Some(diff.added),
                removed: Some(diff.removed),
            }),
            Details::Command(end) => {
                let file =
                    |path: &String| ChangedFile { path: path.clone(), created: None, added: None, removed: None };
                self.files.extend(end.touched.paths.iter().map(file));
                self.files_partial |= end.touched.partial;
            }
            Details::Page(_) | Details::Images(_) | Details::Unknown => {}
        }
    }
}

/// How the last turn of the main agent ended.
#[derive(Debug, Clone)]
pub struct LastTurn {
    /// How.
    pub outcome: Outcome,
    /// Its answer.
    pub answer: Option<String>,
    /// Why its last reply ended.
    pub finish: Option<TurnFinish>,
    /// What failed.
    pub fault: Option<TurnFailure>,
    /// The same in a sentence.
    pub reason: Option<String>,
}

impl Default for RunRecord {
    fn default() -> Self {
        Self { began: Instant::now(), inner: Arc::default() }
    }
}

impl RunRecord {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }

    /// Sets the session that every line names.
    pub fn set_session(&self, session: Option<String>) {
        self.lock().session = session;
    }

    /// Sets what the answers of the main agent are to match.
    pub fn set_schema(&self, schema: Option<Arc<OutputSchema>>) {
        self.lock().schema = schema;
    }

    /// Returns why the last answer does not match its schema; `None` when it does, and without a schema.
    pub fn mismatch(&self) -> Option<String> {
        let inner = self.lock();
        let schema = inner.schema.as_ref()?;
        match inner.last.as_ref().and_then(|last| last.answer.as_deref()) {
            Some(answer) => schema.check(answer).err(),
            None => Some("there is none".to_owned()),
        }
    }

    /// Returns the last answer; where it matches its schema the JSON alone.
    pub fn answer_text(&self) -> Option<String> {
        let inner = self.lock();
        let answer = inner.last.as_ref()?.answer.as_deref()?;
        let structured = inner.schema.as_ref().and_then(|schema| schema.check(answer).ok());
        Some(structured.map_or(answer, |structured| structured.text).to_owned())
    }

    /// Takes notice of every question from now on.
    pub fn watch(&self, approvals: &Arc<Approvals>) {
        let (record, asked) = (self.clone(), Arc::downgrade(approvals));
        approvals.watch(Arc::new(move || {
            let open = asked.upgrade().map(|approvals| approvals.open()).unwrap_or_default();
            record.lock().requests.extend(open.into_iter().map(|request| (request.id.0, request)));
        }));
    }

    /// Notes who is about to answer a question.
    pub fn answering(&self, number: u64, by: &str) {
        self.lock().answerers.insert(number, by.to_owned());
    }

    /// Returns how the last turn of the main agent ended.
    pub fn last_turn(&self) -> Option<LastTurn> {
        self.lock().last.clone()
    }

    /// Returns whether a call was refused without an answer of the user.
    pub fn has_refused(&self) -> bool {
        self.lock().refused.iter().any(|call| call.kind == CallFailure::Refused)
    }

    /// Adds to the wire form of an event what is known beside it.
    pub fn add_to(&self, envelope: &Envelope, members: &mut Map<String, Value>) {
        let mut inner = self.lock();
        let place = inner.agents.get(&envelope.agent);
        let (turn, round) = place.map_or((None, None), |place| (place.turn, place.round));
        let line = LineFields { session: inner.session.clone(), turn, round };
        insert(members, &line);
        if let Some(Value::Object(event)) = members.get_mut("event") {
            inner.add(envelope, event);
        }
    }

    /// Takes the files that the call of this event has changed, once.
    pub fn files_of(&self, envelope: &Envelope) -> Option<FilesChanged> {
        let Event::ToolResult { id, .. } = &envelope.event else { return None };
        let call = self.lock().calls.remove(&(envelope.agent.clone(), id.clone()))?;
        let is_line = !call.files.is_empty() || call.files_partial;
        is_line.then(|| FilesChanged { id: id.clone(), files: call.files, partial: call.files_partial })
    }

    /// Returns how the run ended; the line of its end says the same from here on.
    pub fn finish(&self, exit_code: u8, reason: Option<String>, unsent: &[Pending]) -> RunResult {
        let mut inner = self.lock();
        let last = inner.last.clone();
        let model = |(model, usage): (&Option<String>, &UsageSum)| ModelUsage { model: model.clone(), usage: *usage };
        let unsent_text = |entry: &Pending| UnsentText {
            id: entry.id.clone(),
            text: entry.text.clone(),
            delivery: entry.delivery,
            kind: entry.kind,
            trigger: entry.trigger.clone(),
            sender: entry.sender.clone(),
        };
        #[allow(clippy::cast_precision_loss)] // Billionths that a float does not have are no money.
        let cost_usd = inner.total.cost_nanos.map(|nanos| nanos as f64 / 1e9);
        let result = RunResult {
            session: inner.session.clone(),
            turns: inner.turns,
            exit_code,
            // Without a turn there is nothing that could have failed but the run.
            outcome: last
                .as_ref()
                .map_or(if exit_code == 0 { Outcome::Completed } else { Outcome::Failed }, |last| last.outcome),
            finish: last.as_ref().and_then(|last| last.finish),
            answer: last.as_ref().and_then(|last| last.answer.clone()),
            structured: last.as_ref().and_then(|last| inner.structured(last.answer.as_deref())),
            usage: inner.total,
            cost_nanos: inner.total.cost_nanos,
            cost_usd,
            by_model: inner.by_model.iter().map(model).collect(),
            files: inner.files.iter().cloned().collect(),
            files_partial: inner.files_partial,
            refused: inner.refused.clone(),
            unsent: unsent.iter().map(unsent_text).collect(),
            duration_ms: u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX),
            error: last.as_ref().and_then(|last| last.fault),
            reason: reason.or(last.and_then(|last| last.reason)),
        };
        inner.result = Some(result.clone());
        result
    }
}

impl Inner {
    /// Applies one event.
    fn apply(&mut self, envelope: &Envelope) {
        let agent = self.agents.entry(envelope.agent.clone()).or_default();
        match &envelope.event {
            Event::TurnStarted { turn } => {
                *agent = AgentRecord { turn: Some(*turn), ..AgentRecord::default() };
                self.turns += u32::from(envelope.agent.is_main());
            }
            Event::RoundStarted { round, .. } => {
                agent.round = Some(*round);
                agent.text = None;
            }
            Event::Assistant { text, .. } => agent.text = Some(text.clone()),
            Event::Tokens(usage) => {
                let model = self.by_model.entry(usage.model.clone()).or_default();
                for sum in [&mut agent.used, &mut self.total, model] {
                    add(sum, usage);
                }
                if !envelope.agent.is_main() {
                    add(&mut self.agents.entry(AgentId::main()).or_default().used, usage);
                }
            }
            Event::ToolCall { id, name, .. } => {
                self.calls.entry((envelope.agent.clone(), id.clone())).or_default().name = Some(name.clone());
            }
            Event::ToolDetails { id, details } => {
                self.calls.entry((envelope.agent.clone(), id.clone())).or_default().changed(details);
            }
            Event::JobEnded(end) => {
                self.files.extend(end.end.touched.paths.iter().cloned());
                self.files_partial |= end.end.touched.partial;
            }
            Event::ToolResult { id, content, .. } => self.call_ended(&envelope.agent, id, content),
            Event::TurnEnded { outcome, message, .. } if envelope.agent.is_main() => {
                let answer = self.answer(&envelope.agent, *outcome);
                let main = self.agents.entry(envelope.agent.clone()).or_default();
                self.last = Some(LastTurn {
                    outcome: *outcome,
                    answer,
                    finish: main.finish,
                    fault: main.fault,
                    reason: message.clone(),
                });
            }
            _ => {}
        }
    }

    fn call_ended(&mut self, agent: &AgentId, id: &CallId, content: &str) {
        let Some(call) = self.calls.get(&(agent.clone(), id.clone())) else { return };
        self.files.extend(call.files.iter().map(|file| file.path.clone()));
        self.files_partial |= call.files_partial;
        if let Some(kind @ (CallFailure::Refused | CallFailure::Declined)) = call.fault
            && self.refused.len() < limits::REFUSED_KEPT
        {
            let reason = content.get(..content.floor_char_boundary(limits::REFUSED_BYTES)).unwrap_or_default();
            self.refused.push(RefusedCall {
                agent: agent.clone(),
                id: id.clone(),
                name: call.name.clone(),
                kind,
                reason: reason.to_owned(),
            });
        }
    }

    /// Returns an answer as JSON when it matches the schema.
    fn structured(&self, answer: Option<&str>) -> Option<Value> {
        let answer = self.schema.as_ref()?.check(answer?).ok()?;
        Some(answer.value)
    }

    /// Returns the answer of the turn that an agent ends; a rescue may have written it.
    fn answer(&self, agent: &AgentId, outcome: Outcome) -> Option<String> {
        let by = match outcome {
            Outcome::Completed => agent.clone(),
            Outcome::Synthesized => agent.synthesizer(),
            Outcome::Cancelled | Outcome::Failed => return None,
        };
        self.agents.get(&by).and_then(|agent| agent.text.clone())
    }

    fn add(&mut self, envelope: &Envelope, event: &mut Map<String, Value>) {
        match &envelope.event {
            Event::Question { id, question, .. } => {
                let number = number_of(id);
                insert(event, &question_fields(number, question, self.requests.get(&number)));
            }
            Event::Answer { id, answer, words } => {
                let number = number_of(id);
                self.requests.remove(&number);
                let by = match (answer.as_str(), self.answerers.remove(&number)) {
                    ("withdrawn" | "denied" | "allowed", _) => "nobody".to_owned(),
                    (_, Some(by)) => by,
                    (_, None) => "client".to_owned(),
                };
                insert(event, &AnswerFields { number, by, reason: words.clone() });
            }
            Event::ToolResult { id, content, is_error, .. } => {
                let call = self.calls.get(&(envelope.agent.clone(), id.clone()));
                let fault = call.and_then(|call| call.fault).or(is_error.then_some(CallFailure::Failed));
                let fields = ToolResultFields {
                    name: call.and_then(|call| call.name.clone()),
                    text: content.clone(),
                    error: fault.map(|kind| CallError { kind }),
                };
                insert(event, &fields);
            }
            Event::TurnEnded { outcome, message, .. } => {
                let answer = self.answer(&envelope.agent, *outcome);
                let structured = self.structured(answer.as_deref().filter(|_| envelope.agent.is_main()));
                let Some(agent) = self.agents.get_mut(&envelope.agent) else { return };
                let fields = TurnEndedFields {
                    answer,
                    structured,
                    finish: agent.finish,
                    usage: agent.used,
                    error: agent.fault,
                    reason: message.clone(),
                };
                agent.turn = None;
                agent.round = None;
                insert(event, &fields);
            }
            Event::UserTurn { content, injection, .. } => {
                insert(event, &UserTurnFields { id: injection.clone(), text: content.clone() });
            }
            Event::Seen { injections, .. } => insert(event, &SeenFields { ids: injections.clone() }),
            Event::AgentSpawned { child, task, .. } => {
                insert(event, &AgentSpawnedFields { agent: child.clone(), text: task.clone() });
            }
            Event::AgentFinished { child, message, .. } => {
                insert(event, &AgentFinishedFields { agent: child.clone(), reason: message.clone() });
            }
            Event::Compacted { summary, .. } => insert(event, &CompactedFields { text: summary.clone() }),
            Event::SessionEnded { .. } => {
                if let Some(result) = &self.result {
                    insert(event, result);
                }
            }
            _ => {}
        }
    }
}

impl Listener for RunRecord {
    fn on_event(&self, envelope: &Envelope) {
        self.lock().apply(envelope);
    }

    fn on_facts(&self, agent: &AgentId, facts: &EventContext) {
        let mut inner = self.lock();
        match facts {
            EventContext::Call { id, fault } => {
                inner.calls.entry((agent.clone(), id.clone())).or_default().fault = Some(*fault);
            }
            EventContext::Turn { finish, fault } => {
                let agent = inner.agents.entry(agent.clone()).or_default();
                (agent.finish, agent.fault) = (*finish, *fault);
            }
        }
    }

    fn label(&self) -> String {
        "RunRecord".to_owned()
    }
}

/// Adds the members of a value to an object.
pub(super) fn insert(members: &mut Map<String, Value>, fields: &impl Serialize) {
    if let Ok(Value::Object(fields)) = serde_json::to_value(fields) {
        members.extend(fields);
    }
}

/// Returns the number in the name of a question.
fn number_of(id: &str) -> u64 {
    id.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or_default()
}

fn add(sum: &mut UsageSum, usage: &Usage) {
    let add = |sum: &mut u64, tokens: Option<u64>| *sum = sum.saturating_add(tokens.unwrap_or(0));
    sum.rounds += 1;
    add(&mut sum.input, usage.input);
    add(&mut sum.output, usage.output);
    add(&mut sum.cached, usage.cached);
    add(&mut sum.cache_creation, usage.cache_creation);
    add(&mut sum.thinking, usage.thinking);
    add_known(&mut sum.cost_nanos, usage.cost_nanos);
}
