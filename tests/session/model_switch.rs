//! Another model, another server, another dialect in the middle of a conversation, by the names that the user types.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use steersman_base::event::{Delivery, Event};
use steersman_base::id::AgentId;
use steersman_base::protocol::ModelOption;
use steersman_core::approval::{Answer, Answerer, ApprovalSubject, Policy};
use steersman_core::listener::InMemoryEventList;
use steersman_core::provider::{ApiKey, ChatTransport, Registry, Streaming};
use steersman_provider::{Http, HttpConnector, KeyLoader, ModelServer, Sources};
use steersman_session::host::{self, Command, Host, Notice, Setup, Update};
use tempfile::TempDir;

use crate::support::bench::setup;
use crate::support::doubles::Rig;
use crate::support::server::{Reply, Server};

pub fn transport(server: &Server, provider: &str, model: Option<&str>) -> ChatTransport {
    ChatTransport {
        model: model.map(str::to_owned),
        provider: Some(provider.to_owned()),
        assume_model_exists: true,
        api_base: Some(server.url()),
        ..ChatTransport::default()
    }
}

pub struct Ship {
    host: Host,
    pub events: Arc<InMemoryEventList>,
    _dir: TempDir,
}

pub fn launch(first: ChatTransport, sources: impl IntoIterator<Item = ModelServer>, registry: Registry) -> Ship {
    launch_with(Answerer::Nobody, first, sources, registry)
}

fn launch_with(
    answerer: Answerer,
    first: ChatTransport,
    sources: impl IntoIterator<Item = ModelServer>,
    registry: Registry,
) -> Ship {
    let dir = TempDir::new().unwrap();
    std::fs::write(dir.path().join("notes.txt"), "tide at nine\n").unwrap();
    let events = Arc::new(InMemoryEventList::new());
    let own = ModelServer::new("first", first.clone());
    let setup = Setup {
        transport: first,
        connector: Arc::new(HttpConnector::new(Http::default()).with_registry(Arc::new(registry))),
        sources: Arc::new(std::iter::once(own).chain(sources).collect::<Sources>()),
        streaming: Streaming::On,
        listeners: vec![events.clone()],
        resumed: None,
        policy: Policy { answerer, ..Policy::default() },
        ..setup(&Rig::new([]), &dir)
    };
    Ship { host: host::start(&tokio::runtime::Handle::current(), setup), events, _dir: dir }
}

impl Ship {
    pub async fn send(&mut self, text: &str) {
        self.host.handle().inject_user_message(&AgentId::main(), (text, Delivery::Steer)).unwrap();
        let settled = tokio::time::timeout(Duration::from_secs(20), self.host.settled()).await;
        settled.expect("the turn ends").unwrap();
    }

    /// Asks for a model and waits until the worker has taken it over.
    pub async fn switch(&self, name: &str) {
        let before = self.switches().len();
        self.host.handle().request(Command::SwitchModel(name.to_owned()));
        self.until("the switch", || self.switches().len() > before).await;
    }

    async fn until(&self, what: &str, happened: impl Fn() -> bool) {
        let waiting = async {
            while !happened() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), waiting).await.unwrap_or_else(|_| panic!("{what} never came"));
    }

    pub fn switches(&self) -> Vec<(String, Option<String>)> {
        let told = self.events.events().into_iter().filter_map(|event| match event {
            Event::ModelSwitched { to, provider, .. } => Some((to.unwrap_or_default(), provider)),
            _ => None,
        });
        told.collect()
    }

    /// Waits for a sentence about a wish, and returns it.
    async fn said(&self, part: &str) -> String {
        let mut said = None;
        let mut all = Vec::new();
        for _ in 0..4_000 {
            all.extend(self.host.handle().mailbox().take_updates());
            said = all.iter().find_map(|update| match update {
                Update::Notice(Notice::Info(sentence) | Notice::ModelSwitch { outcome: Err(sentence), .. })
                    if sentence.contains(part) =>
                {
                    Some(sentence.clone())
                }
                _ => None,
            });
            if said.is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        said.unwrap_or_else(|| panic!("nobody said {part:?}: {all:?}"))
    }
}

fn read_call(id: &'static str) -> [(&'static str, &'static str, &'static str); 1] {
    [(id, "read", r#"{"path":"notes.txt"}"#)]
}

#[tokio::test]
async fn a_conversation_moves_to_another_server_with_its_own_key_and_back() {
    let first = Server::start([Reply::calls(&read_call("call_1")), Reply::text("At nine."), Reply::text("Back.")]);
    let second = Server::start([Reply::calls(&read_call("call_1")), Reply::text("Still nine.")]);
    let lab = ChatTransport { api_key: Some(ApiKey::new("key-of-lab")), ..transport(&second, "openai", Some("big")) };
    let start =
        ChatTransport { api_key: Some(ApiKey::new("key-of-first")), ..transport(&first, "openai", Some("small")) };
    let mut ship = launch(start, [ModelServer::new("lab", lab)], Registry::default());
    ship.send("When is the tide?").await;
    ship.switch("lab").await;
    ship.send("Look again.").await;
    ship.switch("first/small").await;
    ship.send("Thanks.").await;
    assert_eq!(ship.switches().into_iter().map(|(to, _)| to).collect::<Vec<_>>(), ["big", "small"]);
    let key = |server: &Server| server.chats()[0].header("authorization").map(str::to_owned);
    assert_eq!(key(&first).as_deref(), Some("Bearer key-of-first"));
    assert_eq!(key(&second).as_deref(), Some("Bearer key-of-lab"));
    let last = first.chats()[2].clone();
    assert_eq!(last.texts("user"), ["When is the tide?", "Look again.", "Thanks."]);
    assert_eq!(last.texts("tool").len(), 2, "nothing is lost on the way");
}

#[tokio::test]
async fn a_key_in_a_vault_is_got_when_its_server_is_first_wanted_and_once() {
    let (first, second) = (Server::start([]), Server::start([Reply::text("One."), Reply::text("Two.")]));
    let opened = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = Arc::clone(&opened);
    let key_loader = KeyLoader::new(move || {
        count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        async { Ok(Some(ApiKey::new("from-the-key_loader"))) }
    });
    let lab = ModelServer {
        key_loader: Some(key_loader),
        ..ModelServer::new("lab", transport(&second, "openai", Some("big")))
    };
    let failing = KeyLoader::new(|| async { Err("the key_loader is locked".to_owned()) });
    let locked = ModelServer {
        key_loader: Some(failing),
        ..ModelServer::new("locked", transport(&second, "openai", Some("x")))
    };
    let mut ship = launch(transport(&first, "openai", Some("small")), [lab, locked], Registry::default());
    ship.switch("lab").await;
    ship.send("a").await;
    ship.switch("lab/other").await;
    ship.send("b").await;
    assert_eq!(opened.load(std::sync::atomic::Ordering::SeqCst), 1);
    assert!(second.chats().iter().all(|chat| chat.header("authorization") == Some("Bearer from-the-key_loader")));
    ship.host.handle().request(Command::SwitchModel("locked".to_owned()));
    assert_eq!(ship.said("key_loader").await, "the key_loader is locked");
    assert_eq!(ship.switches().len(), 2, "the model that answers goes on");
}

#[tokio::test]
async fn a_model_that_its_server_does_not_list_is_asked_for_with_a_word_or_refused() {
    let server = Server::start([]);
    server.on("/v1/models", Reply::json(200, json!({ "data": [{ "id": "small" }, { "id": "vendor/x" }] })));
    let start = transport(&server, "openai", Some("small"));
    let ship = launch(start.clone(), [], Registry::default());
    ship.switch("qwen9").await;
    assert!(ship.said("qwen9").await.contains("\"qwen9\" is not in the server's list"));
    ship.switch("vendor/x").await;
    // The library's rule: without assuming, a model must be known.
    let strict = ChatTransport { assume_model_exists: false, ..start };
    let known: Registry = [("known".to_owned(), steersman_core::provider::Card::default())].into_iter().collect();
    let ship = launch(strict, [], known);
    ship.host.handle().request(Command::SwitchModel("qwen9".to_owned()));
    assert_eq!(ship.said("qwen9").await, "\"qwen9\" is not in the server's list, and nothing is known about it");
    ship.switch("known").await;
    ship.switch("vendor/x").await;
    assert_eq!(ship.switches().len(), 2);
}

#[tokio::test]
async fn a_user_is_asked_before_a_model_that_its_server_does_not_list_is_used() {
    let server = Server::start([]);
    server.on("/v1/models", Reply::json(200, json!({ "data": [{ "id": "small" }, { "id": "vendor/x" }] })));
    let start = transport(&server, "openai", Some("small"));
    let ship = launch_with(Answerer::User, start, [], Registry::default());
    let wish = |name: &str| drop(ship.host.handle().request(Command::SwitchModel(name.to_owned())));
    let open = || ship.host.handle().approvals().open();
    let asks_about = |name: &str| {
        let name = format!("{name:?}");
        open()
            .iter()
            .any(|request| matches!(&request.subject, ApprovalSubject::Plain { title, .. } if title.contains(&name)))
    };
    wish("qwen9");
    ship.until("the question", || asks_about("qwen9")).await;
    let ApprovalSubject::Plain { title, detail } = open()[0].subject.clone() else { panic!("{:?}", open()) };
    assert_eq!(title, "\"qwen9\" is not in the server's list: use it anyway?");
    assert_eq!(detail, "It lists:\n    | small\n    | vendor/x");
    assert_eq!(ship.switches(), []);
    ship.host.handle().approvals().answer(open()[0].id, Answer::No(None));
    assert_eq!(ship.said("as before").await, "the model is small as before");

    // A later wish takes the question of an earlier one away, also one that needs none.
    wish("qwen9");
    ship.until("the question", || asks_about("qwen9")).await;
    wish("qwen8");
    ship.until("the other question", || asks_about("qwen8") && open().len() == 1).await;
    ship.switch("vendor/x").await;
    ship.until("no question", || open().is_empty()).await;

    wish("qwen9");
    ship.until("the question", || asks_about("qwen9")).await;
    ship.host.handle().approvals().answer(open()[0].id, Answer::Once);
    ship.until("the switch", || ship.switches().len() == 2).await;
    assert_eq!(ship.switches()[1].0, "qwen9");
}

#[tokio::test]
async fn a_server_without_a_model_takes_its_first_here_and_asks_for_a_name_elsewhere() {
    let (first, second) = (Server::start([]), Server::start([]));
    second.on("/v1/models", Reply::json(200, json!({ "data": [{ "id": "nomic-embed" }, { "id": "chat" }] })));
    let far = ChatTransport { api_base: Some("http://203.0.113.1:9".to_owned()), ..transport(&second, "openai", None) };
    let sources = [ModelServer::new("near", transport(&second, "openai", None)), ModelServer::new("far", far)];
    let ship = launch(transport(&first, "openai", Some("small")), sources, Registry::default());
    ship.switch("near").await;
    assert_eq!(ship.switches()[0].0, "chat");
    ship.host.handle().request(Command::SwitchModel("far".to_owned()));
    assert!(ship.said("far").await.starts_with("far has no list of models"));
    assert_eq!(ship.switches().len(), 1);
}

#[tokio::test]
async fn the_models_of_every_server_are_listed_beside_each_other_and_failures_are_one_sentence() {
    let (first, second) = (Server::start([]), Server::start([]));
    first.on("/v1/models", Reply::json(200, json!({ "data": [{ "id": "small" }, { "id": "lab/odd" }] })));
    second.on("/v1/models", Reply::json(200, json!({ "data": [{ "id": "big" }] })));
    let gone =
        ChatTransport { api_base: Some("http://127.0.0.1:9/v1".to_owned()), ..transport(&second, "openai", None) };
    let sources = [ModelServer::new("lab", transport(&second, "openai", None)), ModelServer::new("gone", gone)];
    let ship = launch(transport(&first, "openai", Some("small")), sources, Registry::default());
    ship.host.handle().request(Command::ListModels);
    let whole = [("small", true), ("lab/odd", false), ("lab/big", false)];
    let whole: Vec<ModelOption> = whole.map(|(name, is_current)| ModelOption { is_current, ..name.into() }).into();
    let mut all = Vec::new();
    let mut updates = || {
        all.extend(ship.host.handle().mailbox().take_updates());
        all.clone()
    };
    let mut seen = Vec::new();
    for _ in 0..4_000 {
        seen = updates();
        let complete = seen.contains(&Update::Notice(Notice::Models(Ok(whole.clone()))));
        let told =
            seen.iter().any(|update| matches!(update, Update::Notice(Notice::Info(said)) if said.contains("gone")));
        if complete && told {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(seen.contains(&Update::Notice(Notice::Models(Ok(whole)))), "{seen:?}");
    let said: Vec<&String> = seen
        .iter()
        .filter_map(|update| match update {
            Update::Notice(Notice::Info(said)) => Some(said),
            _ => None,
        })
        .collect();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("no list of models: gone: "), "{said:?}");
    // What the server itself lists is its own, though it reads like another source's.
    ship.switch("lab/odd").await;
    ship.switch("lab/big").await;
    assert_eq!(ship.switches().into_iter().map(|(to, _)| to).collect::<Vec<_>>(), ["lab/odd", "big"]);
}

#[test]
fn names_resolve_to_servers_and_models() {
    let base = |url: &str, model: Option<&str>| ChatTransport {
        model: model.map(str::to_owned),
        api_base: Some(url.to_owned()),
        ..ChatTransport::default()
    };
    let current = ChatTransport { context_window: Some(9), ..base("http://here", Some("now")) };
    let local = ChatTransport { context_window: Some(5), ..base("http://local", Some("qwen3")) };
    let sources: Sources = [ModelServer::new("local", local), ModelServer::new("router", base("http://router", None))]
        .into_iter()
        .collect();
    let resolve = |listed: &[&str], name: &str| {
        let listed: Vec<String> = listed.iter().map(|name| (*name).to_owned()).collect();
        let ChatTransport { api_base, model, context_window, .. } = sources.resolve(&current, &listed, name).transport;
        (api_base.unwrap(), model, context_window)
    };
    let expect = |base: &str, model: Option<&str>, window| (base.to_owned(), model.map(str::to_owned), window);
    assert_eq!(resolve(&[], "other"), expect("http://here", Some("other"), None), "its window is not the old one's");
    assert_eq!(resolve(&[], "now"), expect("http://here", Some("now"), Some(9)));
    assert_eq!(resolve(&[], "local"), expect("http://local", Some("qwen3"), Some(5)));
    assert_eq!(resolve(&[], "local/qwen3"), expect("http://local", Some("qwen3"), Some(5)));
    assert_eq!(resolve(&[], "local/a/b:c"), expect("http://local", Some("a/b:c"), None));
    assert_eq!(resolve(&[], "router"), expect("http://router", None, None));
    assert_eq!(resolve(&[], "vendor/model"), expect("http://here", Some("vendor/model"), None));
    assert_eq!(resolve(&["local/x", "local"], "local/x"), expect("http://here", Some("local/x"), None));
    assert_eq!(resolve(&["local/x", "local"], "local"), expect("http://here", Some("local"), None));
}
