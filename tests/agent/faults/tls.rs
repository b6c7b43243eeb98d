//! No connection that can be trusted (P1): certificates, handshakes, what is no TLS at all; behind each the next turn
//! finds a better server.

use std::path::Path;

use super::play::{Visit, beside, families};
use crate::support::refusals::like;
use crate::support::server::{Reply, Server};
use crate::support::tls::{Answer, Authority, Front, Valid, self_signed, self_signed_authority};
use steersman_provider::Http;
use steersman_tools::web::{Client, WebOptions};

const UNTRUSTED: &str = "cannot reach localhost:*: TLS: the certificate of the server cannot be trusted: ";

/// Each fault: its name, what the front does with connections, the sentence, and the connections that were made.
fn rows(ours: &Authority) -> Vec<(&'static str, Vec<Answer>, String, usize)> {
    let good = || Answer::tls(ours.identity("localhost", Valid::Now));
    let first = |answer: Answer| vec![answer, good()];
    let four = |answer: Answer| vec![answer.clone(), answer.clone(), answer.clone(), answer, good()];
    let untrusted = |what: &str| format!("{UNTRUSTED}{what}");
    let stranger = Authority::new();
    vec![
        (
            "an expired certificate",
            first(Answer::tls(ours.identity("localhost", Valid::Past))),
            untrusted("it has expired"),
            1,
        ),
        (
            "a certificate of tomorrow",
            first(Answer::tls(ours.identity("localhost", Valid::Future))),
            untrusted("it is not valid yet; is the clock of this machine right?"),
            1,
        ),
        (
            "a certificate for another name",
            first(Answer::tls(ours.identity("other.test", Valid::Now))),
            untrusted("it is for another name (other.test)"),
            1,
        ),
        (
            "a certificate of a stranger",
            first(Answer::tls(stranger.identity("localhost", Valid::Now))),
            untrusted("no known authority has signed it; if it is right, name its authority with --ca-file"),
            1,
        ),
        (
            "a certificate that signs itself",
            first(Answer::tls(self_signed("localhost"))),
            untrusted("no known authority has signed it; if it is right, name its authority with --ca-file"),
            1,
        ),
        (
            "a server without TLS",
            first(Answer::Says(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n")),
            "cannot reach localhost:*: TLS: the server does not speak TLS; is the address http:// instead of https://?"
                .to_owned(),
            1,
        ),
        (
            "something that is no web server",
            first(Answer::Says(b"SSH-2.0-OpenSSH_9.9\r\n")),
            "cannot reach localhost:*: TLS: the server does not speak TLS; is the address http:// instead of https://?"
                .to_owned(),
            1,
        ),
        (
            "a connection that is closed in the handshake",
            four(Answer::Close),
            "cannot reach localhost:*: * (tried 4 times)".to_owned(),
            4,
        ),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_cannot_be_trusted_is_told_in_plain_words_and_gets_nothing() {
    let ours = Authority::new();
    let cases = families().into_iter().flat_map(|family| rows(&ours).into_iter().map(move |row| (family, row)));
    beside(cases, async |(family, (name, answers, sentence, connections))| {
        let server = Server::start([Reply::text("Fine now.")]);
        let front = Front::start(answers, server.origin());
        let http = Http::default().with_ca_file(ours.file());
        let mut visit = Visit::new(family, http, &format!("https://localhost:{}", front.port())).await;
        let said = visit.fails("Look.").await;
        assert!(like(&sentence, &said), "{name} ({family:?}): {said}");
        assert_eq!((front.connections(), server.requests().len()), (connections, 0), "{name} ({family:?})");
        visit.answers("And now?", "Fine now.").await;
    })
    .await;
}

#[tokio::test]
async fn an_authority_of_a_file_is_trusted_beside_those_of_the_system() {
    let ours = Authority::new();
    let server = Server::start([Reply::text("Hello.")]);
    let front = Front::start(vec![Answer::tls(ours.identity("localhost", Valid::Now))], server.origin());
    let http = Http::default().with_ca_file(ours.file());
    let base = format!("https://localhost:{}", front.port());
    Visit::new(families()[0], http, &base).await.answers("Hello?", "Hello.").await;
}

#[tokio::test]
async fn a_file_of_authorities_that_is_none_is_said_so() {
    let empty = tempfile::NamedTempFile::new().unwrap();
    let text = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(text.path(), "-----BEGIN CERTIFICATE-----\n%%%\n-----END CERTIFICATE-----\n").unwrap();
    for (path, what) in [
        (Path::new("/nonexistent/ca.pem"), "*cannot be read: No such file*"),
        (empty.path(), "*holds no certificate"),
        (text.path(), "*is not a PEM file of certificates"),
    ] {
        let http = Http::default().with_ca_file(path);
        let mut visit = Visit::new(families()[0], http, "https://localhost:9").await;
        let said = visit.fails("Hello?").await;
        assert!(
            like(&format!("HTTP cannot be set up: the file of authorities {}{what}", path.display()), &said),
            "{said}"
        );
    }
}

#[tokio::test]
async fn a_self_signed_authority_that_is_given_already_is_not_asked_for_again() {
    let (identity, file) = self_signed_authority("localhost");
    let server = Server::start([Reply::text("Hello.")]);
    let front = Front::start(vec![Answer::tls(identity)], server.origin());
    let http = Http::default().with_ca_file(file.path());
    let mut visit = Visit::new(families()[0], http, &format!("https://localhost:{}", front.port())).await;
    let said = visit.fails("Hello?").await;
    assert!(said.contains("CA:TRUE") && said.contains("make a new one with CA:FALSE"), "{said}");
    assert!(!said.contains("--ca-file"), "{said}");
}

#[tokio::test]
async fn neither_client_changes_the_tls_of_the_process_that_uses_the_library() {
    Http::default().client(&"https://localhost:9".parse().unwrap()).unwrap();
    let settings = WebOptions { allowed_hosts: vec!["127.0.0.1:9".to_owned()], ..WebOptions::default() };
    let client = Client::new(&settings).unwrap();
    // Nobody answers there; the client was made before that is found out.
    assert!(client.get(&client.target("https://127.0.0.1:9/").unwrap()).await.is_err());
    assert!(rustls::crypto::CryptoProvider::get_default().is_none());
}
