//! HTTP/2 (P20): it is used, what was provably not looked at is asked again at once, and nothing is asked twice unseen.

use super::play::{Visit, beside, families};
use super::streams::bytes;
use super::{done, text, thinking};
use crate::support::family::{Family, Move};
use crate::support::http2::{Http2Server, Operation};
use crate::support::refusals::like;
use crate::support::tls::{Authority, Valid};
use steersman_provider::Http;

/// A range of waits.
type Waits = &'static [(u64, u64)];

const AT_ONCE: (u64, u64) = (0, 0);
const FIRST: (u64, u64) = (250, 500);
const SECOND: (u64, u64) = (500, 1_000);

type Row = (&'static str, Vec<Operation>, Result<&'static str, &'static str>, Waits);

/// Each row: its name, what the server does, the answer or the sentence of the failure, the waits that are announced.
fn rows(family: Family) -> Vec<Row> {
    let says = |moves: &[Move]| bytes(family, moves);
    let well = || Operation::Answer(says(&[text("Seen it."), done()]));
    let seen = Ok("Seen it.");
    let broke = "cannot reach localhost:*: the connection broke before an answer (*) (tried 4 times)";
    vec![
        ("a reply over HTTP/2", vec![well()], seen, &[]),
        ("a refused stream", vec![Operation::Refuse, well()], seen, &[AT_ONCE]),
        ("a refused stream, twice", vec![Operation::Refuse, Operation::Refuse, well()], seen, &[AT_ONCE, SECOND]),
        ("it leaves and has not looked", vec![Operation::LeaveUnseen, well()], seen, &[AT_ONCE]),
        ("it leaves in the middle", vec![Operation::LeaveSeen, well()], seen, &[FIRST]),
        ("it leaves behind its answer", vec![Operation::LeaveBehind(says(&[text("Seen it."), done()]))], seen, &[]),
        ("a broken stream", vec![Operation::Break, well()], seen, &[FIRST]),
        ("streams broken for good", vec![Operation::Break; 4], Err(broke), &[FIRST, SECOND, (1_000, 2_000)]),
        (
            "a stream that breaks behind a text",
            vec![Operation::BreakBehind(says(&[text("Half ")]))],
            Err("the reply was cut off before its end"),
            &[],
        ),
        (
            "a stream that breaks behind a thought",
            vec![Operation::BreakBehind(says(&[thinking("Hm. ")]))],
            Err("the reply was cut off before its end"),
            &[],
        ),
        ("a stream that breaks behind nothing", vec![Operation::BreakBehind(says(&[])), well()], seen, &[FIRST]),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_that_are_refused_or_break_end_as_they_should() {
    let ours = Authority::new();
    let cases = families().into_iter().flat_map(|family| rows(family).into_iter().map(move |row| (family, row)));
    beside(cases, async |(family, (name, script, ends, waits))| {
        let requests = script.len();
        let server = Http2Server::start(ours.identity("localhost", Valid::Now), script);
        let http = Http::default().with_ca_file(ours.file());
        let mut visit = Visit::new(family, http, &format!("https://localhost:{}", server.port())).await;
        match ends {
            Ok(words) => visit.answers("Look.", words).await,
            Err(sentence) => {
                let said = visit.fails("Look.").await;
                assert!(like(sentence, &said), "{name} ({family:?}): {said}");
            }
        }
        assert_eq!(server.bodies().len(), requests, "{name} ({family:?})");
        let announced = visit.waits();
        let fit = announced.len() == waits.len()
            && announced.iter().zip(waits).all(|(wait, (least, most))| (*least..=*most).contains(wait));
        assert!(fit, "{name} ({family:?}): waited {announced:?} instead of {waits:?}");
        server.act(Operation::Answer(bytes(family, &[text("Fine now."), done()])));
        visit.answers("And now?", "Fine now.").await;
        assert!(server.bodies().last().is_some_and(|body| body.contains("And now?")));
        assert!(server.protocols().iter().all(|agreed| agreed == "h2"), "{:?}", server.protocols());
    })
    .await;
}
