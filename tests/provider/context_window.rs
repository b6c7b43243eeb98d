//! The context window: which source wins, what a router is asked, and that a probe never breaks anything.

use serde_json::{Value, json};
use steersman_core::provider::{ApiKey, ChatTransport};
use steersman_provider::{ContextWindowDetector, Http};

use crate::support::server::{Gate, Reply, Server};

fn props(n_ctx: &Value) -> Reply {
    Reply::json(200, json!({"default_generation_settings": {"n_ctx": n_ctx}}))
}

fn detector(server: &Server) -> ContextWindowDetector {
    ContextWindowDetector::new(Http::default()).with_probe(server.url(), None)
}

fn paths(server: &Server) -> Vec<String> {
    server.requests().into_iter().map(|request| request.path).collect()
}

#[tokio::test]
async fn the_override_wins_over_the_registry_over_the_server() {
    let server = Server::start([]);
    server.on("/props", props(&json!(8192)));
    let asked = detector(&server).with_registry(|model| (model == "known").then_some(32_000));
    assert_eq!(asked.clone().with_override(Some(1_000)).detect("known").await, Some(1_000));
    assert_eq!(asked.detect("known").await, Some(32_000));
    assert!(server.requests().is_empty(), "an earlier source answered: no probe");
    assert_eq!(asked.detect("other").await, Some(8192));
    assert_eq!(paths(&server), ["/props"]);
    assert_eq!(ContextWindowDetector::new(Http::default()).detect("other").await, None);
}

#[tokio::test]
async fn a_transport_brings_its_own_window_and_its_server() {
    let server = Server::start([]);
    server.on("/props", props(&json!(4096)));
    let api_key = Some(ApiKey::new("k"));
    let transport = ChatTransport { api_base: Some(server.url()), api_key, ..ChatTransport::default() };
    assert_eq!(ContextWindowDetector::for_transport(Http::default(), &transport).detect("m").await, Some(4096));
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer k"));
    let told = ChatTransport { context_window: Some(7), ..transport };
    assert_eq!(ContextWindowDetector::for_transport(Http::default(), &told).detect("m").await, Some(7));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_router_is_asked_again_for_the_model() {
    let server = Server::start([]);
    server.on("/props", Reply::json(200, json!({"role": "router", "default_generation_settings": {"n_ctx": 0}})));
    server.on("/props?model=", props(&json!(16_384)));
    assert_eq!(detector(&server).detect("a b&c").await, Some(16_384));
    assert_eq!(paths(&server), ["/props", "/props?model=a+b%26c"]);
    assert_eq!(detector(&server).detect("").await, None, "no model is known: nothing to ask for");
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn only_a_router_is_asked_twice_and_only_positive_windows_count() {
    for n_ctx in [json!(0), json!(-1), json!("8192"), json!(null), json!(1.5)] {
        let server = Server::start([]);
        server.on("/props", props(&n_ctx));
        assert_eq!(detector(&server).detect("m").await, None, "{n_ctx}");
        assert_eq!(paths(&server), ["/props", "/v1/models"]);
    }
}

#[tokio::test]
async fn a_server_without_props_may_tell_in_its_list_of_models() {
    let server = Server::start([]);
    let list = json!({"data": [{"id": "other", "max_model_len": 1}, {"id": "m", "max_model_len": 32_768}]});
    server.on("/v1/models", Reply::json(200, list));
    assert_eq!(detector(&server).detect("m").await, Some(32_768));
    assert_eq!(detector(&server).detect("x").await, None);
    assert_eq!(paths(&server)[..2], ["/props", "/v1/models"]);
}

#[tokio::test]
async fn a_server_that_answers_every_address_may_tell_in_its_list_of_models() {
    let list = json!({"data": [{"id": "m", "context_length": 32_768}]});
    for page in [Reply::json(200, list.clone()), Reply::json(200, json!({})), Reply::body(200, "<html></html>")] {
        let server = Server::start([]);
        server.on("/", page);
        server.on("/v1/models", Reply::json(200, list.clone()));
        assert_eq!(detector(&server).detect("m").await, Some(32_768));
    }
}

#[tokio::test]
async fn a_probe_that_fails_means_not_known() {
    for reply in
        [Reply::body(500, "x"), Reply::body(200, "{garbage"), Reply::body(404, ""), Reply::json(200, json!([]))]
    {
        let server = Server::start([]);
        server.on("/props", reply);
        assert_eq!(detector(&server).detect("m").await, None);
    }
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    for probe in [closed.as_str(), "no address", ""] {
        let detector = ContextWindowDetector::new(Http::default()).with_probe(probe, None);
        assert_eq!(detector.detect("m").await, None);
    }
}

#[tokio::test]
async fn a_slow_server_is_not_waited_for() {
    let server = Server::start([]);
    server.on("/props", props(&json!(8192)).gated(&Gate::new()));
    // The gate never opens: only the limit on the wait ends it.
    assert_eq!(detector(&server).detect("m").await, None);
}
