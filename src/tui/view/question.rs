//! Draws the question that is asked now, over the transcript and never over the composer.
//!
//! Its keys are dimmed, and a word says why, until they count. Where it cannot be read whole with its keys it is not
//! drawn at all, and so cannot be answered.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Block, Padding, Widget};

use super::fit::{columns, one_line, put, put_right, row};
use super::tree::agent_name;
use super::wrap::{Break, Line, Wrap};
use crate::text::visible;
use crate::tui::keymap::Answer;
use crate::tui::state::App;
use crate::tui::state::question::{Question, QuestionId};
use crate::tui::theme::Theme;

/// Widest popup, columns.
const WIDTH: u16 = 92;
/// Columns left of the detail.
const GUTTER: u16 = 2;

/// Draws the question into the lower end of the room above the composer; returns which one was drawn, and from which
/// line of its detail. What lies below `quiet`, the pending texts, is covered only when the rest is too small.
pub fn draw(app: &App, room: Rect, quiet: u16, buffer: &mut Buffer) -> Option<(QuestionId, u16)> {
    let (id, question) = (app.questions.current_id()?, app.questions.current()?);
    let above = Rect { height: quiet.saturating_sub(room.y).min(room.height), ..room };
    let popup = [(above, Form::Framed), (room, Form::Framed), (room, Form::Bare)]
        .into_iter()
        .find_map(|(room, form)| Popup::fit(app, question, room, form))?;
    popup.draw(app, question, buffer);
    Some((id, popup.top))
}

/// Says what stands around a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A border that names who asks.
    Framed,
    /// A row that names who asks.
    Bare,
}

/// Is a question laid out in the room that there is for it.
struct Popup {
    form: Form,
    area: Rect,
    title: Vec<Line>,
    detail: Vec<Line>,
    keys: Vec<Line>,
    /// The first line of the detail that is shown, how many are, and how many come behind them.
    top: u16,
    shown: u16,
    below: u16,
}

impl Popup {
    /// Lays a question out; `None` when its title, its keys and a part of its detail have no room.
    fn fit(app: &App, question: &Question, room: Rect, form: Form) -> Option<Self> {
        let theme = &app.theme;
        let width = room.width.min(WIDTH);
        let (inner, around) = match form {
            Form::Framed => (width.saturating_sub(4), 2),
            Form::Bare => (width, 1),
        };
        if inner < 16 {
            return None;
        }
        let title = wrapped(&question.title, inner, theme.strong, Break::Words);
        let detail = wrapped(&question.detail, inner - GUTTER, theme.output, Break::Anywhere);
        let keys = keys(question, app.questions.armed(app.now), inner, theme);
        let room_for_detail = room.height.checked_sub(lines(&title) + lines(&keys) + around)?;
        let enough = lines(&detail).min(if form == Form::Framed { 3 } else { 1 });
        if room_for_detail < enough {
            return None;
        }
        let shown = lines(&detail).min(room_for_detail);
        let top = app.questions.top.min(lines(&detail) - shown);
        let height = lines(&title) + shown + lines(&keys) + around;
        let area = Rect { x: room.x + (room.width - width) / 2, y: room.bottom() - height, width, height };
        Some(Self { form, area, top, shown, below: lines(&detail) - shown - top, title, detail, keys })
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
        for line in self.detail.iter().skip(self.top.into()).take(self.shown.into()) {
            let text = put(buffer, row(inner, y), "│ ", theme.gutter);
            line.draw(buffer, text.x, text.y, text.width);
            y += 1;
        }
        let more = match (self.top, self.below) {
            (0, 0) => String::new(),
            (_, 0) => " PageUp".to_owned(),
            (_, below) => format!(" {below} more, PageDown"),
        };
        put_right(buffer, row(inner, y.saturating_sub(1)), &more, theme.notice);
        for line in &self.keys {
            line.draw(buffer, inner.x, inner.y + y, inner.width);
            y += 1;
        }
    }

    /// Draws who asks, which of how many it is, and whether a key counts; returns what is left for the question.
    fn draw_frame(&self, app: &App, question: &Question, buffer: &mut Buffer) -> Rect {
        let theme = &app.theme;
        let agent = one_line(&agent_name(&question.agent));
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
        let (states, style) = if app.questions.armed(app.now) {
            ([" ● these keys count now ", " ● now "], theme.accent)
        } else {
            ([" ○ these keys count once nothing was typed for a moment ", " ○ not yet "], theme.dim)
        };
        let last = row(self.area, self.area.height - 1);
        let last = Rect { x: last.x + 2, width: last.width.saturating_sub(4), ..last };
        if let Some(state) = states.into_iter().find(|state| columns(state) <= last.width) {
            put(buffer, last, state, style);
        }
        inner
    }
}

fn lines(rows: &[Line]) -> u16 {
    u16::try_from(rows.len()).unwrap_or(u16::MAX)
}

fn wrapped(text: &str, width: u16, style: Style, at: Break) -> Vec<Line> {
    let none = Line::default();
    let wrap = Wrap { width: width.into(), at, first: &none, rest: &none };
    let mut rows = Vec::new();
    for line in visible(text).lines() {
        wrap.line(&Line::new(line, style), &mut rows);
    }
    rows
}

/// Returns the keys with their answers, and what Alt+S covers.
fn keys(question: &Question, armed: bool, width: u16, theme: &Theme) -> Vec<Line> {
    let (mark, key_style, word_style) =
        if armed { ("● ", theme.accent, theme.text) } else { ("○ ", theme.dim, theme.dim) };
    let mut rows = Vec::new();
    let mut line = Line::new(mark, key_style);
    for (answer, words) in question.subject.answers() {
        let needed = usize::from(columns(answer.key()) + 1 + columns(words));
        if line.width() > 2 && line.width() + 2 + needed > usize::from(width) {
            rows.push(std::mem::replace(&mut line, Line::new("  ", word_style)));
        }
        if line.width() > 2 {
            line.push("  ", word_style);
        }
        line.push(answer.key(), key_style);
        line.push(&format!(" {words}"), word_style);
    }
    rows.push(line);
    let session = format!("  {}: {}", Answer::Session.key(), one_line(&question.session));
    if columns(&session) <= width {
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
