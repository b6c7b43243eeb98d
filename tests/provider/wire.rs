//! Stories on the real wire: the provider against the scripted server.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;
use steersman_base::error::Cancelled;
use steersman_base::limits;
use steersman_base::message::{Arguments, AssistantMessage, Message, ToolCall};
use steersman_core::provider::{
    ApiKey, ChatProvider, ChatRequest, ChatTransport, Connector, Finish, Piece, ProviderError, Streaming, ToolSchema,
};
use steersman_provider::{Http, HttpConnector, HttpProvider, list_models};

use crate::support::doubles::within;
use crate::support::server::{Gate, Reply, Server, Step};

pub type Answer = Result<steersman_core::provider::Reply, ProviderError>;

pub fn transport(base: &str) -> ChatTransport {
    ChatTransport { api_base: Some(base.to_owned()), model: Some("m".to_owned()), ..ChatTransport::default() }
}

pub fn provider(server: &Server) -> HttpProvider {
    HttpProvider::new(Http::default(), &transport(&server.url())).unwrap()
}

/// Makes a request and returns the answer with all pieces.
pub async fn complete(provider: &HttpProvider, messages: &[Message], streaming: Streaming) -> (Answer, Vec<Piece>) {
    let mut pieces = Vec::new();
    let mut sink = |piece: Piece| {
        pieces.push(piece);
        Ok(())
    };
    let request = ChatRequest::new("m", messages, &[], streaming).unwrap();
    let answer = provider.complete(request, &mut sink).await;
    (answer, pieces)
}

pub async fn ask(server: &Server) -> (Answer, Vec<Piece>) {
    complete(&provider(server), &[Message::user("hi")], Streaming::On).await
}

pub fn texts(pieces: &[Piece]) -> Vec<&str> {
    let shown = pieces.iter().filter_map(|piece| match piece {
        Piece::Chunk { text, .. } if !text.is_empty() => Some(text.as_str()),
        Piece::Chunk { .. } | Piece::Retrying { .. } => None,
    });
    shown.collect()
}

pub fn waits(pieces: &[Piece]) -> Vec<(u32, u64)> {
    let wait = |piece: &Piece| match piece {
        Piece::Retrying { attempt, after_ms, .. } => Some((*attempt, *after_ms)),
        Piece::Chunk { .. } => None,
    };
    pieces.iter().filter_map(wait).collect()
}

pub fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: "read".to_owned(), arguments: Arguments::parse(arguments) }
}

pub fn calls(calls: Vec<ToolCall>) -> Message {
    Message::Assistant(AssistantMessage {
        thinking: "why".to_owned(),
        tool_calls: calls,
        ..AssistantMessage::default()
    })
}

fn post(server: &Server, body: &str) -> TcpStream {
    let mut socket = TcpStream::connect(server.origin().trim_start_matches("http://")).unwrap();
    let length = body.len();
    write!(socket, "POST /v1/chat/completions HTTP/1.1\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
    socket
}

#[test]
fn the_scripted_server_streams_waits_cuts_and_notices_a_hang_up() {
    let gate = Gate::new();
    let server =
        Server::start([Reply::stream([Step::data("1"), Step::Wait(gate.clone()), Step::Cut]), Reply::text("a b")]);
    let mut socket = post(&server, r#"{"stream":true}"#);
    gate.wait_reached();
    gate.open();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    assert!(text.ends_with("\r\n9\r\ndata: 1\n\n\r\n"), "{text}");

    drop(post(&server, r#"{"stream":false}"#));
    server.wait_requested(2);
    let gate = server.reply_gated(Reply::text("never"));
    let socket = post(&server, "{}");
    gate.wait_reached();
    drop(socket);
    server.wait_hung_up(1);
}

#[test]
#[should_panic(expected = "the call c1 has no result")]
fn the_scripted_server_fails_the_test_of_an_invalid_request() {
    let server = Server::start([Reply::text("")]);
    let call = r#"{"id":"c1","function":{"name":"f","arguments":"{}"}}"#;
    let _socket = post(&server, &format!(r#"{{"messages":[{{"role":"assistant","tool_calls":[{call}]}}]}}"#));
    server.wait_requested(1);
}

#[tokio::test]
async fn a_streamed_reply_comes_in_pieces_and_whole() {
    let server = Server::start([Reply::text("a b c").thinking("let me see").usage(10, 3)]);
    let (answer, pieces) = ask(&server).await;
    let reply = answer.unwrap();
    assert_eq!((reply.content.as_str(), reply.thinking.as_str()), ("a b c", "let me see"));
    assert_eq!((reply.usage.input, reply.usage.output), (Some(10), Some(3)));
    assert_eq!(texts(&pieces), ["a ", "b ", "c"]);
    let body = &server.chats()[0].body;
    assert_eq!((&body["stream"], &body["stream_options"]), (&json!(true), &json!({"include_usage": true})));
    assert_eq!(body["messages"], json!([{"role": "user", "content": "hi"}]));
    assert_eq!(body.get("tools"), None);
}

#[tokio::test]
async fn a_whole_reply_gives_no_pieces() {
    let server = Server::start([Reply::calls(&[("c", "read", "{\"path\":\"a\"}")]).saying("I look.")]);
    let (answer, pieces) = complete(&provider(&server), &[Message::user("hi")], Streaming::Off).await;
    let reply = answer.unwrap();
    assert_eq!((reply.content.as_str(), &reply.tool_calls[..]), ("I look.", &[call("c", "{\"path\":\"a\"}")][..]));
    assert_eq!((pieces.len(), reply.finish), (0, Finish::Stop));
    assert_eq!(server.chats()[0].body.get("stream"), None);
}

#[tokio::test]
async fn a_server_that_answers_in_the_other_form_is_understood() {
    let whole = json!({"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]});
    let stream = [Step::delta(json!({"content": "streamed"})), Step::finish("stop")];
    let server = Server::start([Reply::body(200, &format!("{whole:#}")), Reply::stream(stream)]);
    let (answer, pieces) = ask(&server).await;
    assert_eq!((answer.unwrap().content.as_str(), texts(&pieces)), ("whole", vec!["whole"]));
    let (answer, pieces) = complete(&provider(&server), &[Message::user("hi")], Streaming::Off).await;
    assert_eq!((answer.unwrap().content.as_str(), pieces.len()), ("streamed", 0));
}

#[tokio::test]
async fn fragments_cut_at_every_byte_give_the_same_reply() {
    let text = "data: {\"choices\":[{\"delta\":{\"content\":\"zür漢\"}}]}\r\n\r\n: ping\r\n\r\ndata: [DONE]\r\n\r\n";
    let bytes = text.as_bytes().iter().map(|byte| Step::Bytes(vec![*byte]));
    let server = Server::start([Reply::stream(bytes)]);
    assert_eq!(ask(&server).await.0.unwrap().content, "zür漢");
}

#[tokio::test]
async fn the_conversation_is_written_as_the_dialect_wants_it() {
    let server = Server::start([Reply::text("ok")]);
    let messages = [
        Message::system("be brief"),
        Message::user("look"),
        calls(vec![call("c1", "{\"b\":1,\"a\":2}"), call("c2", "not json")]),
        Message::tool(&call("c1", ""), "one"),
        Message::tool(&call("c2", ""), "Error: two"),
        Message::user("and?"),
        Message::assistant("done"),
        Message::user("more"),
    ];
    let parameters = json!({"type": "object", "properties": {"z": {}, "a": {}}});
    let tools =
        [ToolSchema { name: "read".to_owned(), description: "Reads.".to_owned(), parameters: parameters.clone() }];
    let request = ChatRequest::new("m", &messages, &tools, Streaming::Off).unwrap();
    provider(&server).complete(request, &mut |_| Ok(())).await.unwrap();
    let body = &server.chats()[0].body;
    let made = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "read", "arguments": arguments}});
    assert_eq!(
        body["messages"],
        json!([
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "look"},
            {"role": "assistant", "content": null, "tool_calls": [made("c1", "{\"b\":1,\"a\":2}"), made("c2", "{\"malformed\":\"not json\"}")]},
            {"role": "tool", "content": "one", "tool_call_id": "c1"},
            {"role": "tool", "content": "Error: two", "tool_call_id": "c2"},
            {"role": "user", "content": "and?"},
            {"role": "assistant", "content": "done"},
            {"role": "user", "content": "more"},
        ])
    );
    let function = json!({"name": "read", "description": "Reads.", "parameters": parameters});
    assert_eq!(body["tools"], json!([{"type": "function", "function": function}]));
    assert_eq!(body["tools"][0]["function"]["parameters"].to_string(), parameters.to_string(), "key order is kept");
    assert_eq!(body["model"], "m");
}

#[tokio::test]
async fn no_model_is_named_when_none_is_known() {
    let server = Server::start([Reply::text("ok")]);
    let messages = [Message::user("hi")];
    let request = ChatRequest::new("", &messages, &[], Streaming::Off).unwrap();
    provider(&server).complete(request, &mut |_| Ok(())).await.unwrap();
    assert_eq!(server.chats()[0].body.get("model"), None);
}

#[tokio::test]
async fn a_key_is_sent_as_a_bearer_and_no_header_without_one() {
    let server = Server::routed(|_| Reply::text("ok"));
    for (key, sent) in [(None, None), (Some(" "), None), (Some("sk-1\n"), Some("Bearer sk-1"))] {
        let mut transport = transport(&server.url());
        transport.api_key = key.map(ApiKey::new);
        let provider = HttpProvider::new(Http::default(), &transport).unwrap();
        complete(&provider, &[Message::user("hi")], Streaming::On).await.0.unwrap();
        assert_eq!(server.chats().last().unwrap().header("authorization"), sent);
    }
    let transport = ChatTransport { api_key: Some(ApiKey::new("a\nb")), ..transport(&server.url()) };
    let error = HttpProvider::new(Http::default(), &transport).unwrap_err();
    assert_eq!(error.to_string(), "the API key holds characters that no key can have");
}

#[tokio::test]
async fn v1_is_added_when_the_address_has_no_path() {
    let server = Server::routed(|_| Reply::text("ok"));
    for base in
        [server.origin().to_owned(), format!("{}/", server.origin()), server.url(), format!("{}/", server.url())]
    {
        let provider = HttpProvider::new(Http::default(), &transport(&base)).unwrap();
        complete(&provider, &[Message::user("hi")], Streaming::On).await.0.unwrap();
        assert_eq!(server.chats().last().unwrap().path, "/v1/chat/completions");
    }
}

#[tokio::test]
async fn a_refusal_is_one_request_and_the_servers_own_words() {
    let pretty = format!("{:#}", json!({"error": {"message": "bad\nkey", "code": "x"}}));
    let bodies = [
        (400, pretty.as_str(), "bad key"),
        (401, r#"{"detail":"no key"}"#, "no key"),
        (403, r#"{"message":"forbidden here"}"#, "forbidden here"),
        (404, r#"[{"error":{"code":404,"message":"no model"}}]"#, "no model"),
        (405, "", "Method Not Allowed"),
        (403, "<html><head><title>403 Not Here</title></head>", "a web page, \"403 Not Here\""),
        (422, r#"{"detail":[{"loc":["body"],"msg":"field required"},{"msg":"too old"}]}"#, "field required; too old"),
        (400, "plain  words\n", "plain words"),
        (
            400,
            r#"{"error":{"message":"Provider returned error","metadata":{"raw":"{\"error\":\"inner\"}"}}}"#,
            "Provider returned error: inner",
        ),
        (400, r#"{"error":{"code":7}}"#, r#"{"error":{"code":7}}"#),
    ];
    for (status, body, words) in bodies {
        for streaming in [Streaming::On, Streaming::Off] {
            let server = Server::start([Reply::body(status, body)]);
            let (answer, pieces) = complete(&provider(&server), &[Message::user("hi")], streaming).await;
            let error = answer.unwrap_err();
            let about_key = format!(" ({}, no key was sent)", server.url());
            let about_key = if [401, 403].contains(&status) { about_key } else { String::new() };
            assert_eq!(error.to_string(), format!("the server answered {status}: {words}{about_key}"));
            assert_eq!((server.chats().len(), pieces.len()), (1, 0), "{status}");
        }
    }
}

#[tokio::test]
async fn a_long_error_body_is_cut() {
    let server = Server::start([Reply::body(400, &"ü".repeat(100_000))]);
    let error = ask(&server).await.0.unwrap_err().to_string();
    assert_eq!(error.matches('ü').count(), limits::ERROR_CHARS);
    assert!(error.ends_with('…'), "{error}");
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let provider = HttpProvider::new(Http::default(), &transport(&format!("http://user:secret@{address}"))).unwrap();
    let messages = [Message::user("hi")];
    let request = ChatRequest::new("m", &messages, &[], Streaming::On).unwrap();
    let mut said = String::new();
    let mut sink = |piece: Piece| {
        if let Piece::Retrying { reason, .. } = piece {
            said = reason;
        }
        Err(Cancelled)
    };
    let answer = provider.complete(request, &mut sink).await;
    assert_eq!(answer.unwrap_err(), ProviderError::Cancelled(Cancelled));
    assert!(said.starts_with(&format!("cannot reach {address}: ")) && said.contains("refused"), "{said}");
    assert!(!said.contains("secret"), "{said}");
}

#[tokio::test]
async fn a_cut_stream_is_cut_off_and_runs_nothing() {
    let start = json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "bash", "arguments": "{\"a"}}]});
    let text = || Step::delta(json!({"content": "I will"}));
    for end in [vec![Step::Cut], vec![], vec![Step::Bytes(b"data: {\"choices\":[{\"del".to_vec())]] {
        let steps = [text(), Step::delta(start.clone())].into_iter().chain(end);
        let server = Server::start([Reply::stream(steps)]);
        let (answer, pieces) = ask(&server).await;
        assert_eq!(answer, Err(ProviderError::CutOff));
        assert_eq!((texts(&pieces), server.chats().len()), (vec!["I will"], 1), "text was shown: no second try");
    }
}

#[tokio::test]
async fn a_stream_cut_before_its_first_word_is_tried_again() {
    let fragment = json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "bash", "arguments": "{"}}]});
    let server = Server::start([Reply::stream([Step::delta(fragment), Step::Cut]), Reply::text("ok")]);
    let (answer, pieces) = ask(&server).await;
    assert_eq!(answer.unwrap().content, "ok");
    assert_eq!(waits(&pieces).len(), 1);
}

#[tokio::test]
async fn a_stream_that_said_how_it_ended_is_whole_even_when_the_line_breaks() {
    let steps = || [Step::delta(json!({"content": "all"})), Step::finish("stop")].into_iter();
    let server = Server::start([Reply::stream(steps().chain([Step::Cut])), Reply::stream(steps())]);
    assert_eq!(ask(&server).await.0.unwrap().content, "all");
    assert_eq!(ask(&server).await.0.unwrap().content, "all");
}

#[tokio::test]
async fn a_malformed_chunk_is_an_error_and_not_skipped() {
    let server =
        Server::start([Reply::stream([Step::delta(json!({"content": "a"})), Step::data("{oops"), Step::done()])]);
    let error = ask(&server).await.0.unwrap_err();
    assert_eq!(error.to_string(), "the server sent something that is not a reply: {oops");
}

#[tokio::test]
async fn an_error_within_a_stream_is_shown_at_once() {
    let gate = Gate::new();
    let error = Step::Bytes(b"event: error\ndata: {\"error\":{\"message\":\"overloaded\"}}\n\n".to_vec());
    let server = Server::start([Reply::stream([Step::delta(json!({"content": "a"})), error, Step::Wait(gate)])]);
    let error = ask(&server).await.0.unwrap_err();
    assert_eq!(error.to_string(), "the server reported an error: overloaded");
}

#[tokio::test]
async fn answers_that_are_no_replies_say_what_they_are() {
    let page = "<!DOCTYPE html><html><head><title>Sign in</title></head></html>";
    for (reply, words) in [
        (Reply::body(200, page), "the server sent something that is not a reply: a web page, \"Sign in\""),
        (Reply::body(204, ""), "the server sent something that is not a reply: an answer without content (status 204)"),
        (
            Reply::json(200, json!({"error": {"message": "no such model"}})),
            "the server reported an error: no such model",
        ),
        (Reply::json(200, json!({"hello": 1})), "the server sent something that is not a reply: {\"hello\":1}"),
    ] {
        let server = Server::start([reply]);
        let (answer, pieces) = ask(&server).await;
        assert_eq!(answer.unwrap_err().to_string(), words);
        assert_eq!((server.chats().len(), pieces.len()), (1, 0));
    }
}

#[tokio::test]
async fn a_redirect_is_refused_and_the_key_stays_here() {
    let other = Server::routed(|_| Reply::text("stolen"));
    for status in [301, 302, 307, 308] {
        let server =
            Server::start([Reply::body(status, "").header("location", &format!("{}/chat/completions", other.url()))]);
        let mut transport = transport(&server.url());
        transport.api_key = Some(ApiKey::new("sk-1"));
        let provider = HttpProvider::new(Http::default(), &transport).unwrap();
        let error = complete(&provider, &[Message::user("hi")], Streaming::On).await.0.unwrap_err();
        assert_eq!(error, ProviderError::Redirect(format!("{}/chat/completions", other.url())));
    }
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn silence_is_a_stall_and_comments_are_life() {
    let quiet = Gate::new();
    let server = Server::start([
        Reply::stream([Step::delta(json!({"content": "a"})), Step::Wait(quiet.clone())]),
        Reply::text("never").gated(&quiet),
    ]);
    let messages = [Message::user("hi")];
    let patience = Duration::from_mins(1);
    let short = provider(&server).with_read_timeout(Duration::from_millis(80));
    for _ in 0..2 {
        let (answer, _) = within(patience, "the stall", complete(&short, &messages, Streaming::On)).await;
        assert_eq!(answer, Err(ProviderError::Stalled(0)));
    }
    // All beats take longer than the silence that is allowed, and each of them an eighth of it.
    let silence = Duration::from_secs(2);
    let beat = || [Step::Bytes(b": ping\n\n".to_vec()), Step::Pause(silence / 8)];
    let steps = (0..10).flat_map(|_| beat()).chain([Step::delta(json!({"content": "late"})), Step::done()]);
    server.reply(Reply::stream(steps));
    let long = provider(&server).with_read_timeout(silence);
    let (answer, _) = within(patience, "the answer", complete(&long, &messages, Streaming::On)).await;
    assert_eq!(answer.unwrap().content, "late");
}

#[tokio::test]
async fn dropping_the_request_closes_the_connection() {
    let stream = |gate: &Gate| Reply::stream([Step::delta(json!({"content": "a"})), Step::Wait(gate.clone())]);
    let silent = |gate: &Gate| Reply::text("never").gated(gate);
    for reply in [stream as fn(&Gate) -> Reply, silent] {
        let gate = Gate::new();
        let server = Server::start([reply(&gate)]);
        let provider = provider(&server);
        let asking = tokio::spawn(async move { complete(&provider, &[Message::user("hi")], Streaming::On).await.0 });
        gate.reached().await;
        asking.abort();
        server.hung_up(1).await;
        assert_eq!(server.chats().len(), 1);
    }
}

#[tokio::test]
async fn a_cancel_in_the_sink_ends_the_request_at_the_next_chunk_even_without_text() {
    let gate = Gate::new();
    let fragment = json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f"}}]});
    let server = Server::start([Reply::stream([Step::delta(fragment), Step::Wait(gate)])]);
    let messages = [Message::user("hi")];
    let request = ChatRequest::new("m", &messages, &[], Streaming::On).unwrap();
    let answer = provider(&server).complete(request, &mut |_| Err(Cancelled)).await;
    assert_eq!(answer, Err(ProviderError::Cancelled(Cancelled)));
    server.hung_up(1).await;
}

#[tokio::test]
async fn the_connection_is_used_again_for_the_next_round() {
    let server = Server::start([Reply::text("one"), Reply::text("two")]);
    let provider = provider(&server);
    for text in ["one", "two"] {
        let (answer, _) = complete(&provider, &[Message::user("hi")], Streaming::On).await;
        assert_eq!(answer.unwrap().content, text);
    }
    assert_eq!(server.connections(), 1);
}

#[test]
fn a_connector_knows_its_providers_by_name() {
    let connector = HttpConnector::default().with_default_model("small");
    assert_eq!(connector.default_model().as_deref(), Some("small"));
    let named = |name: &str| ChatTransport { provider: Some(name.to_owned()), ..ChatTransport::default() };
    assert!(connector.connect(&ChatTransport::default()).is_ok());
    assert!(connector.connect(&named("openai")).is_ok());
    let error = connector.connect(&named("openia")).err().unwrap();
    assert_eq!(
        error.to_string(),
        "there is no provider \"openia\"; known: openai, openai-responses, anthropic, gemini"
    );
    let nowhere = ChatTransport { api_base: Some("localhost:80".to_owned()), ..ChatTransport::default() };
    assert!(matches!(connector.connect(&nowhere), Err(ProviderError::Configuration(_))));
}

#[tokio::test]
async fn the_models_of_a_server_are_listed_in_its_order() {
    let server = Server::start([]);
    server.on("/v1/models", Reply::json(200, json!({"object": "list", "data": [{"id": "b"}, {"id": "a"}]})));
    let keyed = ChatTransport { api_key: Some(ApiKey::new("k")), ..transport(server.origin()) };
    assert_eq!(list_models(&Http::default(), &keyed).await.unwrap(), ["b", "a"]);
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer k"));

    let server = Server::start([]);
    server.on("/v1/models", Reply::json(401, json!({"error": {"message": "who?"}})));
    let error = list_models(&Http::default(), &transport(server.origin())).await.unwrap_err();
    let server_name = format!("{}/v1", server.origin());
    assert_eq!(error.to_string(), format!("the server answered 401: who? ({server_name}, no key was sent)"));
    let key = ApiKey::new("sk-canary-0123456789").with_source("MY_KEY");
    let keyed = ChatTransport { api_key: Some(key), ..transport(server.origin()) };
    let error = list_models(&Http::default(), &keyed).await.unwrap_err().to_string();
    assert_eq!(error, format!("the server answered 401: who? ({server_name}, with the key of MY_KEY)"));
}

/// Runs one test of this file again, in a process with another environment.
fn again(test: &str, environment: &[(&str, &str)]) {
    let program = std::env::current_exe().unwrap();
    let mut child = std::process::Command::new(program);
    let output = child.args(["--exact", test]).envs(environment.iter().copied()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn a_server_on_this_machine_is_reached_without_the_proxy() {
    let proxy = "http://127.0.0.1:9";
    let environment = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"].map(|name| (name, proxy));
    let no_exception = [("NO_PROXY", ""), ("no_proxy", "")];
    again("wire::a_streamed_reply_comes_in_pieces_and_whole", &[&environment[..], &no_exception].concat());
}

#[test]
fn a_machine_without_certificates_still_talks_http() {
    let nothing = [("SSL_CERT_FILE", "/dev/null"), ("SSL_CERT_DIR", "/nonexistent")];
    again("wire::a_streamed_reply_comes_in_pieces_and_whole", &nothing);
}

#[tokio::test]
async fn half_a_count_behind_the_end_takes_nothing_from_a_whole_reply() {
    let half = Step::Bytes(b"data: {\"choices\":[],\"usage\":{\"prompt_tok".to_vec());
    for end in [vec![half.clone()], vec![half, Step::Cut]] {
        let steps = [vec![Step::delta(json!({"content": "ok"})), Step::finish("stop")], end].concat();
        let server = Server::start([Reply::stream(steps)]);
        assert_eq!(ask(&server).await.0.unwrap().content, "ok");
    }
}
