//! Connections that mean harm, or nothing at all: the run and its honest clients notice nothing.

use std::collections::VecDeque;
use std::os::unix::net::UnixStream;

use serde_json::json;
use steersman_base::limits;

use crate::support::listening::{Listening, Raw};

/// An honest client still gets through, and nothing was put into the queue.
#[track_caller]
fn is_well(run: &Listening) {
    let mut raw = run.client("now", None);
    let answer = raw.call(1, "status", &json!(null));
    assert_eq!(answer["result"]["session"], "the-session", "{answer}");
    assert_eq!(run.handle.interloper().peek(), []);
}

#[test]
fn garbage_is_answered_with_an_error_and_harms_nothing() {
    let run = Listening::start();
    for garbage in [
        &b"\n"[..],
        b"garbage\n",
        b"{}\n",
        b"[1,2,3]\n",
        b"\xff\xfe\x00\n",
        b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"status\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no such method\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":-1,\"method\":\"status\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"request\",\"params\":{\"type\":\"stop\"}}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{\"version\":6,\"name\":\"x\"}}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{\"version\":5,\"name\":\"\\u001b[2J\"}}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{\"version\":5,\"name\":\"\"}}\n",
    ] {
        let mut raw = run.connect();
        assert!(raw.write(garbage));
        let answer = raw.answer().unwrap();
        assert!(answer["error"]["message"].is_string() && answer.get("result").is_none(), "{garbage:?}: {answer}");
        // The connection is as good as before.
        assert!(raw.call(2, "status", &json!(null))["result"].is_object());
    }
    let deep = format!("{}{}\n", "[".repeat(30_000), "]".repeat(30_000));
    let mut raw = run.connect();
    assert!(raw.write(deep.as_bytes()));
    assert!(raw.answer().unwrap()["error"].is_object());
    is_well(&run);
}

#[test]
fn a_line_that_never_ends_is_read_up_to_a_limit() {
    let run = Listening::start();
    let mut stranger = run.connect();
    let piece = vec![b'x'; 64 * 1024];
    let mut sent = 0;
    while sent < 64 << 20 && stranger.write(&piece) {
        sent += piece.len();
    }
    assert!(sent < 2 << 20, "{sent} bytes were taken of somebody who did not say hello");
    let mut client = run.client("none", None);
    let mut sent = 0;
    while sent < 64 << 20 && client.write(&piece) {
        sent += piece.len();
    }
    assert!(sent < limits::CLIENT_LINE + (2 << 20), "{sent} bytes were taken");
    is_well(&run);
}

#[test]
fn half_a_line_does_nothing_and_one_that_comes_byte_by_byte_is_read() {
    let run = Listening::start();
    let mut half = run.client("none", None);
    assert!(
        half.write(br#"{"jsonrpc":"2.0","id":1,"method":"request","params":{"type":"inject","to":"","text":"half"#)
    );
    let _ = half.stream.shutdown(std::net::Shutdown::Write);
    assert_eq!(half.answer(), None);
    let mut slow = run.connect();
    for byte in b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"status\"}\n" {
        assert!(slow.write(&[*byte]));
    }
    assert_eq!(slow.answer().unwrap()["id"], 5);
    is_well(&run);
}

#[test]
fn of_a_thousand_connections_the_silent_ones_give_way_to_an_honest_one() {
    let run = Listening::start();
    let mut silent = VecDeque::new();
    for number in 0..1_000 {
        silent.push_back(UnixStream::connect(&run.path).unwrap());
        if silent.len() > 200 {
            silent.pop_front();
        }
        if number % 100 == 99 {
            is_well(&run);
        }
    }
    is_well(&run);
}

#[test]
fn clients_have_a_limit_and_a_place_that_is_left_is_free_again() {
    let run = Listening::start();
    let mut all: Vec<Raw> = (0..limits::CLIENTS).map(|_| run.client("now", None)).collect();
    let hello = json!({"version": steersman_base::protocol::VERSION, "name": "story"});
    let refused = run.connect().call(1, "hello", &hello);
    assert!(refused["error"]["message"].as_str().unwrap().contains("too many"), "{refused}");
    all.pop();
    // Its place is free once the session has noticed.
    while run.connect().call(1, "hello", &hello)["error"].is_object() {
        std::thread::yield_now();
    }
}
