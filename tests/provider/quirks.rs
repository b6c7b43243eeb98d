//! Servers that want requests in another form: learned from their refusal, the conversation unchanged.

use serde_json::{Value, json};
use steersman_base::message::Message;
use steersman_core::provider::{Answering, ChatProvider as _, ChatRequest, Connector, Effort, Streaming};
use steersman_provider::{Http, HttpConnector, HttpProvider};

use super::wire::{Answer, ask, call, calls, complete, provider, transport, waits};
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

fn asked(effort: Effort) -> Answering {
    Answering { effort: Some(effort), temperature: Some(0.2), max_tokens: Some(9) }
}

/// Asks with all that can be refused. Returns the answer and the bodies of the requests.
async fn answer(server: &Server, answering: Answering) -> (Answer, Vec<Value>) {
    let messages = [Message::user("hi")];
    let request = ChatRequest::new("m", &messages, &[], Streaming::On).unwrap().answering(answering);
    let answer = provider(server).complete(request, &mut |_| Ok(())).await;
    (answer, server.chats().into_iter().map(|chat| chat.body).collect())
}

/// Answers with words as long as a body holds a member.
fn refusing(member: &'static str, words: &'static str) -> Server {
    Server::routed(move |request| match request.body.get(member) {
        Some(_) => Reply::json(400, json!({"error": {"message": words}})),
        None => Reply::text("ok"),
    })
}

#[tokio::test]
async fn a_refused_member_is_left_out_and_the_others_stay() {
    for (member, words) in [
        (
            "temperature",
            "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
        ),
        ("temperature", "`temperature` is deprecated for this model."),
        ("temperature", "invalid temperature: only 1 is allowed for this model"),
        ("stream_options", "Unrecognized request argument supplied: stream_options"),
        ("reasoning_effort", "Unrecognized request argument supplied: reasoning_effort"),
        ("reasoning_effort", "Argument not supported on this model: reasoningEffort"),
        ("reasoning_effort", "\"m\" does not support thinking"),
        ("reasoning_effort", "think value \"high\" is not supported for this model"),
        (
            "reasoning_effort",
            "litellm.UnsupportedParamsError: openai does not support parameters: ['reasoning_effort'], for model=m",
        ),
        ("reasoning_effort", "Function tools with reasoning_effort are not supported for m in /v1/chat/completions."),
        ("chat_template_kwargs", "Unrecognized request argument supplied: chat_template_kwargs"),
        ("chat_template_kwargs", "chat_template is not supported for Mistral tokenizers."),
    ] {
        let server = refusing(member, words);
        let (answer, bodies) = answer(&server, asked(Effort::High)).await;
        assert_eq!(answer.unwrap().content, "ok", "{words}");
        assert_eq!(bodies.len(), 2, "{words}");
        for other in ["temperature", "stream_options", "max_tokens"] {
            assert_eq!(bodies[1].get(other).is_some(), other != member, "{other}: {words}");
        }
        assert_eq!(bodies[1].get("reasoning_effort").is_some(), member != "reasoning_effort", "{words}");
    }
}

#[tokio::test]
async fn a_member_is_known_by_the_place_of_the_fault() {
    let fault = json!([{"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted", "input": {}}]);
    for body in [
        json!({"detail": fault}),
        json!({"object": "error", "message": {"detail": fault}, "type": "invalid_request_error"}),
    ] {
        let server = Server::routed(move |request| match request.body.get("stream_options") {
            Some(_) => Reply::json(422, body.clone()),
            None => Reply::text("ok"),
        });
        assert_eq!(ask(&server).await.0.unwrap().content, "ok");
        assert_eq!(server.chats().len(), 2);
    }
    let place = json!({"detail": [{"loc": ["body", "messages", 3, "assistant", "x"], "msg": "Extra inputs are not permitted"}]});
    let server = Server::routed(move |_| Reply::json(422, place.clone()));
    let sentence = ask(&server).await.0.unwrap_err().to_string();
    assert!(sentence.ends_with(": messages.3.assistant.x: Extra inputs are not permitted"), "{sentence}");
}

#[tokio::test]
async fn the_limit_of_tokens_is_renamed_once_and_then_left_out() {
    let words =
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    let (reply, bodies) = answer(&refusing("max_tokens", words), asked(Effort::High)).await;
    assert!(reply.is_ok());
    assert_eq!((bodies.len(), &bodies[1]["max_completion_tokens"]), (2, &json!(9)));

    let neither = Server::routed(|request| {
        let member = ["max_tokens", "max_completion_tokens"].into_iter().find(|name| request.body.get(name).is_some());
        match member {
            Some(name) => Reply::json(422, json!({"detail": format!("Extra inputs are not permitted: {name}")})),
            None => Reply::text("ok"),
        }
    });
    let (reply, bodies) = answer(&neither, asked(Effort::High)).await;
    assert!(reply.is_ok());
    assert_eq!(bodies.len(), 3);
}

#[tokio::test]
async fn a_limit_that_is_only_too_large_is_the_users_matter() {
    let words = "max_tokens is too large: 9. This model supports at most 5 completion tokens.";
    let (reply, bodies) = answer(&refusing("max_tokens", words), asked(Effort::High)).await;
    assert!(reply.unwrap_err().to_string().contains(words));
    assert_eq!(bodies.len(), 1);
}

#[tokio::test]
async fn the_efforts_that_a_refusal_lists_are_used_from_then_on() {
    for (effort, taken, words, expected) in [
        (
            Effort::Off,
            "minimal",
            "Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: 'minimal', 'low', 'medium', and 'high'.",
            "minimal",
        ),
        (
            Effort::Off,
            "low",
            "Unsupported value: 'none' is not supported with the 'm' model. Supported values are: 'low', 'medium', and 'high'.",
            "low",
        ),
        (Effort::Max, "max", "invalid reasoning value: 'high' (must be \"max\", or \"none\")", "max"),
        (Effort::High, "default", "`reasoning_effort` must be one of `none` or `default`", "default"),
        (
            Effort::Off,
            "low",
            "[{'loc': ('body', 'reasoning_effort'), 'msg': \"Input should be 'low', 'medium' or 'high'\", 'input': 'none'}]",
            "low",
        ),
        (
            Effort::Low,
            "medium",
            "Failed to deserialize: reasoning_effort: unknown variant `none`, expected one of `medium`, `high`",
            "medium",
        ),
    ] {
        let server = Server::routed(move |request| match request.body["reasoning_effort"].as_str() {
            Some(word) if word == taken => Reply::text("ok"),
            _ => Reply::json(400, json!({"error": {"message": words}})),
        });
        let (answer, bodies) = answer(&server, asked(effort)).await;
        assert!(answer.is_ok(), "{words}: {answer:?}");
        assert_eq!((bodies.len(), &bodies[1]["reasoning_effort"]), (2, &json!(expected)), "{words}");
        assert!(bodies[1].get("temperature").is_some());
    }
}

#[tokio::test]
async fn short_ids_and_the_developer_are_learned() {
    let strict = Server::routed(|request: &Request| {
        let fits = |message: &Value| message["tool_call_id"].as_str().is_none_or(|id| id.len() == 9);
        if request.messages().iter().all(fits) {
            return Reply::text("ok");
        }
        let words = "Tool call id was c1 but must be a-z, A-Z, 0-9, with a length of 9.";
        Reply::json(500, json!({"message": words}))
    });
    complete(&provider(&strict), &steered(), Streaming::On).await.0.unwrap();
    assert_eq!(strict.chats().len(), 2);

    let words = "Unsupported value: 'messages[0].role' does not support 'system' with this model.";
    let developer = Server::routed(move |request: &Request| {
        if request.roles().iter().any(|role| role == "system") {
            Reply::json(400, json!({"error": {"message": words}}))
        } else {
            Reply::text("ok")
        }
    });
    complete(&provider(&developer), &steered(), Streaming::On).await.0.unwrap();
    assert_eq!(developer.chats()[1].roles()[..3], ["developer", "developer", "user"]);
}

#[tokio::test]
async fn reasoning_that_was_sent_back_and_is_refused_is_left_out() {
    for (status, words) in [
        (400, "property 'reasoning_content' is unsupported"),
        (
            500,
            "Cannot pass both content and thinking in an assistant message with tool calls! Put the analysis in one.",
        ),
    ] {
        let server = Server::routed(move |request: &Request| {
            let back = request.messages().iter().any(|message| message.get("reasoning_content").is_some());
            if back { Reply::json(status, json!({"error": {"message": words}})) } else { Reply::text("ok") }
        });
        let provider = HttpProvider::new(Http::default(), &transport(&server.url()).with_model("gpt-oss")).unwrap();
        let messages = steered();
        let request = ChatRequest::new("gpt-oss", &messages, &[], Streaming::On).unwrap();
        provider.complete(request, &mut |_| Ok(())).await.unwrap();
        assert_eq!(server.chats().len(), 2, "{words}");
    }
}

#[tokio::test]
async fn a_server_that_refuses_everything_is_asked_a_bounded_number_of_times() {
    let words = "unsupported: roles must alternate, missing reasoning_content, reasoning_details, stream_options, \
        temperature, max_tokens, max_completion_tokens, chat_template_kwargs, reasoning_effort, thinking, \
        thought_signature, role does not support 'system', call id length of 9, must be one of low, high";
    let server = Server::routed(move |_| Reply::json(400, json!({"error": {"message": words}})));
    let (reply, bodies) = answer(&server, asked(Effort::High)).await;
    assert!(reply.is_err());
    assert!((5..30).contains(&bodies.len()), "{}", bodies.len());
}
