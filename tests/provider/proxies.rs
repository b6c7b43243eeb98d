//! Proxies of the environment, names that need none, and authorities of the environment. Each test runs in a process of
//! its own, since a process has one environment.

use std::net::SocketAddr;

use steersman_core::provider::{ApiKey, Streaming};
use steersman_provider::{Http, HttpProvider};

use super::wire::{complete, transport};
use crate::support::proxy::{Proxy, Tunnels};
use crate::support::refusals::like;
use crate::support::server::{Reply, Server};
use crate::support::tls::{Answer, Authority, Front, Valid};
use steersman_base::message::Message;

/// Asks the server at `STORY_BASE`, trusting `STORY_CA`, and prints what came of it.
#[tokio::test]
async fn asks_in_an_environment_of_its_own() {
    let Ok(base) = std::env::var("STORY_BASE") else { return };
    let mut transport = transport(&base);
    transport.api_key = Some(ApiKey::new("sk-1"));
    let http = match std::env::var("STORY_CA") {
        Ok(path) => Http::default().with_ca_file(path),
        Err(_) => Http::default(),
    };
    let provider = HttpProvider::new(http, &transport).unwrap();
    let (answer, pieces) = complete(&provider, &[Message::user("hi")], Streaming::On).await;
    let said = answer.map_or_else(|error| error.to_string(), |reply| reply.content);
    println!("said <{said}> behind {} waits", super::wire::waits(&pieces).len());
}

/// Asks in another process; returns the answer or the sentence of the failure, and how often it waited.
fn ask(base: &str, environment: &[(&str, &str)]) -> (String, usize) {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    for name in
        ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"]
    {
        child.env_remove(name);
    }
    child.args(["--exact", "proxies::asks_in_an_environment_of_its_own", "--nocapture"]);
    let output = child.env("STORY_BASE", base).envs(environment.iter().copied()).output().unwrap();
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let (said, waits) = output
        .split_once("said <")
        .and_then(|(_, behind)| behind.split_once("> behind "))
        .unwrap_or_else(|| panic!("{output}"));
    let waits = waits.split(' ').next().unwrap().parse().unwrap();
    (said.to_owned(), waits)
}

fn at(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

#[test]
fn plain_http_goes_through_the_proxy_with_its_whole_address() {
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"] {
        let proxy = Server::start([Reply::text("By way.")]);
        assert_eq!(ask("http://model.test", &[(name, proxy.origin())]), ("By way.".to_owned(), 0), "{name}");
        assert_eq!(proxy.requests()[0].path, "http://model.test/v1/chat/completions");
    }
}

#[test]
fn https_goes_through_a_tunnel_that_the_proxy_cannot_look_into() {
    let ours = Authority::new();
    let server = Server::start([Reply::text("By way.")]);
    let front = Front::start(vec![Answer::tls(ours.identity("model.test", Valid::Now))], server.origin());
    let proxy = Proxy::start(Tunnels::To(at(front.port())));
    let ca = ours.file().to_str().unwrap();
    let said = ask("https://model.test", &[("HTTPS_PROXY", &proxy.url()), ("STORY_CA", ca)]);
    assert_eq!(said, ("By way.".to_owned(), 0));
    let asked = proxy.asked().concat();
    assert!(asked.starts_with("CONNECT model.test:443 HTTP/1.1\r\n"), "{asked}");
    // The proxy is told its own password, and nothing of ours.
    assert!(asked.to_lowercase().contains("proxy-authorization: basic") && !asked.contains("sk-1"), "{asked}");
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer sk-1"));
}

#[test]
fn a_proxy_that_opens_no_way_is_named_with_the_reason_and_never_with_its_password() {
    for (tunnels, reason, waits) in [
        (Tunnels::Refused(407), "it needs a user and a password (407)", 0),
        (Tunnels::Refused(403), "it refuses to open the connection (tried 4 times)", 3),
        (Tunnels::HungUp, "it broke off before the connection was open (tried 4 times)", 3),
    ] {
        let proxy = Proxy::start(tunnels);
        let (said, waited) = ask("https://model.test", &[("HTTPS_PROXY", &proxy.url())]);
        let sentence = format!("cannot reach model.test: through the proxy {}: {reason}", proxy.address());
        assert_eq!((said, waited), (sentence, waits));
        assert_eq!(proxy.asked().len(), waits + 1);
    }
    let (said, waited) = ask("https://model.test", &[("HTTPS_PROXY", "http://user:secret@127.0.0.1:9")]);
    let reason = "connection refused; nothing listens at that port (tried 4 times)";
    assert_eq!((said, waited), (format!("cannot reach model.test: through the proxy 127.0.0.1:9: {reason}"), 3));
}

#[test]
fn a_proxy_that_wants_a_password_for_plain_http_is_not_asked_again() {
    let proxy = Server::start([Reply::body(407, "Who are you?")]);
    let (said, waits) = ask("http://model.test", &[("HTTP_PROXY", proxy.origin())]);
    let place = proxy.origin().trim_start_matches("http://");
    let sentence = format!("the server answered 407: {place} needs a user and a password: Who are you?");
    assert_eq!((said, waits, proxy.requests().len()), (sentence, 0, 1));
}

#[test]
fn names_that_need_no_proxy_and_this_machine_are_reached_directly() {
    let proxy = Proxy::start(Tunnels::Refused(403));
    let environment =
        [("HTTPS_PROXY", proxy.url()), ("HTTP_PROXY", proxy.url()), ("NO_PROXY", "nx.invalid".to_owned())];
    let environment: Vec<(&str, &str)> = environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let (said, _) = ask("https://model.nx.invalid", &environment);
    assert!(like("cannot reach model.nx.invalid: DNS: the name is not known (*) (tried 4 times)", &said), "{said}");
    let server = Server::start([Reply::text("Here.")]);
    assert_eq!(ask(server.origin(), &environment).0, "Here.");
    assert_eq!(proxy.asked(), [""; 0]);
}

#[test]
fn authorities_of_the_environment_and_of_a_file_without_any_of_the_system() {
    let ours = Authority::new();
    let ca = ours.file().to_str().unwrap();
    let server = Server::start([Reply::text("Trusted."), Reply::text("Trusted.")]);
    let front = Front::start(vec![Answer::tls(ours.identity("localhost", Valid::Now))], server.origin());
    let base = format!("https://localhost:{}", front.port());
    let nothing = [("SSL_CERT_FILE", "/dev/null"), ("SSL_CERT_DIR", "/nonexistent")];
    assert_eq!(ask(&base, &[("SSL_CERT_FILE", ca)]).0, "Trusted.");
    assert_eq!(ask(&base, &[&nothing[..], &[("STORY_CA", ca)]].concat()).0, "Trusted.");
    let (said, waits) = ask(&base, &nothing);
    assert!(like("*no known authority has signed it*", &said), "{said}");
    assert_eq!((waits, server.chats().len()), (0, 2));
}
