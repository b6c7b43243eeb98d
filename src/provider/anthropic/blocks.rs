//! The blocks of one reply: text, thinking, calls, and unknown kinds.
//!
//! Used by the assembler. A block is found by its index, or by its kind where the index is wrong. Parts that only the
//! server understands are kept to be sent back: thinking with its signature, unknown blocks byte for byte.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::anthropic::chunk::{BlockStart, Delta, Event};
use crate::{call_ids, error_body};
use steersman_base::message::{Arguments, Part, ToolCall};
use steersman_core::provider::ProviderError;

/// The blocks of one reply, in order.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    list: Vec<Block>,
    calls: usize,
}

#[derive(Debug)]
struct Block {
    index: Option<u64>,
    open: bool,
    kind: BlockKind,
}

#[derive(Debug)]
enum BlockKind {
    Text { text: String, citations: Vec<String> },
    Thinking { text: String, signature: String },
    Call { id: String, name: String, given: String, pieces: String },
    Other { start: String, members: Map<String, Value>, input: String },
}

/// The visible text that an event added.
#[derive(Debug, Default)]
pub(super) struct VisibleText {
    /// New reasoning text.
    pub thinking: String,
    /// New answer text.
    pub text: String,
    /// Whether it begins a new section: another block stands before it.
    pub begins: bool,
}

impl BlockKind {
    fn takes(&self, delta: &str) -> bool {
        match self {
            Self::Text { .. } => matches!(delta, "text_delta" | "citations_delta"),
            Self::Thinking { .. } => matches!(delta, "thinking_delta" | "signature_delta"),
            Self::Call { .. } => delta == "input_json_delta",
            Self::Other { .. } => false,
        }
    }

    fn is_other(&self) -> bool {
        matches!(self, Self::Other { .. })
    }
}

impl Blocks {
    /// Begins a block; a complete one has all its content.
    pub(super) fn start(&mut self, index: Option<u64>, raw: &RawValue) -> Result<VisibleText, ProviderError> {
        let malformed = |_| ProviderError::Malformed(error_body::plain(raw.get()));
        let start: BlockStart<'_> = serde_json::from_str(raw.get()).map_err(malformed)?;
        let kind = match &*start.kind.0 {
            "text" => BlockKind::Text { text: String::new(), citations: Vec::new() },
            "thinking" => BlockKind::Thinking { text: String::new(), signature: String::new() },
            "tool_use" => {
                self.calls += 1;
                let given = start.input.map(|input| input.get().to_owned()).unwrap_or_default();
                BlockKind::Call {
                    id: start.id.0.into_owned(),
                    name: start.name.0.into_owned(),
                    given,
                    pieces: String::new(),
                }
            }
            _ => BlockKind::Other { start: raw.get().to_owned(), members: Map::new(), input: String::new() },
        };
        self.list.push(Block { index, open: true, kind });
        let at = self.list.len() - 1;
        if let Some(Block { kind: BlockKind::Text { citations, .. }, .. }) = self.list.get_mut(at) {
            citations.extend(start.citations.iter().flatten().map(|citation| citation.get().to_owned()));
        }
        if let Some(Block { kind: BlockKind::Thinking { signature, .. }, .. }) = self.list.get_mut(at) {
            signature.push_str(&start.signature.0);
        }
        Ok(self.show(at, &start.thinking.0, &start.text.0))
    }

    /// Adds a delta to a block. `data` is the whole event, for members of unknown kinds.
    pub(super) fn add(&mut self, index: Option<u64>, delta: &Delta<'_>, data: &str) -> VisibleText {
        let Some(at) = self.position(index, &delta.kind.0) else { return VisibleText::default() };
        match self.list.get_mut(at).map(|block| &mut block.kind) {
            Some(BlockKind::Text { citations, .. }) => {
                citations.extend(delta.citation.map(|citation| citation.get().to_owned()));
            }
            Some(BlockKind::Thinking { signature, .. }) => signature.push_str(&delta.signature.0),
            Some(BlockKind::Call { pieces, .. }) => pieces.push_str(&delta.partial_json.0),
            Some(BlockKind::Other { start, members, input }) => {
                input.push_str(&delta.partial_json.0);
                change(members, start, data);
            }
            None => {}
        }
        self.show(at, &delta.thinking.0, &delta.text.0)
    }

    /// Ends a block: later deltas with its index belong to another one.
    pub(super) fn stop(&mut self, index: Option<u64>) {
        if let Some(block) = self.list.iter_mut().rev().find(|block| block.open && block.index == index) {
            block.open = false;
        }
    }

    /// Returns whether a call has begun and not ended.
    pub(super) fn has_open_call(&self) -> bool {
        self.list.iter().any(|block| block.open && matches!(block.kind, BlockKind::Call { .. }))
    }

    pub(super) fn calls(&self) -> usize {
        self.calls
    }

    /// Appends visible text and returns it: the text of a text block, or the thinking of a thinking block.
    fn show(&mut self, at: usize, thinking: &str, text: &str) -> VisibleText {
        let before = at.checked_sub(1).and_then(|before| self.list.get(before));
        let after_text = before.is_some_and(|block| matches!(block.kind, BlockKind::Text { .. }));
        match self.list.get_mut(at).map(|block| &mut block.kind) {
            Some(BlockKind::Text { text: whole, .. }) => {
                let begins = at > 0 && whole.is_empty() && !after_text;
                whole.push_str(text);
                VisibleText { text: text.to_owned(), begins, ..VisibleText::default() }
            }
            Some(BlockKind::Thinking { text: whole, .. }) => {
                let begins = whole.is_empty();
                whole.push_str(thinking);
                VisibleText { thinking: thinking.to_owned(), begins, ..VisibleText::default() }
            }
            Some(BlockKind::Call { .. } | BlockKind::Other { .. }) | None => VisibleText::default(),
        }
    }

    /// Finds the block that a delta belongs to: the open one with its index, else the last open one of a kind that
    /// takes it, else a closed one with its index. Text and thinking without a start begin here.
    fn position(&mut self, index: Option<u64>, delta: &str) -> Option<usize> {
        let latest = |test: &dyn Fn(&Block) -> bool| self.list.iter().rposition(test);
        let fits = |block: &Block| block.kind.takes(delta) || block.kind.is_other();
        let found = latest(&|block| block.open && block.index == index && fits(block))
            .or_else(|| latest(&|block| block.open && block.kind.takes(delta)))
            .or_else(|| latest(&|block| block.index == index && block.kind.takes(delta)));
        let kind = match delta {
            _ if found.is_some() => return found,
            "text_delta" => BlockKind::Text { text: String::new(), citations: Vec::new() },
            "thinking_delta" => BlockKind::Thinking { text: String::new(), signature: String::new() },
            _ => return None,
        };
        self.list.push(Block { index, open: true, kind });
        Some(self.list.len() - 1)
    }

    /// Ends the reply. Returns the calls, and the parts when some of them must go back unchanged.
    pub(super) fn finish(self) -> (Vec<ToolCall>, Option<Vec<Part>>) {
        let (mut calls, mut parts, mut opaque) = (Vec::new(), Vec::new(), false);
        for block in self.list {
            match block.kind {
                BlockKind::Text { text, citations } => {
                    let mark = (!citations.is_empty()).then(|| format!("[{}]", citations.join(",")));
                    opaque |= mark.is_some();
                    parts.push(Part::Text { text, mark });
                }
                // No server accepts thinking without its signature.
                BlockKind::Thinking { signature, .. } if signature.is_empty() => {}
                BlockKind::Thinking { text, signature } => {
                    opaque = true;
                    let thinking = json!({"type": "thinking", "thinking": text, "signature": signature});
                    parts.push(Part::Opaque(thinking.to_string()));
                }
                BlockKind::Call { id, name, given, pieces } => {
                    let input = if pieces.trim().is_empty() { given } else { pieces };
                    parts.push(Part::Call { index: calls.len(), mark: None });
                    calls.push(ToolCall { id: id.into(), name, arguments: Arguments::parse(&input) });
                }
                BlockKind::Other { start, members, input } => {
                    opaque = true;
                    parts.push(Part::Opaque(whole(start, members, &input)));
                }
            }
        }
        call_ids::make_unique(&mut calls);
        (calls, opaque.then_some(parts))
    }
}

/// Adds the members of a delta to an unknown block: texts are continued, all else is set.
fn change(members: &mut Map<String, Value>, start: &str, data: &str) {
    let Ok(event) = serde_json::from_str::<Value>(data) else { return };
    if members.is_empty()
        && let Ok(Value::Object(object)) = serde_json::from_str(start)
    {
        *members = object;
    }
    for (name, value) in event.get("delta").and_then(Value::as_object).into_iter().flatten() {
        match (members.get_mut(name), value) {
            _ if matches!(name.as_str(), "type" | "partial_json") => {}
            (_, Value::Null) => {}
            (Some(Value::String(text)), Value::String(more)) => text.push_str(more),
            _ => {
                members.insert(name.clone(), value.clone());
            }
        }
    }
}

/// Writes an unknown block: unchanged, unless deltas added to it.
fn whole(start: String, mut members: Map<String, Value>, input: &str) -> String {
    if members.is_empty() {
        return start;
    }
    if let Ok(input) = serde_json::from_str::<Value>(input) {
        members.insert("input".to_owned(), input);
    }
    Value::Object(members).to_string()
}

impl Event<'_> {
    /// Estimates the memory that the event's content needs, bytes.
    pub(super) fn weight(&self) -> usize {
        const BLOCK: usize = 256;
        let start = self.content_block.map_or(0, |raw| raw.get().len() + BLOCK);
        let delta = self.delta.as_ref().map_or(0, |delta| {
            let citation = delta.citation.map_or(0, |raw| raw.get().len());
            let texts = [&delta.text, &delta.thinking, &delta.signature, &delta.partial_json];
            citation + texts.iter().map(|text| text.0.len()).sum::<usize>()
        });
        start + delta
    }
}
