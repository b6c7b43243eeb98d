//! Servers whose quirks are known beforehand, and what goes back to them byte for byte: the body of each request.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use steersman_base::dialect::Dialect;
use steersman_base::message::{AssistantMessage, Message, Original, Part};
use steersman_core::provider::{Answering, Card, ChatRequest, ChatTransport, Effort, Registry, Streaming, Thinking};
use steersman_provider::{Http, HttpProvider};

use super::wire::{call, calls, complete, provider};
use crate::support::server::{Reply, Request, Server, Step};

fn text_of(base: &str, model: &str, messages: &[Message], answering: Answering) -> String {
    let transport = ChatTransport { api_base: Some(base.to_owned()), ..ChatTransport::default() }.with_model(model);
    let provider = HttpProvider::new(Http::default(), &transport).unwrap();
    let request = ChatRequest::new(model, messages, &[], Streaming::On).unwrap().answering(answering);
    String::from_utf8(provider.body(&request).unwrap()).unwrap()
}

fn body(base: &str, model: &str, messages: &[Message], answering: Answering) -> Value {
    serde_json::from_str(&text_of(base, model, messages, answering)).unwrap()
}

/// Returns the members that an answering adds to a body.
fn added(base: &str, model: &str, answering: Answering) -> Value {
    let messages = [Message::user("hi")];
    let plain = body(base, model, &messages, Answering::default());
    let mut told: Map<String, Value> = body(base, model, &messages, answering).as_object().unwrap().clone();
    told.retain(|name, _| plain.get(name).is_none());
    Value::Object(told)
}

#[test]
fn an_effort_is_told_in_the_spelling_of_each_server() {
    use Effort::{High, Low, Max, Medium, Minimal, Off};
    let template = |on: bool, word: &str| {
        let mut words = json!({"enable_thinking": on, "thinking": on});
        if on {
            words["reasoning_effort"] = json!(word);
        }
        json!({"reasoning_effort": word, "chat_template_kwargs": words})
    };
    let word = |word: &str| json!({"reasoning_effort": word});
    let openai = "https://api.openai.com/v1";
    let router = "https://openrouter.ai/api/v1";
    let deepseek = "https://api.deepseek.com";
    let moonshot = "https://api.moonshot.ai/v1";
    let together = "https://api.together.xyz/v1";
    let qwen = "https://dashscope-intl.aliyuncs.com/compatible-mode/v1";
    let groq = "https://api.groq.com/openai/v1";
    let mistral = "https://api.mistral.ai/v1";
    let google = "https://generativelanguage.googleapis.com/v1beta/openai";
    let own = "http://127.0.0.1:8080/v1";
    for (base, model, effort, expected) in [
        (openai, "gpt-5", Off, word("none")),
        (openai, "gpt-5", Minimal, word("minimal")),
        (openai, "gpt-5", Medium, word("medium")),
        (openai, "gpt-5", Max, word("xhigh")),
        (router, "x/y", High, json!({"reasoning": {"effort": "high"}})),
        (router, "x/y", Off, json!({"reasoning": {"effort": "none"}})),
        (deepseek, "deepseek-v4", Off, json!({"thinking": {"type": "disabled"}})),
        (deepseek, "deepseek-v4", Low, json!({"thinking": {"type": "enabled"}, "reasoning_effort": "high"})),
        (deepseek, "deepseek-v4", Max, json!({"thinking": {"type": "enabled"}, "reasoning_effort": "max"})),
        (moonshot, "kimi-k2.6", Off, json!({"thinking": {"type": "disabled"}})),
        (moonshot, "kimi-k2.6", High, json!({"thinking": {"type": "enabled"}})),
        ("https://api.z.ai/api/paas/v4", "glm-4.7", Low, json!({"thinking": {"type": "enabled"}})),
        (together, "a/b", Off, json!({"reasoning": {"enabled": false}})),
        (together, "a/b", Max, json!({"reasoning": {"enabled": true}, "reasoning_effort": "high"})),
        (qwen, "qwen3-max", Off, json!({"enable_thinking": false})),
        (qwen, "qwen3-max", Low, json!({"enable_thinking": true})),
        (groq, "qwen/qwen3-32b", High, word("default")),
        (groq, "qwen/qwen3-32b", Off, word("none")),
        (groq, "openai/gpt-oss-120b", Off, word("low")),
        (mistral, "mistral-small-latest", Minimal, word("none")),
        (mistral, "mistral-small-latest", Medium, word("high")),
        (google, "gemini-2.5-flash", Max, word("high")),
        ("https://api.cerebras.ai/v1", "gpt-oss-120b", Max, word("high")),
        ("https://api.fireworks.ai/inference/v1", "m", Minimal, word("low")),
        ("https://api.x.ai/v1", "grok", Max, word("high")),
        ("https://models.example.com/v1", "m", Max, word("xhigh")),
        (own, "qwen3", Off, template(false, "none")),
        (own, "qwen3", Max, template(true, "high")),
        ("http://localhost:11434", "gpt-oss:20b", Minimal, template(true, "low")),
        ("http://192.168.1.7:1234/v1", "m", Low, template(true, "low")),
        ("http://box.lan:8000", "m", Low, template(true, "low")),
        ("http://vllm:8000", "m", Low, template(true, "low")),
        ("http://[::1]:8000", "m", Low, template(true, "low")),
    ] {
        let answering = Answering { effort: Some(effort), ..Answering::default() };
        assert_eq!(added(base, model, answering), expected, "{base} {model} {effort:?}");
        assert_eq!(added(base, model, Answering::default()), json!({}), "nothing is told unasked");
    }
}

#[test]
fn a_model_that_never_thinks_is_told_nothing() {
    let card = Card { thinking: Thinking::Never, ..Card::default() };
    let registry: Registry = [("m".to_owned(), card)].into_iter().collect();
    let transport = ChatTransport { api_base: Some("http://127.0.0.1:1".to_owned()), ..ChatTransport::default() };
    let provider = HttpProvider::new(Http::default(), &transport).unwrap().with_registry(Arc::new(registry));
    let messages = [Message::user("hi")];
    let told = |model: &str| {
        let answering = Answering { effort: Some(Effort::High), ..Answering::default() };
        let request = ChatRequest::new(model, &messages, &[], Streaming::On).unwrap().answering(answering);
        String::from_utf8(provider.body(&request).unwrap()).unwrap().contains("effort")
    };
    assert_eq!((told("m"), told("another")), (false, true));
}

#[test]
fn a_host_counts_with_its_whole_name() {
    let answering = Answering { effort: Some(Effort::High), ..Answering::default() };
    let word = json!({"reasoning_effort": "high"});
    assert_eq!(added("https://eu.openrouter.ai/api/v1", "m", answering), json!({"reasoning": {"effort": "high"}}));
    assert_eq!(added("https://notopenrouter.ai/api/v1", "m", answering), word);
    assert_eq!(added("https://openrouter.ai.example.com/api/v1", "m", answering), word);
}

#[test]
fn the_limit_of_tokens_has_the_name_that_a_server_knows() {
    let answering = Answering { max_tokens: Some(77), temperature: Some(0.5), ..Answering::default() };
    for (base, member) in [
        ("https://api.openai.com/v1", "max_completion_tokens"),
        ("https://my.openai.azure.com/openai/v1", "max_completion_tokens"),
        ("https://api.cerebras.ai/v1", "max_completion_tokens"),
        ("https://api.mistral.ai/v1", "max_tokens"),
        ("https://api.deepseek.com/v1", "max_tokens"),
        ("http://127.0.0.1:8080/v1", "max_tokens"),
        ("https://models.example.com/v1", "max_tokens"),
    ] {
        assert_eq!(added(base, "m", answering), json!({member: 77, "temperature": 0.5}), "{base}");
    }
}

fn worked(ids: &[&str]) -> Vec<Message> {
    let made: Vec<_> = ids.iter().map(|id| call(id, "{}")).collect();
    let results: Vec<_> = made.iter().map(|call| Message::tool(call, "one")).collect();
    let mut messages = vec![Message::user("look"), calls(made)];
    messages.extend(results);
    messages
}

#[test]
fn mistral_gets_ids_of_nine_letters_that_stay_the_same() {
    let ids = |base: &str| {
        let body = body(base, "m", &worked(&["call_1", "aB3dE6gH9", "call_2"]), Answering::default());
        let id = |value: &Value| value.as_str().unwrap().to_owned();
        let made: Vec<_> = body["messages"][1]["tool_calls"].as_array().unwrap().iter().map(|c| id(&c["id"])).collect();
        let results: Vec<_> = (2..5).map(|at| id(&body["messages"][at]["tool_call_id"])).collect();
        assert_eq!(made, results, "each result keeps its call");
        made
    };
    let short = ids("https://api.mistral.ai/v1");
    assert!(short.iter().all(|id| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())), "{short:?}");
    assert_eq!(short[1], "aB3dE6gH9", "one that fits stays");
    assert_ne!(short[0], short[2]);
    assert_eq!(ids("https://api.mistral.ai/v1"), short);
    assert_eq!(ids("https://models.example.com/v1"), ["call_1", "aB3dE6gH9", "call_2"]);
}

#[test]
fn reasoning_goes_back_where_it_is_wanted() {
    let sent = |base: &str, model: &str| {
        let body = body(base, model, &worked(&["c"]), Answering::default());
        body["messages"][1].get("reasoning_content").cloned()
    };
    for (base, model) in [
        ("https://api.deepseek.com/v1", "deepseek-reasoner"),
        ("https://api.moonshot.cn/v1", "kimi"),
        ("https://api.z.ai/api/paas/v4", "glm"),
        ("http://127.0.0.1:8080/v1", "gpt-oss-20b-Q4.gguf"),
        ("http://127.0.0.1:8080/v1", "MiniMax-M2"),
    ] {
        assert_eq!(sent(base, model), Some(json!("why")), "{base} {model}");
    }
    assert_eq!(sent("https://api.openai.com/v1", "gpt-oss"), None);
    assert_eq!(sent("http://127.0.0.1:8080/v1", "llama"), None);
}

const SIGNED: &str = r#"{"type":"reasoning.encrypted", "data":"gAAA\u002b==","id":"rs_1","n":1.0,"format":"x-v1"}"#;

/// Two fragments of a text with its signature, and an encrypted detail; a call behind them.
fn thoughtful() -> Reply {
    let delta = |delta: &str| Step::data(format!(r#"{{"choices":[{{"delta":{delta}}}]}}"#));
    Reply::stream([
        delta(
            r#"{"reasoning":"I ","reasoning_details":[{"type":"reasoning.text","text":"I ","index":0,"format":"f"}]}"#,
        ),
        delta(
            r#"{"reasoning":"see","reasoning_details":[{"type":"reasoning.text","text":"see","index":0,"format":"f"}]}"#,
        ),
        delta(r#"{"reasoning_details":[{"type":"reasoning.text","signature":"c2ln","index":0}]}"#),
        delta(&format!(r#"{{"reasoning_details":[{SIGNED}]}}"#)),
        delta(r#"{"tool_calls":[{"id":"c","function":{"name":"read","arguments":"{}"}}]}"#),
        Step::finish("tool_calls"),
        Step::done(),
    ])
}

fn history(reply: steersman_core::provider::Reply) -> Vec<Message> {
    let results: Vec<_> = reply.tool_calls.iter().map(|call| Message::tool(call, "one")).collect();
    let (thinking, original) = (reply.thinking, reply.original);
    let made = AssistantMessage { thinking, tool_calls: reply.tool_calls, original, ..AssistantMessage::default() };
    [vec![Message::user("look"), Message::Assistant(made)], results].concat()
}

#[tokio::test]
async fn reasoning_details_go_back_to_the_model_that_wrote_them() {
    let server = Server::start([thoughtful()]);
    let provider = provider(&server);
    let reply = complete(&provider, &[Message::user("look")], Streaming::On).await.0.unwrap();
    assert_eq!(reply.thinking, "I see", "shown once");
    let original = reply.original.clone().unwrap();
    assert_eq!((original.dialect, original.model.as_str()), (Dialect::OpenAi, "m"));

    let messages = history(reply);
    let sent = |model: &str| {
        let request = ChatRequest::new(model, &messages, &[], Streaming::On).unwrap();
        String::from_utf8(provider.body(&request).unwrap()).unwrap()
    };
    let same = sent("m");
    assert!(same.contains(SIGNED), "byte for byte: {same}");
    let details = serde_json::from_str::<Value>(&same).unwrap()["messages"][1]["reasoning_details"].clone();
    let joined = json!({"type": "reasoning.text", "text": "I see", "index": 0, "format": "f", "signature": "c2ln"});
    assert_eq!(details[0], joined);
    assert_eq!(details.as_array().unwrap().len(), 2);
    assert!(!sent("other").contains("reasoning_details"), "to another model they mean nothing");
}

#[tokio::test]
async fn a_server_that_refuses_reasoning_details_is_asked_without_them() {
    let server = Server::routed(|request: &Request| {
        let messages = request.messages();
        match messages.get(1) {
            None => thoughtful(),
            Some(message) if message.get("reasoning_details").is_some() => {
                let words = "'messages.1' : for 'role:assistant' property 'reasoning_details' is unsupported";
                Reply::json(400, json!({"error": {"message": words}}))
            }
            Some(_) => Reply::text("ok"),
        }
    });
    let provider = provider(&server);
    let reply = complete(&provider, &[Message::user("look")], Streaming::On).await.0.unwrap();
    let answer = complete(&provider, &history(reply), Streaming::On).await.0;
    assert_eq!((answer.unwrap().content.as_str(), server.chats().len()), ("ok", 3));
}

#[tokio::test]
async fn the_signature_beside_a_call_goes_back_beside_it() {
    let mark = r#"{"google": {"thought_signature":"EtoC\u002b/=="}}"#;
    let chunk = format!(
        r#"{{"choices":[{{"delta":{{"tool_calls":[{{"id":"a","function":{{"name":"read","arguments":"{{}}"}},"extra_content":{mark}}},{{"id":"b","function":{{"name":"read","arguments":"{{}}"}}}}]}},"finish_reason":"stop"}}]}}"#
    );
    let server = Server::start([Reply::stream([Step::data(chunk), Step::done()])]);
    let provider = provider(&server);
    let reply = complete(&provider, &[Message::user("look")], Streaming::On).await.0.unwrap();
    let part = Part::Call { index: 0, mark: Some(mark.to_owned()) };
    assert_eq!(reply.original.as_ref().unwrap().parts, [part]);
    let messages = history(reply);
    let request = ChatRequest::new("m", &messages, &[], Streaming::On).unwrap();
    let body = String::from_utf8(provider.body(&request).unwrap()).unwrap();
    assert_eq!(body.matches("extra_content").count(), 1);
    assert!(body.contains(&format!(r#""extra_content":{mark}"#)), "{body}");
}

#[test]
fn calls_of_another_model_are_sent_to_gemini_as_unsigned() {
    let google = "https://generativelanguage.googleapis.com/v1beta/openai";
    let marks = |model: &str, messages: &[Message]| -> Vec<Option<Value>> {
        let body = body(google, model, messages, Answering::default());
        let calls = body["messages"][1]["tool_calls"].as_array().unwrap().clone();
        calls.iter().map(|call| call.get("extra_content").cloned()).collect()
    };
    let unsigned = json!({"google": {"thought_signature": "skip_thought_signature_validator"}});
    let foreign = worked(&["a", "b"]);
    assert_eq!(marks("gemini-3-pro", &foreign), [Some(unsigned), None]);
    assert_eq!(marks("gemini-2.5-pro", &foreign), [None, None]);

    let mut own = foreign;
    if let Message::Assistant(reply) = &mut own[1] {
        let parts = vec![Part::Call { index: 0, mark: Some("{\"own\":1}".to_owned()) }];
        let (server, model) = (google.to_owned(), "gemini-3-pro".to_owned());
        reply.original = Some(Original { dialect: Dialect::OpenAi, server, model, parts });
    }
    assert_eq!(marks("gemini-3-pro", &own), [Some(json!({"own": 1})), None]);
}

#[test]
fn the_beginning_of_a_body_stays_the_same_from_request_to_request() {
    for base in ["https://api.mistral.ai/v1", "https://openrouter.ai/api/v1", "http://127.0.0.1:1/v1"] {
        let effort = Answering { effort: Some(Effort::High), ..Answering::default() };
        let mut messages = worked(&["call_1", "call_2"]);
        let first = text_of(base, "m", &messages, effort);
        messages.push(Message::user("more"));
        let second = text_of(base, "m", &messages, effort);
        let same = first.find(r#"],"stream":"#).unwrap();
        assert_eq!(first[..same], second[..same], "{base}");
    }
}
