//! Events of a response become pieces for the screen and one reply.
//!
//! Takes the data of each event; pure. A reply exists only when the server said that the response is completed or
//! incomplete: a cut or failed one returns an error and no calls (D15).

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error_body;
use crate::responses::event::{self, Event, ItemPart, Response};
use crate::responses::items::{AddedText, ItemPosition, Items, ThinkingForm};
use crate::sse::Frame;
use crate::wire::{Assemble, check_bytes, check_calls, parse};
use steersman_base::event::Usage;
use steersman_base::limits;
use steersman_core::provider::{Finish, Piece, ProviderError, Reply, UsageScope};

/// The assembler of one reply from the frames of a stream, or from one body.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    items: Items,
    usage: Usage,
    scope: UsageScope,
    finish: Option<Finish>,
    done: bool,
}

impl Assemble for Assembler {
    fn take_frame(&mut self, frame: Frame<'_>) -> Result<Option<Piece>, ProviderError> {
        match frame {
            Frame::Field { name: "error", value } => Err(event::reported(value)),
            Frame::Comment | Frame::Retry(_) | Frame::Field { .. } => Ok(None),
            Frame::Event { .. } if self.done => Ok(None),
            Frame::Event { name, data, .. } => match data.trim() {
                "" => Ok(None),
                "[DONE]" => {
                    self.done = true;
                    Ok(None)
                }
                data => {
                    let AddedText { thinking, text } = self.event(name, data)?;
                    self.check()?;
                    Ok(Some(Piece::Chunk { thinking, text }))
                }
            },
        }
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn is_whole(&self) -> bool {
        self.finish.is_some()
    }

    fn finish(self: Box<Self>) -> Result<Reply, ProviderError> {
        let refused = self.items.refused();
        let finish = match self.finish {
            Some(Finish::Stop) if refused => Finish::ContentFilter,
            Some(finish) => finish,
            None => return Err(ProviderError::CutOff),
        };
        let scope = if self.items.used_tools() { UsageScope::SeveralRequests } else { self.scope };
        let (thinking, content, tool_calls, original) = self.items.finish();
        Ok(Reply { content, thinking, tool_calls, usage: self.usage, scope, finish, original, ..Reply::default() })
    }
}

impl Assembler {
    /// Reads a reply that came in one body.
    ///
    /// # Errors
    /// As [`Assemble::take_frame`] and [`Assemble::finish`]; [`ProviderError::Malformed`] for a body that is no reply.
    pub(super) fn whole(body: &str) -> Result<Reply, ProviderError> {
        let body = body.trim_start_matches('\u{FEFF}').trim();
        let response: Response<'_> = parse(body)?;
        if response.output.is_none() {
            return Err(match response.error {
                Some(_) => event::reported(body),
                None => ProviderError::Malformed(error_body::plain(body)),
            });
        }
        let mut assembler = Box::new(Self::default());
        let status = response.status.0.clone();
        assembler.end(if status.is_empty() { "completed" } else { &status }, response)?;
        assembler.check()?;
        assembler.finish()
    }

    fn event(&mut self, name: &str, data: &str) -> Result<AddedText, ProviderError> {
        let event: Event<'_> = parse(data)?;
        let kind = if event.kind.0.is_empty() { name } else { &*event.kind.0 };
        let position = ItemPosition { id: &event.item_id.0, index: event.output_index.0 };
        let (part, thought) = (event.content_index.0.unwrap_or(0), event.summary_index.0.unwrap_or(0));
        let items = &mut self.items;
        Ok(match kind {
            "error" => return Err(event::reported(data)),
            "response.created" | "response.in_progress" | "response.queued" => {
                self.note(&parse_or_default(event.response));
                AddedText::default()
            }
            "response.output_item.added" => {
                if let Some(item) = event.item {
                    items.open(event.output_index.0, item);
                }
                AddedText::default()
            }
            "response.output_item.done" => match event.item {
                Some(item) => items.close(event.output_index.0, item),
                None => AddedText::default(),
            },
            "response.output_text.delta" => items.text(position, part, &event.delta.0),
            "response.output_text.done" => items.whole_text(position, part, &event.text.0),
            "response.refusal.delta" => {
                items.refuse();
                items.text(position, part, &event.delta.0)
            }
            "response.refusal.done" => {
                items.refuse();
                items.whole_text(position, part, &event.refusal.0)
            }
            "response.reasoning_summary_text.delta" => {
                items.thought(position, ThinkingForm::Summary, thought, &event.delta.0)
            }
            "response.reasoning_summary_text.done" => {
                items.whole_thought(position, ThinkingForm::Summary, thought, &event.text.0)
            }
            "response.reasoning_summary_part.done" => {
                let wire: ItemPart<'_> = parse_or_default(event.part);
                items.whole_thought(position, ThinkingForm::Summary, thought, &wire.text.0)
            }
            "response.reasoning_text.delta" => items.thought(position, ThinkingForm::Full, part, &event.delta.0),
            "response.reasoning_text.done" => items.whole_thought(position, ThinkingForm::Full, part, &event.text.0),
            "response.function_call_arguments.delta" => {
                items.arguments(position, &event.delta.0);
                AddedText::default()
            }
            "response.function_call_arguments.done" => {
                items.whole_arguments(position, &event.arguments.0);
                AddedText::default()
            }
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
                self.done = true;
                let status = kind.trim_start_matches("response.");
                self.end(status, parse_or_default(event.response))?
            }
            _ if event.error.is_some() => return Err(event::reported(data)),
            // Unknown kinds have nothing that is needed.
            _ => AddedText::default(),
        })
    }

    fn end(&mut self, status: &str, response: Response<'_>) -> Result<AddedText, ProviderError> {
        self.note(&response);
        let reason = response.incomplete_details.map(|details| details.reason.0).unwrap_or_default();
        self.finish = Some(match (status, &*reason) {
            ("failed", _) => {
                return Err(match response.error {
                    Some(error) => event::reported(error.get()),
                    None => ProviderError::Server(error_body::NO_MESSAGE.to_owned()),
                });
            }
            ("cancelled" | "queued" | "in_progress", _) => return Err(ProviderError::CutOff),
            (_, "max_output_tokens" | "max_tokens") => Finish::Length,
            (_, "content_filter") => Finish::ContentFilter,
            ("completed", "") => Finish::Stop,
            (status, "") => Finish::Unknown(status.to_owned()),
            (_, reason) => Finish::Unknown(reason.to_owned()),
        });
        Ok(self.items.close_all(response.output.as_deref().unwrap_or_default()))
    }

    fn note(&mut self, response: &Response<'_>) {
        let model = Some(&response.model.0).filter(|model| !model.is_empty());
        if let Some(usage) = &response.usage {
            self.usage = Usage { model: self.usage.model.take(), ..usage.usage() };
            self.scope = self.scope.max(usage.scope());
        }
        if let Some(model) = model {
            self.usage.model = Some(model.clone().into_owned());
        }
    }

    fn check(&self) -> Result<(), ProviderError> {
        check_calls(self.items.calls())?;
        if self.items.len() > limits::ITEMS_PER_REPLY {
            return Err(ProviderError::Malformed(format!("more than {} items", limits::ITEMS_PER_REPLY)));
        }
        check_bytes(self.items.bytes())
    }
}

/// Reads the state of a response or a part of an item; an unreadable one is empty.
fn parse_or_default<'a, T: Deserialize<'a> + Default>(raw: Option<&'a RawValue>) -> T {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}
