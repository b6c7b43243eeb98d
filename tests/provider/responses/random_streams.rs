//! Random streams: in any pieces, of any lines, with their events in any order, they give a reply that can go back or an
//! error.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::{Value, json};
use steersman_base::dialect::Dialect;
use steersman_base::message::Message;
use steersman_core::provider::{ProviderError, Reply};
use steersman_provider::HttpProvider;
use steersman_provider::sse::{Decoder, Frame};

use super::{
    arguments_delta, body, done, end, function_call, kept, message, play, reasoning, shown, text_delta, thought_delta,
};

fn run(stream: &[u8], size: usize) -> Result<Reply, ProviderError> {
    let mut assembler = HttpProvider::assembler(Dialect::OpenAiResponses).unwrap();
    let mut decoder = Decoder::default();
    let mut take = |frame: Frame<'_>| assembler.take_frame(frame).map(|_| ());
    for piece in stream.chunks(size) {
        decoder.push(piece, &mut take)?;
    }
    decoder.finish(&mut take)?;
    assembler.finish()
}

/// Makes events out of all the words that the assembler knows, in any order and with any members.
fn any_event() -> impl Strategy<Value = Value> {
    let kinds = prop::sample::select(vec![
        "response.created",
        "response.output_item.added",
        "response.output_item.done",
        "response.output_text.delta",
        "response.output_text.done",
        "response.refusal.delta",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_part.done",
        "response.reasoning_text.delta",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.completed",
        "response.incomplete",
        "x",
    ]);
    let text = prop::sample::select(vec!["", "a", "{\"a\":", "1}", "ü"]);
    let item = prop::sample::select(vec![
        Value::Null,
        message("a", "one"),
        reasoning("b", "two"),
        function_call("c", "call", "f", "{}"),
        json!({"type": "mystery"}),
        json!([1]),
    ]);
    (kinds, prop::sample::select(vec!["", "a", "b", "c"]), 0u64..3, text, item).prop_map(
        |(kind, id, at, text, item)| {
            json!({"type": kind, "item_id": id, "output_index": at, "summary_index": at, "delta": text, "text": text,
            "arguments": text, "item": item, "response": {"output": [item]}})
        },
    )
}

proptest! {
    #[test]
    fn any_chunking_of_the_bytes_gives_the_same_reply(size in 1usize..40, words in prop::collection::vec("[a-zü漢\u{2028} ]{0,6}", 0..6)) {
        let mut events: Vec<Value> = words.iter().map(|word| thought_delta(0, "rs_1", 0, word)).collect();
        events.push(done(0, &reasoning("rs_1", &words.concat())));
        events.extend(words.iter().map(|word| text_delta(1, "msg_1", word)));
        events.extend([arguments_delta(2, "fc_1", "{\"w\":"), arguments_delta(2, "fc_1", "\"ü\"}")]);
        events.extend([done(2, &function_call("fc_1", "call_a", "f", "{\"w\":\"ü\"}")), end()]);
        let mut stream = String::from(": ping\r\n\r\n");
        for (at, event) in events.iter().enumerate() {
            let eol = ["\n", "\r\n", "\r"][at % 3];
            write!(stream, "event: {}{eol}data: {event}{eol}{eol}", event["type"].as_str().unwrap()).unwrap();
        }
        let whole = run(stream.as_bytes(), stream.len()).unwrap();
        prop_assert_eq!(&whole.content, &words.concat());
        prop_assert_eq!(&whole.thinking, &words.concat());
        prop_assert_eq!(shown(&whole.tool_calls), ["call_a f {\"w\":\"ü\"}"]);
        prop_assert_eq!(run(stream.as_bytes(), size).unwrap(), whole);
    }

    #[test]
    fn arbitrary_lines_never_panic(data in r#"(\{("type"|"item"|"response"|"delta"|[a-z"]{0,3}): ?("response\.[a-z_.]{0,30}"|\[|\{\}|[0-9]{1,3}|null)[,}]{0,2}){0,4}.{0,20}"#) {
        let _ = run(format!("data: {data}\n\n").as_bytes(), 7);
        let _ = HttpProvider::whole(Dialect::OpenAiResponses, &data);
    }

    #[test]
    fn any_order_of_events_gives_what_can_go_back_or_an_error(events in prop::collection::vec(any_event(), 0..24)) {
        if let Ok(reply) = play(&events).0 {
            let ids: std::collections::HashSet<_> = reply.tool_calls.iter().map(|call| call.id.as_str()).collect();
            prop_assert_eq!(ids.len(), reply.tool_calls.len());
            let results: Vec<_> = reply.tool_calls.iter().map(|call| Message::tool(call, "x")).collect();
            let turn = [Message::user("hi"), kept(reply, "m")];
            let _ = body(&turn.into_iter().chain(results).collect::<Vec<_>>());
        }
    }
}
