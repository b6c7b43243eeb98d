//! Events of a message stream become pieces for the screen and one reply.
//!
//! Takes the data of each event; pure. A reply exists only when the stream said that it is whole (a stop reason or
//! `message_stop`): a cut or broken stream returns an error and no calls (D15). Unknown kinds of events and blocks are
//! ignored or kept, never an error.

use serde_json::value::RawValue;

use crate::anthropic::blocks::{Blocks, VisibleText};
use crate::anthropic::chunk::{Event, Message, StopDetails, WireUsage};
use crate::chat::Text;
use crate::error_body::{self, ErrorBody};
use crate::sse::Frame;
use crate::wire::{Assemble, check_bytes, check_calls, parse};
use steersman_base::dialect::Dialect;
use steersman_base::message::Original;
use steersman_core::provider::{Finish, Piece, ProviderError, Reply};

/// The meanings of stop reasons.
const FINISHES: [(&str, Finish); 9] = [
    ("end_turn", Finish::Stop),
    ("stop_sequence", Finish::Stop),
    ("tool_use", Finish::Stop),
    ("max_tokens", Finish::Length),
    ("model_context_window_exceeded", Finish::Length),
    ("refusal", Finish::ContentFilter),
    ("pause_turn", Finish::Paused),
    // The server has summarised the conversation and waits for the next request.
    ("compaction", Finish::Paused),
    ("", Finish::Stop),
];

/// The assembler of one reply from the frames of a stream, or from one body.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    reply: Reply,
    blocks: Blocks,
    stop: String,
    whole: bool,
    done: bool,
    bytes: usize,
}

impl Assemble for Assembler {
    fn take_frame(&mut self, frame: Frame<'_>) -> Result<Option<Piece>, ProviderError> {
        match frame {
            Frame::Event { name: "error", data, .. } | Frame::Field { name: "error", value: data } => {
                Err(reported(data))
            }
            Frame::Comment | Frame::Retry(_) | Frame::Field { .. } => Ok(None),
            Frame::Event { .. } if self.done => Ok(None),
            Frame::Event { name, data, .. } => match data.trim() {
                "" => Ok(None),
                "[DONE]" => {
                    self.done = true;
                    Ok(None)
                }
                data => self.add(name, data),
            },
        }
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn is_whole(&self) -> bool {
        self.whole
    }

    fn finish(mut self: Box<Self>) -> Result<Reply, ProviderError> {
        if !self.whole {
            return Err(ProviderError::CutOff);
        }
        let known = FINISHES.iter().find(|(word, _)| *word == self.stop);
        self.reply.finish = known.map_or(Finish::Unknown(self.stop), |(_, finish)| finish.clone());
        let (calls, parts) = self.blocks.finish();
        self.reply.tool_calls = calls;
        self.reply.original = parts.map(|parts| Original { dialect: Dialect::Anthropic, parts, ..Original::default() });
        Ok(self.reply)
    }
}

impl Assembler {
    /// Reads a reply that came in one body.
    ///
    /// # Errors
    /// As [`Assembler::take`] and [`Assembler::finish`]; [`ProviderError::Malformed`] for a body that is no reply.
    pub(super) fn whole(body: &str) -> Result<Reply, ProviderError> {
        let body = body.trim_start_matches('\u{FEFF}').trim();
        let message: Message<'_> = parse(body)?;
        if message.error.is_some() {
            return Err(reported(body));
        }
        let Some(content) = &message.content else { return Err(ProviderError::Malformed(error_body::plain(body))) };
        let mut assembler = Box::new(Self { whole: true, done: true, ..Self::default() });
        assembler.begin(&message);
        for block in content {
            assembler.start(None, block)?;
        }
        assembler.finish()
    }

    fn add(&mut self, name: &str, data: &str) -> Result<Option<Piece>, ProviderError> {
        let event: Event<'_> = parse(data)?;
        if event.error.is_some() {
            return Err(reported(data));
        }
        self.bytes = self.bytes.saturating_add(event.weight());
        check_bytes(self.bytes)?;
        let index = event.index.0;
        let shown = match if event.kind.0.is_empty() { name } else { &event.kind.0 } {
            "message_start" => {
                if self.blocks.has_open_call() {
                    let what = "a message that begins within a call of another message".to_owned();
                    return Err(ProviderError::Malformed(what));
                }
                if let Some(message) = &event.message {
                    self.begin(message);
                }
                VisibleText::default()
            }
            "content_block_start" => match event.content_block {
                Some(block) => return self.start(index, block).map(Some),
                None => VisibleText::default(),
            },
            "content_block_delta" => match &event.delta {
                Some(delta) => self.blocks.add(index, delta, data),
                None => VisibleText::default(),
            },
            "content_block_stop" => {
                self.blocks.stop(index);
                VisibleText::default()
            }
            "message_delta" => {
                self.count(event.usage.as_ref());
                if let Some(delta) = &event.delta {
                    self.stop(&delta.stop_reason, delta.stop_details);
                }
                VisibleText::default()
            }
            "message_stop" => {
                (self.whole, self.done) = (true, true);
                VisibleText::default()
            }
            "error" => return Err(reported(data)),
            _ => return Ok(None),
        };
        Ok(Some(self.show(shown)))
    }

    fn begin(&mut self, message: &Message<'_>) {
        if !message.model.0.is_empty() {
            self.reply.usage.model = Some(message.model.0.clone().into_owned());
        }
        self.count(message.usage.as_ref());
        self.stop(&message.stop_reason, message.stop_details);
    }

    fn start(&mut self, index: Option<u64>, block: &RawValue) -> Result<Piece, ProviderError> {
        let shown = self.blocks.start(index, block)?;
        check_calls(self.blocks.calls())?;
        Ok(self.show(shown))
    }

    fn stop(&mut self, reason: &Text<'_>, details: Option<&RawValue>) {
        let details =
            details.and_then(|raw| serde_json::from_str::<StopDetails<'_>>(raw.get()).ok()).unwrap_or_default();
        if let Some(words) = [details.explanation.0, details.category.0].iter().find(|words| !words.trim().is_empty()) {
            self.reply.explanation = Some(error_body::one_line(words));
        }
        if !reason.0.is_empty() {
            reason.0.as_ref().clone_into(&mut self.stop);
            self.whole = true;
        }
    }

    fn count(&mut self, usage: Option<&WireUsage>) {
        if let Some(usage) = usage {
            usage.count(&mut self.reply.usage);
            self.reply.scope = self.reply.scope.max(usage.scope());
        }
    }

    /// Appends visible text to the reply; a new section follows after a blank line.
    fn show(&mut self, shown: VisibleText) -> Piece {
        let VisibleText { mut thinking, mut text, begins } = shown;
        for (whole, new) in [(&mut self.reply.thinking, &mut thinking), (&mut self.reply.content, &mut text)] {
            if begins && !new.is_empty() && !whole.is_empty() && !whole.ends_with('\n') {
                new.insert_str(0, "\n\n");
            }
            whole.push_str(new);
        }
        Piece::Chunk { thinking, text }
    }
}

/// Makes the error that the server reported within a reply.
fn reported(data: &str) -> ProviderError {
    ErrorBody::parse(data).reported()
}
