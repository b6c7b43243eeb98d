//! A call as rows: its head, what the user was asked, then what came of it.
//!
//! Called by `cell`. Whatever a tool says stands behind the gutter, in the style of output or of a diff; no such row has
//! a style that the program's own words have.

use ratatui::style::{Color, Style};

use crate::highlight::{Chain, Language};
use crate::theme::Theme;
use crate::transcript::cell::{CallCell, CallState, CallStatus, ChildState, Expansion, WentOn};
use crate::transcript::result::Shown;
use crate::transcript::view::rows::{Pen, clean};
use crate::view::arguments;
use crate::widgets::code::{Code, CodeBackground};
use crate::widgets::diff;
use crate::widgets::diff::{Diff, LineKind};
use crate::widgets::exact::row;
use crate::widgets::stream::{Format, Layout};
use crate::widgets::wrap::{Break, Line, Wrap};
use steersman_base::event::Outcome;
use steersman_base::limits::{
    FOLDED_DIFF, FOLDED_HEAD, FOLDED_LEAST, FOLDED_REASONS, FOLDED_TAIL, LIVE_ROWS, OPENED_LINE_BYTES, OPENED_LINES,
    WORD_LINES,
};
use steersman_base::message::Arguments;
use steersman_base::summary::{self, count, took};
use steersman_base::text::{Coloured, Hue};

/// Columns from one tab stop to the next.
const TAB: usize = 4;

impl Pen<'_> {
    pub(super) fn call(&self, call: &CallCell, expansion: Expansion, rows: &mut Vec<Line>) {
        let style = match call.status() {
            CallStatus::Running | CallStatus::Interrupted => self.theme.tool,
            CallStatus::Succeeded => self.theme.tool_ok,
            CallStatus::Failed => self.theme.tool_error,
        };
        let mut line = Line::new(&call.name, style);
        if call.child.is_some() || !call.summary.is_empty() {
            line.push(" ", self.theme.text);
        }
        match &call.child {
            Some(child) => self.name_and_task(child, &mut line),
            None => line.push(&call.summary, self.theme.text),
        }
        rows.push(self.with_end(&line, &end(call)));
        self.questions(call, rows);
        match expansion {
            Expansion::Expanded => self.opened_call(call, rows),
            Expansion::Collapsed => self.collapsed_call(call, rows),
        }
    }

    /// Says what the user was asked; one line each, which turns into the answer.
    fn questions(&self, call: &CallCell, rows: &mut Vec<Line>) {
        for asked in &call.asked {
            let (words, style) = match &asked.answer {
                None if call.name == "ask_user" => ("? waiting for your answer".to_owned(), self.theme.notice),
                None => ("? waiting for approval".to_owned(), self.theme.notice),
                Some(answer) => {
                    let mark = if answer.went_on == WentOn::Yes { "✓" } else { "✗" };
                    (format!("{mark} {}", answer.words), self.theme.dim)
                }
            };
            rows.push(clean(&Line::new(&words, style)).truncate(self.room));
        }
    }

    fn collapsed_call(&self, call: &CallCell, rows: &mut Vec<Line>) {
        match (&call.state, &call.shown) {
            (CallState::Running { .. } | CallState::Interrupted { .. }, _) => {
                let lines = Output::all(call);
                let last: Vec<Output<'_>> =
                    lines.rev().filter(|line| !line.text.trim().is_empty()).take(self.live_rows()).collect();
                last.into_iter().rev().for_each(|line| self.output(line, rows));
            }
            (CallState::Ended { .. }, Some(Shown::Diff(diff))) => {
                self.collapsed_diff(diff, language(call).as_ref(), rows);
            }
            (CallState::Ended { .. }, Some(Shown::Command { saved, .. })) => {
                self.head_and_tail(call, rows);
                self.saved(saved.as_deref(), rows);
            }
            (CallState::Ended { is_error: true, .. }, _) => self.head_and_tail(call, rows),
            (CallState::Ended { is_error: false, .. }, _) => {}
        }
    }

    /// Returns how many of the newest lines of a running call are shown: half of the view, on a small one the head of
    /// the call stays in view.
    fn live_rows(&self) -> usize {
        (self.view_rows / 2).max(LIVE_ROWS.min(self.view_rows.saturating_sub(4))).max(FOLDED_TAIL)
    }

    /// Shows the first lines and the last ones, of a failed call also those that say why, and how many stand between them.
    fn head_and_tail(&self, call: &CallCell, rows: &mut Vec<Line>) {
        let lines: Vec<Output<'_>> = Output::all(call).collect();
        let hidden = FOLDED_HEAD..lines.len().saturating_sub(FOLDED_TAIL).max(FOLDED_HEAD);
        let has_failed = call.status() == CallStatus::Failed;
        let says_why = |place: &usize| has_failed && lines.get(*place).is_some_and(|line| says_why(line.text));
        let reasons: Vec<usize> = hidden.clone().filter(says_why).take(FOLDED_REASONS).collect();
        let is_shown = |place: &usize| !hidden.contains(place) || reasons.contains(place);
        let groups: Vec<Vec<usize>> = (0..lines.len())
            .collect::<Vec<_>>()
            .chunk_by(|a, b| is_shown(a) == is_shown(b))
            .map(<[usize]>::to_vec)
            .collect();
        let collapses = |group: &[usize]| group.len() > FOLDED_LEAST && !group.first().is_some_and(is_shown);
        // What the model did not get stood between the lines as well; a line that says so stands for it.
        let mut left_out = call.left_out().saturating_sub(1);
        for group in groups {
            if collapses(&group) {
                self.more(group.len() + std::mem::take(&mut left_out), rows);
            } else {
                group.iter().filter_map(|place| lines.get(*place)).for_each(|line| self.output(*line, rows));
            }
        }
    }

    fn collapsed_diff(&self, diff: &Diff, language: Option<&Language>, rows: &mut Vec<Line>) {
        let is_line = |kind: LineKind| kind != LineKind::Hunk;
        let count = diff.lines.iter().filter(|line| is_line(line.kind)).count();
        let hidden = count.saturating_sub(FOLDED_DIFF);
        let shown = if hidden <= FOLDED_LEAST { count } else { FOLDED_DIFF };
        // Enough of the lines behind to find the counterparts of the last one.
        let first = diff.lines.get(..diff.lines.len().min(shown + WORD_LINES)).unwrap_or_default();
        let lines = diff::lines(first, diff.columns, language, self.theme);
        let is_shown = first.iter().zip(lines).filter(|(line, _)| is_line(line.kind));
        for (_, line) in is_shown.take(shown) {
            rows.push(self.behind_gutter(&line));
        }
        if shown < count {
            self.more(hidden, rows);
        }
    }

    fn opened_call(&self, call: &CallCell, rows: &mut Vec<Line>) {
        let none = Line::default();
        let gutter = Line::new("│ ", self.theme.gutter);
        match &call.shown {
            // It says all that the arguments say.
            Some(Shown::Diff(diff)) => {
                for line in diff::lines(&diff.lines, diff.columns, language(call).as_ref(), self.theme) {
                    row(&line, self.room, self.theme, rows);
                }
            }
            Some(Shown::Command { .. } | Shown::Page(_) | Shown::Images { .. }) | None => {
                arguments::rows(&call.arguments, self.room, self.theme, rows);
            }
        }
        if let CallState::Running { cut, .. } = call.state
            && cut > 0
        {
            self.more(cut, rows);
        }
        if (call.child.is_some() || call.name == "agent") && call.status() == CallStatus::Succeeded {
            self.answer(call.output(), rows);
        } else {
            self.opened_output(call, &gutter, rows);
        }
        let is_ended = matches!(call.state, CallState::Ended { .. });
        if call.output().is_empty() && is_ended {
            self.wrap(Break::Words, &Line::new("(no output)", self.theme.dim), &gutter, &none, rows);
        }
        if let Some(Shown::Command { saved, .. }) = &call.shown {
            self.saved(saved.as_deref(), rows);
        }
    }

    /// Writes the answer of a sub-agent, which is Markdown as every answer.
    fn answer(&self, text: &str, rows: &mut Vec<Line>) {
        let mut layout = Layout::new(Format::Markdown, self.room.saturating_sub(2).max(1));
        layout.finish(text, self.theme);
        rows.extend(layout.rows().iter().map(|line| self.behind_gutter(line)));
    }

    /// Writes what a call has to say; of very much the beginning and the end, so that no frame takes long.
    fn opened_output(&self, call: &CallCell, gutter: &Line, rows: &mut Vec<Line>) {
        let mut chain = if call.name == "read" { language(call).map(Chain::new) } else { None };
        let total = Output::all(call).count();
        let half = OPENED_LINES / 2;
        let hidden = if total > OPENED_LINES { half..total - half } else { 0..0 };
        for (number, output) in Output::all(call).enumerate() {
            if number == hidden.start && !hidden.is_empty() {
                self.omitted_lines(hidden.len(), rows);
                // What is behind goes on from something that was not read.
                chain = None;
            }
            if hidden.contains(&number) {
                continue;
            }
            let source = output.text;
            let shown = source.get(..source.floor_char_boundary(OPENED_LINE_BYTES)).unwrap_or_default();
            let mut line = Line::default();
            Output { text: shown, ..output }.write(&mut line, self.theme);
            if shown.len() < source.len() {
                line.push(
                    &format!("… {} more", summary::bytes((source.len() - shown.len()) as u64)),
                    self.theme.gutter,
                );
            } else if let Some(code) = chain.as_mut().and_then(|chain| numbered(source, chain)) {
                line.set_code(code);
            }
            self.wrap(Break::Anywhere, &line, gutter, gutter, rows);
        }
    }

    /// Says that lines are left out of an opened call, and where they are to be had.
    fn omitted_lines(&self, lines: usize, rows: &mut Vec<Line>) {
        let words = format!("┆ {}; the editor and an export have them all", count(lines, "more line"));
        rows.push(Line::new(&words, self.theme.gutter).truncate(self.room));
    }

    fn behind_gutter(&self, line: &Line) -> Line {
        let mut rows = Vec::new();
        let gutter = Line::new("│ ", self.theme.gutter);
        // Wide enough for one row: what does not fit is cut, not wrapped.
        Wrap { width: usize::from(u16::MAX), at: Break::Anywhere, first: &gutter, rest: &gutter }.line(line, &mut rows);
        rows.into_iter().next().unwrap_or_default().truncate(self.room)
    }

    /// Writes a line of output, cut to the width.
    fn output(&self, output: Output<'_>, rows: &mut Vec<Line>) {
        let mut line = Line::frame("│ ", self.theme.gutter);
        output.write(&mut line, self.theme);
        rows.push(clean(&line).truncate(self.room));
    }

    /// Says how many lines are not shown here. It stands in the gutter, where no output can be.
    fn more(&self, lines: usize, rows: &mut Vec<Line>) {
        let mut line = Line::frame("┆ ", self.theme.gutter);
        line.push(&count(lines, "more line"), self.theme.gutter);
        rows.push(line.truncate(self.room));
    }

    fn saved(&self, path: Option<&str>, rows: &mut Vec<Line>) {
        if let Some(path) = path {
            let mut line = Line::frame("┆ ", self.theme.gutter);
            line.push(&format!("the whole output: {path}"), self.theme.gutter);
            rows.push(clean(&line).truncate(self.room));
        }
    }
}

/// One line of what a call has printed, with the colours that a command gave it.
#[derive(Clone, Copy)]
struct Output<'a> {
    text: &'a str,
    /// Where it begins in the output.
    start: usize,
    /// The colours of the whole output.
    colours: &'a [Coloured],
}

impl<'a> Output<'a> {
    /// Returns the lines of a call's output.
    fn all(call: &'a CallCell) -> impl DoubleEndedIterator<Item = Self> {
        let (output, colours) = (call.output(), call.colours());
        output.lines().map(move |text| Self { text, start: text.as_ptr().addr() - output.as_ptr().addr(), colours })
    }

    /// Writes it in the style of output: of a colour no more than the theme's own is taken.
    fn write(self, line: &mut Line, theme: &Theme) {
        let end = self.start + self.text.len();
        let part = |from: usize, to: usize| self.text.get(from - self.start..to - self.start).unwrap_or_default();
        let first = self.colours.partition_point(|colour| colour.end <= self.start);
        let mut done = self.start;
        for colour in self.colours.iter().skip(first).take_while(|colour| colour.start < end) {
            let (from, to) = (colour.start.max(done), colour.end.min(end));
            line.push(part(done, from), theme.output);
            line.push(part(from, to), Style { fg: hue(colour.hue, theme).or(theme.output.fg), ..theme.output });
            done = to;
        }
        line.push(part(done, end), theme.output);
    }
}

/// Returns the theme's colour for one that a command asked for; it can be read on the theme's background.
fn hue(hue: Hue, theme: &Theme) -> Option<Color> {
    let style = match hue {
        Hue::Red => theme.removed,
        Hue::Green => theme.added,
        Hue::Yellow => theme.syntax.attribute,
        Hue::Blue => theme.syntax.function,
        Hue::Magenta => theme.syntax.keyword,
        Hue::Cyan => theme.hunk,
        Hue::Grey => theme.gutter,
    };
    style.fg
}

/// Returns the language of the file that a call is about.
fn language(call: &CallCell) -> Option<Language> {
    match &call.arguments {
        Arguments::Object(map) => map.get("path").and_then(serde_json::Value::as_str).and_then(Language::of_path),
        Arguments::Raw(_) => None,
    }
}

/// Returns what a line of a file is that stands behind its number, as `read` shows them.
fn numbered(line: &str, chain: &mut Chain) -> Option<Code> {
    let digits = line.trim_start_matches(' ');
    let behind = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = behind.len() < digits.len() && (behind.is_empty() || behind.starts_with(' '));
    // The tab behind the number ends at a stop.
    let at = (line.len() - behind.len()) / TAB * TAB + TAB;
    let text = line.get(at.min(line.len())..).filter(|_| is_numbered)?;
    let number = chain.lines();
    let key = chain.push(text)?;
    Some(Code {
        key,
        language: chain.language().clone(),
        number,
        at: at.min(line.len()),
        from: 0,
        background: CodeBackground::Plain,
    })
}

/// Returns whether a line of a failed call's output says why it failed.
fn says_why(line: &str) -> bool {
    const SIGNS: [&str; 12] = [
        "error",
        "fail",
        "panic",
        "fatal",
        "exception",
        "denied",
        "not found",
        "no such",
        "cannot",
        "refused",
        "timed out",
        "assert",
    ];
    let lower = line.to_lowercase();
    // A sum such as `0 failed, 0 errors` names no reason.
    let is_sum = |sign: &str| lower.contains(&format!("0 {sign}"));
    SIGNS.iter().any(|sign| lower.contains(sign) && !is_sum(sign))
}

/// Says how far a call has come, or how it ended.
fn end(call: &CallCell) -> String {
    match &call.state {
        CallState::Running { .. } if call.is_asking() => " · waits for you".to_owned(),
        CallState::Running { .. } if call.waits => " · waits for the calls before it".to_owned(),
        CallState::Running { .. } => match call.lines() {
            0 => " · running".to_owned(),
            lines => format!(" · running, {}", count(lines, "line")),
        },
        CallState::Ended { is_error, .. } => {
            let is_rescued = |child| matches!(child, &ChildState::Ended { outcome: Outcome::Synthesized, .. });
            let rescued = call.child.as_ref().is_some_and(|child| is_rescued(&child.state));
            let mut words = Vec::new();
            match (is_error, call.status(), rescued) {
                (true, _, _) => words.push("error".to_owned()),
                (false, CallStatus::Failed, _) => words.push("failed".to_owned()),
                (false, _, true) => words.push("synthesized".to_owned()),
                (false, _, false) => {}
            }
            words.extend(call.shown.as_ref().map(|shown| shown.summary().to_owned()));
            words.push(took(call.took().unwrap_or(0), call.waited_ms));
            // The head names the size of a change already.
            if !matches!(call.shown, Some(Shown::Diff(_))) {
                let found = if *is_error { None } else { summary::found(&call.name, call.output()) };
                words.push(found.unwrap_or_else(|| count(call.lines(), "line")));
                if call.left_out() > 0 {
                    words.push(format!("the model got {}", call.lines().saturating_sub(call.left_out())));
                }
            }
            format!(" · {}", words.join(", "))
        }
        CallState::Interrupted { .. } => " · interrupted".to_owned(),
    }
}
