//! Servers that want requests in another form: learned from their refusal, the conversation unchanged.

use serde_json::{Value, json};
use steersman::message::Message;
use steersman::provider::{ChatRequest, Connector, Http, HttpConnector, Streaming};

use super::wire::{ask, call, calls, complete, provider, transport, waits};
use crate::support::server::{Reply, Request, Server};

fn steered() -> Vec<Message> {
    vec![
        Message::system("prompt"),
        Message::system("project"),
        Message::user("look"),
        Message::system("memory"),
        calls(vec![call("c1", "{}")]),
        Message::tool(&call("c1", ""), "one"),
        Message::user("focus on x"),
        Message::user("and y"),
        Message::system("recalled"),
    ]
}

const STRICT: &str = "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.";

#[tokio::test]
async fn a_strict_template_gets_alternating_roles_from_then_on() {
    for (status, words) in [(400, STRICT), (500, STRICT), (400, "Unexpected role 'user' after role 'tool'")] {
        let strict = Server::routed(move |request: &Request| {
            let roles = request.roles();
            let user_after = |before: &str| roles.windows(2).any(|pair| pair[0] == before && pair[1] == "user");
            let late_system = roles.iter().skip(1).any(|role| role == "system");
            if user_after("tool") || user_after("user") || late_system {
                return Reply::json(status, json!({"error": {"message": words}}));
            }
            Reply::text("ok")
        });
        let provider = provider(&strict);
        for requests in [2, 3] {
            let (answer, pieces) = complete(&provider, &steered(), Streaming::On).await;
            assert_eq!(answer.unwrap().content, "ok");
            assert_eq!((strict.chats().len(), waits(&pieces).len()), (requests, 0), "learned once, without a wait");
        }
        let adapted = strict.chats().remove(2);
        assert_eq!(adapted.roles(), ["system", "user", "assistant", "tool", "assistant", "user"]);
        assert_eq!(adapted.texts("system"), ["prompt\n\nproject"]);
        assert_eq!(adapted.texts("user"), ["look\n\nmemory", "focus on x\n\nand y\n\nrecalled"]);
        assert_eq!(adapted.texts("assistant"), ["", "(noted)"]);
    }
}

#[tokio::test]
async fn an_easy_template_gets_the_conversation_as_it_is() {
    let server = Server::start([Reply::text("ok")]);
    complete(&provider(&server), &steered(), Streaming::On).await.0.unwrap();
    let roles = ["system", "system", "user", "system", "assistant", "tool", "user", "user", "system"];
    assert_eq!(server.chats()[0].roles(), roles);
}

#[tokio::test]
async fn a_template_that_stays_strict_is_an_error_after_one_adaptation() {
    let server = Server::routed(|_| Reply::json(400, json!({"error": {"message": STRICT}})));
    let error = ask(&server).await.0.unwrap_err();
    assert_eq!(error.to_string(), format!("the server answered 400: {STRICT}"));
    assert_eq!(server.chats().len(), 2);
}

#[tokio::test]
async fn reasoning_is_sent_back_only_where_it_is_demanded() {
    let has_reasoning =
        |request: &Request| request.messages().iter().any(|message| message.get("reasoning_content").is_some());
    let server = Server::routed(move |request| {
        let missing = "Missing `reasoning_content` field in the assistant message at message index 2";
        if has_reasoning(request) {
            Reply::text("ok")
        } else {
            Reply::json(400, json!({"error": {"message": missing}}))
        }
    });
    complete(&provider(&server), &steered(), Streaming::On).await.0.unwrap();
    let sent: Vec<Value> = server
        .chats()
        .iter()
        .map(|chat| chat.messages().into_iter().find(|m| m["role"] == "assistant").unwrap())
        .collect();
    assert_eq!((sent[0].get("reasoning_content"), &sent[1]["reasoning_content"]), (None, &json!("why")));
}

#[tokio::test]
async fn a_server_that_knows_no_stream_options_is_asked_without() {
    let server = Server::routed(|request| match request.body.get("stream_options") {
        Some(_) => Reply::json(422, json!({"detail": [{"msg": "Extra inputs are not permitted: stream_options"}]})),
        None => Reply::text("ok"),
    });
    assert_eq!(ask(&server).await.0.unwrap().content, "ok");
    assert_eq!(server.chats().len(), 2);
}

#[tokio::test]
async fn what_was_learned_is_shared_by_all_providers_of_a_connector() {
    let server = Server::routed(|request| match request.body.get("stream_options") {
        Some(_) => Reply::json(400, json!({"error": "unknown field stream_options"})),
        None => Reply::text("ok"),
    });
    let connector = HttpConnector::new(Http::default());
    for requests in [2, 3] {
        let provider = connector.connect(&transport(&server.url())).unwrap();
        let messages = [Message::user("hi")];
        let request = ChatRequest::new("m", &messages, &[], Streaming::On).unwrap();
        provider.complete(request, &mut |_| Ok(())).await.unwrap();
        assert_eq!(server.chats().len(), requests);
    }
}
