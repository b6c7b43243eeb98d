//! What a hook answers by its exit code and its output, and what several of them say together.
//!
//! Pure. Exit 2 forbids, with the error output as the words; exit 0 with a JSON object decides by its members; at any other end
//! only a no before a call counts. Of several hooks the strictest holds: stop and block before ask, ask before allow. Always holds: an
//! output with a decision about a call that cannot be read forbids the call, since it may have been a no.

use serde_json::Value;

use crate::hooks::output::{Members, Printed, has_decision, printed};
use steersman_base::event::{HookEvent, HookOutcome};
use steersman_base::limits;
use steersman_base::text::is_blank;
use steersman_core::wrapper::wrapped;

/// What one hook says.
#[derive(Debug, Clone, PartialEq)]
pub struct HookReply {
    /// What came of it.
    pub outcome: HookOutcome,
    /// Its words, for the user or the model.
    pub words: Option<String>,
    /// Why the turn ends.
    pub stop: Option<String>,
    /// Other arguments for the call, under the hook's names.
    pub input: Option<Value>,
    /// A text for the model, in its frame.
    pub context: Option<String>,
    /// Whether it is to look at calls, and has not looked at this one.
    pub is_unseen: bool,
}

const NO_REASON: &str = "the hook gives no reason";
const TORN: &str = "its output holds a decision that is not valid JSON";

impl HookReply {
    /// Makes what has only an outcome and words.
    pub fn only(outcome: HookOutcome, words: impl Into<String>) -> Self {
        let words = Some(clipped(&words.into())).filter(|words| !is_blank(words));
        Self { outcome, words, stop: None, input: None, context: None, is_unseen: false }
    }
}

/// Reads how a hook ended.
pub fn read_output(event: HookEvent, code: i32, output: &str, errors: &str) -> HookReply {
    match code {
        0 => read_printed(event, output),
        2 if !event.can_forbid() => HookReply::only(HookOutcome::Failed, errors),
        2 => {
            // Some hooks say why on the other output.
            let printed = || read_printed(event, output).words.unwrap_or_else(|| output.to_owned());
            let words = if is_blank(errors) { printed() } else { errors.to_owned() };
            HookReply::only(HookOutcome::Blocked, or_no_reason(Some(words)))
        }
        code => {
            // A guard that said no and then failed has said no.
            let said = (event == HookEvent::PreToolUse).then(|| read_printed(event, output));
            if let Some(said) = said.filter(|said| said.outcome == HookOutcome::Blocked) {
                return said;
            }
            let first = errors.trim().lines().next().unwrap_or_default();
            let why = format!("exit code {code} {first}");
            // So a shell says that a command is not there, or cannot be run.
            if matches!(code, 126 | 127) { not_run(event, why) } else { HookReply::only(HookOutcome::Failed, why) }
        }
    }
}

/// Returns what comes of a hook that could not run. One that may forbid calls has not looked at this one: the user is asked.
pub(super) fn not_run(event: HookEvent, why: String) -> HookReply {
    if event == HookEvent::PreToolUse {
        let words = format!("it could not run: {why}");
        return HookReply { is_unseen: true, ..HookReply::only(HookOutcome::Asked, words) };
    }
    HookReply::only(HookOutcome::Failed, why)
}

fn read_printed(event: HookEvent, output: &str) -> HookReply {
    let is_context = matches!(event, HookEvent::SessionStart | HookEvent::UserPromptSubmit);
    match printed(output) {
        Printed::Whole(members) => read_object(event, &members),
        // Plain output is a text for the model there, which may quote anything.
        Printed::Among { ends: false, .. } | Printed::Text { fault: None, .. } if is_context => {
            let reply = HookReply::only(HookOutcome::Done, output);
            HookReply { context: framed(event, output), ..reply }
        }
        Printed::Among { objects, torn, .. } => among(event, &objects, torn),
        Printed::Text { fault: Some(why), torn } => unread(event, torn, why),
        Printed::Text { fault: None, torn: true } => unread(event, true, TORN.to_owned()),
        Printed::Text { fault: None, torn: false } => HookReply::only(HookOutcome::Done, ""),
    }
}

/// Reads objects among other output: the last one counts, and a no before it stays. What else a hook prints can be a text
/// of the model, as the command that it looks at: nothing there allows a call.
fn among(event: HookEvent, objects: &[Members], torn: bool) -> HookReply {
    let mut replies: Vec<HookReply> = objects.iter().map(|members| read_object(event, members)).collect();
    if torn {
        replies.push(unread(event, true, TORN.to_owned()));
    }
    let last = replies.pop();
    let refusal = replies.into_iter().find(|reply| reply.outcome == HookOutcome::Blocked);
    let reply = match last {
        Some(last) if last.outcome == HookOutcome::Blocked => last,
        last => refusal.or(last).unwrap_or_else(|| HookReply::only(HookOutcome::Done, "")),
    };
    if reply.outcome != HookOutcome::Allowed {
        return reply;
    }
    let words = "its allow does not count: it must print the JSON alone";
    HookReply {
        input: reply.input,
        context: reply.context,
        stop: reply.stop,
        ..HookReply::only(HookOutcome::Done, words)
    }
}

fn read_object(event: HookEvent, members: &Members) -> HookReply {
    decided(event, members).unwrap_or_else(|why| unread(event, has_decision(members), why))
}

/// Returns what comes of an answer that cannot be read.
fn unread(event: HookEvent, is_decision: bool, why: String) -> HookReply {
    if event == HookEvent::PreToolUse && is_decision {
        let words = format!("its decision cannot be read, and may be a no: {why}");
        return HookReply::only(HookOutcome::Blocked, words);
    }
    HookReply::only(HookOutcome::Failed, why)
}

/// Reads the members of an output; those that are not named here mean nothing to this program.
///
/// # Errors
/// A sentence about what cannot be understood.
fn decided(event: HookEvent, members: &Members) -> Result<HookReply, String> {
    let none = Members::new();
    let specific = match members.get("hookSpecificOutput") {
        None | Some(Value::Null) => &none,
        Some(Value::Object(specific)) => specific,
        Some(_) => return Err(no("hookSpecificOutput", "an object")),
    };
    if let Some(other) = text(specific, "hookEventName")?
        && !other.eq_ignore_ascii_case(event.name())
    {
        return Err(format!("it answers for {other:?}"));
    }
    if event == HookEvent::PermissionRequest {
        return answered(specific);
    }
    let mut decisions = Vec::new();
    for place in [specific, members] {
        if event == HookEvent::PreToolUse {
            decisions.extend(decision(event, place, "permissionDecision", "permission decision")?);
        }
        decisions.extend(decision(event, place, "decision", "decision")?);
    }
    // The strictest holds.
    let by_strictness = [HookOutcome::Blocked, HookOutcome::Asked, HookOutcome::Allowed];
    let outcome = by_strictness.into_iter().find(|outcome| decisions.contains(outcome)).unwrap_or(HookOutcome::Done);
    let either = |name: &str| {
        text(specific, name).and_then(|found| found.map_or_else(|| text(members, name), |found| Ok(Some(found))))
    };
    let reason = either("permissionDecisionReason")?.or(either("reason")?).filter(|reason| !is_blank(reason));
    let words = match outcome {
        HookOutcome::Blocked => Some(or_no_reason(reason)),
        _ => reason.or(text(members, "systemMessage")?),
    };
    let stop = match members.get("continue") {
        None | Some(Value::Null | Value::Bool(true)) => None,
        Some(Value::Bool(false)) => Some(or_no_reason(text(members, "stopReason")?)),
        Some(_) => return Err("`continue` is neither true nor false".to_owned()),
    };
    let input = match specific.get("updatedInput").or_else(|| members.get("updatedInput")) {
        Some(Value::Object(input)) => Some(Value::Object(input.clone())),
        Some(value) if !value.is_null() => return Err(no("updatedInput", "an object")),
        _ => None,
    };
    let input = input.filter(|_| event == HookEvent::PreToolUse && outcome != HookOutcome::Blocked);
    let context = either("additionalContext")?.and_then(|text| framed(event, &text));
    if decisions.is_empty() && stop.is_none() && event == HookEvent::PreToolUse && has_decision(members) {
        return Err("it must stand at the top of the object or in hookSpecificOutput".to_owned());
    }
    let reply = HookReply::only(outcome, words.or_else(|| stop.clone()).unwrap_or_default());
    Ok(HookReply { stop, input, context, ..reply })
}

/// Reads the answer to a question about a call.
fn answered(specific: &Members) -> Result<HookReply, String> {
    let decision = match specific.get("decision") {
        None | Some(Value::Null) => return Ok(HookReply::only(HookOutcome::Done, "")),
        Some(Value::Object(decision)) => decision,
        Some(_) => return Err(no("decision", "an object")),
    };
    let message = text(decision, "message")?;
    match text(decision, "behavior")?.as_deref() {
        Some("deny") => Ok(HookReply::only(HookOutcome::Blocked, or_no_reason(message))),
        Some("allow") if decision.get("updatedInput").is_some_and(|input| !input.is_null()) => {
            Err("it would change the arguments of a call that is asked about".to_owned())
        }
        Some("allow") => Ok(HookReply::only(HookOutcome::Allowed, message.unwrap_or_default())),
        other => Err(format!("the behavior {:?} is unknown", other.unwrap_or_default())),
    }
}

/// Reads a member with a decision.
fn decision(event: HookEvent, members: &Members, name: &str, what: &str) -> Result<Option<HookOutcome>, String> {
    let Some(word) = text(members, name)? else { return Ok(None) };
    Ok(match (word.trim().to_ascii_lowercase().as_str(), event) {
        ("block" | "deny", event) if event.can_forbid() => Some(HookOutcome::Blocked),
        ("ask", HookEvent::PreToolUse) => Some(HookOutcome::Asked),
        ("approve" | "allow", HookEvent::PreToolUse) => Some(HookOutcome::Allowed),
        ("approve" | "allow", _) => None,
        (_, _) => return Err(format!("the {what} {word:?} is unknown")),
    })
}

/// Reads a member that is a text.
fn text(members: &Members, name: &str) -> Result<Option<String>, String> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(no(name, "a string")),
    }
}

fn no(member: &str, kind: &str) -> String {
    format!("`{member}` in its output must be {kind}")
}

fn or_no_reason(words: Option<String>) -> String {
    let words = words.filter(|words| !is_blank(words)).unwrap_or_else(|| NO_REASON.to_owned());
    clipped(words.trim())
}

/// Puts a text for the model into a frame that says where it comes from, and that nothing in it can end.
fn framed(event: HookEvent, text: &str) -> Option<String> {
    (!is_blank(text)).then(|| wrapped("hook", event.name(), "", &clipped(text.trim())))
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(limits::HOOK_TEXT_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
