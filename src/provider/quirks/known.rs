//! The servers and models whose quirks are known beforehand.
//!
//! Read once for each model of a server. Quirks that are missing here can still be learned.

use std::net::IpAddr;

use super::{EffortForm, Efforts, Quirk, TokenLimit, Want};

/// The servers of a row.
#[derive(Debug, Clone, Copy)]
enum Servers {
    /// A host of this name, or a subdomain.
    Host(&'static str),
    /// A server of the user's own, on this machine or in a private network. Its program is not known, but
    /// llama.cpp, vLLM, `SGLang`, LM Studio and Ollama all ignore unknown members.
    Own,
}

/// The quirks of models whose names contain a word, on some servers; no word means all models.
struct KnownQuirks(Servers, &'static str, &'static [Quirk]);

const LOW_TO_HIGH: Quirk = Quirk::Knows(Efforts::of(&["low", "medium", "high"]));
const NONE_TO_HIGH: Quirk = Quirk::Knows(Efforts::of(&["none", "low", "medium", "high"]));
const MINIMAL_TO_HIGH: Quirk = Quirk::Knows(Efforts::of(&["minimal", "low", "medium", "high"]));
const COMPLETION_TOKENS: Quirk = Quirk::Limits(TokenLimit::MaxCompletionTokens);
const REASONING_BACK: Quirk = Quirk::Wants(Want::ReasoningBack);

const ROWS: &[KnownQuirks] = &[
    KnownQuirks(Servers::Host("api.openai.com"), "", &[COMPLETION_TOKENS]),
    KnownQuirks(Servers::Host("openai.azure.com"), "", &[COMPLETION_TOKENS]),
    KnownQuirks(Servers::Host("services.ai.azure.com"), "", &[COMPLETION_TOKENS]),
    KnownQuirks(Servers::Host("openrouter.ai"), "", &[Quirk::Effort(EffortForm::Nested)]),
    KnownQuirks(Servers::Host("ai-gateway.vercel.sh"), "", &[Quirk::Effort(EffortForm::Nested)]),
    KnownQuirks(
        Servers::Host("api.deepseek.com"),
        "",
        &[REASONING_BACK, Quirk::Effort(EffortForm::Switch), Quirk::Knows(Efforts::of(&["high", "max"]))],
    ),
    KnownQuirks(Servers::Host("api.moonshot.ai"), "", &[REASONING_BACK, Quirk::Effort(EffortForm::SwitchOnly)]),
    KnownQuirks(Servers::Host("api.moonshot.cn"), "", &[REASONING_BACK, Quirk::Effort(EffortForm::SwitchOnly)]),
    KnownQuirks(Servers::Host("api.z.ai"), "", &[REASONING_BACK, Quirk::Effort(EffortForm::SwitchOnly)]),
    KnownQuirks(Servers::Host("open.bigmodel.cn"), "", &[REASONING_BACK, Quirk::Effort(EffortForm::SwitchOnly)]),
    KnownQuirks(Servers::Host("dashscope.aliyuncs.com"), "", &[Quirk::Effort(EffortForm::Flag)]),
    KnownQuirks(Servers::Host("dashscope-intl.aliyuncs.com"), "", &[Quirk::Effort(EffortForm::Flag)]),
    KnownQuirks(
        Servers::Host("api.mistral.ai"),
        "",
        &[Quirk::Wants(Want::ShortIds), Quirk::Knows(Efforts::of(&["none", "high"]))],
    ),
    KnownQuirks(Servers::Host("api.groq.com"), "", &[NONE_TO_HIGH]),
    KnownQuirks(Servers::Host("api.groq.com"), "gpt-oss", &[LOW_TO_HIGH]),
    KnownQuirks(Servers::Host("api.groq.com"), "qwen3", &[Quirk::Knows(Efforts::of(&["none", "default"]))]),
    KnownQuirks(Servers::Host("api.cerebras.ai"), "", &[COMPLETION_TOKENS, NONE_TO_HIGH]),
    KnownQuirks(Servers::Host("api.cerebras.ai"), "gpt-oss", &[LOW_TO_HIGH]),
    KnownQuirks(Servers::Host("api.together.ai"), "", &[Quirk::Effort(EffortForm::Enabled), LOW_TO_HIGH]),
    KnownQuirks(Servers::Host("api.together.xyz"), "", &[Quirk::Effort(EffortForm::Enabled), LOW_TO_HIGH]),
    KnownQuirks(Servers::Host("api.fireworks.ai"), "", &[NONE_TO_HIGH]),
    KnownQuirks(Servers::Host("api.x.ai"), "", &[NONE_TO_HIGH]),
    KnownQuirks(Servers::Host("api.perplexity.ai"), "", &[Quirk::Wants(Want::StrictRoles), MINIMAL_TO_HIGH]),
    KnownQuirks(
        Servers::Host("generativelanguage.googleapis.com"),
        "",
        &[Quirk::Knows(Efforts::of(&["none", "minimal", "low", "medium", "high"]))],
    ),
    KnownQuirks(Servers::Host("generativelanguage.googleapis.com"), "gemini-3", &[Quirk::Wants(Want::SignedCalls)]),
    // Their grammars hold for the whole reply, so that no tool could be called.
    KnownQuirks(
        Servers::Own,
        "",
        &[Quirk::Effort(EffortForm::Template), NONE_TO_HIGH, Quirk::Wants(Want::FormatAlone)],
    ),
    // Models that think between their calls, and need their earlier thinking.
    KnownQuirks(Servers::Own, "gpt-oss", &[REASONING_BACK, LOW_TO_HIGH]),
    KnownQuirks(Servers::Own, "minimax-m", &[REASONING_BACK]),
    KnownQuirks(Servers::Own, "kimi-k2", &[REASONING_BACK]),
    KnownQuirks(Servers::Own, "glm-4.7", &[REASONING_BACK]),
    KnownQuirks(Servers::Own, "glm-5", &[REASONING_BACK]),
];

/// Returns the known quirks of a model, the more specific ones last.
pub(super) fn quirks(host: &str, model: &str) -> impl Iterator<Item = Quirk> {
    let host = host.to_ascii_lowercase();
    let model = model.to_ascii_lowercase();
    let fits = move |KnownQuirks(servers, word, _): &&KnownQuirks| {
        let there = match servers {
            Servers::Host(name) => {
                host.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('.'))
            }
            Servers::Own => is_own(&host),
        };
        there && model.contains(word)
    };
    ROWS.iter().filter(fits).flat_map(|KnownQuirks(_, _, quirks)| quirks.iter().copied())
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
