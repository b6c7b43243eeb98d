//! What fills the context window of an agent, part by part; and results and images that the user takes out of it.
//!
//! Published before each request and at the end of a turn, so that a host can ask at any time. Always holds: what is
//! taken out leaves a mark in its place, so that the history can be sent; the parts are guesses, scaled as the whole is.

use std::collections::BTreeMap;

use crate::Agent;
use crate::context_size::{self, ConversationSize};
use crate::history::{is_pinned, is_summary};
use crate::instruction_files::instruction_files;
use steersman_base::event::Event;
use steersman_base::id::CallId;
use steersman_base::image::Image;
use steersman_base::limits;
use steersman_base::message::{Arguments, Message, Part, ToolCall, UserAbout};
use steersman_base::protocol::{ContextItem, ContextKind, ContextPart, ContextReport};
use steersman_base::summary;
use steersman_base::text::{clip, visible_line};

/// The beginning of the names of servers' tools.
const SERVER_TOOL: &str = "mcp__";

impl Agent {
    /// Publishes what fills the window now.
    pub(super) fn publish_context(&self) {
        self.tree.context.publish(self.context_report());
    }

    /// Takes out what the user does not want in the conversation any more.
    pub(super) fn drop_excluded(&mut self) {
        let before = self.size().tokens;
        let (mut results, mut images) = (0, 0);
        for item in self.tree.context.take_drops(&self.id) {
            match item {
                ContextItem::Call(call) => results += usize::from(self.history.drop_result(&call)),
                ContextItem::Image(digest) => images += usize::from(self.history.drop_image(&digest)),
            }
        }
        if results + images == 0 {
            return;
        }
        let counts = [(results, "result"), (images, "image")].into_iter().filter(|(number, _)| *number > 0);
        let what: Vec<String> = counts.map(|(number, word)| summary::count(number, word)).collect();
        self.context_size.forget();
        let freed = before.saturating_sub(self.size().tokens);
        self.listeners.emit(Event::Notice {
            text: format!(
                "taken out of the conversation: {}, about {} tokens; what the server had cached behind it is read anew once",
                what.join(" and "),
                summary::tokens(freed)
            ),
        });
        self.notify_replaced();
    }

    fn context_report(&self) -> ContextReport {
        let ConversationSize { tokens, estimated } = self.size();
        let mut parts = Parts::default();
        let mut calls: BTreeMap<&CallId, &ToolCall> = BTreeMap::new();
        for (place, message) in self.history.messages().iter().enumerate() {
            match message {
                Message::System { .. } if place == 0 => self.add_prompt(message, &mut parts),
                Message::System { content } => add_note(content, message, &mut parts),
                Message::User { .. } if is_summary(message) || is_pinned(message) => {
                    parts.add(ContextKind::Summary, "", message);
                }
                Message::User { about, .. } => match about.as_deref() {
                    None | Some(UserAbout::Text(_) | UserAbout::Rule(_) | UserAbout::Kept(_)) => {
                        parts.add_text(message);
                    }
                    Some(UserAbout::Images) => self.add_result_images(place, message, &mut parts),
                    Some(UserAbout::Plan(_) | UserAbout::Job(_) | UserAbout::Agent(_)) => {
                        parts.add(ContextKind::Notes, "", message);
                    }
                },
                Message::Assistant(reply) => {
                    calls.extend(reply.tool_calls.iter().map(|call| (&call.id, call)));
                    let all = context_size::guess(std::slice::from_ref(message), &[]);
                    let opaque = reply.original.iter().flat_map(|original| &original.parts).map(|part| match part {
                        Part::Opaque(json) => context_size::guess_opaque(json),
                        Part::Text { .. } | Part::Call { .. } => 0,
                    });
                    let thoughts = opaque.sum::<u64>().min(all);
                    parts.put(ContextKind::Thoughts, "", thoughts);
                    parts.put(ContextKind::Replies, "", all - thoughts);
                }
                Message::Tool { call_id, name, .. } => {
                    let (kind, name) = match calls.get(call_id) {
                        Some(call) => named(call),
                        None => (ContextKind::Result, name.clone()),
                    };
                    let tokens = context_size::guess(std::slice::from_ref(message), &[]);
                    parts.single(kind, name, tokens, call_id);
                }
            }
        }
        for schema in self.toolbox.schemas() {
            let server = schema.name.strip_prefix(SERVER_TOOL).and_then(|name| name.split_once("__"));
            let name = server.map_or_else(String::new, |(server, _)| format!("of the server {server}"));
            parts.put(ContextKind::Tools, &name, context_size::guess(&[], std::slice::from_ref(schema)));
        }
        let agent = self.id.clone();
        ContextReport { agent, window: self.context_window_cap, tokens, estimated, parts: parts.scaled(tokens) }
    }

    /// Adds the images of results to the calls that brought them, with which they are taken out; one by one where that is not
    /// known.
    fn add_result_images(&self, place: usize, message: &Message, parts: &mut Parts) {
        let Message::User { images, .. } = message else { return };
        let mut rest = context_size::guess(std::slice::from_ref(message), &[]);
        for (image, owner) in images.iter().zip(self.history.image_owners(place)) {
            let owner = owner.map(ContextItem::Call);
            let part = parts.0.iter_mut().find(|part| owner.is_some() && part.item == owner);
            let tokens = context_size::guess_images(1).min(rest);
            match part {
                Some(part) => part.tokens = part.tokens.saturating_add(tokens),
                None => parts.image(image, tokens),
            }
            rest -= tokens;
        }
        parts.put(ContextKind::Notes, "", rest);
    }

    /// Adds the system prompt, apart from it the instruction files in it.
    fn add_prompt(&self, prompt: &Message, parts: &mut Parts) {
        let mut rest = context_size::guess(std::slice::from_ref(prompt), &[]);
        for (name, tokens) in &self.instructions {
            let tokens = (*tokens).min(rest);
            rest -= tokens;
            parts.put(ContextKind::Instructions, name, tokens);
        }
        parts.put(ContextKind::Prompt, "", rest);
    }
}

/// Adds a note of the program, apart from it the instruction files in it.
fn add_note(content: &str, note: &Message, parts: &mut Parts) {
    let mut rest = context_size::guess(std::slice::from_ref(note), &[]);
    for (path, text) in instruction_files(content) {
        let tokens = context_size::guess_text(text).min(rest);
        rest -= tokens;
        parts.put(ContextKind::Instructions, &visible_line(path), tokens);
    }
    parts.put(ContextKind::Notes, "", rest);
}

/// Returns what a result is, and its name.
fn named(call: &ToolCall) -> (ContextKind, String) {
    let path = match &call.arguments {
        Arguments::Object(arguments) if call.name == "read" => arguments.get("path").and_then(|path| path.as_str()),
        Arguments::Object(_) | Arguments::Raw(_) => None,
    };
    let shown = |text: &str| clip(&visible_line(text), limits::CONTEXT_NAME_COLUMNS).into_owned();
    match path {
        Some(path) => (ContextKind::File, shown(path)),
        None => (ContextKind::Result, shown(&format!("{} {}", call.name, summary::call(&call.name, &call.arguments)))),
    }
}

/// The parts that were found so far.
#[derive(Default)]
struct Parts(Vec<ContextPart>);

impl Parts {
    fn add(&mut self, kind: ContextKind, name: &str, message: &Message) {
        self.put(kind, name, context_size::guess(std::slice::from_ref(message), &[]));
    }

    /// Adds to the part of this kind and name.
    fn put(&mut self, kind: ContextKind, name: &str, tokens: u64) {
        let same = |part: &&mut ContextPart| part.kind == kind && part.name == name && part.item.is_none();
        match self.0.iter_mut().find(same) {
            Some(part) => part.tokens = part.tokens.saturating_add(tokens),
            None => self.0.push(ContextPart { kind, name: name.to_owned(), tokens, item: None, request: None }),
        }
    }

    fn single(&mut self, kind: ContextKind, name: String, tokens: u64, call: &CallId) {
        self.0.push(ContextPart { kind, name, tokens, item: Some(ContextItem::Call(call.clone())), request: None });
    }

    /// Adds what the user wrote, apart from it the images.
    fn add_text(&mut self, message: &Message) {
        let mut rest = context_size::guess(std::slice::from_ref(message), &[]);
        if let Message::User { images, .. } = message {
            for image in images {
                let tokens = context_size::guess_images(1).min(rest);
                self.image(image, tokens);
                rest -= tokens;
            }
        }
        self.put(ContextKind::Texts, "", rest);
    }

    /// Adds an image; to the part of the same one that was sent before.
    fn image(&mut self, image: &Image, tokens: u64) {
        let facts = image.facts();
        let item = facts.digest.map(ContextItem::Image);
        if let Some(part) = self.0.iter_mut().find(|part| item.is_some() && part.item == item) {
            part.tokens = part.tokens.saturating_add(tokens);
        } else {
            let name = clip(&visible_line(&facts.name), limits::CONTEXT_NAME_COLUMNS).into_owned();
            self.0.push(ContextPart { kind: ContextKind::Image, name, tokens, item, request: None });
        }
    }

    /// Returns the parts, the largest first, so that together they are about the whole.
    fn scaled(self, whole: u64) -> Vec<ContextPart> {
        let sum: u128 = self.0.iter().map(|part| u128::from(part.tokens)).sum();
        let scale = |mut part: ContextPart| {
            let tokens = u128::from(part.tokens) * u128::from(whole) / sum.max(1);
            part.tokens = u64::try_from(tokens).unwrap_or(u64::MAX);
            part
        };
        let mut parts: Vec<ContextPart> = self.0.into_iter().map(scale).filter(|part| part.tokens > 0).collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.tokens));
        parts
    }
}
