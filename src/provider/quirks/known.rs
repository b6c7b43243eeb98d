//! The servers and models whose quirks are known beforehand.
//!
//! Read by the quirk book, once for each model of a server. What a row does not say can still be learned.

use std::net::IpAddr;

use super::{Efforts, Limit, Quirk, Spelling, Want};

/// Says which servers a row is about.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// A host of this name, or below it.
    Host(&'static str),
    /// A server of the user's own: on this machine or in a private network. Nothing tells which program it is, and all
    /// of llama.cpp, vLLM, `SGLang`, LM Studio and Ollama pass over members that they do not know.
    Own,
}

/// Quirks of the models whose names hold a word, on the servers of a place; no word means all models.
struct Row(Place, &'static str, &'static [Quirk]);

const LOW_TO_HIGH: Quirk = Quirk::Knows(Efforts::of(&["low", "medium", "high"]));
const NONE_TO_HIGH: Quirk = Quirk::Knows(Efforts::of(&["none", "low", "medium", "high"]));
const MINIMAL_TO_HIGH: Quirk = Quirk::Knows(Efforts::of(&["minimal", "low", "medium", "high"]));
const COMPLETION_TOKENS: Quirk = Quirk::Limits(Limit::MaxCompletionTokens);
const REASONING_BACK: Quirk = Quirk::Wants(Want::ReasoningBack);

const ROWS: &[Row] = &[
    Row(Place::Host("api.openai.com"), "", &[COMPLETION_TOKENS]),
    Row(Place::Host("openai.azure.com"), "", &[COMPLETION_TOKENS]),
    Row(Place::Host("services.ai.azure.com"), "", &[COMPLETION_TOKENS]),
    Row(Place::Host("openrouter.ai"), "", &[Quirk::Spells(Spelling::Nested)]),
    Row(Place::Host("ai-gateway.vercel.sh"), "", &[Quirk::Spells(Spelling::Nested)]),
    Row(
        Place::Host("api.deepseek.com"),
        "",
        &[REASONING_BACK, Quirk::Spells(Spelling::Switch), Quirk::Knows(Efforts::of(&["high", "max"]))],
    ),
    Row(Place::Host("api.moonshot.ai"), "", &[REASONING_BACK, Quirk::Spells(Spelling::SwitchOnly)]),
    Row(Place::Host("api.moonshot.cn"), "", &[REASONING_BACK, Quirk::Spells(Spelling::SwitchOnly)]),
    Row(Place::Host("api.z.ai"), "", &[REASONING_BACK, Quirk::Spells(Spelling::SwitchOnly)]),
    Row(Place::Host("open.bigmodel.cn"), "", &[REASONING_BACK, Quirk::Spells(Spelling::SwitchOnly)]),
    Row(Place::Host("dashscope.aliyuncs.com"), "", &[Quirk::Spells(Spelling::Flag)]),
    Row(Place::Host("dashscope-intl.aliyuncs.com"), "", &[Quirk::Spells(Spelling::Flag)]),
    Row(
        Place::Host("api.mistral.ai"),
        "",
        &[Quirk::Wants(Want::ShortIds), Quirk::Knows(Efforts::of(&["none", "high"]))],
    ),
    Row(Place::Host("api.groq.com"), "", &[NONE_TO_HIGH]),
    Row(Place::Host("api.groq.com"), "gpt-oss", &[LOW_TO_HIGH]),
    Row(Place::Host("api.groq.com"), "qwen3", &[Quirk::Knows(Efforts::of(&["none", "default"]))]),
    Row(Place::Host("api.cerebras.ai"), "", &[COMPLETION_TOKENS, NONE_TO_HIGH]),
    Row(Place::Host("api.cerebras.ai"), "gpt-oss", &[LOW_TO_HIGH]),
    Row(Place::Host("api.together.ai"), "", &[Quirk::Spells(Spelling::Enabled), LOW_TO_HIGH]),
    Row(Place::Host("api.together.xyz"), "", &[Quirk::Spells(Spelling::Enabled), LOW_TO_HIGH]),
    Row(Place::Host("api.fireworks.ai"), "", &[NONE_TO_HIGH]),
    Row(Place::Host("api.x.ai"), "", &[NONE_TO_HIGH]),
    Row(Place::Host("api.perplexity.ai"), "", &[Quirk::Wants(Want::StrictRoles), MINIMAL_TO_HIGH]),
    Row(
        Place::Host("generativelanguage.googleapis.com"),
        "",
        &[Quirk::Knows(Efforts::of(&["none", "minimal", "low", "medium", "high"]))],
    ),
    Row(Place::Host("generativelanguage.googleapis.com"), "gemini-3", &[Quirk::Wants(Want::SignedCalls)]),
    Row(Place::Own, "", &[Quirk::Spells(Spelling::Template), NONE_TO_HIGH]),
    // Models that think between their calls, and lose the thread when their thoughts are gone.
    Row(Place::Own, "gpt-oss", &[REASONING_BACK, LOW_TO_HIGH]),
    Row(Place::Own, "minimax-m", &[REASONING_BACK]),
    Row(Place::Own, "kimi-k2", &[REASONING_BACK]),
    Row(Place::Own, "glm-4.7", &[REASONING_BACK]),
    Row(Place::Own, "glm-5", &[REASONING_BACK]),
];

/// Returns the quirks that are known of a model, the more special ones last.
pub(super) fn quirks(host: &str, model: &str) -> impl Iterator<Item = Quirk> {
    let host = host.to_ascii_lowercase();
    let model = model.to_ascii_lowercase();
    let fits = move |Row(place, word, _): &&Row| {
        let there = match place {
            Place::Host(name) => {
                host.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('.'))
            }
            Place::Own => is_own(&host),
        };
        there && model.contains(word)
    };
    ROWS.iter().filter(fits).flat_map(|Row(_, _, quirks)| quirks.iter().copied())
}

fn is_own(host: &str) -> bool {
    match host.trim_matches(['[', ']']).parse() {
        Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_private() || address.is_unspecified(),
        Ok(IpAddr::V6(address)) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
        Err(_) => {
            !host.contains('.') || [".localhost", ".local", ".lan", ".internal"].iter().any(|end| host.ends_with(end))
        }
    }
}
