//! `steersman models`, and what a list of models says in each server's spelling.

use serde_json::{Value, json};
use steersman_provider::{OfferedModel, read_models};

use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Reply, Server};

fn listing(models: &Value) -> Server {
    let server = Server::start([]);
    server.on("/v1/models", Reply::json(200, models.clone()));
    server
}

fn two() -> Value {
    json!({ "object": "list", "data": [
        { "id": "vendor/big", "context_length": 200_000, "pricing": { "prompt": "0.000002", "completion": "0.00001", "input_cache_read": "0.0000002" } },
        { "id": "gpt-5.2" },
    ] })
}

#[test]
fn each_source_is_listed_with_its_figures_and_a_failing_one_is_one_line() {
    let (current, other) = (listing(&two()), listing(&json!({ "data": [{ "id": "qwen3", "max_model_len": 4096 }] })));
    let refusing = Server::start([]);
    refusing.on("/v1/models", Reply::json(401, json!({ "error": { "message": "no key\u{1b}[31m" } })));
    let config = format!(
        "[profile.lab]\nbase_url = '{}'\n[profile.locked]\nbase_url = '{}'\n[profile.broken]\nbase_url = 'nothing'\n",
        other.url(),
        refusing.url()
    );
    let output = Program::new().config(&config).args(["models", "--base-url", &current.url()]).output();
    let text = stdout(&output);
    assert_eq!((exit_code(&output), stderr(&output)), (0, String::new()), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    let host = current.origin().trim_start_matches("http://");
    assert_eq!(lines[0], format!("{host} ({}) · answers now", current.url()));
    assert_eq!(lines[1], "  vendor/big  200 000 tokens  US$ 2 (cached 0.2) in, 10 out per million");
    assert_eq!(lines[2], "  gpt-5.2", "a copy on one's own machine has no price");
    let broken = "broken (): no list: the base URL \"nothing\" is not an address such as http://localhost:8080";
    assert_eq!(lines[3], broken);
    assert_eq!(lines[4], format!("lab ({})", other.url()));
    assert_eq!(lines[5], "  qwen3  4 096 tokens");
    assert!(lines[6].starts_with(&format!("locked ({}): no list: ", refusing.url())), "{}", lines[6]);
    assert!(lines[6].contains("no key") && !text.contains('\u{1b}'));
    assert_eq!(lines[7..], ["demo (inside this program)", "  steersman-embedded  131 072 tokens"], "{text}");
}

#[test]
fn the_lists_as_json_have_a_member_for_everything() {
    let current = listing(&two());
    let config = format!("default_profile = 'mine'\n[profile.mine]\nbase_url = '{}'\nmodel = 'm'", current.url());
    let output = Program::new().config(&config).args(["models", "--json"]).output();
    let lists: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let row =
        |name: &str, window: Value, price: Value| json!({ "name": name, "context_window": window, "price": price });
    let price = json!({ "input": 2.0, "cached": 0.2, "output": 10.0 });
    let models = [row("vendor/big", json!(200_000), price), row("gpt-5.2", Value::Null, Value::Null)];
    let mine = json!({ "source": "mine", "provider": "openai", "server": current.url(), "current": true,
        "models": models, "error": null });
    let embedded = json!({ "source": "demo", "provider": "demo", "server": "inside this program", "current": false,
        "models": [row("steersman-embedded", json!(131_072), Value::Null)], "error": null });
    assert_eq!(lists, json!([mine, embedded]));
}

#[test]
fn the_embedded_model_is_listed_first_when_it_is_the_one_that_answers_and_so_is_what_runs_here() {
    let local =
        listing(&json!({ "object": "list", "data": [{ "id": "qwen3:8b", "object": "model", "owned_by": "vllm" }] }));
    let port = local.origin().rsplit(':').next().unwrap().to_owned();
    let output = Program::new().env("STEERSMAN_LOCAL_PORTS", &port).args(["models"]).output();
    let text = stdout(&output);
    assert_eq!(exit_code(&output), 0);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "demo (inside this program) · answers now");
    assert_eq!(lines[1], "  steersman-embedded  131 072 tokens");
    assert_eq!(lines[2], format!("vllm ({})", local.url()));
    assert_eq!(lines[3], "  qwen3:8b");
    // The server that is found is listed once when it is the one that answers.
    let both = Program::new().env("STEERSMAN_LOCAL_PORTS", &port).args(["models", "--base-url", &local.url()]).output();
    let listed = stdout(&both);
    let sources: Vec<&str> = listed.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(sources.len(), 2, "{sources:?}");
    assert!(sources[0].ends_with("answers now") && sources[1].starts_with("demo "), "{sources:?}");
}

#[test]
fn the_exit_code_is_that_of_the_configured_server() {
    let output = Program::new().args(["models", "--base-url", "http://127.0.0.1:9"]).output();
    assert_eq!(exit_code(&output), 1);
    assert!(stdout(&output).contains("no list"), "{}", stdout(&output));
    assert_eq!(exit_code(&Program::new().config("modle = 'x'").args(["models"]).output()), 2);
}

// D22
#[test]
fn no_list_shows_a_key_or_a_password() {
    let server = listing(&two());
    let address = server.url().replace("http://", "http://user:sk-canary@");
    let output =
        Program::new().env("K", "sk-canary").args(["models", "--api-key-env", "K", "--base-url", &address]).output();
    assert!(!format!("{}{}", stdout(&output), stderr(&output)).contains("canary"), "{}", stdout(&output));
}

#[test]
fn lists_are_read_in_every_spelling() {
    let read = |value: Value| read_models(&value.to_string()).unwrap();
    let offered =
        |name: &str, context_window| OfferedModel { name: name.to_owned(), context_window, ..OfferedModel::default() };
    let llama =
        json!({ "models": [{ "name": "x" }], "data": [{ "id": "m", "meta": { "n_ctx": 4096, "n_ctx_train": 8192 } }] });
    assert_eq!(read(llama), [offered("m", Some(4096))]);
    let gemini = json!({ "models": [
        { "name": "models/gemini-x", "inputTokenLimit": 1000, "supportedGenerationMethods": ["generateContent", "countTokens"] },
        { "name": "models/embedding-001", "supportedGenerationMethods": ["embedContent"] },
    ] });
    assert_eq!(read(gemini), [offered("gemini-x", Some(1000))]);
    assert_eq!(read(json!([{ "id": "a" }, { "id": 3 }, {}])), [offered("a", None)]);
    assert_eq!(read(json!({ "data": [{ "id": "g", "context_window": 131_072 }] })), [offered("g", Some(131_072))]);
    assert_eq!(read(json!({ "data": [{ "id": "s", "max_context_length": 32_000 }] })), [offered("s", Some(32_000))]);
    for wrong in ["<html>", "{}", "3", r#"{"data": 3}"#] {
        assert!(read_models(wrong).is_err(), "{wrong}");
    }
}
