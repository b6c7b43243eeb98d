//! What real servers do that a well-behaved one does not, and what the user must not notice of it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;

use serde_json::{Value, json};
use steersman_base::message::{Arguments, AssistantMessage, Message, ToolCall};
use steersman_core::provider::{ChatRequest, ChatTransport, Streaming};
use steersman_provider::{Http, HttpProvider};

use super::play::{Visit, families};
use crate::support::family::Family;
use crate::support::server::{Reply, Server, Step};

/// A call that the token limit cut is not run, but stays in the conversation. llama-server refuses every request in which
/// its arguments cannot be parsed.
#[test]
fn a_call_that_was_cut_goes_back_with_arguments_that_every_server_parses() {
    for family in families() {
        for cut in ["{\"path", "{}{}", "[1]", "5", "not JSON", "{\"n\":1e999}", "\u{1}\"\u{2028}"] {
            let call = ToolCall { id: "c".into(), name: "read".to_owned(), arguments: Arguments::parse(cut) };
            let result = Message::tool(&call, "Error: not run");
            let reply = AssistantMessage { tool_calls: vec![call], ..AssistantMessage::default() };
            let history = [Message::user("Go."), Message::Assistant(reply), result];
            let sent = sent_arguments(family, &history);
            assert_eq!(sent, json!({"malformed": cut}), "{family:?}");
        }
    }
}

/// Returns the arguments of the only call of a request, parsed where the dialect sends them as text.
fn sent_arguments(family: Family, history: &[Message]) -> Value {
    let provider = Some(family.dialect().to_owned());
    let api_base = Some("http://127.0.0.1:9".to_owned());
    let transport = ChatTransport { provider, api_base, ..ChatTransport::default() };
    let provider = HttpProvider::new(Http::default(), &transport).unwrap();
    let request = ChatRequest::new("m", history, &[], Streaming::On).unwrap();
    let body: Value = serde_json::from_slice(&provider.body(&request).unwrap()).unwrap();
    let text = |value: &Value| serde_json::from_str(value.as_str().unwrap()).unwrap_or_default();
    match family {
        Family::Chat => text(&body["messages"][1]["tool_calls"][0]["function"]["arguments"]),
        Family::Responses => text(&body["input"][1]["arguments"]),
        Family::Anthropic => body["messages"][1]["content"][0]["input"].clone(),
        Family::Gemini => body["contents"][1]["parts"][0]["functionCall"]["args"].clone(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kept_connection_that_gives_no_byte_costs_neither_a_notice_nor_an_attempt() {
    for family in families() {
        // A client that has not put the first connection back yet takes a new one, which counts.
        for round in 0.. {
            let server = Server::start([Reply::text("One."), Reply::hang_up(), Reply::text("Two.")]);
            let mut visit = Visit::new(family, Http::default(), server.origin()).await;
            visit.answers("First.", "One.").await;
            visit.answers("Second.", "Two.").await;
            let chats = server.chats();
            assert_eq!((chats.len(), &chats[1].body), (3, &chats[2].body), "the same request");
            if chats[0].peer == chats[1].peer {
                assert!(visit.waits().is_empty(), "{family:?}");
                break;
            }
            assert!(round < 50, "{family:?}: no connection is ever kept");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_connection_that_gives_no_byte_is_announced_and_counted() {
    let silent = || Reply::hang_up();
    let server = Server::start([Reply::text("One."), silent(), silent(), Reply::text("Two.")]);
    let mut visit = Visit::new(Family::Chat, Http::default(), server.origin()).await;
    visit.answers("First.", "One.").await;
    visit.answers("Second.", "Two.").await;
    assert_eq!((visit.waits().len(), server.chats().len()), (on_new_connections(&server, 1..3), 4));

    let server = Server::start([Reply::text("One."), silent(), silent(), silent(), silent(), silent()]);
    let mut visit = Visit::new(Family::Chat, Http::default(), server.origin()).await;
    visit.answers("First.", "One.").await;
    let said = visit.fails("Second.").await;
    assert!(said.ends_with("(tried 4 times)"), "{said}");
    assert_eq!(on_new_connections(&server, 1..server.chats().len()), 4);
}

/// Returns how many of these requests came on another connection than the first one. Whether the first is used again
/// depends on whether the client had put it back yet.
fn on_new_connections(server: &Server, requests: Range<usize>) -> usize {
    let chats = server.chats();
    chats[requests].iter().filter(|chat| chat.peer != chats[0].peer).count()
}

/// A server that closes a kept connection while a request is on its way there resets it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kept_connection_that_is_reset_costs_no_wait() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            std::thread::spawn(move || answer_and_reset(socket.unwrap()));
        }
    });
    let mut visit = Visit::new(Family::Chat, Http::default(), &origin).await;
    for _ in 0..5 {
        visit.answers("Go on.", "Fine.").await;
    }
    assert_eq!(visit.waits(), Vec::<u64>::new());
}

/// Reads a request and answers it as one that keeps its connection; with the first byte of the next one it closes the
/// connection.
fn answer_and_reset(mut socket: TcpStream) {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    while !is_whole(&request) {
        match socket.read(&mut piece) {
            Ok(read) if read > 0 => request.extend_from_slice(&piece[..read]),
            _ => return,
        }
    }
    let (status, body) = if request.starts_with(b"POST") {
        let delta = json!({"choices": [{"index": 0, "delta": {"content": "Fine."}, "finish_reason": "stop"}]});
        (200, format!("data: {delta}\n\ndata: [DONE]\n\n"))
    } else {
        (404, String::new())
    };
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\nKeep-Alive: timeout=5, max=100\r\nContent-Length: {length}\r\n\r\n");
    let _ = socket.write_all((head + &body).as_bytes());
    let _ = socket.read(&mut piece[..1]);
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
    body.len() >= length.unwrap_or(0)
}

/// A stream of such events.
fn events(events: &[Value]) -> Reply {
    Reply::stream(events.iter().map(Step::data))
}

const WHY: &str = "This request was declined under a policy.";

fn refused_by_anthropic(text: &str) -> Reply {
    let usage = json!({"input_tokens": 9, "output_tokens": 1});
    let details = json!({"type": "refusal", "category": "cyber", "explanation": WHY});
    events(&[
        json!({"type": "message_start", "message": {"model": "m", "content": [], "usage": usage}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": details}, "usage": usage}),
        json!({"type": "message_stop"}),
    ])
}

fn refused_by_gemini(text: &str) -> Reply {
    let content = json!({"role": "model", "parts": [{"text": text}]});
    events(&[json!({"candidates": [{"content": content, "finishReason": "SAFETY", "finishMessage": WHY}]})])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_explanation_of_a_refusal_is_told() {
    type Refused = fn(&str) -> Reply;
    for (family, refused) in
        [(Family::Anthropic, refused_by_anthropic as Refused), (Family::Gemini, refused_by_gemini as Refused)]
    {
        let server = Server::start([refused(""), refused("Half a word")]);
        let mut visit = Visit::new(family, Http::default(), server.origin()).await;
        let nothing = format!(
            "the server reported an error: the content filter of the server let nothing of the reply through: {WHY}"
        );
        assert_eq!(visit.fails("Do it.").await, nothing, "{family:?}");
        visit.answers("Do it.", "Half a word").await;
        let cut = format!("the reply was cut by the content filter of the server: {WHY}");
        assert_eq!(visit.notices(), [cut], "{family:?}");
    }
}

/// The same in one body, and with a category where there are no words.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_in_one_body_has_its_explanation_too() {
    let whole = |details: Value| {
        let body = json!({"type": "message", "content": [], "stop_reason": "refusal", "stop_details": details});
        HttpProvider::whole(steersman_base::dialect::Dialect::Anthropic, &body.to_string()).unwrap().explanation
    };
    assert_eq!(whole(json!({"explanation": WHY, "category": "cyber"})).as_deref(), Some(WHY));
    assert_eq!(whole(json!({"explanation": null, "category": "cyber"})).as_deref(), Some("cyber"));
    for nothing in [json!(null), json!({}), json!({"explanation": ""}), json!("x"), json!([1])] {
        assert_eq!(whole(nothing.clone()), None, "{nothing}");
    }
}

/// Each step of a server's own tools reads the conversation again, and the server adds all of them up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sum_over_the_steps_of_a_servers_own_tools_is_not_taken_for_the_conversation() {
    const WINDOW: u64 = 20_000;
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed"});
    let said = json!({"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "Found."}]});
    let completed = |output: Value, usage: Value| {
        events(&[
            json!({"type": "response.completed", "response": {"status": "completed", "output": output, "usage": usage}}),
        ])
    };
    let chat = |usage: Value| {
        let delta = json!({"choices": [{"delta": {"content": "Found."}, "finish_reason": "stop"}], "usage": usage});
        events(&[delta])
    };
    let message = json!({"type": "message_start", "message": {"model": "m", "content": []}});
    let text = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Found."}});
    let ended = |usage: Value| {
        let stop = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage});
        events(&[message.clone(), text.clone(), stop, json!({"type": "message_stop"})])
    };
    let found = json!({"candidates": [{"content": {"parts": [{"text": "Found."}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 90, "toolUsePromptTokenCount": 60_000, "candidatesTokenCount": 5}});
    let summed = json!({"input_tokens": 60_000, "output_tokens": 5, "total_tokens": 60_005});
    let with = |member: &str, value: Value| {
        let mut usage = summed.clone();
        usage[member] = value;
        usage
    };
    let in_chat = |member: &str, value: Value| {
        let mut usage = json!({"prompt_tokens": 60_000, "completion_tokens": 5, "total_tokens": 60_005});
        usage[member] = value;
        usage
    };
    for (family, reply) in [
        (Family::Responses, completed(json!([search, said]), summed.clone())),
        (Family::Responses, completed(json!([said]), with("num_server_side_tools_used", json!(3)))),
        (Family::Anthropic, ended(with("server_tool_use", json!({"web_search_requests": 3, "web_fetch_requests": 0})))),
        (Family::Chat, chat(in_chat("server_tool_use", json!({"web_search_requests": 3})))),
        (Family::Chat, chat(in_chat("num_server_side_tools_used", json!(3)))),
        (Family::Gemini, events(&[found])),
    ] {
        let server = Server::start([reply]);
        let mut visit = Visit::with_window(family, Http::default(), server.origin(), Some(WINDOW)).await;
        visit.answers("Look it up.", "Found.").await;
        assert_eq!((visit.notices(), server.chats().len()), (Vec::new(), 1), "{family:?}");
    }
    // Without such tools it is what it says.
    let plain = [
        (Family::Chat, chat(in_chat("server_tool_use", json!({"web_search_requests": 0})))),
        (Family::Anthropic, ended(with("server_tool_use", json!(null)))),
    ];
    for (family, reply) in plain {
        let server = Server::start([reply]);
        let mut visit = Visit::with_window(family, Http::default(), server.origin(), Some(WINDOW)).await;
        visit.answers("Look it up.", "Found.").await;
        assert!(visit.notices()[0].ends_with("it has not read all"), "{:?}", visit.notices());
    }
}
