//! The SSE decoder: whatever the split, the same frames; every line end, comment and oddity of real servers.

use proptest::prelude::*;
use steersman_provider::sse::{Decoder, Frame, TooLong};

#[derive(Debug, Clone, PartialEq)]
enum Seen {
    Event(String, String, String),
    Comment,
    Retry(u64),
    Field(String, String),
}

fn decode_with<'a>(mut decoder: Decoder, pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<Seen>, TooLong> {
    let mut seen = Vec::new();
    let mut each = |frame: Frame<'_>| {
        seen.push(match frame {
            Frame::Event { name, id, data } => Seen::Event(name.to_owned(), id.to_owned(), data.to_owned()),
            Frame::Comment => Seen::Comment,
            Frame::Retry(millis) => Seen::Retry(millis),
            Frame::Field { name, value } => Seen::Field(name.to_owned(), value.to_owned()),
        });
        Ok(())
    };
    for piece in pieces {
        decoder.push(piece, &mut each)?;
    }
    decoder.finish(&mut each)?;
    Ok(seen)
}

fn decode(stream: &[u8]) -> Vec<Seen> {
    decode_with(Decoder::default(), [stream]).unwrap()
}

fn data(text: &str) -> Seen {
    Seen::Event(String::new(), String::new(), text.to_owned())
}

#[test]
fn every_line_end_ends_a_line() {
    for stream in ["data: a\n\ndata: b\n\n", "data: a\r\n\r\ndata: b\r\n\r\n", "data: a\r\rdata: b\r\r"] {
        assert_eq!(decode(stream.as_bytes()), [data("a"), data("b")], "{stream:?}");
    }
    assert_eq!(decode(b"data: a\r\n\ndata: b\n\r\n"), [data("a"), data("b")]);
}

#[test]
fn data_lines_are_joined_and_lose_one_blank_only() {
    assert_eq!(decode(b"data: a\ndata:b\ndata:  c\ndata\n\n"), [data("a\nb\n c\n")]);
}

#[test]
fn event_names_belong_to_one_event_and_ids_stay() {
    let seen = decode(b"event: error\nid: 7\ndata: x\n\nevent: lonely\n\ndata: y\nid: a\0b\nretry: 10\n\n");
    let event = |name: &str, data: &str| Seen::Event(name.to_owned(), "7".to_owned(), data.to_owned());
    assert_eq!(seen, [event("error", "x"), Seen::Retry(10), event("", "y")]);
}

#[test]
fn comments_prove_life_even_as_the_first_line() {
    let seen = decode(b": ping - now\n\n:\n\n: OPENROUTER PROCESSING\n\ndata: a\n\n");
    assert_eq!(seen, [Seen::Comment, Seen::Comment, Seen::Comment, data("a")]);
}

#[test]
fn the_last_event_counts_without_a_blank_line_or_a_line_end() {
    assert_eq!(decode(b"data: a\n"), [data("a")]);
    assert_eq!(decode(b"data: a"), [data("a")]);
    assert_eq!(decode(b""), []);
}

#[test]
fn a_byte_order_mark_is_dropped_at_the_start_only() {
    assert_eq!(decode("\u{FEFF}data: a\n\n".as_bytes()), [data("a")]);
    let later = decode("data: a\n\n\u{FEFF}data: b\n\n".as_bytes());
    assert_eq!(later, [data("a"), Seen::Field("\u{FEFF}data".to_owned(), "b".to_owned())]);
}

#[test]
fn a_leading_space_makes_an_unknown_field_and_an_error_field_is_reported() {
    let seen = decode(b" data: a\nerror: {\"code\":1}\ndata: b\n\n");
    let field = |name: &str, value: &str| Seen::Field(name.to_owned(), value.to_owned());
    assert_eq!(seen, [field(" data", "a"), field("error", "{\"code\":1}"), data("b")]);
}

#[test]
fn separators_inside_json_are_no_line_ends_and_bad_bytes_are_replaced() {
    assert_eq!(decode("data: a\u{2028}b\u{85}c\n\n".as_bytes()), [data("a\u{2028}b\u{85}c")]);
    assert_eq!(decode(b"data: a\xFFb\n\ndata: c\n\n"), [data("a\u{FFFD}b"), data("c")]);
}

#[test]
fn lines_and_events_have_caps() {
    let decoder = || Decoder::with_caps(16, 24);
    assert_eq!(decode_with(decoder(), [&b"data: 0123456789"[..], b"0"]), Err(TooLong::Line(16)));
    let line: &[u8] = b"data: 0123456789\n";
    assert_eq!(decode_with(decoder(), [line, line]).map(|seen| seen.len()), Ok(1));
    assert_eq!(decode_with(decoder(), [line, line, line]), Err(TooLong::Event(24)));
}

/// Texts made of the bytes that matter, with whole and half characters between.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let parts = prop::sample::select(vec![
        "data: ",
        "data",
        "event: e",
        "id: 1",
        ": c",
        "\n",
        "\n\n",
        "\r",
        "\r\n",
        "\r\n\r\n",
        "x",
        " ",
        ":",
        "ü",
        "漢",
        "👩‍🚀",
        "\u{FEFF}",
        "{\"a\":1}",
        "error: x",
    ]);
    let part =
        prop_oneof![9 => parts.prop_map(|part| part.as_bytes().to_vec()), 1 => any::<u8>().prop_map(|b| vec![b])];
    prop::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn any_split_gives_the_same_frames(stream in stream(), mut cuts in prop::collection::vec(0usize..400, 0..12)) {
        let whole = decode(&stream);
        cuts.retain(|cut| *cut < stream.len());
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|cut| &stream[cut[0]..cut[1]]);
        prop_assert_eq!(&decode_with(Decoder::default(), pieces).unwrap(), &whole);
        prop_assert_eq!(&decode_with(Decoder::default(), stream.chunks(1)).unwrap(), &whole);
    }

    #[test]
    fn no_bytes_break_it(stream in prop::collection::vec(any::<u8>(), 0..400)) {
        decode(&stream);
    }
}
