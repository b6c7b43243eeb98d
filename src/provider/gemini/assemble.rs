//! Chunks of a Gemini answer become pieces for the screen and one reply.
//!
//! Fed with the data of each event; pure. There is no last word but the finish reason: a stream that ends behind one is
//! whole, any other returns an error and no calls (D15).

use serde_json::Value;
use serde_json::value::RawValue;

use crate::dialect::Dialect;
use crate::event::Usage;
use crate::limits;
use crate::message::{Arguments, Original, Part, ToolCall};
use crate::provider::call_ids;
use crate::provider::error_body::{self, ErrorBody};
use crate::provider::gemini::chunk::{Call, Chunk, Mark, Part as WirePart, WireUsage};
use crate::provider::sse::Frame;
use crate::provider::wire::Assemble;
use crate::provider::{Finish, Piece, ProviderError, Reply};

/// What finish reasons mean. Any other word is none that is known.
const FINISHES: [(&str, Finish); 10] = [
    ("STOP", Finish::Stop),
    ("MAX_TOKENS", Finish::Length),
    ("SAFETY", Finish::ContentFilter),
    ("RECITATION", Finish::ContentFilter),
    ("BLOCKLIST", Finish::ContentFilter),
    ("PROHIBITED_CONTENT", Finish::ContentFilter),
    ("SPII", Finish::ContentFilter),
    ("LANGUAGE", Finish::ContentFilter),
    ("IMAGE_SAFETY", Finish::ContentFilter),
    ("MODEL_ARMOR", Finish::ContentFilter),
];
/// The finish reason of a chunk that is not the last.
const UNFINISHED: &str = "FINISH_REASON_UNSPECIFIED";

/// Builds one reply out of the frames of a stream, or out of one body.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    reply: Reply,
    parts: Vec<Part>,
    usage: WireUsage,
    /// Whether there was an answer at all.
    begun: bool,
    ended: bool,
    bytes: usize,
    /// Lines of an error that stands in the stream as plain JSON.
    plain: String,
}

impl Assemble for Assembler {
    fn take(&mut self, frame: Frame<'_>) -> Result<Option<Piece>, ProviderError> {
        match frame {
            Frame::Event { name: "error", data, .. } | Frame::Field { name: "error", value: data } => {
                Err(ErrorBody::read(data).reported())
            }
            Frame::Comment => Ok(None),
            Frame::Field { name, value } => self.plain_line(name, value).map(|()| None),
            Frame::Event { data, .. } => match data.trim() {
                "" | "[DONE]" => Ok(None),
                data => self.add_all(data).map(Some),
            },
        }
    }

    fn is_done(&self) -> bool {
        false
    }

    fn is_whole(&self) -> bool {
        self.ended
    }

    fn finish(self: Box<Self>) -> Result<Reply, ProviderError> {
        let Self { mut reply, parts, usage, ended, .. } = *self;
        if !ended {
            return Err(ProviderError::CutOff);
        }
        call_ids::make_unique(&mut reply.tool_calls);
        reply.usage = Usage { model: reply.usage.model.take(), ..usage.usage() };
        let must = parts.iter().any(|part| match part {
            Part::Opaque(_) => true,
            Part::Text { mark, .. } | Part::Call { mark, .. } => mark.is_some(),
        });
        reply.original = must.then(|| Original { dialect: Dialect::Gemini, parts, ..Original::default() });
        Ok(reply)
    }
}

impl Assembler {
    /// Reads a reply that came in one body: one answer, or the list of chunks that a stream without `alt=sse` is.
    ///
    /// # Errors
    /// As [`Assemble::take`] and [`Assemble::finish`]; [`ProviderError::Malformed`] for a body that is no reply.
    pub fn whole(body: &str) -> Result<Reply, ProviderError> {
        let body = body.trim_start_matches('\u{FEFF}').trim();
        let mut assembler = Box::new(Self::default());
        assembler.add_all(body)?;
        if !assembler.begun && body.starts_with('{') {
            return Err(ProviderError::Malformed(error_body::plain(body)));
        }
        assembler.finish()
    }

    fn add_all(&mut self, data: &str) -> Result<Piece, ProviderError> {
        let (mut thinking, mut text) = (String::new(), String::new());
        let mut add = |chunk: &str| -> Result<(), ProviderError> {
            let (more_thinking, more_text) = self.add(parse(chunk)?)?;
            thinking.push_str(&more_thinking);
            text.push_str(&more_text);
            Ok(())
        };
        if data.starts_with('[') {
            let chunks: Vec<&RawValue> = serde_json::from_str(data).map_err(|error| {
                // The list was not written to its end.
                if error.is_eof() { ProviderError::CutOff } else { ProviderError::Malformed(error_body::plain(data)) }
            })?;
            chunks.into_iter().try_for_each(|chunk| add(chunk.get()))?;
        } else {
            add(data)?;
        }
        Ok(Piece::Chunk { thinking, text })
    }

    fn add(&mut self, chunk: Chunk<'_>) -> Result<(String, String), ProviderError> {
        if let Some(error) = chunk.error.as_ref().filter(|error| !error.is_null()) {
            return Err(ErrorBody::of(error).reported());
        }
        if let Some(usage) = &chunk.usage_metadata {
            usage.over(&mut self.usage);
        }
        if !chunk.model_version.0.is_empty() {
            self.reply.usage.model = Some(chunk.model_version.0.into_owned());
        }
        let Some(candidate) = chunk.candidates.into_iter().flatten().next() else {
            let blocked = chunk.prompt_feedback.filter(|feedback| !feedback.block_reason.0.is_empty());
            return match blocked {
                Some(feedback) => {
                    let words = [&*feedback.block_reason.0, &*feedback.block_reason_message.0];
                    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
                    Err(ProviderError::Server(format!("the prompt was blocked: {}", words.join(", "))))
                }
                None => Ok((String::new(), String::new())),
            };
        };
        self.begun = true;
        let (mut thinking, mut text) = (String::new(), String::new());
        for raw in candidate.content.and_then(|content| content.parts).into_iter().flatten() {
            // Serde would also read a list as a part, member by member.
            if raw.get().starts_with('{')
                && let Ok(part) = serde_json::from_str::<WirePart<'_>>(raw.get())
            {
                self.add_part(part, raw, &mut thinking, &mut text)?;
            }
        }
        let word = &*candidate.finish_reason.0;
        if !word.is_empty() && word != UNFINISHED {
            let known = FINISHES.iter().find(|(name, _)| *name == word);
            self.reply.finish = known.map_or_else(|| Finish::Unknown(word.to_owned()), |(_, finish)| finish.clone());
            self.ended = true;
        }
        self.reply.thinking.push_str(&thinking);
        self.reply.content.push_str(&text);
        Ok((thinking, text))
    }

    fn add_part(
        &mut self,
        part: WirePart<'_>,
        raw: &RawValue,
        thinking: &mut String,
        text: &mut String,
    ) -> Result<(), ProviderError> {
        self.bytes = self.bytes.saturating_add(raw.get().len());
        if self.bytes > limits::REPLY_BYTES {
            return Err(ProviderError::Malformed(format!("a reply longer than {} bytes", limits::REPLY_BYTES)));
        }
        let signature = part.thought_signature.0;
        match (part.function_call, part.text) {
            (Some(call), _) => self.add_call(&call, &Mark { thought_signature: signature, id: call.id.0.clone() })?,
            (None, Some(said)) if part.thought == Value::Bool(true) => {
                thinking.push_str(&said.0);
                if !signature.is_empty() {
                    self.parts.push(Part::Opaque(raw.get().to_owned()));
                }
            }
            (None, Some(said)) => {
                text.push_str(&said.0);
                self.add_text(&said.0, Mark { thought_signature: signature, ..Mark::default() }.text());
            }
            (None, None) if raw.get() == "{}" => {}
            (None, None) => self.parts.push(Part::Opaque(raw.get().to_owned())),
        }
        Ok(())
    }

    /// A text with a signature stays a part of its own, also an empty one.
    fn add_text(&mut self, text: &str, mark: Option<String>) {
        match self.parts.last_mut() {
            _ if text.is_empty() && mark.is_none() => {}
            Some(Part::Text { text: held, mark: None }) if mark.is_none() => held.push_str(text),
            _ => self.parts.push(Part::Text { text: text.to_owned(), mark }),
        }
    }

    fn add_call(&mut self, call: &Call<'_>, mark: &Mark<'_>) -> Result<(), ProviderError> {
        let calls = &mut self.reply.tool_calls;
        if calls.len() >= limits::CALLS_PER_REPLY {
            return Err(ProviderError::Malformed(format!("more than {} tool calls", limits::CALLS_PER_REPLY)));
        }
        self.parts.push(Part::Call { index: calls.len(), mark: mark.text() });
        let arguments = call.args.map(RawValue::get).filter(|args| *args != "null").unwrap_or_default();
        let arguments = Arguments::parse(arguments);
        calls.push(ToolCall { id: (&*call.id.0).into(), name: call.name.0.clone().into_owned(), arguments });
        Ok(())
    }

    /// Takes a line that is no event's: an error in mid-stream comes as plain JSON, over several lines.
    fn plain_line(&mut self, name: &str, value: &str) -> Result<(), ProviderError> {
        let begins = name.trim_start().starts_with(['{', '[']);
        if self.plain.is_empty() && !begins || self.plain.len() > limits::ERROR_BODY_BYTES {
            return Ok(());
        }
        self.plain.push_str(name);
        if !value.is_empty() {
            self.plain.push(':');
            self.plain.push_str(value);
        }
        let json = serde_json::from_str::<Value>(&self.plain).ok();
        let error = json.as_ref().and_then(|json| json.get("error").or_else(|| json.get(0)?.get("error")));
        error.map_or(Ok(()), |error| Err(ErrorBody::of(error).reported()))
    }
}

fn parse(data: &str) -> Result<Chunk<'_>, ProviderError> {
    // Serde would also read a list as a chunk, member by member.
    let chunk = if data.starts_with('{') { serde_json::from_str(data).ok() } else { None };
    chunk.ok_or_else(|| ProviderError::Malformed(error_body::plain(data)))
}
