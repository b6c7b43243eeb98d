//! Servers that are processes: started when they are needed, whatever they write, and gone with the session.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use steersman_base::protocol::{ServerState, ServerStatus};
use steersman_extensions::mcp::Servers;
use steersman_extensions::mcp::catalog::Hints;
use steersman_extensions::mcp::definition::ServerDefinition;
use steersman_extensions::mcp::instance::{Instance, ServerRequest};

use crate::support::mcp::Yard;
use crate::support::processes::{alive, wait_until};

const LONG: Duration = Duration::from_mins(5);

fn status(servers: &Servers) -> ServerStatus {
    servers.status().remove(0)
}

fn instance(servers: &Servers) -> Arc<Instance> {
    servers.main_instance(&status(servers).name).unwrap()
}

async fn call(instance: &Instance, tool: &str, arguments: Value) -> Result<String, String> {
    call_hinted(instance, tool, arguments, Hints::default()).await
}

async fn call_hinted(instance: &Instance, tool: &str, arguments: Value, hints: Hints) -> Result<String, String> {
    let arguments: Map<String, Value> = serde_json::from_value(arguments).unwrap();
    let wanted = ServerRequest::Call { tool, arguments: &arguments, hints };
    let result = instance.ask(wanted, &|_| {}).await?;
    Ok(result["content"][0]["text"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_server_starts_at_its_first_call_and_is_gone_with_the_session() {
    let Some(yard) = Yard::new("a server's life") else { return };
    let servers = yard.servers(vec![yard.server("one", &[])]);
    assert_eq!((status(&servers).state, yard.starts("one")), (ServerState::Configured, 0));
    let instance = instance(&servers);
    assert_eq!(call(&instance, "echo", json!({"text": "é\n"})).await, Ok(r#"{"text": "\u00e9\n"}"#.to_owned()));
    let now = status(&servers);
    assert_eq!((now.state, now.calls, now.about.as_str()), (ServerState::Used, 1, "scripted 1 · 2025-11-25"));
    assert_eq!(now.prompts, ["/mcp__one__review"]);
    let log = yard.path("one.log").display().to_string();
    assert!(!alive(&log).is_empty());
    servers.close();
    wait_until("the server is dead", LONG, || alive(&log).is_empty()).await;
    assert_eq!(status(&servers).state, ServerState::Known);
    let after = call(&instance, "echo", json!({"text": ""})).await.unwrap_err();
    assert!(after.contains("was ended with the session"), "{after}");
    assert_eq!(yard.starts("one"), 1);
}

#[tokio::test]
async fn calls_that_come_together_share_one_process_and_an_earlier_session_knows_its_tools() {
    let Some(yard) = Yard::new("one process for all") else { return };
    let servers = yard.servers(vec![yard.server("one", &[])]);
    let instance = instance(&servers);
    let calls = (0..20).map(|_| call(&instance, "echo", json!({"text": "x"})));
    let results = futures_util::future::join_all(calls).await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(yard.starts("one"), 1);
    servers.close();
    // Another session, later.
    let servers = yard.servers(vec![yard.server("one", &[])]);
    let now = status(&servers);
    assert_eq!((now.state, now.tools.len(), yard.starts("one")), (ServerState::Known, 9, 1));
}

#[tokio::test]
async fn a_server_that_is_chatty_on_its_error_output_is_used_and_the_end_is_kept() {
    let Some(yard) = Yard::new("a chatty server") else { return };
    let servers = yard.servers(vec![yard.server("one", &["--errors", "500"])]);
    let instance = instance(&servers);
    for _ in 0..3 {
        call(&instance, "echo", json!({"text": "x"})).await.unwrap();
    }
    let now = status(&servers);
    assert_eq!(now.state, ServerState::Used);
    assert!(!now.errors.is_empty() && now.errors.len() <= 4096, "{}", now.errors.len());
}

async fn failing(yard: &Yard, arguments: &[&str]) -> (Arc<Servers>, String) {
    let servers = yard.servers(vec![yard.server("one", arguments)]);
    let why = call(&instance(&servers), "echo", json!({"text": "x"})).await.unwrap_err();
    (servers, why)
}

#[tokio::test]
async fn a_server_that_writes_an_endless_line_is_given_up_with_its_reason() {
    let Some(yard) = Yard::new("an endless line") else { return };
    for (method, words) in [("initialize", "does not start"), ("tools/call", "was lost during the call")] {
        let (servers, why) = failing(&yard, &["--endless", method]).await;
        assert!(why.contains(words) && why.contains("a line of more than 64.0 MiB"), "{why}");
        let log = yard.path("one.log").display().to_string();
        wait_until("it is dead", LONG, || alive(&log).is_empty()).await;
        wait_until("it has failed", LONG, || status(&servers).state == ServerState::Failed).await;
        assert!(status(&servers).error.unwrap().contains("64.0 MiB"));
    }
}

#[tokio::test]
async fn a_log_line_above_the_limit_of_a_message_is_passed_over_and_the_server_goes_on() {
    let Some(yard) = Yard::new("a long line of a log") else { return };
    for form in ["log", "json", "notification", "several"] {
        let servers = yard.servers(vec![yard.server("one", &["--long", form])]);
        let instance = instance(&servers);
        for text in ["x", "y"] {
            let answer = call(&instance, "echo", json!({"text": text})).await;
            assert_eq!(answer, Ok(format!("{{\"text\": \"{text}\"}}")), "{form}");
        }
        assert_eq!(status(&servers).state, ServerState::Used, "{form}");
        servers.close();
    }
    // An answer that is too large ends its call alone.
    let servers = yard.servers(vec![yard.server("one", &["--long", "answer"])]);
    let instance = instance(&servers);
    let why = call(&instance, "echo", json!({"text": "x"})).await.unwrap_err();
    assert!(why.contains("its answer is a line of more than 16.0 MiB"), "{why}");
    assert_eq!(status(&servers).state, ServerState::Used);
}

#[tokio::test]
async fn a_server_that_asks_without_end_and_reads_no_answer_is_given_up() {
    let Some(yard) = Yard::new("pings without end") else { return };
    let servers = yard.servers(vec![yard.server("one", &[])]);
    let why = call(&instance(&servers), "pings", json!({})).await.unwrap_err();
    assert!(why.contains("it does not read what it is sent"), "{why}");
    let log = yard.path("one.log").display().to_string();
    wait_until("it is dead", LONG, || alive(&log).is_empty()).await;
}

#[tokio::test]
async fn broken_json_ends_the_call_at_once_and_text_that_is_none_is_passed_over() {
    let Some(yard) = Yard::new("broken JSON") else { return };
    let (servers, why) =
        failing(&yard, &["--raw", "tools/call", "{\"jsonrpc\": \"2.0\", \"id\": ID, \"result\": {"]).await;
    assert!(why.contains("it sent a broken message"), "{why}");
    wait_until("it has failed", LONG, || status(&servers).state == ServerState::Failed).await;
    // An answer that says nothing ends its call only.
    let (servers, why) = failing(&yard, &["--raw", "tools/call", "{\"jsonrpc\": \"2.0\", \"id\": ID}"]).await;
    assert!(why.contains("its answer is broken"), "{why}");
    assert_eq!(status(&servers).state, ServerState::Used);
    // A banner is no message.
    let servers =
        yard.servers(vec![yard.server("one", &["--hello", "Server 1.0 listening\n\u{1b}[32mready\u{1b}[0m"])]);
    assert_eq!(call(&instance(&servers), "echo", json!({"text": "x"})).await, Ok(r#"{"text": "x"}"#.to_owned()));
}

#[tokio::test]
async fn lines_that_are_no_messages_are_the_servers_log_whatever_they_look_like() {
    let Some(yard) = Yard::new("a server that logs") else { return };
    let log = "[db] Connected\n[2026-11-27T10:00:00] INFO ready\n{debug: true}\n{}\n[]\n{\"level\":\"info\",\"id\":1}";
    let servers = yard.servers(vec![yard.server("one", &["--hello", log])]);
    assert_eq!(call(&instance(&servers), "echo", json!({"text": "x"})).await, Ok(r#"{"text": "x"}"#.to_owned()));
    let now = status(&servers);
    assert_eq!((now.state, now.error.as_deref()), (ServerState::Used, None));
    for line in log.lines() {
        assert!(now.errors.contains(line), "{line}: {}", now.errors);
    }
}

#[tokio::test]
async fn half_a_character_in_a_result_loses_no_server() {
    let Some(yard) = Yard::new("half a character") else { return };
    let answer = r#"{"jsonrpc": "2.0", "id": ID, "result": {"content": [{"type": "text", "text": "a\ud83d"}]}}"#;
    let servers = yard.servers(vec![yard.server("one", &["--raw", "tools/call", answer])]);
    assert_eq!(call(&instance(&servers), "echo", json!({"text": "x"})).await, Ok("a\u{FFFD}".to_owned()));
}

#[tokio::test]
async fn what_a_server_wrote_instead_of_an_answer_is_told_when_the_time_is_over() {
    let Some(yard) = Yard::new("a text instead of an answer") else { return };
    let arguments = ["--raw", "tools/call", "Segmentation fault (core dumped)"];
    let definition = ServerDefinition { call_time: Duration::from_millis(300), ..yard.server("one", &arguments) };
    let servers = yard.servers(vec![definition]);
    // On a busy machine the text may come only after the time of the first call.
    let mut why = String::new();
    while !why.contains("Segmentation fault") {
        why = call(&instance(&servers), "echo", json!({"text": "x"})).await.unwrap_err();
        assert!(why.contains("no answer within 0.3 s, the call was cancelled"), "{why}");
    }
    assert_eq!(status(&servers).state, ServerState::Used);
    wait_until("it was told", LONG, || yard.methods("one").contains(&"notifications/cancelled".to_owned())).await;
}

#[tokio::test]
async fn a_server_that_does_not_answer_the_handshake_fails_after_its_time_and_rests() {
    let Some(yard) = Yard::new("a silent server") else { return };
    let slow =
        ServerDefinition { start_time: Duration::from_millis(300), ..yard.server("one", &["--silent", "initialize"]) };
    let servers = yard.servers(vec![slow]);
    let instance = instance(&servers);
    let why = call(&instance, "echo", json!({"text": "x"})).await.unwrap_err();
    assert_eq!(why, "the server one does not start: it did not answer within 0.3 s");
    let now = status(&servers);
    assert_eq!((now.state, now.error.as_deref()), (ServerState::Failed, Some("it did not answer within 0.3 s")));
    // At once it is not tried again, and says when.
    let again = call(&instance, "echo", json!({"text": "x"})).await.unwrap_err();
    assert!(again.contains("it is started again in") || again.contains("does not start"), "{again}");
}

#[tokio::test]
async fn a_program_that_is_not_there_or_ends_at_once_is_told_with_its_last_words() {
    let Some(yard) = Yard::new("a program that is not there") else { return };
    let mut missing = yard.server("one", &[]);
    if let steersman_extensions::mcp::definition::Reached::Process(process) = &mut missing.reached {
        process.command = "no-such-program-here".to_owned();
    }
    let servers = yard.servers(vec![missing]);
    let why = call(&instance(&servers), "echo", json!({"text": "x"})).await.unwrap_err();
    assert!(why.contains("no-such-program-here is not installed"), "{why}");
    let mut ends = yard.server("two", &[]);
    if let steersman_extensions::mcp::definition::Reached::Process(process) = &mut ends.reached {
        process.command = "bash".to_owned();
        process.args = vec!["-c".to_owned(), "echo 'TOKEN is missing' >&2; exit 3".to_owned()];
    }
    let servers = yard.servers(vec![ends]);
    let why = call(&instance(&servers), "echo", json!({"text": "x"})).await.unwrap_err();
    assert!(why.contains("it ended with exit code 3; its last words: TOKEN is missing"), "{why}");
    assert_eq!(status(&servers).state, ServerState::Failed);
}

#[tokio::test]
async fn a_call_in_which_the_server_is_killed_is_not_sent_again_unless_the_server_says_that_it_may() {
    let Some(yard) = Yard::new("a server killed in mid-call") else { return };
    let servers = yard.servers(vec![yard.server("one", &[])]);
    let instance = instance(&servers);
    let why = call(&instance, "die", json!({})).await.unwrap_err();
    assert!(why.contains("was lost during the call: it was killed by SIGKILL"), "{why}");
    assert!(why.contains("was not sent again"), "{why}");
    wait_until("it has failed", LONG, || status(&servers).state == ServerState::Failed).await;
    let log = yard.path("one.log").display().to_string();
    wait_until("nothing is left", LONG, || alive(&log).is_empty()).await;
    // The next call starts it again.
    call(&instance, "echo", json!({"text": "x"})).await.unwrap();
    assert_eq!((yard.starts("one"), status(&servers).state), (2, ServerState::Used));
    // One that may be repeated is.
    std::fs::remove_file(yard.path("died")).unwrap();
    let hints = Hints { idempotent: Some(true), ..Hints::default() };
    assert_eq!(call_hinted(&instance, "die_once", json!({}), hints).await, Ok("alive".to_owned()));
    assert_eq!(yard.starts("one"), 3);
}

#[tokio::test]
async fn a_list_that_changes_before_the_handshake_is_answered_harms_nothing() {
    let Some(yard) = Yard::new("a list that changes early") else { return };
    let early = r#"{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}"#;
    let servers = yard.servers(vec![yard.server("one", &["--before", early])]);
    assert_eq!(call(&instance(&servers), "echo", json!({"text": "x"})).await, Ok(r#"{"text": "x"}"#.to_owned()));
    let now = status(&servers);
    assert_eq!((now.state, now.tools.len()), (ServerState::Used, 9));
}

#[tokio::test]
async fn however_often_a_server_says_that_its_list_has_changed_it_is_asked_for_it_once_a_second() {
    let Some(yard) = Yard::new("a list that always changes") else { return };
    let servers = yard.servers(vec![yard.server("one", &[])]);
    let instance = instance(&servers);
    let began = std::time::Instant::now();
    call(&instance, "echo", json!({"text": "x"})).await.unwrap();
    let lists = || yard.methods("one").iter().filter(|method| *method == "tools/list").count();
    let before = lists();
    std::fs::write(yard.path("changed_often"), "").unwrap();
    for _ in 0..3 {
        call(&instance, "echo", json!({"text": "x"})).await.unwrap();
    }
    wait_until("the list is asked for again", LONG, || lists() > before).await;
    // One that waits for its turn, and one that is under way.
    let most = before + 2 + usize::try_from(began.elapsed().as_secs()).unwrap();
    assert!(lists() <= most, "{} in {:?}", lists(), began.elapsed());
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_and_the_server_goes_on() {
    let Some(yard) = Yard::new("a call that is dropped") else { return };
    let servers = yard.servers(vec![yard.server("one", &[])]);
    let instance = instance(&servers);
    {
        let none = Map::new();
        let wanted = ServerRequest::Call { tool: "slow", arguments: &none, hints: Hints::default() };
        let (seen, progress) = tokio::sync::oneshot::channel();
        let seen = std::sync::Mutex::new(Some(seen));
        let tell = |_: &steersman_extensions::mcp::Progress| {
            if let Some(seen) = seen.lock().unwrap().take() {
                seen.send(()).unwrap();
            }
        };
        tokio::select! {
            outcome = instance.ask(wanted, &tell) => panic!("{outcome:?}"),
            _ = progress => {}
        }
    }
    std::fs::write(yard.path("go"), "").unwrap();
    wait_until("it was told", LONG, || yard.methods("one").contains(&"notifications/cancelled".to_owned())).await;
    call(&instance, "echo", json!({"text": "x"})).await.unwrap();
    assert_eq!(yard.starts("one"), 1);
}
