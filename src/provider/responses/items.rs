//! The items of one reply, collected from deltas and from the whole items at their end.
//!
//! Used by the assembler. The whole item wins over the deltas. An item is found by its id, else by its index in the
//! output: some servers give each event of an item another id, others give every item the same index.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::call_ids;
use crate::responses::event::{Item as WireItem, ItemPart};
use steersman_base::dialect::Dialect;
use steersman_base::message::{Arguments, Original, Part, ToolCall};
use steersman_base::text::halves;

/// The kinds of items that need an answer which this program cannot give: they are not sent back.
const UNANSWERED: [&str; 6] =
    ["custom_tool_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call", "mcp_approval_request"];
/// The separator between two messages, and between two parts of thinking.
const BETWEEN: &str = "\n\n";

/// The kind of an item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum ItemKind {
    /// Not known yet.
    #[default]
    Unknown,
    Message,
    Reasoning,
    Call,
    /// Any other kind, for the server alone.
    Other,
}

/// The form of thinking: some servers send both, the summary and the thinking itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThinkingForm {
    Summary,
    Full,
}

/// The id and the index by which an event names its item.
#[derive(Debug, Clone, Copy)]
pub(super) struct ItemPosition<'a> {
    pub id: &'a str,
    pub index: Option<u64>,
}

/// The text that an event added to the visible reply.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct AddedText {
    pub thinking: String,
    pub text: String,
}

#[derive(Debug, Default)]
struct Item {
    index: Option<u64>,
    id: String,
    kind: ItemKind,
    /// The texts of its parts, by their indexes.
    texts: BTreeMap<u64, String>,
    thought: Option<ThinkingForm>,
    call_id: String,
    name: String,
    arguments: String,
    /// The whole item, which the server sends at its end.
    whole: Option<WholeItem>,
}

#[derive(Debug)]
struct WholeItem {
    json: String,
    back: SendBack,
}

/// Whether an item is sent back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SendBack {
    /// It must be, or content is lost.
    Must,
    /// It may be, or be written from its text.
    May,
    /// It must not be: the server would refuse it.
    Never,
}

/// The items of one reply, in order.
#[derive(Debug, Default)]
pub(super) struct Items {
    list: Vec<Item>,
    /// The item that showed the last text, and the item and part of the last thinking.
    text_at: Option<usize>,
    thinking_at: Option<(usize, u64)>,
    refused: bool,
    used_tools: bool,
    bytes: usize,
}

impl Items {
    pub(super) fn open(&mut self, index: Option<u64>, raw: &RawValue) {
        let Some(wire) = WireItem::parse(raw) else { return };
        let place = ItemPosition { id: &wire.id.0, index };
        let known = self
            .list
            .iter()
            .any(|item| item.is_named(place) && (item.index == index || item.index.is_none() || index.is_none()));
        let at = if known { self.find(place, kind(&wire)) } else { self.push(place) };
        if let Some(item) = self.list.get_mut(at) {
            item.name_it(&wire);
        }
    }

    pub(super) fn text(&mut self, place: ItemPosition<'_>, part: u64, delta: &str) -> AddedText {
        let at = self.find(place, ItemKind::Message);
        let Some(item) = self.list.get_mut(at) else { return AddedText::default() };
        item.become_kind(ItemKind::Message);
        item.texts.entry(part).or_default().push_str(delta);
        self.show_text(at, delta)
    }

    pub(super) fn whole_text(&mut self, place: ItemPosition<'_>, part: u64, whole: &str) -> AddedText {
        let at = self.find(place, ItemKind::Message);
        let Some(item) = self.list.get_mut(at) else { return AddedText::default() };
        item.become_kind(ItemKind::Message);
        let rest = replace(item.text_of(part, whole), whole);
        self.show_text(at, &rest)
    }

    /// Takes the next part of thinking. Of summary and thinking the first to come is used.
    pub(super) fn thought(
        &mut self,
        place: ItemPosition<'_>,
        thought: ThinkingForm,
        part: u64,
        delta: &str,
    ) -> AddedText {
        let at = self.find(place, ItemKind::Reasoning);
        let Some(item) = self.list.get_mut(at) else { return AddedText::default() };
        item.become_kind(ItemKind::Reasoning);
        if *item.thought.get_or_insert(thought) != thought {
            return AddedText::default();
        }
        item.texts.entry(part).or_default().push_str(delta);
        self.show_thinking(at, part, delta)
    }

    /// Takes a whole part of thinking.
    pub(super) fn whole_thought(
        &mut self,
        place: ItemPosition<'_>,
        thought: ThinkingForm,
        part: u64,
        whole: &str,
    ) -> AddedText {
        let at = self.find(place, ItemKind::Reasoning);
        let Some(item) = self.list.get_mut(at) else { return AddedText::default() };
        item.become_kind(ItemKind::Reasoning);
        if whole.is_empty() || *item.thought.get_or_insert(thought) != thought {
            return AddedText::default();
        }
        let rest = replace(item.text_of(part, whole), whole);
        self.show_thinking(at, part, &rest)
    }

    /// Takes the next part of a call's arguments.
    pub(super) fn arguments(&mut self, place: ItemPosition<'_>, delta: &str) {
        let at = self.find(place, ItemKind::Call);
        self.bytes = self.bytes.saturating_add(delta.len());
        if let Some(item) = self.list.get_mut(at) {
            item.become_kind(ItemKind::Call);
            item.arguments.push_str(delta);
        }
    }

    /// Takes the whole arguments of a call.
    pub(super) fn whole_arguments(&mut self, place: ItemPosition<'_>, whole: &str) {
        let at = self.find(place, ItemKind::Call);
        if let Some(item) = self.list.get_mut(at).filter(|_| !whole.is_empty()) {
            item.become_kind(ItemKind::Call);
            self.bytes = self.bytes.saturating_add(replace(&mut item.arguments, whole).len());
        }
    }

    /// Marks the reply as refused.
    pub(super) fn refuse(&mut self) {
        self.refused = true;
    }

    /// Takes a whole item.
    pub(super) fn close(&mut self, index: Option<u64>, raw: &RawValue) -> AddedText {
        let Some(wire) = WireItem::parse(raw) else { return AddedText::default() };
        let at = self.find(ItemPosition { id: &wire.id.0, index }, kind(&wire));
        self.close_at(at, &wire, raw)
    }

    /// Takes the whole output: only items that no event has closed are new.
    pub(super) fn close_all(&mut self, output: &[&RawValue]) -> AddedText {
        let mut added = AddedText::default();
        for (index, raw) in output.iter().enumerate() {
            let Some(wire) = WireItem::parse(raw) else { continue };
            let place = ItemPosition { id: &wire.id.0, index: u64::try_from(index).ok() };
            let nowhere = |item: &Item| item.index.is_none() && item.is_open(kind(&wire));
            let known =
                self.position(place, |item| item.fits(kind(&wire))).or_else(|| self.list.iter().position(nowhere));
            let at = match known {
                Some(at) => at,
                // Events without indexes, and with other ids than the output, have sent all of it.
                None if index < self.list.len() => continue,
                None => self.push(place),
            };
            if self.list.get(at).is_some_and(|item| item.whole.is_none()) {
                let more = self.close_at(at, &wire, raw);
                added.thinking.push_str(&more.thinking);
                added.text.push_str(&more.text);
            }
        }
        added
    }

    /// Counts the items.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn calls(&self) -> usize {
        self.list.iter().filter(|item| item.kind == ItemKind::Call).count()
    }

    /// Returns the bytes that are held.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn used_tools(&self) -> bool {
        self.used_tools
    }

    pub(super) fn refused(&self) -> bool {
        self.refused
    }

    /// Ends the reply: returns thinking, text, calls, and the parts when some must be sent back.
    pub(super) fn finish(mut self) -> (String, String, Vec<ToolCall>, Option<Original>) {
        self.list.sort_by_key(|item| item.index.unwrap_or(u64::MAX));
        let (mut thoughts, mut texts, mut calls) = (Vec::new(), Vec::new(), Vec::new());
        let mut parts = Vec::new();
        for mut item in self.list {
            let pieces = item.texts.values().map(String::as_str).filter(|text| !text.is_empty());
            let whole = item.whole.take();
            match item.kind {
                ItemKind::Message => {
                    let text = pieces.collect::<String>();
                    if text.is_empty() {
                        continue;
                    }
                    parts.push(match whole {
                        Some(WholeItem { json, back }) => (item.kind, Part::Opaque(json), back),
                        None => (item.kind, Part::Text { text: text.clone(), mark: None }, SendBack::May),
                    });
                    texts.push(text);
                }
                ItemKind::Reasoning => {
                    thoughts.extend(pieces.map(str::to_owned));
                    parts.extend(whole.map(|whole| (item.kind, Part::Opaque(whole.json), whole.back)));
                }
                ItemKind::Call if item.name.is_empty() && item.arguments.is_empty() => {}
                ItemKind::Call => {
                    let mark = Some(item.id).filter(|id| !id.is_empty());
                    parts.push((item.kind, Part::Call { index: calls.len(), mark }, SendBack::May));
                    let arguments = Arguments::parse(&item.arguments);
                    calls.push(ToolCall { id: item.call_id.into(), name: item.name, arguments });
                }
                ItemKind::Other => parts.extend(whole.map(|whole| (item.kind, Part::Opaque(whole.json), whole.back))),
                ItemKind::Unknown => {}
            }
        }
        call_ids::make_unique(&mut calls);
        parts.retain(|(_, _, back)| *back != SendBack::Never);
        // Servers refuse thinking that nothing follows.
        while parts.last().is_some_and(|(kind, ..)| *kind == ItemKind::Reasoning) {
            parts.pop();
        }
        let must = parts.iter().any(|(_, _, back)| *back == SendBack::Must);
        let original = must.then(|| Original {
            dialect: Dialect::OpenAiResponses,
            parts: parts.into_iter().map(|(_, part, _)| part).collect(),
            ..Original::default()
        });
        (thoughts.join(BETWEEN), texts.join(BETWEEN), calls, original)
    }

    fn close_at(&mut self, at: usize, wire: &WireItem<'_>, raw: &RawValue) -> AddedText {
        let Some(item) = self.list.get_mut(at) else { return AddedText::default() };
        item.name_it(wire);
        if !wire.arguments.0.is_empty() {
            wire.arguments.0.as_ref().clone_into(&mut item.arguments);
        }
        item.whole = Some(WholeItem { json: raw.get().to_owned(), back: back(item.kind, wire) });
        self.bytes = self.bytes.saturating_add(raw.get().len());
        let (kind, thought) = (item.kind, item.thought);
        let summary = wire.summary.as_deref().unwrap_or_default();
        let content = wire.content.as_deref().unwrap_or_default();
        match kind {
            ItemKind::Message => {
                self.refused |= content.iter().any(|part| !part.refusal.0.is_empty());
                let rest = item.settle(content.iter().map(ItemPart::visible_text), "");
                self.show_text(at, &rest)
            }
            ItemKind::Reasoning => {
                let (thought, parts) = match thought {
                    Some(ThinkingForm::Full) => (ThinkingForm::Full, content),
                    None if summary.is_empty() => (ThinkingForm::Full, content),
                    Some(ThinkingForm::Summary) | None => (ThinkingForm::Summary, summary),
                };
                item.thought = Some(thought);
                let rest = item.settle(parts.iter().map(|part| &*part.text.0), BETWEEN);
                // The rest continues the begun text; it has its own separators.
                let part = self.thinking_at.filter(|(last, _)| *last == at).map_or(0, |(_, part)| part);
                self.show_thinking(at, part, &rest)
            }
            ItemKind::Other => {
                let unanswered = UNANSWERED.contains(&&*wire.kind.0);
                self.used_tools |= wire.kind.0.ends_with("_call") && !unanswered;
                AddedText::default()
            }
            ItemKind::Call | ItemKind::Unknown => AddedText::default(),
        }
    }

    /// Finds the item of an event by position and kind; makes one where there is none.
    fn find(&mut self, place: ItemPosition<'_>, kind: ItemKind) -> usize {
        self.position(place, |item| item.is_open(kind)).unwrap_or_else(|| self.push(place))
    }

    /// Finds the latest item by its id, else by its index among those that match. Of two items with one id (xAI)
    /// the index decides; an ended item is not meant at another index.
    fn position(&self, place: ItemPosition<'_>, asked: impl Fn(&Item) -> bool) -> Option<usize> {
        let latest = |test: &dyn Fn(&Item) -> bool| self.list.iter().rposition(test);
        let placeless = |item: &Item| item.index.is_none() || place.index.is_none();
        latest(&|item| item.is_named(place) && item.index == place.index)
            .or_else(|| latest(&|item| item.is_named(place) && (item.whole.is_none() || placeless(item))))
            .or_else(|| latest(&|item| item.index == place.index && asked(item)))
    }

    fn push(&mut self, place: ItemPosition<'_>) -> usize {
        self.list.push(Item { index: place.index, id: place.id.to_owned(), ..Item::default() });
        self.list.len() - 1
    }

    fn show_text(&mut self, at: usize, text: &str) -> AddedText {
        if text.is_empty() {
            return AddedText::default();
        }
        self.bytes = self.bytes.saturating_add(text.len());
        let between = if self.text_at.is_some_and(|last| last != at) { BETWEEN } else { "" };
        self.text_at = Some(at);
        AddedText { text: format!("{between}{text}"), thinking: String::new() }
    }

    fn show_thinking(&mut self, at: usize, part: u64, thinking: &str) -> AddedText {
        if thinking.is_empty() {
            return AddedText::default();
        }
        self.bytes = self.bytes.saturating_add(thinking.len());
        let between = if self.thinking_at.is_some_and(|last| last != (at, part)) { BETWEEN } else { "" };
        self.thinking_at = Some((at, part));
        AddedText { thinking: format!("{between}{thinking}"), text: String::new() }
    }
}

impl Item {
    fn is_named(&self, place: ItemPosition<'_>) -> bool {
        !place.id.is_empty() && self.id == place.id
    }

    /// Returns the text so far of a part whose whole text has come. Some servers give the deltas a higher index
    /// than the whole: then the last text is used, if the whole begins with it.
    fn text_of(&mut self, part: u64, whole: &str) -> &mut String {
        let is_it = |last: u64, text: &str| last > part && !text.is_empty() && whole.starts_with(text);
        let last = self.texts.iter().next_back().filter(|(last, text)| is_it(**last, text));
        let part = if self.texts.contains_key(&part) { part } else { last.map_or(part, |(last, _)| *last) };
        self.texts.entry(part).or_default()
    }

    /// Replaces the texts so far by the whole parts, in order. Returns the text that is new; nothing when the two
    /// differ, since shown text cannot be taken back.
    fn settle<'a>(&mut self, parts: impl Iterator<Item = &'a str>, between: &str) -> String {
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        let whole = parts.join(between);
        if whole.is_empty() {
            return whole;
        }
        let held: Vec<&str> = self.texts.values().map(String::as_str).filter(|text| !text.is_empty()).collect();
        let mut held = held.join(between);
        halves::settle(&mut held);
        let rest = whole.strip_prefix(held.as_str()).unwrap_or_default().to_owned();
        self.texts = (0..).zip(parts.into_iter().map(str::to_owned)).collect();
        rest
    }

    fn fits(&self, kind: ItemKind) -> bool {
        self.kind == kind || self.kind == ItemKind::Unknown || kind == ItemKind::Unknown
    }

    /// Returns whether the item can be of a kind, and can still grow.
    fn is_open(&self, kind: ItemKind) -> bool {
        self.whole.is_none() && self.fits(kind)
    }

    fn become_kind(&mut self, kind: ItemKind) {
        if self.kind == ItemKind::Unknown {
            self.kind = kind;
        }
    }

    /// Takes over kind, ids and name of a whole item.
    fn name_it(&mut self, wire: &WireItem<'_>) {
        let said = kind(wire);
        if said != ItemKind::Unknown {
            self.kind = said;
        }
        for (mine, said) in
            [(&mut self.id, &wire.id.0), (&mut self.call_id, &wire.call_id.0), (&mut self.name, &wire.name.0)]
        {
            if !said.is_empty() {
                said.as_ref().clone_into(mine);
            }
        }
    }
}

impl ItemPart<'_> {
    fn visible_text(&self) -> &str {
        if self.text.0.is_empty() { &self.refusal.0 } else { &self.text.0 }
    }
}

fn kind(wire: &WireItem<'_>) -> ItemKind {
    match &*wire.kind.0 {
        "" => ItemKind::Unknown,
        "message" => ItemKind::Message,
        "reasoning" => ItemKind::Reasoning,
        "function_call" => ItemKind::Call,
        _ => ItemKind::Other,
    }
}

/// Returns whether an item is sent back. For thinking without content or encrypted form the server would search its
/// storage, which is empty.
fn back(kind: ItemKind, wire: &WireItem<'_>) -> SendBack {
    let holds_itself = wire.content.as_ref().is_some_and(|content| !content.is_empty());
    match kind {
        ItemKind::Reasoning if wire.encrypted_content.0.is_empty() && !holds_itself => SendBack::Never,
        ItemKind::Other if UNANSWERED.contains(&&*wire.kind.0) => SendBack::Never,
        ItemKind::Reasoning | ItemKind::Other => SendBack::Must,
        ItemKind::Message if !wire.phase.0.is_empty() => SendBack::Must,
        ItemKind::Message | ItemKind::Call | ItemKind::Unknown => SendBack::May,
    }
}

/// Replaces a text by the whole one, and returns the part that is new; nothing when the two differ, since shown text
/// cannot be taken back.
fn replace(held: &mut String, whole: &str) -> String {
    if whole.is_empty() {
        return String::new();
    }
    // It may have come in halves.
    halves::settle(held);
    let rest = whole.strip_prefix(held.as_str()).unwrap_or_default().to_owned();
    whole.clone_into(held);
    rest
}
