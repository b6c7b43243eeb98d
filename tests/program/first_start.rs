//! The first start: what is found on this machine, how it is offered, and what is not offered.

use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use steersman::program::cli::first_start::{FoundServer, look, look_for};
use steersman::program::cli::key_offer::offer_service;
use steersman::program::cli::places::UserDirectories;
use steersman::program::cli::project::FrontEnd;
use steersman::program::config::{Config, Environment, Layer, ModelSource as ConfiguredModel, parse};
use steersman_base::event::Event;
use steersman_base::protocol::LocalServer;
use steersman_base::protocol::{Notice, Request};
use steersman_core::approval::{Answer, Answerer, ApprovalSubject, Approvals, Mode, Policy};
use steersman_provider::Http;
use steersman_tui::msg::{Effect, Msg};
use steersman_tui::status::ModelSource;

use crate::support::doubles::within;
use crate::support::program::{Program, exit_code, stderr, stdout};
use crate::support::server::{Reply, Server};
use crate::support::stage::Stage;

fn port(server: &Server) -> u16 {
    server.origin().rsplit(':').next().unwrap().parse().unwrap()
}

fn serving(paths: &[(&str, Value)]) -> Server {
    let server = Server::start([]);
    for (path, body) in paths {
        server.on(path, Reply::json(200, body.clone()));
    }
    server
}

fn list(owner: &str, names: &[&str]) -> Value {
    let model = |name: &&str| json!({ "id": name, "object": "model", "owned_by": owner });
    json!({ "object": "list", "data": names.iter().map(model).collect::<Vec<Value>>() })
}

async fn found(server: &Server) -> Option<FoundServer> {
    look_for(&Http::default(), &[port(server)], Duration::from_secs(5)).await.into_iter().next()
}

/// What a server answers by path, what it is, and the model that is offered.
type Case<'a> = (&'a [(&'a str, Value)], &'a str, &'a str);

#[tokio::test]
async fn each_kind_of_server_is_told_from_the_others() {
    let ollama = [
        ("/v1/models", list("library", &["nomic-embed-text", "qwen3:8b"])),
        ("/api/version", json!({"version": "0.9"})),
    ];
    let old = json!({ "object": "list", "data": [{ "id": "model.gguf", "object": "model" }] });
    let props = json!({ "default_generation_settings": { "n_ctx": 4096 } });
    let cases: [Case<'_>; 6] = [
        (&ollama, "Ollama", "qwen3:8b"),
        (&[("/v1/models", list("llamacpp", &["m.gguf"]))], "llama.cpp", "m.gguf"),
        (&[("/v1/models", old), ("/props", props)], "llama.cpp", "model.gguf"),
        (&[("/v1/models", list("organization_owner", &["text-embedding-x", "lm"]))], "LM Studio", "lm"),
        (&[("/v1/models", list("vllm", &["v"]))], "vLLM", "v"),
        (&[("/v1/models", list("somebody", &["s"]))], "a model server", "s"),
    ];
    for (paths, what, model) in cases {
        let server = serving(paths);
        let found = found(&server).await.unwrap_or_else(|| panic!("{what} is not found"));
        assert_eq!((found.what, found.models[0].as_str()), (what, model));
        assert_eq!(found.base_url, server.url());
    }
}

#[tokio::test]
async fn what_is_no_model_server_or_has_no_model_is_not_offered() {
    let html = Server::start([]);
    html.on("/", Reply::body(200, "<!doctype html><title>My app</title>").header("content-type", "text/html"));
    let json_of_another_kind = serving(&[("/", json!({ "data": [{ "id": "invoice-7" }], "version": 3 }))]);
    let moved = Server::start([]);
    moved.on("/", Reply::body(302, "").header("location", "http://127.0.0.1:1/v1/models"));
    let locked = Server::start([]);
    locked.on("/", Reply::json(401, json!({ "error": "key" })));
    let only_embeddings = serving(&[("/v1/models", list("llamacpp", &["bge-embed"]))]);
    let empty = serving(&[("/v1/models", list("library", &[])), ("/api/version", json!({"version": "0.9"}))]);
    for (server, what) in [
        (&html, "a web page"),
        (&moved, "a redirect"),
        (&locked, "a refusal"),
        (&only_embeddings, "embeddings"),
        (&empty, "no model"),
    ] {
        assert_eq!(found(server).await, None, "{what}");
    }
    // It answers every path, also the one that tells Ollama: then the name of a thing could be a model's.
    let taken = found(&json_of_another_kind).await;
    assert!(taken.is_none_or(|found| found.what == "Ollama"), "only its own words make it one");
}

#[tokio::test]
async fn looking_ends_in_time_whatever_listens() {
    let http = Http::default();
    assert_eq!(look(&http, &[]).await, []);
    // Takes connections and never says a word.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let mute = silent.local_addr().unwrap().port();
    let good = serving(&[("/v1/models", list("vllm", &["v"]))]);
    // Time enough for the one that answers, on a machine that is busy with other tests; and it is not the silent one's own.
    let found = look_for(&http, &[mute, port(&good), 1], Duration::from_secs(3)).await;
    assert_eq!(found.len(), 1, "the silent one must not hide the other");
    let ended = within(Duration::from_mins(1), "the end of the look", look(&http, &[mute])).await;
    assert_eq!(ended, []);
}

#[test]
fn exec_without_a_configured_model_is_refused_and_says_what_answers_here() {
    let server = serving(&[("/v1/models", list("llamacpp", &["m"]))]);
    let ports = port(&server).to_string();
    let refusal = "steersman: no model is configured: add --model NAME, --base-url URL or --profile NAME, or \
                    --provider demo for the embedded model";
    let offer = format!("; llama.cpp answers here with m: --base-url http://127.0.0.1:{ports}/v1 uses it");
    let key = "; OPENAI_API_KEY is set: --provider openai --model NAME uses openai";
    for (ports, offer) in [(ports.as_str(), offer.as_str()), ("none", "")] {
        let program = Program::new().env("STEERSMAN_LOCAL_PORTS", ports).env("OPENAI_API_KEY", "sk-canary");
        let output = program.args(["exec", "fix the build"]).output();
        assert_eq!((exit_code(&output), stdout(&output)), (2, String::new()));
        assert_eq!(stderr(&output), format!("{refusal}{offer}{key}\n"));
    }
    assert!(server.chats().is_empty());
    // Whoever has said which model answers is not asked.
    for args in [vec!["--provider", "demo", "exec", "hello"], vec!["--provider", "demo", "exec", "--json", "hello"]] {
        let output = Program::new().env("STEERSMAN_LOCAL_PORTS", &ports).args(args).output();
        assert_eq!(exit_code(&output), 0);
        assert!(!stderr(&output).contains("steersman: "), "{}", stderr(&output));
    }
    assert!(exit_code(&Program::new().env("STEERSMAN_LOCAL_PORTS", "80,x").args(["exec", "x"]).output()) == 2);
}

fn offer() -> LocalServer {
    LocalServer {
        what: "Ollama".to_owned(),
        address: "127.0.0.1:11434".to_owned(),
        model: "qwen3:8b".to_owned(),
        name: "ollama/qwen3:8b".to_owned(),
    }
}

fn stage(width: u16) -> Stage {
    let mut stage = Stage::new(width, 24);
    stage.app.status.source = ModelSource::Embedded;
    stage.tell(Msg::from(Notice::LocalServer(offer())));
    stage
}

#[test]
fn one_key_takes_the_offered_server_and_the_conversation_goes_on_with_it() {
    let mut stage = stage(120);
    let screen = stage.screen();
    assert!(screen.contains("Ollama answers on 127.0.0.1:11434 with qwen3:8b: F6 uses it"), "{screen}");
    assert!(screen.contains("F6 uses qwen3:8b of Ollama"), "{screen}");
    stage.keys("a draft<f6>");
    assert_eq!(stage.effects, [Effect::Request(Request::SwitchModel { name: "ollama/qwen3:8b".to_owned() })]);
    assert_eq!(stage.app.message.text(), "a draft", "the draft is not touched");
    let [from, to, provider] = ["steersman-embedded", "qwen3:8b", "openai"].map(|word| Some(word.to_owned()));
    stage.event("", Event::ModelSwitched { from, to, provider });
    let screen = stage.wait(10_000).screen();
    assert!(screen.contains("qwen3:8b · openai") && !screen.contains("--base-url"), "{screen}");
    assert!(screen.contains("model: steersman-embedded -> qwen3:8b (openai)"), "{screen}");
    // From here on the key lists models, as ever.
    stage.keys("<c-c><f6>");
    assert_eq!(stage.effects.last(), Some(&Effect::Request(Request::ListModels)));
}

#[test]
fn typing_instead_means_the_embedded_model() {
    let mut stage = stage(80);
    let content = "hello".to_owned();
    stage.event(
        "",
        Event::UserTurn {
            content,
            mid_loop: false,
            injection: None,
            after: None,
            step: 0,
            sender: None,
            kind: steersman_base::steering::TextKind::Add,
            met: None,
            images: Vec::new(),
        },
    );
    assert_eq!(stage.app.status.offer, None);
    stage.keys("<f6>");
    assert_eq!(stage.effects, [Effect::Request(Request::ListModels)]);
    assert_eq!(stage.app.message.text(), "/model ");
}

#[test]
fn an_offer_fits_every_width_and_obeys_nothing_in_its_names() {
    for width in [20, 40, 80, 200] {
        let mut stage = stage(width);
        let evil = LocalServer { model: "m\u{1b}[2J\n\u{202e}x".to_owned(), what: "W\u{7}".to_owned(), ..offer() };
        stage.tell(Msg::from(Notice::LocalServer(evil)));
        let screen = stage.screen();
        assert!(!screen.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{screen:?}");
    }
}

#[test]
fn the_ports_are_the_usual_ones_unless_said_and_only_an_unconfigured_program_looks() {
    let resolve = |variable: &[(&str, &str)], file: &str| {
        let environment: Environment = variable.iter().copied().collect();
        Config::resolve(Layer::default(), &environment, parse(file).unwrap()).unwrap()
    };
    let usual = resolve(&[], "");
    assert!(usual.unconfigured);
    assert_eq!(usual.local_ports, [8080, 11434, 1234, 8000]);
    let named = resolve(&[], "local_ports = [9]");
    assert!(named.unconfigured && named.local_ports == [9], "ports alone configure no model");
    assert_eq!(resolve(&[("STEERSMAN_LOCAL_PORTS", "7, 8")], "local_ports = [9]").local_ports, [7, 8]);
    assert!(resolve(&[("STEERSMAN_LOCAL_PORTS", "none")], "").local_ports.is_empty());
    for file in ["provider = 'demo'", "model = 'm'", "base_url = 'http://localhost:1'"] {
        assert!(!resolve(&[], file).unconfigured, "{file}");
    }
}

// --- a key in the environment

/// Offers the service `anthropic`, which answers at this server; returns the question, what was said, and what answers.
async fn with_key(
    server: &Server,
    state: &std::path::Path,
    answer: Answer,
) -> (Vec<String>, Vec<String>, ConfiguredModel) {
    let environment: Environment = [("ANTHROPIC_API_KEY", "sk-ant-canary")].into_iter().collect();
    let mut config = Config::resolve(Layer::default(), &environment, Layer::default()).unwrap();
    for (_, service) in &mut config.services {
        service.base_url = server.url();
    }
    let approvals = Arc::new(Approvals::new(Policy { answerer: Answerer::User, ..Policy::default() }, Mode::Ask));
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (desk, questions) = (Arc::downgrade(&approvals), Arc::clone(&asked));
    approvals.watch(Arc::new(move || {
        let Some(desk) = desk.upgrade() else { return };
        for request in desk.open() {
            let ApprovalSubject::Plain { title, detail } = &request.subject else { panic!("not of the program") };
            questions.lock().unwrap().push(format!("{title}\n{detail}"));
            desk.answer(request.id, answer.clone());
        }
    }));
    let mut notes = Vec::new();
    let places = UserDirectories { state: Some(state.to_owned()), ..UserDirectories::default() };
    offer_service(&mut config, FrontEnd::Screen, &places, &approvals, &mut notes).await;
    let asked = asked.lock().unwrap().clone();
    (asked, notes, config.model)
}

fn models(names: &[&str]) -> Server {
    let models: Vec<Value> = names.iter().map(|name| json!({ "id": name, "type": "model" })).collect();
    serving(&[("/v1/models", json!({ "data": models, "has_more": false }))])
}

fn named(model: &ConfiguredModel) -> Option<&str> {
    if let ConfiguredModel::Server(server) = model { server.model.as_deref() } else { None }
}

#[tokio::test]
async fn a_key_alone_is_asked_about_once_and_a_yes_is_kept_with_its_model() {
    let (server, state) = (models(&["claude-haiku-9", "claude-sonnet-9"]), tempfile::tempdir().unwrap());
    let (asked, notes, model) = with_key(&server, state.path(), Answer::Once).await;
    assert_eq!(asked.len(), 1);
    for words in ["let anthropic answer? ANTHROPIC_API_KEY is set", "address", "Its owner is billed"] {
        assert!(asked[0].contains(words), "{words}: {}", asked[0]);
    }
    assert!(!asked[0].contains("canary"));
    assert_eq!(named(&model), Some("claude-sonnet-9"));
    assert_eq!(notes, ["anthropic answers with claude-sonnet-9; F6 chooses another model"]);
    let (asked, notes, model) = with_key(&server, state.path(), Answer::No(None)).await;
    assert_eq!((asked.len(), named(&model)), (0, Some("claude-sonnet-9")), "{notes:?}");
}

#[test]
fn the_key_of_a_gateway_is_for_the_gateway_alone() {
    let services = |environment: &[(&str, &str)]| {
        let environment: Environment = environment.iter().copied().collect();
        let config = Config::resolve(Layer::default(), &environment, Layer::default()).unwrap();
        config.services.into_iter().map(|(name, server)| (name, server.base_url)).collect::<Vec<_>>()
    };
    let key = ("ANTHROPIC_API_KEY", "sk-ant-canary");
    let own = vec![("anthropic".to_owned(), "https://api.anthropic.com/v1".to_owned())];
    assert_eq!(services(&[key]), own);
    assert_eq!(services(&[key, ("ANTHROPIC_BASE_URL", "https://api.anthropic.com")]), own);
    let gateway = services(&[key, ("ANTHROPIC_BASE_URL", "https://llm.example.com/claude")]);
    assert_eq!(gateway, [("llm.example.com".to_owned(), "https://llm.example.com/claude".to_owned())]);
}

#[tokio::test]
async fn a_no_is_kept_and_nothing_goes_to_the_service() {
    let (server, state) = (models(&["claude-sonnet-9"]), tempfile::tempdir().unwrap());
    for questions in [1, 0] {
        let (asked, notes, model) = with_key(&server, state.path(), Answer::No(None)).await;
        assert_eq!((asked.len(), notes.len(), named(&model)), (questions, 0, None));
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_service_that_does_not_answer_leaves_the_embedded_model_and_is_offered_again() {
    let server = Server::start([]);
    server.on("/v1/models", Reply::json(401, json!({ "error": "no such key" })));
    let state = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let (asked, notes, model) = with_key(&server, state.path(), Answer::Once).await;
        assert_eq!((asked.len(), named(&model)), (1, None));
        assert!(notes[0].starts_with("anthropic does not answer, so the embedded model does: "), "{notes:?}");
    }
}
