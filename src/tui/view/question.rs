//! Draws the question that is asked now, over the transcript and never over the composer.
//!
//! Its keys are dimmed, and a word says why, until they count. Where it cannot be read whole with its keys it is not
//! drawn at all, and so cannot be answered.

use std::collections::HashMap;
use std::rc::Rc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Block, Padding, Widget};

use super::exact;
use super::fit::{columns, one_line, put, put_right, row};
use super::tree::agent_name;
use super::wrap::{Break, Line, Wrap};
use crate::text::visible;
use crate::tui::keymap::Answer;
use crate::tui::state::App;
use crate::tui::state::question::{Question, QuestionId, Seen};
use crate::tui::state::regions::{Region, Regions};
use crate::tui::theme::Theme;

/// Widest popup, columns.
const WIDTH: u16 = 92;

/// Remembers the laid-out detail of the question between frames; a long diff is laid out once.
#[derive(Debug, Default)]
pub struct Laid {
    of: Option<(QuestionId, Theme)>,
    /// By the columns that they were laid out for.
    details: HashMap<u16, Rc<Vec<Line>>>,
}

impl Laid {
    fn detail(&mut self, id: QuestionId, question: &Question, width: u16, theme: &Theme) -> Rc<Vec<Line>> {
        if self.of.as_ref().is_none_or(|(known, style)| *known != id || style != theme) {
            *self = Self { of: Some((id, theme.clone())), details: HashMap::new() };
        }
        let lay = || Rc::new(exact::rows(&question.detail, width.into(), theme));
        Rc::clone(self.details.entry(width).or_insert_with(lay))
    }
}

/// Draws the question into the lower end of the room above the composer; returns what is shown of it. What lies below
/// `quiet`, the pending texts, is covered only when the rest is too small.
pub fn draw(
    app: &App,
    laid: &mut Laid,
    room: Rect,
    quiet: u16,
    regions: &mut Regions,
    buffer: &mut Buffer,
) -> Option<Seen> {
    let (id, question) = (app.questions.current_id()?, app.questions.current()?);
    let above = Rect { height: quiet.saturating_sub(room.y).min(room.height), ..room };
    let popup = [(above, Form::Framed), (room, Form::Framed), (room, Form::Bare)]
        .into_iter()
        .find_map(|(room, form)| Popup::fit(app, id, question, laid, room, form))?;
    regions.add(popup.area, Region::Question);
    popup.draw(app, question, buffer);
    Some(Seen { id, top: popup.top, shown: popup.shown, below: popup.below })
}

/// Says what stands around a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A border that names who asks.
    Framed,
    /// A row that names who asks.
    Bare,
}

/// Says what keys come to now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keys {
    /// They answer.
    Count,
    /// Only a no answers: the end was not on the screen yet.
    Locked,
    /// It came up, or a key came, too short a time before.
    Wait,
    /// The composer holds the words of a no.
    Words,
}

impl Keys {
    fn of(app: &App) -> Self {
        if app.declining.is_some() {
            Self::Words
        } else if !app.questions.armed(app.now) {
            Self::Wait
        } else if app.questions.is_read() {
            Self::Count
        } else {
            Self::Locked
        }
    }

    /// Tells whether this answer counts.
    fn takes(self, answer: Answer) -> bool {
        match self {
            Self::Count => true,
            Self::Locked => !matches!(answer, Answer::Once | Answer::Session),
            Self::Wait | Self::Words => false,
        }
    }
}

/// Is a question laid out in the room that there is for it.
struct Popup {
    form: Form,
    area: Rect,
    title: Vec<Line>,
    detail: Rc<Vec<Line>>,
    keys: Vec<Line>,
    /// The first line of the detail that is shown, how many are, and how many come behind them.
    top: usize,
    shown: u16,
    below: usize,
}

impl Popup {
    /// Lays a question out; `None` when its title, its keys and a part of its detail have no room.
    fn fit(app: &App, id: QuestionId, question: &Question, laid: &mut Laid, room: Rect, form: Form) -> Option<Self> {
        let theme = &app.theme;
        let width = room.width.min(WIDTH);
        let (inner, around) = match form {
            Form::Framed => (width.saturating_sub(4), 2),
            Form::Bare => (width, 1),
        };
        if inner < 16 {
            return None;
        }
        let title = wrapped(&question.title, inner, theme.strong);
        let keys = keys(app, question, Keys::of(app), inner);
        let fixed = lines(&title) + lines(&keys) + around;
        let room_for_detail = room.height.checked_sub(fixed)?;
        let detail = laid.detail(id, question, inner, theme);
        let enough = lines(&detail).min(if form == Form::Framed { 3 } else { 1 });
        if room_for_detail < enough {
            return None;
        }
        let shown = lines(&detail).min(room_for_detail);
        // Counted whole: a detail of any length has an end.
        let hidden = detail.len().saturating_sub(shown.into());
        let top = app.questions.top.min(hidden);
        let height = fixed + shown;
        let area = Rect { x: room.x + (room.width - width) / 2, y: room.bottom() - height, width, height };
        Some(Self { form, area, top, shown, below: hidden - top, title, detail, keys })
    }

    fn draw(&self, app: &App, question: &Question, buffer: &mut Buffer) {
        let theme = &app.theme;
        clear(self.area, buffer);
        let inner = self.draw_frame(app, question, buffer);
        let mut y = 0;
        for line in &self.title {
            line.draw(buffer, inner.x, inner.y + y, inner.width);
            y += 1;
        }
        for line in self.detail.iter().skip(self.top).take(self.shown.into()) {
            line.draw(buffer, inner.x, inner.y + y, inner.width);
            y += 1;
        }
        for line in &self.keys {
            line.draw(buffer, inner.x, inner.y + y, inner.width);
            y += 1;
        }
        let more = match (self.top, self.below) {
            (0, 0) => return,
            (_, 0) => " PageUp ".to_owned(),
            (_, below) => format!(" {below} more, PageDown "),
        };
        // In the border, or behind the name: never over what is asked about.
        let place = row(self.area, if self.form == Form::Framed { self.area.height - 1 } else { 0 });
        let place = Rect { x: place.x + 2, width: place.width.saturating_sub(4), ..place };
        put_right(buffer, place, &more, theme.notice);
    }

    /// Draws who asks, which of how many it is, and whether a key counts; returns what is left for the question.
    fn draw_frame(&self, app: &App, question: &Question, buffer: &mut Buffer) -> Rect {
        let theme = &app.theme;
        let name = question.agent.as_ref().map_or_else(|| "Steersman".to_owned(), agent_name);
        let agent = one_line(&name);
        let head = match app.questions.len() {
            1 => format!(" {agent} asks "),
            count => format!(" {agent} asks · 1 of {count} "),
        };
        if self.form == Form::Bare {
            put(buffer, row(self.area, 0), head.trim(), theme.title);
            return Rect { y: self.area.y + 1, height: self.area.height - 1, ..self.area };
        }
        let block = Block::bordered()
            .title(head)
            .border_style(theme.border_focus)
            .title_style(theme.title)
            .padding(Padding::horizontal(1));
        let inner = block.inner(self.area);
        block.render(self.area, buffer);
        let (states, style): (&[&str], Style) = match Keys::of(app) {
            Keys::Count => (&[" ● these keys count now ", " ● now "], theme.accent),
            Keys::Locked => (&[" ○ for a yes read to the end first ", " ○ read first "], theme.accent),
            Keys::Wait => (
                &[
                    " ○ these keys count once nothing was typed for a moment ",
                    " ○ these keys count in a moment ",
                    " ○ not yet ",
                ],
                theme.dim,
            ),
            Keys::Words => (&[" the message below holds your words ", " your words: below "], theme.accent),
        };
        let more = if self.below > 0 || self.top > 0 { 24 } else { 0 };
        let last = row(self.area, self.area.height - 1);
        let last = Rect { x: last.x + 2, width: last.width.saturating_sub(4), ..last };
        if let Some(state) = states.iter().find(|state| columns(state) + more <= last.width) {
            put(buffer, last, state, style);
        }
        inner
    }
}

fn lines(rows: &[Line]) -> u16 {
    u16::try_from(rows.len()).unwrap_or(u16::MAX)
}

fn wrapped(text: &str, width: u16, style: Style) -> Vec<Line> {
    let none = Line::default();
    let wrap = Wrap { width: width.into(), at: Break::Words, first: &none, rest: &none };
    let mut rows = Vec::new();
    for line in visible(text).lines() {
        wrap.line(&Line::new(line, style), &mut rows);
    }
    rows
}

/// Returns the keys with their answers, and what Alt+S covers.
fn keys(app: &App, question: &Question, keys: Keys, width: u16) -> Vec<Line> {
    let theme = &app.theme;
    if keys == Keys::Words {
        let words =
            ["Enter sends your words as a no · Esc goes back", "Enter: no, with words · Esc: back", "Enter · Esc"];
        let fitting = words.into_iter().map(|words| app.spell(words)).find(|words| columns(words) <= width);
        return vec![Line::new(&fitting.unwrap_or_default(), theme.accent)];
    }
    let style = |answer: Answer| if keys.takes(answer) { (theme.accent, theme.text) } else { (theme.dim, theme.dim) };
    let mut rows = Vec::new();
    let mark = if keys == Keys::Count { "● " } else { "○ " };
    let mut line = Line::new(mark, style(Answer::Once).0);
    for (answer, words) in question.subject.answers() {
        let (key_style, word_style) = style(*answer);
        let key = app.spell(answer.key());
        let needed = usize::from(columns(&key) + 1 + columns(words));
        if line.width() > 2 && line.width() + 2 + needed > usize::from(width) {
            rows.push(std::mem::replace(&mut line, Line::new("  ", word_style)));
        }
        if line.width() > 2 {
            line.push("  ", word_style);
        }
        line.push(&key, key_style);
        line.push(&format!(" {words}"), word_style);
    }
    rows.push(line);
    let session = format!("  {}: {}", app.spell(Answer::Session.key()), one_line(&question.session));
    if !question.session.is_empty() && columns(&session) <= width {
        rows.push(Line::new(&session, theme.dim));
    }
    rows
}

fn clear(area: Rect, buffer: &mut Buffer) {
    for position in area.intersection(*buffer.area()).positions() {
        if let Some(cell) = buffer.cell_mut(position) {
            cell.reset();
        }
    }
}
