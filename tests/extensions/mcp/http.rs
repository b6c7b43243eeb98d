//! Servers at addresses: their sessions, their streams, and what breaks on the way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Map, Value, json};
use steersman_base::protocol::{ServerState, ServerStatus};
use steersman_core::approval::Mode;
use steersman_extensions::mcp::Servers;
use steersman_extensions::mcp::catalog::Hints;
use steersman_extensions::mcp::definition::{Reached, ServerDefinition};
use steersman_extensions::mcp::instance::{Instance, ServerRequest};

use crate::support::mcp::Yard;
use crate::support::mcp_http::{HttpServer, at, calls, message, text, tool, whole};
use crate::support::processes::wait_until;
use crate::support::server::{Gate, Reply, Request, Step};
use crate::support::site::{Site, typed};

const LONG: Duration = Duration::from_mins(5);

fn yard() -> Yard {
    Yard::bare(Mode::AutoWithoutSandbox)
}

fn status(servers: &Servers) -> ServerStatus {
    servers.status().remove(0)
}

fn begin(yard: &Yard, definition: ServerDefinition) -> (Arc<Servers>, Arc<Instance>) {
    let servers = yard.servers(vec![definition]);
    let instance = servers.main_instance(&status(&servers).name).unwrap();
    (servers, instance)
}

async fn call(instance: &Instance, tool: &str, hints: Hints) -> Result<String, String> {
    let arguments = Map::from_iter([("n".to_owned(), json!(1))]);
    let wanted = ServerRequest::Call { tool, arguments: &arguments, hints };
    let result = instance.ask(wanted, &|_| {}).await?;
    Ok(result["content"][0]["text"].as_str().unwrap().to_owned())
}

async fn plain(instance: &Instance, tool: &str) -> Result<String, String> {
    call(instance, tool, Hints::default()).await
}

fn progress(request: &Request) -> Value {
    let token = &request.body["params"]["_meta"]["progressToken"];
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 1}})
}

/// Returns an event with a number, as one step of a stream.
fn numbered(id: &str, data: &str) -> Step {
    Step::Bytes(format!("id: {id}\nretry: 1\ndata: {data}\n\n").into_bytes())
}

#[tokio::test]
async fn a_server_is_spoken_to_in_its_session_and_told_the_end_of_it() {
    let server = HttpServer::start(|request| {
        let answer = message(request, text("streamed"));
        let steps = [Step::data(progress(request)), Step::data(answer)];
        calls(request, "stream").then(|| Reply::stream(steps))
    });
    let yard = yard();
    let (servers, instance) = begin(&yard, server.definition("one"));
    assert_eq!(server.server.requests().len(), 0);
    assert_eq!(plain(&instance, "echo").await, Ok(r#"{"n":1}"#.to_owned()));
    assert_eq!(plain(&instance, "stream").await, Ok("streamed".to_owned()));
    let now = status(&servers);
    assert_eq!((now.state, now.about.as_str()), (ServerState::Used, "at an address 1 · 2025-11-25"));
    let hello = server.asked("initialize").remove(0);
    assert_eq!((hello.header("mcp-session-id"), hello.header("mcp-protocol-version")), (None, None));
    assert_eq!(hello.header("accept"), Some("application/json, text/event-stream"));
    for later in [server.asked("notifications/initialized"), server.asked("tools/list"), server.asked("tools/call")] {
        assert_eq!(later[0].header("mcp-session-id"), Some("session-1"));
        assert_eq!(later[0].header("mcp-protocol-version"), Some("2025-11-25"));
    }
    servers.close();
    wait_until("the session is ended", LONG, || !server.requested("DELETE").is_empty()).await;
    assert_eq!(server.requested("DELETE")[0].header("mcp-session-id"), Some("session-1"));
}

#[tokio::test]
async fn a_session_that_the_server_has_forgotten_is_begun_anew_and_no_call_hangs() {
    for status_of_refusal in [404, 400] {
        let (gate, refuses) = (Gate::new(), Arc::new(AtomicBool::new(false)));
        let (held, refusing) = (gate.clone(), Arc::clone(&refuses));
        let server = HttpServer::start(move |request| {
            if calls(request, "long") {
                return Some(Reply::stream([Step::data(progress(request)), Step::Wait(held.clone())]));
            }
            let is_old = request.header("mcp-session-id") == Some("session-1");
            (is_old && refusing.load(Ordering::SeqCst)).then(|| Reply::body(400, "no valid session"))
        });
        let yard = yard();
        let (servers, instance) = begin(&yard, server.definition("one"));
        let long = tokio::spawn({
            let instance = Arc::clone(&instance);
            async move { plain(&instance, "long").await }
        });
        gate.reached().await;
        if status_of_refusal == 404 {
            server.forget_sessions();
        }
        refuses.store(true, Ordering::SeqCst);
        // What was not taken is sent again, once.
        assert_eq!(plain(&instance, "echo").await, Ok(r#"{"n":1}"#.to_owned()));
        let sessions: Vec<_> =
            server.asked("tools/call").iter().map(|call| call.header("mcp-session-id").unwrap().to_owned()).collect();
        assert_eq!(sessions, ["session-1", "session-1", "session-2"]);
        // What was under way ends at once, and is not.
        let why = long.await.unwrap().unwrap_err();
        assert!(why.contains("the server has ended the session") && why.contains("was not sent again"), "{why}");
        assert_eq!(status(&servers).state, ServerState::Used);
        gate.open();
    }
}

#[tokio::test]
async fn a_refusal_with_status_400_is_told_in_its_words_and_the_call_is_not_sent_twice() {
    let refusals = [
        ("{\"error\": \"the field text is too long\"}", "{\"error\": \"the field text is too long\"}"),
        (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no such table"}}"#, "no such table"),
        ("", ""),
        ("the argument hours is invalid", "the argument hours is invalid"),
        ("<html><title>Bad Request</title></html>", "Bad Request"),
    ];
    for (body, words) in refusals {
        let server = HttpServer::start(move |request| calls(request, "echo").then(|| Reply::body(400, body)));
        let yard = yard();
        let (servers, instance) = begin(&yard, server.definition("one"));
        let why = plain(&instance, "echo").await.unwrap_err();
        assert!(why.contains("did not take the call: it answered with HTTP 400") && why.contains(words), "{why}");
        assert!(!why.contains("session"), "{why}");
        assert_eq!((server.asked("initialize").len(), server.asked("tools/call").len()), (1, 1));
        assert_eq!(plain(&instance, "other").await, Ok(r#"{"n":1}"#.to_owned()));
        assert_eq!(status(&servers).state, ServerState::Used);
    }
}

#[tokio::test]
async fn a_refusal_that_speaks_of_a_session_which_the_call_is_about_ends_no_session() {
    for words in
        ["the browser session of the tab must exist", "sessions.csv has no valid rows", "close your session first"]
    {
        let server = HttpServer::start(move |request| calls(request, "echo").then(|| Reply::body(400, words)));
        let yard = yard();
        let (_servers, instance) = begin(&yard, server.definition("one"));
        let why = plain(&instance, "echo").await.unwrap_err();
        assert!(why.contains(words), "{why}");
        assert_eq!((server.asked("initialize").len(), server.asked("tools/call").len()), (1, 1), "{words}");
    }
}

#[tokio::test]
async fn a_stream_in_which_a_server_logs_still_brings_its_answer() {
    let server = HttpServer::start(|request| {
        let log = || Step::Bytes(b"data: [db] connected\n\ndata: {}\n\n".to_vec());
        calls(request, "stream").then(|| Reply::stream([log(), Step::data(message(request, text("streamed")))]))
    });
    let yard = yard();
    let (_servers, instance) = begin(&yard, server.definition("one"));
    assert_eq!(plain(&instance, "stream").await, Ok("streamed".to_owned()));
}

#[tokio::test]
async fn a_server_that_forgets_every_session_at_once_is_not_asked_without_end() {
    let server = HttpServer::start(|request| calls(request, "echo").then(|| Reply::body(404, "")));
    let yard = yard();
    let (_servers, instance) = begin(&yard, server.definition("one"));
    let why = plain(&instance, "echo").await.unwrap_err();
    assert_eq!(why, "the server one did not take the call: the server has ended the session");
    assert_eq!((server.asked("initialize").len(), server.asked("tools/call").len()), (2, 2));
}

#[tokio::test]
async fn a_stream_that_breaks_is_taken_up_where_it_stopped() {
    let request_of_call = Arc::new(std::sync::Mutex::new(None));
    let kept = Arc::clone(&request_of_call);
    let server = HttpServer::start(move |request| {
        if calls(request, "long") {
            *kept.lock().unwrap() = Some(request.clone());
            return Some(Reply::stream([numbered("7", ""), numbered("8", &progress(request).to_string()), Step::Cut]));
        }
        let is_resumed = request.method == "GET" && request.header("last-event-id") == Some("8");
        is_resumed.then(|| {
            let call = kept.lock().unwrap().clone().unwrap();
            Reply::stream([Step::data(message(&call, text("whole")))])
        })
    });
    let yard = yard();
    let (_servers, instance) = begin(&yard, server.definition("one"));
    assert_eq!(plain(&instance, "long").await, Ok("whole".to_owned()));
    assert_eq!(server.asked("tools/call").len(), 1);
}

#[tokio::test]
async fn a_call_whose_stream_breaks_for_good_is_sent_again_only_where_the_server_says_that_it_may() {
    let server = HttpServer::start(|request| {
        calls(request, "long").then(|| Reply::stream([Step::data(progress(request)), Step::Cut]))
    });
    let yard = yard();
    let (servers, instance) = begin(&yard, server.definition("one"));
    let why = plain(&instance, "long").await.unwrap_err();
    assert!(why.contains("was not sent again"), "{why}");
    assert_eq!(server.asked("tools/call").len(), 1);
    let hints = Hints { idempotent: Some(true), ..Hints::default() };
    assert!(call(&instance, "long", hints).await.is_err());
    assert_eq!(server.asked("tools/call").len(), 3);
    // Its session is the same, and other calls go on.
    assert_eq!(plain(&instance, "echo").await, Ok(r#"{"n":1}"#.to_owned()));
    assert_eq!((server.asked("initialize").len(), status(&servers).state), (1, ServerState::Used));
}

#[tokio::test]
async fn a_change_that_is_told_outside_of_answers_is_taken() {
    let gate = Gate::new();
    let (held, has_changed) = (gate.clone(), Arc::new(AtomicBool::new(false)));
    let changes = Arc::clone(&has_changed);
    let server = HttpServer::start(move |request| {
        if request.method == "GET" {
            let change = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
            let rest = Gate::new();
            return Some(Reply::stream([Step::Wait(held.clone()), Step::data(change), Step::Wait(rest)]));
        }
        let is_new = changes.load(Ordering::SeqCst) && request.body["method"] == "tools/list";
        is_new.then(|| whole(request, json!({"tools": [tool("echo"), tool("new")]})))
    });
    let yard = yard();
    let (servers, instance) = begin(&yard, server.definition("one"));
    instance.discover().await.unwrap();
    gate.reached().await;
    assert_eq!(status(&servers).tools, ["mcp__one__echo"]);
    has_changed.store(true, Ordering::SeqCst);
    gate.open();
    wait_until("the new tool is known", LONG, || status(&servers).tools.len() == 2).await;
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = Site::start(|_| typed("text/html", ""));
    let place = other.url("/mcp");
    let server = HttpServer::start(move |request| {
        (request.body["method"] == "initialize").then(|| Reply::body(307, "").header("location", &place))
    });
    let yard = yard();
    let (servers, instance) = begin(&yard, server.definition("one"));
    let why = plain(&instance, "echo").await.unwrap_err();
    assert!(why.contains("it redirects to") && why.contains("is not followed"), "{why}");
    assert_eq!(status(&servers).state, ServerState::Failed);
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn an_endless_or_broken_answer_ends_its_call_and_nothing_else() {
    let server = HttpServer::start(|request| {
        let piece = || Step::Bytes(vec![b'x'; 1024 * 1024]);
        let endless = || std::iter::repeat_with(piece).take(18);
        if calls(request, "body") {
            return Some(Reply::bytes(200, vec![b'x'; 17 * 1024 * 1024]));
        }
        if calls(request, "line") {
            return Some(Reply::stream(std::iter::once(Step::Bytes(b"data: ".to_vec())).chain(endless())));
        }
        if calls(request, "json") {
            return Some(Reply::body(200, "{\"jsonrpc\": ").header("content-type", "application/json"));
        }
        if calls(request, "page") {
            return Some(Reply::body(200, "<html>Sign in</html>").header("content-type", "text/html"));
        }
        calls(request, "error").then(|| Reply::body(500, "the \u{1b}[31mdatabase is gone"))
    });
    let yard = yard();
    let (servers, instance) = begin(&yard, server.definition("one"));
    for (tool, words) in [
        ("body", "more than 16.0 MiB"),
        ("line", "longer than"),
        ("json", "broken"),
        ("page", "gave no whole answer to the call: it sent something that is not a message: <html>Sign in</html>"),
        ("error", "did not take the call: it answered with HTTP 500: the ␛[31mdatabase is gone"),
    ] {
        let why = plain(&instance, tool).await.unwrap_err();
        assert!(why.contains(words), "{tool}: {why}");
    }
    assert_eq!(plain(&instance, "echo").await, Ok(r#"{"n":1}"#.to_owned()));
    assert_eq!((server.asked("initialize").len(), status(&servers).state), (1, ServerState::Used));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_and_rests() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let yard = yard();
    let (servers, instance) = begin(&yard, at("one", &format!("http://{free}/mcp")));
    let why = plain(&instance, "echo").await.unwrap_err();
    assert!(why.starts_with("the server one does not start: it cannot be reached: "), "{why}");
    let again = plain(&instance, "echo").await.unwrap_err();
    assert!(again.contains("it is started again in") || again.contains("does not start"), "{again}");
    assert_eq!(status(&servers).state, ServerState::Failed);
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_and_its_stream_is_closed() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = HttpServer::start(move |request| {
        calls(request, "long").then(|| Reply::stream([Step::data(progress(request)), Step::Wait(held.clone())]))
    });
    let yard = yard();
    let (_servers, instance) = begin(&yard, server.definition("one"));
    tokio::select! {
        outcome = plain(&instance, "long") => panic!("{outcome:?}"),
        () = gate.reached() => {}
    }
    server.server.hung_up(1).await;
    wait_until("it was told", LONG, || !server.asked("notifications/cancelled").is_empty()).await;
    let call = server.asked("tools/call").remove(0);
    assert_eq!(server.asked("notifications/cancelled")[0].body["params"]["requestId"], call.body["id"]);
    assert_eq!(plain(&instance, "echo").await, Ok(r#"{"n":1}"#.to_owned()));
}

#[tokio::test]
async fn configured_headers_go_with_every_request_and_are_not_printed() {
    let server = HttpServer::start(|_| None);
    let yard = yard();
    let mut definition = server.definition("one");
    if let Reached::Address(address) = &mut definition.reached {
        address.headers = vec![("authorization".to_owned(), "Bearer sesame".to_owned().into())];
    }
    assert!(!format!("{definition:?}").contains("sesame"));
    assert_eq!(definition.secrets().collect::<Vec<_>>(), ["Bearer sesame"]);
    let (servers, instance) = begin(&yard, definition);
    plain(&instance, "echo").await.unwrap();
    servers.close();
    wait_until("the session is ended", LONG, || !server.requested("DELETE").is_empty()).await;
    for request in server.server.requests() {
        assert_eq!(request.header("authorization"), Some("Bearer sesame"), "{request:?}");
    }
    let now = format!("{:?}", status(&servers));
    assert!(!now.contains("sesame"), "{now}");
}

#[tokio::test]
async fn a_server_of_the_newer_era_has_no_session_and_is_told_what_each_request_is() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = HttpServer::start(move |request| {
        let body = &request.body;
        if body["method"] == "initialize" {
            let error = json!({"code": -32022, "message": "Unsupported protocol version"});
            return Some(Reply::json(400, json!({"jsonrpc": "2.0", "id": body["id"], "error": error})));
        }
        if body["method"] == "server/discover" {
            let result =
                json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}});
            return Some(whole(request, result));
        }
        calls(request, "long").then(|| Reply::stream([Step::data(progress(request)), Step::Wait(held.clone())]))
    });
    let yard = yard();
    let (servers, instance) = begin(&yard, server.definition("one"));
    assert_eq!(plain(&instance, "größe").await, Ok(r#"{"n":1}"#.to_owned()));
    assert_eq!(status(&servers).about, "2026-07-28");
    let call = server.asked("tools/call").remove(0);
    let header = |name| call.header(name).map(str::to_owned);
    assert_eq!(header("mcp-protocol-version").as_deref(), Some("2026-07-28"));
    assert_eq!(header("mcp-method").as_deref(), Some("tools/call"));
    assert_eq!(header("mcp-name").as_deref(), Some("=?base64?Z3LDtsOfZQ==?="));
    assert_eq!(header("mcp-session-id"), None);
    let meta = &call.body["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    // The end of its stream is the cancellation.
    tokio::select! {
        outcome = plain(&instance, "long") => panic!("{outcome:?}"),
        () = gate.reached() => {}
    }
    server.server.hung_up(1).await;
    assert_eq!(plain(&instance, "echo").await, Ok(r#"{"n":1}"#.to_owned()));
    assert!(server.asked("notifications/cancelled").is_empty());
    servers.close();
    assert!(server.requested("DELETE").is_empty() && server.requested("GET").is_empty());
}
