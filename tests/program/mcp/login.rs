//! Logins at servers: the way through the browser, tokens and their renewal, and whatever is not trusted on the way.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use serde_json::{Map, Value, json};
use steersman_base::protocol::ServerState;
use steersman_core::approval::Mode;
use steersman_extensions::mcp::Servers;
use steersman_extensions::mcp::catalog::Hints;
use steersman_extensions::mcp::definition::{Reached, ServerDefinition};
use steersman_extensions::mcp::instance::{Instance, ServerRequest};
use steersman_extensions::mcp::login::log_in;
use steersman_provider::Http;

use crate::support::authorization::{Authorization, browse};
use crate::support::mcp::Yard;
use crate::support::program::{Program, exit_code, stderr};
use crate::support::server::Reply;

const LONG: Duration = Duration::from_mins(5);

fn yard() -> Yard {
    Yard::bare(Mode::AutoWithoutSandbox)
}

fn begin(yard: &Yard, definition: ServerDefinition) -> (Arc<Servers>, Arc<Instance>) {
    let servers = yard.servers(vec![definition]);
    let instance = servers.main_instance("one").unwrap();
    (servers, instance)
}

async fn echo(instance: &Instance) -> Result<Value, String> {
    let wanted = ServerRequest::Call { tool: "echo", arguments: &Map::new(), hints: Hints::default() };
    instance.ask(wanted, &|_| {}).await
}

/// Logs in with a user who does this with the address that is shown.
async fn log_in_with(servers: &Servers, user: impl FnOnce(Url) + Send + 'static) -> Result<(), String> {
    let server = servers.get("one").unwrap();
    let challenge = server.login().challenge().unwrap();
    let open = |place: &Url| {
        let place = place.clone();
        tokio::task::spawn_blocking(move || user(place));
    };
    let http = Http::default();
    let made = log_in(server.definition(), server.login(), &http, &challenge, open);
    tokio::time::timeout(LONG, made).await.unwrap()
}

fn login_file(yard: &Yard) -> Option<PathBuf> {
    let files = std::fs::read_dir(yard.path("state").join("mcp")).ok()?;
    files.map(|file| file.unwrap().path()).find(|file| file.to_string_lossy().ends_with(".login.json"))
}

#[tokio::test]
async fn a_login_goes_through_the_browser_and_is_kept_for_the_user_alone_and_renewed() {
    let authorization = Arc::new(Authorization::start());
    let yard = yard();
    let (servers, instance) = begin(&yard, authorization.server.definition("one"));
    let why = echo(&instance).await.unwrap_err();
    assert!(why.contains("it wants a login; the user logs in with: steersman mcp login one"), "{why}");
    assert_eq!(servers.status()[0].state, ServerState::Failed);
    let user = Arc::clone(&authorization);
    let made = log_in_with(&servers, move |place| {
        let asked = place.query().unwrap().to_owned();
        assert!(asked.contains("client_id=client-1") && asked.contains("scope=notes%3Aread"), "{asked}");
        assert!(browse(&user.agree(&place)).contains("You are logged in"));
    });
    assert_eq!(made.await, Ok(()));
    // No pause is left of the refusal.
    echo(&instance).await.unwrap();
    let file = login_file(&yard).unwrap();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    // A later session has it, too.
    servers.close();
    let (servers, instance) = begin(&yard, authorization.server.definition("one"));
    echo(&instance).await.unwrap();
    assert_eq!(authorization.asked().len(), 1);
    // When the token is not taken any more, all calls that run share one renewal.
    authorization.revoke();
    let calls = futures_util::future::join_all((0..5).map(|_| echo(&instance))).await;
    assert!(calls.iter().all(Result::is_ok), "{calls:?}");
    assert_eq!(authorization.asked().len(), 2);
    let kept: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!((&kept["access_token"], &kept["refresh_token"]), (&json!("access-2"), &json!("refresh-2")));
    // A login that cannot be renewed is asked for.
    authorization.revoke_all();
    let why = echo(&instance).await.unwrap_err();
    assert!(why.contains("did not take the call: it wants a login"), "{why}");
    assert!(servers.get("one").unwrap().login().log_out().unwrap());
    assert_eq!((servers.get("one").unwrap().login().log_out().unwrap(), login_file(&yard)), (false, None));
}

#[tokio::test]
async fn a_token_that_is_too_old_is_renewed_before_it_is_refused() {
    let authorization = Arc::new(Authorization::start());
    let yard = yard();
    let (servers, instance) = begin(&yard, authorization.server.definition("one"));
    echo(&instance).await.unwrap_err();
    let user = Arc::clone(&authorization);
    log_in_with(&servers, move |place| drop(browse(&user.agree(&place)))).await.unwrap();
    servers.close();
    let file = login_file(&yard).unwrap();
    let mut kept: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    kept["expires_at"] = json!("2020-01-01T00:00:00Z");
    std::fs::write(&file, kept.to_string()).unwrap();
    let before = authorization.server.server.requests().len();
    let (_servers, instance) = begin(&yard, authorization.server.definition("one"));
    echo(&instance).await.unwrap();
    let later = authorization.server.server.requests().split_off(before);
    assert_eq!(later[0].path, "/auth/token");
    assert!(later[1..].iter().all(|request| request.header("authorization") == Some("Bearer access-2")), "{later:?}");
}

#[tokio::test]
async fn a_page_that_does_not_know_the_secret_of_the_login_is_passed_over() {
    let authorization = Arc::new(Authorization::start());
    let yard = yard();
    let (servers, instance) = begin(&yard, authorization.server.definition("one"));
    echo(&instance).await.unwrap_err();
    let user = Arc::clone(&authorization);
    let made = log_in_with(&servers, move |place| {
        let good = user.agree(&place);
        for wrong in ["code=stolen&state=guessed", "code=stolen", ""] {
            let mut other = good.clone();
            other.set_query(Some(wrong));
            assert!(browse(&other).starts_with("HTTP/1.1 404"));
        }
        let mut elsewhere = good.clone();
        elsewhere.set_path("/favicon.ico");
        assert!(browse(&elsewhere).starts_with("HTTP/1.1 404"));
        browse(&good);
    });
    assert_eq!(made.await, Ok(()));
    assert_eq!(authorization.asked().len(), 1);
}

#[tokio::test]
async fn a_refusal_is_told_in_plain_words() {
    let authorization = Arc::new(Authorization::start());
    let yard = yard();
    let (servers, instance) = begin(&yard, authorization.server.definition("one"));
    echo(&instance).await.unwrap_err();
    let user = Arc::clone(&authorization);
    let refused = log_in_with(&servers, move |place| {
        let mut back = user.agree(&place);
        let state = back.query_pairs().find(|(name, _)| name == "state").unwrap().1.into_owned();
        back.query_pairs_mut().clear().append_pair("error", "access_denied").append_pair("state", &state);
        back.query_pairs_mut().append_pair("error_description", "not\u{1b}[2J today");
        browse(&back);
    });
    assert_eq!(refused.await, Err("the authorization server says access_denied: not␛[2J today".to_owned()));
    // A code that it does not know.
    let user = Arc::clone(&authorization);
    let refused = log_in_with(&servers, move |place| {
        let back = user.agree(&place);
        browse(&back.as_str().replace("code-1", "code-2").parse().unwrap());
    });
    assert_eq!(refused.await, Err("the authorization server says invalid_grant: no␛[2J".to_owned()));
    assert_eq!(login_file(&yard), None);
}

#[tokio::test]
async fn an_answer_of_another_authorization_server_is_not_taken() {
    let authorization = Arc::new(Authorization::start());
    let yard = yard();
    let (servers, instance) = begin(&yard, authorization.server.definition("one"));
    echo(&instance).await.unwrap_err();
    for (issuer, words) in [("https://evil.example.com", "another authorization server"), ("", "does not say which")] {
        let user = Arc::clone(&authorization);
        let made = log_in_with(&servers, move |place| {
            let back = user.agree(&place);
            let kept: Vec<(String, String)> =
                back.query_pairs().into_owned().filter(|(name, _)| name != "iss").collect();
            let mut back = back;
            back.query_pairs_mut().clear().extend_pairs(kept);
            if !issuer.is_empty() {
                back.query_pairs_mut().append_pair("iss", issuer);
            }
            browse(&back);
        });
        let why = made.await.unwrap_err();
        assert!(why.contains(words), "{why}");
    }
    assert!(authorization.asked().is_empty());
}

#[tokio::test]
async fn documents_that_point_elsewhere_end_a_login_before_the_browser() {
    for (path, member, value, words) in [
        (
            "/.well-known/oauth-protected-resource/mcp",
            "resource",
            json!("https://bank.example.com/mcp"),
            "which it is not",
        ),
        ("/.well-known/oauth-authorization-server/auth", "issuer", json!("https://evil.example.com"), "calls itself"),
        ("/.well-known/oauth-authorization-server/auth", "code_challenge_methods_supported", json!(["plain"]), "PKCE"),
        ("/.well-known/oauth-authorization-server/auth", "token_endpoint", json!("file:///etc/passwd"), "https"),
        ("/.well-known/oauth-authorization-server/auth", "registration_endpoint", Value::Null, "set client_id"),
    ] {
        let authorization = Authorization::bent(move |asked, document| {
            if asked == path {
                document[member] = value.clone();
            }
        });
        let yard = yard();
        let (servers, instance) = begin(&yard, authorization.server.definition("one"));
        echo(&instance).await.unwrap_err();
        let made = log_in_with(&servers, |place| panic!("{place} was opened")).await;
        let why = made.unwrap_err();
        assert!(why.contains(words), "{member}: {why}");
        assert!(authorization.asked().is_empty());
    }
}

#[tokio::test]
async fn a_configured_client_is_not_registered_and_configured_scopes_are_asked_for() {
    let authorization = Arc::new(Authorization::start());
    let yard = yard();
    let mut definition = authorization.server.definition("one");
    if let Reached::Address(address) = &mut definition.reached {
        address.login.client_id = Some("mine".to_owned());
        address.login.client_secret = Some("sesame".to_owned().into());
        address.login.scopes = Some(vec!["a".to_owned(), "b".to_owned()]);
    }
    let (servers, instance) = begin(&yard, definition);
    echo(&instance).await.unwrap_err();
    let user = Arc::clone(&authorization);
    let made = log_in_with(&servers, move |place| {
        let asked = place.query().unwrap().to_owned();
        assert!(
            asked.contains("client_id=mine") && asked.contains("scope=a+b") && !asked.contains("sesame"),
            "{asked}"
        );
        browse(&user.agree(&place));
    });
    assert_eq!(made.await, Ok(()));
    assert_eq!(authorization.asked()[0]["client_secret"], "sesame");
    assert!(!authorization.server.server.requests().iter().any(|request| request.path == "/auth/register"));
}

#[tokio::test]
async fn a_call_that_needs_more_than_the_login_allows_asks_for_a_login_with_more() {
    let server = crate::support::mcp_http::HttpServer::start(|request| {
        crate::support::mcp_http::calls(request, "echo").then(|| {
            let wanted = "Bearer error=\"insufficient_scope\", scope=\"notes:write\"";
            Reply::body(403, "").header("www-authenticate", wanted)
        })
    });
    let yard = yard();
    let (servers, instance) = begin(&yard, server.definition("one"));
    let why = echo(&instance).await.unwrap_err();
    assert!(why.contains("it wants a login"), "{why}");
    let challenge = servers.get("one").unwrap().login().challenge().unwrap();
    assert!(challenge.contains("notes:write"), "{challenge}");
}

#[test]
fn the_program_prints_the_address_to_open_and_keeps_the_login_until_it_is_told_to_forget_it() {
    let authorization = Authorization::start();
    let config = format!("[mcp.one]\nurl = \"{}/mcp\"\n", authorization.server.server.origin());
    let mut running = Program::new().config(&config).args(["mcp", "login", "one"]).run();
    let mut place = None;
    running.wait_for_line(|line| {
        place = line.parse::<Url>().ok();
        place.is_some()
    });
    browse(&authorization.agree(&place.unwrap()));
    let (end, home) = running.end_with_home();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert!(end.stderr.contains("logged in at one: 1 tool"), "{}", end.stderr);
    assert!(!end.stderr.contains("access-1") && !end.stdout.contains("access-1"));
    let (again, home) = Program::within(home).args(["mcp", "login", "one"]).output_with_home();
    assert!(stderr(&again).contains("wants no login, or takes the one that there is"), "{}", stderr(&again));
    let (out, home) = Program::within(home).args(["mcp", "logout", "one"]).output_with_home();
    assert_eq!(exit_code(&out), 0);
    assert!(stderr(&out).contains("removed the login at one"), "{}", stderr(&out));
    let (list, _home) = Program::within(home).args(["mcp", "doctor"]).output_with_home();
    assert_eq!(exit_code(&list), 1);
    let text = String::from_utf8_lossy(&list.stdout).into_owned();
    assert!(text.contains("steersman mcp login one"), "{text}");
}
