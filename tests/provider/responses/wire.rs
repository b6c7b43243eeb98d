//! Responses over HTTP: the whole way there and back.

use serde_json::{Value, json};
use steersman_base::message::Message;
use steersman_core::provider::{Answering, ChatProvider, ChatRequest, Effort, Streaming};
use steersman_provider::{Http, HttpProvider};

use super::{done, end, function_call, message, reasoning, text_delta, transport};
use crate::support::items;
use crate::support::server::{Reply, Server, Step};
use crate::wire::{complete, texts, waits};

fn stream(events: &[Value]) -> Reply {
    Reply::stream(events.iter().map(|event| {
        let kind = event["type"].as_str().unwrap();
        Step::Bytes(format!("event: {kind}\ndata: {event}\n\n").into_bytes())
    }))
}

fn provider(server: &Server) -> HttpProvider {
    HttpProvider::new(Http::default(), &transport(&server.url())).unwrap()
}

fn check(server: &Server) {
    for chat in server.chats() {
        assert_eq!(chat.path, "/v1/responses");
        assert_eq!(items::violation(&chat.body), None);
    }
}

#[tokio::test]
async fn a_thought_comes_back_with_the_results_of_its_calls() {
    let thought = reasoning("rs_1", "hm");
    let first = [done(0, &thought), done(1, &function_call("fc_1", "call_a", "read", "{}")), end()];
    let second = [text_delta(0, "msg_1", "Done."), done(0, &message("msg_1", "Done.")), end()];
    let server = Server::start([stream(&first), stream(&second)]);
    let provider = provider(&server);
    let (answer, _) = complete(&provider, &[Message::user("go")], Streaming::On).await;
    let reply = answer.unwrap();
    let original = reply.original.clone().unwrap();
    assert_eq!((original.server, original.model.as_str()), (server.url(), "m"));
    let result = Message::tool(&reply.tool_calls[0], "text");
    let asked = steersman_base::message::AssistantMessage {
        tool_calls: reply.tool_calls.clone(),
        original: reply.original,
        ..Default::default()
    };
    let history = [Message::user("go"), Message::Assistant(asked), result, Message::user("and b")];
    let (answer, pieces) = complete(&provider, &history, Streaming::On).await;
    assert_eq!((answer.unwrap().content.as_str(), texts(&pieces)), ("Done.", vec!["Done."]));
    let sent = &server.chats()[1].body["input"];
    assert_eq!(sent[1], thought);
    let kinds: Vec<_> = sent.as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "reasoning", "function_call", "function_call_output", "message"]);
    check(&server);
}

#[tokio::test]
async fn a_reply_that_does_not_stream_is_one_body() {
    let body = json!({"status": "completed", "output": [message("msg_1", "ok")], "usage": {"input_tokens": 3}});
    let server = Server::start([Reply::json(200, body)]);
    let (answer, pieces) = complete(&provider(&server), &[Message::user("hi")], Streaming::Off).await;
    assert_eq!((answer.unwrap().content.as_str(), pieces.len()), ("ok", 0));
    assert_eq!(server.chats()[0].body.get("stream"), None);
    check(&server);
}

#[tokio::test]
async fn a_failure_before_the_first_word_is_tried_again_after_the_wait_that_it_names() {
    let busy = json!({"type": "response.failed", "response": {"error": {"code": "rate_limit_exceeded", "message": "Please try again in 2ms."}}});
    let server = Server::start([stream(&[busy]), stream(&[text_delta(0, "m", "ok"), end()])]);
    let (answer, pieces) = complete(&provider(&server), &[Message::user("hi")], Streaming::On).await;
    assert_eq!(answer.unwrap().content, "ok");
    assert_eq!(waits(&pieces), [(2, 2)]);
    check(&server);
}

#[tokio::test]
async fn what_a_model_refuses_is_left_out_from_then_on() {
    let refusal =
        |message: &str| Reply::json(400, json!({"error": {"message": message, "type": "invalid_request_error"}}));
    let ok = || stream(&[text_delta(0, "m", "ok"), end()]);
    let server = Server::start([
        refusal("Encrypted content is not supported with this model."),
        refusal("Your organization must be verified to generate reasoning summaries. Please go to: https://x"),
        refusal("Unsupported parameter: 'temperature' is not supported with this model."),
        refusal(
            "Unsupported value: 'none' is not supported with this model. Supported values are: 'low', 'medium' and 'high'.",
        ),
        ok(),
        ok(),
        refusal("Unsupported parameter: 'reasoning.effort' is not supported with this model."),
        ok(),
    ]);
    let provider = provider(&server);
    let messages = [Message::user("hi")];
    let answering = Answering { effort: Some(Effort::Off), temperature: Some(0.1), max_tokens: None };
    let ask = async |effort: Effort| {
        let answering = Answering { effort: Some(effort), ..answering };
        let request = ChatRequest::new("m", &messages, &[], Streaming::On).unwrap().answering(answering);
        provider.complete(request, &mut |_| Ok(())).await.unwrap()
    };
    for effort in [Effort::Off, Effort::High, Effort::High] {
        assert_eq!(ask(effort).await.content, "ok");
    }
    let said = |at: usize| {
        let body = server.chats()[at].body.clone();
        (body["include"].clone(), body["reasoning"].clone(), body["temperature"].clone())
    };
    let (nothing, include) = (Value::Null, json!(["reasoning.encrypted_content"]));
    assert_eq!(said(0), (include, json!({"effort": "none"}), json!(0.1)));
    assert_eq!(said(1), (nothing.clone(), json!({"effort": "none"}), json!(0.1)));
    assert_eq!(said(4), (nothing.clone(), json!({"effort": "low"}), nothing.clone()));
    assert_eq!(said(5), (nothing.clone(), json!({"effort": "high"}), nothing.clone()));
    assert_eq!(said(7), (nothing.clone(), nothing.clone(), nothing));
    check(&server);
}
