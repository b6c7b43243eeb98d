//! What servers write when they refuse, and how a sentence about it is recognized.

use serde_json::json;

/// Who, the status, the body, and the tokens and the window that it names.
pub type TooLong = (&'static str, u16, String, Option<u64>, Option<u64>);

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

/// Compares a text with a pattern in which `*` stands for anything.
pub fn like(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}
