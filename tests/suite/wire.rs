//! Stories on the real wire: the provider against the scripted server.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::support::server::{Gate, Reply, Server, Step};

fn post(server: &Server, body: &str) -> TcpStream {
    let mut socket = TcpStream::connect(server.origin().trim_start_matches("http://")).unwrap();
    let length = body.len();
    write!(socket, "POST /v1/chat/completions HTTP/1.1\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
    socket
}

#[test]
fn the_scripted_server_streams_waits_cuts_and_notices_a_hang_up() {
    let gate = Gate::new();
    let server =
        Server::start([Reply::stream([Step::data("1"), Step::Wait(gate.clone()), Step::Cut]), Reply::text("a b")]);
    let mut socket = post(&server, r#"{"stream":true}"#);
    gate.wait_reached();
    gate.open();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    assert!(text.ends_with("\r\n9\r\ndata: 1\n\n\r\n"), "{text}");

    drop(post(&server, r#"{"stream":false}"#));
    server.wait_requested(2);
    let gate = server.reply_gated(Reply::text("never"));
    let socket = post(&server, "{}");
    gate.wait_reached();
    drop(socket);
    server.wait_hung_up(1);
}

#[test]
#[should_panic(expected = "the call c1 has no result")]
fn the_scripted_server_fails_the_test_of_an_invalid_request() {
    let server = Server::start([Reply::text("")]);
    let call = r#"{"id":"c1","function":{"name":"f","arguments":"{}"}}"#;
    let _socket = post(&server, &format!(r#"{{"messages":[{{"role":"assistant","tool_calls":[{call}]}}]}}"#));
    server.wait_requested(1);
}
