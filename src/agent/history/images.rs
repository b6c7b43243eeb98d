//! The images of a conversation: those that a server refuses are named instead of sent, and those of a result go with it.
//!
//! Pure. An image never leaves without a word in its place, so that the model knows that there was one.

use std::fmt::Write as _;

use super::History;
use steersman_base::id::CallId;
use steersman_base::image::{Image, ImageDigest};
use steersman_base::message::{Arguments, Message, ToolCall, UserAbout};
use steersman_base::text::{clip, visible_line};

/// Columns of the name of an image.
const NAME: usize = 120;
/// Why an image is gone that the user took out.
const TAKEN_OUT: &str = "the user took it out";

impl History {
    /// Returns where the newest images begin: behind the last reply, else in the last message that has any; `None` without
    /// images.
    pub fn newest_images(&self) -> Option<usize> {
        let last = self.messages.iter().rposition(|message| !images_of(message).is_empty())?;
        let reply = self.messages.iter().rposition(|message| matches!(message, Message::Assistant(_)));
        let behind = reply.map_or(0, |reply| reply + 1);
        Some(behind.min(last))
    }

    /// Returns this conversation with names in the place of the images from this message on, and the names; `None` where
    /// there are none.
    #[must_use]
    pub fn without_images(&self, from: usize) -> Option<(Self, Vec<String>)> {
        let mut history = self.clone();
        let mut names = Vec::new();
        for message in history.messages.iter_mut().skip(from) {
            let gone = take_images(message, |_| true, "the server refused it");
            names.extend(gone);
        }
        (!names.is_empty()).then_some((history, names))
    }

    /// Takes an image out of every message; tells whether it was in one.
    pub fn drop_image(&mut self, digest: &ImageDigest) -> bool {
        let is_it = |image: &Image| image.facts().digest.as_ref() == Some(digest);
        let taken = self.messages.iter_mut().map(|message| take_images(message, is_it, TAKEN_OUT).len());
        taken.sum::<usize>() > 0
    }

    /// Takes the images out that the result of a call brought; tells whether there were any.
    pub(super) fn drop_images(&mut self, call: &CallId) -> bool {
        let mut any = false;
        for place in 0..self.messages.len() {
            let owners = self.image_owners(place);
            if !owners.contains(&Some(call.clone())) {
                continue;
            }
            if let Some(message) = self.messages.get_mut(place) {
                let mut owners = owners.into_iter();
                let is_its = |_: &Image| owners.next().flatten().as_ref() == Some(call);
                any |= !take_images(message, is_its, TAKEN_OUT).is_empty();
            }
        }
        any
    }

    /// Returns which call of the batch before it brought each image of a message; `None` where that is not known.
    pub(crate) fn image_owners(&self, place: usize) -> Vec<Option<CallId>> {
        let Some(message) = self.messages.get(place).filter(|message| is_of_results(message)) else {
            return Vec::new();
        };
        let before = self.messages.get(..place).unwrap_or_default();
        let results = before.iter().rev().skip_while(|message| !matches!(message, Message::Tool { .. }));
        let last =
            results.take_while(|message| matches!(message, Message::Tool { .. })).find_map(|message| match message {
                Message::Tool { call_id, .. } => Some(call_id),
                Message::System { .. } | Message::User { .. } | Message::Assistant(_) => None,
            });
        let reply = before.iter().rev().find_map(|message| match message {
            Message::Assistant(reply) => Some(reply),
            Message::System { .. } | Message::User { .. } | Message::Tool { .. } => None,
        });
        let calls = reply.map(|reply| reply.tool_calls.as_slice()).unwrap_or_default();
        let owner = |image: &Image| {
            let named = calls.iter().rev().find(|call| brought(call, image)).map(|call| &call.id);
            named.or(last).cloned()
        };
        images_of(message).iter().map(owner).collect()
    }
}

/// Tells whether an image has the name that one of this call has: of the file that was read, or with the tool in it.
fn brought(call: &ToolCall, image: &Image) -> bool {
    let path = match &call.arguments {
        Arguments::Object(arguments) => arguments.get("path").and_then(|path| path.as_str()),
        Arguments::Raw(_) => None,
    };
    path.is_some_and(|path| {
        image.name == visible_line(path.trim_start_matches("./")) || image.name == visible_line(path)
    }) || image.name.strip_suffix(call.name.as_str()).is_some_and(|before| before.ends_with(" of "))
}

fn is_of_results(message: &Message) -> bool {
    matches!(message, Message::User { about: Some(about), .. } if **about == UserAbout::Images)
}

fn images_of(message: &Message) -> &[Image] {
    match message {
        Message::User { images, .. } => images,
        Message::System { .. } | Message::Assistant(_) | Message::Tool { .. } => &[],
    }
}

/// Puts names in the place of images of a message; returns them.
fn take_images(message: &mut Message, mut goes: impl FnMut(&Image) -> bool, why: &str) -> Vec<String> {
    let Message::User { content, images, about } = message else { return Vec::new() };
    let mut names = Vec::new();
    let words = content.clone();
    images.retain(|image| {
        let goes = goes(image);
        if goes {
            names.push(clip(&visible_line(&image.name), NAME).into_owned());
        }
        !goes
    });
    for name in &names {
        let _ = write!(content, "\n\n[The image {name} is not here any more: {why}.]");
    }
    // Whatever is added, the words of the user stay what they were.
    if let (Some(UserAbout::Text(text)), false) = (about.as_deref_mut(), names.is_empty()) {
        text.words.get_or_insert(words);
    }
    names
}
