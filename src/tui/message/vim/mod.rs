//! The keys of vim in the message: modes, counts, operators with motions and text objects, the last change again.
//!
//! A layer over the composer: each command is one edit of it and so one step of its undo history; what is typed in between
//! goes the usual way. No crate for it fits: edtui and modalkit have texts of their own, without chips and graphemes as
//! steps. Always holds: a text goes only by a command that deletes, and what was deleted can be put back.
//!
//! # Where things are
//!
//! - motions and text objects: `text.rs`; commands, modes, the last change: `mod.rs`; what the message does with it:
//!   `keys.rs`; tests: `vim.rs`

mod keys;
mod text;

pub use keys::COMMAND;

use super::composer::{Clip, Composer, Pasted};
use crate::keymap::{Action, Edit};
use steersman_base::limits;
use text::{Find, Motion, Span, StepText};

/// Which keys the message takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EditorKeys {
    /// Those of readline.
    #[default]
    Usual,
    Vim,
}

/// What letters do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum VimMode {
    /// They are text.
    #[default]
    Insert,
    /// They are commands.
    Normal,
    /// They move the end of a selection, or do something with it.
    Visual,
    /// The same with whole lines.
    VisualLine,
}

impl VimMode {
    /// Returns its name on the screen; all are equally long.
    pub fn name(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Normal => "normal",
            Self::Visual => "visual",
            Self::VisualLine => "v-line",
        }
    }

    fn selects(self) -> bool {
        matches!(self, Self::Visual | Self::VisualLine)
    }
}

/// What a letter leads to outside of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VimOutcome {
    Done,
    /// An action of the usual keys, so many times.
    Action(Action, usize),
    /// A sentence for the user.
    Says(String),
}

/// What is known between two keys.
#[derive(Debug, Default)]
pub(super) struct Vim {
    mode: VimMode,
    command: Command,
    /// The character at which the selection began.
    anchor: usize,
    register: Clip,
    find: Option<Find>,
    /// The change that `.` makes again.
    last: Option<Change>,
    /// The change that is being made.
    recorded: Option<Change>,
    is_repeating: bool,
}

/// The part of a command that was typed.
#[derive(Debug, Clone, Default)]
struct Command {
    count: Option<usize>,
    operator: Option<Operator>,
    /// The count behind the operator.
    inner: Option<usize>,
    awaits: Option<Awaits>,
    keys: Vec<char>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Delete,
    Change,
    Yank,
}

/// Where insert mode begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InsertAt {
    Place,
    LineBelow,
    LineAbove,
}

/// What the next character completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaits {
    /// The second character of `gg`.
    Top,
    Find {
        is_back: bool,
        stops_before: bool,
    },
    Object {
        is_whole: bool,
    },
    Replacement,
}

/// A change as it can be made again.
#[derive(Debug, Clone, Default)]
struct Change {
    count: Option<usize>,
    keys: Vec<char>,
    /// What was selected: whole lines or steps, so many.
    selected: Option<(VimMode, usize)>,
    typed: Vec<Typed>,
}

/// Something done in insert mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typed {
    Char(char),
    Newline,
    Text(String),
    Delete(Edit),
}

const NOT_PUT: &str = "not put: the message would be too long to be edited here";

impl Vim {
    pub(super) fn mode(&self) -> VimMode {
        self.mode
    }

    /// Tells whether Esc goes to normal mode, or drops what was begun there.
    pub(super) fn takes_escape(&self) -> bool {
        self.mode != VimMode::Normal || self.is_within_command()
    }

    fn is_within_command(&self) -> bool {
        let Command { count, operator, inner, awaits, .. } = &self.command;
        count.is_some() || operator.is_some() || inner.is_some() || awaits.is_some()
    }

    /// Goes to insert mode for another text.
    pub(super) fn begin_text(&mut self) {
        *self = Self {
            register: std::mem::take(&mut self.register),
            find: self.find,
            last: self.last.take(),
            ..Self::default()
        };
    }

    /// Goes to normal mode, out of whichever.
    pub(super) fn escape(&mut self, composer: &mut Composer) {
        self.command = Command::default();
        let was = std::mem::replace(&mut self.mode, VimMode::Normal);
        if was != VimMode::Insert {
            return;
        }
        if let Some(change) = self.recorded.take() {
            let again = change.count.unwrap_or(1).min(limits::VIM_REPEATS);
            let repeats = matches!(change.keys.as_slice(), ['i' | 'a' | 'I' | 'A' | 'o' | 'O']);
            for _ in 1..if repeats { again } else { 1 } {
                if matches!(change.keys.as_slice(), ['o' | 'O']) {
                    composer.newline();
                }
                type_again(composer, &change.typed);
            }
            self.last = Some(change);
        }
        composer.end_group();
        let (_, before) = composer.before_cursor();
        if !before.is_empty() {
            composer.edit(Edit::Left);
        }
    }

    /// Notes what was done in insert mode; a move ends the change and begins another.
    pub(super) fn note(&mut self, typed: Option<Typed>, composer: &mut Composer) {
        if self.mode != VimMode::Insert || self.is_repeating {
            return;
        }
        let Some(recorded) = &mut self.recorded else { return };
        match typed {
            Some(typed) if recorded.typed.len() < limits::LAID_OUT_BYTES => recorded.typed.push(typed),
            Some(_) => self.recorded = None,
            None => {
                *recorded = Change { keys: vec!['i'], ..Change::default() };
                composer.end_group();
                composer.begin_group();
            }
        }
    }

    /// Forgets the change that is being made: the text was replaced by something else than keys.
    pub(super) fn forget_change(&mut self) {
        self.recorded = None;
    }

    /// Ends a selection of a text that is not there any more, and keeps the cursor where it may stand.
    pub(super) fn settle(&mut self, composer: &mut Composer) {
        match self.mode {
            VimMode::Insert => composer.select(None),
            VimMode::Normal => {
                composer.select(None);
                let (_, before) = composer.before_cursor();
                if !before.is_empty() && composer.is_at_line_end() {
                    composer.edit(Edit::Left);
                }
            }
            VimMode::Visual | VimMode::VisualLine => {
                let shown = composer.shown();
                let text = StepText::new(&shown, &composer.chips(&shown));
                let span = self.selection(&text, composer.cursor_character());
                let to = (span.to + usize::from(span.is_lines)).min(text.end());
                composer.select(Some((text.character(span.from), text.character(to))));
            }
        }
    }

    /// Takes a character; `None` in insert mode, where it is text.
    pub(super) fn key(&mut self, c: char, composer: &mut Composer) -> Option<VimOutcome> {
        if self.mode == VimMode::Insert {
            return None;
        }
        let shown = composer.shown();
        let text = StepText::new(&shown, &composer.chips(&shown));
        let at = text.step_at(composer.cursor_character());
        // Commands, shell lines, agents and rules begin with these.
        if text.end() == 0 && matches!(c, '/' | '!' | '@' | '#') && !self.is_within_command() {
            self.begin_text();
            return None;
        }
        if self.counts(c) {
            return Some(VimOutcome::Done);
        }
        self.command.keys.push(c);
        let outcome = match self.command.awaits.take() {
            Some(awaits) => self.complete(awaits, c, &text, at, composer),
            None if self.mode.selects() => self.visual(c, &text, at, composer),
            None => self.normal(c, &text, at, composer),
        };
        // What waits for more has kept itself.
        if let Some(outcome) = outcome {
            self.command = Command::default();
            return Some(outcome);
        }
        Some(VimOutcome::Done)
    }

    /// Takes a digit of a count; false for anything else.
    fn counts(&mut self, c: char) -> bool {
        let Command { count, operator, inner, awaits, .. } = &mut self.command;
        let count = if operator.is_some() { inner } else { count };
        let Some(digit) = c.to_digit(10).filter(|digit| awaits.is_none() && (*digit > 0 || count.is_some())) else {
            return false;
        };
        let digit = usize::try_from(digit).unwrap_or_default();
        *count = Some((count.unwrap_or_default() * 10 + digit).min(limits::VIM_REPEATS));
        true
    }

    /// Returns the count of the command, both together.
    fn count(&self) -> Option<usize> {
        let Command { count, inner, .. } = &self.command;
        let whole = match (count, inner) {
            (Some(count), Some(inner)) => Some(count * inner),
            (count, inner) => count.or(*inner),
        };
        whole.map(|count| count.min(limits::VIM_REPEATS))
    }

    /// Takes a character in normal mode, where nothing waits for it alone; `None` while the command goes on.
    fn normal(&mut self, c: char, text: &StepText<'_>, at: usize, composer: &mut Composer) -> Option<VimOutcome> {
        if let Some(operator) = self.command.operator {
            let is_twice =
                matches!((operator, c), (Operator::Delete, 'd') | (Operator::Change, 'c') | (Operator::Yank, 'y'));
            if is_twice {
                return Some(self.on_lines(operator, text, at, composer));
            }
        }
        if self.begins(c) {
            return None;
        }
        if let Some(motion) = self.motion(c) {
            return Some(self.go(motion, text, at, composer));
        }
        if self.command.operator.is_some() {
            return Some(VimOutcome::Done);
        }
        let times = self.count().unwrap_or(1);
        let to_end = |from: usize| Span { from, to: text.line_end(from), is_lines: false };
        let ahead = Span { from: at, to: (at + times).min(text.line_end(at)), is_lines: false };
        let behind = Span { from: at.saturating_sub(times).max(text.line_start(at)), to: at, is_lines: false };
        Some(match c {
            'x' => self.operate(Operator::Delete, ahead, text, at, composer),
            'X' => self.operate(Operator::Delete, behind, text, at, composer),
            's' => self.operate(Operator::Change, ahead, text, at, composer),
            'D' => self.operate(Operator::Delete, to_end(at), text, at, composer),
            'C' => self.operate(Operator::Change, to_end(at), text, at, composer),
            'S' => self.on_lines(Operator::Change, text, at, composer),
            'Y' => self.on_lines(Operator::Yank, text, at, composer),
            '~' => self.rewrite(ahead, text, composer, swap_case, true),
            'J' => self.join(at, times.max(2) - 1, text, composer),
            'p' | 'P' => self.put(c == 'P', times, text, at, composer),
            'i' => self.insert(text.character(at), InsertAt::Place, composer),
            'a' => self.insert(text.character((at + 1).min(text.line_end(at))), InsertAt::Place, composer),
            'I' => {
                let from = (text.line_start(at)..text.line_end(at)).find(|at| !text.is_gap(*at));
                self.insert(text.character(from.unwrap_or(text.line_end(at))), InsertAt::Place, composer)
            }
            'A' => self.insert(text.character(text.line_end(at)), InsertAt::Place, composer),
            'o' => self.insert(text.character(text.line_end(at)), InsertAt::LineBelow, composer),
            'O' => self.insert(text.character(text.line_start(at)), InsertAt::LineAbove, composer),
            'v' | 'V' => {
                self.mode = if c == 'v' { VimMode::Visual } else { VimMode::VisualLine };
                self.anchor = text.character(at);
                VimOutcome::Done
            }
            'u' => VimOutcome::Action(Action::Undo, times),
            '.' => return Some(self.again(composer)),
            ' ' => self.go(Motion::Right, text, at, composer),
            c => VimOutcome::Says(format!("{c} does nothing in normal mode; i writes, /vim ends it")),
        })
    }

    /// Takes a character that acts on the selection, where nothing waits for it alone; `None` while the command goes on.
    fn visual(&mut self, c: char, text: &StepText<'_>, at: usize, composer: &mut Composer) -> Option<VimOutcome> {
        match c {
            'i' | 'a' => {
                self.command.awaits = Some(Awaits::Object { is_whole: c == 'a' });
                return None;
            }
            'r' => {
                self.command.awaits = Some(Awaits::Replacement);
                return None;
            }
            _ => {}
        }
        let is_line = self.mode == VimMode::VisualLine;
        let span = self.selection(text, at);
        let lines = text.lines(span.from, span.to.saturating_sub(usize::from(span.to > span.from && !span.is_lines)));
        Some(match c {
            'v' | 'V' => {
                let other = if c == 'v' { VimMode::Visual } else { VimMode::VisualLine };
                self.mode = if (c == 'V') == is_line { VimMode::Normal } else { other };
                VimOutcome::Done
            }
            'o' => {
                let anchor = std::mem::replace(&mut self.anchor, text.character(at));
                composer.put_cursor(anchor);
                VimOutcome::Done
            }
            'd' | 'x' => self.operate(Operator::Delete, span, text, at, composer),
            'c' | 's' => self.operate(Operator::Change, span, text, at, composer),
            'y' => self.operate(Operator::Yank, span, text, span.from, composer),
            'D' | 'X' => self.operate(Operator::Delete, lines, text, at, composer),
            'C' | 'S' | 'R' => self.operate(Operator::Change, lines, text, at, composer),
            'Y' => self.operate(Operator::Yank, lines, text, span.from, composer),
            '~' => self.rewrite(span, text, composer, swap_case, false),
            'u' => self.rewrite(span, text, composer, str::to_lowercase, false),
            'U' => self.rewrite(span, text, composer, str::to_uppercase, false),
            'J' => {
                let breaks = text.between(span.from, span.to).matches('\n').count().max(1);
                self.record_selected(text, span);
                self.mode = VimMode::Normal;
                self.join(span.from, breaks, text, composer)
            }
            'p' | 'P' => self.put_over(span, text, composer),
            ' ' => self.go(Motion::Right, text, at, composer),
            c => {
                if self.begins(c) {
                    return None;
                }
                match self.motion(c) {
                    Some(motion) => self.go(motion, text, at, composer),
                    None => VimOutcome::Says(format!("{c} does nothing with a selection; Esc ends it")),
                }
            }
        })
    }

    /// Takes a character that begins an operator, or that waits for another one.
    fn begins(&mut self, c: char) -> bool {
        let has_operator = self.command.operator.is_some();
        self.command.awaits = match c {
            'g' => Some(Awaits::Top),
            'f' | 'F' | 't' | 'T' => {
                Some(Awaits::Find { is_back: c.is_ascii_uppercase(), stops_before: c.eq_ignore_ascii_case(&'t') })
            }
            'i' | 'a' if has_operator => Some(Awaits::Object { is_whole: c == 'a' }),
            'r' if !has_operator => Some(Awaits::Replacement),
            _ => None,
        };
        if self.command.awaits.is_some() {
            return true;
        }
        let operator = match c {
            'd' => Operator::Delete,
            'c' => Operator::Change,
            'y' => Operator::Yank,
            _ => return false,
        };
        let begins = !has_operator && self.mode == VimMode::Normal;
        if begins {
            self.command.operator = Some(operator);
        }
        begins
    }

    /// Returns the motion of one character.
    fn motion(&self, c: char) -> Option<Motion> {
        Some(match c {
            'h' => Motion::Left,
            'l' => Motion::Right,
            'k' => Motion::Up,
            'j' => Motion::Down,
            'w' | 'W' => Motion::Word(c == 'W'),
            'b' | 'B' => Motion::WordBack(c == 'B'),
            'e' | 'E' => Motion::WordEnd(c == 'E'),
            '0' => Motion::LineStart,
            '^' => Motion::FirstLetter,
            '$' => Motion::LineEnd,
            'G' => Motion::LastLine,
            '%' => Motion::Bracket,
            ';' => Motion::Find(Find { again: true, ..self.find? }),
            ',' => {
                let find = self.find?;
                Motion::Find(Find { again: true, is_back: !find.is_back, ..find })
            }
            _ => return None,
        })
    }

    /// Takes the character that something waited for.
    fn complete(
        &mut self,
        awaits: Awaits,
        c: char,
        text: &StepText<'_>,
        at: usize,
        composer: &mut Composer,
    ) -> Option<VimOutcome> {
        Some(match awaits {
            Awaits::Top if c == 'g' => self.go(Motion::FirstLine, text, at, composer),
            Awaits::Top => VimOutcome::Done,
            Awaits::Find { is_back, stops_before } => {
                let find = Find { character: c, is_back, stops_before, again: false };
                self.find = Some(find);
                self.go(Motion::Find(find), text, at, composer)
            }
            Awaits::Object { is_whole } => {
                let Some(span) = text.object(at, c, is_whole) else { return Some(VimOutcome::Done) };
                if let Some(operator) = self.command.operator {
                    return Some(self.operate(operator, span, text, at, composer));
                }
                self.anchor = text.character(span.from);
                composer.put_cursor(text.character(span.to.saturating_sub(1).max(span.from)));
                if span.is_lines {
                    self.mode = VimMode::VisualLine;
                }
                VimOutcome::Done
            }
            Awaits::Replacement => {
                let times = self.count().unwrap_or(1);
                let selects = self.mode.selects();
                let span =
                    if selects { self.selection(text, at) } else { Span { from: at, to: at + times, is_lines: false } };
                if !selects && span.to > text.line_end(at) {
                    return Some(VimOutcome::Done);
                }
                self.rewrite(span, text, composer, move |_| c.to_string(), false)
            }
        })
    }

    /// Carries out a motion: moves the cursor, or lets the operator that waits take what lies between.
    fn go(&mut self, motion: Motion, text: &StepText<'_>, at: usize, composer: &mut Composer) -> VimOutcome {
        let count = self.count();
        if let Some(operator) = self.command.operator {
            return match text.span(at, motion, count, operator == Operator::Change) {
                Some(span) => self.operate(operator, span, text, at, composer),
                None => VimOutcome::Done,
            };
        }
        // Rows, as they are laid out, and at the edges what was sent before.
        let rows = match motion {
            Motion::Up => Some(Edit::Up),
            Motion::Down => Some(Edit::Down),
            _ => None,
        };
        if let Some(edit) = rows.filter(|_| self.mode == VimMode::Normal) {
            return VimOutcome::Action(Action::Edit(edit), count.unwrap_or(1));
        }
        if let Some((to, _)) = text.reach(at, motion, count) {
            let to = if self.mode == VimMode::Normal || motion == Motion::LineEnd { text.on_line(to) } else { to };
            composer.put_cursor(text.character(to));
        }
        VimOutcome::Done
    }

    /// Returns what is selected.
    fn selection(&self, text: &StepText<'_>, at: usize) -> Span {
        let anchor = text.step_at(self.anchor);
        let at = at.min(text.end());
        let (first, last) = (anchor.min(at), anchor.max(at));
        match self.mode {
            VimMode::VisualLine => text.lines(first, last),
            VimMode::Visual | VimMode::Normal | VimMode::Insert => {
                Span { from: first, to: (last + 1).min(text.end()), is_lines: false }
            }
        }
    }

    /// Lets an operator take so many lines.
    fn on_lines(&mut self, operator: Operator, text: &StepText<'_>, at: usize, composer: &mut Composer) -> VimOutcome {
        let more = self.count().unwrap_or(1) - 1;
        let last = (0..more).fold(text.line_end(at), |end, _| text.line_end((end + 1).min(text.end())));
        self.operate(operator, text.lines(at, last), text, at, composer)
    }

    fn operate(
        &mut self,
        operator: Operator,
        span: Span,
        text: &StepText<'_>,
        at: usize,
        composer: &mut Composer,
    ) -> VimOutcome {
        let taken = text.between(span.from, span.to);
        if operator != Operator::Yank {
            self.record_selected(text, span);
        }
        self.mode = VimMode::Normal;
        if !taken.is_empty() || span.is_lines {
            self.register = composer.clip(taken, span.is_lines);
        }
        let (from, to) = (text.character(span.from), text.character(span.to));
        match operator {
            Operator::Yank => {
                let cursor = if span.is_lines { span.from.max(at.min(span.to)) } else { span.from };
                composer.put_cursor(text.character(text.on_line(cursor)));
            }
            Operator::Change => {
                self.record();
                composer.begin_group();
                composer.splice(from, to - from, "");
                composer.put_cursor(from);
                self.mode = VimMode::Insert;
            }
            Operator::Delete => {
                self.record_whole();
                let (from, to) = match span.is_lines {
                    false => (from, to),
                    true if span.to < text.end() => (from, to + 1),
                    true => (from.saturating_sub(1), to),
                };
                composer.splice(from, to - from, "");
                composer.put_cursor(from);
                if span.is_lines {
                    to_first_letter(composer);
                }
            }
        }
        VimOutcome::Done
    }

    /// Goes to insert mode at a character, or on a line of its own above or below it.
    fn insert(&mut self, at: usize, place: InsertAt, composer: &mut Composer) -> VimOutcome {
        self.record();
        composer.begin_group();
        composer.put_cursor(at);
        if place != InsertAt::Place {
            composer.newline();
        }
        if place == InsertAt::LineAbove {
            composer.put_cursor(at);
        }
        self.mode = VimMode::Insert;
        VimOutcome::Done
    }

    /// Writes each step of a part in another way; chips and line breaks stay. The cursor goes behind it, or to its start.
    fn rewrite(
        &mut self,
        span: Span,
        text: &StepText<'_>,
        composer: &mut Composer,
        with: impl Fn(&str) -> String,
        goes_on: bool,
    ) -> VimOutcome {
        self.record_selected(text, span);
        self.record_whole();
        self.mode = VimMode::Normal;
        let steps = (span.from..span.to).map(|at| (text.is_chip(at), text.between(at, at + 1)));
        let written: String =
            steps.map(|(is_chip, step)| if is_chip || step == "\n" { step.to_owned() } else { with(step) }).collect();
        let from = text.character(span.from);
        let old = text.between(span.from, span.to);
        if old != written {
            composer.splice(from, old.chars().count(), &written);
        }
        composer.put_cursor(if goes_on { from + written.chars().count() } else { from });
        VimOutcome::Done
    }

    /// Joins a line with so many behind it, with a blank between each two.
    fn join(&mut self, at: usize, breaks: usize, text: &StepText<'_>, composer: &mut Composer) -> VimOutcome {
        self.record_whole();
        let from = text.line_end(at);
        if from == text.end() {
            return VimOutcome::Done;
        }
        let last = (1..breaks).fold(from, |end, _| text.line_end((end + 1).min(text.end())));
        let to = if last == text.end() { last } else { text.line_end(last + 1) };
        let mut joined = String::new();
        let mut cursor = 0;
        let mut ends_blank = text.line_start(from) == from || text.is_gap(from - 1);
        for line in text.between(from, to).split('\n').skip(1) {
            let line = line.trim_start_matches([' ', '\t']);
            cursor = joined.chars().count();
            if !ends_blank && !line.is_empty() && !line.starts_with(')') {
                joined.push(' ');
            }
            joined.push_str(line);
            ends_blank = joined.is_empty() && ends_blank || joined.ends_with([' ', '\t']);
        }
        let start = text.character(from);
        composer.splice(start, text.between(from, to).chars().count(), &joined);
        composer.put_cursor(start + cursor);
        VimOutcome::Done
    }

    /// Puts the register behind the cursor or before it, or below or above the line.
    fn put(
        &mut self,
        is_before: bool,
        times: usize,
        text: &StepText<'_>,
        at: usize,
        composer: &mut Composer,
    ) -> VimOutcome {
        self.record_whole();
        let Some(put) = composer.fitting_clip(&self.register, times) else {
            return VimOutcome::Says(NOT_PUT.to_owned());
        };
        if self.register.is_lines() {
            let (place, written) = if is_before {
                (text.character(text.line_start(at)), format!("{put}\n"))
            } else {
                (text.character(text.line_end(at)), format!("\n{put}"))
            };
            composer.splice(place, 0, &written);
            composer.put_cursor(place + usize::from(!is_before));
            to_first_letter(composer);
        } else {
            let behind = if is_before { at } else { (at + 1).min(text.line_end(at)) };
            let place = text.character(behind);
            composer.splice(place, 0, &put);
            composer.put_cursor(place + put.chars().count());
            if !put.is_empty() {
                composer.edit(Edit::Left);
            }
        }
        VimOutcome::Done
    }

    /// Puts the register in the place of the selection, which takes its place there.
    fn put_over(&mut self, span: Span, text: &StepText<'_>, composer: &mut Composer) -> VimOutcome {
        let Some(mut put) = composer.fitting_clip(&self.register, self.count().unwrap_or(1)) else {
            return VimOutcome::Says(NOT_PUT.to_owned());
        };
        self.record_selected(text, span);
        self.record_whole();
        self.mode = VimMode::Normal;
        if self.register.is_lines() && !span.is_lines {
            put = format!("\n{put}\n");
        }
        let taken = text.between(span.from, span.to);
        let place = text.character(span.from);
        self.register = composer.clip(taken, span.is_lines);
        composer.splice(place, taken.chars().count(), &put);
        composer.put_cursor(place);
        VimOutcome::Done
    }

    /// Makes the last change again.
    fn again(&mut self, composer: &mut Composer) -> VimOutcome {
        let Some(mut change) = self.last.clone() else {
            return VimOutcome::Says("there is no change to be made again".to_owned());
        };
        change.count = self.count().or(change.count);
        self.command = Command { count: change.count, ..Command::default() };
        self.is_repeating = true;
        if let Some((mode, length)) = change.selected {
            self.select_again(mode, length, composer);
        }
        let mut outcome = VimOutcome::Done;
        for key in &change.keys {
            outcome = self.key(*key, composer).unwrap_or(VimOutcome::Done);
        }
        if self.mode == VimMode::Insert {
            type_again(composer, &change.typed);
            self.recorded = Some(change.clone());
            self.escape(composer);
        }
        self.is_repeating = false;
        self.last = Some(change);
        outcome
    }

    fn select_again(&mut self, mode: VimMode, length: usize, composer: &mut Composer) {
        let shown = composer.shown();
        let text = StepText::new(&shown, &composer.chips(&shown));
        let at = text.step_at(composer.cursor_character());
        self.mode = mode;
        self.anchor = text.character(at);
        let end = if mode == VimMode::VisualLine {
            (1..length).fold(at, |at, _| (text.line_end(at) + 1).min(text.end()))
        } else {
            (at + length.saturating_sub(1)).min(text.line_end(at))
        };
        composer.put_cursor(text.character(end));
    }

    /// Begins to record what the command changes; what is typed behind it belongs to it.
    fn record(&mut self) {
        if self.is_repeating {
            return;
        }
        let selected = self.recorded.take().and_then(|change| change.selected);
        let (count, keys) = (self.count(), self.command.keys.clone());
        self.recorded = Some(Change { count, keys, selected, typed: Vec::new() });
    }

    /// Records a change that is whole.
    fn record_whole(&mut self) {
        self.record();
        if let Some(change) = self.recorded.take() {
            self.last = Some(change);
        }
    }

    /// Records how much was selected, where something is.
    fn record_selected(&mut self, text: &StepText<'_>, span: Span) {
        if self.is_repeating {
            return;
        }
        self.recorded = None;
        if self.mode.selects() {
            let length = match self.mode {
                VimMode::VisualLine => text.between(span.from, span.to).matches('\n').count() + 1,
                _ => span.to - span.from,
            };
            self.recorded = Some(Change { selected: Some((self.mode, length)), ..Change::default() });
        }
    }
}

/// Does again what was typed in insert mode.
fn type_again(composer: &mut Composer, typed: &[Typed]) {
    for one in typed {
        match one {
            Typed::Char(c) => composer.type_char(*c),
            Typed::Newline => composer.newline(),
            Typed::Text(text) => {
                // Of one that is too long nothing is lost: it was never there.
                let _: Pasted = composer.paste(text);
            }
            Typed::Delete(edit) => _ = composer.edit(*edit),
        }
    }
}

fn to_first_letter(composer: &mut Composer) {
    let shown = composer.shown();
    let text = StepText::new(&shown, &composer.chips(&shown));
    let at = text.step_at(composer.cursor_character());
    composer.put_cursor(text.character(text.first_letter(at)));
}

fn swap_case(step: &str) -> String {
    let is_upper = step.chars().next().is_some_and(char::is_uppercase);
    if is_upper { step.to_lowercase() } else { step.to_uppercase() }
}
