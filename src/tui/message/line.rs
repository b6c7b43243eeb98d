//! Texts that come line by line: a whole line that was read at once, one that goes on in the next, one of several lines;
//! what Ctrl+C does with them.
//!
//! Always holds: a text that comes back never gets into the line by itself.

use super::composer::Composer;
use super::entry::addressed;
use super::purpose::Purpose;
use super::removed::Removed;
use super::{Message, MessageContext, bring_back, send};
use crate::commands::{self, Command, Draft, LineVerb, Verb};
use crate::effect::{Effect, Outcome, PaneEffect};
use crate::update;
use steersman_base::event::{Delivery, Pending};
use steersman_base::id::AgentId;
use steersman_base::protocol::Request;
use steersman_base::text::is_blank;

/// Ends a text of several lines.
const END_OF_TEXT: &str = ".";

/// Says that a line was dropped.
const EMPTY_AGAIN: &str = "the line is empty again; /back brings it back";

/// Ends a line that goes on in the next.
pub(super) const GOES_ON: char = '\\';

/// The lines that have come of a text so far.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The lines of a text that is written line by line.
    several: Option<String>,
    /// Lines of a pipe that go on in the next one.
    begun: Option<String>,
}

impl Lines {
    pub(super) fn texts(&self) -> impl Iterator<Item = String> {
        self.several.iter().chain(&self.begun).cloned()
    }
}

impl Message {
    /// Puts a whole line above what the message holds.
    pub fn begin_line(&mut self, line: &str) {
        let mut composer = Composer::default();
        composer.type_text(line);
        self.above.push((Purpose::Line, composer));
    }

    /// Takes the line away again; returns what was left of it, or was put there.
    pub fn end_line(&mut self) -> String {
        let line = self.end(|purpose| matches!(purpose, Purpose::Line));
        line.map(|(_, composer)| composer.text()).unwrap_or_default()
    }

    /// Tells whether the next line belongs to one before it.
    pub fn is_line_begun(&self) -> bool {
        self.lines.begun.is_some()
    }

    /// Begins a text of several lines.
    pub fn begin_lines(&mut self) {
        self.lines.several = Some(String::new());
    }

    /// Tells whether a text of several lines is being written.
    pub fn is_in_lines(&self) -> bool {
        self.lines.several.is_some()
    }

    /// Keeps a text that was not sent where `/back` finds it.
    pub fn keep(&mut self, text: String) {
        if !is_blank(&text) {
            self.set_aside(Removed::Draft(text));
        }
    }

    /// Keeps texts that came back unasked, the newest on top, where `/back` finds them; returns what says so.
    pub(super) fn take_aside(&mut self, entries: &[Pending], known: &MessageContext<'_>) -> Vec<PaneEffect> {
        for entry in entries.iter().rev() {
            self.set_aside(Removed::Draft(addressed(&known.agent_of(&entry.id), entry)));
        }
        let note = |entry: &Pending| PaneEffect::Note(AgentId::main(), format!("yours again: {}", entry.text));
        entries.iter().map(note).collect()
    }
}

/// Takes a whole line. What is kept in the line stays there, unless the line is empty: that sends it.
pub fn take_line(message: &mut Message, text: &str, known: &MessageContext<'_>) -> Vec<PaneEffect> {
    if message.is_in_lines() {
        message.begin_line(text);
        let effects = enter_several(message, known);
        let left = message.end_line();
        if effects.is_empty() {
            message.keep(left);
        }
        return effects;
    }
    if let Some(begun) = text.strip_suffix(GOES_ON) {
        message.lines.begun.get_or_insert_default().extend([begun, "\n"]);
        return Vec::new();
    }
    let whole = message.lines.begun.take().map_or_else(|| text.to_owned(), |begun| begun + text);
    let text = whole.strip_suffix('\n').unwrap_or(&whole);
    if text.is_empty() {
        return vec![update::enter()];
    }
    let read = commands::read_line(text);
    if let Draft::Command(Command { verb: Verb::Line(LineVerb::Drop), .. }, _) = read {
        return drop_kept(message);
    }
    if !message.is_draft() && !matches!(read, Draft::Command(..) | Draft::InvalidArguments(..)) {
        // The line is what was asked for: the new words of what is edited.
        message.load(text);
        return vec![update::enter()];
    }
    if matches!(read, Draft::Text(_)) && message.is_empty() {
        // The text waits where an edit of it is, until its images are read.
        message.load(text);
        let effects = message.attach_in_line(text, known);
        if !effects.is_empty() {
            return effects;
        }
        message.load("");
    }
    message.begin_line(text);
    let effects = send::submit(message, Delivery::Steer, known);
    let line = message.end_line();
    // What was typed is in an effect now; else it was refused with a sentence.
    let is_sent =
        effects.iter().any(|effect| matches!(effect, PaneEffect::Outside(Effect::Request(Request::Inject { .. }))));
    if !is_sent {
        message.keep(line);
    }
    effects
}

/// Takes one line of a text of several lines; a dot alone ends and sends it.
pub(super) fn enter_several(message: &mut Message, known: &MessageContext<'_>) -> Vec<PaneEffect> {
    let line = message.text();
    message.load("");
    if line != END_OF_TEXT {
        message.lines.several.get_or_insert_default().extend([line.as_str(), "\n"]);
        return Vec::new();
    }
    let text = message.lines.several.take().unwrap_or_default();
    let text = text.strip_suffix('\n').unwrap_or(&text);
    // It is a text, whatever it begins with.
    let is_command = !matches!(commands::read_line(text), Draft::Text(_));
    let slash = if is_command { "/" } else { "" };
    message.load(&format!("{slash}{text}"));
    if message.is_empty() {
        return Vec::new();
    }
    send::submit(message, Delivery::Steer, known)
}

/// Forgets what is kept in the line, and ends an edit; it can be brought back.
pub fn drop_kept(message: &mut Message) -> Vec<PaneEffect> {
    if !message.is_draft() {
        return bring_back::abandon(message);
    }
    if message.is_empty() {
        return vec![PaneEffect::Say("nothing is kept in the line".to_owned())];
    }
    message.clear();
    Vec::new()
}

/// Takes a Ctrl+C: it clears the line; in an empty line it is about the turn.
pub fn interrupt(message: &mut Message) -> Outcome {
    let say = |sentence: &str| PaneEffect::Say(sentence.to_owned());
    let mut effects = Vec::new();
    if let Some(text) = message.lines.several.take() {
        message.keep(text);
        effects.push(say("the text is dropped; /back brings it back"));
    }
    if let Some(text) = message.lines.begun.take() {
        message.keep(text);
        effects.push(say(EMPTY_AGAIN));
        return Outcome::Consumed(effects);
    }
    if !message.is_draft() {
        effects.extend(bring_back::abandon(message));
        return Outcome::Consumed(effects);
    }
    if !message.is_empty() {
        message.clear();
        effects.push(say(EMPTY_AGAIN));
        return Outcome::Consumed(effects);
    }
    if effects.is_empty() { Outcome::Ignored } else { Outcome::Consumed(effects) }
}
