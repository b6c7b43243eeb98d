//! A planned reply as server-sent events, cut into the small pieces in which models send them, at a pace.
//!
//! [`events`] is pure; [`paced`] adds the waits. Dropping the stream ends the generation.

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::stream::{self, Stream};
use hyper::body::Frame;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use crate::program::demo::pace::Pace;
use crate::program::demo::plan::PlannedReply;
use crate::program::demo::wire::{ChatBody, chunk, finish_reason, usage, usage_chunk};

/// Longest piece of text in one chunk, characters; a word that is longer is cut.
const PIECE_CHARS: usize = 24;
/// Length of one piece of arguments, characters.
const ARGUMENT_CHARS: usize = 16;

/// Returns the events of a reply in order, each a whole `data:` block.
pub(super) fn events(body: &ChatBody, reply: &PlannedReply) -> Vec<String> {
    let mut chunks = vec![chunk(&json!({"role": "assistant", "content": ""}), None)];
    chunks.extend(pieces(&reply.thinking).map(|text| chunk(&json!({"reasoning_content": text}), None)));
    chunks.extend(pieces(&reply.text).map(|text| chunk(&json!({"content": text}), None)));
    for (index, call) in reply.calls.iter().enumerate() {
        let head = json!({
            "index": index, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""},
        });
        chunks.push(chunk(&json!({"tool_calls": [head]}), None));
        chunks.extend(
            split_text(&call.arguments, ARGUMENT_CHARS)
                .map(|part| chunk(&json!({"tool_calls": [{"index": index, "function": {"arguments": part}}]}), None)),
        );
    }
    chunks.push(chunk(&json!({}), Some(finish_reason(reply))));
    chunks.push(usage_chunk(&usage(body, reply)));
    let mut events: Vec<String> = chunks.iter().map(data).collect();
    events.push("data: [DONE]\n\n".to_owned());
    events
}

/// Sends events at a pace. The schedule is absolute, so that slow clients and coarse timers do not add up.
pub(super) fn paced(events: Vec<String>, pace: Pace) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> + Send {
    let state = (events.into_iter(), Instant::now());
    stream::unfold(state, move |(mut events, due)| async move {
        let event = events.next()?;
        if pace != Pace::Instant {
            sleep_until(due).await;
        }
        Some((Ok(Frame::data(Bytes::from(event))), (events, due + pace.per_word())))
    })
}

fn data(chunk: &Value) -> String {
    format!("data: {chunk}\n\n")
}

/// Cuts text into words, each with the white space behind it; together they are the text.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive([' ', '\n']).flat_map(|word| split_text(word, PIECE_CHARS))
}

/// Cuts text into parts of so many characters.
fn split_text(text: &str, chars: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().nth(chars).map_or(rest.len(), |(at, _)| at);
        let (part, tail) = rest.split_at(end);
        rest = tail;
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::{pieces, split_text};

    #[test]
    fn pieces_put_together_are_the_text() {
        for text in ["", " ", "a b\n\nc", "日本語のとても長い文が空白なしで続いていくとどうなるでしょうか", "trailing "]
        {
            assert_eq!(pieces(text).collect::<String>(), text);
            assert!(pieces(text).all(|piece| piece.chars().count() <= 24));
            assert_eq!(split_text(text, 3).collect::<String>(), text);
        }
    }
}
