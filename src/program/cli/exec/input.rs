//! `--input json`: each line is a request, carried out at once and answered by a `reply` in the JSON output. With
//! `stream-json` it is a user message in the shape of Claude Code, or a request about the run.

use serde_json::error::Category;
use serde_json::{Value, json};

use super::fills::{Expanded, FilledText};
use super::start::line;
use super::steering::ExecRun;
use crate::program::cli::steer_stdin::{Line, ReadLine};
use steersman_base::event::UserText;
use steersman_base::id::{AgentId, MessageId};
use steersman_base::protocol::{Accepted, QueueOutcome, Reply, Request, Update};
use steersman_base::steering::Trigger;
use steersman_session::stream::{InputLine, InputRequest, ReplyLine};

impl ExecRun<'_> {
    /// Carries out one line of input.
    pub(super) fn request_line(&mut self, read: &ReadLine) {
        let parsed = match &read.line {
            Line::Json(text) if self.has_messages() => match message_line(text) {
                Ok(MessageLine::Request(line)) => Ok(line),
                Ok(MessageLine::Response(response)) => return self.respond(&response),
                Err(why) => Err((Value::Null, why)),
            },
            Line::Json(text) => serde_json::from_str::<InputLine>(text).map_err(|error| {
                let id = serde_json::from_str::<Value>(text).ok().and_then(|line| line.get("id").cloned());
                let why = match error.classify() {
                    Category::Syntax | Category::Eof => {
                        "the line is no JSON; the page exec-json lists the requests".to_owned()
                    }
                    Category::Data | Category::Io => error.to_string(),
                };
                (id.unwrap_or_default(), format!("not a request: {why}"))
            }),
            Line::NotText => Err((Value::Null, "the line is too long, or not UTF-8 text".to_owned())),
            _ => return,
        };
        let reply = match parsed {
            Ok(InputLine { id, request: InputRequest::Model { name } }) => {
                self.switches.push((id, name.clone()));
                self.client.send(Request::SwitchModel { name });
                return;
            }
            Ok(InputLine { id, request }) => self.request(id, request, read.began),
            Err((id, reason)) => Some(failed(id, reason)),
        };
        if let Some(reply) = reply {
            self.reply(&reply);
        }
        self.take_updates();
    }

    /// Carries out a request and returns its reply; `None` for one that waits for shell lines.
    fn request(&mut self, id: Value, request: InputRequest, began: u64) -> Option<ReplyLine> {
        if let InputRequest::Answer { question, answer, reason, arguments } = request {
            let answer = match answer.with(reason, arguments) {
                Ok(answer) => answer,
                Err(why) => return Some(failed(id, why)),
            };
            return Some(match self.questions.answered(&self.open, Some(question), &answer, began) {
                Ok(open) => {
                    self.record.answering(open.0, "input");
                    self.carry_out(id, Request::Answer { id: open, answer })
                }
                Err(why) => failed(id, why.strip_prefix("not answered: ").unwrap_or(&why).to_owned()),
            });
        }
        if let InputRequest::Pause { agent, paused } = &request {
            match (agent, paused) {
                (agent, true) => drop(self.paused_by_input.insert(agent.clone())),
                (None, false) => self.paused_by_input.clear(),
                (agent, false) => drop(self.paused_by_input.remove(agent)),
            }
        }
        Some(match request.request() {
            Ok(Some(Request::Inject { to, message })) => match self.fills.expand(&message.text) {
                Expanded::Text(text) | Expanded::Filled(text) => {
                    self.carry_out(id, Request::Inject { to, message: UserText { text, ..message } })
                }
                Expanded::WithCommands => {
                    self.fill_in(FilledText::Request(id, to, message));
                    return None;
                }
            },
            Ok(Some(request)) => self.carry_out(id, request),
            Ok(None) => {
                self.end_of_requests();
                done(id)
            }
            Err(reason) => failed(id, reason),
        })
    }

    /// Refuses a request.
    pub(super) fn refuse_request(&self, id: Value, reason: String) {
        self.reply(&failed(id, reason));
    }

    /// Sends a request and returns what came of it. Requests of this kind are carried out before `send` returns.
    pub(super) fn carry_out(&mut self, id: Value, request: Request) -> ReplyLine {
        self.take_updates();
        if matches!(request, Request::Inject { .. } | Request::Stop) {
            self.unanswered += 1;
        }
        self.client.send(request);
        let updates = self.client.answers();
        let reply = updates.iter().find_map(|update| match update {
            Update::Reply(reply) => Some(reply_line(id.clone(), reply)),
            _ => None,
        });
        self.updates.extend(updates);
        reply.unwrap_or_else(|| done(id))
    }

    /// Answers the oldest request for this model. Returns whether there was one.
    pub(super) fn model_switched(&mut self, name: &str, outcome: &Result<String, String>) -> bool {
        let Some(place) = self.switches.iter().position(|(_, asked)| asked == name) else { return false };
        let (id, _) = self.switches.remove(place);
        self.reply(&match outcome {
            Ok(_) => done(id),
            Err(reason) => failed(id, reason.clone()),
        });
        true
    }

    /// Answers the requests for a model of which nothing is known when the run ends.
    pub(super) fn end_model_switches(&mut self) {
        for (id, _) in std::mem::take(&mut self.switches) {
            self.reply(&failed(id, "the run has ended".to_owned()));
        }
    }

    pub(super) fn reply(&self, reply: &ReplyLine) {
        if let Some(json) = &self.replies {
            json.append_line(AgentId::main(), None, line("reply", reply));
        } else if self.has_messages() && !reply.id.is_null() {
            let error = reply.reason.clone().unwrap_or_default();
            self.respond(&if reply.ok {
                json!({"subtype": "success", "request_id": reply.id, "response": {}})
            } else {
                json!({"subtype": "error", "request_id": reply.id, "error": error})
            });
        } else if let Some(reason) = reply.reason.as_ref().filter(|_| !reply.ok) {
            self.err.say(reason);
        }
    }

    fn respond(&self, response: &Value) {
        if let Some(stream) = &self.stream {
            stream.respond(response);
        }
    }
}

/// What a line in the shape of Claude Code asks for.
enum MessageLine {
    Request(InputLine),
    /// Nothing more than this answer.
    Response(Value),
}

/// Reads a line in the shape of Claude Code.
///
/// # Errors
/// One sentence: nothing can be done with it.
fn message_line(text: &str) -> Result<MessageLine, String> {
    let line: Value = serde_json::from_str(text).map_err(|_| "the line is no JSON: not sent".to_owned())?;
    let request = match line.get("type").and_then(Value::as_str) {
        // Each is a turn of its own, as there.
        Some("user") => json!({"type": "send", "delivery": "follow_up", "text": text_of_message(&line)?}),
        Some("control_request") => {
            let kind = line.get("request").and_then(|request| request.get("subtype")).and_then(Value::as_str);
            let id = line.get("request_id").cloned().unwrap_or_default();
            match kind.unwrap_or_default() {
                "initialize" => {
                    let response = json!({"subtype": "success", "request_id": id, "response": {}});
                    return Ok(MessageLine::Response(response));
                }
                "interrupt" => json!({"type": "cancel", "id": id}),
                other => {
                    let error = format!("{other} is no request here: initialize and interrupt are");
                    return Ok(MessageLine::Response(json!({"subtype": "error", "request_id": id, "error": error})));
                }
            }
        }
        other => return Err(format!("a line of the type {:?} is not read: user is", other.unwrap_or_default())),
    };
    serde_json::from_value(request).map(MessageLine::Request).map_err(|error| error.to_string())
}

/// Returns the text of a user message.
fn text_of_message(line: &Value) -> Result<String, String> {
    let content = line.get("message").and_then(|message| message.get("content"));
    match content {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(parts)) => {
            let text = |part: &Value| match part.get("type").and_then(Value::as_str) {
                Some("text") => Ok(part.get("text").and_then(Value::as_str).unwrap_or_default().to_owned()),
                other => {
                    let kind = other.unwrap_or("unknown");
                    Err(format!(
                        "a part of the type {kind} is not read, and its message not sent; --image sends a picture"
                    ))
                }
            };
            Ok(parts.iter().map(text).collect::<Result<Vec<_>, _>>()?.join("\n"))
        }
        _ => Err("a user message without a content is not sent".to_owned()),
    }
}

/// Returns the text that a line would have sent.
pub(super) fn text_of(line: &str) -> Option<UserText> {
    let line = serde_json::from_str::<InputLine>(line).ok().or_else(|| match message_line(line) {
        Ok(MessageLine::Request(line)) => Some(line),
        Ok(MessageLine::Response(_)) | Err(_) => None,
    });
    match line?.request {
        InputRequest::Send { text, delivery, kind, scope, when, every, .. } => {
            let trigger = when.map(Trigger::once).or(every.map(Trigger::every));
            Some(UserText { text, delivery, kind, scope, trigger, ..UserText::default() })
        }
        _ => None,
    }
}

fn reply_line(id: Value, reply: &Reply) -> ReplyLine {
    match reply {
        Reply::Injected { outcome: Ok(message), .. } => ReplyLine { message: Some(message.clone()), ..done(id) },
        Reply::Injected { outcome: Err(refused), .. } => failed(id, refused.to_string()),
        Reply::Stopped(entries) => ReplyLine { returned: entries.clone(), ..done(id) },
        Reply::Queue { outcome, id: message, .. } => queue_reply(id, outcome, message),
        Reply::RuleChanged { accepted: Accepted::No, id: rule, .. } => {
            failed(id, format!("no rule {rule} holds, or its new words are blank"))
        }
        Reply::Pause { accepted: Accepted::No, .. } => failed(id, "that agent has ended".to_owned()),
        Reply::Decided { accepted: Accepted::No, .. } => failed(id, "no agent waits there".to_owned()),
        Reply::Cancelling(agents) if agents.is_empty() => failed(id, "that agent has ended".to_owned()),
        Reply::Answered { outcome: Err(why), .. }
        | Reply::Mode(Err(why))
        | Reply::ShellLine { outcome: Err(why), .. }
        | Reply::InstructionAdded { outcome: Err(why), .. }
        | Reply::Background { outcome: Err(why), .. } => failed(id, why.clone()),
        Reply::JobStopped { accepted: Accepted::No, job } => failed(id, format!("no job {job} runs")),
        Reply::PlanEdited { outcome: Err(refused), .. } => failed(id, refused.to_string()),
        Reply::Pause { .. }
        | Reply::PlanEdited { outcome: Ok(()), .. }
        | Reply::RuleChanged { .. }
        | Reply::Decided { .. }
        | Reply::Cancelling(_)
        | Reply::ShellLine { .. }
        | Reply::InstructionAdded { .. }
        | Reply::Background { .. }
        | Reply::Image { .. }
        | Reply::JobStopped { .. }
        | Reply::Answered { .. }
        | Reply::Mode(Ok(_))
        | Reply::UndoPreview { .. }
        | Reply::Changes(_)
        | Reply::Context { .. }
        | Reply::RewindPreview { .. }
        | Reply::Undone { .. }
        | Reply::Rules(_)
        | Reply::Servers { .. }
        | Reply::Prompt { .. }
        | Reply::Filled { .. }
        | Reply::Budget(_) => done(id),
    }
}

fn queue_reply(id: Value, outcome: &QueueOutcome, message: &MessageId) -> ReplyLine {
    match outcome {
        QueueOutcome::Done | QueueOutcome::Merged(..) => done(id),
        QueueOutcome::Withdrawn(entry) => ReplyLine { returned: vec![entry.clone()], ..done(id) },
        QueueOutcome::Gone => failed(id, format!("no message {message} waits")),
        QueueOutcome::Ended => failed(id, "that agent has ended".to_owned()),
        QueueOutcome::Refused(refused) => failed(id, refused.to_string()),
    }
}

fn done(id: Value) -> ReplyLine {
    ReplyLine { id, ok: true, message: None, returned: Vec::new(), reason: None }
}

fn failed(id: Value, reason: String) -> ReplyLine {
    ReplyLine { ok: false, reason: Some(reason), ..done(id) }
}
