//! Trying again: what is, what is not, after how long, and what is said meanwhile.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::json;
use steersman_base::error::Cancelled;
use steersman_core::provider::{Piece, ProviderError};
use steersman_provider::retry::{Advice, Failure, Retries, retry_after_ms};

use super::wire::{ask, waits};
use crate::support::refusals::too_long;
use crate::support::server::{Reply, Server};

#[tokio::test]
async fn a_passing_failure_is_announced_and_tried_again() {
    for status in [408, 409, 425, 429, 500, 502, 503, 504, 529] {
        let busy = || Reply::json(status, json!({"error": {"message": "busy"}})).header("retry-after", "0.002");
        let server = Server::start([busy(), busy(), Reply::text("ok")]);
        let (answer, pieces) = ask(&server).await;
        assert_eq!(answer.unwrap().content, "ok");
        assert_eq!(waits(&pieces), [(2, 2), (3, 2)]);
        let Piece::Retrying { reason, .. } = &pieces[0] else { panic!("{pieces:?}") };
        assert_eq!(*reason, format!("the server answered {status}: busy"));
    }
}

#[tokio::test]
async fn it_gives_up_after_the_last_attempt_and_says_so() {
    let server = Server::routed(|_| Reply::json(503, json!({"error": "loading"})).header("retry-after", "0.002"));
    let (answer, pieces) = ask(&server).await;
    assert_eq!(answer.unwrap_err().to_string(), "the server answered 503: loading (tried 4 times)");
    assert_eq!((server.chats().len(), pieces.len()), (4, 3));
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_told_with_its_numbers_and_not_tried_again() {
    for (name, status, body, tokens, window) in too_long() {
        let server = Server::start([Reply::body(status, &body)]);
        let (answer, pieces) = ask(&server).await;
        let Err(ProviderError::Overflow { tokens: read, window: cap, .. }) = answer else {
            panic!("{name}: {answer:?}")
        };
        assert_eq!((read, cap), (tokens, window), "{name}");
        assert_eq!((server.chats().len(), pieces.len()), (1, 0), "{name}");
    }
}

#[tokio::test]
async fn a_wait_that_is_too_long_is_not_made() {
    let server = Server::start([Reply::json(429, json!({"error": "slow down"})).header("retry-after", "999999")]);
    let error = ask(&server).await.0.unwrap_err();
    assert_eq!(error.to_string(), "the server asks to wait 11 days: slow down");
    assert_eq!(server.chats().len(), 1);
}

#[test]
fn retry_after_is_read_in_every_form_and_nonsense_is_ignored() {
    let now: Timestamp = "2026-11-21T09:30:00Z".parse().unwrap();
    let read = |name: &'static str, value: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        retry_after_ms(&headers, now)
    };
    for (value, expected) in [
        ("2", Some(2_000)),
        ("0", Some(0)),
        ("1.5", Some(1_500)),
        ("-3", None),
        ("abc", None),
        ("NaN", None),
        ("inf", None),
        ("1e300", None),
        ("999999", Some(999_999_000)),
        ("Sat, 21 Nov 2026 09:30:02 GMT", Some(2_000)),
        ("Sat, 21 Nov 2026 09:29:00 GMT", Some(0)),
        ("", None),
    ] {
        assert_eq!(read("retry-after", value), expected, "{value}");
    }
    assert!(read("retry-after", "Tue, 01 Dec 2099 00:00:00 GMT").unwrap() > 1_000_000_000);
    assert_eq!(read("retry-after-ms", "250"), Some(250));
    assert_eq!(retry_after_ms(&HeaderMap::new(), now), None);
}

#[tokio::test(start_paused = true)]
async fn waits_double_with_jitter_and_take_their_time() {
    let mut retries = Retries::default();
    let error = ProviderError::Unreachable { host: "h".to_owned(), reason: "refused".to_owned() };
    for base in [500, 1_000, 2_000] {
        let mut after = 0;
        let started = tokio::time::Instant::now();
        let mut sink = |piece: Piece| {
            let Piece::Retrying { after_ms, .. } = piece else { panic!("{piece:?}") };
            after = after_ms;
            Ok(())
        };
        retries.pause(error.clone().into(), &mut sink).await.unwrap();
        assert!((base / 2..=base).contains(&after), "{after} of {base}");
        assert!(started.elapsed().abs_diff(Duration::from_millis(after)) <= Duration::from_millis(2));
    }
    let last = retries.pause(error.into(), &mut |_| Ok(())).await.unwrap_err();
    assert_eq!(last.to_string(), "cannot reach h: refused (tried 4 times)");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_ends_the_wait_before_it_begins_and_other_errors_do_not_wait() {
    let busy = ProviderError::Status { status: 429, message: String::new(), retry_after_ms: Some(50_000) };
    let stopped = Retries::default().pause(busy.into(), &mut |_| Err(Cancelled)).await;
    assert_eq!(stopped, Err(ProviderError::Cancelled(Cancelled)));
    for error in
        [ProviderError::Stalled(1), ProviderError::Malformed("x".to_owned()), ProviderError::Server("x".to_owned())]
    {
        let given = Failure { error: error.clone(), advice: Advice::Judge };
        assert_eq!(Retries::default().pause(given, &mut |_| panic!("announced")).await, Err(error));
    }
}
