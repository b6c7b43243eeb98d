//! The dialect on the real wire: address, headers, failures in mid-stream, a turn of an agent, the list of models.

use std::sync::Arc;

use serde_json::{Value, json};
use steersman_agent::Agent;
use steersman_base::message::Message;
use steersman_core::control::Interloper;
use steersman_core::provider::{
    Answering, ApiKey, ChatProvider, ChatRequest, ChatTransport, Effort, ProviderError, Streaming,
};
use steersman_core::tool::{FnTool, Parameters};
use steersman_provider::{Http, HttpConnector, HttpProvider, list_models};

use super::transport;
use crate::support::messages::{call, delta, end, event, start, text, thinking};
use crate::support::server::{Reply, Server, Step};
use crate::wire::{complete, texts, waits};

fn stream(list: impl IntoIterator<Item = Value>) -> Reply {
    Reply::stream(list.into_iter().map(event))
}

fn whole(blocks: Vec<Value>, reason: &str) -> Reply {
    stream(std::iter::once(start()).chain(blocks).chain(end(reason)))
}

fn on(server: &Server) -> ChatTransport {
    let key = Some(ApiKey::new("sk-ant-secret"));
    ChatTransport { api_key: key, ..transport(Some(&server.url())) }.with_model("m")
}

fn provider(server: &Server) -> HttpProvider {
    HttpProvider::new(Http::default(), &on(server)).unwrap()
}

#[tokio::test]
async fn a_request_goes_to_the_right_place_with_the_right_headers() {
    let server = Server::start([whole(text(0, "Ahoy there"), "end_turn")]);
    let (answer, pieces) = complete(&provider(&server), &[Message::user("hi")], Streaming::On).await;
    assert_eq!(answer.unwrap().content, "Ahoy there");
    assert_eq!(texts(&pieces), ["Ahoy ", "there"]);
    let request = &server.chats()[0];
    assert_eq!(request.path, "/v1/messages");
    assert_eq!(request.header("x-api-key"), Some("sk-ant-secret"));
    assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(request.header("authorization"), None);
}

#[tokio::test]
async fn a_reply_in_one_body_is_read_too() {
    let body = json!({"type": "message", "content": [{"type": "text", "text": "Ahoy"}], "stop_reason": "end_turn"});
    let server = Server::start([Reply::json(200, body)]);
    let (answer, _) = complete(&provider(&server), &[Message::user("hi")], Streaming::Off).await;
    assert_eq!(answer.unwrap().content, "Ahoy");
    assert!(!server.chats()[0].streams());
}

fn overloaded() -> Value {
    json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
}

#[tokio::test]
async fn an_overloaded_server_is_asked_again_while_nothing_was_shown() {
    let server = Server::start([stream([start(), overloaded()]), whole(text(0, "Here"), "end_turn")]);
    let (answer, pieces) = complete(&provider(&server), &[Message::user("hi")], Streaming::On).await;
    assert_eq!(answer.unwrap().content, "Here");
    assert_eq!(waits(&pieces).len(), 1);
    let shown = delta(0, json!({"type": "text_delta", "text": "Half"}));
    let server = Server::start([stream([start(), shown, overloaded()])]);
    let (answer, _) = complete(&provider(&server), &[Message::user("hi")], Streaming::On).await;
    assert!(matches!(answer, Err(ProviderError::Status { status: 529, .. })), "{answer:?}");
    assert_eq!(server.chats().len(), 1);
}

#[tokio::test]
async fn a_refusal_says_what_the_server_says() {
    let refusal = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "max_tokens: too many"},
        "request_id": "req_1"});
    let server = Server::start([Reply::json(400, refusal)]);
    let (answer, _) = complete(&provider(&server), &[Message::user("hi")], Streaming::On).await;
    assert_eq!(answer.unwrap_err().to_string(), "the server answered 400: max_tokens: too many");
}

#[tokio::test]
async fn what_a_model_refuses_of_how_to_answer_is_not_said_again() {
    let refusal = |words: &str| {
        Reply::json(400, json!({"type": "error", "error": {"type": "invalid_request_error", "message": words}}))
    };
    let whole = || whole(text(0, "Ahoy"), "end_turn");
    let server = Server::start([
        refusal("`temperature` is deprecated for this model."),
        whole(),
        refusal("output_config.effort: Input should be 'low' or 'medium'"),
        whole(),
        refusal("adaptive thinking is not supported on this model"),
        whole(),
    ]);
    let provider = provider(&server);
    let ask = async |model: &str, answering: Answering| {
        let messages = [Message::user("hi")];
        let request = ChatRequest::new(model, &messages, &[], Streaming::On).unwrap().answering(answering);
        assert_eq!(provider.complete(request, &mut |_| Ok(())).await.unwrap().content, "Ahoy");
    };
    let temperature = Answering { temperature: Some(0.5), ..Answering::default() };
    // A server on this machine is known to have no word above `high`.
    let most = Answering { effort: Some(Effort::Max), ..Answering::default() };
    ask("claude-a", temperature).await;
    ask("claude-b", most).await;
    ask("claude-c", most).await;
    let said: Vec<Value> = server
        .chats()
        .into_iter()
        .map(|chat| {
            json!([chat.body["temperature"], chat.body["thinking"]["type"], chat.body["output_config"]["effort"]])
        })
        .collect();
    assert_eq!(
        said,
        [
            json!([0.5, null, null]),
            json!([null, null, null]),
            json!([null, "adaptive", "high"]),
            json!([null, "adaptive", "medium"]),
            json!([null, "adaptive", "high"]),
            json!([null, null, null]),
        ]
    );
}

#[tokio::test]
async fn a_cut_stream_is_cut_off() {
    let shown = delta(0, json!({"type": "text_delta", "text": "Half"}));
    let server = Server::start([Reply::stream([event(start()), event(shown), Step::Cut])]);
    let (answer, _) = complete(&provider(&server), &[Message::user("hi")], Streaming::On).await;
    assert_eq!(answer, Err(ProviderError::CutOff));
}

#[tokio::test]
async fn a_turn_with_thinking_calls_and_an_injected_message_is_one_that_the_server_takes() {
    let mut first = thinking(0, "I should look.", ("Ep", "8C"));
    first.extend(call(1, "toolu_1", "weather", r#"{"place": "Oslo"}"#));
    first.extend(call(2, "toolu_2", "weather", r#"{"place": "Bergen"}"#));
    let server = Server::start([whole(first, "tool_use"), whole(text(0, "Cold."), "end_turn")]);
    let interloper = Arc::new(Interloper::new());
    let typing = Arc::clone(&interloper);
    let place = Parameters::build(|p| {
        p.required_string("place", "The place.");
    });
    let weather = FnTool::new("weather", "Tells the weather.", place, move |_, _| {
        let typing = Arc::clone(&typing);
        async move {
            let _ = typing.inject_user_message("And Tromsø?");
            Ok("4 °C".to_owned())
        }
    });
    let mut agent = Agent::builder(on(&server), "You are helpful.", Arc::new(HttpConnector::default()))
        .interloper(interloper)
        .build(|configurator| configurator.add_tool(Arc::new(weather)))
        .await
        .unwrap();
    agent.run_loop("How is it?").await.unwrap();
    assert_eq!(agent.last_assistant_content(), Some("Cold."));
    let second = server.chats()[1].body["messages"].clone();
    assert_eq!(second[1]["content"][0], json!({"type": "thinking", "thinking": "I should look.", "signature": "Ep8C"}));
    let kinds: Vec<&Value> = second[2]["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds[..3], ["tool_result", "tool_result", "text"]);
    assert_eq!(second[2]["content"][2]["text"], "And Tromsø?");
}

#[tokio::test]
async fn all_pages_of_the_models_are_listed() {
    let server = Server::start([]);
    let page = |ids: &[&str], more: bool| {
        let data: Vec<Value> =
            ids.iter().map(|id| json!({"type": "model", "id": id, "display_name": "A model"})).collect();
        Reply::json(200, json!({"data": data, "has_more": more, "first_id": ids[0], "last_id": ids[ids.len() - 1]}))
    };
    server.on("/v1/models?limit=1000", page(&["claude-a", "claude/b c"], true));
    server.on("/v1/models?limit=1000&after_id=claude%2Fb+c", page(&["claude-d"], false));
    assert_eq!(list_models(&Http::default(), &on(&server)).await.unwrap(), ["claude-a", "claude/b c", "claude-d"]);
    let asked = server.requests();
    assert_eq!((asked.len(), asked[0].header("x-api-key")), (2, Some("sk-ant-secret")));
}

#[tokio::test]
async fn a_list_of_models_that_never_ends_is_ended() {
    let server = Server::start([]);
    server.on("/v1/models", Reply::json(200, json!({"data": [{"id": "a"}], "has_more": true, "last_id": "a"})));
    let listed = list_models(&Http::default(), &on(&server)).await.unwrap();
    assert_eq!(listed, ["a"]);
}
