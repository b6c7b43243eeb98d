//! How fast a streamed reply is decoded and assembled, in MB/s and events/s, against what parsing its JSON alone costs.
//!
//! The streams are 20,000 words, one delta each, as a server of each dialect writes them. Run with
//! `cargo bench --bench sse`.

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use steersman_base::dialect::Dialect;
use steersman_core::provider::{ProviderError, Reply};
use steersman_provider::HttpProvider;
use steersman_provider::sse::{Decoder, Frame};

const WORDS: usize = 20_000;
/// What comes at once: the payload of a network packet, and a read buffer.
const PIECES: [usize; 2] = [1_400, 16_384];

fn main() {
    divan::main();
}

/// Writes the event of one word.
type Delta = fn(usize) -> String;

/// Returns the data of each event.
fn events(dialect: Dialect) -> Vec<String> {
    let (before, delta, after): (&[&str], Delta, &[&str]) = match dialect {
        // llama.cpp
        Dialect::OpenAi => (
            &[],
            |word| {
                format!(
                    r#"{{"choices":[{{"finish_reason":null,"index":0,"delta":{{"content":" word{word}"}}}}],"created":1763718000,"id":"chatcmpl-Xn2bGpDqT0cWq1Vb7kq3y5s2","model":"some-model-7b-instruct.gguf","system_fingerprint":"b6713-1234567","object":"chat.completion.chunk"}}"#
                )
            },
            &[r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#, "[DONE]"],
        ),
        Dialect::OpenAiResponses => (
            &[
                r#"{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"gpt-5","output":[]}}"#,
                r#"{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}}"#,
            ],
            |word| {
                format!(
                    r#"{{"type":"response.output_text.delta","sequence_number":{word},"item_id":"msg_0f2a6b1c9d","output_index":0,"content_index":0,"delta":" word{word}","logprobs":[],"obfuscation":"Qx81kV"}}"#
                )
            },
            &[
                r#"{"type":"response.completed","sequence_number":9,"response":{"id":"resp_1","object":"response","status":"completed","model":"gpt-5","output":[],"usage":{"input_tokens":9,"output_tokens":9}}}"#,
            ],
        ),
        Dialect::Anthropic => (
            &[
                r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"usage":{"input_tokens":9,"output_tokens":1}}}"#,
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            ],
            |word| {
                format!(
                    r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":" word{word}"}}}}"#
                )
            },
            &[
                r#"{"type":"content_block_stop","index":0}"#,
                r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}"#,
                r#"{"type":"message_stop"}"#,
            ],
        ),
        Dialect::Gemini => (
            &[],
            |word| {
                format!(
                    r#"{{"candidates":[{{"content":{{"parts":[{{"text":" word{word}"}}],"role":"model"}},"index":0}}],"usageMetadata":{{"promptTokenCount":9,"candidatesTokenCount":{word},"totalTokenCount":{word}}},"modelVersion":"gemini-2.5-pro","responseId":"Zx8kabc"}}"#
                )
            },
            &[r#"{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}]}"#],
        ),
    };
    let all = before.iter().map(|data| (*data).to_owned()).chain((0..WORDS).map(delta));
    all.chain(after.iter().map(|data| (*data).to_owned())).collect()
}

fn stream(events: &[String]) -> Vec<u8> {
    events.iter().flat_map(|data| ["data: ", data, "\n\n"]).collect::<String>().into_bytes()
}

/// The floor: each event parsed as plain JSON, without a stream and without a reply.
#[divan::bench(args = Dialect::ALL)]
fn json_alone(bencher: Bencher<'_, '_>, dialect: Dialect) {
    let events = events(dialect);
    let bytes = BytesCount::new(stream(&events).len());
    bencher.counter(bytes).counter(ItemsCount::new(events.len())).bench(|| {
        let parse = |data: &&String| serde_json::from_str::<serde_json::Value>(divan::black_box(data)).is_ok();
        events.iter().filter(parse).count()
    });
}

/// The decoder alone.
#[divan::bench(args = PIECES)]
fn decode(bencher: Bencher<'_, '_>, piece: usize) {
    let events = events(Dialect::OpenAi);
    let stream = stream(&events);
    bencher.counter(BytesCount::of_slice(&stream)).counter(ItemsCount::new(events.len())).bench(|| {
        let mut decoder = Decoder::default();
        let mut seen = 0_usize;
        let mut count = |frame: Frame<'_>| -> Result<(), ProviderError> {
            seen += usize::from(matches!(frame, Frame::Event { .. }));
            Ok(())
        };
        for piece in divan::black_box(&stream).chunks(piece) {
            decoder.push(piece, &mut count)?;
        }
        decoder.finish(&mut count)?;
        Ok::<usize, ProviderError>(seen)
    });
}

/// The way of a real reply: bytes in, pieces and a reply out.
#[divan::bench(args = Dialect::ALL, consts = PIECES)]
fn reply<const PIECE: usize>(bencher: Bencher<'_, '_>, dialect: Dialect) {
    let events = events(dialect);
    let stream = stream(&events);
    let words = assemble(&stream, PIECE, dialect).map(|reply| reply.content.split_whitespace().count());
    assert_eq!(words, Ok(WORDS), "the stream is not read as it is meant");
    bencher
        .counter(BytesCount::of_slice(&stream))
        .counter(ItemsCount::new(events.len()))
        .bench(|| assemble(divan::black_box(&stream), PIECE, dialect));
}

fn assemble(stream: &[u8], piece: usize, dialect: Dialect) -> Result<Reply, ProviderError> {
    let mut decoder = Decoder::default();
    let mut assembler = HttpProvider::assembler(dialect)?;
    let mut take = |frame: Frame<'_>| -> Result<(), ProviderError> {
        divan::black_box(assembler.take_frame(frame)?);
        Ok(())
    };
    for piece in stream.chunks(piece) {
        decoder.push(piece, &mut take)?;
    }
    decoder.finish(&mut take)?;
    assembler.finish()
}
