//! The quirks that follow from refusals of servers.
//!
//! A refusal is read in small letters. It yields one quirk, or none: then it is shown to the user.

use super::{EffortForm, Efforts, Quirk, Quirks, TokenLimit, Want};

/// The words of sentences that ask for another form; all of them must be in the message.
const SENTENCES: &[(&[&str], Quirk)] = &[
    (&["function calling with a response mime type"], Quirk::Wants(Want::FormatAlone)),
    (&["response_format", "tool"], Quirk::Wants(Want::FormatAlone)),
    (&["json mode", "tool"], Quirk::Wants(Want::FormatAlone)),
    (&["grammar", "tools"], Quirk::Wants(Want::FormatAlone)),
    // Whatever it is about them: the answer is checked anyway.
    (&["response_format"], Quirk::Wants(Want::NoFormat)),
    (&["output_config.format"], Quirk::Wants(Want::NoFormat)),
    (&["text.format"], Quirk::Wants(Want::NoFormat)),
    (&["responsejsonschema"], Quirk::Wants(Want::NoFormat)),
    (&["response_json_schema"], Quirk::Wants(Want::NoFormat)),
    (&["response_schema"], Quirk::Wants(Want::NoFormat)),
    (&["json_schema"], Quirk::Wants(Want::NoFormat)),
    // llama.cpp, OpenRouter, Ollama, vLLM, OpenAI, DeepSeek, in this order.
    (&["image input is not supported"], Quirk::Wants(Want::NoImages)),
    (&["support image input"], Quirk::Wants(Want::NoImages)),
    (&["does not support image"], Quirk::Wants(Want::NoImages)),
    (&["not a multimodal model"], Quirk::Wants(Want::NoImages)),
    (&["image_url is only supported by certain models"], Quirk::Wants(Want::NoImages)),
    (&["unknown variant `image_url`"], Quirk::Wants(Want::NoImages)),
    (&["roles", "must", "alternate"], Quirk::Wants(Want::StrictRoles)),
    (&["should alternate"], Quirk::Wants(Want::StrictRoles)),
    (&["unexpected role", "after role"], Quirk::Wants(Want::StrictRoles)),
    (&["system message must be at the beginning"], Quirk::Wants(Want::StrictRoles)),
    (&["missing", "reasoning_content"], Quirk::Wants(Want::ReasoningBack)),
    (&["reasoning_content", "must be passed"], Quirk::Wants(Want::ReasoningBack)),
    (&["cannot pass both content and thinking"], Quirk::WantsNot(Want::ReasoningBack)),
    (&["call id", "length of 9"], Quirk::Wants(Want::ShortIds)),
    (&["missing", "thought_signature"], Quirk::Wants(Want::SignedCalls)),
    (&["role", "does not support 'system'"], Quirk::Wants(Want::Developer)),
    (&["encrypted content is not supported"], Quirk::Wants(Want::NoEncrypted)),
    (&["must be verified to generate reasoning summar"], Quirk::Wants(Want::NoSummary)),
];

/// The members that a server may refuse, and the quirks that leave them out.
const MEMBERS: &[(&str, Quirk)] = &[
    ("stream_options", Quirk::Wants(Want::NoStreamOptions)),
    ("temperature", Quirk::Wants(Want::NoTemperature)),
    ("reasoning_details", Quirk::Wants(Want::NoDetails)),
    ("reasoning_content", Quirk::WantsNot(Want::ReasoningBack)),
    ("reasoning.encrypted_content", Quirk::Wants(Want::NoEncrypted)),
    ("reasoning.summary", Quirk::Wants(Want::NoSummary)),
];

/// The words for the members that set the effort.
const EFFORTS: &[&str] = &["effort", "thinking", "think value"];

/// The words for a refusal of a member, not of its value alone.
const REFUSED: &[&str] = &[
    "unsupported",
    "not supported",
    "not support",
    "unrecognized",
    "unknown",
    "not permitted",
    "not allowed",
    "is allowed",
    "unexpected",
    "extra inputs",
    "extra_forbidden",
    "deprecated",
];

/// The words before a list of accepted values.
const INSTEAD: &[&str] = &[
    "supported values are",
    "must be one of",
    "expected one of",
    "should be one of",
    "must be",
    "should be",
    "one of",
];

/// The marks that end a list of accepted values.
const LISTED: &[&str] = &["'input'", "\"input\"", "\n", ". ", ")"];

/// Returns the quirk that follows from a refusal of a request that was made with the quirks `used`.
pub(super) fn new_quirk(message: &str, used: Quirks, learned: &[Quirk]) -> Option<Quirk> {
    let holds_all = |words: &[&str]| words.iter().all(|word| message.contains(word));
    let holds_any = |words: &[&str]| words.iter().any(|word| message.contains(word));
    let is_new = |quirk: &Quirk| used.with(*quirk) != used;
    let asked = SENTENCES.iter().filter(|(words, _)| holds_all(words)).map(|(_, quirk)| *quirk);
    if let Some(quirk) = asked.into_iter().find(is_new) {
        return Some(quirk);
    }
    let listed = efforts(message).filter(|_| used.effort_form != EffortForm::Nowhere);
    let efforts = listed.map(|accepted| {
        let narrowed = learned.iter().any(|quirk| matches!(quirk, Quirk::Knows(_)));
        Quirk::Knows(if narrowed { accepted.and(used.efforts) } else { accepted })
    });
    if let Some(quirk) = efforts.filter(is_new) {
        return Some(quirk);
    }
    if !holds_any(REFUSED) {
        return None;
    }
    let refused = MEMBERS.iter().filter(|(name, _)| message.contains(name)).map(|(_, quirk)| *quirk);
    limit(message, used, learned).or_else(|| refused.into_iter().find(is_new)).or_else(|| {
        if used.effort_form == EffortForm::Template && message.contains("chat_template") {
            return Some(Quirk::Effort(EffortForm::Word));
        }
        Some(Quirk::Effort(EffortForm::Nowhere)).filter(|quirk| holds_any(EFFORTS) && is_new(quirk))
    })
}

/// Finds the accepted efforts that a refusal lists.
fn efforts(message: &str) -> Option<Efforts> {
    let tails = INSTEAD.iter().filter_map(|mark| Some(message.split_once(mark)?.1));
    let list = |tail: &str| {
        let end = LISTED.iter().filter_map(|end| tail.find(end)).min().unwrap_or(tail.len());
        Efforts::listed(tail.get(..end).unwrap_or_default())
    };
    let named = ["effort", "reasoning", "think"].iter().any(|word| message.contains(word));
    tails.map(list).find(|accepted| accepted.len() > 1 || (named && accepted.len() == 1))
}

/// Returns the quirk for a refusal of the member that limits the tokens. The other member is tried once; then none
/// is sent.
fn limit(message: &str, used: Quirks, learned: &[Quirk]) -> Option<Quirk> {
    let (name, other) = match used.limit {
        TokenLimit::MaxTokens => ("max_tokens", TokenLimit::MaxCompletionTokens),
        TokenLimit::MaxCompletionTokens => ("max_completion_tokens", TokenLimit::MaxTokens),
        TokenLimit::Nowhere => return None,
    };
    let tried = learned.iter().any(|quirk| matches!(quirk, Quirk::Limits(_)));
    message.contains(name).then_some(Quirk::Limits(if tried { TokenLimit::Nowhere } else { other }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_that_does_not_go_with_tools_is_sent_without_them_and_any_other_is_left_out() {
        let learned = |message: &str| new_quirk(&message.to_lowercase(), Quirks::default(), &[]);
        for message in [
            "Function calling with a response mime type: 'application/json' is unsupported",
            "json mode cannot be combined with tool/function calling",
            "`response_format` is not supported with tools",
            "Cannot use custom grammar constraints with tools.",
        ] {
            assert_eq!(learned(message), Some(Quirk::Wants(Want::FormatAlone)), "{message}");
        }
        assert_eq!(learned("Invalid parameter: response_format"), Some(Quirk::Wants(Want::NoFormat)));
        // Refused again although no tool was there.
        let used = Quirks::default().with(Quirk::Wants(Want::FormatAlone));
        let again = new_quirk("`response_format` is not supported with tools", used, &[]);
        assert_eq!(again, Some(Quirk::Wants(Want::NoFormat)));
    }
}
