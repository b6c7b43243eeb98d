//! Colours of code, put on when a row is drawn.
//!
//! A row knows which line of code it shows and from which byte on; the colours are looked up by the line's name, so that
//! they come later without a new layout, and no row ever changes its width or its place for them. Also says which
//! lines in view want colours.

use std::borrow::Cow;

use ratatui::style::Style;

use crate::highlight::{Class, Colours, Job, Language, LineKey, Resume, Span};
use crate::theme::Theme;
use crate::widgets::wrap::Line;
use steersman_base::limits;

/// Which line of code a row shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Code {
    pub(crate) key: LineKey,
    pub(crate) language: Language,
    /// The line's number in its block, from 0.
    pub(crate) number: usize,
    /// The row's byte at which the code begins.
    pub(crate) at: usize,
    /// The byte of the line that stands there.
    pub(crate) from: usize,
    /// What the row's own style means.
    pub(crate) background: CodeBackground,
}

/// What the style beneath the colours means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeBackground {
    Plain,
    /// Nothing; what a row would hide is marked.
    Marked,
    /// That the line came: where its colour says so, no other colour may stand there.
    Change,
    /// That the line went: it is no part of the code.
    Gone,
}

impl Code {
    /// Returns what a row has that shows a stretch of the line, from a byte on, behind so many bytes of its own.
    pub(crate) fn wrapped(&self, from: usize, prefix: usize) -> Self {
        let skipped = from.saturating_sub(self.at);
        let at = prefix + self.at.saturating_sub(from);
        Self { at, from: self.from + skipped, ..self.clone() }
    }

    /// Tells whether the row is the first of its line.
    fn is_start(&self) -> bool {
        self.from == 0
    }
}

/// Returns a row with its colours; `None` when it has none of its own, or none that are known.
pub(crate) fn painted(row: &Line, colours: &Colours, theme: &Theme) -> Option<Line> {
    let code = row.code().filter(|code| code.background != CodeBackground::Gone)?;
    let spans = colours.spans(code.key).filter(|spans| !spans.is_empty())?;
    let keeps = match code.background {
        CodeBackground::Change if theme.added.fg.is_some() && theme.added.bg.is_none() => Keeps::Colour,
        CodeBackground::Change | CodeBackground::Gone | CodeBackground::Marked | CodeBackground::Plain => {
            Keeps::Nothing
        }
    };
    let end = row.text().len();
    let mut line = Line::default();
    let mut done = 0;
    let mut put = |from: usize, to: usize, span: Option<&Span>| {
        for (text, style) in row.slice(from, to) {
            line.push(text, span.map_or(style, |span| on(style, class(span.class, theme), keeps)));
        }
    };
    for span in spans {
        // From bytes of the line to bytes of the row.
        let place = |byte: u32| (byte as usize).checked_sub(code.from).map(|byte| byte + code.at);
        let from = place(span.start).unwrap_or(code.at).clamp(done, end);
        let Some(to) = place(span.end).map(|to| to.clamp(done, end)).filter(|to| *to > from) else { continue };
        if !row.text().is_char_boundary(from) || !row.text().is_char_boundary(to) {
            continue;
        }
        put(done, from, None);
        put(from, to, Some(span));
        done = to;
    }
    put(done, end, None);
    Some(line)
}

/// What of a row's own style no colour may replace.
#[derive(Clone, Copy)]
enum Keeps {
    Nothing,
    Colour,
}

fn on(style: Style, colour: Style, keeps: Keeps) -> Style {
    match keeps {
        Keeps::Colour => Style { fg: None, bg: None, underline_color: None, ..colour }.patch(style),
        Keeps::Nothing => style.patch(colour),
    }
}

fn class(class: Class, theme: &Theme) -> Style {
    let syntax = &theme.syntax;
    match class {
        Class::Keyword => syntax.keyword,
        Class::String => syntax.string,
        Class::Number => syntax.number,
        Class::Comment => syntax.comment,
        Class::Function => syntax.function,
        Class::Type => syntax.type_,
        Class::Constant => syntax.constant,
        Class::Attribute => syntax.attribute,
        Class::Punctuation => syntax.punctuation,
        Class::Added => theme.added,
        Class::Removed => theme.removed,
    }
}

/// Tells whether the colours of a row are not known yet.
pub(crate) fn is_wanting(row: &Line, colours: &Colours) -> bool {
    row.code().is_some_and(|code| {
        code.background != CodeBackground::Gone
            && colours.spans(code.key).is_none()
            && !colours.is_plain(&code.language)
    })
}

/// Makes the job for a row whose colours are wanted: from the last line before it that can be gone on from, to some
/// lines behind it; and the row behind the last of them. Rows are looked up by their place in the cell.
pub(crate) fn job<'a>(
    wanted: usize,
    row: impl Fn(usize) -> Option<&'a Line>,
    colours: &Colours,
) -> Option<(Job, usize)> {
    let code = |at: usize| row(at).and_then(Line::code);
    let language = code(wanted)?.language.clone();
    let (mut at, resume) = begin(wanted, &code, colours)?;
    let mut lines: Vec<(LineKey, String)> = Vec::new();
    let mut number = None;
    while let (Some(here), Some(line)) = (code(at), row(at)) {
        let is_next = number.is_none_or(|number| here.number == number || here.number == number + 1);
        if at > wanted + limits::CODE_AHEAD || here.language != language || !is_next {
            break;
        }
        at += 1;
        if here.background == CodeBackground::Gone {
            continue;
        }
        let text = line.text().get(here.at..).unwrap_or_default();
        let text =
            if here.background == CodeBackground::Plain { Cow::Borrowed(text) } else { Cow::Owned(unmarked(text)) };
        match lines.last_mut() {
            Some((_, whole)) if number == Some(here.number) => whole.push_str(&text),
            _ => lines.push((here.key, text.into_owned())),
        }
        number = Some(here.number);
    }
    (!lines.is_empty()).then_some((Job { language, resume, lines }, at))
}

/// Puts blanks where the marks of blanks stand, byte for byte.
fn unmarked(text: &str) -> String {
    text.replace('→', "   ").replace('·', "  ")
}

/// Finds the row to begin at, and what is known there of the lines before.
fn begin<'a>(
    wanted: usize,
    code: &impl Fn(usize) -> Option<&'a Code>,
    colours: &Colours,
) -> Option<(usize, Option<Resume>)> {
    let mut start = wanted;
    for at in (0..=wanted).rev() {
        let here = code(at)?;
        if here.background == CodeBackground::Gone {
            continue;
        }
        if at < wanted
            && here.key != code(start)?.key
            && let Some(resume) = colours.behind(here.key)
        {
            return Some((start, Some(resume.clone())));
        }
        start = at;
        if here.is_start() && here.number == 0 {
            return Some((at, None));
        }
    }
    None
}
