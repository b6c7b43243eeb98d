//! A conversation with a server, over a transport that the test plays: every request ends, whatever the server does.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use steersman_base::limits;
use steersman_extensions::mcp::Progress;
use steersman_extensions::mcp::connection::{Connection, ListKind, OnDrop, Patience, RequestError};
use steersman_extensions::mcp::message::RpcError;
use steersman_extensions::mcp::session::Session;
use steersman_extensions::mcp::transport::{Arrival, SendError};

use crate::support::mcp::{Heard, PlayedServer, played};

const PATIENCE: Patience = Patience { idle: Duration::from_secs(10), most: Duration::from_mins(1) };

fn quiet(_: &Progress) {}

async fn ask(connection: &Connection, method: &str) -> Result<Value, RequestError> {
    connection.request(method, json!({}), PATIENCE, OnDrop::Cancel, &quiet).await
}

fn rig() -> (Connection, PlayedServer, Arc<Heard>) {
    let heard = Arc::new(Heard::default());
    let (connection, server) = played(heard.clone());
    (connection, server, heard)
}

#[tokio::test(start_paused = true)]
async fn each_answer_reaches_its_request_in_whichever_order_they_come() {
    let (connection, mut server, _) = rig();
    let talk = async {
        let (one, two) = (server.next().await, server.next().await);
        server.answer(&two, json!("two")).await;
        server.respond(99, Ok(json!("nobody asked"))).await;
        server.answer(&one, json!("one")).await;
    };
    let (one, two, ()) = tokio::join!(ask(&connection, "one"), ask(&connection, "two"), talk);
    assert_eq!((one, two), (Ok(json!("one")), Ok(json!("two"))));
}

#[tokio::test(start_paused = true)]
async fn progress_begins_the_time_anew_until_the_longest_time_is_over() {
    let (connection, mut server, _) = rig();
    let made = Mutex::new(Vec::new());
    let told = |progress: &Progress| made.lock().unwrap().push(progress.line());
    let talk = async {
        let request = server.next().await;
        let token = request["params"]["_meta"]["progressToken"].clone();
        for step in 1..=9 {
            tokio::time::sleep(Duration::from_secs(8)).await;
            let params = json!({"progressToken": token, "progress": step, "total": 9, "message": "a\u{1b}[31m"});
            server.say(json!({"method": "notifications/progress", "params": params})).await;
        }
        server
    };
    let asked = connection.request("slow", json!({}), PATIENCE, OnDrop::Cancel, &told);
    let (outcome, mut server) = tokio::join!(asked, talk);
    assert_eq!(outcome, Err(RequestError::TimedOut(Duration::from_mins(1))));
    let made = made.into_inner().unwrap();
    assert_eq!((made.len(), made[0].as_str()), (7, "1/9 · a␛[31m"), "{made:?}");
    let cancelled = server.next().await;
    assert_eq!(
        (&cancelled["method"], &cancelled["params"]["requestId"]),
        (&json!("notifications/cancelled"), &json!(1))
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_tells_of_progress_without_end_is_heard_at_a_distance_and_its_call_ends_in_time() {
    let (connection, mut server, _) = rig();
    let made = Mutex::new(Vec::new());
    let told = |progress: &Progress| made.lock().unwrap().push(progress.line());
    let flood = async {
        let token = server.next().await["params"]["_meta"]["progressToken"].clone();
        for step in 0_u64.. {
            assert!(step < 200_000, "the call does not end");
            let params = json!({"progressToken": token, "progress": step, "message": "x".repeat(9_000)});
            server.say(json!({"method": "notifications/progress", "params": params})).await;
        }
    };
    let outcome = tokio::select! {
        outcome = connection.request("slow", json!({}), PATIENCE, OnDrop::Cancel, &told) => outcome,
        () = flood => unreachable!(),
    };
    assert_eq!(outcome, Err(RequestError::TimedOut(PATIENCE.most)));
    let made = made.into_inner().unwrap();
    let most = PATIENCE.most.as_millis() / limits::MCP_PROGRESS_DISTANCE.as_millis();
    assert!(!made.is_empty() && made.len() as u128 <= most + 1, "{}", made.len());
    assert!(made.iter().all(|line| line.chars().count() < limits::MCP_PROGRESS_CHARS + 20));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_dropped_is_cancelled_at_the_server_and_a_handshake_is_not() {
    let (connection, mut server, _) = rig();
    {
        let mut asked = std::pin::pin!(ask(&connection, "slow"));
        tokio::select! {
            _ = &mut asked => unreachable!(),
            request = server.next() => assert_eq!(request["method"], "slow"),
        }
    }
    assert_eq!(server.next().await["params"]["requestId"], 1);
    let unanswered = connection.request("initialize", json!({}), PATIENCE, OnDrop::Nothing, &quiet).await;
    assert_eq!(unanswered, Err(RequestError::TimedOut(Duration::from_secs(10))));
    assert_eq!(server.next().await["method"], "initialize");
    assert_eq!(server.try_next(), None);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_connection_ends_every_request_with_its_reason_also_later_ones() {
    let (connection, mut server, _) = rig();
    let talk = async {
        let _ = (server.next().await, server.next().await);
        server.arrive(Arrival::Failed(2, SendError::Refused("no".to_owned()))).await;
        server.arrive(Arrival::Lost("it ended with exit code 1".to_owned())).await;
    };
    let (one, two, ()) = tokio::join!(ask(&connection, "one"), ask(&connection, "two"), talk);
    let lost = Err(RequestError::Lost("it ended with exit code 1".to_owned()));
    assert_eq!((&one, two), (&lost, Err(RequestError::Send(SendError::Refused("no".to_owned())))));
    assert_eq!(ask(&connection, "three").await, lost);
    assert!(connection.is_lost());
}

#[tokio::test(start_paused = true)]
async fn what_is_deprecated_or_not_known_is_declined_clearly_and_a_ping_is_answered() {
    let (_connection, mut server, heard) = rig();
    for (method, words) in [
        ("sampling/createMessage", "sampling is not supported"),
        ("roots/list", "roots are not supported"),
        ("tasks/get", "there is no method tasks/get"),
    ] {
        server.say(json!({"id": "x", "method": method, "params": {}})).await;
        let answer = server.next().await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("x"), &json!(-32601)));
        assert!(answer["error"]["message"].as_str().unwrap().starts_with(words), "{answer}");
    }
    server.say(json!({"id": 5, "method": "ping"})).await;
    assert_eq!(server.next().await, json!({"jsonrpc": "2.0", "id": 5, "result": {}}));
    // Logs are taken and dropped.
    server.say(json!({"method": "notifications/message", "params": {"level": "info", "data": "x"}})).await;
    server.say(json!({"method": "notifications/tools/list_changed"})).await;
    server.say(json!({"id": 6, "method": "ping"})).await;
    assert_eq!(server.next().await["id"], 6);
    assert_eq!(*heard.changed.lock().unwrap(), [ListKind::Tools]);
}

#[tokio::test(start_paused = true)]
async fn while_the_user_thinks_about_a_question_no_request_grows_old_and_with_the_last_one_it_goes() {
    let (connection, mut server, heard) = rig();
    {
        let mut asked = std::pin::pin!(ask(&connection, "slow"));
        let ask_user = async {
            server.next().await;
            server.say(json!({"id": "q", "method": "elicitation/create", "params": {"message": "?"}})).await;
            tokio::time::sleep(Duration::from_mins(10)).await;
        };
        tokio::select! {
            outcome = &mut asked => panic!("{outcome:?}"),
            () = ask_user => {}
        }
        assert_eq!(*heard.asked.lock().unwrap(), [json!({"message": "?"})]);
    }
    assert_eq!(server.next().await["method"], "notifications/cancelled");
    // Nobody is left who needs the answer: the question is gone, and the time counts again.
    assert_eq!(ask(&connection, "next").await, Err(RequestError::TimedOut(Duration::from_secs(10))));
    assert_eq!(server.next().await["method"], "next");
}

async fn begin(connection: Connection, heard: Arc<Heard>) -> Result<Session, RequestError> {
    Session::begin(connection, heard, Duration::from_secs(5)).await
}

#[tokio::test(start_paused = true)]
async fn an_older_version_with_a_handshake_is_spoken_and_an_unknown_one_is_refused_by_its_name() {
    for (version, is_spoken) in [("2024-11-05", true), ("2025-11-25", true), ("1900-01-01", false)] {
        let (connection, mut server, heard) = rig();
        let talk = async {
            let hello = server.next().await;
            assert_eq!(
                (&hello["method"], &hello["params"]["protocolVersion"]),
                (&json!("initialize"), &json!("2025-11-25"))
            );
            let capabilities = &hello["params"]["capabilities"];
            assert_eq!(*capabilities, json!({"elicitation": {"form": {}, "url": {}}}));
            server.answer(&hello, json!({"protocolVersion": version, "capabilities": {"tools": {}}})).await;
            server
        };
        let (begun, mut server) = tokio::join!(begin(connection, heard), talk);
        match begun {
            Ok(session) => {
                assert!(is_spoken && session.about().protocol == version);
                assert_eq!(server.next().await["method"], "notifications/initialized");
            }
            Err(error) => {
                assert!(!is_spoken && error.to_string().contains("1900-01-01"), "{error}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_without_a_handshake_is_spoken_to_in_requests_that_say_everything() {
    let (connection, mut server, heard) = rig();
    let talk = async {
        let hello = server.next().await;
        let error = json!({"code": -32601, "message": "Method not found"});
        server.say(json!({"jsonrpc": "2.0", "id": hello["id"], "error": error})).await;
        let discover = server.next().await;
        assert_eq!(discover["method"], "server/discover");
        let answer =
            json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}});
        server.answer(&discover, answer).await;
        server
    };
    let (begun, mut server) = tokio::join!(begin(connection, heard), talk);
    let session = begun.unwrap();
    let talk = async {
        let listed = server.next().await;
        let meta = &listed["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        assert!(meta["io.modelcontextprotocol/clientCapabilities"]["elicitation"].is_object());
        server.answer(&listed, json!({"tools": [{"name": "t", "inputSchema": {}}]})).await;
    };
    let mut notes = Vec::new();
    let (catalog, ()) = tokio::join!(session.catalog(&mut notes), talk);
    assert_eq!((catalog.unwrap().tools.len(), notes), (1, Vec::<String>::new()));
}

#[tokio::test(start_paused = true)]
async fn the_error_of_the_handshake_is_told_when_a_server_speaks_neither() {
    let (connection, mut server, heard) = rig();
    let talk = async {
        for message in ["only for members", "what?"] {
            let request = server.next().await;
            let error = json!({"code": -32000, "message": message});
            server.say(json!({"jsonrpc": "2.0", "id": request["id"], "error": error})).await;
        }
    };
    let (begun, ()) = tokio::join!(begin(connection, heard), talk);
    assert_eq!(
        begun.unwrap_err(),
        RequestError::Rpc(RpcError { code: -32000, message: "only for members".to_owned(), data: Value::Null })
    );
}

#[tokio::test(start_paused = true)]
async fn a_list_whose_cursor_leads_nowhere_ends() {
    for cursors in [vec![json!("")], vec![json!("a"), json!("a")], vec![json!("a"), json!("b"), json!("a")]] {
        let (connection, mut server, heard) = rig();
        let hello = async {
            let hello = server.next().await;
            server.answer(&hello, json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}})).await;
            assert_eq!(server.next().await["method"], "notifications/initialized");
            server
        };
        let (begun, mut server) = tokio::join!(begin(connection, heard), hello);
        let session = begun.unwrap();
        let mut notes = Vec::new();
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let pages = async {
            loop {
                let request = server.next().await;
                let page = asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                let tools = json!([{"name": format!("t{page}")}]);
                server.answer(&request, json!({"tools": tools, "nextCursor": cursors[page]})).await;
            }
        };
        let catalog = tokio::select! {
            catalog = session.catalog(&mut notes) => catalog.unwrap(),
            () = pages => unreachable!(),
        };
        assert_eq!((catalog.tools.len(), notes.len()), (cursors.len(), 0), "{cursors:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_gives_the_same_page_for_every_cursor_is_not_asked_a_hundred_times() {
    let (connection, mut server, heard) = rig();
    let hello = async {
        let hello = server.next().await;
        server.answer(&hello, json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}})).await;
        assert_eq!(server.next().await["method"], "notifications/initialized");
        server
    };
    let (begun, mut server) = tokio::join!(begin(connection, heard), hello);
    let session = begun.unwrap();
    let mut notes = Vec::new();
    let pages = async {
        for page in 0.. {
            let request = server.next().await;
            let tools = json!([{"name": "one"}, {"name": "two"}]);
            server.answer(&request, json!({"tools": tools, "nextCursor": page.to_string()})).await;
        }
    };
    let catalog = tokio::select! {
        catalog = session.catalog(&mut notes) => catalog.unwrap(),
        () = pages => unreachable!(),
    };
    assert_eq!((catalog.tools.len(), notes), (2, Vec::<String>::new()));
}

#[tokio::test(start_paused = true)]
async fn an_error_about_a_request_that_could_not_be_read_ends_the_only_one_and_loses_no_server() {
    let (connection, mut server, heard) = rig();
    let talk = async {
        server.next().await;
        server.say(json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "what?"}})).await;
        server.next().await
    };
    let (begun, _) = tokio::join!(begin(connection, heard), async {
        tokio::time::timeout(std::time::Duration::from_secs(5), talk).await
    });
    assert!(matches!(begun, Err(RequestError::Rpc(error)) if error.message == "what?"));
}

#[tokio::test(start_paused = true)]
async fn a_list_comes_in_pages_and_an_endless_one_ends() {
    let (connection, mut server, heard) = rig();
    let hello = async {
        let hello = server.next().await;
        server.answer(&hello, json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}})).await;
        assert_eq!(server.next().await["method"], "notifications/initialized");
        server
    };
    let (begun, mut server) = tokio::join!(begin(connection, heard), hello);
    let session = begun.unwrap();
    let mut notes = Vec::new();
    let pages = async {
        let mut page = 0;
        loop {
            let request = server.next().await;
            if page > 0 {
                assert_eq!(request["params"]["cursor"], format!("page {page}"));
            }
            page += 1;
            let tools: Vec<Value> = (0..30).map(|n| json!({"name": format!("t{page}_{n}")})).collect();
            server.answer(&request, json!({"tools": tools, "nextCursor": format!("page {page}")})).await;
        }
    };
    let catalog = tokio::select! {
        catalog = session.catalog(&mut notes) => catalog.unwrap(),
        () = pages => unreachable!(),
    };
    assert_eq!(catalog.tools.len(), 1_000);
    assert_eq!(notes, ["of more than 1000 tools the first are used"]);
}
