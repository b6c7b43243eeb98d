//! A call as rows: its head, what the user was asked, then what came of it.
//!
//! Called by `cell`. Whatever a tool says stands behind the gutter, in the style of output or of a diff; no such row has
//! a style that the program's own words have.

use super::arguments;
use super::cell::{Pen, clean};
use super::exact::{marked, row};
use super::wrap::{Break, Line};
use crate::event::Outcome;
use crate::limits::{FOLDED_DIFF, FOLDED_HEAD, FOLDED_TAIL};
use crate::summary::count;
use crate::tui::state::cell::{CallCell, CallState, ChildState, Fold, WentOn};
use crate::tui::state::result::{Diff, DiffLine, Kind, Shown};
use crate::tui::state::transcript::seconds;

impl Pen<'_> {
    /// Lays a call out.
    pub(super) fn call(&self, call: &CallCell, fold: Fold, rows: &mut Vec<Line>) {
        let style = match &call.state {
            CallState::Running { .. } | CallState::Interrupted { .. } => self.theme.tool,
            CallState::Ended { is_error: false, .. } => self.theme.tool_ok,
            CallState::Ended { is_error: true, .. } => self.theme.tool_error,
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
        match fold {
            Fold::Open => self.opened_call(call, rows),
            Fold::Folded => self.folded_call(call, rows),
        }
    }

    /// Says what the user was asked; one line each, which turns into the answer.
    fn questions(&self, call: &CallCell, rows: &mut Vec<Line>) {
        for asked in &call.asked {
            let (words, style) = match &asked.answer {
                None => ("? asks for leave".to_owned(), self.theme.notice),
                Some(answer) => {
                    let mark = if answer.went_on == WentOn::Yes { "✓" } else { "✗" };
                    (format!("{mark} {}", answer.words), self.theme.dim)
                }
            };
            rows.push(clean(&Line::new(&words, style)).truncate(self.room));
        }
    }

    fn folded_call(&self, call: &CallCell, rows: &mut Vec<Line>) {
        match (&call.state, &call.shown) {
            (CallState::Running { progress, .. }, _) => {
                let last: Vec<&str> = progress
                    .lines()
                    .rev()
                    .map(newest)
                    .filter(|line| !line.trim().is_empty())
                    .take(FOLDED_TAIL)
                    .collect();
                last.into_iter().rev().for_each(|line| self.output(line, rows));
            }
            (CallState::Ended { .. }, Some(Shown::Diff(diff))) => self.folded_diff(diff, rows),
            (CallState::Ended { content, .. }, Some(Shown::Command { saved, .. })) => {
                self.head_and_tail(content, rows);
                self.saved(saved.as_deref(), rows);
            }
            (CallState::Ended { content, is_error: true, .. }, _) => {
                content.lines().take(1).for_each(|line| self.output(line, rows));
            }
            (CallState::Ended { is_error: false, .. } | CallState::Interrupted { .. }, _) => {}
        }
    }

    /// Shows the first lines and the last ones, and how many stand between them.
    fn head_and_tail(&self, content: &str, rows: &mut Vec<Line>) {
        let lines: Vec<&str> = content.lines().collect();
        let between = lines.len().saturating_sub(FOLDED_HEAD + FOLDED_TAIL);
        // A line that says that one line is missing takes the place of that line.
        if between <= 1 {
            for line in lines {
                self.output(line, rows);
            }
            return;
        }
        lines.iter().take(FOLDED_HEAD).for_each(|line| self.output(line, rows));
        self.more(between, rows);
        lines.iter().skip(FOLDED_HEAD + between).for_each(|line| self.output(line, rows));
    }

    fn folded_diff(&self, diff: &Diff, rows: &mut Vec<Line>) {
        let changed: Vec<&DiffLine> = diff.lines.iter().filter(|line| line.kind != Kind::Hunk).collect();
        let hidden = changed.len().saturating_sub(FOLDED_DIFF);
        let shown = if hidden <= 1 { changed.len() } else { FOLDED_DIFF };
        for line in changed.iter().take(shown) {
            let gutter = Line::new("│ ", self.theme.gutter);
            let mut whole = gutter;
            whole.append(&self.diff_line(line, diff.columns));
            rows.push(clean(&whole).truncate(self.room));
        }
        if shown < changed.len() {
            self.more(hidden, rows);
        }
    }

    fn opened_call(&self, call: &CallCell, rows: &mut Vec<Line>) {
        let none = Line::default();
        let gutter = Line::new("│ ", self.theme.gutter);
        match &call.shown {
            // It says all that the arguments say.
            Some(Shown::Diff(diff)) => {
                for line in &diff.lines {
                    row(&self.diff_line(line, diff.columns), self.room, self.theme, rows);
                }
            }
            Some(Shown::Command { .. } | Shown::Page(_)) | None => {
                arguments::rows(&call.arguments, self.room, self.theme, rows);
            }
        }
        if let CallState::Running { cut, .. } = call.state
            && cut > 0
        {
            self.more(cut, rows);
        }
        for source in call.output().lines() {
            self.wrap(Break::Anywhere, &Line::new(source, self.theme.output), &gutter, &gutter, rows);
        }
        let is_ended = matches!(call.state, CallState::Ended { .. });
        if call.output().is_empty() && is_ended {
            self.wrap(Break::Words, &Line::new("(no output)", self.theme.dim), &gutter, &none, rows);
        }
        if let Some(Shown::Command { saved, .. }) = &call.shown {
            self.saved(saved.as_deref(), rows);
        }
    }

    /// Writes a line of a diff with its number and its sign.
    fn diff_line(&self, line: &DiffLine, columns: usize) -> Line {
        let style = match line.kind {
            Kind::Added => self.theme.added,
            Kind::Removed => self.theme.removed,
            Kind::Same => self.theme.output,
            Kind::Hunk | Kind::Note => self.theme.hunk,
        };
        let number = line.number.map(|number| number.to_string()).unwrap_or_default();
        let mut shown = Line::default();
        if line.number.is_some() {
            shown.push(&format!("{number:>columns$} "), self.theme.hunk);
        }
        shown.push(line.kind.sign(), style);
        shown.append(&marked(&line.text, style, self.theme));
        shown
    }

    /// Writes a line of output, cut to the width.
    fn output(&self, source: &str, rows: &mut Vec<Line>) {
        let mut line = Line::new("│ ", self.theme.gutter);
        line.push(source, self.theme.output);
        rows.push(clean(&line).truncate(self.room));
    }

    /// Says how many lines are not shown here. It stands in the gutter, where no output can be.
    fn more(&self, lines: usize, rows: &mut Vec<Line>) {
        let noun = if lines == 1 { "line" } else { "lines" };
        rows.push(Line::new(&format!("┆ {lines} more {noun}"), self.theme.gutter).truncate(self.room));
    }

    fn saved(&self, path: Option<&str>, rows: &mut Vec<Line>) {
        if let Some(path) = path {
            let line = Line::new(&format!("┆ the whole output: {path}"), self.theme.gutter);
            rows.push(clean(&line).truncate(self.room));
        }
    }
}

/// Returns what a terminal would show of a line that was written over: the part behind the last return.
fn newest(line: &str) -> &str {
    line.rsplit('␍').find(|part| !part.trim().is_empty()).unwrap_or(line)
}

/// Says how far a call has come, or how it ended.
fn end(call: &CallCell) -> String {
    let lines = call.output().lines().count();
    match &call.state {
        CallState::Running { .. } if call.asked.iter().any(|asked| asked.answer.is_none()) => {
            " · waits for you".to_owned()
        }
        CallState::Running { cut, .. } => match lines + cut {
            0 => " · running".to_owned(),
            lines => format!(" · running, {}", count(lines, "line")),
        },
        CallState::Ended { is_error, elapsed_ms, .. } => {
            let is_rescued = |child| matches!(child, &ChildState::Ended { outcome: Outcome::Synthesized, .. });
            let rescued = call.child.as_ref().is_some_and(|child| is_rescued(&child.state));
            let mut words = Vec::new();
            match (is_error, rescued) {
                (true, _) => words.push("error".to_owned()),
                (false, true) => words.push("synthesized".to_owned()),
                (false, false) => {}
            }
            words.extend(call.shown.as_ref().map(|shown| shown.words().to_owned()));
            words.push(seconds(*elapsed_ms));
            // The size of a change is told already.
            if !matches!(call.shown, Some(Shown::Diff(_))) {
                words.push(count(lines, "line"));
            }
            format!(" · {}", words.join(", "))
        }
        CallState::Interrupted { .. } => " · interrupted".to_owned(),
    }
}
