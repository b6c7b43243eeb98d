//! An answer that must match a schema: how each dialect asks for it, and servers that cannot.

use serde_json::{Value, json};
use steersman_base::message::Message;
use steersman_core::provider::{
    AnswerFormat, AnswerStage, ChatProvider as _, ChatRequest, ChatTransport, Streaming, ToolSchema,
};
use steersman_provider::{Http, HttpProvider};

use crate::support::server::{Reply, Request, Server};

fn schema() -> Value {
    json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false})
}

fn tool() -> ToolSchema {
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    ToolSchema { name: "read".to_owned(), description: "Reads.".to_owned(), parameters }
}

fn provider(dialect: &str, base: &str) -> HttpProvider {
    let transport = ChatTransport {
        api_base: Some(base.to_owned()),
        provider: Some(dialect.to_owned()),
        model: Some("m".to_owned()),
        ..ChatTransport::default()
    };
    HttpProvider::new(Http::default(), &transport).unwrap()
}

fn body(dialect: &str, base: &str, schema: &Value, stage: AnswerStage) -> Value {
    let (messages, tools) = ([Message::user("hi")], [tool()]);
    let request = ChatRequest::new("m", &messages, &tools, Streaming::On).unwrap();
    let request = request.format(Some(AnswerFormat { schema, stage }));
    serde_json::from_slice(&provider(dialect, base).body(&request).unwrap()).unwrap()
}

#[test]
fn each_dialect_has_its_own_member_for_the_schema() {
    let schema = schema();
    let named = |kind: &str| json!({"type": kind, "name": "answer", "strict": true, "schema": schema});
    for (dialect, base, place, member) in [
        (
            "openai",
            "https://api.openai.com/v1",
            "/response_format",
            json!({"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": schema}}),
        ),
        ("openai-responses", "https://api.openai.com/v1", "/text/format", named("json_schema")),
        (
            "anthropic",
            "https://api.anthropic.com",
            "/output_config/format",
            json!({"type": "json_schema", "schema": schema}),
        ),
        (
            "gemini",
            "https://generativelanguage.googleapis.com",
            "/generationConfig",
            json!({"responseMimeType": "application/json", "responseJsonSchema": schema}),
        ),
    ] {
        let body = body(dialect, base, &schema, AnswerStage::Open);
        assert_eq!(body.pointer(place), Some(&member), "{dialect}: {body:#}");
        assert!(body["tools"].as_array().is_some_and(|tools| !tools.is_empty()), "{dialect}: {body:#}");
    }
}

#[test]
fn a_schema_that_is_not_closed_is_not_called_strict() {
    let open = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let body = body("openai", "https://api.openai.com/v1", &open, AnswerStage::Open);
    assert_eq!(body["response_format"]["json_schema"]["strict"], false);
}

#[test]
fn a_server_of_ones_own_gets_the_schema_only_where_no_tool_is_wanted() {
    let schema = schema();
    for dialect in ["openai", "openai-responses", "anthropic", "gemini"] {
        let text = |stage| body(dialect, "http://127.0.0.1:9/v1", &schema, stage).to_string();
        let (open, due) = (text(AnswerStage::Open), text(AnswerStage::Due));
        let has_schema = |body: &str| body.contains("additionalProperties");
        assert!(!has_schema(&open) && open.contains("\"read\""), "{dialect}: {open}");
        assert!(has_schema(&due) && !due.contains("\"read\""), "{dialect}: {due}");
    }
}

/// Sends a request that wants the answer, to a server that refuses it while it has a schema.
async fn refused(dialect: &str, words: &'static str) -> Vec<Request> {
    let server = Server::routed(move |request| {
        if request.body.to_string().contains("additionalProperties") {
            Reply::json(400, json!({"error": {"message": words}}))
        } else {
            Reply::json(401, json!({"error": {"message": "taken"}}))
        }
    });
    let (messages, schema) = ([Message::user("hi")], schema());
    let request = ChatRequest::new("m", &messages, &[], Streaming::Off).unwrap();
    let request = request.format(Some(AnswerFormat { schema: &schema, stage: AnswerStage::Due }));
    let error = provider(dialect, &server.url()).complete(request, &mut |_| Ok(())).await.unwrap_err();
    assert!(error.to_string().contains("taken"), "{dialect}: {error}");
    server.requests()
}

#[tokio::test]
async fn a_server_that_refuses_the_schema_is_asked_without_it() {
    for (dialect, words) in [
        ("openai", "This response_format type is unavailable now"),
        ("openai", "Invalid schema for response_format 'answer': 'minimum' is not permitted."),
        ("openai-responses", "Unsupported parameter: 'text.format' is not supported with this model."),
        ("anthropic", "output_config.format.schema: For 'object' type, 'additionalProperties' must be set to false"),
        ("gemini", "Invalid JSON payload received. Unknown name \"responseJsonSchema\" at 'generation_config'"),
    ] {
        assert_eq!(refused(dialect, words).await.len(), 2, "{dialect}: {words}");
    }
}
