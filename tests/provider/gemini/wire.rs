//! Gemini over HTTP: the whole way there and back.

use serde_json::{Value, json};
use steersman_base::message::{AssistantMessage, Message};
use steersman_core::provider::{ApiKey, ChatProvider, ChatRequest, ChatTransport, ProviderError, Streaming};
use steersman_provider::{Http, HttpProvider, list_models};

use super::{parts, stop, text, transport};
use crate::support::contents;
use crate::support::server::{Reply, Server, Step};
use crate::wire::{complete, texts, waits};

fn stream(chunks: &[Value]) -> Reply {
    Reply::stream(chunks.iter().map(|chunk| Step::Bytes(format!("data: {chunk}\r\n\r\n").into_bytes())))
}

fn provider(server: &Server, model: &str) -> HttpProvider {
    let key = Some(ApiKey::new("AIza-1"));
    HttpProvider::new(Http::default(), &ChatTransport { api_key: key, ..transport(server.origin(), model) }).unwrap()
}

fn check(server: &Server) {
    for chat in server.chats() {
        assert_eq!((chat.header("x-goog-api-key"), chat.header("authorization")), (Some("AIza-1"), None));
        assert_eq!(contents::violation(&chat.body), None);
    }
}

#[tokio::test]
async fn a_signature_comes_back_with_the_result_of_its_call() {
    let call = json!([{"functionCall": {"name": "read", "args": {"path": "a"}}, "thoughtSignature": "sig"}]);
    let server = Server::start([stream(&[parts(call.clone()), stop()]), stream(&[text("Done."), stop()])]);
    let provider = provider(&server, "m");
    let (answer, _) = complete(&provider, &[Message::user("go")], Streaming::On).await;
    let reply = answer.unwrap();
    let result = Message::tool(&reply.tool_calls[0], "text");
    let asked =
        AssistantMessage { tool_calls: reply.tool_calls.clone(), original: reply.original, ..Default::default() };
    let history = [Message::user("go"), Message::Assistant(asked), result, Message::user("and b")];
    let (answer, pieces) = complete(&provider, &history, Streaming::On).await;
    assert_eq!((answer.unwrap().content.as_str(), texts(&pieces)), ("Done.", vec!["Done."]));
    let sent = &server.chats()[1];
    assert_eq!(sent.path, "/v1beta/models/m:streamGenerateContent?alt=sse");
    assert_eq!(sent.body["contents"][1]["parts"], call);
    let result = json!({"functionResponse": {"name": "read", "response": {"output": "text"}}});
    assert_eq!(sent.body["contents"][2]["parts"], json!([result, {"text": "and b"}]));
    check(&server);
}

#[tokio::test]
async fn the_address_holds_the_model_whatever_its_name() {
    for (model, path) in [
        ("gemini-2.5-pro", "/v1beta/models/gemini-2.5-pro:generateContent"),
        ("models/gemini-2.5-pro", "/v1beta/models/gemini-2.5-pro:generateContent"),
        ("tunedModels/mine", "/v1beta/tunedModels/mine:generateContent"),
        ("a b?c#d/../e", "/v1beta/a%20b%3Fc%23d/..%2Fe:generateContent"),
    ] {
        let mut answer = stop();
        answer["candidates"][0]["content"]["parts"][0]["text"] = json!("ok");
        let server = Server::start([Reply::json(200, answer)]);
        let messages = [Message::user("hi")];
        let request = ChatRequest::new(model, &messages, &[], Streaming::Off).unwrap();
        let reply = provider(&server, model).complete(request, &mut |_| Ok(())).await;
        assert_eq!(reply.unwrap().content, "ok");
        assert_eq!(server.chats()[0].path, path);
        check(&server);
    }
}

#[tokio::test]
async fn a_stream_that_comes_as_a_list_is_read_too() {
    let server = Server::start([Reply::json(200, json!([text("o"), text("k"), stop()]))]);
    let (answer, pieces) = complete(&provider(&server, "m"), &[Message::user("hi")], Streaming::On).await;
    assert_eq!((answer.unwrap().content.as_str(), texts(&pieces)), ("ok", vec!["ok"]));
    check(&server);
}

#[tokio::test]
async fn a_full_quota_is_waited_for_as_long_as_the_server_says() {
    let retry = |delay: &str| json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay});
    let quota = |delay: &str| {
        let error = json!({"code": 429, "message": "Resource has been exhausted.", "status": "RESOURCE_EXHAUSTED", "details": [retry(delay)]});
        Reply::json(429, json!([{"error": error}]))
    };
    let server = Server::start([quota("0.002s"), stream(&[text("ok"), stop()])]);
    let (answer, pieces) = complete(&provider(&server, "m"), &[Message::user("hi")], Streaming::On).await;
    assert_eq!(answer.unwrap().content, "ok");
    assert_eq!(waits(&pieces), [(2, 2)]);
    let server = Server::start([quota("3600s")]);
    let (answer, pieces) = complete(&provider(&server, "m"), &[Message::user("hi")], Streaming::On).await;
    assert!(matches!(answer, Err(ProviderError::AsksToWait { wait_ms: 3_600_000, .. })), "{answer:?}");
    assert_eq!(waits(&pieces), []);
}

#[tokio::test]
async fn the_models_are_listed_over_all_pages_and_only_those_that_answer() {
    let model = |name: &str, method: &str| json!({"name": format!("models/{name}"), "inputTokenLimit": 1_000, "supportedGenerationMethods": [method]});
    let server = Server::start([]);
    let first = json!({"models": [model("a", "generateContent"), model("e", "embedContent")], "nextPageToken": "p 2"});
    server.on("/v1beta/models?pageSize=1000", Reply::json(200, first));
    let second = json!({"models": [model("b", "generateContent"), {"name": "models/c"}]});
    server.on("/v1beta/models?pageSize=1000&pageToken=p+2", Reply::json(200, second));
    let listed = list_models(&Http::default(), &transport(server.origin(), "m")).await.unwrap();
    assert_eq!(listed, ["a", "b", "c"]);
}
