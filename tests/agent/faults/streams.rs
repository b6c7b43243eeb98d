//! Streams that break (P6), lie (P8, P15), come in odd clothes (P9), say too little (P14) or too much (P21), and calls
//! that must not run (P11 to P13).

use std::io::Write;
use std::sync::OnceLock;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use serde_json::json;

use super::{Fault, Move, Reply, answered, cut, done, failed, fault, look, moves, raw, says, text, thinking};
use crate::support::family::{Counts, End, Family};
use crate::support::server::Step;

const CUT: &str = "the reply was cut off before its end";

pub fn rows() -> Vec<Fault> {
    let mut rows = cuts();
    rows.extend(garbage());
    rows.extend(encodings());
    rows.extend(calls());
    rows.extend(empty());
    rows.extend(sizes());
    rows
}

fn well() -> Reply {
    says("Seen it.")
}

fn cuts() -> Vec<Fault> {
    let gone = "cannot reach 127.0.0.1:*: the connection broke before an answer (the server closed it) (tried 4 times)";
    let half = || Move::HalfCall("call_1".to_owned(), "look".to_owned(), "{\"at\":".to_owned());
    let hang_ups = |_| vec![Reply::hang_up(), Reply::hang_up(), Reply::hang_up(), Reply::hang_up()];
    let four = |_| (0..4).map(|_| moves([cut()])).collect();
    let in_body = |_| vec![Reply::stream([Step::Bytes(b"{\"id\":\"x\",".to_vec()), Step::Cut]), well()];
    vec![
        fault("hung up before an answer, then well", |_| vec![Reply::hang_up(), well()], answered("Seen it."))
            .retried(),
        fault("hung up for good", hang_ups, failed(gone)).given_up(),
        fault("cut behind the head", |_| vec![moves([cut()]), well()], answered("Seen it.")).retried(),
        fault("cut behind the head for good", four, failed(CUT)).given_up(),
        fault("cut within a text", |_| vec![moves([text("Half "), cut()])], failed(CUT)),
        fault("cut within a thought", |_| vec![moves([thinking("Hm. "), cut()])], failed(CUT)),
        fault("cut within a call", move |_| vec![moves([half(), cut()]), well()], answered("Seen it.")).retried(),
        fault("cut behind a call", |_| vec![moves([look(), cut()]), well()], answered("Seen it.")).retried(),
        fault("cut behind a text and a call", |_| vec![moves([text("So: "), look(), cut()])], failed(CUT)),
        fault("cut within a line", |_| vec![moves([raw("data: {\"choi"), cut()]), well()], answered("Seen it."))
            .retried(),
        fault(
            "cut within a character",
            |_| vec![moves([text("Half "), raw(b"data: {\"x\":\"\xF0\x9F"), cut()])],
            failed(CUT),
        ),
        fault("ended behind a text", |_| vec![moves([text("Half ")])], failed(CUT)),
        fault("ended behind a call", |_| vec![moves([look()]), well()], answered("Seen it.")).retried(),
        fault("ended within a line", |_| vec![moves([raw("data: {\"choices\"")]), well()], answered("Seen it."))
            .retried(),
        fault("a body that is cut", in_body, answered("Seen it.")).retried().whole(),
        fault("cut behind the end", |_| vec![moves([text("Seen it."), done(), cut()])], answered("Seen it.")),
        fault(
            "closed behind the calls",
            |_| vec![moves([look(), Move::End(End::Calls), cut()]), well()],
            answered("Seen it."),
        )
        .requests(2)
        .ran(1),
    ]
}

fn garbage() -> Vec<Fault> {
    let bad = |what: &'static str| move || raw(format!("data: {what}\n\n"));
    let no_reply = "the server sent something that is not a reply: ";
    let mut rows = Vec::new();
    for what in ["{oops", "[1,2]", "\"words\"", "<html>"] {
        let bad = bad(what);
        let script = move |_| vec![moves([bad(), done()]), well()];
        rows.push(fault(format!("a chunk {what}, then well"), script, answered("Seen it.")).retried());
    }
    let oops = bad("{oops");
    let four = move |_| (0..4).map(|_| moves([oops(), done()])).collect();
    rows.push(fault("broken chunks for good", four, failed(format!("{no_reply}{{oops (tried 4 times)"))).given_up());
    let oops = bad("{oops");
    let behind = move |_| vec![moves([text("Half "), oops(), text("more"), done()])];
    rows.push(fault("a broken chunk behind a text", behind, failed(format!("{no_reply}{{oops"))));
    let oops = bad("{oops");
    let call = move |_| vec![moves([look(), oops(), Move::End(End::Calls)]), well()];
    rows.push(fault("a broken chunk behind a call", call, answered("Seen it.")).retried());

    let page = "<!DOCTYPE html><html><head><title>Sign in</title></head></html>";
    let bodies: [(&str, Reply, String); 5] = [
        (
            "a login page",
            Reply::body(200, page).header("content-type", "text/html"),
            format!("{no_reply}a web page, \"Sign in\""),
        ),
        (
            "a login page as a stream",
            Reply::stream([Step::Bytes(page.as_bytes().to_vec())]),
            format!("{no_reply}a web page, \"Sign in\""),
        ),
        (
            "an error as JSON",
            Reply::json(200, json!({"error": {"message": "No such model."}})),
            "the server reported an error: No such model.".to_owned(),
        ),
        ("nothing, said so", Reply::body(204, ""), format!("{no_reply}an answer without content (status 204)")),
        ("plain words", Reply::body(200, "Service starting"), format!("{no_reply}Service starting")),
    ];
    for (name, reply, sentence) in bodies {
        rows.push(fault(format!("200 with {name}"), move |_| vec![reply.clone()], failed(sentence)));
    }
    // To Gemini a list is a stream; to the others it is nothing.
    let list = |_| vec![Reply::body(200, "[]")];
    let lists: &[Family] = &[Family::Chat, Family::Anthropic, Family::Responses];
    rows.push(fault("200 with a list", list, failed(format!("{no_reply}[]"))).only(lists));
    let nothing = |_| (0..4).map(|_| Reply::body(200, "")).collect();
    rows.push(fault("200 with nothing for good", nothing, failed(CUT)).given_up());
    let event =
        |family: Family| vec![moves([Move::Wire(family.error_event(400, "invalid_request_error", "No such model."))])];
    rows.push(fault("200 with an error in the stream", event, failed("the server *No such model.")));
    let field = |_| vec![Reply::stream([Step::Bytes(b"error: {\"message\":\"worker died\"}\n\n".to_vec())])];
    rows.push(
        fault("an error as a field of the stream", field, failed("the server reported an error: worker died"))
            .only(&[Family::Chat]),
    );
    let mislabelled = |_| vec![says("Seen it.").header("content-type", "text/html")];
    rows.push(fault("a reply that says it is a page", mislabelled, answered("Seen it.")));
    rows.push(fault("a body that says it is a page", mislabelled, answered("Seen it.")).whole());
    let other_form =
        |family: Family| vec![Reply::json(200, family.whole(&[text("Seen it."), done()], Counts::default()))];
    rows.push(fault("a body where a stream was asked for", other_form, answered("Seen it.")));
    rows
}

/// What the bytes of a stream go through.
type Dress = fn(Vec<u8>) -> Reply;

fn encodings() -> Vec<Fault> {
    let one = |bytes: Vec<u8>| Reply::stream([Step::Bytes(bytes)]);
    let dresses: [(&str, Dress); 13] = [
        ("CRLF", |bytes| Reply::stream([Step::Bytes(replaced(&bytes, "\n", "\r\n"))])),
        ("CR", |bytes| Reply::stream([Step::Bytes(replaced(&bytes, "\n", "\r"))])),
        ("a byte order mark", |bytes| Reply::stream([Step::Bytes([b"\xEF\xBB\xBF", &bytes[..]].concat())])),
        ("no space behind the colon", |bytes| Reply::stream([Step::Bytes(replaced(&bytes, "data: ", "data:"))])),
        ("several data lines", |bytes| Reply::stream([Step::Bytes(replaced(&bytes, "data: {", "data: {\ndata: "))])),
        ("no blank line at the end", |bytes| Reply::stream([Step::Bytes(bytes.trim_ascii_end().to_vec())])),
        ("one byte at a time", |bytes| Reply::stream(bytes.chunks(1).map(|piece| Step::Bytes(piece.to_vec())))),
        ("seven bytes at a time, CRLF", |bytes| {
            let bytes = replaced(&bytes, "\n", "\r\n");
            Reply::stream(bytes.chunks(7).map(|piece| Step::Bytes(piece.to_vec())).collect::<Vec<_>>())
        }),
        ("comments between all", |bytes| Reply::stream([Step::Bytes(replaced(&bytes, "\n\n", "\n\n: ping\n\n"))])),
        ("gzip", |bytes| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&bytes).unwrap();
            let whole = encoder.finish().unwrap();
            let pieces = whole.chunks(11).map(|piece| Step::Bytes(piece.to_vec()));
            Reply::stream(pieces.collect::<Vec<_>>()).header("content-encoding", "gzip")
        }),
        ("gzip, cut behind the end", |bytes| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&bytes).unwrap();
            encoder.flush().unwrap();
            let whole = encoder.get_ref().clone();
            Reply::stream([Step::Bytes(whole), Step::Cut]).header("content-encoding", "gzip")
        }),
        ("deflate", |bytes| {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&bytes).unwrap();
            Reply::bytes(200, encoder.finish().unwrap()).header("content-encoding", "deflate")
        }),
        ("raw deflate", |bytes| {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&bytes).unwrap();
            Reply::bytes(200, encoder.finish().unwrap()).header("content-encoding", "deflate")
        }),
    ];
    let words = "Grüße an die 🦀, „so“ – fertig.";
    let mut rows: Vec<Fault> = dresses
        .into_iter()
        .map(|(name, dress)| {
            let script = move |family: Family| {
                vec![dress(bytes(family, &[text("Grüße an die 🦀, "), text("„so“ – fertig."), done()]))]
            };
            fault(format!("a stream with {name}"), script, answered(words))
        })
        .collect();
    let brotli = move |family| vec![one(bytes(family, &[text("Seen it."), done()])).header("content-encoding", "br")];
    let sentence = "the server sent something that is not a reply: a body compressed as br, which was not asked for";
    rows.push(fault("a stream in brotli", brotli, failed(sentence)));
    let fake = move |_| vec![one(b"data: {}\n\n".to_vec()).header("content-encoding", "gzip")];
    rows.push(fault("a stream that is no gzip", fake, failed("*a compressed body that cannot be read*")));
    let refusal = |family: Family| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(family.refusal(400, "invalid_request_error", "No.").to_string().as_bytes()).unwrap();
        vec![Reply::bytes(400, encoder.finish().unwrap()).header("content-encoding", "gzip")]
    };
    rows.push(fault("a refusal in gzip", refusal, failed("the server answered 400: No.")));
    rows
}

/// Writes a stream as the bytes of its body.
pub fn bytes(family: Family, moves: &[Move]) -> Vec<u8> {
    let steps = family.stream(moves, Counts::default());
    steps.into_iter().flat_map(|step| if let Step::Bytes(bytes) = step { bytes } else { Vec::new() }).collect()
}

fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    String::from_utf8(bytes.to_vec()).unwrap().replace(from, to).into_bytes()
}

fn calls() -> Vec<Fault> {
    let named =
        |id: &str, name: &str, arguments: &str| Move::Call(id.to_owned(), name.to_owned(), arguments.to_owned());
    let with_args: &[Family] = &[Family::Chat, Family::Anthropic, Family::Responses];
    let ids: &[Family] = &[Family::Chat, Family::Anthropic, Family::Responses];
    let length = |_| vec![moves([look(), Move::End(End::Length)]), well()];
    let filter = |_| vec![moves([look(), Move::End(End::Filter)]), well()];
    let broken = move |_| vec![moves([named("c1", "look", "{\"at\":"), Move::End(End::Calls)]), well()];
    let unknown = move |_| vec![moves([named("c1", "jump", "{}"), Move::End(End::Calls)]), well()];
    let hostile = move |_| vec![moves([named("c1", "\u{1b}[2Jlook", "{}"), Move::End(End::Calls)]), well()];
    let twice =
        move |_| vec![moves([named("c1", "look", "{}"), named("c1", "look", "{}"), Move::End(End::Calls)]), well()];
    let again = |_| vec![moves([look(), Move::End(End::Calls)]), moves([look(), Move::End(End::Calls)]), well()];
    let missing = move |_| vec![moves([named("", "look", "{}"), Move::End(End::Calls)]), well()];
    let three = move |_| {
        let calls = ["a", "b", "c"].map(|id| named(id, "look", "{}"));
        vec![moves(calls.into_iter().chain([Move::End(End::Calls)])), well()]
    };
    vec![
        fault("a call that the token limit cut", length, answered("Seen it.")).requests(2),
        fault("a call that a filter cut", filter, answered("Seen it.")).requests(2),
        fault("arguments that are no JSON", broken, answered("Seen it.")).requests(2).only(with_args),
        fault("a tool that there is not", unknown, answered("Seen it.")).requests(2),
        fault("a tool with a hostile name", hostile, answered("Seen it.")).requests(2),
        fault("two calls with one id", twice, answered("Seen it.")).requests(2).ran(2).only(ids),
        fault("an id that comes again", again, answered("Seen it.")).requests(3).ran(2),
        fault("a call without an id", missing, answered("Seen it.")).requests(2).ran(1).only(ids),
        fault("three calls at once", three, answered("Seen it.")).requests(2).ran(3),
    ]
}

fn empty() -> Vec<Fault> {
    let once = |_| vec![moves([done()]), well()];
    let twice = |_| vec![moves([done()]), moves([done()])];
    let blank = |_| vec![moves([text(" \n"), done()]), well()];
    let thought = |_| vec![moves([thinking("Hm."), done()]), well()];
    let thoughts = |_| vec![moves([thinking("Hm."), done()]), moves([thinking("Hm."), done()])];
    vec![
        fault("an empty answer", once, answered("Seen it.")).requests(2),
        fault("an empty answer, in one body", once, answered("Seen it.")).requests(2).whole(),
        fault("an empty answer twice", twice, failed("*empty answer*")).requests(2),
        fault("a blank answer", blank, answered("Seen it.")).requests(2),
        fault("nothing but a thought", thought, answered("Seen it.")).requests(2),
        fault("nothing but thoughts twice", thoughts, failed("*empty answer*")).requests(2),
    ]
}

fn sizes() -> Vec<Fault> {
    let line = |_| {
        let piece = vec![b'x'; 1024 * 1024];
        let pieces = (0..10).map(move |_| Move::Wire(Step::Bytes(piece.clone())));
        vec![moves([raw("data: ")].into_iter().chain(pieces))]
    };
    let bomb = |_| vec![Reply::bytes(200, bomb().clone()).header("content-encoding", "gzip")];
    let many = |_| vec![moves((0..5_000).map(|_| text("x")).chain([done()]))];
    let events = |_| vec![moves((0..5_000).map(|_| raw("data:\n\n")).chain([text("Seen it."), done()]))];
    let absurd = |_| vec![well().usage(u64::MAX, u64::MAX)];
    let none = |_| vec![well().usage(0, 0)];
    vec![
        fault("a line of 10 MiB", line, failed("*a line of the stream is longer than 8388608 bytes")),
        fault("a line of 16 MiB in few bytes", bomb, failed("*a line of the stream is longer than 8388608 bytes")),
        fault("5,000 small pieces", many, answered(&"x".repeat(5_000))),
        fault("5,000 events of nothing", events, answered("Seen it.")),
        fault("absurd counts", absurd, answered("Seen it.")),
        fault("counts of nothing", none, answered("Seen it.")),
    ]
}

fn bomb() -> &'static Vec<u8> {
    static BOMB: OnceLock<Vec<u8>> = OnceLock::new();
    BOMB.get_or_init(|| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(b"data: ").unwrap();
        for _ in 0..16 {
            encoder.write_all(&vec![b'x'; 1024 * 1024]).unwrap();
        }
        encoder.finish().unwrap()
    })
}
