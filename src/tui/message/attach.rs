//! Images that the user attaches: a path behind `@` that was completed or ends with a blank, and a path that was pasted,
//! as terminals do it for a file that is dropped.
//!
//! In the text an image is its label, `[image 1: picture.png 640×480, 82 KB]`, one step for cursor and deletion; what is
//! sent has the images whose labels stand in the text. Always holds: only what the user names is read; a text that comes
//! back, from a queue, from the history or from an undo, has its images again.

use std::path::Path;
use std::sync::Arc;

use super::composer::size;
use super::paths::Token;
use super::{Message, MessageContext, send};
use crate::effect::{Effect, PaneEffect};
use crate::state::Cause;
use steersman_base::event::{Delivery, Pending};
use steersman_base::image::Image;
use steersman_base::limits;
use steersman_base::protocol::{DraftImage, DraftText, ImageSupport, Request};
use steersman_images::FittedImage;

/// The names of files that are read as images, by their ends.
const ENDINGS: [&str; 5] = ["png", "jpg", "jpeg", "gif", "webp"];

/// The images of the texts of this screen.
#[derive(Debug, Default)]
pub(super) struct Attachments {
    known: Vec<Attached>,
    labels: Arc<[String]>,
    /// The highest number of an image in the conversation.
    last: u32,
    /// What stands in the text for each image that is being read.
    reading: Vec<Reading>,
    /// What could not be read: it is text.
    refused: Vec<String>,
    /// The text that is sent as soon as its images are read, and how.
    waiting: Option<(Delivery, String)>,
    /// Whether it was asked if the model takes images.
    is_requested: bool,
    /// Whether what stands before the cursor was pasted.
    is_pasted: bool,
}

/// An image that is being read.
#[derive(Debug)]
struct Reading {
    /// What stands for it in the text; empty for the picture of the clipboard.
    written: String,
    path: Option<String>,
}

/// An image that is known by its label.
#[derive(Debug)]
struct Attached {
    label: String,
    image: Image,
    /// The path that the user named; `None` for one of the clipboard, and for one that came with a text.
    path: Option<String>,
}

impl Attachments {
    fn keep(&mut self, attached: Attached) {
        self.known.push(attached);
        if self.known.len() > limits::KEPT_IMAGES {
            self.known.remove(0);
        }
        self.labels = self.known.iter().map(|attached| attached.label.clone()).collect();
    }

    fn is_reading(&self, written: &str) -> bool {
        self.reading.iter().any(|reading| reading.written == written)
    }

    /// Returns the labels, for the texts in which they stand.
    pub(super) fn labels(&self) -> &Arc<[String]> {
        &self.labels
    }

    /// Notes whether the newest characters were typed or pasted.
    pub(super) fn note_paste(&mut self, is_pasted: bool) {
        self.is_pasted = is_pasted;
    }
}

impl Message {
    /// Returns the images whose labels stand in a shown text, in their order there.
    pub(super) fn images_in(&self, shown: &str) -> Vec<Image> {
        let known = self.images.known.iter();
        let places = known.filter_map(|attached| Some((shown.find(&attached.label)?, &attached.image)));
        let mut places: Vec<(usize, &Image)> = places.collect();
        places.sort_by_key(|(place, _)| *place);
        places.into_iter().map(|(_, image)| image.clone()).collect()
    }

    /// Returns the images of a pending text that is edited, with these words; `None` where they are the same.
    pub(super) fn images_after_edit(&self, entry: &Pending) -> Option<Vec<Image>> {
        let labelled = self.images_in(&entry.text);
        let others = entry.images.iter().filter(|image| !labelled.contains(image)).cloned();
        let images: Vec<Image> = others.chain(self.images_in(&self.shown())).collect();
        (images != entry.images).then_some(images)
    }

    /// Returns the files of the images whose labels stand in a text, so that they can be read again. Those that came from
    /// no file are not kept.
    pub(super) fn files_in(&self, text: &str) -> Vec<DraftImage> {
        let known = self.images.known.iter().filter(|attached| text.contains(&attached.label));
        let files = known
            .filter_map(|Attached { label, path, .. }| Some(DraftImage { label: label.clone(), path: path.clone()? }));
        files.collect()
    }

    /// Asks for the images of drafts that an earlier process of the session kept.
    pub fn read_again(&mut self, drafts: &[DraftText]) -> Vec<PaneEffect> {
        let mut effects = Vec::new();
        for DraftText { text, images, .. } in drafts {
            self.count_images(text);
            for DraftImage { label, path } in images {
                self.images.reading.push(Reading { written: label.clone(), path: Some(path.clone()) });
                let (written, path) = (label.clone(), path.clone());
                effects.push(PaneEffect::Outside(Effect::ReadImage { written, path }));
            }
        }
        effects
    }

    /// Notes the images of texts that wait: those of an earlier process of the session, and of other clients.
    pub fn know_images<'a>(&mut self, entries: impl IntoIterator<Item = &'a Pending>) {
        for entry in entries {
            self.know(&entry.text, &entry.images);
        }
    }

    /// Notes the images of a text that stand there with their labels.
    pub fn know(&mut self, text: &str, images: &[Image]) {
        let mut labels = labels_in(text);
        for image in images {
            let of_image = |label: &&str| label.contains(&format!(": {} ", image.name));
            let Some(label) = labels.by_ref().find(of_image) else { continue };
            if !self.images.labels.iter().any(|known| known == label) {
                self.images.keep(Attached { label: label.to_owned(), image: image.clone(), path: None });
            }
        }
        self.count_images(text);
    }

    /// Notes the numbers of the images of a text, so that no other image gets one of them.
    pub fn count_images(&mut self, text: &str) {
        let highest = labels_in(text).filter_map(number).max().unwrap_or_default();
        self.images.last = self.images.last.max(highest);
    }

    /// Takes the path of an image that has just been finished with a blank; it began where this token did.
    pub(super) fn finish_path(&mut self, began: Option<&Token>, known: &MessageContext<'_>) -> Vec<PaneEffect> {
        let Some(began) = began.filter(|_| !self.images.is_pasted) else { return Vec::new() };
        let (row, before) = self.before_cursor();
        // The closing quote ends a path by itself.
        let Some(line) = before.strip_suffix(' ').or(before.ends_with('"').then_some(before)) else {
            return Vec::new();
        };
        match path_at_end(row, line).filter(|(token, _)| token.at == began.at) {
            Some((token, written)) => self.read_image(written, token.typed, known),
            None => Vec::new(),
        }
    }

    /// Takes a whole line that was read at once: the images whose paths stand in it are read, and then it is sent. Nothing is
    /// done where there are none.
    pub(super) fn attach_in_line(&mut self, line: &str, known: &MessageContext<'_>) -> Vec<PaneEffect> {
        self.images.is_pasted = false;
        let mut effects = Vec::new();
        for (token, written) in paths_in(line) {
            effects.extend(self.read_image(written, token.typed, known));
        }
        let shown = self.shown();
        if self.images.reading.iter().any(|reading| shown.contains(&reading.written)) {
            effects.push(self.say("sent as soon as its images are read"));
            self.images.waiting = Some((Delivery::Steer, shown));
        }
        effects
    }

    /// Takes a text that was pasted; where it is the path of an image, that is read.
    pub fn attach_pasted(&mut self, text: &str, known: &MessageContext<'_>) -> Vec<PaneEffect> {
        let written = text.trim();
        match pasted_path(written) {
            Some(path) => self.read_image(written.to_owned(), path, known),
            None => Vec::new(),
        }
    }

    /// Asks for the picture of the clipboard.
    pub fn paste_image(&mut self, known: &MessageContext<'_>) -> Vec<PaneEffect> {
        if known.run.images == Some(ImageSupport::Refused) {
            return vec![self.say("not attached: the model takes no images")];
        }
        if self.images.is_reading("") {
            return Vec::new();
        }
        self.images.reading.push(Reading { written: String::new(), path: None });
        let mut effects = self.ask_support(known);
        effects.push(PaneEffect::Outside(Effect::PasteImage));
        effects
    }

    fn read_image(&mut self, written: String, path: String, known: &MessageContext<'_>) -> Vec<PaneEffect> {
        // A shell reads its paths itself.
        let is_shell_line = send::shell_line(&self.shown()).is_some();
        if is_shell_line
            || !is_image(&path)
            || self.images.is_reading(&written)
            || self.images.refused.contains(&written)
        {
            return Vec::new();
        }
        if known.run.images == Some(ImageSupport::Refused) {
            self.images.refused.push(written);
            return vec![self.say(format!("not attached: the model takes no images; {path} is sent as text"))];
        }
        self.images.reading.push(Reading { written: written.clone(), path: Some(path.clone()) });
        let mut effects = self.ask_support(known);
        effects.push(PaneEffect::Outside(Effect::ReadImage { written, path }));
        effects
    }

    pub fn image_read(
        &mut self,
        written: &str,
        outcome: Result<FittedImage, String>,
        known: &MessageContext<'_>,
    ) -> Vec<PaneEffect> {
        let read = self.images.reading.iter().position(|reading| reading.written == written);
        let path = read.and_then(|place| self.images.reading.remove(place).path);
        let is_waited_for = self.images.waiting.as_ref().is_some_and(|(_, text)| *text == self.shown());
        match outcome {
            Ok(fitted) => {
                if let Some(number) = number(written) {
                    // One of a draft that was kept: it stands in its text already.
                    if label(number, &fitted) != written {
                        return vec![self.say(format!("not attached: {written} is not what it was"))];
                    }
                    self.images.keep(Attached { label: written.to_owned(), image: fitted.image, path });
                    self.top_mut();
                    return Vec::new();
                }
                let label = label(self.images.last + 1, &fitted);
                if self.top_mut().swap_first(written, &label) {
                    self.images.last += 1;
                    self.images.keep(Attached { label, image: fitted.image, path });
                    self.top_mut();
                }
            }
            Err(reason) => {
                self.images.waiting = None;
                if written.is_empty() {
                    return vec![self.say(format!("not attached: {reason}"))];
                }
                self.images.refused.push(written.to_owned());
                return vec![self.say(format!("not attached: {written}: {reason}"))];
            }
        }
        if is_waited_for && let Some((delivery, _)) = self.images.waiting.take() {
            return send::submit(self, delivery, known);
        }
        Vec::new()
    }

    /// Takes the answer whether the model takes images.
    pub fn images_checked(&mut self, known: &MessageContext<'_>) -> Vec<PaneEffect> {
        self.images.is_requested = false;
        if known.run.images != Some(ImageSupport::Refused) {
            // An earlier model may have refused them.
            self.images.refused.clear();
        }
        let shown = self.shown();
        match self.images.waiting.take() {
            Some((delivery, text)) if text == shown => send::submit(self, delivery, known),
            _ if self.images_in(&shown).is_empty() => Vec::new(),
            _ => self.refuse_images(known).into_iter().collect(),
        }
    }

    /// Returns what is done before a text is sent: an image of it is waited for or refused. `None` where nothing is.
    pub(super) fn before_sending(&mut self, delivery: Delivery, known: &MessageContext<'_>) -> Option<Vec<PaneEffect>> {
        let (row, before) = self.before_cursor();
        let at_cursor = path_at_end(row, before).filter(|_| !self.images.is_pasted && self.is_draft());
        let mut effects = match at_cursor {
            Some((token, written)) => self.read_image(written, token.typed, known),
            None => Vec::new(),
        };
        let shown = self.shown();
        let is_reading = self.images.reading.iter().any(|reading| shown.contains(&reading.written));
        let count = self.images_in(&shown).len();
        if is_reading || (count > 0 && known.run.images.is_none()) {
            effects.extend(self.ask_support(known));
            effects.push(self.say("sent as soon as its images are read"));
            self.images.waiting = Some((delivery, shown));
            return Some(effects);
        }
        if !effects.is_empty() {
            return Some(effects);
        }
        if count > limits::IMAGES {
            return Some(vec![self.say(format!("not sent: a message has at most {} images", limits::IMAGES))]);
        }
        if count > 0 { self.refuse_images(known).map(|refusal| vec![refusal]) } else { None }
    }

    fn ask_support(&mut self, known: &MessageContext<'_>) -> Vec<PaneEffect> {
        if known.run.images.is_some() || std::mem::replace(&mut self.images.is_requested, true) {
            return Vec::new();
        }
        vec![Request::CheckImages.into()]
    }

    /// Says that the model takes no images, where that is known.
    fn refuse_images(&self, known: &MessageContext<'_>) -> Option<PaneEffect> {
        let sentence = "not sent: the model takes no images; remove the image, or choose another model with /model";
        (known.run.images == Some(ImageSupport::Refused)).then(|| self.say(sentence))
    }

    pub(super) fn say(&self, sentence: impl Into<String>) -> PaneEffect {
        PaneEffect::SayWhile(Some(Cause::Message(self.text())), sentence.into())
    }
}

fn label(number: u32, fitted: &FittedImage) -> String {
    let FittedImage { image, width, height } = fitted;
    format!("[image {number}: {} {width}×{height}, {}]", image.name, size(image.bytes()))
}

/// Finds the path that a line ends with, and how it is written there; also one whose closing quote has just been typed.
fn path_at_end(row: usize, line: &str) -> Option<(Token, String)> {
    let token = line.strip_suffix('"').and_then(|open| Token::find(row, open)).or_else(|| Token::find(row, line))?;
    let written: String = line.chars().skip(token.at.1).collect();
    Some((token, written))
}

/// Finds the paths behind `@` in a text.
fn paths_in(text: &str) -> Vec<(Token, String)> {
    let ends = text.char_indices().filter(|(_, c)| c.is_whitespace()).map(|(at, _)| at).chain([text.len()]);
    let found = ends.filter_map(|end| {
        let before = text.get(..end)?;
        let line = before.rsplit('\n').next().unwrap_or(before);
        path_at_end(0, line)
    });
    found.collect()
}

fn is_image(path: &str) -> bool {
    let ending = Path::new(path).extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// Reads a pasted text as one whole path: in quotes, with backslashes before blanks, or as an address of a file.
fn pasted_path(text: &str) -> Option<String> {
    if text.contains(char::is_control) {
        return None;
    }
    let quoted = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    let path = if text.starts_with("file://") {
        url::Url::parse(text).ok()?.to_file_path().ok()?.to_str()?.to_owned()
    } else if let Some(inner) = quoted('\'').or_else(|| quoted('"')) {
        inner.to_owned()
    } else {
        unescaped(text)?
    };
    (path.starts_with('/') || path.starts_with("~/")).then_some(path).filter(|path| is_image(path))
}

/// Takes the backslashes away that stand before characters of a path; `None` where a blank has none, so that it is no path.
fn unescaped(text: &str) -> Option<String> {
    let mut path = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => path.push(rest.next()?),
            // Names of screenshots have blanks; a terminal that does not mark them pastes nothing else.
            ' ' if !text.starts_with(['/', '~']) => return None,
            c => path.push(c),
        }
    }
    Some(path)
}

/// Returns the labels of images that stand in a text.
fn labels_in(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("[image ").filter_map(|(at, _)| {
        let label = text.get(at..)?;
        let label = label.get(..=label.find(']')?)?;
        number(label).map(|_| label)
    })
}

fn number(label: &str) -> Option<u32> {
    label.strip_prefix("[image ")?.split_once(':')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paste_is_a_path_only_as_a_whole() {
        for (text, path) in [
            ("/tmp/a.png", Some("/tmp/a.png")),
            ("~/a b.JPG", Some("~/a b.JPG")),
            ("/tmp/my\\ shot.webp", Some("/tmp/my shot.webp")),
            ("'/tmp/my shot.png'", Some("/tmp/my shot.png")),
            ("\"/tmp/a.gif\"", Some("/tmp/a.gif")),
            ("file:///tmp/my%20shot.jpeg", Some("/tmp/my shot.jpeg")),
            ("/tmp/a.txt", None),
            ("a.png", None),
            ("/tmp/a.png\nand more", None),
            ("look at /tmp/a.png", None),
            ("file://host/a.png", None),
            ("https://example.org/a.png", None),
        ] {
            assert_eq!(pasted_path(text).as_deref(), path, "{text}");
        }
    }

    #[test]
    fn labels_are_found_with_their_numbers() {
        let text = "see [image 2: a.png 1×1, 3 B] and [image x: b] [image 11: c.png 2×2, 9 B]";
        let found: Vec<_> = labels_in(text).map(|label| (label, number(label))).collect();
        assert_eq!(found, [("[image 2: a.png 1×1, 3 B]", Some(2)), ("[image 11: c.png 2×2, 9 B]", Some(11))]);
    }
}
