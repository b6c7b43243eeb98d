//! The first start and the choice of a model on the real program: what answers on this machine is one key away.

use serde_json::json;

use crate::support::server::{Reply, Server};
use crate::support::terminal::Start;

const F6: &str = "\u{1b}[17~";

/// A model server with two models that answers like vLLM.
fn local() -> Server {
    let server = Server::start([]);
    let model = |name: &str| json!({ "id": name, "object": "model", "owned_by": "vllm" });
    server.on("/v1/models", Reply::json(200, json!({ "object": "list", "data": [model("near-1"), model("near-2")] })));
    server
}

fn port(server: &Server) -> String {
    server.origin().rsplit(':').next().unwrap().to_owned()
}

#[test]
fn what_answers_here_is_offered_and_one_key_takes_it() {
    let server = local();
    let mut terminal = Start::new([""; 0]).env("STEERSMAN_LOCAL_PORTS", &port(&server)).run();
    terminal.wait_for("vLLM answers on 127.0.0.1:");
    terminal.send(F6);
    terminal.wait_for("steersman-embedded -> near-1 (openai)");
    server.reply_text("From near by.");
    terminal.send("who are you?\r");
    terminal.wait_for("From near by.");
    assert_eq!(server.chats()[0].body["model"], "near-1");
    // The other models of that server, and the way back, are in the list now.
    terminal.send(F6);
    terminal.wait_until("the list", |screen| screen.contains("near-2") && screen.contains("demo/steersman-embedded"));
    terminal.send("near-2\r");
    terminal.wait_for("model: near-1 -> near-2");
    server.reply_text("From the other one.");
    terminal.send("and you?\r");
    terminal.wait_for("From the other one.");
    let last = server.chats().last().unwrap().clone();
    assert_eq!(last.body["model"], "near-2");
    assert_eq!(last.texts("user"), ["who are you?", "and you?"]);
}

#[test]
fn typing_instead_is_answered_by_the_embedded_model() {
    let server = local();
    let mut terminal = Start::new([""; 0]).env("STEERSMAN_LOCAL_PORTS", &port(&server)).run();
    terminal.wait_for("F6 uses");
    terminal.send("What is 6*7?\r");
    terminal.wait_until("the offer to be gone", |screen| !screen.contains("F6 uses near-1 of vLLM"));
    terminal.wait_for("42");
    assert!(server.chats().is_empty());
}

#[test]
fn the_embedded_model_can_be_chosen_where_a_server_is_configured() {
    let server = Server::start([]);
    server.on("/v1/models", Reply::json(200, json!({ "data": [{ "id": "scripted" }] })));
    let mut terminal = Start::against(&server).run();
    terminal.wait_for("Type a message");
    terminal.send(F6);
    terminal.wait_for("demo/steersman-embedded");
    terminal.send("demo/steersman-embedded\r");
    terminal.wait_for("model: scripted -> steersman-embedded (demo)");
    terminal.send("What is 6*7?\r");
    terminal.wait_for("42");
    assert!(server.chats().is_empty(), "nothing of it goes to the server");
}
