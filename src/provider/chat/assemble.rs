//! Chunks of a chat completion become pieces for the screen and one reply.
//!
//! Takes the data of each event; pure. A reply exists only when the stream said that it is whole (a finish reason or
//! `[DONE]`): a cut or broken stream returns an error and no calls (D15).

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::chat::calls::Calls;
use crate::chat::chunk::{Chunk, Delta, List, WireUsage};
use crate::chat::details::Details;
use crate::error_body::{self, ErrorBody};
use crate::reasoning::{Split, Splitter};
use crate::sse::{Frame, TooLong};
use crate::wire::{Assemble, check_bytes, check_calls, parse};
use steersman_base::dialect::Dialect;
use steersman_base::event::Usage;
use steersman_base::message::{Original, Part};
use steersman_core::provider::{Finish, Piece, ProviderError, Reply};

/// The meanings of the finish reasons that servers use, in any case of letters.
const FINISHES: [(&str, ReplyEnding); 26] = [
    ("stop", ReplyEnding::Whole(Finish::Stop)),
    ("tool_calls", ReplyEnding::Whole(Finish::Stop)),
    ("tool_call", ReplyEnding::Whole(Finish::Stop)),
    ("tool_use", ReplyEnding::Whole(Finish::Stop)),
    ("function_call", ReplyEnding::Whole(Finish::Stop)),
    ("end", ReplyEnding::Whole(Finish::Stop)),
    ("end_turn", ReplyEnding::Whole(Finish::Stop)),
    ("eos", ReplyEnding::Whole(Finish::Stop)),
    ("eos_token", ReplyEnding::Whole(Finish::Stop)),
    ("stop_sequence", ReplyEnding::Whole(Finish::Stop)),
    ("complete", ReplyEnding::Whole(Finish::Stop)),
    ("length", ReplyEnding::Whole(Finish::Length)),
    ("max_tokens", ReplyEnding::Whole(Finish::Length)),
    ("model_length", ReplyEnding::Whole(Finish::Length)),
    ("model_context_window_exceeded", ReplyEnding::Whole(Finish::Length)),
    ("content_filter", ReplyEnding::Whole(Finish::ContentFilter)),
    ("safety", ReplyEnding::Whole(Finish::ContentFilter)),
    ("recitation", ReplyEnding::Whole(Finish::ContentFilter)),
    ("refusal", ReplyEnding::Whole(Finish::ContentFilter)),
    ("guardrail_intervened", ReplyEnding::Whole(Finish::ContentFilter)),
    ("sensitive", ReplyEnding::Whole(Finish::ContentFilter)),
    ("abort", ReplyEnding::Cut),
    ("cancelled", ReplyEnding::Cut),
    ("error", ReplyEnding::Failed),
    ("network_error", ReplyEnding::Failed),
    ("insufficient_system_resource", ReplyEnding::Failed),
];

#[derive(Debug, Clone, PartialEq, Eq)]
enum ReplyEnding {
    Whole(Finish),
    Cut,
    Failed,
}

/// The member in which a server writes its reasoning. The first one seen counts for the whole reply: others repeat the
/// same text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReasoningMember {
    ReasoningContent,
    Reasoning,
    Details,
}

/// The assembler of one reply from the frames of a stream, or from one body.
#[derive(Debug, Default)]
pub struct Assembler {
    reply: Reply,
    calls: Calls,
    reasoning_member: Option<ReasoningMember>,
    details: Details,
    splitter: Splitter,
    ending: Option<(ReplyEnding, String)>,
    done: bool,
    bytes: usize,
}

impl Assemble for Assembler {
    fn take_frame(&mut self, frame: Frame<'_>) -> Result<Option<Piece>, ProviderError> {
        match frame {
            Frame::Event { name: "error", data, .. } | Frame::Field { name: "error", value: data } => {
                Err(ErrorBody::parse(data).reported())
            }
            Frame::Comment | Frame::Retry(_) | Frame::Field { .. } => Ok(None),
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
            Some((ReplyEnding::Whole(finish), _)) => self.reply.finish = finish,
            Some((ReplyEnding::Failed, word)) => {
                let word = error_body::plain(&word);
                return Err(ProviderError::Server(format!("the reply ended with \"{word}\"")));
            }
            Some((ReplyEnding::Cut, _)) => return Err(ProviderError::CutOff),
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
    /// As [`Assembler::take_frame`] and [`Assembler::finish`]; [`ProviderError::Malformed`] for a body that is no reply.
    pub fn whole(body: &str) -> Result<Reply, ProviderError> {
        let mut chunk: Chunk<'_> = parse(body.trim_start_matches('\u{FEFF}').trim_start())?;
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
            return Err(ErrorBody::from_value(error).reported());
        }
        if chunk.choices.is_none() {
            let words = chunk.message.filter(serde_json::Value::is_string).or(chunk.detail);
            match words {
                Some(words) if !words.is_null() => return Err(ErrorBody::from_value(&words).reported()),
                _ if chunk.object.0 == "error" => return Err(ProviderError::Server(error_body::NO_MESSAGE.to_owned())),
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
                return Err(ErrorBody::from_value(error).reported());
            }
            self.count(choice.usage);
            if let Some(delta) = choice.delta {
                (thinking, text) = self.add_delta(delta)?;
            }
            // Alibaba has sent the text "null" for no reason.
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
            self.bytes += self.calls.add_delta(call);
            check_calls(self.calls.len())?;
        }
        let mut thinking = self.reasoning(delta.reasoning_content.0, delta.reasoning.0, &delta.reasoning_details);
        thinking.push_str(&delta.content.thinking);
        self.bytes += thinking.len() + delta.content.text.len() + delta.refusal.0.len();
        check_bytes(self.bytes.saturating_add(self.details.bytes()))?;
        let mut split = Split::default();
        if !thinking.is_empty() {
            split = self.splitter.stop();
            split.thinking.push_str(&thinking);
        }
        let (mut thinking, mut text) = self.append(split);
        if !delta.content.text.is_empty() {
            let split = self.splitter.push(delta.content.text, &self.reply.content);
            let (more_thinking, more_text) = self.append(split);
            thinking.push_str(&more_thinking);
            text.push_str(&more_text);
        }
        self.reply.content.push_str(&delta.refusal.0);
        text.push_str(&delta.refusal.0);
        Ok((thinking, text))
    }

    /// Appends the parts of a split text. Returns the new thinking and text.
    fn append(&mut self, split: Split) -> (String, String) {
        if split.moved {
            let thought = std::mem::take(&mut self.reply.content);
            self.reply.thinking.push_str(&thought);
        }
        self.reply.thinking.push_str(&split.thinking);
        self.reply.content.push_str(&split.text);
        (split.thinking, split.text)
    }

    /// Returns the text that was held back.
    fn end_of_text(&mut self) -> (String, String) {
        let split = self.splitter.finish();
        self.append(split)
    }

    /// Takes a finish reason. A later reason does not make a cut reply whole.
    fn end(&mut self, word: String) {
        let cut = self.ending.as_ref().is_some_and(|(ending, _)| *ending != ReplyEnding::Whole(Finish::Stop));
        if !cut {
            self.ending = Some((ending(&word), word));
        }
    }

    /// Returns the reasoning of a chunk from the member that counts. Details are collected in any case.
    fn reasoning(&mut self, content: Cow<'_, str>, plain: Cow<'_, str>, details: &List<&RawValue>) -> String {
        let details: String = details.0.iter().map(|detail| self.details.add(detail)).collect();
        let members = [
            (ReasoningMember::ReasoningContent, content),
            (ReasoningMember::Reasoning, plain),
            (ReasoningMember::Details, Cow::Owned(details)),
        ];
        let chosen = self.reasoning_member;
        let mut brought = members.into_iter().filter(|(_, text)| !text.is_empty());
        let Some((reasoning_member, text)) =
            brought.find(|(reasoning_member, _)| chosen.is_none_or(|chosen| chosen == *reasoning_member))
        else {
            return String::new();
        };
        self.reasoning_member = Some(reasoning_member);
        text.into_owned()
    }

    /// Takes a usage. The last one wins: some servers send a growing count in every chunk.
    fn count(&mut self, usage: Option<WireUsage>) {
        let Some(wire) = usage else { return };
        self.reply.scope = self.reply.scope.max(wire.scope());
        if let Some(usage) = wire.usage() {
            let model = self.reply.usage.model.take();
            self.reply.usage = Usage { model, ..usage };
        }
    }
}

fn ending(word: &str) -> ReplyEnding {
    let known = FINISHES.iter().find(|(name, _)| word.eq_ignore_ascii_case(name));
    known.map_or_else(|| ReplyEnding::Whole(Finish::Unknown(error_body::plain(word))), |(_, ending)| ending.clone())
}

impl From<TooLong> for ProviderError {
    fn from(error: TooLong) -> Self {
        Self::Malformed(error.to_string())
    }
}
