//! How fast a streamed reply is decoded and assembled, in MB/s, against what parsing its JSON alone costs.
//!
//! The stream is 20,000 words of a llama.cpp server, one delta each (about 4 MB). Run with `cargo bench --bench sse`.

use divan::Bencher;
use divan::counter::BytesCount;
use steersman::provider::sse::{Decoder, Frame};
use steersman::provider::{Assemble as _, chat::Assembler};
use steersman::provider::{ProviderError, Reply};

const WORDS: usize = 20_000;

fn main() {
    divan::main();
}

fn chunks() -> Vec<String> {
    let chunk = |word: usize| {
        format!(
            "{{\"choices\":[{{\"finish_reason\":null,\"index\":0,\"delta\":{{\"content\":\" word{word}\"}}}}],\
             \"created\":1763718000,\"id\":\"chatcmpl-Xn2bGpDqT0cWq1Vb7kq3y5s2\",\"model\":\"some-model-7b-instruct.gguf\",\
             \"system_fingerprint\":\"b6713-1234567\",\"object\":\"chat.completion.chunk\"}}"
        )
    };
    (0..WORDS).map(chunk).collect()
}

fn stream() -> Vec<u8> {
    let mut stream = String::new();
    for chunk in chunks() {
        stream.extend(["data: ", &chunk, "\n\n"]);
    }
    stream.push_str("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    stream.into_bytes()
}

/// The floor: each chunk parsed as plain JSON, without a stream and without a reply.
#[divan::bench]
fn json_alone(bencher: Bencher<'_, '_>) {
    let chunks = chunks();
    let bytes: usize = chunks.iter().map(String::len).sum();
    bencher.counter(BytesCount::new(bytes)).bench(|| {
        chunks
            .iter()
            .filter_map(|chunk| serde_json::from_str::<serde_json::Value>(divan::black_box(chunk)).ok())
            .count()
    });
}

/// The decoder alone, fed with pieces of a network packet, of a read buffer, and of the whole.
#[divan::bench(args = [1_400, 16_384, usize::MAX])]
fn decode(bencher: Bencher<'_, '_>, piece: usize) {
    let stream = stream();
    bencher.counter(BytesCount::of_slice(&stream)).bench(|| {
        let mut decoder = Decoder::default();
        let mut events = 0_usize;
        let mut count = |frame: Frame<'_>| -> Result<(), ProviderError> {
            events += usize::from(matches!(frame, Frame::Event { .. }));
            Ok(())
        };
        for piece in divan::black_box(&stream).chunks(piece) {
            decoder.push(piece, &mut count)?;
        }
        decoder.finish(&mut count)?;
        Ok::<usize, ProviderError>(events)
    });
}

/// The way of a real reply: bytes in, pieces and a reply out.
#[divan::bench(args = [200, 1_400, 16_384])]
fn decode_and_assemble(bencher: Bencher<'_, '_>, piece: usize) {
    let stream = stream();
    bencher.counter(BytesCount::of_slice(&stream)).bench(|| assemble(divan::black_box(&stream), piece));
}

fn assemble(stream: &[u8], piece: usize) -> Result<Reply, ProviderError> {
    let mut decoder = Decoder::default();
    let mut assembler = Box::new(Assembler::default());
    let mut take = |frame: Frame<'_>| -> Result<(), ProviderError> {
        divan::black_box(assembler.take(frame)?);
        Ok(())
    };
    for piece in stream.chunks(piece) {
        decoder.push(piece, &mut take)?;
    }
    decoder.finish(&mut take)?;
    assembler.finish()
}
