//! Chunks of a Gemini answer become pieces for the screen and one reply.
//!
//! Takes the data of each event; pure. Only the finish reason marks the end: a stream that ends after one is whole, any
//! other returns an error and no calls (D15).

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::call_ids;
use crate::error_body::{self, ErrorBody};
use crate::gemini::chunk::{Call, Chunk, Part as WirePart, PartMark, WireUsage};
use crate::gemini::partial;
use crate::sse::Frame;
use crate::wire::{Assemble, check_bytes, check_calls, parse};
use steersman_base::dialect::Dialect;
use steersman_base::event::Usage;
use steersman_base::limits;
use steersman_base::message::{Arguments, Original, Part, ToolCall};
use steersman_core::provider::{Finish, Piece, ProviderError, Reply};

/// The meanings of finish reasons.
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

/// The assembler of one reply from the frames of a stream, or from one body.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    reply: Reply,
    parts: Vec<Part>,
    usage: WireUsage,
    /// Whether any answer has come.
    begun: bool,
    ended: bool,
    /// Whether more arguments of the last call follow.
    open: bool,
    bytes: usize,
    /// The lines of an error that the stream holds as plain JSON.
    plain: String,
}

impl Assemble for Assembler {
    fn take_frame(&mut self, frame: Frame<'_>) -> Result<Option<Piece>, ProviderError> {
        match frame {
            Frame::Event { name: "error", data, .. } | Frame::Field { name: "error", value: data } => {
                Err(ErrorBody::parse(data).reported())
            }
            Frame::Comment | Frame::Retry(_) => Ok(None),
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
        let Self { mut reply, parts, usage, ended, open, .. } = *self;
        // A reply whose calls do not run anyway is returned with its reason instead of this error.
        if !ended || open && reply.finish == Finish::Stop {
            return Err(ProviderError::CutOff);
        }
        call_ids::make_unique(&mut reply.tool_calls);
        reply.usage = Usage { model: reply.usage.model.take(), ..usage.usage() };
        reply.scope = usage.scope();
        let must = parts.iter().any(|part| match part {
            Part::Opaque(_) => true,
            Part::Text { mark, .. } | Part::Call { mark, .. } => mark.is_some(),
        });
        reply.original = must.then(|| Original { dialect: Dialect::Gemini, parts, ..Original::default() });
        Ok(reply)
    }
}

impl Assembler {
    /// Reads a reply that came in one body: one answer, or the list of chunks of a stream without `alt=sse`.
    ///
    /// # Errors
    /// As [`Assemble::take_frame`] and [`Assemble::finish`]; [`ProviderError::Malformed`] for a body that is no reply.
    pub(super) fn whole(body: &str) -> Result<Reply, ProviderError> {
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
                // The list was cut off.
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
            return Err(ErrorBody::from_value(error).reported());
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
        if !candidate.finish_message.0.trim().is_empty() {
            self.reply.explanation = Some(error_body::one_line(&candidate.finish_message.0));
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
        check_bytes(self.bytes)?;
        let signature = part.thought_signature.0;
        match (part.function_call, part.text) {
            (Some(call), _) => self.add_call(call, signature)?,
            (None, Some(said)) if part.thought == Value::Bool(true) => {
                thinking.push_str(&said.0);
                if !signature.is_empty() {
                    self.parts.push(Part::Opaque(raw.get().to_owned()));
                }
            }
            (None, Some(said)) => {
                text.push_str(&said.0);
                self.add_text(&said.0, PartMark { thought_signature: signature, ..PartMark::default() }.text());
            }
            (None, None) if raw.get() == "{}" => {}
            (None, None) => self.parts.push(Part::Opaque(raw.get().to_owned())),
        }
        Ok(())
    }

    /// Appends text. A text with a signature stays a part of its own, also an empty one.
    fn add_text(&mut self, text: &str, mark: Option<String>) {
        match self.parts.last_mut() {
            _ if text.is_empty() && mark.is_none() => {}
            Some(Part::Text { text: held, mark: None }) if mark.is_none() => held.push_str(text),
            _ => self.parts.push(Part::Text { text: text.to_owned(), mark }),
        }
    }

    fn add_call(&mut self, call: Call<'_>, thought_signature: Cow<'_, str>) -> Result<(), ProviderError> {
        let malformed = |what: String| Err(ProviderError::Malformed(what));
        let Call { id, name, args, partial_args, will_continue } = call;
        let args = Arguments::parse(args.map(RawValue::get).filter(|args| *args != "null").unwrap_or_default());
        let pieces = partial_args.unwrap_or_default();
        let calls = &mut self.reply.tool_calls;
        let count = calls.len();
        match calls.last_mut().filter(|_| self.open) {
            Some(last) if name.0.is_empty() || is_more(last, &id.0, &name.0) => {
                if let (Arguments::Object(held), Arguments::Object(more)) = (&mut last.arguments, args) {
                    held.extend(more);
                }
            }
            // The call ended before its arguments.
            Some(_) => return Err(ProviderError::CutOff),
            None if name.0.is_empty() && !pieces.is_empty() => {
                return malformed("arguments that belong to no call".to_owned());
            }
            None => {
                check_calls(count + 1)?;
                let mark = PartMark { thought_signature, id: id.0.clone() }.text();
                self.parts.push(Part::Call { index: count, mark });
                calls.push(ToolCall { id: (&*id.0).into(), name: name.0.into_owned(), arguments: args });
            }
        }
        for piece in pieces {
            let path = error_body::one_line(&piece.json_path.0);
            let put = calls.last_mut().and_then(|last| match &mut last.arguments {
                Arguments::Object(arguments) => partial::put(arguments, piece),
                Arguments::Raw(_) => None,
            });
            if put.is_none() {
                return malformed(format!("a piece of arguments whose path is invalid: {path}"));
            }
        }
        self.open = will_continue == Value::Bool(true);
        Ok(())
    }

    /// Takes a line outside of events: an error within a stream comes as plain JSON, over several lines.
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
        error.map_or(Ok(()), |error| Err(ErrorBody::from_value(error).reported()))
    }
}

/// Returns whether a piece with a name continues a call: some gateways repeat the name in each piece.
fn is_more(call: &ToolCall, id: &str, name: &str) -> bool {
    call.name == name && (id.is_empty() || call.id.as_str() == id)
}
