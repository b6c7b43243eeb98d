//! What has come from the terminal and is not handed on yet: what a slow line or a read has cut in two is joined, and what
//! can only be a paste is one. The time is an argument.
//!
//! - The bytes of one key come apart on a slow line. An escape character waits for the rest of its key, so that what the
//!   Esc key does is not done when half an arrow came. What follows an Esc that was decided moments ago is joined with it
//!   where nobody types that; then nothing of it is text.
//! - Lines that come at once, or within a few milliseconds of each other, with one begun behind them, are a paste of a
//!   terminal that does not mark pastes: their line ends send nothing. One or two whole lines, each with its end, may have
//!   been typed fast, or come from a program: each is sent. More of them are a block, whose last line end sends nothing
//!   either. What comes within half a second is its rest, unless a key that is no character was pressed after a pause.

use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyModifiers};

use super::decode::{Awaits, Decoded, Decoder};
use crate::keymap::{self, Chord};
use steersman_base::limits;

/// Most that is handed on together.
const BATCH: usize = 4_096;
/// Characters at once that belong to a paste which was going on a moment ago.
const REST: usize = 2;
/// Line ends at once that nobody types.
const BLOCK_LINES: usize = 3;

/// What the keys come over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TerminalLink {
    #[default]
    Local,
    /// A network, which parts the bytes of a key.
    Ssh,
}

impl TerminalLink {
    /// Returns how long an escape character waits for the rest of its key.
    fn escape_pause(self) -> Duration {
        match self {
            Self::Local => limits::ESCAPE_PAUSE,
            Self::Ssh => limits::ESCAPE_PAUSE_SSH,
        }
    }
}

#[derive(Debug)]
pub(super) struct Incoming {
    link: TerminalLink,
    decoder: Decoder,
    items: Vec<Decoded>,
    /// True while the last item is a paste without marks, which may go on.
    is_pasting: bool,
    /// When bytes came last.
    last: Option<Instant>,
    /// When a paste without marks went on last.
    pasted: Option<Instant>,
    /// When something was taken for a key because nothing followed.
    decided: Option<Instant>,
    /// When an answer of the terminal was given up whose rest did not come.
    lost: Option<Instant>,
    /// Whether an escape character, which may begin the end of that answer, has come already.
    is_ending: bool,
}

impl Incoming {
    pub(super) fn new(link: TerminalLink) -> Self {
        Self {
            link,
            decoder: Decoder::default(),
            items: Vec::new(),
            is_pasting: false,
            last: None,
            pasted: None,
            decided: None,
            lost: None,
            is_ending: false,
        }
    }

    /// Takes bytes that were read at this moment.
    pub(super) fn feed(&mut self, bytes: &[u8], at: Instant) {
        if !is_within(self.decided, limits::LATE_REST, at) {
            self.decoder.keep_decided();
        }
        let is_behind_pause = !is_within(self.last, limits::BURST_PAUSE, at);
        self.last = Some(at);
        let late = is_within(self.lost, limits::ANSWER_LATE, at).then(|| late_rest(bytes, self.is_ending)).flatten();
        self.is_ending = false;
        if late.is_some() {
            self.lost = None;
        }
        let bytes = late.unwrap_or(bytes);
        let mut decoded = Vec::new();
        self.decoder.feed(bytes, &mut decoded);
        if is_behind_pause && decoded.first().is_some_and(|one| character(one).is_none()) {
            self.pasted = None;
        }
        self.add(decoded, at);
    }

    /// Returns when something is to be taken out, if nothing comes before; `None` while there is nothing.
    pub(super) fn due(&self) -> Option<Instant> {
        let last = self.last?;
        let held = (!self.items.is_empty()).then(|| last + self.hold());
        let undecided = self.decoder.awaits().map(|awaits| last + self.patience(awaits));
        held.into_iter().chain(undecided).min()
    }

    /// Takes out what is due at this moment.
    pub(super) fn take_due(&mut self, at: Instant) -> Vec<Decoded> {
        let Some(last) = self.last else { return Vec::new() };
        if self.decoder.awaits().is_some_and(|awaits| last + self.patience(awaits) <= at) {
            self.decide(at);
        }
        if last + self.hold() > at {
            return Vec::new();
        }
        let mut run = self.take_run();
        self.end_run(&mut run, RunEnd::Known, at);
        self.take_decoded()
    }

    /// Takes out all, also what may go on.
    pub(super) fn take_decoded(&mut self) -> Vec<Decoded> {
        self.is_pasting = false;
        std::mem::take(&mut self.items)
    }

    /// Takes out all at the end of the input; what has not come in full is decided or forgotten.
    pub(super) fn end(&mut self) -> Vec<Decoded> {
        if let Some(last) = self.last {
            self.decide(last);
        }
        self.decoder.reset();
        self.take_decoded()
    }

    /// Tells whether so much has come that it is to be handed on at once.
    pub(super) fn is_full(&self) -> bool {
        let is_long = |one: &Decoded| matches!(one, Decoded::Paste(text) if text.len() >= limits::PASTE_READ_BYTES);
        self.items.len() >= BATCH || self.items.last().is_some_and(is_long)
    }

    fn decide(&mut self, at: Instant) {
        if self.decoder.awaits() == Some(Awaits::Answer) {
            self.lost = Some(at);
        }
        self.is_ending = self.decoder.ends_in_escape();
        let mut decoded = Vec::new();
        self.decoder.decide(&mut decoded);
        self.decided = Some(at);
        self.pasted = None;
        self.add(decoded, at);
    }

    /// Returns how long to wait for more of a paste, or for what makes one of a line end.
    fn hold(&self) -> Duration {
        let has_line_end = || {
            let mut run = self.items.iter().rev().take_while(|one| character(one).is_some());
            self.decoder.awaits().is_none() && run.any(is_enter)
        };
        match self.is_pasting {
            true => limits::BURST_PAUSE,
            false if has_line_end() => limits::LINE_END_PAUSE,
            false => Duration::ZERO,
        }
    }

    fn patience(&self, awaits: Awaits) -> Duration {
        match awaits {
            Awaits::Key => self.link.escape_pause(),
            Awaits::Answer => limits::ANSWER_REST,
        }
    }

    /// Adds what was decoded; plain characters that can only be a paste are one.
    fn add(&mut self, decoded: Vec<Decoded>, at: Instant) {
        let mut run = self.take_run();
        for one in decoded {
            if character(&one).is_some() {
                run.push(one);
            } else {
                self.end_run(&mut run, RunEnd::Known, at);
                self.items.push(one);
                self.is_pasting = false;
            }
        }
        self.end_run(&mut run, RunEnd::Open, at);
    }

    /// Takes the plain characters at the end, which more may follow.
    fn take_run(&mut self) -> Vec<Decoded> {
        let length = self.items.iter().rev().take_while(|one| character(one).is_some()).count();
        self.items.split_off(self.items.len() - length)
    }

    fn end_run(&mut self, run: &mut Vec<Decoded>, end: RunEnd, at: Instant) {
        if run.is_empty() {
            return;
        }
        let goes_on = is_within(self.pasted, limits::BURST_REST, at) && run.len() >= REST;
        let has_lines = end == RunEnd::Known && (is_begun_line_behind_others(run) || is_block(run));
        if !self.is_pasting && !goes_on && run.len() < limits::BURST_CHARS && !has_lines {
            self.items.append(run);
            return;
        }
        let characters = run.drain(..).filter_map(|one| character(&one));
        match self.items.last_mut() {
            Some(Decoded::Paste(text)) if self.is_pasting => text.extend(characters),
            Some(_) | None => self.items.push(Decoded::Paste(characters.collect())),
        }
        self.is_pasting = true;
        self.pasted = Some(at);
    }
}

/// Whether it is known what follows plain characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunEnd {
    /// No more of them: another key came, or nothing for a while.
    Known,
    Open,
}

fn is_within(since: Option<Instant>, time: Duration, at: Instant) -> bool {
    since.is_some_and(|since| at.saturating_duration_since(since) < time)
}

/// Tells whether a line was begun behind a line end: whole lines, each with its end, may have been typed.
fn is_begun_line_behind_others(run: &[Decoded]) -> bool {
    let last = run.iter().rev().find(|one| !is_line_feed(one));
    run.iter().any(is_enter) && !last.is_some_and(is_enter)
}

/// Tells whether these are more lines than anybody types at once. A held Enter makes none with text.
fn is_block(run: &[Decoded]) -> bool {
    let with_text = run.split(is_enter).filter(|line| line.iter().any(|one| !is_line_feed(one))).count();
    run.iter().filter(|one| is_enter(one)).count() >= BLOCK_LINES && with_text >= 2
}

fn is_enter(one: &Decoded) -> bool {
    character(one) == Some('\r')
}

fn is_line_feed(one: &Decoded) -> bool {
    character(one) == Some('\n')
}

/// Returns the character that a key stands for where text is pasted without being told apart from keys.
fn character(one: &Decoded) -> Option<char> {
    let Decoded::Key(key) = one else { return None };
    let chord = Chord::from_event(key);
    let plain = chord.modifiers.is_empty();
    match chord.code {
        _ if !keymap::pressed(key) => None,
        KeyCode::Enter if plain => Some('\r'),
        KeyCode::Tab if plain => Some('\t'),
        KeyCode::Char('j') if chord.modifiers == KeyModifiers::CONTROL => Some('\n'),
        _ => chord.typed(),
    }
}

/// Returns what stands behind the rest of an answer of the terminal, which ends as an answer does and no typed text does;
/// `is_ending`: the first byte of that end came before.
fn late_rest(bytes: &[u8], is_ending: bool) -> Option<&[u8]> {
    if let ([b'\\', behind @ ..], true) = (bytes, is_ending) {
        return Some(behind);
    }
    let length = bytes.iter().take_while(|byte| matches!(byte, b' '..=b'~')).count();
    match bytes.get(length..)? {
        [b'\x07', behind @ ..] if length > 0 => Some(behind),
        [b'\x1b', b'\\', behind @ ..] => Some(behind),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
