//! The items of one reply, collected from deltas and from what the server said of them at their end.
//!
//! Used by the assembler. The end wins over the deltas. An item is found by its id, else by its place in the output:
//! some servers give each event of an item another id, others every item the same place.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::dialect::Dialect;
use crate::message::{Arguments, Original, Part, ToolCall};
use crate::provider::call_ids;
use crate::provider::responses::event::{Item as WireItem, ItemPart};

/// Kinds of items that want an answer, which nobody here can give: they are not sent back.
const UNANSWERED: [&str; 6] =
    ["custom_tool_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call", "mcp_approval_request"];
/// Stands between two messages, and between two parts of a thought.
const BETWEEN: &str = "\n\n";

/// Says what an item is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nobody has said it yet.
    #[default]
    Unknown,
    Message,
    Reasoning,
    Call,
    /// Something of the server's own.
    Other,
}

/// Says which thoughts a part belongs to: some servers tell both, the summary and the thought itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thought {
    Summary,
    Whole,
}

/// Names the item that an event is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub id: &'a str,
    pub index: Option<u64>,
}

/// Is what an event added to the visible reply.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Added {
    pub thinking: String,
    pub text: String,
}

#[derive(Debug, Default)]
struct Item {
    index: Option<u64>,
    id: String,
    kind: Kind,
    /// The texts of its parts, by their numbers.
    texts: BTreeMap<u64, String>,
    thought: Option<Thought>,
    call_id: String,
    name: String,
    arguments: String,
    /// What the server said of it at its end.
    whole: Option<Whole>,
}

#[derive(Debug)]
struct Whole {
    json: String,
    back: Back,
}

/// Says whether an item goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Back {
    /// It must, or something is lost.
    Must,
    /// It can be written anew as well.
    May,
    /// It would not be taken.
    Never,
}

/// Collects the items of one reply.
#[derive(Debug, Default)]
pub(super) struct Items {
    list: Vec<Item>,
    /// Where the last text was shown, and the last thought.
    text_at: Option<usize>,
    thinking_at: Option<(usize, u64)>,
    refused: bool,
    used_tools: bool,
    bytes: usize,
}

impl Items {
    /// Opens an item.
    pub fn open(&mut self, index: Option<u64>, raw: &RawValue) {
        let Some(wire) = WireItem::read(raw) else { return };
        let place = Place { id: &wire.id.0, index };
        let known = self
            .list
            .iter()
            .any(|item| item.is_named(place) && (item.index == index || item.index.is_none() || index.is_none()));
        let at = if known { self.find(place, kind(&wire)) } else { self.push(place) };
        if let Some(item) = self.list.get_mut(at) {
            item.name_it(&wire);
        }
    }

    /// Takes the next part of a text.
    pub fn text(&mut self, place: Place<'_>, part: u64, delta: &str) -> Added {
        let at = self.find(place, Kind::Message);
        let Some(item) = self.list.get_mut(at) else { return Added::default() };
        item.become_kind(Kind::Message);
        item.texts.entry(part).or_default().push_str(delta);
        self.show_text(at, delta)
    }

    /// Takes the whole of a text.
    pub fn whole_text(&mut self, place: Place<'_>, part: u64, whole: &str) -> Added {
        let at = self.find(place, Kind::Message);
        self.whole_text_at(at, part, whole)
    }

    /// Takes the next part of a thought. Of summary and thought the one that comes first is taken.
    pub fn thought(&mut self, place: Place<'_>, thought: Thought, part: u64, delta: &str) -> Added {
        let at = self.find(place, Kind::Reasoning);
        let Some(item) = self.list.get_mut(at) else { return Added::default() };
        item.become_kind(Kind::Reasoning);
        if *item.thought.get_or_insert(thought) != thought {
            return Added::default();
        }
        item.texts.entry(part).or_default().push_str(delta);
        self.show_thinking(at, part, delta)
    }

    /// Takes the whole of a part of a thought.
    pub fn whole_thought(&mut self, place: Place<'_>, thought: Thought, part: u64, whole: &str) -> Added {
        let at = self.find(place, Kind::Reasoning);
        self.whole_thought_at(at, thought, part, whole)
    }

    /// Takes the next part of a call's arguments.
    pub fn arguments(&mut self, place: Place<'_>, delta: &str) {
        let at = self.find(place, Kind::Call);
        self.bytes = self.bytes.saturating_add(delta.len());
        if let Some(item) = self.list.get_mut(at) {
            item.become_kind(Kind::Call);
            item.arguments.push_str(delta);
        }
    }

    /// Takes the whole of a call's arguments.
    pub fn whole_arguments(&mut self, place: Place<'_>, whole: &str) {
        let at = self.find(place, Kind::Call);
        if let Some(item) = self.list.get_mut(at).filter(|_| !whole.is_empty()) {
            item.become_kind(Kind::Call);
            self.bytes = self.bytes.saturating_add(replace(&mut item.arguments, whole).len());
        }
    }

    /// Says that a part of the text is a refusal.
    pub fn refuse(&mut self) {
        self.refused = true;
    }

    /// Takes an item as it is at its end.
    pub fn close(&mut self, index: Option<u64>, raw: &RawValue) -> Added {
        let Some(wire) = WireItem::read(raw) else { return Added::default() };
        let at = self.find(Place { id: &wire.id.0, index }, kind(&wire));
        self.close_at(at, &wire, raw)
    }

    /// Takes the whole output: only what no event has closed is news.
    pub fn close_all(&mut self, output: &[&RawValue]) -> Added {
        let mut added = Added::default();
        for (index, raw) in output.iter().enumerate() {
            let Some(wire) = WireItem::read(raw) else { continue };
            let place = Place { id: &wire.id.0, index: u64::try_from(index).ok() };
            let nowhere = |item: &Item| item.index.is_none() && item.is_open(kind(&wire));
            let known =
                self.position(place, |item| item.fits(kind(&wire))).or_else(|| self.list.iter().position(nowhere));
            let at = match known {
                Some(at) => at,
                // Events without places, and with other ids than the output has, told all that is in it.
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
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Counts the calls.
    pub fn calls(&self) -> usize {
        self.list.iter().filter(|item| item.kind == Kind::Call).count()
    }

    /// Counts the bytes that are held.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Tells whether the server used tools of its own.
    pub fn used_tools(&self) -> bool {
        self.used_tools
    }

    /// Tells whether the model refused.
    pub fn refused(&self) -> bool {
        self.refused
    }

    /// Ends the reply: thoughts, text, calls, and the parts when some must go back.
    pub fn finish(mut self) -> (String, String, Vec<ToolCall>, Option<Original>) {
        self.list.sort_by_key(|item| item.index.unwrap_or(u64::MAX));
        let (mut thoughts, mut texts, mut calls) = (Vec::new(), Vec::new(), Vec::new());
        let mut parts = Vec::new();
        for mut item in self.list {
            let pieces = item.texts.values().map(String::as_str).filter(|text| !text.is_empty());
            let whole = item.whole.take();
            match item.kind {
                Kind::Message => {
                    let text = pieces.collect::<String>();
                    if text.is_empty() {
                        continue;
                    }
                    parts.push(match whole {
                        Some(Whole { json, back }) => (item.kind, Part::Opaque(json), back),
                        None => (item.kind, Part::Text { text: text.clone(), mark: None }, Back::May),
                    });
                    texts.push(text);
                }
                Kind::Reasoning => {
                    thoughts.extend(pieces.map(str::to_owned));
                    parts.extend(whole.map(|whole| (item.kind, Part::Opaque(whole.json), whole.back)));
                }
                Kind::Call if item.name.is_empty() && item.arguments.is_empty() => {}
                Kind::Call => {
                    let mark = Some(item.id).filter(|id| !id.is_empty());
                    parts.push((item.kind, Part::Call { index: calls.len(), mark }, Back::May));
                    let arguments = Arguments::parse(&item.arguments);
                    calls.push(ToolCall { id: item.call_id.into(), name: item.name, arguments });
                }
                Kind::Other => parts.extend(whole.map(|whole| (item.kind, Part::Opaque(whole.json), whole.back))),
                Kind::Unknown => {}
            }
        }
        call_ids::make_unique(&mut calls);
        parts.retain(|(_, _, back)| *back != Back::Never);
        // A thought with nothing behind it is refused ever after.
        while parts.last().is_some_and(|(kind, ..)| *kind == Kind::Reasoning) {
            parts.pop();
        }
        let must = parts.iter().any(|(_, _, back)| *back == Back::Must);
        let original = must.then(|| Original {
            dialect: Dialect::OpenAiResponses,
            parts: parts.into_iter().map(|(_, part, _)| part).collect(),
            ..Original::default()
        });
        (thoughts.join(BETWEEN), texts.join(BETWEEN), calls, original)
    }

    fn close_at(&mut self, at: usize, wire: &WireItem<'_>, raw: &RawValue) -> Added {
        let Some(item) = self.list.get_mut(at) else { return Added::default() };
        item.name_it(wire);
        if !wire.arguments.0.is_empty() {
            wire.arguments.0.as_ref().clone_into(&mut item.arguments);
        }
        item.whole = Some(Whole { json: raw.get().to_owned(), back: back(item.kind, wire) });
        self.bytes = self.bytes.saturating_add(raw.get().len());
        let (kind, thought) = (item.kind, item.thought);
        let summary = wire.summary.as_deref().unwrap_or_default();
        let content = wire.content.as_deref().unwrap_or_default();
        match kind {
            Kind::Message => {
                self.refused |= content.iter().any(|part| !part.refusal.0.is_empty());
                let rest = item.settle(content.iter().map(ItemPart::said), "");
                self.show_text(at, &rest)
            }
            Kind::Reasoning => {
                let (thought, parts) = match thought {
                    Some(Thought::Whole) => (Thought::Whole, content),
                    None if summary.is_empty() => (Thought::Whole, content),
                    Some(Thought::Summary) | None => (Thought::Summary, summary),
                };
                item.thought = Some(thought);
                let rest = item.settle(parts.iter().map(|part| &*part.text.0), BETWEEN);
                // What has begun is gone on with: the rest has its own gaps.
                let part = self.thinking_at.filter(|(last, _)| *last == at).map_or(0, |(_, part)| part);
                self.show_thinking(at, part, &rest)
            }
            Kind::Other => {
                let unanswered = UNANSWERED.contains(&&*wire.kind.0);
                self.used_tools |= wire.kind.0.ends_with("_call") && !unanswered;
                Added::default()
            }
            Kind::Call | Kind::Unknown => Added::default(),
        }
    }

    fn whole_text_at(&mut self, at: usize, part: u64, whole: &str) -> Added {
        let Some(item) = self.list.get_mut(at) else { return Added::default() };
        item.become_kind(Kind::Message);
        let rest = replace(item.text_of(part, whole), whole);
        self.show_text(at, &rest)
    }

    fn whole_thought_at(&mut self, at: usize, thought: Thought, part: u64, whole: &str) -> Added {
        let Some(item) = self.list.get_mut(at) else { return Added::default() };
        item.become_kind(Kind::Reasoning);
        if whole.is_empty() || *item.thought.get_or_insert(thought) != thought {
            return Added::default();
        }
        let rest = replace(item.text_of(part, whole), whole);
        self.show_thinking(at, part, &rest)
    }

    /// Finds the item of an event, which is of its kind; makes one where there is none.
    fn find(&mut self, place: Place<'_>, kind: Kind) -> usize {
        self.position(place, |item| item.is_open(kind)).unwrap_or_else(|| self.push(place))
    }

    /// Finds the latest item by its id, else by its place among those that are asked for. Of two items with one id (xAI)
    /// the place decides; one that has ended is not meant at another place.
    fn position(&self, place: Place<'_>, asked: impl Fn(&Item) -> bool) -> Option<usize> {
        let latest = |test: &dyn Fn(&Item) -> bool| self.list.iter().rposition(test);
        let placeless = |item: &Item| item.index.is_none() || place.index.is_none();
        latest(&|item| item.is_named(place) && item.index == place.index)
            .or_else(|| latest(&|item| item.is_named(place) && (item.whole.is_none() || placeless(item))))
            .or_else(|| latest(&|item| item.index == place.index && asked(item)))
    }

    fn push(&mut self, place: Place<'_>) -> usize {
        self.list.push(Item { index: place.index, id: place.id.to_owned(), ..Item::default() });
        self.list.len() - 1
    }

    fn show_text(&mut self, at: usize, text: &str) -> Added {
        if text.is_empty() {
            return Added::default();
        }
        self.bytes = self.bytes.saturating_add(text.len());
        let between = if self.text_at.is_some_and(|last| last != at) { BETWEEN } else { "" };
        self.text_at = Some(at);
        Added { text: format!("{between}{text}"), thinking: String::new() }
    }

    fn show_thinking(&mut self, at: usize, part: u64, thinking: &str) -> Added {
        if thinking.is_empty() {
            return Added::default();
        }
        self.bytes = self.bytes.saturating_add(thinking.len());
        let between = if self.thinking_at.is_some_and(|last| last != (at, part)) { BETWEEN } else { "" };
        self.thinking_at = Some((at, part));
        Added { thinking: format!("{between}{thinking}"), text: String::new() }
    }
}

impl Item {
    fn is_named(&self, place: Place<'_>) -> bool {
        !place.id.is_empty() && self.id == place.id
    }

    /// Returns what came of a part whose whole is told. Some servers give the deltas a higher number than the whole: the
    /// last text counts, if the whole goes on with it.
    fn text_of(&mut self, part: u64, whole: &str) -> &mut String {
        let is_it = |last: u64, text: &str| last > part && !text.is_empty() && whole.starts_with(text);
        let last = self.texts.iter().next_back().filter(|(last, text)| is_it(**last, text));
        let part = if self.texts.contains_key(&part) { part } else { last.map_or(part, |(last, _)| *last) };
        self.texts.entry(part).or_default()
    }

    /// Puts the parts of the end in the place of what came of them, in their order. Returns what of them was not there
    /// yet. Nothing, when the two differ: what is shown cannot be taken back.
    fn settle<'a>(&mut self, parts: impl Iterator<Item = &'a str>, between: &str) -> String {
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        let whole = parts.join(between);
        if whole.is_empty() {
            return whole;
        }
        let held: Vec<&str> = self.texts.values().map(String::as_str).filter(|text| !text.is_empty()).collect();
        let rest = whole.strip_prefix(held.join(between).as_str()).unwrap_or_default().to_owned();
        self.texts = (0..).zip(parts.into_iter().map(str::to_owned)).collect();
        rest
    }

    /// Tells whether it may be what an event takes it for.
    fn fits(&self, kind: Kind) -> bool {
        self.kind == kind || self.kind == Kind::Unknown || kind == Kind::Unknown
    }

    /// Tells whether it may be, and can still grow.
    fn is_open(&self, kind: Kind) -> bool {
        self.whole.is_none() && self.fits(kind)
    }

    fn become_kind(&mut self, kind: Kind) {
        if self.kind == Kind::Unknown {
            self.kind = kind;
        }
    }

    /// Takes over what an item says of itself.
    fn name_it(&mut self, wire: &WireItem<'_>) {
        let said = kind(wire);
        if said != Kind::Unknown {
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
    fn said(&self) -> &str {
        if self.text.0.is_empty() { &self.refusal.0 } else { &self.text.0 }
    }
}

fn kind(wire: &WireItem<'_>) -> Kind {
    match &*wire.kind.0 {
        "" => Kind::Unknown,
        "message" => Kind::Message,
        "reasoning" => Kind::Reasoning,
        "function_call" => Kind::Call,
        _ => Kind::Other,
    }
}

/// Says whether an item goes back. A thought that holds neither its encrypted form nor itself is looked for at the
/// server, which has stored nothing.
fn back(kind: Kind, wire: &WireItem<'_>) -> Back {
    let holds_itself = wire.content.as_ref().is_some_and(|content| !content.is_empty());
    match kind {
        Kind::Reasoning if wire.encrypted_content.0.is_empty() && !holds_itself => Back::Never,
        Kind::Other if UNANSWERED.contains(&&*wire.kind.0) => Back::Never,
        Kind::Reasoning | Kind::Other => Back::Must,
        Kind::Message if !wire.phase.0.is_empty() => Back::Must,
        Kind::Message | Kind::Call | Kind::Unknown => Back::May,
    }
}

/// Puts a whole text in the place of what came of it, and returns what of it was not there yet. Nothing, when the two
/// differ: what is shown cannot be taken back.
fn replace(held: &mut String, whole: &str) -> String {
    if whole.is_empty() {
        return String::new();
    }
    let rest = whole.strip_prefix(held.as_str()).unwrap_or_default().to_owned();
    whole.clone_into(held);
    rest
}
