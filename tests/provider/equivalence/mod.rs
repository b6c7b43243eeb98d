//! The same stream in every encoding and every chunking: the same pieces, the same reply, the same next request.
//!
//! Twelve streams over the dialects, each in fourteen encodings that a server or a proxy may choose, each cut into
//! pieces in two hundred ways, down to single bytes.

mod encodings;
mod streams;

use steersman_base::dialect::Dialect;
use steersman_base::message::{AssistantMessage, Message, Original};
use steersman_core::provider::{ChatRequest, ChatTransport, Piece, ProviderError, Reply, Streaming};
use steersman_provider::sse::{Decoder, Frame};
use steersman_provider::{Http, HttpProvider};

use encodings::ENCODINGS;
use streams::Stream;

const CHUNKINGS: u64 = 200;

/// Everything that a stream leads to.
#[derive(Debug, PartialEq)]
struct Told {
    pieces: Vec<(String, String)>,
    reply: Reply,
}

/// Reads a stream that comes in chunks, as the course of a request does.
fn read<'a>(dialect: Dialect, chunks: impl Iterator<Item = &'a [u8]>) -> Result<Told, ProviderError> {
    let mut assembler = HttpProvider::assembler(dialect)?;
    let mut decoder = Decoder::default();
    let mut pieces = Vec::new();
    let mut done = false;
    for chunk in chunks {
        decoder.push(chunk, |frame: Frame<'_>| {
            if let Some(Piece::Chunk { thinking, text }) = assembler.take_frame(frame)? {
                pieces.push((thinking, text));
            }
            Ok::<_, ProviderError>(())
        })?;
        done = assembler.is_done();
        if done {
            break;
        }
    }
    if !done {
        decoder.finish(|frame: Frame<'_>| {
            if let Some(Piece::Chunk { thinking, text }) = assembler.take_frame(frame)? {
                pieces.push((thinking, text));
            }
            Ok::<_, ProviderError>(())
        })?;
    }
    pieces.retain(|(thinking, text)| !(thinking.is_empty() && text.is_empty()));
    Ok(Told { pieces, reply: assembler.finish()? })
}

/// Writes the request that follows a reply.
fn next_request(provider: &HttpProvider, dialect: Dialect, reply: &Reply) -> Vec<u8> {
    let Reply { content, thinking, tool_calls, original, .. } = reply.clone();
    let server = match dialect {
        Dialect::OpenAi | Dialect::OpenAiResponses => "https://api.openai.com/v1",
        Dialect::Anthropic => "https://api.anthropic.com/v1",
        Dialect::Gemini => "https://generativelanguage.googleapis.com/v1beta",
    };
    let original = original.map(|original| Original { server: server.to_owned(), model: "m".to_owned(), ..original });
    let results = tool_calls.iter().map(|call| Message::tool(call, "found")).collect::<Vec<_>>();
    let said = AssistantMessage { content, thinking, tool_calls, interrupted: false, original };
    let mut history = vec![Message::system("You are a ship."), Message::user("Go"), Message::Assistant(said)];
    history.extend(results);
    history.push(Message::user("Go on"));
    let request = ChatRequest::new("m", &history, &[], Streaming::On).unwrap();
    provider.body(&request).unwrap()
}

/// Cuts bytes into chunks; each seed in another way.
fn chunks(bytes: &[u8], seed: u64) -> impl Iterator<Item = &[u8]> {
    let longest = match seed {
        0 => bytes.len(),
        1..=4 => 1,
        _ => [3, 20, 120, 700, 1_500][usize::try_from(seed % 5).unwrap()],
    };
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let random = usize::try_from(state >> 33).unwrap();
        let length = if seed == 0 { longest } else { 1 + random % longest };
        let (chunk, behind) = rest.split_at(length.min(rest.len()));
        rest = behind;
        Some(chunk)
    })
}

fn summary(reply: &Reply) -> String {
    let calls: Vec<String> =
        reply.tool_calls.iter().map(|call| format!("{} {} {}", call.id, call.name, call.arguments)).collect();
    let usage = &reply.usage;
    let counts = [usage.input, usage.cached, usage.cache_creation, usage.output, usage.thinking];
    let counts = counts.map(|count| count.map_or("?".to_owned(), |count| count.to_string()));
    let parts = reply.original.as_ref().map_or(0, |original| original.parts.len());
    let Reply { thinking, content, finish, .. } = reply;
    format!("{thinking} | {content} | {} | {finish:?} | {} | {parts}", calls.join(", "), counts.join(" "))
}

fn holds(stream: &Stream) {
    let transport = ChatTransport { provider: Some(stream.dialect.name().to_owned()), ..ChatTransport::default() };
    let provider = HttpProvider::new(Http::default(), &transport).unwrap();
    let plain = stream.plain();
    let expected = read(stream.dialect, std::iter::once(plain.as_bytes())).unwrap();
    assert_eq!(summary(&expected.reply), stream.expected);
    let (thinking, text): (String, String) = expected.pieces.iter().cloned().unzip();
    assert_eq!((&thinking, &text), (&expected.reply.thinking, &expected.reply.content));
    let request = next_request(&provider, stream.dialect, &expected.reply);
    for (name, encode) in ENCODINGS {
        let encoded = encode(stream);
        assert_ne!(encoded, plain, "{name} changes nothing");
        for seed in 0..CHUNKINGS {
            let told = read(stream.dialect, chunks(encoded.as_bytes(), seed));
            assert_eq!(told.as_ref(), Ok(&expected), "{name}, chunking {seed}:\n{encoded}");
            // Replies that are equal may still be written differently: once for each way of writing is enough.
            if let (0, Ok(told)) = (seed, told) {
                let next = next_request(&provider, stream.dialect, &told.reply);
                assert!(next == request, "{name}: {}", String::from_utf8_lossy(&next));
            }
        }
    }
}

macro_rules! streams {
    ($($name:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            holds(&streams::$name());
        }
    )*};
}

streams! {
    chat_text_of_many_scripts,
    chat_reasoning_then_text,
    chat_parallel_calls,
    chat_cut_by_its_limit,
    messages_text,
    messages_signed_thinking_and_a_call,
    messages_parallel_calls_and_text_between,
    messages_long_text,
    responses_reasoning_and_a_call,
    responses_text,
    gemini_thoughts_and_signed_calls,
    gemini_text,
}

#[test]
fn there_are_as_many_as_promised() {
    assert_eq!(ENCODINGS.len(), 14);
    let cuts = |seed| chunks(&[0; 3_000], seed).map(<[u8]>::len).collect::<Vec<_>>();
    assert_eq!((cuts(0), cuts(1)), (vec![3_000], vec![1; 3_000]));
    let ways: std::collections::HashSet<Vec<usize>> = (0..CHUNKINGS).map(cuts).collect();
    assert!(ways.len() > 190, "{} ways of cutting", ways.len());
}
