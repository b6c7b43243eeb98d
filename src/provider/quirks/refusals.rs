//! What the refusals of servers tell about them.
//!
//! A refusal is read in small letters. It tells one quirk, or nothing: then it is shown as it is.

use super::{Efforts, Limit, Quirk, Quirks, Spelling, Want};

/// Sentences that ask for another form: all of the words must be in them.
const SENTENCES: &[(&[&str], Quirk)] = &[
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

/// Members that a server may refuse, and what is done without them.
const MEMBERS: &[(&str, Quirk)] = &[
    ("stream_options", Quirk::Wants(Want::NoStreamOptions)),
    ("temperature", Quirk::Wants(Want::NoTemperature)),
    ("reasoning_details", Quirk::Wants(Want::NoDetails)),
    ("reasoning_content", Quirk::WantsNot(Want::ReasoningBack)),
    ("reasoning.encrypted_content", Quirk::Wants(Want::NoEncrypted)),
    ("reasoning.summary", Quirk::Wants(Want::NoSummary)),
];

/// Words for the members that tell how much to think.
const EFFORTS: &[&str] = &["effort", "thinking", "think value"];

/// Words that say that a member is refused as such, not its value alone.
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

/// Words that stand before the values that a server takes.
const INSTEAD: &[&str] = &[
    "supported values are",
    "must be one of",
    "expected one of",
    "should be one of",
    "must be",
    "should be",
    "one of",
];

/// Words behind which no value that it takes is listed any more.
const LISTED: &[&str] = &["'input'", "\"input\"", "\n", ". ", ")"];

/// Reads a refusal of a request that was made with quirks.
pub(super) fn told(message: &str, used: Quirks, learned: &[Quirk]) -> Option<Quirk> {
    let holds_all = |words: &[&str]| words.iter().all(|word| message.contains(word));
    let holds_any = |words: &[&str]| words.iter().any(|word| message.contains(word));
    let news = |quirk: &Quirk| used.with(*quirk) != used;
    let asked = SENTENCES.iter().filter(|(words, _)| holds_all(words)).map(|(_, quirk)| *quirk);
    if let Some(quirk) = asked.into_iter().find(news) {
        return Some(quirk);
    }
    let listed = efforts(message).filter(|_| used.spelling != Spelling::Nowhere);
    let efforts = listed.map(|told| {
        let narrowed = learned.iter().any(|quirk| matches!(quirk, Quirk::Knows(_)));
        Quirk::Knows(if narrowed { told.and(used.efforts) } else { told })
    });
    if let Some(quirk) = efforts.filter(news) {
        return Some(quirk);
    }
    if !holds_any(REFUSED) {
        return None;
    }
    let refused = MEMBERS.iter().filter(|(name, _)| message.contains(name)).map(|(_, quirk)| *quirk);
    limit(message, used, learned).or_else(|| refused.into_iter().find(news)).or_else(|| match used.spelling {
        Spelling::Template if message.contains("chat_template") => Some(Quirk::Spells(Spelling::Word)),
        _ if holds_any(EFFORTS) => Some(Quirk::Spells(Spelling::Nowhere)).filter(news),
        _ => None,
    })
}

/// Finds the efforts that a refusal lists as those that it takes.
fn efforts(message: &str) -> Option<Efforts> {
    let tails = INSTEAD.iter().filter_map(|mark| Some(message.split_once(mark)?.1));
    let list = |tail: &str| {
        let end = LISTED.iter().filter_map(|end| tail.find(end)).min().unwrap_or(tail.len());
        Efforts::listed(tail.get(..end).unwrap_or_default())
    };
    let named = ["effort", "reasoning", "think"].iter().any(|word| message.contains(word));
    tails.map(list).find(|told| told.len() > 1 || (named && told.len() == 1))
}

/// Reads that the member which limits the tokens is refused. The other one is tried once; then none is sent.
fn limit(message: &str, used: Quirks, learned: &[Quirk]) -> Option<Quirk> {
    let (name, other) = match used.limit {
        Limit::MaxTokens => ("max_tokens", Limit::MaxCompletionTokens),
        Limit::MaxCompletionTokens => ("max_completion_tokens", Limit::MaxTokens),
        Limit::Nowhere => return None,
    };
    let tried = learned.iter().any(|quirk| matches!(quirk, Quirk::Limits(_)));
    message.contains(name).then_some(Quirk::Limits(if tried { Limit::Nowhere } else { other }))
}
