//! The server refuses: statuses (P2, P3), every shape of body, spent accounts (P5), overflow (P16), redirects (P19).

use serde_json::{Value, json};

use super::{Fault, answered, failed, fault, moves, refuses, says, text};
use crate::support::server::{Reply, Step};

pub fn rows() -> Vec<Fault> {
    let mut rows = statuses();
    rows.extend(shapes());
    rows.extend(spent());
    rows.extend(overflows());
    rows.extend(redirects());
    rows
}

fn statuses() -> Vec<Fault> {
    let mut rows = Vec::new();
    for (status, kind) in [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (405, "invalid_request_error"),
        (406, "invalid_request_error"),
        (410, "not_found_error"),
        (418, "invalid_request_error"),
        (422, "invalid_request_error"),
        (451, "permission_error"),
    ] {
        let sentence = format!("the server answered {status}: Not like that.");
        let script = move |family| vec![refuses(family, status, kind, "Not like that.")];
        rows.push(fault(format!("status {status}"), script, failed(sentence)));
    }
    for status in [408, 409, 425, 429, 500, 502, 503, 504, 520, 529] {
        let busy = move |family| refuses(family, status, "overloaded_error", "Busy.").header("retry-after", "0.01");
        let script = move |family| vec![busy(family), says("Seen it.")];
        rows.push(fault(format!("status {status}, then well"), script, answered("Seen it.")).waits([10..=10]));
    }
    let down = |family| refuses(family, 503, "overloaded_error", "Down.").header("retry-after", "0.01");
    let sentence = "the server answered 503: Down. (tried 4 times)";
    rows.push(
        fault(
            "down for good",
            move |family| vec![down(family), down(family), down(family), down(family)],
            failed(sentence),
        )
        .waits([10..=10, 10..=10, 10..=10]),
    );
    let sometimes = |family| vec![refuses(family, 500, "api_error", "Oops."), says("Seen it.")];
    rows.push(fault("an error inside, then well", sometimes, answered("Seen it.")).retried());
    rows.push(fault("an error inside, then well, in one body", sometimes, answered("Seen it.")).retried().whole());
    let never = |family| vec![refuses(family, 500, "api_error", "Oops.").header("x-should-retry", "false")];
    rows.push(fault("the server says that it is hopeless", never, failed("the server answered 500: Oops.")));
    let worth = |family| {
        let once = refuses(family, 400, "invalid_request_error", "Lock.");
        vec![once.header("x-should-retry", "true").header("retry-after-ms", "10"), says("Seen it.")]
    };
    rows.push(fault("the server says that it is worth it", worth, answered("Seen it.")).waits([10..=10]));
    rows
}

/// The same refusal in every shape that a body was seen in.
fn shapes() -> Vec<Fault> {
    let page = "<!DOCTYPE html>\n<html><head>\n<title>502 Bad\n Gateway</title></head><body>nginx</body></html>";
    let long = "x".repeat(2_000);
    let shapes: [(&str, String, &str); 20] = [
        ("a string", json!({"error": "No."}).to_string(), "No."),
        ("an object", json!({"error": {"message": "No."}}).to_string(), "No."),
        ("a message", json!({"message": "No."}).to_string(), "No."),
        ("FastAPI", json!({"detail": "No."}).to_string(), "No."),
        ("FastAPI, a list", json!({"detail": [{"loc": ["body"], "msg": "No."}, {"msg": "Never."}]}).to_string(), "No.; Never."),
        ("errors", json!({"errors": [{"message": "No."}]}).to_string(), "No."),
        ("xAI", json!({"code": "Client specified an invalid argument", "error": "No."}).to_string(), "No."),
        ("Gemini, a list", json!([{"error": {"code": 400, "message": "No.", "status": "INVALID_ARGUMENT"}}]).to_string(), "No."),
        (
            "OpenRouter",
            json!({"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": "{\"error\":{\"message\":\"No.\"}}"}}}).to_string(),
            "Provider returned error: No.",
        ),
        ("pretty", format!("{:#}", json!({"error": {"message": "No."}})), "No."),
        ("an event", format!("event: error\ndata: {}\n\n", json!({"error": {"message": "No."}})), "No."),
        ("an event behind a comment", format!(": ping\r\n\r\ndata: {}\r\n", json!({"message": "No."})), "No."),
        ("a field of a stream", format!("error: {}\n", json!({"error": {"message": "No."}})), "No."),
        ("plain text", "No.\n".to_owned(), "No."),
        ("a page", page.to_owned(), "a web page, \"502 Bad Gateway\""),
        ("a page without a title", "<html>".to_owned(), "a web page"),
        ("nothing", String::new(), "Bad Request"),
        ("an object without words", "{\"ok\":false}".to_owned(), "{\"ok\":false}"),
        ("a text that is cut", "{\"error\":{\"message\":\"No".to_owned(), "{\"error\":{\"message\":\"No"),
        ("a very long text", long, "xxx*…"),
    ];
    let mut rows: Vec<Fault> = shapes
        .into_iter()
        .map(|(name, body, words)| {
            let sentence = format!("the server answered 400: {words}");
            fault(format!("a refusal as {name}"), move |_| vec![Reply::body(400, &body)], failed(sentence))
        })
        .collect();
    let echo = |_| vec![Reply::body(401, "Incorrect API key provided: sk-canary-0123456789.")];
    rows.push(fault(
        "a refusal that tells the key",
        echo,
        failed("the server answered 401: Incorrect API key provided: *."),
    ));
    let hostile = "\u{1b}]0;owned\u{7}\u{202e}No\u{9b}31m.";
    let script = move |family| vec![refuses(family, 400, "invalid_request_error", hostile)];
    rows.push(fault(
        "a refusal with control characters",
        script,
        failed(format!("the server answered 400: {hostile}")),
    ));
    let bytes = |_| vec![Reply::bytes(400, vec![0xff, 0xfe, b'N', b'o', 0x80])];
    rows.push(fault("a refusal that is no text", bytes, failed("the server answered 400: \u{fffd}\u{fffd}No\u{fffd}")));
    let endless = |_| {
        let steps = (0..64).map(|_| Step::Bytes(vec![b'x'; 64 * 1024]));
        vec![Reply::stream(steps).status(400)]
    };
    rows.push(fault("a refusal of 4 MiB", endless, failed("the server answered 400: xxx*…")));
    rows
}

fn spent() -> Vec<Fault> {
    let bodies: [(&str, u16, Value); 13] = [
        (
            "OpenAI",
            429,
            json!({"error": {"message": "You exceeded your current quota, please check your plan and billing details.", "type": "insufficient_quota", "param": null, "code": "insufficient_quota"}}),
        ),
        (
            "OpenAI, a limit",
            429,
            json!({"error": {"message": "Your project has reached its spend limit.", "type": "insufficient_quota", "code": "enforced_spend_limit_reached"}}),
        ),
        (
            "OpenAI, a hard limit",
            400,
            json!({"error": {"message": "Billing hard limit has been reached", "type": "invalid_request_error", "code": "billing_hard_limit_reached"}}),
        ),
        (
            "Anthropic",
            400,
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}),
        ),
        (
            "Anthropic, a limit",
            400,
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."}}),
        ),
        (
            "DeepSeek",
            402,
            json!({"error": {"message": "Insufficient Balance", "type": "unknown_error", "param": null, "code": "invalid_request_error"}}),
        ),
        (
            "Moonshot",
            429,
            json!({"error": {"message": "Your account is not active, current state: exhausted", "type": "exceeded_current_quota_error"}}),
        ),
        (
            "OpenRouter",
            402,
            json!({"error": {"message": "This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 0.", "code": 402}}),
        ),
        (
            "OpenRouter, a free model",
            429,
            json!({"error": {"message": "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day", "code": 429}}),
        ),
        (
            "xAI",
            403,
            json!({"code": "The caller does not have permission to execute the specified operation", "error": "Your team t has either used all available credits or reached its monthly spending limit."}),
        ),
        (
            "Gemini",
            429,
            json!({"error": {"code": 429, "message": "You exceeded your current quota.", "status": "RESOURCE_EXHAUSTED", "details": [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}, {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "41s"}]}}),
        ),
        (
            "Hugging Face",
            402,
            json!({"error": "You have exceeded your monthly included credits for Inference Providers."}),
        ),
        ("any 402", 402, json!({"error": {"message": "Pay first."}})),
    ];
    let row = |(name, status, body): (&str, u16, Value)| {
        let script = move |_| vec![Reply::json(status, body.clone()).header("retry-after", "1")];
        fault(format!("spent, as {name} says it"), script, failed("the money or quota at the server is used up: *"))
    };
    bodies.into_iter().map(row).collect()
}

/// Who, the status, the body, and the tokens and the window that it names.
type TooLong = (&'static str, u16, String, Option<u64>, Option<u64>);

/// Refusals of a conversation that is too long, as servers write them; tokens and window where they say them.
pub fn too_long() -> Vec<TooLong> {
    let openai = |message: &str| {
        json!({"error": {"message": message, "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}}).to_string()
    };
    let plain =
        |message: &str| json!({"error": {"message": message, "type": "BadRequestError", "code": 400}}).to_string();
    let anthropic = |message: &str| {
        json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}}).to_string()
    };
    let llama = json!({"error": {"code": 400, "message": "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it", "type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 4096}}).to_string();
    let older = json!({"error": {"code": 500, "message": "the request exceeds the available context size. try increasing the context size or enable context shift", "type": "server_error"}}).to_string();
    let beside = json!({"error": {"code": 400, "message": "the request exceeds the available context size", "type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 4096}}).to_string();
    vec![
        ("OpenAI", 400, openai("This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce the length of the messages."), Some(130_000), Some(128_000)),
        ("OpenAI, responses", 400, openai("Your input exceeds the context window of this model. Please adjust your input and try again."), None, None),
        ("OpenAI, a minute", 429, json!({"error": {"message": "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 41000. The input or output tokens must be reduced in order to run successfully.", "type": "tokens", "code": "rate_limit_exceeded"}}).to_string(), Some(41_000), Some(30_000)),
        ("Azure", 400, openai("This model's maximum context length is 8192 tokens, however you requested 9000 tokens (8500 in your prompt; 500 for the completion). Please reduce your prompt; or completion length."), Some(9_000), Some(8_192)),
        ("Anthropic", 400, anthropic("prompt is too long: 213462 tokens > 200000 maximum"), Some(213_462), Some(200_000)),
        ("Anthropic with the answer", 400, anthropic("input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again"), Some(188_240), Some(200_000)),
        ("Anthropic, bytes", 413, json!({"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}).to_string(), None, None),
        ("Gemini", 400, json!({"error": {"code": 400, "message": "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).", "status": "INVALID_ARGUMENT"}}).to_string(), Some(1_196_265), Some(1_048_575)),
        ("llama.cpp", 400, llama, Some(9_000), Some(4_096)),
        ("llama.cpp, older", 500, older, None, None),
        ("llama.cpp, while it answers", 500, json!({"error": {"code": 500, "message": "context shift is disabled", "type": "server_error"}}).to_string(), None, None),
        ("llama.cpp, numbers beside", 400, beside, Some(9_000), Some(4_096)),
        ("vLLM", 400, json!({"object": "error", "message": "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.", "type": "BadRequestError", "param": null, "code": 400}).to_string(), Some(112_946), Some(16_384)),
        ("vLLM, newer", 400, plain("'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 32768 tokens and your request has 30000 input tokens (8192 > 32768 - 30000)."), Some(30_000), Some(32_768)),
        ("vLLM, the prompt alone", 400, plain("The decoder prompt (length 5951) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens."), Some(5_951), Some(4_096)),
        ("SGLang", 400, plain("Requested token count exceeds the model's maximum context length of 131072 tokens. You requested a total of 140000 tokens: 132000 tokens from the input messages and 8000 tokens for the completion."), Some(140_000), Some(131_072)),
        ("Ollama", 400, json!({"error": "prompt too long; exceeded max context length by 4 tokens"}).to_string(), None, None),
        ("LM Studio", 400, json!({"error": "Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with context length of only 7866 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input"}).to_string(), Some(10_136), Some(7_866)),
        ("LM Studio, MLX", 400, json!({"error": "The number of tokens to keep from the initial prompt is greater than the context length."}).to_string(), None, None),
        ("OpenRouter", 400, json!({"error": {"message": "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (139000 of text input, 1000 of tool input).", "code": 400}}).to_string(), Some(140_000), Some(131_072)),
        ("Groq", 400, openai("Please reduce the length of the messages or completion."), None, None),
        ("Groq, a minute", 413, json!({"error": {"message": "Request too large for model `m` in organization `o` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 7218, please reduce your message size and try again.", "type": "tokens", "code": "rate_limit_exceeded"}}).to_string(), Some(7_218), Some(6_000)),
        ("Mistral", 400, json!({"object": "error", "message": "Prompt contains 240000 tokens and 0 draft tokens, too large for model with 128000 maximum context length", "type": "invalid_request_error", "code": "3051"}).to_string(), Some(240_000), Some(128_000)),
        ("DeepSeek", 400, plain("This model's maximum context length is 65536 tokens. However, you requested 71425 tokens (63233 in the messages, 8192 in the completion). Please reduce the length of the messages or completion."), Some(63_233), Some(65_536)),
        ("xAI", 400, json!({"code": "Client specified an invalid argument", "error": "This model's maximum prompt length is 131072 but the request contains 537812 tokens."}).to_string(), Some(537_812), Some(131_072)),
        ("Bedrock", 400, json!({"message": "Input is too long for requested model."}).to_string(), None, None),
        ("Bedrock, Titan", 400, json!({"message": "400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9279"}).to_string(), Some(9_279), Some(8_192)),
        ("Together", 422, plain("The input (516368 tokens) is longer than the model's context length (262144 tokens)."), Some(516_368), Some(262_144)),
        ("TGI", 422, json!({"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 3474 `inputs` tokens and 60 `max_new_tokens`", "error_type": "validation"}).to_string(), Some(3_474), Some(2_048)),
        ("Kimi", 400, plain("Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)"), Some(300_000), Some(262_144)),
        ("Copilot", 400, plain("prompt token count of 200000 exceeds the limit of 128000"), Some(200_000), Some(128_000)),
        ("Fireworks", 400, plain("The prompt is too long: 40000, model maximum context length: 32767"), Some(40_000), Some(32_767)),
        ("Qwen", 400, plain("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]"), None, Some(98_304)),
        ("MiniMax", 400, plain("invalid params, context window exceeds limit (2013)"), None, None),
        ("Z.ai", 400, json!({"error": {"code": "1261", "message": "Prompt exceeds max length"}}).to_string(), None, None),
        ("LiteLLM", 400, plain("litellm.ContextWindowExceededError: Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 509178 tokens. Please reduce the length of the messages."), Some(509_178), Some(272_000)),
        ("LiteLLM before a server of few words", 400, json!({"error": {"message": "litellm.ContextWindowExceededError: Too much. Received Model Group=m\nAvailable Model Group Fallbacks=None", "type": null, "param": null, "code": "400"}}).to_string(), None, None),
        ("Perplexity", 400, json!({"error": {"message": "The total length of all messages is too long.", "type": "too_many_prompt_tokens", "code": 400}}).to_string(), None, None),
        ("Perplexity with its limit", 400, json!({"error": {"message": "User input tokens exceeds 127000 tokens", "type": "too_many_prompt_tokens", "code": 400}}).to_string(), None, Some(127_000)),
        ("a proxy", 413, "<html><head><title>413 Request Entity Too Large</title></head></html>".to_owned(), None, None),
    ]
}

fn overflows() -> Vec<Fault> {
    let row = |(name, status, body, ..): (&'static str, u16, String, Option<u64>, Option<u64>)| {
        let script = move |_| vec![Reply::body(status, &body)];
        fault(format!("too long, as {name} says it"), script, failed("the conversation is too long for the model: *"))
    };
    let mut rows: Vec<Fault> = too_long().into_iter().map(row).collect();
    let within = |family: crate::support::family::Family| {
        let event = family.error_event(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum");
        vec![moves([crate::support::family::Move::Wire(event)])]
    };
    rows.push(fault(
        "too long, said within the stream",
        within,
        failed("the conversation is too long for the model: *"),
    ));
    rows
}

fn redirects() -> Vec<Fault> {
    let elsewhere = "http://127.0.0.1:9/v1/chat";
    let mut rows: Vec<Fault> = [301, 302, 303, 307, 308]
        .into_iter()
        .map(|status| {
            let script = move |_| vec![Reply::body(status, "").header("location", elsewhere)];
            let sentence =
                format!("the server redirects to {elsewhere}; set that address as the base URL if it is right");
            fault(format!("a redirect {status}"), script, failed(sentence))
        })
        .collect();
    let within = |_| vec![Reply::body(308, "").header("location", "/login?next=%2F")];
    rows.push(fault(
        "a redirect to the same server",
        within,
        failed("the server redirects to http://127.0.0.1:*/login?next=%2F; *"),
    ));
    let nowhere = |_| vec![Reply::body(302, "Go away.")];
    rows.push(fault("a redirect to nowhere", nowhere, failed("the server answered 302: Go away.")));
    let after = |_| {
        let words = [text("Half "), super::cut()];
        vec![moves(words)]
    };
    rows.push(fault("a text and then the end of the line", after, failed("the reply was cut off before its end")));
    rows
}
