//! What the fuzz targets share: a stream is read in two chunkings, and all that must hold of what comes out.
//!
//! Each target hands over the bytes that it was given. A panic, an endless loop or a broken promise is a finding.

use std::borrow::Cow;

use steersman_base::dialect::Dialect;
use steersman_base::message::{AssistantMessage, Message};
use steersman_core::provider::{ChatRequest, ChatTransport, Piece, ProviderError, Reply, Streaming};
use steersman_provider::reasoning::{Split, Splitter};
use steersman_provider::sse::{Decoder, Frame, TooLong};
use steersman_provider::{Http, HttpProvider};

/// A frame with texts of its own.
#[derive(Debug, PartialEq, Eq)]
enum Owned {
    Event(String, String, String),
    Comment,
    Retry(u64),
    Field(String, String),
}

/// Decodes bytes in chunks of a length; however they are cut, the frames are the same.
pub fn decode(data: &[u8]) {
    let Some((length, bytes)) = data.split_first() else { return };
    let whole = frames(bytes, bytes.len());
    assert_eq!(whole, frames(bytes, usize::from(*length)), "another chunking, other frames");
}

fn frames(bytes: &[u8], length: usize) -> Result<Vec<Owned>, TooLong> {
    let mut decoder = Decoder::with_caps(2_000, 4_000);
    let mut frames = Vec::new();
    let mut take = |frame: Frame<'_>| {
        frames.push(match frame {
            Frame::Event { name, id, data } => Owned::Event(name.to_owned(), id.to_owned(), data.to_owned()),
            Frame::Comment => Owned::Comment,
            Frame::Retry(millis) => Owned::Retry(millis),
            Frame::Field { name, value } => Owned::Field(name.to_owned(), value.to_owned()),
        });
        Ok(())
    };
    for chunk in bytes.chunks(length.max(1)) {
        decoder.push(chunk, &mut take)?;
    }
    decoder.finish(&mut take)?;
    Ok(frames)
}

/// Reads bytes as a stream of a dialect: the same reply in every chunking, its pieces are its texts, its calls have ids of
/// their own, and the request that follows it can be written.
pub fn stream(dialect: Dialect, data: &[u8]) {
    let Some((length, bytes)) = data.split_first() else { return };
    let whole = read(dialect, bytes, bytes.len());
    assert_eq!(whole, read(dialect, bytes, usize::from(*length)), "another chunking, another reply");
    if let Ok((reply, thinking, text)) = whole {
        // A lone closing tag moves what was shown already from the answer to the thought, and an item that is done counts
        // for more than its deltas.
        let final_word = match dialect {
            Dialect::OpenAi => reply.thinking.len() > thinking.len(),
            Dialect::OpenAiResponses => true,
            Dialect::Anthropic | Dialect::Gemini => false,
        };
        if !final_word {
            assert_eq!((&thinking, &text), (&reply.thinking, &reply.content), "what was shown is not what was said");
        }
        answer(dialect, &reply);
    }
}

/// Splits a text into thought and answer, in pieces of a length: the same whatever the pieces.
pub fn split(data: &[u8]) {
    let Some((length, bytes)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(bytes);
    let whole = parts(&text, usize::MAX);
    assert_eq!(whole, parts(&text, usize::from(*length)), "other pieces, another thought");
    assert!(whole.0.len() + whole.1.len() <= text.len(), "more than there was");
}

fn parts(text: &str, length: usize) -> (String, String) {
    let (mut thinking, mut answer) = (String::new(), String::new());
    let mut splitter = Splitter::default();
    let mut take = |split: Split, answer: &mut String| {
        if split.moved {
            thinking.push_str(&std::mem::take(answer));
        }
        thinking.push_str(&split.thinking);
        answer.push_str(&split.text);
    };
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.char_indices().map(|(at, _)| at).find(|at| *at >= length.max(1)).unwrap_or(rest.len());
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        let split = splitter.push(Cow::Borrowed(piece), &answer);
        take(split, &mut answer);
    }
    take(splitter.finish(), &mut answer);
    (thinking, answer)
}

/// Reads a text as a whole body of a dialect.
pub fn body(dialect: Dialect, text: &str) {
    match HttpProvider::whole(dialect, text) {
        Ok(reply) => answer(dialect, &reply),
        Err(error) => assert!(error.to_string().len() < 16_000, "an error of {} bytes", error.to_string().len()),
    }
}

type Told = (Reply, String, String);

fn read(dialect: Dialect, bytes: &[u8], length: usize) -> Result<Told, ProviderError> {
    let mut assembler = HttpProvider::assembler(dialect)?;
    let mut decoder = Decoder::default();
    let (mut thinking, mut text) = (String::new(), String::new());
    let mut show = |piece: Option<Piece>| {
        if let Some(Piece::Chunk { thinking: new_thinking, text: new_text }) = piece {
            thinking.push_str(&new_thinking);
            text.push_str(&new_text);
        }
    };
    for chunk in bytes.chunks(length.max(1)) {
        decoder.push(chunk, |frame| assembler.take_frame(frame).map(&mut show))?;
    }
    decoder.finish(|frame| assembler.take_frame(frame).map(&mut show))?;
    Ok((assembler.finish()?, thinking, text))
}

/// Writes the request that follows a reply, to its own server and to another.
fn answer(dialect: Dialect, reply: &Reply) {
    let mut ids: Vec<&str> = reply.tool_calls.iter().map(|call| call.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), reply.tool_calls.len(), "two calls of one id");
    assert!(!ids.contains(&""), "a call without an id");
    let results: Vec<Message> = reply.tool_calls.iter().map(|call| Message::tool(call, "found")).collect();
    for to in Dialect::ALL {
        let transport = ChatTransport { provider: Some(to.name().to_owned()), ..ChatTransport::default() };
        let Ok(provider) = HttpProvider::new(Http::default(), &transport) else { continue };
        let mut original = reply.original.clone();
        if let Some(original) = &mut original {
            assert_eq!(original.dialect, dialect);
            server(to).clone_into(&mut original.server);
            "m".clone_into(&mut original.model);
        }
        let said = AssistantMessage {
            content: reply.content.clone(),
            thinking: reply.thinking.clone(),
            tool_calls: reply.tool_calls.clone(),
            interrupted: false,
            original,
        };
        let mut history = vec![Message::user("Go"), Message::Assistant(said)];
        history.extend(results.iter().cloned());
        history.push(Message::user("Go on"));
        let request = ChatRequest::new("m", &history, &[], Streaming::On).expect("a history that can be sent");
        let body = provider.body(&request).expect("a body");
        serde_json::from_slice::<serde_json::Value>(&body).expect("a body of JSON");
    }
}

fn server(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::OpenAi | Dialect::OpenAiResponses => "https://api.openai.com/v1",
        Dialect::Anthropic => "https://api.anthropic.com/v1",
        Dialect::Gemini => "https://generativelanguage.googleapis.com/v1beta",
    }
}

/// Decides about a command under rules, and panics when that takes more processor time than the budget.
pub fn shell(text: &str, budget: std::time::Duration) {
    use std::time::Duration;
    use steersman_core::approval::{Circumstances, CommandOperation, Mode, Operation, Policy, Rules, Taint};

    let rules = Rules::parse(&["bash: git *"], &[], &["bash: rm *", "bash: git push *"]).expect("they are rules");
    let policy = Policy { rules, root: Some("/work".into()), ..Policy::default() };
    // What repeats is what takes long.
    let texts = [text.to_owned(), text.repeat(96 * 1024 / text.len().max(1))];
    for command in texts {
        let operation = Operation::Command(CommandOperation {
            command,
            cwd: "/work".into(),
            timeout: Duration::from_secs(1),
            outside: false,
        });
        let started = processor_time();
        policy.decide(&operation, &Circumstances { mode: Mode::Ask, grants: &[], taint: Taint::NONE });
        let taken = processor_time().saturating_sub(started);
        assert!(taken < budget, "it took {taken:?}");
    }
}

/// Returns the processor time of this thread: a busy machine does not count against the budget.
fn processor_time() -> std::time::Duration {
    rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}
