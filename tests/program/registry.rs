//! What is known about models by name: the bundled table, the forms in which servers write names, and what is laid on top.

use steersman_base::assets;
use steersman_base::event::{Envelope, Event, Usage};
use steersman_base::message::Message;
use steersman_core::provider::{Answering, ChatTransport, Registry, Thinking};
use steersman_core::provider::{ChatRequest, Connector as _, Streaming};
use steersman_provider::Http;
use steersman_provider::{HttpConnector, HttpProvider};

use crate::support::program::{Program, stdout};
use crate::support::server::{Reply, Server};

fn bundled() -> Registry {
    Registry::parse(assets::MODELS).expect("the bundled table is right")
}

/// Returns the window under which a name is known.
fn window(name: &str) -> Option<u64> {
    bundled().card(name)?.context_window
}

#[test]
fn the_bundled_table_knows_the_well_known_models_and_says_of_when_it_is() {
    let text = assets::MODELS;
    assert!(text.lines().take(8).any(|line| line.starts_with("# As of 20")), "the header has no date");
    let names: Vec<&str> = text.lines().filter(|line| line.contains("context_window = ")).collect();
    assert!((60..=160).contains(&names.len()), "{} models", names.len());
    for name in [
        "gpt-5.2",
        "gpt-4o",
        "o3",
        "claude-opus-4-5",
        "claude-sonnet-4-5",
        "gemini-2.5-pro",
        "deepseek-chat",
        "mistral-large-latest",
        "grok-4.3",
        "qwen3-coder-plus",
        "kimi-k2-thinking",
        "glm-4.6",
        "gpt-oss-120b",
    ] {
        let registry = bundled();
        let card = registry.card(name).unwrap_or_else(|| panic!("{name} is not known"));
        assert!(card.context_window.is_some_and(|tokens| tokens >= 32_000), "{name}");
    }
    // Weights that anybody serves have no price.
    assert_eq!(bundled().price("gpt-oss-120b"), None);
    assert_eq!(bundled().card("gpt-5.2").unwrap().thinking, Thinking::Effort);
    assert_eq!(bundled().card("claude-sonnet-4-5").unwrap().thinking, Thinking::Budget);
    assert_eq!(bundled().card("gpt-4o").unwrap().thinking, Thinking::Never);
}

#[test]
fn names_are_known_in_the_forms_in_which_servers_write_them() {
    for (written, meant) in [
        ("gpt-5.2-2025-12-11", "gpt-5.2"),
        ("openai/gpt-5.2", "gpt-5.2"),
        ("GPT-4o", "gpt-4o"),
        (" gpt-4o-mini ", "gpt-4o-mini"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("claude-opus-4-20250514", "claude-opus-4-0"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"),
        ("models/gemini-2.5-flash", "gemini-2.5-flash"),
        ("google/gemini-2.5-flash", "gemini-2.5-flash"),
        ("gemini-2.0-flash-001", "gemini-2.0-flash"),
        ("deepseek/deepseek-chat:free", "deepseek-chat"),
        ("gpt-oss:20b", "gpt-oss-20b"),
        ("qwen3:8b", "qwen3-8b"),
        ("accounts/fireworks/models/gpt-oss-120b", "gpt-oss-120b"),
        ("openrouter/openai/gpt-4.1:nitro", "gpt-4.1"),
    ] {
        assert!(window(meant).is_some(), "{meant} is not in the table");
        assert_eq!(window(written), window(meant), "{written}");
        assert_eq!(bundled().card(written), bundled().card(meant), "{written}");
    }
}

#[test]
fn another_model_is_never_taken_for_one_that_is_known() {
    for name in [
        "",
        "gpt",
        "gpt-5.2-turbo",
        "gpt-5.2-2",
        "gpt-5.22",
        "gpt-4o-audio-preview",
        "gpt-4o-1106",
        "my-gpt-4o",
        "gpt-4o-finetune",
        "ft:gpt-4o:org::abc",
        "qwen3:0.6b",
        "qwen3",
        "gpt-oss:120b-cloud",
        "claude-sonnet",
        "claude-sonnet-4-5-thinking",
        "claude-sonnet-4-50",
        "gemini-2.5-flash-image",
        "gemini-2.5-flash-lite-preview-tts",
        "llama-3.3-70b-instruct-abliterated",
        "deepseek-chat-v3-0324",
        "mistral-large-2411",
        "kimi-k2-0711",
        "o3-deep-research",
        "not.anthropic.claude-sonnet-4-5x",
        "claude-sonnet-4-5-12345678",
        "2025-12-11",
        "-2025-12-11",
        "/",
        ":free",
    ] {
        assert_eq!(bundled().card(name), None, "{name:?}");
    }
    // A dated release with figures of its own has them.
    assert_ne!(bundled().price("gpt-4o-2024-05-13"), bundled().price("gpt-4o-2024-11-20"));
    assert_eq!(bundled().price("gpt-4o-2024-11-20"), bundled().price("gpt-4o"));
}

#[test]
fn what_is_given_away_has_no_price() {
    assert!(bundled().price("deepseek/deepseek-chat").is_some());
    assert_eq!(bundled().price("deepseek/deepseek-chat:free"), None);
}

#[test]
fn the_users_table_lies_on_top_part_by_part() {
    let own = Registry::parse(
        "'gpt-5.2' = { context_window = 1000 }\n'gpt-5.2-2025-12-11' = { output_limit = 7 }\nmine = { thinking = 'never' }",
    );
    let registry = bundled().under(own.unwrap());
    let (below, above) = (bundled().card("gpt-5.2").unwrap().clone(), registry.card("gpt-5.2").unwrap().clone());
    assert_eq!((above.context_window, above.price, above.thinking), (Some(1000), below.price, below.thinking));
    let dated = registry.card("gpt-5.2-2025-12-11").unwrap();
    assert_eq!((dated.output_limit, dated.context_window), (Some(7), Some(1000)));
    assert_eq!(registry.card("mine").unwrap().thinking, Thinking::Never);
    let wrong = Registry::parse("a = { context_window = 1 }\nb = { windw = 1 }").unwrap_err();
    assert!(wrong.starts_with("line 2: ") && !wrong.contains('\n'), "{wrong}");
}

async fn cost(transport: &ChatTransport, registry: Registry) -> Option<u64> {
    let connector = HttpConnector::new(Http::default()).with_registry(std::sync::Arc::new(registry));
    let provider = connector.connect(transport).unwrap();
    let messages = [Message::system("s"), Message::user("u")];
    let request = ChatRequest::new(transport.model_name(), &messages, &[], Streaming::Off).unwrap();
    provider.complete(request.answering(Answering::default()), &mut |_| Ok(())).await.unwrap().usage.cost_nanos
}

#[tokio::test]
async fn ones_own_server_costs_nothing_though_its_model_has_the_name_of_one_with_a_price() {
    let server = Server::start([Reply::text("One.")]);
    let transport =
        ChatTransport { api_base: Some(server.url()), model: Some("gpt-5.2".to_owned()), ..ChatTransport::default() };
    assert!(transport.is_loopback());
    assert_eq!(cost(&transport, bundled()).await, None);
    // The window there is what the server says, too.
    let connector = HttpConnector::new(Http::default()).with_registry(std::sync::Arc::new(bundled()));
    assert_eq!(connector.window_of(&transport), None);
    let elsewhere = ChatTransport { api_base: None, ..transport };
    assert_eq!(connector.window_of(&elsewhere), window("gpt-5.2"));
    assert!(!elsewhere.is_loopback() && HttpProvider::new(Http::default(), &elsewhere).is_ok());
    let usage = Usage { input: Some(1_000_000), ..Usage::default() };
    assert_eq!(bundled().price("gpt-5.2").unwrap().nanos(&usage), Some(1_750_000_000));
}

#[test]
fn a_whole_run_on_ones_own_server_costs_nothing_but_what_the_user_says() {
    for (config, cost) in [("", None), ("prices.'gpt-5.2' = { input = 1, output = 1 }", Some(3_000))] {
        let server = Server::start([Reply::text("One.").usage(2, 1)]);
        let args = ["exec", "--json", "--base-url", &server.url(), "--model", "gpt-5.2", "Count."];
        let output = Program::new().args(args).config(config).output();
        let told: Vec<Option<u64>> = stdout(&output)
            .lines()
            .filter_map(|line| match serde_json::from_str::<Envelope>(line).unwrap().event {
                Event::Tokens(usage) => Some(usage.cost_nanos),
                _ => None,
            })
            .collect();
        assert_eq!(told, [cost], "{config}");
    }
}
