//! The server of the embedded model over a real socket: the key, the paths, the stream, hostile bodies, going away.

use std::time::Duration;

use serde_json::{Value, json};
use steersman::program::demo::{DemoServer, MODEL, Pace, start};
use steersman_provider::Http;

fn client() -> reqwest::Client {
    Http::default().client(&"http://localhost".parse().unwrap()).unwrap().clone()
}

fn post(server: &DemoServer, body: impl Into<reqwest::Body>) -> reqwest::RequestBuilder {
    client().post(format!("{}/chat/completions", server.base_url())).bearer_auth(server.api_key().expose()).body(body)
}

fn glob_offer() -> Value {
    let parameters = json!({"type": "object", "properties": {"pattern": {"type": "string"}}});
    json!([{"type": "function", "function": {"name": "glob", "parameters": parameters}}])
}

fn request(text: &str, stream: bool) -> String {
    let messages = json!([{"role": "system", "content": "You are Steersman."}, {"role": "user", "content": text}]);
    json!({"model": MODEL, "messages": messages, "stream": stream, "tools": glob_offer()}).to_string()
}

#[tokio::test]
async fn nothing_is_answered_without_the_key_of_this_start() {
    let server = start(Pace::Instant).await.unwrap();
    let other = start(Pace::Instant).await.unwrap();
    let root = server.base_url().trim_end_matches("/v1").to_owned();
    let right = server.api_key().expose().to_owned();
    assert_eq!(right.len(), 64);
    assert!(!format!("{server:?}").contains(&right), "the key is not shown");
    let wrong = [
        None,
        Some(String::new()),
        Some(right[..63].to_owned()),
        Some(format!("{right}0")),
        Some(other.api_key().expose().to_owned()),
    ];
    for key in wrong {
        for path in ["/v1/models", "/props", "/", "/v1/chat/completions"] {
            let mut ask = client().get(format!("{root}{path}"));
            if let Some(key) = &key {
                ask = ask.bearer_auth(key);
            }
            let answer = ask.send().await.unwrap();
            assert_eq!(answer.status(), 401, "{path}");
            let body: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
            assert_eq!(body["error"]["code"], "invalid_api_key");
        }
    }
}

#[tokio::test]
async fn models_and_window_are_told_and_the_rest_is_not_found() {
    let server = start(Pace::Instant).await.unwrap();
    let root = server.base_url().trim_end_matches("/v1").to_owned();
    let get = async |path: &str| {
        let answer = client().get(format!("{root}{path}")).bearer_auth(server.api_key().expose()).send().await.unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_slice::<Value>(&answer.bytes().await.unwrap()).unwrap())
    };
    assert_eq!(get("/v1/models").await.1["data"][0]["id"], MODEL);
    assert_eq!(get("/props").await.1["default_generation_settings"]["n_ctx"], 131_072);
    for path in ["/", "/v1", "/v1/chat/completions", "/health", "/v1/models/x"] {
        let (status, body) = get(path).await;
        assert_eq!(status, 404, "{path}");
        assert!(body["error"]["message"].is_string());
    }
}

#[tokio::test]
async fn a_stream_has_role_reasoning_text_calls_in_pieces_finish_usage_and_done() {
    let server = start(Pace::Instant).await.unwrap();
    let answer = post(&server, request("look around", true)).send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let text = answer.text().await.unwrap();
    let mut events: Vec<&str> = text.split_terminator("\n\n").collect();
    assert_eq!(events.pop(), Some("data: [DONE]"));
    let chunks: Vec<Value> =
        events.iter().map(|event| serde_json::from_str(event.strip_prefix("data: ").unwrap()).unwrap()).collect();
    let deltas: Vec<&Value> = chunks.iter().map(|chunk| &chunk["choices"][0]["delta"]).collect();
    assert_eq!(deltas[0]["role"], "assistant");
    let all = |key: &str| deltas.iter().filter_map(|delta| delta[key].as_str()).collect::<String>();
    assert!(all("reasoning_content").contains("look around"));
    assert!(!all("content").is_empty());
    let calls: Vec<&Value> =
        deltas.iter().map(|delta| &delta["tool_calls"][0]).filter(|call| call.is_object()).collect();
    assert_eq!(calls[0]["function"]["name"], "glob");
    assert!(calls[0]["id"].is_string() && calls.len() > 1, "the head first, then the arguments in pieces");
    let arguments: String = calls.iter().filter_map(|call| call["function"]["arguments"].as_str()).collect();
    assert_eq!(serde_json::from_str::<Value>(&arguments).unwrap(), json!({"pattern": "**/*"}));
    assert_eq!(chunks[chunks.len() - 2]["choices"][0]["finish_reason"], "tool_calls");
    let usage = &chunks.last().unwrap()["usage"];
    assert_eq!(chunks.last().unwrap()["choices"], json!([]));
    assert_eq!(
        usage["total_tokens"].as_u64(),
        usage["prompt_tokens"].as_u64().zip(usage["completion_tokens"].as_u64()).map(|(a, b)| a + b)
    );
}

#[tokio::test]
async fn without_streaming_the_same_reply_comes_as_one() {
    let server = start(Pace::Instant).await.unwrap();
    let bytes = post(&server, request("look around", false)).send().await.unwrap().bytes().await.unwrap();
    let body: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(body["choices"][0]["message"]["tool_calls"][0]["function"]["name"], "glob");
    assert_eq!(body["choices"][0]["finish_reason"], "tool_calls");
    assert!(body["usage"]["completion_tokens"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn hostile_bodies_are_refused_with_a_sentence() {
    let server = start(Pace::Instant).await.unwrap();
    let user = json!({"role": "user", "content": "x"});
    let call = json!({"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]});
    let deep = "[".repeat(100_000);
    let bodies = [
        String::new(),
        "not json".to_owned(),
        "{}".to_owned(),
        deep,
        json!({"messages": []}).to_string(),
        json!({"messages": "x"}).to_string(),
        json!({"messages": [{"role": "wizard", "content": "x"}]}).to_string(),
        json!({"messages": [{"role": "user", "content": 7}]}).to_string(),
        json!({"messages": [user, call]}).to_string(),
        json!({"messages": [user, call, user]}).to_string(),
        json!({"messages": [user, {"role": "tool", "tool_call_id": "a", "content": "x"}]}).to_string(),
        json!({"messages": [user], "tools": [{"function": {}}]}).to_string(),
    ];
    for body in bodies {
        let shown = body.chars().take(80).collect::<String>();
        let answer = post(&server, body).send().await.unwrap();
        assert_eq!(answer.status(), 400, "{shown}");
        let error: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        assert!(!error["error"]["message"].as_str().unwrap().is_empty());
    }
    let odd = [
        json!({"messages": [{"role": "user"}], "tools": null, "stream": null}),
        json!({"messages": [{"role": "system", "content": "x"}]}),
        json!({"messages": [{"role": "assistant", "content": "x"}]}),
        json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "image_url"}]}]}),
        json!({"messages": [{"role": "developer", "content": "\u{0}\u{202e}"}, {"role": "user", "content": "`\n`".repeat(50_000)}], "tools": glob_offer()}),
    ];
    for body in odd {
        assert_eq!(post(&server, body.to_string()).send().await.unwrap().status(), 200, "{body}");
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused() {
    let server = start(Pace::Instant).await.unwrap();
    let huge = vec![b' '; steersman_base::limits::DEMO_BODY_BYTES + 1];
    // The server may close before it has read everything: then there is no answer, but the next request works.
    if let Ok(answer) = post(&server, huge).send().await {
        assert_eq!(answer.status(), 400);
    }
    assert_eq!(post(&server, request("hello", false)).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn it_writes_at_its_pace_and_a_client_that_goes_away_ends_its_generation() {
    let server = start(Pace::words_per_second(20)).await.unwrap();
    let mut answer = post(&server, request("look around", true)).send().await.unwrap();
    let begun = std::time::Instant::now();
    for _ in 0..6 {
        answer.chunk().await.unwrap().unwrap();
    }
    assert!(begun.elapsed() >= Duration::from_millis(150), "20 words a second");
    drop(answer);
    assert!(tokio::time::timeout(Duration::from_secs(5), server.idle()).await.is_ok(), "the generation ended");
}

#[tokio::test]
async fn dropping_the_server_ends_streams_and_the_port() {
    let server = start(Pace::words_per_second(1)).await.unwrap();
    let url = server.base_url();
    let mut answer = post(&server, request("look around", true)).send().await.unwrap();
    answer.chunk().await.unwrap();
    drop(server);
    let rest = tokio::time::timeout(Duration::from_secs(5), async { while let Ok(Some(_)) = answer.chunk().await {} });
    assert!(rest.await.is_ok(), "the stream ended");
    assert!(client().get(format!("{url}/models")).send().await.is_err(), "the port is closed");
}

#[test]
fn a_pace_is_read_from_words() {
    assert_eq!("instant".parse(), Ok(Pace::Instant));
    assert_eq!("0".parse(), Ok(Pace::Instant));
    assert_eq!("200".parse(), Ok(Pace::words_per_second(200)));
    assert!("fast".parse::<Pace>().unwrap_err().contains("\"fast\""));
}
