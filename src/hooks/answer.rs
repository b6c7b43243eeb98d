//! What a hook answers by its exit code and its output, and what several of them say together.
//!
//! Pure. Exit 2 forbids, with the error output as the words; exit 0 with a JSON object decides by its members; any other end
//! changes nothing. Of several hooks the strictest holds: stop and block before ask, ask before allow.

use serde::Deserialize;
use serde_json::Value;

use crate::agent::frame::wrapped;
use crate::event::{HookEvent, HookOutcome};
use crate::limits;
use crate::text::is_blank;

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
}

/// The output of a hook. Members that are not here mean nothing to this program.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Output {
    r#continue: Option<bool>,
    stop_reason: Option<String>,
    system_message: Option<String>,
    decision: Option<String>,
    reason: Option<String>,
    #[serde(rename = "hookSpecificOutput")]
    specific: Option<Specific>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Specific {
    hook_event_name: Option<String>,
    permission_decision: Option<String>,
    permission_decision_reason: Option<String>,
    updated_input: Option<Value>,
    additional_context: Option<String>,
}

const NO_REASON: &str = "the hook gives no reason";

impl HookReply {
    /// Makes what has only an outcome and words.
    pub fn only(outcome: HookOutcome, words: impl Into<String>) -> Self {
        let words = Some(clipped(&words.into())).filter(|words| !is_blank(words));
        Self { outcome, words, stop: None, input: None, context: None }
    }
}

/// Reads how a hook ended.
pub fn read_output(event: HookEvent, code: i32, output: &str, errors: &str) -> HookReply {
    match code {
        0 if output.trim_start().starts_with('{') => match serde_json::from_str::<Output>(output.trim()) {
            Ok(output) => decided(event, output).unwrap_or_else(|why| HookReply::only(HookOutcome::Failed, why)),
            Err(error) => HookReply::only(HookOutcome::Failed, format!("its output cannot be read: {error}")),
        },
        0 => {
            let is_context = matches!(event, HookEvent::SessionStart | HookEvent::UserPromptSubmit);
            let words = if is_context { output } else { "" };
            let reply = HookReply::only(HookOutcome::Done, words);
            HookReply { context: framed(event, words), ..reply }
        }
        2 if event == HookEvent::SessionStart => HookReply::only(HookOutcome::Failed, errors),
        2 => HookReply::only(HookOutcome::Blocked, or_no_reason(Some(errors.to_owned()))),
        code => {
            let first = errors.trim().lines().next().unwrap_or_default();
            HookReply::only(HookOutcome::Failed, format!("exit code {code} {first}"))
        }
    }
}

/// Reads the members of an output.
///
/// # Errors
/// A sentence about what cannot be understood; nothing comes of the hook then.
fn decided(event: HookEvent, output: Output) -> Result<HookReply, String> {
    let Output { r#continue, stop_reason, system_message, decision, reason, specific } = output;
    let specific = specific.unwrap_or_default();
    if let Some(other) = specific.hook_event_name.filter(|name| name != event.name()) {
        return Err(format!("it answers for {other:?}"));
    }
    let by_permission = match (event, specific.permission_decision.as_deref()) {
        (HookEvent::PreToolUse, Some("allow")) => Some(HookOutcome::Allowed),
        (HookEvent::PreToolUse, Some("ask")) => Some(HookOutcome::Asked),
        (HookEvent::PreToolUse, Some("deny")) => Some(HookOutcome::Blocked),
        (HookEvent::PreToolUse, Some(other)) => return Err(format!("the permission decision {other:?} is unknown")),
        (_, _) => None,
    };
    let by_decision = match decision.as_deref() {
        Some("block" | "deny") if event != HookEvent::SessionStart => Some(HookOutcome::Blocked),
        Some("approve" | "allow") if event == HookEvent::PreToolUse => Some(HookOutcome::Allowed),
        Some("approve" | "allow") | None => None,
        Some(other) => return Err(format!("the decision {other:?} is unknown")),
    };
    // Where both are there, the stricter one holds.
    let outcome = match (by_permission, by_decision) {
        (Some(HookOutcome::Blocked), _) | (_, Some(HookOutcome::Blocked)) => HookOutcome::Blocked,
        (Some(outcome), _) | (None, Some(outcome)) => outcome,
        (None, None) => HookOutcome::Done,
    };
    let reason = specific.permission_decision_reason.or(reason).filter(|reason| !is_blank(reason));
    let words = match outcome {
        HookOutcome::Blocked => Some(or_no_reason(reason)),
        _ => reason.or(system_message),
    };
    let stop = (r#continue == Some(false)).then(|| or_no_reason(stop_reason));
    let context = specific.additional_context.as_deref().and_then(|text| framed(event, text));
    let reply = HookReply::only(outcome, words.or_else(|| stop.clone()).unwrap_or_default());
    let input = specific.updated_input.filter(|_| event == HookEvent::PreToolUse && outcome != HookOutcome::Blocked);
    Ok(HookReply { stop, input, context, ..reply })
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
