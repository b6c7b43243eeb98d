//! The conversation in the form of Messages: user and assistant alternate, and each turn is a list of blocks.
//!
//! Used by the body. The results of one batch, messages injected after them and later system texts share one user
//! turn, in the order of the history. The form of a beginning of a history never changes when the history grows,
//! except for cache marks, so that the server's cache stays valid.

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::wire::{Outgoing, WireArguments, legal_name};
use steersman_base::image::{Image, ImageType};
use steersman_base::message::{AssistantMessage, Message, Part};

/// The first turn of a conversation whose beginning is missing: it must be the user's.
const BEGUN: &str = "(The conversation began earlier.)";

/// A conversation, with its instructions apart.
#[derive(Debug, Default)]
pub(super) struct Conversation<'a> {
    pub system: Vec<Block<'a>>,
    /// The turns; their roles alternate.
    pub turns: Vec<Turn<'a>>,
    ids: WireIds<'a>,
}

/// A turn: the blocks of one side until the other side's.
#[derive(Debug, Serialize)]
pub(super) struct Turn<'a> {
    role: Role,
    content: Vec<Block<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
}

/// A block of a turn.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        citations: Option<&'a RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Image {
        source: ImageSource<'a>,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: WireArguments<'a>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    /// Thinking as the server signed it.
    #[serde(untagged)]
    Thought(&'a RawValue),
    /// Anything else that the server wrote.
    #[serde(untagged)]
    Other(&'a RawValue),
}

/// Where an image comes from.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ImageSource<'a> {
    Base64 { media_type: ImageType, data: &'a str },
}

/// The mark at the end of a part that the server is to cache.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum CacheControl {
    Ephemeral,
}

impl Block<'_> {
    /// Marks the block as the end of a cached part; only blocks of the user and of the system are marked.
    fn mark(&mut self) {
        match self {
            Self::Text { cache_control, .. } | Self::ToolResult { cache_control, .. } => {
                *cache_control = Some(CacheControl::Ephemeral);
            }
            Self::Image { .. } | Self::ToolUse { .. } | Self::Thought(_) | Self::Other(_) => {}
        }
    }
}

impl<'a> Conversation<'a> {
    /// Writes the conversation of a request.
    pub(super) fn new(outgoing: &Outgoing<'a>) -> Self {
        let mut conversation = Self::default();
        for message in outgoing.request.messages() {
            match message {
                Message::System { content } if conversation.turns.is_empty() => {
                    conversation.system.extend(text(content, None));
                }
                Message::System { content } => conversation.push(Role::User, text(content, None)),
                Message::User { content, images, .. } => {
                    let (images, note) = outgoing.images(images);
                    // As the dialect's makers advise: the text behind what it is about.
                    conversation.push(Role::User, images.iter().map(image));
                    conversation.push(Role::User, text(content, None));
                    conversation.push(Role::User, note.and_then(|note| text(note, None)));
                }
                Message::Tool { content, .. } => {
                    let result = Block::ToolResult {
                        tool_use_id: conversation.ids.open.pop_front().unwrap_or_default(),
                        content: Some(content.as_str()).filter(|content| !content.trim().is_empty()),
                        is_error: content.starts_with("Error: ").then_some(true),
                        cache_control: None,
                    };
                    conversation.push(Role::User, [result]);
                }
                Message::Assistant(reply) => {
                    let blocks = conversation.reply(reply, outgoing.parts(reply));
                    conversation.push(Role::Assistant, blocks);
                }
            }
        }
        if conversation.turns.first().is_some_and(|turn| turn.role == Role::Assistant) {
            let content = text(BEGUN, None).into_iter().collect();
            conversation.turns.insert(0, Turn { role: Role::User, content });
        }
        conversation.mark();
        conversation
    }

    /// Returns whether the model is in the middle of calls that it made without thinking. Thinking cannot be turned on
    /// there.
    pub(super) fn calls_without_thinking(&self) -> bool {
        let last = self.turns.iter().rev().find(|turn| turn.role == Role::Assistant);
        last.is_some_and(|turn| {
            let acts = turn.content.iter().any(|block| matches!(block, Block::ToolUse { .. }));
            acts && !matches!(turn.content.first(), Some(Block::Thought(_)))
        })
    }

    fn push(&mut self, role: Role, blocks: impl IntoIterator<Item = Block<'a>>) {
        for block in blocks {
            match self.turns.last_mut() {
                Some(turn) if turn.role == role => turn.content.push(block),
                _ => self.turns.push(Turn { role, content: vec![block] }),
            }
        }
    }

    fn reply(&mut self, reply: &'a AssistantMessage, parts: Option<&'a [Part]>) -> Vec<Block<'a>> {
        let call = |call: &'a steersman_base::message::ToolCall| {
            let id = self.ids.open(call.id.as_str());
            Some(Block::ToolUse { id, name: legal(&call.name), input: WireArguments::from(&call.arguments) })
        };
        let mut calls: Vec<_> = reply.tool_calls.iter().map(call).collect();
        let mut blocks = Vec::new();
        match parts {
            None => blocks.extend(text(&reply.content, None)),
            Some(parts) => blocks.extend(parts.iter().filter_map(|part| match part {
                Part::Opaque(json) => opaque(json),
                Part::Text { text: words, mark } => text(words, mark.as_deref()),
                Part::Call { index, .. } => calls.get_mut(*index)?.take(),
            })),
        }
        blocks.extend(calls.into_iter().flatten());
        // Servers refuse a turn that ends with thinking.
        while matches!(blocks.last(), Some(Block::Thought(_))) {
            blocks.pop();
        }
        blocks
    }

    /// Marks the parts that stay the same in the next request: the system prompt, the blocks that this request
    /// adds, and those of the request before, since the server looks back only a few blocks from a mark.
    fn mark(&mut self) {
        if let Some(block) = self.system.last_mut() {
            block.mark();
        }
        let newest = self.turns.iter().rposition(|turn| turn.role == Role::User);
        let answered = self.turns.iter().rposition(|turn| turn.role == Role::Assistant);
        let before = answered.and_then(|answered| answered.checked_sub(1));
        for at in [newest, before].into_iter().flatten() {
            if let Some(block) = self.turns.get_mut(at).and_then(|turn| turn.content.last_mut()) {
                block.mark();
            }
        }
    }
}

/// Makes a block of text; `None` for a blank one, which servers refuse.
fn text<'a>(text: &'a str, citations: Option<&'a str>) -> Option<Block<'a>> {
    let citations = citations.and_then(|citations| serde_json::from_str(citations).ok());
    (!text.trim().is_empty()).then_some(Block::Text { text, citations, cache_control: None })
}

fn image(image: &Image) -> Block<'_> {
    Block::Image { source: ImageSource::Base64 { media_type: image.media_type, data: image.base64() } }
}

/// Makes a block of the server's own JSON, unchanged.
fn opaque(json: &str) -> Option<Block<'_>> {
    #[derive(Deserialize)]
    struct TypeMember<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
    }
    let TypeMember { kind } = serde_json::from_str(json).ok()?;
    let raw = serde_json::from_str(json).ok()?;
    Some(if matches!(&*kind, "thinking" | "redacted_thinking") { Block::Thought(raw) } else { Block::Other(raw) })
}

/// Replaces characters that names and ids must not have in this dialect; other dialects allow more.
fn legal(name: &str) -> Cow<'_, str> {
    legal_name(name, usize::MAX, "_")
}

/// The ids of calls on the wire: each is valid for the server and unique, and is used again for the result.
#[derive(Debug, Default)]
struct WireIds<'a> {
    used: HashSet<Cow<'a, str>>,
    open: VecDeque<Cow<'a, str>>,
}

impl<'a> WireIds<'a> {
    fn open(&mut self, id: &'a str) -> Cow<'a, str> {
        let plain = legal(id);
        let mut free = plain.clone();
        let mut number = 2_u64;
        while !self.used.insert(free.clone()) {
            free = Cow::Owned(format!("{plain}_{number}"));
            number += 1;
        }
        self.open.push_back(free.clone());
        free
    }
}
