//! No server at all (P1), and one that is there the next time.

use std::net::TcpListener;

use super::play::{Visit, beside, families};
use crate::support::refusals::like;
use crate::support::server::{Reply, Server};
use crate::support::tls::{Answer, Front};
use steersman_provider::Http;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_port_and_a_name_that_is_not_known_are_told_apart() {
    beside(families(), async |family| {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut visit = Visit::new(family, Http::default(), &format!("http://{port}")).await;
        let said = visit.fails("Look.").await;
        let refused = format!("cannot reach {port}: connection refused; nothing listens at that port (tried 4 times)");
        assert_eq!(said, refused, "{family:?}");
        assert_eq!(visit.waits().len(), 3);
        let server = Server::start_at(port, [Reply::text("Fine now.")]);
        visit.answers("And now?", "Fine now.").await;
        drop(server);
    })
    .await;
    let mut visit = Visit::new(families()[0], Http::default(), "http://model.nx.invalid:8080").await;
    let said = visit.fails("Look.").await;
    assert!(
        like("cannot reach model.nx.invalid:8080: DNS: the name is not known (*) (tried 4 times)", &said),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_web_server_is_not_taken_for_one() {
    let said_by_others = [&b"SSH-2.0-OpenSSH_9.9\r\n"[..], b"\x15\x03\x01\x00\x02\x02\x46", b"HTTP/1.1 abc\r\n\r\n"];
    let cases = families().into_iter().flat_map(|family| said_by_others.map(|words| (family, words)));
    beside(cases, async |(family, words)| {
        let server = Server::start([Reply::text("Fine now.")]);
        let bad = Answer::Says(words);
        let front = Front::start(vec![bad.clone(), bad.clone(), bad.clone(), bad, Answer::Plain], server.origin());
        let mut visit = Visit::new(family, Http::default(), &format!("http://127.0.0.1:{}", front.port())).await;
        let said = visit.fails("Look.").await;
        let sentence = "cannot reach 127.0.0.1:*: the connection broke before an answer (*) (tried 4 times)";
        assert!(like(sentence, &said), "{family:?}: {said}");
        visit.answers("And now?", "Fine now.").await;
    })
    .await;
}
