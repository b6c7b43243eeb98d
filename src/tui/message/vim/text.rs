//! A text as vim sees it: steps of the cursor, words, lines, and where each motion leads.
//!
//! Pure. A step is a grapheme, a line break, a chip or the label of an image; places are numbers of steps, and the place
//! behind the last one counts as a line break.

use unicode_segmentation::UnicodeSegmentation;

/// What a step is, as far as words go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepKind {
    LineBreak,
    Blank,
    Letter,
    Sign,
    Chip,
}

#[derive(Debug, Clone, Copy)]
struct Step {
    /// Where it begins, in bytes and in characters.
    byte: usize,
    character: usize,
    first: char,
    kind: StepKind,
}

/// The text in steps.
#[derive(Debug)]
pub(super) struct StepText<'a> {
    shown: &'a str,
    characters: usize,
    steps: Vec<Step>,
}

/// Where a motion leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Motion {
    Left,
    Right,
    Up,
    Down,
    /// To the next word; `true` where only blanks end one.
    Word(bool),
    WordBack(bool),
    WordEnd(bool),
    LineStart,
    FirstLetter,
    LineEnd,
    FirstLine,
    LastLine,
    Find(Find),
    Bracket,
}

/// A search for a character within the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Find {
    pub(super) character: char,
    pub(super) is_back: bool,
    /// Whether it stops a step before the character.
    pub(super) stops_before: bool,
    /// Whether it is done again, so that it does not stay where it stopped.
    pub(super) again: bool,
}

/// What an operator with a motion is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// Up to the place reached, without it.
    Exclusive,
    /// With the place reached.
    Inclusive,
    /// Whole lines.
    Lines,
}

/// A part of the text, from one place to before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) is_lines: bool,
}

const PAIRS: [(char, char); 4] = [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')];

impl<'a> StepText<'a> {
    pub(super) fn new(shown: &'a str, chips: &[(usize, usize)]) -> Self {
        let mut steps = Vec::new();
        let (mut byte, mut character) = (0, 0);
        let mut add = |text: &str| {
            for grapheme in text.graphemes(true) {
                let Some(first) = grapheme.chars().next() else { continue };
                let kind = match first {
                    '\n' => StepKind::LineBreak,
                    c if c.is_whitespace() => StepKind::Blank,
                    c if c.is_alphanumeric() || c == '_' => StepKind::Letter,
                    _ => StepKind::Sign,
                };
                steps.push(Step { byte, character, first, kind });
                byte += grapheme.len();
                character += grapheme.chars().count();
            }
            byte
        };
        let mut at = 0;
        let mut spans = Vec::new();
        for (from, to) in chips.iter().copied().filter(|(from, to)| from < to) {
            if from < at {
                continue;
            }
            add(shown.get(at..from).unwrap_or_default());
            spans.push((from, to));
            at = add(shown.get(from..to).unwrap_or_default());
        }
        add(shown.get(at..).unwrap_or_default());
        // What stands within a chip is no step of its own.
        for step in &mut steps {
            if spans.iter().any(|(from, _)| *from == step.byte) {
                step.kind = StepKind::Chip;
            }
        }
        steps.retain(|step| !spans.iter().any(|(from, to)| *from < step.byte && step.byte < *to));
        Self { shown, characters: character, steps }
    }

    /// Returns how many steps there are.
    pub(super) fn end(&self) -> usize {
        self.steps.len()
    }

    /// Returns the character of the text at which a step begins.
    pub(super) fn character(&self, at: usize) -> usize {
        self.steps.get(at).map_or(self.characters, |step| step.character)
    }

    /// Returns the step in which a character of the text stands.
    pub(super) fn step_at(&self, character: usize) -> usize {
        if character >= self.characters {
            return self.end();
        }
        self.steps.partition_point(|step| step.character <= character).saturating_sub(1)
    }

    /// Returns the text from one place to before another.
    pub(super) fn between(&self, from: usize, to: usize) -> &'a str {
        self.shown.get(self.byte(from)..self.byte(to)).unwrap_or_default()
    }

    /// Tells whether a chip or a label stands there.
    pub(super) fn is_chip(&self, at: usize) -> bool {
        self.kind(at) == StepKind::Chip
    }

    fn byte(&self, at: usize) -> usize {
        self.steps.get(at).map_or(self.shown.len(), |step| step.byte)
    }

    fn kind(&self, at: usize) -> StepKind {
        self.steps.get(at).map_or(StepKind::LineBreak, |step| step.kind)
    }

    fn first(&self, at: usize) -> Option<char> {
        self.steps.get(at).filter(|step| step.kind != StepKind::Chip).map(|step| step.first)
    }

    fn is_break(&self, at: usize) -> bool {
        self.kind(at) == StepKind::LineBreak
    }

    /// Tells whether a blank or a line break stands there.
    pub(super) fn is_gap(&self, at: usize) -> bool {
        matches!(self.kind(at), StepKind::LineBreak | StepKind::Blank)
    }

    pub(super) fn line_start(&self, at: usize) -> usize {
        (0..at.min(self.end())).rev().find(|before| self.is_break(*before)).map_or(0, |before| before + 1)
    }

    /// Returns the place of the line break, or the end of the text.
    pub(super) fn line_end(&self, at: usize) -> usize {
        (at..self.end()).find(|at| self.is_break(*at)).unwrap_or(self.end())
    }

    pub(super) fn first_letter(&self, at: usize) -> usize {
        let start = self.line_start(at);
        (start..self.line_end(at)).find(|at| !self.is_gap(*at)).unwrap_or_else(|| self.on_line(self.line_end(at)))
    }

    /// Returns the place where the cursor may stand: on a line that is not empty not behind its last step.
    pub(super) fn on_line(&self, at: usize) -> usize {
        let at = at.min(self.end());
        if self.is_break(at) && at > self.line_start(at) { at - 1 } else { at }
    }

    /// Tells whether the line of a place is empty.
    fn is_empty_line(&self, at: usize) -> bool {
        self.is_break(at) && at.checked_sub(1).is_none_or(|before| self.is_break(before))
    }

    /// Tells whether the line of a place holds nothing but blanks.
    fn is_blank_line(&self, at: usize) -> bool {
        (self.line_start(at)..self.line_end(at)).all(|at| self.is_gap(at))
    }

    /// Returns the same column of another line, so many lines below or above; `None` where there are fewer.
    fn vertical(&self, at: usize, lines: usize, is_up: bool) -> Option<usize> {
        let column = at - self.line_start(at);
        let mut start = self.line_start(at);
        for _ in 0..lines {
            if is_up {
                start = self.line_start(start.checked_sub(1)?);
            } else {
                start = self.line_end(start) + 1;
                if start > self.end() {
                    return None;
                }
            }
        }
        Some((start + column).min(self.line_end(start)))
    }

    /// Returns the start of a line, from 1; of the last one where there are fewer.
    fn line(&self, number: usize) -> usize {
        let breaks = (0..self.end()).filter(|at| self.is_break(*at)).map(|at| at + 1);
        std::iter::once(0).chain(breaks).take(number.max(1)).last().unwrap_or_default()
    }

    fn word_kind(&self, at: usize, is_long: bool) -> Option<StepKind> {
        match self.kind(at) {
            StepKind::LineBreak | StepKind::Blank => None,
            _ if is_long => Some(StepKind::Letter),
            kind => Some(kind),
        }
    }

    fn next_word(&self, from: usize, is_long: bool) -> usize {
        let mut at = from;
        if let kind @ Some(_) = self.word_kind(at, is_long) {
            while at < self.end() && self.word_kind(at, is_long) == kind {
                at += 1;
            }
        }
        while at < self.end() && self.is_gap(at) && (at == from || !self.is_empty_line(at)) {
            at += 1;
        }
        at
    }

    fn word_back(&self, from: usize, is_long: bool) -> usize {
        let mut at = from.saturating_sub(1);
        while at > 0 && self.is_gap(at) && !self.is_empty_line(at) {
            at -= 1;
        }
        let kind = self.word_kind(at, is_long);
        while kind.is_some() && at > 0 && self.word_kind(at - 1, is_long) == kind {
            at -= 1;
        }
        at
    }

    fn word_end(&self, from: usize, is_long: bool) -> usize {
        let mut at = from + 1;
        while at < self.end() && self.is_gap(at) {
            at += 1;
        }
        let kind = self.word_kind(at, is_long);
        while kind.is_some() && self.word_kind(at + 1, is_long) == kind {
            at += 1;
        }
        at.min(self.end().saturating_sub(1)).max(from.min(self.end()))
    }

    fn find(&self, from: usize, find: Find, count: usize) -> Option<usize> {
        let is_it = |at: &usize| self.first(*at) == Some(find.character);
        let skipped = usize::from(find.stops_before && find.again);
        let found = if find.is_back {
            (self.line_start(from)..from.saturating_sub(skipped)).rev().filter(is_it).nth(count - 1)?
        } else {
            (from + 1 + skipped..self.line_end(from)).filter(is_it).nth(count - 1)?
        };
        Some(match (find.stops_before, find.is_back) {
            (false, _) => found,
            (true, true) => found + 1,
            (true, false) => found - 1,
        })
    }

    /// Returns the other bracket of the pair at or behind a place of the line.
    fn bracket(&self, from: usize) -> Option<usize> {
        let is_bracket = |c: char| PAIRS.iter().take(3).any(|(open, close)| c == *open || c == *close);
        let at = (from..self.line_end(from)).find(|at| self.first(*at).is_some_and(is_bracket))?;
        let this = self.first(at)?;
        let (open, close) = PAIRS.into_iter().find(|(open, close)| this == *open || this == *close)?;
        if this == open { self.close_of(at + 1, open, close) } else { self.open_of(at, open, close) }
    }

    /// Returns the place of the bracket that closes what is open at a place.
    fn close_of(&self, from: usize, open: char, close: char) -> Option<usize> {
        let mut depth = 0_usize;
        for at in from..self.end() {
            match self.first(at) {
                Some(c) if c == close && depth == 0 => return Some(at),
                Some(c) if c == close => depth -= 1,
                Some(c) if c == open => depth += 1,
                _ => {}
            }
        }
        None
    }

    /// Returns the place of the bracket that opened what is open before a place.
    fn open_of(&self, before: usize, open: char, close: char) -> Option<usize> {
        let mut depth = 0_usize;
        for at in (0..before).rev() {
            match self.first(at) {
                Some(c) if c == open && depth == 0 => return Some(at),
                Some(c) if c == open => depth -= 1,
                Some(c) if c == close => depth += 1,
                _ => {}
            }
        }
        None
    }

    /// Returns where a motion leads and what an operator takes with it; `None` where it leads nowhere.
    pub(super) fn reach(&self, from: usize, motion: Motion, count: Option<usize>) -> Option<(usize, Extent)> {
        let times = count.unwrap_or(1).clamp(1, self.end() + 1);
        let repeat = |next: &dyn Fn(usize) -> usize| (0..times).fold(from, |at, _| next(at));
        Some(match motion {
            Motion::Left => (from.saturating_sub(times).max(self.line_start(from)), Extent::Exclusive),
            Motion::Right => ((from + times).min(self.line_end(from)), Extent::Exclusive),
            Motion::Up => (self.vertical(from, times, true)?, Extent::Lines),
            Motion::Down => (self.vertical(from, times, false)?, Extent::Lines),
            Motion::Word(is_long) => (repeat(&|at| self.next_word(at, is_long)), Extent::Exclusive),
            Motion::WordBack(is_long) => (repeat(&|at| self.word_back(at, is_long)), Extent::Exclusive),
            Motion::WordEnd(is_long) => (repeat(&|at| self.word_end(at, is_long)), Extent::Inclusive),
            Motion::LineStart => (self.line_start(from), Extent::Exclusive),
            Motion::FirstLetter => (self.first_letter(from), Extent::Exclusive),
            Motion::LineEnd => {
                let line = self.vertical(self.line_start(from), times - 1, false)?;
                (self.line_end(line), Extent::Exclusive)
            }
            Motion::FirstLine => (self.first_letter(self.line(count.unwrap_or(1))), Extent::Lines),
            Motion::LastLine => (self.first_letter(self.line(count.unwrap_or(usize::MAX))), Extent::Lines),
            Motion::Find(find) => {
                let extent = if find.is_back { Extent::Exclusive } else { Extent::Inclusive };
                (self.find(from, find, times)?, extent)
            }
            Motion::Bracket => (self.bracket(from)?, Extent::Inclusive),
        })
    }

    /// Returns what an operator with a motion takes.
    pub(super) fn span(&self, from: usize, motion: Motion, count: Option<usize>, changes: bool) -> Option<Span> {
        if let Motion::Word(is_long) = motion {
            return Some(self.words_object(from, count.unwrap_or(1), is_long, changes));
        }
        let (to, extent) = self.reach(from, motion, count)?;
        let (first, last) = (from.min(to), from.max(to));
        Some(match extent {
            Extent::Exclusive => Span { from: first, to: last, is_lines: false },
            Extent::Inclusive => Span { from: first, to: (last + 1).min(self.end()), is_lines: false },
            Extent::Lines => self.lines(first, last),
        })
    }

    /// Returns whole lines, from that of one place to that of another.
    pub(super) fn lines(&self, first: usize, last: usize) -> Span {
        Span { from: self.line_start(first), to: self.line_end(last), is_lines: true }
    }

    /// Returns so many words: none of the blanks behind them where they are changed, and never a line break behind the last.
    fn words_object(&self, from: usize, count: usize, is_long: bool, changes: bool) -> Span {
        let count = count.clamp(1, self.end() + 1);
        let last = (1..count).fold(from, |at, _| self.next_word(at, is_long));
        let mut to = self.next_word(last, is_long);
        let end = self.line_end(last);
        if self.word_kind(last, is_long).is_some() || last < end {
            to = to.min(end);
        }
        if changes && self.word_kind(last, is_long).is_some() {
            let kind = self.word_kind(last, is_long);
            to = (last..=end).find(|at| self.word_kind(*at, is_long) != kind).unwrap_or(end);
        }
        Span { from, to, is_lines: false }
    }

    /// Returns the text object of a letter at a place, whole or what is in it; `None` where there is none.
    pub(super) fn object(&self, at: usize, letter: char, is_whole: bool) -> Option<Span> {
        let span = |from, to| Some(Span { from, to, is_lines: false });
        match letter {
            'w' | 'W' => {
                let (from, to) = self.word_object(at, letter == 'W', is_whole)?;
                span(from, to)
            }
            '"' | '\'' | '`' => {
                let (open, close) = self.quotes(at, letter)?;
                if !is_whole {
                    return span(open + 1, close);
                }
                // The blanks behind it go with it, else those before it.
                let to = (close + 1..self.line_end(close)).find(|at| !self.is_gap(*at)).unwrap_or(self.line_end(close));
                let is_before = to == close + 1;
                let start = self.line_start(open);
                let blank = |at: &usize| self.is_gap(*at);
                let from = if is_before { open - (start..open).rev().take_while(blank).count() } else { open };
                span(from, to)
            }
            'p' => Some(self.paragraph(at, is_whole)),
            letter => {
                let (open, close) =
                    PAIRS.into_iter().zip(['b', ' ', 'B', ' ']).find_map(|((open, close), other)| {
                        (letter == open || letter == close || letter == other).then_some((open, close))
                    })?;
                let is_at = |c: char| self.first(at) == Some(c);
                let from = if is_at(open) { at } else { self.open_of(at, open, close)? };
                let to = if is_at(close) { at } else { self.close_of(from + 1, open, close)? };
                if is_whole { span(from, to + 1) } else { span(from + 1, to) }
            }
        }
    }

    fn word_object(&self, at: usize, is_long: bool, is_whole: bool) -> Option<(usize, usize)> {
        if self.is_break(at) {
            return None;
        }
        let (start, end) = (self.line_start(at), self.line_end(at));
        let run = |at: usize| {
            let kind = self.word_kind(at, is_long);
            let is_same = |at: &usize| self.word_kind(*at, is_long) == kind;
            let from = at - (start..at).rev().take_while(is_same).count();
            let to = at + (at..end).take_while(is_same).count();
            (from, to)
        };
        let (from, to) = run(at);
        if !is_whole {
            return Some((from, to));
        }
        if self.is_gap(at) {
            return Some((from, if to < end { run(to).1 } else { to }));
        }
        if to < end && self.is_gap(to) {
            return Some((from, run(to).1));
        }
        let blanks = from > start && self.is_gap(from - 1);
        Some((if blanks { run(from - 1).0 } else { from }, to))
    }

    /// Returns the quotes around a place of the line, or behind it.
    fn quotes(&self, at: usize, quote: char) -> Option<(usize, usize)> {
        let marks: Vec<usize> =
            (self.line_start(at)..self.line_end(at)).filter(|at| self.first(*at) == Some(quote)).collect();
        let pairs = marks.chunks_exact(2).filter_map(|pair| if let [a, b] = pair { Some((*a, *b)) } else { None });
        pairs.into_iter().find(|(_, close)| at <= *close)
    }

    fn paragraph(&self, at: usize, is_whole: bool) -> Span {
        let is_blank = self.is_blank_line(at);
        let (mut from, mut to) = (self.line_start(at), self.line_end(at));
        while from > 0 && self.is_blank_line(from - 1) == is_blank {
            from = self.line_start(from - 1);
        }
        let extend = |mut to: usize, is_blank: bool| {
            while to < self.end() && self.is_blank_line(to + 1) == is_blank {
                to = self.line_end(to + 1);
            }
            to
        };
        to = extend(to, is_blank);
        if is_whole {
            let longer = extend(to, !is_blank);
            if longer == to {
                while from > 0 && self.is_blank_line(from - 1) != is_blank {
                    from = self.line_start(from - 1);
                }
            }
            to = longer;
        }
        Span { from, to, is_lines: true }
    }
}
