//! The meanings of refusals, by the phrases of servers: the conversation is too long, or the money is used up.
//!
//! Data and one small matcher, used by `error_body`. Every phrase comes from a real server, named in the comment.

/// The meaning of a refusal beyond its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RefusalMeaning {
    /// The conversation does not fit; with the numbers that the message has.
    Overflow { tokens: Option<u64>, window: Option<u64> },
    /// Money or quota is used up.
    Spent,
}

/// The phrases for "the conversation is too long", in small letters. `{t}` is the number of its tokens, `{w}` that
/// of the window, `{}` any number and `*` any text. The first that matches counts, so those with more numbers come
/// first.
const OVERFLOWS: [&str; 71] = [
    // llama.cpp
    "request ({t} tokens) exceeds the available context size ({w} tokens)",
    "exceeds the available context size",
    // llama.cpp, with status 500, while it answers: the window is full
    "context shift is disabled",
    // Anthropic
    "prompt is too long: {t} tokens > {w} maximum",
    "input length and `max_tokens` exceed context limit: {t} + {} > {w}",
    "input length and max_tokens exceed context limit: {t} + {} > {w}",
    // Fireworks
    "prompt is too long: {t}, model maximum context length: {w}",
    "prompt is too long",
    // vLLM
    "maximum context length is {w} tokens* your request has {t} input tokens",
    "maximum context length is {w} tokens* your prompt contains at least {t} input tokens",
    "prompt (length {t}) is longer than the maximum model length of {w}",
    // vLLM since 0.12, Meta, NVIDIA: the last number is the room that is left beside the answer
    "you passed {t} input tokens* maximum input length of {w} tokens",
    "context length is only {w} tokens",
    "please reduce the length of the input",
    // OpenAI, Azure, DeepSeek, vLLM: more than one number follows; that of the messages is the conversation's
    "maximum context length is {w} tokens* ({t} in the messages",
    "maximum context length is {w} tokens* your messages resulted in {t} tokens",
    // OpenRouter, and the above without the part in brackets
    "maximum context length is {w} tokens* you requested about {t} tokens",
    "maximum context length is {w} tokens* you requested {t} tokens",
    // SGLang
    "maximum context length of {w} tokens* you requested a total of {t} tokens",
    "maximum context length of {w} tokens",
    "maximum context length is {w}",
    "input length ({t} tokens) exceeds the maximum allowed length ({w} tokens)",
    // Together, SGLang
    "input ({t} tokens) is longer than the model's context length ({w} tokens)",
    // LiteLLM before others, OpenAI with a lower limit of its own
    "input tokens exceed the configured limit of {w} tokens. your messages resulted in {t} tokens",
    // OpenAI, chat and responses
    "exceeds the context window",
    "context_length_exceeded",
    // Gemini
    "input token count ({t}) exceeds the maximum number of tokens allowed ({w})",
    "input token count exceeds the maximum number of tokens allowed ({w})",
    "input token count exceeds the maximum number of tokens allowed {w}",
    // xAI
    "maximum prompt length is {w} but the request contains {t} tokens",
    // Groq
    "reduce the length of the messages or completion",
    // OpenAI, Groq: one request is more than a minute allows
    "tokens per minute (tpm): limit {w}, requested {t}, please reduce your message size",
    "tokens per min (tpm): limit {w}, requested {t}. the input or output tokens must be reduced",
    // Mistral
    "prompt contains {t} tokens* too large for model with {w} maximum context length",
    // LM Studio
    "trying to keep the first {t} tokens when context the overflows* context length of only {w} tokens",
    "tokens to keep from the initial prompt is greater than the context length",
    "context size has been exceeded",
    // Bedrock
    "too many input tokens. max input tokens: {w}, request input token count: {t}",
    "input is too long for requested model",
    // TGI, Hugging Face
    "`inputs` tokens + `max_new_tokens` must be <= {w}. given: {t}",
    "`inputs` must have less than {w} tokens. given: {t}",
    // Ollama
    "prompt too long; exceeded max context length",
    // Kimi
    "exceeded model token limit: {w} (requested: {t})",
    // GitHub Copilot
    "prompt token count of {t} exceeds the limit of {w}",
    // Qwen
    "range of input length should be [1, {w}]",
    // MiniMax, Z.ai
    "context window exceeds limit",
    "prompt exceeds max length",
    // Perplexity
    "user input tokens exceeds {w} tokens",
    "too_many_prompt_tokens",
    "total length of all messages is too long",
    // LiteLLM before any other
    "contextwindowexceedederror",
    // Vertex
    "input token count is {t} but model only supports up to {w}",
    // Bedrock
    "number of input tokens exceeds maximum length",
    "the model returned the following errors: input is too long",
    // llama-cpp-python
    "requested tokens ({t}) exceed context window of {w}",
    // Cohere
    "total number of tokens in the prompt cannot exceed {w} - received {t}",
    // LM Studio, while it answers
    "reached context length of {w} tokens",
    // DeepInfra, TensorRT-LLM
    "requested input length {t} exceeds maximum input length {w}",
    "prompt length ({t}) exceeds maximum input length ({w})",
    // Chutes
    "input length ({t}) exceeds model's maximum context length ({w})",
    "exceeds the model's maximum context length",
    // TabbyAPI
    "context length {t} is greater than max_seq_len {w}",
    // watsonx
    "number of input tokens {t} cannot exceed the total tokens limit {w}",
    // Ollama
    "input length exceeds the context length",
    // Z.ai
    "prompt 超长",
    // llama-box
    "input prompt is too big compared to kv size",
    // ctransformers
    "number of tokens ({t}) exceeded maximum context length ({w})",
    "exceeded maximum context length",
    // gateways, which write them in words of their own
    "context length exceeded",
    "context window exceeded",
    "exceeds model context window",
];

/// The phrases for money or quota that is used up, in small letters.
const SPENT: [&str; 26] = [
    // OpenAI
    "insufficient_quota",
    "enforced_spend_limit_reached",
    "billing_hard_limit_reached",
    "billing_not_active",
    // Anthropic
    "credit balance is too low",
    "reached your specified api usage limits",
    // DeepSeek, Moonshot, Z.ai
    "insufficient balance",
    "insufficient_balance",
    "exceeded_current_quota",
    "account balance is insufficient",
    "余额不足",
    // OpenRouter
    "insufficient credits",
    "requires more credits",
    "never purchased credits",
    "key limit exceeded",
    "free-models-per-day",
    // xAI
    "used all available credits",
    "monthly spending limit",
    // Groq
    "reached its spend limit",
    "spend alert threshold",
    // Hugging Face, Together
    "exceeded your monthly included credits",
    "credit limit exceeded",
    // Alibaba
    "arrearage",
    // Gemini: of its quotas only the daily ones are not over in a minute
    "requestsperday",
    "inputtokensperday",
    // plans
    "usage_limit_reached",
];

/// Returns the meaning of a refusal; `lower` is its message in small letters.
pub(super) fn meaning(lower: &str) -> Option<RefusalMeaning> {
    if SPENT.iter().any(|mark| lower.contains(mark)) {
        return Some(RefusalMeaning::Spent);
    }
    OVERFLOWS.iter().find_map(|phrase| fits(lower, phrase))
}

/// Matches a phrase anywhere in a text.
fn fits(text: &str, phrase: &str) -> Option<RefusalMeaning> {
    let first = phrase.find(['{', '*']).unwrap_or(phrase.len());
    let (head, rest) = phrase.split_at(first);
    text.match_indices(head).find_map(|(at, _)| fits_here(text.get(at + head.len()..)?, rest))
}

/// Matches the rest of a phrase, which begins with a mark, at the beginning of a text.
fn fits_here(text: &str, phrase: &str) -> Option<RefusalMeaning> {
    let (mut text, mut phrase) = (text, phrase);
    let (mut tokens, mut window) = (None, None);
    while !phrase.is_empty() {
        let (mark, behind) = match phrase.strip_prefix('*') {
            Some(behind) => ("*", behind),
            None => phrase.find('}').and_then(|end| phrase.split_at_checked(end + 1))?,
        };
        let (literal, next) = behind.split_at(behind.find(['{', '*']).unwrap_or(behind.len()));
        if mark == "*" {
            let at = text.find(literal)?;
            text = text.get(at + literal.len()..)?;
        } else {
            let (number, rest) = number(text)?;
            text = rest.strip_prefix(literal)?;
            match mark {
                "{t}" => tokens = Some(number),
                "{w}" => window = Some(number),
                _ => {}
            }
        }
        phrase = next;
    }
    Some(RefusalMeaning::Overflow { tokens, window })
}

/// Splits a whole number, with or without separators, off the beginning of a text.
fn number(text: &str) -> Option<(u64, &str)> {
    let part = |(at, c): (usize, char)| {
        let separates = matches!(c, ',' | '_') && text.get(at + 1..).is_some_and(|more| more.starts_with(digit));
        c.is_ascii_digit() || separates
    };
    let end = text.char_indices().find(|place| !part(*place)).map_or(text.len(), |(at, _)| at);
    let (number, rest) = text.split_at(end);
    Some((number.replace([',', '_'], "").parse().ok()?, rest))
}

fn digit(c: char) -> bool {
    c.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_with_the_same_beginning_are_told_apart() {
        let said = "this model's maximum context length is 4,096 tokens. however, you requested 5000 tokens (4500 in the messages, 500 in the completion).";
        assert_eq!(meaning(said), Some(RefusalMeaning::Overflow { tokens: Some(4_500), window: Some(4_096) }));
        assert_eq!(
            meaning("maximum context length is 8 tokens"),
            Some(RefusalMeaning::Overflow { tokens: None, window: Some(8) })
        );
        assert_eq!(
            meaning("prompt is too long: ask for less"),
            Some(RefusalMeaning::Overflow { tokens: None, window: None })
        );
    }

    #[test]
    fn the_words_of_many_servers_mean_that_the_conversation_is_too_long() {
        for (said, tokens, window) in [
            (
                "unable to submit request because the input token count is 32788 but model only supports up to 32767. reduce the input token count",
                Some(32_788),
                Some(32_767),
            ),
            (
                "input tokens exceeded: number of input tokens exceeds maximum length. please update the input to try again.",
                None,
                None,
            ),
            ("the model returned the following errors: input is too long.", None, None),
            ("requested tokens (2168) exceed context window of 2048", Some(2_168), Some(2_048)),
            (
                "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000.",
                Some(5_000),
                Some(4_081),
            ),
            (
                "reached context length of 4096 tokens with this model, but this model does not currently support mid-generation context overflow",
                None,
                Some(4_096),
            ),
            ("requested input length 150000 exceeds maximum input length 131072", Some(150_000), Some(131_072)),
            ("prompt length (5000) exceeds maximum input length (4096). set truncate", Some(5_000), Some(4_096)),
            ("input length (150000) exceeds model's maximum context length (131072).", Some(150_000), Some(131_072)),
            ("context length 5000 is greater than max_seq_len 4096", Some(5_000), Some(4_096)),
            (
                "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model",
                Some(5_000),
                Some(4_096),
            ),
            ("the input length exceeds the context length", None, None),
            ("context shift is disabled", None, None),
            (
                "you passed 99073 input tokens and requested 32000 output tokens. however, the model's context length is only 131072 tokens, resulting in a maximum input length of 99072 tokens. please reduce the length of the input prompt. (parameter=input_tokens, value=99073)",
                Some(99_073),
                Some(99_072),
            ),
            ("the model's context length is only 4096 tokens", None, Some(4_096)),
            ("input prompt is too big compared to kv size, please increase kv size", None, None),
            ("number of tokens (757) exceeded maximum context length (512).", Some(757), Some(512)),
            ("litellm.badrequesterror: context window exceeded: prompt", None, None),
            ("context length exceeded", None, None),
            (
                "the request exceeds the available context size. try increasing the context size or enable context shift",
                None,
                None,
            ),
        ] {
            assert_eq!(meaning(said), Some(RefusalMeaning::Overflow { tokens, window }), "{said}");
        }
    }

    #[test]
    fn other_refusals_mean_nothing_more() {
        for said in [
            "too many tokens per minute, please wait",
            "the model is overloaded",
            "context",
            "",
            "too many tokens, please wait before trying again.",
        ] {
            assert_eq!(meaning(said), None, "{said}");
        }
    }
}
