//! Chunks of a chat completion become pieces for the screen and one reply.
//!
//! Fed with the data of each event; pure. A reply exists only when the stream said that it is whole (a finish
//! reason or `[DONE]`): whatever was cut or broken returns an error and no calls (D15).

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::dialect::Dialect;
use crate::event::Usage;
use crate::limits;
use crate::message::{Original, Part};
use crate::provider::chat::calls::Calls;
use crate::provider::chat::chunk::{Chunk, Delta, List, WireUsage};
use crate::provider::chat::details::Details;
use crate::provider::error_body::{self, ErrorBody};
use crate::provider::reasoning::{Split, Splitter};
use crate::provider::sse::{Frame, TooLong};
use crate::provider::wire::Assemble;
use crate::provider::{Finish, Piece, ProviderError, Reply};

/// What finish reasons mean, by the words that servers use, in any case. Nobody knows what any other word means.
const FINISHES: [(&str, Ending); 26] = [
    ("stop", Ending::Whole(Finish::Stop)),
    ("tool_calls", Ending::Whole(Finish::Stop)),
    ("tool_call", Ending::Whole(Finish::Stop)),
    ("tool_use", Ending::Whole(Finish::Stop)),
    ("function_call", Ending::Whole(Finish::Stop)),
    ("end", Ending::Whole(Finish::Stop)),
    ("end_turn", Ending::Whole(Finish::Stop)),
    ("eos", Ending::Whole(Finish::Stop)),
    ("eos_token", Ending::Whole(Finish::Stop)),
    ("stop_sequence", Ending::Whole(Finish::Stop)),
    ("complete", Ending::Whole(Finish::Stop)),
    ("length", Ending::Whole(Finish::Length)),
    ("max_tokens", Ending::Whole(Finish::Length)),
    ("model_length", Ending::Whole(Finish::Length)),
    ("model_context_window_exceeded", Ending::Whole(Finish::Length)),
    ("content_filter", Ending::Whole(Finish::ContentFilter)),
    ("safety", Ending::Whole(Finish::ContentFilter)),
    ("recitation", Ending::Whole(Finish::ContentFilter)),
    ("refusal", Ending::Whole(Finish::ContentFilter)),
    ("guardrail_intervened", Ending::Whole(Finish::ContentFilter)),
    ("sensitive", Ending::Whole(Finish::ContentFilter)),
    ("abort", Ending::Cut),
    ("cancelled", Ending::Cut),
    ("error", Ending::Failed),
    ("network_error", Ending::Failed),
    ("insufficient_system_resource", Ending::Failed),
];

#[derive(Debug, Clone, PartialEq, Eq)]
enum Ending {
    Whole(Finish),
    Cut,
    Failed,
}

/// Is the member in which a server writes its reasoning. The first one seen counts for the whole reply: others
/// repeat the same text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    ReasoningContent,
    Reasoning,
    Details,
}

/// Builds one reply out of the frames of a stream, or out of one body.
#[derive(Debug, Default)]
pub struct Assembler {
    reply: Reply,
    calls: Calls,
    spelling: Option<Spelling>,
    details: Details,
    splitter: Splitter,
    ending: Option<(Ending, String)>,
    done: bool,
    bytes: usize,
}

impl Assemble for Assembler {
    fn take(&mut self, frame: Frame<'_>) -> Result<Option<Piece>, ProviderError> {
        match frame {
            Frame::Event { name: "error", data, .. } | Frame::Field { name: "error", value: data } => {
                Err(reported(ErrorBody::read(data)))
            }
            Frame::Comment | Frame::Field { .. } => Ok(None),
            Frame::Event { .. } if self.done => Ok(None),
            Frame::Event { data, .. } => match data.trim() {
                "" => Ok(None),
                "[DONE]" => {
                    self.done = true;
                    let (thinking, text) = self.end_of_text();
                    let brings = !(thinking.is_empty() && text.is_empty());
                    Ok(brings.then_some(Piece::Chunk { thinking, text }))
                }
                data => self.add(parse(data)?).map(Some),
            },
        }
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn is_whole(&self) -> bool {
        self.done || self.ending.is_some()
    }

    fn finish(mut self: Box<Self>) -> Result<Reply, ProviderError> {
        match self.ending.take() {
            Some((Ending::Whole(finish), _)) => self.reply.finish = finish,
            Some((Ending::Failed, word)) => {
                let word = error_body::plain(&word);
                return Err(ProviderError::Server(format!("the reply ended with \"{word}\"")));
            }
            Some((Ending::Cut, _)) => return Err(ProviderError::CutOff),
            None if !self.done => return Err(ProviderError::CutOff),
            None => {}
        }
        self.end_of_text();
        let parts: Vec<Part> = self.details.parts().chain(self.calls.marks()).collect();
        if !parts.is_empty() {
            self.reply.original = Some(Original { dialect: Dialect::OpenAi, parts, ..Original::default() });
        }
        self.reply.tool_calls = self.calls.finish();
        Ok(self.reply)
    }
}

impl Assembler {
    /// Reads a reply that came in one body.
    ///
    /// # Errors
    /// As [`Assembler::take`] and [`Assembler::finish`]; [`ProviderError::Malformed`] for a body that is no reply.
    pub fn whole(body: &str) -> Result<Reply, ProviderError> {
        let mut chunk = parse(body.trim_start_matches('\u{FEFF}').trim_start())?;
        let mut assembler = Box::new(Self { done: true, details: Details::apart(), ..Self::default() });
        let mut any = false;
        for choice in chunk.choices.iter_mut().flatten() {
            any |= choice.message.is_some();
            choice.delta = choice.message.take();
        }
        assembler.add(chunk)?;
        if any { assembler.finish() } else { Err(ProviderError::Malformed(error_body::plain(body))) }
    }

    fn add(&mut self, chunk: Chunk<'_>) -> Result<Piece, ProviderError> {
        if let Some(error) = chunk.error.as_ref().filter(|error| !error.is_null()) {
            return Err(reported(ErrorBody::of(error)));
        }
        if chunk.choices.is_none() {
            let words = chunk.message.filter(serde_json::Value::is_string).or(chunk.detail);
            match words {
                Some(words) if !words.is_null() => return Err(reported(ErrorBody::of(&words))),
                _ if chunk.object.0 == "error" => return Err(ProviderError::Server(error_body::SILENT.to_owned())),
                _ => {}
            }
        }
        if !chunk.model.0.is_empty() && self.reply.usage.model.as_deref() != Some(&*chunk.model.0) {
            self.reply.usage.model = Some(chunk.model.0.into_owned());
        }
        self.count(chunk.x_groq.and_then(|holder| holder.usage));
        self.count(chunk.usage);
        let (mut thinking, mut text) = (String::new(), String::new());
        if let Some(choice) = chunk.choices.into_iter().flatten().next() {
            if let Some(error) = choice.error.as_ref().filter(|error| !error.is_null()) {
                return Err(reported(ErrorBody::of(error)));
            }
            self.count(choice.usage);
            if let Some(delta) = choice.delta {
                (thinking, text) = self.add_delta(delta)?;
            }
            // Alibaba has written the word "null" where it meant none.
            if !matches!(&*choice.finish_reason.0, "" | "null") {
                self.end(choice.finish_reason.0.into_owned());
                let (more_thinking, more_text) = self.end_of_text();
                thinking.push_str(&more_thinking);
                text.push_str(&more_text);
            }
        }
        Ok(Piece::Chunk { thinking, text })
    }

    fn add_delta(&mut self, delta: Delta<'_>) -> Result<(String, String), ProviderError> {
        for call in &delta.tool_calls.0 {
            self.bytes += self.calls.take(call);
            if self.calls.len() > limits::CALLS_PER_REPLY {
                return Err(ProviderError::Malformed(format!("more than {} tool calls", limits::CALLS_PER_REPLY)));
            }
        }
        let mut thinking = self.reasoning(delta.reasoning_content.0, delta.reasoning.0, &delta.reasoning_details);
        thinking.push_str(&delta.content.thinking);
        self.bytes += thinking.len() + delta.content.text.len() + delta.refusal.0.len();
        if self.bytes.saturating_add(self.details.bytes()) > limits::REPLY_BYTES {
            return Err(ProviderError::Malformed(format!("a reply longer than {} bytes", limits::REPLY_BYTES)));
        }
        let mut split = Split::default();
        if !thinking.is_empty() {
            split = self.splitter.leave();
            split.thinking.push_str(&thinking);
        }
        let (mut thinking, mut text) = self.give_out(split);
        if !delta.content.text.is_empty() {
            let split = self.splitter.push(delta.content.text, &self.reply.content);
            let (more_thinking, more_text) = self.give_out(split);
            thinking.push_str(&more_thinking);
            text.push_str(&more_text);
        }
        self.reply.content.push_str(&delta.refusal.0);
        text.push_str(&delta.refusal.0);
        Ok((thinking, text))
    }

    /// Takes over what the text turned out to be. Returns the new thought and text.
    fn give_out(&mut self, split: Split) -> (String, String) {
        if split.moved {
            let thought = std::mem::take(&mut self.reply.content);
            self.reply.thinking.push_str(&thought);
        }
        self.reply.thinking.push_str(&split.thinking);
        self.reply.content.push_str(&split.text);
        (split.thinking, split.text)
    }

    /// Gives out what was held back.
    fn end_of_text(&mut self) -> (String, String) {
        let split = self.splitter.finish();
        self.give_out(split)
    }

    /// Takes a finish reason. A reply that was cut does not become whole by a later word.
    fn end(&mut self, word: String) {
        let cut = self.ending.as_ref().is_some_and(|(ending, _)| *ending != Ending::Whole(Finish::Stop));
        if !cut {
            self.ending = Some((ending(&word), word));
        }
    }

    /// Returns the reasoning of a chunk in the spelling that counts. Details are collected in any case.
    fn reasoning(&mut self, content: Cow<'_, str>, plain: Cow<'_, str>, details: &List<&RawValue>) -> String {
        let details: String = details.0.iter().map(|detail| self.details.take(detail)).collect();
        let spellings = [
            (Spelling::ReasoningContent, content),
            (Spelling::Reasoning, plain),
            (Spelling::Details, Cow::Owned(details)),
        ];
        let chosen = self.spelling;
        let mut brought = spellings.into_iter().filter(|(_, text)| !text.is_empty());
        let Some((spelling, text)) = brought.find(|(spelling, _)| chosen.is_none_or(|chosen| chosen == *spelling))
        else {
            return String::new();
        };
        self.spelling = Some(spelling);
        text.into_owned()
    }

    /// The last count wins: some servers send a growing one in every chunk.
    fn count(&mut self, usage: Option<WireUsage>) {
        let Some(wire) = usage else { return };
        self.reply.scope = self.reply.scope.max(wire.scope());
        if let Some(usage) = wire.usage() {
            let model = self.reply.usage.model.take();
            self.reply.usage = Usage { model, ..usage };
        }
    }
}

fn parse(data: &str) -> Result<Chunk<'_>, ProviderError> {
    // Serde would also read a list as a chunk, member by member.
    let chunk = if data.starts_with('{') { serde_json::from_str(data).ok() } else { None };
    chunk.ok_or_else(|| ProviderError::Malformed(error_body::plain(data)))
}

fn ending(word: &str) -> Ending {
    let known = FINISHES.iter().find(|(name, _)| word.eq_ignore_ascii_case(name));
    known.map_or_else(|| Ending::Whole(Finish::Unknown(error_body::plain(word))), |(_, ending)| ending.clone())
}

/// Makes the error for one that the server reported within a reply. One that names a status is treated as such.
fn reported(body: ErrorBody) -> ProviderError {
    body.reported()
}

impl From<TooLong> for ProviderError {
    fn from(error: TooLong) -> Self {
        Self::Malformed(error.to_string())
    }
}
