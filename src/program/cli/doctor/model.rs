//! The checks of a model server: its list, a streamed reply, a tool call. The embedded model gets the same checks.

use std::time::Instant;

use serde_json::json;
use tokio::time::timeout;

use super::Report;
use crate::program::cli::setup::transport_of;
use crate::program::config::Server;
use crate::program::demo::{self, Pace};
use steersman_base::limits;
use steersman_base::message::Message;
use steersman_base::summary;
use steersman_core::provider::{
    ApiKey, ChatRequest, ChatTransport, Connector as _, Piece, ProviderError, Reply, Streaming, ToolSchema,
};
use steersman_provider::{Http, HttpConnector, list_models};

pub(super) async fn check_server(http: &Http, server: &Server, key: Option<ApiKey>, report: &mut Report) {
    let transport = transport_of(server, key);
    let listed = list_models(http, &transport).await;
    let transport = match (listed, &transport.model) {
        (Ok(models), Some(model)) => {
            let count = models.len();
            if models.contains(model) || models.is_empty() {
                report.ok("models", &format!("the server lists {count}, {model} among them"));
            } else {
                report
                    .note("models", &format!("the server lists {count}, but not {model}: steersman models shows them"));
            }
            transport
        }
        (Ok(models), None) => {
            let Some(first) = models.first() else {
                return report.problem(
                    "models",
                    "the server lists none",
                    "load a model there, or name one with --model",
                );
            };
            report.ok("models", &format!("the server lists {}; {first} is taken", models.len()));
            transport.with_model(first)
        }
        (Err(error), Some(_)) => {
            // Not every server has a list; the next check shows whether the model answers.
            report.note("models", &format!("there is no list: {error}"));
            transport
        }
        (Err(error), None) => {
            return report.problem("models", &format!("there is no list: {error}"), todo(&error));
        }
    };
    check_replies(http, &transport, report).await;
}

pub(super) async fn check_embedded(report: &mut Report) {
    let server = match demo::start(Pace::words_per_second(0)).await {
        Ok(server) => server,
        Err(error) => {
            let todo = "it needs a loopback port: check the limits of this user";
            return report.problem("model", &format!("the embedded one does not start: {error}"), todo);
        }
    };
    let transport = ChatTransport {
        model: Some(demo::MODEL.to_owned()),
        provider: Some(demo::SOURCE.to_owned()),
        api_base: Some(server.base_url()),
        api_key: Some(server.api_key()),
        ..ChatTransport::default()
    };
    check_replies(&Http::default(), &transport, report).await;
}

async fn check_replies(http: &Http, transport: &ChatTransport, report: &mut Report) {
    let began = Instant::now();
    let mut first = None;
    let mut pieces = 0_usize;
    let greeting = [Message::system("You answer in one word."), Message::user("Say the word ready.")];
    let mut sink = |piece: Piece| {
        if let Piece::Chunk { thinking, text } = &piece
            && !(thinking.is_empty() && text.is_empty())
        {
            pieces += 1;
            first.get_or_insert_with(|| began.elapsed().as_millis());
        }
        Ok(())
    };
    match ask(http, transport, &greeting, &[], &mut sink).await {
        Ok(reply) if reply.content.trim().is_empty() && reply.thinking.is_empty() => {
            report.problem("reply", "it came, but is empty", "try another model, or a larger max_tokens");
            return report.skipped("tool call", "there is no reply");
        }
        Ok(_) => {
            let first = first.map(|ms| format!(", the first after {ms} ms")).unwrap_or_default();
            report.ok("reply", &format!("streamed in {}{first}", summary::count(pieces, "piece")));
        }
        Err(error) => {
            report.problem("reply", &error.to_string(), todo(&error));
            return report.skipped("tool call", "there is no reply");
        }
    }
    let tools = [calculator()];
    let request = [
        Message::system("You compute with the tool calculator, always."),
        Message::user("What is 17 * 23? Call the tool calculator with the expression 17 * 23."),
    ];
    match ask(http, transport, &request, &tools, &mut |_| Ok(())).await {
        Ok(reply) => match reply.tool_calls.first() {
            Some(call) if call.name == "calculator" => {
                report.ok("tool call", "the model called the tool it was offered");
            }
            Some(call) => {
                let message = format!("the model called {:?}, which it was not offered", call.name);
                report.problem("tool call", &message, "use a model that is made for tools");
            }
            None => {
                let message = "the model answered without calling the tool; most that are made for tools call it (llama.cpp wants --jinja)";
                report.note("tool call", message);
            }
        },
        Err(error) => report.problem("tool call", &error.to_string(), todo(&error)),
    }
}

fn calculator() -> ToolSchema {
    let expression = json!({ "type": "string", "description": "The expression." });
    ToolSchema {
        name: "calculator".to_owned(),
        description: "Computes an arithmetic expression.".to_owned(),
        parameters: json!({ "type": "object", "properties": { "expression": expression }, "required": ["expression"] }),
    }
}

async fn ask<'a>(
    http: &Http,
    transport: &'a ChatTransport,
    messages: &'a [Message],
    tools: &'a [ToolSchema],
    sink: &'a mut (dyn FnMut(Piece) -> Result<(), steersman_base::error::Cancelled> + Send),
) -> Result<Reply, ProviderError> {
    let provider = HttpConnector::new(http.clone()).connect(transport)?;
    let request = ChatRequest::new(transport.model_name(), messages, tools, Streaming::On)?;
    let mut sink = |piece: Piece| sink(piece);
    let asked = provider.complete(request.answering(transport.answering), &mut sink);
    timeout(limits::DOCTOR_REPLY, asked).await.unwrap_or(Err(ProviderError::Stalled(limits::DOCTOR_REPLY.as_secs())))
}

/// Returns advice for an error of the server.
fn todo(error: &ProviderError) -> &'static str {
    match error {
        ProviderError::Status { status: 401 | 403, .. } => {
            "check the key: the server refuses it, or it may not do this"
        }
        ProviderError::Status { status: 404, .. } => "check the model's name and the path of base_url",
        ProviderError::Status { status: 402, .. } | ProviderError::Spent(_) => "add credit at the service",
        ProviderError::Status { status: 429, .. } | ProviderError::AsksToWait { .. } => {
            "wait, or raise the limit there"
        }
        ProviderError::Status { status: 500.., .. } => "look into the log of the server, or try again later",
        ProviderError::Status { .. } => "check model, provider and what the server says",
        ProviderError::Unreachable { .. } | ProviderError::CutOff => "check that the server runs and stays up",
        ProviderError::Stalled(_) => "wait until the model is loaded, or use a faster one",
        ProviderError::Malformed(_) => "check that base_url is a model server, and that --provider fits it",
        ProviderError::Redirect(_) => "write the address that it redirects to into base_url",
        ProviderError::Configuration(_) => "correct the configuration",
        ProviderError::Overflow { .. }
        | ProviderError::Server(_)
        | ProviderError::InvalidHistory(_)
        | ProviderError::Cancelled(_) => "look into the log of the server",
    }
}
