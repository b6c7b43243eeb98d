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
struct QuirkRow(Servers, &'static str, &'static [Quirk]);

const LOW_TO_HIGH: Quirk = Quirk::Knows(Efforts::new(&["low", "medium", "high"]));
const NONE_TO_HIGH: Quirk = Quirk::Knows(Efforts::new(&["none", "low", "medium", "high"]));
const MINIMAL_TO_HIGH: Quirk = Quirk::Knows(Efforts::new(&["minimal", "low", "medium", "high"]));
const COMPLETION_TOKENS: Quirk = Quirk::Limits(TokenLimit::MaxCompletionTokens);
const REASONING_BACK: Quirk = Quirk::Wants(Want::ReasoningBack);

const ROWS: &[QuirkRow] = &[
    QuirkRow(Servers::Host("api.openai.com"), "", &[COMPLETION_TOKENS]),
    QuirkRow(Servers::Host("openai.azure.com"), "", &[COMPLETION_TOKENS]),
    QuirkRow(Servers::Host("services.ai.azure.com"), "", &[COMPLETION_TOKENS]),
    QuirkRow(Servers::Host("openrouter.ai"), "", &[Quirk::Effort(EffortForm::Nested)]),
    QuirkRow(Servers::Host("ai-gateway.vercel.sh"), "", &[Quirk::Effort(EffortForm::Nested)]),
    QuirkRow(
        Servers::Host("api.deepseek.com"),
        "",
        &[REASONING_BACK, Quirk::Effort(EffortForm::Switch), Quirk::Knows(Efforts::new(&["high", "max"]))],
    ),
    QuirkRow(Servers::Host("api.moonshot.ai"), "", &[REASONING_BACK, Quirk::Effort(EffortForm::SwitchOnly)]),
    QuirkRow(Servers::Host("api.moonshot.cn"), "", &[REASONING_BACK, Quirk::Effort(EffortForm::SwitchOnly)]),
    QuirkRow(Servers::Host("api.z.ai"), "", &[REASONING_BACK, Quirk::Effort(EffortForm::SwitchOnly)]),
    QuirkRow(Servers::Host("open.bigmodel.cn"), "", &[REASONING_BACK, Quirk::Effort(EffortForm::SwitchOnly)]),
    QuirkRow(Servers::Host("dashscope.aliyuncs.com"), "", &[Quirk::Effort(EffortForm::Flag)]),
    QuirkRow(Servers::Host("dashscope-intl.aliyuncs.com"), "", &[Quirk::Effort(EffortForm::Flag)]),
    QuirkRow(
        Servers::Host("api.mistral.ai"),
        "",
        &[Quirk::Wants(Want::ShortIds), Quirk::Knows(Efforts::new(&["none", "high"]))],
    ),
    QuirkRow(Servers::Host("api.groq.com"), "", &[NONE_TO_HIGH]),
    QuirkRow(Servers::Host("api.groq.com"), "gpt-oss", &[LOW_TO_HIGH]),
    QuirkRow(Servers::Host("api.groq.com"), "qwen3", &[Quirk::Knows(Efforts::new(&["none", "default"]))]),
    QuirkRow(Servers::Host("api.cerebras.ai"), "", &[COMPLETION_TOKENS, NONE_TO_HIGH]),
    QuirkRow(Servers::Host("api.cerebras.ai"), "gpt-oss", &[LOW_TO_HIGH]),
    QuirkRow(Servers::Host("api.together.ai"), "", &[Quirk::Effort(EffortForm::Enabled), LOW_TO_HIGH]),
    QuirkRow(Servers::Host("api.together.xyz"), "", &[Quirk::Effort(EffortForm::Enabled), LOW_TO_HIGH]),
    QuirkRow(Servers::Host("api.fireworks.ai"), "", &[NONE_TO_HIGH]),
    QuirkRow(Servers::Host("api.x.ai"), "", &[NONE_TO_HIGH]),
    QuirkRow(Servers::Host("api.perplexity.ai"), "", &[Quirk::Wants(Want::StrictRoles), MINIMAL_TO_HIGH]),
    QuirkRow(
        Servers::Host("generativelanguage.googleapis.com"),
        "",
        &[Quirk::Knows(Efforts::new(&["none", "minimal", "low", "medium", "high"]))],
    ),
    QuirkRow(Servers::Host("generativelanguage.googleapis.com"), "gemini-3", &[Quirk::Wants(Want::SignedCalls)]),
    // Their grammars hold for the whole reply, so that no tool could be called.
    QuirkRow(Servers::Own, "", &[Quirk::Effort(EffortForm::Template), NONE_TO_HIGH, Quirk::Wants(Want::FormatAlone)]),
    // Models that think between their calls, and need their earlier thinking.
    QuirkRow(Servers::Own, "gpt-oss", &[REASONING_BACK, LOW_TO_HIGH]),
    QuirkRow(Servers::Own, "minimax-m", &[REASONING_BACK]),
    QuirkRow(Servers::Own, "kimi-k2", &[REASONING_BACK]),
    QuirkRow(Servers::Own, "glm-4.7", &[REASONING_BACK]),
    QuirkRow(Servers::Own, "glm-5", &[REASONING_BACK]),
];

/// Returns the known quirks of a model, the more specific ones last.
pub(super) fn quirks(host: &str, model: &str) -> impl Iterator<Item = Quirk> {
    let host = host.to_ascii_lowercase();
    let model = model.to_ascii_lowercase();
    let fits = move |QuirkRow(servers, word, _): &&QuirkRow| {
        let there = match servers {
            Servers::Host(name) => {
                host.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('.'))
            }
            Servers::Own => is_own(&host),
        };
        there && model.contains(word)
    };
    ROWS.iter().filter(fits).flat_map(|QuirkRow(_, _, quirks)| quirks.iter().copied())
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
